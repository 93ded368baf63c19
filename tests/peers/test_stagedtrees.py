"""What stagedtrees 2.3 finds, from the file to the staging: partition, logLik, df, BIC.

Its stage UNOBSERVED is our stage of kind ``unobserved``; it counts it as free, one stage a
variable, and so does the product where such situations exist (``sampling_zeros="full"``).
"""

from __future__ import annotations

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
    learnt = r.full_tree(database, name).learn_stages(**ALGORITHMS[algorithm])
    ours, expected = r.our_stages(learnt), r.their_stages(theirs)
    assert r.partition(ours) == r.partition(expected)
    stages = learnt.stages.set_index("stage_id")["kind"]
    unobserved = {path for path, stage in ours.items() if stages[stage] == "unobserved"}
    assert unobserved == {
        path for path, (_, stage) in expected.items() if stage == "UNOBSERVED"
    }
    assert learnt.log_likelihood == pytest.approx(theirs["logLik"], abs=1e-6)
    assert learnt.df == theirs["df"]
    assert learnt.bic == pytest.approx(theirs["BIC"], abs=1e-6)
    assert learnt.aic == pytest.approx(theirs["AIC"], abs=1e-6)
    assert len(learnt.stages) == theirs["n_stages"]
