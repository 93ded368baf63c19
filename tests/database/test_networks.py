"""Bayesian networks in and out, against slow obvious calculations.

The theory is in ``docs/theory.md``, sections 9.2 and 10.
"""

from __future__ import annotations

import itertools
import json
import math
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import NASTY
from oracle import BLANK
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.errors import NetworkError, StagingError
from cegdb.networks import (
    Network,
    bif_text,
    network_of,
    parse_bif,
    read_bif,
    smallest_network,
)
from cegdb.networks.bayesian_network import normalised_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database, StagedTree

    Assignment = dict[str, str]

NA = "not applicable"


# -----------------------------------------------------------------------------
# Oracles
# -----------------------------------------------------------------------------


def assignments(levels: Mapping[str, Sequence[str]]) -> Iterator[Assignment]:
    for labels in itertools.product(*levels.values()):
        yield dict(zip(levels, labels, strict=True))


def joint(network: Network, answers: Assignment) -> float:
    """Return the probability of one answer to each question."""
    p = 1.0
    for name, parents in network.parents.items():
        row = network.tables[name][tuple(answers[parent] for parent in parents)]
        p *= row[list(network.levels[name]).index(answers[name])]
    return p


def bdeu(
    rows: Sequence[Assignment], levels: Mapping[str, list[str]], graph: Any, alpha: float
) -> float:
    """Return the BDeu score as it is defined."""
    score = 0.0
    for name in levels:
        parents = list(graph.predecessors(name))
        configurations = list(itertools.product(*(levels[parent] for parent in parents)))
        a = alpha / len(configurations)
        for given_labels in configurations:
            here = [row[name] for row in rows if tuple(row[p] for p in parents) == given_labels]
            score += math.lgamma(a) - math.lgamma(a + len(here))
            for label in levels[name]:
                b = a / len(levels[name])
                score += math.lgamma(b + here.count(label)) - math.lgamma(b)
    return score


def essential(domain: Sequence[str], stage: Mapping[tuple[str, ...], Any]) -> list[str]:
    """Return the variables that some two histories differ in alone, with other stages."""
    return [
        name
        for i, name in enumerate(domain)
        if any(
            stage[one] != stage[other] and one[:i] + one[i + 1 :] == other[:i] + other[i + 1 :]
            for one in stage
            for other in stage
        )
    ]


def kind_of(parents: Sequence[str], stage: Mapping[tuple[str, ...], Any], parent: str) -> str:
    """Return the kind of an edge by ``docs/theory.md``, section 10."""
    i = parents.index(parent)
    n_values = len({key[i] for key in stage})
    distinct: dict[tuple[str, ...], set[Any]] = {}
    for key, found in stage.items():
        distinct.setdefault(key[:i] + key[i + 1 :], set()).add(found)
    counts = {len(found) for found in distinct.values()}
    if counts == {n_values}:
        of_value: dict[str, set[Any]] = {}
        for key, found in stage.items():
            of_value.setdefault(key[i], set()).add(found)
        recur = sum(map(len, of_value.values())) != len(set(stage.values()))
        return "local" if recur else "total"
    parts = [
        word
        for word, holds in (
            ("context", 1 in counts),
            ("partial", any(1 < count < n_values for count in counts)),
        )
        if holds
    ]
    return "/".join(parts)


def contexts_of(
    parents: Sequence[str],
    levels: Mapping[str, list[str]],
    stage: Mapping[tuple[str, ...], Any],
) -> set[tuple[str, frozenset[tuple[str, str]]]]:
    """Return all minimal contexts in which a parent makes no difference."""
    found = set()
    for j, parent in enumerate(parents):
        others = [name for name in parents if name != parent]
        holds = []
        for size in range(len(others) + 1):
            for names in itertools.combinations(others, size):
                for labels in itertools.product(*(levels[name] for name in names)):
                    context = frozenset(zip(names, labels, strict=True))
                    if any(smaller <= context for smaller in holds):
                        continue
                    met: dict[tuple[str, ...], set[Any]] = {}
                    for key, value in stage.items():
                        if context <= set(zip(parents, key, strict=True)):
                            met.setdefault(key[:j] + key[j + 1 :], set()).add(value)
                    if all(len(stages) == 1 for stages in met.values()):
                        holds.append(context)
        found |= {(parent, context) for context in holds}
    return found


@contextmanager
def emptied_at_end(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        for name in database.surveys.names():
            database.drop("survey", name)


# -----------------------------------------------------------------------------
# Samples
# -----------------------------------------------------------------------------


@st.composite
def networks(draw: Callable[..., Any], most: int = 4) -> Network:
    """Draw a network; rows of its tables are random, so that all are different."""
    names = draw(st.permutations([f"X{i}" for i in range(draw(st.integers(2, most)))]))
    parents = {
        name: draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=3)) if i else []
        for i, name in enumerate(names)
    }
    levels = {
        name: [f"{name} {j}" for j in range(draw(st.sampled_from([2, 2, 3])))] for name in names
    }
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {}
    for name in names:
        rows = itertools.product(*(levels[parent] for parent in parents[name]))
        tables[name] = {
            row: random.dirichlet([1.0] * len(levels[name])).tolist() for row in rows
        }
    return Network("drawn", parents, levels, tables)


