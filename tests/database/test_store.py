"""The store: files, locks, threads, forks, names, transactions, users' own SQL."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy as sa
from database_template import TABLES

import cegdb
from cegdb import ceg as ceg_room
from cegdb import ingest as ingest_room
from cegdb import tree as tree_room
from cegdb.errors import (
    CegdbError,
    MigrationError,
    NameTakenError,
    NetworkError,
    QueryError,
    StoreError,
    SurveyError,
    UnknownNameError,
)
from cegdb.store import Store, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    from cegdb.api import ChainEventGraph, Database

SURVEY = "select i % 2 as x, i % 4 < 2 as y from range(8) as t(i)"
# Where it is new files that are tested; the others have the template's schema.
FROM_NOTHING = pytest.mark.usefixtures("from_nothing")
NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
LIMIT = 60  # seconds a child may take


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the path of a database that holds one survey with all built on it."""
    path = tmp_path_factory.mktemp("made") / "falls.duckdb"
    with cegdb.open(path) as db:
        whole(db, "falls")
    return path


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """Give the path of a copy of that database."""
    path = tmp_path / "falls.duckdb"
    shutil.copyfile(made, path)
    return path


def whole(db: Database, name: str) -> ChainEventGraph:
    """Make a survey, a tree, a staging and a CEG of one name."""
    return (
        db.ingest(SURVEY, name=name)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


def falls(db: Database) -> None:
    whole(db, "falls")


def sizes(db: Database) -> dict[str, int]:
    """Return the number of rows of every table in the database, temporary ones too."""
    with db._store.reading() as con:
        tables = con.execute("select schema_name, table_name from duckdb_tables()").fetchall()
        counted = [
            f"""(select count(*) from "{name}"."{table}") as "{name}.{table}" """  # noqa: S608
            for name, table in tables
        ]
        return con.execute(f"select {', '.join(counted)}").df().loc[0].to_dict()


@contextmanager
def other_process(code: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    """Run code that prints when it is ready and ends when its input does."""
    program = f"import sys, cegdb\n{code}\nprint('ready', flush=True)\nsys.stdin.read()"
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
        yield child
        child.communicate(timeout=LIMIT)
    assert child.returncode == 0


# -----------------------------------------------------------------------------
# Opening, locking, closing
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_in_use_elsewhere_names_the_process_and_what_to_do(file: Path) -> None:
    content = file.read_bytes()
    with other_process("db = cegdb.open(sys.argv[1])", file) as holder:
        for read_only in (False, True):
            with pytest.raises(StoreError, match=f"in use by process {holder.pid}") as caught:
                cegdb.open(file, read_only=read_only)
            assert "close it there" in str(caught.value)
            assert "open it read-only" in str(caught.value)
    assert file.read_bytes() == content
    with cegdb.open(file) as db:
        assert db.surveys.names() == ["falls"]


@pytest.mark.slow
def test_several_processes_read_one_file_at_once(file: Path) -> None:
    code = "db = cegdb.open(sys.argv[1], read_only=True)\nassert len(db.cegs['falls'].edges)"
    with other_process(code, file) as reader:
        with other_process(code, file), cegdb.open(file, read_only=True) as db:
            assert len(db.cegs["falls"].edges) == 4
        with pytest.raises(StoreError, match=f"in use by process {reader.pid}"):
            cegdb.open(file)


def test_one_process_opens_a_file_in_one_mode(file: Path) -> None:
    with cegdb.open(file) as writer:
        with pytest.raises(StoreError, match="already open for writing in this process"):
            cegdb.open(file, read_only=True)
        with cegdb.open(file) as second:
            second.ingest("select 1 as x", name="second")
        assert writer.surveys.names() == ["falls", "second"]
    with cegdb.open(file, read_only=True) as reader:
        with pytest.raises(StoreError, match=r"already open read-only .* in this process"):
            cegdb.open(file)
        assert reader.surveys.names() == ["falls", "second"]


def test_what_is_open_read_only_cannot_be_written(file: Path) -> None:
    with cegdb.open(file, read_only=True) as db:
        for write in (
            lambda: db.ingest("select 1 as x"),
            lambda: db.ingest(pd.DataFrame({"x": [1]})),
            lambda: db.surveys["falls"].event_tree("other", sampling_zeros="none"),
            lambda: db.drop("survey", "falls"),
        ):
            with pytest.raises(StoreError, match="is open read-only"):
                write()
        with pytest.raises(QueryError, match="read-only"):
            db.sql("create table mine (a integer)")
        assert len(db.cegs["falls"].edges) == 4


@pytest.mark.slow
def test_the_lock_is_free_after_close_with_and_an_exception(file: Path) -> None:
    code = "cegdb.open(sys.argv[1]).close()"
    db = cegdb.open(file)
    db.sql("select 1")
    db.close()
    with other_process(code, file):
        pass
    with pytest.raises(ZeroDivisionError), cegdb.open(file) as db:
        assert db.ingest(pd.DataFrame({"x": [1]})).id / 0
    with other_process(code, file):
        pass
    with pytest.raises(SurveyError), cegdb.open(file) as db:
        db.ingest("select error('boo') as x")
    with cegdb.open(file, read_only=True) as db:
        assert db.surveys.names() == ["falls", "survey"]


def test_a_closed_database_says_so(db: Database) -> None:
    survey = db.ingest(SURVEY)
    db.close()
    db.close()
    for use in (
        lambda: db.sql("select 1"),
        db.surveys.names,
        lambda: db.ingest(SURVEY),
        lambda: survey.name,
        lambda: len(db.trees),
    ):
        with pytest.raises(StoreError, match="this database is closed"):
            use()
    assert repr(db).endswith(": this database is closed>")


def test_a_plain_connection_opens_the_same_file_meanwhile(file: Path) -> None:
    with cegdb.open(file) as db, duckdb.connect(file) as plain:
        assert plain.execute("select count(*) from cegdb.ceg_edges").fetchall() == [(4,)]
        plain.execute("create table mine as select 1 as a")
        assert db.sql("select * from mine")["a"].tolist() == [1]
        db.ingest("select 1 as x", name="second")
        assert plain.execute("select count(*) from cegdb.survey").fetchall() == [(2,)]
        frame = pd.DataFrame({"a": [5]})
        assert plain.execute("select * from frame").fetchall() == [tuple(frame.loc[0])]
    with duckdb.connect(file) as plain, cegdb.open(file) as db:
        assert db.surveys.names() == ["falls", "second"]
    with (
        duckdb.connect(file, config={"threads": 1}),
        pytest.raises(StoreError, match="with other settings in this process"),
    ):
        cegdb.open(file)


NO_DATABASES = {
    "text.duckdb": b"hello\n" * 1000,
    "empty.duckdb": b"",
    "one_byte.duckdb": b"x",
    "sqlite.duckdb": b"SQLite format 3\0" + bytes(5000),
    "survey.csv": b"x,y\na,b\n",
}


@pytest.mark.parametrize("name", NO_DATABASES)
def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(NO_DATABASES[name])
    for read_only in (False, True):
        with pytest.raises(StoreError, match="is not a DuckDB database"):
            cegdb.open(file, read_only=read_only)
    assert file.read_bytes() == NO_DATABASES[name]


@pytest.mark.parametrize("share", [0.0002, 0.01, 0.3, 0.5, 0.7, 0.9])
def test_a_truncated_file_is_an_error_of_ours(file: Path, share: float) -> None:
    whole_file = file.read_bytes()
    content = whole_file[: int(share * len(whole_file))]
    file.write_bytes(content)
    try:
        with cegdb.open(file, read_only=True) as db:
            edges = db.cegs["falls"].edges
    except StoreError as error:
        assert str(file) in str(error)  # noqa: PT017
    else:  # what is cut off was free space
        assert len(edges) == 4
    assert file.read_bytes() == content


@FROM_NOTHING
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a folder, not a database file"),
        ("none/falls.duckdb", "there is no folder"),
        ("falls.csv", "a database cannot be named falls.csv"),
        ("cegdb.duckdb", "cannot be named cegdb"),
        ("CEGDB.db", "cannot be named cegdb"),
        ("cegdb", "cannot be named cegdb"),
        ("cegdb.v2.duckdb", "cannot be named cegdb"),
        ("x" * 300, "cannot be opened"),
        ("a\0b", "cannot be opened"),
        ("\udcff.duckdb", "cannot be opened"),
    ],
)
def test_a_path_that_cannot_be_a_database_is_refused(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(StoreError, match=message):
        cegdb.open(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@FROM_NOTHING
@pytest.mark.parametrize(
    "name",
    ["temp", "main", "survey", "select", "a'b\"c", "😀 x", "a.b.c", "%s"],
)
def test_any_other_name_of_a_file_works(tmp_path: Path, name: str) -> None:
    with cegdb.open(tmp_path / f"{name}.duckdb") as db:
        assert len(whole(db, "falls").edges) == 4
        assert db.sql("select count(*) as n from cegdb.ceg_edges")["n"].item() == 4


@pytest.mark.slow
@FROM_NOTHING
def test_settings_that_duckdb_refuses_leave_no_file(tmp_path: Path) -> None:
    settings: dict[str, Any]
    for settings in ({"threads": 0}, {"threads": -1}, {"memory_limit": "much"}):
        with pytest.raises(StoreError, match="cannot be"):
            cegdb.open(tmp_path / "falls.duckdb", **settings)
    with pytest.raises(StoreError, match="memory cannot be opened read-only"):
        cegdb.open(read_only=True)
    with pytest.raises(StoreError, match="there is no file"):
        cegdb.open(tmp_path / "falls.duckdb", read_only=True)
    assert list(tmp_path.iterdir()) == []
    with cegdb.open(tmp_path / "falls.duckdb", threads=1, memory_limit="200MB") as db:
        assert db.sql("select current_setting('threads') as n")["n"].item() == 1


# -----------------------------------------------------------------------------
# Schemas that are not ours
# -----------------------------------------------------------------------------


@FROM_NOTHING
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("create schema cegdb; create table cegdb.t (a integer)", "did not make .tables: t"),
        ("create schema cegdb", "did not make .tables: none"),
        ("create schema CEGDB; create table CEGDB.t (a integer)", "did not make .tables: t"),
        ("create schema cegdb; create view cegdb.v as select 1", "did not make .tables: none"),
        ("create schema cegdb; create table cegdb.alembic_version (a integer)", "did not make"),
        ('create schema "temp"', "a schema named temp, which DuckDB cannot distinguish"),
        ('create schema "TEMP"', "a schema named temp, which DuckDB cannot distinguish"),
    ],
)
def test_a_schema_that_is_not_ours_is_refused_and_left_alone(
    tmp_path: Path, script: str, message: str
) -> None:
    file = tmp_path / "other.duckdb"
    with duckdb.connect(file) as con:
        con.execute(script)
    content = file.read_bytes()
    for read_only in (False, True):
        with pytest.raises(MigrationError, match=message):
            cegdb.open(file, read_only=read_only)
    assert file.read_bytes() == content


