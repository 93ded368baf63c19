"""The command line: every command as a user runs it, every error as one message."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from click.testing import CliRunner, Result
from datasets import survey_file

import cegdb
from cegdb.cli import main
from cegdb.cli.group import MOVED, SECTIONS
from cegdb.demo import DEMOS

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


@pytest.mark.slow
def test_run_goes_from_rows_to_the_edges_of_the_ceg(survey: Path) -> None:
    result = call("run", survey, "--db", "falls.duckdb", "--alpha", "2")
    edges = rows_of(result)
    columns = ["source", "label", "target", "variable", "n", "probability", "low", "high"]
    assert list(edges[0]) == columns
    assert sum(int(edge["n"]) for edge in edges if edge["target"] == "w_inf") == 15
    for made in ("survey 'falls'", "event tree 'falls'", "staging 'falls'", "CEG 'falls'"):
        assert made in result.stderr
    assert "15 rows read, 15 kept" in result.stderr
    assert "10 blank (not applicable)" in result.stderr
    call("check", "falls.duckdb")


@pytest.mark.slow
def test_run_without_a_database_works_in_memory(survey: Path) -> None:
    assert rows_of(call("run", survey))
    assert sorted(path.name for path in survey.parent.iterdir()) == ["falls.csv"]


@pytest.mark.slow
def test_run_again_takes_the_next_name_or_replaces(survey: Path, db: Path) -> None:
    assert "CEG 'falls-2'" in call("run", survey, "--db", db).stderr
    assert "CEG 'falls'" in call("run", survey, "--db", db, "--replace").stderr
    names = [row["name"] for row in rows_of(call("list", db)) if row["kind"] == "ceg"]
    assert sorted(names) == ["falls", "falls-2"]


@pytest.mark.slow
def test_a_failing_run_leaves_the_database_as_it_was(survey: Path, db: Path) -> None:
    before = call("sql", db, "from cegdb.ceg_edges order by all").stdout
    call("run", survey, "--db", db, "--replace", "--alpha", "0", fails=3)
    call("run", survey, "--db", db, "--replace", "--order", "area,nothing", fails=3)
    assert call("sql", db, "from cegdb.ceg_edges order by all").stdout == before
    assert len(rows_of(call("list", db))) == 4


@pytest.mark.slow
def test_the_steps_one_by_one_equal_run(survey: Path, db: Path) -> None:
    call("ingest", db, survey, "--name", "again")
    call("event-tree", db, "again", "--order", "area,assessed,risk,fall")
    call("learn-stages", db, "again")
    call("to-ceg", db, "again", "--stop", "baseline")
    query = "select source, label, target, n, probability from cegdb.ceg_edges where ceg = '{}'"
    one = call("sql", db, query.format("falls") + " order by all").stdout
    assert call("sql", db, query.format("again") + " order by all").stdout == one
    for kind in ("survey", "tree", "staging", "ceg"):
        assert rows_of(call("show", db, "again", "--kind", kind))
    assert call("drop", db, "AGAIN", "--kind", "survey").stderr == "dropped survey 'again'\n"
    assert {row["name"] for row in rows_of(call("list", db))} == {"falls"}


def test_stages_are_taken_from_a_file(db: Path, tmp_path: Path) -> None:
    given = tmp_path / "stages.csv"
    query = "select vertex_id, variable as stage from cegdb.situations where variable = 'fall'"
    found = call("sql", db, f"{query} and height = 1 and depth = 2", "--format", "csv")
    given.write_text(found.stdout)
    result = call("set-stages", db, "falls", "--stages-file", given, "--name", "by_hand")
    assert "5 situations not named" in result.stderr or "not named" in result.stderr


def test_sql_prints_a_table_json_or_csv(db: Path) -> None:
    query = "select ceg, n from cegdb.positions where position = 'w_inf'"
    assert json.loads(call("sql", db, query, "--format", "json").stdout) == [
        {"ceg": "falls", "n": 15}
    ]
    twice = call("sql", db, "select 1 as a, 2 as a, 3 as a_1, 4 as a", "--format", "json")
    assert json.loads(twice.stdout) == [{"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}]
    assert call("sql", db, query).stdout == "ceg,n\nfalls,15\n"
    assert call("sql", db, query, "--format", "table").stdout == (
        "ceg     n\n─────────\nfalls  15\n"
    )


def test_steps_shows_a_step_for_the_shell(db: Path) -> None:
    shown = call("steps", "--show", "layer_block").stdout
    assert "\nprepare layer_block as\n-- step:    layer_block" in shown
    assert "no step named 'x'" in call("steps", "--show", "x", fails=4).stderr
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
    call("draw", db, "falls", "--kind", kind, "-o", "out.svg", "--edge-info", "count")
    assert (db.parent / "out.svg").read_text().startswith("<?xml")


@pytest.mark.slow
@pytest.mark.usefixtures("survey")
def test_demo_shows_each_survey() -> None:
    result = call("demo", "--db", "demo.duckdb")
    assert "9 vertices (including the sink), 19 edges" in result.stderr
    assert "-2480.9892" in result.stderr
    result = call("demo", "titanic", "--db", "demo.duckdb")
    assert "2,201 respondents" in result.stderr
    call("check", "demo.duckdb")
    result = call("demo", "falls", "--db", "demo.duckdb")
    assert "50,000 respondents, 28 distinct rows" in result.stderr
    assert "46,750 blank (not applicable)" in result.stderr
    assert "CEG 'falls': 11 vertices" in result.stderr
    call("check", "demo.duckdb")
    crew = "select n from cegdb.florets where tree = 'titanic' and labels = ['Adult']"
    assert call("sql", "demo.duckdb", crew).stdout == "n\n885\n"


@pytest.mark.slow
@pytest.mark.usefixtures("survey")
def test_demo_writes_a_file_that_gives_the_same_ceg() -> None:
    query = "select * exclude (ceg) from cegdb.ceg_edges where ceg = 'falls' order by all"
    call("demo", "falls", "--db", "demo.duckdb")
    shown = call("demo", "falls", "--csv", "people.csv")
    assert "written: people.csv" in shown.stderr
    assert len(Path("people.csv").read_text(encoding="utf-8").splitlines()) == 29
    call("run", "people.csv", "--count", "people", "--db", "f.duckdb", "--name", "falls")
    assert call("sql", "f.duckdb", query).stdout == call("sql", "demo.duckdb", query).stdout


@pytest.mark.usefixtures("survey")
def test_the_survey_of_falls_is_that_of_the_tests() -> None:
    with duckdb.connect() as con:
        rows = con.execute(
            "select *, count(*) from read_csv($1, all_varchar=true) group by all",
            [str(survey_file("falls_cegpy"))],
        ).fetchall()
        shipped = con.execute(DEMOS["falls"].select()).fetchall()
    assert sorted(map(str, rows)) == sorted(map(str, shipped))


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
    ("--order", "area,nobody"): "there is no column 'nobody' in ",
    ("--columns", "area,nobody"): "there is no column 'nobody' in ",
    ("--count", "fall"): "'fall' contains 'fall', 'none' (rows 1, 2",
    ("--alpha", "-1"): "alpha must be a number above 0, not -1.0",
    ("--alpha", "nan"): "alpha must be a number above 0, not nan",
    ("--impossible", "area"): "'area' is not a path",
    ("--impossible", "area=west"): "'area' has no label 'west'",
    ("--levels", "area=north"): "has answers that levels does not list: 'south' (7 rows)",
    ("--levels", "area"): "--levels 'area' is not",
    ("--missing", "x", "--missing", "risk=y"): "are mixed",
    ("--name", " "): "the name for the survey is blank",
}


@pytest.mark.parametrize("options", BAD_SETTINGS)
def test_a_bad_setting_is_one_message_and_no_trace(
    survey: Path, db: Path, options: tuple[str, ...]
) -> None:
    result = call("run", survey, "--db", db, *options, fails=3)
    assert BAD_SETTINGS[options] in result.stderr
    assert len(rows_of(call("list", db))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "name", "written"),
    [
        ("--order", "a, b", '"a, b"'),
        ("--columns", "a,b", '"a,b"'),
        ("--order", 'a, "b"', '"a, ""b"""'),
        ("--columns", 'a, "b"', '"a, ""b"""'),
        ("--order", "it's a,b", None),
    ],
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
    assert "survey 'falls' already exists" in result.stderr
    assert "--replace" in result.stderr


