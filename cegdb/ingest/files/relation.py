"""A readable source: its columns, and the SQL that reads each cell as the text of a label."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, listed
from cegdb.ingest.files.cell_labels import abbreviated, abbreviated_source, label_of
from cegdb.names import available, did_you_mean, folded, matching
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import duckdb
    import pandas as pd

    from cegdb.ingest.csv.csv_file import CsvFile
    from cegdb.ingest.csv.records import SkippedRows
    from cegdb.ingest.files.labelled import ColumnMetadata
    from cegdb.sqlfiles import Value

_NESTED: Final = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT", "GEOMETRY")


@dataclass(frozen=True)
class Relation:
    """A readable source: its column names and the SQL that reads each as text.

    ``chunks`` gives the rows of a file that DuckDB cannot read, for the columns wanted;
    they are then in the table ``from_clause``. ``parts`` are the files read as one, and
    ``source_column`` is the column, if any, that tells them apart. ``typed_cells`` has the
    columns as they are, where they have types; ``metadata`` what a file says of them. A
    relation that ``is_stream`` can be read only once.
    """

    description: str
    name: str
    columns: list[str]
    cells: list[str]
    from_clause: str
    params: dict[str, list[str]] = field(default_factory=dict)
    level_order: dict[str, list[str]] = field(default_factory=dict)
    metadata: dict[str, ColumnMetadata] = field(default_factory=dict)
    is_stream: bool = False
    csv: CsvFile | None = None
    chunks: Callable[[list[str]], Iterator[pd.DataFrame]] | None = None
    parts: list[Relation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    format: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    source_column: str | None = None
    progress: Progress = field(default_factory=Progress)
    typed_cells: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What to call it in a message."""
        return abbreviated_source(self.description, is_file=bool(self.files))

    @property
    def csv_files(self) -> list[CsvFile | None]:
        """The CSV files it is made of, None for a part that is no CSV file."""
        return [part.csv for part in self.parts or [self]]

    @property
    def skipped_rows(self) -> list[SkippedRows]:
        """The rows left out of each of its files, where some were."""
        return [csv.skipped for csv in self.csv_files if csv and csv.skipped]

    def params_of(self, query: str) -> dict[str, Value]:
        """Return the parameters that a query on it uses."""
        return {key: value for key, value in self.params.items() if f"${key} " in query}


def typed_relation(
    con: duckdb.DuckDBPyConnection,
    description: str,
    name: str,
    relation: str,
    names: list[str],
) -> Relation:
    """Return the relation of typed columns, each written as the text of its label.

    Columns are read by their position: of ``a`` and ``A`` DuckDB would rename one.
    """
    info = con.execute(f"describe select * from {relation}").fetchall()  # noqa: S608
    types = [str(row[1]) for row in info]
    if len(names) != len(types):
        names = [str(row[0]) for row in info]
    nested = [
        column
        for column, type_ in zip(names, types, strict=True)
        if type_.endswith("]") or type_.startswith(_NESTED)
    ]
    if nested:
        raise SurveyError(
            f"these columns contain nested or binary values: {listed(nested)}",
            hint="write them as text, or leave them out of the source",
        )
    typed_cells = [f"f{i}" for i in range(len(types))]
    cells = [_text_of(cell, type_) for cell, type_ in zip(typed_cells, types, strict=True)]
    order = {
        column: [label for label in _enum_labels(con, type_) if label]
        for column, type_ in zip(names, types, strict=True)
        if type_.startswith("ENUM(")
    }
    source = f"{relation} as x({', '.join(typed_cells)})"
    return Relation(
        description,
        name,
        names,
        cells,
        source,
        level_order=order,
        typed_cells=typed_cells,
    )


def _enum_labels(con: duckdb.DuckDBPyConnection, type_: str) -> list[str]:
    ((labels,),) = con.execute(f"select enum_range(cast(null as {type_}))").fetchall()
    return list(labels)


