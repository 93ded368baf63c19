"""Migrations: the chain makes what the metadata says, up and down, all or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import sqlalchemy as sa
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.pool import StaticPool
from template import COPIED, template

import cegdb
from cegdb.errors import CegdbError, MigrationError
from cegdb.sqlfiles import resource_root
from cegdb.store import Store, migrate, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("from_nothing")

COLUMNS = """
    select schema_name, table_name, column_index, column_name, data_type, is_nullable,
        column_default
    from duckdb_columns() where not internal order by all
"""
# DuckDB keeps no names of constraints, only their text.
CONSTRAINTS = """
    select schema_name, table_name, constraint_type, constraint_text,
        constraint_column_names
    from duckdb_constraints() order by all
"""
OTHERS = """
    select 'view' as kind, schema_name, view_name as name, sql from duckdb_views()
        where not internal
    union all select 'macro', schema_name, function_name, macro_definition
        from duckdb_functions() where not internal
    union all select 'sequence', schema_name, sequence_name, sql from duckdb_sequences()
    union all select 'index', schema_name, index_name, sql from duckdb_indexes()
    order by all
"""


SECOND = """
from alembic import op

revision = "9000"
down_revision = "HEAD"
branch_labels = None
depends_on = None


def upgrade():
    op.execute("create table cegdb.more as select 1 as a")
    op.execute("select nothing from nowhere")


def downgrade():
    op.execute("drop table cegdb.more")
""".replace("HEAD", schema.HEAD)

# Files of macros, and a call of each that asks a CEG.
MACROS = {
    "paths": "",
    "nearest.macro": "",
    "ceg_answers.macro": "ceg_answers('none')",
    "position_probability.macro": "position_probability('none')",
    "marginals.macro": "marginals('none')",
    "most_probable_paths.macro": "most_probable_paths('none', 1)",
    "row_masses.macro": "row_masses('none', 'duckdb_tables', null)",
    "event_probability.macro": "event_probability('none', 'duckdb_tables')",
    "conditional_probability.macro": "conditional_probability('none', 'duckdb_tables', [])",
}


def shape(con: duckdb.DuckDBPyConnection) -> list[list[Any]]:
    """Return the columns, constraints, views, macros and sequences of a database."""
    return [con.execute(query).fetchall() for query in (COLUMNS, CONSTRAINTS, OTHERS)]


def tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of all tables."""
    return [row[0] for row in con.execute("select table_name from duckdb_tables()").fetchall()]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a plain connection to an empty database."""
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def engine(con: duckdb.DuckDBPyConnection) -> Iterator[sa.Engine]:
    """Give an engine on that connection, as the store makes it."""
    made = sa.create_engine(
        "duckdb://", creator=lambda: ConnectionWrapper(con), poolclass=StaticPool
    )
    yield made
    made.dispose()


def test_up_down_up_gives_the_same_schema(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine
) -> None:
    empty = shape(con)
    migrate.upgrade(engine, schema.HEAD)
    first = shape(con)
    assert {row[1] for row in first[0]} > {"survey", "vertex", "ceg_edges", "alembic_version"}
    migrate.upgrade(engine, "base")
    assert tables(con) == ["alembic_version"]
    assert con.execute("select * from cegdb.alembic_version").fetchall() == []
    con.execute("drop table cegdb.alembic_version")
    assert shape(con) == empty
    migrate.upgrade(engine, schema.HEAD)
    assert shape(con) == first


@pytest.mark.parametrize("name", [None, "copied.duckdb"])
def test_the_tests_have_the_schema_that_users_have(tmp_path: Path, name: str | None) -> None:
    file = name and tmp_path / name
    template()
    with Store.open() as store, store.reading() as con:
        expected = shape(con)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_connected", COPIED)
        patch.setattr(migrate, "make_head", None)
        with Store.open(file) as store, store.reading() as con:
            assert shape(con) == expected
            assert migrate.stored_revision(con, None) == schema.HEAD


def test_a_file_moved_down_to_base_is_made_anew_when_opened(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with Store.open(file) as store, store.reading() as con:
        first = shape(con)
        migrate.upgrade(store._engine, "base")
    with Store.open(file) as store, store.reading() as con:
        assert shape(con) == first


def test_moving_down_drops_surveys_and_all_built_on_them(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        db.ingest(
            "select i % 2 as x from range(8) as t(i)"
        ).event_tree().learn_stages().to_ceg()
        db.sql("create table mine as select 1 as a")
        migrate.upgrade(db._store._engine, "base")
        assert sorted(db.sql("from duckdb_tables()")["table_name"]) == [
            "alembic_version",
            "mine",
        ]
    with cegdb.open(file) as db:
        assert db.surveys.names() == []
        assert db.sql("from mine")["a"].tolist() == [1]


def test_a_file_of_the_second_revision_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        survey = db.ingest("select i % 2 as x, 'u' as y from range(8) as t(i)", name="old")
        survey.event_tree().learn_stages().to_ceg()
        migrate.upgrade(db._store._engine, "0002")
        assert "superseded_by" not in db.sql("from cegdb.survey")
    with cegdb.open(file) as db:
        survey = db.surveys["old"]
        survey.append("select 1 as x, 'v' as y")
        with pytest.raises(RuntimeError, match="'old \\(former rows\\)'"):
            migrate.upgrade(db._store._engine, "0002")
        db.rebuild()
        assert db.stagings["old"].drift["n_after"].tolist() == [9, 4, 5]
        assert db.check() == []
        migrate.upgrade(db._store._engine, "0002")
        assert len(db.sql("from cegdb.surveys")) == 1


def test_moving_to_where_it_is_changes_nothing(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine
) -> None:
    migrate.upgrade(engine, "base")
    migrate.upgrade(engine, schema.HEAD)
    first = shape(con)
    migrate.upgrade(engine, schema.HEAD)
    assert shape(con) == first
    assert con.execute("select * from cegdb.alembic_version").fetchall() == [(schema.HEAD,)]


def test_a_new_file_has_what_the_chain_leads_to(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine
) -> None:
    migrate.upgrade(engine, schema.HEAD)
    of_chain = shape(con)
    with Store.open() as store, store.reading() as made_at_once:
        assert shape(made_at_once) == of_chain
    ours = {table.name for table in schema.metadata.tables.values()}
    views = {row[2] for row in of_chain[2] if row[0] == "view"}
    assert {row[1] for row in of_chain[0]} == ours | {"alembic_version"} | views


def test_the_head_is_the_last_revision_and_one_follows_the_other() -> None:
    known = migrate.known_revisions()
    assert known[-1] == schema.HEAD
    assert known == [f"{i:04}" for i in range(1, len(known) + 1)]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a copy of ``migrations/`` that is used instead of the real one."""
    copy = tmp_path / "migrations"
    shutil.copytree(str(resource_root("migrations")), copy)
    monkeypatch.setattr(migrate, "resource_root", lambda _: copy)
    return copy


