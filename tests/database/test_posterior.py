"""The posterior of stagings in a database: published numbers, tables, settings and messages."""

from __future__ import annotations

from itertools import product
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Any

import clustering_oracle
import numpy as np
import pytest
from click.testing import CliRunner

import cegdb
from cegdb.cli import main
from cegdb.errors import CegError, StagingError, StaleError, StoreError
from cegdb.stability.posterior import staging_posterior

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from cegdb.api import Database, StagedTree

    Sound = Callable[[Database], None]

# Two alike groups and one apart, of people who weigh differently; the last question is skipped.
GROUPS = (
    "select ['a', 'b', 'c'][1 + i % 3] as g, "
    "if((i * 7) % 20 < [6, 7, 15][1 + i % 3], 'yes', 'no') as y, "
    "if(i % 4 = 0, null, if(i % 5 < 2, 'p', 'q')) as z, 0.5 + (i % 2) as w "
    "from range(600) as t(i)"
)


def learnt(db: Database, **settings: Any) -> StagedTree:
    """Learn the stages of the groups."""
    return (
        db.ingest(GROUPS, "groups", columns=["g", "y", "z"])
        .event_tree(sampling_zeros="none")
        .learn_stages(**settings)
    )


def probability_of(pairs: pd.DataFrame, one: str, other: str) -> float:
    """Return how probable it is that two situations share a stage."""
    is_pair = (pairs["path"] == one) & (pairs["other_path"] == other)
    return float(pairs.loc[is_pair, "probability"].item())


@pytest.mark.slow
def test_the_published_posterior_of_the_child_health_study(db: Database, sound: Sound) -> None:
    tree = db.demo("chds").staging.tree
    staged = tree.learn_stages("published", prior="mass", criterion="score")
    found = staged.posterior()
    table = found.hyperstages.set_index("variable")
    assert table["log_total"].round(6).to_dict() == {
        "Social": -611.183842,
        "Economic": -497.179836,
        "Events": -943.398358,
        "Admission": -420.183336,
    }
    assert table["log_total"].sum() == pytest.approx(-2471.945372, abs=1e-6)
    assert table["log_shown"].sum() == pytest.approx(-2478.489654, abs=1e-6)
    assert table["log_best"].sum() == pytest.approx(-2478.173256, abs=1e-6)
    assert table.loc["Admission", "log_best"] == pytest.approx(-426.114664, abs=1e-6)
    assert table["n_stages_best"].tolist() == [1, 2, 2, 2]
    assert table.loc["Events", "probability"] == pytest.approx(0.7434, abs=5e-5)
    of_best = np.exp(table.loc["Admission", "log_best"] - table.loc["Admission", "log_total"])
    assert of_best == pytest.approx(0.0027, abs=5e-5)
    assert (table["method"] == "exact").all()
    pairs = staged.costagings
    high, low = "High -> High -> Low", "Low -> Low -> Average"
    assert probability_of(pairs, high, "High -> Low -> Low") == pytest.approx(
        0.797341, abs=5e-7
    )
    assert probability_of(pairs, low, "Low -> Low -> High") == pytest.approx(0.627369, abs=5e-7)
    assert probability_of(pairs, high, low) == pytest.approx(0.000732, abs=5e-7)
    assert len(pairs) == 1 + 6 + 66
    assert pairs["std_error"].isna().all()
    assert found.log_gain == pytest.approx(2478.489654 - 2478.173256, abs=2e-6)
    assert "a better one is known (+0.32 log)" in str(found)
    assert "note: a better staging is known (+0.32 log posterior); look" in staged.summary
    sound(db)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stages", "probability"),
    [
        ([["HH", "HL", "LH"], ["LL"]], 0.7434),
        ([["HH"], ["HL", "LH"], ["LL"]], 0.2023),
        ([["HH", "LH"], ["HL"], ["LL"]], 0.0453),
    ],
)
def test_the_published_stagings_of_events(
    db: Database, stages: list[list[str]], probability: float
) -> None:
    tree = db.demo("chds").staging.tree
    word = {"H": "High", "L": "Low"}
    groups = [[tuple(word[letter] for letter in one) for one in stage] for stage in stages]
    table = (
        tree.set_stages(groups, alpha=3, prior="mass")
        .posterior()
        .hyperstages.set_index("variable")
    )
    assert table.loc["Events", "probability"] == pytest.approx(probability, abs=5e-5)