def test_unknown_objects_are_listed(db: Path) -> None:
    for command, kind in (
        ("event-tree", "survey"),
        ("learn-stages", "event tree"),
        ("to-ceg", "staging"),
        ("explain", "CEG"),
    ):
        assert call(command, db, "fals", fails=3).stderr == (
            f"error: no {kind} named 'fals'; available: 'falls'\nhint: did you mean 'falls'?\n"
        )


def test_a_wrong_word_is_answered_with_a_close_one(db: Path) -> None:
    wrong = call("learn-stages", db, "falls", "--method", "stages_bhc", fails=2).stderr
    assert "'stages_bhc' is unknown; did you mean 'bhc'?" in wrong
    assert "did you mean 'survey'?" in call("show", db, "x", "--kind", "surve", fails=2).stderr


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("do", "effect"),
        ("prob", "probability"),
        ("predict", "complete or classify"),
        ("tree", "event-tree"),
        ("orders", "search-orders"),
        ("words", "report text"),
        ("differences", "report comparison"),
        ("sevt_fit", "learn-stages"),
        ("stages_bhc", "learn-stages --method bhc"),
        ("marginal", "marginals"),
        ("Show", "show"),
        ("learn", "learn-stages"),
        ("learn_stages", "learn-stages"),
        ("rm", "drop"),
        ("import", "ingest"),
        ("info", "show"),
        ("bif", "write-bif"),
        ("page", "report page"),
        ("dendogram", "plot dendrogram"),
    ],
)
def test_a_wrong_command_is_answered_with_the_one_that_is_meant(word: str, meant: str) -> None:
    assert f"there is no command '{word}'. Did you mean {meant}" in call(word, fails=2).stderr


