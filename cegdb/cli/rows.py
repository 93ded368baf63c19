"""Commands that read survey files: ingest, append, refresh, codebook."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import main
from cegdb.cli.options import (
    COLUMNS,
    DB,
    DECIMAL,
    FORMAT,
    INGEST,
    KINDS,
    NAME,
    READ_AS,
    READING,
    REPLACE,
    SOURCE_COLUMN,
    read_bins,
    read_labels,
    read_levels,
    source_of,
)
from cegdb.cli.output import opened, print_table, say, say_made, working
from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from cegdb.api import Database, Survey

_FORMS = {".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}


def ingest_file(db: Database, file: str, given: dict[str, Any]) -> Survey:
    """Ingest a file as asked, and tell of it."""
    with working(f"reading {file}", db):
        survey = db.ingest(
            source_of(file),
            name=given["name"],
            columns=given["columns"],
            count=given["count"],
            weight=given["weight"],
            cluster=given["cluster"],
            decimal=given["decimal"],
            structural=read_labels(given["structural"]),
            missing=read_labels(given["missing"]),
            levels=read_levels(given["levels"]),
            bins=read_bins(given["bins"]),
            codebook=given["codebook"],
            **{name: given[name] for name in READ_AS},
            replace=given["replace"],
        )
    say_read(survey)
    say(survey.summary)
    return survey


def say_read(survey: Survey) -> None:
    """Tell how long the last reading took, if it was long."""
    from cegdb.store.progress import speed

    receipt: Any = survey.receipt
    rows, seconds = receipt.get("last", receipt)["rows_read"], survey.seconds
    if seconds >= 1:
        say(f"{rows:,} rows read in {seconds:.1f} s ({speed(rows, seconds)})")


@main.command()
@DB
@click.argument("file")
@NAME
@REPLACE
@INGEST
@FORMAT
def ingest(db: Path, file: str, form: str | None, **given: Any) -> None:
    """Read a survey FILE into DB; every row is accounted for.

    Prints the receipt: a row a variable, its cells by kind; whole with --format json.

    \b
    Examples:
      cegdb ingest falls.duckdb falls.csv --name falls
      cegdb ingest ship.duckdb ship_freq.csv --count Freq
      cegdb ingest s.duckdb school.csv --missing unknown --structural attends=none
      cegdb ingest w.duckdb panel.sav --weight wt --codebook panel.yaml --format json
    """
    with opened(str(db), makes=True) as database:
        receipt = ingest_file(database, file, given).receipt
    _receipt(receipt, form)


def _receipt(receipt: Any, form: str | None) -> None:
    """Print cells by kind, a row a variable; the whole receipt as JSON."""
    if form == "json":
        import json

        click.echo(json.dumps(receipt, ensure_ascii=False, indent=2))
        return
    kinds = ("value", "structural", "missing", "blank")
    rows = [[name, *(of[kind] for kind in kinds)] for name, of in receipt["cells"].items()]
    print_table(["variable", *kinds], rows, form)


@main.command()
@DB
@click.argument("survey")
@click.argument("file")
@DECIMAL
@READING
@FORMAT
def append(db: Path, survey: str, file: str, form: str | None, **given: Any) -> None:
    """Add the rows of FILE to a SURVEY in DB, matched by column name.

    What was said when the survey was ingested holds for them: codebook, gates, count, weight,
    columns. A column that FILE lacks is blank in its rows. What is built on the survey is
    stale until it is rebuilt.

    \b
    Examples:
      cegdb append panel.duckdb panel wave2.csv
      cegdb append panel.duckdb panel wave3.csv --delimiter ";" && cegdb rebuild panel.duckdb
    """
    _change("append", db, survey, file, form, given)


@main.command()
@DB
@click.argument("survey")
@click.argument("file")
@DECIMAL
@READING
@FORMAT
def refresh(db: Path, survey: str, file: str, form: str | None, **given: Any) -> None:
    """Replace the rows of a SURVEY in DB by those of FILE, a new snapshot.

    What was said when the survey was ingested holds for them: codebook, gates, count, weight,
    columns. What is built on the survey is stale until it is rebuilt.

    \b
    Examples:
      cegdb refresh falls.duckdb falls falls_today.csv
      cegdb refresh falls.duckdb falls falls_today.csv && cegdb rebuild falls.duckdb
    """
    _change("refresh", db, survey, file, form, given)


def _change(
    verb: str, db: Path, survey: str, file: str, form: str | None, given: dict[str, Any]
) -> None:
    with opened(str(db)) as database:
        found = database.surveys[survey]
        with working(f"reading {file}", database):
            getattr(found, verb)(source_of(file), **given)
        say_read(found)
        say(found.summary)
        stale = [kind for kind, of in _rows_of_stale(database) if of == survey]
        if stale:
            say(f"stale now: {_counted(stale)}; to make them again: cegdb rebuild {db}")
        _receipt(found.receipt, form)


def _rows_of_stale(database: Database) -> list[tuple[Any, Any]]:
    _, rows = database.rows("select kind, survey from cegdb.stale")
    return [(kind, survey) for kind, survey in rows]


def _counted(kinds: list[str]) -> str:
    found = [(kinds.count(kind), kind) for kind in KINDS if kind in kinds]
    return ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in found)


@main.command()
@click.argument("file")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Ends in .yaml, .yml or .csv; YAML to standard output if left out.",
)
@click.option("--replace", is_flag=True, help="Write over the output file if it is there.")
@COLUMNS
@READING
@SOURCE_COLUMN
def codebook(file: str, output: Path | None, *, replace: bool, **given: Any) -> None:
    """Draft a codebook of a survey FILE, to be edited and given to ingest --codebook.

    It lists the levels of each column with their rows, and what looks wrong in remarks: codes
    and labels that may be no answer, labels that differ in case only, columns that look like a
    count, a weight, an id, a date or a number to be cut. Remarks change nothing: as it is,
    ingest makes the same of the columns in it as without.

    \b
    Examples:
      cegdb codebook falls.csv
      cegdb codebook school.sav -o school.yaml
      cegdb codebook school.csv --delimiter ";" --columns sex,vote -o school_codes.csv
    """
    form: Any = "yaml" if output is None else _FORMS.get(output.suffix.lower())
    if output is not None:
        if form is None:
            raise SurveyError(
                f"{output.name!r} does not say which kind of codebook to write",
                hint="it ends in .yaml, .yml or .csv",
            )
        if output.exists() and not replace:
            raise SurveyError(
                f"there is a file {output} already, maybe with your own edits",
                hint="give another name, or --replace",
            )
    with opened(None) as database, working(f"reading {file}", database):
        draft: bytes = database.codebook(source_of(file), form=form, **given).encode()
    if output is None:
        click.echo(draft, nl=False)
        return
    part = output.with_name(f".{output.name}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(draft)
        part.replace(output)
    except OSError as error:
        raise SurveyError(f"{output} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    say_made("written", output)
