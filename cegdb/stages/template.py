"""Templates: files with the situations of a tree, to fill in the names of stages."""

from __future__ import annotations

import csv
import importlib.util
import io
from typing import IO, TYPE_CHECKING, Any, Final

from cegdb.atomic_files import atomic_writer, unknown_file_type
from cegdb.errors import GraphError, MissingExtraError, StagingError, path_of
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.sqlfiles import Steps
from cegdb.stages.relabel import relabel_edges
from cegdb.stages.situations import extend_paths, find_florets
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from cegdb.store import Store

__all__ = ["write_template"]

_COLUMNS_BEFORE_PATH: Final = ("vertex_id", "situation", "variable")
_COLUMNS_AFTER_PATH: Final = ("labels", "counts", "n", "stage")
_YAML: Final = (".yaml", ".yml")
_FORMATS: Final = (".xlsx", ".csv", *_YAML)
MAX_ROWS: Final = 1_048_576
"""Of a sheet of Excel."""

_MAX_COLUMNS: Final = 16_384
_MAX_CELL_LENGTH: Final = 32_767
_NOT_IN_XML: Final = frozenset("\ufffe\uffff")
_YAML_HEAD: Final = """\
# Stages of {kind} {name}: write the name of a stage after 'stage:'. Situations with the same
# name share a stage; those without a name, or not listed, are stages of their own. 'path' (the
# labels from the root, in quotes) and 'vertex_id' identify the situation: leave them as they
# are, or delete one of them. Everything else is for your information. A short form to write by
# hand:
#   stages:
#     frail: [["High", "yes"], ["Low", "yes"]]
stages:
"""


def write_template(
    store: Store,
    tree_id: int,
    path: str | os.PathLike[str],
    *,
    staging_id: int | None = None,
    max_rows: int = MAX_ROWS,
) -> Path:
    """Write a file with one row for each situation, to fill in the names of stages.

    The path ends in ``.xlsx``, ``.csv`` or ``.yaml``. The stages of a staging of the tree are
    filled in, by the names given or shown (u0, u1, ...). ``*`` is a label like any other. All
    texts of an ``.xlsx`` stay texts; in a ``.csv`` a spreadsheet may turn them
    into numbers, dates and formulas. `template_reader` reads the file back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store, tempfile.TemporaryDirectory() as folder:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     tree = event_tree(store, survey)
    ...     file = write_template(store, tree, Path(folder) / "stages.csv")
    ...     print(file.read_text(encoding="utf-8-sig"))
    vertex_id,situation,variable,path_1,labels,counts,n,stage
    0,s0,x,,"a, b","1, 1",2,
    1,s1,y,a,u,1,1,
    2,s2,y,b,u,1,1,
    <BLANKLINE>
    """
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix not in _FORMATS:
        raise StagingError(
            unknown_file_type(file), hint="a template is written as .xlsx, .csv or .yaml"
        )
    with store.catalog() as catalog:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        kind, name = "tree", str(tree["name"])
        if staging_id is not None:
            kind, name = "staging", str(row(catalog, "staging", staging_id)["name"])
    with store.reading() as con, Steps(con) as steps:
        relabel_edges(steps, tree)
        find_florets(steps, tree_id)
        extend_paths(steps)
        lines = steps.fetch("template_line", tree_id=tree_id, staging_id=staging_id)
    try:
        with atomic_writer(file) as out:
            if suffix == ".xlsx":
                _write_sheet(out, file, _table(lines), max_rows)
            elif suffix == ".csv":
                text = io.TextIOWrapper(out, encoding="utf-8-sig", newline="")
                csv.writer(text).writerows(_table(lines))
                text.detach()
            else:
                _write_yaml(out, lines, kind, name)
    except GraphError as error:
        raise StagingError(error.args[0]) from None
    return file


