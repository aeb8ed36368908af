"""Page layout by fonts and geometry: what a learned layout model tells Marker, read off the PDF's own text layer.

Pure and free of dependencies, because it runs in the converter's environment: lines in, labelled boxes out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmb\d|cmssbx|sfbx|ecbx|-bd\b|-medi\b|\.b\b", re.I)
MONO = re.compile(
    r"mono|courier|typewriter|inconsol|consol|menlo|cmtt|cmsltt|cmitt|ectt|sftt|t1xtt|txtt|lmtt|ltt\d", re.I
)
SANS = re.compile(r"helvetica|arial|nimbussan", re.I)
NUMBERED = re.compile(r"^(?:[A-Z](?:\.\d{1,2}){0,3}\.|[A-Z](?:\.\d{1,2}){1,3}|\d{1,2}(?:\.\d{1,2}){0,3}\.?)\s+\S")
CAPTION = re.compile(r"^(?:Figure|Fig\.|Table|Tab\.|Algorithm|Listing)\s*\d+(?:\s*[:.–—-]|\s*$)")
BULLET = re.compile(r"^(?:[•●○◦■▪▫–—]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+\S")
ENTRY_NUMBER = re.compile(r"^(?:\[\w{1,12}\]|\d{1,3}\.)\s+\S")
REFERENCES = re.compile(
    r"^(?:\d{1,2}\.?\s+|[A-Z]\.\s+)?(?:references?|bibliography|literature(?: cited)?|works cited)\.?$", re.I
)
KNOWN_HEADING = re.compile(
    r"^(?:\d{1,2}\.?\s+)?(?:abstract|summary|introduction|conclusions?|discussion|acknowledge?ments?|affiliations?"
    r"|appendix(?: [A-Z])?|references?|bibliography|literature cited|works cited|computational details)\.?:?$",
    re.I,
)
TITLE_SLACK = 0.6  # points by which a title's lines may differ
SENTENCE_END = (".", "?", "!", ":", ".”", ".)", ";")


@dataclass(frozen=True)
class Line:
    """A line of text: its box in points from the page's top left, main font size, shares of bold, mono and sans."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: float = 0.0
    mono: float = 0.0
    sans: float = 0.0

    @property
    def height(self) -> float:
        """Height of the line's box in points."""
        return self.y1 - self.y0


@dataclass(frozen=True)
class Page:
    """A page: its size in points, and its lines in the order of the PDF's characters."""

    width: float
    height: float
    lines: list[Line]


@dataclass(frozen=True)
class Box:
    """A labelled region of a page; `label` is one of the layout model's names (`Text`, `SectionHeader`, …)."""

    label: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass
class Block:
    """Lines that belong together, while a page is being read."""

    label: str
    lines: list[Line] = field(default_factory=list)

    def box(self) -> Box:
        """The region that covers the lines, a hair larger than they are."""
        return Box(
            self.label,
            min(line.x0 for line in self.lines) - 1,
            min(line.y0 for line in self.lines) - 0.5,
            max(line.x1 for line in self.lines) + 1,
            max(line.y1 for line in self.lines) + 0.5,
        )


def read_page(raw: dict[str, Any]) -> Page:
    """Read a page of pdftext's output (`blocks` of `lines` of `spans`) into lines; empty lines are left out."""
    lines = [line for block in raw["blocks"] for line in map(_read_line, block["lines"]) if line]
    return Page(float(raw["width"]), float(raw["height"]), lines)


def _read_line(raw: dict[str, Any]) -> Line | None:
    spans = [span for span in raw["spans"] if span["text"].strip()]
    if not spans:
        return None
    length = sum(len(span["text"]) for span in spans)

    def share(pattern: re.Pattern[str]) -> float:
        return sum(len(s["text"]) for s in spans if pattern.search(s["font"]["name"] or "")) / length

    main = max(spans, key=lambda span: len(span["text"]))
    size = main["font"]["size"] or 0
    if size <= 1.5:  # some producers scale a one-point font: the box then tells the size
        size = main["bbox"][3] - main["bbox"][1]
    text = "".join(span["text"] for span in raw["spans"]).strip()
    x0, y0, x1, y1 = map(float, raw["bbox"])
    return Line(text, x0, y0, x1, y1, float(size), share(BOLD), share(MONO), share(SANS))


@dataclass(frozen=True)
class Typography:
    """What is usual in a document: body size and line pitch in points, running heads, a body without serifs or not."""

    size: float
    pitch: float
    heads: frozenset[str]
    sans: bool


