"""Ctrl-C at any moment: the database as before, one message, exit status 130, no leftovers."""

from __future__ import annotations

import _thread
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from click.testing import CliRunner

import cegdb
from cegdb.cli import main
from cegdb.interrupts import Interrupts, held_interrupts, raise_lost_interrupt
from cegdb.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cegdb.api import Database

pytestmark = pytest.mark.usefixtures("from_nothing")

NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
AS_BEFORE = "interrupted: the database is as it was before\n"
DONE = "interrupted: the work was done and is kept in {}; not all of it was shown\n"
# A test may run where interrupts are ignored, as in the background of a shell. Before Python
# has loaded the command line, an interrupt is not yet its own.
START = """
import signal
from cegdb.__main__ import start
signal.signal(signal.SIGINT, signal.default_int_handler)
start()
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a survey as CSV, and a database of it and all built on it."""
    folder = tmp_path_factory.mktemp("made")
    rng = random.Random(3)  # noqa: S311
    with (folder / "s.csv").open("w") as stream:
        print(*(f"q{k}" for k in range(5)), sep=",", file=stream)
        for _ in range(2_000):
            cells = ("abcd"[min(3, int(rng.expovariate(1 + k / 6)))] for k in range(5))
            print(*cells, sep=",", file=stream)
    with cegdb.open(folder / "s.duckdb") as db:
        db.ingest(folder / "s.csv", name="s").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    with cegdb.open(folder / "stale.duckdb") as db:
        shutil.copy(folder / "s.csv", folder / "other.csv")
        survey = db.ingest(folder / "s.csv", name="s")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        survey.append(folder / "other.csv")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in folder.iterdir()}


def told(folder: Path, before: dict[str, bytes], status: int, stderr: str) -> str:
    """Return what became of a command, and refuse all that must not."""
    after = files_of(folder)
    assert "Traceback" not in stderr
    assert "ignored" not in stderr
    assert status in (0, 130), stderr
    if status == 0:
        return "done"
    assert stderr.count("interrupted") == 1
    kept = [file for file in after if stderr.endswith(DONE.format(file))]
    if kept:
        assert set(after) - {"chds.svg"} == {*before, *kept}  # the demo draws at the end
        return "done"
    assert stderr.endswith(AS_BEFORE)
    assert after == before
    return "as before"


@contextmanager
def ignored_interrupts() -> Iterator[None]:
    """Ignore SIGINT meanwhile."""
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True])
def test_a_run_that_is_interrupted_at_any_moment_changes_nothing(
    made: Path, tmp_path: Path, *, is_there: bool
) -> None:
    command = ["run", str(made / "s.csv"), "--db", "s.duckdb", "--name", "new"]
    rng = random.Random(11)  # noqa: S311
    moments = [0.06, 0.1, *(rng.uniform(0.1, 1.0) for _ in range(3))]
    found = set()
    for moment in moments:
        folder = tmp_path / str(moment)
        folder.mkdir()
        if is_there:
            shutil.copy(made / "s.duckdb", folder)
        before = files_of(folder)
        with ignored_interrupts():  # inherited by the child
            child = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", START, *command],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        with child:
            time.sleep(moment)
            child.send_signal(signal.SIGINT)
            _, stderr = child.communicate(timeout=60)
        found.add(told(folder, before, child.returncode, stderr))
    assert "as before" in found


def test_an_interrupt_inside_a_callback_is_not_told_as_a_traceback() -> None:
    code = """
import sys, weakref
from cegdb.__main__ import start
sys.argv = ["cegdb", "--version"]
try:
    start()
except SystemExit:
    pass
class Some: pass
def breaks(_): raise KeyboardInterrupt
def fails(_): raise ValueError("told")
for callback in (breaks, fails):
    some = Some(); kept = weakref.ref(some, callback); del some
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "KeyboardInterrupt" not in done.stderr
    assert "ValueError: told" in done.stderr


# A process that has everything loaded, and forks a child for each command, which ends
# where the command does: to take down all that is loaded takes longer than most commands.
NURSERY = """
import os, signal, sys
import cegdb
from cegdb.__main__ import start
with cegdb.open() as db:
    db.ingest("select i % 2 as x, i % 7 as y from range(50) as t(i)", name="s")
    staged = db.surveys["s"].event_tree().learn_stages()
    staged.to_ceg().edges
    staged.stability(runs=2)
