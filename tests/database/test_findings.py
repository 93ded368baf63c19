"""Findings: what was found, where it is shown, and that it is shown once."""

from __future__ import annotations

import json
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sqlalchemy.pool import StaticPool

from cegdb.cli import main
from cegdb.findings import KINDS, joined_text
from cegdb.store import ConnectionWrapper, migrate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb import Database, EventTree, StagedTree

# Charig et al. (1986): treatments A and B of small and large kidney stones.
STONES = (
    ("A", "small", 81, 6),
    ("A", "large", 192, 71),
    ("B", "small", 234, 36),
    ("B", "large", 55, 25),
)


def stones(db: Database, name: str, times: int) -> EventTree:
    """Return the tree of the stones, each row so many times."""
    rows = [
        (size, treatment, cured, n * times)
        for treatment, size, *counts in STONES
        for cured, n in zip(("yes", "no"), counts, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["size", "treatment", "cured", "n"])
    return db.ingest(frame, name, count="n").event_tree(
        order=["size", "treatment", "cured"], sampling_zeros="none"
    )


def found(made: Any, kind: str) -> pd.DataFrame:
    """Return the findings of a kind."""
    frame: pd.DataFrame = made.findings()
    return frame[frame["finding"] == kind].reset_index(drop=True)


# -----------------------------------------------------------------------------
# Associations that turn
# -----------------------------------------------------------------------------


def test_an_association_that_turns_is_found_where_chance_is_an_unlikely_reason(
    db: Database,
) -> None:
    assert found(stones(db, "few", 1), "reversal").empty
    (row,) = found(stones(db, "many", 10), "reversal").to_dict("records")
    assert row["sentence"] == (
        "cured = 'yes' is less frequent where treatment is 'A' than where it is 'B' (0.78 "
        "against 0.83), but more frequent within the groups of size ('small': 0.93 against "
        "0.87; 'large': 0.73 against 0.69)"
    )
    assert (row["n"], row["consequence"], row["variable"]) == (7000, 1, "treatment")


def test_a_difference_that_is_alike_in_all_groups_does_not_turn(db: Database) -> None:
    rows = [
        (g, x, y, n)
        for g, size in (("a", 3000), ("b", 1000))
        for x, share in (("p", 0.3), ("q", 0.5))
        for y, n in (("1", int(size * share)), ("0", size - int(size * share)))
    ]
    frame = pd.DataFrame(rows, columns=["g", "x", "y", "n"])
    assert found(
        db.ingest(frame, count="n").event_tree(sampling_zeros="none"), "reversal"
    ).empty


@pytest.mark.slow
def test_chance_alone_turns_few_associations(db: Database) -> None:
    n_found = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        frame = pd.DataFrame(
            random.integers(0, (2, 3, 4, 3), (400, 4)), columns=["a", "b", "c", "d"]
        )
        n_found += not found(
            db.ingest(frame, f"s{seed}").event_tree(sampling_zeros="none"), "reversal"
        ).empty
    assert n_found <= 2  # at most 1 % of the files: two of 40 have a chance of 6 %


def test_turned_associations_are_those_of_slow_obvious_python(db: Database) -> None:
    random = np.random.default_rng(3)
    n = 6000
    group = random.integers(0, 3, n)
    x = random.integers(0, 2, n) + (random.random(n) < np.array([0.1, 0.5, 0.9])[group])
    y = random.random(n) < np.array([0.2, 0.5, 0.8])[group] - 0.08 * x
    frame = pd.DataFrame({"g": group, "x": x, "y": y.astype(int)})
    expected = turned(frame, ["g", "x"], "y")
    sentences = found(db.ingest(frame).event_tree(sampling_zeros="none"), "reversal")[
        "sentence"
    ].tolist()
    assert len(expected) == 3
    assert len(sentences) == len(expected)
    for variable, first, second, by in expected:
        told = f"where {variable} is '{first}' than where it is '{second}'"
        assert any(told in one and f"groups of {by} (" in one for one in sentences)


def turned(frame: pd.DataFrame, variables: list[str], y: str) -> set[tuple[str, int, int, str]]:
    """Return what turns, with a statistic of Cochran, Mantel and Haenszel in loops."""
    pairs = [
        (variable, first, second, by)
        for variable in variables
        for by in variables
        if by != variable
        for first in sorted(frame[variable].unique())
        for second in sorted(frame[variable].unique())
        if first < second
    ]
    least = NormalDist().inv_cdf(1 - 0.005 / len(pairs))
    turns = set()
    for variable, first, second, by in pairs:
        rows = frame[frame[variable].isin([first, second])]
        in_both = [part for _, part in rows.groupby(by) if part[variable].nunique() == 2]
        rows = pd.concat(in_both)
        total = cmh([rows], variable, first, y)
        within = cmh(in_both, variable, first, y)
        each = [cmh([part], variable, first, y) for part in in_both]
        is_sure = min(abs(total), abs(within)) >= least
        if is_sure and total * within < 0 and max(z * np.sign(total) for z in each) < 2:
            turns.add((variable, int(first), int(second), by))
    return turns


def cmh(strata: list[pd.DataFrame], variable: str, first: int, y: str) -> float:
    """Return the signed root of the statistic."""
    excess = variance = 0.0
    for part in strata:
        n, k = len(part), int(part[y].sum())
        n_first = int((part[variable] == first).sum())
        excess += part.loc[part[variable] == first, y].sum() - n_first * k / n
        variance += n_first * (n - n_first) * k * (n - k) / (n * n * (n - 1))
    return float(excess / np.sqrt(variance))


# -----------------------------------------------------------------------------
# Rows behind numbers
# -----------------------------------------------------------------------------


def staged(db: Database, **counts: int) -> StagedTree:
    """Return a staging of one variable after another, with so many rows of each ``x``."""
    rows = [(x, y, n // 2) for x, n in counts.items() for y in ("0", "1")]
    frame = pd.DataFrame(rows, columns=["x", "y", "n"])
    tree = db.ingest(frame, count="n").event_tree(sampling_zeros="none")
    return tree.full("full", alpha=4)


def test_stages_of_few_respondents_are_named(db: Database) -> None:
    few = staged(db, a=28, b=30, c=200)
    (row,) = found(few, "thin_stages").to_dict("records")
    assert row["sentence"] == (
        "fewer than 30 respondents are behind 1 of 4 stages: u1 (y, n = 28)"
    )
    assert (row["n"], row["consequence"]) == (28, 2)
    assert found(few, "thin_situations")["n"].tolist() == [28]


def test_stages_whose_prior_counts_more_than_their_rows_are_named(db: Database) -> None:
    frame = pd.DataFrame({"x": list("ab"), "y": list("pq"), "n": [2, 200]})
    frame = pd.concat([frame, frame.assign(y=list("qp"))])
    tree = db.ingest(frame, count="n").event_tree(sampling_zeros="none")
    assert found(tree.full("few", alpha=7.9, prior="mass"), "prior_driven").empty
    (row,) = found(tree.full("more", alpha=8.1, prior="mass"), "prior_driven").to_dict(
        "records"
    )
    assert row["sentence"] == (
        "the prior counts more than the rows in 1 of 3 stages: u1 (y, prior 4.05, n = 4)"
    )
    assert row["n"] == 4


def test_situations_that_nobody_reached_are_counted(db: Database) -> None:
    frame = pd.DataFrame({"x": list("ab") * 40, "y": ["p"] * 80, "z": list("uuvv") * 20})
    tree = db.ingest(frame, levels={"y": ["p", "q"]}).event_tree(sampling_zeros="full")
    (row,) = found(tree.learn_stages(prior="mass", criterion="score"), "unreached").to_dict(
        "records"
    )
    assert row["sentence"] == (
        "nobody answered at 2 situations, so no answers are behind the probabilities there"
    )
    assert row["n"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("all_null_runs")
def test_spurious_stages_are_a_finding_from_half_a_stage_on_and_told_once(
    db: Database,
) -> None:
    tree = db.demo("chds").staging.tree
    many = tree.learn_stages("published", prior="mass", criterion="score")
    (row,) = found(many, "spurious_stages").to_dict("records")
    assert row["n"] == 890
    assert many.summary.count("spurious stages") == 1
    assert f"note: {joined_text(row['sentence'], row['advice'])}" in many.summary.splitlines()
    few = db.demo("falls").staging
    assert found(few, "spurious_stages").empty
    assert few.summary.count("spurious stages") == 1


@pytest.mark.slow
def test_a_better_staging_is_found_when_it_becomes_known(db: Database) -> None:
    staging = db.demo("falls").staging.full("all")
    assert found(staging, "better_staging").empty
    staging.posterior()
    staging.posterior()
    assert len(found(staging, "better_staging")) == 1
    assert staging.summary.count("is known (+") == 1


# -----------------------------------------------------------------------------
# What travels, and what does not
# -----------------------------------------------------------------------------


def test_findings_travel_to_what_is_made_of_their_object(db: Database) -> None:
    tree = stones(db, "s", 10)
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    given = ceg.given({"size": "small"}).save("given")
    for made in (tree, ceg.staging, ceg, given):
        row = found(made, "reversal").iloc[0]
        assert (row["from_kind"], row["from_name"]) == ("tree", "s")
        assert row["sentence"] in made.summary
    assert "note: cured" in tree.summary
    assert "note: event tree: cured" in ceg.summary
    assert "reversal" not in db.surveys["s"].findings()["finding"].tolist()
    assert len(db.findings().query("finding == 'reversal'")) == 1
    assert "event tree: " not in ceg.own_summary


def test_what_is_found_about_a_variable_stays_with_trees_that_have_it(db: Database) -> None:
    frame = pd.DataFrame({"x": ["a", "b"] * 40, "y": ["a", "NA"] * 40})
    survey = db.ingest(frame, "s")
    assert survey.findings()["variable"].tolist() == ["y"]
    assert survey.event_tree("with", sampling_zeros="none").findings()["variable"].tolist() == [
        "y"
    ]
    assert survey.event_tree("without", order=["x"], sampling_zeros="none").findings().empty


def test_the_most_consequential_come_first(db: Database) -> None:
    stones(db, "s", 10)
    rows = pd.DataFrame({"x": ["a", "b", "NA"] * 5, "y": list("pqr") * 5})
    made = [
        db.demo("falls"),
        db.ingest(rows, "t")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg(),
    ]
    for one in made:
        frame = one.findings()
        assert frame["consequence"].is_monotonic_increasing
        assert frame["place"].tolist() == list(range(1, len(frame) + 1))
        assert frame["advice"].notna().all()
    assert db.findings()["consequence"].is_monotonic_increasing


def test_an_object_without_findings_says_nothing(db: Database) -> None:
    frame = pd.DataFrame({"x": list("ab") * 100, "y": list("ppqq") * 50})
    ceg = db.ingest(frame, "s").event_tree(sampling_zeros="none").full().to_ceg()
    assert ceg.findings().empty
    assert db.findings().empty
    assert "note" not in ceg.summary


def test_being_stale_is_found_when_it_comes_and_gone_after_a_rebuild(db: Database) -> None:
    frame = pd.DataFrame({"x": list("ab") * 50})
    survey = db.ingest(frame, "s")
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    survey.append(frame)
    for made in (ceg, ceg.staging, ceg.staging.tree):
        (row,) = found(made, "stale").to_dict("records")
        assert row["n"] == 200
        assert row["place"] == 1
        assert made.summary.count("stale") == 1
    assert found(survey, "stale").empty
    db.rebuild()
    assert found(ceg, "stale").empty


def test_findings_of_former_rows_stay_with_what_shows_these(db: Database) -> None:
    survey = db.ingest(pd.DataFrame({"x": ["a", "b", "NA"] * 50}), "s")
    tree = survey.event_tree(sampling_zeros="none")
    survey.refresh(pd.DataFrame({"x": ["a", "b"] * 50}))
    assert survey.findings().empty
    assert found(tree, "labels")["from_name"].tolist() == ["s (former rows)"]
    db.rebuild()
    assert tree.findings().empty
    assert db.check() == []
    _, ((n,),) = db.rows("select count(*) from cegdb.finding")
    assert n == 0


def test_that_rows_count_twice_is_not_forgotten(db: Database, tmp_path: Path) -> None:
    file, other = tmp_path / "s.csv", tmp_path / "t.csv"
    file.write_text("x\n" + "a\nb\n" * 40)
    other.write_text("x\n" + "b\na\na\n" * 40)
    survey = db.ingest(file, "s")
    survey.append(file)
    survey.append(other)
    assert found(survey, "read_twice")["consequence"].tolist() == [1]


def test_dropping_an_object_leaves_none_of_its_findings(db: Database) -> None:
    ceg = stones(db, "s", 10).learn_stages(prior="mass", criterion="score").to_ceg()
    assert not ceg.findings().empty
    db.drop("survey", "s")
    assert db.findings().empty
    _, ((n,),) = db.rows("select count(*) from cegdb.finding")
    assert n == 0
    db.sql("insert into cegdb.finding by name select 9 as tree_id, 1 as ordinal, 'note' as "
           "finding, 2 as consequence, 'x' as sentence")  # fmt: skip
    assert [row["kind"] for row in db.check()] == ["tree"]


def test_a_copy_of_a_staging_has_its_findings(db: Database) -> None:
    few = staged(db, a=28, b=200)
    copy = few.rename({"u1": "small"}, name="copy")
    assert found(copy, "thin_stages")["n"].tolist() == [28]
    assert found(copy, "thin_stages")["from_name"].tolist() == ["copy"]


def test_kinds_are_in_the_order_of_their_consequences() -> None:
    consequences = [kind.consequence for kind in KINDS.values()]
    assert consequences == sorted(consequences)
    assert all(kind.title and kind.advice for kind in KINDS.values())


# -----------------------------------------------------------------------------
# Trees that end early, and variables that the rows chose
# -----------------------------------------------------------------------------


def ended(db: Database) -> EventTree:
    """Return a tree that stops asking after answers that nobody gave."""
    rows = np.random.default_rng(1).integers(3, size=(40, 6))
    return db.ingest(pd.DataFrame(rows).add_prefix("q"), "few").event_tree()


def wide(seed: int = 1, n: int = 400) -> pd.DataFrame:
    """Return an outcome of two questions out of twelve."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": draw.integers(0, 2, n) for i in range(12)})
    return frame.assign(ill=draw.random(n) < 0.2 + 0.3 * frame.q3 + 0.3 * frame.q8)


def explored(db: Database) -> EventTree:
    """Return a tree of variables that the rows chose."""
    return db.ingest(wide(), "wide").explore("ill").event_tree()


def test_a_tree_that_ends_early_says_where(db: Database) -> None:
    tree = ended(db)
    (row,) = found(tree, "unexpanded").to_dict("records")
    depth = tree.situations.groupby("variable")["n"].agg(["min", "size"])
    assert depth.loc[row["variable"], "min"] > 0
    assert row["sentence"].startswith(
        f"after answers that nobody gave, the tree asks no questions from {row['variable']!r} "
    )
    order = tree.settings["order"]
    first = order.index(row["variable"])
    before = tree.edges[tree.edges["variable"] == order[first - 1]]
    n_unreached = (before["n"] == 0).sum()
    assert f"({n_unreached} histories without respondents end there)" in row["sentence"]
    assert row["n"] == 0
    whole = db.surveys["few"].event_tree("whole", order=order[:first])
    assert found(whole, "unexpanded").empty


def test_a_tree_keeps_that_the_rows_chose_its_variables(db: Database) -> None:
    survey = db.ingest(wide(), "wide")
    exploration = survey.explore("ill")
    tree = exploration.event_tree(sampling_zeros="none")
    assert tree.settings["sampling_zeros"] == "none"
    chosen = [repr(name) for name in exploration.order[:-1]]
    assert sorted(chosen) == ["'q3'", "'q8'"]
    (row,) = found(tree, "chosen_variables").to_dict("records")
    assert row["sentence"] == (
        f"{', '.join(chosen)} were chosen from 12 variables by these 400 respondents, for what "
        "they say about 'ill'; the associations look stronger than they are (if no variable "
        "had to do with 'ill', at most 0.12 would be expected to be chosen)"
    )
    assert (row["n"], row["consequence"], row["variable"]) == (400, 2, "ill")
    assert exploration.summary.endswith("check them on other rows")
    assert found(
        survey.event_tree("by-hand", order=exploration.order), "chosen_variables"
    ).empty
    survey.append(wide(2))
    db.rebuild()
    for _ in range(2):  # new rows did not choose them, but those that did are named
        (row,) = found(tree, "chosen_variables").to_dict("records")
        assert (
            "were chosen from 12 variables by 400 respondents that the survey had then, "
            in (row["sentence"])
        )
        assert row["n"] == 400
        survey.refresh(wide(3, 300))
        db.rebuild()
    assert int(tree.situations["n"].iloc[0]) == 300
    assert db.check() == []


def test_where_no_rows_chose_a_variable_none_are_said_to_be_chosen(db: Database) -> None:
    frame = wide().assign(ill=np.random.default_rng(5).random(400) < 0.3)
    exploration = db.ingest(frame, "noise").explore("ill")
    assert exploration.order == ["ill"]
    assert exploration.event_tree().findings().empty


def test_run_with_an_outcome_says_once_that_the_rows_chose(tmp_path: Path) -> None:
    file, stored = tmp_path / "wide.csv", tmp_path / "wide.duckdb"
    wide().to_csv(file, index=False)
    done = CliRunner().invoke(main, ["run", str(file), "--outcome", "ill", "--db", str(stored)])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("chosen") > 0
    assert done.stderr.count("look stronger than they are") == 1
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert any("were chosen from 12 variables by these 400 respondents" in one for one in notes)
    listed = CliRunner().invoke(main, ["findings", str(stored), "wide", "--format", "json"])
    assert "chosen_variables" in [one["finding"] for one in json.loads(listed.stdout)]


@pytest.mark.parametrize(
    ("made_by", "kind"), [(ended, "unexpanded"), (explored, "chosen_variables")]
)
def test_cautions_of_a_tree_are_shown_wherever_findings_are(
    db: Database, tmp_path: Path, made_by: Callable[[Database], EventTree], kind: str
) -> None:
    tree = made_by(db)
    ceg = tree.learn_stages().to_ceg()
    first = tree.settings["order"][0]
    given = ceg.given({first: next(iter(ceg.edges["label"]))}).save("given")
    (row,) = found(tree, kind).to_dict("records")
    text = joined_text(row["sentence"], row["advice"])
    assert f"note: {text}" in tree.summary.splitlines()
    for made in (ceg.staging, ceg, given):
        assert found(made, kind)["from_kind"].tolist() == ["tree"]
        assert f"note: event tree: {text}" in made.summary.splitlines()
    in_sql = db.sql("select kind from cegdb.findings where finding = $kind", {"kind": kind})
    assert sorted(in_sql["kind"]) == ["ceg", "ceg", "staging", "tree"]
    assert KINDS[kind].plain in ceg.report.text("plain")
    for form in ("paper", "analyst"):
        assert row["sentence"] in ceg.report.text(form, markdown=False)
        assert KINDS[kind].title in ceg.report.text(form, markdown=False, min_n=5)
    assert text in str(ceg.explain())
    page = ceg.report.page(tmp_path / "page.html").read_text()
    assert json.dumps(row["sentence"])[1:-1] in page
    told = json.loads(ceg.export(tmp_path / "graph.json").read_text())["graph"]["findings"]
    assert row["sentence"] in [one["sentence"] for one in told]
    # A caption names the two most consequential kinds, those of the object itself first.
    most = list(dict.fromkeys(ceg.findings().query("consequence < 3")["finding"]))[:2]
    assert KINDS[kind].title in tree.figure(width_mm=120).caption
    for picture in (ceg.figure(), ceg.plot.flow(), ceg.staging.plot.probabilities(first)):
        assert picture.caption.endswith("; ".join(KINDS[one].title for one in most) + ".")


# -----------------------------------------------------------------------------
# Where they are shown
# -----------------------------------------------------------------------------


def test_every_report_tells_a_finding_once(db: Database, tmp_path: Path) -> None:
    ceg = stones(db, "s", 10).learn_stages(prior="mass", criterion="score").to_ceg()
    sentence = found(ceg, "reversal")["sentence"][0]
    said = {
        form: ceg.report.text(form, markdown=False) for form in ("plain", "paper", "analyst")
    }
    said["explain"] = str(ceg.explain())
    said["page"] = ceg.report.page(tmp_path / "page.html").read_text()
    for form, text in said.items():
        assert text.count(sentence) == 1, form
    assert (
        f"A difference between people turns around within groups of them: {sentence}."
        in (said["plain"])
    )
    assert said["explain"].startswith(
        f"Before the numbers:\n  - event tree: {sentence}; report"
    )


def test_where_small_counts_are_hidden_only_kinds_are_told(
    db: Database, tmp_path: Path
) -> None:
    ceg = stones(db, "s", 10).learn_stages(prior="mass", criterion="score").to_ceg()
    title = KINDS["reversal"].title
    said = {
        form: ceg.report.text(form, min_n=5, markdown=False) for form in ("paper", "analyst")
    }
    said["page"] = ceg.report.page(tmp_path / "page.html", min_n=5).read_text()
    for form, text in said.items():
        assert text.count(title) == 1, form
        assert "0.93 against 0.87" not in text


@pytest.mark.parametrize(("suffix", "key"), [("json", "graph"), ("cyjs", "data")])
def test_graphs_in_json_have_the_findings(
    db: Database, tmp_path: Path, suffix: str, key: str
) -> None:
    ceg = stones(db, "s", 10).learn_stages(prior="mass", criterion="score").to_ceg()
    file = tmp_path / f"graph.{suffix}"
    told = json.loads(ceg.export(file).read_text())[key]["findings"]
    frame = ceg.findings()
    assert [one["sentence"] for one in told] == frame["sentence"].tolist()
    assert [one["n"] for one in told] == frame["n"].tolist()
    assert [one["advice"] for one in told] == frame["advice"].tolist()
    hidden = json.loads(ceg.export(file, min_n=5).read_text())[key]["findings"]
    assert hidden == [{"title": KINDS["reversal"].title}]
    plain = db.ingest("select i % 2 as x from range(90) t(i)", "p").event_tree(
        sampling_zeros="none"
    )
    assert "findings" not in json.loads(plain.export(file).read_text())[key]


def test_captions_name_the_most_consequential(db: Database) -> None:
    ceg = stones(db, "s", 10).learn_stages(prior="mass", criterion="score").to_ceg()
    end = f"Before using these numbers, see the findings: {KINDS['reversal'].title}."
    pictures = [
        *(made.figure(width_mm=120) for made in (ceg, ceg.staging, ceg.staging.tree)),
        ceg.plot.flow(),
        ceg.staging.plot.probabilities("cured"),
        ceg.staging.plot.difference(ceg.staging.full("all")),
    ]
    for picture in pictures:
        assert picture.caption.endswith(end)
        assert picture.caption.count("findings") == 1


def test_reports_of_an_object_without_findings_have_no_place_for_them(db: Database) -> None:
    frame = pd.DataFrame({"x": list("ab") * 100, "y": list("ppqq") * 50})
    ceg = db.ingest(frame, "s").event_tree(sampling_zeros="none").full().to_ceg()
    assert "Limitations" not in ceg.report.text("paper")
    assert "Before you use" not in ceg.report.text("plain")
    assert "Before the numbers" not in str(ceg.explain())
    assert "findings" not in ceg.figure().caption
    assert "findings" not in ceg.plot.flow().caption


# -----------------------------------------------------------------------------
# Files of earlier versions
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_notes_of_an_earlier_version_become_findings_and_back() -> None:
    with duckdb.connect() as con:
        engine = sa.create_engine(
            "duckdb://", creator=lambda: ConnectionWrapper(con), poolclass=StaticPool
        )
        migrate.upgrade(engine, "0006_presumed_zeros")
        notes = {"hints": ["first", "it's 'second'"], "steps": 3}
        con.execute(
            "insert into cegdb.event_tree by name select 1 as tree_id, 't' as name, "
            "1 as survey_id, 0 as n, 0 as n_vertices, 0 as n_situations, 0 as n_leaves, "
            "0 as height, '{}' as settings, $1 as summary, 0 as seconds, "
            "now() as created_at, '1' as cegdb_version",
            [json.dumps(notes)],
        )
        migrate.upgrade(engine, "0007_finding")
        rows = con.execute("select sentence, finding, advice from cegdb.finding").fetchall()
        assert rows == [("first", "note", None), ("it's 'second'", "note", None)]
        assert _summary(con) == {"steps": 3}
        migrate.upgrade(engine, "0006_presumed_zeros")
        assert _summary(con) == notes
        engine.dispose()


def _summary(con: duckdb.DuckDBPyConnection) -> Any:
    ((text,),) = con.execute("select summary from cegdb.event_tree").fetchall()
    return json.loads(text)
