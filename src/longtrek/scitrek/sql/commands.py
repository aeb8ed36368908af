"""`longtrek query`: answers of SQL on the tables that each case carries."""

import json
from pathlib import Path
from typing import Any

import click

from longtrek.errors import LongtrekError


@click.command()
@click.argument("cases", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--seconds", default=5.0, show_default=True, help="The time limit of one query.")
@click.option("--rows", default=10_000, show_default=True, help="The most rows that a result may have.")
def query(cases: Path, seconds: float, rows: int) -> None:
    """Run each line's `sql` on the tables it carries and print the line's answer.

    CASES holds JSON lines with `sql`, `articles`, `article_author` and `citing_cited` (lists of objects, Table 13);
    `-` is standard input. For each line one JSON line is printed, in order: {"answer": TEXT}, or {"answer": null,
    "error": REASON} for a query that is refused or stopped; then the exit status is 1. An answer whose rows stand in
    the order of a join that SQLite's planner might nest otherwise has a "note" beside it that says so.
    """
    from longtrek.files import read_jsonl
    from longtrek.scitrek.sql.sandbox import Limits, Sandbox

    failed = False
    with Sandbox(Limits(seconds, rows)) as sandbox:
        for number, case in enumerate(read_jsonl(cases), 1):
            printed = _answered(sandbox, case, f"{cases}, case {number}")
            failed |= "error" in printed
            click.echo(json.dumps(printed, ensure_ascii=False))
    if failed:
        raise click.exceptions.Exit(1)


def _answered(sandbox: Any, case: Any, where: str) -> dict[str, str | None]:
    from longtrek.scitrek.sql.database import database_from
    from longtrek.scitrek.sql.literals import Refused
    from longtrek.scitrek.sql.order import ANY, order_of

    if not isinstance(case, dict) or not isinstance(case.get("sql"), str):
        raise LongtrekError(f"{where}: no `sql`; expected an object with `sql` and the three tables")
    database = database_from(case, where)
    try:
        result = sandbox.run(database, case["sql"])
    except Refused as reason:
        return {"answer": None, "error": str(reason)}
    if result.translation.unsure and order_of(result).kind == ANY:
        return {"answer": result.answer, "note": "the query has no ORDER BY, and the order of its join is not certain"}
    return {"answer": result.answer}
