"""The settings of learning: priors, hyperstages, starts, frozen stages, scores."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from math import fsum, lgamma, log
from typing import TYPE_CHECKING, Any, NamedTuple

import clustering_oracle
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from database_template import database_with
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from strategies import run, staged_trees

import cegdb
from cegdb.cli import main
from cegdb.clustering import Coarsening
from cegdb.errors import StagingError
from cegdb.options import LearnOptions
from cegdb.stages import StagingLimits, learn_stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import Database, EventTree, StagedTree


METHODS = ["ahc", "auto", "bhc", "fbhc", "csbhc", "bj", "hc", "hclust", "kmeans"]


# =============================================================================
# An oracle of what learning is given, in plain Python
# =============================================================================


class Situation(NamedTuple):
    """What the tables of a tree say of one situation."""

    path: tuple[str, ...]
    variable: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    children: tuple[int, ...]
    height: int


def situations(tree: EventTree) -> dict[int, Situation]:
    by_vertex = {}
    children = defaultdict(list)
    for edge in tree.edges.itertuples():
        children[edge.parent_id].append((edge.label, edge.n, edge.child_id))
    for row in tree.situations.itertuples():
        floret = children[row.vertex_id]
        by_vertex[row.vertex_id] = Situation(
            tuple(row.labels),
            row.variable,
            tuple(label for label, _, _ in floret),
            tuple(n for _, n, _ in floret),
            tuple(child for _, _, child in floret),
            row.height,
        )
    return by_vertex


def priors(tree: dict[int, Situation], rule: str, alpha: float) -> dict[int, float]:
    """Return the prior of each edge, by its child."""
    prior: dict[int, float] = {}

    def leaves(vertex: int) -> int:
        if vertex not in tree:
            return 1
        return sum(leaves(child) for child in tree[vertex].children)

    for vertex in sorted(tree):
        children = tree[vertex].children
        for child in children:
            prior[child] = {
                "mass": (prior[vertex] if vertex else alpha) / len(children),
                "floret": alpha / len(children),
                "path": alpha * leaves(child) / leaves(0),
            }[rule]
    return prior


def stage_priors(
    tree: dict[int, Situation], stage: dict[int, int], alpha: float
) -> dict[int, float]:
    """Return the prior of each edge, by its child, where each stage has the mass alpha."""
    size = Counter(stage.values())
    return {
        child: alpha / len(one.children) / size[stage[vertex]]
        for vertex, one in tree.items()
        for child in one.children
    }


def shortest(tree: dict[int, Situation], vertex: int) -> int:
    if vertex not in tree:
        return 0
    return 1 + min(shortest(tree, child) for child in tree[vertex].children)


def hyperstages(tree: dict[int, Situation], rule: str) -> dict[int, Any]:
    return {
        vertex: (
            frozenset(one.labels),
            {
                "variable": one.variable,
                "labels": None,
                "height": one.height,
                "paper": shortest(tree, vertex),
            }[rule],
        )
        for vertex, one in tree.items()
    }


def blocks(names: dict[int, Any]) -> set[frozenset[int]]:
    members = defaultdict(set)
    for vertex, name in names.items():
        members[name].add(vertex)
    return {frozenset(block) for block in members.values()}


def stages(staged: StagedTree) -> dict[int, int]:
    rows = staged.florets
    return dict(zip(rows["vertex_id"], rows["stage_id"], strict=True))


def pooled(
    tree: dict[int, Situation], prior: dict[int, float], stage: dict[int, int]
) -> dict[int, dict[str, tuple[int, float]]]:
    """Return label -> (rows, prior) of each stage."""
    sums: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(lambda: [0, []]))
    for vertex, name in stage.items():
        one = tree[vertex]
        for label, n, child in zip(one.labels, one.counts, one.children, strict=True):
            sums[name][label][0] += n
            sums[name][label][1].append(prior[child])
    return {
        name: {label: (n, fsum(a)) for label, (n, a) in floret.items()}
        for name, floret in sums.items()
    }


def scores(
    stage: dict[int, dict[str, tuple[int, float]]], n_root: int, smoothing: float
) -> dict[str, float]:
    marginal, likelihood, df = [], [], 0
    for floret in stage.values():
        counts = [n for n, _ in floret.values()]
        prior = [a for _, a in floret.values()]
        marginal += [lgamma(fsum(prior)), -lgamma(fsum(prior) + sum(counts))]
        for n, a in zip(counts, prior, strict=True):
            marginal += [lgamma(a + n), -lgamma(a)]
            if n:
                whole = sum(counts) + smoothing * len(counts)
                likelihood.append(n * log((n + smoothing) / whole))
        df += (len(floret) - 1) * any(counts)
    fitted = fsum(likelihood)
    return {
        "log_marginal_likelihood": fsum(marginal),
        "log_likelihood": fitted,
        "df": df,
        "aic": -2 * fitted + 2 * df,
        "bic": -2 * fitted + df * log(max(n_root, 1)),
    }


def grown(db: Database, rows: list[tuple[Any, int]], order: list[str]) -> EventTree:
    cells = [[None if row[v] is BLANK else row[v] for v in order] for row, _ in rows]
    frame = pd.DataFrame(cells, columns=order, dtype=object)
    frame["people"] = [n for _, n in rows]
    survey = db.ingest(frame, "s", count="people", replace=True)
    return survey.event_tree("t", blank="structural", sampling_zeros="none")


@st.composite
def samples(draw: Callable[..., Any]) -> tuple[list[tuple[Any, int]], list[str]]:
    sample = draw(staged_trees(jumps=draw(st.booleans()), cross_variables=True))
    sizes = st.sampled_from([1, 2, 5, 5, 7, 40])
    return [(row, draw(sizes)) for row, _ in sample.rows], sample.order


@pytest.mark.slow
@run(5)
@given(
    samples(),
    st.sampled_from(METHODS),
    st.sampled_from(["mass", "floret", "path", "stage"]),
    st.sampled_from(["variable", "labels", "height", "paper"]),
    st.sampled_from(["together", "apart"]),
    st.sampled_from([0.0, 1.0, 0.3]),
    st.sampled_from(["full", "indep", None]),
    st.data(),
)
def test_any_settings_give_the_tables_that_plain_python_gives(
    database: Database,
    sound: Callable[[Database], None],
    sample: tuple[list[tuple[Any, int]], list[str]],
    method: Any,
    prior: Any,
    hyperstage: Any,
    single_edges: Any,
    smoothing: float,
    initial: Any,
    data: st.DataObject,
) -> None:
    tree = grown(database, *sample)
    found = situations(tree)
    allowed = hyperstages(found, hyperstage)
    frozen = {}
    for number, block in enumerate(sorted(map(sorted, blocks(allowed)))):
        if data.draw(st.sampled_from([False, False, True])):
            kept = data.draw(st.lists(st.sampled_from(block), max_size=3, unique=True))
            frozen |= {found[vertex].path: f"f{number}" for vertex in kept}
    staged = tree.learn_stages(
        "g",
        method=method,
        criterion="score" if method in ("ahc", "auto") else None,
        prior=prior,
        alpha=3,
        hyperstages=hyperstage,
        single_edges=single_edges,
        smoothing=smoothing,
        initial=initial,
        frozen=frozen or None,
        replace=True,
    )
    sound(database)
    stage = stages(staged)

    # Hyperstages, and what is no matter of learning.
    rows = database.sql("select * from cegdb.stages where staging = 'g'")
    part = dict(zip(rows["stage_id"], rows["hyperstage_id"], strict=True))
    assert blocks({v: part[s] for v, s in stage.items()}) == blocks(allowed)
    names = {one.path: v for v, one in found.items()}
    given_names = {names[path]: name for path, name in frozen.items()}
    for vertex, name in given_names.items():
        assert {v for v in stage if stage[v] == stage[vertex]} == {
            v for v, other in given_names.items() if other == name
        }
    singles = {v: allowed[v] for v, one in found.items() if len(one.labels) == 1}
    singles = {v: name for v, name in singles.items() if v not in given_names}
    expected = (
        blocks(singles) if single_edges == "together" else {frozenset([v]) for v in singles}
    )
    assert blocks({v: stage[v] for v in singles}) == expected

    # Priors and scores.
    by_stage = prior == "stage"
    prior_of = stage_priors(found, stage, 3.0) if by_stage else priors(found, prior, 3.0)
    florets = pooled(found, prior_of, stage)
    edges = staged.stage_edges
    for row in edges.itertuples():
        n, a = florets[row.stage_id][row.label]
        assert row.n == n
        assert row.prior == pytest.approx(a, rel=1e-12)
    n_root = sum(found[0].counts)
    right = scores(florets, n_root, smoothing)
    for name, value in right.items():
        assert getattr(staged, name) == pytest.approx(value, rel=1e-9, abs=1e-9)

    # The CEG adds the priors of the situations of a position.
    ceg = staged.to_ceg("g", replace=True)
    where = dict(
        ceg.situation_positions[["vertex_id", "position_id"]].itertuples(index=False, name=None)
    )
    mass = defaultdict(list)
    for vertex, one in found.items():
        for label, child in zip(one.labels, one.children, strict=True):
            mass[where[vertex], label].append(prior_of[child])
    for edge in ceg.edges.itertuples():
        assert edge.prior == pytest.approx(fsum(mass[edge.source_id, edge.label]), rel=1e-12)

    if method in ("ahc", "auto") and initial != "indep":
        contents: dict[Any, dict[int, Any]] = defaultdict(dict)
        for vertex, one in found.items():
            if vertex not in given_names and len(one.labels) > 1:
                order = sorted(one.labels)
                at = [one.labels.index(label) for label in order]
                contents[allowed[vertex]][vertex] = (
                    tuple(one.counts[i] for i in at),
                    tuple(prior_of[one.children[i]] for i in at),
                )
        learnt = {vertex: vertex for block in contents.values() for vertex in block}
        score = (
            clustering_oracle.one_prior(3.0)
            if by_stage
            else clustering_oracle.log_marginal_likelihood
        )
        for kept, absorbed, _ in clustering_oracle.agglomerate(*contents.values(), score=score):
            learnt = {v: kept if name == absorbed else name for v, name in learnt.items()}
        assert blocks({v: stage[v] for v in learnt}) == blocks(learnt)
    database.drop("ceg", "g")


# =============================================================================
# Priors
# =============================================================================


def answers() -> pd.DataFrame:
    """Return rows of two questions of two answers and one of three, with counts."""
    paths = [(a, b, c) for a in ("no", "yes") for b in ("low", "top") for c in "xyz"]
    rows = [(*path, 3 + 7 * i % 11) for i, path in enumerate(paths)]
    return pd.DataFrame(rows, columns=["A", "B", "C", "people"])


def seven_situations(db: Database) -> None:
    db.ingest(answers(), "s", count="people").event_tree("t", sampling_zeros="none")


@pytest.fixture
def tree(db: Database) -> EventTree:
    """Give a tree of seven situations."""
    return db.trees["t"]


@pytest.fixture(scope="module")
def unstaged() -> Iterator[tuple[Database, EventTree]]:
    """Give the same tree, and its database, to all who are refused a staging of it."""
    with database_with(seven_situations) as db:
        yield db, db.trees["t"]


def given_priors(staged: StagedTree) -> dict[tuple[str, str], float]:
    edges = staged.stage_edges
    return {(row.stage, row.label): row.prior for row in edges.itertuples()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior",
    [
        {("no",): {"low": 0.25, "top": 2.5}},
        {("NO",): {"Low": 0.25, " top": 2.5}},
        {("no",): [0.25, 2.5]},
        pd.DataFrame({"label": ["top", "low"], "vertex_id": [1, 1], "prior": [2.5, 0.25]}),
        pd.DataFrame({"label": [" TOP", "low "], "vertex_id": [1, 1], "prior": [2.5, 0.25]}),
        "select 1 as vertex_id, unnest(['low', 'top']) as label, unnest([0.25, 2.5]) as prior",
    ],
)
@pytest.mark.holds(made_by=seven_situations)
def test_priors_given_for_a_situation_are_its_own_and_the_others_conserve_mass(
    tree: EventTree, prior: Any, sound: Callable[[Database], None], db: Database
) -> None:
    staged = tree.set_stages({}, alpha=4, prior=prior)
    priors = given_priors(staged)
    assert (priors["u1", "low"], priors["u1", "top"]) == (0.25, 2.5)
    assert (priors["u2", "low"], priors["u2", "top"]) == (1, 1)
    assert priors["u3", "x"] == pytest.approx(1 / 3)
    edges = staged.to_ceg().edges
    assert set(edges.loc[edges["source_id"] == 1, "prior"]) == {0.25, 2.5}
    sound(db)


@pytest.mark.holds(made_by=seven_situations)
def test_one_number_is_the_prior_of_every_label_and_wildcards_fit_all(tree: EventTree) -> None:
    priors = given_priors(tree.set_stages({}, prior={("*", "*"): 0.5, ("*",): [1, 2]}))
    assert {value for (_, label), value in priors.items() if label in "xyz"} == {0.5}
    assert (priors["u2", "low"], priors["u2", "top"]) == (1, 2)


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ({("no",): 0}, r"prior of label 'low' is 0.0 in situation \('no',\)"),
        ({("no",): {"low": -1, "top": 1}}, "prior of label 'low' is -1.0"),
        ({("no",): [1, float("inf")]}, "prior of label 'top' is inf"),
        ({("no",): [1, 2, 3]}, r"does not fit situation \('no',\) with labels low, top"),
        ({("no",): {"low": 1}}, r"does not fit situation \('no',\)"),
        ({("no",): {"low": 1, "up": 1}}, "does not fit"),
        ({("no",): "much"}, "the prior of .* must be numbers, not 'much'"),
        ({("no",): True}, "the prior of .* must be numbers, not True"),
        ({("maybe",): 1}, "'maybe'"),
        ({("no", "low", "x"): 1}, "leaf"),
        ({("no",): 1, ("*",): 2}, "has two priors: '1.0' and '2.0'"),
        ("flat", "unknown value 'flat' for prior"),
        (3, "prior cannot be 3"),
        (pd.DataFrame({"vertex_id": [1], "prior": [1.0]}), "the columns are vertex_id, prior"),
        (
            pd.DataFrame({"vertex_id": [1], "label": ["low"], "prior": [1.0]}),
            "1 entry for 2 labels",
        ),
        (
            pd.DataFrame({"vertex_id": [99], "label": ["low"], "prior": [1.0]}),
            "vertex_id 99 has no edge with label 'low'",
        ),
        (
            pd.DataFrame({"vertex_id": [1, 1], "label": ["low", "top"], "prior": [1.0, None]}),
            "prior of label 'top' is None",
        ),
    ],
)
def test_bad_priors_are_refused_and_nothing_is_left(
    unstaged: tuple[Database, EventTree], prior: Any, said: str
) -> None:
    db, tree = unstaged
    with pytest.raises(StagingError, match=said):
        tree.learn_stages(prior=prior, criterion="score")
    assert len(db.stagings) == 0
    assert db.sql("select count(*) as n from cegdb.prior_entry")["n"].item() == 0


def regions() -> pd.DataFrame:
    """Return 40 regions of 15 people, of whom the same tenth are ill everywhere."""
    ill = np.random.default_rng(1).random(600) < 0.1
    return pd.DataFrame({"region": np.arange(600) % 40, "ill": np.where(ill, "yes", "no")})


@pytest.mark.slow
def test_the_prior_of_a_stage_does_not_depend_on_its_situations(
    db: Database, sound: Callable[[Database], None]
) -> None:
    frame = regions()
    n_ill = int((frame["ill"] == "yes").sum())
    tree = db.ingest(frame, "r").event_tree("r", sampling_zeros="floret")
    one = tree.learn_stages("one", initial="indep", prior="stage", criterion="score")
    assert (one.settings["alpha"], one.settings["prior"]) == (1, "stage")
    ill = one.stage_edges.query("variable == 'ill'").set_index("label").loc["yes"]
    assert (ill["prior"], ill["probability"]) == (0.5, (n_ill + 0.5) / 601)
    assert "alpha = 1, prior anew in each stage" in one.summary
    assert "alpha = 1 (the default), which starts anew" in one.to_ceg().report.text("paper")

    # Joining and splitting by hand, more rows, and making it again keep it so.
    apart = tree.learn_stages("apart", prior="stage", alpha=0.6, method="bhc")
    names = apart.stages.query("variable == 'ill'")["stage"]
    joined = apart.join(*names, name="joined")
    joined.split(str(joined.florets["stage"].iloc[-1]), name="split")
    db.surveys["r"].append(regions())
    db.rebuild()
    sound(db)
    for name, n_stages in (("apart", len(names) + 1), ("joined", 2), ("split", 41)):
        staged = db.stagings[name]
        priors = staged.stage_edges.groupby("stage_id")["prior"].sum()
        assert priors.tolist() == pytest.approx([0.6] * n_stages)
        ceg = staged.to_ceg(replace=True)
        where = ceg.positions.set_index("position_id")["stage"]
        edges = ceg.edges.assign(stage=ceg.edges["source_id"].map(where))
        assert edges.groupby("stage")["prior"].sum().tolist() == pytest.approx([0.6] * n_stages)
    sound(db)


@pytest.mark.slow
@pytest.mark.usefixtures("all_null_runs")
def test_situations_that_are_alike_are_one_stage(
    db: Database, sound: Callable[[Database], None]
) -> None:
    tree = db.ingest(regions(), "r").event_tree("r", sampling_zeros="floret")
    assert len(tree.learn_stages("by score", criterion="score", prior="mass").stages) > 2
    tested = tree.learn_stages("tested", criterion="test", prior="stage")
    assert len(tested.stages) == 2
    assert (tested.settings["criterion"], tested.settings["significance"]) == ("test", 0.05)
    said = "39 merges by log marginal likelihood; at the 5 % level, no test tells"
    assert said in tested.summary
    assert tested.spurious_stages < 0.2
    assert "homogeneity at the 5 % level" in tested.to_ceg().report.text("paper")
    sound(db)


@pytest.mark.slow
@pytest.mark.holds(made_by=seven_situations)
def test_a_tiny_prior_entry_is_warned_of(tree: EventTree) -> None:
    assert (
        "smallest prior entry is 0.0083 (of 'C')"
        in tree.learn_stages(alpha=0.1, prior="mass", criterion="score").summary
    )
    assert (
        "smallest prior"
        not in tree.learn_stages(alpha=0.1, prior="floret", criterion="score").summary
    )
    assert (
        "smallest prior"
        not in tree.learn_stages(alpha=3, prior="mass", criterion="score").summary
    )


@pytest.mark.slow
@pytest.mark.holds(made_by=seven_situations)
def test_the_path_of_alpha_is_what_learning_gives(db: Database, tree: EventTree) -> None:
    path = tree.alpha_path(method="ahc", prior="floret", criterion="score")
    assert path["alpha"].tolist() == [0.5, 1, 2, 3, 4, 8, 16, 32, 64]
    assert path.loc[path["is_default"], "alpha"].tolist() == [3]
    assert len(db.stagings) == 0
    for row in path.itertuples():
        staged = tree.learn_stages(
            "one", alpha=row.alpha, prior="floret", replace=True, criterion="score"
        )
        assert len(staged.stages) == row.n_stages
        for name in ("df", "log_marginal_likelihood", "log_likelihood", "aic", "bic"):
            assert getattr(staged, name) == getattr(row, name)
        assert row.smallest_prior == pytest.approx(row.alpha / 3)


@pytest.mark.slow
def test_the_path_of_alpha_needs_no_writing(tmp_path: Path) -> None:
    file = tmp_path / "two.duckdb"
    with cegdb.open(file) as db:
        tree = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)", name="two")
        staged = tree.event_tree(sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        )
        path = staged.tree.alpha_path(frozen=staged)
    before = file.read_bytes()
    with cegdb.open(file, read_only=True) as db:
        tree = db.trees["two"]
        assert tree.alpha_path(frozen=db.stagings["two"]).equals(path)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.holds(made_by=seven_situations)
def test_the_path_of_alpha_takes_the_settings_of_learning(tree: EventTree) -> None:
    for name in ("alpha", "name", "replace", "methd"):
        with pytest.raises(TypeError, match=f"no setting named '{name}'"):
            tree.alpha_path(**{name: 1})
    with pytest.raises(StagingError, match="unknown value 'stages_bhc' for method"):
        tree.alpha_path(method="stages_bhc")


# =============================================================================
# Starts, frozen stages, methods
# =============================================================================


@pytest.mark.slow
@pytest.mark.holds(made_by=seven_situations)
def test_climbing_starts_from_any_staging_and_never_ends_below_it(tree: EventTree) -> None:
    for start in ("full", "indep", [[("no",), ("yes",)]]):
        begun = (
            tree.learn_stages("start", method="bj", threshold=1e-9, replace=True, prior="mass")
            if start == "full"
            else tree.set_stages(
                [[("no",), ("yes",)], [("*", "*")]] if start == "indep" else start,
                "start",
                replace=True,
                prior="mass",
            )
        )
        for score, sign in (("bic", -1), ("aic", -1), ("log_marginal_likelihood", 1)):
            ended = tree.learn_stages(method="hc", score=score, initial=start, prior="mass")
            assert sign * getattr(ended, score) >= sign * getattr(begun, score) - 1e-9
            again = tree.learn_stages(method="hc", score=score, initial=begun, prior="mass")
            assert sign * getattr(again, score) >= sign * getattr(begun, score) - 1e-9


@pytest.mark.slow
@pytest.mark.holds(made_by=seven_situations)
def test_a_staging_can_be_frozen_in_part(db: Database, tree: EventTree) -> None:
    expert = tree.set_stages(
        {("no",): "a", ("yes",): "a", ("no", "*"): "b"}, "expert", prior="mass"
    )
    members = expert.florets.query("stage_id in [1, 3]")[["vertex_id", "stage_id"]]
    staged = tree.learn_stages(
        "rest",
        frozen=members.rename(columns={"stage_id": "stage"}),
        prior="mass",
        criterion="score",
    )
    kinds = staged.stages.set_index("stage_id")["kind"]
    assert (kinds[1], kinds[3]) == ("given", "given")
    assert stages(staged)[2] == 1
    assert set(kinds) == {"given", "learnt"}
    whole = tree.learn_stages("whole", frozen=expert, prior="mass", criterion="score")
    assert "given" in repr(whole)
    assert set(whole.stages["name"].dropna()) == {"a", "b"}
    named = tree.learn_stages(
        "named", frozen={("no",): "core", ("yes",): "core"}, prior="mass", criterion="score"
    )
    called = named.stages.dropna(subset="name").set_index("name")["stage"]
    renamed = named.rename({called["core"]: "heart"}, name="renamed")
    assert renamed.stages["name"].dropna().tolist() == ["heart"]
    survey = db.surveys["s"]
    survey.append("select 'no' as A, 'low' as B, 'z' as C, 40 as people")
    db.rebuild(stages="relearn")
    assert stages(db.stagings["rest"])[2] == 1
    assert db.stagings["named"].stages["name"].dropna().tolist() == ["core"]
    assert db.stagings["renamed"].stages["name"].dropna().tolist() == ["heart"]
    assert db.check() == []


@pytest.mark.holds(made_by=seven_situations)
def test_a_staging_of_another_tree_is_no_start(tree: EventTree, db: Database) -> None:
    other = (
        db.surveys["s"]
        .event_tree("other", order=["B", "A"], sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    with pytest.raises(StagingError, match="a staging of another tree"):
        tree.learn_stages(initial=other, prior="mass", criterion="score")


@pytest.mark.slow
def test_worked_example_15_1_the_best_staging_is_not_that_of_ahc(db: Database) -> None:
    tree = db.demo("chds").staging.tree
    best = tree.learn_stages(
        method="exact",
        score="log_marginal_likelihood",
        alpha=3,
        hyperstages="variable",
        prior="mass",
    )
    assert best.log_marginal_likelihood == pytest.approx(-2478.173256, abs=5e-7)
    assert sum(best.stages["variable"] == "Admission") == 2
    assert len(best.stages) == 7
    # exp(-2478.173256 + 2471.945372), the optimum and the sum over all stagings.
    said = "has a better log marginal likelihood; its posterior probability is 0.002\n"
    assert said in best.summary
    (summary,) = db.sql("select summary from cegdb.staging where method = 'exact'")["summary"]
    assert json.loads(summary)["log_probability"] == pytest.approx(-6.227884, abs=2e-6)


@pytest.mark.slow
def test_exact_takes_any_score_and_number_of_labels(db: Database) -> None:
    rows = "select i % 4 as A, (i * i + i // 7) % 3 as B from range(200) t(i)"
    tree = db.ingest(rows).event_tree(order=["A", "B"], sampling_zeros="none")
    for score in ("log_marginal_likelihood", "bic", "aic", "log_likelihood"):
        best = tree.learn_stages(method="exact", score=score, smoothing=0.5, prior="mass")
        climbed = tree.learn_stages(method="hc", score=score, smoothing=0.5, prior="mass")
        assert best.settings["score"] == score
        sign = -1 if score in ("bic", "aic") else 1
        assert sign * getattr(best, score) >= sign * getattr(climbed, score) - 1e-9
    for prior in ("flat", "size"):
        best = tree.learn_stages(method="exact", structure_prior=prior, prior="mass")
        assert best.settings["structure_prior"] == prior


@pytest.mark.slow
def test_exact_refuses_more_situations_than_it_can_look_at(db: Database) -> None:
    rows = "select i % 17 as A, (i * i + i // 7) % 3 as B from range(2000) t(i)"
    tree = db.ingest(rows).event_tree(order=["A", "B"], sampling_zeros="none")
    learning = {"method": "exact", "score": "log_marginal_likelihood"}
    said = r"all stagings of up to 16 situations; 17, such as \('0',\).*may share stages"
    with pytest.raises(StagingError, match=said):
        tree.learn_stages(**learning)
    two = db.ingest(rows.replace("% 3", "% 2")).event_tree(
        order=["A", "B"], sampling_zeros="none"
    )
    assert two.learn_stages(method="exact", prior="mass").settings["score"] == "bic"
    with pytest.raises(StagingError, match="of up to 16 situations; 17"):
        two.learn_stages(method="exact", smoothing=1, prior="mass")
    frozen = [[(str(a),) for a in range(5)]]
    assert tree.learn_stages(**learning, frozen=frozen).settings["method"] == "exact"


@pytest.mark.slow
def test_exact_says_that_it_is_the_optimum_and_no_method_is_better(db: Database) -> None:
    rows = "select i % 2 as A, i // 2 % 3 as B, (i * i + 3) % 7 < 3 as C from range(600) t(i)"
    tree = db.ingest(rows).event_tree(order=["B", "A", "C"], sampling_zeros="none")
    frozen = [[()]]
    for score in ("bic", "aic"):
        best = tree.learn_stages(method="exact", score=score, frozen=frozen, prior="mass")
        sentence = (
            "no other staging of these hyperstages, with the frozen stages kept, has a better "
        )
        assert sentence in best.summary
        for method in ("bhc", "fbhc", "csbhc", "hc", "hclust", "kmeans"):
            other = tree.learn_stages(method=method, score=score, prior="mass")
            assert getattr(best, score) <= getattr(other, score) + 1e-9


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "best"}, "unknown value 'best' for method"),
        ({"method": None}, "unknown value None for method"),
        ({"score": "BIC"}, "unknown value 'BIC' for score"),
        ({"structure_prior": "crp"}, "unknown value 'crp' for structure_prior"),
        ({"structure_prior": "size", "method": "bhc"}, "has no structure prior"),
        ({"criterion": "p"}, "unknown value 'p' for criterion"),
        ({"criterion": "test", "method": "bhc"}, "method 'bhc' has no criterion 'test'"),
        (
            {"criterion": "test", "structure_prior": "size"},
            "criterion 'test' has no structure prior",
        ),
        (
            {"criterion": "score", "significance": 0.05},
            "criterion 'score' has no significance",
        ),
        (
            {"criterion": "test", "significance": 5},
            "significance must be a number above 0 and below 1, not 5",
        ),
        (
            {"criterion": "test", "significance": True},
            "significance must be a number above 0 and below 1, not True",
        ),
        ({"method": "exact", "initial": "indep"}, "'exact' takes no initial stages"),
        ({"method": "bj", "score": "bic"}, "'bj' has no score"),
        (
            {"method": "bj", "threshold": 0},
            "threshold must be a distance above 0, up to 1e100, not 0",
        ),
        (
            {"method": "bj", "threshold": float("nan")},
            "threshold must be a distance above 0, up to 1e100, not nan",
        ),
        ({"threshold": 0.1}, "'ahc' has no threshold"),
        (
            {"method": "hclust", "distance": "kullback"},
            "unknown value 'kullback' for distance",
        ),
        ({"method": "bhc", "distance": "totvar"}, "'bhc' has no distance"),
        (
            {"method": "kmeans", "n_stages": 0},
            "n_stages must be a whole number of 1 or more, not 0",
        ),
        (
            {"method": "kmeans", "n_stages": 2.0},
            "n_stages must be a whole number of 1 or more, not 2.0",
        ),
        ({"n_stages": 2}, "'ahc' has no n_stages"),
        ({"smoothing": -0.1}, "smoothing must be a number from 0 to 1e100, not -0.1"),
        ({"smoothing": True}, "smoothing must be a number from 0 to 1e100, not True"),
        ({"seed": 1.5}, r"seed must be a whole number from 0 to 2\^63 - 1, not 1.5"),
        ({"single_edges": "join"}, "unknown value 'join' for single_edges"),
        ({"alpha": 0}, "alpha must be a number above 0, not 0"),
        ({"alpha": "much"}, "alpha must be a number above 0, not 'much'"),
        ({"alpha": 10**400}, "alpha must be a number above 0, not 1000"),
        ({"alpha": 1e308}, r"alpha must be a number above 0, not 1e\+308"),
        ({"alpha": np.array([1, 2])}, "alpha must be a number above 0, not array"),
        ({"smoothing": 10**400}, "smoothing must be a number from 0 to 1e100, not 1000"),
        (
            {"smoothing": 1e308, "method": "hc"},
            r"smoothing must be a number from 0 to 1e100, not 1e\+308",
        ),
        (
            {"method": "bj", "threshold": 10**400},
            "threshold must be a distance above 0, up to 1e100, not 1000",
        ),
        ({"deff": -(10**400)}, "deff must be a number above 0, not -1000"),
        ({"deff": float("nan")}, "deff must be a number above 0, not nan"),
        ({"deff": {"A": "much"}}, "deff of 'A' must be a number above 0, not 'much'"),
        ({"prior": {("no",): 10**400}}, "prior of label 'low' is inf"),
        ({"prior": {("no",): [1, 1e308]}}, r"prior of label 'top' is 1e\+308"),
        (
            {"single_edges": np.array(["apart", "together"])},
            "unknown value array.* for single_edges",
        ),
        (
            {"weighting": pd.Series(["none", "total"])},
            "unknown value 0 +none\n1 ",
        ),
        ({"weighting": pd.NA}, "unknown value <NA> for weighting"),
        ({"hyperstages": "variables"}, "unknown value 'variables' for hyperstages"),
        ({"initial": "none"}, "unknown value 'none' for initial"),
        ({"initial": [[(), ("no",)]]}, "initial stage '1' cannot hold both"),
        ({"frozen": [[(), ("no",)]]}, "frozen stage '1' cannot hold both"),
        ({"frozen": [[()]], "initial": [[()]]}, "1 situation named in both frozen and"),
    ],
)
def test_bad_settings_are_refused_before_any_work(
    unstaged: tuple[Database, EventTree], wrong: dict[str, Any], said: str
) -> None:
    db, tree = unstaged
    with pytest.raises(StagingError, match=said):
        tree.learn_stages(**wrong)
    assert len(db.stagings) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"method": "bj", "threshold": np.float32(0.5)}, {"method": "bj", "threshold": 0.5}),
        ({"method": "bj", "threshold": Fraction(1, 4)}, {"method": "bj", "threshold": 0.25}),
        (
            {"method": "hclust", "n_stages": np.int64(2), "seed": np.int8(3)},
            {"method": "hclust", "n_stages": 2, "seed": 3},
        ),
        (
            {"alpha": np.int16(3), "smoothing": np.float64(1), "deff": np.float32(2)},
            {"alpha": 3, "smoothing": 1, "deff": 2},
        ),
        ({"prior": {("no",): np.float32(2)}}, {"prior": {("no",): 2}}),
    ],
)
@pytest.mark.holds(made_by=seven_situations)
def test_numbers_of_other_types_are_recorded_as_plain_ones(
    tree: EventTree, given: dict[str, Any], plain: dict[str, Any]
) -> None:
    assert tree.learn_stages(**given).settings == tree.learn_stages(**plain).settings


@pytest.mark.slow
@pytest.mark.holds(made_by=seven_situations)
def test_every_setting_is_recorded_and_learns_the_same_again(
    db: Database, tree: EventTree
) -> None:
    for number, chosen in enumerate(
        [
            {"method": "bj", "distance": "hellinger", "threshold": 0.02, "smoothing": 1.0},
            {"method": "kmeans", "n_stages": 2, "seed": 7, "score": "aic"},
            {"method": "hclust", "distance": "euclidean", "n_stages": 2},
            {"method": "ahc", "structure_prior": "size", "prior": {("*", "*"): [0.5, 1, 2]}},
            {"method": "csbhc", "prior": "path", "hyperstages": "height"},
            {"method": "hc", "initial": "indep", "single_edges": "apart", "prior": "floret"},
            {"criterion": "test", "significance": 0.2, "prior": "stage", "alpha": 2},
        ]
    ):
        tree.learn_stages(f"g{number}", **chosen)
    before = {name: db.stagings[name].settings for name in db.stagings.names()}
    stagings = db.sql("select staging, method, score, prior, smoothing from cegdb.stagings")
    assert stagings["method"].tolist() == [
        "bj", "kmeans", "hclust", "ahc", "csbhc", "hc", "ahc",
    ]  # fmt: skip
    assert stagings["prior"].tolist() == [
        "stage", "stage", "stage", "given", "path", "floret", "stage",
    ]  # fmt: skip
    frame = db.sql("select * from cegdb.stage_edge order by all")
    db.surveys["s"].refresh(answers()[::-1])
    db.rebuild(stages="relearn")
    assert {name: db.stagings[name].settings for name in db.stagings.names()} == before
    pd.testing.assert_frame_equal(db.sql("select * from cegdb.stage_edge order by all"), frame)
    assert db.check() == []


@pytest.mark.slow
def test_auto_tells_what_it_did_and_how_far_from_exact_it_is(db: Database) -> None:
    coarsening = Coarsening(max_exact=30, max_cells=20, sample_size=40)
    frame = pd.DataFrame(
        [
            (f"a{i}", label, 50 + (i * 37) % 41 if label == "x" else 60 + (i * 53) % 47)
            for i in range(90)
            for label in "xy"
        ],
        columns=["A", "B", "people"],
    )
    tree = db.ingest(frame, count="people").event_tree(sampling_zeros="none")

    def learn(name: str, coarsening: Coarsening) -> StagedTree:
        limits = StagingLimits(coarsening=coarsening)
        learning = LearnOptions(method="auto", criterion="score")
        learn_stages(db._store, tree.id, learning=learning, name=name, limits=limits)
        return db.stagings[name]

    rough, exact = learn("rough", coarsening), tree.learn_stages(criterion="score")
    assert "1 hyperstage with more than" in rough.summary
    assert " distinct florets approximated: " in rough.summary
    loss = exact.log_marginal_likelihood - rough.log_marginal_likelihood
    assert abs(loss) < 5
    assert 0 < len(rough.merges) <= 20
    assert db.check() == []
    small = learn("small", replace(coarsening, max_exact=100))
    assert "not approximated: no hyperstage was large enough" in small.summary


@pytest.mark.slow
def test_the_command_line_learns_with_any_setting(tmp_path: Path) -> None:
    file, csv = tmp_path / "s.duckdb", tmp_path / "prior.csv"
    with cegdb.open(file) as db:
        rows = "select i % 2 as A, i // 2 % 3 as B, (i * i) % 7 < 3 as C from range(200) t(i)"
        db.ingest(rows, "s").event_tree(sampling_zeros="none")
    csv.write_text("vertex_id,label,prior\n0,0,2\n0,1,2.5\n")
    call = CliRunner().invoke
    command = ["learn-stages", str(file), "s", "--name", "g", "--replace"]
    for more, text in (
        (["--method", "bhc", "--smoothing", "1"], "merges by BIC"),
        (["--method", "hc", "--initial", "indep", "--score", "aic"], "hc by AIC"),
        (["--method", "bj", "--distance", "totvar", "--threshold", "0.2"], "totvar distance"),
        (["--structure-prior", "size", "--prior", "floret"], "structure prior by size"),
        (["--hyperstages", "paper", "--single-edges", "apart", "--prior", str(csv)], "given"),
        (["--method", "kmeans", "--n-stages", "2", "--seed", "3"], "kmeans by BIC"),
    ):
        done = call(main, [*command, *more])
        assert done.exit_code == 0, done.output
        assert text in done.output
        assert "expected number of spurious stages: " in done.output
    done = call(main, ["alpha-path", str(file), "s", "--format", "csv"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0].startswith("alpha,is_default,n_stages")
    for wrong in (["--alpha", "much"], ["--method", "exact", "--initial", "indep"]):
        done = call(main, [*command, *wrong])
        assert done.exit_code != 0
        assert "Traceback" not in done.output
