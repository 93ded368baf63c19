"""Macros and views that query a CEG, against sums over the paths of its tree."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pandas as pd
import pytest
from database_template import file_with
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.demo import DEMOS
from cegdb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

NA = "not applicable"
IS_DUCKDB_1 = duckdb.__version__.startswith("1.")


def asked(db: Database, *rows: tuple[object, ...], columns: str) -> None:
    """Make the table ``patients`` of these rows."""
    frame = pd.DataFrame(rows, columns=columns.split(), dtype=object)
    with_types = ", ".join(f"cast({name} as varchar) as {name}" for name in frame)
    with db._store.reading() as con:
        con.register("frame", frame)
        con.execute(f"create or replace table patients as select {with_types} from frame")  # noqa: S608
        con.unregister("frame")


def values(db: Database, query: str) -> list[Any]:
    """Return the rows of a query, each of one column as its value."""
    _, rows = db.rows(query)
    return [row[0] if len(row) == 1 else row for row in rows]


def rounded(rows: list[Any]) -> list[str]:
    """Return rows as sorted text, numbers without the digits that the order of sums decides."""
    cells = ([round(x, 13) if isinstance(x, float) else x for x in row] for row in rows)
    return sorted(map(repr, cells))


# =============================================================================
# Numbers by hand
# =============================================================================


def make_death(db: Database) -> None:
    """Make the CEG of W8.1: t .4, u .6; die 1/4 after t, 1/2 after u; p .8, q .2.

    These are posterior means. Alpha 4 gives X1 the prior 2, 2, the two X2 florets 1, 1 each,
    the pooled X3 floret 1, 1; the counts make 40, 60 of 100; 10 of 40, 30 of 60; 48 of 60.
    """
    counts = {
        ("t", "die", None): 9,
        ("t", "live", "p"): 24,
        ("t", "live", "q"): 5,
        ("u", "die", None): 29,
        ("u", "live", "p"): 23,
        ("u", "live", "q"): 6,
    }
    frame = pd.DataFrame(list(counts), columns=["X1", "X2", "X3"]).assign(n=counts.values())
    tree = db.ingest(frame, name="death", count="n").event_tree(sampling_zeros="none")
    stages = {("t", "live"): "one", ("u", "live"): "one"}
    tree.set_stages(stages, alpha=4, prior="mass").to_ceg()


@pytest.mark.slow
@pytest.mark.holds(made_by=make_death)
def test_the_death_truncated_ceg_gives_the_numbers_worked_by_hand(db: Database) -> None:
    assert values(
        db,
        "select position, variable, round(probability, 12) "
        "from cegdb.position_probability('death') order by position",
    ) == [
        ("w0", "X1", 1.0),
        ("w1", "X2", 0.4),
        ("w2", "X2", 0.6),
        ("w3", "X3", 0.6),
        ("w_inf", None, 1.0),
    ]
    shares = {
        (variable, label): probability
        for variable, label, probability, *_ in values(db, "from cegdb.marginals('death')")
    }
    assert shares == {
        ("X1", "t"): pytest.approx(0.4),
        ("X1", "u"): pytest.approx(0.6),
        ("X2", "die"): pytest.approx(0.4),
        ("X2", "live"): pytest.approx(0.6),
        ("X3", "p"): pytest.approx(12 / 25),
        ("X3", "q"): pytest.approx(3 / 25),
        ("X3", NA): pytest.approx(2 / 5),
    }
    assert shares["X3", "p"] + shares["X3", NA] == pytest.approx(22 / 25)
    asked(db, ("t", "p"), ("t", NA), (None, "q"), columns="X1 X3")
    assert values(
        db,
        "select event, probability, evidence_probability "
        "from cegdb.conditional_probability('death', 'patients', ['X1']) order by all",
    ) == [
        ("", 1.0, pytest.approx(3 / 25)),
        ("X1 = t", pytest.approx(1 / 4), pytest.approx(2 / 5)),
        ("X1 = t", pytest.approx(1 / 2), pytest.approx(12 / 25)),
    ]
    # Given that X3 is not q, t has (6/25 + 1/10) / (22/25) = 17/44.
    joint = values(db, "select probability from cegdb.event_probability('death', 'patients')")
    assert (sum(joint) - 3 / 25) / (22 / 25) == pytest.approx(17 / 44)
    assert values(
        db,
        "select rank, path, variables, round(probability, 12) "
        "from cegdb.most_probable_paths('death', 3) order by rank",
    ) == [
        (1, "u -> die", ["X1", "X2"], 0.3),
        (2, "t -> live -> p", ["X1", "X2", "X3"], 0.24),
        (3, "u -> live -> p", ["X1", "X2", "X3"], 0.24),
    ]


def test_exactly_one_of_two_edges_is_a_sum_of_events(db: Database) -> None:
    """W8.2: 4/7, 3/7, then 1/3, 2/3; the prior adds 1 to each of 21."""
    counts = {("a", "a"): 3, ("a", "b"): 8, ("b", "a"): 3, ("b", "b"): 5}
    frame = pd.DataFrame(list(counts), columns=["X0", "X1"]).assign(n=counts.values())
    tree = db.ingest(frame, name="chain", count="n").event_tree(sampling_zeros="none")
    tree.set_stages({("a",): "one", ("b",): "one"}, alpha=2, prior="mass").to_ceg()
    asked(db, ("a", "a"), ("b", "b"), ("b", None), (None, "a"), columns="X0 X1")
    found = values(db, "select probability from cegdb.event_probability('chain', 'patients')")
    assert sorted(found) == pytest.approx([4 / 21, 6 / 21, 1 / 3, 3 / 7])
    only_one = "select sum(probability) from cegdb.event_probability('chain', 'patients') "
    assert values(db, only_one + "where X0 = X1") == [pytest.approx(10 / 21)]


# =============================================================================
# Against sums over the leaves of the tree
# =============================================================================


class Leaf(NamedTuple):
    """A root-to-leaf path of a staged tree."""

    answers: dict[str, str]
    level_ids: tuple[int, ...]
    probability: float

    def fits(self, event: dict[str, str]) -> bool:
        return all(self.answers.get(x, NA) == label for x, label in event.items())


def leaves(db: Database, ceg: ChainEventGraph) -> list[Leaf]:
    """Follow the edges of the staged tree, which has never been merged to a graph."""
    query = """
        select s.parent_id, s.child_id, s.variable, s.label, e.level_id, s.probability
        from cegdb.staged_edges as s
        inner join cegdb.edge as e using (child_id)
        where s.staging = $staging
    """
    params = {"staging": ceg.staging.name}
    children: dict[int, list[Any]] = {}
    for parent, *edge in db.rows(query, params)[1]:
        children.setdefault(parent, []).append(edge)
    found = []

    def follow(vertex: int, leaf: Leaf) -> None:
        if vertex not in children:
            found.append(leaf)
        for child, variable, label, level, probability in children.get(vertex, []):
            answers = {**leaf.answers, variable: label}
            below = Leaf(answers, (*leaf.level_ids, level), leaf.probability * probability)
            follow(child, below)

    follow(0, Leaf({}, (), 1.0))
    return found


def mass(found: list[Leaf], event: dict[str, str]) -> float:
    return math.fsum(leaf.probability for leaf in found if leaf.fits(event))


def grow(db: Database, sample: StagedSample, *, across: bool = False) -> ChainEventGraph:
    """Make the CEG of a sample in place of the one before."""
    frame = pd.DataFrame(
        [
            [*(None if row[v] is BLANK else row[v] for v in sample.order), n]
            for row, n in sample.rows
        ],
        columns=[*sample.order, "n"],
        dtype=object,
    )
    tree = db.ingest(frame, "it", count="n", replace=True).event_tree(
        blank="structural", sampling_zeros="none"
    )
    stages = {tuple(x for _, x in path): name for path, name in sample.stage.items()}
    how: Any = "labels" if across else "variable"
    return tree.set_stages(stages, hyperstages=how, prior="mass").to_ceg()


def mixed(db: Database) -> dict[str, list[str]]:
    """Return the variables asked at positions that ask several, with the first of these."""
    rows = db.rows("""
        select list(distinct q.name order by q.name)
        from cegdb.position_member as m inner join cegdb.vertex as v using (vertex_id)
        inner join cegdb.variable as q using (variable_id)
        group by m.position_id having count(distinct q.name) > 1 order by m.position_id
    """)[1]
    found: dict[str, list[str]] = {}
    for (names,) in rows:
        for name in names:
            found.setdefault(name, names)
    return found


@st.composite
def events(draw: Any, order: list[str], labels: dict[str, list[str]]) -> list[Any]:
    """Draw rows of a table: one label, nothing, or not applicable a variable."""
    cells = [st.sampled_from([None, *labels[v], NA]) for v in order]
    return draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))  # type: ignore[no-any-return]


@pytest.mark.slow
@run(2)
@given(staged_trees(jumps=True), st.data())
def test_events_and_conditionals_are_sums_over_paths(
    database: Database, sample: StagedSample, data: st.DataObject
) -> None:
    found = leaves(database, grow(database, sample))
    order = sample.order
    labels = {
        v: sorted({leaf.answers[v] for leaf in found if v in leaf.answers}) for v in order
    }
    rows = data.draw(events(order, labels))
    numbered = [(*row, str(i)) for i, row in enumerate(rows)]
    asked(database, *numbered, columns=" ".join([*order, "person_id"]))
    told = values(
        database,
        "select person_id, event, probability from cegdb.event_probability('it', 'patients') "
        "order by cast(person_id as integer)",
    )
    given_ones = [
        {v: x for v, x in zip(order, row, strict=True) if x is not None} for row in rows
    ]
    assert told == [
        (
            str(i),
            ", ".join(f"{v} = {x}" for v, x in event.items()),
            pytest.approx(mass(found, event), abs=1e-14),
        )
        for i, event in enumerate(given_ones)
    ]

    question = data.draw(st.lists(st.sampled_from(order), unique=True))
    evidence = [{v: x for v, x in e.items() if v not in question} for e in given_ones]
    call = f"cegdb.conditional_probability('it', 'patients', {question})"
    impossible = [e for e in evidence if mass(found, e) == 0]
    if impossible:
        with pytest.raises(QueryError, match=r"the evidence .* has probability 0"):
            values(database, f"from {call}")
        return
    told = values(
        database,
        f"select probability, evidence_probability from {call} "  # noqa: S608
        "order by cast(person_id as integer)",
    )
    assert told == [
        (pytest.approx(mass(found, e) / mass(found, g)), pytest.approx(mass(found, g)))
        for e, g in zip(given_ones, evidence, strict=True)
    ]


@pytest.mark.slow
@run(2)
@given(staged_trees(jumps=True))
def test_marginals_and_positions_are_sums_over_paths(
    database: Database, sample: StagedSample
) -> None:
    ceg = grow(database, sample)
    found = leaves(database, ceg)
    expected = {
        (v, x): pytest.approx(mass(found, {v: x}), rel=1e-12)
        for v in sample.order
        for x in {leaf.answers.get(v, NA) for leaf in found}
    }
    rows = values(database, "select variable, label, probability from cegdb.marginals('it')")
    assert {(v, x): p for v, x, p in rows} == expected
    assert len(rows) == len(expected)
    for v in sample.order:
        assert math.fsum(p for x, _, p in rows if x == v) == pytest.approx(1, abs=1e-12)
    viewed = "select variable, label, probability from cegdb.marginals where ceg = 'it'"
    assert rounded(values(database, viewed)) == rounded(rows)

    masses = values(
        database,
        "select m.vertex_id, p.probability, p.position from cegdb.position_member as m "
        "inner join cegdb.position_probability('it') as p using (position_id)",
    )
    reached = {0: 1.0}
    for parent, child, probability in values(
        database,
        "select parent_id, child_id, probability from cegdb.staged_edges order by child_id",
    ):
        reached[child] = reached[parent] * probability
    by_position: dict[str, tuple[float, list[float]]] = {}
    for vertex, probability, position in masses:
        by_position.setdefault(position, (probability, []))[1].append(reached[vertex])
    assert len(by_position) == len(ceg.positions)
    for probability, parts in by_position.values():
        assert probability == pytest.approx(math.fsum(parts), rel=1e-12)
    viewed = "select * exclude (ceg) from cegdb.position_probability where ceg = 'it'"
    alone = values(database, "from cegdb.position_probability('it')")
    assert rounded(values(database, viewed)) == rounded(alone)
    named = "select position, stage, position_id from cegdb.positions where ceg = 'it'"
    assert rounded(values(database, named)) == rounded([(*row[:2], row[-1]) for row in alone])


@pytest.mark.slow
def test_an_edge_not_applicable_is_as_no_edge(db: Database) -> None:
    """Y does not apply to some of those with X = a, and to none of those with X = b."""
    rows = {("a", "y"): 5, ("a", "n"): 6, ("a", "-"): 7, ("b", "-"): 8, ("c", "n"): 9}
    frame = pd.DataFrame(list(rows), columns=["X", "Y"]).assign(Z=["p", "q"] * 2 + ["p"])
    tree = db.ingest(
        frame.assign(n=rows.values()), "s", count="n", structural=["-"]
    ).event_tree(sampling_zeros="none")
    ceg = tree.set_stages({}, prior="mass").to_ceg()
    found = leaves(db, ceg)
    kinds = [leaf.answers.get("Y", "none") for leaf in found if leaf.answers["X"] != "c"]
    assert sorted(kinds) == ["n", "none", NA, "y"]
    asked(db, ("a", NA), (None, NA), ("b", NA), ("c", NA), ("a", "y"), columns="X Y")
    told = values(db, "select X, Y, probability from cegdb.event_probability('s', 'patients')")
    for x, y, probability in told:
        event = {"Y": y} if x is None else {"X": x, "Y": y}
        assert probability == pytest.approx(mass(found, event))
    shares = dict(
        values(db, "select label, probability from cegdb.marginals where variable = 'Y'")
    )
    assert shares == {x: pytest.approx(mass(found, {"Y": x})) for x in ("y", "n", NA)}


def ranked(found: list[Leaf]) -> list[Leaf]:
    """Sort by probability, equal ones (within 1e-12) by levels."""
    groups: list[list[Leaf]] = []
    for leaf in sorted(found, key=lambda leaf: (-leaf.probability, leaf.level_ids)):
        if groups and leaf.probability >= (1 - 1e-12) * groups[-1][-1].probability:
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
    return [leaf for group in groups for leaf in sorted(group, key=lambda x: x.level_ids)]


@pytest.mark.slow
@run(2)
@given(staged_trees(jumps=True), st.integers(1, 6))
def test_the_most_probable_paths_are_the_first_of_all_paths(
    database: Database, sample: StagedSample, k: int
) -> None:
    found = ranked(leaves(database, grow(database, sample)))
    asked_of = (
        "select rank, path, labels, variables, probability from cegdb.most_probable_paths"
    )
    rows = values(database, f"{asked_of}('it', {k}) order by rank")
    assert rows == [
        (
            i,
            " -> ".join(leaf.answers.values()),
            list(leaf.answers.values()),
            list(leaf.answers),
            pytest.approx(leaf.probability, rel=1e-12),
        )
        for i, leaf in enumerate(found[:k], start=1)
    ]
    assert values(database, f"{asked_of} where ceg = 'it' order by 1")[:k] == rows


@pytest.mark.slow
@run(2)
@given(staged_trees(max_depth=3, jumps=True, cross_variables=True))
def test_a_variable_of_a_mixed_position_is_refused(
    database: Database, sample: StagedSample
) -> None:
    ceg = grow(database, sample, across=True)
    confused = mixed(database)
    found = leaves(database, ceg)
    rows = values(database, "select variable, label, probability from cegdb.marginals")
    told = {variable for variable, _, _ in rows}
    assert told == set(sample.order) - set(confused)
    for variable, label, probability in rows:
        assert probability == pytest.approx(mass(found, {variable: label}))
    for v in sample.order:
        label = next(leaf.answers[v] for leaf in found if v in leaf.answers)
        asked(database, (label,), columns=v)
        call = "select probability from cegdb.event_probability('it', 'patients')"
        if v not in confused:
            assert values(database, call) == [pytest.approx(mass(found, {v: label}))]
            continue
        with pytest.raises(QueryError) as caught:
            values(database, call)
        names = " and ".join(confused[v])
        assert f"of CEG 'it' has situations of {names}, so that these" in str(caught.value)
        assert "hint: make the CEG with hyperstages='variable'" in str(caught.value)
        with pytest.raises(QueryError, match=r"of CEG 'it' has situations of .* and "):
            values(database, "from cegdb.marginals('it')")
    paths = values(database, "from cegdb.most_probable_paths('it', 1)")
    assert paths[0][4] == pytest.approx(max(leaf.probability for leaf in found))
    total = "select sum(probability) from cegdb.position_probability('it') where position = "
    assert values(database, total + "'w_inf'") == [pytest.approx(1)]


@pytest.mark.slow
def test_the_mixed_position_is_named(db: Database) -> None:
    rows = [("l", "p", None), ("l", "q", None), ("r", None, "p"), ("r", None, "q")]
    frame = pd.DataFrame(rows, columns=["A", "B", "C"]).assign(n=5)
    tree = db.ingest(frame, "s", count="n").event_tree(
        blank="structural", sampling_zeros="none"
    )
    tree.set_stages({("l",): "one", ("r",): "one"}, hyperstages="labels", prior="mass").to_ceg()
    asked(db, ("l", None), columns="A B")
    assert values(db, "select probability from cegdb.event_probability('s', 'patients')") == [
        pytest.approx(0.5)
    ]
    asked(db, ("l", "p"), columns="A B")
    with pytest.raises(QueryError, match="position w1 of CEG 's' has situations of B and C"):
        values(db, "from cegdb.event_probability('s', 'patients')")
    asking = "select variable from cegdb.position_probability('s') order by position_id"
    assert values(db, asking) == ["A", None, None]
    call = "cegdb.marginals('s', skip_mixed := true)"
    told = f"select variable, label, probability from {call} order by label"  # noqa: S608
    assert values(db, told) == [
        ("A", "l", pytest.approx(0.5)),
        ("A", "r", pytest.approx(0.5)),
    ]


# =============================================================================
# Tables of people
# =============================================================================


def make_chds(db: Database) -> None:
    demo = DEMOS["chds"]
    db.ingest(demo.select(), name="chds", count="people").event_tree(
        sampling_zeros="none"
    ).learn_stages(prior="mass", criterion="score").to_ceg()


@pytest.mark.slow
@pytest.mark.holds(made_by=make_chds)
def test_a_table_of_patients_is_answered_and_joined(db: Database) -> None:
    db.sql("""
        create table patients as select * from (values
            (1, 'High', 'Low', null), (2, 'Low', null, 'Yes'), (3, 'High', 'Low', null),
            (4, null, null, null)) as t (person_id, Social, Economic, Admission)
    """)
    db.sql("create view first_three as select * from patients where person_id < 4")
    names, rows = db.rows("""
        select p.*, q.probability
        from patients as p
        left join cegdb.event_probability('chds', 'first_three') as q using (person_id)
        order by person_id
    """)
    assert names == ["person_id", "Social", "Economic", "Admission", "probability"]
    high_low = values(
        db,
        "select e.probability * f.probability from cegdb.ceg_edges as e "
        "inner join cegdb.ceg_edges as f on e.target_id = f.source_id "
        "where e.label = 'High' and f.label = 'Low' and f.variable = 'Economic'",
    )[0]
    assert rows[0] == (1, "High", "Low", None, pytest.approx(high_low))
    assert rows[2][4] == rows[0][4]
    assert rows[3][4] is None
    names, rows = db.rows("from cegdb.event_probability('chds', 'patients') order by 1")
    carried = ["person_id", "Social", "Economic", "Admission"]
    assert names == [*carried, "event", "probability", "low", "high", "n"]
    assert rows[1][4] == "Social = Low, Admission = Yes"
    assert rows[3][4:] == ("", 1, 1, 1, 890)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_chds)
def test_tables_are_found_by_any_name(db: Database) -> None:
    """Names of steps inside the macros hide none, schemas and WITH are known."""
    call = "select probability from cegdb.event_probability('chds', '{}')"
    ((share,),) = db.rows(
        "select probability from cegdb.marginals('chds') where label = 'Yes'"
    )[1]
    db.sql("create schema other")
    db.sql("create temp table passing as select 'Yes' as \"ADMISSION\"")
    for name in ("edge", "walk", "wanted", "owner", "place", "answer", "other.x", "names"):
        db.sql(f"create table {name} as from passing")
        assert values(db, call.format(name)) == [pytest.approx(share)]
    assert values(db, call.format("passing")) == [pytest.approx(share)]
    db.sql('create table "it\'s ""it""" as from passing')
    db.sql('create view short as from "it\'s ""it"""')
    assert values(db, call.format("short")) == [pytest.approx(share)]
    assert values(db, f"with mine as (from passing) {call.format('mine')}") == [
        pytest.approx(share)
    ]


