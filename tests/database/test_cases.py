"""Situations from public reports that break tools of this kind, with the right values.

``tests/data/cases/README.md`` describes them and states the numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from datasets import case_file

import cegdb
from cegdb.errors import (
    CegdbError,
    CegError,
    GraphError,
    QueryError,
    StagingError,
    SurveyError,
    TreeError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cegdb import ChainEventGraph, Database, EventTree

HERE = (Path(__file__).parent, Path(__file__).parents[1])
BULK = [
    "vertex",
    "edge",
    "hyperstage",
    "stage",
    "stage_member",
    "stage_edge",
    "ahc_merge",
    "position",
    "position_member",
    "ceg_edge",
]


def singletons(tree: EventTree, alpha: float | None) -> float:
    """Return the log score of the tree with every situation its own stage."""
    start = tree.set_stages({}, "start", alpha=alpha, replace=True, prior="mass")
    return start.log_marginal_likelihood


def sizes(ceg: ChainEventGraph) -> tuple[int, int]:
    """Return positions without the sink, and edges."""
    return len(ceg.positions) - 1, len(ceg.edges)


def tables(db: Database) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every bulk table, without the id of their owner."""
    found = {}
    for table in BULK:
        names, _ = db.rows(f"select * from cegdb.{table} limit 0")  # noqa: S608
        columns = ", ".join(names[1:])
        found[table] = db.rows(f"select {columns} from cegdb.{table} order by all")[1]  # noqa: S608
    return found


@pytest.mark.slow
def test_a02_complete_cases_keep_structural_rows(
    db: Database, sound: Callable[[Database], None]
) -> None:
    frame = pd.read_csv(case_file("A02", "school.csv"), keep_default_na=False)
    before = frame.copy(deep=True)
    survey = db.ingest(frame, missing=["unknown"])
    tree = survey.event_tree(missing_policy="complete", sampling_zeros="none")
    pd.testing.assert_frame_equal(frame, before)
    leaves = db.sql("select n from cegdb.vertices where variable is null")["n"]
    assert (len(tree.edges) + 1, len(tree.situations), len(leaves)) == (23, 11, 12)
    assert leaves.sum() == 93
    enrolled = tree.edges.query("variable == 'enrolled' and label == 'No'")
    assert enrolled["n"].sum() == 26
    assert "8 of 101 respondents left out" in tree.summary
    assert "5 of 101 respondents have no answer to 'attends' and are left out" in tree.summary
    staged = tree.learn_stages(alpha=2, prior="mass", criterion="score")
    assert singletons(tree, 2) == pytest.approx(-236.155339, abs=5e-7)
    assert staged.log_marginal_likelihood == pytest.approx(-222.671662, abs=5e-7)
    assert len(staged.stages) == 5
    assert sizes(staged.to_ceg()) == (5, 10)
    sound(db)


@pytest.mark.slow
def test_a04_members_of_a_stage_show_one_probability(db: Database) -> None:
    tree = db.ingest(case_file("A04", "same_stage_probs.csv")).event_tree(sampling_zeros="none")
    staged = tree.learn_stages(alpha=2, prior="mass", criterion="score")
    assert singletons(tree, 2) == pytest.approx(-2696.629472, abs=5e-7)
    assert staged.log_marginal_likelihood == pytest.approx(-2686.645564, abs=5e-7)
    ceg = staged.to_ceg()
    assert sizes(ceg) == (4, 8)
    assert sorted(staged.stages["n_situations"]) == [1, 2, 2, 2]
    answers = ceg.edges.merge(
        ceg.positions[["position", "stage"]], left_on="source", right_on="position"
    )
    no = sorted(answers.query("label == 'No'")["probability"])
    assert no == pytest.approx([0.183860, 0.737203], abs=5e-7)
    in_tree = db.sql(
        "select stage_id, label, probability from cegdb.staged_edges where staging = $name",
        {"name": staged.name},
    )
    in_stage = staged.stage_edges[["stage_id", "label", "probability"]]
    merged = in_tree.merge(in_stage, on=["stage_id", "label"])
    assert (merged["probability_x"] == merged["probability_y"]).all()
    merged = answers.merge(staged.stage_edges, on=["stage", "label"])
    assert len(merged) == 8
    assert (merged["probability_x"] == merged["probability_y"]).all()


