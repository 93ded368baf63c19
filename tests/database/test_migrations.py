"""Migrations: a new file is what the chain leads to, up and down, all or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from database_template import TABLES, connect_with_template, template_file
from duckdb_sqlalchemy import ConnectionWrapper
from sqlalchemy.pool import StaticPool

import cegdb
from cegdb.cli import main
from cegdb.errors import CegdbError, MigrationError
from cegdb.sqlfiles import resource_root
from cegdb.store import Store, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("from_nothing")

COLUMNS = """
    select schema_name, table_name, column_index, column_name, data_type, is_nullable,
        column_default, comment
    from duckdb_columns() where not internal order by all
"""
# DuckDB keeps no names of constraints, only their text.
CONSTRAINTS = """
    select schema_name, table_name, constraint_type, constraint_text,
        constraint_column_names
    from duckdb_constraints() order by all
"""
OTHERS = """
    select 'view' as kind, schema_name, view_name as name, sql, comment from duckdb_views()
        where not internal
    union all select 'macro', schema_name, function_name, macro_definition, comment
        from duckdb_functions() where not internal
    union all select 'table', schema_name, table_name, null, comment from duckdb_tables()
    union all select 'sequence', schema_name, sequence_name, sql, comment
        from duckdb_sequences()
    union all select 'index', schema_name, index_name, sql, comment from duckdb_indexes()
    order by all
"""


HEAD = migrate.known_revisions(resource_root("migrations"))[-1]
LATER = "9000_more"
REVISION = f"""
from pathlib import Path

from alembic import op

revision = "{LATER}"
down_revision = "{HEAD}"
branch_labels = None
depends_on = None


def upgrade():
    folder = Path(__file__).parents[1] / "sql" / revision
    for file in sorted(folder.glob("*.sql")):
        op.get_bind().exec_driver_sql(file.read_text())


def downgrade():
    op.execute("drop view cegdb.more_stages")
    op.execute("drop table cegdb.more")
    op.execute("alter table cegdb.staging drop more")
    op.execute("alter table cegdb.survey drop more")