@pytest.mark.slow
def test_the_best_staging_known_can_be_made(db: Database) -> None:
    tree = db.demo("chds").staging.tree
    staged = tree.learn_stages("published", prior="mass", criterion="score")
    best = staged.posterior().best
    made = staged.tree.set_stages(best[["vertex_id", "best_stage"]], alpha=3, prior="mass")
    assert made.log_marginal_likelihood == pytest.approx(-2478.173256, abs=1e-6)
    found = made.posterior()
    assert found.log_gain == 0
    assert str(found).endswith("none better is known")
    assert found.hyperstages["probability"].tolist() == pytest.approx(
        [1, 1, 0.743374, 0.002655], abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 3},
        {"prior": "stage", "alpha": 1.5, "structure_prior": "size"},
        {"prior": "path", "deff": 2.0},
        {"prior": {("a",): 2.5}, "method": "hc", "score": "bic"},
        {"relabel": {"p": "first"}, "hyperstages": "labels"},
    ],
    ids=str,
)
def test_the_stages_shown_have_the_log_posterior_that_learning_states(
    db: Database, sound: Sound, settings: dict[str, Any]
) -> None:
    staged = learnt(db, **settings)
    found = staged.posterior()
    expected = staged.log_marginal_likelihood
    if settings.get("structure_prior") == "size":
        expected -= sum(
            log(n * clustering_oracle.n_partitions(n, k))
            for n, k in found.hyperstages[["n_situations", "n_stages"]].to_numpy().tolist()
        )
    assert found.hyperstages["log_shown"].sum() == pytest.approx(expected, abs=1e-8)
    averaged = found.probabilities
    assert averaged.groupby("vertex_id")["probability"].sum().to_numpy() == pytest.approx(1.0)
    assert (averaged["low"] < averaged["probability"]).all()
    assert (averaged["probability"] < averaged["high"]).all()
    sound(db)


@pytest.mark.slow
def test_weights_count_as_in_learning(db: Database) -> None:
    tree = db.ingest(GROUPS, "weighed", weight="w").event_tree(sampling_zeros="none")
    by_rows, by_weight = (
        tree.learn_stages(weighting="none", prior="mass", criterion="score"),
        tree.learn_stages(prior="mass", criterion="score"),
    )
    for staged in (by_rows, by_weight):
        shown = staged.posterior().hyperstages["log_shown"].sum()
        assert shown == pytest.approx(staged.log_marginal_likelihood, abs=1e-8)
    assert by_rows.log_marginal_likelihood != pytest.approx(by_weight.log_marginal_likelihood)


@pytest.mark.slow
def test_frozen_stages_and_single_edges_are_not_in_question(db: Database, sound: Sound) -> None:
    staged = learnt(db, frozen=[[("a",), ("b",)]])
    found = staged.posterior()
    asked = set(found.pairs["path"]) | set(found.pairs["other_path"])
    assert not asked & {"a", "b"}
    assert found.hyperstages["n_situations"].tolist() == [1, 1, 6]
    sound(db)


