"""Commands that answer the rows of a file by a CEG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import DB, FORMAT, READING, options_of, source_of, split_names
from cegdb.cli.output import asked_ceg, opened, print_frame, print_table, say, say_made, working

if TYPE_CHECKING:
    from cegdb.api.results import RowResult as Found

BLANK = click.option(
    "--blank",
    type=click.Choice(["tree", "unknown"]),
    default="tree",
    show_default=True,
    help="What an empty cell means: as in the tree, or not answered.",
)
ROWS = options_of(
    click.option("--keep", callback=split_names, help="Columns of FILE to keep: A,B,C."),
    BLANK,
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        help="Ends in .csv, .parquet or .json.",
    ),
    click.option("--into", metavar="[SCHEMA.]TABLE", help="A table of DB to write."),
    click.option("--replace", is_flag=True, help="Write over what is there."),
    READING,
    FORMAT,
)


@main.command()
@DB
@click.argument("ceg")
@click.argument("file")
@ROWS
def assign(db: Path, ceg: str, file: str, **given: Any) -> None:
    """Give each row of FILE its situation, stage and position in a CEG of DB.

    Prints a row a row of FILE: its log-likelihood, the last situation and position it is known
    to reach, the most probable answers to what it leaves open. With -o people.parquet these
    are written there, and the place at each depth to people_places.parquet; with --into
    people to tables of DB, people and people_places. Cells are codes or labels, as in the
    survey.

    \b
    Examples:
      cegdb assign falls.duckdb falls new.csv --keep person_id
      cegdb assign falls.duckdb falls new.csv --keep person_id -o people.parquet
      cegdb assign falls.duckdb falls new.csv --keep person_id --into people --replace
    """
    _answer("assign", db, ceg, file, {}, given)


@main.command()
@DB
@click.argument("ceg")
@click.argument("file")
@click.option("--variables", callback=split_names, help="Whose labels to tell: A,B,C.")
@ROWS
def complete(db: Path, ceg: str, file: str, variables: list[str] | None, **given: Any) -> None:
    """Give each row of FILE the distribution of what it leaves open, by a CEG of DB.

    Prints a row a row of FILE, variable and label. With -o people.parquet these are written
    to people_labels.parquet, and the most probable completion of each row to people.parquet;
    with --into people to tables of DB, people_labels and people.

    \b
    Examples:
      cegdb complete falls.duckdb falls new.csv --variables Fall
      cegdb complete falls.duckdb falls new.csv --keep person_id -o people.parquet
    """
    _answer("complete", db, ceg, file, {"variables": variables}, given)


def _answer(
    verb: str, db: Path, ceg: str, file: str, more: dict[str, Any], given: dict[str, Any]
) -> None:
    form, output, into = given.pop("form"), given.pop("output"), given.pop("into")
    given["keep"] = given["keep"] or ()
    with opened(str(db), read_only=into is None) as database:
        with working(f"reading {file}", database):
            found: Found = getattr(asked_ceg(database, ceg), verb)(
                source_of(file), file=output, into=into, **more, **given
            )
        say(found.summary)
        for where in found.written.values():
            if isinstance(where, Path):
                say_made("written", where)
            else:
                say(f"written: {where}")
        if not found.written:
            print_frame(getattr(found, "labels", found.rows), form)


@main.command()
@DB
@click.argument("ceg")
@click.argument("file")
@click.option("--target", metavar="VARIABLE", help="Judge how well it is predicted.")
@click.option("--given", callback=split_names, help="From which others: A,B,C; else all.")
@click.option("--calibration", is_flag=True, help="Print its calibration table.")
@click.option("--bins", type=int, help="Of that table; 10 if left out.")
@click.option("--count", help="Column of how many respondents a row stands for.")
@click.option("--weight", help="Column of their weights.")
@BLANK
@READING
@FORMAT
def score(
    db: Path,
    ceg: str,
    file: str,
    target: str | None,
    given: list[str] | None,
    bins: int | None,
    form: str | None,
    *,
    calibration: bool,
    **read: Any,
) -> None:
    """Tell how well a CEG of DB predicts the rows of FILE, best ones it was not learnt from.

    Prints the log score (natural log of the probability of a row's answers); with --target
    how well that variable is predicted from the other answers: accuracy, log loss, Brier
    score, AUC.

    \b
    Examples:
      cegdb score falls.duckdb falls held_out.csv
      cegdb score falls.duckdb falls held_out.csv --target Fall
      cegdb score falls.duckdb falls held_out.csv --target Fall --calibration --bins 5
    """
    if target is None and (given is not None or calibration):
        raise click.UsageError("--given and --calibration need --target")
    if bins is not None and not calibration:
        raise click.UsageError("--bins needs --calibration")
    with opened(str(db), read_only=True) as database:
        found = asked_ceg(database, ceg)
        source = source_of(file)
        with working(f"reading {file}", database):
            if target is None:
                told: Any = found.score(source, **read)
            elif calibration:
                bins = 10 if bins is None else bins
                frame = found.calibration(source, target, given, bins=bins, **read)
                print_frame(frame, form)
                return
            else:
                told = found.classify(source, target, given, **read).metrics
        print_table(list(told._fields), [list(told)], form)