"""
# New columns break the views that name them all, in DuckDB 1.
SCRIPT = """
create table cegdb.more (a integer);
comment on table cegdb.more is 'More.';
alter table cegdb.survey add column more integer;
alter table cegdb.staging add column more varchar;
create view cegdb.more_stages as select * from cegdb.stages;
"""

MINE = "'it''s {mine}'"
CATALOG = {"survey", "variable", "level", "event_tree", "staging", "ceg"}

# Files of macros, and a call of each that asks a CEG.
MACROS = {
    "paths.macro": "paths('none')",
    "nearest.macro": "",
    "situation_paths.macro": "",
    "normal_quantile.macro": "",
    "share_limits.macro": "",
    "counted_edges.macro": "",
    "known_variables.macro": "",
    "agreeing.macro": "",
    "path_limits.macro": "",
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


def without_comments(shape: list[list[Any]]) -> list[list[Any]]:
    """Return the columns, constraints and others as a database in memory has them."""
    columns, constraints, others = shape
    return [[row[:-1] for row in columns], constraints, [row[:-1] for row in others]]


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


@pytest.mark.slow
def test_up_down_up_gives_the_same_schema(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine
) -> None:
    empty = shape(con)
    migrate.upgrade(engine, HEAD)
    first = shape(con)
    assert {row[1] for row in first[0]} > {"survey", "vertex", "ceg_edges", "alembic_version"}
    migrate.upgrade(engine, "base")
    assert tables(con) == ["alembic_version"]
    assert con.execute("select * from cegdb.alembic_version").fetchall() == []
    con.execute("drop table cegdb.alembic_version")
    assert shape(con) == empty
    migrate.upgrade(engine, HEAD)
    assert shape(con) == first


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "copied.duckdb"])
def test_the_tests_have_the_schema_that_users_have(tmp_path: Path, name: str | None) -> None:
    file = name and tmp_path / name
    template_file()
    with Store.open(name and tmp_path / "made.duckdb") as store, store.reading() as con:
        expected = shape(con)
    same = shape if name else lambda con: without_comments(shape(con))
    if not name:
        expected = without_comments(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "connect", staticmethod(connect_with_template))
        patch.setattr(migrate, "create_schema", None)
        with Store.open(file) as store, store.reading() as con:
            assert same(con) == expected
            assert migrate.stored_revision(con, None) == HEAD


@pytest.mark.slow
def test_a_file_moved_down_to_base_is_made_anew_when_opened(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with Store.open(file) as store, store.reading() as con:
        first = shape(con)
        migrate.upgrade(store._engine, "base")
    with Store.open(file) as store, store.reading() as con:
        assert shape(con) == first


@pytest.mark.slow
def test_moving_down_drops_surveys_and_all_built_on_them(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        db.ingest("select i % 2 as x from range(8) as t(i)").event_tree(
            sampling_zeros="none"
        ).learn_stages(prior="mass", criterion="score").to_ceg()
        db.sql("create table mine as select 1 as a")
        migrate.upgrade(db._store._engine, "base")
        assert sorted(db.sql("from duckdb_tables()")["table_name"]) == [
            "alembic_version",
            "mine",
        ]
    with cegdb.open(file) as db:
        assert db.surveys.names() == []
        assert db.sql("from mine")["a"].tolist() == [1]


@pytest.mark.slow
def test_moving_to_where_it_is_changes_nothing(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine
) -> None:
    migrate.upgrade(engine, "base")
    migrate.upgrade(engine, HEAD)
    first = shape(con)
    migrate.upgrade(engine, HEAD)
    assert shape(con) == first
    assert con.execute("select * from cegdb.alembic_version").fetchall() == [(HEAD,)]


@pytest.mark.slow
def test_a_new_database_has_what_the_chain_leads_to(
    con: duckdb.DuckDBPyConnection, engine: sa.Engine, tmp_path: Path
) -> None:
    migrate.upgrade(engine, HEAD)
    of_chain = shape(con)
    with Store.open(tmp_path / "new.duckdb") as store, store.reading() as made_at_once:
        assert shape(made_at_once) == of_chain
    with Store.open() as store, store.reading() as in_memory:
        assert without_comments(shape(in_memory)) == without_comments(of_chain)
    ours = {table.name for table in TABLES}
    views = {row[2] for row in of_chain[2] if row[0] == "view"}
    assert {row[1] for row in of_chain[0]} == ours | {"alembic_version"} | views


def test_python_names_the_columns_that_there_are() -> None:
    with Store.open() as store, store.reading() as con:
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in rows_of(
            con,
            "select table_name, column_name, data_type from duckdb_columns() "
            "where schema_name = 'cegdb' and table_name in "
            "(select table_name from duckdb_tables()) order by table_oid, column_index",
        ):
            found.setdefault(table, {})[column] = kind
    del found["alembic_version"]
    assert found.keys() == {table.name for table in TABLES}
    for table in TABLES:
        columns = found[table.name]
        names = [column.name for column in table.c]
        if table.name in CATALOG:
            assert names == list(columns)
        else:
            assert names[0] == next(iter(columns))
            assert set(names) <= set(columns)
        for column in table.c:
            assert isinstance(column.type, sa.JSON) == (columns[column.name] == "JSON")


@pytest.mark.slow
def test_nothing_in_a_file_is_without_a_comment(tmp_path: Path) -> None:
    with Store.open(tmp_path / "new.duckdb") as store, store.reading() as con:
        columns, _, others = shape(con)
        texts = {(row[1], row[3]): row[-1] for row in columns}
        texts |= {(row[0], row[2]): row[-1] for row in others if row[0] != "sequence"}
    assert len(texts) > 600
    assert [name for name, text in texts.items() if not text] == []
    assert [text for text in texts.values() if not text.strip().endswith(".")] == []


def test_each_revision_follows_the_one_before() -> None:
    known = migrate.known_revisions(resource_root("migrations"))
    assert known[0] == "0001_first"
    assert [name[:5] for name in known] == [f"{i:04}_" for i in range(1, len(known) + 1)]
    scripts = (resource_root("migrations") / "versions").iterdir()
    texts = {item.name: item.read_text() for item in scripts if item.name.endswith(".py")}
    for before, name in zip([None, *known], known, strict=False):
        assert f'revision = "{name}"' in texts[f"{name}.py"]
        assert f"down_revision = {before and chr(34) + before + chr(34)}" in texts[f"{name}.py"]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Give a copy of ``migrations/`` to change."""
    return Path(shutil.copytree(str(resource_root("migrations")), tmp_path / "migrations"))


def opened(file: Path | None, migrations: Path, *, read_only: bool = False) -> cegdb.Database:
    """Open a database with another folder of migrations."""
    return cegdb.Database(Store.open(file, read_only=read_only, migrations=migrations))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tables/040_event_tree", "views/190_stage_bootstraps"])