@pytest.mark.slow
def test_a_larger_hyperstage_is_sampled_and_says_how_well(db: Database, sound: Sound) -> None:
    rows = (
        "select i % 16 as g, if(hash(i) % 10 < if(i % 2 = 0, 3, 6), 'y', 'n') as y "
        "from range(1600) as t(i)"
    )
    staged = (
        db.ingest(rows, "sixteen")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    found = staged.posterior(samples=60, seed=3)
    table = found.hyperstages.set_index("variable")
    assert table["method"].to_dict() == {"g": "exact", "y": "sampled"}
    sampled = table.loc["y"]
    assert (sampled["n_chains"], sampled["n_draws"], sampled["seed"]) == (4, 240, 3)
    assert 10 < sampled["effective_size"] <= 240
    assert 0 < sampled["max_difference"] < 1
    assert "1 hyperstage sampled: effective sample size at least " in str(found)
    assert "at most" in str(found)
    pairs = found.pairs
    assert (pairs["std_error"] >= 0).all()
    assert (pairs["method"] == "sampled").all()
    alike = (pairs["vertex_id"] - pairs["other_id"]) % 2 == 0
    assert pairs.loc[alike, "probability"].mean() > 2 * pairs.loc[~alike, "probability"].mean()
    sound(db)


@pytest.mark.slow
def test_a_later_run_replaces_the_former_and_a_rebuild_drops_it(
    db: Database, sound: Sound
) -> None:
    staged = learnt(db)
    first = staged.posterior()
    second = staged.posterior(structure_prior="size")
    assert len(second.pairs) == len(first.pairs)
    assert (second.hyperstages["structure_prior"] == "size").all()
    assert "structure prior size" in staged.summary
    renamed = staged.rename({"u1": "frail"}, name="named")
    assert len(renamed.costagings) == len(staged.costagings)
    assert len(staged.join("u1", "u2", name="joined").costagings) == 0
    db.surveys["groups"].append("select 'a' as g, 'yes' as y, 'p' as z")
    with pytest.raises(StaleError, match="rebuild"):
        staged.posterior()
    db.rebuild()
    assert len(db.sql("from cegdb.costaging")) == 0
    assert "posterior probability" not in staged.summary
    staged.posterior()
    sound(db)
    db.drop("staging", staged.name)
    assert len(db.sql("from cegdb.hyperstage_posterior")) == 0


def test_too_many_pairs_and_odd_settings_are_refused(db: Database) -> None:
    staged = learnt(db)
    with pytest.raises(StagingError, match=r"18 pairs .* the limit is 5") as refused:
        staging_posterior(staged._store, staged.id, max_pairs=5)
    assert "frozen=" in str(refused.value)
    with pytest.raises(StagingError, match="samples must be a whole number from 20"):
        staged.posterior(samples=5)
    with pytest.raises(StagingError, match="level must be a number between 0 and 1"):
        staged.posterior(level=95)
    with pytest.raises(StagingError, match="unknown value 'bell' for structure_prior"):
        staged.posterior(structure_prior="bell")  # type: ignore[arg-type]


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    with cegdb.open(tmp_path / "s.duckdb") as db:
        learnt(db)
    with (
        cegdb.open(tmp_path / "s.duckdb", read_only=True) as db,
        pytest.raises(StoreError, match="read-only"),
    ):
        db.stagings["groups"].posterior()


def test_a_tree_without_questions_has_no_posterior_to_speak_of(db: Database) -> None:
    staged = (
        db.ingest("select 'a' as x", "one")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    found = staged.posterior()
    assert len(found.hyperstages) == len(found.pairs) == len(found.best) == 0
    assert len(found.probabilities) == 0
    assert found.probability == 1


@pytest.mark.slow
def test_the_command_prints_what_is_chosen_and_stores_the_pairs(tmp_path: Path) -> None:
    file = tmp_path / "s.duckdb"
    with cegdb.open(file) as db:
        staged = learnt(db)
        staged.to_ceg()
    columns = {
        "hyperstages": "n_stages_best",
        "pairs": "other_path",
        "probabilities": "staged",
        "best": "best_stage",
    }
    for show, column in columns.items():
        command = ["posterior", str(file), "groups", "--show", show, "--format", "csv"]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        assert column in done.stdout.splitlines()[0].split(",")
        assert "the one shown has posterior probability" in done.stderr
    with cegdb.open(file, read_only=True) as db:
        assert len(db.stagings["groups"].costagings) == 3 + 15
        assert "the one shown has posterior probability" in db.stagings["groups"].summary
        report = db.cegs["groups"].report.text("analyst")
        assert "Among all stagings: the one shown has posterior probability" in report


def partitions(items: list[int]) -> list[list[list[int]]]:
    """Return all partitions of a list."""
    if not items:
        return [[]]
    first, *rest = items
    found = []
    for blocks in partitions(rest):
        found.append([[first], *blocks])
        found += [
            [*blocks[:i], [first, *block], *blocks[i + 1 :]] for i, block in enumerate(blocks)
        ]
    return found


def test_answers_of_an_averaged_ceg_are_means_over_all_stagings(db: Database) -> None:
    """By brute force: every staging of every variable, with its posterior probability."""
    rows = (
        "select ['a', 'b', 'c'][1 + i % 3] as g, "
        "if(((i // 3) * 7) % 20 < 6 + 4 * (i % 3), 'y', 'n') as y, "
        "if(((i // 5) * 11) % 17 < 6, 'p', 'q') as z from range(90) as t(i)"
    )
    tree = db.ingest(rows, "s").event_tree(sampling_zeros="none")
    staged = tree.learn_stages(prior="stage", alpha=1.0, criterion="score")
    averaged = staged.averaged("mean").to_ceg()
    florets = tree.florets
    stagings: list[list[tuple[float, dict[int, list[float]]]]] = []
    for _, own in florets.groupby("variable"):
        counts = dict(zip(own["vertex_id"], own["counts"].map(list), strict=True))
        n_labels = own["n_edges"].iloc[0]
        of_variable = []
        for blocks in partitions(list(counts)):
            weight, means = 0.0, {}
            for block in blocks:
                n = np.sum([counts[v] for v in block], axis=0)
                prior = np.full(n_labels, 1.0 / n_labels)
                weight += sum(lgamma(a + k) - lgamma(a) for a, k in zip(prior, n, strict=True))
                weight -= lgamma(1 + n.sum())
                means |= dict.fromkeys(block, ((n + prior) / (n.sum() + 1)).tolist())
            of_variable.append((weight, means))
        stagings.append(of_variable)
    edges = tree.edges.sort_values("child_id")[["parent_id", "child_id", "label"]]
    place = edges.groupby("parent_id").cumcount()
    steps = list(zip(*edges.to_numpy().T.tolist(), place.tolist(), strict=True))
    event, total = 0.0, 0.0
    for combination in product(*stagings):
        weight = exp(sum(one for one, _ in combination) - sum(s[0][0] for s in stagings))
        probability = {v: mean for _, means in combination for v, mean in means.items()}
        chance = {0: 1.0}
        for parent, child, _, i in steps:
            chance[child] = chance[parent] * probability[parent][i]
        event += weight * sum(chance[child] for _, child, label, _ in steps if label == "q")
        total += weight
    found = averaged.probability(z="q")
    assert found == pytest.approx(event / total, rel=1e-9)
    assert found.low <= found <= found.high
    assert found != pytest.approx(staged.to_ceg().probability(z="q"), rel=1e-6)
    assert "probabilities averaged over all stagings" in averaged.staging.summary
    assert db.check() == []


def test_averages_are_those_of_the_posterior_with_weights_and_other_labels(
    db: Database, sound: Sound
) -> None:
    survey = db.ingest(GROUPS, "groups", columns=["g", "y", "z"], weight="w")
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        relabel={"yes": "no answer of p"}, prior="mass", criterion="score"
    )
    found = staged.posterior().probabilities
    averaged = staged.averaged()
    assert averaged.name == "groups-averaged"
    stages = averaged.florets[["vertex_id", "stage_id"]]
    both = found.merge(stages, on="vertex_id").merge(
        averaged.stage_edges[["stage_id", "label", "probability"]],
        on=["stage_id", "label"],
        suffixes=("", "_now"),
    )
    assert len(both) == len(found) > 0
    assert both["probability_now"].tolist() == pytest.approx(both["probability"].tolist())
    sound(db)
    ceg = staged.to_ceg().averaged(replace=True, name="again")
    assert ceg.name == ceg.staging.name == "again"
    with pytest.raises(CegError, match="was made given evidence"):
        ceg.given(y="no").save("some").averaged()


def test_the_command_line_averages(tmp_path: Path) -> None:
    file = str(tmp_path / "s.duckdb")
    with cegdb.open(file) as db:
        learnt(db)
    done = CliRunner().invoke(main, ["averaged", file, "groups", "--name", "mean"])
    assert done.exit_code == 0, done.output
    assert "probabilities averaged over all stagings" in done.output
    with cegdb.open(file, read_only=True) as db:
        assert db.stagings.names() == ["groups", "mean"]
