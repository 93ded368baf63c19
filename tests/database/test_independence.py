"""Cuts, independence for all probabilities, and independence in the rows."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from io import StringIO
from itertools import combinations, product
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from scipy.stats import chi2_contingency
from strategies import MORE, StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.demo import DEMOS
from cegdb.errors import CegdbError, QueryError
from cegdb.evidence import likelihood, takes, visits
from cegdb.independence.modular_arithmetic import PRIME, multiply, subtract, sum_runs
from cegdb.independence.separation import independence
from cegdb.inference.compiled_model import CompiledModel
from cegdb.inference.propagation import Graph
from cegdb.report.explanation import explain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path as FilePath

    from click.testing import Result

    from cegdb.api import ChainEventGraph, Database, Survey

ABSENT = "not applicable"


class Path(NamedTuple):
    """A root-to-sink path: its edges, answers, positions and stages."""

    edges: tuple[tuple[str, str], ...]
    answers: dict[str, str]
    positions: tuple[str, ...]
    stages: tuple[str, ...]
    probability: float


def paths_of(ceg: ChainEventGraph) -> list[Path]:
    out = defaultdict(list)
    for edge in ceg.edges.itertuples():
        out[edge.source].append((edge.label, edge.target, edge.variable, edge.probability))
    stage = dict(zip(ceg.positions["position"], ceg.positions["stage"], strict=True))

    def walk(position: str) -> list[Path]:
        if position == "w_inf":
            return [Path((), {}, (), (), 1.0)]
        return [
            Path(
                ((position, label), *rest.edges),
                {variable: label, **rest.answers},
                (position, *rest.positions),
                (stage[position], *rest.stages),
                p * rest.probability,
            )
            for label, target, variable, p in out[position]
            for rest in walk(target)
        ]

    return walk("w0")


def table(sample: StagedSample) -> pd.DataFrame:
    rows = [
        [*(None if row[v] is BLANK else row[v] for v in sample.order), n]
        for row, n in sample.rows
    ]
    return pd.DataFrame(rows, columns=[*sample.order, "people"], dtype=object)


def ceg_of(db: Database, sample: StagedSample, hyperstages: Any) -> ChainEventGraph:
    tree = db.ingest(table(sample), "it", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )
    grouping = {tuple(label for _, label in path): name for path, name in sample.stage.items()}
    return tree.set_stages(grouping, hyperstages=hyperstages, prior="mass").to_ceg()


def full_table(sizes: Sequence[int], n: int = 5) -> pd.DataFrame:
    cells = product(*(range(size) for size in sizes))
    rows = [(*map(str, cell), n + i) for i, cell in enumerate(cells)]
    return pd.DataFrame(rows, columns=[*(f"X{i + 1}" for i in range(len(sizes))), "people"])


# =============================================================================
# For all probabilities
# =============================================================================


@pytest.mark.slow
def test_three_binary_variables_of_the_theory(db: Database) -> None:
    """``docs/theory.md``, W9.1."""
    tree = db.ingest(full_table([2, 2, 2]), "w", count="people").event_tree(
        sampling_zeros="none"
    )
    stages = {(x,): "b" for x in "01"} | {("0", y): f"c{y}" for y in "01"}
    ceg = tree.set_stages(stages | {("1", y): "d" for y in "01"}, prior="mass").to_ceg()

    def holds(x: str, y: str, **of: Any) -> bool:
        return ceg.independence(x, y, **of).holds

    found = ceg.independence("X3", "X2", given="X1")
    assert not found.holds
    assert found.false_positive_bound == 0
    assert [(s.stratum, s.holds) for s in found.strata] == [("X1 = 0", False), ("X1 = 1", True)]
    assert not holds("X3", "X2", context={"X1": "0"})
    assert holds("X3", "X2", context={"X1": "1"})
    assert holds("X1", "X2")
    assert not holds("X1", "X2", given=["X3"])
    assert ceg.independence("X1", "X2").false_positive_bound == (6 / PRIME) ** 2
    assert ceg.independence("X1", "X2").fitted == 0
    assert not ceg.independence("X1", "X2").is_trivial
    assert found.fitted == pytest.approx(found.frame["contribution"].sum())


@pytest.mark.slow
@run(2)
@given(st.data())
def test_a_bayesian_network_says_what_d_separation_says(
    database: Database, data: st.DataObject
) -> None:
    names = ["X1", "X2", "X3", "X4"]
    sizes = data.draw(st.lists(st.sampled_from([2, 2, 3]), min_size=4, max_size=4))
    arcs = [(a, b) for a, b in combinations(range(4), 2) if data.draw(st.booleans())]
    dag = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[a], names[b]) for a, b in arcs)
    stages = {}
    for k in range(4):
        parents = [a for a, b in arcs if b == k]
        for path in product(*(map(str, range(size)) for size in sizes[:k])):
            stages[path] = f"X{k} {[path[a] for a in parents]}"
    frame = full_table(sizes)
    tree = database.ingest(frame, "bn", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )
    ceg = tree.set_stages(stages, prior="mass").to_ceg()
    for x, y in combinations(names, 2):
        others = [name for name in names if name not in (x, y)]
        for k in range(3):
            for z in combinations(others, k):
                expected = nx.is_d_separator(dag, x, y, set(z))
                found = ceg.independence(x, y, given=list(z))
                assert found.holds == expected, (arcs, x, y, z)
                assert not found.holds or found.fitted == 0
    expected = nx.is_d_separator(dag, {"X3", "X4"}, {"X1"}, {"X2"})
    assert ceg.independence(["X3", "X4"], "X1", given="X2").holds == expected


def value_of(path: Path, part: Any) -> Any:
    """Return what a path says of a variable or event."""
    if isinstance(part, str):
        return path.answers.get(part, ABSENT)
    if part.kind == "visit":
        return part.position in path.positions
    return (part.position, part.label) in path.edges


def joint(paths: Sequence[Path], mass: Sequence[float], *parts: Any) -> dict[Any, float]:
    found: dict[Any, float] = defaultdict(float)
    for path, p in zip(paths, mass, strict=True):
        found[tuple(value_of(path, part) for part in parts)] += p
    return found


@pytest.mark.slow
@run(3)
@given(staged_trees(jumps=True), st.data())
def test_the_oracle_agrees_with_all_paths_at_random_probabilities(
    database: Database, sample: StagedSample, data: st.DataObject
) -> None:
    ceg = ceg_of(database, sample, "variable")
    paths = paths_of(ceg)
    variables: list[Any] = sample.order
    events = [visits(w) for w in ceg.positions["position"].tolist()[:-1]]
    events += [takes(e.source, e.label) for e in ceg.edges.itertuples()]
    parts = st.sampled_from([*variables * 4, *events])
    for _ in range(3):
        x, y, z = data.draw(st.lists(parts, min_size=3, max_size=3, unique_by=str))
        is_given = data.draw(st.booleans())
        kept, context = paths, None
        if data.draw(st.booleans()):
            variable = data.draw(st.sampled_from(variables))
            label = data.draw(st.sampled_from(sorted({value_of(p, variable) for p in paths})))
            kept = [path for path in paths if value_of(path, variable) == label]
            context = {variable: label}
        asked = ceg.independence(x, y, given=[z] if is_given else [], context=context)
        zs = [z] if is_given else []
        of_path = dict(zip(map(str, paths), at_random(paths), strict=True))
        at = [of_path[str(path)] for path in kept]
        assert asked.holds == independent(kept, at, x, y, zs)
        mass = np.array([path.probability for path in kept])
        mass = mass / mass.sum()
        pxyz = joint(kept, mass, x, y, *zs)
        pxz, pyz, pz = (joint(kept, mass, *of, *zs) for of in ([x], [y], []))
        expected = sum(
            p * log(p * pz[k[2:]] / (pxz[k[0], *k[2:]] * pyz[k[1], *k[2:]]))
            for k, p in pxyz.items()
        )
        assert asked.fitted == pytest.approx(expected, abs=1e-12)
        assert sum(s.probability for s in asked.strata) == pytest.approx(1, abs=1e-12)
        if len(asked.strata) == 1:
            assert asked.strata[0].probability == 1
        differences = defaultdict(float)
        for (x_value, *of_z), (a, b) in product(pxz, combinations(sorted(pyz, key=str), 2)):
            if list(a[1:]) == list(b[1:]) == of_z:
                shares = [pxyz.get((x_value, *g), 0.0) / pyz[g] for g in (a, b)]
                key = tuple(of_z)
                differences[key] = max(differences[key], abs(shares[0] - shares[1]))
        found = [s.difference for s in asked.strata]
        assert max(found) == pytest.approx(max(differences.values(), default=0), abs=1e-9)


def at_random(paths: Sequence[Path]) -> list[float]:
    """Return what the paths' probabilities are at random ones of the stages."""
    generator = np.random.default_rng(7)
    labels = defaultdict(set)
    for path in paths:
        for stage, (_, label) in zip(path.stages, path.edges, strict=True):
            labels[stage].add(label)
    theta = {
        (stage, label): p
        for stage, of in sorted(labels.items())
        for label, p in zip(sorted(of), generator.dirichlet(np.ones(len(of))), strict=True)
    }
    return [
        float(
            np.prod(
                [theta[s, label] for s, (_, label) in zip(path.stages, path.edges, strict=True)]
            )
        )
        for path in paths
    ]