def test_a_wrong_command_of_a_group_is_answered_with_one_of_the_group() -> None:
    assert "no command 'flows'. Did you mean flow?" in call("plot", "flows", fails=2).stderr
    assert "no command 'tree'. main plot --help lists" in call("plot", "tree", fails=2).stderr


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("learn-stages", "--metod", "Did you mean --method?"),
        ("ingest", "--coun", "Did you mean --count?"),
        ("probability", "--gvien", "Did you mean --given?"),
        ("independence", "--given", "Did you mean --by or --where?"),
        ("test-independence", "--given", "Did you mean --by"),
        ("show", "--table", "Did you mean --view?"),
        ("export", "--view", "Did you mean --table?"),
        ("effect", "--zzz", "main effect --help lists them."),
        ("effect", "-z", "main effect --help lists them."),
    ],
)
def test_a_wrong_option_is_answered_with_the_one_that_is_meant(
    command: str, option: str, hint: str
) -> None:
    wrong = call(command, option, "x", fails=2).stderr
    assert f"there is no option '{option}'. {hint}" in wrong


def test_views_and_tables_are_found_like_columns(db: Path, tmp_path: Path) -> None:
    right = call("show", db, "falls", "--view", "positions").stdout
    assert call("show", db, "falls", "--view", " Positions").stdout == right
    wrong = call("show", db, "falls", "--view", "position", fails=3).stderr
    assert "did you mean 'positions'?" in wrong
    file = tmp_path / "rows.csv"
    wrong = call("export", db, "falls", "-o", file, "--table", "ceg_edgs", fails=3).stderr
    assert "did you mean 'ceg_edges'" in wrong


def test_every_command_named_in_a_hint_exists() -> None:
    assert not set(MOVED) & set(main.commands)
    for meant in MOVED.values():
        for command in meant.replace(", ", " or ").split(" or "):
            first, *below = command.split()
            group: Any = main.commands[first]
            assert all(one in group.commands for one in below), command


@pytest.mark.slow
def test_the_kind_left_out_is_the_first_that_has_the_name(db: Path) -> None:
    call("learn-stages", db, "falls", "--method", "bhc", "--name", "other")
    assert call("show", db, "falls").stderr.startswith("CEG 'falls'")
    assert call("show", db, "Other").stderr.startswith("staging 'other'")
    assert "event tree" in call("show", db, "falls", "--kind", "tree").stderr
    assert "no CEG named 'none'" in call("show", db, "none", fails=3).stderr
    assert "Missing option '--kind'" in call("drop", db, "falls", fails=2).stderr


def test_bad_stages_name_the_situation(db: Path, tmp_path: Path) -> None:
    given = tmp_path / "stages.csv"
    given.write_text("vertex_id,stage\n0,a\n1,a\n")
    stderr = call("set-stages", db, "falls", "--stages-file", given, fails=3).stderr
    assert "stage 'a' cannot hold both (the root) and ('north',): the first is about" in stderr
    given.write_text("vertex_id,stage\n999,a\n")
    stderr = call("set-stages", db, "falls", "--stages-file", given, fails=3).stderr
    assert "the tree has no situation with vertex_id 999" in stderr
    assert len(rows_of(call("list", db))) == 4


