"""Waves: rows appended or replaced, and what was built on them rebuilt."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import NASTY, labels_of, rows_of, trace, written
from oracle import BLANK
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.errors import CegdbError, StaleError, SurveyError
from cegdb.options import LearnOptions
from cegdb.stages import StagingLimits, learn_stages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.api import Database, StagedTree, Survey

Wave = list[dict[str, str | None]]

OLD = [("a", "x")] * 6 + [("a", "y")] * 2 + [("b", "x")] * 3 + [("b", "y")] * 5
TABLES = {
    "vertex": "variable_id",
    "edge": "level_id",
    "hyperstage": "variable_id",
    "stage": "",
    "stage_member": "",
    "stage_edge": "",
    "ahc_merge": "",
    "position": "",
    "position_member": "",
    "ceg_edge": "",
    "merge_step": "seconds",
}


def frame(rows: list[tuple[str, ...]], *names: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(names), dtype=object)


def survey_tables(db: Database, survey: Survey) -> dict[str, Any]:
    """Return all that a survey is: its levels, labels and coded rows."""
    levels = db.sql(
        "select ordinal, variable, question, code, label, label_id, kind, n, original_code "
        "from cegdb.variables where survey = $name order by ordinal, code",
        {"name": survey.name},
    )
    rows = db.rows(f"select * from cegdb.response_{survey.id} order by all")  # noqa: S608
    sizes = db.rows(
        "select n_read, n, n_distinct from cegdb.surveys where survey = $name",
        {"name": survey.name},
    )
    cells = survey.receipt["cells"]
    return {"levels": levels.to_csv(), "rows": rows, "sizes": sizes, "cells": cells}


def built_tables(db: Database) -> dict[str, Any]:
    """Return every bulk table, but for ids that count up over surveys, and times."""
    tables: dict[str, Any] = {}
    for table, left_out in TABLES.items():
        exclude = f"exclude ({left_out})" if left_out else ""
        tables[table] = db.rows(f"select * {exclude} from cegdb.{table} order by all")[1]  # noqa: S608
    return tables


def build(survey: Survey, **options: Any) -> StagedTree:
    staged = survey.event_tree(**options).learn_stages(alpha=2, prior="mass", criterion="score")
    staged.to_ceg()
    return staged


# -----------------------------------------------------------------------------
# Append is as if all files had been read as one, refresh as if only the last had
# -----------------------------------------------------------------------------

LABELS = st.one_of(st.none(), st.sampled_from(["1", "2", "10", "a", "b", "s", "m", "é"]), NASTY)


@st.composite
def waves(draw: Callable[..., Any]) -> list[pd.DataFrame]:
    """Draw a survey in two to four parts, each with columns and an order of its own."""
    names = ["A", "B", "C d", "n"]
    parts = []
    for i in range(draw(st.integers(2, 4))):
        chosen = draw(st.permutations(names[1:]))[: draw(st.integers(1, 3))]
        columns = [*(["A"] if i == 0 else draw(st.permutations(["A"]))), *chosen]
        n_rows = draw(st.integers(1 if i == 0 else 0, 8))
        cells = {
            name: draw(st.lists(LABELS, min_size=n_rows, max_size=n_rows)) for name in columns
        }
        table = pd.DataFrame({name: pd.Series(cells[name], dtype=object) for name in columns})
        table["freq"] = draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
        table["wt"] = draw(
            st.lists(st.sampled_from([0.5, 1, 2.25]), min_size=n_rows, max_size=n_rows)
        )
        parts.append(table.astype({"freq": object, "wt": object}))
    return parts


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "structural": st.just(["s"]),
        "missing": st.sampled_from([["m"], {"A": ["m"]}]),
        "columns": st.just(["A"]),
        "codebook": st.sampled_from(
            [
                {"variables": {"A": {"values": {"2": "two", "1": "one"}, "label": "How?"}}},
                {"variables": {"A": {"recode": {"a": "b"}}}, "gates": {"B": "A = 'b'"}},
            ]
        ),
    },
)


@pytest.mark.slow
@run(2)
@given(waves(), SETTINGS)
def test_append_gives_what_one_ingest_of_all_parts_gives(
    parts: list[pd.DataFrame], asked: dict[str, Any]
) -> None:
    if "gates" in asked.get("codebook", {}) and (
        "columns" in asked or "B" not in parts[0].columns
    ):
        asked = {}
    asked = {**asked, "count": "freq", "weight": "wt"}
    with cegdb.open() as db, cegdb.open() as other:
        whole = other.ingest(pd.concat(parts, ignore_index=True), name="s", **asked)
        survey = db.ingest(parts[0], name="s", **asked)
        staged = build(survey, order=["A"])
        for part in parts[1:]:
            assert survey.append(part) is survey
        assert survey_tables(db, survey) == survey_tables(other, whole)
        assert survey.settings["columns"] == whole.settings["columns"]
        assert survey.settings["variables"] == whole.settings["variables"]
        assert survey.receipt["weights"] == whole.receipt["weights"]
        assert survey.receipt["patterns"] == whole.receipt["patterns"]
        assert len(survey.receipt["earlier"]) == len(parts) - 1  # type: ignore[arg-type]
        assert db.check() == []
        assert staged.is_stale
        build(whole, order=["A"])
        db.rebuild(stages="relearn")
        assert built_tables(db) == built_tables(other)
        assert db.check() == []
        assert db.rows("select count(*) from cegdb.survey")[1] == [(1,)]


@pytest.mark.slow
@run(2)
@given(waves(), SETTINGS)
def test_refresh_gives_what_an_ingest_of_the_new_rows_gives(
    parts: list[pd.DataFrame], asked: dict[str, Any]
) -> None:
    later = parts[-1]
    if not len(later) or "gates" in asked.get("codebook", {}):
        return
    with cegdb.open() as db, cegdb.open() as other:
        survey = db.ingest(parts[0], name="s", count="freq", weight="wt", **asked)
        build(survey, order=["A"])
        survey.refresh(later)
        columns = [
            *[c for c in parts[0] if c in later],
            *[c for c in later if c not in parts[0]],
        ]
        whole = other.ingest(later[columns], name="s", count="freq", weight="wt", **asked)
        assert survey_tables(db, survey) == survey_tables(other, whole)
        assert survey.receipt == whole.receipt | {"hints": survey.receipt["hints"]}
        build(whole, order=["A"])
        db.rebuild(stages="relearn")
        assert built_tables(db) == built_tables(other)
        assert db.check() == []


@pytest.mark.slow
def test_files_of_waves_are_appended_by_column_name(db: Database, tmp_path: Path) -> None:
    """The waves of case B14, one after another instead of at once."""
    survey = db.ingest(written(tmp_path, "id,income\na,low\nb,high\n", "w1.csv"), name="w")
    survey.append(written(tmp_path, "id,income\nc,\n", "w2.csv"))
    survey.append(written(tmp_path, "newq,income,id\nyes,high,d\n,,e\n", "w3.csv"))
    survey.append(written(tmp_path, "income,id,newq\n", "w4.csv"))
    assert rows_of(db, survey) == Counter(
        {
            ("a", "low", None): 1,
            ("b", "high", None): 1,
            ("c", None, None): 1,
            ("d", "high", "yes"): 1,
            ("e", None, None): 1,
        }
    )
    assert labels_of(survey)["income"] == {"high": 2, "low": 1}
    assert survey.receipt["rows_read"] == 5
    last: Any = survey.receipt["last"]
    assert (last["source"], last["rows_read"]) == (str(tmp_path / "w4.csv"), 0)
    earlier: Any = survey.receipt["earlier"]
    assert [one["rows_read"] for one in earlier] == [2, 1, 2]
    assert "newq" in " ".join(earlier[2]["hints"])


@pytest.mark.slow
def test_the_column_that_tells_files_apart_goes_on(db: Database, tmp_path: Path) -> None:
    survey = db.ingest(written(tmp_path, "x\na\n", "w1.csv"), name="s", source_column="wave")
    survey.append([written(tmp_path, "X\nb\n", f"w{i}.csv") for i in (2, 3)])
    survey.append(frame([("c",)], "x"))
    survey.append(frame([("d", "w2")], "x", "Wave"))
    expected = {("w1", "a"): 1, ("w2", "b"): 1, ("w3", "b"): 1, (None, "c"): 1, ("w2", "d"): 1}
    assert rows_of(db, survey) == Counter(expected)
    survey.refresh(tmp_path / "w3.csv")
    assert rows_of(db, survey) == Counter({("w3", "b"): 1})
    assert survey.settings["source_column"] == "wave"


def test_columns_of_another_spelling_are_found_and_told(db: Database) -> None:
    survey = db.ingest(frame(OLD, "Sex", "vote"), name="s")
    survey.append(frame([("a", "x")], " sex", "VOTE"))
    assert list(labels_of(survey)) == ["Sex", "vote"]
    assert survey.receipt["columns_found_as"] == {"Sex": " sex", "vote": "VOTE"}
    assert survey.receipt["respondents"] == len(OLD) + 1


@pytest.mark.slow
def test_a_second_append_of_the_same_bytes_is_told(db: Database, tmp_path: Path) -> None:
    file = written(tmp_path, "a,b\n1,2\n")
    survey = db.ingest(file, name="s")
    survey.append(file)
    assert survey.receipt["respondents"] == 2
    assert "count twice" in survey.summary
    survey.refresh(file)
    assert survey.receipt["respondents"] == 1
    assert "count twice" not in survey.summary


def test_cut_points_of_quantiles_stay(db: Database) -> None:
    survey = db.ingest(
        pd.DataFrame({"age": range(100), "x": ["u", "v"] * 50}), name="s", bins={"age": "q4"}
    )
    labels = list(labels_of(survey)["age"])
    survey.append(pd.DataFrame({"age": [1000, -5, 24.0, 24.5], "x": ["u"] * 4}))
    assert labels_of(survey)["age"] == dict(zip(labels, [27, 26, 25, 26], strict=True))
    survey.refresh(pd.DataFrame({"age": [1000, 2000], "x": ["u"] * 2}))
    assert labels_of(survey)["age"] == dict(zip(labels, [0, 0, 0, 2], strict=True))


@pytest.mark.slow
def test_codes_of_a_file_without_labels_mean_what_they_meant(
    db: Database, tmp_path: Path
) -> None:
    import pyreadstat

    file = tmp_path / "one.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0, 9.0]}),
        file,
        variable_value_labels={"sex": {1: "male", 2: "female", 9: "refused"}},
        missing_ranges={"sex": [9]},
        column_labels=["Sex of respondent"],
    )
    survey = db.ingest(file, name="s")
    survey.append(written(tmp_path, "sex\n2\n2\n9\n3\n", "two.csv"))
    assert labels_of(survey) == {"sex": {"male": 1, "female": 3, "3": 1}}
    assert labels_of(survey, "missing") == {"sex": {"refused": 2}}
    assert "2 is 'female'" in survey.summary
    assert set(survey.variables["question"]) == {"Sex of respondent"}
    survey.append(file)
    assert labels_of(survey)["sex"] == {"male": 2, "female": 4, "3": 1}
    codes = survey.variables.set_index("label")["original_code"]
    assert codes[["male", "female", "3", "refused"]].tolist() == ["1", "2", "3", "9"]


@pytest.mark.slow
def test_a_workbook_and_a_parquet_file_are_appended(db: Database, tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "w.xlsx") as book:
        sheet = book.add_worksheet()
        for i, cells in enumerate([["vote", "extra"], ["x", 1], ["y", 2]]):
            sheet.write_row(i, 0, cells)
    survey = db.ingest(frame(OLD, "Sex", "vote"), name="s", columns=["Sex", "vote"])
    survey.append(tmp_path / "w.xlsx")
    frame([("c", "x")], "Sex", "vote").to_parquet(tmp_path / "w.parquet")
    survey.append(tmp_path / "w.parquet")
    expected = Counter(OLD) + Counter({(None, "x"): 1, (None, "y"): 1, ("c", "x"): 1})
    assert rows_of(db, survey) == expected


def counted(db: Database) -> None:
    """Build all on a survey of counted rows."""
    rows = [(*cells, 1) for cells in OLD]
    build(db.ingest(frame(rows, "Sex", "vote", "n"), name="s", count="n"))


@pytest.mark.slow
@pytest.mark.holds(made_by=counted)
@pytest.mark.parametrize(
    ("change", "source", "says"),
    [
        ("append", frame([("u",)], "other"), "has no column of survey 's'"),
        ("append", frame([("a", "x")], "Sex", "vote"), "no column 'n'"),
        ("refresh", frame([("u", 1)], "Sex", "n"), "no column 'vote'"),
        ("refresh", frame([], "Sex", "vote", "n"), "no rows"),
        ("append", frame([("a", "x", "many")], "Sex", "vote", "n"), "whole number"),
    ],
)
def test_what_cannot_be_added_is_refused_and_changes_nothing(
    db: Database,
    sound: Callable[[Database], None],
    change: str,
    source: pd.DataFrame,
    says: str,
) -> None:
    survey, staged = db.surveys["s"], db.stagings["s"]
    before = trace(db), survey.summary, built_tables(db)
    with pytest.raises(SurveyError, match=says):
        getattr(survey, change)(source)
    assert (trace(db), survey.summary, built_tables(db)) == before
    assert not staged.is_stale
    sound(db)


@pytest.mark.slow
def test_each_file_may_have_its_decimal_sign(db: Database) -> None:
    survey = db.ingest(
        frame([("a", "0.5", "1.5")], "A", "w", "x"), name="s", weight="w", bins={"x": [2]}
    )
    later = frame([("a", "0,25", "2,5"), ("b", "1", "1,5")], "A", "w", "x")
    with pytest.raises(SurveyError, match="a weight is a number"):
        survey.append(later)
    survey.append(later, decimal=",")
    assert labels_of(survey)["x"] == {"<2": 2, ">=2": 1}
    weights: Any = survey.receipt["weights"]
    assert (weights["sum"], weights["smallest"], weights["largest"]) == ("1.75", "0.25", "1")
    survey.append(frame([("a", "0.5", "1.5")], "A", "w", "x"))
    assert survey.settings["decimal"] == "."


def test_a_survey_of_clusters_is_refreshed_but_not_appended_to(db: Database) -> None:
    table = pd.DataFrame({"c": [1, 1, 2, 2, 3, 3], "x": list("aabbab")})
    survey = db.ingest(table, name="s", cluster="c")
    with pytest.raises(SurveyError, match="clusters"):
        survey.append(table)
    survey.refresh(pd.concat([table, table.assign(c=table["c"] + 3)]))
    assert survey.receipt["respondents"] == 12
    assert survey.receipt["design_effects"]


def test_texts_with_semicolons_stand_for_their_label_alone(db: Database) -> None:
    book = {"variables": {"m": {"recode": {"x; y": "several", "z": "several"}}}}
    survey = db.ingest(frame([("x; y",), ("z",), ("r",)], "m"), name="s", codebook=book)
    survey.append(frame([("x",), ("y",), ("z",)], "m"))
    survey.append(frame([("x; y",)], "m"))
    assert labels_of(survey)["m"] == {"r": 1, "several": 4, "x": 1, "y": 1}
    codes = survey.variables.set_index("label")["original_code"]
    assert codes["several"] == "x; y; z"


@pytest.mark.slow
def test_what_was_said_of_absent_columns_is_not_forgotten(db: Database) -> None:
    book = {
        "variables": {
            "x": {"values": {1: "yes", 2: "no"}, "missing": [9]},
            "y": {"bins": "q2"},
        },
    }
    survey = db.ingest(frame([("a",)], "a"), name="s", codebook=book)
    survey.append(frame([("b", "1"), ("b", "9")], "a", "x"))
    assert labels_of(survey)["x"] == {"yes": 1, "no": 0}
    assert labels_of(survey, "missing")["x"] == {"9": 1}
    assert "is no column" not in survey.summary
    gated = {**book, "gates": {"x": "a = 'a'"}}
    rows = [("a", "1", "1"), ("a", "2", "5"), ("a", "2", "9")]
    other = db.ingest(frame(rows, "a", "x", "y"), name="o", codebook=gated)
    labels = list(labels_of(other)["y"])
    other.refresh(frame([("a",)], "a"))
    assert list(labels_of(other)) == ["a"]
    other.refresh(frame([("a", "1", "7"), ("b", "2", "8")], "a", "x", "y"))
    assert labels_of(other)["x"] == {"yes": 1, "no": 0}
    assert labels_of(other, "structural")["x"] == {"not applicable": 1}
    assert labels_of(other)["y"] == dict(zip(labels, [0, 2], strict=True))


def test_columns_that_differ_in_case_are_not_taken_for_each_other(db: Database) -> None:
    survey = db.ingest(frame([("a", "x"), ("b", "y")], "Q1", "q1"), name="s")
    survey.append(frame([("x",), ("y",)], "q1"))
    assert labels_of(survey) == {"Q1": {"a": 1, "b": 1}, "q1": {"x": 2, "y": 2}}
    counts = db.ingest(frame([("2", "1", "a"), ("3", "7", "b")], "n", "N", "g"), "c", count="n")
    with pytest.raises(SurveyError, match="has no column 'n', which survey 'c' needs"):
        counts.append(frame([("7", "a")], "N", "g"))


@pytest.mark.slow
def test_new_labels_take_their_place_in_the_order(db: Database, tmp_path: Path) -> None:
    def ordered(*labels: str) -> pd.DataFrame:
        kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
        return pd.DataFrame({"x": pd.Series(labels, dtype=kind)})

    survey = db.ingest(ordered("low", "high"), name="s").append(ordered("mid", "high"))
    assert list(labels_of(survey)["x"]) == ["low", "mid", "high"]
    import pyreadstat

    for i, codes in enumerate([[1.0, 2.0], [3.0], [0.0]]):
        pyreadstat.write_sav(
            pd.DataFrame({"x": codes}),
            tmp_path / f"{i}.sav",
            variable_value_labels={"x": {1: "yes", 2: "maybe", 3: "no", 0: "other"}},
        )
    coded = db.ingest(tmp_path / "0.sav", name="c").append(tmp_path / "1.sav")
    assert list(labels_of(coded)["x"]) == ["yes", "maybe", "no"]
    coded.append(tmp_path / "2.sav").append(written(tmp_path, "x\n2\n"))
    assert labels_of(coded)["x"] == {"other": 1, "yes": 1, "maybe": 2, "no": 1}


def test_the_receipt_counts_what_is_set_apart_in_all_files(db: Database) -> None:
    options: dict[str, Any] = {"missing": {"x": ["r"]}, "weight": "w"}
    survey = db.ingest(frame([("a", 1), ("r", 1)], "x", "w"), "s", **options)
    survey.append(frame([("a", 0), ("r", 0)], "x", "w")).append(frame([("a", 2)], "x", "w"))
    assert survey.receipt["declared_labels"] == {"x": {"r": 2}}
    weights: Any = survey.receipt["weights"]
    assert (weights["sum"], weights["rows_of_weight_0"]) == ("4", 2)


@pytest.mark.slow
def test_running_numbers_go_on(db: Database) -> None:
    ids = "select i as id, i % 2 as x from range({}, {}) as t(i)"
    survey = db.ingest(ids.format(0, 30), name="s").append(ids.format(30, 60))
    assert len(labels_of(survey)["id"]) == 60
    other = db.ingest(ids.format(0, 30), name="o")
    with pytest.raises(SurveyError, match="when ingesting the survey anew"):
        other.append(ids.format(40, 90))


# -----------------------------------------------------------------------------
# Stale, and made again
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_built_on_changed_rows_is_stale_and_keeps_its_numbers(
    db: Database, sound: Callable[[Database], None]
) -> None:
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    staged = build(survey)
    tree, ceg = staged.tree, db.cegs["s"]
    before = tree.edges, staged.stages, ceg.edges
    survey.append(frame([("c", "z")] * 4, "A", "B"))
    for one, frame_before in zip((tree, staged, ceg), before, strict=True):
        assert one.is_stale
        assert "stale" in repr(one)
        now = one.stages if one is staged else one.edges
        pd.testing.assert_frame_equal(now, frame_before)
    stale = db.rows("select kind, name, survey from cegdb.stale order by kind")[1]
    assert stale == [("ceg", "s", "s"), ("staging", "s", "s"), ("tree", "s", "s")]
    with pytest.raises(StaleError, match="tree 's'"):
        tree.learn_stages("other", prior="mass", criterion="score")
    with pytest.raises(StaleError, match="staging 's'"):
        staged.to_ceg("other")
    assert survey.event_tree("new", sampling_zeros="none").name == "new"
    assert db.surveys.names() == ["s"]
    assert db.rows("select survey from cegdb.surveys")[1] == [("s",)]
    sound(db)
    db.drop("tree", "s")
    assert db.rows("select count(*) from cegdb.survey")[1] == [(1,)]
    sound(db)


@pytest.mark.slow
def test_dropping_a_survey_drops_its_former_rows_and_stale_trees(db: Database) -> None:
    empty = trace(db)[1]
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    for i in range(3):
        build(survey)
        survey.append(frame([("c", f"z{i}")] * 4, "A", "B"))
    assert len(db.rows("from cegdb.stale")[1]) == 9
    db.drop("survey", "s")
    assert trace(db)[1] == empty


@pytest.mark.slow
def test_ids_and_names_stay_when_made_again(
    db: Database, sound: Callable[[Database], None]
) -> None:
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    staged = build(survey)
    tree, ceg = staged.tree, db.cegs["s"]
    ids = [(one.id, one.name) for one in (survey, tree, staged, ceg)]
    names = ceg.situation_positions[["situation", "path", "stage", "position"]]
    survey.append(frame(OLD, "A", "B"))
    rebuilt = db.rebuild()
    assert rebuilt == [tree, staged, ceg]
    assert [(one.id, one.name) for one in (survey, tree, staged, ceg)] == ids
    again = ceg.situation_positions
    pd.testing.assert_frame_equal(again[["situation", "path", "stage", "position"]], names)
    assert again["n"].tolist() == [32, 16, 16]
    assert not any(one.is_stale for one in (tree, staged, ceg))
    assert db.rebuild() == []
    sound(db)


def oracle_drift(
    before: dict[tuple[str, ...], Counter[str]],
    after: dict[tuple[str, ...], Counter[str]],
    stage_of: dict[tuple[str, ...], str],
    priors: tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]],
) -> dict[str, tuple[int, int, int, dict[str, tuple[float, float]]]]:
    """Return each kept stage's situations, rows before and after, and probabilities."""
    expected = {}
    for stage in sorted(set(stage_of.values())):
        members = [path for path in before if stage_of[path] == stage]
        probabilities: dict[str, list[float]] = {}
        sizes = []
        for florets, prior in zip((before, after), priors, strict=True):
            n = sum((florets[path] for path in members), Counter[str]())
            labels = sorted(set().union(*(florets[path] for path in members)))
            mass = sum(prior[path] for path in members)
            total = mass + n.total()
            for label in labels:
                share = (mass / len(labels) + n[label]) / total
                probabilities.setdefault(label, []).append(share)
            sizes.append(n.total())
        expected[stage] = (
            len(members),
            sizes[0],
            sizes[1],
            {label: (p[0], p[1]) for label, p in probabilities.items()},
        )
    return expected


