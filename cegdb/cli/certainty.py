"""Commands that tell how sure a staging is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, FORMAT, refuse_beside
from cegdb.cli.output import opened, print_frame, say, working

if TYPE_CHECKING:
    from pathlib import Path

SEED = click.option("--seed", type=int, default=1, show_default=True, help="Of random numbers.")


@main.command()
@DB
@click.argument("staging")
@click.option(
    "--kind",
    type=click.Choice(["nonparametric", "parametric"]),
    default="nonparametric",
    show_default=True,
    help="Draw the rows again, or simulate them from the stages.",
)
@click.option("--runs", type=int, default=100, show_default=True, help="How many replicates.")
@SEED
@FORMAT
def stability(
    db: Path, staging: str, kind: Any, runs: int, seed: int, form: str | None
) -> None:
    """Learn the stages of a STAGING of DB again on replicates of its rows.

    Prints for each stage in what share of the runs two of its situations were staged
    together, and the largest share with a situation of another stage. DB keeps it.

    \b
    Examples:
      cegdb stability falls.duckdb falls
      cegdb stability falls.duckdb falls --kind parametric --runs 500
    """
    with opened(str(db)) as database:
        found = database.stagings[staging]
        with working("learning the stages again", database):
            frame = found.stability(kind, runs=runs, seed=seed)
        names, rows = database.rows(
            "select * from cegdb.stage_bootstraps where staging = $staging and kind = $kind",
            {"staging": found.name, "kind": kind},
        )
        (told,) = (dict(zip(names, row, strict=True)) for row in rows)
        say(
            f"{runs} runs, {1000 * float(str(told['seconds'])) / runs:.3g} ms each: "
            f"{told['mean_stages']:.4g} stages on average ({told['min_stages']} to "
            f"{told['max_stages']}), {told['n_stages']} in {found.name!r}",
            f"its {told['n_pairs']:,} pairs of situations are in the view cegdb.stage_pairs",
        )
        print_frame(frame.drop(columns=["stage_id", "outside_id"]), form)


@main.command()
@DB
@click.argument("staging")
@click.option(
    "--method",
    type=click.Choice(["credible", "wilson", "goodman", "bootstrap"]),
    default="credible",
    show_default=True,
    help="The first three are given the staging; the bootstrap learns it again.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--runs", type=int, default=200, show_default=True, help="Of the bootstrap.")
@SEED
@FORMAT
def intervals(
    db: Path, staging: str, method: Any, level: float, runs: int, seed: int, form: str | None
) -> None:
    """Print intervals of the probabilities of a STAGING of DB.

    A row is a stage and label; of the bootstrap a situation and label, and DB keeps them
    (view cegdb.bootstrap_intervals).

    \b
    Examples:
      cegdb intervals falls.duckdb falls --method goodman --level 0.9
      cegdb intervals falls.duckdb falls --method bootstrap --format csv
    """
    if method != "bootstrap":
        refuse_beside("only the bootstrap has runs", of=("runs", "seed"))
    with opened(str(db), read_only=method != "bootstrap") as database:
        found = database.stagings[staging]
        with working("intervals", database):
            frame = found.intervals(method, level=level, runs=runs, seed=seed)
        print_frame(frame, form)