def independent(
    paths: Sequence[Path], mass: Sequence[float], x: Any, y: Any, z: Sequence[Any]
) -> bool:
    """Return whether independence holds, to rounding."""
    pxyz = joint(paths, mass, x, y, *z)
    pxz, pyz, pz = (joint(paths, mass, *of, *z) for of in ([x], [y], []))
    return all(
        abs(pxyz.get((a[0], b[0], *c), 0.0) / pz[c] - pxz[a] * pyz[b] / pz[c] ** 2) < 1e-12
        for c in pz
        for a in pxz
        for b in pyz
        if a[1:] == b[1:] == c
    )


def test_arithmetic_modulo_the_prime_is_that_of_whole_numbers() -> None:
    generator = np.random.default_rng(1)
    ends = [0, 1, 2, PRIME - 1, PRIME - 2, 1 << 31, (1 << 31) - 1, 1 << 60]
    some = [*generator.integers(0, PRIME, 40).tolist(), *ends]
    a, b = (np.array(of, np.uint64) for of in zip(*product(some, some), strict=True))
    expected = [x * y % PRIME for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert multiply(a, b).tolist() == expected
    expected = [(x - y) % PRIME for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert subtract(a, b).tolist() == expected
    starts = [0, 1, 700]
    runs = zip(starts, [*starts[1:], len(a)], strict=True)
    expected = [sum(a[i:j].tolist()) % PRIME for i, j in runs]
    assert sum_runs(a, np.array(starts)).tolist() == expected


def simple_ceg(generator: np.random.Generator) -> CompiledModel:
    """Return a random CEG whose positions are all of different stages."""
    n = int(generator.integers(3, 8))
    edges = []
    for node in range(n):
        ends = generator.integers(node + 1, min(node + 3, n) + 1, int(generator.integers(2, 4)))
        edges += [(node, int(end)) for end in ends]
    for node in range(1, n):
        if not any(end == node for _, end in edges):
            edges.append((int(generator.integers(0, node)), node))
    height = [0] * (n + 1)
    for node in reversed(range(n)):
        height[node] = 1 + max(height[end] for start, end in edges if start == node)
    order = sorted(range(n + 1), key=lambda node: (-height[node], node))
    number = {node: i for i, node in enumerate(order)}
    edges = sorted((number[a], number[b]) for a, b in edges)
    source, target = (np.array(of, np.int64) for of in zip(*edges, strict=True))
    place = [sum(a == other for other, _ in edges[:i]) for i, (a, _) in enumerate(edges)]
    probability = 1 / np.bincount(source)[source]
    node = np.arange(n + 1)
    return CompiledModel(
        "simple",
        Graph(np.array([height[i] for i in order]), source, target),
        node,
        np.where(node < n, node, -1),
        (*(f"w{i}" for i in range(n)), "w_inf"),
        np.where(node < n, -2, -1),
        np.full(len(edges), -1),
        tuple(f"e{i}" for i in place),
        probability,
        (),
        np.array(place),
    )


@pytest.mark.slow
def test_in_a_simple_ceg_a_cut_vertex_makes_positions_independent() -> None:
    """X(w1) _||_ X(w2) iff a position after w1, up to w2, is on every path.

    ``docs/theory.md``, section 9.4.
    """
    generator = np.random.default_rng(5)
    seen = defaultdict(int)
    for _ in range(40 * MORE):
        ceg = simple_ceg(generator)
        graph = ceg.graph
        dag = nx.DiGraph(list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))
        sink = graph.n_nodes - 1
        paths = list(nx.all_simple_paths(dag, 0, sink))
        on_all = set.intersection(*map(set, paths))
        label = [
            [
                takes(w, text)
                for text, s in zip(ceg.edge_labels, graph.source, strict=True)
                if s == w
            ]
            for w in range(sink)
        ]
        for first, second in combinations(range(sink), 2):
            if not nx.has_path(dag, first, second):
                continue
            between = nx.descendants(dag, first) & (nx.ancestors(dag, second) | {second})
            expected = bool(on_all & between)
            found = independence(ceg, label[first], label[second])
            assert found.holds == expected, (graph, first, second)
            seen[expected] += 1
    assert min(seen[True], seen[False]) > 30


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "Sozial", "y": "Events"}, "no variable 'Sozial'(.|\n)*'Social'"),
        ({"x": "Social", "y": "Social"}, "'Social' is named twice"),
        ({"x": "Social", "y": "Events", "given": ["Events"]}, "'Events' is named twice"),
        ({"x": [], "y": "Events"}, "X or Y is empty"),
        ({"x": "Social", "y": 5}, "5 is not a variable or an event"),
        ({"x": "Social", "y": "Events", "context": {"Social": "Hi"}}, "no label 'Hi'"),
        ({"x": "Social", "y": "Events", "context": "Hi"}, "context must be a mapping"),
        (
            {"x": "Social", "y": "Events", "context": {"Admission": ABSENT}},
            "the context is impossible in CEG 'chds': Admission = not applicable",
        ),
        (
            {
                "x": "Social",
                "y": "Events",
                "context": likelihood("Admission", {"Yes": 1, "No": 0.5}),
            },
            "is soft",
        ),
        (
            {"x": {"Social": "High", "Events": "Low"}, "y": "Admission"},
            "not a variable or an event",
        ),
    ],
)
def test_what_cannot_be_asked_is_told(
    chds: ChainEventGraph, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(CegdbError, match=message):
        chds.independence(**asked)


@pytest.mark.slow
def test_what_holds_for_want_of_answers_is_called_trivial(db: Database) -> None:
    rows = [("old", "ill", "no"), ("old", "well", "no"), ("young", "well", "no")] * 6
    rows += [(age, ill, "yes") for age, ill, _ in rows]
    survey = db.ingest(pd.DataFrame(rows, columns=["age", "ill", "died"]), "gate")
    ceg = survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
    found = ceg.independence("died", "age", context={"ill": "ill"})
    assert (found.holds, found.is_trivial, found.false_positive_bound) == (True, True, 0)
    assert str(found) == (
        "died is independent of age, where ill = ill: yes, because one of them has only one "
        "possible answer"
    )
    assert not ceg.independence("died", "age", given="ill").is_trivial


def test_an_answer_can_be_asked_of_as_an_event(chds: ChainEventGraph) -> None:
    of_two = chds.independence({"Events": ["Low", "High"]}, "Social")
    of_one = chds.independence({"Events": "Average"}, "Social")
    assert of_two.fitted == pytest.approx(of_one.fitted, rel=1e-9)
    assert of_two.holds == of_one.holds
    assert "Events in (Low, High) is independent of Social" in str(of_two)


# =============================================================================
# Cuts
# =============================================================================


@pytest.fixture(scope="module")
def chds(database: Database) -> ChainEventGraph:
    survey = database.ingest(DEMOS["chds"].select(), name="chds", count="people")
    order = ["Social", "Economic", "Events", "Admission"]
    return (
        survey.event_tree(order=order, sampling_zeros="none")
        .learn_stages(alpha=3, prior="mass", criterion="score")
        .to_ceg()
    )


@pytest.mark.slow
@run(3)
@given(staged_trees(jumps=True), st.sampled_from(["labels", "variable"]), st.data())
def test_cuts_are_what_all_paths_say(
    database: Database,
    sample: StagedSample,
    hyperstages: str,
    data: st.DataObject,
) -> None:
    ceg = ceg_of(database, sample, hyperstages)
    paths = paths_of(ceg)
    positions = ceg.positions["position"].tolist()[:-1]
    stages = sorted(set(ceg.positions["stage"].dropna()))

    def once(chosen: Sequence[str], of: str) -> bool:
        return all(sum(one in chosen for one in getattr(path, of)) == 1 for path in paths)

    for _ in range(3):
        some = data.draw(st.lists(st.sampled_from(positions), min_size=1, unique=True))
        assert ceg.is_fine_cut(some) == once(some, "positions")
        some = data.draw(st.lists(st.sampled_from(stages), min_size=1, unique=True))
        assert ceg.is_cut(some) == once(some, "stages")

    def histories(of: Sequence[str]) -> set[Any]:
        found = set()
        for path in paths:
            (at,) = [i for i, one in enumerate(path.positions) if one in of]
            found.add((path.positions[at], path.edges[:at]))
        return found

    found = ceg.cuts()
    kinds = found.set_index(["kind", "of"])["positions"]
    stage = dict(zip(ceg.positions["position"], ceg.positions["stage"], strict=True))
    told = []
    for row in found.itertuples():
        assert once(row.positions, "positions")
        assert row.stages == sorted({stage[w] for w in row.positions}, key=lambda u: int(u[1:]))
        whole = {w for w in positions if stage[w] in row.stages}
        assert row.is_cut == (whole == set(row.positions))
        ways = len(histories(row.positions))
        assert ways > len(row.positions) or (row.is_cut and ways > len(row.stages))
        told.append(tuple(row.positions))
    assert len(set(told)) == len(told)
    for w in positions[1:]:
        says = once([w], "positions") and len(histories([w])) > 1
        assert (("position", w) in kinds.index) == says
    height = dict(zip(ceg.positions["position"], ceg.positions["height"], strict=True))
    levels = [{w for w in positions if height[w] == h} for h in set(height.values())]
    variable = dict(zip(ceg.positions["position"], ceg.positions["variable"], strict=True))
    if hyperstages == "variable":
        levels += [{w for w in positions if variable[w] == v} for v in sample.order]
    for level in levels:
        if level and level != {"w0"} and once(sorted(level), "positions"):
            ways = len(histories(sorted(level)))
            of_stages = {stage[w] for w in level}
            is_whole = level == {w for w in positions if stage[w] in of_stages}
            says = ways > len(level) or (is_whole and len(of_stages) < len(level))
            assert (level in map(set, told)) == says


def test_a_verdict_shows_the_names_of_the_ceg(chds: ChainEventGraph, db: Database) -> None:
    found = chds.independence(
        {"admission": "YES"}, "events ", given=[visits("W3")], context={"social": "high"}
    )
    assert found.statement == (
        "Admission = Yes is independent of Events given visits w3, where Social = High"
    )
    rows = (
        "select i % 2 as Sex, i % 3 as Age, ['Low', 'High'][1 + i % 5 % 2] as Risk "
        "from range(60) t(i)"
    )
    survey = db.ingest(rows, name="spelled")
    tested = survey.test_independence("sex", "age", given={"risk": ["low", " HIGH"]})
    assert tested.statement == "Sex and Age, where Risk = Low or High"


def test_given_the_position_of_a_fine_cut_the_future_is_independent(
    chds: ChainEventGraph,
) -> None:
    of = chds.cuts().set_index("of")
    assert of.loc["Events", "positions"] == ["w3", "w4", "w5"]
    assert of.loc["Events", "statement"] == (
        "once it is known which of w3, w4, w5 is reached, the model makes no use of earlier "
        "answers; for the answer to Events, it is enough to know which of the stages u3, u4 is "
        "reached"
    )
    passed = [visits(w) for w in of.loc["Events", "positions"]]
    before, after = ["Social", "Economic"], ["Events", "Admission"]
    assert chds.independence(after, before, given=passed).holds
    assert not chds.independence(after, before).holds
    assert not chds.independence(after, before, given=passed[:1]).holds


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda ceg: ceg.is_fine_cut([]), "the list of positions or stages is empty"),
        (lambda ceg: ceg.is_fine_cut("w1"), "positions must be a list, not the text 'w1'"),
        (lambda ceg: ceg.is_fine_cut(["w1", "w1"]), "named twice"),
        (lambda ceg: ceg.is_fine_cut(["w99"]), "no position 'w99'"),
        (lambda ceg: ceg.is_cut(["u99"]), "no stage 'u99'"),
        (lambda ceg: ceg.is_cut([-1]), "no stage -1"),
        (
            lambda ceg: ceg.is_cut(["w1"]),
            "no stage 'w1'; that is a position\nhint: is_fine_cut",
        ),
    ],
)
def test_cuts_of_what_is_not_there_are_refused(
    chds: ChainEventGraph, ask: Callable[[ChainEventGraph], bool], message: str
) -> None:
    with pytest.raises(QueryError, match=message):
        ask(chds)