def test_a_file_of_a_newer_cegdb_is_refused(file: Path) -> None:
    with duckdb.connect(file) as con:
        con.execute("update cegdb.alembic_version set version_num = '9999'")
    for read_only in (False, True):
        with pytest.raises(MigrationError, match=r"by a newer cegdb \(schema 9999") as caught:
            cegdb.open(file, read_only=read_only)
        assert caught.value.hint == "upgrade cegdb"


@pytest.mark.slow
@FROM_NOTHING
def test_a_file_without_our_schema_is_not_made_ours_by_reading(tmp_path: Path) -> None:
    file = tmp_path / "plain.duckdb"
    duckdb.connect(file).close()
    with pytest.raises(MigrationError, match="has no cegdb tables") as caught:
        cegdb.open(file, read_only=True)
    assert caught.value.hint == f"run: cegdb migrate {file}"
    cegdb.open(file).close()
    cegdb.open(file, read_only=True).close()


@pytest.mark.slow
def test_an_analysts_own_tables_are_never_touched_or_read(file: Path) -> None:
    names = [
        *(table.fullname for table in TABLES),
        "cegdb.stages",
        "cegdb.floret",
        "cegdb.source_line",
    ]
    with cegdb.open(file) as db:
        before = db.cegs["falls"].edges
        db.sql("create schema mine")
        for name in names:
            table = name.removeprefix("cegdb.")
            db.sql(f"create table {table} as select 'mine' as a")
            db.sql(f"create table mine.{table} as select 'mine' as a")
            db.sql(f"create temp table {table} as select 'mine' as a")
        db.sql("use mine")
        again = whole(db, "again").edges.drop(columns="ceg")
        pd.testing.assert_frame_equal(again, before.drop(columns="ceg"))
        assert db.check() == []
        db.drop("survey", "again")
        for name in names:
            table = name.removeprefix("cegdb.")
            for own in (f"main.{table}", f"mine.{table}", f"temp.{table}"):
                assert db.sql(f"select * from {own}")["a"].tolist() == ["mine"]  # noqa: S608


