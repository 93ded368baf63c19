"""The product against the oracle, on random surveys and random staged trees.

``oracle.py`` says what is right, slowly and obviously; here every table of the product
must say the same. ``MORE_EXAMPLES=20 pytest tests/database/test_properties.py`` looks longer.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import oracle
import pandas as pd
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st
from low_limits import ceg_of_lists, tree_in_chunks
from oracle import BLANK, MISS, NA, NOT_APPLICABLE, Graph, Row, Stages, Tree, labels
from strategies import SurveyTable, death_tree, run, staged_trees, survey_tables, tree_options

import cegdb
import cegdb.demo
from cegdb.errors import TreeError
from cegdb.tree.path_codes import MAX_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cegdb.api import Database, EventTree, StagedTree, Survey

    Sound = Callable[[Database], None]


#: How a cell of the oracle is written in a frame; a value is written as it is.
WRITTEN = {BLANK: None, NA: "skip", MISS: "missing"}

examples = st.sampled_from  # of settings that are cheap to list


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    """One database for all examples, each of which replaces the one before."""
    with cegdb.open(threads=2) as db:
        yield db


# =============================================================================
# From the oracle's terms to the product's, and back
# =============================================================================


def frame(rows: Sequence[tuple[Row, int]], variables: Sequence[str]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {
        v: [WRITTEN.get(row[v], row[v]) for row, _ in rows] for v in variables
    }
    columns["people"] = [n for _, n in rows]
    return pd.DataFrame(columns, dtype=object)


def ingest(
    db: Database,
    rows: Sequence[tuple[Row, int]],
    variables: Sequence[str],
    levels: Mapping[str, Sequence[str]] | None = None,
) -> Survey:
    return db.ingest(
        frame(rows, variables),
        name="it",
        count="people",
        structural=["skip"],
        missing=["missing"],
        levels=levels,
        replace=True,
    )


def of(db: Database, query: str, name: str = "it") -> list[tuple[Any, ...]]:
    """Return rows of a query about the object called ``$name``."""
    return db.rows(query, {"name": name})[1]


def vertices(db: Database, name: str = "it") -> list[tuple[Any, ...]]:
    """Return path, depth, height, n, n_stopped, variable of each vertex, by id."""
    found: list[tuple[Any, ...]] = []
    for vertex_id, parent_id, asked, label, n_edge, *vertex in of(
        db,
        "select v.vertex_id, e.parent_id, a.name, l.label, e.n, "
        "v.depth, v.height, v.n, v.n_stopped, q.name "
        "from cegdb.event_tree as t inner join cegdb.vertex as v using (tree_id) "
        "left join cegdb.edge as e on v.tree_id = e.tree_id and v.vertex_id = e.child_id "
        "left join cegdb.level as l using (level_id) "
        "left join cegdb.variable as a on l.variable_id = a.variable_id "
        "left join cegdb.variable as q on v.variable_id = q.variable_id "
        "where t.name = $name order by v.vertex_id",
        name,
    ):
        assert vertex_id == len(found)
        path = () if parent_id is None else (*found[parent_id][0], (asked, label))
        assert n_edge in (vertex[2], None)
        found.append((path, *vertex))
    return found


def same_tree(db: Database, tree: Tree, name: str = "it") -> bool:
    """Say whether the product's tree is the oracle's, and show both if it is not."""
    expected = [(v.path, v.depth, v.height, v.n, v.n_stopped, v.variable) for v in tree.by_id]
    found = vertices(db, name)
    if found != expected:
        note("the product:\n  " + "\n  ".join(map(str, found)))
        note("the oracle:\n  " + "\n  ".join(map(str, expected)))
    ((edges,),) = of(
        db,
        "select count(*) from cegdb.edge inner join cegdb.event_tree using (tree_id) "
        "where name = $name",
        name,
    )
    return found == expected and edges == tree.n_edges


def graph(db: Database, ceg: str = "it") -> Graph:
    """Return the product's CEG as the oracle writes one."""
    stages = of(
        db,
        "select p.position_id, p.stage_id from cegdb.position as p "
        "inner join cegdb.ceg using (ceg_id) where name = $name",
        ceg,
    )
    edges = of(
        db, "select source_id, label, target_id, n from cegdb.ceg_edges where ceg = $name", ceg
    )
    made = Graph(
        0,
        {position: stage for position, stage in stages if stage is not None},
        {(source, label): (target, n) for source, label, target, n in edges},
    )
    assert len(made.edges) == len(edges)
    assert made.vertices == {position for position, _ in stages}
    return made


