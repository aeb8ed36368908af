"""Table 13 of SciTrek: the tables of a collection's database."""

from longtrek.analysis import published
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.typeset import Table
from longtrek.scitrek.sql.database import INTEGER, SCHEMA

READS = ()
CAPTION = "The tables of a collection's database, which queries are written for and answered from."
MEANING = {
    ("articles", "article_id"): "tells the article apart",
    ("articles", "article_title"): "its title",
    ("articles", "title_word_count"): "words of the title, split at spaces",
    ("articles", "author_count"): "how many authors it has",
    ("articles", "reference_count"): "how many entries its reference list has",
    ("article_author", "relation_id"): "tells the row apart",
    ("article_author", "article_id"): "the article",
    ("article_author", "author_name"): "an author's name",
    ("article_author", "author_position"): "the author's place in the list, 0 for the first",
    ("citing_cited", "relation_id"): "tells the row apart",
    ("citing_cited", "article_id_citing"): "the article that cites",
    ("citing_cited", "article_id_cited"): "the article that is cited",
}


def make(run: SciTrekRun) -> Table:
    """The kit's schema, with the published type beside each column."""
    printed = {
        (value.row.replace("-", "_"), value.column): value.setting["type"]
        for value in published.read("scitrek_table_13", run.published)
    }
    rows = [
        (table, column, _type(kind), printed.get((table, column), "–"), MEANING[table, column])
        for table, columns in SCHEMA.items()
        for column, kind in columns.items()
    ]
    notes = (
        f"Read from the schema that the kit's databases are made by; {len(printed)} columns are published. The paper "
        "writes article-author and citing-cited with a dash.",
        f"Run: {run.kind}.",
    )
    header = ("Database Table", "Column Name", "Data Type", "Data Type, published", "Description")
    return Table("scitrek_table_13", CAPTION, header, tuple(rows), notes, "llllp")


def _type(kind: str) -> str:
    return "Integer" if kind == INTEGER else "String"
