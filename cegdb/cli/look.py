"""Commands that show what is in a database."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    FORMAT,
    MIN_N,
    NAME,
    PICTURE,
    kind_option,
    output_option,
    refuse_beside,
)
from cegdb.cli.output import (
    collections,
    echo,
    note_stale,
    object_of,
    opened,
    print_frame,
    print_query,
    print_table,
    rows_of_object,
    rows_of_view,
    say,
    say_made,
    working,
)

if TYPE_CHECKING:
    from pathlib import Path

_LEAST_FINDINGS = ("variable", "from_name", "from_kind", "finding")
_MAY_DROP = ("prior", "low", "high", "n_situations", "height", "colour", "weight", "share")


@main.command("list")
@DB
@FORMAT
def list_(db: Path, form: str | None) -> None:
    """List the surveys, event trees, stagings and CEGs in DB.

    \b
    Examples:
      cegdb list falls.duckdb
    """
    with opened(str(db), read_only=True) as database:
        rows = [
            (kind, name, summary.split("\n", 1)[0].partition(": ")[2])
            for kind, objects in collections(database).items()
            for name, summary in objects.summaries().items()
        ]
        print_table(["kind", "name", "summary"], rows, form)


@main.command()
@DB
@NAME
@kind_option("ceg", "staging", "tree", "survey")
@click.option("--view", metavar="VIEW", help="Print this view of the object, with all columns.")
@MIN_N
@FORMAT
def show(
    db: Path,
    name: str,
    kind: str | None,
    view: str | None,
    min_n: int | None,
    form: str | None,
) -> None:
    """Show the summary and the rows of the object NAME in DB.

    With --min-n the summary is left out, because it counts respondents.

    \b
    Examples:
      cegdb show falls.duckdb falls
      cegdb show falls.duckdb falls --kind survey
      cegdb show falls.duckdb falls --view positions --min-n 5
    """
    with opened(str(db), read_only=True) as database:
        shown_object = object_of(database, name, kind, "ceg", "staging", "tree", "survey")
        if view is None and min_n is None:
            names, rows = rows_of_object(shown_object, database)
        else:
            names, rows = rows_of_view(shown_object, view, min_n)
        if min_n is None:
            say(shown_object.summary)
        print_table(names, rows, form, least=_MAY_DROP)


@main.command()
@DB
@click.argument("query", metavar="QUERY")
@FORMAT
def sql(db: Path, query: str, form: str | None) -> None:
    """Query DB with SQL, read-only.

    QUERY is a statement, or - to read it from standard input. SQL sees every count. To hide
    small counts, use show, export or draw with --min-n.

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
@NAME
@kind_option("ceg", "staging", "tree")
@output_option(
    "File to write: .svg, .pdf, .png, .dot or .tex (TikZ).",
    required=True,
)
@PICTURE
@MIN_N
def draw(db: Path, name: str, kind: str | None, output: Path, **options: Any) -> None:
    """Draw the CEG, staged tree or event tree NAME in DB, and print the caption.

    Each variable heads its column. The width of an edge is proportional to the number of
    people who took it, and the members of a stage share its colour and name. If a graph is too
    large to draw, an overview is drawn instead, and the caption says so.

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
        drawn_object = object_of(database, name, kind, "ceg", "staging", "tree")
        if suffix == ".dot":
            say_made("picture", drawn_object.draw(output, **options))
            note_stale(drawn_object)
            return
        picture = drawn_object.figure(**options)
        is_figure = suffix in FIGURE_FILES
        saved = picture.save(output) if is_figure else drawn_object.draw(output, **options)
        say_made("picture", saved)
        note_stale(drawn_object)
    echo(picture.caption)


@main.command()
@DB
@NAME
@FORMAT
def explain(db: Path, name: str, form: str | None) -> None:
    """Explain the CEG NAME in DB in sentences, the most important first.

    They say what may mislead, how many people it describes, where the last answer is most and
    least probable, what it is associated with, what each answer depends on, and where the past
    no longer matters. With --format, prints one row per sentence.

    \b
    Examples:
      cegdb explain falls.duckdb falls
      cegdb explain falls.duckdb falls --format json
    """
    with opened(str(db), read_only=True) as database:
        with working("explaining", database):
            explanation = database.cegs[name].explain()
        if form is None:
            echo(str(explanation))
        else:
            print_frame(explanation.frame, form)


@main.command()
@DB
@click.argument("name", metavar="[NAME]", required=False)
@kind_option("ceg", "staging", "tree", "survey")
@FORMAT
def findings(db: Path, name: str | None, kind: str | None, form: str | None) -> None:
    """List what to know before the numbers in DB, the most consequential first.

    Each finding says what may mislead, how many respondents it concerns or rests on, and what
    to do. Consequence 1 may turn a conclusion around, 2 makes numbers uncertain or biased, 3 is
    worth a look. With NAME, those of that object and of what it was made from.

    \b
    Examples:
      cegdb findings falls.duckdb
      cegdb findings falls.duckdb falls --kind staging
      cegdb findings falls.duckdb falls --format json
    """
    with opened(str(db), read_only=True) as database:
        if name is None:
            refuse_beside("without a NAME all are listed", of=("kind",))
            found = database.findings()
        else:
            found = object_of(
                database, name, kind, "ceg", "staging", "tree", "survey"
            ).findings()
            found = found.drop(columns=["kind", "name", "place"])
        if found.empty:
            say("nothing was found")
        print_frame(found, form, least=_LEAST_FINDINGS)