# -----------------------------------------------------------------------------
# Threads and forks
# -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.holds(made_by=falls)
def test_threads_get_their_own_answers(db: Database) -> None:

    def ask(number: int) -> list[tuple[int, int]]:
        found = []
        for i in range(20):
            frame = db.sql(
                "select $x * 1000 + $i as v, count(*) as n from cegdb.ceg_edges",
                {"x": number, "i": i},
            )
            found.append((frame["v"].item(), frame["n"].item()))
        return found

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert answers == [[(x * 1000 + i, 4) for i in range(20)] for x in range(8)]


@pytest.mark.slow
def test_threads_make_objects_one_after_the_other(db: Database) -> None:
    def make(number: int) -> tuple[str, int]:
        ceg = whole(db, f"s{number}")
        return ceg.name, len(ceg.edges)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(5)))
    assert made == [(f"s{i}", 4) for i in range(5)]
    assert len(db.cegs) == 5
    assert db.check() == []


def test_the_connection_of_a_thread_ends_with_it(db: Database) -> None:
    for _ in range(5):
        thread = threading.Thread(target=db.sql, args=("create temp table t as select 1",))
        thread.start()
        thread.join()
    assert len(db._store._cursors) == 0


def in_child(queue: Any, use: Callable[[], object]) -> None:
    """Tell the parent how a use of its database went."""
    try:
        queue.put(repr(use()))
    except CegdbError as error:
        queue.put(f"{type(error).__name__}: {error}")


