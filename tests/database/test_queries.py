"""Queries of a CEG: against all its paths, one by one, and worked examples.

The examples are those of ``docs/theory.md``, section 8.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from dataclasses import replace
from math import comb, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK, NOT_APPLICABLE, labels
from strategies import StagedSample, death_tree, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.errors import QueryError
from cegdb.evidence import (
    All,
    Answer,
    Count,
    Evidence,
    Likelihood,
    Order,
    Take,
    Visit,
    after,
    answers,
    at_least,
    at_most,
    avoids,
    before,
    exactly,
    from_json,
    is_soft,
    likelihood,
    takes,
    visits,
)
from cegdb.inference.compiled_model import Variable
from cegdb.inference.propagation import Graph
from cegdb.inference.queries import condition, most_probable, n_paths, probability_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

CLOSE = {"rel": 1e-12, "abs": 1e-14}


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with cegdb.open() as database:
        yield database


# =============================================================================
# The oracle: every path, one by one
# =============================================================================


class Step(NamedTuple):
    position: str
    variable: str
    label: str
    probability: float


def ceg_of(
    db: Database, sample: StagedSample, *, hyperstages: str = "variable"
) -> ChainEventGraph:
    cells = {
        v: [None if row[v] is BLANK else row[v] for row, _ in sample.rows] for v in sample.order
    }
    frame = pd.DataFrame(cells | {"people": [n for _, n in sample.rows]}, dtype=object)
    tree = db.ingest(frame, name="it", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )
    stages = {labels(path): name for path, name in sample.stage.items()}
    return tree.set_stages(stages, hyperstages=hyperstages, prior="mass").to_ceg()


def all_paths(db: Database) -> list[list[Step]]:
    """Return the root-to-leaf paths of the tree, in level order."""
    rows = db.rows(
        """
        select e.parent_id, e.child_id, p.position, v.name, l.label, c.probability
        from cegdb.ceg as g
        inner join cegdb.staging as s on g.staging_id = s.staging_id
        inner join cegdb.edge as e on s.tree_id = e.tree_id
        inner join cegdb.level as l on e.level_id = l.level_id
        inner join cegdb.variable as v on l.variable_id = v.variable_id
        inner join cegdb.position_member as m
            on g.ceg_id = m.ceg_id and e.parent_id = m.vertex_id
        inner join cegdb.positions as p on g.name = p.ceg and m.position_id = p.position_id
        inner join cegdb.ceg_edge as c
            on g.ceg_id = c.ceg_id and m.position_id = c.source_id and l.label_id = c.label_id
        where g.name = 'it'
        order by e.child_id
        """
    )[1]
    children: dict[int, list[tuple[int, Step]]] = defaultdict(list)
    for parent, child, *step in rows:
        children[parent].append((child, Step(*step)))
    found: list[list[Step]] = []

    def walk(vertex: int, path: list[Step]) -> None:
        if vertex not in children:
            found.append(path)
        for child, step in children[vertex]:
            walk(child, [*path, step])

    walk(0, [])
    return found


def mass(path: Sequence[Step]) -> float:
    return prod(step.probability for step in path)


def answer(path: Sequence[Step], variable: str) -> str:
    return next((s.label for s in path if s.variable == variable), NOT_APPLICABLE)


def moment(evidence: Evidence, path: Sequence[Step]) -> float | None:
    """Return when an event happens on a path; positions are passed before their edges."""
    for i, step in enumerate(path):
        if isinstance(evidence, Visit) and step.position == evidence.position:
            return i - 0.5
        is_answer = isinstance(evidence, Answer) and (
            step.variable == evidence.variable and step.label in evidence.labels
        )
        is_edge = isinstance(evidence, Take) and (
            (step.position, step.label) == (evidence.position, evidence.label)
        )
        if is_answer or is_edge:
            return i
    if isinstance(evidence, Visit) and evidence.position == "w_inf":
        return len(path) - 0.5
    return None


def weight(evidence: Evidence, path: Sequence[Step]) -> float:
    """Return 1 or 0, or a likelihood: what evidence makes of a path."""
    if isinstance(evidence, All):
        return prod(weight(part, path) for part in evidence.of)
    if isinstance(evidence, Answer):
        return float(answer(path, evidence.variable) in evidence.labels)
    if isinstance(evidence, Visit):
        return float((moment(evidence, path) is not None) == evidence.is_passed)
    if isinstance(evidence, Take):
        return float((moment(evidence, path) is not None) == evidence.is_taken)
    if isinstance(evidence, Likelihood):
        return dict(evidence.weights)[answer(path, evidence.variable)]
    if isinstance(evidence, Count):
        return float(
            evidence.least <= sum(weight(e, path) for e in evidence.of) <= evidence.most
        )
    assert isinstance(evidence, Order)
    first, second = moment(evidence.first, path), moment(evidence.second, path)
    return float(first is not None and second is not None and first < second)


@st.composite
def evidences(draw: Callable[..., Any], paths: list[list[Step]]) -> Evidence:
    """Draw evidence of any kind about a CEG with these paths."""
    steps = sorted({step for path in paths for step in path})
    variables = sorted({step.variable for step in steps})
    positions = [*sorted({step.position for step in steps}), "w_inf"]

    def labels_of(variable: str) -> list[str]:
        return [*sorted({s.label for s in steps if s.variable == variable}), NOT_APPLICABLE]

    def event(*, occurs: bool = False) -> Evidence:
        kind = draw(st.sampled_from(["answer", "visit", "take"]))
        positive = occurs or draw(st.booleans())
        if kind == "visit":
            position = draw(st.sampled_from(positions))
            return visits(position) if positive else avoids(position)
        step = draw(st.sampled_from(steps))
        if kind == "take":
            return takes(step.position, step.label, is_taken=positive)
        known = labels_of(step.variable)
        known = known[:-1] if occurs else known
        chosen = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
        return answers({step.variable: chosen})

    def one() -> Evidence:
        kind = draw(st.sampled_from(["event"] * 3 + ["likelihood", "count", "order"]))
        if kind == "event":
            return event()
        if kind == "likelihood":
            variable = draw(st.sampled_from(variables))
            known = labels_of(variable)
            size = len(known)
            weights = draw(
                st.lists(st.sampled_from([0, 0.25, 1, 3]), min_size=size, max_size=size)
            )
            return likelihood(variable, dict(zip(known, [*weights[:-1], 2], strict=True)))
        if kind == "order":
            pair = event(occurs=True), event(occurs=True)
            return draw(st.sampled_from([before, after]))(*pair)
        of = [event() for _ in range(draw(st.integers(1, 3)))]
        n = draw(st.integers(0, len(of)))
        return draw(st.sampled_from([exactly, at_least, at_most]))(n, of)

    parts = [one() for _ in range(draw(st.sampled_from([1, 1, 2, 3])))]
    return All(tuple(parts))


# =============================================================================
# Against the oracle
# =============================================================================


@pytest.mark.slow
@run(5)
@given(staged_trees(jumps=True), st.data())
def test_any_evidence_is_as_probable_as_its_paths(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(db, sample)
    paths = all_paths(db)
    assert ceg.n_paths == sum(1 for _ in recovered_leaves(ceg))
    known, event = data.draw(evidences(paths)), data.draw(evidences(paths))
    of_known = sum(mass(path) * weight(known, path) for path in paths)
    assert from_json(known.to_json()) == known
    if of_known == 0:
        with pytest.raises(QueryError, match="probability 0"):
            ceg.given(known)
        return
    found = ceg.given(known)
    measures = [found.probability_of_evidence, found.relative_likelihood]
    assert measures[not is_soft(known)] is None
    assert measures[is_soft(known)] == pytest.approx(of_known, **CLOSE)
    if is_soft(event):
        with pytest.raises(QueryError, match="is not an event"):
            found.probability(event)
    else:
        of_both = sum(mass(p) * weight(known, p) * weight(event, p) for p in paths)
        assert found.probability(event) == pytest.approx(of_both / of_known, **CLOSE)
    assert found.n_paths == sum(weight(known, path) > 0 for path in paths)
    check_positions(found, paths, known)
    check_best(found, paths, known, data.draw(st.integers(1, 5)))
    variables = sorted({step.variable for path in paths for step in path})
    chosen = data.draw(st.lists(st.sampled_from(variables), min_size=1, unique=True))
    check_distribution(found, paths, known, chosen)


def recovered_leaves(ceg: ChainEventGraph) -> Iterator[int]:
    tree = ceg.recover()
    parents = set(tree["parent_id"].dropna())
    return (vertex for vertex in tree["vertex_id"] if vertex not in parents)


def check_positions(found: Any, paths: list[list[Step]], known: Evidence) -> None:
    total = sum(mass(path) * weight(known, path) for path in paths)
    passed: dict[str, float] = defaultdict(float)
    for path in paths:
        for position in {step.position for step in path} | {"w_inf"}:
            passed[position] += mass(path) * weight(known, path) / total
    frame = found.positions.set_index("position")
    for position, probability in frame["probability"].items():
        assert probability == pytest.approx(passed[position], **CLOSE)
    sums = found.progress.groupby("depth")[["filtered", "smoothed"]].sum()
    assert (abs(sums - 1) < 1e-12).all().all()
    for depth, at in found.progress.groupby("depth"):
        there: dict[str, float] = defaultdict(float)
        for path in paths:
            position = path[depth].position if depth < len(path) else "w_inf"
            there[position] += mass(path) * weight(known, path) / total
        for position, smoothed in zip(at["position"], at["smoothed"], strict=True):
            assert smoothed == pytest.approx(there[position], **CLOSE)


def check_best(found: Any, paths: list[list[Step]], known: Evidence, k: int) -> None:
    total = sum(mass(path) * weight(known, path) for path in paths)
    left = [(mass(path) * weight(known, path) / total, path) for path in paths]
    best = sorted((p for p, _ in left if p > 0), reverse=True)[:k]
    frame = found.most_probable_paths(k)
    assert frame["probability"].tolist() == pytest.approx(best, **CLOSE)
    for listed, probability in zip(frame["labels"], frame["probability"], strict=True):
        own = [p for p, path in left if [step.label for step in path] == listed]
        assert any(p == pytest.approx(probability, **CLOSE) for p in own)


def check_distribution(
    found: Any, paths: list[list[Step]], known: Evidence, variables: list[str]
) -> None:
    joint: dict[tuple[str, ...], float] = defaultdict(float)
    for path in paths:
        joint[tuple(answer(path, v) for v in variables)] += mass(path) * weight(known, path)
    total = sum(joint.values())
    frame = found.distribution(variables)
    assert frame["probability"].sum() == pytest.approx(1, abs=1e-12)
    rows = frame[variables].itertuples(index=False, name=None)
    got = dict(zip(rows, frame["probability"], strict=True))
    assert got == pytest.approx({k: p / total for k, p in joint.items() if p}, **CLOSE)
    conditional = found.distribution(variables[-1], by=variables[:-1])
    assert (conditional["low"] <= conditional["probability"]).all()
    assert (conditional["probability"] <= conditional["high"]).all()
    shown = conditional.drop(columns=["low", "high", "n"])
    for *row, probability in shown.itertuples(index=False, name=None):
        of_given = sum(p for k, p in joint.items() if k[:-1] == tuple(row[:-1]))
        assert probability == pytest.approx(joint[tuple(row)] / of_given, **CLOSE)
    if len(variables) == 1:
        single = found.marginals(variables)
        assert single["label"].tolist() == frame[variables[0]].tolist()
        assert single["probability"].tolist() == pytest.approx(frame["probability"].tolist())


@pytest.mark.slow
@run(3)
@given(staged_trees(jumps=True, cross_variables=True), st.data())
def test_positions_that_ask_different_variables_give_no_wrong_number(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(db, sample, hyperstages="labels")
    paths = all_paths(db)
    asked: dict[str, set[str]] = defaultdict(set)
    for step in itertools.chain.from_iterable(paths):
        asked[step.position].add(step.variable)
    step = data.draw(st.sampled_from(sorted({s for path in paths for s in path})))
    right = sum(mass(p) for p in paths if answer(p, step.variable) == step.label)
    if any(len(variables) > 1 for variables in asked.values()):
        with pytest.raises(QueryError, match="situations with different variables"):
            ceg.probability({step.variable: step.label})
    else:
        assert ceg.probability({step.variable: step.label}) == pytest.approx(right, **CLOSE)
    best = max(mass(path) for path in paths)
    assert ceg.most_probable_paths()["probability"].item() == pytest.approx(best, **CLOSE)
    assert ceg.given(visits(step.position)).probability(visits(step.position)) == 1


# =============================================================================
# The numbers of docs/theory.md, section 8
# =============================================================================


def set_chances(
    db: Database, ceg: ChainEventGraph, chances: Mapping[tuple[str, str], float]
) -> ChainEventGraph:
    """Give edges, by position and label, their probabilities; no prior gives them all."""
    with db._store.writing() as (con, _):
        for (position, label), probability in chances.items():
            con.execute(
                "update cegdb.ceg_edge set probability = $chance from cegdb.ceg_edges as e "
                "where ceg_edge.ceg_id = $ceg_id and e.ceg = $ceg and e.source = $position "
                "and e.label = $label and ceg_edge.source_id = e.source_id "
                "and ceg_edge.label_id = e.label_id",
                {
                    "chance": probability,
                    "ceg_id": ceg.id,
                    "ceg": ceg.name,
                    "position": position,
                    "label": label,
                },
            )
    return db.cegs[ceg.name]


@pytest.fixture
def death(db: Database) -> ChainEventGraph:
    """Return the CEG of W8.1: w1 follows t, w2 follows u, both lead to w3."""
    sample = death_tree()
    apart = {path: name + str(path) for path, name in sample.stage.items() if len(path) < 2}
    ceg = ceg_of(db, sample._replace(stage=sample.stage | apart))
    chances = {("w0", "t"): 0.4, ("w0", "u"): 0.6, ("w1", "die"): 0.25, ("w1", "live"): 0.75}
    chances |= {("w2", "die"): 0.5, ("w2", "live"): 0.5, ("w3", "p"): 0.8, ("w3", "q"): 0.2}
    return set_chances(db, ceg, chances)


@pytest.mark.slow
def test_the_death_ceg_of_the_specification(death: ChainEventGraph) -> None:
    def near(value: float) -> Any:
        return pytest.approx(value, abs=1e-15)

    assert death.given().positions.set_index("position")["prior"]["w3"] == near(3 / 5)
    assert death.probability(X3="p") == near(12 / 25)
    assert death.given(X3="p").probability(X1="t") == near(1 / 2)
    not_q = death.given(X3=["p", NOT_APPLICABLE])
    assert not_q.probability_of_evidence == near(22 / 25)
    assert not_q.probability(X1="t") == near(17 / 44)
    assert not_q.given(X1="t").probability(X2="die") == near(5 / 17)
    assert not_q.given(X1="u").probability(X2="die") == near(5 / 9)
    assert not_q.given(X2="live").probability(X3="p") == 1
    best = death.most_probable_paths(3)
    assert best["labels"].tolist() == [["u", "die"], ["t", "live", "p"], ["u", "live", "p"]]
    assert best["probability"].tolist() == near([3 / 10, 6 / 25, 6 / 25])
    # What cegpy gets wrong: each edge lies on some path that has exactly one of the two.
    one = death.given(exactly(1, [{"X1": "t"}, {"X3": "p"}]))
    assert one.probability_of_evidence == near(0.4 + 0.48 - 2 * 0.24)


@pytest.mark.slow
def test_exactly_one_of_two_edges_is_not_the_union_of_their_paths(db: Database) -> None:
    rows = "select i // 2 as a, i % 2 as b from range(4) as t(i)"
    tree = db.ingest(rows, name="w82", replace=True).event_tree(sampling_zeros="none")
    ceg = tree.set_stages({("0",): "b", ("1",): "b"}, prior="mass").to_ceg()
    chances = {("w0", "0"): 4 / 7, ("w0", "1"): 3 / 7, ("w1", "0"): 1 / 3, ("w1", "1"): 2 / 3}
    ceg = set_chances(db, ceg, chances)
    events = [{"a": "1"}, takes("w1", 0)]
    assert ceg.probability(exactly(1, events)) == pytest.approx(10 / 21, abs=1e-15)


@pytest.mark.slow
def test_paths_are_never_listed(db: Database) -> None:
    columns = ", ".join(f"hash(i * 100 + {k}) % 2 as v{k}" for k in range(100))
    rows = f"select {columns} from range(3) as t(i)"  # noqa: S608
    survey = db.ingest(rows, name="long", replace=True)
    ceg = survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
    compiled = ceg._compiled().ceg
    nodes = np.arange(101)
    graph = Graph(nodes[::-1].copy(), np.repeat(nodes[:-1], 2), np.repeat(nodes[1:], 2))
    chain = replace(
        compiled,
        graph=graph,
        position_id=nodes,
        stage_id=nodes,
        names=tuple(f"w{i}" for i in nodes),
        variable=np.append(nodes[:-1], -1),
        label=np.tile([0, 1], 100),
        edge_labels=("0", "1") * 100,
        probability=np.tile([0.25, 0.75], 100),
        variables=tuple(Variable(f"v{k}", ("0", "1"), {}) for k in range(100)),
    )
    everything = condition(chain, All(()))
    assert n_paths(everything) == 2**100
    events = exactly(3, [{f"v{k}": "0"} for k in range(100)])
    right = comb(100, 3) * 0.25**3 * 0.75**97
    assert probability_of(everything, events) == pytest.approx(right, rel=1e-12)
    ((edges, best),) = most_probable(everything, 1)
    assert set(edges % 2) == {1}
    assert best == pytest.approx(0.75**100, rel=1e-12)


@pytest.mark.slow
def test_answers_to_many_questions_behind_a_gate_are_asked_together(db: Database) -> None:
    asked = [f"q{k}" for k in range(40)]
    rows = [
        ("no", dict.fromkeys(asked), 8),
        *(
            ("yes", {name: "ab"[turn == k] for k, name in enumerate(asked)}, 6)
            for turn in (None, *range(40))
        ),
    ]
    frame = pd.DataFrame([{"gate": gate, **given, "people": n} for gate, given, n in rows])
    tree = db.ingest(frame, name="it", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    paths = all_paths(db)
    assert len(paths) == 42
    for known in (
        answers(dict.fromkeys(asked, "a")),
        answers({name: "b" if name == "q7" else ["a", "b"] for name in asked}),
        answers({name: ["a", NOT_APPLICABLE] for name in asked[20:]}),
    ):
        given_it = [mass(path) * weight(known, path) for path in paths]
        found = ceg.given(known)
        assert found.probability_of_evidence == pytest.approx(sum(given_it), **CLOSE)
        assert found.n_paths == sum(value > 0 for value in given_it)
        check_positions(found, paths, known)


# =============================================================================
# What is asked, and what is refused
# =============================================================================


@pytest.fixture(scope="module")
def falls(db: Database) -> ChainEventGraph:
    """Return a CEG with hostile names, codes, and a question not put to all."""
    rows = [("low", None, 1, 6), ("low", None, 2, 9), ("high", "a|b", 1, 8)]
    rows += [("high", "a|b", 2, 5), ("high", "c = d", 1, 7), ("high", "c = d", 2, 12)]
    frame = pd.DataFrame(rows, columns=['ri"sk =', "the treatment", "fall", "n"], dtype=object)
    codes = {"variables": {"fall": {"values": {1: "yes", 2: "no"}}}}
    return (
        db.ingest(frame, name="hostile", count="n", codebook=codes, replace=True)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )


def test_events_are_asked_by_label_or_code_in_any_spelling(falls: ChainEventGraph) -> None:
    by_label = falls.probability(fall="yes")
    assert falls.probability({"fall": 1}) == by_label
    assert falls.probability({"fall": 1.0}) == by_label
    assert falls.probability({"fall": np.int64(1)}) == by_label
    assert falls.probability({"fall": ["yes", "no"]}) == 1
    assert falls.probability({"fall": pd.Series(["yes", "no"])}) == 1
    assert falls.probability() == 1
    assert falls.probability({"the treatment": "a|b"}, fall="yes") > 0
    high = falls.probability({'ri"sk =': "high"})
    assert falls.probability({"the treatment": NOT_APPLICABLE}) == pytest.approx(1 - high)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda c: c.probability(fal="yes"), "no variable 'fal'(?s:.)*'fall'"),
        (lambda c: c.probability(fall="yess"), "'fall' has no label 'yess'(?s:.)*'yes'"),
        (lambda c: c.probability(fall=None), "the label of 'fall' is None"),
        (lambda c: c.probability(fall=[]), "list of labels of 'fall' is empty"),
        (lambda c: c.probability({"fall": "yes"}, fall="no"), None),
        (lambda c: c.given({'ri"sk =': "low", "the treatment": "a|b"}), 'ri"sk = = low and'),
        (lambda c: c.given(fall="yes").given(fall="no"), "fall = yes and fall = no"),
        (lambda c: c.given(visits("w99")), "no position 'w99'"),
        (lambda c: c.given(visits(1.5)), "1.5 is not a position"),
        (lambda c: c.given(takes("w0", "medium")), "w0 of CEG 'hostile' has no edge 'medium'"),
        (lambda c: c.given(avoids("w0")), "probability 0 in CEG 'hostile': avoids w0"),
        (lambda c: c.given("fall"), "evidence must be a mapping, not 'fall'"),
        (lambda c: c.probability("fall"), "event must be a mapping, not 'fall'"),
        (lambda c: c.effect("the treatment", "fall"), "outcome must be a mapping, not 'fall'"),
        (
            lambda c: c.positivity("the treatment", given="fall"),
            "given must be a mapping, not 'fall'",
        ),
        (lambda c: c.given(likelihood("fall", {"yes": 1})), "lacks 'no'"),
        (
            lambda _: likelihood("fall", {"yes": -1}),
            "fall = yes must be a number of 0 or more, not -1",
        ),
        (lambda _: likelihood("fall", {"yes": 0}), "0 for every label"),
        (lambda _: likelihood("fall", {"1": 0.5, 1: 0.25}), "fall = 1 is listed twice"),
        (
            lambda c: c.given(*[likelihood("fall", {"yes": 1e100, "no": 1})] * 4),
            "too large to compute",
        ),
        (
            lambda c: c.given(*[likelihood("fall", {"yes": 1, "no": 1e-200})] * 2),
            "too small to compute",
        ),
        (
            lambda _: exactly(3, [{"fall": "yes"}]),
            "the number of events must be a whole number from 0 to 1, not 3",
        ),
        (lambda _: before({"fall": "yes", "x": "y"}, visits("w1")), "cannot be counted"),
        (
            lambda c: c.given(before(avoids("w1"), visits("w2"))),
            "does not happen at any",
        ),
        (lambda c: c.most_probable_paths(0), "k must be a whole number of 1 or more, not 0"),
        (lambda c: c.distribution(["fall", "fall"]), "'fall' is named twice"),
        (lambda c: c.distribution(["fall", " FALL"]), "'fall' is named twice"),
        (
            lambda c: c.expected_cost({"fall": {"yes": "much"}}),
            "fall = yes must be a finite number, not 'much'",
        ),
        (lambda c: c.expected_cost("fall"), "costs must be a mapping, not 'fall'"),
        (lambda c: c.expected_cost({"fall": 5}), "the cost of 'fall' must be a mapping, not 5"),
    ],
)
def test_what_cannot_be_asked_is_said(
    falls: ChainEventGraph, ask: Callable[[ChainEventGraph], object], message: str | None
) -> None:
    if message is None:
        assert ask(falls) == 0
        return
    with pytest.raises(QueryError, match=message):
        ask(falls)


FALL = {"kind": "answer", "variable": "fall", "labels": ["yes"]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"kind": "likelihood", "variable": "fall", "weights": [["yes", -1]]},
            "yes must be a number of 0 or more, not -1",
        ),
        (
            {"kind": "likelihood", "variable": "fall", "weights": [["yes", "1"]]},
            "yes must be a number of 0 or more, not '1'",
        ),
        (
            {"kind": "likelihood", "variable": "fall", "weights": [["yes", math.inf]]},
            "must be a number of 0 or more, not inf",
        ),
        ({"kind": "likelihood", "variable": "fall", "weights": [["yes", 0]]}, "every label"),
        ({"kind": "likelihood", "variable": "fall", "weights": [["yes"]]}, "pairs of a label"),
        (
            {"kind": "likelihood", "variable": "fall", "weights": {"yes": 1}},
            "where a list is expected",
        ),
        (
            {"kind": "likelihood", "variable": "fall", "weights": [["yes", 1], ["yes", 2]]},
            "listed twice",
        ),
        (
            {"kind": "visit", "position": "w3", "is_passed": "false"},
            "is_passed must be true or false, not 'false'",
        ),
        ({"kind": "visit", "position": True, "is_passed": True}, "True is not a position"),
        (
            {"kind": "take", "position": "w1", "label": "low", "is_taken": 0},
            "is_taken must be true or false, not 0",
        ),
        (
            {"kind": "answer", "variable": "fall", "labels": []},
            "list of labels of 'fall' is empty",
        ),
        (
            {"kind": "count", "least": 0.5, "most": 1, "of": [FALL]},
            "events must be a whole number from 0 to 1, not 0.5",
        ),
        (
            {"kind": "count", "least": "1", "most": 1, "of": [FALL]},
            "events must be a whole number from 0 to 1, not '1'",
        ),
        (
            {"kind": "count", "least": -1, "most": 1, "of": [FALL]},
            "events must be a whole number from 0 to 1, not -1",
        ),
        (
            {"kind": "count", "least": 1, "most": 0, "of": [FALL]},
            "at least 1 and at most 0",
        ),
        ({"kind": "count", "least": 0, "most": 0, "of": [{"a": "b", "c": "d"}]}, "counted"),
        ({"kind": "order", "first": FALL, "second": {"kind": "all", "of": []}}, "ordered"),
    ],
)
def test_evidence_as_json_is_checked_like_any_other(
    file: str, value: dict[str, object], message: str
) -> None:
    with pytest.raises(QueryError, match=message):
        from_json(value)
    _, error, code = told(file, "y=True", "--evidence", json.dumps(value))
    assert code == 3
    assert error.startswith("error: ")


def test_costs_are_of_variables_or_of_edges(falls: ChainEventGraph) -> None:
    costs = {"fall": {"yes": 100, "no": 1}, "w0": {"high": 10}}
    fall, high = falls.probability(fall="yes"), falls.probability(takes("w0", "high"))
    right = 100 * fall + (1 - fall) + 10 * high
    assert falls.expected_cost(costs) == pytest.approx(right, rel=1e-12)
    given_high = falls.given(takes("w0", "high")).expected_cost({"w0": {"high": 10}})
    assert given_high == pytest.approx(10, rel=1e-12)


@pytest.mark.slow
def test_labels_that_a_staging_joins_are_asked_as_it_shows_them(db: Database) -> None:
    rows = "select ['ill', 'ill*', 'well'][1 + i % 3] as x, i % 2 as y from range(60) as t(i)"
    tree = db.ingest(rows, name="joined", replace=True).event_tree(
        order=["y", "x"], sampling_zeros="none"
    )
    plain = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    assert 0 < plain.probability(x="ill*") < plain.probability(x=["ill", "ill*"])
    codes = {"variables": {"x": {"same": [["ill", "ill*"]]}}}
    ill = "if(i % 2 = 0, 'ill', 'ill*')"
    rows = f"select if(i // 2 % 2 = 0, {ill}, 'well') as x, i % 2 as y from range(60) as t(i)"  # noqa: S608
    same = db.ingest(rows, name="same", codebook=codes, replace=True)
    ceg = (
        same.event_tree(order=["y", "x"], sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    assert ceg.probability(x="ill*") == ceg.probability(x="ill") == pytest.approx(0.5)


@pytest.mark.slow
def test_a_label_that_a_staging_renames_means_the_one_it_shows(db: Database) -> None:
    rows = (
        "select i % 2 as y, ['good', 'bad', 'good2', 'bad2'][1 + (i % 2) * 2 + i // 2 % 2] as z"
    )
    survey = db.ingest(f"{rows} from range(60) as t(i)", name="renamed", replace=True)
    tree = survey.event_tree(order=["y", "z"], sampling_zeros="none")
    ceg = tree.set_stages({}, relabel={"good2": "good", "bad2": "bad"}, prior="mass").to_ceg(
        name="renamed"
    )
    assert ceg.probability(z="good2") == ceg.probability(z="good") == pytest.approx(0.5)
    assert ceg._compiled().ceg.variables[1].labels == ("bad", "good")
    db.sql("create or replace table renamed as select 'good2' as z")
    by_sql = db.sql("select probability from cegdb.event_probability('renamed', 'renamed')")
    assert by_sql["probability"].item() == pytest.approx(0.5)
    assert ceg.given(z="good2").save("renamed given").probability(z="good2") == 1


@pytest.mark.slow
def test_a_variable_that_nobody_answers_is_asked(db: Database) -> None:
    rows = pd.DataFrame({"x": ["a", "b"], "y": [None, None]})
    survey = db.ingest(rows, name="nobody", replace=True)
    ceg = (
        survey.event_tree(missing_policy="category", sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    assert ceg.probability(y="missing") == 1
    assert list(ceg.marginals()["label"]) == ["a", "b", "missing"]
    with pytest.raises(QueryError, match="'y' has no label 'c'"):
        ceg.probability(y="c")


@pytest.mark.slow
def test_a_ceg_made_again_is_asked_anew(db: Database) -> None:
    rows = "select i % 4 < 1 as x from range(40) as t(i)"
    survey = db.ingest(rows, name="more", replace=True)
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    few = ceg.probability(x=True)
    survey.append("select true as x from range(40)")
    db.rebuild()
    assert ceg.probability(x=True) > few


# =============================================================================
# The command line
# =============================================================================


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("ask") / "s.duckdb")
    with cegdb.open(path) as db:
        rows = 'select i % 2 as "a=b", i % 8 < 3 as y from range(80) as t(i)'
        db.ingest(rows, name="s").event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    return path


def told(file: str, *words: str, command: str = "probability") -> tuple[str, str, int]:
    result = CliRunner().invoke(main, [command, file, "s", *words], prog_name="cegdb")
    return result.stdout, result.stderr, result.exit_code


@pytest.mark.slow
def test_the_command_asks_what_the_library_does(file: str) -> None:
    with cegdb.open(file, read_only=True) as db:
        ceg = db.cegs["s"]
        right = ceg.given({"a=b": "0"}).probability(y="True")
        best = ceg.most_probable_paths(1)["path"].item()
    out, err, code = told(file, "y=True", "--given", '"a=b"=0', "--format", "json")
    assert (json.loads(out)[0]["event"], code) == ("y = True", 0)
    assert json.loads(out)[0]["probability"] == pytest.approx(right, rel=1e-14)
    assert err.startswith("given a=b = 0: probability 0.5")
    same = told(file, "Y=true", "--evidence", '{"a=b": ["0"]}', "--format", "json")
    assert same[0] == out
    every = told(file, command="marginals")[0]
    assert every.startswith("variable,label,probability,low,high,n\na=b,0,0.5,")
    assert told(file, "A=B", command="marginals")[0].splitlines() == every.splitlines()[:3]
    only = told(file, command="most-probable-paths")[0]
    assert best in only
    assert len(only.splitlines()) == 2
    assert len(told(file, "-k", "3", command="most-probable-paths")[0].splitlines()) == 4
    joint = told(file, "y", "--by", "a=b", command="distribution")[0].splitlines()
    assert joint[0] == "a=b,y,probability,low,high,n"
    assert len(joint) == 5


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["y"], "'y' is not VARIABLE=LABEL", 3),
        (["z=1"], "no variable 'z'", 3),
        (["y=maybe"], "'y' has no label 'maybe'", 3),
        ([], "Missing argument 'VARIABLE=LABEL...'", 2),
        (["y=True", "--evidence", "{"], "--evidence is not JSON", 3),
        (["y=True", "--evidence", '{"kind": "visit"}'], "evidence of kind 'visit' has", 3),
        (["y=1", "--given", "y=True", "--evidence", '{"y": "False"}'], "probability 0", 3),
    ],
)
def test_the_command_says_what_cannot_be_asked(
    file: str, words: list[str], message: str, code: int
) -> None:
    out, err, found = told(file, *words)
    assert (out, found) == ("", code)
    assert message in err


def test_other_commands_say_what_cannot_be_asked(file: str) -> None:
    assert (
        "k must be a whole number of 1 or more, not 0"
        in told(file, "-k", "0", command="most-probable-paths")[1]
    )
    assert "Missing argument" in told(file, command="distribution")[1]


@pytest.mark.slow
def test_the_command_says_that_it_asks_former_rows(tmp_path: Path) -> None:
    file = str(tmp_path / "s.duckdb")
    with cegdb.open(file) as db:
        survey = db.ingest("select i % 2 as y from range(8) as t(i)", name="s")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
        survey.append("select 1 as y")
    out, err, code = told(file, "y=1")
    assert "note: CEG 's' is stale" in err
    assert (code, out.splitlines()[0]) == (0, "event,probability,low,high,n")