def test_a_file_that_is_no_database_is_refused(survey: Path) -> None:
    assert "is not a DuckDB database" in call("list", survey, fails=1).stderr
    assert "there is no file none.duckdb" in call("list", "none.duckdb", fails=1).stderr
    assert "there is no file none.duckdb" in call("migrate", "none.duckdb", fails=1).stderr


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_check_lists_what_is_wrong(db: Path) -> None:
    assert "all invariants hold" in call("check", db).stderr
    con = duckdb.connect(db)
    con.execute("update cegdb.edge set n = n + 1 where child_id = 1")
    con.close()
    result = call("check", db, fails=1)
    assert rows_of(result)[0]["name"] == "falls"
    assert "rows violate an invariant" in result.stderr


@pytest.mark.slow
def test_one_variable_and_one_level_are_no_errors(survey: Path) -> None:
    survey.write_text("only\nyes\nyes\n")
    assert "2 vertices (including the sink), 1 edge" in call("run", survey).stderr


def commands_of(group: click.Group) -> list[str]:
    """Return the names of all commands, those of subgroups as two words."""
    found = []
    for name, command in group.commands.items():
        found.append(name)
        if isinstance(command, click.Group):
            found += [f"{name} {one}" for one in commands_of(command)]
    return found


def command_of(words: str) -> click.Command:
    found: click.Command = main
    for word in words.split():
        assert isinstance(found, click.Group)
        found = found.commands[word]
    return found


COMMANDS = commands_of(main)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    shown = call(*command.split(), "--help").stdout
    assert "Example" in shown
    assert f"  cegdb {command}" in shown


def test_help_lists_each_command_once_in_its_group_and_whole() -> None:
    listed = [name for section in SECTIONS.values() for name in section]
    assert sorted(listed) == sorted({*listed, *main.commands})
    shown = call("--help").stdout
    assert "..." not in shown.split("Make:")[1]
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in SECTIONS] == [*SECTIONS]
    words = " ".join(shown.split())
    for name, command in main.commands.items():
        first = " ".join((command.help or "").split("\n\n")[0].split()).rstrip(".")
        assert f"{name} {first}." in words
    for group in ("plot", "report"):
        assert "..." not in call(group, "--help").stdout.split("Commands:")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_one_whole_sentence(command: str) -> None:
    first = (command_of(command).help or "").split("\n\n")[0]
    assert first.endswith(".")
    assert first[0].isupper()
    assert ". " not in " ".join(first.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described_in_a_sentence(command: str) -> None:
    for option in command_of(command).params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.help.endswith("."), option.help


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_examples_of_a_help_text_stand_one_on_a_line(command: str) -> None:
    shown = call(*command.split(), "--help").stdout
    assert "\\b" not in shown
    assert "\b" not in shown
    examples = shown[shown.index("Examples:") :].split("\n\n")[0]
    lines = examples.replace("\\\n", " ").splitlines()[1:]
    assert lines
    assert all(line.strip().startswith("cegdb ") for line in lines), lines


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_and_breaks_no_name(command: str) -> None:
    words = [*command.split(), "--help"]
    lines = CliRunner().invoke(main, words, terminal_width=80).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("-") and not line.endswith(" -") for line in lines)


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


@pytest.mark.slow
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
        rows = rows_of(call("show", stored, "titanic", "--kind", kind, "--format", "csv"))
        found = list(dict.fromkeys(row[column] for row in rows))
        assert found == [f"{found[0][0]}{i}" for i in range(len(found))]


def test_a_fault_of_ours_is_one_message(survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(cegdb.Database, "ingest", broken)
    assert "internal: ZeroDivisionError: boom" in call("run", survey, fails=4).stderr


@pytest.mark.slow
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
    stderr = call("set-stages", db, "falls", "--stages-file", given, fails=3).stderr
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
    assert "survey 'dirty' was read from an identical file" in " ".join(receipt["hints"])


@pytest.mark.slow
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
    assert "'cigs', asked if smoker = 'Current': 1 row has " in shown.stderr
    assert [(row["label"], row["n"]) for row in rows_of(shown)] == [
        ("Current", "3"), ("Never", "2"), ("10", "2"), ("20", "1"),
    ]  # fmt: skip
    assert rows_of(call("check", stored, "--format", "csv")) == []


@pytest.mark.parametrize(
    "command",
    [
        *("event-tree", "learn-stages", "to-ceg", "append", "join", "stability", "check"),
        *("rebuild", "show", "drop", "posterior"),
    ],
)
def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, command: str) -> None:
    db = tmp_path / "none.duckdb"
    more = {"append": ["s", "rows.csv"], "check": [], "rebuild": []}.get(command, ["s"])
    more += {"join": ["u1", "u2"], "drop": ["--kind", "ceg"]}.get(command, [])
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


# =============================================================================
# Consoles
# =============================================================================


