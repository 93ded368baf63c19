"""Adjustment: the algebraic back-door check against all paths, networks and example W11.1."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cegs import RandomCeg
from strategies import StagedSample, staged_trees
from test_interventions import confounded  # noqa: F401

from cegdb import evidence
from cegdb.causal.adjustment import AdjustmentProblem
from cegdb.errors import QueryError
from cegdb.evidence import All
from cegdb.independence.modular_arithmetic import MODULAR, PRIME, multiply, random_parameters
from cegdb.inference.queries import path_sums

if TYPE_CHECKING:
    from cegdb.api import ChainEventGraph, Database

NA = "not applicable"
NUMBERS = st.integers(0, PRIME - 1)


@given(one=NUMBERS, other=NUMBERS)
def test_products_are_those_of_whole_numbers(one: int, other: int) -> None:
    found = multiply(np.array([one], np.uint64), np.array([other], np.uint64))
    assert found.tolist() == [one * other % PRIME]


@given(numbers=st.lists(NUMBERS | st.just(PRIME - 1), min_size=2, max_size=50))
def test_sums_are_those_of_whole_numbers(numbers: list[int]) -> None:
    found = MODULAR.total(np.array(numbers, np.uint64), np.array([0, 1]))
    assert found.tolist() == [numbers[0], sum(numbers[1:]) % PRIME]


@settings(max_examples=30, deadline=None)
@given(sample=staged_trees(jumps=True), seed=st.integers(0, 9))
def test_polynomials_at_a_point_are_those_of_all_paths(sample: StagedSample, seed: int) -> None:
    tree = RandomCeg(sample, seed)
    ceg = tree.compiled
    theta = random_parameters(ceg, 1, seed)[:, 0]
    edges = zip(ceg.graph.source.tolist(), ceg.edge_labels, theta.tolist(), strict=True)
    of = {(node, label): value for node, label, value in edges}
    nodes = sorted(tree.children, key=lambda path: (-tree._height(path), path))
    by_stage: dict[Any, set[int]] = {}
    for (node, label), value in of.items():
        by_stage.setdefault((tree.stage[nodes[node]], label), set()).add(value)
    assert all(len(values) == 1 for values in by_stage.values())
    for node in range(len(nodes)):
        assert sum(value for (n, _), value in of.items() if n == node) % PRIME == 1
    number = {path: i for i, path in enumerate(nodes)}
    place = len(tree.order) - 1
    asks = ceg.edge_variable == place
    state, mass = path_sums(ceg.graph, theta, np.where(asks, ceg.label + 1, 0), 9, MODULAR)
    expected: dict[int, int] = {}
    for path, value in _products(tree, number, of):
        label = path.get(tree.order[place])
        key = 0 if label is None else 1 + ceg.variables[place].labels.index(label)
        expected[key] = (expected.get(key, 0) + value) % PRIME
    assert dict(zip(state.tolist(), mass.tolist(), strict=True)) == expected


def _products(tree: RandomCeg, number: Any, of: Any) -> list[tuple[dict[str, str], int]]:
    found = []

    def go(path: Any, value: int) -> None:
        if path not in tree.children:
            found.append((dict(path), value))
            return
        for label, child in tree.children[path].items():
            go(child, value * of[number[path], label] % PRIME)

    go((), 1)
    return found


def question(tree: RandomCeg, treatment: str, outcome: str) -> AdjustmentProblem:
    ceg = tree.compiled
    at, to = tree.order.index(treatment), tree.order.index(outcome)
    labels = tuple(label for label in ceg.variables[at].labels if label != NA)
    return AdjustmentProblem(ceg, at, to, labels, All(()), 1)


def by_enumeration(tree: RandomCeg, treatment: str, outcome: str, by: list[str]) -> bool:
    """Return whether both conditions hold for the probabilities of the tree."""
    labels = {
        label
        for path, children in tree.children.items()
        if tree.asks(path) == treatment
        for label in children
        if label != NA
    }
    for label in labels:

        def is_other(path: Any, other: str, label: str = label) -> bool:
            is_set = tree.asks(path) == treatment and label in tree.children[path]
            return is_set and other not in (label, NA)

        def seen(path: Any, other: str) -> float:
            return 0.0 if is_other(path, other) else tree.fitted(path, other)

        def set_to(path: Any, other: str, label: str = label) -> float:
            if tree.asks(path) == treatment and other == label:
                kept = tree.fitted(path, NA) if NA in tree.children[path] else 0.0
                return 1 - kept
            return seen(path, other)

        tables = []
        for theta in (tree.fitted, set_to, seen):
            table: dict[Any, dict[str, float]] = {}
            for path, probability in tree.paths(theta):
                applies = path.get(treatment, NA) != NA
                labelled = tuple(path.get(name, NA) for name in by)
                cell = table.setdefault((labelled, applies), {})
                answer = path.get(outcome, NA)
                cell[answer] = cell.get(answer, 0.0) + probability
            tables.append(table)
        every, under, with_it = tables
        for cell, answers in every.items():
            total = sum(under.get(cell, {}).values())
            if abs(total - sum(answers.values())) > 1e-9:
                return False
            for answer in answers:
                one = under[cell].get(answer, 0.0) * sum(with_it[cell].values())
                if abs(one - with_it[cell].get(answer, 0.0) * total) > 1e-9:
                    return False
    return True


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    sample=staged_trees(jumps=True),
    seed=st.integers(0, 99),
    absent=st.sampled_from([None, "n"]),
)
def test_the_verdict_is_that_of_enumeration(
    data: st.DataObject, sample: StagedSample, seed: int, absent: str | None
) -> None:
    tree = RandomCeg(sample, seed, absent)
    if len(tree.order) < 2:
        return
    treatment, outcome, *others = data.draw(st.permutations(tree.order))
    if not question(tree, treatment, outcome).labels:
        return
    by = others[: data.draw(st.integers(0, len(others)))]
    asked = question(tree, treatment, outcome)
    places = [tree.order.index(name) for name in by]
    works = asked.reason_invalid(places) is None
    assert works == by_enumeration(tree, treatment, outcome, by)
    found = asked.estimates(places)
    if works and not np.isnan(found.adjusted).any():
        assert found.adjusted == pytest.approx(found.intervened, abs=1e-9)
    assert found.intervened.sum(axis=1) == pytest.approx(1)
    above = {name for path in tree.children if tree.asks(path) == treatment for name, _ in path}
    after = {tree.asks(path) for path in tree.children if treatment in dict(path)}
    known = asked.predecessors()
    assert [tree.order[i] for i in known] == sorted(
        above - after - {outcome}, key=tree.order.index
    )
    if not above & after and outcome not in above:
        assert asked.reason_invalid(known) is None


NODES = ["A", "B", "C", "D"]


@st.composite
def networks(draw: Any) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(NODES)
    graph.add_edges_from(e for e in combinations(NODES, 2) if draw(st.booleans()))
    return graph


def tree_of(graph: nx.DiGraph[str]) -> StagedSample:
    stage = {}
    for depth, name in enumerate(NODES):
        parents = set(graph.predecessors(name))
        for labels in product("01", repeat=depth):
            path = tuple(zip(NODES, labels, strict=False))
            known = "".join(label for of, label in path if of in parents)
            stage[path] = f"{name}{known}"
    rows = [(dict(zip(NODES, labels, strict=True)), 1) for labels in product("01", repeat=4)]
    return StagedSample(rows, NODES, stage)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(graph=networks(), pair=st.permutations(NODES))
def test_on_the_tree_of_a_network_it_is_the_back_door_criterion(
    graph: nx.DiGraph[str], pair: list[str]
) -> None:
    treatment, outcome, *others = pair
    asked = question(RandomCeg(tree_of(graph), 1), treatment, outcome)
    cut = graph.copy()
    cut.remove_edges_from(list(graph.out_edges(treatment)))
    for size in range(3):
        for by in combinations(others, size):
            is_closed = nx.is_d_separator(cut, {treatment}, {outcome}, set(by))
            expected = is_closed and not set(by) & nx.descendants(graph, treatment)
            places = [NODES.index(name) for name in by]
            assert (asked.reason_invalid(places) is None) == expected


@pytest.mark.slow
def test_w11_1_needs_its_confounder(confounded: ChainEventGraph) -> None:  # noqa: F811
    none = confounded.adjustment("X", "Y", by=[])
    assert not none.is_valid
    assert none.verdict == (
        "no: Y differs between people set to X = 0 and people observed with it"
    )
    found = confounded.adjustment("X", "Y")
    assert (found.is_valid, found.sets, found.by) == (True, [("Z",)], ("Z",))
    at = found.estimates.set_index(["label", "outcome"]).loc[("1", "1")]
    assert at["adjusted"] == pytest.approx(11 / 20)
    assert at["truth"] == pytest.approx(11 / 20)
    assert at["observed"] == pytest.approx(27 / 40)
    assert "adjusting for Z identifies the effect of X on Y" in str(found)
    assert "Nothing unmeasured confounds X" in str(found)


@pytest.mark.slow
def test_a_descendant_and_a_collider_fail(db: Database) -> None:
    """U -> M <- V, U -> X -> D, V -> Y, X -> Y: adjusting for M opens what was closed."""
    rows = """
        select * from (select unnest([0, 1]) as U) cross join (select unnest([0, 1]) as V)
        cross join (select unnest([0, 1]) as M) cross join (select unnest([0, 1]) as X)
        cross join (select unnest([0, 1]) as D) cross join (select unnest([0, 1]) as Y)
    """
    tree = db.ingest(rows).event_tree(
        order=["U", "V", "M", "X", "D", "Y"], sampling_zeros="none"
    )
    depends = {"V": [], "M": ["U", "V"], "X": ["U"], "D": ["X"], "Y": ["V", "X", "D"]}
    ceg = tree.set_stages(depends=depends, prior="mass").to_ceg()
    assert ceg.adjustment("X", "Y").sets == [()]
    assert "given M = 0" in ceg.adjustment("X", "Y", by="M").reason
    assert ceg.adjustment("X", "Y", by=["M", "U"]).is_valid
    assert ceg.adjustment("X", "Y", by=["M", "V"]).is_valid
    found = ceg.adjustment("X", "Y", by=["D"])
    assert found.reason == "setting X = 0 changes the probability of D = 0"
    assert found.sets == []


@pytest.mark.slow
def test_nothing_is_adjusted_for_in_a_context_where_the_treatment_ignores_it(
    db: Database,
) -> None:
    rows = """
        select * from (select unnest(['here', 'there']) as place)
        cross join (select unnest([0, 1]) as Z) cross join (select unnest([0, 1]) as X)
        cross join (select unnest([0, 1]) as Y)
    """
    tree = db.ingest(rows).event_tree(order=["place", "Z", "X", "Y"], sampling_zeros="none")
    ceg = tree.set_stages({("here", "*"): "tossed"}, prior="mass").to_ceg()
    here = ceg.adjustment("X", "Y", given={"place": "here"})
    assert (here.is_valid, here.sets) == (True, [()])
    assert ceg.adjustment("X", "Y", given={"place": "there"}).sets == [("Z",)]
    assert ceg.adjustment("X", "Y").sets == [("place", "Z")]
    assert not ceg.adjustment("X", "Y", by="Z").is_valid
    for bad, said in (
        ({"by": ["X"]}, "'X' is named twice"),
        ({"by": ["W"]}, "no variable"),
        ({"given": {"Y": 1}}, "may come after"),
        ({"given": evidence.likelihood("Z", {0: 1, 1: 2})}, "is not an event"),
        ({"seed": "x"}, "seed must be a whole number from 0"),
    ):
        with pytest.raises(QueryError, match=said):
            ceg.adjustment("X", "Y", **bad)  # type: ignore[arg-type]