@pytest.mark.slow
def test_kept_stages_are_estimated_anew_and_their_drift_is_told(
    db: Database, sound: Callable[[Database], None]
) -> None:
    old = [("a", "x")] * 30 + [("a", "y")] * 10 + [("b", "x")] * 28 + [("b", "y")] * 12
    old += [("c", "x")] * 2 + [("c", "y")] * 38
    survey = db.ingest(frame(old, "A", "B"), name="s")
    staged = survey.event_tree(sampling_zeros="none").set_stages(
        {("a",): "u", ("b",): "u"}, alpha=3, prior="mass"
    )
    learnt = staged.tree.learn_stages("learnt", alpha=3, prior="mass", criterion="score")
    assert learnt.stages["n_situations"].tolist() == [1, 2, 1]
    new = [("a", "x")] * 5 + [("a", "y")] * 35 + [("b", "x")] * 4 + [("b", "y")] * 36
    new += [("c", "x")] * 2 + [("c", "y")] * 38
    survey.refresh(frame(new, "A", "B"))
    db.rebuild()
    assert learnt.stages["n_situations"].tolist() == [1, 2, 1]  # learning would make one
    florets = []
    for rows in (old, new):
        of: dict[tuple[str, ...], Counter[str]] = {(): Counter()}
        for a, b in rows:
            of[()][a] += 1
            of.setdefault((a,), Counter())[b] += 1
        florets.append(of)
    prior = {(): 3.0, ("a",): 1.0, ("b",): 1.0, ("c",): 1.0}
    stage_of = {(): "u0", ("a",): "u1", ("b",): "u1", ("c",): "u2"}
    expected = oracle_drift(florets[0], florets[1], stage_of, (prior, prior))
    for one in (staged, learnt):
        drift = one.drift.set_index("stage")
        assert drift["former_stage"].tolist() == ["u0", "u1", "u2"]
        for stage, (n_situations, n_before, n_after, probabilities) in expected.items():
            drift_row = drift.loc[stage]
            assert drift_row["n_situations"] == n_situations
            assert (drift_row["n_before"], drift_row["n_after"]) == (n_before, n_after)
            most = max(abs(q - p) for p, q in probabilities.values())
            p, q = probabilities[drift_row["label"]]
            assert abs(q - p) == pytest.approx(most)
            assert drift_row["probability_before"] == pytest.approx(p)
            assert drift_row["probability_after"] == pytest.approx(q)
            assert drift_row["difference"] == pytest.approx(q - p)
        assert drift["is_disjoint"].tolist() == [False, True, False]
    assert "do not overlap in 1 of 3 former stages" in staged.summary
    sound(db)
    survey.refresh(frame(new, "A", "B"))
    db.rebuild(stages="relearn")
    assert learnt.stages["n_situations"].tolist() == [1, 3]
    assert learnt.drift[["former_stage", "stage", "n_situations"]].to_numpy().tolist() == [
        ["u0", "u0", 1],
        ["u1", "u1", 2],
        ["u2", "u1", 1],
    ]
    assert staged.stages["n_situations"].tolist() == [1, 2, 1]
    assert staged.settings["stages"] == {"groups": {"u": [["a"], ["b"]]}}
    sound(db)