def test_a_failing_upgrade_leaves_no_table(tmp_path: Path, broken: Path, name: str) -> None:
    view = broken / "sql" / "0001_first" / f"{name}.sql"
    right = view.read_text()
    view.write_text("create view cegdb.broken as select nothing from nowhere")
    file = tmp_path / "falls.duckdb"
    with duckdb.connect(file) as con:
        con.execute("create table mine as select 1 as a")
        before = shape(con)
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open(file, migrations=broken)
    with duckdb.connect(file) as con:
        assert shape(con) == before
        assert tables(con) == ["mine"]
    fresh = tmp_path / "fresh.duckdb"
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open(fresh, migrations=broken)
    assert not fresh.exists()
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        Store.open(migrations=broken)
    view.write_text(right)
    with opened(file, broken) as db:
        assert db.sql("from mine")["a"].tolist() == [1]
        assert db.ingest("select 1 as x").name == "survey"


@pytest.fixture
def longer(broken: Path) -> Path:
    """Give a folder of migrations with one more revision."""
    (broken / "versions" / f"{LATER}.py").write_text(REVISION)
    script = broken / "sql" / LATER / "010_more.sql"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    return broken


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of the real head that holds all kinds of objects; empty.duckdb beside it."""
    file = tmp_path_factory.mktemp("made") / "falls.duckdb"
    Store.open(file.with_name("empty.duckdb")).close()
    with cegdb.open(file) as db:
        survey = db.ingest("select i % 2 as x, 'u' as y from range(8) as t(i)", name="old")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    return file


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """Give a copy of that file."""
    return Path(shutil.copyfile(made, tmp_path / "falls.duckdb"))


@pytest.mark.slow
def test_a_failing_later_revision_leaves_the_first_as_it_was(file: Path, longer: Path) -> None:
    later = longer / "sql" / LATER / "010_more.sql"
    with duckdb.connect(file) as con:
        before = shape(con)
    content = file.read_bytes()
    later.write_text(SCRIPT + "select nothing from nowhere;")  # noqa: S608
    with pytest.raises(CegdbError, match=f"has schema {HEAD}, not {LATER}"):
        opened(file, longer, read_only=True)
    with pytest.raises(CegdbError, match="nowhere does not exist"):
        opened(file, longer)
    assert file.read_bytes() == content
    with duckdb.connect(file) as con:
        assert shape(con) == before
        assert rows_of(con, "from cegdb.alembic_version") == [(HEAD,)]
    later.write_text(SCRIPT)
    with opened(file, longer) as db:
        assert db.surveys.names() == ["old"]
        assert db.sql("from cegdb.more")["a"].tolist() == []
    with Store.open(file, migrations=longer) as store:
        migrate.upgrade(store._engine, HEAD, folder=longer)
    with duckdb.connect(file) as con:
        assert shape(con) == before


@pytest.mark.slow
def test_a_file_that_was_upgraded_has_the_schema_of_a_new_one(
    made: Path, tmp_path: Path, longer: Path
) -> None:
    file = shutil.copyfile(made.with_name("empty.duckdb"), tmp_path / "empty.duckdb")
    fresh = tmp_path / "fresh.duckdb"
    for path in (file, fresh):
        Store.open(path, migrations=longer).close()
    with duckdb.connect(fresh) as con:
        expected = shape(con)
    with duckdb.connect(file) as con:
        assert shape(con) == expected
        assert rows_of(con, "from cegdb.alembic_version") == [(LATER,)]


@pytest.mark.slow
def test_an_upgrade_goes_on_with_indexes_and_views_of_the_analyst(
    file: Path, longer: Path
) -> None:
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
            con.execute(f'comment on view "my ""own"""."%{name}" is {MINE}')
            before[name] = rows_of(con, f'from "my ""own"""."%{name}"')
        con.execute('create view of_of as select survey_id as "a ""b" from cegdb.survey')
        con.execute(f'comment on column of_of."a ""b" is {MINE}')
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
        assert rows_of(con, "from cegdb.alembic_version") == [(HEAD,)]
    with opened(file, longer) as db:
        assert db.check() == []
        for name, rows in before.items():
            assert len(db.rows(f'from "my ""own"""."%{name}"')[1]) == len(rows)
        assert db.rows("select count(*) from duckdb_indexes()")[1] == [(len(indexed),)]
        assert db.rows("select count(*) from cegdb.mine")[1][0][0] > 0
        for comments in (
            "duckdb_views() where view_name like '\\%%' escape '\\'",
            "duckdb_columns() where table_name = 'of_of'",
        ):
            found = db.rows(f"select distinct comment from {comments}")[1]  # noqa: S608
            assert found == [("it's {mine}",)]
        db.ingest("select 1 as x", name="new").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        assert db.check() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    ["create table cegdb.more (a integer)", "create view cegdb.more_stages as select 1 as a"],
)
def test_an_upgrade_that_something_is_in_the_way_of_changes_nothing(
    file: Path, longer: Path, script: str
) -> None:
    with duckdb.connect(file) as con:
        con.execute(script)
        con.execute("create view mine as select * from cegdb.surveys")
    content = file.read_bytes()
    with pytest.raises(MigrationError, match=r"and is unchanged: .* already exists") as caught:
        opened(file, longer)
    assert "rename or drop your own views and indexes" in str(caught.value.hint)
    assert file.read_bytes() == content
    with duckdb.connect(file) as con:
        assert rows_of(con, "select survey from mine") == [("old",)]
        name = script.split()[2]
        con.execute(f"drop {script.split()[1]} {name}")
    with opened(file, longer) as db:
        assert db.rows("select survey from mine")[1] == [("old",)]


