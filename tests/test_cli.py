"""The command line: every command as a user runs it, every error as one message."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

import cegdb
from cegdb.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
ROWS = """area,assessed,risk,fall
north,yes,high,fall
north,yes,low,none
north,yes,high,none
south,yes,low,none
south,yes,high,fall
south,no,,none
south,no,,fall
north,no,,none
north,no,,none
north,no,,fall
south,no,,none
south,no,,none
south,no,,fall
north,no,,none
north,no,,none
"""


def call(*arguments: str | Path, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == fails, result.output
    assert "Traceback" not in result.output
    if fails and fails != 2:
        assert result.stderr.count("error: ") == 1
    return result


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "falls.csv"
    file.write_text(ROWS)
    return file


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the database that ``run`` makes of the survey, to be copied."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "falls.csv").write_text(ROWS)
    call("run", folder / "falls.csv", "--db", folder / "falls.duckdb")
    return folder / "falls.duckdb"


@pytest.fixture
def db(survey: Path, built: Path) -> Path:
    return Path(shutil.copy(built, survey.with_name("falls.duckdb")))


def test_run_goes_from_rows_to_the_edges_of_the_ceg(survey: Path) -> None:
    result = call("run", survey, "--db", "falls.duckdb", "--alpha", "2")
    edges = rows_of(result)
    assert set(edges[0]) == {"source", "label", "target", "variable", "n", "probability"}
    assert sum(int(edge["n"]) for edge in edges if edge["target"] == "w_inf") == 15
    for made in ("survey 'falls'", "event tree 'falls'", "staging 'falls'", "CEG 'falls'"):
        assert made in result.stderr
    assert "15 rows read, 15 kept" in result.stderr
    assert "10 blank (not applicable)" in result.stderr
    call("check", "falls.duckdb")


def test_run_without_a_database_works_in_memory(survey: Path) -> None:
    assert rows_of(call("run", survey))
    assert sorted(path.name for path in survey.parent.iterdir()) == ["falls.csv"]


def test_run_again_takes_the_next_name_or_replaces(survey: Path, db: Path) -> None:
    assert "CEG 'falls-2'" in call("run", survey, "--db", db).stderr
    assert "CEG 'falls'" in call("run", survey, "--db", db, "--replace").stderr
    names = [row["name"] for row in rows_of(call("list", db)) if row["kind"] == "ceg"]
    assert sorted(names) == ["falls", "falls-2"]


def test_a_failing_run_leaves_the_database_as_it_was(survey: Path, db: Path) -> None:
    before = call("sql", db, "from cegdb.ceg_edges order by all").stdout
    call("run", survey, "--db", db, "--replace", "--alpha", "0", fails=3)
    call("run", survey, "--db", db, "--replace", "--order", "area,nothing", fails=3)
    assert call("sql", db, "from cegdb.ceg_edges order by all").stdout == before
    assert len(rows_of(call("list", db))) == 4


def test_the_steps_one_by_one_equal_run(survey: Path, db: Path) -> None:
    call("ingest", db, survey, "--name", "again")
    call("tree", db, "again", "--order", "area,assessed,risk,fall")
    call("stages", db, "again")
    call("ceg", db, "again", "--stop", "baseline")
    query = "select source, label, target, n, probability from cegdb.ceg_edges where ceg = '{}'"
    one = call("sql", db, query.format("falls") + " order by all").stdout
    assert call("sql", db, query.format("again") + " order by all").stdout == one
    for kind in ("survey", "tree", "staging", "ceg"):
        assert rows_of(call("show", db, kind, "again"))
    call("drop", db, "survey", "again")
    assert {row["name"] for row in rows_of(call("list", db))} == {"falls"}


def test_stages_are_taken_from_a_file(db: Path, tmp_path: Path) -> None:
    given = tmp_path / "stages.csv"
    query = "select vertex_id, variable as stage from cegdb.situations where variable = 'fall'"
    found = call("sql", db, f"{query} and height = 1 and depth = 2", "--format", "csv")
    given.write_text(found.stdout)
    result = call("stages", db, "falls", "--given", given, "--name", "by_hand")
    assert "5 situations not named" in result.stderr or "not named" in result.stderr


def test_sql_prints_a_table_json_or_csv(db: Path) -> None:
    query = "select ceg, n from cegdb.positions where position = 'w_inf'"
    assert json.loads(call("sql", db, query, "--format", "json").stdout) == [
        {"ceg": "falls", "n": 15}
    ]
    twice = call("sql", db, "select 1 as a, 2 as a, 3 as a_1, 4 as a", "--format", "json")
    assert json.loads(twice.stdout) == [{"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}]
    assert call("sql", db, query).stdout == "ceg,n\nfalls,15\n"
    assert "falls   15" in call("sql", db, query, "--format", "table").stdout


def test_steps_shows_a_step_for_the_shell(db: Path) -> None:
    shown = call("steps", "--show", "layer_block").stdout
    assert shown.startswith("prepare layer_block as\n-- step:    layer_block")
    assert "no step is called 'x'" in call("steps", "--show", "x", fails=4).stderr
    assert "Missing argument 'QUERY'" in call("sql", db, fails=2).stderr


def test_sql_opens_the_file_read_only(db: Path) -> None:
    assert "read-only" in call("sql", db, "create table x as select 1", fails=3).stderr


@pytest.mark.parametrize("suffix", ["dot", "graphml", "json", "csv", "parquet"])
def test_export_writes_each_format(db: Path, suffix: str) -> None:
    call("export", db, "falls", "-o", f"out.{suffix}")
    assert (db.parent / f"out.{suffix}").stat().st_size > 0
    bad = call("export", db, "falls", "-o", "out.xls", fails=3).stderr
    assert "out.xls" in bad


@pytest.mark.parametrize("kind", ["tree", "staging", "ceg"])
def test_draw_makes_a_picture_of_each_kind(db: Path, kind: str) -> None:
    pytest.importorskip("pygraphviz")
    call("draw", db, "falls", "--kind", kind, "-o", "out.svg", "--edge-info", "count")
    assert (db.parent / "out.svg").read_text().startswith("<?xml")


@pytest.mark.usefixtures("survey")
def test_demo_shows_both_data_sets() -> None:
    result = call("demo", "--db", "demo.duckdb")
    assert "10 vertices (including the sink), 21 edges" in result.stderr
    assert "-2478.4897" in result.stderr
    result = call("demo", "titanic", "--db", "demo.duckdb")
    assert "2,201 respondents" in result.stderr
    call("check", "demo.duckdb")
    crew = "select n from cegdb.florets where tree = 'titanic' and labels = ['Adult']"
    assert call("sql", "demo.duckdb", crew).stdout == "n\n885\n"


BAD_FILES = {
    "missing.csv": (None, "there is no file missing.csv"),
    "empty.csv": (b"", "empty.csv is empty"),
    "header.csv": (b"a,b\n", "header.csv has a header but no rows"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\0\0\0", "picture.csv is not a CSV file"),
    "ragged.csv": (b"a,b\n1,2\n3\n", "ragged.csv, line 3: 1 field where the header has 2"),
    "latin.csv": ("a,b\né,2\n".encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_message_and_no_trace(db: Path, name: str) -> None:
    content, message = BAD_FILES[name]
    if content is not None:
        (db.parent / name).write_bytes(content)
    result = call("run", name, "--db", db, fails=3)
    assert message in result.stderr
    assert len(rows_of(call("list", db))) == 4


BAD_SETTINGS = {
    ("--order", "area,nobody"): "there is no variable 'nobody' in ",
    ("--columns", "area,nobody"): "there is no variable 'nobody' in ",
    ("--count", "fall"): "'fall' contains fall, none (rows 1, 2",
    ("--alpha", "-1"): "alpha is -1.0",
    ("--alpha", "nan"): "alpha is nan",
    ("--impossible", "area"): "'area' is not a path",
    ("--impossible", "area=west"): "'area' has no label 'west'",
    ("--levels", "area=north"): "has answers that levels does not list: 'south' (7 rows)",
    ("--levels", "area"): "--levels 'area' is not",
    ("--missing", "x", "--missing", "risk=y"): "are mixed",
    ("--name", " "): "a survey needs a name",
}


@pytest.mark.parametrize("options", BAD_SETTINGS)
def test_a_bad_setting_is_one_message_and_no_trace(
    survey: Path, db: Path, options: tuple[str, ...]
) -> None:
    result = call("run", survey, "--db", db, *options, fails=3)
    assert BAD_SETTINGS[options] in result.stderr
    assert len(rows_of(call("list", db))) == 4


@pytest.mark.parametrize("option", ["--order", "--columns"])
@pytest.mark.parametrize(
    ("name", "written"),
    [("a, b", '"a, b"'), ("a,b", '"a,b"'), ('a, "b"', '"a, ""b"""'), ("it's a,b", None)],
)
def test_a_name_with_a_comma_says_how_to_quote_it(
    db: Path, option: str, name: str, written: str | None
) -> None:
    file = db.parent / "comma.csv"
    with file.open("w", newline="") as target:
        csv.writer(target).writerows([[name, "c"], ["x", "y"], ["x", "z"]])
    result = call("run", file, option, f"{name},c", fails=3)
    command = result.stderr.split("quoted twice: ")[1].strip()
    if written:
        assert command == f"--order '{written},...'"
    (_, given) = shlex.split(command)
    assert rows_of(call("run", file, option, given.replace("...", "c")))
    plain = call("run", file, option, "zz,c", fails=3)
    assert "quoted twice" not in plain.stderr


