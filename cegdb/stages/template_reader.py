"""Templates read back: the stage that each row gives to a situation."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from cegdb.errors import StagingError, SurveyError, listed
from cegdb.ingest.csv.records import cells_of_any_length
from cegdb.ingest.files import excel
from cegdb.ingest.files.cell_labels import abbreviated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

__all__ = [
    "OTHER_TREE",
    "Row",
    "Template",
    "is_template",
    "read",
    "read_relation",
    "refuse_mismatch",
]

OTHER_TREE: Final = (
    "the file was made for another tree, or some of its columns were sorted without the "
    "others: write the template anew (tree.template(path), cegdb template DB NAME -o FILE)"
)
_READ: Final[tuple[str, ...]] = ("vertex_id", "variable", "stage")
_STEP: Final = re.compile(r"path_([1-9][0-9]*)")
_WHOLE: Final = re.compile(r"([0-9]{1,18})(?:\.0+)?")
_SHEETS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_YAML: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Row:
    """A row of a template: where it is, its situation, and the stage of that."""

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


def is_template(columns: Sequence[str]) -> bool:
    """Return whether a table with these columns is a template: a stage, and which situation.

    ``vertex_id`` and one more column are plain groups.

    Examples
    --------
    >>> is_template(["path_1", "stage"]), is_template(["vertex_id", "stage"])
    (True, False)
    """
    names = {column.strip().casefold() for column in columns}
    by_id = "vertex_id" in names and len(columns) > 2
    return "stage" in names and (by_id or any(map(_STEP.fullmatch, names)))


def read(source: object) -> Template | None:
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
            return Template(title, _yaml_rows(_text(Path(name), title), title))
        if suffix == ".csv":
            return _of_table(title, _csv_lines(_text(Path(name), title), title))
        return _of_table(title, excel.numbered_rows(Path(name)), may_be_plain=True)
    except SurveyError as error:
        raise StagingError(str(error.args[0]), hint=error.hint) from None


def read_relation(steps: Steps, relation: Relation) -> Template:
    """Return the template in a frame or SELECT; see `is_template`."""
    query = f"select {', '.join(relation.cells)} from {relation.from_clause}"  # noqa: S608
    lines = enumerate(steps.rows(query, dict(relation.params)), 1)
    head = (0, cast("list[str | None]", relation.columns))
    rows = iter([head, *((number, list(cells)) for number, cells in lines)])
    template = _of_table(relation.title, rows)
    if template is None:
        raise AssertionError(relation.columns)
    return template


def refuse_mismatch(
    file: Template, row: Row, path: list[str] | None, variable: str | None
) -> None:
    """Refuse a row whose path or variable is not that of its situation (None: unknown)."""
    where = f"{file.title}, {row.line}"
    if path is None:
        raise StagingError(
            f"{where}: vertex_id {row.vertex_id} is not a situation of the tree",
            hint=OTHER_TREE,
        )
    which = "this path" if row.vertex_id is None else f"vertex_id {row.vertex_id}"
    if row.path is not None and row.path != path:
        raise StagingError(
            f"{where}: the path is {_shown_path(row.path)}; that of {which} is "
            f"{_shown_path(path)}",
            hint=OTHER_TREE,
        )
    if row.variable is not None and row.variable != variable:
        raise StagingError(
            f"{where}: the variable is {row.variable!r}; that of {which} is {variable!r}",
            hint=OTHER_TREE,
        )


def _shown_path(path: list[str]) -> str:
    return f"({', '.join(map(repr, path))})" if path else "(the root)"


def _of_table(
    title: str, lines: Iterator[tuple[int, list[str | None]]], *, may_be_plain: bool = False
) -> Template | None:
    """Return the template in rows of cells, the header first; None if they are not one.

    With ``may_be_plain`` the columns ``vertex_id`` and ``stage`` alone are one too.
    """
    head = next(lines, None)
    if head is None:
        return None
    columns = [(name or "").strip().casefold() for name in head[1]]
    is_plain = may_be_plain and sorted(columns) == ["stage", "vertex_id"]
    if not (is_plain or is_template(columns)):
        return None
    index: dict[str, int] = {}
    for column, name in enumerate(columns):
        if name in index and (name in _READ or _STEP.fullmatch(name)):
            raise StagingError(
                f"{title} has two columns {name!r}", hint="delete or rename one of them"
            )
        index.setdefault(name, column)
    depths = sorted(int(name[1]) for name in map(_STEP.fullmatch, index) if name)
    for expected, depth in enumerate(depths, 1):
        if depth != expected:
            raise StagingError(
                f"{title} has a column path_{depth} and no path_{expected}",
                hint="keep all columns of the path, or none; or write the template anew",
            )
    path = [index[f"path_{depth}"] for depth in depths]
    rows = []
    for line, cells in lines:
        if not any(cells):
            continue
        where = f"row {line}"
        if len(cells) < len(columns):
            cells = [*cells, *[None] * (len(columns) - len(cells))]  # noqa: PLW2901
        if any(cells[len(columns) :]):
            raise StagingError(
                f"{title}, {where} has {len(cells)} cells, the header {len(columns)}",
                hint="quote cells with a delimiter in them, or save it as .xlsx",
            )
        values = {name: cells[index[name]] for name in _READ if name in index}
        labels = _labels([cells[column] for column in path], title, where) if path else None
        row = _row(where, values, labels, title)
        if row is not None:
            rows.append(row)
    return Template(title, rows)


def _labels(cells: list[str | None], title: str, where: str) -> list[str]:
    """Return the labels of a path, which has no gap."""
    labels = [cell for cell in cells if cell]
    if any(cells[len(labels) :]):
        blank = next(i for i, cell in enumerate(cells, 1) if not cell)
        raise StagingError(
            f"{title}, {where}: path_{blank} is empty, and a later one is not",
            hint=OTHER_TREE,
        )
    return labels


def _row(
    where: str, values: dict[str, str | None], path: list[str] | None, title: str
) -> Row | None:
    """Return a row; None if it neither names a stage nor has a vertex_id to check."""
    written = (values.get("vertex_id") or "").strip()
    stage = (values.get("stage") or "").strip() or None
    number = _WHOLE.fullmatch(written)
    if written and number is None:
        raise StagingError(
            f"{title}, {where}: vertex_id {written!r} is not a whole number", hint=OTHER_TREE
        )
    if number is None and stage is None:
        return None
    if number is None and path is None:
        raise StagingError(
            f"{title}, {where}: stage {stage!r} has neither a path nor a vertex_id",
            hint="fill one of them in, or delete the row",
        )
    vertex_id = int(number[1]) if number else None
    return Row(where, vertex_id, path, values.get("variable") or None, stage)


def _text(file: Path, title: str) -> str:
    """Return the text of a file with its line ends as they are."""
    try:
        content = file.read_bytes()
        encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "")
        return content.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise StagingError(
            f"{title} is not UTF-8 text", hint="save it as 'CSV UTF-8', or as .xlsx"
        ) from None
    except OSError as error:
        raise StagingError(f"{title} cannot be read: {error.strerror}") from None


def _csv_lines(text: str, title: str) -> Iterator[tuple[int, list[str | None]]]:
    """Return the rows of a CSV file; the header shows the delimiter."""
    first = text.split("\n", 1)[0]
    declared = re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE)  # a line that Excel reads
    body = text[len(first) + 1 :] if declared else text
    delimiter = max(";\t,", key=first.count) if declared is None else declared[1]
    try:
        with cells_of_any_length():
            rows = list(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise StagingError(f"{title} is not CSV: {error}") from None
    return (
        (line, [cell or None for cell in cells])
        for line, cells in enumerate(rows, 2 if declared else 1)
    )


def _yaml_rows(text: str, title: str) -> list[Row]:
    import yaml

    try:
        tree = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        return list(_entries(tree, title))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise StagingError(
            f"{title}{where} is not YAML: {problem}", hint="quote labels and names"
        ) from None
    except RecursionError:
        raise StagingError(f"{title} is nested too deeply") from None


def _entries(tree: Any, title: str) -> Iterator[Row]:
    """Yield the rows of a YAML template: a list of entries, or stage -> paths."""
    head: dict[str, Any] = dict(_pairs(tree, title)) if _is(tree, "mapping") else {}
    stages: Any = head.get("stages")
    if _is(stages, "sequence"):
        for node in stages.value:
            if not _is(node, "mapping"):
                raise _malformed(title, node)
            entry = dict(_pairs(node, title))
            path = _path(entry["path"], title) if "path" in entry else None
            values = {name: _scalar(entry[name], title) for name in _READ if name in entry}
            row = _row(_line(node), values, path, title)
            if row is not None:
                yield row
    elif _is(stages, "mapping"):
        for name, paths in _pairs(stages, title):
            if not _is(paths, "sequence"):
                raise _malformed(title, paths)
            for node in paths.value:
                row = _row(_line(node), {"stage": name}, _path(node, title), title)
                if row is None:
                    raise _malformed(title, paths)
                yield row
    elif not _is(stages, "scalar") or _scalar(stages, title):
        raise StagingError(
            f"{title} has no list or mapping 'stages'",
            hint="write 'stages:', and below it entries '- path: [\"High\"]' with 'stage: "
            'name\', or \'name: [["High"], ["Low"]]\'',
        )


def _is(node: Any, kind: str) -> bool:
    return node is not None and node.id == kind


def _line(node: Any) -> str:
    return f"line {node.start_mark.line + 1}"


def _pairs(node: Any, title: str) -> list[tuple[str, Any]]:
    pairs = [(_scalar(key, title) or "", value) for key, value in node.value]
    known: set[str] = set()
    for (name, _), (key, _) in zip(pairs, node.value, strict=True):
        if name in known:
            raise StagingError(f"{title}, {_line(key)}: {name!r} is written twice")
        known.add(name)
    return pairs


def _path(node: Any, title: str) -> list[str]:
    items = node.value if _is(node, "sequence") else [node]
    labels = [_scalar(item, title) for item in items]
    if not all(labels):
        raise StagingError(
            f"{title}, {_line(node)}: the path contains an empty label",
            hint="quote labels; the path of the root is []",
        )
    return [str(label) for label in labels]


def _scalar(node: Any, title: str) -> str | None:
    """Return a text as written; None if it is empty or, without quotes, null."""
    if not _is(node, "scalar"):
        raise _malformed(title, node)
    text = str(node.value)
    is_plain = node.style not in ("'", '"', "|", ">")
    return None if not text or (is_plain and text in ("~", "null", "Null", "NULL")) else text


def _malformed(title: str, node: Any) -> StagingError:
    listing = listed(["path: [labels from the root]", "stage: name", "vertex_id: number"])
    return StagingError(
        f"{title}, {_line(node)}: this is not an entry of a template",
        hint=f"an entry has {listing}; a mapping goes from a stage to a list of paths",
    )
