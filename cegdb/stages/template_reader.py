"""Templates read back: the stage that each row gives to a situation."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cegdb.errors import StagingError, SurveyError, counted
from cegdb.ingest.csv.records import file_rows
from cegdb.ingest.files import excel
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.ingest.files.sources import keep_cells
from cegdb.names import folded
from cegdb.stages.situations import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

    NumberedCells: TypeAlias = tuple[int, list[str | None]]

__all__ = [
    "OTHER_TREE",
    "Row",
    "Template",
    "is_template",
    "read_file",
    "read_relation",
    "refuse_mismatch",
]

OTHER_TREE: Final = (
    "the file was made for another tree, or some of its columns were sorted without the "
    "others: write the template anew (tree.template(path), cegdb template DB NAME -o FILE)"
)
_FIELDS: Final[tuple[str, ...]] = ("vertex_id", "variable", "stage")
"""What is read of a row, besides the path; everything else is for the user's information."""

_PATH_COLUMN: Final = re.compile(r"path_([1-9][0-9]*)")
_WHOLE_NUMBER: Final = re.compile(r"([0-9]{1,18})(?:\.0+)?")
_SHEETS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_YAML: Final = (".yaml", ".yml")
_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_YAML_FORM: Final = (
    "an entry has path: [labels from the root], stage: name, vertex_id: number; a mapping goes "
    "from a stage to a list of paths"
)


@dataclass(frozen=True)
class Row:
    """A row of a template: where it is in the file, its situation, and that one's stage."""

    line: str
    vertex_id: int | None
    path: list[str] | None
    variable: str | None
    stage: str | None


@dataclass(frozen=True)
class Template:
    """A template that was read; ``title`` is its name in messages."""

    title: str
    rows: list[Row]


# -----------------------------------------------------------------------------
# Is it a template?
# -----------------------------------------------------------------------------


def is_template(columns: Sequence[str]) -> bool:
    """Return whether a table with these columns is a template: a stage, and which situation.

    ``vertex_id`` and one more column are plain groups.

    Examples
    --------
    >>> is_template(["path_1", "stage"]), is_template(["vertex_id", "stage"])
    (True, False)
    """
    names = {folded(column) for column in columns}
    is_by_id = "vertex_id" in names and len(columns) > 2
    return "stage" in names and (is_by_id or any(map(_PATH_COLUMN.fullmatch, names)))


