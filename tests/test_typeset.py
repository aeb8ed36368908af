"""Tables and figures as they are set: no cell lost to LaTeX, signs as in print, and lines that fill their width."""

from xml.etree import ElementTree

import pytest

from longtrek.analysis.style import text_width, wrapped
from longtrek.analysis.typeset import Table, html, latex, markdown

SIGNS = Table("t", "Signs.", ("sign", "count"), (("*", "-0.25∗"), ("[a]", "-3"), ("x -5", "a-b")), ())


def test_latex_takes_no_cell_for_its_own_marks() -> None:
    rows = [line for line in latex(SIGNS).splitlines() if " & " in line]
    assert rows == [r"sign & count \\", r"{*} & $-$0.25$^*$ \\", r"{[}a] & $-$3 \\", r"x -5 & a-b \\"]


def test_negative_numbers_have_a_minus_sign_and_queries_keep_their_hyphens() -> None:
    assert markdown(SIGNS).splitlines()[4:7] == [r"| \* | −0.25∗ |", "| [a] | −3 |", "| x -5 | a-b |"]


def test_html_is_a_page_in_which_nothing_is_markup_but_the_table() -> None:
    page = html(Table("t", "a < b", ("<i>", "n"), (("a & b", "-3"),), ("One note.", "x > y")))
    root = ElementTree.fromstring(page.partition("</style>")[2].removesuffix("</html>\n").join(("<body>", "</body>")))
    assert [cell.text for cell in root.iter() if cell.tag in ("caption", "th", "td", "p")] == [
        "a < b", "<i>", "n", "a & b", "−3", "One note.", "x > y",
    ]  # fmt: skip
    assert [cell.get("style") for cell in root.iter("td")] == ["text-align: left", "text-align: right"]


@pytest.mark.parametrize("text", ["", "word", "a " * 400, "W" * 300, "two\N{NO-BREAK SPACE}words " * 60])
def test_lines_are_broken_at_spaces_where_they_fill_their_width(text: str) -> None:
    lines = wrapped(text, 6, 3.0)
    assert " ".join(lines) == text.rstrip(" ")
    assert all(text_width(line, 6) <= 3.0 or " " not in line for line in lines)
    starts = [line.split(" ")[0] for line in lines[1:]]
    assert all(text_width(f"{line} {start}", 6) > 3.0 for line, start in zip(lines, starts, strict=False))
