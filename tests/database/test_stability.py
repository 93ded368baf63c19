"""Stability and intervals: replicates, pairs that share a stage, and uncertain stages."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pandas.testing import assert_frame_equal
from scipy.optimize import brentq
from scipy.stats import binomtest, chi2, norm

import cegdb
from cegdb.cli import main
from cegdb.errors import StagingError, StaleError, StoreError
from cegdb.options import IntervalOptions, LearnOptions
from cegdb.sqlfiles import Steps
from cegdb.stability import bootstrap
from cegdb.stability import intervals as intervals_room
from cegdb.stability.relearning import read_relearning
from cegdb.stages import StagingLimits, learn_stages
from cegdb.stages.robust_intervals import robust_intervals

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.api import Database, EventTree, StagedTree
    from cegdb.stability.relearning import Relearning

    Sound = Callable[[Database], None]

# Three questions of which all answers occur often, the last one with planted stages.
PLANTED = (
    "select a, b, c, cast(n * if(c = 'no', 1 - p, p) as integer) as n from ("
    "select a, b, unnest(['no', 'yes']) as c, 400 as n, "
    "case when a = 'u' then 0.2 when b = 'x' then 0.5 else 0.8 end as p "
    "from (values ('u'), ('v')) as t(a), (values ('x'), ('y'), ('z')) as s(b))"
)
# The last question is skipped by some, and one history has a single row.
SKIPPED = (
    "select a, if(i % 5 = 0, null, b) as b, if(i % 3 = 0, null, c) as c from ("
    "select i, ['u', 'v'][1 + i % 2] as a, ['x', 'y', 'z'][1 + (i // 2) % 3] as b, "
    "['no', 'yes'][1 + (i // 7) % 2] as c from range(600) t(i)) "
    "union all select 'w', 'x', 'no'"
)


def planted(db: Database, **settings: Any) -> EventTree:
    """Make the tree of the planted stages."""
    return db.ingest(PLANTED, "planted", count="n", **settings).event_tree(
        sampling_zeros="none"
    )


def relearning_of(staged: StagedTree) -> Relearning:
    """Read how a staging is learnt again."""
    store = staged._store
    with store.writing() as (con, catalog), Steps(con) as steps:
        return read_relearning(steps, con, catalog, staged.id)


def members(staged: StagedTree) -> dict[int, int]:
    """Return situation -> stage."""
    frame = staged.florets
    return dict(zip(frame["vertex_id"].tolist(), frame["stage_id"].tolist(), strict=True))


def tables(staged: StagedTree, view: str) -> pd.DataFrame:
    """Return the rows of a view of a staging, in order."""
    store = staged._store
    with store.reading() as con:
        query = f"select * from cegdb.{view} where staging = ? order by all"  # noqa: S608
        return con.execute(query, [staged.name]).df()


SETTINGS: list[dict[str, Any]] = [
    {"alpha": 3},
    {"prior": "stage", "alpha": 1.5},
    {"method": "auto", "structure_prior": "size"},
    {"method": "bhc"},
    {"method": "fbhc", "score": "aic"},
    {"method": "csbhc"},
    {"method": "bj", "threshold": 0.02},
    {"method": "hc", "initial": "indep"},
    {"method": "exact", "hyperstages": "labels", "frozen": [[("u",)], [("v",)]]},
    {"method": "hclust", "n_stages": 2},
    {"method": "kmeans", "n_stages": 2, "seed": 3},
    {"prior": "path", "hyperstages": [[("u", "*")], [("v", "*")]]},
    {"prior": {("u",): 2.5}, "frozen": [[("u", "x"), ("v", "z")]]},
    {"relabel": {(("u", "*"), "yes"): "oui", "z": "Z"}, "initial": [[("v", "x"), ("v", "z")]]},
    {"initial": [[("u", "x"), ("u", "y")], [("v", "x"), ("v", "z")]], "deff": {"c": 2.0}},
]


@pytest.fixture(scope="module")
def planted_tree(database: Database) -> EventTree:
    """Give the tree of the planted stages to all who only learn stages of it."""
    return planted(database)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_rows_themselves_give_the_staging_again(
    planted_tree: EventTree, settings: dict[str, Any]
) -> None:
    staged = planted_tree.learn_stages(**settings)
    relearning = relearning_of(staged)
    replicate = relearning.rows.replicate(relearning.rows.n_ended)
    assert replicate.size.tolist() == pytest.approx(relearning.rows.size.tolist())
    stages = members(staged)
    for florets, relearnt in zip(relearning.florets, relearning.learn(replicate), strict=True):
        assert relearnt.is_reached.all()
        assert relearnt.stage.tolist() == [stages[vertex] for vertex in florets.ids.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["situation", "global", "total", "none"])
def test_weighted_rows_are_worth_what_learning_takes_them_for(
    db: Database, weighting: Any
) -> None:
    rows = f"select *, 0.25 + (row_number() over (order by a, b, c)) % 4 as w from ({SKIPPED})"  # noqa: S608
    staged = (
        db.ingest(rows, "weighed", weight="w")
        .event_tree(sampling_zeros="none")
        .learn_stages(weighting=weighting, deff=1.5, prior="mass", criterion="score")
    )
    relearning = relearning_of(staged)
    replicate = relearning.rows.replicate(relearning.rows.n_ended)
    assert replicate.size.tolist() == pytest.approx(relearning.rows.size.tolist(), rel=1e-9)
    stages = members(staged)
    for florets, now in zip(relearning.florets, relearning.learn(replicate), strict=True):
        assert now.stage.tolist() == [stages[vertex] for vertex in florets.ids.tolist()]


def ingested(db: Database, staged: StagedTree, replicate: Any, **settings: Any) -> Any:
    """Learn a replicate from a survey of its rows; return that staging."""
    tree = tables_of_paths(staged)
    rows = [
        (*path, int(n), weight)
        for path, n, weight in zip(
            tree["labels"], replicate.n[tree["vertex_id"]], tree["mean_weight"], strict=True
        )
        if len(path) == 3
    ]
    assert all(n for *_, n, _ in rows)
    values = ", ".join(f"('{a}', '{b}', '{c}', {n}, {w})" for a, b, c, n, w in rows)
    weight = {"weight": "w"} if settings.pop("is_weighed", False) else {}
    columns = "a, b, c, n, w" if weight else "a, b, c, n"
    survey = db.ingest(
        f"select {columns} from (values {values}) as t(a, b, c, n, w)",  # noqa: S608
        "again",
        count="n",
        replace=True,
        **weight,
    )
    return survey.event_tree(sampling_zeros="none").learn_stages(**settings)


def tables_of_paths(staged: StagedTree) -> pd.DataFrame:
    """Return the labels that lead to each vertex, and the mean weight of its rows."""
    store = staged._store
    with store.reading() as con:
        return con.execute(
            "with recursive walk as (select vertex_id, cast([] as varchar[]) as labels "
            "from cegdb.vertex where tree_id = $tree and vertex_id = 0 union all "
            "select e.child_id, list_append(w.labels, l.label) from walk as w "
            "inner join cegdb.edge as e on e.tree_id = $tree and w.vertex_id = e.parent_id "
            "inner join cegdb.level as l on e.level_id = l.level_id) "
            "select vertex_id, labels, coalesce(cast(v.weight as double) / v.n, 1) as "
            "mean_weight from walk inner join (select * from cegdb.vertex where tree_id = "
            "$tree) as v using (vertex_id) order by vertex_id",
            {"tree": staged.tree.id},
        ).df()


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "bhc"},
        {"alpha": 3, "frozen": [[("u", "x"), ("v", "z")]]},
        {"alpha": 3, "is_weighed": True},
        {"alpha": 3, "is_weighed": True, "weighting": "global"},
    ],
    ids=str,
)
def test_pairs_and_intervals_are_those_of_surveys_of_the_replicates(
    db: Database, sound: Sound, settings: dict[str, Any]
) -> None:
    is_weighed = settings.get("is_weighed", False)
    learning = {name: value for name, value in settings.items() if name != "is_weighed"}
    query = f"select *, if(a = 'u', 2, 0.5) + if(c = 'yes', 1, 0) as w from ({PLANTED})"  # noqa: S608
    weight = {"weight": "w"} if is_weighed else {"columns": ["a", "b", "c"]}
    tree = db.ingest(query, "planted", count="n", **weight).event_tree(sampling_zeros="none")
    staged = tree.learn_stages(**learning)
    frozen = set(staged.stages.query("kind == 'given'")["stage_id"])
    stages = members(staged)
    runs = 2
    staged.stability(runs=runs, seed=5)
    staged.intervals("bootstrap", runs=runs, seed=5, level=0.5)
    together: Counter[tuple[int, int]] = Counter()
    estimates: dict[tuple[int, str], list[float]] = {}
    for replicate in relearning_of(staged).replicates("nonparametric", runs, 5):
        again = ingested(db, staged, replicate, **settings)
        stage_of = members(again)
        for one in stage_of:
            for other in stage_of:
                together[one, other] += stage_of[one] == stage_of[other]
        edges = db.sql(
            "select parent_id, label, probability from cegdb.staged_edges "
            "where staging = 'again'"
        )
        for parent, label, probability in edges.itertuples(index=False):
            estimates.setdefault((parent, label), []).append(probability)
    pairs = staged.stage_pairs
    learnt = [vertex for vertex in stages if stages[vertex] not in frozen]
    variable = dict(zip(staged.florets["vertex_id"], staged.florets["variable"], strict=True))
    assert list(zip(pairs["vertex_id"], pairs["other_id"], strict=True)) == [
        (one, other)
        for one in learnt
        for other in learnt
        if one < other and variable[one] == variable[other]
    ]
    for pair in pairs.itertuples():
        assert pair.n_together == together[pair.vertex_id, pair.other_id]
        assert pair.n_runs == runs
        assert pair.is_together == (stages[pair.vertex_id] == stages[pair.other_id])
    intervals = tables(staged, "bootstrap_intervals")
    assert len(intervals) == len(estimates)
    for row in intervals.itertuples():
        low, high = np.quantile(estimates[row.vertex_id, row.label], [0.25, 0.75])
        assert row.low == pytest.approx(low, rel=1e-7)
        assert row.high == pytest.approx(high, rel=1e-7)
    sound(db)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
def test_pairs_are_counted_over_the_runs_that_reach_both(db: Database, kind: Any) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    staged.stability(kind, runs=15, seed=2)
    relearning = relearning_of(staged)
    together: Counter[tuple[int, int]] = Counter()
    both: Counter[tuple[int, int]] = Counter()
    n_stages = []
    for replicate in relearning.replicates(kind, 15, 2):
        seen: set[int] = set()
        for florets, stages in zip(
            relearning.florets, relearning.learn(replicate), strict=True
        ):
            stage = {
                int(vertex): int(name)
                for vertex, name, is_reached in zip(florets.ids, *stages, strict=True)
                if is_reached
            }
            seen |= set(stage.values())
            for one, other in ((i, j) for i in stage for j in stage if i < j):
                both[one, other] += 1
                together[one, other] += stage[one] == stage[other]
        n_stages.append(len(seen))
    for pair in staged.stage_pairs.itertuples():
        assert pair.n_runs == both[pair.vertex_id, pair.other_id]
        assert pair.n_together == together[pair.vertex_id, pair.other_id]
    row = tables(staged, "stage_bootstraps").iloc[0]
    assert row["mean_stages"] == np.mean(n_stages)
    assert (row["min_stages"], row["max_stages"]) == (
        min(n_stages),
        max(n_stages),
    )


@pytest.mark.slow
def test_a_situation_of_one_row_is_not_reached_in_every_replicate(
    db: Database, sound: Sound
) -> None:
    tree = db.ingest(SKIPPED, "skipped").event_tree(sampling_zeros="full")
    staged = tree.learn_stages(prior="mass", criterion="score")
    staged.stability(runs=40)
    pairs = staged.stage_pairs
    rare = pairs[pairs["path"].eq("w") | pairs["other_path"].eq("w")]
    assert len(rare) == 2
    assert rare["n_runs"].between(10, 39).all()
    rest = pairs[~pairs["path"].str.startswith("w") & ~pairs["other_path"].str.startswith("w")]
    assert (rest["n_runs"] == 40).all()
    intervals = staged.intervals("bootstrap", runs=40)
    assert not intervals["path"].eq("w -> y").any()
    sound(db)


@pytest.mark.slow
def test_simulated_rows_may_reach_what_no_row_did(db: Database, sound: Sound) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="full")
        .learn_stages(prior="mass", criterion="score")
    )
    staged.stability("parametric", runs=30)
    pairs = staged.stage_pairs
    assert pairs["n_runs"].min() < 30
    assert not pairs["path"].str.startswith("w -> y").any()
    rows = relearning_of(staged).rows
    paths = tables_of_paths(staged)["labels"].map(tuple)
    (unseen,) = np.flatnonzero(paths == ("w", "y"))
    assert rows.sum_towards_root(rows.n_ended)[unseen] == 0
    counts = [one.n[unseen] for one in relearning_of(staged).replicates("parametric", 30, 1)]
    assert sum(counts) > 0
    sound(db)


@pytest.mark.slow
def test_equal_weights_change_nothing(db: Database) -> None:
    results = []
    for weight in (None, "2.5"):
        rows = f"select *, {weight or 1} as w from ({SKIPPED})"  # noqa: S608
        given = {"weight": "w"} if weight else {"columns": ["a", "b", "c"]}
        survey = db.ingest(rows, "skipped", replace=True, **given)
        staged = survey.event_tree(replace=True, sampling_zeros="none").learn_stages(
            replace=True, prior="mass", criterion="score"
        )
        staged.stability(runs=8)
        staged.stability("parametric", runs=8)
        intervals = [staged.intervals(how, runs=8) for how in ("wilson", "bootstrap")]
        results.append((staged.stage_pairs, *[one.drop(columns="weight") for one in intervals]))
    for one, other in zip(*results, strict=True):
        assert_frame_equal(one, other, check_exact=False, rtol=1e-9)


@pytest.mark.slow
def test_replicates_keep_the_number_of_rows_and_its_mean_and_variance(db: Database) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    relearning = relearning_of(staged)
    rows = relearning.rows
    data = rows.replicate(rows.n_ended).n
    for kind in ("nonparametric", "parametric"):
        counts = np.array([one.n for one in relearning.replicates(kind, 400, 7)])
        assert (counts[:, 0] == 601).all()
        inner = np.unique(rows.parent[1:])
        for vertex in inner:
            below = counts[:, rows.parent == vertex].sum(axis=1)
            assert (below <= counts[:, vertex]).all()
            if not rows.n_ended[vertex]:
                assert (below == counts[:, vertex]).all()
        if kind == "nonparametric":
            share = data / 601
            error = np.sqrt(601 * share * (1 - share))
            assert (abs(counts.mean(axis=0) - data) <= 4 * error / np.sqrt(400) + 1e-9).all()
            assert counts.std(axis=0) == pytest.approx(error, rel=0.2, abs=1e-9)
        else:
            stops = (
                counts[:, inner]
                - np.array([counts[:, rows.parent == vertex].sum(axis=1) for vertex in inner]).T
            ).mean(axis=0)
            assert stops == pytest.approx(rows.n_ended[inner], rel=0.15, abs=1)


@pytest.mark.slow
def test_simulated_rows_follow_the_shares_of_the_stages(db: Database) -> None:
    joined = planted(db).learn_stages(method="hclust", n_stages=1, prior="mass")
    relearning = relearning_of(joined)
    mean = np.mean([one.n for one in relearning.replicates("parametric", 200, 3)], axis=0)
    for edge in db.sql(
        "select e.child_id, e.parent_id, s.share from cegdb.staged_edges as e inner join "
        "cegdb.stage_edges as s using (staging, stage_id, label) where staging = $name",
        {"name": joined.name},
    ).itertuples():
        assert mean[edge.child_id] / mean[edge.parent_id] == pytest.approx(edge.share, abs=0.02)


@pytest.mark.slow
def test_planted_stages_are_found_again_and_identical_ones_are_not_firm(
    db: Database, sound: Sound
) -> None:
    staged = planted(db).learn_stages(alpha=3, structure_prior="size", prior="mass")
    for kind in ("nonparametric", "parametric"):
        pairs = staged.stability(kind, runs=40)
        assert list(pairs["kind"].unique()) == [kind]
        last = staged.stage_pairs.query("variable == 'c' and kind == @kind")
        of = {"u -> x": 0, "u -> y": 0, "u -> z": 0, "v -> x": 1, "v -> y": 2, "v -> z": 2}
        for pair in last.itertuples():
            if of[pair.path] == of[pair.other_path]:
                assert pair.share > 0.8
            else:
                assert pair.share < 0.05
    null = db.ingest(
        "select i % 20 as a, (i // 20) % 10 < 4 as b from range(4000) t(i)", "null"
    )
    stability = (
        null.event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .stability(runs=20)
    )
    (share,) = stability.query("variable == 'b'")["mean_share"]
    assert share < 0.75
    sound(db)


@pytest.mark.slow
def test_stages_are_summed_up_by_their_pairs(db: Database) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="none")
        .learn_stages(method="bhc", score="aic", prior="mass")
    )
    frame = staged.stability(runs=25)
    pairs = staged.stage_pairs.dropna(subset="share")
    swapped = pairs.rename(columns={"stage": "other_stage", "other_stage": "stage"})
    swapped["vertex_id"], swapped["other_id"] = pairs["other_id"], pairs["vertex_id"]
    for stage in frame.itertuples():
        within = pairs[(pairs["stage"] == stage.stage) & pairs["is_together"]]["share"]
        outside = [
            (-pair.share, pair.other_id)
            for sided in (pairs, swapped)
            for pair in sided[sided["stage"] == stage.stage].itertuples()
            if not pair.is_together
        ]
        if len(within):
            assert stage.mean_share == pytest.approx(within.mean())
            assert stage.min_share == within.min()
        else:
            assert np.isnan(stage.mean_share)
        if outside:
            assert (-stage.max_share_outside, stage.outside_id) == min(outside)
    assert (
        frame["n_situations"].tolist()
        == staged.stages.query("kind == 'learnt'")["n_situations"].tolist()
    )


@pytest.mark.slow
def test_seed_decides_and_neither_row_order_nor_threads_do() -> None:
    results = []
    for order, threads, seed in (("a, b, c", 1, 1), ("c desc, b desc, a", 2, 1), ("a", 1, 2)):
        with cegdb.open(threads=threads) as db:
            rows = f"select * from ({SKIPPED}) order by {order}"  # noqa: S608
            staged = (
                db.ingest(rows, "skipped")
                .event_tree(sampling_zeros="none")
                .learn_stages(prior="mass", criterion="score")
            )
            staged.stability(runs=10, seed=seed)
            intervals = staged.intervals("bootstrap", runs=10, seed=seed)
            results.append((staged.stage_pairs, intervals, staged))
            if len(results) == 1:
                staged.stability(runs=10, seed=seed)
                assert staged.stage_pairs.equals(results[0][0])
    assert results[0][0].equals(results[1][0])
    assert results[0][1].equals(results[1][1])
    assert not results[0][0].equals(results[2][0])


@pytest.mark.slow
def test_running_again_replaces_and_dropping_or_rebuilding_leaves_nothing(
    db: Database, sound: Sound
) -> None:
    survey = db.ingest(PLANTED, "planted", count="n")
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        prior="mass", criterion="score"
    )
    staged.stability(runs=4)
    n_pairs = len(staged.stage_pairs)
    staged.stability("parametric", runs=4)
    staged.stability(runs=np.int64(7), seed=np.int64(1))
    staged.intervals("bootstrap", runs=4)
    assert len(staged.stage_pairs) == 2 * n_pairs
    bootstraps = tables(staged, "stage_bootstraps")
    assert bootstraps[["kind", "n_runs"]].to_numpy().tolist() == [
        ["nonparametric", 7],
        ["parametric", 4],
    ]
    survey.append("select 'u' as a, 'x' as b, 'yes' as c, 3 as n")
    with pytest.raises(StaleError, match="rebuild"):
        staged.stability(runs=2)
    db.rebuild()
    for table in ("situation_pair", "stage_bootstrap", "bootstrap_interval"):
        assert len(db.sql(f"from cegdb.{table}")) == 0
    staged.stability(runs=2)
    staged.intervals("bootstrap", runs=2)
    sound(db)
    db.drop("staging", staged.name)
    for table in ("situation_pair", "stage_bootstrap", "bootstrap_interval"):
        assert len(db.sql(f"from cegdb.{table}")) == 0
    sound(db)


@pytest.mark.slow
def test_a_renamed_staging_keeps_its_pairs_and_a_joined_one_has_none(
    db: Database, sound: Sound
) -> None:
    staged = planted(db).learn_stages(prior="mass", criterion="score")
    staged.stability(runs=2)
    named = staged.rename({"u1": "frail"}, name="named")
    assert len(named.stage_pairs) == len(staged.stage_pairs)
    assert named.join("u3", "u4", name="joined").stage_pairs.empty
    sound(db)


@pytest.mark.slow
def test_what_cannot_be_relearnt_is_refused(db: Database) -> None:
    tree = planted(db)
    given = tree.set_stages({}, "own", prior="mass")
    with pytest.raises(StagingError, match=r"'own' were given by hand(.|\n)*learn_stages"):
        given.stability()
    with pytest.raises(StagingError, match="given by hand"):
        given.intervals("bootstrap")
    staged = tree.learn_stages(prior="mass", criterion="score")
    for settings, message in (
        ({"bootstrap": "jackknife"}, "unknown value 'jackknife' for bootstrap"),
        ({"runs": 0}, "runs must be a whole number from 1 to 10,000,000, not 0"),
        ({"runs": True}, "runs must be a whole number from 1 to 10,000,000, not True"),
        ({"seed": -1}, r"seed must be a whole number from 0 to 2\^63 - 1, not -1"),
        ({"seed": 2**63}, r"seed must be a whole number from 0 to 2\^63 - 1, not 9223"),
        (
            {"runs": 10**12},
            "runs must be a whole number from 1 to 10,000,000, not 1000000000000",
        ),
    ):
        with pytest.raises(StagingError, match=message):
            staged.stability(**settings)
    for settings, message in (
        ({"method": "wald"}, "unknown value 'wald' for method"),
        ({"level": 1}, "level must be a number between 0 and 1, such as 0.95, not 1"),
        ({"level": 95}, "level must be a number between 0 and 1, such as 0.95, not 95"),
        (
            {"method": "bootstrap", "runs": 1.5},
            "runs must be a whole number from 1 to 10,000,000, not 1.5",
        ),
    ):
        with pytest.raises(StagingError, match=message):
            staged.intervals(**settings)
    with pytest.raises(StagingError, match=r"16 pairs of situations(.|\n)*freeze"):
        bootstrap.stability(db._store, staged.id, max_pairs=10)
    options = IntervalOptions("bootstrap", runs=10)
    with pytest.raises(StagingError, match=r"10 runs of 20 edges are 200 estimates"):
        intervals_room.intervals(db._store, staged.id, options, max_estimates=100)


@pytest.mark.slow
def test_a_large_frame_to_start_from_is_refused(db: Database) -> None:
    tree, limits = planted(db), StagingLimits(max_recorded=2)
    situations = tree.situations
    for name, variable in (("large", "b"), ("larger", "c")):
        is_chosen = situations["variable"] == variable
        rows = situations.loc[is_chosen, ["vertex_id"]].assign(stage="s")
        learning = LearnOptions(initial=rows)
        learn_stages(db._store, tree.id, learning=learning, name=name, limits=limits)
    db.stagings["large"].stability(runs=1)
    staged = db.stagings["larger"]
    with pytest.raises(StagingError, match="'larger' started from stages of a large frame"):
        staged.stability(runs=1)


@pytest.mark.slow
def test_a_read_only_database_is_refused_for_what_writes(tmp_path: Path) -> None:
    file = tmp_path / "planted.duckdb"
    with cegdb.open(file) as db:
        planted(db).learn_stages(prior="mass", criterion="score")
    with cegdb.open(file, read_only=True) as db:
        staged = db.stagings["planted"]
        assert len(staged.intervals("goodman")) == 11
        with pytest.raises(StoreError, match="open read-only"):
            staged.stability(runs=1)
        with pytest.raises(StoreError, match="open read-only"):
            staged.intervals("bootstrap", runs=1)


@pytest.mark.slow
def test_frozen_stages_are_no_pairs_but_have_intervals(db: Database, sound: Sound) -> None:
    staged = planted(db).learn_stages(
        frozen=[[("u", "x"), ("v", "x")]], prior="mass", criterion="score"
    )
    staged.stability(runs=5)
    assert not staged.stage_pairs["path"].isin(["u -> x", "v -> x"]).any()
    intervals = staged.intervals("bootstrap", runs=30)
    both = intervals[intervals["path"].isin(["u -> x", "v -> x"])]
    assert both.groupby("label")["low"].nunique().tolist() == [1, 1]
    assert ((both["low"] < both["probability"]) & (both["probability"] < both["high"])).all()
    sound(db)


@pytest.mark.slow
def test_relabelled_answers_have_intervals(db: Database, sound: Sound) -> None:
    staged = planted(db).learn_stages(
        relabel={(("u", "*"), "yes"): "oui"}, prior="mass", criterion="score"
    )
    intervals = staged.intervals("bootstrap", runs=20)
    assert len(intervals) == 20
    assert set(intervals[intervals["path"].str.startswith("u -> ")]["label"]) == {"no", "oui"}
    given = staged.intervals("wilson")
    assert "oui" in set(given["label"])
    assert staged.stability(runs=5)["mean_share"].max() <= 1
    sound(db)


@pytest.mark.slow
def test_intervals_given_the_staging_are_those_of_the_formulas(db: Database) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    stored = staged.stage_edges
    credible = staged.intervals("credible")
    robust = staged.intervals()
    assert robust["low"].equals(stored["low"])
    assert robust["high"].equals(stored["high"])
    assert set(credible["given"]) == {"given the staging"}
    narrow = staged.intervals("credible", level=0.5)
    several = credible["low"].notna()
    assert (narrow["low"] > credible["low"])[several].all()
    for level in (0.8, 0.95):
        intervals = staged.intervals("wilson", level=level)
        for row in intervals[several].itertuples():
            total = int(stored.loc[stored["stage"] == row.stage, "n"].sum())
            known = binomtest(row.n, total).proportion_ci(level, "wilson")
            assert (row.low, row.high) == pytest.approx(tuple(known), abs=1e-12)
            k = int((stored["stage"] == row.stage).sum())
            bound = chi2.ppf(1 - (1 - level) / k, 1)
            share = row.n / total

            def apart(
                p: float, share: float = share, n: int = total, c: float = bound
            ) -> float:
                return n * (share - p) ** 2 - c * p * (1 - p)

            good = staged.intervals("goodman", level=level).loc[row.Index]
            if 0 < row.n < total:
                assert good["low"] == pytest.approx(brentq(apart, 0, share), abs=1e-9)
                assert good["high"] == pytest.approx(brentq(apart, share, 1), abs=1e-9)


Z2 = norm.ppf(0.975) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("deff", [None, 3.0])
def test_robust_intervals_are_those_of_each_hyperstage(db: Database, deff: Any) -> None:
    staged = (
        db.ingest(SKIPPED, "skipped")
        .event_tree(sampling_zeros="none")
        .learn_stages(deff=deff, prior="mass", criterion="score")
    )
    found = staged.intervals()
    assert set(found["method"]) == {"robust"}
    assert set(found["given"]) == {"whether or not the situations of a stage are alike"}
    low, high = staged.intervals(level=0.5)[["low", "high"]].to_numpy().T
    several = found["low"].notna()
    assert ((found["low"] <= low) & (high <= found["high"]))[several].all()
    florets = staged.florets.set_index("vertex_id")
    edges = staged.tree.edges
    for _, stages in staged.stages.groupby("hyperstage_id"):
        labels = sorted(stages["labels"].iloc[0])
        if len(labels) < 2:
            continue
        members = florets[florets["stage"].isin(stages["stage"])]
        counts = edges.pivot_table(index="parent_id", columns="label", values="n")
        sizes = counts.loc[members.index, labels].to_numpy() / (deff or 1.0)
        names = sorted(set(members["stage"]))
        rows = found.set_index(["stage", "label"])
        points = np.array([[rows.loc[(s, x), "probability"] for x in labels] for s in names])
        group = members["stage"].map(names.index).to_numpy()
        expected = robust_intervals(sizes, group, points, 0.95)
        for side, values in zip(("low", "high"), expected, strict=True):
            ours = [[rows.loc[(s, x), side] for x in labels] for s in names]
            assert ours == pytest.approx(values, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "deff"), [("chds", None), ("skipped", 3.0)])
def test_edges_have_the_interval_of_their_own_position(
    db: Database, source: str, deff: Any
) -> None:
    if source == "chds":
        db.demo("chds")
    else:
        db.ingest(SKIPPED, source)
    ceg = db.surveys[source].event_tree("own").learn_stages(deff=deff).to_ceg()
    florets = ceg.staging.florets.set_index("vertex_id")
    query = "select vertex_id, position from cegdb.situation_positions where ceg = 'own'"
    positions = db.sql(query).set_index("vertex_id")["position"]
    edges = ceg.edges.set_index(["source", "label"])
    tree_edges = ceg.staging.tree.edges
    n_own = 0
    for _, stages in ceg.staging.stages.groupby("hyperstage_id"):
        labels = sorted(stages["labels"].iloc[0])
        members = florets[florets["stage"].isin(stages["stage"])]
        counts = tree_edges.pivot_table(index="parent_id", columns="label", values="n")
        sizes = counts.loc[members.index, labels].to_numpy() / (deff or 1.0)
        of = positions.loc[members.index]
        names = sorted(set(of))
        points = np.array([[edges.loc[(w, x), "probability"] for x in labels] for w in names])
        expected = robust_intervals(sizes, of.map(names.index).to_numpy(), points, 0.95)
        for i, name in enumerate(names):
            row = edges.loc[[(name, x) for x in labels]]
            is_whole = (
                len(set(of[members["stage"] == members["stage"][of == name].iloc[0]])) == 1
            )
            if is_whole or row["low"].isna().any():
                assert row["low"].equals(row["stage_low"].rename("low"))
                continue
            n_own += 1
            assert row["low"].tolist() == pytest.approx(expected[0][i].tolist(), abs=1e-9)
            assert row["high"].tolist() == pytest.approx(expected[1][i].tolist(), abs=1e-9)
    assert n_own


ODD_NAMES = ["a/b", "a~b", '$."x"', "it's"]


@pytest.mark.parametrize("weighting", ["situation", "none"])
def test_edges_of_a_staged_tree_have_the_interval_of_their_own_situation(
    db: Database, weighting: Any
) -> None:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(random.integers(3, size=(300, 4)), columns=ODD_NAMES).astype(str)
    frame["w"] = random.choice([1, 2, 5], 300)
    counted = pd.Series(1.0, index=frame.index) if weighting == "none" else frame["w"]
    effects = dict(zip(ODD_NAMES, [1.5, 2.0, 1.0, 3.0], strict=True))
    tree = db.ingest(frame, weight="w").event_tree()
    staged = tree.learn_stages(weighting=weighting, deff=effects)
    rows = pd.DataFrame(staged.rows("staged_edges")[1], columns=staged.rows("staged_edges")[0])
    assert len(rows) > 100
    paths = staged.florets.set_index("vertex_id")
    labels = tree.situations.set_index("vertex_id")["labels"]
    for (parent, variable), group in rows.groupby(["parent_id", "variable"]):
        held = frame
        for name, label in zip(ODD_NAMES, labels[parent], strict=False):
            held = held[held[name] == label]
        weight = counted[held.index]
        total, squares = float(weight.sum()), float((weight**2).sum())
        size = total**2 / max(squares, 1) / effects[variable]
        for row in group.itertuples():
            if not len(held):
                assert (row.low, row.high) == (0, 1) or paths.loc[parent, "n"] == 0
                continue
            share = float(weight[held[variable] == row.label].sum()) / total
            centre = (share + Z2 / (2 * size)) / (1 + Z2 / size)
            half = (Z2 * share * (1 - share) / size + (Z2 / (2 * size)) ** 2) ** 0.5
            half /= 1 + Z2 / size
            assert row.low == pytest.approx(min(row.probability, max(centre - half, 0)))
            assert row.high == pytest.approx(max(row.probability, min(centre + half, 1)))


def test_goodman_intervals_are_the_published_ones() -> None:
    # Sison & Glaz (1995), JASA 90, 366-369, example 1, to three decimals.
    counts = np.array([56.0, 72.0, 73.0, 59.0])
    low, high = intervals_room.goodman(counts, np.full(4, 467.0), np.full(4, 7), 0.95)
    assert low.round(3).tolist() == [0.085, 0.115, 0.116, 0.091]
    assert high.round(3).tolist() == [0.166, 0.204, 0.207, 0.173]


@pytest.mark.slow
def test_shares_of_no_rows_and_single_edges_have_no_interval(db: Database) -> None:
    tree = db.ingest(SKIPPED, "skipped").event_tree(sampling_zeros="full")
    staged = tree.learn_stages(prior="mass", criterion="score")
    kinds = dict(zip(staged.stages["stage"], staged.stages["kind"], strict=True))
    for method in ("wilson", "goodman"):
        intervals = staged.intervals(method)
        is_seen = intervals["stage"].map(kinds).eq("learnt")
        assert intervals["low"].notna().equals(is_seen)
        assert intervals["high"].notna().equals(is_seen)
    assert staged.intervals()["low"].notna().all()
    single = (
        db.ingest("select 1 as x", "single")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    assert single.intervals()["low"].isna().all()
    assert len(single.intervals("bootstrap", runs=2)) == 0
    assert single.stability(runs=2).empty


@pytest.mark.slow
def test_effective_counts_make_intervals_wider(db: Database) -> None:
    plain = planted(db).learn_stages(method="hclust", n_stages=1, prior="mass")
    halved = plain.tree.learn_stages(method="hclust", n_stages=1, deff=4, prior="mass")
    for method in ("credible", "wilson", "goodman"):
        one, other = plain.intervals(method), halved.intervals(method)
        ratio = (other["high"] - other["low"]) / (one["high"] - one["low"])
        assert ratio.to_numpy() == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_percentiles_are_those_of_the_numbers_there_are(level: float) -> None:
    random = np.random.default_rng(4)
    values = random.random((30, 6))
    values[random.random((30, 6)) < 0.3] = np.nan
    values[0, 2:] = 0.5
    values[:, 0] = np.nan
    values[0, 1], values[1:, 1] = 0.5, np.nan
    low, high, n = intervals_room.percentiles(values, level)
    assert n.tolist() == (~np.isnan(values)).sum(axis=0).tolist()
    tail = (1 - level) / 2
    assert low[1:] == pytest.approx(np.nanquantile(values[:, 1:], tail, axis=0))
    assert high[1:] == pytest.approx(np.nanquantile(values[:, 1:], 1 - tail, axis=0))


@pytest.mark.slow
def test_the_command_line_prints_stages_and_intervals(tmp_path: Path) -> None:
    file = tmp_path / "planted.duckdb"
    with cegdb.open(file) as db:
        planted(db).learn_stages(prior="mass", criterion="score")

    def call(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(main, [*arguments])
        assert result.exit_code == code, result.output
        return result

    output = call("stability", str(file), "planted", "--runs", "5", "--format", "json")
    assert "5 runs" in output.stderr
    assert "cegdb.stage_pairs" in output.stderr
    rows = json.loads(output.stdout)
    assert rows[0]["stage"] == "u0"
    assert rows[0]["mean_share"] is None
    given = call("intervals", str(file), "planted", "--method", "wilson", "--format", "csv")
    assert given.stdout.splitlines()[0].startswith("staging,stage,situation,path,variable")
    again = call(
        "intervals", str(file), "planted", "--method", "bootstrap", "--runs", "4", "--format",
        "json",
    )  # fmt: skip
    assert {row["given"] for row in json.loads(again.stdout)} == {"relearns the stages"}
    wrong = call("stability", str(file), "planted", "--runs", "0", code=3)
    assert "runs must be a whole number from 1 to 10,000,000, not 0" in wrong.stderr
    pairs = call("sql", str(file), "select count(*) as n from cegdb.stage_pairs")
    assert pairs.stdout.splitlines() == ["n", "16"]


def test_the_posterior_of_a_stage_is_its_prior_and_its_counts(db: Database) -> None:
    staged = db.ingest("select i % 4 < 1 as x from range(40) t(i)").event_tree(
        sampling_zeros="none"
    )
    learnt = staged.learn_stages(alpha=2, prior="mass", criterion="score")
    masses = intervals_room.posterior_masses(db._store, learnt.id)
    assert masses == {(0, "False"): 31.0, (0, "True"): 11.0}