Situation = tuple[tuple[str, str], ...]


def situations(db: Database, tree: str) -> dict[Situation, tuple[str, frozenset[str], int]]:
    """Return path -> variable, labels and vertex id of the situations of a tree."""
    edges = db.rows(
        "select parent_id, child_id, variable, label from cegdb.tree_edges "
        "where tree = $tree order by child_id",
        {"tree": tree},
    )[1]
    path: dict[Any, Situation] = {0: ()}
    floret: dict[Any, list[tuple[str, str]]] = {}
    for parent, child, variable, label in edges:
        path[child] = (*path[parent], (str(variable), str(label)))
        floret.setdefault(parent, []).append((str(variable), str(label)))
    return {
        path[vertex]: (answers[0][0], frozenset(label for _, label in answers), vertex)
        for vertex, answers in floret.items()
    }


def parts_of(db: Database, staging: str) -> dict[Any, tuple[Any, str]]:
    """Return vertex id -> stage id and kind."""
    rows = db.rows(
        "select m.vertex_id, m.stage_id, s.kind from cegdb.stage_member as m "
        "inner join cegdb.staging as g using (staging_id) "
        "inner join cegdb.stage as s using (staging_id, stage_id) where g.name = $name",
        {"name": staging},
    )[1]
    return {vertex: (stage, str(kind)) for vertex, stage, kind in rows}