@pytest.mark.slow
@NEEDS_FORK
@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_forked_child_gets_a_clear_error_and_does_not_hang(file: Path, where: str) -> None:
    forked = multiprocessing.get_context("fork")
    with cegdb.open(None if where == "memory" else file) as db:
        ceg = db.cegs["falls"] if where == "file" else whole(db, "falls")
        db.sql("select 1")
        uses: list[tuple[Callable[[], object], str]] = [
            (lambda: db.sql("select 1"), "StoreError: this database was opened by the parent"),
            (lambda: ceg.edges, "StoreError: this database was opened by the parent"),
            (lambda: db.ingest(SURVEY), "StoreError: this database was opened by the parent"),
            (db.close, "None"),
            (lambda: cegdb.open().ingest(SURVEY, name="own").name, "'own'"),
        ]
        for use, expected in uses:
            queue = forked.SimpleQueue()
            child = forked.Process(target=in_child, args=(queue, use))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on fork
                child.start()
            child.join(LIMIT)
            if child.is_alive():
                child.kill()
                pytest.fail("the child hangs")
            assert child.exitcode == 0
            assert queue.get().startswith(expected)
        assert len(ceg.edges) == 4


@pytest.mark.slow
@NEEDS_FORK
def test_a_forked_child_may_end_as_any_program_does(tmp_path: Path) -> None:
    program = """
import os, sys, cegdb
with cegdb.open(sys.argv[1]) as db:
    db.ingest("select i % 2 as x from range(100000) as t(i)").event_tree()
    db.sql("select 1")
    child = os.fork()
    if child == 0:
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert db.surveys.names() == ["survey"]
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", program, tmp_path / "falls.duckdb"],
        timeout=LIMIT,
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")


# -----------------------------------------------------------------------------
# SQLAlchemy
# -----------------------------------------------------------------------------


@pytest.mark.slow
@FROM_NOTHING
def test_two_fresh_files_in_one_process_count_their_own_ids(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with cegdb.open(tmp_path / f"{name}.duckdb") as db:
            assert [whole(db, f"s{i}").id for i in (1, 2)] == [1, 2]
            db.drop("survey", "s2")
            assert whole(db, "s2").id == 3


def test_a_row_without_an_id_gets_a_new_one(file: Path) -> None:
    engine = sa.create_engine(f"duckdb:///{file}")
    values = {
        "source": "", "n_read": 1, "n": 1, "n_distinct": 1, "settings": {}, "summary": {},
        "seconds": 0.0, "created_at": pd.Timestamp("2026-01-01"), "cegdb_version": "",
    }  # fmt: skip
    new = sa.insert(schema.survey).returning(schema.survey.c.survey_id)
    with engine.begin() as connection:
        for name, expected in {"a": 2, "b": 3}.items():
            found = connection.execute(new.values(name=name, **values)).scalar_one()
            assert found == expected
    with engine.begin() as connection:
        connection.execute(sa.delete(schema.survey).where(schema.survey.c.name == "b"))
    with engine.begin() as connection:
        assert connection.execute(new.values(name="b", **values)).scalar_one() == 4
    engine.dispose()


@pytest.mark.slow
def test_sqlalchemy_reflects_a_finished_file(file: Path) -> None:
    engine = sa.create_engine(f"duckdb:///{file}")
    inspector = sa.inspect(engine)
    ours = {table.name for table in TABLES}
    assert {*ours, "alembic_version", "response_1"} == {
        *inspector.get_table_names(schema="cegdb")
    }
    assert {"ceg_edges", "stages", "positions"} <= {*inspector.get_view_names(schema="cegdb")}
    assert inspector.get_pk_constraint("survey", schema="cegdb")["constrained_columns"] == [
        "survey_id"
    ]
    reflected = sa.MetaData()
    reflected.reflect(engine, schema="cegdb", views=True)
    with engine.connect() as connection:
        for table in TABLES:
            known = connection.exec_driver_sql(
                "select column_name, is_nullable from duckdb_columns() where schema_name = "  # noqa: S608
                f"'cegdb' and table_name = '{table.name}' order by column_index"
            ).fetchall()
            assert len(known) >= len(table.c) > 0
            assert [(c.name, c.nullable) for c in reflected.tables[table.fullname].columns] == [
                tuple(row) for row in known
            ]
    frame = pd.read_sql_table("ceg_edges", engine, schema="cegdb")
    assert len(frame) == 4
    assert pd.read_sql_table("survey", engine, schema="cegdb")["name"].tolist() == ["falls"]
    engine.dispose()


# -----------------------------------------------------------------------------
# Users' own SQL
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["df", "data", "nodes_tmp", "frame", "self", "rows"])
def test_no_query_reads_a_python_variable(db: Database, table: str) -> None:
    df = data = nodes_tmp = frame = rows = pd.DataFrame({"secret": [1]})
    assert len(df) == len(data) == len(nodes_tmp) == len(frame) == len(rows) == 1
    db.ingest(frame, name="handed")
    db.sql("create table mine (a integer)")
    with pytest.raises(QueryError, match=f"Table with name {table} does not exist") as caught:
        db.sql(f"select * from {table}")  # noqa: S608
    views = "docs/reference/sql.md describes the views of cegdb"
    assert caught.value.hint == f"your own tables are main.mine; {views}"


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ("cegdb.marginal", "did you mean cegdb.marginals?"),
        ("mein", "did you mean main.mine?"),
        ("MINES", "did you mean main.mine?"),
    ],
)
def test_a_misspelt_table_is_guessed(db: Database, table: str, hint: str) -> None:
    db.sql("create table mine (a integer)")
    with pytest.raises(QueryError) as caught:
        db.sql(f"from {table}")
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ceg_edges", "from cegdb.ceg_edges (for those of one object, in Python: ceg.rows("),
        (
            "cegdb.situations",
            "from cegdb.situations (for those of one object, in Python: tree.",
        ),
        (" surveys", "write a statement, such as: from cegdb.surveys"),
    ],
)
def test_a_name_alone_is_not_sql(db: Database, name: str, hint: str) -> None:
    for run in (db.sql, db.rows):
        with pytest.raises(QueryError, match="syntax error") as caught:
            run(name)
        assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("from cegdb.path('falls')", "did you mean cegdb.paths?"),
        ("select cegdb.quite_other(1)", "docs/reference/sql.md describes the macros of cegdb"),
    ],
)
def test_a_misspelt_macro_is_guessed(db: Database, query: str, hint: str) -> None:
    with pytest.raises(QueryError, match="Function with name") as caught:
        db.sql(query)
    assert caught.value.hint == hint


def test_sql_that_writes_to_a_file_opened_to_read_gets_a_hint(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    cegdb.open(file).close()
    with (
        cegdb.open(file, read_only=True) as db,
        pytest.raises(QueryError, match="read-only mode") as caught,
    ):
        db.sql("create table mine (a integer)")
    assert "open the file without read_only=True" in str(caught.value.hint)


@pytest.mark.parametrize("path", [5, b"falls.duckdb", ["falls.duckdb"]])
def test_what_is_not_a_path_is_not_opened(path: Any) -> None:
    with pytest.raises(StoreError, match="the path of a database must be a text or a Path"):
        cegdb.open(path)


@pytest.mark.parametrize("name", ["df", "nodes", "edges", "cegdb_source"])
def test_a_frame_is_handed_in_whatever_its_variable_is_called(db: Database, name: str) -> None:
    exec(f"{name} = pd.DataFrame({{'x': ['a']}})\ndb.ingest({name})", {"pd": pd, "db": db})  # noqa: S102
    assert db.surveys["survey"].variables["label"].tolist()[0] == "a"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "no SQL statement given"),
        (" ;\n-- nothing", "no SQL statement given"),
        ("selec 1", "syntax error"),
        ("select nothing from cegdb.survey", '"nothing" not found'),
        ("select error('boo')", "boo"),
        (
            "select if(i = 1000000, error('late boo'), 1) as x from range(2000000) as t(i)",
            "late",
        ),
        ("select $x", "parameters: x"),
        ("select '\ud800'", "can.*t encode"),
        ("select * from read_csv('/nonexistent')", "No files found"),
        (None, "SQL must be a string, not NoneType"),
    ],
)
def test_a_query_that_fails_is_a_query_error(db: Database, query: str, message: str) -> None:
    for run in (db.sql, db.rows):
        with pytest.raises(QueryError, match=message):
            run(query)
    assert db.rows("select 1 as x") == (["x"], [(1,)])


def test_parameters_are_values_never_text_of_the_query(db: Database) -> None:
    value = "'; drop schema cegdb cascade; --"
    assert db.sql("select $x as x", {"x": value})["x"].tolist() == [value]
    assert db.sql("select ? as x", [value])["x"].tolist() == [value]
    for params in ({"y": 1}, [1, 2], {"x": object()}, {"x": "\ud800"}):
        with pytest.raises(QueryError):
            db.sql("select $x as x", params)


@pytest.mark.slow
@pytest.mark.holds(made_by=falls)
def test_a_users_broken_transaction_is_theirs_alone(db: Database) -> None:
    db.sql("begin")
    with pytest.raises(QueryError, match="nope does not exist"):
        db.sql("select * from nope")
    with pytest.raises(QueryError, match=r"boo|aborted"):
        db.sql("select error('boo')")
    with pytest.raises(QueryError, match="aborted") as caught:
        db.sql("select 1")
    assert caught.value.hint == "run rollback to end the transaction"
    whole(db, "meanwhile")
    db.sql("rollback")
    assert db.sql("select count(*) as n from cegdb.survey")["n"].item() == 2


@pytest.mark.slow
@pytest.mark.holds(made_by=falls)
def test_a_conflict_with_a_users_transaction_is_an_error_of_ours(db: Database) -> None:
    before = sizes(db)
    db.sql("begin")
    db.sql("delete from cegdb.event_tree")
    with pytest.raises(StoreError, match=r"the database in memory: .*[Cc]onflict"):
        db.drop("survey", "falls")
    db.sql("rollback")
    assert sizes(db) == before
    assert db.check() == []
    db.drop("survey", "falls")


# -----------------------------------------------------------------------------
# Names, dropping, transactions
# -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.holds(made_by=falls)
def test_a_taken_name_is_refused_and_a_default_one_is_numbered(db: Database) -> None:
    ceg = db.cegs["falls"]
    staged = ceg.staging
    tree = staged.tree
    survey = db.surveys["falls"]
    for make in (
        lambda name: db.ingest(SURVEY, name=name),
        survey.event_tree,
        lambda name: tree.set_stages({}, name, prior="mass"),
        tree.learn_stages,
        staged.to_ceg,
    ):
        with pytest.raises(NameTakenError, match="'falls' already exists") as caught:
            make("falls")
        assert "replace=True" in str(caught.value)
        with pytest.raises(NameTakenError, match=r"the name for the .* is blank"):
            make(" ")
    assert [survey.event_tree(sampling_zeros="none").name for _ in range(2)] == [
        "falls-2",
        "falls-3",
    ]
    assert [tree.learn_stages(prior="mass", criterion="score").name for _ in range(2)] == [
        "falls-2",
        "falls-3",
    ]
    assert tree.set_stages({}, prior="mass").name == "falls-4"
    assert [staged.to_ceg().name for _ in range(2)] == ["falls-2", "falls-3"]
    db.drop("ceg", "falls-2")
    assert staged.to_ceg().name == "falls-2"
    assert db.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["survey", "tree", "staging", "ceg"])
@pytest.mark.holds(made_by=falls)
def test_replacing_drops_what_stands_on_it_and_nothing_else(db: Database, kind: str) -> None:
    ceg = db.cegs["falls"]
    whole(db, "other")
    before = sizes(db)
    kinds = ["survey", "tree", "staging", "ceg"]
    makers: dict[str, Callable[[], object]] = {
        "survey": lambda: db.ingest(SURVEY, name="falls", replace=True),
        "tree": lambda: db.surveys["falls"].event_tree(replace=True, sampling_zeros="none"),
        "staging": lambda: ceg.staging.tree.learn_stages(
            replace=True, prior="mass", criterion="score"
        ),
        "ceg": lambda: ceg.staging.to_ceg(replace=True),
    }
    makers[kind]()
    lists = [db.surveys, db.trees, db.stagings, db.cegs]
    for i, names in enumerate(lists):
        assert sorted(names.names()) == ["falls", "other"][i > kinds.index(kind) :]
    assert db.check() == []
    db.drop("survey", "falls")
    whole(db, "falls")
    after = sizes(db)
    response = {name for name in (*before, *after) if "response_" in name}
    assert {k: n for k, n in after.items() if k not in response} == {
        k: n for k, n in before.items() if k not in response
    }


@pytest.mark.slow
def test_dropping_leaves_no_row_behind(db: Database) -> None:
    empty = sizes(db)
    for kind, left in {"ceg": 3, "staging": 2, "tree": 1, "survey": 0}.items():
        whole(db, "falls")
        db.drop(kind, "falls")  # type: ignore[arg-type]
        assert len(db.cegs) == 0
        assert len(db.stagings) == (left > 2)
        assert len(db.trees) == (left > 1)
        assert len(db.surveys) == (left > 0)
        assert db.check() == []
        if left:
            db.drop("survey", "falls")
        assert sizes(db) == empty
    for name in ("a", "b", "c"):
        whole(db, name)
    db.drop("survey", "b")
    assert db.cegs.names() == ["a", "c"]
    assert db.check() == []
    with pytest.raises(UnknownNameError, match=r"no survey named 'b'; available: 'a', 'c'$"):
        db.drop("survey", "b")


@pytest.mark.holds(made_by=falls)
def test_dropping_a_ceg_drops_those_conditioned_on_it(db: Database) -> None:
    ceg = db.cegs["falls"]
    empty = sizes(db)
    db.sql(
        "insert into cegdb.ceg select 99, 'given', null, ceg_id, '{}', n_vertices, n_edges, "
        "settings, summary, seconds, created_at, cegdb_version, 1, 0.5, null from cegdb.ceg"
    )
    db.sql("insert into cegdb.position values (99, 0, null, 0, 0, 0)")
    db.drop("ceg", ceg.name)
    found = sizes(db)
    assert {name for name, n in found.items() if n != empty[name]} == {
        "cegdb.ceg", "cegdb.ceg_edge", "cegdb.merge_step", "cegdb.position",
        "cegdb.position_member",
    }  # fmt: skip
    assert found["cegdb.ceg"] == found["cegdb.position"] == 0


def test_an_unknown_name_lists_those_there_are(db: Database) -> None:
    with pytest.raises(UnknownNameError, match=r"no survey named 'fals'; there are none yet$"):
        _ = db.surveys["fals"]
    whole(db, "falls")
    for name, hint in (("fals", "did you mean 'falls'?"), (0, None), (None, None)):
        with pytest.raises(
            UnknownNameError, match=r"no CEG named .*; available: 'falls'"
        ) as caught:
            _ = db.cegs[name]  # type: ignore[index]
        assert caught.value.hint == hint


@pytest.mark.slow
def test_a_name_is_found_trimmed_and_in_any_case_if_only_one_fits(db: Database) -> None:
    whole(db, "Falls")
    assert db.cegs[" falls "].name == db.cegs["FALLS"].name == "Falls"
    db.trees["falls"].set_stages({}, "falls", prior="mass")
    assert db.stagings["falls"].name == "falls"
    assert db.stagings["Falls"].name == "Falls"
    with pytest.raises(UnknownNameError, match="'FALLS' may be any of 'Falls', 'falls'"):
        _ = db.stagings["FALLS"]
    db.drop("ceg", "falls")
    assert db.cegs.names() == []
    with pytest.raises(UnknownNameError, match="no kind named 'graph'"):
        db.drop("graph", "falls")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a'b\"c", "😀", "x" * 10_000, "%s", "$name", "a\nb", "-2"])
def test_any_name_of_an_object_works(db: Database, name: str) -> None:
    ceg = whole(db, name)
    assert db.cegs[name] == ceg
    assert len(ceg.edges) == len(ceg.positions) + 1 == 4
    db.drop("survey", name)
    assert db.surveys.names() == []


def test_a_name_that_is_no_text_is_refused_without_a_trace(db: Database) -> None:
    before = sizes(db)
    with pytest.raises(NameTakenError, match="it is not UTF-8 text"):
        db.ingest(SURVEY, name="\ud800")
    assert sizes(db) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "kind"),
    [
        (ingest_room, "survey"),
        (tree_room, "tree"),
        (sys.modules["cegdb.stages.build"], "staging"),
        (ceg_room, "ceg"),
    ],
)
@pytest.mark.holds(made_by=falls)
def test_an_error_at_the_last_moment_leaves_nothing(
    db: Database,
    monkeypatch: pytest.MonkeyPatch,
    room: ModuleType,
    kind: str,
) -> None:
    ceg = db.cegs["falls"]
    before = sizes(db)
    makers: dict[str, Callable[[], object]] = {
        "survey": lambda: db.ingest(pd.DataFrame({"x": ["a", "b"]}), "falls", replace=True),
        "tree": lambda: db.surveys["falls"].event_tree(sampling_zeros="full", replace=True),
        "staging": lambda: ceg.staging.tree.learn_stages(
            replace=True, prior="mass", criterion="score"
        ),
        "ceg": lambda: ceg.staging.to_ceg(replace=True),
    }

    for failure in (RuntimeError("boo"), KeyboardInterrupt()):

        def fail(*_: object, failure: BaseException = failure, **__: object) -> None:
            raise failure

        with monkeypatch.context() as patch:
            patch.setattr(room, "write", fail)
            with pytest.raises(type(failure)):
                makers[kind]()
        assert sizes(db) == before
        assert db.cegs["falls"] == ceg
    assert db.check() == []
    makers[kind]()


@pytest.mark.slow
def test_a_transaction_makes_all_or_nothing(db: Database) -> None:
    before = sizes(db)
    frame = pd.DataFrame({"x": ["a", "b"]})

    def fail() -> None:
        with db.transaction():
            whole(db, "falls")
            db.ingest(frame, "frame")
            db.ingest("select error('boo') as x")

    def fail_unseen() -> None:
        with db.transaction():
            db.ingest(frame, "frame")
            with pytest.raises(NameTakenError):
                db.ingest(frame, "frame")

    with pytest.raises(SurveyError, match="boo"):
        fail()
    assert sizes(db) == before
    with pytest.raises(StoreError, match="a step of this transaction failed"):
        fail_unseen()
    assert sizes(db) == before
    with db.transaction():
        db.ingest(frame, "frame").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        whole(db, "falls")
        assert db.cegs.names() == ["frame", "falls"]
        assert db.sql("select count(*) as n from cegdb.ceg")["n"].item() == 0
    assert db.sql("select count(*) as n from cegdb.ceg")["n"].item() == 2
    assert db.check() == []


@pytest.fixture
def heeding_interrupts() -> Iterator[None]:
    """Heed SIGINT, which a shell lets its background jobs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_during_a_long_step_leaves_nothing(db: Database) -> None:
    before = sizes(db)
    slow = "select i % 7 as x, sum(hash(i) % 100) as y from range(100000000) as t(i) group by x"
    for run in (db.ingest, db.sql, db.rows):
        interrupt = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            run(slow)
        interrupt.join()
    assert sizes(db) == before
    whole(db, "falls")


