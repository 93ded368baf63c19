"""Interventions and effects: against all paths, the method of stagedtrees and example W11.1."""

from __future__ import annotations

import io
import json
import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cegs import RandomCeg
from strategies import StagedSample, staged_trees

import cegdb
from cegdb import evidence
from cegdb.causal.effects import (
    interventions_by_label,
    outcome_probabilities,
    sample_outcomes,
)
from cegdb.causal.interventions import intervene, no_intervention, refuse_post_treatment
from cegdb.cli import main
from cegdb.errors import QueryError
from cegdb.evidence import All, answers
from cegdb.inference.automata import occurs_always
from cegdb.inference.queries import condition, distribution, probability_of

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database

NA = "not applicable"
# docs/theory.md, W11.1: P(X=1|Z) and P(Y=1|Z,X), out of 160 people.
X1 = {0: 1 / 4, 1: 3 / 4}
Y1 = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.4, (1, 1): 0.8}


def make_confounded(database: Database) -> ChainEventGraph:
    """Return the CEG of W11.1; the prior has the shares of the counts, so means are exact."""
    rows = []
    prior: dict[Any, Any] = {(): {"0": 1, "1": 1}}
    for z, x, y in product((0, 1), repeat=3):
        in_x = X1[z] if x else 1 - X1[z]
        in_y = Y1[z, x] if y else 1 - Y1[z, x]
        rows.append((z, x, y, round(80 * in_x * in_y)))
        prior.setdefault((str(z),), {})[str(x)] = in_x
        prior.setdefault((str(z), str(x)), {})[str(y)] = in_y
    frame = pd.DataFrame(rows, columns=["Z", "X", "Y", "n"])
    tree = database.ingest(frame, name="w11", count="n").event_tree(sampling_zeros="none")
    return tree.set_stages({}, prior=prior).to_ceg()


@pytest.fixture(scope="module")
def confounded(database: Database) -> ChainEventGraph:
    return make_confounded(database)


@pytest.mark.slow
def test_w11_1_seen_is_not_set(confounded: ChainEventGraph) -> None:
    ceg = confounded
    assert ceg.given(X=1).probability(Y=1) == pytest.approx(27 / 40, abs=1e-12)
    assert ceg.do(X=1).probability(Y=1) == pytest.approx(11 / 20, abs=1e-12)
    assert ceg.do({"X": "0"}).probability(Y=1) == pytest.approx(1 / 4, abs=1e-12)
    effect = ceg.effect("X", {"Y": 1}, between=(0, 1))
    assert effect.differences["effect"].tolist() == pytest.approx([3 / 10], abs=1e-12)
    assert effect.probabilities["probability"].tolist() == pytest.approx([1 / 4, 11 / 20])
    seen = 27 / 40 - ceg.given(X=0).probability(Y=1)
    assert effect.differences["observed"].tolist() == pytest.approx([seen])