def test_a_taken_name_says_how_to_replace(survey: Path, db: Path) -> None:
    result = call("ingest", db, survey, "--name", "falls", fails=3)
    assert "there is a survey called 'falls' already" in result.stderr
    assert "--replace" in result.stderr


def test_unknown_objects_are_listed(db: Path) -> None:
    for command in (("tree", db, "fals"), ("stages", db, "fals"), ("ceg", db, "fals")):
        assert "hint: there are 'falls'" in call(*command, fails=3).stderr


def test_bad_stages_name_the_situation(db: Path, tmp_path: Path) -> None:
    given = tmp_path / "stages.csv"
    given.write_text("vertex_id,stage\n0,a\n1,a\n")
    stderr = call("stages", db, "falls", "--given", given, fails=3).stderr
    assert "stage 'a' joins situation (the root) with labels north, south and" in stderr
    given.write_text("vertex_id,stage\n999,a\n")
    stderr = call("stages", db, "falls", "--given", given, fails=3).stderr
    assert "vertex_id 999 is no situation" in stderr
    assert len(rows_of(call("list", db))) == 4


def test_a_file_that_is_no_database_is_refused(survey: Path) -> None:
    assert "is not a DuckDB database" in call("list", survey, fails=1).stderr
    assert "there is no file none.duckdb" in call("list", "none.duckdb", fails=1).stderr
    assert "there is no file none.duckdb" in call("migrate", "none.duckdb", fails=1).stderr