print("ready", flush=True)
for line in sys.stdin:
    folder, *command = line.split()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"../{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        os.write(told, f"go {os.getpid()}\\n".encode())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["cegdb", *command]
        try:
            start()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code or 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(told, f"{status}\\n".encode())
""".replace('print("ready", flush=True)', 'told = os.dup(1)\nos.write(told, b"ready\\n")')


class Nursery:
    """Runs commands, to their end or until they are interrupted."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._ask, self._answer = process.stdin, process.stdout
        assert self._answer.readline() == "ready\n"

    def run(self, folder: Path, command: str, moment: float | None) -> tuple[int, str, float]:
        """Return exit status, what was said to standard error, and the seconds."""
        print(folder, command, file=self._ask, flush=True)
        pid = int(self._answer.readline().split()[1])
        started = time.perf_counter()
        if moment is not None:
            time.sleep(moment)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        status = int(self._answer.readline())
        seconds = time.perf_counter() - started
        return status, (folder.parent / "err").read_text(), seconds


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Give a process that runs commands."""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Nursery(process)
        assert process.stdin
        process.stdin.close()
        assert process.wait(60) == 0


COMMANDS = {
    "ingest": "ingest s.duckdb {made}/s.csv --name new",
    "ingest_new": "ingest new.duckdb {made}/s.csv",
    "event-tree": "event-tree s.duckdb s --replace",
    "learn-stages": "learn-stages s.duckdb s --name new",
    "to-ceg": "to-ceg s.duckdb s --name new",
    "drop": "drop s.duckdb s --kind survey",
    "append": "append s.duckdb s {made}/other.csv",
    "rebuild": "rebuild stale.duckdb --stages relearn",
    "stability": "stability s.duckdb s --runs 5",
    "posterior": "posterior s.duckdb s --samples 20",
    "demo": "demo --db s.duckdb",
    "export": "export s.duckdb s -o s.graphml",
    "export_table": "export s.duckdb s --kind staging -o s.csv",
    "template": "template s.duckdb s -o s.xlsx",
    "codebook": "codebook {made}/s.csv -o s.yaml",
    "check": "check s.duckdb",
}


@NEEDS_FORK
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_any_command_that_is_interrupted_changes_nothing(
    nursery: Nursery, made: Path, tmp_path: Path, name: str
) -> None:
    command = COMMANDS[name].format(made=made)
    kept = next((part for part in command.split() if (made / part).is_file()), "")

    def interrupted(folder: Path, moment: float | None) -> float:
        folder.mkdir()
        if kept.endswith(".duckdb"):
            shutil.copy(made / kept, folder / kept)
        before = files_of(folder)
        status, stderr, seconds = nursery.run(folder, command, moment)
        if moment is None:
            assert status == 0, stderr
        else:
            told(folder, before, status, stderr)
            assert not [file for file in files_of(folder) if file.endswith((".wal", ".tmp"))]
        return seconds

    whole = interrupted(tmp_path / "whole", None)
    rng = random.Random(name)  # noqa: S311
    interrupted(tmp_path / "broken", rng.uniform(0, 0.9 * whole))


# -----------------------------------------------------------------------------
# The mechanism
# -----------------------------------------------------------------------------


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Heed interrupts as Python does, wherever the tests are run from."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_end_of_what_must_be_whole() -> None:
    done = []

    def whole() -> None:
        with held_interrupts(), held_interrupts():
            interrupt()
            interrupt()
            done.append("whole")

    with pytest.raises(KeyboardInterrupt):
        whole()
    assert done == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for handler in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(signal.SIGINT, handler)
        with held_interrupts():
            assert signal.getsignal(signal.SIGINT) is handler


def test_the_first_interrupt_is_raised_and_those_soon_after_are_not() -> None:
    interrupts = Interrupts()
    signal.signal(signal.SIGINT, interrupts)
    raise_lost_interrupt()
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    interrupt()
    assert interrupts.came is not None
    interrupts.came -= 10
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_an_interrupt_that_is_lost_is_raised_before_anything_is_kept(db: Database) -> None:
    signal.signal(signal.SIGINT, Interrupts())
    with suppress(KeyboardInterrupt):
        interrupt()
    with pytest.raises(KeyboardInterrupt):
        db.ingest("select 1 as x")
    with pytest.raises(KeyboardInterrupt), db._store.writing():
        pass
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert db.surveys.names() == []
    assert not db.is_changed


def test_an_interrupt_of_the_commit_comes_after_it(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit: Any = db._store._engine.dialect.do_commit

    def interrupted(connection: object) -> None:
        interrupt()
        commit(connection)

    monkeypatch.setattr(db._store._engine.dialect, "do_commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        db.ingest("select 1 as x", name="kept")
    assert db.is_changed
    assert db.surveys.names() == ["kept"]


def test_an_interrupt_while_a_new_file_is_connected_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = Store.connect

    def interrupted(file: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        con = connect(file, read_only=read_only)
        interrupt()
        return con

    monkeypatch.setattr(Store, "connect", staticmethod(interrupted))
    with pytest.raises(KeyboardInterrupt):
        cegdb.open(tmp_path / "s.duckdb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
        RuntimeError("Query interrupted"),
        duckdb.Error("KeyboardInterrupt: \n\nAt:\n  numpy.py(1): <module>\n"),
    ],
)
def test_an_interrupt_is_known_in_each_of_its_forms(db: Database, error: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), db._store.reading():
        raise error
    assert db.surveys.names() == []


@pytest.mark.slow
def test_a_database_can_be_used_after_interrupts_at_any_moment(db: Database) -> None:
    query = (
        "select hash(i * 7) % 3 as a, hash(i * 5) % 4 as b, hash(i * 11) % 4 as c, "
        "hash(i * 13) % 5 as d from range(20000) as t(i)"
    )

    def work() -> None:
        with db.transaction():
            db.ingest(query, name="s").event_tree(sampling_zeros="none").learn_stages(
                prior="mass", criterion="score"
            ).to_ceg()

    work()
    db.drop("survey", "s")
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    db.drop("survey", "s")
    rng = random.Random(5)  # noqa: S311
    temporary = "select count(*) from duckdb_tables() where temporary"
    n = 0
    for _ in range(8):
        timer = threading.Timer(rng.uniform(0, 0.8 * seconds), _thread.interrupt_main)
        timer.start()
        try:
            work()
            timer.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            n += 1
        timer.join()
        if db.surveys.names():
            db.drop("survey", "s")
        with db._store.reading() as con:
            assert con.execute(temporary).fetchall() == [(0,)]
    assert n
    work()
    assert db.check() == []


def test_an_interrupt_within_sqlalchemy_does_not_close_the_database(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.ingest("select 1 as x", name="kept")
    dialect: Any = db._store._engine.dialect
    execute = dialect.do_execute

    def interrupted(*given: object, **settings: object) -> None:
        execute(*given, **settings)
        interrupt()

    with monkeypatch.context() as patch:
        patch.setattr(dialect, "do_execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            db.drop("survey", "kept")
        with pytest.raises(KeyboardInterrupt):
            db.surveys.names()
    assert db.surveys.names() == ["kept"]
    db.drop("survey", "kept")
    assert db.surveys.names() == []


def test_an_interrupt_while_a_sheet_is_packed_leaves_nothing_that_fails_later(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xlsxwriter")
    staged = db.ingest("select i % 2 as x from range(50) as t(i)", name="s").event_tree(
        sampling_zeros="none"
    )
    archives: list[object] = []
    told: list[object] = []

    def interrupted(archive: object, *_: object, **__: object) -> None:
        archives.append(archive)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", told.append)
    for write in ("write", "writestr"):
        monkeypatch.setattr(zipfile.ZipFile, write, interrupted)
    with pytest.raises(KeyboardInterrupt):
        staged.template(tmp_path / "s.xlsx")
    assert archives
    archives.clear()
    gc.collect()
    assert not told
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_interrupt_of_the_showing_says_that_the_work_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("x,y\na,u\nb,v\na,v\n")

    def interrupted(*_: object, **__: object) -> None:
        interrupt()

    monkeypatch.setattr(cegdb.Database, "rows", interrupted)
    result = CliRunner().invoke(main, ["run", "s.csv", "--db", "s.duckdb"])
    assert result.exit_code == 130
    assert result.stderr.endswith(DONE.format("s.duckdb"))
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    with cegdb.open("s.duckdb", read_only=True) as db:
        assert db.cegs.names() == ["s"]


@pytest.mark.slow
def test_interrupts_that_are_ignored_stay_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("x,y\na,u\nb,v\n")
    rows: Any = cegdb.Database.rows

    def interrupted(*given: object, **settings: object) -> object:
        interrupt()
        return rows(*given, **settings)

    monkeypatch.setattr(cegdb.Database, "rows", interrupted)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    result = CliRunner().invoke(main, ["run", "s.csv", "--db", "s.duckdb"])
    assert result.exit_code == 0, result.output