@pytest.mark.holds(made_by=make_chds)
def test_arguments_may_be_parameters_or_names_in_a_column(db: Database) -> None:
    asked(db, ("High",), columns="Social")
    given_ones = {"ceg": "chds", "table": "patients", "question": ["Social"]}
    call = "cegdb.conditional_probability($ceg, $table, $question)"
    ((high, everybody),) = db.rows(
        f"select probability, evidence_probability from {call}",  # noqa: S608
        given_ones,
    )[1]
    assert everybody == 1
    each = (
        "select c.name, m.probability from cegdb.ceg as c, cegdb.marginals(c.name) as m "
        "where m.variable = 'Social' and m.label = 'High'"
    )
    assert values(db, each) == [("chds", pytest.approx(high))]


@pytest.mark.slow
def test_values_are_read_as_ingest_reads_them(db: Database) -> None:
    db.ingest(
        "select i % 2 = 0 as flag, (i % 3) as x, (i % 2) / 2 as y, "
        "cast((i % 2) / 4 as decimal(4, 2)) as z from range(60) as r(i)",
        name="typed",
    ).event_tree(sampling_zeros="full").learn_stages(prior="mass", criterion="score").to_ceg()
    db.sql("""
        create table patients as
        select true as flag, 1.0::double as x, 0.5::float as y, 0.250::decimal(8, 3) as z
        union all select false, 2.0, 0.0, 0.0
        union all select null, null, 'nan'::float, null
    """)
    found = values(db, "select event from cegdb.event_probability('typed', 'patients')")
    assert sorted(found) == [
        "",
        "flag = False, x = 2, y = 0, z = 0",
        "flag = True, x = 1, y = 0.5, z = 0.25",
    ]


