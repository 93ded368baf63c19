"""What every command does with a database, the terminal and its tables."""

from __future__ import annotations

import math
import os
import sys
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cegdb.cli.group import IS_CHANGED
from cegdb.errors import CegdbError, counted
from cegdb.interrupts import held_interrupts
from cegdb.names import matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from rich.progress import Task

    from cegdb.api import ChainEventGraph, Database, Survey
    from cegdb.api.base import StoredObject

SHOWN: Final[Mapping[str, tuple[str, str, str]]] = {
    "survey": ("variables", "variable, label, kind, n", "level_id"),
    "tree": ("tree_edges", "source, label, target, n, share", "child_id"),
    "staging": (
        "stage_edges",
        "stage, variable, label, n, prior, probability, low, high",
        "stage_id, label_id",
    ),
    "ceg": (
        "ceg_edges",
        "source, label, target, variable, n, probability, low, high",
        "source_id, label_id, target_id",
    ),
}
"""The rows that stand for an object of each kind: view, columns, order."""
_NARROWEST: Final = 8  # columns of text are not wrapped to less than this
_GAP: Final = 2  # blanks between two columns
_NO_TERMINAL: Final = 200
_END_PROGRESS: Final = "cegdb.end_progress"


@contextmanager
def opened(
    path: str | None, *, read_only: bool = False, makes: bool = False, **limits: Any
) -> Iterator[Database]:
    """Open a database, one that is there unless the command ``makes`` it.

    After an error a file that was made for nothing is removed.
    """
    from cegdb import api

    is_new = path is not None and not Path(path).exists()
    if is_new and not makes:
        raise CegdbError(
            f"there is no file {path}", hint="cegdb ingest and cegdb run create one"
        )
    db: Database | None = None
    try:
        with held_interrupts() if is_new else nullcontext():
            db = api.open(path, read_only=read_only, **limits)
        yield db
    finally:
        if db is not None:
            with held_interrupts():
                if db.is_changed and path is not None:
                    click.get_current_context().meta[IS_CHANGED] = path
                db.close()
                if is_new and path is not None and not db.is_changed:
                    Path(path).unlink(missing_ok=True)


def note_stale(named: StoredObject) -> None:
    """Say so if the survey of an object has changed since the object was made."""
    if named.is_stale:
        from cegdb.store.catalog import KIND_WORDS

        say(
            f"note: {KIND_WORDS[named.kind]} {named.name!r} is stale: its survey has changed; "
            "cegdb rebuild brings it up to date"
        )


def ceg_of(database: Database, name: str) -> ChainEventGraph:
    """Return the CEG of that name, with a note if it is stale."""
    ceg: ChainEventGraph = database.cegs[name]
    note_stale(ceg)
    return ceg


def model_of(database: Database, name: str, kind: str | None) -> Any:
    """Return the CEG or staging of that name, with a note if it is stale."""
    model = object_of(database, name, kind, "ceg", "staging")
    note_stale(model)
    return model


def object_of(database: Database, name: str, kind: str | None, *kinds: str) -> Any:
    """Return the object of that name: of ``kind``, else of the first kind that has it."""
    by_kind = collections(database)
    if kind is None:
        kinds_with_name = (one for one in kinds if matching(name, by_kind[one].names()))
        kind = next(kinds_with_name, kinds[0])
    return by_kind[kind][name]


@contextmanager
def working(what: str, database: Database) -> Iterator[None]:
    """Show progress on a terminal for work that takes longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    before = database.progress

    class Done(TextColumn):
        def render(self, task: Task) -> Text:  # noqa: ARG002
            progress = database.progress
            return Text("" if progress is before else str(progress))

    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        Done(""),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task(what)
    timer = threading.Timer(1.0, progress.start)
    timer.daemon = True

    def end() -> None:
        timer.cancel()
        progress.stop()

    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[_END_PROGRESS] = end
    timer.start()
    try:
        yield
    finally:
        end()


def say_made(what: str, file: Path) -> None:
    """Say that a file was written; an interrupt from now on does not deny it."""
    click.get_current_context().meta[IS_CHANGED] = file
    say(f"{what}: {file}")


def say(*texts: str) -> None:
    """Print to standard error, which is for people."""
    for text in texts:
        echo(text, err=True)


def echo(text: str | bytes, *, nl: bool = True, err: bool = False) -> None:
    """Print a text; progress that a terminal shows is wiped first."""
    context = click.get_current_context(silent=True)
    if context is not None and _END_PROGRESS in context.meta:
        context.meta[_END_PROGRESS]()
    click.echo(text, nl=nl, err=err)


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return names that are all different, numbered as in a DataFrame."""
    distinct: list[str] = []
    for name in names:
        candidate, again = name, 0
        while candidate in distinct:
            again += 1
            candidate = f"{name}_{again}"
        distinct.append(candidate)
    return distinct