@pytest.mark.usefixtures("survey")
def test_a_plain_database_is_migrated_on_request() -> None:
    duckdb.connect("plain.duckdb").close()
    stderr = call("list", "plain.duckdb", fails=1).stderr
    assert "hint: run: cegdb migrate plain.duckdb" in stderr
    call("migrate", "plain.duckdb")
    assert rows_of(call("list", "plain.duckdb")) == []


def test_a_newer_file_and_a_foreign_schema_are_refused(db: Path) -> None:
    con = duckdb.connect(db)
    con.execute("update cegdb.alembic_version set version_num = '9999'")
    con.close()
    assert "written by a newer cegdb" in call("list", db, fails=1).stderr
    foreign = duckdb.connect("foreign.duckdb")
    foreign.execute("create schema cegdb; create table cegdb.mine (x integer)")
    foreign.close()
    assert "cegdb did not make" in call("list", "foreign.duckdb", fails=1).stderr


def test_a_locked_file_names_the_process(db: Path) -> None:
    code = (
        f"import cegdb, time; db = cegdb.open({str(db)!r}); print('open', flush=True); input()"
    )
    holder = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "open\n"
        stderr = call("list", db, fails=1).stderr
        assert f"is in use by process {holder.pid}" in stderr
        assert "hint: close it there" in stderr
    finally:
        holder.communicate("\n")
    call("list", db)


