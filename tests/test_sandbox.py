"""The sandbox: hostile and broken SQL is refused or stopped with a reason; none reads, writes or hangs."""

import time
from pathlib import Path

import pytest

from longtrek.errors import LongtrekError
from longtrek.scitrek.sql.database import Database, database_of
from longtrek.scitrek.sql.literals import Refused
from longtrek.scitrek.sql.query import run
from longtrek.scitrek.sql.sandbox import Limits, Sandbox

SECRET = "/etc/passwd"
DATABASE = Database(
    tuple((f"a{n}", f"Title number {n}", n % 7, n % 5, n * 7 % 90) for n in range(60)),
    tuple((None, f"a{n % 60}", f"Name {n % 97}", n // 60) for n in range(300)),
    tuple((None, f"a{n % 60}", f"a{n * 7 % 60}") for n in range(200)),
)
NESTED = "SELECT article_id FROM articles WHERE article_id IN (" * 12 + "SELECT 'a'" + ")" * 12
DOUBLED = "WITH a AS (SELECT x.article_id FROM articles x, articles y)" + "".join(
    f", {new} AS (SELECT x.article_id FROM {old} x, {old} y)" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

REFUSED = {
    "a file in FROM": f"SELECT * FROM '{SECRET}'",
    "a CSV reader": f"SELECT * FROM read_csv('{SECRET}')",
    "an automatic CSV reader": f"SELECT * FROM read_csv_auto('{SECRET}')",
    "a text reader": f"SELECT content FROM read_text('{SECRET}')",
    "a blob reader": f"SELECT * FROM read_blob('{SECRET}')",
    "a Parquet reader": "SELECT * FROM read_parquet('x.parquet')",
    "a JSON reader": "SELECT * FROM read_json_auto('x.json')",
    "a folder listing": "SELECT * FROM glob('/etc/*')",
    "a reader as a scalar": f"SELECT read_text('{SECRET}')",
    "a reader in a subquery": f"SELECT 1 FROM articles WHERE article_id IN (SELECT content FROM read_text('{SECRET}'))",
    "a reader in a CTE": f"WITH f AS (SELECT * FROM read_csv('{SECRET}')) SELECT * FROM f",
    "a file by quoted name": f'SELECT * FROM "{SECRET}"',
    "a file over the network": "SELECT * FROM 'https://example.org/x.csv'",
    "a copy out": "COPY articles TO '/tmp/stolen.csv'",
    "a copy in": f"COPY articles FROM '{SECRET}'",
    "a copy of a query": "COPY (SELECT * FROM articles) TO '/tmp/stolen.csv'",
    "an export": "EXPORT DATABASE '/tmp/stolen'",
    "an attached file": "ATTACH '/tmp/other.db' AS other",
    "a detached database": "DETACH memory",
    "an installed extension": "INSTALL httpfs",
    "a loaded extension": "LOAD httpfs",
    "SQLite's extension loader": "SELECT load_extension('evil.so')",
    "a pragma": "PRAGMA database_list",
    "a table-valued pragma": "SELECT * FROM pragma_table_info('articles')",
    "a setting": "SET memory_limit = '100GB'",
    "a setting reset": "RESET memory_limit",
    "a settings reader": "SELECT current_setting('memory_limit')",
    "the settings table": "SELECT * FROM duckdb_settings()",
    "an environment variable": "SELECT getenv('HOME')",
    "a call": "CALL pragma_version()",
    "an insertion": "INSERT INTO articles VALUES ('x', 'y', 1, 1, 1)",
    "an update": "UPDATE articles SET reference_count = 0",
    "a deletion": "DELETE FROM articles",
    "a dropped table": "DROP TABLE articles",
    "a new table": "CREATE TABLE mine AS SELECT * FROM articles",
    "a new view": "CREATE VIEW mine AS SELECT 1",
    "a new macro": "CREATE MACRO f(x) AS x",
    "a changed table": "ALTER TABLE articles ADD COLUMN x INT",
    "a transaction": "BEGIN; SELECT 1",
    "a vacuum": "VACUUM",
    "an explanation": "EXPLAIN ANALYZE SELECT 1",
    "two statements": "SELECT 1; DROP TABLE articles",
    "two statements with a comment between": "SELECT 1 /* ; */ ; -- \n DELETE FROM articles",
    "a statement behind a comment": "/* SELECT */ DROP TABLE articles",
    "a statement behind a line comment": "-- SELECT 1\nDROP TABLE articles",
    "a string closed early": "SELECT 'a''; DROP TABLE articles; --",
    "a comment in a string that is closed": "SELECT '/*' ; DROP TABLE articles; --*/'",
    "another schema's table": "SELECT * FROM information_schema.tables",
    "SQLite's own table": "SELECT * FROM sqlite_master",
    "DuckDB's own table": "SELECT * FROM duckdb_tables",
    "a qualified table": "SELECT * FROM main.articles",
    "a hidden column": "SELECT rowid FROM articles",
    "a recursive bomb": "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r",
    "a recursion without the word": "WITH r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r",
    "a series": "SELECT * FROM generate_series(1, 1000000000)",
    "a range": "SELECT * FROM range(1000000000)",
    "an unnested list": "SELECT unnest(range(1000000000))",
    "a repeated text": "SELECT repeat('x', 1000000000)",
    "a blob of zeros": "SELECT zeroblob(1000000000)",
    "a printed width": "SELECT printf('%1000000000d', 1)",
    "texts that grow by replacement": "SELECT REPLACE(REPLACE('aaaa', 'a', 'aaaaaaaa'), 'a', 'aaaaaaaa')",
    "texts that grow by concatenation": f"SELECT {' || '.join(['article_title'] * 12)} FROM articles",
    "a doubling chain of CTEs": DOUBLED + " SELECT COUNT(*) FROM i",
    "too many tables": "SELECT COUNT(*) FROM " + ", ".join(f"articles x{n}" for n in range(9)),
    "queries too deep": NESTED,
    "parentheses too deep": "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "signs too deep": "SELECT " + "- " * 3000 + "1",
    "very long text": "SELECT '" + "x" * 30_000 + "'",
    "very many terms": "SELECT " + "1 + " * 2500 + "1",
    "very many columns": "SELECT " + ", ".join(["author_name"] * 500) + " FROM article_author",
    "a bound variable": "SELECT * FROM articles WHERE article_id = ?",
    "a named variable": "SELECT * FROM articles WHERE article_id = :s0",
    "a blob": "SELECT x'00'",
    "nothing": "  ; ",
    "only a comment": "-- SELECT 1",
    "no SQL": "The answer is 42.",
    "a fenced block": "```sql\nSELECT 1\n```",
    "an unclosed text": "SELECT 'abc",
    "an unknown column": "SELECT year FROM articles",
    "an unknown function": "SELECT MEDIAN(reference_count) FROM articles",
    "a trailing comma": "SELECT article_id, FROM articles",
    "FROM first": "FROM articles",
    "a window": "SELECT ROW_NUMBER() OVER (ORDER BY article_id) FROM articles",
    "a bare VALUES": "VALUES (1)",
    "an ambiguous column": "SELECT article_id FROM articles a JOIN article_author b ON a.article_id = b.article_id",
    "compound sides of unequal width": "SELECT 1 UNION SELECT 1, 2",
    "SELECT INTO": "SELECT * INTO mine FROM articles",
    "a NUL in the text": "SELECT 1 \x00",
    "half a character": "SELECT '\ud800'",
    "a common table that is its own source": "WITH a AS (SELECT * FROM a) SELECT * FROM a",
    "two common tables of one name": "WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a",
    "a BETWEEN without its AND": "SELECT COUNT(*) FROM articles WHERE reference_count BETWEEN 50 100",
    "a number after a column": "SELECT reference_count 5 FROM articles",
    "a number after a table": "SELECT reference_count FROM articles 5",
    "a text after an expression": "SELECT COUNT(*) ESCAPE FROM articles",
    "a star after a table": "SELECT reference_count FROM articles *",
    "a comma first": "SELECT , reference_count FROM articles",
    "a parenthesis never closed": "SELECT CAST(reference_count AS REAL / author_count FROM articles",
    "an aggregate never closed": "SELECT GROUP_CONCAT(author_name, ';' AVG FROM article_author",
    "GROUP BY nothing": "SELECT title_word_count, COUNT(*) FROM articles GROUP BY",
    "IS nothing": "SELECT article_id FROM articles WHERE (article_title IS)",
    "WITH without AS": "WITH x (SELECT 1) SELECT * FROM x",
    "IFNULL of one": "SELECT IFNULL(reference_count) FROM articles",
    "a placeholder never filled": "SELECT * FROM articles WHERE author_count = {author-count}",
}
STOPPED = {
    "a cross-join bomb": "SELECT COUNT(*) FROM article_author a, article_author b, article_author c, article_author d,"
    " article_author e WHERE a.author_name || b.author_name <> c.author_name || d.author_name || e.author_name",
    "a sorted cross join": "SELECT a.author_name FROM article_author a, article_author b, article_author c,"
    " article_author d ORDER BY a.author_name || d.author_name",
    "a distinct cross join": "SELECT DISTINCT a.author_name, b.author_name, c.author_name, d.author_name FROM"
    " article_author a, article_author b, article_author c, article_author d",
    "nested correlated scans": "SELECT COUNT(*) FROM article_author a, article_author b, article_author c WHERE"
    " (SELECT COUNT(*) FROM article_author d WHERE d.author_name < a.author_name || c.author_name) > 1",
    "too many rows": "SELECT a.author_name FROM article_author a, article_author b",
}


@pytest.fixture(scope="module")
def sandbox():
    """A patient one: what it refuses it does not refuse for its time, on however busy a machine."""
    with Sandbox(Limits(seconds=60.0, rows=10_000)) as opened:
        yield opened


def still_whole(sandbox: Sandbox) -> bool:
    counts = "SELECT (SELECT COUNT(*) FROM articles), (SELECT COUNT(*) FROM article_author), COUNT(*) FROM citing_cited"
    return sandbox.run(DATABASE, counts).rows == ((60, 300, 200),)


def test_the_list_of_attacks_is_long_enough():
    assert len(REFUSED) + len(STOPPED) >= 40


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_one_select_on_the_three_tables_is_refused_at_once(sandbox, name):
    started = time.process_time()  # of this process alone, so that other work on the machine costs nothing
    with pytest.raises(Refused) as reason:
        sandbox.run(DATABASE, REFUSED[name])
    assert time.process_time() - started < 2
    assert len(str(reason.value)) > 10
    assert still_whole(sandbox)


@pytest.mark.parametrize("name", STOPPED)
def test_what_takes_too_much_is_stopped_within_its_limit(sandbox, monkeypatch, name):
    monkeypatch.setattr(sandbox, "limits", Limits(seconds=1.0, rows=10_000))
    started = time.process_time()
    with pytest.raises(Refused, match=r"time limit|memory limit|more than 10,000 rows"):
        sandbox.run(DATABASE, STOPPED[name])
    assert time.process_time() - started < 4
    monkeypatch.undo()
    assert still_whole(sandbox)


def test_no_attack_leaves_a_file(sandbox, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for sql in (*REFUSED.values(), f"COPY articles TO '{tmp_path}/out.csv'", f"ATTACH '{tmp_path}/x.db' AS x"):
        with pytest.raises(Refused):
            sandbox.run(DATABASE, sql)
    assert list(tmp_path.iterdir()) == []
    assert not Path("/tmp/stolen.csv").exists()


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT * FROM read_csv('{SECRET}')",
        f"SELECT * FROM read_text('{SECRET}')",
        "COPY articles TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "SET lock_configuration = false",
        "DELETE FROM articles",
        "CREATE TABLE mine (x INTEGER)",
    ],
)
def test_the_engine_refuses_by_itself_what_would_get_past_the_reader(sandbox, statement):
    import duckdb

    sandbox._engine.load(DATABASE)
    sandbox._engine.begin_reading()
    try:
        with pytest.raises(duckdb.Error):
            sandbox._engine.fetch(statement, [])
    finally:
        sandbox._engine.end_reading()
    assert still_whole(sandbox)


def test_python_variables_are_no_tables(sandbox):
    import duckdb

    articles_of_python = [1]
    with pytest.raises(duckdb.Error):
        sandbox._engine.fetch("SELECT * FROM articles_of_python", [])
    assert articles_of_python


@pytest.mark.parametrize("digits", [20, 3_999, 5_000, 15_000])
def test_a_number_of_any_length_is_read_or_refused(sandbox, digits):
    assert sandbox.run(DATABASE, f"SELECT COUNT(*) FROM articles WHERE reference_count < {'9' * digits}").answer == "60"
    assert still_whole(sandbox)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300])