@pytest.mark.slow
def test_codes_of_a_codebook_name_labels(db: Database) -> None:
    codebook: Any = {
        "variables": {
            "smoker": {"values": {1: "now", 0: "never", 2: "1"}},
            "ill": {"values": {7: "yes", 8: "no"}},
        }
    }
    rows = "select i % 3 as smoker, 7 + i % 2 as ill from range(60) as r(i)"
    tree = db.ingest(rows, name="coded", codebook=codebook).event_tree(sampling_zeros="none")
    tree.learn_stages(relabel={"never": "no more"}, prior="mass", criterion="score").to_ceg()
    db.sql("create table patients as select * from (values (0, 7), (null, 8), (1, null), "
           "(2, null)) as t (smoker, ill)")  # fmt: skip
    found = values(db, "select event from cegdb.event_probability('coded', 'patients')")
    assert sorted(found) == [
        "ill = no",
        "smoker = 1",
        "smoker = 1",
        "smoker = no more, ill = yes",
    ]


HOSTILE = [
    "probability",
    "ceg_name",
    "asked",
    "question",
    "variables",
    "event",
    "select",
    'it\'s "quoted" -- $1',
    "😀 %s {a}",
    "x" * 300,
    "cegdb answer",
    "label",
    "kind",
]


@pytest.mark.slow
def test_hostile_names_of_variables_labels_and_cegs_work(db: Database) -> None:
    names = [name for name in HOSTILE if name != "cegdb answer"]
    frame = pd.DataFrame({name: [name, "no'\"\n", name, "😀"] * 5 for name in names[:6]})
    for name in names[6:]:
        frame[name] = [name, name, "'; drop table x; --", "$k"] * 5
    odd = 'it\'s a "CEG" 😀'
    db.ingest(frame, name=odd).event_tree(sampling_zeros="none").set_stages(
        {}, prior="mass"
    ).to_ceg()
    quoted = odd.replace("'", "''")
    with db._store.reading() as con:
        con.register("frame", frame)
        con.execute("create table patients as select *, 1 as person_id from frame limit 1")
        con.unregister("frame")
    found = leaves(db, db.cegs[odd])
    event = {name: name for name in names}
    columns, rows = db.rows(f"from cegdb.event_probability('{quoted}', 'patients')")
    assert columns == [*names, "person_id", "event_1", "probability_1", "low", "high", "n"]
    ((*_, words, probability, _, _, _),) = rows
    assert words == ", ".join(f"{name} = {name}" for name in names)
    assert probability == pytest.approx(mass(found, event))
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in names[:4])
    ((*_, conditional, _, _, _, _),) = db.rows(
        f"from cegdb.conditional_probability('{quoted}', 'patients', [{listed}])"
    )[1]
    evidence = {name: name for name in names[4:]}
    assert conditional == pytest.approx(mass(found, event) / mass(found, evidence))
    ((total,),) = db.rows(f"select sum(probability) from cegdb.marginals('{quoted}')")[1]  # noqa: S608
    assert total == pytest.approx(len(names))
    best = values(db, f"from cegdb.most_probable_paths('{quoted}', 1)")
    assert best[0][3] == names


