"""The command that saves a CEG given evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, EVIDENCE, NAME, REPLACE, read_evidence
from cegdb.cli.output import opened, say, working

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb.api import ChainEventGraph


@main.command()
@DB
@click.argument("ceg")
@click.argument("known", metavar="[VARIABLE=LABEL]...", nargs=-1)
@EVIDENCE
@NAME
@REPLACE
def given(
    db: Path,
    ceg: str,
    known: tuple[str, ...],
    evidence: str | None,
    name: str | None,
    *,
    replace: bool,
) -> None:
    """Save a CEG of DB given that something is known of a person, as a CEG.

    A variable given several times has any of these labels; "not applicable" is where it
    does not occur. Prints the probability of the evidence.

    \b
    Examples:
      cegdb given falls.duckdb falls Treatment=Treated --name treated
      cegdb given falls.duckdb falls Fall=Fall "Risk=Very high" Risk=High --name fallers
      cegdb given falls.duckdb falls --evidence '{"Fall": ["Fall", "Died"]}' --replace
    """
    asked = read_evidence(known, evidence)
    with opened(str(db)) as database:
        found: ChainEventGraph = database.cegs[ceg]
        with working("conditioning", database):
            made = found.given(asked).save(name, replace=replace)
        say(made.summary)
