"""Templates: the situations of a tree as a file to write stages into."""

from __future__ import annotations

import csv
import importlib.util
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import MissingExtraError, StagingError, path_of
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.sqlfiles import Steps
from cegdb.stages.relabel import give_labels
from cegdb.stages.situation_paths import ROOT, walk
from cegdb.store.catalog import refuse_stale, row

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from cegdb.store import Store

__all__ = ["write_template"]

_BEFORE: Final = ("vertex_id", "situation", "variable")
_AFTER: Final = ("labels", "counts", "n", "stage")
_YAML: Final = (".yaml", ".yml")
_FORMATS: Final = (".xlsx", ".csv", *_YAML)
_MOST_ROWS: Final = 1_048_576
_MOST_COLUMNS: Final = 16_384
_LONGEST_CELL: Final = 32_767
_NO_CELL: Final = frozenset("\ufffe\uffff")
_HEAD: Final = """\
# Stages of {kind} {name}: write the name of a stage after 'stage:'. Situations of one name
# share a stage; those without a name, or not listed, are their own. 'path' (the labels from
# the root, in quotes) and 'vertex_id' say which situation it is; leave them as they are, or
# delete one of them. All else is for the reader. A short form to write by hand:
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
) -> Path:
    """Write a file with one row a situation, to write the names of stages into.

    Parameters
    ----------
    store, tree_id
        The tree.
    path
        Ends in ``.xlsx``, ``.csv`` or ``.yaml``. A file that is there is replaced.
    staging_id
        A staging of the tree, whose stages are filled in: by their given names, or else as
        they are shown (u0, u1, ...).

    Returns
    -------
    Path
        The file, written whole or not at all.

    Raises
    ------
    StagingError
        The suffix is none of these, the file cannot be written, or a sheet cannot hold it.
    MissingExtraError
        The extra ``survey``, which writes ``.xlsx``, is not installed.

    Notes
    -----
    Columns: ``vertex_id``; ``situation`` (s0, s1, ...); ``variable``; the labels from the
    root as ``path_1``, ``path_2``, ...; ``labels`` and ``counts`` of the floret; ``n`` rows
    that reached it; ``stage``. `set_stages` reads the file back, its rows in any order and
    number. ``vertex_id`` or the path may be deleted, other columns deleted or added. Labels
    are what they say: ``*`` stands for itself. All texts of an ``.xlsx`` are texts; of a
    ``.csv`` a spreadsheet may make numbers, dates and formulas.

    In YAML, ``stages`` is a list of mappings with ``path``, ``stage`` and the same beside,
    or a mapping from the name of a stage to a list of paths.

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
            f"{file} ends in none of .xlsx, .csv, .yaml",
            hint="these are the formats of a template",
        )
    if not file.parent.is_dir():
        raise StagingError(f"there is no folder {str(file.parent)!r} to write to")
    with store.catalog() as catalog:
        tree = row(catalog, "tree", tree_id)
        refuse_stale("tree", tree)
        about = ("tree", str(tree["name"]))
        if staging_id is not None:
            about = ("staging", str(row(catalog, "staging", staging_id)["name"]))
    with store.reading() as con, Steps(con) as steps:
        give_labels(steps, tree, [], None)
        steps.run("situation_edge", tree_id=tree_id)
        steps.run("floret")
        steps.create("situation_path", ROOT)
        walk(steps)
        lines = steps.fetch("template_line", tree_id=tree_id, staging_id=staging_id)
    with _whole(file) as part:
        if suffix in _YAML:
            _write_yaml(part, lines, *about)
        elif suffix == ".csv":
            with part.open("w", encoding="utf-8-sig", newline="") as stream:
                csv.writer(stream).writerows(_table(lines))
        else:
            _write_sheet(part, file, _table(lines))
    return file


@contextmanager
def _whole(file: Path) -> Iterator[Path]:
    """Give where to write a file that takes its place once it is whole."""
    part = file.with_name(f".{secrets.token_hex(8)}{file.suffix}")
    try:
        yield part
        part.replace(file)
    except OSError as error:
        raise StagingError(f"{file} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _table(lines: Sequence[tuple[Any, ...]]) -> Iterator[list[object]]:
    """Give the header and the rows; numbers are int."""
    deepest = max((len(line[2]) for line in lines), default=0) or 1
    yield [*_BEFORE, *(f"path_{i}" for i in range(1, deepest + 1)), *_AFTER]
    for place, (vertex_id, variable, path, labels, counts, n, stage) in enumerate(lines):
        steps = [*path, *[""] * (deepest - len(path))]
        floret = (", ".join(labels), ", ".join(map(str, counts)))
        yield [vertex_id, f"s{place}", variable, *steps, *floret, n, stage or ""]


def _write_sheet(part: Path, file: Path, table: Iterable[list[object]]) -> None:
    if importlib.util.find_spec("xlsxwriter") is None:
        raise MissingExtraError(
            "writing .xlsx needs xlsxwriter, not installed here",
            hint='pip install "cegdb[survey]", or write .csv or .yaml',
        )
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxWriterException

    try:
        _fill_sheet(xlsxwriter.Workbook(part), file, table)
    except XlsxWriterException as error:
        raise StagingError(f"{file} cannot be written: {error}") from None


def _fill_sheet(book: Any, file: Path, table: Iterable[list[object]]) -> None:
    with book:
        page = book.add_worksheet("stages")
        page.freeze_panes(1, 0)
        for at, cells in enumerate(table):
            if at == _MOST_ROWS or len(cells) > _MOST_COLUMNS:
                raise _too_large(file, f"{_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns")
            for place, cell in enumerate(cells):
                if isinstance(cell, int):
                    page.write_number(at, place, cell)
                elif not _NO_CELL.isdisjoint(str(cell)):
                    raise StagingError(
                        f"{file.name}: {cell!r} has a character that no sheet can hold",
                        hint="write .csv or .yaml instead",
                    )
                elif page.write_string(at, place, str(cell)):
                    raise _too_large(file, f"cells of {_LONGEST_CELL:,} characters")
            if not at:
                page.set_column(len(cells) - 1, len(cells) - 1, 20)
                page.autofilter(0, 0, _MOST_ROWS - 1, len(cells) - 1)


def _too_large(file: Path, most: str) -> StagingError:
    return StagingError(
        f"{file.name}: a sheet holds {most} at most", hint="write .csv or .yaml instead"
    )


class _Key(str):
    """A key of YAML, which needs no quotes."""

    __slots__ = ()


def _write_yaml(part: Path, lines: Sequence[tuple[Any, ...]], kind: str, name: str) -> None:
    import yaml

    class Quoted(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Quotes every text, and writes lists on one line."""

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
            _Key("situation"): f"s{place}",
            _Key("variable"): variable,
            _Key("labels"): labels,
            _Key("counts"): counts,
            _Key("n"): n,
        }
        for place, (vertex_id, variable, path, labels, counts, n, stage) in enumerate(lines)
    )
    with part.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(_HEAD.format(kind=kind, name=abbreviated(repr(name))))
        for entry in entries:
            text = yaml.dump(
                (entry,),
                Dumper=Quoted,
                allow_unicode=True,
                default_flow_style=False,
                sort_keys=False,
                width=1 << 20,
            )
            stream.write(text)