@pytest.mark.slow
def test_a_ceg_of_more_paths_than_a_double_holds_is_asked_too() -> None:
    n = 1500
    source = np.repeat(np.arange(n), 2)
    node = np.arange(n + 1)
    ceg = CompiledModel(
        "long",
        Graph(n - node, source, source + 1),
        node,
        np.where(node < n, node, -1),
        (*(f"w{i}" for i in range(n)), "w_inf"),
        np.where(node < n, -2, -1),
        np.full(2 * n, -1),
        ("a", "b") * n,
        np.full(2 * n, 0.5),
        (),
        np.tile([0, 1], n),
    )
    from cegdb.independence.cuts import useful_cuts

    found = useful_cuts(ceg, {})
    assert [cut.kind for cut in found] == ["position"] * (n - 1)
    assert independence(ceg, takes(3, "a"), takes(1400, "b"), given=takes(7, "a")).holds


# =============================================================================
# In the rows
# =============================================================================


COUNTS = {("no", "f"): 30, ("no", "m"): 45, ("yes", "f"): 20, ("yes", "m"): 5}


def small(db: Database, name: str = "small", **more: int) -> Survey:
    rows = [("a", *cell, n) for cell, n in COUNTS.items()]
    rows += [("b", ill, sex, n + i) for i, ((ill, sex), n) in enumerate(COUNTS.items())]
    rows += [("a", "?", "f", more.get("missing", 3)), ("a", "skip", "m", 2)]
    frame = pd.DataFrame(rows, columns=["region", "ill", "sex", "people"])
    return db.ingest(frame, name, count="people", missing=["?"], structural=["skip"])