@pytest.mark.slow
@pytest.mark.parametrize("revision", [f"{number:04}" for number in range(1, 11)])
def test_a_file_from_before_the_first_release_is_refused_and_left_alone(
    file: Path, revision: str
) -> None:
    with duckdb.connect(file) as con:
        con.execute("update cegdb.alembic_version set version_num = $1", [revision])
    content = file.read_bytes()
    for read_only in (False, True):
        with pytest.raises(MigrationError, match=rf"\(schema {revision}\)") as caught:
            cegdb.open(file, read_only=read_only)
        assert "before its first release" in str(caught.value)
        assert "commit f46e688 of cegdb still reads it" in str(caught.value.hint)
    result = CliRunner().invoke(main, ["migrate", str(file)])
    assert result.exit_code == MigrationError.exit_code
    assert "hint: commit f46e688" in result.stderr
    assert file.read_bytes() == content
    assert [item.name for item in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("revision", ["0000", "0011", "0001_other", "9999_more", ""])
def test_a_revision_that_is_not_known_is_of_a_newer_cegdb(file: Path, revision: str) -> None:
    with duckdb.connect(file) as con:
        con.execute("update cegdb.alembic_version set version_num = $1", [revision])
    content = file.read_bytes()
    for read_only in (False, True):
        with pytest.raises(MigrationError, match=rf"newer cegdb \(schema {revision}") as caught:
            cegdb.open(file, read_only=read_only)
        assert caught.value.hint == "upgrade cegdb"
    assert file.read_bytes() == content


def rows_of(con: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return con.execute(query).fetchall()


@pytest.mark.slow
def test_soft_evidence_of_a_former_file_becomes_a_relative_likelihood(tmp_path: Path) -> None:
    file = tmp_path / "former.duckdb"
    with cegdb.open(file) as db:
        ceg = db.demo("chds")
        ceg.given(cegdb.evidence.likelihood("Social", {"High": 9, "Low": 2})).save("soft")
        ceg.given(Social="High").save("hard")
        migrate.upgrade(db._store._engine, "0001_first")
    with duckdb.connect(file) as con:
        former = dict(rows_of(con, "select name, probability from cegdb.ceg"))
    with cegdb.open(file) as db:
        soft, hard = db.cegs["soft"], db.cegs["hard"]
        assert (soft.probability_of_evidence, hard.relative_likelihood) == (None, None)
        assert soft.relative_likelihood == former["soft"] == pytest.approx(5.987, abs=1e-3)
        assert hard.probability_of_evidence == former["hard"]
        assert db.check() == []


@pytest.mark.slow
def test_each_view_and_macro_has_its_file_and_runs() -> None:
    files = {
        item.name.split("_", 1)[1].removesuffix(".sql")
        for folder in (resource_root("migrations") / "sql").iterdir()
        if (folder / "views").is_dir()
        for item in (folder / "views").iterdir()
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
        for call in MACROS.values():
            if call:
                with pytest.raises(
                    duckdb.Error, match="no CEG named 'none'; there are none yet"
                ):
                    made.execute(f"from cegdb.{call}").fetchall()


def test_a_folder_of_any_name_may_hold_the_package(tmp_path: Path, broken: Path) -> None:
    odd = tmp_path / "100% sure, it's %(here)s"
    shutil.move(broken, odd)
    with opened(None, odd) as db:
        assert db.surveys.names() == []
