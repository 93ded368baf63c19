"""What R ceg 0.1.0 finds (its OAHC): the same partitions and scores.

R ceg learns the stages of never-observed situations too: the empty situations of Titanic,
falls and trajectories end in stages of observed ones, by Bayes factors that come from the
prior alone. The product keeps them out of learning, as one stage a hyperstage; so there the
clustering itself is compared, on arrays, and R ceg's staging is scored as given by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import r_reference as r
from datasets import peer

from cegdb.clustering import Hyperstage, Marginal, Plan, learn, total_score

if TYPE_CHECKING:
    from cegdb.api import Database

RUNS = (
    ("Asym", 1),
    ("Asym", 2),
    ("Pokemon", 1),
    ("Pokemon", 2),
    ("Titanic", 1),
    ("Titanic", 4),
    ("artificial_chds", 1),
    ("artificial_chds", 3),
    ("covid_patients", 1),
    ("covid_patients", 6),
    ("falls", 1),
    ("falls", 2),
    ("trajectories", 3),
)
WITH_EMPTY = {"Titanic", "falls", "trajectories"}

every_run = pytest.mark.parametrize(("name", "alpha"), RUNS)


def test_every_reference_is_compared() -> None:
    runs = [(name, int(alpha)) for name, results in peer("ceg").items() for alpha in results]
    assert sorted(runs) == sorted(RUNS)


@every_run
def test_clustering_gives_its_stages_and_the_score_of_each_variable(
    name: str, alpha: int
) -> None:
    theirs = peer("ceg")[name][str(alpha)]
    for variable, score in theirs["score_by_variable"].items():
        rows = [each for each in theirs["situations"] if each["variable"] == variable]
        ids = np.arange(len(rows))
        prior = np.array([each["prior"] for each in rows])
        assert (prior == prior[0]).all()
        hyperstage = Hyperstage(
            ids=ids,
            counts=np.array([each["counts"] for each in rows]),
            bases=prior[:1],
            multiplicities=np.ones((len(ids), 1), dtype=np.int64),
            start=ids,
            answers=ids[:, None],
        )
        stage = learn(hyperstage, Plan()).stage
        paths = [tuple(each["path"]) for each in rows]
        ours = r.partition(dict(zip(paths, stage.tolist(), strict=True)))
        assert ours == r.partition(r.their_stages(theirs), paths)
        assert total_score(hyperstage, stage, Marginal()) == pytest.approx(score, abs=1e-7)


@pytest.mark.slow
@every_run
def test_learning_from_the_file_gives_its_stages_and_score(
    database: Database, name: str, alpha: int
) -> None:
    theirs = peer("ceg")[name][str(alpha)]
    learnt = r.full_tree(database, name).learn_stages(like="ceg", alpha=alpha)
    ours, expected = r.our_stages(learnt), r.their_stages(theirs)
    assert ours.keys() == expected.keys()
    score, seen = theirs["log_marginal_likelihood"], r.observed(theirs)
    assert (len(seen) < len(expected)) == (name in WITH_EMPTY)
    if name not in WITH_EMPTY:
        assert r.partition(ours) == r.partition(expected)
        assert learnt.log_marginal_likelihood == pytest.approx(score, abs=1e-7)
        return
    assert learnt.log_marginal_likelihood < score
    # With an empty situation in its stage an observed one goes elsewhere in R ceg.
    is_same = r.partition(ours, seen) == r.partition(expected, seen)
    assert is_same == ((name, alpha) != ("Titanic", 4))


@pytest.mark.slow
@every_run
def test_its_staging_given_by_hand_has_its_score(
    database: Database, name: str, alpha: int
) -> None:
    theirs = peer("ceg")[name][str(alpha)]
    groups = [sorted(block) for block in r.partition(r.their_stages(theirs))]
    given = r.full_tree(database, name).set_stages(groups, alpha=alpha, prior="mass")
    score = theirs["log_marginal_likelihood"]
    assert given.log_marginal_likelihood == pytest.approx(score, abs=1e-7)