def dirichlet(prior: Sequence[float], counts: Sequence[float]) -> float:
    mass, n = sum(prior), sum(counts)
    gained = sum(lgamma(a + c) - lgamma(a) for a, c in zip(prior, counts, strict=True))
    return lgamma(mass) - lgamma(mass + n) + gained


def test_bayes_factor_and_g_test_are_those_worked_by_hand(db: Database) -> None:
    found = small(db).test_independence("ill", "sex", given={"region": "a"}, alpha=4)
    assert (found.n, found.n_left_out, found.n_effective, found.n_strata) == (100, 5, 100, 1)
    dependent = dirichlet([1, 1], [30, 20]) + dirichlet([1, 1], [45, 5])
    expected = dirichlet([2, 2], [75, 25]) - dependent
    assert found.log_bayes_factor == pytest.approx(expected, rel=1e-12)
    assert found.posterior_dependence == pytest.approx(1 / (1 + exp(expected)), rel=1e-12)
    test = chi2_contingency([[30, 45], [20, 5]], correction=False, lambda_="log-likelihood")
    assert (found.g, found.df) == (pytest.approx(test.statistic), test.dof)
    assert found.p_value == pytest.approx(test.pvalue, rel=1e-9)
    assert found.larger == ("m", 50, 0.9)
    assert found.smaller == ("f", 50, 0.6)
    assert found.answer == "no"
    assert found.difference == pytest.approx(0.3)
    # Newcombe (1998), method 10, from Wilson intervals (0.7864, 0.9565) and (0.4618, 0.7239)
    assert found.low == pytest.approx(0.3 - (0.1136**2 + 0.1239**2) ** 0.5, abs=2e-4)
    assert found.high == pytest.approx(0.3 + (0.0565**2 + 0.1382**2) ** 0.5, abs=2e-4)
    head = "ill and sex, where region = a: 100 respondents; 5 without an answer left out"
    assert head in str(found)