@pytest.mark.slow
@pytest.mark.holds(made_by=make_chds)
def test_a_conditioned_ceg_answers_by_the_tree_of_its_parent(db: Database) -> None:
    """Of the people with Social = High alone, the other label and its positions are gone."""
    sizes = "n_vertices, n_edges, settings, summary, seconds, created_at, cegdb_version"
    db.sql(
        "insert into cegdb.ceg by name select 'high' as name, ceg_id as parent_ceg_id, "  # noqa: S608
        f"{sizes} from cegdb.ceg"
    )
    db.sql("""
        create temp table gone as
        select source_id, target_id, label_id
        from cegdb.ceg_edges where variable = 'Social' and label = 'Low'
    """)
    db.sql("""
        insert into cegdb.position
        select 2 as ceg_id, position_id, null as stage_id, height, n, n_situations
        from cegdb.position where position_id not in (select target_id from gone)
    """)
    db.sql("""
        insert into cegdb.position_member
        select 2 as ceg_id, vertex_id, position_id from cegdb.position_member
    """)
    db.sql("""
        insert into cegdb.ceg_edge
        select * replace (2 as ceg_id, if(source_id = 0, 1, probability) as probability)
        from cegdb.ceg_edge
        where source_id not in (select target_id from gone)
            and (source_id, label_id) not in (select (source_id, label_id) from gone)
    """)
    conditional = "cegdb.conditional_probability('chds', 'patients', ['Admission'])"
    high = "cegdb.event_probability('high', 'patients')"
    asked(db, ("High", "Yes"), ("High", "No"), columns="Social Admission")
    share = "select probability from {} order by event"
    no, yes = values(db, share.format(conditional))
    found = values(db, share.format(high))
    assert found == [pytest.approx(no), pytest.approx(yes)]
    asked(db, ("Low", "Yes"), columns="Social Admission")
    assert values(db, share.format(high)) == [0]
    told = "select variable, label, probability from cegdb.marginals"
    rows = values(db, f"{told}('high') where variable in ('Social', 'Admission')")
    assert sorted(rows) == [
        ("Admission", "No", pytest.approx(no)),
        ("Admission", "Yes", pytest.approx(yes)),
        ("Social", "High", 1.0),
    ]
    assert values(db, f"{told} where ceg = 'high' and variable = 'Social'") == [
        ("Social", "High", 1.0)
    ]
    ((path, variables),) = db.rows(
        "select path, variables from cegdb.most_probable_paths('high', 1)"
    )[1]
    assert path.startswith("High -> ")
    assert variables == ["Social", "Economic", "Events", "Admission"]


