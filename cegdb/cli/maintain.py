"""Commands that keep a database up to date and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cegdb import options as settings
from cegdb.cli.group import main
from cegdb.cli.options import (
    DB,
    FORMAT,
    KINDS,
    NAME,
    NEW_ROWS,
    READING,
    from_settings,
    kind_option,
    source_of,
)
from cegdb.cli.output import (
    collections,
    opened,
    print_query,
    print_receipt,
    print_table,
    say,
    say_speed,
    working,
)
from cegdb.errors import CegdbError, agreeing, counted

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb.api import Database

_DRIFT = (
    "staging, former_stage, stage, variable, n_situations, n_before, n_after, label, "
    "probability_before, low_before, high_before, probability_after, low_after, high_after, "
    "is_disjoint"
)
_LEAST_DRIFT = ("n_situations", "n_before", "n_after", "low_before", "high_before")


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@NEW_ROWS
@READING
@FORMAT
def append(db: Path, name: str, file: str, form: str | None, **options: Any) -> None:
    """Add the rows of FILE to the survey NAME in DB, matched by column name.

    They are read with the settings of the survey: codebook, gates, count, weight, columns. A
    column that FILE lacks is empty in its rows. Whatever is built on the survey is stale until
    cegdb rebuild.

    \b
    Examples:
      cegdb demo falls --csv wave2.csv
      cegdb append falls.duckdb falls wave2.csv
      cegdb rebuild falls.duckdb
    """
    _change("append", db, name, file, form, options)


@main.command()
@DB
@NAME
@click.argument("file", metavar="FILE")
@NEW_ROWS
@READING
@FORMAT
def refresh(db: Path, name: str, file: str, form: str | None, **options: Any) -> None:
    """Replace the rows of the survey NAME in DB with those of FILE, a new snapshot.

    They are read with the settings of the survey: codebook, gates, count, weight, columns.
    Whatever is built on the survey is stale until cegdb rebuild.

    \b
    Examples:
      cegdb demo falls --csv falls_today.csv
      cegdb refresh falls.duckdb falls falls_today.csv
      cegdb rebuild falls.duckdb
    """
    _change("refresh", db, name, file, form, options)


def _change(
    verb: str, db: Path, name: str, file: str, form: str | None, options: dict[str, Any]
) -> None:
    with opened(str(db)) as database:
        survey = database.surveys[name]
        with working(f"reading {file}", database):
            getattr(survey, verb)(source_of(file), **options)
        say_speed(survey)
        say(survey.summary)
        stale = [kind for kind, of in _stale(database) if of == survey.name]
        if stale:
            say(f"stale now: {_counted(stale)}; to rebuild: cegdb rebuild {db}")
        print_receipt(survey.receipt, form)


def _stale(database: Database) -> list[tuple[Any, Any]]:
    """Return the kind and the survey of everything that is stale."""
    _, rows = database.rows("select kind, survey from cegdb.stale")
    return [(kind, survey) for kind, survey in rows]


def _counted(kinds: list[str]) -> str:
    from cegdb.store.catalog import KIND_WORDS

    return ", ".join(
        counted(kinds.count(kind), KIND_WORDS[kind]) for kind in KINDS if kind in kinds
    )


@main.command()
@DB
@click.argument("name", metavar="[NAME]", required=False)
@from_settings(settings.RebuildOptions)
@FORMAT
def rebuild(db: Path, name: str | None, stages: Any, form: str | None) -> None:
    """Rebuild what is stale in DB from the current rows of its surveys.

    With NAME, only what is built on that survey. Event trees, stagings and CEGs keep their
    names and settings. Either all are rebuilt or none. Prints the drift: how the probabilities
    of each stage changed.

    \b
    Examples:
      cegdb rebuild falls.duckdb
      cegdb rebuild falls.duckdb falls --stages relearn --format csv
    """
    with opened(str(db)) as database:
        with working("rebuilding", database):
            rebuilt = database.rebuild(name, stages=stages)
        if not rebuilt:
            say("nothing is stale")
            return
        say(*(one.own_summary for one in rebuilt))
        stagings = [one.name for one in rebuilt if one.kind == "staging"]
        print_query(
            database,
            f"select {_DRIFT} from cegdb.drift where list_contains($stagings, staging) "  # noqa: S608
            "order by staging, stage_id nulls last, former_stage",
            {"stagings": stagings},
            form,
            least=_LEAST_DRIFT,
        )


@main.command()
@DB
@FORMAT
def check(db: Path, form: str | None) -> None:
    """Check that the tables in DB are consistent, and list the rows that are not.

    \b
    Examples:
      cegdb check falls.duckdb
    """
    with opened(str(db), read_only=True) as database:
        with working("checking", database):
            violations = database.check()
        if not violations:
            say("all invariants hold")
            return
        print_table(list(violations[0]), [list(row.values()) for row in violations], form)
        raise CegdbError(
            f"{counted(len(violations), 'row')} {agreeing(len(violations), 'violate')} an "
            "invariant",
            hint="drop the objects named and build them again, or restore a copy of the file",
        )


@main.command()
@DB
@NAME
@kind_option(*KINDS, required=True, help="Kind of the object.")
def drop(db: Path, name: str, kind: Any) -> None:
    """Drop the object NAME in DB, with everything built on it.

    \b
    Examples:
      cegdb event-tree falls.duckdb falls --name spare
      cegdb drop falls.duckdb spare --kind tree
    """
    from cegdb.store.catalog import KIND_WORDS

    with opened(str(db)) as database:
        name = collections(database)[kind][name].name
        database.drop(kind, name)
        say(f"dropped {KIND_WORDS[kind]} {name!r}")


@main.command()
@DB
def migrate(db: Path) -> None:
    """Update the tables of DB to this version of cegdb.

    \b
    Examples:
      cegdb migrate falls.duckdb
    """
    with opened(str(db)):
        say(f"{db} is up to date")