@pytest.mark.slow
@run(2)
@given(staged_trees(jumps=True), staged_trees(jumps=True))
def test_kept_stages_are_those_of_the_same_answers_on_any_tree(
    old: StagedSample, new: StagedSample
) -> None:
    order = old.order
    tables = [
        pd.DataFrame(
            [
                [*(None if (cell := of.get(v, BLANK)) is BLANK else cell for v in order), n]
                for of, n in sample.rows
            ],
            columns=[*order, "n"],
            dtype=object,
        )
        for sample in (old, new)
    ]
    with cegdb.open() as db:
        tree = db.ingest(tables[0], name="s", count="n").event_tree(
            blank="structural", sampling_zeros="none"
        )
        before = situations(db, "s")
        names = {vertex: old.stage[path] for path, (_, _, vertex) in before.items()}
        given_frame = pd.DataFrame({"vertex_id": list(names), "stage": list(names.values())})
        tree.set_stages(given_frame, "given", prior="mass").to_ceg()
        tree.learn_stages(
            "learnt", initial=given_frame, prior="mass", criterion="score"
        ).to_ceg()
        stages = {name: parts_of(db, name) for name in ("given", "learnt")}
        db.surveys["s"].refresh(tables[1])
        db.rebuild()
        after = situations(db, "s")
        for name, former in stages.items():
            expected: dict[Any, set[Any]] = {}
            for path, (variable, labels, vertex) in after.items():
                was, _, former_id = before.get(path, (None, None, None))
                stage, kind = former[former_id] if was == variable else (None, None)
                single = len(labels) == 1
                if kind == "given" or (kind == "learnt" and not single):
                    key: Any = (stage, variable, labels)
                else:
                    key = (variable, labels) if single else vertex
                expected.setdefault(key, set()).add(vertex)
            groups: dict[Any, set[Any]] = {}
            for vertex, (stage, _) in parts_of(db, name).items():
                groups.setdefault(stage, set()).add(vertex)
            assert sorted(map(sorted, groups.values())) == sorted(
                map(sorted, expected.values())
            )
            drift = db.stagings[name].drift
            assert drift.loc[drift["stage"].notna(), "n_situations"].sum() == len(after)
            assert drift.loc[drift["former_stage"].notna(), "n_situations"].sum() == len(before)
        assert db.check() == []


