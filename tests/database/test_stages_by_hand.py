"""Stages set by hand: templates, rules, and edits of stagings."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import python_calamine
import xlsxwriter
import yaml
from click.testing import CliRunner
from database_template import database_with
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import NASTY, TEXTS
from strategies import run

import cegdb
from cegdb.cli import main
from cegdb.errors import CegdbError, StagingError, TreeError
from cegdb.stages.template import write_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cegdb.api import Database, EventTree, StagedTree

Partition = set[frozenset[int]]
STRANGE = [
    "01",
    "TRUE",
    "1-4-2",
    "=1+1",
    "NA",
    "a,b",
    'a"b',
    "a\nb",
    "a\r\nb",
    "😀",
    "*",
    "_x0041_",
]
LABELS = st.one_of(st.sampled_from(STRANGE), NASTY.filter(bool), TEXTS.filter(bool))


@st.composite
def strange_rows(draw: Callable[..., Any], labels: Any = LABELS) -> pd.DataFrame:
    """Draw a survey of few variables and nasty labels, cut off anywhere: no tree is alike."""
    n = draw(st.integers(1, 4))
    columns = {
        f"X{i}": draw(st.lists(labels, min_size=1, max_size=3, unique=True)) for i in range(n)
    }
    cells = [
        st.sampled_from([*found * 2, *[None] * min(index, 2)])
        for index, found in enumerate(columns.values())
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=10))
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def tree_of(db: Database, rows: pd.DataFrame) -> EventTree:
    survey = db.ingest(rows, name="s", replace=True)
    return survey.event_tree(blank="structural", name="t", replace=True, sampling_zeros="none")


def partition(staged: StagedTree) -> Partition:
    members: dict[int, set[int]] = defaultdict(set)
    for vertex_id, stage_id in staged.florets[["vertex_id", "stage_id"]].itertuples(
        index=False
    ):
        members[stage_id].add(vertex_id)
    return set(map(frozenset, members.values()))


def named(staged: StagedTree) -> dict[str, frozenset[int]]:
    """Return the stages that have a name."""
    names = staged.stages.set_index("stage_id")["name"].dropna()
    members = staged.florets.groupby("stage_id")["vertex_id"].agg(frozenset)
    return {name: members[stage_id] for stage_id, name in names.items()}


def bulk(db: Database, staged: StagedTree, *, with_names: bool = True) -> dict[str, Any]:
    tables = {}
    for table in ("hyperstage", "stage", "stage_member", "stage_edge", "ahc_merge"):
        leave = "staging_id" + ("" if with_names or table != "stage" else ", name")
        query = f"select * exclude ({leave}) from cegdb.{table} where staging_id = {staged.id}"  # noqa: S608
        tables[table] = db.rows(f"{query} order by all")[1]
    return tables


def read_table(file: Path) -> list[list[Any]]:
    """Return the cells of a template as any other program reads them."""
    if file.suffix == ".csv":
        text = file.read_bytes().decode("utf-8-sig")
        return list(csv.reader(io.StringIO(text, newline="")))
    book = python_calamine.load_workbook(str(file))
    return book.get_sheet_by_index(0).to_python()


def write_table(file: Path, rows: Iterable[list[Any]], delimiter: str = ",") -> Path:
    """Save cells as a spreadsheet does."""
    if file.suffix == ".csv":
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=delimiter).writerows(rows)
        return file
    with xlsxwriter.Workbook(file) as book:
        page = book.add_worksheet()
        for at, row in enumerate(rows):
            for column, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(at, column, cell)
                else:
                    page.write_number(at, column, cell)
    return file


def shuffled(file: Path, draw: Callable[..., Any], dropped: list[str]) -> Path:
    """Sort the rows of a template anew, add columns, and leave some out."""
    if file.suffix == ".yaml":
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
        entries = [
            {key: value for key, value in entry.items() if key not in dropped}
            for entry in draw(st.permutations(tree["stages"]))
        ]
        file.write_text(yaml.safe_dump({"stages": entries}), encoding="utf-8")
        return file
    head, *rows = read_table(file)
    keep = draw(st.permutations([i for i, name in enumerate(head) if name not in dropped]))
    rows = draw(st.permutations(rows))
    table = [[*(row[i] for i in keep), "note"] for row in [head, *rows]]
    return write_table(file, table, draw(st.sampled_from(",;\t")))


# -----------------------------------------------------------------------------
# Templates
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(2)
@given(suffix=st.sampled_from([".csv", ".xlsx", ".yaml"]), data=st.data())
def test_a_template_comes_back_whatever_the_labels(
    database: Database, suffix: str, data: st.DataObject
) -> None:
    rows = data.draw(strange_rows())
    try:
        tree = tree_of(database, rows)
    except (TreeError, CegdbError):
        return  # texts that no survey holds
    names = st.sampled_from(["a", "b", "1", "01", "null", "=1+1", 'é, "x"', "u1"])
    florets = tree.florets
    given_stages = pd.DataFrame(
        {
            "vertex_id": florets["vertex_id"],
            "stage": [
                f"{data.draw(names)} {variable} {sorted(labels)}"
                for variable, labels in florets[["variable", "labels"]].itertuples(index=False)
            ],
        }
    )
    staged = tree.set_stages(given_stages, "given", replace=True, prior="mass")
    dropped = data.draw(st.sampled_from([[], ["vertex_id"], ["vertex_id", "variable"], ["n"]]))
    with tempfile.TemporaryDirectory() as folder:
        empty = tree.template(Path(folder) / f"empty{suffix}")
        alone = tree.set_stages(empty, "alone", replace=True, prior="mass")
        file = staged.template(Path(folder) / f"filled{suffix}")
        again = tree.set_stages(
            shuffled(file, data.draw, dropped), "again", replace=True, prior="mass"
        )
        assert sorted(path.name for path in Path(folder).iterdir()) == sorted(
            [empty.name, file.name]
        )
    assert partition(again) == partition(staged)
    assert named(again) == named(staged)
    assert partition(alone) == partition(
        tree.set_stages({}, "none", replace=True, prior="mass")
    )
    assert bulk(database, again) == bulk(database, staged)
    assert database.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".yaml"])
def test_every_character_comes_back(db: Database, tmp_path: Path, suffix: str) -> None:
    codes = [*range(0x100), 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xE000, 0x1F600, 0x10FFFF]
    labels = [*STRANGE, "null", "#N/A", "_x000D_", "]]>", "\r\n\r", " ", *map(chr, codes)]
    labels = sorted({*labels, *(f"a{chr(code)}b" for code in codes)})
    frame = pd.DataFrame({"x": labels * 2, "y": ["u", "v"] * len(labels)}, dtype=object)
    tree = db.ingest(frame, name="s").event_tree(sampling_zeros="none")
    every = tree.situations[["vertex_id", "labels"]]
    stage = [
        f"{''.join(path)} {vertex_id}" for vertex_id, path in every.itertuples(index=False)
    ]
    staged = tree.set_stages(every[["vertex_id"]].assign(stage=stage), prior="mass")
    again = tree.set_stages(staged.template(tmp_path / f"all{suffix}"), prior="mass")
    assert named(again) == named(staged)
    assert len(named(staged)) == len(every)


def test_a_character_that_no_sheet_holds_is_refused(db: Database, tmp_path: Path) -> None:
    tree = db.ingest(pd.DataFrame({"x": ["\uffff", "b"] * 2, "y": ["u"] * 4})).event_tree(
        sampling_zeros="none"
    )
    with pytest.raises(
        StagingError, match=r"has a character that a sheet cannot hold\nhint: .*csv"
    ):
        tree.template(tmp_path / "all.xlsx")
    assert list(tmp_path.iterdir()) == []


def make_falls(db: Database) -> EventTree:
    rows = [
        (a, b, c)
        for a, b in (("hi", "01"), ("hi", "02"), ("lo", "01"), ("lo", "02"), ("lo", "*"))
        for c in ("no", "yes", "yes")
    ]
    rows += [("no", None, "no"), ("no", None, "maybe")]
    frame = pd.DataFrame(rows, columns=["Risk", "Care", "Fall"], dtype=object)
    return db.ingest(frame, name="falls").event_tree(blank="structural", sampling_zeros="none")


@pytest.fixture
def falls() -> Iterator[EventTree]:
    with database_with(make_falls) as db:
        yield db.trees["falls"]


def edited(
    tree: EventTree, tmp_path: Path, change: Callable[[list[list[Any]]], object], kind: str
) -> Path:
    rows = read_table(tree.template(tmp_path / f"falls.{kind}"))
    change(rows)
    return write_table(tmp_path / f"falls.{kind}", rows)


def test_a_spreadsheet_may_be_edited_freely(falls: EventTree, tmp_path: Path) -> None:
    def fill(rows: list[list[Any]]) -> None:
        stage = rows[0].index("stage")
        rows[5][stage], rows[6][stage] = " frail ", "frail\t"
        rows[7][stage] = rows[8][stage] = 7.0
        rows[0] = [f" {str(name).upper()} " for name in rows[0]]
        del rows[2]
        rows.insert(3, [""] * len(rows[0]))

    staged = falls.set_stages(edited(falls, tmp_path, fill, "xlsx"), prior="mass")
    assert {name: len(found) for name, found in named(staged).items()} == {"frail": 2, "7": 2}
    assert set(falls.situations["labels"].map(len)) == {0, 1, 2}


@pytest.mark.slow
def test_labels_of_a_template_are_found_in_any_case(falls: EventTree, tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text("stages:\n  a: [[HI, '01'], [' Hi', '02']]\n")
    (tmp_path / "long.csv").write_text("path_1,path_2,stage\nHI,01,a\n Hi,02,a\n")
    expected = partition(
        falls.set_stages({("hi", "01"): "a", ("hi", "02"): "a"}, "exact", prior="mass")
    )
    for name in ("short.yaml", "long.csv"):
        assert partition(falls.set_stages(tmp_path / name, name, prior="mass")) == expected


@pytest.mark.slow
def test_the_label_star_is_no_wildcard_in_a_template(falls: EventTree, tmp_path: Path) -> None:
    def fill(rows: list[list[Any]]) -> None:
        for row in rows[1:]:
            row[-1] = "star" if "*" in row else ""

    for kind in ("xlsx", "csv"):
        staged = falls.set_stages(edited(falls, tmp_path, fill, kind), name=kind, prior="mass")
        ((star, members),) = named(staged).items()
        assert (star, len(members)) == ("star", 1)
    file = tmp_path / "short.yaml"
    file.write_text('stages:\n  star: [["lo", "*"]]\n  top: [[]]\n')
    assert {
        name: len(m) for name, m in named(falls.set_stages(file, prior="mass")).items()
    } == {
        "star": 1,
        "top": 1,
    }


@pytest.mark.slow
def test_unedited_shown_names_are_no_given_names(falls: EventTree, tmp_path: Path) -> None:
    staged = falls.learn_stages(prior="mass", criterion="score")
    again = falls.set_stages(staged.template(tmp_path / "falls.csv"), prior="mass")
    assert partition(again) == partition(staged)
    assert named(again) == {}


def set_cell(row: int, column: str, value: object) -> Callable[[list[list[Any]]], object]:
    def change(rows: list[list[Any]]) -> None:
        rows[row][rows[0].index(column)] = value

    return change


def swap_ids(rows: list[list[Any]]) -> None:
    rows[1][0], rows[5][0] = rows[5][0], rows[1][0]


def drop(*columns: str) -> Callable[[list[list[Any]]], object]:
    def change(rows: list[list[Any]]) -> None:
        keep = [i for i, name in enumerate(rows[0]) if name not in columns]
        rows[:] = [[row[i] for i in keep] for row in rows]

    return change


def several(*changes: Callable[[list[list[Any]]], object]) -> Callable[..., object]:
    def change(rows: list[list[Any]]) -> None:
        for one in changes:
            one(rows)

    return change


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            swap_ids,
            (
                r"row 2: the path is \(the root\), but that of vertex_id 4 is \('hi', '01'\)\n"
                r"hint: the file was made for another tree.*write the template anew"
            ),
        ),
        (set_cell(5, "path_2", "1"), r"row 6: the path is \('hi', '1'\), but that of .*'01'\)"),
        (set_cell(3, "vertex_id", 999), "row 4: vertex_id 999 is not a situation of the tree"),
        (set_cell(3, "vertex_id", "x"), "row 4: vertex_id 'x' is not a whole number"),
        (set_cell(5, "path_1", ""), "row 6: path_1 is empty, but a later one is not"),
        (
            set_cell(5, "variable", "Risk"),
            "row 6: the variable is 'Risk', but that of vertex_id 4",
        ),
        (
            several(set_cell(5, "path_2", "03"), set_cell(5, "stage", "a"), drop("vertex_id")),
            (
                r"row 6: .*no situation \('hi', '03'\): after \('hi',\) the labels are "
                r"'01', '02'\n.*anew"
            ),
        ),
        (
            several(
                set_cell(5, "stage", "a"),
                set_cell(6, "stage", "b"),
                set_cell(6, "vertex_id", 4),
                set_cell(6, "path_2", "01"),
            ),
            r"row 6 and row 7: situation \('hi', '01'\) with labels no, yes has two stages: ",
        ),
        (
            several(set_cell(5, "stage", "a"), set_cell(4, "stage", "a")),
            (
                r"stage 'a' cannot hold both row 5, \('no',\) and row 6, \('hi', '01'\): the "
                r"first is about Fall \(maybe, no\), the second about Fall \(no, yes\)\n"
                r"hint: .*sampling_zeros.*relabel"
            ),
        ),
        (drop("path_1"), "has a column path_2 and no path_1"),
    ],
)
def test_what_a_template_cannot_say_is_refused_by_row(
    falls: EventTree, tmp_path: Path, kind: str, change: Callable[..., object], message: str
) -> None:
    with pytest.raises(StagingError, match=f"(?s)falls.{kind}.*{message}|{message}") as error:
        falls.set_stages(edited(falls, tmp_path, change, kind), prior="mass")
    assert error.value.hint


@pytest.mark.parametrize("first", ["", "sep=,\n"])
def test_a_quote_of_a_template_that_is_never_closed_is_refused(
    falls: EventTree, tmp_path: Path, first: str
) -> None:
    file = tmp_path / "stages.csv"
    file.write_text(f'{first}path_1,stage\nhi,a\nlo,"b\nno,c\n')
    line = 3 + bool(first)
    with pytest.raises(StagingError, match=f"line {line}: the quote opened here is never clo"):
        falls.set_stages(str(file), prior="mass")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages: 1\n", "has no list or mapping 'stages'"),
        ("a: [", "line 2 is not YAML"),
        (
            "stages:\n- path: [hi, null]\n  stage: a\n",
            "line 2: the path contains an empty label",
        ),
        ("stages:\n- [hi]\n", "line 2: not an entry"),
        ("stages:\n- path: [hi]\n  path: [lo]\n", "line 3: 'path' is written twice"),
        ("stages:\n- path: [up]\n  stage: a\n", r"line 2: .*no situation \('up',\)"),
        ("stages:\n- stage: a\n", "line 2: stage 'a' has neither a path nor a vertex_id"),
        (
            "stages:\n  a: [[hi], [no]]\n",
            r"both line 2, \('hi',\) and line 2, .*\nhint: they belong",
        ),
        ("stages:\n  a: {hi: 1}\n", "line 2: not an entry"),
    ],
)
def test_what_a_yaml_template_cannot_say_is_refused_by_line(
    falls: EventTree, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "falls.yaml"
    file.write_text(text)
    with pytest.raises(StagingError, match=message):
        falls.set_stages(file, prior="mass")
    with pytest.raises(StagingError, match="there is no file"):
        falls.set_stages(tmp_path / "none.yaml", prior="mass")


@pytest.mark.slow
def test_a_tree_of_one_leaf_has_an_empty_template(db: Database, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["x"], "b": [None]})
    tree = db.ingest(frame).event_tree(order=["b"], blank="structural", sampling_zeros="none")
    for kind in ("csv", "xlsx", "yaml"):
        file = tree.template(tmp_path / f"leaf.{kind}")
        assert len(tree.set_stages(file, name=kind, prior="mass").stages) == 0


def test_null_is_blank_in_yaml_unless_quoted(falls: EventTree, tmp_path: Path) -> None:
    file = tmp_path / "falls.yaml"
    file.write_text("stages:\n- {path: hi, stage: null}\n- {path: [lo], stage: 'null'}\n")
    assert list(named(falls.set_stages(file, prior="mass"))) == ["null"]


@pytest.mark.slow
def test_other_tables_and_encodings_are_read(falls: EventTree, tmp_path: Path) -> None:
    frame = falls.situations[["vertex_id", "variable"]]
    frame = frame[frame["variable"] == "Risk"].assign(stage="top", note=1)
    assert list(named(falls.set_stages(frame, prior="mass"))) == ["top"]
    plain = tmp_path / "plain.csv"
    plain.write_text("vertex_id,stage\n0,first\n")
    assert list(named(falls.set_stages(plain, prior="mass"))) == ["first"]
    book = write_table(tmp_path / "plain.xlsx", [["stage", "vertex_id"], ["x", 0.0]])
    assert list(named(falls.set_stages(book, prior="mass"))) == ["x"]
    wide = tmp_path / "wide.csv"
    wide.write_text("sep=;\npath_1;stage\nhi;x\n", encoding="utf-16")
    assert list(named(falls.set_stages(wide, prior="mass"))) == ["x"]
    wide.write_bytes("path_1,stage\nhi,é\n".encode("cp1252"))
    with pytest.raises(StagingError, match=r"wide.csv is not UTF-8 text\nhint: .*CSV UTF-8"):
        falls.set_stages(wide, prior="mass")


@pytest.mark.slow
def test_learning_starts_from_a_template(falls: EventTree, tmp_path: Path) -> None:
    file = tmp_path / "start.csv"
    file.write_text("path_1,path_2,stage\nhi,01,a\nhi,02,a\nlo,*,b\n")
    staged = falls.learn_stages(initial=file, prior="mass", criterion="score")
    assert {frozenset([4, 5])} <= {block & {4, 5} for block in partition(staged)}
    assert named(staged) == {}
    file.write_text("path_1,path_2,stage\nhi,01,a\nhi,,a\n")
    with pytest.raises(StagingError, match=r"cannot hold both row 3, \('hi',\) and row 2, "):
        falls.learn_stages(initial=file, prior="mass", criterion="score")


def test_a_template_is_written_whole_or_not_at_all(falls: EventTree, tmp_path: Path) -> None:
    with pytest.raises(StagingError, match=r"unknown file type '\.ods' \(falls\.ods\)"):
        falls.template(tmp_path / "falls.ods")
    with pytest.raises(StagingError, match="there is no folder"):
        falls.template(tmp_path / "none" / "falls.csv")
    file = falls.template(tmp_path / "falls.xlsx")
    before = file.read_bytes()
    with pytest.raises(StagingError, match="a sheet holds at most 3 rows"):
        write_template(falls._store, falls.id, file, max_rows=3)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["falls.xlsx"]


# -----------------------------------------------------------------------------
# Rules
# -----------------------------------------------------------------------------


def by_rules(tree: EventTree, depends: dict[str, list[str]]) -> Partition:
    """Return the stages that rules make, one situation after the other."""
    parent = {
        row.child_id: (row.parent_id, row.variable, row.label)
        for row in tree.edges.itertuples()
    }
    members: dict[object, set[int]] = defaultdict(set)
    for row in tree.florets.itertuples():
        answers, vertex_id = {}, row.vertex_id
        while vertex_id in parent:
            vertex_id, variable, label = parent[vertex_id]
            answers[variable] = label
        hyperstage = (row.variable, frozenset(row.labels))
        if row.variable in depends:
            key: object = [answers.get(name) for name in depends[row.variable]]
        else:
            key = "single" if row.n_edges == 1 else row.vertex_id
        members[hyperstage, str(key), row.variable in depends].add(row.vertex_id)
    return set(map(frozenset, members.values()))


@pytest.mark.slow
@run(2)
@given(data=st.data())
def test_rules_make_the_stages_they_say(database: Database, data: st.DataObject) -> None:
    labels = st.sampled_from(["a", "b", "*", "01", "yes"])
    tree = tree_of(database, data.draw(strange_rows(labels)))
    order = tree.settings["order"]
    assert isinstance(order, list)
    depends = {
        name: data.draw(st.lists(st.sampled_from(order[:i]), unique=True)) if i else []
        for i, name in enumerate(order)
        if data.draw(st.booleans())
    }
    written = {f" {name.lower()} ": found for name, found in depends.items()}
    staged = tree.set_stages(depends=written, name="ruled", replace=True, prior="mass")
    assert partition(staged) == by_rules(tree, depends)
    assert {k: set(v) for k, v in staged.settings["depends"].items()} == {  # type: ignore[attr-defined]
        k: set(v) for k, v in depends.items()
    }
    assert named(staged) == {}
    assert database.check() == []


def test_stages_given_by_path_go_before_rules(falls: EventTree) -> None:
    staged = falls.set_stages(
        {("hi", "01"): "1", ("lo", "02"): "1"}, depends={"Fall": ["Care"]}, prior="mass"
    )
    blocks = {frozenset(map(tuple, labels)) for labels in _paths(falls, staged)}
    assert {("hi", "01"), ("lo", "02")} in blocks
    assert {("hi", "02")} in blocks
    assert {("lo", "01")} in blocks


def _paths(tree: EventTree, staged: StagedTree) -> list[list[list[str]]]:
    labels = dict(zip(tree.situations["vertex_id"], tree.situations["labels"], strict=True))
    return [[labels[vertex_id] for vertex_id in block] for block in partition(staged)]


@pytest.mark.parametrize(
    ("depends", "message"),
    [
        (
            {"Fal": []},
            "there is no variable 'Fal' in tree 'falls'; .*\nhint: did you mean 'Fall'",
        ),
        ({"Fall": ["Rsk"]}, "there is no variable 'Rsk' in tree"),
        ({"Care": ["Fall"]}, "'Care' cannot depend on 'Fall', which does not come before it"),
        ({"Care": ["Care"]}, "'Care' cannot depend on 'Care'"),
        ({"Fall": "Risk"}, "must be a list, not the text 'Risk'"),
        ({"Fall": 1}, "depends of 'Fall' must be a list, not 1"),
        ([("Fall", [])], "depends must be a mapping, not "),
        ({"Fall": [], "fall ": []}, "two rules for 'Fall'"),
        (None, "no stages are given"),
    ],
)
def test_rules_that_cannot_hold_are_refused(
    falls: EventTree, depends: Any, message: str
) -> None:
    with pytest.raises(StagingError, match=message):
        falls.set_stages(depends=depends, prior="mass")


@pytest.mark.slow
def test_rules_hold_for_new_situations_after_a_rebuild(db: Database) -> None:
    rows = "select {} as a, i % 3 as b, i % 2 as c from range(12) t(i)"
    survey = db.ingest(rows.format("i % 2"), name="s")
    tree = survey.event_tree(sampling_zeros="none")
    staged = tree.set_stages({("0", "0"): "zero"}, depends={"c": ["b"]}, prior="mass")
    staged = staged.rename({"u4": "third"})
    names = named(staged)
    survey.append(rows.format("2"))
    db.rebuild()
    expected = by_rules(tree, {"c": ["b"]})
    zero = next(i for i, path in _situations(tree) if path == ["0", "0"])
    split = {frozenset(block - {zero}) for block in expected} - {frozenset()}
    assert partition(staged) == split | {frozenset([zero])}
    assert set(named(staged)) == set(names) == {"zero", "third"}
    assert db.check() == []


def _situations(tree: EventTree) -> list[tuple[int, list[str]]]:
    paths = map(list, tree.situations["labels"])
    return list(zip(tree.situations["vertex_id"], paths, strict=True))


# -----------------------------------------------------------------------------
# Edits
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(2)
@given(data=st.data())
def test_edits_change_what_they_say_and_nothing_else(
    database: Database, data: st.DataObject
) -> None:
    labels = st.sampled_from(["a", "b", "*", "s1"])
    tree = tree_of(database, data.draw(strange_rows(labels)))
    how = data.draw(st.sampled_from(["variable", "labels"]))
    if data.draw(st.booleans()):
        staged = tree.learn_stages(
            "start", alpha=3, hyperstages=how, replace=True, prior="mass", criterion="score"
        )
    else:
        staged = tree.set_stages(
            {}, "start", alpha=3, hyperstages=how, replace=True, prior="mass"
        )
    before = partition(staged)
    stages = staged.stages
    members = staged.florets.groupby("stage")["vertex_id"].agg(list)

    one, other = data.draw(st.sampled_from(list(stages.itertuples()))), None
    for found in stages.itertuples():
        if found.stage != one.stage and found.hyperstage_id == one.hyperstage_id:
            other = found
    if other is not None:
        joined = staged.join(one.stage, other.stage, name="joined", replace=True)
        a, b = (frozenset(members[found.stage]) for found in (one, other))
        assert partition(joined) == (before - {a, b}) | {a | b}
        back = joined.split(
            joined.florets.set_index("vertex_id")["stage"][min(a | b)],
            [[f"s{list(tree.florets['vertex_id']).index(i)}" for i in sorted(a)]],
            name="back",
            replace=True,
        )
        assert partition(back) == before
        assert back.log_marginal_likelihood == pytest.approx(staged.log_marginal_likelihood)
        assert joined.settings["hyperstages"] == how
    whole = members[one.stage]
    if len(whole) > 1:
        labels_of = dict(_situations(tree))
        alone = staged.split(one.stage, name="alone", replace=True)
        rest = before - {frozenset(whole)}
        assert partition(alone) == rest | {frozenset([i]) for i in whole}
        first = labels_of[whole[0]]
        if "*" not in first:
            parts = staged.split(one.stage, [[first]], name="parts", replace=True)
            assert partition(parts) == rest | {frozenset(whole[:1]), frozenset(whole[1:])}
    renamed = staged.rename({one.stage: " ok "}, name="renamed", replace=True)
    assert named(renamed) == {"ok": frozenset(whole)}
    assert bulk(database, renamed, with_names=False) == bulk(database, staged, with_names=False)
    assert renamed.settings == staged.settings
    assert database.check() == []


@pytest.mark.slow
def test_names_are_kept_by_edits_and_rebuilds(db: Database) -> None:
    rows = "select {} as a, i % 3 as b, i % 2 as c from range(12) t(i)"
    survey = db.ingest(rows.format("i % 2"), name="s")
    tree = survey.event_tree(sampling_zeros="none")
    staged = tree.set_stages(
        {("0", "*"): "low", ("1", "0"): "high", ("1", "1"): "other"}, prior="mass"
    )
    joined = staged.join("high", "other", name="joined")
    learnt = tree.learn_stages("learnt", prior="mass", criterion="score").rename(
        {"u0": "top"}, replace=True
    )
    assert learnt.name == "learnt"
    twice = staged.rename({"low": "high", "high": "low"}, name="swapped")
    assert named(twice)["low"] == named(staged)["high"]
    assert set(named(joined)) == {"low", "high"}
    assert len(named(joined)["high"]) == 2
    assert set(named(joined.split("high"))) == {"low"}
    survey.append(rows.format("2"))
    db.rebuild()
    assert set(named(joined)) == {"low", "high"}
    assert set(named(learnt)) == {"top"}
    assert set(named(twice)) == {"low", "high", "other"}
    assert len(named(twice)["high"]) == 3
    survey.append(rows.format("3"))
    db.rebuild(stages="relearn")
    assert set(named(staged)) == {"low", "high", "other"}
    assert db.check() == []


@pytest.mark.slow
def test_numbers_of_groups_are_no_names(db: Database) -> None:
    survey = db.ingest("select i % 2 as a, i % 4 < 2 as b from range(8) t(i)", name="s")
    staged = survey.event_tree(sampling_zeros="none").set_stages([["0", "1"]], prior="mass")
    assert named(staged) == {}
    survey.append("select i % 2 as a, i % 4 < 2 as b from range(8) t(i)")
    db.rebuild()
    assert named(staged) == {}
    assert len(staged.stages) == 2


def make_one_and_two(db: Database) -> None:
    make_falls(db).set_stages(
        {("hi",): "one", ("lo", "01"): "two", ("lo", "02"): "two"}, prior="mass"
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.join("u0"), "u0: this is one stage, with nothing to join"),
        (lambda s: s.join("u1", "one"), "u1, one: this is one stage, with"),
        (lambda s: s.join(), "no stages to join"),
        (lambda s: s.join(["u0", "u1"]), "one by one, such as 'u3', 'u5'"),
        (lambda s: s.join("u1", "u99"), "has no stage 'u99'\nhint: its stages are u0 to u"),
        (
            lambda s: s.join("u3", "u4"),
            (
                r"u3 and u4 cannot be joined: the situations of u3 are about Fall "
                r"\(maybe, no\), those of u4 about Fall "
                r"\(no, yes\)\nhint: .*sampling_zeros.*relabel"
            ),
        ),
        (lambda s: s.split("u4"), r"stage u4 of 1 situation would stay whole"),
        (lambda s: s.split("u4", [["s4"]]), "stage u4 of 1 situation would stay whole"),
        (lambda s: s.split("u4", [["s5"]]), r"situation \('hi', '02'\) .*is not in stage u4"),
        (lambda s: s.split("u4", [["s99"]]), "the tree has no situation s99"),
        (lambda s: s.split("u4", [["up"]]), r"groups: there is no situation \('up',\)"),
        (
            lambda s: s.tree.set_stages({"s1": "a"}, prior="mass"),
            (
                r"no situation \('s1',\).*\nhint: 's1' is the name of a vertex; name a "
                r"situation by its answers: \('"
            ),
        ),
        (lambda s: s.join("u0", "u1"), "cannot be joined: .*\nhint: they belong to different"),
        (
            lambda s: s.split("u4", ["s4"]),
            "group 1 of groups must be a list, not the text 's4'",
        ),
        (
            lambda s: s.split("two", [["s7"], [("lo", "01")]]),
            r"situation \('lo', '01'\) with labels no, yes is in two groups",
        ),
        (lambda s: s.rename({}), "names must be a mapping from stage to new name, not {}"),
        (lambda s: s.rename({"u4": " "}), "the new name of stage u4 is empty"),
        (lambda s: s.rename({"u4": "u7"}), "stage u4 cannot be named 'u7'"),
        (lambda s: s.rename({"u4": "one"}), r"would both be named 'one'"),
        (lambda s: s.rename({"u1": "a", "one": "b"}), r"u1 \('one'\) has two new names"),
    ],
)
@pytest.mark.holds(made_by=make_one_and_two)
def test_edits_that_cannot_be_made_are_refused(
    db: Database, edit: Callable[[StagedTree], object], message: str
) -> None:
    with pytest.raises(StagingError, match=message):
        edit(db.stagings["falls"])


@pytest.mark.slow
def test_stages_of_two_variables_may_be_joined_if_labels_decide(db: Database) -> None:
    tree = db.ingest("select i % 2 as a, i % 4 < 2 as b, i % 2 as c from range(8) t(i)")
    rows = "select (i % 2)::varchar as a, (i % 4 // 2)::varchar as b from range(8) t(i)"
    tree = db.ingest(rows, "pair").event_tree(sampling_zeros="none")
    message = (
        r"are about a \(0, 1\), those of u1 about b \(0, 1\)\n"
        r"hint: they have the same labels, but.*'labels'"
    )
    with pytest.raises(StagingError, match=message):
        tree.set_stages({}, prior="mass").join("u0", "u1")
    with pytest.raises(StagingError, match="hint: they have the same labels"):
        tree.set_stages({(): "s", ("0",): "s"}, prior="mass")
    joined = tree.set_stages({}, "wide", hyperstages="labels", prior="mass").join("u0", "u1")
    assert partition(joined) == {frozenset([0, 1]), frozenset([2])}
    assert db.check() == []


@pytest.mark.slow
def test_an_edit_in_place_keeps_hyperstages_that_were_given(falls: EventTree) -> None:
    groups = [[("hi", "*")], [("lo", "*")]]
    staged = falls.learn_stages(hyperstages=groups, prior="mass", criterion="score")
    n_hyperstages = len(set(staged.stages["hyperstage_id"]))
    stage = staged.florets.set_index("situation")["stage"]["s4"]
    single = staged.split(stage, name="falls", replace=True)
    assert single.name == "falls"
    assert len(set(single.stages["hyperstage_id"])) == n_hyperstages
    with cegdb.open() as other:
        assert other.check() == []


@pytest.mark.parametrize("asked", [None, ["u1"], {"u1": "u2"}, b"u1", "", " "])
def test_what_is_no_name_of_a_stage_is_refused(falls: EventTree, asked: Any) -> None:
    staged = falls.set_stages({}, prior="mass")
    for edit in (
        lambda: staged.join(asked, "u1"),
        lambda: staged.split(asked),
        lambda: staged.rename({"u1": asked}),
    ):
        with pytest.raises(StagingError):
            edit()


def test_blanks_around_the_name_of_a_stage_do_not_matter(falls: EventTree) -> None:
    staged = falls.set_stages({}, prior="mass").rename({" u1 ": " frail "})
    assert staged.rename({"frail ": "fit"}).stages["name"].tolist()[1] == "fit"


@pytest.mark.parametrize("what", ["stages", "prior", "hyperstages"])
def test_a_text_that_cannot_be_stored_is_refused(falls: EventTree, what: str) -> None:
    given: dict[str, Any] = {what: {("\udce9",): {"x": 1.0} if what == "prior" else "name"}}
    with pytest.raises(CegdbError, match="is not UTF-8 text") as refused:
        falls.set_stages(**{"stages": {}} | given)
    assert refused.value.exit_code == 3


def test_a_name_that_cannot_be_tells_of_which_path(falls: EventTree) -> None:
    (path,) = falls.situations["labels"][1:2]
    for name in (None, " ", ["a"], b"a"):
        with pytest.raises(StagingError, match="stages: the name of") as error:
            falls.set_stages({tuple(path): name}, prior="mass")
        assert repr(path[0]) in str(error.value)


def test_a_vertex_id_is_never_rounded(falls: EventTree) -> None:
    with pytest.raises(StagingError, match=r"the tree has no situation with vertex_id 1\.5"):
        falls.set_stages(pd.DataFrame({"vertex_id": [1.5], "stage": ["a"]}), prior="mass")
    entries = pd.DataFrame({"vertex_id": [0.4], "label": ["x"], "prior": [1.0]})
    with pytest.raises(
        StagingError, match="the vertex_id of a row with label 'x' is not a whole number"
    ):
        falls.set_stages({}, prior=entries)


@pytest.mark.slow
def test_priors_and_stages_are_read_from_a_workbook(falls: EventTree, tmp_path: Path) -> None:
    priors = pd.DataFrame({"vertex_id": 0, "label": ["hi", "lo", "no"], "prior": 1.5})
    stages = pd.DataFrame({"vertex_id": [4, 5], "stage": ["a", "b"]})
    written = {}
    for name, frame in (("priors", priors), ("stages", stages)):
        written[name] = tmp_path / f"{name}.xlsx"
        with xlsxwriter.Workbook(written[name]) as book:
            sheet = book.add_worksheet()
            for row, cells in enumerate([frame.columns.tolist(), *frame.to_numpy().tolist()]):
                sheet.write_row(row, 0, cells)
    staged = falls.set_stages(written["stages"], prior=written["priors"])
    same = falls.set_stages(stages, prior=priors)
    pd.testing.assert_frame_equal(
        staged.stages.drop(columns="staging", errors="ignore"),
        same.stages.drop(columns="staging", errors="ignore"),
    )
    assert staged.log_marginal_likelihood == same.log_marginal_likelihood


@pytest.mark.parametrize("word", ["full", "indep"])
def test_stages_by_a_word_name_the_method_that_makes_them(falls: EventTree, word: Any) -> None:
    with pytest.raises(
        StagingError, match=rf"stages cannot be '{word}'.*\nhint: .*tree\.{word}\(\)"
    ):
        falls.set_stages(word, prior="mass")


def test_a_summary_counts_given_stages_apart_from_situations_not_named(
    falls: EventTree,
) -> None:
    staged = falls.set_stages({("hi", "01"): "a", ("hi", "02"): "a"}, alpha=1, prior="mass")
    n_alone = len(staged.stages) - 1
    assert f"(1 given, {n_alone} not named" in staged.summary
    assert f"{n_alone} situations not named" in staged.summary


@pytest.mark.slow
def test_situations_to_split_off_are_found_in_any_case(falls: EventTree) -> None:
    staged = falls.set_stages({("hi", "01"): "a", ("hi", "02"): "a"}, prior="mass")
    stage = staged.stages.set_index("name")["stage"]["a"]
    first = staged.florets.set_index("stage")["situation"][stage].iloc[0]
    expected = partition(staged.split("a", [[first]], name="lower"))
    assert partition(staged.split("A", [[f" {first.upper()} "]], name="upper")) == expected


@pytest.mark.slow
def test_columns_of_stages_and_priors_are_found_as_others_are(falls: EventTree) -> None:
    frame = pd.DataFrame({"vertex_id": [4, 5], "stage": ["a", "a"]})
    shouted = falls.set_stages(frame.rename(columns=str.upper), prior="mass")
    assert (
        shouted.stages["name"].tolist()
        == falls.set_stages(frame, prior="mass").stages["name"].tolist()
    )
    for columns in (["vertex_id", "vertex_id"], ["vertex_id"], ["stage"], ["a", "b", "c"]):
        few = pd.DataFrame([[1] * len(columns)], columns=columns)
        with pytest.raises(StagingError, match="stages: the columns are"):
            falls.set_stages(few, prior="mass")
        with pytest.raises(StagingError, match="prior: the columns are"):
            falls.set_stages({}, prior=few)


def test_single_edges_that_share_a_stage_are_not_told_as_alone(database: Database) -> None:
    rows = "select i % 2 as x, 'only' as y from range(8) t(i)"
    tree = database.ingest(rows, name="single").event_tree(sampling_zeros="none")
    assert "1 situation not named" in tree.set_stages({}, prior="mass").summary
    assert (
        "3 situations not named"
        in tree.set_stages({}, single_edges="apart", prior="mass").summary
    )


# -----------------------------------------------------------------------------
# Command line
# -----------------------------------------------------------------------------


def call(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.slow
def test_the_command_line_does_it_all(tmp_path: Path) -> None:
    file, db = tmp_path / "falls.csv", tmp_path / "falls.duckdb"
    rows = [f"{a},{b},{c}" for a in "uv" for b in "xy" for c in "01" for _ in "abc"]
    file.write_text("\n".join(["Risk,Care,Fall: any", *rows]))
    call("run", file, "--db", db)
    template = tmp_path / "stages.yaml"
    assert "template: " in call("template", db, "falls", "-o", template)
    call("set-stages", db, "falls", "--stages-file", template, "--name", "alone")
    out = call("set-stages", db, "falls", "--depends", '"Fall: any": Care', "--name", "ruled")
    assert "staging 'ruled'" in out
    call("join", db, "ruled", "u3", "u4", "--name", "joined")
    call("rename", db, "joined", "u3=frail", "--replace")
    call("split", db, "joined", "Frail", "--part", "s3,s4", "--name", "parts")
    call("template", db, "falls", "-o", template)
    assert 'stage: "frail"' not in template.read_text()
    call("template", db, "parts", "-o", template)
    assert 'stage: "frail"' in template.read_text()
    call("template", db, "ruled", "--kind", "tree", "-o", template, code=3)
    with cegdb.open(db) as database:
        assert named(database.stagings["joined"]) == {"frail": frozenset([3, 4, 5, 6])}
        assert len(database.stagings["parts"].stages) == 5
        assert database.check() == []
    for command in ("join", "split", "rename"):
        call(command, db, "joined", code=2)
    call("join", db, "joined", "u1", "u2", "--part", "s1", code=2)
    call("template", db, "falls", "-o", template, "--depends", "Risk:", code=2)
    assert "give --stages-file or --depends" in call("set-stages", db, "falls", code=2)
    assert "is not 'VARIABLE:" in call("set-stages", db, "falls", "--depends", "Fall", code=3)
    assert "is not STAGE=NAME" in call("rename", db, "joined", "u1", code=3)
    # A byte that is not UTF-8, as Python passes it on from a console.
    assert "must be UTF-8 text" in call("rename", db, "joined", "u1=fr\udce9d", code=3)


@pytest.mark.slow
def test_options_that_would_be_ignored_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    db, template = tmp_path / "chds.duckdb", tmp_path / "chds.yaml"
    call("demo", "--db", db)
    for options, ignored in (
        (("intervals", db, "chds", "--method", "wilson"), ("--runs", 5)),
        (("demo", "--csv", tmp_path / "chds.csv"), ("--db", db)),
    ):
        assert f"leave out {ignored[0]}" in call(*options, *ignored, code=2)
    for options, unknown in (
        (("template", db, "chds", "-o", template), ("--name", "x")),
        (("template", db, "chds", "-o", template), ("--alpha", 3)),
        (("alpha-path", db, "chds"), ("--name", "x")),
        (("alpha-path", db, "chds"), ("--alpha", 3)),
        (("set-stages", db, "chds", "--depends", "Events:"), ("--method", "bhc")),
        (("set-stages", db, "chds", "--depends", "Events:"), ("--frozen", template)),
        (("set-stages", db, "chds", "--stages-file", template), ("--initial", "indep")),
    ):
        message = call(*options, *unknown, code=2)
        assert f"there is no option '{unknown[0]}'" in message
    assert not template.exists()