def test_the_store_gives_one_connection_to_one_thread_at_a_time() -> None:
    with Store.open() as store:
        busy, free = threading.Event(), threading.Event()

        def hold() -> None:
            with store.reading():
                busy.set()
                free.wait(LIMIT)

        holder = threading.Thread(target=hold)
        holder.start()
        busy.wait(LIMIT)
        order = []

        def wait() -> None:
            with store.reading():
                order.append("second")

        second = threading.Thread(target=wait)
        second.start()
        order.append("first")
        free.set()
        holder.join()
        second.join()
        assert order == ["first", "second"]


@pytest.mark.slow
def test_a_name_of_another_kind_is_pointed_out(db: Database) -> None:
    tree = db.ingest("select i % 2 as x from range(8) t(i)", name="sun").event_tree(
        "moon", sampling_zeros="none"
    )
    tree.learn_stages("star", prior="mass", criterion="score").to_ceg("comet")
    for found, name, hint in (
        (db.surveys, "comet", "there is a CEG 'comet', whose survey is 'sun'"),
        (db.stagings, " Comet", "there is a CEG 'comet', whose staging is 'star'"),
        (db.cegs, "moon", "there is an event tree 'moon'"),
    ):
        with pytest.raises(UnknownNameError) as error:
            _ = found[name]
        assert error.value.hint == hint
    db.cegs["comet"].given(x=1).save("tail")
    with pytest.raises(UnknownNameError, match=r"'tail', whose event tree is 'moon'$"):
        _ = db.trees["tail"]
    with pytest.raises(NetworkError, match=r"'moon' is not a \.bif file") as error:
        db.staged_tree("moon")
    assert str(error.value).endswith("db.stagings[name], available: 'star'")