@pytest.mark.parametrize("name", ["views_0001/040_vertices", "views_0006/190_stage_bootstraps"])
def test_a_failing_upgrade_leaves_no_table(tmp_path: Path, broken: Path, name: str) -> None:
    view = broken / f"{name}.sql"
    right = view.read_text()
    view.write_text("create view cegdb.broken as select nothing from nowhere")
    file = tmp_path / "falls.duckdb"
    with duckdb.connect(file) as con:
        con.execute("create table mine as select 1 as a")
        before = shape(con)
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open(file)
    with duckdb.connect(file) as con:
        assert shape(con) == before
        assert tables(con) == ["mine"]
    fresh = tmp_path / "fresh.duckdb"
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open(fresh)
    assert not fresh.exists()
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open()
    view.write_text(right)
    with cegdb.open(file) as db:
        assert db.sql("from mine")["a"].tolist() == [1]
        assert db.ingest("select 1 as x").name == "survey"


def test_a_failing_second_revision_leaves_the_first_as_it_was(
    tmp_path: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        db.ingest("select 1 as x", name="kept")
    with duckdb.connect(file) as con:
        before = shape(con)
    newer = broken / "versions" / "9000_more.py"
    newer.write_text(SECOND)
    monkeypatch.setattr(migrate, "HEAD", "9000")
    with pytest.raises(CegdbError, match=f"has schema {schema.HEAD}, not 9000"):
        cegdb.open(file, read_only=True)
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        cegdb.open(file)
    with duckdb.connect(file) as con:
        assert shape(con) == before
        found = con.execute("select version_num from cegdb.alembic_version").fetchall()
        assert found == [(schema.HEAD,)]
    newer.write_text(SECOND.replace("select nothing from nowhere", "select 1"))
    with cegdb.open(file) as db:
        assert db.surveys.names() == ["kept"]
        assert db.sql("from cegdb.more")["a"].tolist() == [1]
    with Store.open(file) as store:
        migrate.upgrade(store._engine, schema.HEAD)
    with duckdb.connect(file) as con:
        assert shape(con) == before


EARLIER = migrate.known_revisions()[:-1]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a file of each earlier revision that holds all kinds of objects."""
    folder = tmp_path_factory.mktemp("earlier")
    with cegdb.open(folder / "falls.duckdb") as db:
        survey = db.ingest("select i % 2 as x, 'u' as y from range(8) as t(i)", name="old")
        survey.event_tree().learn_stages().to_ceg()
        for revision in reversed(EARLIER):
            migrate.upgrade(db._store._engine, revision)
            with db._store.reading() as con:
                con.execute("checkpoint")
            shutil.copyfile(folder / "falls.duckdb", folder / f"{revision}.duckdb")
    return folder


@pytest.mark.parametrize("revision", EARLIER)
def test_an_upgrade_goes_on_with_indexes_and_views_of_the_analyst(
    earlier: Path, tmp_path: Path, revision: str
) -> None:
    file = tmp_path / "falls.duckdb"
    shutil.copyfile(earlier / f"{revision}.duckdb", file)
    with duckdb.connect(file) as con:
        query = "select {0}_name from duckdb_{0}s() where schema_name = 'cegdb'"
        names = [
            name for kind in ("table", "view") for (name,) in rows_of(con, query.format(kind))
        ]
        con.execute('create schema "my ""own"""')
        before = {}
        for name in names:
            con.execute(f"create view of_{name} as from cegdb.{name}")
            con.execute(f'create view "my ""own"""."%{name}" as from of_{name}')
            before[name] = rows_of(con, f'from "my ""own"""."%{name}"')
        con.execute("create view cegdb.mine as select *, '%' as p from cegdb.stages")
        con.execute("create table gone (a integer)")
        con.execute("create view lost as select * from gone")
        con.execute("drop table gone")
        indexed = rows_of(
            con,
            "select table_name, column_name from duckdb_columns() where schema_name = 'cegdb' "
            "and table_name in (select table_name from duckdb_tables()) "
            "and data_type not like '%[]'",
        )
        for i, (table, column) in enumerate(indexed):
            con.execute(f"create index index_{i} on cegdb.{table} ({column})")
        con.execute("create table cegdb.child (id integer references cegdb.survey (survey_id))")
        con.execute("insert into cegdb.child values (1)")
        with pytest.raises(duckdb.Error, match="across different schemas"):
            con.execute("create table child (id integer references cegdb.survey (survey_id))")
        versions = rows_of(con, "from cegdb.alembic_version")
        assert versions == [(revision,)]
    with cegdb.open(file) as db:
        assert db.check() == []
        for name, rows in before.items():
            assert len(db.rows(f'from "my ""own"""."%{name}"')[1]) == len(rows)
        assert db.rows("select count(*) from duckdb_indexes()")[1] == [(len(indexed),)]
        assert db.rows("select count(*) from cegdb.mine")[1][0][0] > 0
        db.ingest("select 1 as x", name="new").event_tree().learn_stages().to_ceg()
        assert db.check() == []


@pytest.mark.parametrize(
    "script",
    [
        "create table cegdb.situation_pair (a integer)",
        "create view cegdb.stage_pairs as select 1 as a",
    ],
)
def test_an_upgrade_that_something_is_in_the_way_of_changes_nothing(
    tmp_path: Path, script: str
) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        db.ingest("select 1 as x", name="old")
        migrate.upgrade(db._store._engine, "0002")
    with duckdb.connect(file) as con:
        con.execute(script)
        con.execute("create view mine as select * from cegdb.surveys")
    content = file.read_bytes()
    with pytest.raises(MigrationError, match=r"and is as it was: .* already exists") as caught:
        cegdb.open(file)
    assert "rename or drop what you made yourself" in str(caught.value.hint)
    assert file.read_bytes() == content
    with duckdb.connect(file) as con:
        assert rows_of(con, "select survey from mine") == [("old",)]
        name = script.split()[2]
        con.execute(f"drop {script.split()[1]} {name}")
    with cegdb.open(file) as db:
        assert db.rows("select survey from mine")[1] == [("old",)]


def rows_of(con: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return con.execute(query).fetchall()


def test_each_view_and_macro_has_its_file_and_runs() -> None:
    files = {
        item.name.split("_", 1)[1].removesuffix(".sql")
        for folder in resource_root("migrations").iterdir()
        if folder.name.startswith("views_")
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    }
    expected = {
        (name.removesuffix(".macro"), "macro" if name in MACROS else "view") for name in files
    }
    with Store.open() as store, store.reading() as made:
        found = {(row[2], row[0]) for row in shape(made)[2] if row[0] in ("view", "macro")}
        assert found == expected
        for name, kind in found:
            if kind == "view":
                assert made.execute(f"from cegdb.{name}").fetchall() == []
        assert made.execute("from cegdb.paths('none')").fetchall() == []
        for call in MACROS.values():
            if call:
                with pytest.raises(duckdb.Error, match="there is no CEG 'none'; there are: no"):
                    made.execute(f"from cegdb.{call}").fetchall()


def test_a_folder_of_any_name_may_hold_the_package(
    tmp_path: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "100% sure, it's %(here)s"
    shutil.move(broken, odd)
    monkeypatch.setattr(migrate, "resource_root", lambda _: Path(odd))
    with cegdb.open() as db:
        assert db.surveys.names() == []