def test_strata_add_up(db: Database) -> None:
    survey = small(db)
    found = survey.test_independence("ill", "sex", given=["region"], alpha=4)
    parts = [survey.test_independence("ill", "sex", given={"region": r}, alpha=4) for r in "ab"]
    assert found.n == sum(part.n for part in parts) == 206
    assert found.g == pytest.approx(sum(part.g for part in parts))
    assert found.df == 2
    expected = sum(part.log_bayes_factor for part in parts)
    assert found.log_bayes_factor == pytest.approx(expected, rel=1e-12)
    assert found.stratum == "region = a"
    assert found.difference == max(part.difference for part in parts)
    both = survey.test_independence("ill", "sex", given={"region": ["a", "b"]})
    assert both.g == pytest.approx(survey.test_independence("ill", "sex").g)
    within = survey.test_independence("ill", "sex", given=[{"region": "b"}])
    assert within.g == pytest.approx(parts[1].g)
    assert within.alpha == 2


@pytest.mark.slow
def test_the_bayes_factor_is_that_of_joining_two_stages(db: Database) -> None:
    survey = small(db)
    tree = survey.event_tree(
        order=["sex", "ill"], missing_policy="complete", sampling_zeros="none"
    )
    rows = "select sex, ill, people from (values {}) as t(ill, sex, people)"
    values = ", ".join(f"('{ill}', '{sex}', {n})" for (ill, sex), n in COUNTS.items())
    tree = db.ingest(rows.format(values), "cells", count="people").event_tree(
        sampling_zeros="none"
    )
    joined = tree.set_stages({("f",): "s", ("m",): "s"}, alpha=3, prior="mass")
    apart = tree.set_stages({}, "apart", alpha=3, prior="mass")
    found = db.surveys["cells"].test_independence("ill", "sex", alpha=3)
    expected = joined.log_marginal_likelihood - apart.log_marginal_likelihood
    assert found.log_bayes_factor == pytest.approx(expected, abs=1e-9)
    swapped = apart.to_ceg().test_independence("sex", "ill", alpha=3)
    assert swapped.log_bayes_factor == pytest.approx(expected, abs=1e-9)