def test_randomised_and_then_seen_equals_set(confounded: ChainEventGraph) -> None:
    ceg = confounded
    randomised = ceg.do(X={"0": 0.5, "1": 0.5})
    for x in (0, 1):
        set_to = ceg.do(X=x).marginals("Y")["probability"].tolist()
        seen = randomised.given(X=x).marginals("Y")["probability"].tolist()
        assert seen == pytest.approx(set_to, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    sample=staged_trees(jumps=True),
    seed=st.integers(0, 9),
    absent=st.sampled_from([None, "n"]),
)
def test_every_question_after_an_intervention_agrees_with_enumeration(
    data: st.DataObject, sample: StagedSample, seed: int, absent: str | None
) -> None:
    tree = RandomCeg(sample, seed, absent)
    ceg = tree.compiled
    name = data.draw(st.sampled_from(tree.order))
    labels = [one for one in ceg.variables[tree.order.index(name)].labels if one != NA]
    if not labels:
        return
    shares = dict(
        zip(labels, np.random.default_rng(seed).dirichlet(np.ones(len(labels))), strict=True)
    )
    stated = data.draw(st.sampled_from([{label: 1.0} for label in labels] + [shares]))
    lacks = [
        path
        for path, children in tree.children.items()
        if tree.asks(path) == name
        and set(children) != {NA}
        and not {label for label, share in stated.items() if share} <= set(children)
    ]
    if lacks:
        with pytest.raises(QueryError, match="cannot be set at every position"):
            intervene(no_intervention(ceg), {name: stated})
    made = intervene(no_intervention(ceg), {name: stated}, "leave")
    if len(stated) == 1 and not lacks and occurs_always(ceg, tree.order.index(name)):
        # As stagedtrees has it: an answer that is randomised, and then seen.
        even = dict.fromkeys(labels, 1 / len(labels))
        randomised = intervene(no_intervention(ceg), {name: even}, "leave")
        if all(set(labels) == set(c) for p, c in tree.children.items() if tree.asks(p) == name):
            seen = condition(randomised.ceg, answers({name: next(iter(stated))}))
            assert distribution(seen, tree.order)[1] == pytest.approx(
                distribution(condition(made.ceg, All(())), tree.order)[1]
            )

    def theta(path: Any, label: str) -> float:
        if tree.asks(path) == name and path not in lacks and label != NA:
            kept = tree.fitted(path, NA) if NA in tree.children[path] else 0.0
            return float(stated.get(label, 0.0)) * (1 - kept)
        return tree.fitted(path, label)

    paths = list(tree.paths(theta))
    under = condition(made.ceg, All(()))
    for asked in tree.order:
        for label in {*ceg.variables[tree.order.index(asked)].labels, NA}:
            expected = sum(p for path, p in paths if path.get(asked, NA) == label)
            found = probability_of(under, answers({asked: label}))
            assert found == pytest.approx(expected, abs=1e-12)
            if expected > 0:
                later = condition(made.ceg, answers({asked: label}))
                first = answers({tree.order[0]: paths[0][0][tree.order[0]]})
                both = sum(
                    p
                    for path, p in paths
                    if path.get(asked, NA) == label
                    and path[tree.order[0]] == paths[0][0][tree.order[0]]
                )
                assert probability_of(later, first) == pytest.approx(both / expected)


def test_a_position_alone_is_set(confounded: ChainEventGraph) -> None:
    ceg = confounded
    at = ceg.situation_positions.set_index("path")["position"]["1"]
    made = ceg.do({at: 0})
    assert made.probability(X=1, Z=1) == 0
    assert made.probability(X=1, Z=0) == pytest.approx(1 / 8)
    assert made.probability(Y=1) == pytest.approx((0.75 * 0.1 + 0.25 * 0.3 + 0.4) / 2)
    assert made.edges.query("is_set")["source"].unique().tolist() == [at]


def test_what_is_set_can_be_asked_like_any_ceg(confounded: ChainEventGraph) -> None:
    ceg = confounded
    made = ceg.do(X=1)
    assert made.most_probable_paths(1)["path"].tolist() == ["Z = 1, X = 1, Y = 1"]
    assert set(made.sample(50, seed=1)["X"]) == {"1"}
    assert made.distribution("Y", by="Z")["probability"].tolist() == pytest.approx(
        [0.7, 0.3, 0.2, 0.8]
    )
    assert made.given(Y=1).probability(Z=1) == pytest.approx(0.4 / 0.55)
    assert made.do(Z=1).probability(Y=1) == pytest.approx(0.8)
    assert made.edges.groupby("source")["probability"].sum().tolist() == pytest.approx([1] * 7)
    assert made.edges.query("variable == 'Y'")["passed"].sum() == pytest.approx(1)
    assert (made.edges["fitted"] == ceg.edges["probability"]).all()


def test_what_can_be_reached_is_drawn(confounded: ChainEventGraph) -> None:
    graph = confounded.do(X=1).to_networkx()
    assert graph.graph["name"] == "w11 after do(X = 1)"
    assert {label for *_, label in graph.edges(keys=True)} == {"0", "1"}
    assert len(graph) == 6
    assert graph.edges["w1", "w4", "1"]["probability"] == pytest.approx(1)
    later = confounded.do(X=1).given(Y=1).to_networkx()
    assert later.edges["w0", "w2", "1"]["probability"] == pytest.approx(0.4 / 0.55)
    assert "n" not in later.nodes["w0"]


def test_the_assumption_is_shown(confounded: ChainEventGraph) -> None:
    made = confounded.do(X=1)
    for text in (repr(made), made.assumption, repr(made.given(Y=1))):
        assert "order of CEG 'w11' is causal" in text
        assert "Nothing unmeasured confounds X" in text
    assert repr(made.given(Y=1)).startswith(
        "CEG 'w11' after do(X = 1), given Y = 1 (probability 0.55)\n"
    )


def test_an_intervention_shows_the_names_of_the_ceg(confounded: ChainEventGraph) -> None:
    assert confounded.do({" x": {"0 ": 0.25, 1: 0.75}}).intervention == "X ~ 0: 0.25, 1: 0.75"
    assert confounded.do({"W1": 1}).intervention == "w1 = 1"
    with pytest.raises(QueryError, match="'X' is set twice"):
        confounded.do({"X": 1, "x": 0})


