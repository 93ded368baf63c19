"""The command that plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, MIN_N, refuse_beside
from cegdb.cli.output import opened, say_made, tell_stale, working

if TYPE_CHECKING:
    from cegdb.api import Database
    from cegdb.pictures import Picture

_NEEDED: Final = ("probabilities", "situations", "costaging")
_TAKE: Final = {
    "variable": (*_NEEDED, "merges", "dendrogram"),
    "other": ("difference", "costaging"),
    "bootstrap": ("costaging",),
    "most": (
        "probabilities", "situations", "flow", "stage-flow", "dendrogram", "costaging",
        "difference",
    ),
}  # fmt: skip


@main.command()
@DB
@click.argument("name")
@click.argument(
    "kind",
    type=click.Choice(
        [
            "probabilities", "situations", "flow", "stage-flow", "merges", "dendrogram",
            "costaging", "difference",
        ]
    ),
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Ends in .svg, .pdf or .png.",
)
@click.option("--variable", help="Whose stages or situations.")
@click.option(
    "--other",
    multiple=True,
    metavar="STAGING",
    help="Another staging of the tree; for costaging it may be given again.",
)
@click.option(
    "--bootstrap",
    type=click.Choice(["nonparametric", "parametric"]),
    help="Which replicates of cegdb stability, where there are both.",
)
@MIN_N
@click.option(
    "--most", type=int, help="The most stages, situations or ends to draw; others are counted."
)
@click.option("--width", type=float, default=170, show_default=True, help="In millimetres.")
def plot(db: Path, name: str, kind: str, output: Path, width: float, **given: Any) -> None:
    """Plot a staging of DB, or the flow of people through a CEG of DB.

    \b
    KIND is one of
      probabilities  of the stages of a variable, with intervals and people
      situations     of a variable, by the shares of its answers
      flow           people through the positions of a CEG
      stage-flow     people through the stages
      merges         what each merge of AHC gained, with the cut at 0
      dendrogram     the tree of these merges
      costaging      how often situations share a stage
      difference     the stages of two stagings of one tree

    NAME is that of a staging, for flow of a CEG. Prints the caption.

    \b
    Examples:
      cegdb plot falls.duckdb falls probabilities --variable Fall -o fall.svg
      cegdb plot falls.duckdb falls situations --variable Treatment -o treatment.pdf
      cegdb plot falls.duckdb falls flow -o flow.svg --min-n 5
      cegdb plot falls.duckdb falls dendrogram -o merges.png --width 120
      cegdb plot falls.duckdb falls costaging --variable Fall -o together.svg
    """
    for option, kinds in _TAKE.items():
        if kind not in kinds:
            refuse_beside(f"a plot of kind {kind} has no such option", of=(option,))
    if kind in _NEEDED and given["variable"] is None:
        raise click.UsageError(f"a plot of kind {kind} needs --variable")
    if kind == "difference" and len(given["other"]) != 1:
        raise click.UsageError("a plot of kind difference needs one --other")
    from cegdb.pictures.plots import check_figure

    check_figure(output)
    with opened(str(db), read_only=True) as database, working("plotting", database):
        picture = _plotted(database, name, kind, width, given)
        say_made("plot", picture.save(output))
    click.echo(picture.caption)


def _plotted(
    database: Database, name: str, kind: str, width: float, given: dict[str, Any]
) -> Picture:
    shown: dict[str, Any] = {"min_n": given["min_n"], "width_mm": width}
    if given["most"] is not None:
        shown["most"] = given["most"]
    if kind == "flow":
        ceg = database.cegs[name]
        tell_stale(ceg)
        return ceg.plot.flow(**shown)
    found = database.stagings[name]
    tell_stale(found)
    others = [database.stagings[other] for other in given["other"]]
    variable = given["variable"]
    if kind == "stage-flow":
        return found.plot.flow(**shown)
    if kind == "difference":
        return found.plot.difference(others[0], **shown)
    if kind == "costaging":
        return found.plot.costaging(variable, *others, kind=given["bootstrap"], **shown)
    if kind == "probabilities":
        return found.plot.probabilities(variable, **shown)
    if kind == "situations":
        return found.plot.situations(variable, **shown)
    if kind == "merges":
        return found.plot.merges(variable, **shown)
    return found.plot.dendrogram(variable, **shown)
