"""The command that draws synthetic rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, read_answers
from cegdb.cli.output import asked_ceg, opened, say, say_made, working

if TYPE_CHECKING:
    from cegdb.api.queries import Queryable

_PART = 1 << 20


@main.command()
@DB
@click.argument("ceg")
@click.argument("given", metavar="[VARIABLE=LABEL]...", nargs=-1)
@click.option("-n", "n", type=int, required=True, help="How many rows.")
@click.option("--seed", type=int, help="Of random numbers; drawn, and told, if left out.")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help="Ends in .csv, .parquet or .json; '-' is CSV to standard output.",
)
def sample(
    db: Path, ceg: str, given: tuple[str, ...], n: int, seed: int | None, output: str
) -> None:
    """Draw synthetic rows from a CEG of DB, given answers or not.

    A cell is blank where its variable does not occur. The same seed gives the same rows.

    \b
    Examples:
      cegdb sample falls.duckdb falls -n 1000000 --seed 1 -o rows.parquet
      cegdb sample falls.duckdb falls "Risk=High Risk" -n 100 > high.csv
    """
    with opened(str(db), read_only=True) as database:
        found = asked_ceg(database, ceg)
        with working("drawing rows", database):
            answers = read_answers(given)
            asked: Queryable[Any] = found.given(answers) if answers else found
            rows = asked.sample(n, seed=seed)
            if output != "-":
                file = database.write(rows, output)
        if seed is None:
            say(f"seed: {rows.attrs['seed']}")
        if output != "-":
            say_made("written", file)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = database.write(rows, Path(folder) / "rows.csv")
            with file.open("rb") as stream:
                while part := stream.read(_PART):
                    click.echo(part, nl=False)