def print_table(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    form: str | None,
    *,
    least: Sequence[str] = (),
) -> None:
    """Print rows as a table (on a terminal), JSON or CSV.

    ``least`` are the columns that a narrow table may leave out, the first of them first.
    """
    form = form or ("table" if sys.stdout.isatty() else "csv")
    if form == "json":
        import json

        keys = _distinct_names(names)
        records = [dict(zip(keys, map(_finite, row), strict=True)) for row in rows]
        echo(json.dumps(records, default=str, ensure_ascii=False, indent=1))
    elif form == "csv":
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_written(value) for value in row] for row in rows)
        echo(out.getvalue(), nl=False)
    else:
        _print_aligned(names, rows, least)


def _print_aligned(
    names: Sequence[str], rows: Sequence[Sequence[object]], least: Sequence[str]
) -> None:
    """Print a table as wide as the terminal at most, each number and name whole.

    Texts are wrapped; if that is not enough the least important columns are left out, with a
    note; if that is not enough each row becomes a block of lines.
    """
    from rich.cells import cell_len

    width = _width()
    columns = [
        (
            name,
            any(isinstance(row[i], (int, float)) for row in rows),
            [_shown(row[i]) for row in rows],
        )
        for i, name in enumerate(names)
    ]

    def fitted(printed: Sequence[tuple[str, bool, list[str]]]) -> list[int] | None:
        """Return the width of each column, None if there is no room."""
        natural = [max(map(cell_len, (name, *cells))) for name, _, cells in printed]
        narrowest = [
            full
            if is_number
            else min(full, max(cell_len(name), _longest_word(cells), _NARROWEST))
            for full, (name, is_number, cells) in zip(natural, printed, strict=True)
        ]
        available = width - _GAP * (len(printed) - 1)
        return _shared(natural, narrowest, available)

    printed = list(columns)
    widths = fitted(printed)
    for name in least:
        if widths is not None:
            break
        printed = [column for column in printed if column[0] != name]
        widths = fitted(printed)
    if widths is None or not printed:
        _print_blocks(columns)
        return
    rule = "─" * sum([*widths, _GAP * (len(widths) - 1)])
    echo(_line([(name, is_number) for name, is_number, _ in printed], widths))
    echo(rule if _can_print(rule) else "-" * len(rule))
    for i in range(len(rows)):
        echo(_line([(cells[i], is_number) for _, is_number, cells in printed], widths))
    left_out = [name for name in names if name not in {column[0] for column in printed}]
    if left_out:
        which = "the column" if len(left_out) == 1 else "the columns"
        say(f"note: no room for {which} {', '.join(left_out)}; --format csv prints all columns")


