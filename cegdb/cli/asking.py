"""Commands that show, export and look after what is there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import COLLAPSE, DB, EDGE_INFO, FORMAT, KINDS, MIN_N, SIZES
from cegdb.cli.output import (
    ORDER,
    SHOWN,
    TABLES,
    collections,
    opened,
    print_frame,
    print_query,
    print_table,
    print_view,
    say,
    say_made,
    tell_stale,
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
            (kind, name, summary.split("\n", 1)[0].partition(": ")[2])
            for kind, objects in collections(database).items()
            for name, summary in objects.summaries().items()
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
@DB
@click.argument("query")
@FORMAT
def sql(db: Path, query: str, form: str | None) -> None:
    """Ask DB in SQL (opened read-only; '-' reads QUERY from standard input).

    SQL sees every count: to hide small ones, use show, export or draw with --min-n.

    \b
    Examples:
      cegdb sql falls.duckdb "select * from cegdb.ceg_edges where ceg = 'falls'"
      cegdb sql falls.duckdb "from cegdb.paths('falls')" --format json
    """
    text = sys.stdin.read() if query == "-" else query
    with opened(str(db), read_only=True) as database:
        print_query(database, text, {}, form)


@main.command()
@DB
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="What to write; left out, a CEG, or that which has the table.",
)
@click.option(
    "--table",
    metavar="VIEW",
    help="Rows of this view or table, such as stage_table, instead of the graph or its edges.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The graph: .graphml, .gexf, .cyjs (Cytoscape), .json, .dot. "
    "Rows: .csv, .parquet, .json, .md, .tex, .html.",
)
@MIN_N
def export(
    db: Path, name: str, kind: str | None, table: str | None, output: Path, min_n: int | None
) -> None:
    """Write a CEG, tree or staging of DB, or a table of it, for other programs.

    Graphs of any size are written in little memory. stage_table is written as papers print
    it: the stages of each variable with their situations in words.

    \b
    Examples:
      cegdb export falls.duckdb falls -o falls.graphml
      cegdb export falls.duckdb falls -o public.csv --min-n 5
      cegdb export falls.duckdb falls --table stage_table -o stages.tex
      cegdb export falls.duckdb falls --table positions -o positions.parquet
      cegdb export falls.duckdb falls --kind staging -o staged_edges.csv
    """
    with opened(str(db), read_only=True) as database, working("writing", database):
        kind = kind or (database.kind_of(table) if table else "ceg")
        found = collections(database)[kind][name]
        say_made("written", found.export(output, table=table, min_n=min_n))
        tell_stale(found)


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
    help="Ends in .svg, .pdf, .png, .dot or .tex (TikZ).",
)
@EDGE_INFO
@SIZES
@COLLAPSE
@MIN_N
def draw(
    db: Path, name: str, kind: str, output: Path, width: float | None, **look: Any
) -> None:
    """Draw a CEG (or tree, or staged tree) of DB, and print the caption.

    Variables stand over the columns; edges are as wide as the people who took them;
    what shares a stage has its colour and its name. Of a graph too large to be
    drawn whole an overview is drawn, and says so.

    \b
    Examples:
      cegdb draw falls.duckdb falls -o falls.svg
      cegdb draw falls.duckdb falls --kind staging -o tree.pdf --edge-info count
      cegdb draw falls.duckdb falls -o column.pdf --width 85 --font-size 7
      cegdb draw falls.duckdb falls -o falls.tex
      cegdb draw falls.duckdb falls --kind tree -o top.svg --top-variables 2
      cegdb draw falls.duckdb falls --kind tree -o large.svg --collapse-below 500
      cegdb draw falls.duckdb falls -o public.svg --min-n 5
    """
    from cegdb.pictures import FIGURE_FILES, check_picture

    suffix = check_picture(output)
    with opened(str(db), read_only=True) as database, working("drawing", database):
        found = collections(database)[kind][name]
        if suffix == ".dot":
            say_made("picture", found.draw(output, **look))
            tell_stale(found)
            return
        picture = found.figure(width_mm=width, **look)
        is_figure = suffix in FIGURE_FILES
        saved = (
            picture.save(output) if is_figure else found.draw(output, width_mm=width, **look)
        )
        say_made("picture", saved)
        tell_stale(found)
    click.echo(picture.caption)


@main.command()
@DB
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--diff", is_flag=True, help="List the situations that two stagings stage differently."
)
@FORMAT
def compare(db: Path, names: tuple[str, ...], form: str | None, *, diff: bool) -> None:
    """Compare stagings of DB by stages, scores and Bayes factors; all if none is named.

    log_bayes_factor is against the first one named, else against the best; it is missing
    where rows, tree, prior or weighting differ. With --diff stages are matched by the
    situations they share, so that their names do not matter.

    \b
    Examples:
      cegdb compare falls.duckdb
      cegdb compare falls.duckdb falls by_hand
      cegdb compare falls.duckdb falls by_hand --diff --format csv
    """
    if diff and len(names) != 2:
        raise click.UsageError(f"--diff needs two stagings, got {len(names)}")
    with opened(str(db), read_only=True) as database:
        if not diff:
            print_frame(database.compare(*names), form)
            return
        one, other = (database.stagings[name] for name in names)
        found = one.diff(other)
        say(
            f"{counted(len(found), 'situation')} {agreeing(len(found), 'are')} staged "
            f"differently in {one.name!r} (a) and {other.name!r} (b)"
        )
        print_frame(found, form)


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
        with working("checking", database):
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
    with opened(str(db)):
        say(f"{db} is up to date")
