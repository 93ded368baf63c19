"""Label equivalence: labels that count as others in stages, positions and the CEG.

``relabelled`` says in slow Python what a relabelling makes of a tree; what the oracle says of
that tree is what the product must say of a staging with ``relabel=``.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import oracle
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st
from ingest_helpers import trace
from oracle import Graph, Stages, Tree
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.cli.options import read_relabel
from cegdb.errors import StagingError, StaleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database, EventTree, StagedTree

    Sound = Callable[[Database], None]
    Rules = dict[Any, str]

OUTCOME = {"recovery*": "recovery"}


@pytest.fixture(scope="module")
def one() -> Iterator[Database]:
    """Give one database for all examples, each of which replaces the one before."""
    with cegdb.open(threads=2) as db:
        yield db


# -----------------------------------------------------------------------------
# W5.1
# -----------------------------------------------------------------------------

WARDS = {("hospital",): "t", ("community",): "t"}
STAGES = {**WARDS, ("hospital", "test+"): "g", ("community", "no test"): "g"}


def wards(*outcomes: str) -> pd.DataFrame:
    """Return the survey of W5.1, whose vertices v9, v10, v17, v18 are here s3 to s6."""
    rows = [
        (ward, test, outcome)
        for ward in ("hospital", "community")
        for test, good in (("test+", "recovery"), ("no test", "recovery*"))
        for outcome in (good, "death", *outcomes)
    ]
    frame = pd.DataFrame(rows, columns=["Ward", "Test", "Outcome"])
    return frame.assign(n=range(10, 10 + len(frame)))


def make_w5_1(db: Database) -> None:
    levels = {"Ward": ["hospital", "community"], "Test": ["test+", "no test"]}
    db.ingest(wards(), name="wards", count="n", levels=levels).event_tree(sampling_zeros="none")


@pytest.fixture
def w5_1(db: Database) -> EventTree:
    return db.trees["wards"]


@pytest.mark.slow
@pytest.mark.holds(made_by=make_w5_1)
def test_w5_1_equal_labels_make_one_stage_and_one_position(
    db: Database, w5_1: EventTree, sound: Sound
) -> None:
    with pytest.raises(
        StagingError,
        match=r"'g' cannot hold both .* \(death, recovery\), .*\n.*relabel",
    ):
        w5_1.set_stages(STAGES, prior="mass")
    assert len(w5_1.set_stages(WARDS, "raw", prior="mass").to_ceg().positions) == 8
    staged = w5_1.set_stages(STAGES, relabel=OUTCOME, prior="mass")
    assert "2 edges relabelled" in staged.summary
    ceg = staged.to_ceg()
    assert len(ceg.positions) == 7
    places = db.sql("select situation, position from cegdb.situation_positions where ceg = $c",
                    {"c": ceg.name}).set_index("situation")["position"]  # fmt: skip
    assert places["s3"] == places["s6"]
    assert len(set(places)) == 6
    edges = ceg.edges[ceg.edges["source"] == "w3"]
    assert [(e.label, list(e.raw_labels), e.n) for e in edges.itertuples()] == [
        ("death", ["death"], 11 + 17),
        ("recovery", ["recovery", "recovery*"], 10 + 16),
    ]
    sound(db)


@pytest.mark.holds(made_by=make_w5_1)
def test_w5_1_joining_siblings_is_refused(w5_1: EventTree) -> None:
    with pytest.raises(StagingError) as caught:
        w5_1.set_stages(STAGES, relabel={**OUTCOME, "death": "recovery"}, prior="mass")
    assert str(caught.value) == (
        "relabel gives 'death', 'recovery' the same label, 'recovery', in situation "
        "('hospital', 'test+') with labels death, recovery\nhint: labels of one situation "
        "must differ: "
        "relabel in fewer places, or join the answers at ingest (recode in the codebook)"
    )


@pytest.mark.slow
@pytest.mark.holds(made_by=make_w5_1)
def test_the_tree_keeps_its_labels_and_paths_are_written_with_them(
    db: Database, w5_1: EventTree
) -> None:
    before = w5_1.edges.to_csv()
    renamed = {"hospital": "ward", "recovery*": "recovery"}
    staged = w5_1.set_stages(STAGES, relabel=renamed, prior="mass")
    assert w5_1.edges.to_csv() == before
    assert staged.florets.set_index("situation")["labels"]["s6"].tolist() == [
        "death",
        "recovery*",
    ]
    edges = db.sql("from cegdb.staged_edges order by child_id")
    assert edges["label"].tolist() == w5_1.edges["label"].tolist()
    assert edges["label"][0] == "hospital"
    joined = edges.merge(staged.stage_edges, on=["stage_id", "label_id"], suffixes=("", "_of"))
    assert len(joined) == len(edges)
    assert (joined["probability"] == joined["probability_of"]).all()
    changed = joined[joined["label"] != joined["label_of"]]
    assert dict(zip(changed["label"], changed["label_of"], strict=True)) == renamed
    with pytest.raises(StagingError, match="no situation \\('ward', 'test\\+'\\)"):
        w5_1.set_stages({("ward", "test+"): "g"}, relabel=renamed, prior="mass")


# -----------------------------------------------------------------------------
# Where a rule holds
# -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("relabel", "expected"),
    [
        ({"recovery*": "well"}, {4: "well", 6: "well"}),
        ({("Outcome", "recovery*"): "well"}, {4: "well", 6: "well"}),
        ({("outcome", "recovery*"): "well"}, {4: "well", 6: "well"}),
        ({"RECOVERY* ": "well"}, {4: "well", 6: "well"}),
        ({("outcome", "Recovery*"): "well"}, {4: "well", 6: "well"}),
        ({(("Hospital", "no TEST"), "Recovery*"): "well"}, {4: "well"}),
        ({(("hospital", "no test"), "recovery*"): "well"}, {4: "well"}),
        ({(("*", "no test"), "recovery*"): "well"},
         {4: "well", 6: "well"}),
        ({(("*", "*"), "death"): "end"}, dict.fromkeys((3, 4, 5, 6), "end")),
        ({((), "hospital"): "test+"}, {0: "test+"}),
        ({"recovery*": "death", "death": "recovery*", "recovery": "x"},
         {3: "x", 4: "death", 5: "x", 6: "death"}),
        ({"recovery*": "well", (("hospital", "no test"), "recovery*"): "well"},
         {4: "well", 6: "well"}),
        ({"death": "death", "test+": "test+"}, {}),
        ({}, {}),
    ],
)  # fmt: skip
@pytest.mark.holds(made_by=make_w5_1)
def test_a_rule_holds_anywhere_for_a_variable_or_at_a_path(
    db: Database, w5_1: EventTree, relabel: Rules, expected: dict[int, str]
) -> None:
    staged = w5_1.set_stages({}, relabel=relabel, prior="mass")
    _, rows = db.rows(
        "select e.parent_id, r.label from cegdb.relabelled_edge as r "
        "inner join cegdb.edge as e using (child_id) "
        "inner join cegdb.level as l using (level_id) "
        "where l.label in ('recovery', 'recovery*', 'hospital') or r.label = 'end' order by all"
    )
    assert dict(rows) == expected
    assert staged.to_ceg().edges["n"].sum() == w5_1.edges["n"].sum()


BAD: list[tuple[Any, str]] = [
    (
        {"recovry": "x"},
        r"the tree has no label 'recovry'; the labels are 'hospital', 'community'",
    ),
    (
        {("Outcom", "death"): "x"},
        r"no variable 'Outcom' in the tree; available: .*\n.*mean 'Outcome'",
    ),
    ({("Ward", "death"): "x"}, r"'death' of 'Ward'; the labels are 'hospital', 'community'\n"),
    (
        {(("hospital", "tset"), "death"): "x"},
        r"no situation \('hospital', 'tset'\); the path leads to \('hospital',\) with la",
    ),
    (
        {(("hospital", "*"), "test+"): "x"},
        r"'test\+' at \('hospital', '\*'\); the situation is \('hospital', 'test\+'\) with",
    ),
    ({(("hospital", "test+", "death"), "x"): "x"}, r"'death'\) which is a leaf"),
    ({((), "death"): "x"}, r"'death' at \(the root\); the situation is \(the root\) with "),
    (
        {"death": "a", ("Outcome", "death"): "b"},
        r"two labels, 'a' and 'b', to 'death' of situation \('hospital', 'test\+'\) with lab",
    ),
    ({"test+": "test+", (("hospital",), "test+"): "no test"}, r"'no test' and 'test\+', to"),
    (
        {"recovery*": "death"},
        r"'death', 'recovery\*' the same label, 'death', in situation \('hosp",
    ),
    ({(("*", "no test"), "death"): "recovery*"}, r"the same label, 'recovery\*', in situation"),
    (
        {"hospital": "community"},
        r"the same label, 'community', in situation \(the root\) with lab",
    ),
    ({"death": ""}, r"the new label of 'death' must be a text that is not blank, not ''"),
    ({"death": "  "}, r"the new label of 'death' must be a text that is not blank, not '  '"),
    ({"death": None}, r"the new label of 'death' must be a text that is not blank, not None"),
    (
        {"death": ("a", "b")},
        r"the new label of 'death' must be a text that is not blank, not \('a', 'b'\)",
    ),
    (
        {"y": {"u": "x"}},
        (
            r"the new label of 'y' must be a text that is not blank, not \{'u': 'x'\}"
            r"\nhint: give label -> new"
        ),
    ),
    ({"death": "\ud800"}, r"is not UTF-8 text"),
    ({None: "x"}, r"the label of None must be a text that is not blank, not None"),
    (
        {("Outcome", ""): "x"},
        r"the label of \('Outcome', ''\) must be a text that is not blank, not ''",
    ),
    (
        {(("hospital", None), "death"): "x"},
        r"the path \('hospital', None\) must be a text that is not blank, not None",
    ),
    ({("a", "b", "c"): "x"}, r"not a pair \(where, label\)\nhint: give label -> new"),
    (
        {(5, "death"): "x"},
        r"where to relabel must be a list, not 5\nhint: give label -> new",
    ),
    (["death"], r"relabel must be a mapping, not \['death'\]\nhint: give label -> new"),
    ("death=x", r"relabel must be a mapping, not 'death=x'"),
]


@pytest.mark.parametrize(("relabel", "message"), BAD)
@pytest.mark.holds(made_by=make_w5_1)
def test_what_cannot_be_relabelled_is_refused_and_leaves_nothing(
    db: Database, w5_1: EventTree, relabel: Any, message: str
) -> None:
    before = trace(db)
    with pytest.raises(StagingError, match=message):
        w5_1.learn_stages(relabel=relabel, prior="mass", criterion="score")
    with pytest.raises(StagingError, match=message):
        w5_1.set_stages({}, relabel=relabel, prior="mass")
    assert trace(db) == before


# -----------------------------------------------------------------------------
# Ids of labels
# -----------------------------------------------------------------------------


def label_ids(db: Database) -> dict[str, int]:
    _, rows = db.rows("select label, label_id from cegdb.labels")
    assert len(dict(rows)) == len(rows) == len({label_id for _, label_id in rows})
    return dict(rows)


@pytest.mark.slow
@pytest.mark.holds(made_by=make_w5_1)
def test_a_text_has_one_id_in_a_survey_and_goes_with_the_last_staging(
    db: Database, w5_1: EventTree, sound: Sound
) -> None:
    own = label_ids(db)
    w5_1.set_stages({}, "first", relabel={"death": "dead", "recovery*": "alive"}, prior="mass")
    first = label_ids(db)
    assert {text: first[text] - max(own.values()) for text in first.keys() - own.keys()} == {
        "alive": 1,
        "dead": 2,
    }
    second = w5_1.learn_stages(
        "second", relabel={"death": "dead", "recovery": "well"}, prior="mass", criterion="score"
    )
    assert label_ids(db) == {**first, "well": max(first.values()) + 1}
    found = second.stage_edges.set_index("label")["label_id"]
    assert set(found["dead"]) == {first["dead"]}
    sound(db)
    db.drop("staging", "first")
    assert label_ids(db) == {**own, "dead": first["dead"], "well": max(first.values()) + 1}
    sound(db)
    db.drop("staging", "second")
    assert label_ids(db) == own
    assert db.rows("from cegdb.relabelled_edge")[1] == []


@pytest.mark.slow
def test_labels_that_a_codebook_declares_the_same_stay_so(db: Database, sound: Sound) -> None:
    book = {"variables": {"Outcome": {"same": [["recovery", "recovery*"]]}}}
    tree = db.ingest(wards(), name="wards", count="n", codebook=book).event_tree(
        sampling_zeros="none"
    )
    staged = tree.set_stages({}, relabel={"death": "end"}, prior="mass")
    assert set(map(tuple, staged.stages["labels"])) >= {("end", "recovery")}
    other = tree.set_stages(
        {}, "other", relabel={"hospital": "recovery*", "recovery": "ok"}, prior="mass"
    )
    assert "recovery" in set(other.stage_edges["label"])
    ceg = other.to_ceg()
    assert set(ceg.edges["label"]) >= {"ok", "recovery"}
    sound(db)
    with pytest.raises(StagingError, match="the same label, 'recovery', in situation"):
        tree.set_stages({}, relabel={"death": "recovery*"}, prior="mass")


# -----------------------------------------------------------------------------
# Against the oracle
# -----------------------------------------------------------------------------


def fits(rule: Any, path: oracle.Path, variable: str, label: str) -> bool:
    """Say whether a rule is about the edge ``label`` of the situation at a path."""
    if not isinstance(rule, tuple):
        return bool(rule == label)
    where, raw_label = rule
    if raw_label != label or isinstance(where, str):
        return bool(rule == (variable, label))
    words = oracle.labels(path)
    return len(where) == len(words) and all(
        w in ("*", x) for w, x in zip(where, words, strict=True)
    )


def relabelled(tree: Tree, rules: Rules) -> Tree | None:
    """Return the tree with its new labels, None if there are none it can have."""
    copy = deepcopy(tree)
    used = set()
    for vertex in copy.situations:
        children = {}
        for label, child in vertex.children.items():
            fitting = [r for r in rules if fits(r, vertex.path, str(vertex.variable), label)]
            used.update(fitting)
            new = {rules[rule] for rule in fitting} or {label}
            if len(new) > 1 or children.keys() & new:
                return None
            children[new.pop()] = child
        vertex.children = children
    return copy if used == set(rules) else None


def colours(tree: Tree, sample: StagedSample) -> dict[oracle.Path, str]:
    """Return stages by colour within the variables and label sets of a tree."""
    return {
        v.path: f"{v.variable} {sorted(v.children)} {sample.stage[v.path][-1]}"
        for v in tree.situations
    }


@st.composite
def relabellings(draw: Any, sample: StagedSample) -> Rules:
    """Draw rules for a tree: most of them fit some edge, some cannot be."""
    tree = oracle.event_tree(sample.rows, sample.order)
    vertices = st.sampled_from(tree.situations)
    rules: Rules = {}
    for _ in range(draw(st.integers(1, 3))):
        vertex = draw(vertices)
        label = draw(st.sampled_from(sorted(vertex.children)))
        words = oracle.labels(vertex.path)
        path = tuple(draw(st.sampled_from([word, word, "*"])) for word in words)
        where = draw(st.sampled_from([None, str(vertex.variable), path, path]))
        rules[label if where is None else (where, label)] = draw(
            st.sampled_from(["y", "n", "a", "z", "w"])
        )
    return rules


def grow(db: Database, sample: StagedSample) -> EventTree:
    columns: dict[str, list[Any]] = {
        v: [None if row[v] is oracle.BLANK else row[v] for row, _ in sample.rows]
        for v in sample.order
    }
    columns["people"] = [n for _, n in sample.rows]
    frame = pd.DataFrame(columns, dtype=object)
    return db.ingest(frame, name="it", count="people", replace=True).event_tree(
        sampling_zeros="none"
    )


def graph(ceg: ChainEventGraph) -> Graph:
    positions = ceg.positions.dropna(subset="stage_id")
    return Graph(
        0,
        dict(zip(positions["position_id"], positions["stage_id"], strict=True)),
        {(e.source_id, e.label): (e.target_id, e.n) for e in ceg.edges.itertuples()},
    )


def words(tree: Tree, stage: Stages) -> dict[tuple[str, ...], Any]:
    """Return new labels from the root -> stage (None on leaves)."""
    stage_of: dict[tuple[str, ...], Any] = {}

    def walk(vertex_id: int, word: tuple[str, ...]) -> None:
        stage_of[word] = stage.get(vertex_id)
        for label, child in tree.by_id[vertex_id].children.items():
            walk(child, (*word, label))

    walk(0, ())
    return stage_of


def recovered(ceg: ChainEventGraph) -> dict[tuple[str, ...], Any]:
    stage_of: dict[tuple[str, ...], Any] = {}
    paths: dict[Any, tuple[str, ...]] = {}
    for row in ceg.recover().itertuples():
        above = paths.get(row.parent_id, ())
        paths[row.vertex_id] = word = (*above, row.label) if row.depth else ()
        stage_of[word] = None if pd.isna(row.stage_id) else row.stage_id
    return stage_of


def members(db: Database, table: str) -> dict[int, int]:
    """Return vertex -> stage or position of the object called "it"."""
    kind = table.removesuffix("_member")
    owner = {"stage": "staging", "position": "ceg"}[kind]
    _, rows = db.rows(
        f"select vertex_id, {kind}_id from cegdb.{table} inner join cegdb.{owner} "  # noqa: S608
        f"using ({owner}_id) where name = 'it'"
    )
    return dict(rows)


@pytest.mark.slow
@run(3)
@given(st.data(), staged_trees(jumps=True))
def test_a_relabelled_staging_and_its_ceg_are_the_oracles(
    one: Database, sound: Sound, data: st.DataObject, sample: StagedSample
) -> None:
    rules = data.draw(relabellings(sample))
    tree = grow(one, sample)
    raw = oracle.event_tree(sample.rows, sample.order)
    new = relabelled(raw, rules)
    if new is None:
        with pytest.raises(StagingError, match="relabel"):
            tree.set_stages({}, relabel=rules, prior="mass")
        return
    named = colours(new, sample)
    stage = oracle.stage_of(new, named)
    by_labels = {oracle.labels(path): name for path, name in named.items()}
    staged = tree.set_stages(by_labels, relabel=rules, prior="mass")
    assert members(one, "stage_member") == stage
    for edge in staged.stage_edges.itertuples():
        right = oracle.probabilities(new, staged._row()["alpha"], stage)
        assert edge.probability == pytest.approx(float(right[edge.stage_id][edge.label]))
    ceg = staged.to_ceg()
    expected = oracle.ceg(new, stage)
    assert graph(ceg) == expected
    assert members(one, "position_member") == oracle.positions(new, stage)
    raw_labels: dict[tuple[int, str], set[str]] = {}
    position_of = oracle.positions(new, stage)
    for before, after in zip(raw.situations, new.situations, strict=True):
        for raw_label, label in zip(before.children, after.children, strict=True):
            raw_labels.setdefault((position_of[before.id], label), set()).add(raw_label)
    assert raw_labels == {
        (e.source_id, e.label): {*e.raw_labels} for e in ceg.edges.itertuples()
    }
    assert recovered(ceg) == words(new, stage) == oracle.recover(expected)
    staged.to_ceg("in full", stop="baseline", replace=True)
    assert graph(one.cegs["in full"]) == expected
    sound(one)


@pytest.mark.slow
@run(2)
@given(st.data(), staged_trees(jumps=True))
def test_stages_are_learnt_with_the_new_labels(
    one: Database, sound: Sound, data: st.DataObject, sample: StagedSample
) -> None:
    rules = data.draw(relabellings(sample))
    new = relabelled(oracle.event_tree(sample.rows, sample.order), rules)
    assume(new is not None)
    assert new is not None
    by = data.draw(st.sampled_from(["variable", "labels"]))
    staged = grow(one, sample).learn_stages(
        relabel=rules, hyperstages=by, prior="mass", criterion="score"
    )
    learnt = oracle.ahc(new, staged._row()["alpha"], oracle.hyperstages(new, by))  # type: ignore[arg-type]
    assert members(one, "stage_member") == learnt.stage
    assert graph(staged.to_ceg()) == oracle.ceg(new, learnt.stage)
    sound(one)


@pytest.mark.slow
@run(2)
@given(st.data(), staged_trees(jumps=True))
def test_relabelling_anywhere_never_makes_positions_finer(
    one: Database, data: st.DataObject, sample: StagedSample
) -> None:
    old = st.sampled_from(["y", "n", "a"])
    rules: Rules = data.draw(st.dictionaries(old, st.sampled_from("ynazw"), min_size=1))
    raw = oracle.event_tree(sample.rows, sample.order)
    new = relabelled(raw, rules)
    assume(new is not None)
    stages = {oracle.labels(path): name for path, name in sample.stage.items()}
    tree = grow(one, sample)
    before, after = [], []
    for partitions, relabel in ((before, None), (after, rules)):
        staged = tree.set_stages(stages, "it", relabel=relabel, replace=True, prior="mass")
        staged.to_ceg("it", replace=True)
        partitions += [members(one, "stage_member"), members(one, "position_member")]
    assert before[0] == after[0]
    for block in oracle.partition(before[1]):
        assert len({after[1][vertex_id] for vertex_id in block}) == 1


@pytest.mark.slow
@run(2)
@given(st.data(), staged_trees(jumps=True))
def test_new_names_for_all_change_nothing_but_names(
    one: Database, data: st.DataObject, sample: StagedSample
) -> None:
    raw = oracle.event_tree(sample.rows, sample.order)
    there = sorted({label for v in raw.situations for label in v.children})
    names = dict(
        zip(there, data.draw(st.permutations(["n", "y", "1", "é", "'"])), strict=False)
    )
    tree = grow(one, sample)
    tables: list[Any] = []
    for relabel in (None, names):
        staged = tree.learn_stages(
            "it", relabel=relabel, replace=True, prior="mass", criterion="score"
        )
        ceg = staged.to_ceg("it", replace=True)
        new = names if relabel is None else {label: label for label in names.values()}
        tables.append(
            (
                members(one, "stage_member"),
                members(one, "position_member"),
                Counter((e.source_id, new[e.label], e.target_id, e.n, round(e.probability, 9))
                        for e in ceg.edges.itertuples()),
                Counter(str(e.raw_labels) for e in ceg.edges.itertuples()),
                round(staged.log_marginal_likelihood, 6),
                staged.df,
            )
        )  # fmt: skip
    assert tables[0] == tables[1]


# -----------------------------------------------------------------------------
# Rebuild
# -----------------------------------------------------------------------------


def panel(db: Database, relabel: Rules) -> StagedTree:
    tree = db.ingest(wards(), name="wards", count="n").event_tree(sampling_zeros="none")
    staged = tree.learn_stages(relabel=relabel, prior="mass", criterion="score")
    tree.learn_stages("plain", prior="mass", criterion="score").to_ceg()
    tree.learn_stages(
        "other", relabel={"recovery": "saved", **relabel}, prior="mass", criterion="score"
    ).to_ceg()
    staged.to_ceg()
    return staged


@pytest.mark.slow
@pytest.mark.parametrize("stages", ["keep", "relearn"])
def test_a_rebuild_relabels_again(db: Database, sound: Sound, stages: Any) -> None:
    staged = panel(db, {("Outcome", "recovery*"): "well", "death": "end"})
    before = staged.stage_edges
    more = wards("unknown", "lost", "moved")
    db.surveys["wards"].append(more[more["Outcome"] != "recovery*"])
    assert staged.stage_edges.equals(before)
    sound(db)
    db.rebuild(stages=stages)
    labels = label_ids(db)
    assert {"well", "end", "saved", "unknown"} <= labels.keys()
    assert set(staged.stages["labels"].explode()) >= {"well", "end", "recovery", "unknown"}
    assert "recovery*" not in set(staged.stage_edges["label"])
    assert set(staged.drift["label"].dropna()) <= set(before["label"]) | set(
        staged.stage_edges["label"]
    )
    again = staged.tree.learn_stages(
        "again", relabel={("Outcome", "recovery*"): "well"}, prior="mass", criterion="score"
    )
    assert set(again.stage_edges["label_id"]) <= set(labels.values())
    assert "edges relabelled" in staged.summary
    sound(db)


@pytest.mark.slow
def test_priors_are_given_by_the_labels_of_the_tree(db: Database, sound: Sound) -> None:
    tree = db.ingest(wards(), name="wards", count="n").event_tree(sampling_zeros="none")
    there = ("hospital", "no test")
    prior = {there: {"recovery*": 3.0, "death": 1.0}}
    staged = tree.learn_stages(relabel=OUTCOME, prior=prior, criterion="score")
    with pytest.raises(StagingError, match="does not fit situation"):
        tree.learn_stages(
            relabel=OUTCOME, prior={there: {"recovery": 3.0, "death": 1.0}}, criterion="score"
        )
    for _ in range(2):
        ((mass,),) = db.rows(
            "select p.prior from cegdb.prior_entry as p inner join cegdb.staged_edges as e "
            "using (child_id) inner join cegdb.stage_edges as s using (stage_id, label_id) "
            "where e.staging = 'wards' and s.staging = 'wards' and s.label = 'recovery'"
        )[1]
        assert mass == 3
        staged.to_ceg("it", replace=True)
        sound(db)
        db.surveys["wards"].append(wards())
        db.rebuild()


@pytest.mark.slow
@pytest.mark.holds(made_by=make_w5_1)
def test_alphas_are_compared_with_the_new_labels(w5_1: EventTree) -> None:
    path = w5_1.alpha_path(relabel=OUTCOME)
    at_default = path[path["is_default"]]["log_marginal_likelihood"].item()
    assert at_default == w5_1.learn_stages(relabel=OUTCOME).log_marginal_likelihood


@pytest.mark.slow
def test_drift_compares_a_new_label_with_itself(db: Database) -> None:
    staged = panel(db, {"recovery*": "well", "recovery": "well"})
    before = staged.stage_edges.set_index(["stage", "label"])["probability"]
    db.surveys["wards"].append(wards())
    db.rebuild()
    after = staged.stage_edges.set_index(["stage", "label"])["probability"]
    for row in staged.drift.itertuples():
        assert row.probability_before == before[row.former_stage, row.label]
        assert row.probability_after == after[row.stage, row.label]


@pytest.mark.slow
def test_a_rule_that_fits_nothing_any_more_is_passed_over(db: Database, sound: Sound) -> None:
    staged = panel(db, {"recovery*": "well", (("*", "no test"), "death"): "end"})
    db.surveys["wards"].refresh(wards().query("Test == 'test+'"))
    db.rebuild(stages="relearn")
    assert "edges relabelled" not in staged.summary
    for why in (
        "skipped: relabel: the tree has no label 'recovery*'; the labels are",
        "skipped: relabel: there is no situation ('*', 'no test'); the path leads to ('comm",
    ):
        assert why in staged.summary
    sound(db)
    db.surveys["wards"].refresh(wards())
    db.rebuild(stages="relearn")
    assert "4 edges relabelled" in staged.summary
    sound(db)


@pytest.mark.slow
def test_siblings_that_came_to_have_one_label_stop_a_rebuild(db: Database) -> None:
    staged = panel(db, {"recovery*": "well"})
    db.surveys["wards"].append(wards("well"))
    with pytest.raises(
        StaleError, match=r"staging 'wards' cannot be rebuilt: relabel gives .*well"
    ):
        db.rebuild()
    assert "stale" in staged.summary


# -----------------------------------------------------------------------------
# Elsewhere
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_probability_is_hidden_wherever_its_new_label_is(db: Database) -> None:
    frame = wards()
    frame["n"] = [40, 40, 40, 40, 40, 40, 3, 40]
    tree = db.ingest(frame, name="wards", count="n").event_tree(sampling_zeros="none")
    outcomes = {(ward, test): "g" for ward in ("hospital", "community")
                for test in ("test+", "no test")}  # fmt: skip
    staged = tree.set_stages(outcomes, relabel=OUTCOME, prior="mass")
    names, rows = staged.rows("staged_edges", min_n=5)
    masked = pd.DataFrame(rows, columns=names)
    good = masked[masked["label"].isin(["recovery", "recovery*"])]
    assert set(good["label"]) == {"recovery", "recovery*"}
    assert good["probability"].isna().all()
    assert tree.set_stages({}, "open", prior="mass").rows("staged_edges", min_n=1)[0] == names


@pytest.mark.slow
def test_the_command_line_takes_rules(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    wards().to_csv("wards.csv", index=False)
    call = CliRunner().invoke
    for relabel in ("recovery*=recovery", "Outcome:recovery*=recovery"):
        command = ["run", "wards.csv", "--count", "n", "--db", "w.duckdb", "--replace"]
        both = call(main, [*command, "--relabel", relabel])
        assert both.exit_code == 3
        assert "where nobody gave one of them, sampling_zeros='none' leaves it" in both.stderr
        result = call(main, [*command, "--sampling-zeros", "none", "--relabel", relabel])
        assert result.exit_code == 0, result.output
        assert "2 edges relabelled" in result.stderr
        assert "recovery*" not in result.stdout
    result = call(
        main, ["learn-stages", "w.duckdb", "wards", "--name", "b", "--relabel", "death=end"]
    )
    assert "4 edges relabelled" in result.stderr, result.output
    for relabel, why in (
        ("recovery", "error: --relabel 'recovery' is not [VARIABLE:]LABEL=NEW\nhint: put "),
        ("recovery*=death", "error: relabel gives 'death', 'recovery*' the same label"),
    ):
        failed = call(main, ["learn-stages", "w.duckdb", "wards", "--relabel", relabel])
        assert why in failed.stderr, failed.output
        assert failed.exit_code == 3


def test_the_command_line_reads_quoted_parts() -> None:
    values = ["a=b", "X:a=b=c", '"10:30"=early', '"a ""b""":"x=y"="q"', "X:a=b=c"]
    assert read_relabel(None, None, values) == {
        "a": "b",
        ("X", "a"): "b=c",
        "10:30": "early",
        ('a "b"', "x=y"): "q",
    }
    for bad in ("a", "=b", "a=", ":a=b", "X:Y:a=b"):
        with pytest.raises(StagingError, match="is not"):
            read_relabel(None, None, [bad])
    with pytest.raises(StagingError, match="gives 'a' two labels"):
        read_relabel(None, None, ["a=b", "a=c"])
