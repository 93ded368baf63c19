"""Progress: the true part of the work, which only grows, and ends at the whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from database_template import file_with

import cegdb
from cegdb.errors import TreeError
from cegdb.sqlfiles import recording
from cegdb.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.api import Database

ROWS = (
    "select hash(i * 7) % 3 as a, hash(i * 5) % 2 as b, hash(i * 11) % 3 as c, "
    "hash(i * 13) % 2 as d from range(2000) as t(i)"
)
WORK: dict[str, tuple[Callable[[Database], object], int, str]] = {
    "tree": (lambda db: db.surveys["s"].event_tree("t", sampling_zeros="none"), 10, "step"),
    "learning": (
        lambda db: db.trees["s"].learn_stages("t", prior="mass", criterion="score"),
        5,
        "step",
    ),
    "recursion": (lambda db: db.stagings["s"].to_ceg("t"), 4, "height"),
    "baseline": (lambda db: db.stagings["s"].to_ceg("t", stop="baseline"), 4, "height"),
    "alphas": (lambda db: db.trees["s"].alpha_path(), 8, "run"),
    "stability": (lambda db: db.stagings["s"].stability(runs=7), 7, "run"),
    "posterior": (lambda db: db.stagings["s"].posterior(samples=20), 4, "hyperstage"),
    "intervals": (lambda db: db.stagings["s"].intervals("bootstrap", runs=6), 6, "run"),
    "rebuild": (lambda db: db.rebuild(), 3, "object"),
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Progress, float]]:
    """Give each progress that is told of, with its fraction then."""
    found: list[tuple[Progress, float]] = []
    read = Progress.read

    def recorded(progress: Progress, rows: int = 1) -> None:
        read(progress, rows)
        found.append((progress, progress.fraction or 0.0))

    monkeypatch.setattr(Progress, "read", recorded)
    return found


def everything(db: Database) -> None:
    db.ingest(ROWS, name="s").event_tree(sampling_zeros="none").learn_stages(
        prior="mass", criterion="score"
    ).to_ceg()


@pytest.mark.slow
@pytest.mark.parametrize("what", WORK)
@pytest.mark.holds(made_by=everything)
def test_the_part_that_is_done_grows_to_all(
    db: Database, told: list[tuple[Progress, float]], what: str
) -> None:
    work, total, unit = WORK[what]
    if what == "rebuild":
        db.surveys["s"].append(ROWS)
    before = db.progress
    told.clear()
    work(db)
    assert db.progress is not before
    assert (db.progress.total, db.progress.unit) == (total, unit)
    assert db.progress.fraction == 1
    shown = [fraction for progress, fraction in told if progress is db.progress]
    assert shown
    assert shown == sorted(set(shown))
    assert 0 < shown[0] <= shown[-1] <= 1


def test_work_that_fails_is_not_shown_as_done(db: Database) -> None:
    survey = db.ingest("select i % 2 as x, i % 3 as y from range(12) as t(i)", name="s")
    with pytest.raises(TreeError, match="impossible"):
        survey.event_tree(impossible=[{"x": 0}], sampling_zeros="none")
    assert db.progress.fraction != 1
    survey.event_tree(sampling_zeros="none")
    assert db.progress.fraction == 1


@pytest.mark.parametrize("column", ["a", "b"])
def test_duckdb_is_asked_how_far_a_file_is_while_it_is_read(
    db: Database, tmp_path: Path, column: str
) -> None:
    file = tmp_path / "rows.parquet"
    db.sql(f"copy ({ROWS}) to '{file}'")
    estimates: list[float] = []

    class Listener:
        """Reads the estimate before each statement that makes rows."""

        def on_step(self, *_: object) -> None:
            self.on_statement()

        def on_statement(self, *_: object) -> None:
            if db.progress.estimate is not None:
                estimates.append(db.progress.estimate())

        def on_table(self, *_: object) -> None:
            self.on_statement()

    with recording(Listener()):
        if column == "a":
            db.ingest(file)
        else:
            with pytest.raises(cegdb.CegdbError, match="lists '0' twice"):
                db.ingest(file, levels={"b": ["0", "0"]})
            with pytest.raises(cegdb.CegdbError, match="answers that levels does not list"):
                db.ingest(file, levels={"b": ["0"]})
    assert estimates
    assert all(-1 <= estimate <= 100 for estimate in estimates)
    assert db.progress.estimate is None
    with db._store.reading() as con:
        setting = con.execute("select current_setting('enable_progress_bar')").fetchall()
    assert setting == [(False,)]


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(3, unit="height"), ""),
        (Progress(3, 1, unit="height"), "1 of 3 heights, 33 %"),
        (Progress(1, 1, unit="height"), "1 of 1 height, 100 %"),
        (Progress(1000, 999, unit="run"), "999 of 1,000 runs, 99 %"),
        (Progress(rows=1), "1 row, 10 rows/s"),
    ],
)
def test_what_is_shown_never_says_all_too_early(progress: Progress, text: str) -> None:
    assert progress.text_after(0.1) == text


AT_ONCE = """
import threading
timer = threading.Timer
threading.Timer = lambda _, run: timer(0.0, run)
from cegdb.__main__ import start
start()
"""


def shown_on_a_terminal(*command: str) -> bytes:
    """Run a command that shows progress at once; return what it writes for people."""
    pty: Any = pytest.importorskip("pty")
    screen, terminal = pty.openpty()
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", AT_ONCE, *command],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as child:
        os.close(terminal)
        shown = b""
        while part := read(screen):
            shown += part
        assert child.wait(60) == 0
    os.close(screen)
    return shown


@pytest.mark.slow
def test_a_terminal_shows_the_part_that_is_done(tmp_path: Path) -> None:
    file = tmp_path / "s.duckdb"
    shutil.copy(file_with(everything), file)
    shown = shown_on_a_terminal("stability", str(file), "s", "--runs", "60")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    found = re.findall(r"learning the stages again.*?(\d+) of 60 runs, (\d+) %", text)
    assert found
    parts = [(int(done), int(part)) for done, part in found]
    assert parts == sorted(parts)
    assert all(part == 100 * done // 60 for done, part in parts)
    assert parts[-1] == (60, 100)


@pytest.mark.slow
def test_progress_is_wiped_before_anything_is_printed(tmp_path: Path) -> None:
    file, page = tmp_path / "s.duckdb", tmp_path / "s.html"
    shutil.copy(file_with(everything), file)
    shown = shown_on_a_terminal("report", "page", str(file), "s", "-o", str(page)).decode()
    progress, printed = shown.split("page: ")
    assert "writing" in progress
    assert progress.endswith("\x1b[2K")
    assert printed.split() == [str(page)]


def read(screen: int) -> bytes:
    """Return what a terminal shows; nothing when the program that wrote to it has ended."""
    try:
        return os.read(screen, 4096)
    except OSError:
        return b""
