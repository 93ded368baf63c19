"""Commands that ask a CEG for probabilities, and save it given evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, EVIDENCE, FORMAT, NAME, REPLACE, read_evidence, split_names
from cegdb.cli.output import asked_ceg, opened, print_frame, print_table, say, working
from cegdb.evidence import All

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cegdb.api import ChainEventGraph
    from cegdb.api.queries import Queryable


@main.command()
@DB
@click.argument("ceg")
@click.argument("event", metavar="[VARIABLE=LABEL]...", nargs=-1)
@click.option(
    "--given",
    "known",
    multiple=True,
    metavar="VARIABLE=LABEL",
    help="What is known; the same variable again: any of these labels.",
)
@EVIDENCE
@click.option("--variables", callback=split_names, help="Their joint distribution: A,B.")
@click.option("--by", callback=split_names, help="For each label of these: A,B.")
@click.option("--paths", type=int, metavar="K", help="The K most probable paths.")
@FORMAT
def ask(
    db: Path,
    ceg: str,
    event: tuple[str, ...],
    known: tuple[str, ...],
    evidence: str | None,
    variables: Sequence[str] | None,
    by: Sequence[str] | None,
    paths: int | None,
    form: str | None,
) -> None:
    """Ask a CEG of DB how probable an event is, given what is known or not.

    Labels or codes; "not applicable" is where a variable does not occur. With no event, how
    probable each label of each variable is.

    \b
    Examples:
      cegdb ask falls.duckdb falls Fall=Fall
      cegdb ask falls.duckdb falls Fall=Fall --given "Risk=High Risk"
      cegdb ask falls.duckdb falls --variables Fall --by Risk,Treatment --format csv
      cegdb ask falls.duckdb falls --paths 5 --given Fall=Fall
      cegdb ask falls.duckdb falls Fall=Fall --evidence '{"Risk": ["High Risk"]}'
    """
    if sum((bool(event), variables is not None, paths is not None)) > 1:
        raise click.UsageError("give an event, --variables or --paths, one of them")
    if by is not None and variables is None:
        raise click.UsageError("--by needs --variables")
    given_ = read_evidence(known, evidence)
    asked_ = read_evidence(event, None)
    with opened(str(db), read_only=True) as database:
        found: Queryable[Any] = asked_ceg(database, ceg)
        if given_ != All(()):
            known_ceg = found.given(given_)
            say(f"given {given_}: probability {known_ceg.probability_of_evidence:.6g}")
            found = known_ceg
        if paths is not None:
            print_frame(found.most_probable_paths(paths)[["rank", "path", "probability"]], form)
        elif variables is not None:
            print_frame(found.distribution(variables, given=by or ()), form)
        elif event:
            print_table(
                ["event", "probability"], [(str(asked_), found.probability(asked_))], form
            )
        else:
            print_frame(found.marginals(), form)


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
      cegdb given falls.duckdb falls "Risk=High Risk" --name frail
      cegdb given falls.duckdb falls Fall=Fall "Risk=Low Risk" "Risk=High Risk" --name fallers
      cegdb given falls.duckdb falls --evidence '{"Fall": ["Fall"]}' --replace
    """
    if not known and evidence is None:
        raise click.UsageError("give VARIABLE=LABEL, or --evidence")
    asked = read_evidence(known, evidence)
    with opened(str(db)) as database:
        found: ChainEventGraph = database.cegs[ceg]
        with working("conditioning", database):
            made = found.given(asked).save(name, replace=replace)
        say(made.summary)
