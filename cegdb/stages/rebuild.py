"""Make a staging again when the rows of its survey are others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cegdb.errors import StagingError
from cegdb.options import StageOptions
from cegdb.stages.build import Request, groupings, make
from cegdb.stages.hyperstages import given_again
from cegdb.stages.learning import recorded_learning
from cegdb.stages.priors import again
from cegdb.stages.relabel import relabelled
from cegdb.stages.situation_names import Members
from cegdb.store.catalog import clear, row

if TYPE_CHECKING:
    from cegdb.store import Store

_KEPT_HYPERSTAGES: Final = "select vertex_id, hyperstage_id from temp.kept_situation"
_KEPT_PRIORS: Final = "select vertex_id, label, prior from temp.kept_prior"
_KEPT_GIVEN: Final = Members(
    "select vertex_id, cast(stage_id as varchar) as name, name as called "
    "from temp.kept_situation where kind = 'given'"
)


def remake_stages(store: Store, staging_id: int, *, keeps: bool) -> None:
    """Make a staging again of its tree, which was made again, with its settings.

    Its id, name and alpha stay. Within another ``writing`` of the store, where the temp
    table ``kept_situation`` has the situations that were there before.

    Parameters
    ----------
    store, staging_id
        The staging.
    keeps
        Situations stay in the stage they were in, new ones are their own; else stages that
        were learnt are learnt anew. Stages given by path hold for new situations too; paths
        that fit none any more are passed over.

    Raises
    ------
    StagingError
        Stages to start from were given as a frame or file of more than 10,000 rows.
    """
    with store.writing() as (_, catalog):
        staging = row(catalog, "staging", staging_id)
        tree = row(catalog, "tree", staging["tree_id"])
        said = dict(staging["settings"])
        clear(catalog, "staging", staging_id)
    given = groupings(staging)
    initial = None if keeps else given_again(given["initial"], None)
    if given["initial"] is not None and initial is None and not keeps:
        raise StagingError(
            f"staging {staging['name']!r} started from stages of a large frame or file, which "
            "is not kept",
            hint="keep its stages (stages='keep', --stages keep), or learn it again by hand",
        )
    is_given = staging["method"] == "given"
    options = StageOptions(
        alpha=staging["alpha"],
        prior=again(said.get("prior"), _KEPT_PRIORS),
        hyperstages=given_again(given["hyperstages"], _KEPT_HYPERSTAGES),
        relabel=relabelled(said),
        single_edges=said.get("single_edges", "together"),
        smoothing=said.get("smoothing", 0.0),
        weighting=said.get("weighting", "situation"),
        deff=said.get("deff") if said.get("deff_is_given") else None,
    )
    learning = None
    if not is_given:
        learning = replace(
            recorded_learning(staging["method"], said),
            initial=initial,
            frozen=given_again(given["frozen"], _KEPT_GIVEN),
        )
    request = Request(
        options,
        learning,
        stages=given_again(given["stages"], _KEPT_GIVEN),
        depends=said.get("depends"),
        name=staging["name"],
        again=staging,
        keeps=keeps and not is_given,
    )
    make(store, tree["tree_id"], request)