def _table(lines: Sequence[tuple[Any, ...]]) -> Iterator[list[object]]:
    """Yield the header and the rows; numbers are int."""
    deepest = max((len(line[2]) for line in lines), default=0) or 1
    path_columns = (f"path_{depth}" for depth in range(1, deepest + 1))
    yield [*_COLUMNS_BEFORE_PATH, *path_columns, *_COLUMNS_AFTER_PATH]
    for rank, (vertex_id, variable, path, labels, counts, n, stage) in enumerate(lines):
        cells = [*path, *[""] * (deepest - len(path))]
        floret = (", ".join(labels), ", ".join(map(str, counts)))
        yield [vertex_id, f"s{rank}", variable, *cells, *floret, n, stage or ""]


def _write_sheet(
    out: IO[bytes], file: Path, table: Iterable[list[object]], max_rows: int
) -> None:
    if importlib.util.find_spec("xlsxwriter") is None:
        raise MissingExtraError(
            "writing .xlsx needs xlsxwriter, which is not installed",
            hint='pip install "cegdb[survey]", or write .csv or .yaml',
        )
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxWriterException

    # In memory: an archive that is given up while its file is closed fails once more.
    sheet = io.BytesIO()
    try:
        _fill_sheet(xlsxwriter.Workbook(sheet), file, table, max_rows)
    except XlsxWriterException as error:
        raise StagingError(f"{file} cannot be written: {error}") from None
    out.write(sheet.getbuffer())


def _fill_sheet(book: Any, file: Path, table: Iterable[list[object]], max_rows: int) -> None:
    with book:
        page = book.add_worksheet("stages")
        page.freeze_panes(1, 0)
        for row_index, cells in enumerate(table):
            if row_index == max_rows or len(cells) > _MAX_COLUMNS:
                raise _too_large(file, f"{max_rows:,} rows and {_MAX_COLUMNS:,} columns")
            for column, cell in enumerate(cells):
                if isinstance(cell, int):
                    page.write_number(row_index, column, cell)
                elif not _NOT_IN_XML.isdisjoint(str(cell)):
                    raise StagingError(
                        f"{file.name}: {cell!r} has a character that a sheet cannot hold",
                        hint="write .csv or .yaml instead",
                    )
                elif page.write_string(row_index, column, str(cell)):
                    raise _too_large(file, f"cells of {_MAX_CELL_LENGTH:,} characters")
            if row_index == 0:
                page.set_column(len(cells) - 1, len(cells) - 1, 20)
                page.autofilter(0, 0, max_rows - 1, len(cells) - 1)


def _too_large(file: Path, most: str) -> StagingError:
    return StagingError(
        f"{file.name}: a sheet holds at most {most}", hint="write .csv or .yaml instead"
    )


class _Key(str):
    """A key of YAML, written without quotes."""

    __slots__ = ()


def _write_yaml(out: IO[bytes], lines: Sequence[tuple[Any, ...]], kind: str, name: str) -> None:
    import yaml

    class Quoted(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Writes every text in quotes, and each list on one line."""

    def quoted(dumper: Any, value: str) -> object:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"')

    def key(dumper: Any, value: _Key) -> object:
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(value))

    def items(dumper: Any, value: list[object]) -> object:
        return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)

    Quoted.add_representer(str, quoted)
    Quoted.add_representer(_Key, key)
    Quoted.add_representer(list, items)
    entries = tuple(
        {
            _Key("path"): path,
            _Key("stage"): stage or "",
            _Key("vertex_id"): vertex_id,
            _Key("situation"): f"s{rank}",
            _Key("variable"): variable,
            _Key("labels"): labels,
            _Key("counts"): counts,
            _Key("n"): n,
        }
        for rank, (vertex_id, variable, path, labels, counts, n, stage) in enumerate(lines)
    )
    out.write(_YAML_HEAD.format(kind=kind, name=abbreviated(repr(name))).encode())
    for entry in entries:  # one by one: a list of all would keep every node in memory
        text = yaml.dump(
            (entry,),
            Dumper=Quoted,
            allow_unicode=True,
            default_flow_style=False,
            sort_keys=False,
            width=1 << 20,
        )
        out.write(text.encode())
