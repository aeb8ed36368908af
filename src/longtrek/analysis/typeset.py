"""Tables as Markdown, LaTeX and HTML."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_NEGATIVE = re.compile(r"-\d[\d.,]*∗?")
_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "–": "--",
    "×": r"$\times$",
    "−": "$-$",
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "⋆": r"$\star$",
    "∗": "$^*$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    "—": "---",
    "\N{NO-BREAK SPACE}": "~",
    "*": "{*}",  # behind a line's end, LaTeX would take these two for the line end's own
    "[": "{[}",
}


@dataclass(frozen=True)
class Table:
    """A table: header and cells as they are printed, a caption, and notes that belong under it.

    `align` has a letter a column: `l`, `r`, `c`, or `p` for text that LaTeX must break; the first column left and the
    others right where it is empty.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    align: str = ""

    @property
    def columns(self) -> str:
        """A letter for each column."""
        return self.align or "l" + "r" * (len(self.header) - 1)


_PIPES = {"l": ":--", "p": ":--", "c": ":-:", "r": "--:"}


def markdown(table: Table) -> str:
    """A table in Markdown: caption, pipes, notes."""
    lines = [
        f"**{table.caption}**",
        "",
        piped(table.header),
        piped([_PIPES[letter] for letter in table.columns]),
        *map(piped, table.rows),
        "",
        *[f"{note}  " for note in table.notes],
    ]
    return "\n".join(lines).rstrip() + "\n"


def latex(table: Table) -> str:
    """A table in LaTeX with booktabs' rules; notes as a small paragraph under it."""
    share = 0.7 / max(1, table.columns.count("p"))
    columns = table.columns.replace("p", rf"p{{{share:.2f}\linewidth}}")
    lines = [
        "% needs \\usepackage{booktabs,amssymb,adjustbox}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(table.caption)}}}",
        rf"\label{{tab:{table.name.replace('_', '-')}}}",
        r"\begin{adjustbox}{max width=\linewidth}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _ampersands(table.header),
        r"\midrule",
        *map(_ampersands, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        r"\par\smallskip\raggedright\footnotesize " + r"\\ ".join(map(_escaped, table.notes)),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


_SIDES = {"l": "left", "p": "left", "c": "center", "r": "right"}
_STYLE = """\
body { background: #fff; color: #1a1a1a; font: 14px/1.4 sans-serif; margin: 1em }
table { border-collapse: collapse; margin: 1em 0 }
caption { caption-side: top; font-weight: bold; padding-bottom: .6em; text-align: left }
th, td { border-bottom: 1px solid #ddd; padding: .2em .6em; vertical-align: top }
th { border-bottom-color: #1a1a1a }
td:first-child { white-space: nowrap }
p { color: #595959; margin: .2em 0 }
"""


def html(table: Table) -> str:
    """A table as a page of its own: caption, cells, notes."""
    sides = [_SIDES[letter] for letter in table.columns]

    def row(tag: str, cells: Sequence[str]) -> str:
        made = (
            f'<{tag} style="text-align: {side}">{escape(_signed(cell))}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    lines = [
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(table.name)}</title>',
        f"<style>\n{_STYLE}</style>",
        f"<table>\n<caption>{escape(table.caption)}</caption>",
        f"<thead>\n{row('th', table.header)}\n</thead>\n<tbody>",
        *(row("td", cells) for cells in table.rows),
        "</tbody>\n</table>",
        *(f"<p>{escape(note)}</p>" for note in table.notes),
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def piped(cells: Sequence[str]) -> str:
    """Cells as a row of a Markdown table."""
    return "| " + " | ".join(_signed(cell).replace("|", r"\|").replace("*", r"\*") for cell in cells) + " |"


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join(_escaped(_signed(cell)) for cell in cells) + r" \\"


def _signed(cell: str) -> str:
    """A negative number with a minus sign, where the CSV has a hyphen for programs; other cells as they are."""
    return cell.replace("-", "−") if _NEGATIVE.fullmatch(cell) else cell


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