def rows_of_ceg(db: Database, table: str, ceg: str) -> list[tuple[Any, ...]]:
    """Return what a bulk table holds of one CEG, in the order it is stored."""
    return of(
        db,
        f"select x.* exclude (ceg_id) from cegdb.{table} as x "  # noqa: S608
        "inner join cegdb.ceg using (ceg_id) where name = $name",
        ceg,
    )


# =============================================================================
# Event trees
# =============================================================================


class Case(NamedTuple):
    """A survey, an order of some of its variables, and settings of the tree."""

    table: SurveyTable
    order: list[str]
    options: dict[str, Any]

    def for_oracle(self) -> Tree:
        return oracle.event_tree(self.table.rows, self.order, **self.options)

    def for_product(self) -> dict[str, Any]:
        """Return the settings as the product takes them; levels belong to the survey."""
        given = {key: value for key, value in self.options.items() if key != "levels"}
        added = [written_out(path, self.order) for path in self.options["add_paths"]]
        return given | {"order": self.order, "add_paths": added}

    @property
    def contradicts_itself(self) -> bool:
        """Whether some row, or an added path, has what is declared impossible."""
        there = [row for row, _ in self.table.rows] + self.for_product()["add_paths"]
        return any(
            rule.items() <= row.items() for rule in self.options["impossible"] for row in there
        )


