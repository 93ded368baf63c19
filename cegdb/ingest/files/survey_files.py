"""Survey files of every format, one or several, as one relation of text cells."""

from __future__ import annotations

import glob
import os
import stat
import sys
import zipfile
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from cegdb.errors import CegdbError, SurveyError, counted, listed
from cegdb.ingest.csv import csv_file
from cegdb.ingest.csv.decoding import ZIP
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.ingest.files.relation import (
    Relation,
    first_line,
    refuse_duplicates,
    typed_relation,
)
from cegdb.ingest.files.streams import Stream
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.options import ReadOptions

STDIN: Final = "-"
LOADED: Final = "cegdb_loaded"
_PARQUET: Final = b"PAR1"
_OLE: Final = bytes.fromhex("d0cf11e0")
_SUFFIXES: Final = (".gz", ".zst")


def files_matching(pattern: str) -> list[Path]:
    """Return the files that a pattern such as ``waves/*.csv`` matches, sorted."""
    paths = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns are whole paths)
    return [Path(path) for path in paths]


def from_stdin(
    con: duckdb.DuckDBPyConnection,
    stack: ExitStack,
    options: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return the relation of what standard input holds, kept in a temporary file."""
    stream = Stream(sys.stdin.buffer, "standard input", "stdin")
    return from_stream(con, stream, stack, options, rewrite=rewrite)


def from_stream(
    con: duckdb.DuckDBPyConnection,
    stream: Stream,
    stack: ExitStack,
    options: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return the relation of what a file-like object has left, kept in a temporary file."""
    if options.source_column is not None:
        raise SurveyError(f"source_column needs files, and {stream.title} is not a file")
    file, is_text = csv_file.kept_copy(stack, stream.copy_to)
    if is_text and options.encoding is not None:
        raise SurveyError(f"{stream.title} gives text, which has no encoding")
    stack.enter_context(_named_in_errors(file, stream.title))
    relation = from_file(con, file, stack, options, rewrite=rewrite)
    return replace(relation, description=stream.title, name=_stem(Path(stream.file_name)))


@contextmanager
def _named_in_errors(file: Path, name: str) -> Iterator[None]:
    """Replace a file's path by another name in every error."""
    path = str(file)
    try:
        yield
    except CegdbError as error:
        for name_shown in (path, abbreviated(path, most=400), abbreviated(path)):
            error.args = tuple(str(text).replace(name_shown, name) for text in error.args)
            error.hint = error.hint and error.hint.replace(name_shown, name)
        raise


def from_files(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    stack: ExitStack,
    options: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return several CSV or Parquet files as one relation, columns matched by name.

    A column that a file lacks is blank there; a file with a header only adds nothing.
    """
    if not files:
        raise SurveyError("the list of files is empty")
    parts = [from_file(con, file, stack, options, rewrite=rewrite) for file in files]
    if options.source_column is not None:
        labels = source_labels(files)
        parts = [
            _with_source(part, options.source_column, label, i)
            for i, (part, label) in enumerate(zip(parts, labels, strict=True))
        ]
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.chunks is not None:
            raise SurveyError(
                f"{part.title} is {part.format['format']}: only CSV and Parquet files can "
                "be read together",
                hint="ingest one and append the others",
            )
        refuse_duplicates(
            part.columns,
            part.columns,
            part.title,
            hint="rename them: the columns of several files are matched by name",
        )
    columns = list(dict.fromkeys(name for part in parts for name in part.columns))
    selects = []
    for part in parts:
        cells = dict(zip(part.columns, part.cells, strict=True))
        taken = ", ".join(
            f"{cells.get(name, 'cast(null as varchar)')} as f{i}"
            for i, name in enumerate(columns)
        )
        selects.append(f"select {taken} from {part.from_clause}")  # noqa: S608
    order: dict[str, list[str]] = {}
    for part in parts:
        for name, labels in part.level_order.items():
            union = order.setdefault(name, [])
            union += [label for label in labels if label not in union]
    return Relation(
        f"{files[0]} and {counted(len(files) - 1, 'more file')}",
        parts[0].name,
        columns,
        [f"f{i}" for i in range(len(columns))],
        f"({' union all '.join(selects)})",
        {key: value for part in parts for key, value in part.params.items()},
        order,
        parts=parts,
        notes=[f"{part.title}: {note}" for part in parts for note in part.notes],
        format=parts[0].format,
        files=[file for part in parts for file in part.files],
        source_column=options.source_column,
    )


def source_labels(files: Sequence[Path]) -> list[str]:
    """Return what to call each of several files: names without ending where these suffice."""
    stems = [_stem(file) for file in files]
    labels = list(stems)
    for stem in dict.fromkeys(stems):
        indices = [i for i, other in enumerate(stems) if other == stem]
        if len(indices) == 1:
            continue
        whole = [Path(os.path.abspath(files[i])) for i in indices]  # noqa: PTH100
        above = os.path.commonpath([file.parent for file in whole])
        longer = [file.relative_to(above) for file in whole]
        named = [str(file.with_name(stem)) for file in longer]
        if len(set(named)) < len(named):
            named = [str(file) for file in longer]
        for i, label in zip(indices, named, strict=True):
            labels[i] = label
    repeated = [str(file) for file, label in zip(files, labels, strict=True)
             if labels.count(label) > 1]  # fmt: skip
    if repeated:
        raise SurveyError(f"source_column cannot tell apart the files {listed(repeated)}")
    return labels


def _with_source(relation: Relation, column: str, label: str, i: int) -> Relation:
    """Return a file's relation with a first column that holds the file's label."""
    if column in relation.columns:
        raise SurveyError(
            f"{relation.title} has a column called {column!r} already",
            hint="give source_column another name",
        )
    key = f"source{i}"
    cells = relation.cells
    if relation.chunks is not None:  # its table names columns by their index
        cells = [f"f{i}" for i in range(1, len(cells) + 1)]
    return replace(
        relation,
        columns=[column, *relation.columns],
        cells=[f"cast(${key} as varchar[])[1]", *cells],
        params={**relation.params, key: [label]},
        source_column=column,
    )


def from_file(
    con: duckdb.DuckDBPyConnection,
    file: Path,
    stack: ExitStack,
    options: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return the relation of one file; its first bytes say which format it has."""
    title = abbreviated(str(file), most=400)
    start = _first_bytes(file, title)
    name = _stem(file)
    if not start:
        raise SurveyError(f"{title} is empty")
    if start.startswith(_PARQUET):
        _refuse_options(options, title, "Parquet", ())
        return _from_parquet(con, file, name)
    if start.startswith((ZIP, _OLE)):
        _refuse_archive(file, title)
        _refuse_options(options, title, "a workbook", ("sheet",))
        return _from_workbook(file, name, options.sheet)
    from cegdb.ingest.files import labelled

    format_ = labelled.format_of(file)
    if format_ is not None:
        _refuse_options(options, title, f"{labelled.with_article(format_)} file", ("encoding",))
        return _from_labelled(file, name, options.encoding)
    _refuse_options(options, title, "text", ("encoding", "delimiter", "quote", "escape"))
    compression = csv_file.compression_of(start)
    csv = csv_file.open_csv(file, stack, options, compression, rewrite=rewrite)
    cells = [f"nullif(f{i}, '')" for i in range(len(csv.header))]
    return Relation(
        str(file),
        name,
        csv.header,
        cells,
        csv.sql,
        csv=csv,
        notes=list(csv.notes),
        format={"format": "CSV", **csv.dialect},
        files=[str(file)],
    )


def _stem(file: Path) -> str:
    """Return a file's name without its endings."""
    name = file.name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return (name.rsplit(".", 1)[0] if "." in name[1:] else name).strip() or "survey"


def _first_bytes(file: Path, title: str) -> bytes:
    """Return the first bytes of a file, or raise why it cannot be read."""
    try:
        mode = file.stat().st_mode
        str(file).encode()
        if stat.S_ISDIR(mode):
            raise SurveyError(
                f"{title} is a folder, not a survey file",
                hint="to read its files as one, give a pattern such as folder/*.csv",
            )
        if not stat.S_ISREG(mode):
            raise SurveyError(
                f"{title} is a pipe or a device, which cannot be read twice",
                hint="write it to a file first",
            )
        with file.open("rb") as stream:
            return stream.read(4)
    except PermissionError:
        raise SurveyError(f"{title} cannot be read: permission denied") from None
    except UnicodeEncodeError:
        raise SurveyError(f"the name {title} is not UTF-8", hint="rename the file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, SurveyError):
            raise
        may_be_query = " " in file.name and (" " in file.suffix or not file.suffix)
        hint = "a query starts with SELECT, FROM, WITH or VALUES" if may_be_query else None
        raise SurveyError(f"there is no file {title}", hint=hint) from None


def _refuse_archive(file: Path, title: str) -> None:
    """Refuse a zip archive that holds files, and is not a workbook of them."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return  # the reader of workbooks says what is wrong with it
    if not any(name.startswith("xl/") or name == "content.xml" for name in names):
        raise SurveyError(
            f"{title} is a zip archive of {listed(map(repr, names), most=3)}", hint="unpack it"
        )


def _refuse_options(options: ReadOptions, title: str, what: str, used: tuple[str, ...]) -> None:
    """Refuse options that the format of a file has no use for."""
    for name in ("encoding", "delimiter", "quote", "escape", "sheet"):
        if getattr(options, name) is not None and name not in used:
            raise SurveyError(f"{title} is {what}, which has no {name}")
    if options.bad_rows == "skip" and "delimiter" not in used:
        raise SurveyError(f"{title} is {what}, which has no bad rows to skip")


def _from_parquet(con: duckdb.DuckDBPyConnection, file: Path, name: str) -> Relation:
    path = csv_file.path_literal(file)
    try:
        tree = con.execute(
            f"select name, coalesce(num_children, 0) from parquet_schema({path})"  # noqa: S608
        ).fetchall()
        # Folders called year=2024 are part of the path, not of the file.
        relation = f"read_parquet({path}, hive_partitioning = false)"
        parquet = typed_relation(con, str(file), name, relation, _top_level(tree))
    except duckdb.Error as error:
        raise SurveyError(f"{file} is not readable Parquet: {first_line(error)}") from None
    parquet.format["format"] = "Parquet"
    parquet.files.append(str(file))
    return parquet


def _top_level(tree: list[tuple[Any, ...]]) -> list[str]:
    """Return the names of the columns, of a Parquet schema written depth first."""
    names, below = [], 0
    for name, n_children in tree[1:]:
        if not below:
            names.append(str(name))
        below += n_children - (below > 0)
    return names


def _from_labelled(file: Path, name: str, encoding: str | None) -> Relation:
    from cegdb.ingest.files import labelled

    description = labelled.describe(file, encoding=encoding)
    file_format = {"format": description.format}
    if description.encoding is not None:
        file_format["encoding"] = description.encoding
    return Relation(
        str(file),
        name,
        description.columns,
        [f"f{i}" for i in range(len(description.columns))],
        f"temp.{LOADED}",
        metadata=description.metadata,
        chunks=partial(labelled.chunks, file, encoding=encoding),
        progress=Progress(description.n_rows),
        format=file_format,
        files=[str(file)],
    )


def _from_workbook(file: Path, name: str, sheet: str | int | None) -> Relation:
    from cegdb.ingest.files import excel

    page = excel.describe(file, sheet)
    return Relation(
        str(file),
        name,
        page.columns,
        [f"f{i}" for i in range(len(page.columns))],
        f"temp.{LOADED}",
        chunks=partial(excel.chunks, file, page.name),
        progress=Progress(page.n_rows),
        notes=list(page.notes),
        format={"format": "workbook", "sheet": page.name},
        files=[str(file)],
    )