@pytest.mark.slow
def test_new_situations_are_their_own_and_those_that_go_are_told(
    db: Database, sound: Callable[[Database], None]
) -> None:
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        alpha=2, initial=[[("a",), ("b",)]], prior="mass", criterion="score"
    )
    staged.to_ceg()
    assert staged.stages["n_situations"].tolist() == [1, 2]
    new = [("0", "x"), ("0", "y"), ("a", "x"), ("a", "y"), ("a", "z"), ("d", "x")]
    survey.refresh(frame(new, "A", "B"))
    db.rebuild()
    drift = staged.drift[["former_stage", "stage", "n_situations", "n_before", "n_after"]]
    drift_rows = drift.astype(object).where(drift.notna(), None).to_numpy().tolist()
    assert drift_rows == [
        ["u0", "u0", 1, 16, 6],
        [None, "u1", 1, 0, 2],
        ["u1", "u2", 1, 8, 3],
        [None, "u3", 1, 0, 1],
        ["u1", None, 1, 8, 0],
    ]
    assert "2 situations new, 1 gone" in staged.summary
    sound(db)
    staged.tree.set_stages({("a",): "u"}, "by hand", prior="mass")
    survey.refresh(frame([("b", "x"), ("b", "y")], "A", "B"))
    db.rebuild()
    assert "skipped" in db.stagings["by hand"].summary
    survey.refresh(frame(new, "A", "B"))
    db.rebuild()
    by_hand = db.stagings["by hand"]
    assert by_hand.settings["stages"] == {"groups": {"u": [["a"]]}}
    assert "skipped" not in by_hand.summary
    sound(db)


