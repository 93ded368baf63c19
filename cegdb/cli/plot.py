"""The commands of ``cegdb plot``: one for each plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click

from cegdb import options as settings
from cegdb.cli.group import CommandGroup, main
from cegdb.cli.options import (
    DB,
    MIN_N,
    NAME,
    Word,
    all_of,
    from_settings,
    kind_option,
    output_option,
)
from cegdb.cli.output import echo, note_stale, object_of, opened, say_made, working

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.api import Database
    from cegdb.pictures import Picture

SHEET = all_of(
    output_option("File to write: .svg, .pdf or .png.", required=True),
    MIN_N,
    from_settings(settings.PlotOptions),
)
MOST = click.option(
    "--most",
    type=int,
    help="Most stages or situations to draw; the caption counts the others.",
)
VARIABLE = click.option("--variable", required=True, metavar="A", help="Variable to plot.")
ANY_VARIABLE = click.option("--variable", metavar="A", help="Variable to plot. Default: all.")


@main.group(cls=CommandGroup)
def plot() -> None:
    """Plot a staging, or the flow of people through a CEG, and print the caption.

    \b
    Examples:
      cegdb plot probabilities falls.duckdb falls --variable Fall -o fall.svg
      cegdb plot flow falls.duckdb falls -o flow.svg
    """


def _plot(
    db: Path,
    name: str,
    make: Callable[[Any, dict[str, Any], Database], Picture],
    options: dict[str, Any],
    *,
    kind: str | None = "staging",
) -> None:
    """Plot an object, save the picture and print its caption."""
    from cegdb.pictures.plots import check_figure

    output = options["output"]
    check_figure(output)
    look: dict[str, Any] = {"min_n": options["min_n"], "width_mm": options["width_mm"]}
    if options.get("most") is not None:
        look["most"] = options["most"]
    with opened(str(db), read_only=True) as database, working("plotting", database):
        plotted = object_of(database, name, kind, "ceg", "staging")
        note_stale(plotted)
        picture = make(plotted, look, database)
        say_made("plot", picture.save(output))
    echo(picture.caption)


@plot.command()
@DB
@NAME
@VARIABLE
@SHEET
@MOST
def probabilities(db: Path, name: str, variable: str, **options: Any) -> None:
    """Plot the probabilities of the stages of a variable, with intervals and people.

    \b
    Examples:
      cegdb plot probabilities falls.duckdb falls --variable Fall -o fall.svg
    """
    _plot(db, name, lambda x, look, _: x.plot.probabilities(variable, **look), options)


@plot.command()
@DB
@NAME
@VARIABLE
@SHEET
@MOST
def situations(db: Path, name: str, variable: str, **options: Any) -> None:
    """Plot the situations of a variable by the shares of its answers.

    \b
    Examples:
      cegdb plot situations falls.duckdb falls --variable Fall -o situations.pdf
    """
    _plot(db, name, lambda x, look, _: x.plot.situations(variable, **look), options)


@plot.command()
@DB
@NAME
@kind_option("ceg", "staging")
@SHEET
@MOST
def flow(db: Path, name: str, kind: str | None, **options: Any) -> None:
    """Plot how people flow through the positions of a CEG or the stages of a staging.

    \b
    Examples:
      cegdb plot flow falls.duckdb falls -o flow.svg --min-n 5
      cegdb plot flow falls.duckdb falls --kind staging -o stages.png
    """
    _plot(db, name, lambda x, look, _: x.plot.flow(**look), options, kind=kind)


@plot.command()
@DB
@NAME
@ANY_VARIABLE
@SHEET
def merges(db: Path, name: str, variable: str | None, **options: Any) -> None:
    """Plot what each merge of hierarchical clustering gained, and where it stopped.

    \b
    Examples:
      cegdb plot merges falls.duckdb falls -o merges.svg
    """
    _plot(db, name, lambda x, look, _: x.plot.merges(variable, **look), options)


@plot.command()
@DB
@NAME
@ANY_VARIABLE
@SHEET
@MOST
def dendrogram(db: Path, name: str, variable: str | None, **options: Any) -> None:
    """Plot the dendrogram of the merges of hierarchical clustering.

    \b
    Examples:
      cegdb plot dendrogram falls.duckdb falls --variable Fall -o tree.png
    """
    _plot(db, name, lambda x, look, _: x.plot.dendrogram(variable, **look), options)


@plot.command()
@DB
@NAME
@VARIABLE
@click.option(
    "--other",
    "others",
    multiple=True,
    metavar="STAGING",
    help="Another staging of the same tree; may be repeated.",
)
@click.option(
    "--bootstrap",
    type=Word(get_args(settings.BootstrapKind)),
    help="Runs of cegdb stability to use, if there are both.",
)
@SHEET
@MOST
def costaging(
    db: Path,
    name: str,
    variable: str,
    others: tuple[str, ...],
    bootstrap: Any,
    **options: Any,
) -> None:
    """Plot how often the situations of a variable share a stage.

    Counts the runs of cegdb stability, or with --other several stagings of one tree.

    \b
    Examples:
      cegdb plot costaging falls.duckdb falls --variable Fall -o together.svg
      cegdb learn-stages falls.duckdb falls --method hc --name by_hc --replace
      cegdb plot costaging falls.duckdb falls --variable Fall --other by_hc \\
        -o two.svg
    """

    def make(staged: Any, look: dict[str, Any], database: Database) -> Picture:
        stagings = [database.stagings[other] for other in others]
        picture: Picture = staged.plot.costaging(
            variable, *stagings, bootstrap=bootstrap, **look
        )
        return picture

    _plot(db, name, make, options)


@plot.command()
@DB
@NAME
@click.argument("other", metavar="OTHER")
@SHEET
@MOST
def difference(db: Path, name: str, other: str, **options: Any) -> None:
    """Plot where two stagings of one event tree differ: NAME and OTHER.

    \b
    Examples:
      cegdb learn-stages falls.duckdb falls --method hc --name by_hc --replace
      cegdb plot difference falls.duckdb falls by_hc -o difference.svg
    """

    def make(staged: Any, look: dict[str, Any], database: Database) -> Picture:
        picture: Picture = staged.plot.difference(database.stagings[other], **look)
        return picture

    _plot(db, name, make, options)