def test_a_limit_that_would_limit_nothing_is_refused(seconds):
    with pytest.raises(LongtrekError, match="time limit"):
        Limits(seconds=seconds)


def test_a_limit_of_no_rows_is_refused():
    with pytest.raises(LongtrekError, match="rows"):
        Limits(rows=0)


def test_whatever_the_engine_says_of_a_query_is_the_querys_refusal_and_the_next_one_runs(sandbox, monkeypatch):
    import duckdb

    def broken(*_):
        raise duckdb.TransactionException("TransactionContext Error: Current transaction is aborted")

    with monkeypatch.context() as patched:
        patched.setattr(sandbox._engine, "fetch", broken)
        with pytest.raises(Refused, match="could not run it: TransactionContext"):
            sandbox.run(DATABASE, "SELECT 1")
    assert still_whole(sandbox)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 UNION ALL SELECT 2 ORDER BY 1 DESC",
        'SELECT `article_id` FROM [articles] ORDER BY "reference_count" DESC, 1 LIMIT 2;;',
        "SELECT article_title FROM articles WHERE article_title = '; DROP TABLE articles; --'",
        "SELECT COUNT(*) /* how many */ FROM articles -- all\n;",
        f"SELECT COUNT(*) FROM articles WHERE article_title LIKE '%{SECRET}%'",
        "SELECT a.article_title FROM articles AS a WHERE EXISTS (SELECT 1 FROM citing_cited c "
        "WHERE c.article_id_cited = a.article_id)",
        "WITH often AS (SELECT author_name, COUNT(*) AS n FROM article_author GROUP BY author_name) "
        "SELECT author_name FROM often WHERE n > 3 ORDER BY n DESC, author_name LIMIT 5",
    ],
)
def test_harmless_queries_that_look_odd_run(sql):
    with Sandbox() as patient:
        patient.run(DATABASE, sql)


def test_a_query_changes_nothing_for_the_next_one(sandbox):
    other = database_of([{"id": "p", "title": "x", "authors": [], "reference_count": 1}], [])
    assert sandbox.run(other, "SELECT COUNT(*) FROM articles").answer == "1"
    assert still_whole(sandbox)
    assert run(sandbox._engine, other, "SELECT COUNT(*) FROM article_author").answer == "0"
