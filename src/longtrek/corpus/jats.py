"""Read a JATS XML article: title, ordered authors, subject, references, and the DOIs that it cites."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

from longtrek.errors import LongtrekError

XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
Element = ElementTree.Element


@dataclass(frozen=True)
class Facts:
    """What a JATS article says of itself; what it cites is in the order of the reference list, without repetition."""

    doi: str
    type: str
    title: str
    authors: tuple[str, ...]
    subject: str
    licence: str
    references: int
    cited_dois: tuple[str, ...]
    cited_titles: tuple[str, ...]


def parse(content: bytes, name: str) -> Element:
    """Parse an article's XML.

    Raises:
        LongtrekError: it is not XML, or not a JATS article.
    """
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise LongtrekError(f"{name}: not XML ({error}); expected a JATS article") from None
    if root.tag != "article" or root.find("./front/article-meta") is None:
        raise LongtrekError(f"{name}: the root is <{root.tag}>; expected a JATS <article> with <front>")
    return root


def facts(root: Element) -> Facts:
    """The facts of a parsed article."""
    meta = root.find("./front/article-meta")
    assert meta is not None
    references = root.findall(".//ref-list//ref")
    dois = [doi for reference in references for doi in _dois(reference)]
    titles = [flat(title) for reference in references for title in reference.iter("article-title")]
    return Facts(
        doi=flat(meta.find("article-id[@pub-id-type='doi']")),
        type=root.get("article-type", ""),
        title=flat(meta.find("./title-group/article-title")),
        authors=tuple(authors(meta)),
        subject=_subject(meta),
        licence=_licence(meta),
        references=len(references),
        cited_dois=tuple(dict.fromkeys(dois)),
        cited_titles=tuple(dict.fromkeys(titles)),
    )


def authors(meta: Element) -> list[str]:
    """The ordered authors; a collaboration is one author, by its own name without its list of members."""
    names = []
    for contributor in meta.findall("./contrib-group/contrib[@contrib-type='author']"):
        name, group = contributor.find("name"), contributor.find("collab")
        if name is not None:
            names.append(person(name))
        elif group is not None:
            names.append(_own_text(group))
    return [name for name in names if name]


def person(name: Element) -> str:
    """A `<name>` as it is printed: `Peter W. Kubenka Jr.`."""
    parts = [flat(name.find(tag)) for tag in ("given-names", "surname", "suffix")]
    if name.get("name-style") == "eastern":
        parts[:2] = parts[1::-1]
    return " ".join(part for part in parts if part)


def _own_text(group: Element) -> str:
    pieces = [group.text or ""]
    for child in group:
        if child.tag in ("italic", "bold", "sup", "sub", "institution", "named-content"):
            pieces.append("".join(child.itertext()))
        pieces.append(child.tail or "")
    return " ".join("".join(pieces).split())


def _dois(reference: Element) -> list[str]:
    found = []
    for element in reference.iter():
        if element.tag == "pub-id" and element.get("pub-id-type") == "doi":
            found.append(flat(element))
        elif element.tag == "ext-link":
            found += DOI.findall(element.get(XLINK_HREF, ""))
    found += DOI.findall("".join(reference.itertext()))
    return [doi.rstrip(".,;)").lower() for doi in found]


def _subject(meta: Element) -> str:
    for kind in ("Discipline-v3", "Discipline-v2", "Discipline", "heading"):
        subject = flat(meta.find(f"./article-categories/subj-group[@subj-group-type='{kind}']/subject"))
        if subject:
            return subject.split("/")[0]
    return ""


def _licence(meta: Element) -> str:
    licence = meta.find("./permissions/license")
    if licence is not None:
        return licence.get(XLINK_HREF) or flat(licence)[:200]
    return flat(meta.find("./copyright-statement"))[:200] or flat(meta.find("./permissions/copyright-statement"))[:200]


def flat(element: Element | None) -> str:
    """An element's text without its markup, white space folded; an absent element is empty."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