def _line(cells: Sequence[tuple[str, bool]], widths: Sequence[int]) -> str:
    """Return the cells of a row, numbers to the right, on as many lines as they need."""
    from itertools import zip_longest

    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    columns = []
    for (text, is_number), width in zip(cells, widths, strict=True):
        lines = [text]
        if cell_len(text) > width or "\n" in text:
            wrapped = Text(text).wrap(Console(), width, overflow="fold")
            lines = [line.plain.rstrip() for line in wrapped]
        blanks = [" " * (width - cell_len(line)) for line in lines]
        columns.append(
            [b + line if is_number else line + b for line, b in zip(lines, blanks, strict=True)]
        )
    empty = [" " * width for width in widths]
    rows = zip_longest(*columns)
    return "\n".join(
        (" " * _GAP)
        .join(cell if cell is not None else empty[i] for i, cell in enumerate(row))
        .rstrip()
        for row in rows
    )


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _width() -> int:
    """Return how wide a table may be: as COLUMNS says, or as the terminal is.

    A table that goes to another program, such as a pager, is for the terminal from which the
    command was started. Without any terminal there is no need to leave out columns.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        if stream is not None and stream.isatty():
            return os.get_terminal_size(stream.fileno()).columns or 80
    return _NO_TERMINAL


def _longest_word(cells: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(word) for cell in cells for word in cell.split()), default=0)


def _shared(
    natural: Sequence[int], narrowest: Sequence[int], available: int
) -> list[int] | None:
    """Return widths that fit the room, the widest columns being narrowed first."""
    if sum(narrowest) > available:
        return None
    widths = list(natural)
    while (excess := sum(widths) - available) > 0:
        widest = max(w for w, n in zip(widths, narrowest, strict=True) if w > n)
        chosen = [
            i
            for i, (w, n) in enumerate(zip(widths, narrowest, strict=True))
            if w == widest and w > n
        ]
        for i in chosen[:excess]:
            widths[i] -= 1
    return widths


def _print_blocks(columns: Sequence[tuple[str, bool, list[str]]]) -> None:
    """Print each row as lines of ``column: value``, a blank line between two rows."""
    longest = max((len(name) for name, _, _ in columns), default=0)
    blocks = zip(*(cells for _, _, cells in columns), strict=True)
    texts = (
        "\n".join(
            f"{name + ':':<{longest + 1}} {value}".rstrip()
            for (name, _, _), value in zip(columns, block, strict=True)
        )
        for block in blocks
    )
    echo("\n\n".join(texts))


def _finite(value: object) -> object:
    """Return a value of a JSON file, which has no infinite numbers: null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(value: object) -> object:
    """Return a cell of a CSV file: lists as JSON."""
    if isinstance(value, list):
        import json

        return json.dumps(value, default=str, ensure_ascii=False)
    return value


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return str(value)


def print_frame(frame: pd.DataFrame, form: str | None, *, least: Sequence[str] = ()) -> None:
    """Print the rows of a DataFrame; missing values are left blank."""
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    print_table(list(frame.columns), rows, form, least=least)


def print_query(
    db: Database,
    sql: str,
    params: dict[str, object],
    form: str | None,
    *,
    least: Sequence[str] = (),
) -> None:
    """Print the rows of a query."""
    names, rows = db.rows(sql, params)
    print_table(names, rows, form, least=least)


def collections(database: Database) -> dict[str, Any]:
    """Return the objects of each kind."""
    return {
        "survey": database.surveys,
        "tree": database.trees,
        "staging": database.stagings,
        "ceg": database.cegs,
    }


def rows_of_object(
    owner: Any, database: Database
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return the names and the rows that stand for an object."""
    view, columns, order = SHOWN[owner.kind]
    sql = f"select {columns} from cegdb.{view} where {owner.kind} = $name order by {order}"  # noqa: S608
    return database.rows(sql, {"name": owner.name})


def rows_of_view(
    owner: Any, view: str | None, min_n: int | None
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return a view of an object; the rows that stand for it if none is named."""
    standing, columns, _ = SHOWN[owner.kind]
    # Sums over the tree would reveal counts that are pooled over the situations of a stage.
    table = "staged_edges" if owner.kind == "staging" else standing
    names, rows = owner.rows(view or table, min_n=min_n)
    chosen = names if view or table == "staged_edges" else columns.split(", ")
    indexes = [names.index(column) for column in chosen]
    return chosen, [tuple(row[i] for i in indexes) for row in rows]


def say_speed(survey: Survey) -> None:
    """Say how long reading a survey took, if it was long."""
    from cegdb.store.progress import speed

    receipt: Any = survey.receipt
    rows, seconds = receipt.get("last", receipt)["rows_read"], survey.seconds
    if seconds >= 1:
        say(f"{counted(rows, 'row')} read in {seconds:.1f} s ({speed(rows, seconds)})")


def print_receipt(receipt: Any, form: str | None) -> None:
    """Print how many cells of each variable are what; the whole receipt as JSON."""
    if form == "json":
        import json

        echo(json.dumps(receipt, ensure_ascii=False, indent=2))
        return
    kinds = ("value", "structural", "missing", "blank")
    rows = [[name, *(of[kind] for kind in kinds)] for name, of in receipt["cells"].items()]
    print_table(["variable", *kinds], rows, form)