@pytest.mark.slow
@pytest.mark.holds(made_by=make_chds)
def test_errors_name_what_is_wrong(db: Database) -> None:
    asked(db, ("High", "1"), columns="Social person_id")
    event = "from cegdb.event_probability('chds', 'patients')"
    conditional = "from cegdb.conditional_probability('chds', 'patients', {})"
    for query, message in {
        "from cegdb.paths('chd')": "no CEG named 'chd'; available: 'chds'",
        "from cegdb.paths('CHDS')": "no CEG named 'CHDS'; available: 'chds'",
        "from cegdb.paths(null)": "no CEG named NULL; available: 'chds'",
        "from cegdb.marginals('chd')": "no CEG named 'chd'; available: 'chds'",
        "from cegdb.position_probability('x')": "no CEG named 'x'; available: 'chds'",
        "from cegdb.most_probable_paths('x', 2)": "no CEG named 'x'; available: 'chds'",
        event.replace("'chds'", "'x'"): "no CEG named 'x'; available: 'chds'",
        "from cegdb.most_probable_paths('chds', 0)": "k is 0: it must be 1 or more",
        conditional.format("['Sozial']"): "no variable 'Sozial' in CEG 'chds'; "
        "available: 'Social', ",
        conditional.format("['Events']"): "patients has no column 'Events', whose ",
        conditional.format("[null]"): "no variable NULL in CEG 'chds'",
        event.replace("patients", "nobody"): "Table with name nobody does not exist",
    }.items():
        with pytest.raises(QueryError) as caught:
            values(db, query)
        assert message in str(caught.value)
    asked(db, ("Hihg", "1"), columns="Social person_id")
    message = "'Hihg' is not a label of 'Social' in CEG 'chds'; available: 'High', 'Low'"
    with pytest.raises(QueryError, match=message):
        values(db, event)
    asked(db, ("High", "1"), columns="Soc person_id")
    message = (
        "no column of patients is named like a variable of CEG 'chds'; "
        "available: 'Admission', 'Economic', 'Events', 'Social'"
    )
    with pytest.raises(QueryError, match=message):
        values(db, event)
    asked(db, (NA, "Low"), columns="Social Economic")
    assert values(db, f"select probability {event}") == [0]
    message = "the evidence Social = not applicable has probability 0 in CEG 'chds'"
    with pytest.raises(QueryError, match=message):
        values(db, conditional.format("['Economic']"))