def test_what_is_no_grouping_is_refused_in_the_words_of_stages(db: Database) -> None:
    tree = db.ingest("select unnest(['a', 'b']) as x").event_tree(sampling_zeros="none")
    with pytest.raises(StagingError, match=r"stages cannot be 5\nhint: give a mapping"):
        tree.set_stages(5, prior="mass")  # type: ignore[arg-type]
    with pytest.raises(
        StagingError,
        match=r"unknown value 'zzz' for hyperstages\nhint: available: 'variable', 'lab",
    ):
        tree.learn_stages(hyperstages="zzz", prior="mass", criterion="score")
    assert len(db.stagings) == 0


@pytest.mark.slow
def test_a05_alpha_and_unseen_cells(db: Database, sound: Callable[[Database], None]) -> None:
    survey = db.ingest(case_file("A05", "zero_cells.csv"))
    n = survey.receipt["rows_kept"]
    tree = survey.event_tree(sampling_zeros="none")
    for alpha in (0, -1, float("nan"), float("inf"), "x", True):
        with pytest.raises(
            StagingError,
            match=f"alpha must be a number above 0, not {alpha!r}\nhint: alpha is the prior",
        ):
            tree.learn_stages(alpha=alpha, prior="mass", criterion="score")
    assert len(db.stagings) == 0
    added = survey.event_tree(
        "added",
        add_paths=[{"grp": "a", "resp": "y"}, {"grp": "b", "resp": "x"}],
        sampling_zeros="none",
    )
    assert added.edges["n"].tolist().count(0) == 2
    assert db.sql("select n from cegdb.vertices where depth = 0")["n"].tolist() == [n, n]
    for made in (tree, added):
        for alpha in (1e-9, 1.0, 1e6):
            staged = made.learn_stages(alpha=alpha, prior="mass", criterion="score")
            assert abs(staged.log_marginal_likelihood) < 1e3
            assert staged.stage_edges["probability"].between(0, 1, inclusive="right").all()
            staged.to_ceg()
    sound(db)


@pytest.mark.slow
def test_a06_names_are_numbered_in_natural_order(db: Database) -> None:
    tree = db.ingest(case_file("A06", "many_positions.csv")).event_tree(sampling_zeros="none")
    staged = tree.learn_stages(alpha=3, prior="mass", criterion="score")
    assert (len(tree.edges) + 1, len(tree.situations)) == (139, 67)
    assert (len(staged.stages), len(staged.merges)) == (13, 54)
    assert singletons(tree, 3) == pytest.approx(-29195.676484, abs=5e-7)
    assert staged.log_marginal_likelihood == pytest.approx(-28936.425806, abs=5e-7)
    ceg = staged.to_ceg()
    assert sizes(ceg) == (31, 66)
    names = [*(f"w{i}" for i in range(31)), "w_inf"]
    assert ceg.positions["position"].tolist() == names


@pytest.mark.slow
def test_a06_rows_threads_and_hash_seeds_change_no_byte(tmp_path: Path) -> None:
    lines = case_file("A06", "many_positions.csv").read_text().splitlines()
    results = set()
    for seed, threads in (("0", 1), ("1", 8)):
        rows = pd.Series(lines[1:]).sample(frac=1, random_state=int(seed)).tolist()
        shuffled = tmp_path / "many_positions.csv"
        shuffled.write_text("\n".join([lines[0], *rows]) + "\n")
        code = (
            "import sys, cegdb, test_cases\n"
            f"with cegdb.open(threads={threads}) as db:\n"
            f"    ceg = db.ingest({str(shuffled)!r}).event_tree().learn_stages().to_ceg()\n"
            "    print(test_cases.tables(db))\n"
            "    ceg.export('ceg.dot'); ceg.export('ceg.graphml'); ceg.export('ceg.json')\n"
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(map(str, HERE))},
        )
        files = [(tmp_path / f"ceg.{kind}").read_bytes() for kind in ("dot", "graphml", "json")]
        results.add((done.stdout, *files))
    assert len(results) == 1


