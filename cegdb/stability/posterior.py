"""How probable a staging is among all stagings, and what all of them say together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from cegdb.clustering import StagingModel, posterior
from cegdb.errors import StagingError
from cegdb.findings import KINDS, better_staging, record
from cegdb.options import PosteriorOptions
from cegdb.sqlfiles import Steps
from cegdb.stability.bootstrap import MAX_PAIRS
from cegdb.stages.learning import read_hyperstages
from cegdb.stages.priors import make_edge_priors, stage_mass
from cegdb.stages.recorded import prior_rule, recorded_weighting
from cegdb.stages.relabel import read_relabelled
from cegdb.stages.situations import find_florets
from cegdb.store import schema
from cegdb.store.catalog import insert_rows, refuse_stale, row, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from cegdb.clustering import Hyperstage, StagingPosterior
    from cegdb.store import Store


@dataclass(frozen=True)
class PosteriorFrames:
    """What is not stored of a posterior: averaged probabilities, and the best staging known."""

    probabilities: pd.DataFrame
    best: pd.DataFrame


def staging_posterior(
    store: Store,
    staging_id: int,
    options: PosteriorOptions | None = None,
    *,
    max_pairs: int = MAX_PAIRS,
) -> PosteriorFrames:
    """Store how probable the stages of a staging are; see `cegdb.StagedTree.posterior`.

    In question are the stages that were learnt; of a staging given by hand, all. The prior and
    the counts are those of the staging.
    """
    options = options or PosteriorOptions()
    with store.writing() as (con, catalog), Steps(con) as steps:
        staging = row(catalog, "staging", staging_id)
        refuse_stale("staging", staging)
        rule = prior_rule(staging["settings"])
        model = StagingModel(
            structure=(
                options.structure_prior or staging["settings"].get("structure_prior") or "flat"
            ),
            stage_mass=stage_mass(rule, staging["alpha"]),
            level=float(options.level),
            samples=None if options.samples is None else int(options.samples),
            seed=int(options.seed),
        )
        hyperstages = _read_shown(steps, catalog, staging, rule)
        n_pairs = sum(len(one.ids) * (len(one.ids) - 1) // 2 for one in hyperstages)
        if n_pairs > max_pairs:
            raise StagingError(
                f"{n_pairs:,} pairs of situations may share a stage; the limit is "
                f"{max_pairs:,}",
                hint="freeze stages that are not in question (frozen=), build the tree from "
                "fewer variables, or learn within smaller hyperstages",
            )
        found = []
        with store.counting(len(hyperstages), "hyperstage") as progress:
            for hyperstage in hyperstages:
                found.append(posterior(hyperstage, model))
                progress.read()
        _write(steps, catalog, staging_id, hyperstages, found, model)
        _record(catalog, staging, found, model)
        _report(steps, str(staging["name"]), hyperstages, found)
        return PosteriorFrames(
            probabilities=con.execute(
                "select * exclude (row_index) from temp.report_average order by row_index"
            ).df(),
            best=con.execute("from temp.report_best order by vertex_id").df(),
        )


def _read_shown(
    steps: Steps, catalog: sa.Connection, staging: dict[str, Any], rule: str
) -> list[Hyperstage]:
    """Return the hyperstages of a staging, in which situations start in the stages shown."""
    staging_id, tree_id = staging["staging_id"], staging["tree_id"]
    read_relabelled(steps, staging_id)
    find_florets(steps, tree_id)
    steps.run("recorded_member", staging_id=staging_id)
    in_question = "'learnt', 'given'" if staging["method"] == "given" else "'learnt'"
    steps.create(
        "situation_group",
        "select vertex_id, hyperstage_id from temp.recorded_member "  # noqa: S608
        f"where kind in ({in_question})",
    )
    make_edge_priors(steps, tree_id, staging_id, rule, staging["alpha"])
    weighting = recorded_weighting(staging["settings"])
    weighting.for_tree(catalog, row(catalog, "tree", tree_id)).measure(steps, tree_id)
    hyperstages = read_hyperstages(
        steps, starts_joined=False, variable_ids=None, with_unreached=True
    )
    members = steps.arrays(
        "select vertex_id, stage_id from temp.recorded_member order by vertex_id"
    )
    return [
        replace(one, start=members["stage_id"][np.searchsorted(members["vertex_id"], one.ids)])
        for one in hyperstages
    ]


def _write(
    steps: Steps,
    catalog: sa.Connection,
    staging_id: int,
    hyperstages: Sequence[Hyperstage],
    found: Sequence[StagingPosterior],
    model: StagingModel,
) -> None:
    """Write the tables of the pairs and of the hyperstages, instead of former ones."""
    for table in (schema.costaging, schema.hyperstage_posterior):
        catalog.execute(sa.delete(table).where(table.c.staging_id == staging_id))
    pairs: dict[str, list[NDArray[Any]]] = {
        "vertex_id": [np.zeros(0, dtype=np.int64)],
        "other_id": [np.zeros(0, dtype=np.int64)],
        "probability": [np.zeros(0)],
        "std_error": [np.zeros(0)],
        "is_sampled": [np.zeros(0, dtype=bool)],
    }
    for hyperstage, one in zip(hyperstages, found, strict=True):
        first, second = np.triu_indices(len(hyperstage.ids), 1)
        error = np.full(len(first), np.nan) if one.error is None else one.error[first, second]
        pairs["vertex_id"].append(hyperstage.ids[first])
        pairs["other_id"].append(hyperstage.ids[second])
        pairs["probability"].append(one.together[first, second])
        pairs["std_error"].append(error)
        pairs["is_sampled"].append(np.full(len(first), one.mixing is not None))
    steps.create_from(
        "costaged_pair", {name: np.concatenate(arrays) for name, arrays in pairs.items()}
    )
    steps.run("staging_costaging", staging_id=staging_id)
    members = "select vertex_id, hyperstage_id from temp.recorded_member"
    ids = {int(vertex): hyperstage for vertex, hyperstage in steps.rows(members)}
    insert_rows(
        catalog,
        schema.hyperstage_posterior,
        [
            {
                "staging_id": staging_id,
                "hyperstage_id": ids[int(hyperstage.ids[0])],
                "method": _method(one),
                "structure_prior": model.structure,
                "n_situations": len(hyperstage.ids),
                "log_total": one.log_total,
                "log_shown": one.log_shown,
                "log_best": one.log_best,
                "n_stages": len(np.unique(hyperstage.start)),
                "n_stages_best": len(np.unique(one.best)),
                "mean_stages": one.mean_stages,
                "n_chains": one.mixing and one.mixing.n_chains,
                "n_draws": one.mixing and one.mixing.n_draws,
                "effective_size": one.mixing and one.mixing.effective_size,
                "max_difference": one.mixing and one.mixing.max_difference,
                "seed": one.mixing and model.seed,
            }
            for hyperstage, one in zip(hyperstages, found, strict=True)
        ],
    )


def _method(found: StagingPosterior) -> str:
    return "exact" if found.mixing is None else "sampled"


def _record(
    catalog: sa.Connection,
    staging: dict[str, Any],
    found: Sequence[StagingPosterior],
    model: StagingModel,
) -> None:
    """Record in the summary of the staging how probable it is."""
    known: dict[str, Any] = {
        "structure_prior": model.structure,
        "log_probability": sum(min(one.log_shown - one.log_total, 0.0) for one in found),
        "log_gain": sum(one.log_best - one.log_shown for one in found),
        "is_sampled": any(one.mixing is not None for one in found),
    }
    summary = {**staging["summary"], "posterior": known}
    values = {"staging_id": staging["staging_id"], "summary": summary}
    write(catalog, "staging", values, is_update=True)
    n = row(catalog, "tree", staging["tree_id"])["n"]
    better = better_staging(
        known["log_gain"], n, is_tested=staging["settings"].get("criterion") == "test"
    )
    others = [kind for kind in KINDS if kind != "better_staging"]
    record(catalog, "staging", staging["staging_id"], better, kept=others)


def _report(
    steps: Steps,
    name: str,
    hyperstages: Sequence[Hyperstage],
    found: Sequence[StagingPosterior],
) -> None:
    """Make ``report_average`` and ``report_best``."""
    rows = steps.arrays(
        "select vertex_id, label_id from temp.learnable_answer "
        "order by hyperstage_id, vertex_id, label_id"
    )
    nothing = [np.zeros(0)]
    steps.create_from(
        "averaged_answer",
        {
            "row_index": np.arange(len(rows["vertex_id"])),
            **rows,
            "probability": np.concatenate([one.mean.ravel() for one in found] or nothing),
            "low": np.concatenate([one.low.ravel() for one in found] or nothing),
            "high": np.concatenate([one.high.ravel() for one in found] or nothing),
        },
    )
    none = [np.zeros(0, dtype=np.int64)]
    steps.create_from(
        "best_member",
        {
            "vertex_id": np.concatenate([one.ids for one in hyperstages] or none),
            "stage_id": np.concatenate([one.best for one in found] or none),
        },
    )
    steps.run("report_average", staging=name)
    steps.run("report_best", staging=name)
