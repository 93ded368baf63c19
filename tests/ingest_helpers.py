"""What the tests of ingest share: difficult texts, and reading back rows and labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cegdb.api import Database, Survey

Rows = Counter[tuple[str | None, ...]]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NASTY = st.sampled_from(
    [
        "", " ", "a", " a", "a ", "\ta", "NULL", "null", "nan", "NaN", "NA", "N/A", "None",
        "\\N", "01", "1", "1.0", "-0", "+1", "1e5", "true", "True", "F", "1-4-2", "2020-01-02",
        "a,b", "a;b", "a\tb", "a|b", '"', '""', 'a"b', '"a"', ' "a"', "it's", "a\nb", "a\r\nb",
        "a\rb", "\n", "\r", "a\\", "\\", "\\n", "é", "e\u0301", "年齢", "😀", "\ufeff", "\xa0",
        "\u2028", "\x85", "\x1c", "\x00", "#", "--", "/*", "$x", "?", "%s", "{a}", "[1]", "''",
    ]
)  # fmt: skip


def rows_of(db: Database, survey: Survey) -> Rows:
    """Return a survey's rows in labels (None: blank, <kind>: set apart) and their counts."""
    levels: dict[int, dict[int, str | None]] = {}
    for level in survey.variables.itertuples():
        shown = {"value": level.label, "blank": None}.get(level.kind, f"<{level.kind}>")
        levels.setdefault(level.ordinal, {})[level.code] = shown
    columns = ", ".join(f"v{ordinal}" for ordinal in levels)
    names, rows = db.rows(f"select {columns}, n from cegdb.response_{survey.id}")  # noqa: S608
    assert len(names) == len(levels) + 1
    found: Rows = Counter()
    for *codes, n in rows:
        labels = zip(levels.values(), codes, strict=True)
        found[tuple(known[code] for known, code in labels)] += n
    assert sum(found.values()) == survey.receipt["respondents"]
    return found


def labels_of(survey: Survey, kind: str = "value") -> dict[str, dict[str, int]]:
    """Return variable -> label -> n of one kind, in the order of variables and levels."""
    frame = survey.variables
    found: dict[str, dict[str, int]] = {name: {} for name in frame["variable"]}
    for level in frame[frame["kind"] == kind].itertuples():
        found[level.variable][level.label] = level.n
    return found


def column(db: Database, source: Any, **settings: Any) -> dict[str, int]:
    """Ingest a source and return the labels of its first variable."""
    return next(iter(labels_of(db.ingest(source, replace=True, **settings)).values()))


def written(folder: Path, content: str | bytes, name: str = "survey.csv") -> Path:
    """Write a file and return its path."""
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def trace(db: Database) -> tuple[Any, ...]:
    """Return what a database holds: tables and views of all kinds, and numbers of rows."""
    views = "select schema_name, view_name from duckdb_views() where not internal"
    tables = "select schema_name, table_name from duckdb_tables()"
    with db._store.reading() as con:
        names = sorted(con.execute(tables).fetchall())
        counted = [
            f'(select count(*) from "{schema}"."{table}")'  # noqa: S608
            for schema, table in names
        ]
        counts = con.execute(f"select {', '.join(counted)}").fetchall()
        return names, counts, sorted(con.execute(views).fetchall())


def emptied(database: Database) -> Iterator[Database]:
    """Give a database, and drop its surveys afterwards."""
    yield database
    for name in database.surveys.names():
        database.drop("survey", name)