@pytest.mark.slow
def test_a07_leaves_at_unequal_depth(db: Database, sound: Callable[[Database], None]) -> None:
    tree = db.ingest(case_file("A07", "unequal_depth.csv")).event_tree(sampling_zeros="none")
    leaves = db.sql("select depth, n from cegdb.vertices where variable is null")
    assert (len(tree.edges) + 1, len(tree.situations), len(leaves)) == (13, 6, 7)
    assert leaves["n"].sum() == 79
    assert {1, 5} <= set(leaves["depth"])
    staged = tree.learn_stages(alpha=2, prior="mass", criterion="score")
    assert singletons(tree, 2) == pytest.approx(-153.361537, abs=5e-7)
    assert staged.log_marginal_likelihood == pytest.approx(-149.941891, abs=5e-7)
    assert (len(staged.stages), len(staged.merges)) == (5, 1)
    ceg = staged.to_ceg()
    assert sizes(ceg) == (5, 10)
    therapy = ceg.edges.query("variable == 'therapy'")
    assert sorted(therapy["label"]) == ["Drug", "Surgery"]
    assert len(set(therapy["target"])) == 1
    paths = db.sql("from cegdb.paths($name)", {"name": ceg.name})
    assert paths["probability"].sum() == pytest.approx(1, abs=1e-12)
    sound(db)


@pytest.mark.slow
def test_a08_parallel_edges_keep_their_counts(db: Database) -> None:
    tree = db.ingest(case_file("A08", "parallel_edges.csv")).event_tree(sampling_zeros="none")
    staged = tree.learn_stages(alpha=3, prior="mass", criterion="score")
    assert singletons(tree, 3) == pytest.approx(-1596.258482, abs=5e-7)
    assert staged.log_marginal_likelihood == pytest.approx(-1578.498968, abs=5e-7)
    ceg = staged.to_ceg()
    assert sizes(ceg) == (4, 9)
    rows = ceg.edges[["source", "label", "target", "n"]].itertuples(index=False, name=None)
    assert sorted(rows) == sorted(
        [
            ("w0", "Blue", "w1", 100),
            ("w0", "Green", "w1", 200),
            ("w0", "Red", "w1", 400),
            ("w1", "No", "w2", 350),
            ("w1", "Yes", "w3", 350),
            ("w2", "Fail", "w_inf", 141),
            ("w2", "Pass", "w_inf", 209),
            ("w3", "Fail", "w_inf", 69),
            ("w3", "Pass", "w_inf", 281),
        ]
    )
    graph = ceg.to_networkx()
    assert graph.number_of_edges("w0", "w1") == 3
    assert graph.edges["w0", "w1", "Green"]["n"] == 200


@pytest.mark.slow
def test_a11_bad_starting_groups_are_refused(db: Database) -> None:
    survey = db.ingest(case_file("A11", "custom_groups.csv"))
    tree = survey.event_tree(sampling_zeros="none")
    text = case_file("A11", "overlapping_groups.json").read_text()
    overlapping = json.loads(text)["groups"]
    with pytest.raises(StagingError, match=r"\('u', 'm'\).*two initial stages: '1' and '2'"):
        tree.learn_stages(initial=overlapping, prior="mass", criterion="score")
    bad: dict[str, list[Any]] = {
        r"no situation \('w', 'm'\): at the root the labels are 'r', 'u'\nhint: give labels": [
            [("w", "m")]
        ],
        r"\('u', 'm', '1'\) is a leaf, which has no stage": [[("u", "m", "1")]],
        r"cannot hold both \(the root\) and \('r',\): the first is about": [[(), ("r",)]],
    }
    for message, groups in bad.items():
        for setting in ("initial", "hyperstages"):
            with pytest.raises(StagingError, match=message):
                tree.learn_stages(**{setting: groups})
        with pytest.raises(StagingError, match=message):
            tree.set_stages(groups, prior="mass")
    assert len(db.stagings) == 0
    assert all(not db.rows(f"from cegdb.{table}")[1] for table in BULK[2:])
    assert (
        len(
            tree.learn_stages(
                initial=[[("u", "m"), ("u", "f")]], prior="mass", criterion="score"
            ).florets
        )
        == 7
    )


