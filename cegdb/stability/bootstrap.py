"""Stability: learn the stages again on bootstrap replicates of the rows of a tree."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlalchemy as sa

from cegdb.errors import StagingError
from cegdb.options import BootstrapKind, StabilityOptions
from cegdb.sqlfiles import Steps
from cegdb.stability.relearning import read_relearning
from cegdb.store import schema
from cegdb.store.catalog import insert_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cegdb.store import Store

    Numbers = NDArray[np.int64]

MAX_PAIRS: Final = 2_000_000


def stability(
    store: Store,
    staging_id: int,
    options: StabilityOptions | None = None,
    *,
    max_pairs: int = MAX_PAIRS,
) -> None:
    """Store how often each pair of situations shares a stage when stages are learnt again.

    Each replicate is learnt by the settings of the staging. The kind is ``"nonparametric"``
    (rows drawn with replacement [1]_) or ``"parametric"`` (as many rows simulated from the
    shares of the stages, as if the staging were true). The views ``cegdb.stage_pairs``,
    ``stage_stability`` and ``stage_bootstraps`` show the result until it is run again.

    The tree stays as it is, with its priors and hyperstages; a situation without rows in a
    replicate is not learnt there. Memory: two numbers of 4 bytes per ordered pair.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani (1993), An introduction to the bootstrap. Pairs:
       S. Monti, P. Tamayo, J. Mesirov and T. Golub (2003), Consensus clustering. Machine
       Learning 52, 91-118.
    """
    options = options or StabilityOptions()
    kind, runs, seed = options.bootstrap, int(options.runs), int(options.seed)
    started = time.perf_counter()
    with (
        store.writing() as (con, catalog),
        store.counting(runs, "run") as progress,
        Steps(con) as steps,
    ):
        relearning = read_relearning(steps, con, catalog, staging_id)
        # Of each hyperstage, the rows of the situations whose stages were learnt.
        learnt_rows = [
            np.flatnonzero(np.isin(florets.ids, relearning.learnt_ids))
            for florets in relearning.florets
            if florets.hyperstage is not None
        ]
        n_pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in learnt_rows)
        if n_pairs > max_pairs:
            raise StagingError(
                f"{n_pairs:,} pairs of situations may share a stage; the limit is "
                f"{max_pairs:,}",
                hint="freeze stages that are not in question (frozen=), build the tree from "
                "fewer variables, or learn within smaller hyperstages",
            )
        replicates = relearning.replicates(kind, runs, seed)
        counts = [_PairCounts(len(rows)) for rows in learnt_rows]
        n_stages = np.zeros(runs, dtype=np.int64)
        for run, replicate in enumerate(replicates):
            relearnt = relearning.learn(replicate)
            for stages, rows, pairs in zip(relearnt, learnt_rows, counts, strict=False):
                n_stages[run] += pairs.add(stages.stage[rows], stages.is_reached[rows])
            progress.read()
        # Hyperstages come first among the florets, so that the frozen ones are left over.
        ids = [
            florets.ids[rows]
            for florets, rows in zip(relearning.florets, learnt_rows, strict=False)
        ]
        _write_pairs(steps, catalog, staging_id, kind, _pairs(ids, counts))
        bootstrap = {
            "staging_id": staging_id,
            "kind": kind,
            "n_runs": runs,
            "seed": seed,
            "n_situations": sum(map(len, learnt_rows)),
            "n_pairs": n_pairs,
            "mean_stages": float(n_stages.mean()),
            "min_stages": int(n_stages.min()),
            "max_stages": int(n_stages.max()),
            "seconds": time.perf_counter() - started,
        }
        insert_rows(catalog, schema.stage_bootstrap, [bootstrap])


class _PairCounts:
    """How often each two situations of a hyperstage were reached, and shared a stage."""

    def __init__(self, n_situations: int) -> None:
        self.reached = np.zeros((n_situations, n_situations), dtype=np.int32)
        self.together = np.zeros((n_situations, n_situations), dtype=np.int32)

    def add(self, stage: Numbers, is_reached: NDArray[np.bool_]) -> int:
        """Count a replicate; return its number of stages."""
        n_stages = len(np.unique(stage[is_reached]))
        # Situations that were not reached share no stage.
        stage = np.where(is_reached, stage, -1 - np.arange(len(stage)))
        self.together += stage[:, None] == stage
        self.reached += is_reached[:, None] & is_reached
        return n_stages


def _pairs(ids: Sequence[Numbers], counts: Sequence[_PairCounts]) -> dict[str, NDArray[Any]]:
    """Return the pairs of all hyperstages as columns, the smaller situation first."""
    nothing = np.zeros(0, dtype=np.int64)
    columns: dict[str, list[NDArray[Any]]] = {
        name: [nothing] for name in ("vertex_id", "other_id", "n_runs", "n_together")
    }
    for vertex_ids, pairs in zip(ids, counts, strict=True):
        first, second = np.triu_indices(len(vertex_ids), 1)
        columns["vertex_id"].append(vertex_ids[first])
        columns["other_id"].append(vertex_ids[second])
        columns["n_runs"].append(pairs.reached[first, second])
        columns["n_together"].append(pairs.together[first, second])
    return {name: np.concatenate(arrays) for name, arrays in columns.items()}


def _write_pairs(
    steps: Steps,
    catalog: sa.Connection,
    staging_id: int,
    kind: BootstrapKind,
    pairs: Mapping[str, NDArray[Any]],
) -> None:
    for table in (schema.situation_pair, schema.stage_bootstrap):
        is_former = sa.and_(table.c.staging_id == staging_id, table.c.kind == kind)
        catalog.execute(sa.delete(table).where(is_former))
    steps.create_from("counted_pair", pairs)
    steps.run("staging_pair", staging_id=staging_id, kind=kind)