def test_check_lists_what_is_wrong(db: Path) -> None:
    assert "all invariants hold" in call("check", db).stderr
    con = duckdb.connect(db)
    con.execute("update cegdb.edge set n = n + 1 where child_id = 1")
    con.close()
    result = call("check", db, fails=1)
    assert rows_of(result)[0]["name"] == "falls"
    assert "rows violate an invariant" in result.stderr


def test_one_variable_and_one_level_are_no_errors(survey: Path) -> None:
    survey.write_text("only\nyes\nyes\n")
    assert "2 vertices (including the sink), 1 edge" in call("run", survey).stderr


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_help_with_an_example_and_is_in_the_readme(command: str) -> None:
    shown = call(command, "--help").stdout
    assert "Example" in shown
    assert f"  cegdb {command}" in shown
    assert f"cegdb {command}" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["", *main.commands])
def test_examples_of_a_help_text_stand_one_on_a_line(command: str) -> None:
    shown = call(*filter(None, [command]), "--help").stdout
    assert "\\b" not in shown
    assert "\b" not in shown
    lines = shown[shown.index("Example") :].split("\n\n")[0].splitlines()[1:]
    assert lines
    assert all(line.strip().startswith("cegdb ") for line in lines), lines


@pytest.mark.parametrize("picture", ["falls.bmp", "nowhere/falls.svg"])
def test_a_picture_that_cannot_be_drawn_is_refused_before_any_work(
    survey: Path, tmp_path: Path, picture: str
) -> None:
    stored = tmp_path / "new.duckdb"
    call("run", survey, "--db", stored, "--draw", tmp_path / picture, fails=3)
    assert not stored.exists()


