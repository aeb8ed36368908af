"""Small PDFs written by hand: good ones of any number of pages, and each kind that a converter must survive."""

LINES = (
    "A Small Article for Conversion",
    "Torsten Hothorn and Bettina Example",
    "Abstract",
    *(f"Sentence number {number} says nothing that matters, but it says so at some length." for number in range(12)),
    "References",
    "Agresti A (2002). Categorical Data Analysis. Second edition. John Wiley and Sons.",
    "Breiman L (1984). Classification and Regression Trees. Wadsworth, California.",
)
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << %s >> >>"
SIZES = {0: 20, 1: 12, 2: 14, 15: 14}


def pdf(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A PDF of numbered objects, the first of them the catalogue."""
    out, places = b"%PDF-1.5\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def text_page() -> bytes:
    """A page's content: the lines, from top to bottom."""
    out, height = b"BT\n", 780.0
    for number, line in enumerate(LINES):
        size = SIZES.get(number, 10)
        height -= 1.6 * size
        out += b"/F1 %d Tf 1 0 0 1 70 %.1f Tm (%s) Tj\n" % (size, height, line.encode().replace(b"(", b"\\("))
        out = out.replace(b"2002)", b"2002\\)").replace(b"1984)", b"1984\\)")
    return out + b"ET"


def article(pages: int = 1, trailer: bytes = b"") -> bytes:
    """A good article whose pages are all alike."""
    kids = b" ".join(b"%d 0 R" % (number + 5) for number in range(pages))
    page = PAGE % b"/Font << /F1 3 0 R >>"
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
            stream(text_page()),
            *[page] * pages,
        ],
        trailer,
    )


def encrypted() -> bytes:
    """An article locked with a password that nobody has."""
    lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00> <00>]"
    return article(1, lock % (b"ab" * 32, b"cd" * 32))


def endless(times: int = 50_000) -> bytes:
    """A page that paints itself anew, by a function for each point, more often than anyone can wait for."""
    function = stream(b"{ mul sin exch cos add abs 0.5 mul }", b"/FunctionType 4 /Domain [0 1 0 1] /Range [0 1]")
    shading = (
        b"<< /ShadingType 1 /ColorSpace /DeviceGray /Domain [0 1 0 1] /Matrix [595 0 0 842 0 0] /Function 6 0 R >>"
    )
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
            stream(b"/S sh " * times + text_page()),
            PAGE % (b"/Font << /F1 3 0 R >> /Shading << /S %s >>" % shading),
            function,
        ]
    )


def swelling(depth: int = 9) -> bytes:
    """A page that draws a form which draws the next one ten times, and so on: no memory is enough for it."""
    forms = []
    for level in range(depth):
        inner = b"<< /XObject << /X %d 0 R >> /Font << /F1 3 0 R >> >>" % (6 + level + 1)
        content = b"/X Do " * 10 if level < depth - 1 else b"BT /F1 9 Tf (x) Tj ET"
        resources = inner if level < depth - 1 else b"<< /Font << /F1 3 0 R >> >>"
        forms.append(stream(content, b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources " + resources))
    page = PAGE % b"/XObject << /X 6 0 R >>"
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
            stream(b"/X Do"),
            page,
            *forms,
        ]
    )
