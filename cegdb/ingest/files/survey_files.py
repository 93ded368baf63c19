"""Survey files of every format, one or several, as one relation of text cells."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from cegdb.errors import CegdbError, SurveyError, counted, listed
from cegdb.ingest.csv import csv_file
from cegdb.ingest.files.cell_labels import shown
from cegdb.ingest.files.relation import Relation, first_line, typed
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import ExitStack

    from cegdb.options import ReadOptions

STDIN: Final = "-"
LOADED: Final = "cegdb_loaded"
_PARQUET: Final = b"PAR1"
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = bytes.fromhex("d0cf11e0")
_SUFFIXES: Final = (".gz", ".zst")


def matching(pattern: str) -> list[Path]:
    """Return the files that a pattern such as ``waves/*.csv`` matches, sorted.

    Examples
    --------
    >>> matching("no such folder/*.csv")
    []
    """
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns are whole paths)
    return [Path(name) for name in found]


def from_stdin(
    con: duckdb.DuckDBPyConnection,
    stack: ExitStack,
    reading: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return the relation of what standard input holds, kept in a temporary file."""
    if reading.source_column is not None:
        raise SurveyError("source_column is given of standard input, which is no file")
    if rewrite:
        raise SurveyError(
            "standard input is not readable as it is written", hint="write it to a file first"
        )
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cegdb-"))
    file = Path(folder) / "stdin"
    with file.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    stack.enter_context(_called(file, "standard input"))
    relation = from_file(con, file, stack, reading, rewrite=rewrite)
    return replace(relation, described="standard input")


@contextmanager
def _called(file: Path, name: str) -> Iterator[None]:
    """Let every error call a file by another name, whoever raises it."""
    path = str(file)
    try:
        yield
    except CegdbError as error:
        for written in (path, shown(path, most=400), shown(path)):
            error.args = tuple(str(text).replace(written, name) for text in error.args)
            error.hint = error.hint and error.hint.replace(written, name)
        raise


def from_files(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    stack: ExitStack,
    reading: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return several CSV or Parquet files as one relation, columns matched by name.

    A column that a file lacks is blank there; a file with a header only adds nothing.

    Raises
    ------
    SurveyError
        There are none, one of them cannot be read, is of another format, or has two
        columns of one name.
    """
    if not files:
        raise SurveyError("the list of files is empty")
    parts = [from_file(con, file, stack, reading, rewrite=rewrite) for file in files]
    if reading.source_column is not None:
        labels = source_labels(files)
        parts = [
            _with_source(part, reading.source_column, label, place)
            for place, (part, label) in enumerate(zip(parts, labels, strict=True))
        ]
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.chunks is not None:
            raise SurveyError(
                f"{part.shown} is {part.format['format']}: only CSV and Parquet files are read "
                "as one",
                hint="ingest one and append the others",
            )
        twice = sorted({name for name in part.columns if part.columns.count(name) > 1})
        if twice:
            raise SurveyError(
                f"{part.shown} has several columns called {listed(map(repr, twice))}",
                hint="rename them: files are matched by column names",
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
            known = order.setdefault(name, [])
            known += [label for label in labels if label not in known]
    return Relation(
        f"{files[0]} and {counted(len(files) - 1, 'more file')}",
        parts[0].name,
        columns,
        [f"f{i}" for i in range(len(columns))],
        f"({' union all '.join(selects)})",
        {key: value for part in parts for key, value in part.params.items()},
        order,
        parts=parts,
        notes=[f"{part.shown}: {note}" for part in parts for note in part.notes],
        format=parts[0].format,
        files=[file for part in parts for file in part.files],
        source_column=reading.source_column,
    )


def source_labels(files: Sequence[Path]) -> list[str]:
    """Return what to call each of several files: names without ending where these suffice.

    Raises
    ------
    SurveyError
        One file is named twice.

    Examples
    --------
    >>> source_labels([Path("y/wave1.csv"), Path("y/wave2.csv.gz")])
    ['wave1', 'wave2']
    >>> source_labels([Path("y/a/wave.csv"), Path("y/b/wave.csv"), Path("y/c.csv")])
    ['a/wave', 'b/wave', 'c']
    >>> source_labels([Path("wave.csv"), Path("wave.parquet")])
    ['wave.csv', 'wave.parquet']
    """
    stems = [_stem(file) for file in files]
    labels = list(stems)
    for stem in dict.fromkeys(stems):
        places = [place for place, other in enumerate(stems) if other == stem]
        if len(places) == 1:
            continue
        whole = [Path(os.path.abspath(files[place])) for place in places]  # noqa: PTH100
        above = os.path.commonpath([file.parent for file in whole])
        longer = [file.relative_to(above) for file in whole]
        named = [str(file.with_name(stem)) for file in longer]
        if len(set(named)) < len(named):
            named = [str(file) for file in longer]
        for place, label in zip(places, named, strict=True):
            labels[place] = label
    twice = [str(file) for file, label in zip(files, labels, strict=True)
             if labels.count(label) > 1]  # fmt: skip
    if twice:
        raise SurveyError(f"source_column cannot tell apart the files {listed(twice)}")
    return labels


def _with_source(relation: Relation, column: str, label: str, place: int) -> Relation:
    """Return a file's relation with a first column that holds the file's label."""
    if column in relation.columns:
        raise SurveyError(
            f"{relation.shown} has a column called {column!r}, as source_column is",
            hint="take another name",
        )
    key = f"source{place}"
    cells = relation.cells
    if relation.chunks is not None:  # its table names columns by their place
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
    reading: ReadOptions,
    *,
    rewrite: bool,
) -> Relation:
    """Return the relation of one file, whose format its first bytes tell."""
    called = shown(str(file), most=400)
    start = _start(file, called)
    name = _stem(file)
    if not start:
        raise SurveyError(f"{called} is empty")
    if start.startswith(_PARQUET):
        _refuse_told(reading, called, "Parquet", ())
        return _from_parquet(con, file, name)
    if start.startswith((_ZIP, _OLE)):
        _refuse_archive(file, called)
        _refuse_told(reading, called, "a workbook", ("sheet",))
        return _from_workbook(file, name, reading.sheet)
    from cegdb.ingest.files import labelled

    written = labelled.format_of(file)
    if written is not None:
        _refuse_told(reading, called, f"an {written} file", ("encoding",))
        return _from_labelled(file, name, reading.encoding)
    _refuse_told(reading, called, "text", ("encoding", "delimiter", "quote", "escape"))
    compression = csv_file.compression_of(start)
    reader = csv_file.reader(file, stack, reading, compression, rewrite=rewrite)
    cells = [f"nullif(f{i}, '')" for i in range(len(reader.header))]
    return Relation(
        str(file),
        name,
        reader.header,
        cells,
        reader.sql,
        csv=reader,
        notes=list(reader.notes),
        format={"format": "CSV", **reader.dialect},
        files=[str(file)],
    )


def _stem(file: Path) -> str:
    """Return a file's name without its endings."""
    name = file.name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return (name.rsplit(".", 1)[0] if "." in name[1:] else name).strip() or "survey"


def _start(file: Path, called: str) -> bytes:
    """Return the first bytes of a file, or raise why it cannot be read."""
    try:
        mode = file.stat().st_mode
        str(file).encode()
        if stat.S_ISDIR(mode):
            raise SurveyError(
                f"{called} is a folder, not a survey file",
                hint="to read its files as one give a pattern, such as folder/*.csv",
            )
        if not stat.S_ISREG(mode):
            raise SurveyError(
                f"{called} is a pipe or a device, which cannot be read twice",
                hint="write it to a file first",
            )
        with file.open("rb") as stream:
            return stream.read(4)
    except PermissionError:
        raise SurveyError(f"{called} cannot be read: permission denied") from None
    except UnicodeEncodeError:
        raise SurveyError(f"the name {called} is not UTF-8", hint="rename the file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, SurveyError):
            raise
        raise SurveyError(f"there is no file {called}") from None


def _refuse_archive(file: Path, called: str) -> None:
    """Refuse a zip archive that holds files, and is not a workbook of them."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return  # what is wrong with it, the reader of workbooks says
    if not any(name.startswith("xl/") or name == "content.xml" for name in names):
        raise SurveyError(
            f"{called} is a zip archive of {listed(map(repr, names), most=3)}", hint="unpack it"
        )


def _refuse_told(reading: ReadOptions, called: str, what: str, used: tuple[str, ...]) -> None:
    """Refuse what was told of a file's text where its format has no such thing."""
    for name in ("encoding", "delimiter", "quote", "escape", "sheet"):
        if getattr(reading, name) is not None and name not in used:
            raise SurveyError(f"{called} is {what}, which has no {name}")
    if reading.bad_rows == "skip" and "delimiter" not in used:
        raise SurveyError(f"{called} is {what}, whose rows are all of one shape")


def _from_parquet(con: duckdb.DuckDBPyConnection, file: Path, name: str) -> Relation:
    path = csv_file.path_literal(file)
    try:
        tree = con.execute(
            f"select name, coalesce(num_children, 0) from parquet_schema({path})"  # noqa: S608
        ).fetchall()
        # Folders called year=2024 are part of the path, not of the file.
        relation = f"read_parquet({path}, hive_partitioning = false)"
        found = typed(con, str(file), name, relation, _top_level(tree))
    except duckdb.Error as error:
        raise SurveyError(f"{file} is not readable Parquet: {first_line(error)}") from None
    found.format["format"] = "Parquet"
    found.files.append(str(file))
    return found


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

    found = labelled.describe(file, encoding=encoding)
    written = {"format": found.format}
    if found.encoding is not None:
        written["encoding"] = found.encoding
    return Relation(
        str(file),
        name,
        found.columns,
        [f"f{i}" for i in range(len(found.columns))],
        f"temp.{LOADED}",
        known=found.entries,
        chunks=partial(labelled.chunks, file, encoding=encoding),
        progress=Progress(found.n_rows),
        format=written,
        files=[str(file)],
    )


def _from_workbook(file: Path, name: str, sheet: str | int | None) -> Relation:
    from cegdb.ingest.files import excel

    found = excel.describe(file, sheet)
    return Relation(
        str(file),
        name,
        found.columns,
        [f"f{i}" for i in range(len(found.columns))],
        f"temp.{LOADED}",
        chunks=partial(excel.chunks, file, found.name),
        progress=Progress(found.n_rows),
        notes=list(found.notes),
        format={"format": "workbook", "sheet": found.name},
        files=[str(file)],
    )
