"""What stagedtrees 2.3 finds, from the file to the staging: partition, logLik, df, BIC.

Its stage UNOBSERVED, one a variable, is our stage of kind ``unobserved``. It counts the
parameters of that stage, which nothing estimates; the product does not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import r_reference as r
from datasets import peer

if TYPE_CHECKING:
    from cegdb.api import Database

ALGORITHMS: dict[str, dict[str, Any]] = {
    "bhc": {"method": "bhc"},
    "bhc_aic": {"method": "bhc", "score": "aic"},
    "bhc_l1": {"method": "bhc", "smoothing": 1},
    "fbhc": {"method": "fbhc"},
    "csbhc": {"method": "csbhc"},
    "bj": {"method": "bj"},
    "bj_l1": {"method": "bj", "smoothing": 1},
    "hclust": {"method": "hclust"},
}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", r.NAMES)
def test_learning_from_the_file_gives_its_staging(
    database: Database, name: str, algorithm: str
) -> None:
    theirs = peer("stagedtrees")[name][algorithm]
    learnt = r.full_tree(database, name).learn_stages(
        like="stagedtrees", **ALGORITHMS[algorithm]
    )
    ours, expected = r.our_stages(learnt), r.their_stages(theirs)
    assert r.partition(ours) == r.partition(expected)
    found = learnt.stages
    stages = found.set_index("stage_id")["kind"]
    unobserved = {path for path, stage in ours.items() if stages[stage] == "unobserved"}
    assert unobserved == {
        path for path, (_, stage) in expected.items() if stage == "UNOBSERVED"
    }
    assert learnt.log_likelihood == pytest.approx(theirs["logLik"], abs=1e-6)
    # stagedtrees also counts the parameters of the stages that nobody reached.
    assert learnt.df == theirs["df_excluding_unobserved_stage"]
    shares = learnt.stage_edges.groupby("stage")["share"]
    n_more = int((shares.size() - 1)[shares.count() == 0].sum())
    assert learnt.df + n_more == theirs["df"]
    bic = learnt.bic + n_more * math.log(theirs["nobs"])
    assert bic == pytest.approx(theirs["BIC"], abs=1e-6)
    assert learnt.aic + 2 * n_more == pytest.approx(theirs["AIC"], abs=1e-6)
    assert len(found) == theirs["n_stages"]