def test_with_weights_respondents_count_what_they_are_worth(db: Database) -> None:
    weights = {("no", "f"): [1, 3], ("yes", "f"): [2], ("no", "m"): [1, 1], ("yes", "m"): [4]}
    rows = [(*cell, w) for cell, of in weights.items() for w in of for _ in range(10)]
    rows.append(("yes", "m", 0))
    frame = pd.DataFrame(rows, columns=["ill", "sex", "w"])
    found = db.ingest(frame, "weighted", weight="w").test_independence("ill", "sex")
    worth = {"f": 60 / 140, "m": 60 / 180}  # W / Q of each group
    size = np.array(
        [[10 * sum(weights[ill, sex]) * worth[sex] for sex in "fm"] for ill in ("no", "yes")]
    )
    assert found.n == 61
    assert found.n_effective == pytest.approx(size.sum())
    test = chi2_contingency(size, correction=False, lambda_="log-likelihood")
    assert found.g == pytest.approx(test.statistic)
    assert f"effective n = {size.sum():,.1f}" in str(found)


def test_numbers_are_those_of_scipy_on_larger_tables(db: Database) -> None:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.integers(0, [4, 3, 2], (500, 3)), columns=list("xyz"))
    frame["x"] = np.where(frame["y"] == 0, 0, frame["x"])
    survey = db.ingest(frame, "larger")
    for rows, where in ((frame, {}), (frame[frame["z"] == 1], {"z": 1})):
        found = survey.test_independence("x", "y", given=where)
        cells = pd.crosstab(rows["x"], rows["y"]).to_numpy()
        test = chi2_contingency(cells, correction=False, lambda_="log-likelihood")
        assert (found.g, found.df) == (pytest.approx(test.statistic), test.dof)
        share = cells / cells.sum(axis=0)
        assert found.difference == pytest.approx(np.ptp(share, axis=1).max())
        assert found.low < found.difference < found.high


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "il", "y": "sex"}, "there is no variable 'il'"),
        ({"x": "ill", "y": "ill"}, "'ill' is named twice"),
        ({"x": "ill", "y": "sex", "given": ["sex"]}, "'sex' is named twice"),
        ({"x": "ill", "y": "sex", "given": {"region": "c"}}, "'region' has no label 'c'"),
        ({"x": "ill", "y": "sex", "given": [5]}, "given contains 5"),
        (
            {"x": "ill", "y": "sex", "given": [{"region": r} for r in "ab"]},
            "two conditions on .region.",
        ),
        ({"x": "ill", "y": "sex", "given": 5}, "given must be a list, not 5"),
        ({"x": "ill", "y": "sex", "alpha": 0}, "alpha must be a number above 0, not 0"),
        ({"x": "ill", "y": "sex", "given": {"ill": "no"}}, "'ill' is named twice"),
        ({"x": "region", "y": "sex", "given": {"ill": "?!"}}, "'ill' has no label"),
    ],
)
def test_what_rows_cannot_tell_is_refused(
    db: Database, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(CegdbError, match=message):
        small(db).test_independence(**asked)


def test_a_context_that_leaves_one_answer_is_refused(db: Database) -> None:
    survey = small(db)
    with pytest.raises(QueryError, match="where ill = not applicable: no stratum has two"):
        survey.test_independence("region", "sex", given={"ill": ABSENT})


# =============================================================================
# In sentences
# =============================================================================


@pytest.mark.slow
def test_an_explanation_has_the_numbers_of_the_tables(chds: ChainEventGraph) -> None:
    said = chds.explain()
    assert str(said) == repr(chds.explain())
    assert [title for title, _ in said.sections] == list(dict.fromkeys(said.frame["section"]))
    text = str(said)
    for position, kind in (("w8", "most"), ("w7", "least")):
        row = chds.positions.set_index("position").loc[position]
        edge = chds.edges.set_index(["source", "label"]).loc[(position, "No")]
        assert f"{kind} probable at {position} (n = {row['n']}; most often after " in text
        assert f"): {with_limits(edge)}" in text
    shown = chds.distribution("Admission", by="Events").set_index(["Events", "Admission"])
    low = with_limits(shown.loc[("Low", "No")])
    assert f"Events: the probability of Admission = No is {low} for Low (n = 329)" in text
    for row in chds.marginals("Admission").to_dict("records"):
        assert f"{row['label']} {with_limits(row)}" in text


def with_limits(row: Any) -> str:
    return f"{row['probability']:.3f} ({row['low']:.3f} to {row['high']:.3f})"


@pytest.mark.slow
def test_an_explanation_of_weights_that_have_changed_has_no_new_intervals(
    db: Database,
) -> None:
    rows = "select i % 2 as x, i % 8 < 3 as y, 1.5 as w from range(80) t(i)"
    ceg = (
        db.ingest(rows, "changing", weight="w")
        .event_tree()
        .learn_stages(weighting="total")
        .to_ceg()
    )
    db.surveys["changing"].append(rows)
    said = str(ceg.explain())
    assert "probabilities: False 0.622, True 0.378" in said
    edge = ceg.edges.set_index(["source", "label"]).loc[("w2", "False")]
    assert f"): {with_limits(edge)};" in said


@pytest.mark.slow
def test_an_explanation_says_where_an_answer_does_not_occur(db: Database) -> None:
    rows = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v"), ("b", "v"), ("c", "v")] * 20
    survey = db.ingest(pd.DataFrame(rows, columns=["x", "y"]), "absent")
    full = survey.event_tree(sampling_zeros="none").full().to_ceg()
    sentence = dict(full.explain().sections)["Answers to y"][1]
    assert re.fullmatch(
        r"y = \w is most probable at w\d .*: 0\.\d+ \(.*\); "
        r"least probable at w\d .*: 0\.[1-9]\d+ \(.*\); "
        r"it does not occur at w\d \(n = 20\)",
        sentence,
    )
    survey = db.ingest(pd.DataFrame(rows[:2] + rows[-1:], columns=["x", "y"]), "only")
    only = survey.event_tree(sampling_zeros="none").full().to_ceg()
    assert " occurs only at w" in dict(only.explain().sections)["Answers to y"][1]


@pytest.mark.slow
def test_an_explanation_is_bounded_and_tells_independence(db: Database) -> None:
    tree = db.ingest(full_table([2] * 8), "wide", count="people").event_tree(
        sampling_zeros="none"
    )
    depends: dict[str, list[str]] = {f"X{i}": [] for i in range(2, 8)}
    ceg = tree.set_stages(depends=depends | {"X8": ["X1"]}, prior="mass").to_ceg()
    said = ceg.explain()
    assert all(len(sentences) <= 8 for _, sentences in said.sections)
    text = str(said)
    n = int(ceg.positions["n"][0])
    assert f"X8 does not depend on X2 if nothing else is known (n = {n:,} asked X8)" in text
    sections = dict(said.sections)
    assert sections["What each answer depends on"][0].startswith("X8 depends on X1 ")
    assert all(
        " is independent of " in x for x in sections["Independent according to the stages"][:1]
    )
    by_oracle = explain(ceg._compiled().ceg, ceg._counts()._replace(statements=()))
    text_of_oracle = str(by_oracle)
    known = "once X1, X3, X4, X5 and 2 more are known"
    assert f"X8 does not depend on X2 {known} (n = {n:,} asked X8)" in text_of_oracle
    assert "(6 more not shown)" in text_of_oracle
    assert f"in the model, the answer to X2 does not depend on earlier ones (n = {n:,})" in text


@pytest.mark.slow
def test_counts_of_answers_before_the_evidence_say_so(db: Database) -> None:
    # 40 of 80 people have x = 0, but only 20 of them y = 0, which the evidence demands.
    rows = """
        select i % 2 as x, i // 2 % 2 as y, i % 2 = 0 or i % 10 < 3 as z from range(80) t(i)
    """
    ceg = (
        db.ingest(rows, name="later")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    assert "(n = 40)" in str(ceg.explain())
    saved = ceg.given(y=0).save()
    said = str(saved.explain())
    assert "x: the probability of z = " in said
    assert "for 0 (n = 40, before later evidence)" in said


@pytest.mark.slow
def test_a_ceg_given_evidence_is_explained_as_far_as_it_asks(db: Database) -> None:
    rows = [("a", "c", None), ("a", "d", None), ("b", "c", "u"), ("b", "d", "v")] * 5
    survey = db.ingest(pd.DataFrame(rows, columns=["x", "y", "z"]), "half", replace=True)
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    said = dict(ceg.given(x="a").save("half given", replace=True).explain().sections)
    assert said["People"][1] == (
        "10 respondents do not reach the end, because an answer is missing or ruled out by the "
        "evidence"
    )
    (sentence,) = said["Answers to y"]
    assert sentence == (
        "10 respondents were asked y, at 1 position; probabilities: c 0.500 (0.224 to 0.776), "
        "d 0.500 (0.224 to 0.776)"
    )


@pytest.mark.slow
def test_a_last_question_that_applies_to_nobody_is_explained(db: Database) -> None:
    rows = [(x, y, z) for x in "ab" for y in "cd" for z in ("u", None)] * 5
    survey = db.ingest(pd.DataFrame(rows, columns=["x", "y", "z"]), "absent", replace=True)
    ceg = (
        survey.event_tree(sampling_zeros="full", blank="structural")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    saved = ceg.given(z="not applicable").save("absent given", replace=True)
    assert saved.probability(z="not applicable") == 1
    assert "Answers to" in str(saved.explain())


@pytest.mark.slow
def test_a_ceg_of_one_variable_is_explained(db: Database) -> None:
    survey = db.ingest(pd.DataFrame({"x": ["a", "b"]}), "one", replace=True)
    said = str(
        survey.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
        .explain()
    )
    assert (
        "2 respondents were asked x, at 1 position; probabilities: a 0.500 (0.061 to 0.939), "
        "b 0.500 (0.061 to 0.939)"
    ) in said


@pytest.mark.slow
def test_a_ceg_of_mixed_positions_is_explained_without_answers(db: Database) -> None:
    rows = [("a", "p", None), ("a", "q", None), ("b", None, "p"), ("b", None, "q")] * 9
    survey = db.ingest(pd.DataFrame(rows, columns=["x", "y", "z"]), "mixed")
    tree = survey.event_tree(blank="structural", sampling_zeros="none")
    ceg = tree.set_stages(
        {("a",): "s", ("b",): "s"}, hyperstages="labels", prior="mass"
    ).to_ceg()
    said = str(ceg.explain())
    assert "everybody passes w1" in said
    assert "some positions have several variables" in said
    with pytest.raises(QueryError, match=r"position w1 .* situations with different variables"):
        ceg.independence("x", "y")
    assert ceg.independence(takes("w0", "a"), takes("w1", "p")).holds


# =============================================================================
# From the command line
# =============================================================================


def call(*args: str, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, args)
    assert result.exit_code == fails, result.output
    return result


@pytest.mark.slow
def test_the_commands_print_what_the_library_says(tmp_path: FilePath) -> None:
    path = str(tmp_path / "demo.duckdb")
    with cegdb.open(path) as db:
        survey = db.ingest(DEMOS["chds"].select(), name="chds", count="people")
        ceg = (
            survey.event_tree(sampling_zeros="none")
            .learn_stages(prior="mass", criterion="score")
            .to_ceg()
        )
        explained, found = ceg.explain(), ceg.cuts()
        answer = ceg.independence("Admission", "Social", given=["Events", "Economic"])
        of_some = ceg.independence(["Admission"], "Social", context={"Events": ["Low", "High"]})
        test = survey.test_independence("Admission", "Social", given={"Events": "High"})
    assert call("explain", path, "chds").stdout == f"{explained}\n"
    rows = pd.read_csv(StringIO(call("explain", path, "chds", "--format", "csv").stdout))
    assert rows.to_dict() == explained.frame.to_dict()
    shown = json.loads(call("cuts", path, "chds", "--format", "json").stdout)
    assert shown == found.to_dict("records")
    asked = ("independence", path, "chds", "Admission", "Social")
    result = call(*asked, "--by", "Events,Economic", "--format", "json")
    assert json.loads(result.stdout) == answer.frame.to_dict("records")
    assert result.stderr == f"{answer}\n"
    assert (
        call(*asked, "--where", "Events=Low", "--where", "Events=High").stderr == f"{of_some}\n"
    )
    asked = ("test-independence", path, "chds", "Admission", "Social", "--where", "Events=High")
    assert call(*asked).stdout == f"{test}\n"
    (row,) = json.loads(call(*asked, "--format", "json").stdout)
    assert row["log_bayes_factor"] == test.log_bayes_factor
    assert row["larger_label"] == test.larger.label
    assert row["df"] == 1
    assert "'Events' is not VARIABLE=LABEL" in call(*asked[:-1], "Events", fails=3).stderr