# Runs commands one after another, each with files of what it prints and how it ends.
COMMANDS_IN_TURN = """
import json, os, sys
from pathlib import Path
from cegdb.cli import main
for number, words in enumerate(json.loads(sys.argv[1])):
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{number}.{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY), stream)
    try:
        main(words)
    except SystemExit as end:
        Path(f"{number}.status").write_text(str(end.code or 0))
    sys.stdout.flush()
    sys.stderr.flush()
"""


def on_console(folder: Path, encoding: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LC_")},
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": encoding,
    }
    return subprocess.run(  # noqa: S603
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_of_any_encoding_shows_what_it_can(tmp_path: Path, encoding: str) -> None:
    rows = "Größe,Жизнь\n" + "groß,да\nklein,нет\n" * 20
    (tmp_path / "ge.csv").write_text(rows, encoding="utf-8")
    commands = [
        ("run", "ge.csv", "--db", "ge.duckdb"),
        ("show", "ge.duckdb", "ge", "--format", "table"),
        ("explain", "ge.duckdb", "ge"),
        ("list", "ge.duckdb", "--format", "json"),
        ("report", "text", "ge.duckdb", "ge"),
        ("cite", "ge.duckdb", "ge"),
        ("report", "text", "ge.duckdb", "ge", "-o", "ge.md"),
        ("codebook", "ge.csv", "-o", "ge.yaml"),
        ("show", "ge.duckdb", "Ж"),
    ]
    done = on_console(tmp_path, encoding, "-c", COMMANDS_IN_TURN, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    out, err, status = (
        [(tmp_path / f"{i}.{name}").read_bytes() for i in range(len(commands))]
        for name in ("out", "err", "status")
    )
    assert status == [b"0"] * 8 + [b"3"], err
    for text in out + err:
        assert b"internal" not in text
        assert b"\\u206" not in text
    assert out[0].count(b"\n") == 7
    assert all(out[:6])
    assert err[-1].startswith(b"error: no CEG named '")
    for name in ("ge.md", "ge.yaml"):
        assert "Жизнь" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_console_of_one_byte_shows_escapes(tmp_path: Path) -> None:
    (tmp_path / "ge.csv").write_text("q\nю\né\n", encoding="utf-8")
    shown = on_console(tmp_path, "cp1252", "-m", "cegdb", "run", "ge.csv")
    assert b"\\u044e" in shown.stdout
    assert "é".encode("cp1252") in shown.stdout


def test_show_leaves_out_columns_where_there_is_no_room(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "64")
    shown = call("show", db, "falls", "--kind", "staging", "--format", "table")
    assert shown.stdout.startswith("stage  variable")
    assert max(map(len, shown.stdout.splitlines())) <= 64
    assert "note: no room for the column prior;" in shown.stderr


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80])
def test_show_never_cuts_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    call("demo", "falls", "--db", "demo.duckdb")
    for kind in ("survey", "tree", "staging", "ceg"):
        rows = rows_of(call("show", "demo.duckdb", "falls", "--kind", kind, "--format", "csv"))
        shown = call("show", "demo.duckdb", "falls", "--kind", kind, "--format", "table").stdout
        assert "…" not in shown
        for row in rows:
            assert f"{int(row['n']):,}" in shown
            if "probability" in row:
                assert f"{float(row['probability']):.6g}" in shown
        if columns == 80 or kind == "survey":
            assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.slow
def test_questions_can_be_put_to_a_staging(built: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("area,assessed\nnorth,yes\n")
    event = ["fall=fall", "--given", "risk=high", "--format", "json"]
    of_ceg, of_staging = (
        json.loads(call("probability", built, "falls", *event, "--kind", kind).stdout)
        for kind in ("ceg", "staging")
    )
    assert of_ceg[0]["probability"] == pytest.approx(of_staging[0]["probability"])
    for command, *more in (("score", new), ("complete", new), ("sample", "-n", 5)):
        call(command, built, "falls", *map(str, more), "--kind", "staging")
    (row,) = rows_of(call("assign", built, "falls", new, "--kind", "staging"))
    assert "last_position" not in row
    (row,) = rows_of(call("assign", built, "falls", new))
    assert row["last_position"]
    copy = shutil.copy(built, tmp_path / "copy.duckdb")
    call("learn-stages", copy, "falls", "--name", "alone")
    assert rows_of(call("probability", copy, "alone", "fall=fall"))
    refused = call("given", copy, "alone", "fall=fall", fails=3).stderr
    assert "no CEG named 'alone'; available: 'falls'\nhint: there is a staging" in refused