@pytest.mark.parametrize("arguments", [["run", "none.csv", "--db"], ["ingest"]])
def test_a_refused_file_leaves_no_new_database(
    tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rest = ["none.csv"] if arguments == ["ingest"] else []
    call(*arguments, "new.duckdb", *rest, fails=3)
    assert list(tmp_path.iterdir()) == []


def test_rows_are_shown_in_the_order_of_their_ids(tmp_path: Path) -> None:
    stored = tmp_path / "demo.duckdb"
    shown = call(
        "demo", "titanic", "--db", stored, "--draw", tmp_path / "t.svg", "--format", "csv"
    )
    sources = [line.split(",")[0] for line in shown.stdout.split("\n\n")[0].splitlines()[1:]]
    names = list(dict.fromkeys(name for name in sources if name.startswith("w")))
    assert names == [f"w{i}" for i in range(len(names))]
    assert len(names) > 10
    assert "sampling_zeros" not in shown.stderr
    for kind, column in (("staging", "stage"), ("ceg", "source")):
        rows = rows_of(call("show", stored, kind, "titanic", "--format", "csv"))
        found = list(dict.fromkeys(row[column] for row in rows))
        assert found == [f"{found[0][0]}{i}" for i in range(len(found))]


def test_a_fault_of_ours_is_one_message(survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(cegdb.Database, "ingest", broken)
    assert "internal: ZeroDivisionError: boom" in call("run", survey, fails=4).stderr


def test_an_interrupt_leaves_the_database_and_exits_130(
    survey: Path, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cegdb.EventTree, "learn_stages", interrupted)
    result = CliRunner().invoke(main, ["run", str(survey), "--db", str(db), "--replace"])
    assert result.exit_code == 130
    assert "interrupted: the database is as it was before" in result.stderr
    assert len(rows_of(call("list", db))) == 4


@pytest.mark.slow
def test_help_loads_no_heavy_module() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from cegdb.cli import main; "
        "CliRunner().invoke(main, ['--help']); "
        "print(sorted({'duckdb', 'pandas', 'networkx', 'sqlalchemy', 'numpy', 'rich'} "
        "& set(sys.modules)))"
    )
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


@pytest.mark.slow
def test_run_imports_neither_pandas_nor_networkx(survey: Path) -> None:
    code = (
        "import sys; from click.testing import CliRunner; from cegdb.cli import main; "
        f"result = CliRunner().invoke(main, ['run', {str(survey)!r}]); "
        "print(result.exit_code, sorted({'pandas', 'networkx'} & set(sys.modules)))"
    )
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout == "0 []\n"


def test_an_unreadable_file_of_stages_is_one_message(db: Path, tmp_path: Path) -> None:
    given = tmp_path / "stages.csv"
    given.write_text("vertex_id,stage\n1,a\n2\n")
    stderr = call("stages", db, "falls", "--given", given, fails=3).stderr
    assert "stages.csv" in stderr
    assert "line" in stderr
    assert "select" not in stderr


def test_ingest_prints_the_receipt(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "dirty.csv"
    file.write_text("x,y\na,1\nb,\na,?\n")
    shown = call("ingest", db, file, "--missing", "?", "--format", "csv")
    assert rows_of(shown) == [
        {"variable": "x", "value": "3", "structural": "0", "missing": "0", "blank": "0"},
        {"variable": "y", "value": "1", "structural": "0", "missing": "1", "blank": "1"},
    ]
    shown = call("ingest", db, file, "--missing", "?", "--format", "json")
    receipt = json.loads(shown.stdout)
    assert receipt["rows_read"] == 3
    assert receipt["format"]["encoding"] == "utf-8"
    assert receipt["patterns"]["shown"][0] == {"pattern": "+", "n": 1}
    assert "survey 'dirty' was read from the same file, byte for byte" in receipt["hints"]


def test_a_dirty_file_goes_from_receipt_to_ceg(tmp_path: Path) -> None:
    rows = "wt;smoker;cigs\n0,5;1;10\n1,5;1;20\n2;0;\n0,25;0;10\n1;9;\n1;1;10\n"
    (tmp_path / "dirty.csv").write_bytes(rows.encode("utf-16"))
    (tmp_path / "book.yaml").write_text(
        "weight: wt\n"
        "variables:\n"
        "  smoker: {label: Smokes, values: {1: Current, 0: Never}, missing: {9: Refused}}\n"
        "gates:\n"
        "  cigs: smoker = 'Current'\n"
    )
    stored = tmp_path / "d.duckdb"
    shown = call(
        "run", tmp_path / "dirty.csv", "--db", stored, "--codebook", tmp_path / "book.yaml",
        "--decimal", ",", "--format", "csv",
    )  # fmt: skip
    assert "1 row violates the gate of 'cigs'" in shown.stderr
    assert [(row["label"], row["n"]) for row in rows_of(shown)] == [
        ("Current", "3"), ("Never", "2"), ("10", "2"), ("20", "1"),
    ]  # fmt: skip
    assert rows_of(call("check", stored, "--format", "csv")) == []


@pytest.mark.parametrize(
    "command", ["tree", "stages", "ceg", "append", "edit", "stability", "check", "rebuild"]
)
def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, command: str) -> None:
    db = tmp_path / "none.duckdb"
    more = {"append": ["s", "rows.csv"], "check": [], "rebuild": []}.get(command, ["s"])
    more += ["--join", "u1,u2"] if command == "edit" else []
    done = CliRunner().invoke(main, [command, str(db), *more])
    assert done.exit_code == 1
    assert f"there is no file {db}" in done.output
    assert not db.exists()


def test_lists_are_written_to_csv_as_json(tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    with cegdb.open(db) as made:
        made.ingest("select 'a' as x", "s")
    query = "select ['a', 'b \"c\"', 'é'] as labels, [1, 2] as n"
    done = CliRunner().invoke(main, ["sql", str(db), query, "--format", "csv"])
    assert list(csv.reader(done.output.splitlines())) == [
        ["labels", "n"],
        ['["a", "b \\"c\\"", "é"]', "[1, 2]"],
    ]