@pytest.mark.slow
def test_rules_given_by_path_hold_for_new_situations(
    db: Database, sound: Callable[[Database], None]
) -> None:
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    staged = survey.event_tree(sampling_zeros="none").set_stages(
        {("*",): "all"}, hyperstages="labels", prior="mass"
    )
    survey.append(frame([("c", "x"), ("c", "y"), ("d", "y")], "A", "B"))
    for stages in ("keep", "relearn"):
        db.rebuild(stages=stages)  # type: ignore[arg-type]
        assert staged.stages["n_situations"].tolist() == [1, 3, 1]
        assert staged.settings["hyperstages"] == "labels"
        survey.append(frame([("a", "x")], "A", "B"))
    db.rebuild()
    sound(db)


@pytest.mark.slow
@pytest.mark.parametrize("is_large", [False, True])
def test_what_is_given_as_a_frame_is_given_again_by_its_paths(
    db: Database,
    sound: Callable[[Database], None],
    *,
    is_large: bool,
) -> None:
    survey = db.ingest(frame(OLD, "A", "B"), name="s")
    tree = survey.event_tree(sampling_zeros="none")
    given_frame = pd.DataFrame({"vertex_id": [1, 2], "stage": ["u", "u"]})
    staged = tree.set_stages(given_frame, prior="mass")
    limits = StagingLimits(max_recorded=1 if is_large else 2)
    learning = LearnOptions(initial=given_frame)
    learn_stages(db._store, tree.id, learning=learning, name="learnt", limits=limits)
    learnt = db.stagings["learnt"]
    survey.append(frame([("0", "x"), ("0", "y")], "A", "B"))
    before = trace(db)[1], staged.summary
    if is_large:
        with pytest.raises(StaleError, match="staging 'learnt' cannot be rebuilt"):
            db.rebuild(stages="relearn")
        assert (trace(db)[1], staged.summary) == before
        assert staged.is_stale
        db.rebuild()
    else:
        db.rebuild(stages="relearn")
    members = staged.florets.set_index("situation")["stage"]
    assert members["s2"] == members["s3"] != members["s1"]
    assert len(learnt.stages) == (3 if is_large else 2)
    sound(db)


