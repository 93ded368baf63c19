"""The command that intervenes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, FORMAT, read_answers, split_names
from cegdb.cli.output import asked_ceg, opened, print_frame, say, working

if TYPE_CHECKING:
    from pathlib import Path

_OF_EFFECT = ("absent", "least", "level", "draws", "seed")


@main.command()
@DB
@click.argument("ceg")
@click.argument("treatment", metavar="VARIABLE[=LABEL]")
@click.option(
    "--outcome",
    multiple=True,
    required=True,
    metavar="VARIABLE=LABEL",
    help="What may follow; several labels of a variable are any of these.",
)
@click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="The group, told by what comes before the treatment.",
)
@click.option(
    "--absent",
    type=click.Choice(["error", "leave"]),
    default="error",
    show_default=True,
    help="Where a position lacks a label of the treatment.",
)
@click.option(
    "--adjust",
    is_flag=True,
    help="Tell the smallest sets of variables that adjusting for gives the effect.",
)
@click.option("--by", callback=split_names, help="Tell whether adjusting for A,B,C gives it.")
@click.option(
    "--least",
    type=float,
    default=0.05,
    show_default=True,
    help="Smaller probabilities of a label are told, for positivity.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--draws", type=int, default=1000, show_default=True, help="For intervals; 0: none."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of random numbers.")
@FORMAT
def do(db: Path, ceg: str, treatment: str, form: str | None, **given: Any) -> None:
    """Set a treatment in a CEG of DB, and see what becomes of an outcome.

    A row is a label: the probability of the outcome when the treatment is set to it, the
    difference from the first label (the average effect) with its interval, and beside them
    the same among those only seen with that label. A LABEL is the one to differ from. What
    must be assumed goes to standard error.

    \b
    Examples:
      cegdb do falls.duckdb falls Risk --outcome Fall=Fall
      cegdb do falls.duckdb falls "Risk=Low Risk" --outcome Fall=Fall --adjust
      cegdb do falls.duckdb falls Treatment --outcome Fall=Fall --absent leave
      cegdb do falls.duckdb falls Treatment --outcome Fall=Fall --given "Risk=High Risk"
    """
    name, label = _treatment(treatment)
    outcome = read_answers(given["outcome"])
    group = read_answers(given["given"]) or None
    with opened(str(db), read_only=True) as database:
        found = asked_ceg(database, ceg)
        between = None if label is None else [label]
        with working("intervening", database):
            effect = found.effect(
                name,
                outcome,
                between,
                given=group,
                **{option: given[option] for option in _OF_EFFECT},
            )
        is_adjusted = given["adjust"] or given["by"] is not None
        adjusted = [
            found.adjustment(
                name,
                target,
                given["by"],
                between=between,
                given=group,
                absent=given["absent"],
                seed=given["seed"],
            )
            for target in (outcome if is_adjusted else ())
        ]
        print_frame(effect.frame, form)
        say(*effect.notes)
        for one in adjusted:
            say(*str(one).splitlines()[:-1])


def _treatment(text: str) -> tuple[str, str | None]:
    """Read ``VARIABLE`` or ``VARIABLE=LABEL``."""
    if "=" not in text:
        return text, None
    ((name, (label,)),) = read_answers([text]).items()
    return name, label