def test_what_cannot_be_set_is_refused(confounded: ChainEventGraph) -> None:
    ceg = confounded
    for actions, said in (
        ({"W": 1}, "no variable 'W'"),
        ({"X": 2}, "no label '2'"),
        ({"X": None}, "set to None"),
        ({"X": [0, 1]}, "set to"),
        ({"X": {0: 0.5}}, "sum to 0.5"),
        ({"X": {0: -1, 1: 2}}, "must be from 0 to 1, not -1"),
        ({"X": {}}, "sum to 0"),
        ({"X": 1, "w1": 0}, "set twice"),
        ({"w_inf": 1}, "no edge"),
        ({}, "the intervention sets nothing"),
        ("X", "intervention must be a mapping, not 'X'"),
    ):
        with pytest.raises(QueryError, match=said):
            ceg.do(actions)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="unknown value 'drop' for absent"):
        ceg.do(X=1, absent="drop")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="cannot intervene after conditioning"):
        ceg.do(X=1).given(Y=1).do(Z=1)
    with pytest.raises(QueryError, match="set twice"):
        ceg.do(X=1).do(X=0)
    with pytest.raises(QueryError, match="probability 0"):
        ceg.do(X=1).given(X=0)


def test_a_treatment_of_one_label_has_nothing_to_be_compared_with(database: Database) -> None:
    rows = "select 'a' as x, i % 2 as y from range(8) as t(i)"
    ceg = (
        database.ingest(rows, name="one label")
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    with pytest.raises(QueryError, match="'x' has only the label 'a'"):
        ceg.positivity("x")
    with pytest.raises(QueryError, match="'x' has only the label 'a'"):
        ceg.effect("x", {"y": "1"})


@pytest.fixture(scope="module")
def gated(database: Database) -> ChainEventGraph:
    """Return a CEG where mild cases are never operated, and the healthy not treated at all."""
    rows = """
        select sick, treatment, case when sick = 'no' then 'good'
            when treatment = 'operated' and i % 10 < 8 then 'good'
            when treatment = 'drug' and i % 10 < 5 then 'good' else 'bad' end as outcome
        from (select i, ['no', 'mild', 'severe'][1 + i % 3] as sick, case i % 3 when 0 then null
            when 1 then if(i % 2 = 0, 'drug', 'none')
            else ['drug', 'none', 'operated'][1 + i // 3 % 3] end as treatment
            from range(900) t(i))
    """
    order = ["sick", "treatment", "outcome"]
    return (
        database.ingest(rows, name="gated")
        .event_tree(order=order, sampling_zeros="none")
        .set_stages({}, prior="mass")
        .to_ceg()
    )


def test_a_label_that_a_position_lacks_is_refused_or_left(gated: ChainEventGraph) -> None:
    ceg = gated
    with pytest.raises(
        QueryError, match=r"w\d has no 'operated' \(available: 'drug', 'none'\)"
    ):
        ceg.do(treatment="operated")
    left = ceg.do(treatment="operated", absent="leave")
    mild = ceg.given(sick="mild").probability(treatment="drug")
    assert left.given(sick="mild").probability(treatment="drug") == pytest.approx(mild)
    assert left.given(sick="severe").probability(treatment="operated") == 1
    found = ceg.positivity("treatment")
    assert found[["history", "label", "is_possible", "n"]].to_numpy().tolist() == [
        ["sick = mild", "operated", False, 300]
    ]
    severe = ceg.effect("treatment", {"outcome": "good"}, given={"sick": "severe"})
    assert severe.probabilities["label"].tolist() == ["drug", "none", "operated"]
    assert severe.probabilities["probability"].tolist() == pytest.approx(
        severe.probabilities["observed"].tolist()
    )
    assert severe.positivity.empty
    with pytest.raises(QueryError, match="cannot be set at every position"):
        ceg.effect("treatment", {"outcome": "good"})


@pytest.mark.slow
def test_paths_without_the_treatment_stay_as_they_are(gated: ChainEventGraph) -> None:
    ceg = gated
    effect = ceg.effect("treatment", {"outcome": "good"}, between=["none", "drug"], least=0)
    none = ceg.probability(sick="no")
    assert effect.share == pytest.approx(1 - none)
    sick = {s: ceg.probability(sick=s) for s in ("mild", "severe")}
    for row in effect.probabilities.itertuples():
        expected = ceg.probability(sick="no", outcome="good") + sum(
            sick[s] * ceg.given(sick=s, treatment=row.label).probability(outcome="good")
            for s in sick
        )
        assert row.staged == pytest.approx(expected)
    assert "occurs with probability" in str(effect)


def test_a_group_told_by_what_follows_the_treatment_is_refused(
    confounded: ChainEventGraph,
) -> None:
    ceg = confounded
    at = ceg.situation_positions.set_index("path")["position"]["1 -> 1"]
    before = ceg.situation_positions.set_index("path")["position"]["1"]
    for group in (
        {"Y": 1},
        {"X": 1},
        evidence.visits(at),
        evidence.takes(before, 1),
        evidence.at_least(1, [{"Z": 1}, {"Y": 1}]),
        evidence.before({"Z": 1}, {"Y": 1}),
        evidence.likelihood("Y", {0: 1, 1: 2}),
    ):
        with pytest.raises(QueryError, match="may come after 'X' or be the treatment"):
            ceg.effect("X", {"Y": 1}, given=group)
    for group in ({"Z": 1}, evidence.visits(before), evidence.takes("w0", 1)):
        effect = ceg.effect("X", {"Y": 1}, given=group, given_staging=True, draws=0)
        assert effect.differences["effect"].tolist() == pytest.approx([0.4])
        assert effect.differences["observed"].tolist() == pytest.approx([0.4])
        assert effect.differences["low"].isna().all()
        assert "interval" not in str(effect)


@pytest.mark.slow
def test_intervals_are_those_of_the_posterior(db: Database) -> None:
    """One coin: the effect on it is a difference of two Beta variables."""
    from scipy.stats import beta

    survey = db.ingest("select i % 2 as x, i % 10 < 3 + 2 * (i % 2) as y from range(400) t(i)")
    ceg = (
        survey.event_tree(sampling_zeros="none").set_stages({}, alpha=4, prior="mass").to_ceg()
    )
    asked = {"draws": 20_000, "level": 0.9, "given_staging": True}
    effect = ceg.effect("x", {"y": True}, **asked)
    edges = ceg.edges.query("variable == 'y'")
    for row, (_, of) in zip(
        effect.probabilities.itertuples(), edges.groupby("source"), strict=True
    ):
        mass = (of["prior"] + of["n"]).tolist()
        low, high = beta.ppf([0.05, 0.95], mass[1], mass[0])
        assert (row.low, row.high) == pytest.approx((low, high), abs=3e-3)
        assert row.probability == pytest.approx(mass[1] / sum(mass))
    again = ceg.effect("x", {"y": True}, **asked)
    pd.testing.assert_frame_equal(again.differences, effect.differences)
    for bad in ({"level": 1}, {"draws": -1}, {"seed": -1}, {"least": 2}, {"between": [0, 0]}):
        with pytest.raises(QueryError):
            ceg.effect("x", {"y": True}, **bad)  # type: ignore[arg-type]


@pytest.mark.slow
def test_effects_are_not_pooled_over_stages_by_default(db: Database) -> None:
    """By hand: shares of y at x, standardised over z; P(z) = 1/2, and x depends on z."""
    counts = {  # (z, x): how many, and how many of them have y
        (0, 0): (60, 18), (0, 1): (40, 18), (1, 0): (30, 15), (1, 1): (70, 42),
    }  # fmt: skip
    rows = [
        {"z": z, "x": x, "y": int(i < k)} for (z, x), (n, k) in counts.items() for i in range(n)
    ]
    survey = db.ingest(pd.DataFrame(rows), name="unpooled", replace=True)
    alike = {("0", x): "low" for x in "01"} | {("1", x): "high" for x in "01"}
    ceg = survey.event_tree(sampling_zeros="none").set_stages(alike, prior="mass").to_ceg()
    effect = ceg.effect("x", {"y": 1})
    p = {cell: k / n for cell, (n, k) in counts.items()}
    by_label = [(p[0, x] + p[1, x]) / 2 for x in (0, 1)]
    assert effect.probabilities["probability"].tolist() == pytest.approx(by_label)
    (found,) = effect.differences.itertuples()
    assert found.effect == pytest.approx(by_label[1] - by_label[0])
    # The delta method: z decides the weights, each cell is a sample of its own.
    of_cells = sum(p[cell] * (1 - p[cell]) / n / 4 for cell, (n, _) in counts.items())
    by_z = [p[z, 1] - p[z, 0] for z in (0, 1)]
    error = math.sqrt(of_cells + (by_z[0] - by_z[1]) ** 2 / 4 / 200)
    assert (found.low, found.high) == pytest.approx(
        (found.effect - 1.96 * error, found.effect + 1.96 * error), abs=0.01
    )
    seen = [(18 + 15) / 90, (18 + 42) / 110]
    assert effect.probabilities["observed"].tolist() == pytest.approx(seen)
    # The stages say that x makes no difference, which the rows do not bear out.
    assert found.staged == pytest.approx(0, abs=1e-12)
    assert "by the stages, 1 against 0: +0.0000 (by the rows: +0.1250), " in str(effect)
    staged = ceg.effect("x", {"y": 1}, given_staging=True)
    assert staged.differences["effect"].tolist() == pytest.approx([0], abs=1e-12)
    assert "they take the staging as known" in str(staged)
    apart = (
        survey.event_tree(name="apart", sampling_zeros="none")
        .set_stages({}, alpha=0.01, prior="mass")
        .to_ceg()
    )
    assert "by the stages" not in str(apart.effect("x", {"y": 1}))


@pytest.mark.slow
def test_a_label_that_no_row_has_somewhere_leaves_the_effect_open(db: Database) -> None:
    rows = "select i % 2 as z, if(i % 2 = 0, i // 2 % 2, 0) as x, i % 3 = 0 as y"
    survey = db.ingest(f"{rows} from range(60) t(i)", name="open", replace=True)
    tree = survey.event_tree(sampling_zeros="full")
    found = tree.set_stages({}, prior="mass").to_ceg().effect("x", {"y": True}, least=0)
    wide = found.probabilities.set_index("label").eval("high - low")
    assert wide["1"] > wide["0"] + 0.2


@pytest.mark.slow
def test_a_conditioned_ceg_is_not_intervened_on(db: Database) -> None:
    conditioned = make_confounded(db).given(Z=1).save("conditioned")
    with pytest.raises(QueryError, match="cannot intervene after conditioning"):
        conditioned.do(X=1)


@pytest.mark.slow
def test_an_outcome_that_the_treatment_cannot_change_is_noted(db: Database) -> None:
    rows = "select i % 2 as x, i % 3 as y, i % 5 as z from range(120) t(i)"
    ceg = db.ingest(rows).event_tree(sampling_zeros="none").full().to_ceg()
    before = ceg.effect("y", {"x": 1}, draws=0)
    assert before.notes[0] == "the outcome comes before y, so setting y cannot change it"
    assert before.differences["effect"].tolist() == pytest.approx([0, 0])
    itself = ceg.effect("y", {"y": 1}, draws=0)
    assert itself.notes[0].startswith("the outcome is about y itself, which is set")
    after = ceg.effect("y", {"x": 1, "z": 1}, draws=0)
    assert after.outcome_note == ""
    assert str(ceg.adjustment("y", "x")).splitlines()[1] == before.outcome_note
    assert ceg.adjustment("y", "z").outcome_note == ""
    both = ceg.do(x=1).do(y=1).assumption
    assert "setting x and y changes nothing before them, and keeps" in both


@pytest.mark.slow
def test_the_command_prints_effects_and_what_they_rest_on(tmp_path: Path) -> None:
    path = tmp_path / "w11.duckdb"
    with cegdb.open(path) as db:
        make_confounded(db)

    def call(*more: str, fails: int = 0) -> Any:
        result = CliRunner().invoke(main, ["effect", str(path), "w11", *more])
        assert result.exit_code == fails, result.output
        return result

    found = call(
        "X=0", "--outcome", "Y=1", "--adjust-for", "Z", "--least", "0.3", "--draws", "50"
    )
    rows = pd.read_csv(io.StringIO(found.stdout))
    assert rows["label"].tolist() == [0, 1]
    assert rows["probability"].tolist() == pytest.approx([1 / 4, 11 / 20])
    assert rows["observed"][1] == pytest.approx(27 / 40)
    assert rows["effect"][1] == pytest.approx(3 / 10)
    assert rows["effect_low"][1] < 3 / 10 < rows["effect_high"][1]
    assert "positivity: X = 1 has probability 0.25 at w1 (Z = 0; n = 80)" in found.stderr
    assert "adjusting for Z identifies the effect of X on Y" in found.stderr
    assert "assumed, not tested: the order of CEG 'w11' is causal" in found.stderr
    table = call(
        "X=1", "--outcome", "Y=1", "--given", "Z=1", "--format", "json", "--draws", "0"
    )
    assert [row["label"] for row in json.loads(table.stdout)] == ["1", "0"]
    assert json.loads(table.stdout)[1]["effect"] == pytest.approx(-0.4)
    assert "adjusting" not in table.stderr
    assert "('Z',)" not in call("X", "--outcome", "Y=1", "--adjust").stderr
    before = call("Y", "--outcome", "X=1", "--adjust", "--draws", "0").stderr
    assert before.count("the outcome comes before Y, so setting Y cannot change it") == 1
    assert before.count("assumed, not tested: ") == 1
    for arguments, said in (
        (("X=2", "--outcome", "Y=1"), "no label '2'"),
        (("W", "--outcome", "Y=1"), "no variable 'W'"),
        (("X", "--outcome", "Y"), "is not VARIABLE=LABEL"),
        (("X", "--outcome", "Y=1", "--given", "Y=1"), "may come after 'X'"),
    ):
        assert said in call(*arguments, fails=3).stderr


@pytest.mark.slow
def test_labels_that_a_staging_joins_have_intervals(db: Database) -> None:
    rows = "select i % 2 as x, if(i % 3 = 0, if(i % 2 = 0, 'a', 'a*'), 'b') as y"
    tree = db.ingest(f"{rows} from range(400) t(i)").event_tree(sampling_zeros="none")
    ceg = tree.learn_stages(
        relabel={("y", "a*"): "a"}, prior="mass", criterion="score"
    ).to_ceg()
    effect = ceg.effect("x", {"y": "a"})
    low, high = effect.probabilities["low"], effect.probabilities["high"]
    assert ((low < 1 / 3) & (high > 1 / 3)).all()


@pytest.mark.slow
def test_whom_a_question_does_not_apply_to_stays_so(db: Database) -> None:
    rows = "select i % 2 as x, ['-', 'a', 'b'][1 + i % 3] as y, i % 5 < 2 as z"
    survey = db.ingest(f"{rows} from range(600) t(i)", structural=["-"])
    ceg = survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
    skips = ceg.probability(y=NA)
    assert skips == pytest.approx(1 / 3, abs=0.01)
    made = ceg.do(y="a")
    assert made.marginals("y").set_index("label")["probability"].to_dict() == pytest.approx(
        {"a": 1 - skips, NA: skips}
    )
    assert made.edges.query(f"label == '{NA}'")["is_set"].tolist() == [False, False]
    assert ceg.do(y=NA).probability(y=NA) == 1
    effect = ceg.effect("y", {"z": True}, draws=50)
    assert effect.share == pytest.approx(1 - skips)
    assert effect.probabilities["label"].tolist() == ["a", "b"]
    rare = ceg.positivity("y", least=0.9)
    assert rare["probability"].tolist() == pytest.approx([0.5] * 4, abs=0.01)
    drawn = ceg.sample(30_000, seed=1)
    assert (drawn["y"] == NA).mean() == pytest.approx(skips, abs=0.01)
    assert drawn["y"].cat.categories.tolist() == ["a", "b", NA]


@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    sample=staged_trees(jumps=True),
    seed=st.integers(0, 9),
    absent=st.sampled_from([None, "n"]),
)
def test_draws_from_a_sharp_posterior_are_the_probabilities(
    data: st.DataObject, sample: StagedSample, seed: int, absent: str | None
) -> None:
    ceg = RandomCeg(sample, seed, absent).compiled
    treatment = data.draw(st.sampled_from(ceg.variables))
    labels = [label for label in treatment.labels if label != NA]
    outcome, before = (data.draw(st.sampled_from(ceg.variables)) for _ in range(2))
    event = answers({outcome.name: data.draw(st.sampled_from([*outcome.labels, NA]))})
    group = answers({before.name: data.draw(st.sampled_from(before.labels))})
    try:
        refuse_post_treatment(ceg, ceg.variable_index(treatment.name), group)
    except QueryError:
        group = All(())
    if not labels:
        return
    made = interventions_by_label(ceg, treatment.name, labels, group, "leave")
    expected = outcome_probabilities(ceg, treatment.name, made, event, group).intervened
    edges = zip(
        ceg.graph.source.tolist(), ceg.edge_labels, ceg.probability.tolist(), strict=True
    )
    masses = {(int(ceg.stage_id[node]), text): 1e12 * p for node, text, p in edges}
    found = sample_outcomes(list(made.values()), event, group, masses, 3, seed)
    assert found == pytest.approx(np.tile(expected, (3, 1)), abs=1e-4)
