"""Comparing stagings, against partitions counted by hand and by slow, obvious Python."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import defaultdict
from itertools import permutations
from math import lgamma, log
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from database_template import file_with
from datasets import peer, survey_file
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from scipy.stats import chi2
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.compare.stage_matching import match_stages
from cegdb.errors import StagingError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from cegdb.api import Database, EventTree, StagedTree

    Words = tuple[str, ...]
    Partition = set[frozenset[Any]]


# =============================================================================
# Oracle
# =============================================================================


def blocks(stage: Mapping[Any, Any]) -> Partition:
    members: dict[Any, set[Any]] = defaultdict(set)
    for situation, name in stage.items():
        members[name].add(situation)
    return {frozenset(block) for block in members.values()}


def fewest_changes(a: Partition, b: Partition) -> int:
    """Try every way to match blocks one to one."""
    small, large = sorted(([*a], [*b]), key=len)
    total = sum(map(len, small))
    return min(
        total - sum(len(x & y) for x, y in zip(small, others, strict=True))
        for others in permutations(large, len(small))
    )


def within(partition: Partition, part: Iterable[Any]) -> Partition:
    """Return the blocks of some situations."""
    return {block & frozenset(part) for block in partition} - {frozenset()}


def relations(a: Partition, b: Partition) -> set[tuple[frozenset[Any], frozenset[Any], str]]:
    def relation(x: frozenset[Any], y: frozenset[Any]) -> str:
        return "=" if x == y else "<" if x < y else ">" if x > y else "overlap"

    return {(x, y, relation(x, y)) for x in a for y in b if x & y}


def discrepancy(
    a: Mapping[Any, Any], b: Mapping[Any, Any], variable: Mapping[Any, str]
) -> float:
    """Count, a variable at a time, the contexts where b pools stages of a."""
    total = 0.0
    for name in set(variable.values()):
        contexts = [situation for situation in a if variable[situation] == name]
        wrong = 0
        for context in contexts:
            pooled = {a[other] for other in b if b[other] == b[context]}
            wrong += len(pooled) > 1
        total += wrong / len(contexts)
    return total


# =============================================================================
# Helpers
# =============================================================================


def stages_of(staged: StagedTree) -> dict[int, str]:
    florets = staged.florets
    return dict(zip(florets["vertex_id"], florets["stage"], strict=True))


def table(sample: StagedSample) -> pd.DataFrame:
    rows = [
        [*(None if row[v] is BLANK else row[v] for v in sample.order), n]
        for row, n in sample.rows
    ]
    return pd.DataFrame(rows, columns=[*sample.order, "n"], dtype=object)


def four_situations(db: Database) -> None:
    """Make a tree of 1 + 3 situations: x is 0, 1, 2; then y is 0, 1; counts by hand."""
    counts = {("0", "0"): 10, ("0", "1"): 30, ("1", "0"): 20, ("1", "1"): 20}
    counts |= {("2", "0"): 15, ("2", "1"): 5}
    rows = pd.DataFrame([(*path, n) for path, n in counts.items()], columns=["x", "y", "n"])
    db.ingest(rows, name="s", count="n").event_tree(name="t", sampling_zeros="none")


@pytest.fixture
def tree(db: Database) -> EventTree:
    return db.trees["t"]


def staged(tree: EventTree, name: str, stages: str, **settings: Any) -> StagedTree:
    """Stage y after x = 0, 1, 2 as three letters say."""
    given = {(str(x),): stage for x, stage in enumerate(stages)}
    return tree.set_stages(given, name, **{"prior": "mass", **settings})


# =============================================================================
# Against the oracle
# =============================================================================


@pytest.mark.slow
@run(2)
@given(
    st.one_of(staged_trees(jumps=True), staged_trees(max_depth=3, cross_variables=True)),
    st.data(),
)
def test_two_stagings_of_any_tree_compare_as_the_oracle_says(
    database: Database, sample: StagedSample, data: st.DataObject
) -> None:
    survey = database.ingest(table(sample), "s", count="n", replace=True)
    tree = survey.event_tree(blank="structural", sampling_zeros="none")
    found = tree.florets
    group = {row.vertex_id: tuple(row.labels) for row in found.itertuples()}
    variable = dict(zip(found["vertex_id"], found["variable"], strict=True))
    several = len(set(variable.values())) > 1 and data.draw(st.booleans())
    names = [
        {v: f"{'' if several else variable[v]}{group[v]}{letter}" for v, letter in drawn}
        for drawn in (
            [(v, data.draw(st.sampled_from("ppqr"))) for v in group] for _ in range(2)
        )
    ]
    a, b = (
        tree.set_stages(
            pd.DataFrame({"vertex_id": list(of), "stage": list(of.values())}),
            hyperstages="labels" if several else "variable",
            prior="mass",
        )
        for of in names
    )
    stage_a, stage_b = stages_of(a), stages_of(b)
    parts_a, parts_b = blocks(stage_a), blocks(stage_b)

    # Situations of different hyperstages never share a stage.
    hyperstage = {v: (group[v], "" if several else variable[v]) for v in group}
    fewest = sum(
        fewest_changes(within(parts_a, part), within(parts_b, part))
        for part in blocks(hyperstage)
    )
    assert a.hamming(b) == b.hamming(a) == fewest
    assert (fewest == 0) == (parts_a == parts_b)

    changed = a.diff(b)
    assert len(changed) == fewest
    assert changed["vertex_id"].is_monotonic_increasing
    matched = {stage_a[v]: stage_b[v] for v in set(group) - set(changed["vertex_id"])}
    assert len(set(matched.values())) == len(matched)
    situations = tree.situations.set_index("vertex_id")
    for row in changed.itertuples():
        assert (row.stage_a, row.stage_b) == (
            stage_a[row.vertex_id],
            stage_b[row.vertex_id],
        )
        assert row.stage_b != row.stage_a_in_b
        known = matched.get(row.stage_a)
        assert known == row.stage_a_in_b or (known is None and pd.isna(row.stage_a_in_b))
        told = situations.loc[row.vertex_id]
        assert (row.situation, row.path) == (told["situation"], told["path"])
        assert (row.variable, row.n) == (told["variable"], told["n"])

    included = a.inclusion(b)
    members = [
        {name: frozenset(v for v in of if of[v] == name) for name in of.values()}
        for of in (stage_a, stage_b)
    ]
    assert relations(parts_a, parts_b) == {
        (members[0][row.stage_a], members[1][row.stage_b], row.relation)
        for row in included.itertuples()
    }
    for row in included.itertuples():
        one, other = members[0][row.stage_a], members[1][row.stage_b]
        sizes = (len(one), len(other), len(one & other))
        assert sizes == (row.n_situations_a, row.n_situations_b, row.n_shared)
        asked = {variable[v] for v in one & other}
        assert {row.variable} == asked or (len(asked) > 1 and pd.isna(row.variable))

    assert a.cid(b) == pytest.approx(discrepancy(stage_a, stage_b, variable))
    assert (a.cid(b) == 0) == all(any(y <= x for x in parts_a) for y in parts_b)
    difference = a.log_marginal_likelihood - b.log_marginal_likelihood
    assert a.bayes_factor(b) == pytest.approx(difference, abs=1e-9)


@run(60)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(1, 9), max_size=12
    )
)
def test_no_matching_shares_more(shared_by: dict[tuple[int, int], int]) -> None:
    pairs = list(shared_by)
    stage, other = [p[0] for p in pairs], [p[1] for p in pairs]
    is_match = match_stages(stage, other, list(shared_by.values()))
    chosen = [pair for pair, is_matched in zip(pairs, is_match, strict=True) if is_matched]
    assert len({p[0] for p in chosen}) == len({p[1] for p in chosen}) == len(chosen)
    most = max(
        sum(shared_by.get((i, j), 0) for i, j in enumerate(order))
        for order in permutations(range(5))
    )
    assert sum(shared_by[pair] for pair in chosen) == most


def test_a_tree_of_many_stages_is_matched_quickly() -> None:
    """One staging has each situation alone, the other joins them by twenties."""
    alone = np.arange(200_000)
    is_match = match_stages(alone, alone // 20, np.ones(200_000, dtype=int))
    assert is_match.sum() == 10_000
    assert is_match[::20].all()


# =============================================================================
# By hand
# =============================================================================


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_stagings_of_three_situations_by_hand(tree: EventTree) -> None:
    one, two = staged(tree, "one", "ppp"), staged(tree, "two", "ppq")
    three, crossed = staged(tree, "three", "pqr"), staged(tree, "crossed", "pqq")
    assert [one.hamming(x) for x in (one, two, three, crossed)] == [0, 1, 2, 1]
    assert two.hamming(crossed) == 1
    assert [three.cid(x) for x in (one, two, three)] == [1.0, pytest.approx(2 / 3), 0.0]
    assert two.cid(crossed) == pytest.approx(2 / 3)
    assert one.cid(three) == 0.0

    changed = two.diff(crossed)
    columns = ["situation", "variable", "path", "stage_a", "stage_a_in_b", "stage_b", "n"]
    assert list(changed) == [*columns, "vertex_id"]
    assert changed[columns].to_numpy().tolist() == [["s2", "y", "1", "u1", "u1", "u2", 40]]
    assert one.diff(one).empty
    assert list(one.diff(one)) == list(changed)
    assert three.diff(one)["stage_a_in_b"].isna().tolist() == [True, True]

    included = two.inclusion(crossed)
    assert included.drop(columns=["stage_id_a", "stage_id_b"]).to_numpy().tolist() == [
        ["x", "u0", "=", "u0", 1, 1, 1],
        ["y", "u1", ">", "u1", 2, 1, 1],
        ["y", "u1", "overlap", "u2", 2, 2, 1],
        ["y", "u2", "<", "u2", 1, 2, 1],
    ]


@pytest.mark.holds(made_by=four_situations)
def test_names_given_to_stages_do_not_matter(tree: EventTree) -> None:
    one, other = staged(tree, "one", "ppq"), staged(tree, "other", "zzp")
    assert one.hamming(other) == 0
    assert one.diff(other).empty
    assert one.cid(other) == 0
    assert set(one.inclusion(other)["relation"]) == {"="}


def likelihood(*stages: tuple[int, int]) -> float:
    return sum(n * log(n / sum(stage)) for stage in stages for n in stage)


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_the_likelihood_ratio_test_by_hand(tree: EventTree) -> None:
    joined, two, apart = (staged(tree, s, s) for s in ("ppp", "ppq", "pqr"))
    test = joined.lr_test(apart)
    statistic = 2 * (likelihood((10, 30), (20, 20), (15, 5)) - likelihood((45, 55)))
    assert test == apart.lr_test(joined)
    assert (test.nested, test.nested_in, test.df) == ("ppp", "pqr", 2)
    assert test.statistic == pytest.approx(statistic)
    assert test.p_value == pytest.approx(chi2.sf(statistic, 2))
    assert test.p_value == pytest.approx(np.exp(-statistic / 2))  # 2 degrees of freedom

    test = two.lr_test(joined)
    statistic = 2 * (likelihood((30, 50), (15, 5)) - likelihood((45, 55)))
    assert (test.nested, test.nested_in, test.df) == ("ppp", "ppq", 1)
    assert test.statistic == pytest.approx(statistic)
    assert test.p_value == pytest.approx(chi2.sf(statistic, 1))
    both = two.lr_test(apart)
    assert both.statistic + test.statistic == pytest.approx(joined.lr_test(apart).statistic)


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_the_bayes_factor_by_hand(tree: EventTree, db: Database) -> None:
    joined, apart = (staged(tree, s, s, alpha=6) for s in ("ppp", "pqr"))

    def marginal(prior: float, *counts: int) -> float:
        rising = sum(lgamma(prior + n) - lgamma(prior) for n in counts)
        mass = prior * len(counts)
        return rising - lgamma(mass + sum(counts)) + lgamma(mass)

    stages = ((10, 30), (20, 20), (15, 5))
    expected = marginal(3, 45, 55) - sum(marginal(1, *counts) for counts in stages)
    assert joined.bayes_factor(apart) == pytest.approx(expected)
    assert apart.bayes_factor(joined) == pytest.approx(-expected)
    table = db.compare(apart, joined)
    assert table["log_bayes_factor"].tolist() == pytest.approx([0, expected])


@pytest.mark.slow
def test_a_test_of_stagings_learnt_elsewhere(db: Database) -> None:
    """The log likelihoods and df of stagedtrees on Asym give its lr_test."""
    results = {}
    data = db.ingest(survey_file("Asym"), name="asym")
    for name in ("indep", "bhc", "full"):
        theirs = peer("stagedtrees")["Asym"][name]
        if "asym" not in db.trees:
            tree = data.event_tree(order=theirs["order"], sampling_zeros="full")
        assert theirs["n_situations_unobserved"] == 0
        ours = tree.set_stages(
            {tuple(s["path"]): s["variable"] + s["stage"] for s in theirs["situations"]},
            name,
            prior="mass",
        )
        results[name] = (ours, theirs)
    for coarse, fine in (("indep", "bhc"), ("bhc", "full"), ("indep", "full")):
        (nested, one), (larger, other) = results[coarse], results[fine]
        tested = larger.lr_test(nested)
        statistic = 2 * (other["logLik"] - one["logLik"])
        assert tested.statistic == pytest.approx(statistic, abs=1e-6)
        assert tested.df == other["df"] - one["df"]
        assert (tested.nested, tested.nested_in) == (coarse, fine)


# =============================================================================
# Side by side
# =============================================================================


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_stagings_side_by_side(tree: EventTree, db: Database) -> None:
    one, learnt = (
        staged(tree, "one", "ppp"),
        tree.learn_stages("learnt", prior="mass", criterion="score"),
    )
    other = staged(tree, "other", "ppq", alpha=9)
    table = db.compare()
    assert list(table) == [
        "staging", "tree", "method", "score", "alpha", "n_stages", "df", "log_likelihood",
        "log_marginal_likelihood", "aic", "bic", "log_bayes_factor", "comparable_group",
        "is_best", "is_stale", "staging_id",
    ]  # fmt: skip
    assert table["staging"].tolist() == ["learnt", "one", "other"]
    assert table["is_best"].tolist() == [True, False, True]
    assert table["log_bayes_factor"].tolist() == pytest.approx([0, one.bayes_factor(learnt), 0])
    for row in table.itertuples():
        of = db.stagings[row.staging]
        assert row.n_stages == len(of.stages)
        scores = ("df", "log_likelihood", "log_marginal_likelihood", "aic", "bic")
        assert [getattr(row, name) for name in scores] == [getattr(of, name) for name in scores]
    assert table["score"].isna().tolist() == [False, True, True]
    view = db.sql("select staging, comparable_group from cegdb.stagings")
    assert dict(view.to_numpy()) == dict(table[["staging", "comparable_group"]].to_numpy())

    table = db.compare("other", one, "learnt", "one")
    assert table["staging"].tolist() == ["other", "one", "learnt"]
    assert table["log_bayes_factor"].isna().tolist() == [False, True, True]
    assert other.name == "other"
    table = db.compare(one, learnt)
    assert table["log_bayes_factor"].tolist() == pytest.approx([0, learnt.bayes_factor(one)])
    assert db.compare(one)["is_best"].tolist() == [True]


def test_an_empty_database_has_nothing_to_compare(db: Database) -> None:
    assert db.compare().empty
    with pytest.raises(UnknownNameError, match=r"no staging named 'x'; there are none yet"):
        db.compare("x")


@pytest.mark.slow
def test_a_read_only_file_is_compared(tmp_path: Path) -> None:
    file = tmp_path / "it.duckdb"
    with cegdb.open(file) as db:
        survey = db.ingest("select i % 3 as x, i % 4 < i % 3 as y from range(60) t(i)")
        tree = survey.event_tree(sampling_zeros="full")
        staged(tree, "one", "ppp")
        staged(tree, "two", "ppq")
    with cegdb.open(file, read_only=True) as db:
        one, two = db.stagings["one"], db.stagings["two"]
        assert len(db.compare()) == 2
        assert (one.hamming(two), len(one.diff(two)), len(one.inclusion(two))) == (1, 1, 3)
        assert (one.cid(two), one.lr_test(two).df) == (0.0, 1)
        assert one.bayes_factor(two) == -two.bayes_factor(one)


# =============================================================================
# Refused
# =============================================================================

CALLS: dict[str, Callable[[Any, Any], object]] = {
    "diff": lambda a, b: a.diff(b),
    "hamming": lambda a, b: a.hamming(b),
    "inclusion": lambda a, b: a.inclusion(b),
    "cid": lambda a, b: a.cid(b),
    "lr_test": lambda a, b: a.lr_test(b),
    "bayes_factor": lambda a, b: a.bayes_factor(b),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.holds(made_by=four_situations)
def test_stagings_of_different_trees_are_refused(
    tree: EventTree, db: Database, call: Callable[[Any, Any], object]
) -> None:
    one = staged(tree, "one", "ppp")
    turned = (
        db.surveys["s"]
        .event_tree("turned", order=["y", "x"], sampling_zeros="none")
        .learn_stages("turned", prior="mass", criterion="score")
    )
    text = r"'one' and 'turned' are of different trees, 't' and 'turned', which differ in order"
    with pytest.raises(StagingError, match=rf"{text} \(x, y and y, x\)\nhint: learn or give"):
        call(one, turned)
    with pytest.raises(
        StagingError,
        match=r"cannot compare a staged tree with 'turned'\nhint: give another StagedTree",
    ):
        call(one, "turned")


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_stagings_of_another_database_are_refused(tree: EventTree, db: Database) -> None:
    one = staged(tree, "one", "ppp")
    with cegdb.open() as another:
        far = (
            another.ingest("select 1 as x")
            .event_tree(sampling_zeros="none")
            .learn_stages("far", prior="mass", criterion="score")
        )
        for call in CALLS.values():
            with pytest.raises(StagingError, match="'far' belongs to another open database"):
                call(one, far)
        with pytest.raises(StagingError, match="is not a staging of this database"):
            db.compare(one, far)


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_what_differs_between_trees_is_named(tree: EventTree, db: Database) -> None:
    one = staged(tree, "one", "ppp")
    same = tree.learn_stages("same", prior="mass", criterion="score")
    elsewhere = (
        db.ingest("select 1 as x, 2 as y", "z")
        .event_tree(sampling_zeros="none")
        .learn_stages("far", prior="mass", criterion="score")
    )
    with pytest.raises(StagingError, match=r"differ in survey \('s' and 'z'\)"):
        one.hamming(elsewhere)
    alike = (
        db.surveys["s"]
        .event_tree("alike", sampling_zeros="none")
        .learn_stages("alike", prior="mass", criterion="score")
    )
    with pytest.raises(StagingError, match=r"different trees, 't' and 'alike'\nhint"):
        one.hamming(alike)
    db.surveys["s"].append(pd.DataFrame({"x": ["0"], "y": ["0"], "n": [1]}))
    fresh = (
        db.surveys["s"]
        .event_tree("fresh", sampling_zeros="none")
        .learn_stages("fresh", prior="mass", criterion="score")
    )
    with pytest.raises(
        StagingError, match=r"differ in rows \('t' is out of date\)\nhint: rebuild what is"
    ):
        one.hamming(fresh)
    assert one.hamming(same) >= 0  # both show former rows
    assert db.compare("one", "fresh")["is_stale"].tolist() == [True, False]


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_scores_that_stand_on_other_settings_are_refused(tree: EventTree) -> None:
    one, two = staged(tree, "one", "ppp"), staged(tree, "two", "ppq", alpha=9)
    with pytest.raises(StagingError, match=r"differ in alpha \(3\.0 and 9\.0\)\nhint: make"):
        one.bayes_factor(two)
    assert one.lr_test(two).df == 1  # no prior enters a likelihood


@pytest.mark.slow
def test_weights_used_otherwise_are_refused(db: Database) -> None:
    query = "select i % 3 as x, i % 2 as y, 1 + i % 5 as w from range(60) t(i)"
    tree = db.ingest(query, weight="w").event_tree(sampling_zeros="none")
    one = staged(tree, "one", "ppp")
    two = staged(tree, "two", "ppq", weighting="none")
    for call in (CALLS["lr_test"], CALLS["bayes_factor"]):
        with pytest.raises(StagingError, match=r"in weighting \(situation and none\)"):
            call(one, two)
    assert one.hamming(two) == 1
    again = staged(tree, "again", "ppp", deff=2.0)
    with pytest.raises(StagingError, match=r"likelihood: they differ in deff \("):
        one.lr_test(again)


@pytest.mark.slow
@pytest.mark.holds(made_by=four_situations)
def test_stagings_that_are_not_nested_are_refused(tree: EventTree) -> None:
    one, two = staged(tree, "one", "ppq"), staged(tree, "two", "pqq")
    text = (
        "'two' splits stage u1 of 'one' into u1, u2, and 'one' splits stage u2 of 'two' into "
        "u1, u2"
    )
    with pytest.raises(StagingError, match=f"not nested: {text}\nhint: test a staging against"):
        one.lr_test(two)
    with pytest.raises(StagingError, match="have the same 4 free parameters: there is nothing"):
        one.lr_test(staged(tree, "equal", "zza"))


# =============================================================================
# Command line
# =============================================================================


def call(*words: object, fails: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == fails, result.output
    return result


def three_stagings(db: Database) -> None:
    survey = db.ingest("select i % 3 as x, i % 7 < 3 as y from range(60) t(i)", name="s")
    tree = survey.event_tree(sampling_zeros="none")
    staged(tree, "one", "ppp")
    staged(tree, "two", "ppq")
    staged(tree, "far", "ppq", alpha=7)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return shutil.copy(file_with(three_stagings), tmp_path / "it.duckdb")


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.mark.slow
def test_the_command_line_compares_all_or_those_named(file: Path) -> None:
    rows = rows_of(call("compare", file))
    assert {row["staging"] for row in rows} == {"one", "two", "far"}
    named = json.loads(call("compare", file, "two", "far", "--format", "json").stdout)
    assert [row["staging"] for row in named] == ["two", "far"]
    assert [row["log_bayes_factor"] for row in named] == [0.0, None]
    assert named[0]["is_best"] is True
    assert named[0]["n_stages"] == 3
    assert named[0]["score"] is None
    output = call("compare", file, "--format", "table").stdout
    assert "log_bayes_factor" in output
    assert "nan" not in output.casefold()


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_a_narrow_table_shows_whole_numbers(
    file: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = call("compare", file, "--format", "table")
    assert "…" not in result.stdout
    for row in rows_of(call("compare", file)):
        assert row["staging"] in result.stdout
        assert f"{float(row['log_marginal_likelihood']):.6g}" in result.stdout
    if width < 60:
        assert "log_marginal_likelihood: -" in result.stdout
        assert "staging_id:" in result.stdout
    else:
        assert max(map(len, result.stdout.splitlines())) <= width
        assert "note: no room for the columns tree" in result.stderr


@pytest.mark.slow
def test_the_command_line_lists_what_is_staged_differently(file: Path) -> None:
    result = call("diff", file, "one", "two")
    assert "1 situation is in different stages in 'one' (a) and 'two' (b)" in result.stderr
    (row,) = rows_of(result)
    assert (row["path"], row["stage_a"], row["stage_b"]) == ("2", "u1", "u2")
    same = call("diff", file, "one", "one").stderr
    assert "'one' (a) and 'one' (b) put every situation in the same stage" in same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "fails", "told"),
    [
        (["--diff"], 2, "there is no option '--diff'"),
        (["one", "none"], 3, "no staging named 'none'; available: 'one', 'two', 'far'"),
    ],
)
def test_the_command_line_refuses(file: Path, words: list[str], fails: int, told: str) -> None:
    result = call("compare", file, *words, fails=fails)
    assert told in result.output
    assert "Traceback" not in result.output
