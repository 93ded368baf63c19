"""The command that tells a staging as a Bayesian network."""

from __future__ import annotations

from pathlib import Path

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, FORMAT
from cegdb.cli.output import opened, print_frame, say, say_made, working
from cegdb.errors import counted


@main.command()
@DB
@click.argument("staging")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write the network with its tables to this .bif file.",
)
@click.option(
    "--contexts",
    is_flag=True,
    help="Print what is independent of what and in which contexts, most people first.",
)
@FORMAT
def network(
    db: Path, staging: str, output: Path | None, form: str | None, *, contexts: bool
) -> None:
    """Print the parents of each variable by a STAGING of DB: its smallest Bayesian network.

    \b
    How a variable depends on a parent, the other parents being fixed:
      total            in every context, for any two of its answers
      local            the same, but some stages recur
      context          in some contexts only
      partial          some of its answers are alike in some contexts
      context/partial  both

    \b
    Examples:
      cegdb network falls.duckdb falls
      cegdb network falls.duckdb falls --contexts
      cegdb network falls.duckdb falls -o falls.bif
    """
    with opened(str(db), read_only=True) as database:
        found = database.stagings[staging]
        with working("looking for parents", database):
            if contexts:
                frame = found.independences.drop(columns=["staging"])
                frame["context"] = [
                    [f"{name} = {label}" for name, label in context.items()]
                    for context in frame["context"]
                ]
            else:
                frame = found.parents.drop(columns=["staging"])
                n = frame.loc[~frame["is_unique"], "variable"].nunique()
                if n:
                    say(
                        f"note: of {counted(n, 'variable')} the parents are not "
                        "unique, since some combinations of answers do not occur: earlier "
                        "variables were left out first"
                    )
        if output is not None:
            say_made("written", found.write_bif(output))
        print_frame(frame, form)