@pytest.mark.slow
def test_new_situations_join_those_that_a_frame_of_hyperstages_leaves_out(db: Database) -> None:
    rows = [(a, b) for a in "abcd" for b in "xy" for _ in range(20)]
    survey = db.ingest(frame(rows, "g", "y"), name="s")
    groups = pd.DataFrame({"vertex_id": [1, 2], "hyperstage": ["A", "A"]})
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        alpha=2, hyperstages=groups, prior="mass", criterion="score"
    )
    assert staged.stages["n_situations"].tolist() == [1, 2, 2]
    survey.append(frame([("e", "x"), ("e", "y")] * 20, "g", "y"))
    db.rebuild(stages="relearn")
    assert staged.stages["n_situations"].tolist() == [1, 2, 3]


@pytest.mark.slow
def test_a_tree_that_cannot_be_made_again_is_named_and_nothing_changes(
    db: Database, sound: Callable[[Database], None]
) -> None:
    survey = db.ingest(
        frame(OLD, "A", "B"), name="declared", levels={"A": ["a", "b", "c"], "B": ["x", "y"]}
    )
    survey.event_tree(sampling_zeros="floret", impossible=[{"A": "c"}])
    survey.append(frame([("c", "x")], "A", "B"))
    before = trace(db)[1]
    with pytest.raises(StaleError, match=r"tree 'declared' cannot be rebuilt: .*impossible"):
        db.rebuild()
    assert trace(db)[1] == before
    assert len(db.rows("from cegdb.stale")[1]) == 1
    db.drop("tree", "declared")
    assert db.rebuild() == []
    sound(db)


@pytest.mark.slow
def test_rules_about_labels_that_are_gone_are_passed_over(db: Database) -> None:
    book = {"variables": {"B": {"same": [["x", "y"]]}}}
    alike = db.ingest(frame([("a", "x"), ("b", "y")], "A", "B"), name="same", codebook=book)
    alike.refresh(frame([("a", "x")], "A", "B")).refresh(
        frame([("a", "x"), ("b", "y")], "A", "B")
    )
    assert len(set(alike.variables.query("label in ['x', 'y']")["label_id"])) == 1
    survey = db.ingest(frame([("a", "x"), ("b", "y")], "A", "B"), name="s")
    rules: dict[str, Any] = {"add_paths": [{"A": "b"}], "impossible": [{"A": "a", "B": "y"}]}
    tree = survey.event_tree(sampling_zeros="floret", **rules)
    before = tree.settings
    survey.refresh(frame([("a", "x")], "A", "B"))
    db.rebuild()
    assert tree.summary.count("skipped: ") == 2
    survey.refresh(frame([("a", "x"), ("b", "y")], "A", "B"))
    db.rebuild()
    assert "skipped" not in tree.summary
    assert tree.settings == before
    assert db.check() == []