# =============================================================================
# Size, neighbours, files
# =============================================================================


@pytest.fixture
def long_chain(db: Database) -> Database:
    """Give a CEG of 100 florets, one after the other: 2^100 paths.

    Its tree would not fit on any disk, so the graph is written over that of two paths.
    """
    variables = ", ".join(f"i as x{j}" for j in range(100))
    db.ingest(f"select {variables} from range(2) as r(i)", name="chain").event_tree(  # noqa: S608
        sampling_zeros="none"
    )
    db.trees["chain"].set_stages({}, prior="mass").to_ceg()
    for table in ("position", "position_member", "ceg_edge"):
        db.sql(f"delete from cegdb.{table}")  # noqa: S608
    db.sql("""
        insert into cegdb.position
        select 1, greatest(2 * d - 1, 0), if(d < 100, greatest(2 * d - 1, 0), null), 100 - d,
            1, 1
        from range(101) as r(d)
    """)
    db.sql("""
        insert into cegdb.ceg_edge by name
        select 1 as ceg_id, greatest(2 * d - 1, 0) as source_id, 2 * d + 1 as target_id,
            l.label_id, [l.label] as raw_labels, 1 as n, 1 as prior,
            if(l.label = '1', 0.75, 0.25) as probability
        from range(100) as r(d) cross join (
            select distinct label_id, label from cegdb.level where kind = 'value') as l
    """)
    return db