def test_a21_nothing_to_merge_stops_and_says_why(db: Database) -> None:
    tree = db.ingest(case_file("A21", "nothing_to_merge.csv")).event_tree(sampling_zeros="none")
    staged = tree.learn_stages(alpha=4, prior="mass", criterion="score")
    assert len(tree.edges) + 1 == 13
    assert staged.log_marginal_likelihood == pytest.approx(-7028.853090, abs=5e-7)
    assert (len(staged.stages), len(staged.merges)) == (5, 0)
    assert "  no merge improves the log marginal likelihood\n" in staged.summary
    assert sizes(staged.to_ceg()) == (5, 12)


def test_a22_mixed_types_are_labels_by_their_text(db: Database) -> None:
    mixed = {
        "q1": [1, "1", 2, "refused", None, 2, 1.0, "2"],
        "q2": [True, False, True, "True", False, True, False, "False"],
    }
    survey = db.ingest(pd.DataFrame(mixed))
    found = survey.variables.query("n > 0").set_index(["variable", "label"])["n"].to_dict()
    assert found == {
        ("q1", "1"): 3,
        ("q1", "2"): 3,
        ("q1", "refused"): 1,
        ("q1", "(blank)"): 1,
        ("q2", "False"): 4,
        ("q2", "True"): 4,
    }
    kinds = survey.variables.query("variable == 'q1' and n > 0").set_index("label")["kind"]
    assert kinds["(blank)"] == "blank"
    survey.event_tree(sampling_zeros="none").learn_stages(
        prior="mass", criterion="score"
    ).to_ceg()


@pytest.mark.slow
def test_e01_a_second_analysis_sees_its_own_data(db: Database) -> None:
    def analyse(name: str) -> tuple[int, int, float, float]:
        source = case_file("E01", f"survey_{name}.csv")
        tree = db.ingest(source, name=name, replace=True).event_tree(sampling_zeros="none")
        staged = tree.learn_stages(alpha=2, prior="mass", criterion="score")
        start = singletons(tree, 2)
        return len(staged.stages), len(staged.merges), start, staged.log_marginal_likelihood

    first = analyse("a")
    assert first == (
        3,
        0,
        pytest.approx(-28.185420, abs=5e-7),
        pytest.approx(-28.185420, abs=5e-7),
    )
    assert analyse("b") == (
        2,
        1,
        pytest.approx(-26.267097, abs=5e-7),
        pytest.approx(-25.254620, abs=5e-7),
    )
    assert analyse("a") == first
    with cegdb.open() as other:
        other.ingest(case_file("E01", "survey_b.csv"), name="a")
        assert len(db.trees) == 2
    tree = db.trees["a"]
    scores = {
        tree.learn_stages(alpha=alpha, prior="mass", criterion="score").log_marginal_likelihood
        for alpha in (1, 2, 4)
    }
    assert len(scores) == 3


@pytest.mark.slow
def test_w2_an_aggregated_table_equals_its_rows_bit_for_bit() -> None:
    source = case_file("W2", "ship_freq.csv")
    counts = pd.read_csv(source)
    rows = counts.loc[counts.index.repeat(counts["Freq"])].drop(columns="Freq")
    with cegdb.open() as one, cegdb.open() as other:
        survey = one.ingest(source, name="ship", count="Freq")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        other.ingest(rows, name="ship").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        assert tables(one) == tables(other)
        assert survey.receipt["rows_dropped"] == {"Freq is 0": 2}
        assert survey.receipt["respondents"] == 1204
        undeclared = one.ingest(source, name="undeclared")
        assert any("count='Freq'" in hint for hint in undeclared.receipt["hints"])