def _text_of(column: str, type_: str) -> str:
    """Return the SQL of a typed column as text: numbers shortest, booleans as Python's."""
    if type_ == "BOOLEAN":
        return f"case when {column} then 'True' when not {column} then 'False' end"
    text = f"cast({column} as varchar)"
    if type_ == "TIME WITH TIME ZONE":
        # Arrow's times have no zone, but pyarrow before 22 marked them in Parquet as UTC.
        return f"regexp_replace({text}, '[+]00$', '')"
    if type_ in ("FLOAT", "DOUBLE"):
        short = f"regexp_replace({text}, '\\.0$', '')"
        # Not isnan: of Parquet columns DuckDB takes it for false, by their statistics.
        return f"if({text} in ('nan', '-nan'), null, if({short} = '-0', '0', {short}))"
    if type_.startswith("DECIMAL") and not type_.endswith(",0)"):
        return f"regexp_replace({text}, '\\.?0+$', '')"
    return f"nullif({text}, '')"


def number_text(cell: str, decimal: str) -> str:
    """Return the SQL of a cell with a number, written with a decimal point; NULL if blank."""
    text = f"trim({cell})"
    if decimal != ".":
        text = f"replace({text}, '{decimal}', '.')"
    return f"nullif({text}, '')"


def first_line(error: BaseException) -> str:
    """Return the first line of DuckDB's message."""
    return str(error).strip().splitlines()[0]


# -----------------------------------------------------------------------------
# Column names
# -----------------------------------------------------------------------------


def find_columns(
    names: Sequence[str],
    wanted: Iterable[object],
    where: str,
    *,
    setting: str = "",
    word: str = "variable",
) -> list[str]:
    """Return the names meant by ``wanted``: exactly, else trimmed, else case-folded.

    A message begins with the ``setting`` that names the variables, if one is given; ``word`` is
    what they are called: files have columns, surveys and trees have variables.
    """
    prefix = f"{setting}: " if setting else ""
    columns = []
    for item in wanted:
        name = _as_name(item, word)
        matches = matching(name, names)
        if len(matches) > 1:
            raise SurveyError(
                f"{prefix}{name!r} may be any of {listed(map(repr, matches))} in {where}",
                hint="write it exactly",
            )
        if not matches:
            raise SurveyError(
                f"{prefix}there is no {word} {item!r} in {where}; {available(names)}",
                hint=_hint(name, names),
            )
        columns += matches
    return columns


def match_columns(names: Iterable[str], relation: Relation) -> dict[str, str]:
    """Return the source's column of each name that it has; exact matches come first."""
    names = list(names)
    column_of = {name: name for name in names if name in relation.columns}
    for name in names:
        if name in column_of:
            continue
        free = [other for other in relation.columns if other not in column_of.values()]
        if any(folded(other) == folded(name) for other in free):
            column_of[name] = find_columns(free, [name], relation.title)[0]
    return column_of


def refuse_duplicates(
    names: Iterable[str], columns: Sequence[str], where: str, hint: str | None = None
) -> None:
    """Refuse a source that has several columns of one of these names."""
    duplicates = sorted({name for name in names if columns.count(name) > 1})
    if duplicates:
        raise SurveyError(
            f"{where} has several columns called {listed(map(repr, duplicates))}", hint=hint
        )


def _hint(name: str, names: Collection[str]) -> str | None:
    """Return the hint for an unknown name: a shell may have cut it at a comma."""
    cut = [
        other
        for other in names
        if "," in other and folded(name) in map(folded, other.split(","))
    ]
    if not cut:
        return did_you_mean(name, names)
    within = cut[0].replace('"', '""')
    quoted = shlex.quote(f'"{within}",...')
    return (
        f"did you mean {listed(map(repr, cut))}? on the command line a name with a comma is "
        f"quoted twice: --order {quoted}"
    )


def _as_name(item: object, word: str) -> str:
    try:
        return label_of(item) or ""
    except SurveyError:
        raise SurveyError(f"{abbreviated(repr(item))} is not the name of a {word}") from None
