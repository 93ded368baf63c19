"""Stability: learn the stages of a tree again on bootstrap replicates of its rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
import sqlalchemy as sa

from cegdb.errors import StagingError, is_one_of, is_whole
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

MOST_PAIRS: Final = 2_000_000
MOST_RUNS: Final = 10_000_000


def checked_runs(runs: int, seed: int) -> tuple[int, int]:
    """Return a number of runs and a seed; refuse those that are not usable.

    Examples
    --------
    >>> checked_runs(0, 1)
    Traceback (most recent call last):
    ...
    cegdb.errors.StagingError: runs is 0
    hint: give a whole number from 1 to 10,000,000, such as 100
    """
    if not is_whole(runs) or not 1 <= runs <= MOST_RUNS:
        raise StagingError(
            f"runs is {runs!r}",
            hint=f"give a whole number from 1 to {MOST_RUNS:,}, such as 100",
        )
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise StagingError(
            f"seed is {seed!r}", hint="give a whole number from 0 on, below 2^63"
        )
    return int(runs), int(seed)


def stability(
    store: Store,
    staging_id: int,
    kind: Kind = "nonparametric",
    *,
    runs: int = 100,
    seed: int = 1,
) -> None:
    """Tell how often each pair of situations is staged together when stages are relearnt.

    The views ``cegdb.stage_pairs``, ``cegdb.stage_stability`` and ``cegdb.stage_bootstraps``
    show it. Run again it replaces what there is of the same kind.

    Parameters
    ----------
    store
        Where the staging is; all is done in one transaction.
    staging_id
        The staging, learnt. Each replicate is learnt by its settings: method, score, priors,
        hyperstages, frozen and initial stages, structure prior, weighting.
    kind
        ``"nonparametric"``: the rows of the tree are drawn with replacement [1]_.
        ``"parametric"``: as many rows are simulated from the shares of the stages
        (maximum likelihood), so as if the staging were true.
    runs
        How many replicates.
    seed
        Of the random numbers: the same seed and rows give the same tables.

    Raises
    ------
    StagingError
        The stages were given by hand, there are more than 2,000,000 pairs, or a setting is
        not usable.
    StoreError
        The database is open read-only.

    Notes
    -----
    The tree stays as it is, with its priors and hyperstages. A situation without rows in a
    replicate is not learnt there: shares are of the runs in which rows reached both. Rows
    that end at one vertex of a weighted tree have their mean weight and mean squared weight;
    a simulated row is worth what those of its situation are on average; design effects are
    those of the staging. A run costs as much as the learning itself. Memory: two numbers of
    4 bytes a pair of a hyperstage, in both directions.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani (1993), An introduction to the bootstrap. Pairs:
       S. Monti, P. Tamayo, J. Mesirov and T. Golub (2003), Consensus clustering. Machine
       Learning 52, 91-118.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import learn_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 8 < 4 as y from range(80) t(i)")
    ...     stability(store, learn_stages(store, event_tree(store, survey)), runs=20)
    ...     with store.reading() as con:
    ...         con.execute("select situation, other, n_runs from cegdb.stage_pairs").fetchall()
    [('s1', 's2', 20)]
    """
    if not is_one_of(kind, get_args(Kind)):
        raise StagingError(f"kind is {kind!r}", hint="choose nonparametric or parametric")
    runs, seed = checked_runs(runs, seed)
    started = time.perf_counter()
    with (
        store.writing() as (con, catalog),
        store.counting(runs, "run") as progress,
        Steps(con) as steps,
    ):
        relearning = read_relearning(steps, con, catalog, staging_id)
        learnt = _learnt(steps, staging_id)
        kept = [
            np.flatnonzero(np.isin(one.ids, learnt))
            for one in relearning.florets
            if one.hyperstage is not None
        ]
        n_pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in kept)
        if n_pairs > MOST_PAIRS:
            raise StagingError(
                f"{n_pairs:,} pairs of situations may share a stage; at most {MOST_PAIRS:,} "
                "are counted",
                hint="freeze stages that are not in question (frozen=), build the tree of "
                "fewer variables, or learn within smaller hyperstages",
            )
        shape = [(len(rows), len(rows)) for rows in kept]
        together = [np.zeros(size, dtype=np.int32) for size in shape]
        reached = [np.zeros(size, dtype=np.int32) for size in shape]
        n_stages = np.zeros(runs, dtype=np.int64)
        for run, replicate in enumerate(relearning.replicates(kind, runs, seed)):
            restaged = relearning.learn(replicate)
            for place, rows in enumerate(kept):
                is_reached = restaged[place].is_reached[rows]
                stage = restaged[place].stage[rows]
                n_stages[run] += len(np.unique(stage[is_reached]))
                stage = np.where(is_reached, stage, -1 - np.arange(len(rows)))
                together[place] += stage[:, None] == stage
                reached[place] += is_reached[:, None] & is_reached
            progress.read()
        ids = [one.ids[rows] for one, rows in zip(relearning.florets, kept, strict=False)]
        _write_pairs(steps, catalog, staging_id, kind, _pairs(ids, reached, together))
        row_of = {
            "staging_id": staging_id,
            "kind": kind,
            "n_runs": runs,
            "seed": seed,
            "n_situations": sum(map(len, kept)),
            "n_pairs": n_pairs,
            "mean_stages": float(n_stages.mean()),
            "min_stages": int(n_stages.min()),
            "max_stages": int(n_stages.max()),
            "seconds": time.perf_counter() - started,
        }
        insert_rows(catalog, schema.stage_bootstrap, [row_of])


def _learnt(steps: Steps, staging_id: int) -> Numbers:
    """Return the situations whose stages were learnt."""
    found: Numbers = steps.arrays(
        "select m.vertex_id from cegdb.stage_member as m inner join cegdb.stage as s "  # noqa: S608
        "on m.staging_id = s.staging_id and m.stage_id = s.stage_id "
        f"where m.staging_id = {int(staging_id)} and s.kind = 'learnt'"
    )["vertex_id"]
    return found


def _pairs(
    ids: Sequence[Numbers],
    reached: Sequence[NDArray[np.int32]],
    together: Sequence[NDArray[np.int32]],
) -> dict[str, NDArray[Any]]:
    """Return each pair once, the smaller situation first."""
    upper = [np.triu_indices(len(found), 1) for found in ids]
    parts: dict[str, list[NDArray[Any]]] = {
        "vertex_id": [found[i] for found, (i, _) in zip(ids, upper, strict=True)],
        "other_id": [found[j] for found, (_, j) in zip(ids, upper, strict=True)],
        "n_runs": [n[pair] for n, pair in zip(reached, upper, strict=True)],
        "n_together": [n[pair] for n, pair in zip(together, upper, strict=True)],
    }
    nothing = np.zeros(0, dtype=np.int64)
    return {name: np.concatenate([nothing, *arrays]) for name, arrays in parts.items()}


def _write_pairs(
    steps: Steps,
    catalog: sa.Connection,
    staging_id: int,
    kind: Kind,
    pairs: Mapping[str, NDArray[Any]],
) -> None:
    for table in (schema.situation_pair, schema.stage_bootstrap):
        is_it = sa.and_(table.c.staging_id == staging_id, table.c.kind == kind)
        catalog.execute(sa.delete(table).where(is_it))
    steps.create_from("counted_pair", pairs)
    steps.run("staging_pair", staging_id=staging_id, kind=kind)
