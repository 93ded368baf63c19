"""Killed at any moment: the file opens, an object is whole or absent, nothing is left over."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import cegdb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cegdb.api import Database

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.usefixtures("from_nothing", "all_null_runs"),
]

PHASES: dict[str, Callable[[Database, Path], object]] = {
    "ingest": lambda db, folder: db.ingest(folder / "s.csv", name="s"),
    "tree": lambda db, _: db.surveys["s"].event_tree(sampling_zeros="none"),
    "learning": lambda db, _: db.trees["s"].learn_stages(prior="mass", criterion="score"),
    "recursion": lambda db, _: db.stagings["s"].to_ceg(),
}
KILLS = 2
TABLES = """
    select table_name, string_agg(column_name, ', ' order by column_index)
    from duckdb_columns()
    where schema_name = 'cegdb' and not internal
        and column_name not in ('created_at', 'seconds', 'cegdb_version')
        and table_name in (select table_name from duckdb_tables())
    group by all order by all
"""
# A process that has everything loaded, and forks a child for each phase asked for.
NURSERY = """
import os, sys
from pathlib import Path
sys.path[:0] = sys.argv[1:]
import cegdb
from test_kill import PHASES
with cegdb.open() as db:
    db.ingest("select i % 2 as x, i % 7 as y from range(50) as t(i)", name="s")
    for phase in ("tree", "learning", "recursion"):
        PHASES[phase](db, None)
