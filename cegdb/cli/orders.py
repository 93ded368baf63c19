"""The command that searches over orders of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import (
    BLANK,
    DB,
    DEFF,
    FORMAT,
    METHODS,
    SCORES,
    WEIGHTING,
    read_chains,
    split_names,
)
from cegdb.cli.output import opened, print_table, say, working

if TYPE_CHECKING:
    from pathlib import Path


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
@WEIGHTING
@DEFF
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
        with working("searching orders", database):
            found = database.surveys[survey].search_orders(**given)
        say(found.summary)
        names, rows = found.rows(most)
        print_table(names, rows, form)
