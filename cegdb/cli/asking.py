"""Commands that show, export and look after what is there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import (
    BLANK,
    DB,
    EDGE_INFO,
    FORMAT,
    KINDS,
    METHODS,
    MIN_N,
    SCORES,
    read_chains,
    split_names,
)
from cegdb.cli.output import (
    ORDER,
    SHOWN,
    TABLES,
    collections,
    opened,
    print_query,
    print_table,
    print_view,
    say,
    working,
)
from cegdb.errors import CegdbError, agreeing, counted


@main.command("list")
@DB
@FORMAT
def list_(db: Path, form: str | None) -> None:
    """List the surveys, trees, stagings and CEGs of DB.

    \b
    Example:
      cegdb list falls.duckdb
    """
    with opened(str(db), read_only=True) as database:
        rows = [
            (kind, found.name, repr(found).partition(": ")[2])
            for kind, objects in collections(database).items()
            for found in objects
        ]
        print_table(["kind", "name", "what"], rows, form)


@main.command()
@DB
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--view", metavar="VIEW", help="The view to print, whole; see the README.")
@MIN_N
@FORMAT
def show(
    db: Path, kind: str, name: str, view: str | None, min_n: int | None, form: str | None
) -> None:
    """Show the summary and the rows of one object of DB.

    With --min-n there is no summary, since it counts respondents.

    \b
    Examples:
      cegdb show falls.duckdb ceg falls
      cegdb show falls.duckdb ceg falls --view positions --min-n 5
    """
    with opened(str(db), read_only=True) as database:
        found = collections(database)[kind][name]
        if min_n is None:
            say(found.summary)
        if view is not None or min_n is not None:
            print_view(found, view, min_n, form)
            return
        view, column = TABLES[kind]
        sql = (
            f"select {SHOWN[kind]} from cegdb.{view} where {column} = $name "  # noqa: S608
            f"order by {ORDER[kind]}"
        )
        print_query(database, sql, {"name": name}, form)


@main.command()
@click.argument("db", metavar="[DB]", required=False, type=click.Path(path_type=Path))
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--show", metavar="STEP", help="Print an SQL step, ready for a DuckDB shell.")
@FORMAT
def sql(db: Path | None, query: str | None, show: str | None, form: str | None) -> None:
    """Ask DB in SQL (opened read-only; '-' reads QUERY from standard input).

    SQL sees every count: to hide small ones, use show, export or draw with --min-n.

    \b
    Examples:
      cegdb sql falls.duckdb "select * from cegdb.ceg_edges where ceg = 'falls'"
      cegdb sql falls.duckdb "from cegdb.paths('falls')" --format json
      cegdb sql --show layer_block
    """
    if show is not None:
        from cegdb.sqlfiles import load

        click.echo(load(show).prepared(), nl=False)
        return
    if db is None or query is None:
        raise click.UsageError("give DB and QUERY, or --show STEP")
    text = sys.stdin.read() if query == "-" else query
    with opened(str(db), read_only=True) as database:
        print_query(database, text, {}, form)


@main.command()
@DB
@click.argument("ceg")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .dot, .graphml, .json (graph), .csv or .parquet (edges).",
)
@MIN_N
def export(db: Path, ceg: str, output: Path, min_n: int | None) -> None:
    """Write a CEG of DB for other programs.

    \b
    Examples:
      cegdb export falls.duckdb falls -o falls.graphml
      cegdb export falls.duckdb falls -o public.csv --min-n 5
      cegdb export falls.duckdb falls -o falls.csv
    """
    with opened(str(db), read_only=True) as database:
        found = database.cegs[ceg]
        say(f"written: {found.export(output, min_n=min_n)}")
        _tell_stale(found)


@main.command()
@DB
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(["tree", "staging", "ceg"]),
    default="ceg",
    show_default=True,
    help="What to draw.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .svg, .png, .pdf or .dot.",
)
@EDGE_INFO
@MIN_N
def draw(
    db: Path, name: str, kind: str, output: Path, edge_info: Any, min_n: int | None
) -> None:
    """Draw a CEG (or tree, or staged tree) of DB.

    \b
    Examples:
      cegdb draw falls.duckdb falls -o falls.svg
      cegdb draw falls.duckdb falls --kind staging -o tree.pdf --edge-info count
      cegdb draw falls.duckdb falls -o public.svg --min-n 5
    """
    with opened(str(db), read_only=True) as database, working("drawing"):
        found = collections(database)[kind][name]
        say(f"picture: {found.draw(output, edge_info=edge_info, min_n=min_n)}")
        _tell_stale(found)


def _tell_stale(found: Any) -> None:
    if found.is_stale:
        say(
            f"note: {found.kind} {found.name!r} is stale: its survey has other rows since; "
            "cegdb rebuild makes it again"
        )


@main.command()
@DB
@click.argument("survey")
@click.option(
    "--variables", callback=split_names, help="Those to order: A,B,C; all if left out."
)
@click.option(
    "--tier",
    multiple=True,
    metavar="A,B",
    help="Variables that come before those of the next --tier.",
)
@click.option(
    "--before", multiple=True, metavar="A<B", help="A comes before B; A<B<C is a chain."
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="ahc",
    show_default=True,
    help="How stages are learnt: see cegdb stages --help.",
)
@click.option(
    "--score", type=click.Choice(SCORES), help="What is made best; left out, the method's own."
)
@click.option("--alpha", type=float, help="Prior mass of the root (equivalent sample size).")
@click.option(
    "--search",
    type=click.Choice(["auto", "exact", "greedy"]),
    default="auto",
    show_default=True,
    help="All orders, or a good one; auto: all if that takes less than a minute or so.",
)
@BLANK
@click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, help="Orders to print."
)
@FORMAT
def orders(db: Path, survey: str, most: int, form: str | None, **given: Any) -> None:
    """Find the order of variables of a SURVEY in DB whose stages score best.

    Prints the best orders, and what decided to standard error. Nothing is stored.

    \b
    Examples:
      cegdb orders falls.duckdb falls
      cegdb orders falls.duckdb falls --tier HousingAssessment,Risk --tier Treatment,Fall
      cegdb orders falls.duckdb falls --before "Risk<Treatment<Fall" --format json
    """
    given["tiers"] = [split_names(None, None, tier) for tier in given.pop("tier")] or None
    given["before"] = read_chains(given["before"])
    with opened(str(db), read_only=True) as database:
        with working("searching orders"):
            found = database.surveys[survey].search_orders(**given)
        say(found.summary)
        names, rows = found.rows(most)
        print_table(names, rows, form)


@main.command()
@DB
@FORMAT
def check(db: Path, form: str | None) -> None:
    """Check every invariant of DB's tables; list the rows that violate one.

    \b
    Example:
      cegdb check falls.duckdb
    """
    with opened(str(db), read_only=True) as database:
        with working("checking"):
            found = database.check()
        if not found:
            say("all invariants hold")
            return
        print_table(list(found[0]), [list(row.values()) for row in found], form)
        raise CegdbError(
            f"{counted(len(found), 'row')} {agreeing(len(found), 'violate')} an invariant",
            hint="drop and rebuild the objects named, or restore a copy of the file",
        )


@main.command()
@DB
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
def drop(db: Path, kind: Any, name: str) -> None:
    """Drop an object of DB, with everything built on it.

    \b
    Example:
      cegdb drop falls.duckdb survey falls
    """
    with opened(str(db)) as database:
        database.drop(kind, name)
        say(f"dropped {kind} {name!r}")


@main.command()
@DB
def migrate(db: Path) -> None:
    """Bring DB's tables to this version of cegdb.

    \b
    Example:
      cegdb migrate falls.duckdb
    """
    if not db.exists():
        raise CegdbError(f"there is no file {db}")
    with opened(str(db)):
        say(f"{db} is up to date")
