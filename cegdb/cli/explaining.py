"""Commands that tell what a CEG says, and what depends on what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, FORMAT, read_answers, split_names
from cegdb.cli.output import (
    asked_ceg,
    collections,
    opened,
    print_frame,
    print_table,
    say,
    working,
)

if TYPE_CHECKING:
    from pathlib import Path

STRATA = click.option(
    "--given", callback=split_names, help="Compare within each answer to these: A,B,C."
)
CONTEXT = click.option(
    "--where",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="Only where this is so; the same variable again: any of these labels.",
)


@main.command()
@DB
@click.argument("ceg")
@FORMAT
def explain(db: Path, ceg: str, form: str | None) -> None:
    """Say in sentences what a CEG of DB says, the most consequential first.

    Its people; where the last answer is most and least probable; what goes with it; cuts;
    what is independent. With --format one row a sentence.

    \b
    Examples:
      cegdb explain falls.duckdb falls
      cegdb explain falls.duckdb falls --format json
    """
    with opened(str(db), read_only=True) as database:
        with working("explaining", database):
            found = asked_ceg(database, ceg).explain()
        if form is None:
            click.echo(str(found))
        else:
            print_frame(found.frame, form)


@main.command()
@DB
@click.argument("ceg")
@FORMAT
def cuts(db: Path, ceg: str, form: str | None) -> None:
    """List where in a CEG of DB the past no longer matters.

    \b
    Example:
      cegdb cuts falls.duckdb falls --format csv
    """
    with opened(str(db), read_only=True) as database:
        print_frame(asked_ceg(database, ceg).cuts(), form)


@main.command()
@DB
@click.argument("ceg")
@click.argument("x")
@click.argument("y")
@STRATA
@CONTEXT
@FORMAT
def independence(
    db: Path,
    ceg: str,
    x: str,
    y: str,
    given: list[str] | None,
    where: tuple[str, ...],
    form: str | None,
) -> None:
    """Tell whether variables X and Y (or A,B,C) of a CEG of DB are independent.

    For all values of the probabilities, and at the fitted ones: one row for each
    combination of answers to --given, those that differ most first. What the rows of the
    survey say tells test-independence.

    \b
    Examples:
      cegdb independence falls.duckdb falls Fall Treatment --given Risk
      cegdb independence falls.duckdb falls Fall Treatment --where "Risk=Low Risk"
    """
    context = read_answers(where)
    with opened(str(db), read_only=True) as database:
        found = asked_ceg(database, ceg).independence(
            split_names(None, None, x) or [],
            split_names(None, None, y) or [],
            given=given or [],
            context=context or None,
        )
        say(str(found))
        print_frame(found.frame, form)


@main.command("test-independence")
@DB
@click.argument("survey")
@click.argument("x")
@click.argument("y")
@STRATA
@CONTEXT
@click.option(
    "--alpha",
    type=float,
    help="Prior mass of a stratum; left out, the most levels of a variable.",
)
@FORMAT
def test_independence(
    db: Path,
    survey: str,
    x: str,
    y: str,
    given: list[str] | None,
    where: tuple[str, ...],
    alpha: float | None,
    form: str | None,
) -> None:
    """Test on the rows of a SURVEY of DB whether X and Y are independent.

    Bayes factor, G-test, and the largest difference in shares of an answer to X between
    two answers to Y.

    \b
    Examples:
      cegdb test-independence falls.duckdb falls Fall Treatment --where "Risk=Low Risk"
      cegdb test-independence falls.duckdb falls Fall Treatment --given Risk --format json
    """
    context = read_answers(where)
    asked: list[Any] = [*(given or []), *([context] if context else [])]
    with opened(str(db), read_only=True) as database:
        found = collections(database)["survey"][survey].test_independence(
            x, y, given=asked, alpha=alpha
        )
        if form is None:
            click.echo(str(found))
        else:
            names, values = found.row()
            print_table(names, [values], form)