def read_file(source: object) -> Template | None:
    """Return the template in a file; None if it is not one, or there is no such file."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    name = os.fspath(source)
    suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 (a SELECT is no path)
    if not isinstance(name, str) or suffix not in (".csv", *_SHEETS, *_YAML):
        return None
    title = abbreviated(name, most=400)
    if not os.path.isfile(name):  # noqa: PTH113 (Path.is_file raises on a very long text)
        if suffix in _YAML:
            raise StagingError(f"there is no file {title}")
        return None
    try:
        if suffix in _YAML:
            return Template(title, _yaml_rows(_read_text(Path(name), title), title))
        if suffix == ".csv":
            return _template_of_cells(title, _csv_lines(_read_text(Path(name), title), title))
        # The columns vertex_id and stage alone are read here too: with the rows of the sheet.
        return _template_of_cells(title, excel.numbered_rows(Path(name)), may_be_plain=True)
    except SurveyError as error:
        raise StagingError(str(error.args[0]), hint=error.hint) from None


def read_relation(steps: Steps, con: duckdb.DuckDBPyConnection, relation: Relation) -> Template:
    """Return the template in a frame or SELECT with columns that `is_template` knows."""
    names = {f"c{index}": column for index, column in enumerate(relation.columns)}
    keep_cells(steps, con, relation, "template_cell", names)
    cells = steps.rows("select * from temp.template_cell order by rowid")
    lines: list[NumberedCells] = [
        (number, list(row)) for number, row in enumerate([relation.columns, *cells])
    ]
    template = _template_of_cells(relation.title, iter(lines))
    if template is None:
        raise AssertionError(relation.columns)
    return template


# -----------------------------------------------------------------------------
# Tables: CSV files, sheets, frames
# -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Columns:
    """Where a table has what is read of a template: fields by name, the path in order."""

    n: int
    fields: Mapping[str, int]
    path: list[int]


def _template_of_cells(
    title: str, lines: Iterator[NumberedCells], *, may_be_plain: bool = False
) -> Template | None:
    """Return the template in rows of cells, the header first; None if they are not one.

    With ``may_be_plain`` the columns ``vertex_id`` and ``stage`` alone are one too.
    """
    _, header = next(lines, (0, []))
    names = [folded(name or "") for name in header]
    is_plain = may_be_plain and sorted(names) == ["stage", "vertex_id"]
    if not (is_plain or is_template(names)):
        return None
    columns = _find_columns(title, names)
    rows = [
        _row_of_cells(title, f"row {line}", cells, columns)
        for line, cells in lines
        if any(cells)
    ]
    return Template(title, [row for row in rows if row is not None])


def _find_columns(title: str, names: Sequence[str]) -> _Columns:
    """Return where the columns of a template are; refuse doubled ones, and gaps in the path."""
    index: dict[str, int] = {}
    for column, name in enumerate(names):
        if name in index and (name in _FIELDS or _PATH_COLUMN.fullmatch(name)):
            raise StagingError(
                f"{title} has two columns {name!r}", hint="delete or rename one of them"
            )
        index.setdefault(name, column)
    depths = sorted(int(match[1]) for match in map(_PATH_COLUMN.fullmatch, index) if match)
    for expected, depth in enumerate(depths, 1):
        if depth != expected:
            raise StagingError(
                f"{title} has a column path_{depth} and no path_{expected}",
                hint="keep all columns of the path, or none; or write the template anew",
            )
    return _Columns(
        len(names),
        {name: index[name] for name in _FIELDS if name in index},
        [index[f"path_{depth}"] for depth in depths],
    )


def _row_of_cells(
    title: str, line: str, cells: Sequence[str | None], columns: _Columns
) -> Row | None:
    if any(cells[columns.n :]):
        raise StagingError(
            f"{title}, {line} has {counted(len(cells), 'cell')}, the header {columns.n}",
            hint="quote cells with a delimiter in them, or save it as .xlsx",
        )
    padded = [*cells, *[None] * (columns.n - len(cells))]
    path = None
    if columns.path:
        path = _path_of_cells([padded[column] for column in columns.path], title, line)
    fields = {name: padded[column] for name, column in columns.fields.items()}
    return _checked_row(title, line, fields, path)


def _path_of_cells(cells: list[str | None], title: str, line: str) -> list[str]:
    """Return the labels of a path, which has no gap."""
    labels = [cell for cell in cells if cell]
    if any(cells[len(labels) :]):
        empty = next(depth for depth, cell in enumerate(cells, 1) if not cell)
        raise StagingError(
            f"{title}, {line}: path_{empty} is empty, but a later one is not",
            hint=OTHER_TREE,
        )
    return labels


def _checked_row(
    title: str, line: str, fields: Mapping[str, str | None], path: list[str] | None
) -> Row | None:
    """Return a row; None if it neither names a stage nor has a vertex_id to check."""
    written = (fields.get("vertex_id") or "").strip()
    stage = (fields.get("stage") or "").strip() or None
    number = _WHOLE_NUMBER.fullmatch(written)
    if written and number is None:
        raise StagingError(
            f"{title}, {line}: vertex_id {written!r} is not a whole number", hint=OTHER_TREE
        )
    if number is None and stage is None:
        return None
    if number is None and path is None:
        raise StagingError(
            f"{title}, {line}: stage {stage!r} has neither a path nor a vertex_id",
            hint="fill one of them in, or delete the row",
        )
    vertex_id = int(number[1]) if number else None
    return Row(line, vertex_id, path, fields.get("variable") or None, stage)


def _read_text(file: Path, title: str) -> str:
    """Return the text of a file with its line ends as they are."""
    try:
        content = file.read_bytes()
        encoding = next(
            (name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), ""
        )
        return content.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise StagingError(
            f"{title} is not UTF-8 text", hint="save it as 'CSV UTF-8', or as .xlsx"
        ) from None
    except OSError as error:
        raise StagingError(f"{title} cannot be read: {error.strerror}") from None


def _csv_lines(text: str, title: str) -> Iterator[NumberedCells]:
    """Return the rows of a CSV file; the header shows the delimiter."""
    first = text.split("\n", 1)[0]
    declared = re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE)  # a line that Excel reads
    body = text[len(first) + 1 :] if declared else text
    delimiter = max(";\t,", key=first.count) if declared is None else declared[1]
    first_line = 2 if declared else 1
    try:
        rows = file_rows(body, title, delimiter, first_line)
    except SurveyError as error:
        raise StagingError(str(error.args[0]), hint=error.hint) from None
    return (
        (line, [cell or None for cell in cells]) for line, cells in enumerate(rows, first_line)
    )


# -----------------------------------------------------------------------------
# YAML
# -----------------------------------------------------------------------------


def _yaml_rows(text: str, title: str) -> list[Row]:
    import yaml

    try:
        # Composed, not loaded: nodes know their lines, and labels stay as they are written.
        document = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        return list(_document_rows(document, title))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise StagingError(
            f"{title}{where} is not YAML: {problem}", hint="quote labels and names"
        ) from None
    except RecursionError:
        raise StagingError(f"{title} is nested too deeply") from None


def _document_rows(document: Any, title: str) -> Iterator[Row]:
    """Yield the rows of a YAML template: a list of entries, or a mapping stage -> paths."""
    top = dict(_mapping_items(document, title)) if _is_node(document, "mapping") else {}
    stages: Any = top.get("stages")
    if _is_node(stages, "sequence"):
        for node in stages.value:
            row = _entry_row(node, title)
            if row is not None:
                yield row
    elif _is_node(stages, "mapping"):
        for stage, paths in _mapping_items(stages, title):
            yield from _stage_rows(stage, paths, title)
    elif not _is_node(stages, "scalar") or _scalar_text(stages, title):
        raise StagingError(
            f"{title} has no list or mapping 'stages'",
            hint="write 'stages:', and below it entries '- path: [\"High\"]' with 'stage: "
            'name\', or \'name: [["High"], ["Low"]]\'',
        )


def _entry_row(node: Any, title: str) -> Row | None:
    if not _is_node(node, "mapping"):
        raise _malformed(title, node)
    entry = dict(_mapping_items(node, title))
    path = _path_of_node(entry["path"], title) if "path" in entry else None
    fields = {name: _scalar_text(entry[name], title) for name in _FIELDS if name in entry}
    return _checked_row(title, _line_of(node), fields, path)


def _stage_rows(stage: str, paths: Any, title: str) -> Iterator[Row]:
    if not _is_node(paths, "sequence"):
        raise _malformed(title, paths)
    for node in paths.value:
        row = _checked_row(title, _line_of(node), {"stage": stage}, _path_of_node(node, title))
        if row is None:
            raise _malformed(title, paths)
        yield row


def _is_node(node: Any, kind: str) -> bool:
    return node is not None and node.id == kind


def _line_of(node: Any) -> str:
    return f"line {node.start_mark.line + 1}"


def _mapping_items(node: Any, title: str) -> list[tuple[str, Any]]:
    """Return the keys and values of a mapping; refuse a key that is written twice."""
    items: list[tuple[str, Any]] = []
    names: set[str] = set()
    for key, value in node.value:
        name = _scalar_text(key, title) or ""
        if name in names:
            raise StagingError(f"{title}, {_line_of(key)}: {name!r} is written twice")
        names.add(name)
        items.append((name, value))
    return items


def _path_of_node(node: Any, title: str) -> list[str]:
    nodes = node.value if _is_node(node, "sequence") else [node]
    labels = [_scalar_text(item, title) for item in nodes]
    if not all(labels):
        raise StagingError(
            f"{title}, {_line_of(node)}: the path contains an empty label",
            hint="quote labels; the path of the root is []",
        )
    return [str(label) for label in labels]


def _scalar_text(node: Any, title: str) -> str | None:
    """Return a text as written; None if it is empty or, without quotes, null."""
    if not _is_node(node, "scalar"):
        raise _malformed(title, node)
    text = str(node.value)
    is_plain = node.style not in ("'", '"', "|", ">")
    return None if not text or (is_plain and text in ("~", "null", "Null", "NULL")) else text


def _malformed(title: str, node: Any) -> StagingError:
    return StagingError(
        f"{title}, {_line_of(node)}: not an entry of a template", hint=_YAML_FORM
    )


# -----------------------------------------------------------------------------
# Rows that do not fit the tree
# -----------------------------------------------------------------------------


def refuse_mismatch(
    template: Template, row: Row, path: list[str] | None, variable: str | None
) -> None:
    """Refuse a row whose path or variable is not that of its situation (None: unknown)."""
    where = f"{template.title}, {row.line}"
    if path is None:
        raise StagingError(
            f"{where}: vertex_id {row.vertex_id} is not a situation of the tree",
            hint=OTHER_TREE,
        )
    which = "this path" if row.vertex_id is None else f"vertex_id {row.vertex_id}"
    if row.path is not None and row.path != path:
        raise StagingError(
            f"{where}: the path is {shown_path(row.path)}, but that of {which} is "
            f"{shown_path(path)}",
            hint=OTHER_TREE,
        )
    if row.variable is not None and row.variable != variable:
        raise StagingError(
            f"{where}: the variable is {row.variable!r}, but that of {which} is {variable!r}",
            hint=OTHER_TREE,
        )
