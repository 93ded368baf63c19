"""Stability: learn the stages again on bootstrap replicates of the rows of a tree."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
import sqlalchemy as sa

from cegdb.errors import StagingError, is_whole
from cegdb.options import check_choice
from cegdb.sqlfiles import Steps
from cegdb.stability.relearning import Kind, read_relearning
from cegdb.store import schema
from cegdb.store.catalog import insert_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cegdb.store import Store

    Numbers = NDArray[np.int64]

__all__ = ["checked_runs", "stability"]

MAX_PAIRS: Final = 2_000_000
MAX_RUNS: Final = 10_000_000


def checked_runs(runs: int, seed: int) -> tuple[int, int]:
    """Return a number of runs and a seed, refusing those that are not usable."""
    if not is_whole(runs) or not 1 <= runs <= MAX_RUNS:
        raise StagingError(
            f"runs is {runs!r}",
            hint=f"give a whole number from 1 to {MAX_RUNS:,}, such as 100",
        )
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise StagingError(
            f"seed is {seed!r}", hint="give a whole number, 0 or more and below 2^63"
        )
    return int(runs), int(seed)


def stability(
    store: Store,
    staging_id: int,
    kind: Kind = "nonparametric",
    *,
    runs: int = 100,
    seed: int = 1,
    max_pairs: int = MAX_PAIRS,
) -> None:
    """Store how often each pair of situations shares a stage when stages are learnt again.

    Each replicate is learnt by the settings of the staging. ``kind`` is ``"nonparametric"``
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
    check_choice("kind", kind, get_args(Kind), StagingError)
    runs, seed = checked_runs(runs, seed)
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
                f"{n_pairs:,} pairs of situations may share a stage; at most {max_pairs:,} "
                "are counted",
                hint="freeze stages that are not in question (frozen=), build the tree from "
                "fewer variables, or learn within smaller hyperstages",
            )
        shapes = [(len(rows), len(rows)) for rows in learnt_rows]
        together = [np.zeros(shape, dtype=np.int32) for shape in shapes]
        reached = [np.zeros(shape, dtype=np.int32) for shape in shapes]
        n_stages = np.zeros(runs, dtype=np.int64)
        for run, replicate in enumerate(relearning.replicates(kind, runs, seed)):
            relearnt = relearning.learn(replicate)
            for index, rows in enumerate(learnt_rows):
                is_reached = relearnt[index].is_reached[rows]
                stage = relearnt[index].stage[rows]
                n_stages[run] += len(np.unique(stage[is_reached]))
                # Situations not reached are in no stage with others.
                stage = np.where(is_reached, stage, -1 - np.arange(len(rows)))
                together[index] += stage[:, None] == stage
                reached[index] += is_reached[:, None] & is_reached
            progress.read()
        # Hyperstages come first among the florets, so that the frozen ones are left over.
        ids = [
            florets.ids[rows]
            for florets, rows in zip(relearning.florets, learnt_rows, strict=False)
        ]
        _write_pairs(steps, catalog, staging_id, kind, _pairs(ids, reached, together))
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


def _pairs(
    ids: Sequence[Numbers],
    reached: Sequence[NDArray[np.int32]],
    together: Sequence[NDArray[np.int32]],
) -> dict[str, NDArray[Any]]:
    """Return the pairs of each hyperstage as columns, the smaller situation first."""
    upper = [np.triu_indices(len(vertex_ids), 1) for vertex_ids in ids]
    columns: dict[str, list[NDArray[Any]]] = {
        "vertex_id": [vertex_ids[i] for vertex_ids, (i, _) in zip(ids, upper, strict=True)],
        "other_id": [vertex_ids[j] for vertex_ids, (_, j) in zip(ids, upper, strict=True)],
        "n_runs": [n[pair] for n, pair in zip(reached, upper, strict=True)],
        "n_together": [n[pair] for n, pair in zip(together, upper, strict=True)],
    }
    nothing = np.zeros(0, dtype=np.int64)
    return {name: np.concatenate([nothing, *arrays]) for name, arrays in columns.items()}


def _write_pairs(
    steps: Steps,
    catalog: sa.Connection,
    staging_id: int,
    kind: Kind,
    pairs: Mapping[str, NDArray[Any]],
) -> None:
    for table in (schema.situation_pair, schema.stage_bootstrap):
        is_former = sa.and_(table.c.staging_id == staging_id, table.c.kind == kind)
        catalog.execute(sa.delete(table).where(is_former))
    steps.create_from("counted_pair", pairs)
    steps.run("staging_pair", staging_id=staging_id, kind=kind)