def test_w2_zero_lines_make_branches_when_asked(db: Database) -> None:
    ages = {"Age": ["Adult", "Child"]}
    survey = db.ingest(case_file("W2", "ship_freq.csv"), count="Freq", levels=ages)
    tree = survey.event_tree(
        sampling_zeros="floret", impossible=[{"Sex": "Female", "Age": "Child"}]
    )
    children = tree.edges.query("label == 'Child'")
    assert (children["n"] == 0).all()
    assert len(children) == 2
    with pytest.raises(TreeError, match="declared impossible, but 1,204 respondents have it"):
        survey.event_tree(impossible=[{"Age": "Adult"}], sampling_zeros="none")


# -----------------------------------------------------------------------------
# Settings of a wrong type
# -----------------------------------------------------------------------------

SURVEY, TREE, STAGING = SurveyError, TreeError, StagingError


@pytest.fixture(scope="module")
def built() -> Iterator[Database]:
    """Give a database of one CEG, for what is refused."""
    with cegdb.open() as db:
        survey = db.ingest("select unnest(['a', 'b']) as x, unnest(['c', 'd']) as y", "s")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        yield db


@pytest.mark.parametrize(
    ("call", "settings", "kind", "message"),
    [
        (
            "ingest",
            {"columns": 5},
            SURVEY,
            "columns must be a list, not 5\nhint: give a list of names",
        ),
        (
            "ingest",
            {"structural": 5},
            SURVEY,
            "structural must be a list, not 5\nhint: give a list of labels",
        ),
        (
            "ingest",
            {"missing": {"x": 5}},
            SURVEY,
            "missing of 'x' must be a list, not 5\nhint: give a list",
        ),
        (
            "ingest",
            {"levels": 5},
            SURVEY,
            "levels must be a list, not 5\nhint: give a list of labels",
        ),
        (
            "ingest",
            {"bins": 5},
            SURVEY,
            "bins must be a mapping, not 5\nhint: give a value for each variable",
        ),
        (
            "ingest",
            {"bins": ["x"]},
            SURVEY,
            "bins must be a mapping, not ['x']\nhint: give a value for each variable",
        ),
        ("ingest", {"bins": {"x": 5}}, SURVEY, "'x': bins cannot be 5\nhint: give cut points"),
        (
            "ingest",
            {"decimal": 5},
            SURVEY,
            "unknown value 5 for decimal\nhint: available: '.', ','",
        ),
        ("ingest", {"count": 5}, SURVEY, "there is no column 5 in"),
        ("ingest", {"weight": [5]}, SURVEY, "[5] is not the name of a column"),
        ("ingest", {"codebook": 5}, SURVEY, "a codebook cannot be read from int"),
        ("ingest", {"encoding": 5}, SURVEY, "encoding 5 is not a text encoding"),
        ("ingest", {"delimiter": 5}, SURVEY, "delimiter must be one character, not 5"),
        ("ingest", {"bad_rows": 5}, SURVEY, "unknown value 5 for bad_rows"),
        (
            "ingest",
            {"sheet": [5]},
            SURVEY,
            "sheet must be a name, or a number from 1 on, not [5]",
        ),
        (
            "ingest",
            {"source_column": 5},
            SURVEY,
            "source_column must be the name of a column, not 5",
        ),
        (
            "tree",
            {"order": 5},
            TREE,
            "order must be a list, not 5\nhint: give a list of variables",
        ),
        ("tree", {"order": {"x"}}, TREE, "order must be a list, not a set, which has no order"),
        (
            "ingest",
            {"columns": {"x"}},
            SURVEY,
            "columns must be a list, not a set, which has no order",
        ),
        ("draw", {"path": 5}, GraphError, "a file to write must be a path, not 5"),
        ("export", {"path": None}, GraphError, "a file to write must be a path, not None"),
        ("tree", {"order": [[5]]}, SURVEY, "[5] is not the name of a variable"),
        ("tree", {"blank": 5}, TREE, "unknown value 5 for blank"),
        (
            "tree",
            {"gate_min_rows": "a"},
            TREE,
            "gate_min_rows must be a whole number of 1 or more, not 'a'",
        ),
        (
            "tree",
            {"gate_min_rows": True},
            TREE,
            "gate_min_rows must be a whole number of 1 or more, not True",
        ),
        (
            "tree",
            {"gate_min_rows": 1.5},
            TREE,
            "gate_min_rows must be a whole number of 1 or more, not 1.5",
        ),
        (
            "tree",
            {"gate_min_rows": None},
            TREE,
            "gate_min_rows must be a whole number of 1 or more, not None",
        ),
        (
            "tree",
            {"add_paths": 5},
            TREE,
            "add_paths must be a list, not 5\nhint: give a list of paths",
        ),
        (
            "tree",
            {"add_paths": [5]},
            TREE,
            "a path of add_paths must be a list, not 5\nhint: give a list",
        ),
        (
            "tree",
            {"impossible": 5},
            TREE,
            "impossible must be a list, not 5\nhint: give a list of paths",
        ),
        (
            "tree",
            {"impossible": [None]},
            TREE,
            "a path of impossible must be a list, not None\nhint: give",
        ),
        (
            "learn",
            {"alpha": True},
            STAGING,
            "alpha must be a number above 0, not True\nhint: alpha is the prior",
        ),
        (
            "learn",
            {"alpha": "a"},
            STAGING,
            "alpha must be a number above 0, not 'a'\nhint: alpha is the prior",
        ),
        (
            "learn",
            {"hyperstages": 5},
            STAGING,
            "hyperstages cannot be 5\nhint: give 'variable', 'lab",
        ),
        (
            "learn",
            {"hyperstages": [5]},
            STAGING,
            "a group of hyperstages must be a list, not 5\nhint: give",
        ),
        (
            "learn",
            {"initial": 5},
            STAGING,
            "initial cannot be 5\nhint: give 'full', 'indep', a mapping",
        ),
        (
            "learn",
            {"initial": [5]},
            STAGING,
            "a group of initial must be a list, not 5\nhint: give 'full',",
        ),
        (
            "learn",
            {"initial": [[5]]},
            STAGING,
            "a path of initial must be a list, not 5\nhint: give labels",
        ),
        (
            "learn",
            {"deff": "x"},
            STAGING,
            "deff must be a number above 0, not 'x'\nhint: a design effect is",
        ),
        ("learn", {"method": 5}, STAGING, "unknown value 5 for method"),
        ("learn", {"weighting": 5}, STAGING, "unknown value 5 for weighting"),
        (
            "set",
            {"stages": 5},
            STAGING,
            "stages cannot be 5\nhint: give a mapping from path to name",
        ),
        (
            "set",
            {"stages": {5: "a"}},
            STAGING,
            "a path of stages must be a list, not 5\nhint: give labels",
        ),
        ("recover", {"limit": "a"}, CegError, "limit must be a number of vertices, not 'a'"),
        (
            "edges",
            {"min_n": "a"},
            QueryError,
            "min_n must be a whole number of 1 or more, not 'a'\nhint: counts from 1",
        ),
        ("drop", {"kind": [5]}, UnknownNameError, "no kind named [5]\nhint: the kinds are"),
    ],
    ids=str,
)
def test_a_setting_of_a_wrong_type_is_the_rooms_own_error(
    built: Database, call: str, settings: dict[str, Any], kind: type[CegdbError], message: str
) -> None:
    db = built
    survey, tree, ceg = db.surveys["s"], db.trees["s"], db.cegs["s"]
    calls: dict[str, Callable[..., object]] = {
        "ingest": lambda **given: db.ingest("select 'a' as x, 'b' as y", "other", **given),
        "tree": survey.event_tree,
        "learn": tree.learn_stages,
        "set": tree.set_stages,
        "recover": ceg.recover,
        "draw": ceg.draw,
        "export": ceg.export,
        "edges": lambda **given: ceg.rows("ceg_edges", **given),
        "drop": lambda **given: db.drop(**given, name="s"),
    }
    with pytest.raises(kind) as error:
        calls[call](**settings)
    assert type(error.value) is kind
    assert message in str(error.value)
    assert (len(db.surveys), len(db.trees), len(db.stagings)) == (1, 1, 1)
