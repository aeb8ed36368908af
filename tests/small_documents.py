"""Small documents of all twelve variants, in the paper's formats, made without the kit's own generator."""

import random
from typing import Any

VARIANTS = [
    *((family, form) for family in ("arithmetic", "uuid_sort", "lookup") for form in ("ordered", "shuffled", "no_ids")),
    *(("table", form) for form in ("permute_homogeneous", "permute_heterogeneous", "resolve")),
]

ADJECTIVES = ["quick", "quiet", "old-fashioned", "big", "lazy", "red"]
NOUNS = ["fox", "harbor", "witch-hunt", "dog", "cat", "table"]


def small_document(family: str, form: str, seed: int, records: int = 7) -> dict[str, Any]:
    """A document of `records` lines, or of a table of that many rows and columns."""
    random_ = random.Random(f"{family} {form} {seed}")
    make = _table if family == "table" else _stream
    prompt, expected = make(random_, family, form, records)
    return {
        "id": f"{family}-{form}-{seed}",
        "family": family,
        "format": form,
        "difficulty": 2,
        "horizon": 4096,
        "sample": seed,
        "prompt": prompt,
        "expected": expected,
        "budget": 2048,
        "cap": 3072,
        "records": records * records if family == "table" else records,
        "prompt_tokens": 1,
        "expected_tokens": 1,
        "prompt_sha256": "",
    }


def _stream(random_: random.Random, family: str, form: str, records: int) -> tuple[str, str]:
    keys = random_.sample(range(16**3), len(ADJECTIVES) + len(NOUNS))
    definitions = dict(zip([f"{key:03x}" for key in keys], ADJECTIVES + NOUNS, strict=True))
    names = list(definitions)
    inputs, outputs = [], []
    for _ in range(records):
        if family == "arithmetic":
            operands = [random_.randrange(10) for _ in range(random_.randint(2, 5))]
            signs = [1] + [random_.choice((1, -1)) for _ in operands[1:]]
            text = "".join(
                f"{'+' if sign > 0 else '-'}{operand}" for sign, operand in zip(signs, operands, strict=True)
            )[1:]
            inputs.append(text)
            outputs.append(f"{text}={sum(sign * operand for sign, operand in zip(signs, operands, strict=True))}")
        elif family == "uuid_sort":
            identifiers = [f"{random_.getrandbits(32):08x}" for _ in range(3)]
            inputs.append(",".join(identifiers))
            outputs.append(",".join(sorted(identifiers)))
        else:
            pair = random_.choice(names[: len(ADJECTIVES)]), random_.choice(names[len(ADJECTIVES) :])
            inputs.append("+".join(pair))
            outputs.append(" ".join(definitions[key] for key in pair))
    if form != "no_ids":
        inputs = [f"[{place}]{text}" for place, text in enumerate(inputs, 1)]
        outputs = [f"[{place}]{text}" for place, text in enumerate(outputs, 1)]
    if form == "shuffled":
        random_.shuffle(inputs)
    preamble = ""
    if family == "lookup":
        shown = list(definitions.items())
        random_.shuffle(shown)
        preamble = "\n".join(f"{key}={word}" for key, word in shown) + "\n\n"
    example = "Example:\na3f=slow\n\n[1]a3f+b91\n[1]5+6\n[1]c0a8e1d2,a1b2c3d4\n\n"
    return f"{example}Input:\n\n{preamble}" + "\n".join(inputs), "\n".join(outputs)


def _table(random_: random.Random, family: str, form: str, size: int) -> tuple[str, str]:
    if form == "resolve":
        cells = [[f"a{random_.randrange(6)}+v{random_.randrange(6)}" for _ in range(size)] for _ in range(size)]
    elif form == "permute_homogeneous":
        cells = [[str(random_.randint(1000, 9999)) for _ in range(size)] for _ in range(size)]
    else:
        cells = [
            [f"{random_.getrandbits(128):032x}"[: random_.randint(1, 32)] for _ in range(size)] for _ in range(size)
        ]
    rows, columns = list(range(size)), list(range(size))
    if form != "resolve":
        random_.shuffle(rows)
        random_.shuffle(columns)
    table = _csv(cells, range(size), range(size))
    if form != "resolve":
        order = ",".join(f"[R{row}]" for row in rows) + "\n" + ",".join(f"[C{column}]" for column in columns)
        return f"Input:\n\n{table}\n\nOrders:\n{order}", _csv(cells, rows, columns)
    words = [[f"{ADJECTIVES[int(cell[1])]} {NOUNS[int(cell[4])]}" for cell in row] for row in cells]
    definitions = "\n".join(
        [*(f"a{place}={word}" for place, word in enumerate(ADJECTIVES)), ""]
        + [f"v{place}={word}" for place, word in enumerate(NOUNS)]
    )
    return f"{definitions}\n\nInput:\n\n{table}", _csv(words, rows, columns)


def _csv(cells: list[list[str]], rows: Any, columns: Any) -> str:
    header = "".join(f",[C{column}]" for column in columns)
    return "\n".join([header, *(f"[R{row}]" + "".join(f",{cells[row][column]}" for column in columns) for row in rows)])


def document_of(family: str, form: str, expected: str, prompt: str = "") -> dict[str, Any]:
    return {"id": "one", "family": family, "format": form, "prompt": prompt, "expected": expected}


POOL = "".join(f"{place:03x}={word}\n" for place, word in enumerate(ADJECTIVES + NOUNS))
SUMS = document_of("arithmetic", "ordered", "[1]5+6=11\n[2]2-5=-3\n[3]4+8-3+2=11")
PLAIN_SUMS = document_of("arithmetic", "no_ids", "5+6=11\n2-5=-3\n4+8-3+2=11")
LISTS = document_of("uuid_sort", "ordered", "[1]a1b2c3d4,c0a8e1d2\n[2]01234567,f0e1d2c3")
PLAIN_LISTS = document_of("uuid_sort", "no_ids", "a1b2c3d4,c0a8e1d2\n01234567,f0e1d2c3")
PHRASES = document_of("lookup", "ordered", "[1]quick fox\n[2]quiet harbor\n[3]big dog", POOL)
PLAIN_PHRASES = document_of("lookup", "no_ids", "quick fox\nquiet harbor\nbig dog", POOL)
TABLE = document_of("table", "permute_homogeneous", ",[C1],[C0]\n[R2],1111,2222\n[R0],3333,4444\n[R1],5555,6666")
RESOLVED = document_of("table", "resolve", ",[C0],[C1]\n[R0],quick fox,red cat\n[R1],big dog,lazy table", POOL)
