"""A staged tree answers as its CEG does, and refuses in plain words what it cannot answer."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from strategies import StagedSample, run, staged_trees
from test_relabel import relabellings

import cegdb
from cegdb.errors import CegdbError, NameTakenError, QueryError, StagingError
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database, StagedTree

CLOSE = {"rel": 1e-9, "abs": 1e-12}
ROWS = "select i % 2 as x, i % 3 as y, i % 8 < 3 as z from range(240) t(i)"


def frame_of(sample: StagedSample) -> pd.DataFrame:
    cells = {
        v: [None if row[v] is BLANK else row[v] for row, _ in sample.rows] for v in sample.order
    }
    return pd.DataFrame(cells, dtype=object)


def grown(db: Database, sample: StagedSample, rules: Any) -> StagedTree | None:
    """Stage a tree; None if the rules cannot be."""
    frame = frame_of(sample).assign(people=[n for _, n in sample.rows])
    tree = db.ingest(frame, name="it", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )
    try:
        return (
            tree.learn_stages(relabel=rules, prior="mass", criterion="score")
            if rules
            else tree.learn_stages(prior="mass", criterion="score")
        )
    except StagingError:
        return None


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@run(2, shrinks=False)
@given(st.data(), staged_trees(jumps=True))
def test_a_staged_tree_answers_like_its_ceg(
    db: Database, data: st.DataObject, sample: StagedSample
) -> None:
    rules = data.draw(st.one_of(st.none(), relabellings(sample)))
    staged = grown(db, sample, rules)
    if staged is None:
        return
    ceg = staged.to_ceg()
    marginals = ceg.marginals()
    assert_same(staged.marginals(), marginals)
    assert staged.n_paths == ceg.n_paths
    answer = data.draw(st.sampled_from(marginals.to_dict("records")))
    known = {answer["variable"]: answer["label"]}
    assert staged.prob(known) == pytest.approx(ceg.probability(known), **CLOSE)
    by_tree, by_ceg = staged.given(known), ceg.given(known)
    assert by_tree.probability_of_evidence == pytest.approx(
        by_ceg.probability_of_evidence, **CLOSE
    )
    assert_same(by_tree.marginals(), by_ceg.marginals())
    variables = list(dict.fromkeys(marginals["variable"]))
    assert_same(by_tree.distribution(variables), by_ceg.distribution(variables))
    best = ["rank", "probability"]
    assert_same(staged.most_probable_paths(3)[best], ceg.most_probable_paths(3)[best])
    if answer["label"] != NOT_APPLICABLE:
        costs = {answer["variable"]: {answer["label"]: 7}}
        assert staged.expected_cost(costs) == pytest.approx(ceg.expected_cost(costs), **CLOSE)
    assert staged.given(known).sample(5, seed=1).shape == (5, len(variables))
    frame = pd.DataFrame(
        {
            v: [None if row[v] is BLANK else row[v] for row, _ in sample.rows]
            for v in sample.order
        },
        dtype=object,
    )
    same = ("mean", "total", "n_impossible")
    scores = [model.score(frame) for model in (staged, ceg, by_tree, by_ceg)]
    for one, other in (scores[:2], scores[2:]):
        for name in same:
            assert getattr(one, name) == pytest.approx(getattr(other, name), **CLOSE)
    last = sample.order[-1]
    if last in variables:
        part = frame.drop(columns=last) if len(sample.order) > 1 else frame
        assert_same(staged.complete(part).labels, ceg.complete(part).labels)
        predicted = staged.predict(frame, last, probabilities=True)
        assert_same(predicted, ceg.predict(frame, last, probabilities=True))
        assert list(staged.predict(frame, last)) == list(ceg.predict(frame, last))
    assigned, paths = staged.assign(frame), ceg.assign(frame).paths
    assert "position" not in assigned.paths
    kept = list(assigned.paths.columns)
    assert_same(assigned.paths, paths[kept])


@pytest.fixture(scope="module")
def made(database: Database) -> StagedTree:
    staged: StagedTree = (
        database.ingest(ROWS, name="asked")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    staged.to_ceg()
    return staged


@pytest.mark.slow
def test_names_and_labels_are_found_like_columns(made: StagedTree, database: Database) -> None:
    ceg = database.cegs[" Asked "]
    exact = ceg.probability(z=True, x=1)
    assert ceg.probability({"Z ": " TRUE", "X": 1}) == exact == made.prob({"Z": "true", "x": 1})
    assert ceg.marginals("Z")["variable"].tolist() == ["z", "z"]
    assert ceg.expected_cost({"Z": {"true": 1}}) == ceg.probability(z=True)
    assert ceg.do({"X": 1}).probability(x=1) == 1
    assert ceg.given(cegdb.evidence.visits("W0")).probability_of_evidence == 1
    assert str(ceg.independence("X", "z")) == str(ceg.independence("x", "z"))
    assert database.stagings["ASKED"] == made
    grouped = made.tree.set_stages(
        {(" 0",): "one", ("1 ",): "ONE"}, "grouped", replace=True, prior="mass"
    )
    assert len(grouped.stages) == len(made.tree.situations)
    for wrong, near in (("zz", "did you mean 'z'?"), ("q", None)):
        unknown = f"no variable '{wrong}'; available: 'x', 'y', 'z'"
        with pytest.raises(QueryError, match=unknown) as caught:
            ceg.marginals(wrong)
        assert caught.value.hint == near


def test_situations_are_named_as_in_the_views(made: StagedTree) -> None:
    passed = made.given(x=0).situations
    shown = made.tree.situations
    assert passed["situation"].tolist() == [*shown["situation"], "leaf"]
    assert passed["situation_id"].tolist()[:-1] == shown["vertex_id"].tolist()
    reached = dict(zip(passed["situation"], passed["probability"], strict=True))
    assert reached["s1"] == pytest.approx(1)
    assert reached["s2"] == 0
    assert made.probability(cegdb.evidence.visits("s1")) == pytest.approx(made.prob(x=0))


@pytest.mark.slow
def test_a_prediction_is_the_most_probable_label_whatever_the_row_says(
    made: StagedTree,
) -> None:
    rows = pd.DataFrame({"x": [0, 1, 0, 9], "y": [0, 1, 2, 0], "z": [True, False, True, True]})
    table = made.predict(rows, "z", probabilities=True)
    for row, chances in zip(rows.itertuples(), table.itertuples(index=False), strict=True):
        if row.x == 9:
            assert np.isnan(chances).all()
            continue
        given = made.given(x=row.x, y=row.y)
        assert list(chances) == pytest.approx(
            [given.probability(z=label) for label in table.columns], **CLOSE
        )
    labels = made.predict(rows, "z")
    best = table.iloc[:3].idxmax(axis=1).tolist()
    assert labels.tolist()[:3] == best
    assert labels.isna().tolist() == [False, False, False, True]
    judged = made.classify(rows.iloc[:3], "z").metrics
    hits = [str(z) == b for z, b in zip(rows["z"][:3], best, strict=True)]
    assert judged.accuracy == pytest.approx(np.mean(hits))
    assert made.predict(rows, "z", predictors="y").notna().all()


def test_a_subtree_is_all_that_lies_below_a_situation(made: StagedTree) -> None:
    whole = made.to_networkx()
    assert nx.utils.graphs_equal(made.subtree(), whole)
    for part in (made.subtree([1, 2]), made.subtree(x=1, y=2)):
        (root,) = [node for node, degree in part.in_degree() if degree == 0]
        assert part.nodes[root]["variable"] == "z"
        assert set(part) == {root} | nx.descendants(whole, root)
        assert dict(part.nodes[root]) == dict(whole.nodes[root])
        assert part.edges == part.edges & whole.edges
    for wrong, message in (
        (lambda: made.subtree([5]), "'s0' has no label '5'"),
        (lambda: made.subtree(y=1), "needs an answer to 'x', which comes before 'y'"),
        (lambda: made.subtree(x=1, w=1), "has no variable 'w'; available: 'x', 'y', 'z'"),
        (lambda: made.subtree("1"), "path must be a list, not the text"),
    ):
        with pytest.raises(QueryError, match=message):
            wrong()


@pytest.mark.slow
def test_a_default_name_that_is_taken_is_numbered(db: Database) -> None:
    tree = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)", "it").event_tree(
        sampling_zeros="none"
    )
    made = [make() for _ in range(3) for make in (tree.full, tree.indep)]
    assert [one.name for one in made] == [
        "it-full", "it-indep", "it-full-2", "it-indep-2", "it-full-3", "it-indep-3",
    ]  # fmt: skip
    assert made[0].full().name == "it-full-full"
    assert made[0].full().name == "it-full-full-2"
    assert made[0].indep().name == "it-full-indep"
    assert tree.full(replace=True).name == "it-full"
    with pytest.raises(NameTakenError, match="'it-full-2' already exists"):
        tree.full("it-full-2")


@pytest.mark.slow
def test_full_and_indep_are_the_finest_and_the_coarsest_staging(db: Database) -> None:
    tree = db.ingest(ROWS, name="it").event_tree(sampling_zeros="none")
    full, indep = tree.full(alpha=3), tree.indep(alpha=3)
    assert (full.name, indep.name) == ("it-full", "it-indep")
    assert len(full.stages) == len(tree.situations)
    assert len(indep.stages) == 3
    staged = tree.learn_stages(alpha=3, smoothing=0.5, prior="mass", criterion="score")
    finest, coarsest = staged.full("f"), staged.indep("c")
    assert finest.hamming(full) == coarsest.hamming(indep) == 0
    assert (finest.name, coarsest.name) == ("f", "c")
    for one in (finest, coarsest):
        assert one.settings["smoothing"] == 0.5
        assert one.settings["alpha"] == 3
    for variable in ("x", "y", "z"):
        alone = {row.label: row.probability for row in coarsest.stage_edges.itertuples()}
        assert coarsest.marginals(variable)["label"].isin(alone).all()
    assert db.check() == []


# =============================================================================
# What cannot be asked
# =============================================================================


@pytest.mark.slow
def test_one_cannot_intervene_after_conditioning(made: StagedTree, database: Database) -> None:
    ceg = database.cegs["asked"]
    for given_first in (
        lambda: ceg.given(z=True).do(x=1),
        lambda: ceg.do(y=0).given(z=True).do(x=1),
        lambda: ceg.given(z=True).save("asked-z", replace=True).do(x=1),
    ):
        with pytest.raises(QueryError, match="cannot intervene after conditioning") as caught:
            given_first()
        assert "intervene first, then condition" in str(caught.value.hint)
    after = ceg.do(x=1).given(z=True)
    assert after.probability(x=1) == pytest.approx(1)
    assert ceg.given().do(x=1).intervention == "x = 1"
    with pytest.raises(AttributeError, match="cannot intervene after conditioning") as refused:
        made.given(z=True).do(x=1)  # type: ignore[attr-defined]
    assert "hint: intervene first, then condition" in str(refused.value)


def test_what_is_gone_given_evidence_says_what_to_do(
    made: StagedTree, database: Database
) -> None:
    ceg = database.cegs["asked"]
    with pytest.raises(AttributeError, match=r"save it as a CEG first, with save\(\)"):
        _ = ceg.given(z=True).draw
    with pytest.raises(AttributeError, match="without the intervention"):
        _ = ceg.do(x=1).cuts
    with pytest.raises(AttributeError, match="without evidence"):
        _ = made.given(z=True).stages
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ceg.given(z=True).nothing
    assert not hasattr(ceg.given(z=True), "draw")


ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "adjustment": (("x", "z"), {}),
    "assign": ((ROWS,), {}),
    "bayes_factor": (("other",), {}),
    "calibration": ((ROWS, "z"), {}),
    "cid": (("other",), {}),
    "classify": ((ROWS, "z"), {}),
    "complete": ((ROWS,), {}),
    "diff": (("other",), {}),
    "distribution": (("x",), {}),
    "do": ((), {"x": 1}),
    "draw": (("file.dot",), {}),
    "effect": (("x", {"z": True}), {"draws": 0}),
    "expected_cost": (({"z": {True: 1}},), {}),
    "export": (("file.csv",), {}),
    "full": ((), {"replace": True, "name": "finest"}),
    "given": ((), {"y": 1}),
    "hamming": (("other",), {}),
    "inclusion": (("other",), {}),
    "indep": ((), {"replace": True, "name": "coarsest"}),
    "independence": (("x", "z"), {}),
    "is_cut": ((["u0"],), {}),
    "is_fine_cut": ((["w0"],), {}),
    "join": (("u0", "u1"), {"name": "j", "replace": True}),
    "lr_test": (("other",), {}),
    "positivity": (("x",), {}),
    "predict": ((ROWS, "z"), {}),
    "rename": (({"u0": "first"},), {"name": "r", "replace": True}),
    "rows": (("vertices",), {}),
    "sample": ((3,), {"seed": 1}),
    "save": (("saved",), {"replace": True}),
    "score": ((ROWS,), {}),
    "split": (("u0",), {"name": "s", "replace": True}),
    "template": (("file.csv",), {}),
    "test_independence": (("x", "z"), {}),
    "to_ceg": (("again",), {"replace": True}),
    "with_stored_names": (({"y": 1},), {}),
    "write_bif": (("file.bif",), {}),
    "stability": ((), {"runs": 2}),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["staged tree", "staged tree given", "ceg", "ceg given", "ceg after"]
)
def test_every_public_method_works_or_says_why_not(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = db.ingest(ROWS, name="it").event_tree(sampling_zeros="none")
    staged = tree.learn_stages(prior="mass", criterion="score")
    other = tree.set_stages({}, name="other", prior="mass")
    ceg: ChainEventGraph = staged.to_ceg()
    objects: dict[str, Callable[[], Any]] = {
        "staged tree": lambda: staged,
        "staged tree given": partial(staged.given, y=1),
        "ceg": lambda: ceg,
        "ceg given": partial(ceg.given, y=1),
        "ceg after": partial(ceg.do, y=1),
    }
    one = objects[what]()
    for name in dir(type(one)):
        if name.startswith("_"):
            continue
        found = inspect.getattr_static(type(one), name)
        if isinstance(found, property):
            getattr(one, name)
            continue
        if not inspect.isfunction(found):
            continue
        args, kwargs = ARGUMENTS.get(name, ((), {}))
        args = tuple(other if arg == "other" else arg for arg in args)
        with suppress(CegdbError):
            getattr(one, name)(*args, **kwargs)


@pytest.mark.slow
def test_what_is_to_be_saved_first_works_once_saved(
    made: StagedTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    conditioned = made.to_ceg("to-save", replace=True).given(z=True)
    saved = conditioned.save("asked-z", replace=True)
    arguments = ARGUMENTS | {"rows": (("positions",), {})}
    to_save, refused = set(), set()
    for name in dir(type(saved)):
        if name.startswith("_") or hasattr(conditioned, name):
            continue
        with pytest.raises(AttributeError) as caught:
            getattr(conditioned, name)
        if "save it as a CEG first" not in str(caught.value):
            refused.add(name)
            continue
        to_save.add(name)
        found = getattr(saved, name)
        if inspect.ismethod(found):
            args, kwargs = arguments.get(name, ((), {}))
            found(*args, **kwargs)
    assert {"cuts", "draw", "export", "recover", "report"} <= to_save
    assert refused == {"adjustment", "assign", "averaged", "effect", "positivity", "trace"}


def test_methods_that_never_work_do_not_exist(made: StagedTree, database: Database) -> None:
    ceg = database.cegs["asked"]
    for model, missing in (
        (ceg.given(z=True), {"assign"}),
        (ceg.do(x=1), {"assign", "save"}),
        (ceg.do(x=1).given(z=True), {"assign", "save"}),
        (made.given(z=True), {"assign", "do", "save"}),
    ):
        found = {name for name in ("assign", "do", "save") if hasattr(model, name)}
        assert found == {"assign", "do", "save"} - missing
        assert missing.isdisjoint(dir(model))
        for name in missing:
            with pytest.raises(AttributeError, match="\\nhint: "):
                getattr(model, name)
    with pytest.raises(AttributeError, match=r"cannot be saved after do\(x = 1\)\nhint: write"):
        _ = ceg.do(x=1).save  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="its stages no longer hold\nhint: save the CEG"):
        _ = made.given(z=True).save  # type: ignore[attr-defined]
