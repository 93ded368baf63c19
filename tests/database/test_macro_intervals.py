"""Intervals that macros give, against a slow oracle, the rows themselves, and Python's."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK, NOT_APPLICABLE
from scipy.special import ndtri
from strategies import StagedSample, run, staged_trees

import cegdb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cegdb.api import ChainEventGraph, Database

LIMITS = ["low", "high", "n"]


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with cegdb.open() as database:
        yield database


def table(db: Database, name: str, frame: pd.DataFrame) -> None:
    with db._store.reading() as con:
        con.register("frame", frame)
        cells = ", ".join(f'"{x}"' for x in frame)
        con.execute(f"create or replace table {name} as select {cells} from frame")  # noqa: S608
        con.unregister("frame")


# =============================================================================
# Scalars
# =============================================================================


def test_normal_quantiles_are_right(db: Database) -> None:
    p = np.array([1e-6, 0.001, 0.02, 0.03, 0.4, 0.5, 0.7, 0.9751, 0.99999])
    table(db, "asked", pd.DataFrame({"p": p}))
    found = db.sql("select cegdb.normal_quantile(p) as q from asked")["q"]
    assert found.to_numpy() == pytest.approx(ndtri(p), abs=1e-8)


def test_names_of_the_caller_do_not_change_limits(db: Database) -> None:
    """DuckDB puts arguments into lambdas as they are written, whatever names these use."""
    for name in ("s", "r", "z", "w", "share", "size", "level", "event", "centre", "x"):
        call = f'cegdb.share_limits("{name}".a, 0.2, 0.8, 0.01, 0.04, 0.1, 0, 0.9)'
        ((found,),) = db.rows(f'select {call} from (select 0.2 as a) as "{name}"')[1]  # noqa: S608
        right = share_limits(Sums(0.2, 0.8, 0.01, 0.04, 0.1, 0), 0.9)
        assert (found["low"], found["high"]) == pytest.approx(right)


# =============================================================================
# The oracle
# =============================================================================


class Sums(NamedTuple):
    """What has the event, what has not, their spreads, the largest rate, and what is open."""

    event: float
    other: float
    event_spread: float
    other_spread: float
    rate: float
    open: float


def wilson(share: float, size: float, level: float) -> tuple[float, float]:
    """Return the interval of a share of so many rows; without any with it, an exact end."""
    if share < 1e-12:
        return 0, 1 - (1 - level) ** (1 / size)
    if share > 1 - 1e-12:
        return (1 - level) ** (1 / size), 1
    z = float(ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    variance = share * (1 - share) / size + z**2 / (4 * size**2)
    half = z * math.sqrt(variance) / (1 + z**2 / size)
    return centre - half, centre + half


def share_limits(sums: Sums, level: float) -> tuple[float, float]:
    """Return the interval of a ratio of probabilities that rows add up to."""
    base = sums.event + sums.other
    if base <= 0:
        return 0, 1
    share = sums.event / base
    size = base**2 / (sums.event_spread + sums.other_spread)
    if 1e-12 < share < 1 - 1e-12:
        spread = (1 - share) ** 2 * sums.event_spread + share**2 * sums.other_spread
        size = min(size, share * (1 - share) * base**2 / spread)
    else:
        size = min(size, base / sums.rate)
    low, high = wilson(share, size, level)
    least, most = (sums.event + part for part in (0, sums.open))
    low += least / (base + sums.open) - share
    high += most / (base + sums.open) - share
    return max(low, 0), min(high, 1)


class End(NamedTuple):
    """Where rows are known: what they are, their probability, and that over their number."""

    kind: str
    chance: float
    rate: float


class Tree:
    """The event tree of a staging, as its rows count."""

    def __init__(self, db: Database, tree: str, settings: dict[str, Any]) -> None:
        edges = db.sql(
            "select e.parent_id, e.child_id, e.label, e.variable, e.n, e.weight, w.weight_sq "  # noqa: S608
            "from cegdb.tree_edges as e inner join cegdb.event_tree as t on e.tree = t.name "
            "left join cegdb.vertex_weight as w on t.tree_id = w.tree_id "
            f"and e.child_id = w.vertex_id where e.tree = '{tree}'"
        )
        root = db.sql(
            "select v.n, v.weight, w.weight_sq from cegdb.vertex as v "  # noqa: S608
            "inner join cegdb.event_tree as t on v.tree_id = t.tree_id "
            "left join cegdb.vertex_weight as w on v.tree_id = w.tree_id "
            f"and v.vertex_id = w.vertex_id where v.vertex_id = 0 and t.name = '{tree}'"
        ).iloc[0]
        self.n = {0: int(root["n"])}
        self.children: dict[int, list[tuple[int, str, str, float]]] = {}
        self.effect: dict[str, float] = {}
        how, deff = settings.get("weighting"), settings.get("deff", 1.0)
        for parent, group in edges.groupby("parent_id"):
            weight, squares = group["weight"].astype(float), group["weight_sq"].astype(float)
            for i, edge in group.iterrows():
                size = float(edge["n"])
                if how == "situation":
                    total = squares.sum()
                    size = weight[i] * weight.sum() / total if total > 0 else 0.0
                elif how == "total":
                    size = weight[i] * float(root["n"]) / float(root["weight"])
                elif how == "global":
                    size = weight[i] * float(root["weight"]) / float(root["weight_sq"])
                child = int(edge["child_id"])
                self.n[child] = int(edge["n"])
                self.children.setdefault(int(parent), []).append(
                    (child, edge["variable"], edge["label"], size)
                )
        for variable in edges["variable"].unique():
            self.effect[variable] = deff.get(variable, 1.0) if isinstance(deff, dict) else deff

    def ends(
        self,
        settle: Callable[[int, dict[str, str], bool], str | None],
        vertex: int = 0,
        known: dict[str, str] | None = None,
        at: tuple[float, float, float] = (1.0, 0.0, 1.0),
    ) -> Iterator[End]:
        """Follow the rows until ``settle`` says what they are."""
        known, (chance, rate, effect) = known or {}, at
        children = self.children.get(vertex, [])
        kind = settle(vertex, known, not children)
        total = sum(size for *_, size in children)
        if kind is not None:
            yield End(kind, chance, rate)
        elif total == 0:
            yield End("open", chance, rate)
        else:
            for child, variable, label, size in children:
                worst = max(effect, self.effect[variable])
                now = (chance * size / total, chance * worst / total, worst)
                yield from self.ends(settle, child, known | {variable: label}, now)

    def part(self, way: list[int]) -> tuple[float, float, bool]:
        """Follow the rows to a vertex: their probability, that over their number, openness."""
        chance, rate, worst, is_open = 1.0, 0.0, 1.0, False
        for vertex, below in pairwise(way):
            children = self.children[vertex]
            total = sum(size for *_, size in children)
            ((variable, size),) = [(v, s) for c, v, _, s in children if c == below]
            worst = max(worst, self.effect[variable])
            if total > 0:
                chance, rate = chance * size / total, chance * worst / total
            elif chance > 0:
                is_open = True
        return chance, rate, is_open

    def vertices(self, vertex: int = 0, known: Any = None) -> Iterator[tuple[int, Any, bool]]:
        """Yield each vertex, what is known there, and whether it is a leaf."""
        known, children = known or {}, self.children.get(vertex, [])
        yield vertex, known, not children
        for child, variable, label, _ in children:
            yield from self.vertices(child, known | {variable: label})


def sums_of(ends: Iterable[End]) -> Sums:
    """Add up what is known of the rows."""
    found = list(ends)

    def total(kind: str, power: int = 0) -> float:
        return sum(e.chance * e.rate**power for e in found if e.kind == kind)

    rates = [e.rate for e in found if e.kind in {"event", "open"}]
    return Sums(
        total("event"), total("other"), total("event", 1), total("other", 1),
        max(rates or [e.rate for e in found]), total("open"),
    )  # fmt: skip


def is_met(demand: dict[str, str], known: dict[str, str], is_leaf: bool) -> bool | None:  # noqa: FBT001
    """Return whether answers meet a demand; None as long as nobody knows."""
    if any(v in known and known[v] != x for v, x in demand.items()):
        return False
    missing = [x for v, x in demand.items() if v not in known]
    if not missing:
        return True
    return all(x == NOT_APPLICABLE for x in missing) if is_leaf else None


def verdict(
    event: dict[str, str], evidence: dict[str, str]
) -> Callable[[int, dict[str, str], bool], str | None]:
    """Return what says whether rows have the event, given the evidence."""

    def settle(_vertex: int, known: dict[str, str], is_leaf: bool) -> str | None:  # noqa: FBT001
        given_it, has_it = is_met(evidence, known, is_leaf), is_met(event, known, is_leaf)
        if given_it is False:
            return "none"
        if given_it is None or has_it is None:
            return None
        return "event" if has_it else "other"

    return settle


def answer(
    tree: Tree, event: dict[str, str], evidence: dict[str, str], level: float = 0.95
) -> tuple[float, float]:
    """Return the limits of the probability of an event, given evidence."""
    ends = (e for e in tree.ends(verdict(event, evidence)) if e.kind != "none")
    return share_limits(sums_of(ends), level)


def respondents(tree: Tree, evidence: dict[str, str]) -> int:
    """Return how many rows meet the evidence."""
    meet = {v: is_met(evidence, known, leaf) for v, known, leaf in tree.vertices()}
    parent = {c: v for v, children in tree.children.items() for c, *_ in children}
    return sum(
        tree.n[v] for v, yes in meet.items() if yes and not (v in parent and meet[parent[v]])
    )


def without_other(
    tree: Tree, parts: Iterable[tuple[float, float, bool]]
) -> tuple[float, float]:
    """Return limits where only what has the event is told apart from all else.

    Each part has a probability, that over its rows, and whether nobody answered above it. All
    else has the largest rate of these, and at least that of the root.
    """
    found = list(parts)
    event = sum(chance for chance, _, is_open in found if not is_open)
    spread = sum(chance * rate for chance, rate, is_open in found if not is_open)
    opened = sum(chance for chance, _, is_open in found if is_open)
    total = sum(size for *_, size in tree.children[0])
    rates = [rate for _, rate, _ in found] + [1 / total if total else 0.0]
    rate, other = max(rates), max(1 - event - opened, 0)
    return share_limits(Sums(event, other, spread, other * rate, rate, opened), 0.95)


# =============================================================================
# Answers
# =============================================================================


@st.composite
def surveys(draw: Any) -> tuple[StagedSample, dict[str, Any]]:
    """Draw a staged sample, and how its rows count."""
    sample = draw(staged_trees(jumps=True))
    how = draw(st.sampled_from(["rows", "situation", "total", "global"]))
    deff = draw(st.sampled_from([None, 2.5, "first"]))
    settings: dict[str, Any] = {} if how == "rows" else {"weighting": how}
    if deff is not None:
        settings["deff"] = {sample.order[0]: 3.0} if deff == "first" else deff
    return sample, settings


def ceg_of(
    db: Database, sample: StagedSample, settings: dict[str, Any], seed: int, blank: Any
) -> ChainEventGraph:
    """Make the CEG of a sample; weights and the cells that are lost are drawn from a seed."""
    rng = np.random.default_rng(seed)
    rows = []
    for row, n in sample.rows:
        for _ in range(n):
            cells = [None if row[v] is BLANK else row[v] for v in sample.order]
            if blank == "missing" and rng.random() < 0.2:
                at = int(rng.integers(len(cells)))
                cells[at:] = [None] * (len(cells) - at)
            rows.append([*cells, round(float(rng.exponential()) + 0.1, 3)])
    frame = pd.DataFrame(rows, columns=[*sample.order, "weight"], dtype=object)
    frame["weight"] = frame["weight"].astype(float)
    is_weighted = "weighting" in settings
    survey = db.ingest(
        frame if is_weighted else frame.drop(columns="weight"),
        name="it",
        weight="weight" if is_weighted else None,
        replace=True,
    )
    tree = survey.event_tree(blank=blank, sampling_zeros="auto")
    return tree.learn_stages(**settings).to_ceg()


def check_limits(row: Any, right: tuple[float, float]) -> None:
    assert row.low == pytest.approx(min(right[0], row.probability), abs=1e-9)
    assert row.high == pytest.approx(max(right[1], row.probability), abs=1e-9)


@pytest.mark.slow
@run(4, shrinks=False)
@given(surveys(), st.integers(0, 99), st.sampled_from(["structural", "missing"]), st.data())
def test_macros_have_the_limits_of_a_slow_oracle(
    db: Database,
    drawn: tuple[StagedSample, dict[str, Any]],
    seed: int,
    blank: str,
    data: st.DataObject,
) -> None:
    sample, settings = drawn
    ceg = ceg_of(db, sample, settings, seed, blank)
    tree = Tree(db, ceg.staging.tree.name, settings)
    found = db.sql("from cegdb.marginals('it')")
    for row in found.itertuples():
        check_limits(row, answer(tree, {row.variable: row.label}, {}))
        assert row.n == tree.n[0]
    check_paths(db, tree, "paths('it')")
    check_paths(db, tree, "most_probable_paths('it', 3)")
    check_positions(db, tree)
    order = [v for v in sample.order if v in set(found["variable"])]
    labels = {v: found.loc[found["variable"] == v, "label"].tolist() for v in order}
    cells = [st.sampled_from([None, *labels[v]]) for v in order]
    rows = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=5))
    table(db, "people", pd.DataFrame(rows, columns=order, dtype=object).astype("string"))
    for row in db.sql("from cegdb.event_probability('it', 'people')").to_dict("records"):
        event = {v: row[v] for v in order if isinstance(row[v], str)}
        check_limits(pd.Series(row), answer(tree, event, {}) if event else (1, 1))
        assert row["n"] == tree.n[0]
    asked = data.draw(st.sets(st.sampled_from(order), min_size=1))
    given_ones = [{v: x for v, x in zip(order, row, strict=True) if v not in asked and x}
                  for row in rows]  # fmt: skip
    if any(ceg.probability(one, interval=None) < 1e-12 for one in given_ones):
        return
    call = f"conditional_probability('it', 'people', {sorted(asked)})"
    for row in db.sql(f"from cegdb.{call}").to_dict("records"):
        cell = {v: row[v] for v in order if isinstance(row[v], str)}
        event = {v: x for v, x in cell.items() if v in asked}
        known = {v: x for v, x in cell.items() if v not in asked}
        check_limits(pd.Series(row), answer(tree, event, known) if event else (1, 1))
        assert row["n"] == respondents(tree, known)


def check_paths(db: Database, tree: Tree, call: str) -> None:
    """Compare the limits of paths: also of those below where nobody answered."""
    for row in db.sql(f"from cegdb.{call}").itertuples():
        way = [0]
        for label in row.labels:
            (child,) = [c for c, _, x, _ in tree.children[way[-1]] if x == label]
            way.append(child)
        check_limits(row, without_other(tree, [tree.part(way)]))
        assert row.n == tree.n[0]


def check_positions(db: Database, tree: Tree) -> None:
    """Compare the limits of positions, each of which is passed once at most."""
    member = db.sql(
        "select m.vertex_id, m.position_id from cegdb.position_member as m "
        "inner join cegdb.ceg as c on m.ceg_id = c.ceg_id where c.name = 'it'"
    )
    parent = {c: v for v, children in tree.children.items() for c, *_ in children}
    for row in db.sql("from cegdb.position_probability('it')").itertuples():
        assert row.n == tree.n[0]
        if row.position in {"w0", "w_inf"}:
            assert (row.low, row.high) == pytest.approx((1, 1))
            continue
        parts = []
        for vertex in member.loc[member["position_id"] == row.position_id, "vertex_id"]:
            way = [int(vertex)]
            while way[0] != 0:
                way.insert(0, parent[way[0]])
            parts.append(tree.part(way))
        check_limits(row, without_other(tree, parts))


def agrees(row: dict[str, Any], known: dict[str, str]) -> bool:
    return all(
        (NOT_APPLICABLE if row[v] is BLANK else str(row[v])) == x for v, x in known.items()
    )


@pytest.mark.slow
@run(4, shrinks=False)
@given(staged_trees(jumps=True), st.data())
def test_limits_are_those_of_the_rows_that_agree(
    db: Database, sample: StagedSample, data: st.DataObject
) -> None:
    """Count the rows, and take the interval of their share, also given stored evidence."""
    frame = pd.DataFrame(
        [[*(None if row[v] is BLANK else row[v] for v in sample.order), n]
         for row, n in sample.rows],
        columns=[*sample.order, "n"], dtype=object,
    )  # fmt: skip
    tree = db.ingest(frame, "it", count="n", replace=True).event_tree(
        blank="structural", sampling_zeros="none"
    )
    ceg = tree.learn_stages().to_ceg()
    row = data.draw(st.sampled_from([row for row, _ in sample.rows]))
    cells = {v: NOT_APPLICABLE if row[v] is BLANK else str(row[v]) for v in sample.order}
    asked = data.draw(st.sets(st.sampled_from(sample.order), min_size=1))
    known = {v: x for v, x in cells.items() if v not in asked}
    stored = data.draw(st.sets(st.sampled_from(sample.order)))
    given_it = {v: cells[v] for v in sorted(stored)}
    name = "it"
    if given_it:
        name = ceg.given(given_it).save("known", replace=True).name
    rows = [(one, m) for one, m in sample.rows if agrees(one, given_it)]
    table(db, "people", pd.DataFrame([cells]).astype("string"))
    call = f"conditional_probability('{name}', 'people', {sorted(asked)})"
    ((p, low, high, n),) = db.rows(f"select probability, low, high, n from cegdb.{call}")[1]  # noqa: S608
    agree = [(one, m) for one, m in rows if agrees(one, known)]
    k = sum(m for one, m in agree if agrees(one, cells))
    assert n == sum(m for _, m in agree)
    right = (p, p) if asked <= stored else wilson(k / n, n, 0.95)
    assert (low, high) == pytest.approx((min(right[0], p), max(right[1], p)), abs=1e-6)
    for one in db.sql(f"from cegdb.marginals('{name}')").itertuples():
        k = sum(m for other, m in rows if agrees(other, {one.variable: one.label}))
        total = sum(m for _, m in rows)
        right = wilson(k / total, total, 0.95)
        if one.variable not in stored:
            assert one.low == pytest.approx(min(right[0], one.probability), abs=1e-6)
            assert one.high == pytest.approx(max(right[1], one.probability), abs=1e-6)
        assert one.n == total


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["none", "situation", "total", "global"])
@pytest.mark.parametrize("deff", [None, 2.5])
def test_edges_of_situations_have_the_limits_of_what_their_rows_count(
    db: Database, weighting: str, deff: float | None
) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.integers(0, 3, 300), "y": rng.random(300) < 0.3})
    frame["weight"] = np.round(rng.exponential(size=300) + 0.1, 3)
    settings: dict[str, Any] = {"weighting": weighting} | ({"deff": deff} if deff else {})
    survey = db.ingest(frame, name="it", weight="weight", replace=True)
    staged = survey.event_tree().set_stages({}, **settings)
    tree = Tree(db, staged.tree.name, settings)
    rows = db.sql("from cegdb.staged_edges where staging = 'it'")
    assert len(rows) == 9
    for row in rows.itertuples():
        sizes = {child: size for child, _, _, size in tree.children[row.parent_id]}
        total = sum(sizes.values())
        right = wilson(sizes[row.child_id] / total, total / (deff or 1), 0.95)
        check_limits(row, right)


def test_nobody_is_no_certainty(db: Database) -> None:
    """15 of 15 have y = b after x = 1: of y = a at most 18 % are possible."""
    rows = "select i % 2 as x, if(i % 2 = 0, i // 2 % 2, 1) as y from range(30) as t(i)"
    tree = db.ingest(rows, name="it", replace=True).event_tree(sampling_zeros="none")
    tree.set_stages({}, prior="mass").to_ceg()
    table(db, "people", pd.DataFrame({"x": ["1", "1"], "y": ["0", "1"]}))
    call = "cegdb.conditional_probability('it', 'people', ['y'])"
    told = f"select y, probability, low, high, n from {call} order by y"  # noqa: S608
    unseen = 1 - 0.05 ** (1 / 15)
    assert db.rows(told)[1] == [
        ("0", 0, 0, pytest.approx(unseen), 15),
        ("1", 1, pytest.approx(1 - unseen), 1, 15),
    ]


def test_a_level_may_be_chosen_and_left_out(db: Database) -> None:
    ceg = db.demo("chds", replace=True)
    db.sql("create or replace table people as select 'High' as Social, 'Yes' as Admission")
    for call in (
        "paths('chds'{})",
        "marginals('chds'{})",
        "position_probability('chds'{})",
        "most_probable_paths('chds', 4{})",
        "event_probability('chds', 'people'{})",
        "conditional_probability('chds', 'people', ['Admission']{})",
    ):
        said = "select probability, low, high, n from cegdb." + call + " order by all"  # noqa: S608
        narrow, wide, none = (
            db.sql(said.format(f", level := {level}")) for level in (0.5, 0.95, "null")
        )
        assert len(narrow) == len(wide) == len(none) > 0
        assert none[LIMITS].isna().all(axis=None)
        assert none["probability"].to_numpy() == pytest.approx(wide["probability"].to_numpy())
        assert (wide["low"] <= narrow["low"]).all()
        assert (wide["high"] >= narrow["high"]).all()
        assert math.isclose(db.sql(said.format(""))["low"].sum(), wide["low"].sum())
    half = db.sql("from cegdb.marginals('chds', level := 0.5)")
    python = ceg.marginals(interval=0.5).merge(half, on=["variable", "label"])
    assert python["low_x"].to_numpy() == pytest.approx(python["low_y"].to_numpy(), abs=0.001)
    assert python["high_x"].to_numpy() == pytest.approx(python["high_y"].to_numpy(), abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("level", [95, 1, 0, -0.5])
def test_a_level_that_is_none_is_refused(db: Database, level: float) -> None:
    db.demo("chds", replace=True)
    db.sql("create or replace table people as select 'High' as Social, 'Yes' as Admission")
    for call in (
        f"paths('chds', level := {level})",
        f"marginals('chds', level := {level})",
        f"position_probability('chds', level := {level})",
        f"conditional_probability('chds', 'people', ['Admission'], level := {level})",
    ):
        with pytest.raises(cegdb.CegdbError, match="level must lie between 0 and 1, not"):
            db.sql(f"from cegdb.{call}")


def test_views_have_the_limits_of_their_macros(db: Database) -> None:
    db.demo("chds", replace=True)
    for view, more in (
        ("position_probability", ""),
        ("marginals", ""),
        ("most_probable_paths", ", 10"),
    ):
        told = f"select low, high, n from cegdb.{view}"  # noqa: S608
        viewed = db.sql(f"{told} where ceg = 'chds' order by all")
        alone = db.sql(f"{told}('chds'{more}) order by all")
        assert len(viewed) > 0
        assert viewed.to_numpy() == pytest.approx(alone.to_numpy())
