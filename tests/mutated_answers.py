"""Gold outputs with things done to them, as models do them."""

from hypothesis import strategies as st

from small_documents import VARIANTS

variants = st.sampled_from(VARIANTS)
seeds = st.integers(0, 5)


@st.composite
def mutated(draw: st.DrawFn, gold: str) -> str:
    """A gold output with up to four things done to its lines, then perhaps wrapped, cut or joined otherwise."""
    lines = gold.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        if not lines:
            break
        place = draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(CHANGES))
        lines[place : place + 1] = change(lines[place], lines[draw(st.integers(0, len(lines) - 1))])
    text = draw(st.sampled_from(["\n", "\n", "\n\n", "\r\n", " \n "])).join(lines)
    text = draw(st.sampled_from(WRAPS)).replace("@", text)
    return text[: draw(st.one_of(st.just(len(text)), st.integers(0, len(text))))]


CHANGES = [
    lambda line, other: [],
    lambda line, other: [line, line],
    lambda line, other: [other, line],
    lambda line, other: [other],
    lambda line, other: [f"  {line}\t"],
    lambda line, other: [line.replace("+", " + ").replace("=", " = ").replace(",", " , ").replace(" ", "  ")],
    lambda line, other: [line.upper()],
    lambda line, other: [line + ".0"],
    lambda line, other: [line + "."],
    lambda line, other: [line + "..1"],
    lambda line, other: [line + " ok"],
    lambda line, other: [f"**{line}**"],
    lambda line, other: [line.replace("]", "] ")],
    lambda line, other: [line.replace("[", "[0")],
    lambda line, other: [line.partition("]")[2]],
    lambda line, other: [f"[1]{line}"],
    lambda line, other: [line.replace("1", "2")],
    lambda line, other: [line.replace("=-", "= - ")],
    lambda line, other: [line.replace("=", "=+")],
    lambda line, other: [line.replace("-", "--")],
    lambda line, other: [line[: len(line) // 2]],
    lambda line, other: [line[1:]],
    lambda line, other: [line + ",deadbeef"],
    lambda line, other: ["Here is deadbeef for you:", line],
    lambda line, other: ["", "...", line],
    lambda line, other: ["[1]", line],
    lambda line, other: [",".join(reversed(line.split(",")))],
    lambda line, other: [line.replace(",", "),(")],
]
WRAPS = [
    *["@"] * 6,
    "```\n@\n```",
    "```csv\n@\n```\nDone.",
    "Sure!\n@",
    "<think>hm</think>\n@",
    "<think>@",
    "@</think>",
    "hm</think>\n@\n<think>again",
    "<|channel|>analysis<|message|>hm<|channel|>final<|message|>@",
    "<|channel|>analysis<|message|>@",
    "<think><|channel|>final<|message|>@",
]