def product_rows(levels: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    return pd.DataFrame(list(assignments(levels)))


def binary(*names: str) -> dict[str, list[str]]:
    return {name: ["0", "1"] for name in names}


def staged_on(
    db: Database, levels: Mapping[str, Sequence[str]], stages: Mapping[tuple[str, ...], object]
) -> StagedTree:
    """Stage the tree of all combinations; variables of which nothing is said have one stage."""
    tree = db.ingest(product_rows(levels), "rows", replace=True).event_tree(
        sampling_zeros="none"
    )
    order = list(levels)
    said = {len(path) for path in stages}
    depends: dict[str, list[str]] = {order[i]: [] for i in range(len(order)) if i not in said}
    return tree.set_stages(dict(stages), depends=depends, prior="mass")


def edges_of(staged: StagedTree) -> dict[tuple[str, str], str]:
    frame = staged.parents.dropna(subset=["parent"])
    return {(row.parent, row.variable): row.kind for row in frame.itertuples(index=False)}


def paths_of(ceg: ChainEventGraph) -> dict[tuple[str, ...], float]:
    """Return the probability of each path of a CEG, by its labels."""
    found: dict[tuple[str, ...], float] = {}
    edges: dict[str, list[tuple[str, str, float]]] = {}
    for edge in ceg.edges.itertuples(index=False):
        edges.setdefault(edge.source, []).append((edge.target, edge.label, edge.probability))

    def follow(position: str, labels: tuple[str, ...], p: float) -> None:
        if position == "w_inf":
            found[labels] = p
        for target, label, here in edges.get(position, []):
            follow(target, (*labels, label), p * here)

    follow("w0", (), 1.0)
    return found


def read_network(staged: StagedTree) -> Network:
    return smallest_network(staged._store, staged.id)[0]


def same(one: Network, other: Network, *, within: float = 1e-12) -> None:
    """Assert that two networks are the same, whatever the order of parents and rows."""
    assert {name: set(p) for name, p in one.parents.items()} == {
        name: set(p) for name, p in other.parents.items()
    }
    assert {n: list(x) for n, x in one.levels.items()} == {
        n: list(x) for n, x in other.levels.items()
    }
    for name, table in one.tables.items():
        places = [list(other.parents[name]).index(parent) for parent in one.parents[name]]
        moved = {
            tuple(given_labels[i] for i in places): row
            for given_labels, row in other.tables[name].items()
        }
        assert table.keys() == moved.keys()
        for given_labels, row in table.items():
            assert row == pytest.approx(moved[given_labels], abs=within, rel=0)


# -----------------------------------------------------------------------------
# Worked examples
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_w10_1_a_context_specific_parent(db: Database) -> None:
    stages = {("0", "*"): "a", ("1", "0"): "b0", ("1", "1"): "b1"}
    staged = staged_on(db, binary("X1", "X2", "Y"), stages)
    assert edges_of(staged) == {("X1", "Y"): "total", ("X2", "Y"): "context"}
    said = [s for s in staged.independences["sentence"] if s.startswith("Y")]
    assert said == ["Y is independent of X2, when X1 = 0 (n = 4)"]


@pytest.mark.slow
def test_w10_2_a_partial_parent(db: Database) -> None:
    levels = {"X1": ["0", "1", "2"], "Y": ["0", "1"]}
    staged = staged_on(db, levels, {("0",): "a", ("1",): "a", ("2",): "b"})
    assert edges_of(staged) == {("X1", "Y"): "partial"}


def test_w10_3_local_parents(db: Database) -> None:
    stages = {(a, b): str(a == b) for a in "01" for b in "01"}
    staged = staged_on(db, binary("X1", "X2", "Y"), stages)
    assert edges_of(staged) == {("X1", "Y"): "local", ("X2", "Y"): "local"}


@pytest.mark.slow
def test_w10_4_a_variable_that_makes_no_difference_is_no_parent(db: Database) -> None:
    staged = staged_on(db, binary("X1", "X2", "Y"), {("*", b): b for b in "01"})
    assert edges_of(staged) == {("X2", "Y"): "total"}
    assert staged.parents["is_unique"].all()
    assert "Y is independent of X1 given X2 (n = 8)" in set(staged.independences["sentence"])


@pytest.mark.slow
def test_w10_5_on_an_incomplete_domain_the_earlier_variable_is_left_out_first(
    db: Database,
) -> None:
    rows = pd.DataFrame([(a, a, y) for a in "01" for y in "01"], columns=["X1", "X2", "Y"])
    staged = (
        db.ingest(rows, "rows")
        .event_tree(sampling_zeros="none")
        .set_stages({("0", "0"): "a", ("1", "1"): "b"}, prior="mass")
    )
    found = staged.parents.set_index("variable")
    assert found.loc["Y", ["parent", "kind", "is_unique"]].tolist() == ["X2", "total", False]
    assert found.loc["X2", ["parent", "kind", "is_unique"]].tolist() == ["X1", "total", True]
    for x, p in (("0", 1.0), ("1", 0.0)):
        assert read_network(staged).tables["X2"][(x,)] == [p, 1 - p]


def test_w9_1_an_independence_in_one_context(db: Database) -> None:
    stages = {("0", "0"): "a", ("0", "1"): "b", ("1", "*"): "c"}
    staged = staged_on(db, binary("X1", "X2", "X3"), stages)
    found = staged.independences
    of_x3 = found[found["variable"] == "X3"]
    assert of_x3["context"].tolist() == [{"X1": "1"}]
    assert of_x3["independent_of"].tolist() == [["X2"]]
    assert of_x3["share"].tolist() == [pytest.approx(0.5)]
    of_x2 = found[found["variable"] == "X2"]
    assert of_x2[["independent_of", "given", "context"]].to_numpy().tolist() == [
        [["X1"], [], {}]
    ]


@pytest.mark.slow
def test_the_catalog_is_not_read_again_for_each_statement(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = staged_on(db, binary("X1", "X2", "X3", "X4"), {("*", "*", "*"): "a"})
    read, row = [], type(staged)._row
    monkeypatch.setattr(type(staged), "_row", lambda self: read.append(1) or row(self))
    assert len(staged.independences) > 2
    assert len(read) == 1


@pytest.mark.slow
def test_statements_are_those_of_fewest_conditions_and_most_people_first(db: Database) -> None:
    stages = {
        path: "r" if path[0] == "0" else f"{path[1]}{path[2] if path[1] == '1' else ''}"
        for path in itertools.product("01", repeat=3)
    }
    staged = staged_on(db, binary("A", "B", "C", "Y"), stages)
    found = staged.independences
    of_y = found[found["variable"] == "Y"]
    assert of_y[["independent_of", "context", "n"]].to_numpy().tolist() == [
        [["B"], {"A": "0"}, 8],
        [["C"], {"B": "0"}, 8],
        [["C"], {"A": "0"}, 8],
    ]
    assert found["n"].is_monotonic_decreasing


# -----------------------------------------------------------------------------
# In
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(2)
@given(networks(), st.data())
def test_a_network_comes_back_from_its_staged_tree(
    database: Database, network: Network, data: Any
) -> None:
    order: list[str] = []
    while len(order) < len(network.parents):
        ready = [
            name
            for name, parents in network.parents.items()
            if name not in order and set(parents) <= set(order)
        ]
        order.append(data.draw(st.sampled_from(ready)))
    with emptied_at_end(database) as db:
        staged = db.staged_tree(network, order=order, alpha=3)
        assert db.check() == []
        graph = staged.to_bayesian_network()
        assert list(graph) == order
        found = network_of(graph)
        same(network, found)
        assert all(kind == "total" for _, _, kind in graph.edges(data="kind"))
        assert all(is_unique for _, is_unique in graph.nodes(data="is_unique"))
        again = db.staged_tree(graph, "again")
        assert again.stages["n_situations"].tolist() == staged.stages["n_situations"].tolist()
        ceg = staged.to_ceg()
        marginals = ceg.marginals().set_index(["variable", "label"])["probability"]
        for name, labels in network.levels.items():
            for label in labels:
                everyone = assignments(network.levels)
                expected = sum(joint(network, one) for one in everyone if one[name] == label)
                assert marginals[name, label] == pytest.approx(expected, abs=1e-12)
        reached = paths_of(ceg)
        assert len(reached) == math.prod(map(len, network.levels.values()))
        for labels, p in reached.items():
            answers = dict(zip(order, labels, strict=True))
            assert p == pytest.approx(joint(network, answers), abs=1e-12, rel=1e-9)


@pytest.mark.slow
@run(2)
@given(
    networks(most=3), st.integers(1, 30), st.sampled_from([0.5, 1.0, 7.0]), st.integers(0, 99)
)
def test_the_score_of_a_network_is_bdeu(
    database: Database, network: Network, n: int, alpha: float, seed: int
) -> None:
    levels = {name: list(labels) for name, labels in network.levels.items()}
    random = np.random.default_rng(seed)
    rows = [
        {name: str(random.choice(labels)) for name, labels in levels.items()} for _ in range(n)
    ]
    graph = nx.DiGraph()
    graph.add_nodes_from(levels)
    graph.add_edges_from((p, name) for name, of in network.parents.items() for p in of)
    with emptied_at_end(database) as db:
        survey = db.ingest(pd.DataFrame(rows), "rows", levels=levels)
        tree = survey.event_tree(order=network.order(), sampling_zeros="full")
        staged = tree.set_stages(graph, alpha=alpha, prior="mass")
        assert staged.log_marginal_likelihood == pytest.approx(
            bdeu(rows, levels, graph, alpha), abs=1e-8
        )


@pytest.mark.slow
def test_rows_added_to_a_network_update_its_tables(db: Database) -> None:
    text = (
        "network n { } variable x { type discrete [ 2 ] { a, b }; } "
        "variable y { type discrete [ 2 ] { c, d }; } probability ( x ) { table 0.25 0.75; } "
        "probability ( y | x ) { (a) 0.5 0.5; (b) 0.1 0.9; }"
    )
    staged = db.staged_tree(parse_bif(text), alpha=4)
    db.surveys["n"].append("select * from (values ('a', 'c'), ('a', 'c'), ('b', 'd')) t(x, y)")
    db.rebuild()
    found = read_network(staged)
    assert found.tables["x"][()] == pytest.approx([3 / 7, 4 / 7])
    assert found.tables["y"][("a",)] == pytest.approx([2.5 / 3, 0.5 / 3])
    assert found.tables["y"][("b",)] == pytest.approx([0.3 / 4, 3.7 / 4])


@pytest.mark.slow
def test_entries_of_0_are_edges_that_are_not_there(db: Database, sound: Any) -> None:
    levels = {"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"]}
    tables: dict[str, dict[tuple[str, ...], list[float]]] = {
        "x": {(): [0.5, 0.5]},
        "y": {("a",): [0.0, 1.0], ("b",): [0.5, 0.5]},
        "z": {("a", "d"): [0.5, 0.5], ("b", "c"): [0.1, 0.9], ("b", "d"): [0.0, 1.0]},
    }
    network = Network("zero", {"x": [], "y": ["x"], "z": ["x", "y"]}, levels, tables)
    staged = db.staged_tree(network)
    sound(db)
    assert len(staged.tree.edges) == 2 + 3 + 5
    same(network, read_network(staged))
    del tables["z"]["b", "c"]
    with pytest.raises(NetworkError, match="no probabilities of 'z' after"):
        db.staged_tree(network, "partly")


@pytest.mark.slow
def test_many_labels_keep_their_probabilities(db: Database) -> None:
    random = np.random.default_rng(5)
    names = [f"v{i}" for i in range(10)]
    levels = {name: ["no", "yes"] for name in names}
    parents = {name: names[max(0, i - 2) : i] for i, name in enumerate(names)}
    tables = {
        name: {
            row: random.dirichlet([0.2, 0.2]).tolist()
            for row in itertools.product(*(levels[p] for p in parents[name]))
        }
        for name in names
    }
    network = Network("chain", parents, levels, tables)
    staged = db.staged_tree(network)
    same(network, read_network(staged))
    assert staged.settings["prior"]["source"] == "network chain"
    assert "note:" not in staged.summary
    probabilities = staged.stage_edges.groupby("stage")["probability"].sum()
    assert probabilities.tolist() == pytest.approx([1.0] * len(probabilities), abs=1e-12)


class _Pgmpy:
    """What a pgmpy model looks like: methods for nodes, edges and tables."""

    def __init__(self, cpds: list[Any]) -> None:
        self.cpds = cpds
        self.name = None

    def nodes(self) -> list[str]:
        return ["y", "x"]

    def edges(self) -> list[tuple[str, str]]:
        return [("x", "y")]

    def get_cpds(self) -> list[Any]:
        return self.cpds


def test_tables_of_a_pgmpy_model_are_read() -> None:
    states = {"x": ["no", "yes"], "y": [0, 1, 2]}
    values = np.array([[0.1, 0.2], [0.3, 0.3], [0.6, 0.5]])
    x = SimpleNamespace(
        variables=["x"], values=np.array([0.4, 0.6]), state_names={"x": states["x"]}
    )
    y = SimpleNamespace(variables=["y", "x"], values=values, state_names=states)
    found = network_of(_Pgmpy([y, x]))
    assert found.levels == {"x": ["no", "yes"], "y": ["0", "1", "2"]}
    assert found.tables["y"] == {("no",): [0.1, 0.3, 0.6], ("yes",): [0.2, 0.3, 0.5]}
    assert network_of(_Pgmpy([])).parents == {"x": [], "y": ["x"]}
    y.state_names = {"x": ["yes", "no"], "y": [0, 1, 2]}
    with pytest.raises(NetworkError, match="differ in the labels of 'x'"):
        network_of(_Pgmpy([x, y]))
    y.variables = ["y"]
    with pytest.raises(NetworkError, match="the table of 'y' is given nothing"):
        network_of(_Pgmpy([y, x]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (5, "this is not a network: 5"),
        (nx.Graph([("x", "y")]), "edges of the network have no directions"),
        (nx.DiGraph(), "has no variables"),
        (nx.DiGraph([("x", "y"), ("y", "x")]), "has a cycle among 'x', 'y'"),
        (nx.DiGraph([(1, "1")]), "same name"),
        (
            nx.DiGraph([("x", ())]),
            r"a variable of the network must have a text as its name, not \(\)",
        ),
        (nx.DiGraph([("x", "y")]), "has no probabilities of 'x', 'y'"),
    ],
)
def test_what_is_no_network_is_refused(db: Database, source: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        db.staged_tree(source)
    assert len(db.surveys) == 0


def test_a_network_is_given_to_a_tree_of_its_variables_in_its_order(db: Database) -> None:
    tree = db.ingest(product_rows(binary("x", "y", "z")), "rows").event_tree(
        sampling_zeros="none"
    )
    with pytest.raises(NetworkError, match="only the tree has 'z'; only the network has 'w'"):
        tree.set_stages(nx.DiGraph([("x", "y"), ("w", "y")]), prior="mass")
    backwards = nx.DiGraph([("y", "x"), ("x", "z")])
    with pytest.raises(
        NetworkError, match=r"puts 'x' before its parent 'y'\nhint:.*'y', 'x', 'z"
    ):
        tree.set_stages(backwards, prior="mass")
    with pytest.raises(StagingError, match="a network and rules"):
        tree.set_stages(backwards, depends={}, prior="mass")
    staged = tree.set_stages(nx.DiGraph([("x", "y"), ("x", "z")]), prior="mass")
    assert edges_of(staged) == {("x", "y"): "total", ("x", "z"): "total"}
    assert staged.settings["depends"] == {"x": [], "y": ["x"], "z": ["x"]}


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["y", "x"], "puts 'y' before its parent 'x'"),
        (["x"], "each variable of the network once; check 'y'"),
        (["x", "y", "y"], "once; check 'y'"),
        ("xy", "order must be a list, not the text"),
    ],
)
def test_an_order_that_is_none_of_the_network_is_refused(
    db: Database, order: Any, message: str
) -> None:
    network = Network("n", {"x": [], "y": ["x"]}, binary("x", "y"), {})
    tables = {"x": {(): [0.5, 0.5]}, "y": {("0",): [0.5, 0.5], ("1",): [0.1, 0.9]}}
    network = Network("n", network.parents, network.levels, tables)
    with pytest.raises(NetworkError, match=message):
        db.staged_tree(network, order=order)


