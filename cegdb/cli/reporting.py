"""Commands that write reports."""

from __future__ import annotations

from pathlib import Path

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, MIN_N
from cegdb.cli.output import opened, say_made, tell_stale, working


@main.command()
@DB
@click.argument("name")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .html.",
)
@MIN_N
def report(db: Path, name: str, output: Path, min_n: int | None) -> None:
    """Write a page to look at a CEG of DB and ask it, for any browser.

    One file that needs no network: the CEG and its staged tree, what is known of each
    position and stage, evidence that changes all probabilities, the merges that led to the
    stages, receipt and settings, and the tables with their SQL.

    \b
    Examples:
      cegdb report falls.duckdb falls -o falls.html
      cegdb report falls.duckdb falls -o public.html --min-n 5
    """
    with opened(str(db), read_only=True) as database, working("writing", database):
        found = database.cegs[name]
        say_made("page", found.report.page(output, min_n=min_n))
        tell_stale(found)
