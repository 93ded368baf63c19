"""What every command does with a database, the terminal and its tables."""

from __future__ import annotations

import math
import sys
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cegdb.cli.group import IS_CHANGED
from cegdb.errors import CegdbError
from cegdb.interrupts import held_interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from rich.progress import Task

    from cegdb.api import ChainEventGraph, Database
    from cegdb.api.base import StoredObject as Named

TABLES = {
    "survey": ("variables", "survey"),
    "tree": ("tree_edges", "tree"),
    "staging": ("stage_edges", "staging"),
    "ceg": ("ceg_edges", "ceg"),
}
SHOWN = {
    "survey": "variable, label, kind, n",
    "tree": "source, label, target, n, share",
    "staging": "stage, variable, label, n, prior, probability, low, high",
    "ceg": "source, label, target, variable, n, probability",
}
ORDER = {
    "survey": "level_id",
    "tree": "child_id",
    "staging": "stage_id, label_id",
    "ceg": "source_id, label_id, target_id",
}


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
        raise CegdbError(f"there is no file {path}", hint="cegdb ingest and cegdb run make one")
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


def tell_stale(found: Named) -> None:
    """Tell that an object shows rows of its survey that were added to or replaced since."""
    if found.is_stale:
        say(
            f"note: {found.kind} {found.name!r} is stale: its survey has other rows since; "
            "cegdb rebuild makes it again"
        )


def asked_ceg(database: Database, name: str) -> ChainEventGraph:
    """Return the CEG of that name, telling if it is stale."""
    found: ChainEventGraph = database.cegs[name]
    tell_stale(found)
    return found


@contextmanager
def working(what: str, database: Database) -> Iterator[None]:
    """Show on a terminal what takes longer than a second, and how far it is."""
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
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        progress.stop()


def say_made(what: str, file: Path) -> None:
    """Say that a file was written; an interrupt from now on does not deny it."""
    click.get_current_context().meta[IS_CHANGED] = file
    say(f"{what}: {file}")


def say(*texts: str) -> None:
    """Print to standard error, which is for people."""
    for text in texts:
        click.echo(text, err=True)


def _apart(names: Sequence[str]) -> list[str]:
    """Return names of which no two are alike, numbered as in a DataFrame."""
    found: list[str] = []
    for name in names:
        one, again = name, 0
        while one in found:
            again += 1
            one = f"{name}_{again}"
        found.append(one)
    return found


def print_table(
    names: Sequence[str], rows: Sequence[Sequence[object]], form: str | None
) -> None:
    """Print rows as a table (on a terminal), JSON or CSV."""
    form = form or ("table" if sys.stdout.isatty() else "csv")
    if form == "json":
        import json

        keys = _apart(names)
        records = [dict(zip(keys, map(_finite, row), strict=True)) for row in rows]
        click.echo(json.dumps(records, default=str, ensure_ascii=False, indent=1))
    elif form == "csv":
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_written(value) for value in row] for row in rows)
        click.echo(out.getvalue(), nl=False)
    else:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for i, name in enumerate(names):
            numeric = any(isinstance(row[i], (int, float)) for row in rows)
            table.add_column(Text(name), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*(Text(_shown(value)) for value in row))
        width = None if sys.stdout.isatty() else 200
        Console(width=width).print(table)


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


def print_frame(frame: pd.DataFrame, form: str | None) -> None:
    """Print the rows of a DataFrame; what is missing shows as nothing."""
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    print_table(list(frame.columns), rows, form)


def print_query(db: Database, sql: str, params: dict[str, object], form: str | None) -> None:
    """Print the rows of a query."""
    names, rows = db.rows(sql, params)
    print_table(names, rows, form)


def collections(database: Database) -> dict[str, Any]:
    """Return the objects of each kind."""
    return {
        "survey": database.surveys,
        "tree": database.trees,
        "staging": database.stagings,
        "ceg": database.cegs,
    }


def print_view(found: Any, view: str | None, min_n: int | None, form: str | None) -> None:
    """Print a view of an object; the columns that `show` prints if none is named."""
    # What is pooled over the situations of a stage can be unpicked by the tree's sums.
    table = "staged_edges" if found.kind == "staging" else TABLES[found.kind][0]
    names, rows = found.rows(view or table, min_n=min_n)
    shown = SHOWN[found.kind].split(", ")
    kept = names if view or table == "staged_edges" else shown
    places = [names.index(column) for column in kept]
    print_table(kept, [[row[place] for place in places] for row in rows], form)
