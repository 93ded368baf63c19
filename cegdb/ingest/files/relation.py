"""A readable source: its columns, and the SQL that reads each cell as the text of a label."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed, near_ones
from cegdb.ingest.files.cell_labels import label_of, shown, shown_source
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import duckdb
    import pandas as pd

    from cegdb.ingest.csv.csv_file import Reader
    from cegdb.ingest.files.labelled import Entry
    from cegdb.sqlfiles import Value

_NESTED: Final = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT", "GEOMETRY")


@dataclass(frozen=True)
class Relation:
    """A readable source: its column names and the SQL that reads each as text.

    ``chunks`` gives the rows of a file that DuckDB cannot read, for the columns asked for;
    they are then in the table ``from_clause``. ``parts`` are the files read as one, and
    ``source_column`` is the column, if any, that tells them apart. ``typed`` has the columns
    as they are, where they have types.
    """

    described: str
    name: str
    columns: list[str]
    cells: list[str]
    from_clause: str
    params: dict[str, list[str]] = field(default_factory=dict)
    level_order: dict[str, list[str]] = field(default_factory=dict)
    known: dict[str, Entry] = field(default_factory=dict)
    once: bool = False
    csv: Reader | None = None
    chunks: Callable[[list[str]], Iterator[pd.DataFrame]] | None = None
    parts: list[Relation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    format: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    source_column: str | None = None
    progress: Progress = field(default_factory=Progress)
    typed: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """What to call it in a message."""
        return shown_source(self.described, is_file=bool(self.files))

    def params_of(self, query: str) -> dict[str, Value]:
        """Return the parameters that a query on it uses."""
        return {key: value for key, value in self.params.items() if f"${key} " in query}


def typed(
    con: duckdb.DuckDBPyConnection,
    described: str,
    name: str,
    relation: str,
    names: list[str],
) -> Relation:
    """Return the relation of typed columns, each written as the text of its label.

    Columns are read by their place: of ``a`` and ``A`` DuckDB would rename one.
    """
    info = con.execute(f"describe select * from {relation}").fetchall()  # noqa: S608
    kinds = [str(row[1]) for row in info]
    if len(names) != len(kinds):
        names = [str(row[0]) for row in info]
    nested = [
        column
        for column, kind in zip(names, kinds, strict=True)
        if kind.endswith("]") or kind.startswith(_NESTED)
    ]
    if nested:
        raise SurveyError(f"columns hold nested or binary values: {listed(nested)}")
    cells = [_cell(f"f{i}", kind) for i, kind in enumerate(kinds)]
    order = {
        column: [label for label in _enum_labels(con, kind) if label]
        for column, kind in zip(names, kinds, strict=True)
        if kind.startswith("ENUM(")
    }
    places = ", ".join(f"f{i}" for i in range(len(kinds)))
    source = f"{relation} as x({places})"
    as_is = [f"f{i}" for i in range(len(kinds))]
    return Relation(described, name, names, cells, source, level_order=order, typed=as_is)


def _enum_labels(con: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    ((labels,),) = con.execute(f"select enum_range(cast(null as {kind}))").fetchall()
    return list(labels)


def _cell(column: str, kind: str) -> str:
    if kind == "BOOLEAN":
        return f"case when {column} then 'True' when not {column} then 'False' end"
    text = f"cast({column} as varchar)"
    if kind in ("FLOAT", "DOUBLE"):
        short = f"regexp_replace({text}, '\\.0$', '')"
        # Not isnan: of Parquet columns DuckDB takes it for false, by their statistics.
        return f"if({text} in ('nan', '-nan'), null, if({short} = '-0', '0', {short}))"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"regexp_replace({text}, '\\.?0+$', '')"
    return f"nullif({text}, '')"


def first_line(error: BaseException) -> str:
    """Return the first line of DuckDB's message."""
    return str(error).strip().splitlines()[0]


def find_columns(names: Sequence[str], wanted: Iterable[object], where: str) -> list[str]:
    """Return the names meant by ``wanted``: exactly, else trimmed, else case-folded.

    Raises
    ------
    SurveyError
        One is not found, or several fit it.

    Examples
    --------
    >>> find_columns(["Sex", " vote ", "3"], ["sex", "vote", 3], "the file")
    ['Sex', ' vote ', '3']
    """
    found = []
    for asked in wanted:
        name = _asked_name(asked)
        fits = [other for other in names if other == name]
        fits = fits or [other for other in names if other.strip() == name.strip()]
        fits = fits or [other for other in names if _folded(other) == _folded(name)]
        if len(fits) > 1:
            raise SurveyError(f"{name!r} may be any of {listed(map(repr, fits))} in {where}")
        if not fits:
            raise SurveyError(
                f"there is no variable {asked!r} in {where}", hint=_meant(name, names)
            )
        found += fits
    return found


def _meant(name: str, names: Sequence[str]) -> str:
    """Return the hint for a name that is not found: a shell may have cut it at a comma."""
    cut = [
        other
        for other in names
        if "," in other and _folded(name) in map(_folded, other.split(","))
    ]
    if not cut:
        return near_ones(name, names)
    hint = f"did you mean {listed(map(repr, cut))}?"
    within = cut[0].replace('"', '""')
    quoted = shlex.quote(f'"{within}",...')
    return f"{hint} on the command line a name with a comma is quoted twice: --order {quoted}"


def _folded(name: str) -> str:
    return name.strip().casefold()


def _asked_name(asked: object) -> str:
    try:
        return label_of(asked) or ""
    except SurveyError:
        raise SurveyError(f"{shown(repr(asked))} is no name of a variable") from None