@pytest.mark.slow
def test_a_ceg_of_more_than_1e30_paths_answers(long_chain: Database) -> None:
    db = long_chain
    ones = ", ".join(f"'1' as x{j}" for j in range(0, 100, 2))
    db.sql(f"create table patients as select {ones}")
    ((probability,),) = db.rows(
        "select probability from cegdb.event_probability('chain', 'patients')"
    )[1]
    assert probability == pytest.approx(0.75**50, rel=1e-12)
    ((n, total),) = db.rows(
        "select count(*), sum(probability) from cegdb.marginals('chain') where label = '1'"
    )[1]
    assert (n, total) == (100, pytest.approx(75))
    assert values(
        db, "select min(probability), max(probability) from cegdb.position_probability('chain')"
    ) == [(pytest.approx(1, abs=1e-12), pytest.approx(1, abs=1e-12))]
    best = values(db, "from cegdb.most_probable_paths('chain', 102) order by rank")
    assert best[0][2] == ["1"] * 100
    assert best[0][4] == pytest.approx(0.75**100, rel=1e-12)
    # The next hundred change one answer: a change early on comes first, 0 before 1.
    assert [row[2].index("0") for row in best[1:101]] == list(range(100))
    assert best[101][2][:3] == ["0", "0", "1"]
    ((probability,),) = db.rows(
        "select probability from cegdb.conditional_probability('chain', 'patients', ['x2'])"
    )[1]
    assert probability == pytest.approx(0.75)