def written_out(path: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """Name the variables an added path leaves out: they do not apply there."""
    last = max(map(order.index, path))
    return {variable: path.get(variable, NOT_APPLICABLE) for variable in order[: last + 1]}


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    table = draw(survey_tables().filter(lambda table: table.rows))
    order = draw(st.permutations(table.order))
    order = order[: draw(st.integers(1, len(order)))]
    options = draw(tree_options(SurveyTable(table.rows, order)))
    if options["sampling_zeros"] in ("auto", "full"):
        # See test_full_leaves_alone_where_an_added_path_says_not_applicable.
        options["add_paths"] = [
            path for path in options["add_paths"] if path == written_out(path, order)
        ]
    return Case(table, order, options)


def as_labels(path: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """Write a path as labels from the root, "*" for any."""
    last = max(map(order.index, path))
    return [path.get(variable, "*") for variable in order[: last + 1]]


@pytest.mark.slow
@run(15)
@given(cases(), examples(["names", "labels"]), examples([2, 50, 300]))
def test_an_event_tree_is_the_oracles(
    db: Database, case: Case, paths_by: str, limit: int
) -> None:
    """Whatever its codes are: one integer a row, or several chunks of variables."""
    given_options = case.for_product()
    if paths_by == "labels":
        for setting in ("add_paths", "impossible"):
            given_options[setting] = [
                as_labels(path, case.order) for path in given_options[setting]
            ]
    survey = ingest(db, *case.table, case.options["levels"])
    if case.contradicts_itself:
        with pytest.raises(TreeError, match="is declared impossible, but"):
            survey.event_tree(**given_options)
        return
    survey.event_tree(**given_options)
    tree = case.for_oracle()
    assert same_tree(db, tree)
    ((summary,),) = of(db, "select summary from cegdb.event_tree where name = $name")

    # Codes that must stay below the limit start again from dense ids now and then.
    refusal = None
    try:
        tree_in_chunks(survey, limit, **given_options, replace=True)
    except TreeError as error:
        refusal = str(error)
    if refusal is None:
        assert same_tree(db, tree)
        ((again,),) = of(db, "select summary from cegdb.event_tree where name = $name")
        assert again == summary
    else:
        assert "too far apart in an order" in refusal
        assert any(len(rule) > 1 for rule in case.options["impossible"])
        assert case.options["sampling_zeros"] != "none"


def every_kind_of_cell() -> SurveyTable:
    """Return a survey with each kind of cell where it matters."""
    lines: list[tuple[str, list[Any], int]] = [
        ("blanks only, as many as make a gate", ["a", BLANK, "z", "p"], 5),
        ("too few of them", ["b", BLANK, "z", "p"], 4),
        ("an answer among them", ["c", BLANK, "z", "p"], 9),
        ("", ["c", "y", "z", "p"], 1),
        ("a declared structural among them", ["d", BLANK, "z", "p"], 6),
        ("", ["d", NA, "z", "q"], 2),
        ("a declared missing among them", ["e", BLANK, "z", "q"], 7),
        ("", ["e", MISS, "z", "p"], 1),
        ("everything", ["f", "n", "z", "q"], 3),
        ("", ["f", "y", MISS, "q"], 2),
        ("", ["f", "y", NA, "p"], 2),
        ("", ["f", "y", BLANK, "p"], 1),
        ("all that have the last answer but one stop there", ["g", "y", "x", MISS], 2),
        ("nobody has the first answer", [MISS, "y", "z", "q"], 3),
    ]
    order = ["W", "X", "Y", "Z"]
    return SurveyTable([(dict(zip(order, row, strict=True)), n) for _, row, n in lines], order)


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["auto", "structural", "missing"])
def test_every_kind_of_cell_under_every_setting(db: Database, sound: Sound, blank: str) -> None:
    """The trees of all settings are made of one survey, and checked at once.

    Codes of several chunks meet each two values of the three settings once.
    """
    table = every_kind_of_cell()
    levels = {"W": [*"gfedcba", "nobody"], "Y": ["unseen", "z", "x"]}
    survey = ingest(db, *table, levels)
    for i, (policy, zeros) in enumerate(
        itertools.product(["prefix", "complete", "category"], ["none", "floret", "full"])
    ):
        options: dict[str, Any] = {"blank": blank, "missing_policy": policy}
        options |= {"sampling_zeros": zeros, "impossible": [{"Y": "unseen", "W": "b"}]}
        tree = oracle.event_tree(*table, levels=levels, **options)
        name = f"{policy} {zeros}"
        survey.event_tree(name, **options)
        assert same_tree(db, tree, name), options
        if (i // 3 + i + len(blank)) % 3:
            continue
        options["impossible"] = []  # codes of several chunks cannot check that one
        tree = oracle.event_tree(*table, levels=levels, **options)
        tree_in_chunks(survey, (2, 100)[(i + len(blank)) % 2], f"{name} in chunks", **options)
        assert same_tree(db, tree, f"{name} in chunks"), options
    sound(db)


@pytest.mark.slow
@run(3)
@given(st.data())
def test_one_survey_gives_a_tree_of_any_order(db: Database, data: st.DataObject) -> None:
    table = data.draw(survey_tables().filter(lambda table: table.rows))
    survey = ingest(db, *table)
    for _ in range(3):
        order = data.draw(st.permutations(table.order))
        order = order[: data.draw(st.integers(1, len(order)))]
        survey.event_tree(order=order, replace=True, sampling_zeros="none")
        assert same_tree(db, oracle.event_tree(table.rows, order))


def test_an_added_path_that_leaves_out_what_others_answered_is_refused(
    db: Database,
) -> None:
    survey = ingest(db, [({"X": "a", "Y": "y", "Z": "p"}, 3)], ["X", "Y", "Z"])
    with pytest.raises(TreeError, match=r"leaves out 'Y', but 3 respondents .*\n.*'not appl"):
        survey.event_tree(add_paths=[{"X": "a", "Z": "p"}], sampling_zeros="none")
    added = {"X": "a", "Y": NOT_APPLICABLE, "Z": "p"}
    survey.event_tree(add_paths=[added], sampling_zeros="none")
    assert same_tree(
        db,
        oracle.event_tree(
            [({"X": "a", "Y": "y", "Z": "p"}, 3)], ["X", "Y", "Z"], add_paths=[added]
        ),
    )


def test_full_leaves_alone_where_an_added_path_says_not_applicable(db: Database) -> None:
    """Sampling zeros complete what they add, not what the user has laid out.

    The oracle completes every floret that nobody reached, so the two differ here.
    """
    survey = ingest(
        db, [({"X": "a", "Y": "y", "Z": "p"}, 3)], ["X", "Y", "Z"], {"X": ["a", "b"]}
    )
    for zeros in ("floret", "full"):
        survey.event_tree(add_paths=[{"X": "b", "Z": "p"}], sampling_zeros=zeros, replace=True)
        paths = {labels(path) for path, *_ in vertices(db)}
        assert paths == {(), ("a",), ("b",), ("a", "y"), ("b", "p"), ("a", "y", "p")}


@pytest.mark.slow
def test_a_tree_whose_rows_are_all_left_out_is_a_root(db: Database, sound: Sound) -> None:
    rows: list[tuple[Row, int]] = [({"X": MISS, "Y": "n"}, 4)]
    for limit in (MAX_CODE, 2):
        survey = ingest(db, rows, ["X", "Y"])
        tree = tree_in_chunks(survey, limit, missing_policy="complete")
        assert same_tree(db, oracle.event_tree(rows, ["X", "Y"], missing_policy="complete"))
        ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
        assert oracle.recover(graph(db)) == {(): None}
        assert ceg.recover()["depth"].tolist() == [0]
        sound(db)


# =============================================================================
# Staged trees, positions and the CEG
# =============================================================================


class Staged(NamedTuple):
    """A staged tree: its survey, stage names by path, and who may share a stage."""

    rows: list[tuple[Row, int]]
    order: list[str]
    names: dict[oracle.Path, str]
    hyperstages: Any

    @property
    def tree(self) -> Tree:
        return oracle.event_tree(self.rows, self.order)

    def grouping(self, how: str) -> Any:
        """Return the stages as a user gives them."""
        if how == "paths":
            return {labels(path): name for path, name in self.names.items()}
        by_id = [(v.id, self.names[v.path]) for v in self.tree.situations]
        if how == "frame":
            return pd.DataFrame(by_id, columns=["vertex_id", "stage"])
        groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for path, name in self.names.items():
            groups[name].append(labels(path))
        return list(groups.values())


@st.composite
def staged(draw: Callable[..., Any]) -> Staged:
    """Draw a staged tree in any of the ways ``staged_trees`` has."""
    jumps, cross, least = draw(
        examples([(j, c, n) for j in (False, True) for c in (False, True) for n in (1, 2)])
    )
    sample = draw(staged_trees(jumps=jumps, cross_variables=cross, min_labels=least))
    return Staged(*sample, "labels" if cross else "variable")


def set_stages(
    db: Database, sample: Staged, how: str, alpha: float | None
) -> tuple[StagedTree, Tree, Stages]:
    event_tree = ingest(db, sample.rows, sample.order).event_tree(sampling_zeros="none")
    given_stages = event_tree.set_stages(
        sample.grouping(how), alpha=alpha, hyperstages=sample.hyperstages, prior="mass"
    )
    tree = sample.tree
    return given_stages, tree, oracle.stage_of(tree, sample.names)


def crossed() -> Staged:
    """Return a tree with two situations of one stage whose targets are swapped."""
    paths = ("ax", "ayp", "ayq", "bxp", "bxq", "by")
    rows: list[tuple[Row, int]] = [
        ({v: path[i] if i < len(path) else BLANK for i, v in enumerate("XYZ")}, 5)
        for path in paths
    ]
    a, b = (("X", "a"),), (("X", "b"),)
    names = {(): "r", a: "v", b: "v", (*a, ("Y", "y")): "s", (*b, ("Y", "x")): "s"}
    return Staged(rows, ["X", "Y", "Z"], names, "variable")


@pytest.mark.slow
@example(crossed(), "paths", None)
@example(Staged(*death_tree(), "variable"), "frame", 2)
@run(3)
@given(staged(), examples(["paths", "frame", "groups"]), examples([None, 1, 7.5, 1 / 3]))
def test_the_ceg_of_a_staged_tree_is_the_oracles(
    db: Database, sound: Sound, sample: Staged, how: str, alpha: float | None
) -> None:
    given_stages, tree, stage = set_stages(db, sample, how, alpha)
    assert same_tree(db, tree)
    assert dict(of(db, MEMBERS)) == stage
    used = oracle.default_alpha(tree) if alpha is None else alpha
    score = oracle.log_marginal_likelihood(tree, used, stage)
    assert given_stages.log_marginal_likelihood == pytest.approx(score, rel=1e-9, abs=1e-9)

    # Positions, and the recursion that finds them
    early = given_stages.to_ceg("it")
    baseline = given_stages.to_ceg("it to the end", stop="baseline")
    listed = ceg_of_lists(given_stages, "it by lists of edges", stop="baseline")
    for table in ("position", "position_member", "ceg_edge"):
        of_table = rows_of_ceg(db, table, early.name)
        assert of_table == rows_of_ceg(db, table, baseline.name)
        assert of_table == rows_of_ceg(db, table, listed.name)
    db.drop("ceg", listed.name)
    position = dict(rows_of_ceg(db, "position_member", "it"))
    assert position == oracle.positions(tree, stage)
    for ceg, stop in ((early, "early"), (baseline, "baseline")):
        steps = rows_of_ceg(db, "merge_step", ceg.name)
        sizes = [(n_vertices, n_edges) for *_, n_vertices, n_edges, _ in steps]
        assert sizes == oracle.backward_recursion(tree, stage, stop)
        merged = Counter(position_id for _, position_id in position.items())
        for step, height, n_situations, n_positions, *_ in steps[1:]:
            of_height = [v.id for v in tree.by_id if v.height == height]
            assert height == step - 1
            assert n_situations == len(of_height)
            assert n_positions == sum(v in merged for v in of_height)

    # The graph and its numbers
    made, expected = graph(db), oracle.ceg(tree, stage)
    assert made == expected
    members = defaultdict(list)
    for vertex_id, position_id in position.items():
        members[position_id].append(tree.by_id[vertex_id])
    assert rows_of_ceg(db, "position", "it") == [
        (
            p,
            stage.get(p),
            tree.by_id[p].height,
            sum(v.n for v in members[p]),
            len(members[p]),
        )
        for p in sorted(members)
    ]
    masses, chances = oracle.prior(tree, used), oracle.probabilities(tree, used, stage)
    for source, label, prior, probability in of(
        db, "select source_id, label, prior, probability from cegdb.ceg_edges where ceg = $name"
    ):
        mass = sum(masses[v.id][label] for v in members[source])
        assert prior == pytest.approx(float(mass), rel=1e-12)
        chance = float(chances[stage[source]][label])
        assert probability == pytest.approx(chance, rel=1e-12)

    # Nothing is lost: the words, the paths, the staged tree itself
    words = oracle.coloured_words(made)
    assert words == oracle.coloured_words(oracle.tree_graph(tree, stage))
    paths = of(
        db, "select labels, n_edges, probability from cegdb.paths('it') where $name > ''"
    )
    leaves = [list(labels(leaf.path)) for leaf in tree.leaves]
    assert sorted((path, n) for path, n, _ in paths) == sorted((x, len(x)) for x in leaves)
    assert sum(chance for *_, chance in paths) == pytest.approx(1, abs=1e-12)
    recovered: list[tuple[str, ...]] = []
    found = {}
    for row in early.recover().itertuples(index=False):
        assert row.vertex_id == len(recovered)
        is_root = pd.isna(row.parent_id)
        recovered.append(() if is_root else (*recovered[row.parent_id], row.label))
        assert row.depth == len(recovered[-1])
        assert row.position_id == position[row.vertex_id]
        found[recovered[-1]] = None if pd.isna(row.stage_id) else row.stage_id
    assert found == oracle.staged_paths(tree, stage)
    assert recovered == [labels(v.path) for v in tree.by_id]  # in the same order, too
    sound(db)


MEMBERS = (
    "select m.vertex_id, m.stage_id from cegdb.stage_member as m "
    "inner join cegdb.staging using (staging_id) where name = $name"
)


@pytest.mark.slow
@run(3)
@given(staged(), st.data())
def test_situations_not_named_are_their_own_stage(
    db: Database, sound: Sound, sample: Staged, data: st.DataObject
) -> None:
    """Those of them with one edge share a stage in each hyperstage."""
    tree = sample.tree
    named = data.draw(st.sets(examples(sorted(sample.names))))
    expected = {path: ("named", sample.names[path]) for path in named}
    allowed = oracle.hyperstages(tree, sample.hyperstages)
    for v in tree.situations:
        if v.path not in named and len(v.children) == 1:
            expected[v.path] = ("single edge", allowed[v.id])
    event_tree = ingest(db, sample.rows, sample.order).event_tree(sampling_zeros="none")
    given_stages = event_tree.set_stages(
        {labels(path): sample.names[path] for path in named},
        hyperstages=sample.hyperstages,
        prior="mass",
    )
    assert dict(of(db, MEMBERS)) == oracle.stage_of(tree, expected)
    alone = [v for v in tree.situations if v.path not in named and len(v.children) > 1]
    told = "not named" in given_stages.summary
    assert told == bool(alone)
    sound(db)


# =============================================================================
# Stages learnt
# =============================================================================


@st.composite
def learnable(draw: Callable[..., Any]) -> Case:
    """Draw a survey to learn from: trees of every kind, counts small and large."""
    if draw(st.booleans()):
        case = draw(cases())
        case.options["impossible"] = []
        return case
    sample = draw(staged_trees(jumps=draw(st.booleans()), cross_variables=draw(st.booleans())))
    rows = [(row, draw(examples([n, n, 1, 2, 7 * n, 40]))) for row, n in sample.rows]
    none: list[Any] = []
    zeros = draw(examples(["none", "auto"]))
    options = {
        "blank": "structural", "sampling_zeros": zeros, "add_paths": none, "impossible": none
    }  # fmt: skip
    return Case(SurveyTable(rows, sample.order), sample.order, options)


@st.composite
def some_groups(draw: Callable[..., Any], by: Mapping[int, Any]) -> dict[int, str]:
    """Name a few groups within the blocks: situation -> group."""
    named = {}
    for number, block in enumerate(sorted(map(sorted, oracle.partition(by)))):
        for vertex_id in block:
            group = draw(examples([None, None, 0, 1]))
            if group is not None:
                named[vertex_id] = f"{number}.{group}"
    return named


@pytest.mark.slow
@run(5)
@given(
    st.data(),
    learnable(),
    examples([None, 1, 7.5, 1 / 3]),
    examples(["variable", "labels", "given"]),
    examples(["alone", "in groups"]),
)
def test_learnt_stages_are_the_oracles(
    db: Database,
    sound: Sound,
    data: st.DataObject,
    case: Case,
    alpha: float | None,
    who: str,
    start: str,
) -> None:
    tree = case.for_oracle()
    survey = ingest(db, *case.table, case.options.get("levels"))
    event_tree = survey.event_tree(**case.for_product())
    by, groups, initial = who, None, None
    if who == "given":
        by, groups = "variable", data.draw(some_groups(oracle.hyperstages(tree, "labels")))
    if start == "in groups":
        initial = data.draw(some_groups(oracle.hyperstages(tree, by) | (groups or {})))
    learn_and_compare(db, tree, event_tree, alpha, by, groups, initial)
    sound(db)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["variable", "labels"])
@pytest.mark.parametrize("zeros", ["none", "floret", "full"])
def test_stages_of_every_kind_are_the_oracles(
    db: Database, sound: Sound, zeros: str, by: str
) -> None:
    """Single edges and situations where nobody answers, in initial groups and in none."""
    table, levels = every_kind_of_cell(), {"W": [*"gfedcba", "nobody"]}
    event_tree = ingest(db, *table, levels).event_tree(sampling_zeros=zeros)
    tree = oracle.event_tree(*table, sampling_zeros=zeros, levels=levels)
    kinds = learn_and_compare(db, tree, event_tree, 2, by, None, None)
    assert ("unobserved" in kinds) == (zeros != "none")
    if zeros != "floret":
        sound(db)
        return
    largest = sorted(max(oracle.partition(oracle.hyperstages(tree, by)), key=len))
    groups = dict.fromkeys(largest[::2], "even") | dict.fromkeys(largest[1::2], "odd")
    learn_and_compare(db, tree, event_tree, 2, by, groups, None)
    learn_and_compare(db, tree, event_tree, 2, by, None, groups)
    sound(db)


def learn_and_compare(
    db: Database,
    tree: Tree,
    event_tree: EventTree,
    alpha: float | None,
    by: str,
    groups: Mapping[int, str] | None,
    initial: Mapping[int, str] | None,
) -> set[str]:
    """Learn stages within hyperstages, from initial ones; return the kinds of stages."""

    def by_path(given_groups: Mapping[int, str]) -> dict[tuple[str, ...], str]:
        return {labels(tree.by_id[v].path): name for v, name in given_groups.items()}

    allowed = oracle.hyperstages(tree, "labels" if by == "labels" else "variable")
    if groups is not None:  # those in none stay with their variable and label set
        allowed = oracle.hyperstages(tree) | groups
    learnt = event_tree.learn_stages(
        alpha=alpha,
        hyperstages=by if groups is None else by_path(groups),
        initial=None if initial is None else by_path(initial),
        unobserved="own",
        replace=True,
        prior="mass",
        criterion="score",
    )
    used = (oracle.default_alpha(tree) or 1) if alpha is None else alpha
    expected = oracle.ahc(tree, used, allowed, initial)
    assert dict(of(db, MEMBERS)) == expected.stage

    # The merges, hyperstage by hyperstage
    merges = of(db, "select step, kept_id, absorbed_id, log_bayes_factor "
                "from cegdb.merges where staging = $name order by step")  # fmt: skip
    assert [step for step, *_ in merges] == list(range(1, len(merges) + 1))
    made, right = defaultdict(list), defaultdict(list)
    for _, *merge in merges:
        made[allowed[merge[0]]].append(merge)
    for merge in expected.merges:
        right[allowed[merge[0]]].append(merge)
    assert made.keys() == right.keys()
    for where, found in made.items():
        assert [merge[:2] for merge in found] == [[*merge[:2]] for merge in right[where]]
        gains = [merge[2] for merge in right[where]]
        assert [merge[2] for merge in found] == pytest.approx(gains, rel=0, abs=1e-9)

    # Hyperstages and stages
    first = {v: min(block) for block in oracle.partition(allowed) for v in block}
    assert of(
        db, "select h.hyperstage_id, v.name, h.labels, h.n_situations "
        "from cegdb.hyperstage as h inner join cegdb.staging as s using (staging_id) "
        "left join cegdb.variable as v using (variable_id) where s.name = $name "
        "order by h.hyperstage_id"
    ) == [
        (
            min(block),
            asked.pop() if len(asked) == 1 else None,
            list(tree.by_id[min(block)].children),
            len(block),
        )
        for block in sorted(oracle.partition(allowed), key=min)
        for asked in [{tree.by_id[v].variable for v in block}]
    ]  # fmt: skip
    assert of(
        db, "select stage_id, hyperstage_id, n_situations, n, kind from cegdb.stages "
        "where staging = $name order by stage_id"
    ) == [
        (
            min(block),
            first[min(block)],
            len(block),
            sum(tree.by_id[v].n for v in block),
            expected.kind[min(block)],
        )
        for block in sorted(oracle.partition(expected.stage), key=min)
    ]  # fmt: skip
    check_estimates(db, learnt, tree, used, expected.stage)
    return set(expected.kind.values())


def check_estimates(
    db: Database, learnt: StagedTree, tree: Tree, alpha: float, stage: Stages
) -> None:
    """Compare priors, shares, probabilities and scores with the oracle's."""
    pooled = oracle.stage_florets(tree, alpha, stage)
    chances = oracle.probabilities(tree, alpha, stage)
    edges = of(
        db,
        "select stage_id, label, prior, n, share, probability, low, high "
        "from cegdb.stage_edges where staging = $name order by stage_id, label_id",
    )
    florets = {s: sorted(tree.by_id[s].children) for s in pooled if isinstance(s, int)}
    assert sorted(edge[:2] for edge in edges) == sorted(
        (s, label) for s, floret in florets.items() for label in floret
    )
    log_likelihood = 0.0
    for s, label, prior, n, share, probability, low, high in edges:
        own, at = pooled[s], florets[s].index(label)
        assert n == own.n[at]
        assert prior == pytest.approx(float(own.a[at]), rel=1e-12)
        assert probability == pytest.approx(float(chances[s][label]), rel=1e-12)
        total = sum(own.n)
        assert share == (pytest.approx(n / total, rel=1e-12) if total else None)
        if len(own.n) == 1:
            asked = {tree.by_id[v].variable for v, of_v in stage.items() if of_v == s}
            others = {
                (vertex.variable, x)
                for vertex in tree.vertices.values()
                for x in vertex.children
                if vertex.variable in asked
            }
            is_left_out = learnt.tree.settings["sampling_zeros"] == "none" and total > 0
            if is_left_out and len(others) > len(asked):
                assert (probability, high) == (1, 1)
                assert low == pytest.approx(0.05 ** (1 / total))
            else:
                assert (probability, low, high) == (1, None, None)
        else:
            assert 0 <= low <= high <= 1
        log_likelihood += n * log(n / total) if n else 0
    df = sum(len(own.n) - 1 for own in pooled.values() if any(own.n))
    n_root = tree.by_id[0].n - tree.by_id[0].n_stopped
    assert learnt.df == df
    for found, expected in (
        (learnt.log_marginal_likelihood, oracle.log_marginal_likelihood(tree, alpha, stage)),
        (learnt.log_likelihood, log_likelihood),
        (learnt.aic, -2 * log_likelihood + 2 * df),
        (learnt.bic, -2 * log_likelihood + df * log(max(n_root, 1))),
    ):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


# =============================================================================
# Determinism
# =============================================================================

OTHER = "CEGDB_OTHER_PYTHON"
"""Names a Python whose DuckDB is another one, with the dependencies of cegdb."""
NOT_COMPARED = {"created_at", "seconds", "cegdb_version", "source"}


def tables(db: Database) -> dict[str, str]:
    """Return every table of the schema as text, its rows in the order stored."""
    return {
        table: "\n".join(map(repr, db.rows(query)[1])) for table, query in queries(db).items()
    }


def queries(db: Database) -> dict[str, str]:
    """Return a query of what is compared of every table of the schema."""
    _, names = db.rows(
        "select table_name, list(column_name order by column_index) from duckdb_columns() "
        "where schema_name = 'cegdb' and table_name in "
        "(select table_name from duckdb_tables() where schema_name = 'cegdb') "
        "group by table_name order by table_name"
    )
    return {
        table: f"select {', '.join(name for name in columns if name not in NOT_COMPARED)} "  # noqa: S608
        f"from cegdb.{table}"
        for table, columns in names
    }


def exports(db: Database) -> dict[str, bytes]:
    """Return the graph files of every tree, staging and CEG."""
    found = {}
    with TemporaryDirectory() as folder:
        for kind in (db.trees, db.stagings, db.cegs):
            for number, drawn in enumerate(kind):
                for suffix in (".dot", ".graphml", ".json"):
                    file = Path(folder) / f"{drawn.kind}{number}{suffix}"
                    found[file.name] = drawn.export(file).read_bytes()
    return found


def everything(threads: int, make: Callable[[Database], object]) -> dict[str, Any]:
    with cegdb.open(threads=threads) as db:
        make(db)
        return {**tables(db), **exports(db)}


def all_kinds(survey: Survey) -> None:
    """Make two trees of a survey, learnt and given stages, and their CEGs."""
    tree: EventTree = survey.event_tree(sampling_zeros="floret")
    tree.learn_stages(alpha=2, prior="mass", criterion="score").to_ceg()
    tree.learn_stages(hyperstages="labels", prior="mass", criterion="score").to_ceg(
        stop="baseline"
    )
    survey.event_tree(missing_policy="category", sampling_zeros="none").set_stages(
        {}, prior="mass"
    ).to_ceg()


@pytest.mark.slow
def test_neither_row_order_nor_threads_change_a_byte() -> None:
    rows, order = every_kind_of_cell()
    chance = random.Random()  # noqa: S311
    shuffled = chance.sample(rows, len(rows))
    first = everything(1, lambda db: all_kinds(ingest(db, rows, order)))
    threads = chance.choice((2, 8))
    again = everything(threads, lambda db: all_kinds(ingest(db, shuffled, order)))
    assert again == first, (shuffled, threads)


LARGE = ", ".join(f"'a' || hash(16 * i + {k}) % 4 as x{k}" for k in range(9))


@pytest.mark.slow
def test_nor_do_they_where_the_work_is_shared_or_spilled(tmp_path: Path) -> None:
    """A row group has 122,880 rows, so 150,000 are read by two threads or more."""

    def make(db: Database, order: str) -> None:
        rows = (
            f"select {LARGE}, cast(hash(i) % 999 + 1 as decimal(12, 3)) / 7 as w "  # noqa: S608
            f"from range(150000) as r(i) order by {order}"
        )
        tree = db.ingest(rows, name="large", weight="w").event_tree(sampling_zeros="none")
        grouping = (
            "select vertex_id, variable || array_to_string(labels, '|') || vertex_id % 3 "
            "as stage from cegdb.florets where tree = 'large'"
        )
        tree.set_stages(grouping, prior="mass").to_ceg()

    def of_rows(db: Database, query: str) -> str:
        copied = tmp_path / "rows.csv"
        with db._store.reading() as con:
            con.execute(f"copy ({query}) to '{copied}' (header false)")
        return digest(copied.read_bytes())

    found: list[dict[str, str]] = []
    for threads, order, memory_limit in ((1, "i", None), (2, "hash(i)", "95MB")):
        file = tmp_path / f"{len(found)}.duckdb"
        with (
            spilled(file) as sizes,
            cegdb.open(file, threads=threads, memory_limit=memory_limit) as db,
        ):
            make(db, order)
            found.append({name: of_rows(db, text) for name, text in queries(db).items()})
            ((n_vertices,),) = db.rows("select n_vertices from cegdb.event_tree")[1]
            assert n_vertices > 122_880
        assert (sum(sizes) > 0) == (memory_limit is not None)
        assert [item.name for item in tmp_path.glob(f"{file.name}?*")] == []
    assert found[0] == found[1]


@contextmanager
def spilled(database: Path) -> Iterator[list[int]]:
    """Give the sizes that the folder for what does not fit in memory has meanwhile."""
    sizes, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            with suppress(FileNotFoundError):
                files = database.with_name(f"{database.name}.tmp").iterdir()
                sizes.append(sum(file.stat().st_size for file in files))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield sizes
    finally:
        done.set()
        watcher.join()


def digest(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def print_digest() -> None:
    """Print a digest of all that is made of a survey; run in processes of their own."""
    sample = death_tree()
    found = everything(2, lambda db: all_kinds(ingest(db, sample.rows, sample.order)))
    sys.stdout.write(digest(repr(sorted(found.items()))))


def digest_of(python: str, seed: str) -> str:
    script = (
        "import conftest, test_properties; from cegdb.stages import learning; "
        "learning.expected_spurious_stages = conftest.few_spurious_stages; "
        "test_properties.print_digest()"
    )
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here.parents[1], here.parent)))
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run(  # noqa: S603
        [python, "-c", script], cwd=here, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_the_seed_of_hashes_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_digest()
    here = capsys.readouterr().out
    assert len(here) == 64
    other = "4242" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    assert digest_of(sys.executable, other) == here


@pytest.mark.skipif(OTHER not in os.environ, reason=f"needs {OTHER}, of another DuckDB")
def test_nor_does_the_version_of_duckdb() -> None:
    assert digest_of(os.environ[OTHER], "0") == digest_of(sys.executable, "0")