@pytest.mark.parametrize(
    ("labels", "row", "message"),
    [
        (["a", "b"], [0.5, 0.4], "sum to 0.9"),
        (["a", "b"], [1.5, -0.5], "must be from 0 to 1, not 1.5"),
        (["a", "b"], [float("nan"), 1], "must be from 0 to 1, not nan"),
        (["a", "b"], [1.0], "'x' has 2 labels but 1 probability"),
        (["a", "a"], [0.5, 0.5], "label 'a' more than once"),
        (["a", ""], [0.5, 0.5], "an empty label"),
        (["a", NA], [0.5, 0.5], "variables that do not apply"),
        ([], [], "has no labels"),
    ],
)
def test_a_table_that_is_none_is_refused(
    db: Database, labels: list[str], row: list[float], message: str
) -> None:
    network = Network("n", {"x": []}, {"x": labels}, {"x": {(): row}})
    with pytest.raises(NetworkError, match=message):
        db.staged_tree(network)


def test_a_row_that_adds_to_1_but_for_rounding_is_divided_by_its_sum() -> None:
    assert normalised_row([0.33333, 0.33333, 0.33333], "'x'") == [1 / 3] * 3
    assert normalised_row([0.25, 0.75], "'x'") == [0.25, 0.75]


# -----------------------------------------------------------------------------
# Out
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(2)
@given(
    st.lists(st.sampled_from([2, 2, 3]), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_parents_kinds_and_contexts_are_those_of_brute_force(
    database: Database, sizes: list[int], n_stages: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    levels = {f"X{i}": [str(j) for j in range(size)] for i, size in enumerate(sizes)}
    stage = {
        path: int(random.integers(n_stages)) for path in itertools.product(*levels.values())
    }
    with emptied_at_end(database) as db:
        staged = staged_on(db, {**levels, "Y": ["n", "y"]}, stage)
        parents = essential(list(levels), stage)
        places = [list(levels).index(name) for name in parents]
        short = {tuple(path[i] for i in places): found for path, found in stage.items()}
        assert edges_of(staged) == {
            (parent, "Y"): kind_of(parents, short, parent) for parent in parents
        }
        assert staged.parents["is_unique"].all()
        found = staged.independences
        of_y = found[(found["variable"] == "Y") & found["context"].map(bool)]
        assert {
            (row.independent_of[0], frozenset(row.context.items()))
            for row in of_y.itertuples(index=False)
        } == contexts_of(parents, levels, short)
        for row in of_y.itertuples(index=False):
            size = math.prod(len(of) for name, of in levels.items() if name not in row.context)
            assert row.n == 2 * size
            assert sorted([*row.given, *row.context, *row.independent_of]) == sorted(parents)


@pytest.mark.slow
@run(2)
@given(st.data())
def test_on_an_incomplete_domain_parents_tell_stages_apart_and_none_is_needless(
    database: Database, data: Any
) -> None:
    levels = {f"X{i}": ["0", "1", "2"][:size] for i, size in enumerate((2, 3, 2))}
    every = list(itertools.product(*levels.values()))
    histories = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    stage = {path: data.draw(st.integers(0, 1)) for path in histories}
    rows = [(*path, y) for path in histories for y in "ny"]
    with emptied_at_end(database) as db:
        frame = pd.DataFrame(rows, columns=[*levels, "Y"])
        staged = (
            db.ingest(frame, "rows")
            .event_tree(sampling_zeros="none")
            .set_stages(stage, prior="mass")
        )

        def tells(kept: Sequence[int]) -> bool:
            met: dict[tuple[str, ...], set[int]] = {}
            for path, found in stage.items():
                met.setdefault(tuple(path[i] for i in kept), set()).add(found)
            return all(len(stages) == 1 for stages in met.values())

        kept = [0, 1, 2]
        for i in range(3):
            if tells([j for j in kept if j != i]):
                kept.remove(i)
        sets = [s for size in range(4) for s in itertools.combinations(range(3), size)]
        least = [
            s for s in sets if tells(s) and not any(tells([j for j in s if j != i]) for i in s)
        ]
        found = staged.parents[staged.parents["variable"] == "Y"]
        assert found["parent"].dropna().tolist() == [f"X{i}" for i in kept]
        assert set(found["is_unique"]) == {len(least) == 1}


@pytest.mark.slow
@run(2)
@given(staged_trees(jumps=True) | staged_trees(cross_variables=True))
def test_the_network_gives_each_path_the_probability_that_the_tree_gives(
    database: Database,
    sample: StagedSample,
) -> None:
    rows = [
        {**{k: None if v is BLANK else v for k, v in row.items()}, "n": n}
        for row, n in sample.rows
    ]
    with emptied_at_end(database) as db:
        frame = pd.DataFrame(rows, columns=[*sample.order, "n"]).astype(
            dict.fromkeys(sample.order, "string")
        )
        tree = db.ingest(frame, "rows", count="n").event_tree(
            order=sample.order, blank="structural", sampling_zeros="none"
        )
        wanted = {
            tuple(label for _, label in path): name for path, name in sample.stage.items()
        }
        staged = tree.set_stages(wanted, hyperstages="labels", prior="mass")
        graph = staged.to_bayesian_network()
        network = network_of(graph)
        tables = {
            name: {
                (tuple(sorted(r["given"].items()))): r["probability"]
                for r in graph.nodes[name]["probability"]
            }
            for name in graph
        }
        edges = db.sql("select * from cegdb.staged_edges where staging = $1", [staged.name])
        at: dict[str, tuple[Assignment, float]] = {"s0": ({}, 1.0)}
        ends = {target for target in edges["target"] if target.startswith("l")}
        for edge in edges.sort_values("child_id").itertuples(index=False):
            answers, p = at[edge.source]
            at[edge.target] = ({**answers, edge.variable: edge.label}, p * edge.probability)
        total = 0.0
        for end in ends:
            answers, p = at[end]
            whole = {name: answers.get(name, NA) for name in sample.order}
            q = 1.0
            for name in sample.order:
                given_labels = tuple(sorted((x, whole[x]) for x in network.parents[name]))
                q *= tables[name][given_labels][whole[name]]
            assert q == pytest.approx(p, abs=1e-12)
            total += q
        assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_histories_of_no_row_are_no_stage_of_their_own(db: Database) -> None:
    rows = [
        (a, b, y) for a in "01" for b in "012" for y in "01" for _ in range(20)
        if (a, b) not in (("0", "2"), ("1", "0"))
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["A", "B", "Y"])
    tree = db.ingest(frame, "rows").event_tree(sampling_zeros="full")
    staged = tree.learn_stages(prior="mass", criterion="score")
    assert "unobserved" in set(staged.stages["kind"])
    assert ("A", "Y") not in edges_of(staged)
    assert ("B", "Y") not in edges_of(staged)
    table = read_network(staged).tables["Y"]
    assert table.keys() == {()}
    assert table[()] == pytest.approx([0.5, 0.5])


def test_a_variable_that_is_not_asked_everywhere_has_a_label_for_it(db: Database) -> None:
    query = (
        "select * from (values ('no', null, 'a'), ('no', null, 'b'), ('yes', 'x', 'a'), "
        "('yes', 'z', 'a')) as t(gate, how, y)"
    )
    staged = (
        db.ingest(query, "rows")
        .event_tree(blank="structural", sampling_zeros="none")
        .set_stages({}, prior="mass")
    )
    network = read_network(staged)
    assert network.levels["how"] == ["x", "z", NA]
    assert network.tables["how"][("no",)] == [0.0, 0.0, 1.0]
    assert network.parents == {"gate": [], "how": ["gate"], "y": ["how"]} or network.parents[
        "how"
    ] == ["gate"]
    assert "when gate = 'no'" not in " ".join(
        s for s in staged.independences["sentence"] if s.startswith("how")
    )


def test_labels_of_the_staging_are_those_of_the_network(db: Database) -> None:
    query = "select ['a', 'b', 'c'][i % 3 + 1] as x, i % 2 as y from range(60) t(i)"
    tree = db.ingest(query, "rows").event_tree(order=["y", "x"], sampling_zeros="none")
    staged = tree.set_stages({}, relabel={"c": "d"}, prior="mass")
    assert read_network(staged).levels["x"] == ["a", "b", "d"]


# -----------------------------------------------------------------------------
# BIF
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(15)
@given(st.lists(NASTY | st.text(max_size=5), min_size=5, max_size=9, unique=True))
def test_odd_words_survive_bif(words: list[str]) -> None:
    words = [w for w in words if not any("\ud800" <= c <= "\udfff" for c in w)]
    half = len(words) // 2
    names, labels = words[:2], words[half:]
    if len(names) < 2 or not labels:
        return
    parents = {names[0]: [], names[1]: [names[0]]}
    row = [1 / len(labels)] * len(labels)
    tables: dict[str, dict[tuple[str, ...], list[float]]] = {
        names[0]: {(): row},
        names[1]: {(label,): row for label in labels},
    }
    network = Network(words[-1], parents, dict.fromkeys(names, labels), tables)
    assert parse_bif(bif_text(network)) == network


@pytest.mark.slow
def test_a_file_with_odd_labels_goes_through_a_database(db: Database, tmp_path: Path) -> None:
    labels = ['a "b"', "c d", "{e}", "f,g", "//h", "/*", "i\\", "1", "type", "é\n😀"]
    row = [0.1] * 10
    network = Network(
        "odd network",
        {"my name": [], "x|y": ["my name"]},
        {"my name": labels, "x|y": labels},
        {"my name": {(): row}, "x|y": {(label,): row for label in labels}},
    )
    staged = db.staged_tree(network)
    file = staged.write_bif(tmp_path / "odd.bif")
    found = read_bif(file)
    assert found.name == "odd network"
    assert found.levels == network.levels
    tree = db.ingest(pd.DataFrame({"my name": labels, "x|y": labels}), "rows").event_tree(
        sampling_zeros="none"
    )
    assert edges_of(tree.set_stages(file, prior="mass")) != {}
    again = db.staged_tree(str(file), "again")
    same(network, read_network(again))


@pytest.mark.slow
def test_any_label_goes_through_a_database_and_a_file(db: Database, tmp_path: Path) -> None:
    labels = [label for label in NASTY.elements if label]
    names = ["x", "X", " x", 'x"', "select", "é", "a,b"]
    row = np.random.default_rng(2).dirichlet([1.0] * len(labels)).tolist()
    tables: dict[str, dict[tuple[str, ...], list[float]]] = {names[0]: {(): row}}
    parents: dict[str, list[str]] = {names[0]: []}
    levels = {names[0]: labels}
    for name in names[1:]:
        parents[name], levels[name] = [names[0]], ["one"]
        tables[name] = {(label,): [1.0] for label in labels}
    staged = db.staged_tree(Network("any", parents, levels, tables))
    found = read_bif(staged.write_bif(tmp_path / "any.bif"))
    assert found.levels == levels
    assert found.tables["x"][()] == pytest.approx(row, abs=1e-12)


def test_bif_as_others_write_it() -> None:
    text = """
// Bayesian network
network "Dog-Problem" { property "credal-set" one two; } /* two
lines */
variable  "light-on" { //2 values
\ttype discrete[2] {  "true"  "false" };
\tproperty "position = (218, 195)" ;
}
variable family-out { type discrete [ 2 ] { true, false }; }
probability ( "light-on" family-out ) { table 0.6 0.05 0.4 0.95 ; }
probability ( family-out ) { default 0.15 , 8.5e-1; }
"""
    found = parse_bif(text)
    assert found.name == "Dog-Problem"
    assert found.parents == {"light-on": ["family-out"], "family-out": []}
    assert found.tables == {
        "light-on": {("true",): [0.6, 0.4], ("false",): [0.05, 0.95]},
        "family-out": {(): [0.15, 0.85]},
    }
    assert parse_bif("variable x { type discrete [1] { a }; }", "one.bif").name == "one"


X = "variable x { type discrete [ 2 ] { a, b }; }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "BIF: no variable is declared"),
        ("\nnet {}", "line 2: 'net' where network, variable or probability"),
        ("network n {\n x }", "line 2: 'x' where property is expected"),
        ('network n { }\nvariable "x', "line 2: a quote is not closed"),
        ("/* x\n", "line 1: a comment is not closed"),
        ("variable x {\n}", "line 1: variable 'x' has no labels"),
        (X + X, "line 2: variable 'x' is declared twice"),
        (
            "variable x { type discrete [ 3 ]\n { a, b }; }",
            "line 1: .* has 2 labels, but declares 3",
        ),
        ("variable x { type discrete [ 2 ] { a, a }; }", "'a' more than once"),
        ("variable x { type continuous; }", "'continuous' where discrete|is not discrete"),
        ("variable x { type discrete ( 2 ) { a }; }", "line 1: '[(]' where '\\['"),
        (X + "probability ( y ) { table 1; }", "line 2: 'y' is not a declared variable"),
        (X + "probability ( x | y ) { table 1; }", "line 2: 'y' is not a declared variable"),
        (X + "probability ( x | x ) { table 1; }", "line 2: 'x' is its own parent"),
        (
            X + "probability ( x ) {\n table 0.5; }",
            "line 3: the table of 'x' has 1 number, not 2",
        ),
        (X + "probability ( x ) {\n table 0.5 z; }", "line 3: 'z' is not a number"),
        (X + "probability ( x ) {\n table 0.5 0.6; }", "line 3: .*'x' sum to 1.1"),
        (X + "probability ( x ) {\n () 1; }", "line 3: 1 number for the 2 labels of 'x'"),
        (X + "probability ( x ) {\n (a) 1 0; }", "line 3: a row of 'x' has 1 label for its 0"),
        (X + "probability ( x ) { () 1 0;\n () 1 0; }", "line 3: 'x' given .* has two rows"),
        (X + "probability ( x ) { }", "line 2: 'x' has no row for"),
        (X + "probability ( x ) { default 1; }", "the default of 'x' does not have 2"),
        (X + "probability ( x ) { some 1; }", "'some' where table, default, property or"),
        (X + "probability ( x ) { table 1 0; }\n" * 2, "line 3: 'x' has two probability"),
        (X + "probability ( x ) { table 1 0", "line 2: the text ends where"),
        (
            X + X.replace("x", "y") + "probability ( y | x ) {\n(c) 1 0; }",
            "line 4: 'c' is not a label of 'x'",
        ),
    ],
)
def test_a_bif_that_is_none_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        parse_bif(text)


@pytest.mark.slow
def test_a_file_that_cannot_be_read_or_written_is_refused(db: Database, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot read"):
        db.staged_tree(tmp_path / "none.bif")
    file = tmp_path / "latin.bif"
    file.write_bytes(b"network n { }\n variable \xe9 { }")
    with pytest.raises(NetworkError, match=r"latin.bif, line 2: not UTF-8 text"):
        read_bif(file)
    staged = staged_on(db, binary("x", "y"), {})
    with pytest.raises(cegdb.CegdbError, match=r"unknown file type '\.txt' \(x\.txt\)"):
        staged.write_bif(tmp_path / "x.txt")
    with pytest.raises(cegdb.CegdbError, match="there is no folder"):
        staged.write_bif(tmp_path / "none" / "x.bif")


# -----------------------------------------------------------------------------
# Command line
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_and_writes_a_network_that_stages_takes(tmp_path: Path) -> None:
    file, bif = str(tmp_path / "x.duckdb"), str(tmp_path / "x.bif")
    with cegdb.open(file) as db:
        stages = {("0", "*"): "a", ("1", "0"): "b0", ("1", "1"): "b1"}
        staged_on(db, binary("X1", "X2", "Y"), stages)

    def call(*args: str) -> Any:
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 0, result.output
        return result

    assert call("write-bif", file, "rows", "-o", bif).stderr == f"written: {bif}\n"
    printed = call("parents", file, "rows")
    assert "Y,X2,context,True,Y depends on X2 in some contexts only" in printed.stdout
    assert "X1,,,True,X1 depends on nothing before it" in printed.stdout
    assert "not unique" not in printed.stderr
    printed = call("independences", file, "rows", "--format", "json")
    assert json.loads(printed.stdout)[-1]["context"] == ["X1 = 0"]
    call("set-stages", file, "rows", "--stages-file", bif, "--name", "again")
    assert "total" in call("parents", file, "again").stdout


@pytest.mark.slow
def test_the_command_tells_that_parents_are_not_unique(tmp_path: Path) -> None:
    file = str(tmp_path / "x.duckdb")
    with cegdb.open(file) as db:
        rows = pd.DataFrame([(a, a, y) for a in "01" for y in "01"], columns=["X1", "X2", "Y"])
        db.ingest(rows, "rows").event_tree(sampling_zeros="none").set_stages({}, prior="mass")
    said = CliRunner().invoke(main, ["parents", file, "rows"]).stderr
    assert "note: the parents of 1 variable are not unique" in said
