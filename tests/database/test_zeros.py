"""Answers that nobody gave: edges, or presumed impossible where chance cannot explain it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import oracle
import pandas as pd
import pytest
from datasets import survey_file
from scipy.stats import beta

from cegdb.errors import StagingError
from cegdb.stages.unobserved import predictive_mass

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import ChainEventGraph, Database, EventTree, StagedTree


def regions(rows_each: int) -> pd.DataFrame:
    """Return 40 regions of equally many people, each ill with a probability of 0.1."""
    n = 40 * rows_each
    ill = np.random.default_rng(1).random(n) < 0.1
    return pd.DataFrame(
        {"region": [f"r{i % 40:02d}" for i in range(n)], "ill": np.where(ill, "yes", "no")}
    )


def zero_edges(tree: EventTree) -> set[tuple[str, ...]]:
    """Return the paths of the edges that nobody took."""
    path_of = dict(zip(tree.situations["situation"], tree.situations["labels"], strict=True))
    edges = tree.edges.query("n == 0")[["source", "label"]].itertuples(index=False)
    return {(*path_of[source], label) for source, label in edges}


def test_small_regions_without_ill_people_may_have_some(db: Database) -> None:
    survey = db.ingest(regions(15), name="s")
    tree = survey.event_tree()
    frame = regions(15)
    healthy = set(frame["region"]) - set(frame.query("ill == 'yes'")["region"])
    assert len(healthy) == 5
    assert zero_edges(tree) == {(region, "yes") for region in healthy}
    assert tree.presumed_zeros.empty
    assert "presumed" not in tree.summary


def test_large_regions_have_no_zeros(db: Database) -> None:
    tree = db.ingest(regions(500), name="s").event_tree()
    assert zero_edges(tree) == set()
    assert tree.presumed_zeros.empty


def test_the_crew_of_the_titanic_has_no_children_and_girls_may_die(db: Database) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    tree = survey.event_tree(order=["Class", "Age", "Survived"])
    (zero,) = tree.presumed_zeros.to_dict("records")
    assert (zero["path"], zero["label"], zero["n"]) == ("Crew", "Child", 885)
    assert (zero["n_with"], zero["n_without"]) == (109, 1207)
    assert zero["log_p0"] == pytest.approx(-58.2168761963, abs=1e-10)
    assert zero["high"] == pytest.approx(1 - 0.05 ** (1 / 885))
    assert zero_edges(tree) == {("1st", "Child", "No"), ("2nd", "Child", "No")}
    assert "Age after Crew: none of 885 answered 'Child' (at most 0.4 %)" in tree.summary
    told = tree.learn_stages().to_ceg().findings().query("finding == 'presumed_zero'")
    assert told[["variable", "n", "consequence"]].to_numpy().tolist() == [["Age", 885, 1]]
    # Girls of the second class, 13 of 13 of whom survived, are too few to presume anything.
    tree = survey.event_tree("sexes")
    assert ("2nd", "Female", "Child", "No") in zero_edges(tree)
    shown = tree.presumed_zeros[["path", "label", "n"]]
    assert shown.to_numpy().tolist() == [["Crew -> Male", "Child", 862]]
    # The tree goes on below an answer that nobody gave.
    assert ("Crew", "Female", "Child", "Yes") in zero_edges(tree)


@pytest.mark.parametrize(
    ("here", "with_it", "without", "log_p0"),
    [
        (15, 57, 528, -1.5299927346),
        (885, 109, 1207, -58.2168761963),
        (6, 1490, 705, -6.7985346152),
    ],
)
def test_the_chance_of_a_zero_is_that_of_the_theory(
    db: Database, here: int, with_it: int, without: int, log_p0: float
) -> None:
    counts = {"yes": 0, "no": here}
    elsewhere = {"yes": with_it, "no": without}
    found = oracle.presumed("yes", counts, [counts, elsewhere])
    is_presumed = here >= 100 and log_p0 < math.log(1e-6)
    assert (found is not None) == is_presumed
    rows = [("a", "no", here), ("b", "yes", with_it), ("b", "no", without)]
    survey = db.ingest(
        pd.DataFrame(rows, columns=["place", "answer", "people"]), count="people", name="s"
    )
    presumed = survey.event_tree().presumed_zeros
    assert len(presumed) == is_presumed
    if found is not None:
        assert presumed.loc[0, ["n", "n_with", "n_without"]].tolist() == list(found[:3])
        assert presumed.loc[0, "log_p0"] == pytest.approx(log_p0, abs=1e-10)


def test_what_is_declared_impossible_is_not_presumed(db: Database) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    tree = survey.event_tree(
        sampling_zeros="auto", impossible=[{"Class": "Crew", "Age": "Child"}]
    )
    assert tree.presumed_zeros.empty
    assert ("Crew", "Female", "Child") not in zero_edges(tree)


@pytest.mark.slow
@pytest.mark.parametrize("zeros", ["auto", "full"])
@pytest.mark.parametrize("gate", ["one", "both", "either"])
def test_a_history_that_nobody_has_is_not_asked_behind_a_closed_gate(
    db: Database, gate: str, zeros: Any
) -> None:
    """Gates of one answer, of two answers together, and of either of two."""
    rows = []
    for area in "nsew":
        for smokes in ("no", "yes"):
            for vapes in ("no", "yes"):
                if (area, smokes) == ("w", "no") or (area, vapes) == ("e", "no"):
                    continue
                both = {smokes, vapes}
                asked = {
                    "one": smokes == "yes",
                    "both": both == {"yes"},
                    "either": "yes" in both,
                }
                amounts = ["few", "many"] if asked[gate] else [None]
                rows += [(area, smokes, vapes, amount, 9) for amount in amounts]
    frame = pd.DataFrame(rows, columns=["area", "smokes", "vapes", "amount", "people"])
    survey = db.ingest(frame, count="people", name="s")
    tree = survey.event_tree(sampling_zeros=zeros)
    labels = {
        tuple(path)
        for path, variable in zip(
            tree.situations["labels"], tree.situations["variable"], strict=True
        )
        if variable == "amount"
    }
    for area in "nsew":
        for smokes in ("no", "yes"):
            for vapes in ("no", "yes"):
                both = {smokes, vapes}
                asked = {
                    "one": smokes == "yes",
                    "both": both == {"yes"},
                    "either": "yes" in both,
                }
                assert ((area, smokes, vapes) in labels) == asked[gate], (area, smokes, vapes)


@pytest.mark.slow
def test_a_tree_has_at_most_twice_the_situations_that_somebody_reached(db: Database) -> None:
    tree = db.ingest(survey_file("glass"), name="s").event_tree()
    n_reached = (tree.situations["n"] > 0).sum()
    assert n_reached == 636
    assert n_reached < len(tree.situations) <= 2 * n_reached
    assert (
        "after answers that nobody gave, the tree asks no questions from 'K' on (1,254 "
        "histories without respondents end there): it would have more than twice"
    ) in tree.summary
    variables = list(dict.fromkeys(tree.situations["variable"]))
    unreached = set(tree.situations.query("n == 0")["variable"])
    assert unreached == set(variables[1 : variables.index("K")]) & unreached
    assert "K" not in unreached


def test_presumed_zeros_are_dropped_with_their_tree_and_made_again(db: Database) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    tree = survey.event_tree()
    before = tree.presumed_zeros
    assert len(before) == 1
    survey.append(survey_file("Titanic"))
    db.rebuild()
    tree = db.trees["s"]
    assert tree.presumed_zeros["n"].tolist() == [2 * 862]
    db.drop("tree", tree.name)
    assert db.rows("select count(*) from cegdb.presumed_zero")[1] == [(0,)]


@pytest.fixture
def titanic(db: Database) -> EventTree:
    """Give a tree in which nobody is a girl of the crew."""
    return db.ingest(survey_file("Titanic"), name="s").event_tree()


def probabilities(staged: StagedTree, path: tuple[str, ...]) -> pd.DataFrame:
    """Return the edges of the stage of a situation."""
    tree = staged.tree
    (vertex_id,) = (
        row.vertex_id for row in tree.situations.itertuples() if tuple(row.labels) == path
    )
    stage = staged.florets.set_index("vertex_id").loc[vertex_id, "stage_id"]
    edges = staged.stage_edges
    return edges[edges["stage_id"] == stage].set_index("label")


GIRL = ("Crew", "Female", "Child")


def test_a_situation_nobody_reached_is_as_uncertain_as_the_others_differ(
    titanic: EventTree,
) -> None:
    staged = titanic.learn_stages()
    edges = probabilities(staged, GIRL)
    florets = titanic.florets.query("variable == 'Survived' and n > 0")
    mass = predictive_mass(np.array(florets["counts"].tolist(), dtype=float))
    assert edges["n"].tolist() == [0, 0]
    assert edges["prior"].tolist() == pytest.approx(mass.tolist())
    assert edges["probability"].tolist() == pytest.approx((mass / mass.sum()).tolist())
    for row, (own, other) in zip(edges.itertuples(), (mass, mass[::-1]), strict=True):
        limits = beta(own, other).ppf([0.025, 0.975])
        assert [row.low, row.high] == pytest.approx(limits.tolist())
    again = staged.intervals().query("n == 0").set_index("label")
    assert again["low"].tolist() == pytest.approx(edges["low"].tolist())
    assert staged.settings["unobserved"] == "predictive"
    assert "1 never observed" in staged.summary


def test_or_it_joins_the_stage_of_the_nearest_situation(titanic: EventTree) -> None:
    staged = titanic.learn_stages(unobserved="nearest")
    reached = titanic.situations.query("variable == 'Survived' and n > 0")
    nearest = min(
        reached.itertuples(),
        key=lambda row: (sum(map(str.__ne__, row.labels, GIRL)), -row.n, row.vertex_id),
    )
    assert sum(map(str.__ne__, nearest.labels, GIRL)) == 1
    found = probabilities(staged, GIRL)["probability"]
    expected = probabilities(staged, tuple(nearest.labels))["probability"]
    assert found.tolist() == expected.tolist()


def test_or_that_of_a_situation_named(titanic: EventTree) -> None:
    staged = titanic.learn_stages(unobserved=[["3rd", "Female", "Child"]])
    found = probabilities(staged, GIRL)["probability"]
    expected = probabilities(staged, ("3rd", "Female", "Child"))["probability"]
    assert found.tolist() == expected.tolist()
    assert staged.settings["unobserved"] == [["3rd", "Female", "Child"]]


def test_or_one_of_its_own(titanic: EventTree) -> None:
    edges = probabilities(titanic.learn_stages(unobserved="own", prior="stage"), GIRL)
    assert edges["prior"].tolist() == [0.5, 0.5]
    assert edges[["low", "high"]].to_numpy().tolist() == [[0, 1], [0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unobserved", "message"),
    [
        ("near", "unknown value 'near' for unobserved"),
        ([GIRL], r"names the situation \('Crew', 'Female', 'Child'\), but its stage is not"),
        (
            [["1st", "Female", "Adult"], ["3rd", "Male", "Adult"]],
            "names situations of different stages of one hyperstage",
        ),
        ([["4th", "Male", "Adult"]], "'4th'"),
    ],
)
def test_what_cannot_be_joined_is_refused(
    titanic: EventTree, unobserved: Any, message: str
) -> None:
    with pytest.raises(StagingError, match=message):
        titanic.learn_stages(unobserved=unobserved)


@pytest.mark.slow
def test_a_rebuild_gives_situations_nobody_reached_what_the_settings_say(
    db: Database, titanic: EventTree
) -> None:
    for unobserved in ("predictive", "nearest", [["3rd", "Female", "Child"]]):
        titanic.learn_stages(unobserved=unobserved, replace=True)
        db.surveys["s"].append(survey_file("Titanic"))
        db.rebuild()
        rebuilt = db.stagings["s"]
        assert rebuilt.settings["unobserved"] == unobserved
        found = probabilities(rebuilt, GIRL)
        if unobserved == "predictive":
            florets = db.trees["s"].florets.query("variable == 'Survived' and n > 0")
            mass = predictive_mass(np.array(florets["counts"].tolist(), dtype=float))
            assert found["prior"].tolist() == pytest.approx(mass.tolist())
        else:
            assert (found["n"] > 0).all()
        titanic = db.trees["s"]


# Votes by province: a party that stands in one of them, and a province of few people.
VOTES = {
    "Quebec": {"Liberal": 700, "Conservative": 400, "Bloc": 900, "NDP": 120},
    "Ontario": {"Liberal": 1_100, "Conservative": 900, "NDP": 560},
    "Alberta": {"Liberal": 300, "Conservative": 1_100, "NDP": 166},
    "Yukon": {"Liberal": 14, "Conservative": 10, "NDP": 9},
}
FROM_ABSENCE = re.compile(
    r"\ball of|\bnone can\b|\bnobody can\b|\balways\b|\bnever (?!observed)|\bcertain"
    r"|\bcannot answer|100 of 100|impossible to"
    r"|Of [0-9,]+ \w+, about [0-9,]+ answered .* and the other 0\b"
)


def honest(db: Database, source: Any, **settings: Any) -> ChainEventGraph:
    """Make a CEG in which neither absence nor noise says anything."""
    survey = db.ingest(source, name="s", **settings)
    tree = survey.event_tree()
    return tree.learn_stages().to_ceg()


def sentences(ceg: ChainEventGraph, folder: Path) -> list[str]:
    """Return every line that its reports, its explanation and its page say."""
    texts = [ceg.report.text(form) for form in ("plain", "paper", "analyst")]
    page = ceg.report.page(folder / "page.html").read_text("utf-8")
    texts += [str(ceg.explain()), re.sub("<(script|style).*?</\\1>", "", page, flags=re.DOTALL)]
    return [line for text in texts for line in text.splitlines()]


def test_regions_of_few_people_are_one_group(db: Database, tmp_path: Path) -> None:
    ceg = honest(db, regions(15))
    (edge,) = ceg.staging.stage_edges.query("variable == 'ill' and label == 'yes'").itertuples()
    assert edge.n == 57
    assert edge.probability == pytest.approx(57.5 / 601)
    assert edge.low < 57 / 600 < edge.high
    plain = ceg.report.text("plain")
    assert "Of 100 people, about 10 answered “yes” to ill (7 to 12)" in plain
    assert [line for line in sentences(ceg, tmp_path) if FROM_ABSENCE.search(line)] == []
    # A region without ill people: nobody of 15, so up to 18 %.
    found = ceg.given(region="r39").probability(ill="yes")
    assert found.n == 15
    assert found.low <= edge.probability <= found.high
    assert found.high >= 1 - 0.05 ** (1 / 15)


@pytest.mark.slow
def test_regions_of_many_people_are_one_group_too(db: Database, tmp_path: Path) -> None:
    ceg = honest(db, regions(500))
    assert len(ceg.staging.stages.query("variable == 'ill'")) == 1
    assert [line for line in sentences(ceg, tmp_path) if FROM_ABSENCE.search(line)] == []


@pytest.mark.slow
def test_a_party_that_does_not_stand_is_told_with_its_evidence(
    db: Database, tmp_path: Path
) -> None:
    rows = [(place, vote, n) for place, votes in VOTES.items() for vote, n in votes.items()]
    frame = pd.DataFrame(rows, columns=["province", "vote", "people"])
    ceg = honest(db, frame, count="people")
    presumed = ceg.staging.tree.presumed_zeros.set_index("path")
    assert presumed["n"].to_dict() == {"Alberta": 1_566, "Ontario": 2_560}
    plain = ceg.report.text("plain")
    assert (
        "None of 1,566 people with province “Alberta” answered “Bloc” to vote: at most 0.2 % "
        "of such people would (95 % limit)."
    ) in " ".join(plain.split())
    assert "1 “Bloc” (0 to 9; nobody in the data) (n = 33)" in " ".join(plain.split())
    assert [line for line in sentences(ceg, tmp_path) if FROM_ABSENCE.search(line)] == []
    for place, row in presumed.iterrows():
        found = ceg.given(province=place).probability(vote="Bloc")
        assert (found, found.low, found.n) == (0, 0, row["n"])
        assert found.high == pytest.approx(row["high"])


def test_sentences_about_the_titanic_say_what_was_seen(db: Database, tmp_path: Path) -> None:
    ceg = honest(db, survey_file("Titanic"))
    assert [line for line in sentences(ceg, tmp_path) if FROM_ABSENCE.search(line)] == []
    assert "at least 99.6 % (95 % limit)" in " ".join(ceg.report.text("plain").split())
    found = ceg.given(Class="2nd", Sex="Female", Age="Child").probability(Survived="No")
    assert 0 < found < 0.2
    assert found.low == 0
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 13))


@pytest.mark.slow
def test_a_new_row_may_give_an_answer_that_was_presumed_impossible(db: Database) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    tree = survey.event_tree(order=["Class", "Age", "Survived"])
    staged = tree.learn_stages()
    row = pd.DataFrame({"Class": ["Crew"], "Age": ["Child"], "Survived": ["Yes"]})
    # As if one person had answered before: half an adult, half a child.
    child = 1 / (2 * 886)
    score = staged.score(row)
    assert score.n_impossible == 0
    survived = staged.score(row.assign(Survived="No")).mean
    total = math.exp(score.mean) + math.exp(survived)
    crew = float(staged.probability(Class="Crew"))
    assert total == pytest.approx(crew * child)
    every = pd.DataFrame(
        [
            {"Class": a, "Age": b, "Survived": c}
            for a in ("1st", "2nd", "3rd", "Crew")
            for b in ("Adult", "Child")
            for c in ("No", "Yes")
        ]
    )
    logs = staged.assign(every).rows["log_likelihood"]
    assert np.exp(logs).sum() == pytest.approx(1)
    declared = survey.event_tree(
        "declared",
        order=["Class", "Age", "Survived"],
        impossible=[{"Class": "Crew", "Age": "Child"}],
    )
    assert declared.learn_stages().score(row).n_impossible == 1


@pytest.mark.parametrize("zeros", ["auto", "none"])
def test_a_single_edge_has_what_its_rows_leave_open(db: Database, zeros: Any) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    tree = survey.event_tree(order=["Class", "Age"], sampling_zeros=zeros)
    staged = tree.learn_stages()
    (edge,) = staged.stage_edges.query("probability == 1").itertuples()
    assert (edge.label, edge.n, edge.high) == ("Adult", 885, 1)
    assert edge.low == pytest.approx(0.05 ** (1 / 885))
    (arrow,) = staged.to_ceg().edges.query("probability == 1 and source != 'w0'").itertuples()
    assert (arrow.low, arrow.high) == (edge.low, 1)
    (wider,) = staged.intervals(level=0.9).query("probability == 1").itertuples()
    assert wider.low == pytest.approx(0.1 ** (1 / 885))
    (given,) = staged.intervals(method="credible").query("probability == 1").itertuples()
    assert math.isnan(given.low)


def test_a_single_edge_counts_what_its_weights_are_worth(db: Database) -> None:
    frame = pd.DataFrame({"x": ["a", "a", "b", "b"], "y": list("pppq"), "w": [1, 3, 1, 1]})
    frame = pd.concat([frame] * 60, ignore_index=True)
    staged = db.ingest(frame, weight="w").event_tree(sampling_zeros="none").learn_stages()
    (edge,) = staged.stage_edges.query("probability == 1").itertuples()
    assert edge.n == 120
    assert edge.low == pytest.approx(0.05 ** (1 / (240**2 / 600)))


def test_a_single_edge_has_no_interval_where_no_other_answer_is_possible(
    db: Database,
) -> None:
    survey = db.ingest(survey_file("Titanic"), name="s")
    crew = [{"Class": "Crew", "Age": "Child"}]
    tree = survey.event_tree(order=["Class", "Age"], impossible=crew)
    (edge,) = tree.learn_stages().stage_edges.query("probability == 1").itertuples()
    assert math.isnan(edge.low)
    assert math.isnan(edge.high)
    constant = db.ingest("select 1 as x, i % 2 as y from range(50) as t(i)", name="c")
    (edge,) = (
        constant.event_tree().learn_stages().stage_edges.query("variable == 'x'").itertuples()
    )
    assert (edge.probability, edge.n) == (1, 50)
    assert math.isnan(edge.low)