@pytest.mark.slow
def test_all_cegs_side_by_side_answer_as_each_alone(db: Database) -> None:
    for name, demo in DEMOS.items():
        survey = db.ingest(demo.select(), name=name, count="people")
        tree = survey.event_tree(impossible=demo.impossible)
        tree.learn_stages(prior="mass", criterion="score").to_ceg()
    tree.learn_stages("wide", hyperstages="labels", prior="mass", criterion="score").to_ceg()
    for view, more in (
        ("position_probability", ""),
        ("marginals", ", skip_mixed := true"),
        ("most_probable_paths", ", 10"),
    ):
        _, rows = db.rows(f"from cegdb.{view} order by all")
        alone = [
            (name, *row)
            for name in db.cegs.names()
            for row in db.rows(f"from cegdb.{view}('{name}'{more})")[1]
        ]
        assert len(rows) > 20
        assert rounded(rows) == rounded(alone)


QUESTIONS = {
    "position_probability('chds')": 10,
    "marginals('chds')": 9,
    "most_probable_paths('chds', 3)": 3,
    "event_probability('chds', 'memory.patients')": 1,
    "conditional_probability('chds', 'memory.patients', ['Admission'])": 1,
}


@pytest.fixture
def attached(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to an empty database that has the file attached, read-only."""
    file = tmp_path / "falls.duckdb"
    shutil.copy(file_with(make_chds), file)
    with duckdb.connect() as con:
        con.execute("create table patients as select 'High' as Social, 'Yes' as Admission")
        con.execute(f"attach '{file}' as f (read_only)")
        yield con


@pytest.mark.slow
def test_an_attached_file_answers(attached: duckdb.DuckDBPyConnection) -> None:
    con = attached
    views = [call.split("(")[0] for call in QUESTIONS][:3]
    before = [con.execute(f"from f.cegdb.{view} order by all").fetchall() for view in views]
    assert [len(rows) for rows in before] == [10, 9, 10]
    con.execute("use f")
    for call, n in QUESTIONS.items():
        assert len(con.execute(f"from cegdb.{call}").fetchall()) == n
    assert before == [con.execute(f"from cegdb.{v} order by all").fetchall() for v in views]


@pytest.mark.slow
def test_a_file_opened_read_only_answers(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        survey = db.ingest(DEMOS["chds"].select(), name="chds", count="people")
        survey.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        ).to_ceg()
    with cegdb.open(file, read_only=True) as db:
        db.sql("create temp table patients as select 'High' as Social, 'Yes' as Admission")
        for call, n in QUESTIONS.items():
            assert len(db.rows(f"from cegdb.{call.replace('memory.', '')}")[1]) == n
