"""Write a JATS article as Markdown: headings, paragraphs, lists, tables, captions and a numbered reference list.

Of pandoc and a reader of our own the second is lighter: no 34 MB binary in the kit, and the first page (title, ordered
authors) and the reference list are written so that they can be counted.
"""

import re
from collections.abc import Iterator

from longtrek.corpus import jats
from longtrek.corpus.jats import Element, flat

MATHML = "{http://www.w3.org/1998/Math/MathML}"
MARKS = {"italic": "*", "bold": "**", "monospace": "`"}
TAGS = {"sup": "sup", "sub": "sub"}
OMITTED = {"graphic", "inline-graphic", "object-id", "media", "label"}
DEEPEST = 6


def markdown(root: Element) -> str:
    """The article as Markdown text, ending in one line feed."""
    meta = root.find("./front/article-meta")
    assert meta is not None
    blocks = [f"# {flat(meta.find('./title-group/article-title'))}", ", ".join(jats.authors(meta))]
    for abstract in meta.findall("abstract"):
        title = flat(abstract.find("title")) or "Abstract"
        blocks += [f"## {title}", *_blocks(abstract, 2)]
    for part in (root.find("body"), *root.findall("./back/*")):
        if part is None or part.tag in ("ref-list", "fn-group", "glossary"):
            continue
        if part.tag == "ack":
            blocks.append("## Acknowledgments")
        blocks += _blocks(part, 1)
    blocks += _references(root)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _references(root: Element) -> list[str]:
    entries = [f"{number}. {_entry(ref)}" for number, ref in enumerate(root.findall(".//ref-list//ref"), 1)]
    return ["## References", "\n".join(entries)] if entries else []


def _entry(ref: Element) -> str:
    citation = next((child for child in ref if child.tag.endswith("citation")), None)
    if citation is None:
        return flat(ref)
    if citation.find(".//year") is None or citation.find(".//surname") is None:
        return flat(citation)
    people = [_short(name) for name in citation.iter("name")] + [flat(group) for group in citation.iter("collab")]
    more = ", et al." if citation.find(".//etal") is not None else ""
    pages = "–".join(filter(None, (flat(citation.find("fpage")), flat(citation.find("lpage")))))
    where = " ".join(filter(None, (flat(citation.find("source")), flat(citation.find("volume")))))
    title = flat(citation.find("article-title")).rstrip(".")
    parts = [
        f"{', '.join(people)}{more} ({flat(citation.find('.//year'))})",
        title,
        ": ".join(filter(None, (where, pages))),
    ]
    return ". ".join(part for part in parts if part) + "."


def _short(name: Element) -> str:
    return " ".join(
        filter(None, (flat(name.find("surname")), flat(name.find("given-names")), flat(name.find("suffix"))))
    )


def _blocks(parent: Element, level: int) -> Iterator[str]:
    """The blocks of a section, without its title."""
    for child in parent:
        if child.tag == "title":
            if parent.tag in ("app", "boxed-text"):
                yield f"{'#' * min(level, DEEPEST)} {inline(child)}"
        elif child.tag == "sec":
            yield f"{'#' * min(level + 1, DEEPEST)} {inline(child.find('title'))}".rstrip(" #")
            yield from _blocks(child, level + 1)
        else:
            yield from _block(child, level)


def _block(child: Element, level: int) -> Iterator[str]:
    if child.tag == "p":
        yield from _paragraph(child)
    elif child.tag == "list":
        yield _list(child)
    elif child.tag in ("fig", "table-wrap"):
        yield from _float(child)
    elif child.tag == "disp-formula":
        yield _formula(child)
    elif child.tag == "disp-quote":
        yield "\n".join(f"> {block}" for block in _blocks(child, level))
    elif child.tag in ("boxed-text", "app", "app-group", "fig-group", "statement", "ack"):
        yield from _blocks(child, level)
    elif child.tag == "supplementary-material":
        yield _caption(child)


def _paragraph(paragraph: Element) -> Iterator[str]:
    """A paragraph, cut where a block (a list, a formula, a figure) stands inside it."""
    pieces = [paragraph.text or ""]
    for child in paragraph:
        if child.tag in (
            "list",
            "disp-formula",
            "fig",
            "table-wrap",
            "disp-quote",
            "boxed-text",
            "supplementary-material",
        ):
            yield fold("".join(pieces))
            yield from _block(child, 2)
            pieces = [child.tail or ""]
        else:
            pieces += [_marked(child), child.tail or ""]
    yield fold("".join(pieces))


def _list(element: Element) -> str:
    ordered = element.get("list-type") in ("order", "number", "ordered")
    lines = []
    for number, item in enumerate(element.findall("list-item"), 1):
        text = " ".join(block for block in _blocks(item, 2) if block)
        lines.append(f"{f'{number}.' if ordered else '-'} {text}")
    return "\n".join(lines)


def _float(element: Element) -> Iterator[str]:
    yield _caption(element)
    for table in element.iter("table"):
        yield _table(table)
    foot = element.find("table-wrap-foot")
    if foot is not None:
        yield inline(foot)


def _caption(element: Element) -> str:
    label, caption = flat(element.find("label")), element.find("caption")
    title = inline(caption.find("title")) if caption is not None else ""
    texts = [inline(p) for p in caption.findall("p")] if caption is not None else []
    head = f"**{' '.join(part for part in (label.rstrip('.'), title.strip('*')) if part)}**" if label or title else ""
    return " ".join(part for part in (head, *texts) if part)


def _table(table: Element) -> str:
    rows = [[inline(cell).replace("|", "\\|") for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    width = max(map(len, rows), default=0)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    if lines:
        lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _formula(element: Element) -> str:
    text = fold(_mathematics(element))
    label = flat(element.find("label"))
    return f"{text} {label}".strip() if text else ""


def _mathematics(element: Element) -> str:
    tex = element.find(".//tex-math")
    if tex is not None:
        return "".join(tex.itertext())
    pieces = [text for math in element.iter(f"{MATHML}math") for text in math.itertext()]
    return " ".join(piece.strip() for piece in pieces if piece.strip())


def inline(element: Element | None) -> str:
    """An element's text on one line, with its emphasis kept as Markdown."""
    if element is None:
        return ""
    return fold((element.text or "") + "".join(_marked(child) + (child.tail or "") for child in element))


def _marked(element: Element) -> str:
    if element.tag in OMITTED:
        return ""
    if element.tag in ("inline-formula", "disp-formula") or element.tag.startswith(MATHML):
        return f" {_mathematics(element)} "
    if element.tag in ("p", "td", "break", "list-item", "title"):
        return f" {inline(element)} "
    text = (element.text or "") + "".join(_marked(child) + (child.tail or "") for child in element)
    if element.tag in MARKS and text.strip():
        mark = MARKS[element.tag]
        lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        return f"{lead}{mark}{text.strip()}{mark}{trail}"
    return f"<{TAGS[element.tag]}>{text}</{TAGS[element.tag]}>" if element.tag in TAGS and text else text


def fold(text: str) -> str:
    """Fold white space, a non-breaking space included, to single spaces."""
    return re.sub(r"\s+", " ", text).strip()