def typography(pages: list[Page]) -> Typography:
    """Measure a document's usual type: the size that sets most characters, the commonest step from line to line."""
    sizes: Counter[float] = Counter()
    sans = total = 0.0
    for page in pages:
        for line in page.lines:
            if line.mono < 0.5:
                sizes[round(line.size, 1)] += len(line.text)
                sans += line.sans * len(line.text)
                total += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    steps = Counter(round(step * 2) / 2 for page in pages for step in _steps(page.lines, size))
    pitch = steps.most_common(1)[0][0] if steps else 1.2 * size
    return Typography(size, pitch, _running_heads(pages), total > 0 and sans / total > 0.5)


def _steps(lines: list[Line], size: float) -> Iterator[float]:
    for above, below in pairwise(lines):
        step = below.y0 - above.y0
        if abs(above.size - size) < 0.3 and abs(below.size - size) < 0.3 and 0.8 * size < step < 2.5 * size:
            yield step


def _running_heads(pages: list[Page]) -> frozenset[str]:
    """Texts, numbers aside, that stand at the edge of two or more pages."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({_letters(line.text) for line in page.lines if _at_edge(line, page)})
    return frozenset(text for text, count in seen.items() if count > 1 and text)


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text).lower()


def _at_edge(line: Line, page: Page) -> bool:
    return line.y0 < 0.12 * page.height or line.y1 > 0.9 * page.height


def layout(pages: list[Page]) -> list[list[Box]]:
    """Label the regions of each page of a document: headings, text, code, captions, notes, figures, page heads.

    Returns:
        For each page its boxes, in the order of the PDF's characters.
    """
    usual = typography(pages)
    reader = Reader(usual)
    return [[block.box() for block in reader.read(page, number == 0)] for number, page in enumerate(pages)]


class Reader:
    """Reads a document's pages in order; remembers whether it is in the title, in the body or in the references."""

    def __init__(self, usual: Typography) -> None:
        self.usual = usual
        self.in_references = False
        self.in_front = True
        self.ended = False  # whether the row before ended a sentence

    def read(self, page: Page, first: bool) -> list[Block]:
        """Group a page's lines into labelled blocks."""
        self.in_front = first and self.in_front
        self.entry_margin = _hanging_margin(page.lines)
        title = _title_size(page, self.usual) if first else 0.0
        blocks: list[Block] = []
        begins_in_references = self.in_references
        for row in _rows(page.lines):
            label = self._label(row, page, title)
            block = blocks[-1] if blocks else None
            if block and block.label == label and self._continues(block, row):
                block.lines.extend(row)
            else:
                blocks.append(Block(label, list(row)))
            if not (title and max(line.size for line in row) >= title - TITLE_SLACK):
                self._note(label, row)
        if begins_in_references:
            self._part_entries(blocks)
        return blocks

    def _part_entries(self, blocks: list[Block]) -> None:
        """Keep Marker from joining a page's first entry to the last one of the page before, where it is a new one."""
        block = next((block for block in blocks if block.label == "Text"), None)
        if block is None:
            return
        margin = self.entry_margin(block.lines[0])
        if ENTRY_NUMBER.match(block.lines[0].text) or (margin is not None and block.lines[0].x0 <= margin + 3):
            block.label = "Bibliography"  # Marker only joins blocks of plain text

    def _note(self, label: str, row: list[Line]) -> None:
        self.ended = _text(row).endswith(SENTENCE_END)
        if label != "SectionHeader":
            return
        text = _text(row)
        if KNOWN_HEADING.match(text) or NUMBERED.match(text):
            self.in_front = False
        self.in_references = bool(REFERENCES.match(text))

    def _label(self, row: list[Line], page: Page, title: float) -> str:
        text, size = _text(row), max(line.size for line in row)
        if self._is_head(row, page, text):
            return "PageHeader" if row[0].y0 < 0.5 * page.height else "PageFooter"
        if title and size >= title - TITLE_SLACK:
            return "SectionHeader"
        if self._is_heading(row, text, size):
            return "SectionHeader"
        if self.in_front or self.in_references:
            return "Footnote" if self._is_footnote(row, page) else "Text"
        if _share(row, "mono") > 0.75:
            return "Code"
        if CAPTION.match(text):
            return "Caption"
        if self._is_footnote(row, page):
            return "Footnote"
        if not self.usual.sans and len(text) < 40 and _share(row, "sans") > 0.9:
            return "Figure"
        return "ListGroup" if BULLET.match(text) and size >= 0.9 * self.usual.size else "Text"

    def _is_head(self, row: list[Line], page: Page, text: str) -> bool:
        if not all(_at_edge(line, page) for line in row):
            return False
        letters = _letters(text)
        return (not letters and len(text) < 8) or any(_letters(line.text) in self.usual.heads for line in row)

    def _is_heading(self, row: list[Line], text: str, size: float) -> bool:
        if len(text) > 130 or not re.search(r"[^\W\d_]{2}", text) or text.endswith((",", ";")):
            return False
        if _share(row, "mono") > 0.5 or CAPTION.match(text):
            return False
        if KNOWN_HEADING.match(text):
            return size >= 0.85 * self.usual.size
        if self.in_front:
            return False  # authors are set large and bold too, but they are no headings
        larger = size >= 1.12 * self.usual.size and _share(row, "sans") < 0.5
        if self.in_references and not (larger or NUMBERED.match(text) or self.ended):
            return False  # bold words inside an entry
        bold = _share(row, "bold") > 0.8 and size >= 0.97 * self.usual.size
        return larger or (bold and not text.endswith("."))

    def _is_footnote(self, row: list[Line], page: Page) -> bool:
        small = max(line.size for line in row) <= 0.91 * self.usual.size
        return small and row[0].y0 > 0.7 * page.height and bool(re.match(r"^[\d*†‡§¶]", _text(row)))

    def _continues(self, block: Block, row: list[Line]) -> bool:
        above, line = block.lines[-1], row[0]
        gap = line.y0 - above.y1
        if block.label in ("Figure", "PageHeader", "PageFooter"):
            return True
        overlap = min(above.x1, line.x1) - max(above.x0, line.x0)
        if overlap <= 0 and not (block.label == "Text" and len(row) > 1):
            return block.label == "Code" and gap < 2 * above.height
        if gap < -1.2 * above.height:
            return False  # the next column
        if block.label == "Code":
            return gap < 1.6 * above.height
        if block.label == "SectionHeader":
            return abs(line.size - above.size) < 0.6 and gap < above.height and not NUMBERED.match(line.text)
        if gap > 0.55 * self.usual.pitch + max(0.0, self.usual.pitch - self.usual.size):
            return False
        if self.in_references:
            return not self._starts_entry(block, line)
        if self.in_front:
            return abs(line.size - above.size) < 0.3 and above.size <= self.usual.size + 0.2
        return not self._starts_paragraph(block, line)

    def _starts_entry(self, block: Block, line: Line) -> bool:
        if ENTRY_NUMBER.match(block.lines[0].text):
            return bool(ENTRY_NUMBER.match(line.text))
        margin = self.entry_margin(line)
        if margin is not None:
            return line.x0 <= margin + 3
        gaps = line.y0 - block.lines[-1].y0
        return gaps > 1.15 * self.usual.pitch and block.lines[-1].text.endswith(".")

    def _starts_paragraph(self, block: Block, line: Line) -> bool:
        above, left = block.lines[-1], min(other.x0 for other in block.lines)
        if block.label == "ListGroup":
            return False
        indented = line.x0 > left + 0.5 * self.usual.size
        if len(block.lines) == 1 and above.x0 > line.x0:
            return False  # the block opened with an indented first line
        return indented and abs(above.x0 - left) < 1.5 and above.text.endswith(SENTENCE_END)


