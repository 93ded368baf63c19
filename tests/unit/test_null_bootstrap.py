"""The null bootstrap: the spurious stages that learning prints, and how often they are seen.

The data sets are of one question of two answers below n situations of 1,500 rows each: alike
(30 % throughout) or planted (40 % and 30 % in turn). Random numbers are seeded, tolerances
are 3.5 standard errors.
"""

from __future__ import annotations

import json
from functools import cache
from math import hypot, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import cegdb
from cegdb.clustering import Hyperstage, Plan, learn
from cegdb.findings import spurious_stages_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.api import Database, EventTree
    from cegdb.options import Method

ROWS = 1500
N_SETS = {5: 300, 60: 60}
SCORES = {"ahc": "log_marginal_likelihood", "bhc": "bic", "exact": "bic"}


def null(n: int) -> NDArray[np.int64]:
    """Return how many rows of each situation have the first answer, a data set a row."""
    return np.random.default_rng(n).binomial(ROWS, 0.3, size=(N_SETS[n], n))


def planted(n: int) -> NDArray[np.int64]:
    share = np.where(np.arange(n) % 2, 0.3, 0.4)
    return np.random.default_rng(n + 1).binomial(ROWS, share, size=(N_SETS[n] // 3, n))


def stages(first: NDArray[np.int64], method: str, structure_prior: str) -> NDArray[np.int64]:
    """Learn the stages of one data set as `tree_of` and alpha = n would have it."""
    n = len(first)
    ids = np.arange(1, n + 1)
    hyperstage = Hyperstage(
        ids=ids,
        counts=np.column_stack((first, ROWS - first)),
        bases=np.full((1, 2), 0.5),
        multiplicities=np.ones((n, 1), dtype=np.int64),
        start=ids,
        answers=ids[:, None],
    )
    plan: Any = {"method": method, "score": SCORES[method], "n_rows": float(n * ROWS)}
    return learn(hyperstage, Plan(structure_prior=structure_prior, **plan)).stage


class Seen(NamedTuple):
    """Mean number of extra stages, and its standard error."""

    mean: float
    error: float


@cache
def seen(n: int, method: str, structure_prior: str) -> Seen:
    extra = [len(set(stages(each, method, structure_prior).tolist())) - 1 for each in null(n)]
    # Where hardly anything was seen the variance is taken for that of one extra stage.
    variance = max(np.var(extra, ddof=1), 1 / len(extra))
    return Seen(float(np.mean(extra)), sqrt(variance / len(extra)))


def tree_of(db: Database, first: NDArray[np.int64]) -> EventTree:
    cells = [(f"x{i:02d}", answer) for i in range(len(first)) for answer in "ab"]
    frame = pd.DataFrame(cells, columns=["X", "Y"])
    frame["n"] = np.column_stack((first, ROWS - first)).ravel()
    return db.ingest(frame, count="n", name="alike").event_tree(sampling_zeros="none")


@pytest.mark.usefixtures("all_null_runs")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "structure_prior"),
    [("ahc", "flat"), ("ahc", "size"), ("bhc", "flat"), ("exact", "flat"), ("exact", "size")],
)
@pytest.mark.parametrize("n", N_SETS)
def test_the_printed_number_of_spurious_stages_is_the_one_seen(
    db: Database, n: int, method: Any, structure_prior: Any
) -> None:
    data = null(n)[0]
    learnt = tree_of(db, data).learn_stages(
        method=method, structure_prior=structure_prior, prior="mass", criterion="score"
    )
    assert learnt.settings["alpha"] == n
    ours = learnt.florets.query("variable == 'Y'")["stage_id"].tolist()
    assert ours == stages(data, method, structure_prior).tolist()
    (details,) = db.sql("select summary from cegdb.staging")["summary"].map(json.loads)
    printed, error = details["spurious_stages"], details["spurious_stages_error"]
    assert (details["null_situations"], learnt.spurious_stages) == (n + 1, printed)
    shown = f"{printed:.2f} ± {error:.2f}" if printed else "0"
    assert f"expected number of spurious stages: {shown} if" in learnt.summary
    simulated = seen(n, method, structure_prior)
    assert printed == pytest.approx(simulated.mean, abs=3.5 * hypot(error, simulated.error))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ahc", "hc", "kmeans", "exact"])
def test_where_nothing_could_merge_no_number_is_printed(method: Method) -> None:
    with cegdb.open() as db:
        survey = db.ingest("select i % 2 as x, i % 3 > 0 as y from range(60) t(i)", "s")
        learnt = survey.event_tree(order=["x"], sampling_zeros="none").learn_stages(
            method=method, prior="mass"
        )
        assert "  nothing could merge: no hyperstage had two stages to start" in learnt.summary
        assert "spurious" not in learnt.summary
        assert learnt.spurious_stages == 0
        report = learnt.to_ceg().report.text("analyst")
        assert "purious stages" not in report


def test_an_expectation_below_a_hundredth_is_printed_without_an_error() -> None:
    details = {"spurious_stages": 0.0, "spurious_stages_error": 0.0}
    assert spurious_stages_text(details) == "0"
    details = {"spurious_stages": 0.004, "spurious_stages_error": 0.003}
    assert spurious_stages_text(details) == "less than 0.01"
    details = {"spurious_stages": 0.005, "spurious_stages_error": 0.005}
    assert spurious_stages_text(details) == "0.01 ± 0.01"
    assert spurious_stages_text(details, with_error=False) == "0.01"


@pytest.mark.slow
@pytest.mark.parametrize("n", N_SETS)
def test_the_structure_prior_by_size_makes_fewer_spurious_stages(n: int) -> None:
    flat, size = seen(n, "ahc", "flat"), seen(n, "ahc", "size")
    assert size.mean < flat.mean
    if n > 5:  # of 5 situations alike even a flat prior makes few
        assert flat.mean - size.mean > 3.5 * hypot(flat.error, size.error)


@pytest.mark.parametrize("n", N_SETS)
def test_the_structure_prior_by_size_loses_no_planted_stage(n: int) -> None:
    """Nor does it put situations of different shares in one stage."""
    n_extra = {}
    for structure_prior in ("flat", "size"):
        extra = 0
        for first in planted(n):
            stage_of = stages(first, "ahc", structure_prior)
            even, odd = set(stage_of[::2].tolist()), set(stage_of[1::2].tolist())
            assert not even & odd
            extra += len(even | odd) - 2
        n_extra[structure_prior] = extra
    assert n_extra["size"] <= n_extra["flat"]
    assert n > 5 or n_extra["size"] <= 3