@pytest.mark.slow
def test_drift_is_told_where_labels_come_and_go(db: Database) -> None:
    def answers(**n: int) -> pd.DataFrame:
        return frame([(label,) for label, k in n.items() for _ in range(k)], "y")

    staged = (
        db.ingest(answers(a=100, b=100), name="s")
        .event_tree(sampling_zeros="none")
        .learn_stages(alpha=2, prior="mass", criterion="score")
    )
    db.surveys["s"].refresh(answers(new=90, a=90, b=20))
    db.rebuild()
    ((label, before, is_apart),) = staged.drift[
        ["label", "probability_before", "is_disjoint"]
    ].to_numpy()
    assert (label, before, is_apart) == ("new", 0, True)
    assert "do not overlap in 1 of 1 former stage" in staged.summary
    db.surveys["s"].refresh(answers(new=90, a=90, b=21))
    db.rebuild()
    assert "95 % intervals before and after overlap in 1 former stage" in staged.summary


@pytest.mark.slow
def test_only_the_trees_of_the_survey_named_are_made_again(db: Database) -> None:
    for name in ("one", "two"):
        survey = db.ingest(frame(OLD, "A", "B"), name=name)
        build(survey)
        survey.append(frame(OLD, "A", "B"))
    assert [one.name for one in db.rebuild("two")] == ["two", "two", "two"]
    assert {name for _, name, _ in db.rows("from cegdb.stale")[1]} == {"one"}
    with pytest.raises(CegdbError, match="no survey named 'three'"):
        db.rebuild("three")
    with pytest.raises(StaleError, match="unknown value 'some' for stages"):
        db.rebuild(stages="some")  # type: ignore[arg-type]


@pytest.mark.slow
def test_settings_of_trees_stagings_and_cegs_are_repeated(
    db: Database, sound: Callable[[Database], None]
) -> None:
    rows = [(*cells, w) for cells, w in zip(OLD, [0.5, 2] * 8, strict=True)]
    survey = db.ingest(frame(rows, "A", "B", "w"), name="s", weight="w")
    tree = survey.event_tree(order=["B", "A"], sampling_zeros="full", gate_min_rows=2)
    staged = tree.learn_stages(
        alpha=7, weighting="total", deff={"A": 2}, prior="mass", criterion="score"
    )
    ceg = staged.to_ceg(stop="baseline")
    before = tree.settings, staged.settings, ceg.settings
    survey.append(frame(rows, "A", "B", "w"))
    db.rebuild(stages="relearn")
    assert (tree.settings, staged.settings, ceg.settings) == before
    assert staged._row()["alpha"] == 7
    survey.event_tree(
        "fresh", order=["B", "A"], sampling_zeros="full", gate_min_rows=2
    ).learn_stages(alpha=7, weighting="total", deff={"A": 2}, prior="mass", criterion="score")
    columns = ["stage", "label", "n", "weight", "probability", "low", "high"]
    views = [
        db.sql("from cegdb.stage_edges where staging = $s order by all", {"s": name})[columns]
        for name in ("s", "fresh")
    ]
    pd.testing.assert_frame_equal(*views)
    sound(db)


@pytest.mark.slow
def test_the_file_is_as_it_was_after_a_failure_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.duckdb"
    with cegdb.open(file) as db:
        survey = db.ingest(frame(OLD, "A", "B"), name="s")
        build(survey)
        survey.append(frame(OLD, "A", "B"))
        before = built_tables(db), trace(db)

        def fail(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("cegdb.rebuild.rebuild_ceg", fail)
        with pytest.raises(KeyboardInterrupt):
            db.rebuild()
        assert (built_tables(db), trace(db)) == before
    with cegdb.open(file) as db:
        assert (built_tables(db), trace(db)) == before
        assert db.check() == []


# -----------------------------------------------------------------------------
# Command line
# -----------------------------------------------------------------------------


def run(*words: object) -> Any:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.slow
def test_the_command_line_appends_refreshes_and_rebuilds(tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    one = written(tmp_path, "A,B\n" + "a,x\nb,y\n" * 5, "one.csv")
    two = written(tmp_path, "B;A\nx;c\ny;a\n", "two.csv")
    assert run("run", one, "--db", db, "--name", "s").exit_code == 0
    output = run("append", db, "s", two, "--delimiter", ";", "--format", "json")
    assert output.exit_code == 0
    assert "stale now: 1 event tree, 1 staging, 1 CEG" in output.stderr
    assert json.loads(output.stdout)["respondents"] == 12
    assert "(stale" in run("list", db).stdout
    assert "is stale" in run("export", db, "s", "-o", tmp_path / "s.csv").stderr
    output = run("rebuild", db, "--format", "csv")
    assert output.exit_code == 0
    assert output.stdout.splitlines()[0].startswith("staging,former_stage,stage,variable")
    assert "event tree 's'" in output.stderr
    assert "stale" not in run("list", db).stdout
    assert run("rebuild", db).stderr == "nothing is stale\n"
    output = run("refresh", db, "s", one)
    assert output.exit_code == 0
    assert run("rebuild", db, "s", "--stages", "relearn").exit_code == 0
    assert run("check", db).exit_code == 0
    for words in (
        ("append", db, "other", two),
        ("append", tmp_path / "no.duckdb", "s", two),
        ("refresh", db, "s", tmp_path / "no.csv"),
        ("rebuild", tmp_path / "no.duckdb"),
        ("rebuild", db, "other"),
    ):
        output = run(*words)
        assert output.exit_code in (1, 3)
        assert output.stderr.startswith("error: ")
        assert "Traceback" not in output.stderr
    assert not (tmp_path / "no.duckdb").exists()