def _rows(lines: list[Line]) -> Iterator[list[Line]]:
    """Join lines that stand beside each other: a superscript ends a line in the text layer, not on the page."""
    row: list[Line] = []
    for line in lines:
        if row and not _beside(row[-1], line):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _beside(left: Line, right: Line) -> bool:
    overlap = min(left.y1, right.y1) - max(left.y0, right.y0)
    gap = right.x0 - left.x1
    return overlap > 0.5 * min(left.height, right.height) and -2 < gap < 1.6 * max(left.size, right.size)


def _hanging_margin(lines: list[Line]) -> Callable[[Line], float | None]:
    """A function that gives the left margin of a line's column where entries hang on a page, else None."""
    columns: dict[bool, Counter[int]] = {}
    middle = (min((x.x0 for x in lines), default=0) + max((x.x1 for x in lines), default=0)) / 2
    for line in lines:
        columns.setdefault(line.x0 > middle - 5, Counter())[round(line.x0)] += 1

    def margin(line: Line) -> float | None:
        starts = columns.get(line.x0 > middle - 5, Counter())
        total = sum(starts.values())
        common = sorted(x for x, count in starts.items() if count >= max(2, 0.08 * total))
        if len(common) < 2 or not 4 < common[1] - common[0] < 50:
            return None
        return float(common[0])

    return margin


def _title_size(page: Page, usual: Typography) -> float:
    """The largest size in the upper half of the first page, where it is clearly above the body's, else 0."""
    upper = [line.size for line in page.lines if line.y0 < 0.5 * page.height and len(_letters(line.text)) > 2]
    largest = max(upper, default=0.0)
    return largest if largest >= 1.12 * usual.size else 0.0


def _text(row: Iterable[Line]) -> str:
    return " ".join(line.text for line in row)


def _share(row: list[Line], kind: str) -> float:
    length = sum(len(line.text) for line in row)
    return float(sum(getattr(line, kind) * len(line.text) for line in row) / max(length, 1))