print("ready", flush=True)
for line in sys.stdin:
    phase, folder = line.rstrip("\\n").split(" ", 1)
    child = os.fork()
    if child == 0:
        print("go", os.getpid(), flush=True)
        with cegdb.open(Path(folder) / "s.duckdb") as db:
            PHASES[phase](db, Path(folder))
        print("done", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("end", flush=True)
"""


class Nursery:
    """Runs phases in children, to their end or to their death."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._ask, self._answer = process.stdin, process.stdout
        assert self._answer.readline() == "ready\n"

    def run(self, phase: str, folder: Path, *, kill_after: float | None = None) -> float:
        """Return the seconds it took."""
        print(phase, folder, file=self._ask, flush=True)
        go, pid = self._answer.readline().split()
        started = time.perf_counter()
        assert go == "go"
        if kill_after is not None:
            time.sleep(kill_after)
            with suppress(ProcessLookupError):  # it was quicker than the undisturbed one
                os.kill(int(pid), signal.SIGKILL)
        said = self._answer.readline()
        seconds = time.perf_counter() - started
        if said == "done\n":
            said = self._answer.readline()
        assert said == "end\n"
        return seconds


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Give a process that runs phases."""
    here = Path(__file__).parent
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", NURSERY, str(here), str(here.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Nursery(process)
        process.stdin.close()  # type: ignore[union-attr]
        assert process.wait(60) == 0


class Undisturbed:
    """A folder with the file as it was before each phase, its tables, and the times.

    The tables are checked here, and whatever equals them is as good.
    """

    def __init__(self, folder: Path, nursery: Nursery) -> None:
        self.folder = folder
        rng = random.Random(7)  # noqa: S311
        with (folder / "s.csv").open("w") as stream:
            print(*(f"q{k}" for k in range(5)), sep=",", file=stream)
            for _ in range(4_000):
                cells = ("abcd"[min(3, int(rng.expovariate(1 + k / 6)))] for k in range(5))
                print(*cells, sep=",", file=stream)
        self.file = folder / "s.duckdb"
        self.seconds: dict[str, float] = {}
        self.tables: dict[str, dict[str, list[Any]]] = {}
        for phase in PHASES:
            if self.file.exists():
                shutil.copy(self.file, folder / f"before_{phase}")
            self.seconds[phase] = nursery.run(phase, folder)
            with cegdb.open(self.file) as db:
                self.tables[phase] = tables(db)
                assert db.check() == []
        self.file.unlink()

    def restore(self, phase: str) -> None:
        """Put the file as it was before a phase."""
        for name in self.found():
            (self.folder / name).unlink()
        if (before := self.folder / f"before_{phase}").exists():
            shutil.copy(before, self.file)

    def found(self) -> set[str]:
        """Return the files of the database."""
        return {item.name for item in self.folder.iterdir() if item.name.startswith("s.duck")}


def tables(db: Database) -> dict[str, list[Any]]:
    """Return the rows of all tables, in the order they are stored."""
    with db._store.reading() as con:
        return {
            table: con.execute(f"select {columns} from cegdb.{table} order by rowid").fetchall()  # noqa: S608
            for table, columns in con.execute(TABLES).fetchall()
        }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> Undisturbed:
    """Give what all phases make of a survey when nobody disturbs them."""
    return Undisturbed(tmp_path_factory.mktemp("killed"), nursery)


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_killed_phase_is_whole_or_absent_and_can_be_run_again(
    nursery: Nursery, undisturbed: Undisturbed, phase: str
) -> None:
    rng = random.Random(phase)  # noqa: S311
    before = list(undisturbed.tables.values())[list(PHASES).index(phase) - 1]
    n_absent = n_kills = 0
    within = undisturbed.seconds[phase]
    while n_kills < KILLS or not n_absent:
        n_kills += 1
        undisturbed.restore(phase)
        moment = rng.uniform(0, within)
        nursery.run(phase, undisturbed.folder, kill_after=moment)
        with cegdb.open(undisturbed.file) as db:
            assert undisturbed.found() <= {"s.duckdb", "s.duckdb.wal"}
            others = "select * from duckdb_tables() where temporary or schema_name <> 'cegdb'"
            assert db.rows(others)[1] == []
            found = tables(db)
            if found != undisturbed.tables[phase]:
                n_absent += 1
                if phase == "ingest":
                    assert db.surveys.names() == []
                    assert "response_1" not in found
                    assert db.check() == [], moment
                else:
                    assert found == before, moment
                PHASES[phase](db, undisturbed.folder)
                assert tables(db) == undisturbed.tables[phase], moment
            else:  # too late, or the undisturbed run was slower than this one
                within /= 2
        assert undisturbed.found() == {"s.duckdb"}


def test_a_file_that_was_just_made_needs_no_log(tmp_path: Path) -> None:
    with cegdb.open(tmp_path / "s.duckdb") as db:
        assert [item.name for item in tmp_path.iterdir()] == ["s.duckdb"]
        threshold = "select current_setting('checkpoint_threshold')"
        with duckdb.connect() as plain:
            assert db.rows(threshold)[1] == plain.execute(threshold).fetchall()


SPILL = """
import sys, time, cegdb
db = cegdb.open(sys.argv[1], memory_limit="60MB", threads=1)
db.sql("create temp table t as select hash(i) as a, i as b from range(4000000) as r(i)")
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_what_a_killed_process_spilled_is_removed_when_the_file_is_opened(
    tmp_path: Path,
) -> None:
    file, spilled = tmp_path / "s.duckdb", tmp_path / "s.duckdb.tmp"
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", SPILL, file], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
        assert len(list(spilled.iterdir())) > 1
        child.kill()
    (spilled / "mine.txt").write_text("kept")
    with duckdb.connect(file) as plain, cegdb.open(file):
        assert len(list(spilled.iterdir())) > 2  # the other handle might have spilled it
        assert plain.execute("select 1").fetchone() == (1,)
    with cegdb.open(file, read_only=True):
        assert len(list(spilled.iterdir())) > 2
    with cegdb.open(file):
        assert [item.name for item in spilled.iterdir()] == ["mine.txt"]
    (spilled / "mine.txt").rename(spilled / "duckdb_temp_storage_DEFAULT-0.tmp")
    with cegdb.open(file) as db:
        assert not spilled.exists()
        assert db.surveys.names() == []


def test_what_another_handle_of_this_process_spills_stays(tmp_path: Path) -> None:
    file, spilled = tmp_path / "s.duckdb", tmp_path / "s.duckdb.tmp"
    with cegdb.open(file, memory_limit="40MB", threads=1) as db:
        db.sql("create temp table t as select hash(i) as a, i as b from range(2500000) as r(i)")
        found = set(spilled.iterdir())
        assert found
        with cegdb.open(file) as other:
            assert other.surveys.names() == []
            assert found <= set(spilled.iterdir())  # DuckDB may spill more meanwhile
        assert db.sql("select sum(b) as n from t")["n"].item() == 2_500_000 * 2_499_999 // 2
    assert not spilled.exists()
