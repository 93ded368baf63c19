"""Make a staging again after the rows of its survey changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cegdb.errors import StagingError
from cegdb.stages.build import StagingRequest, build, recorded_settings
from cegdb.stages.groups import MemberTable
from cegdb.stages.recorded import (
    recorded_groups,
    recorded_learning,
    recorded_options,
    recorded_prior,
)
from cegdb.store.catalog import delete_rows, row

if TYPE_CHECKING:
    from cegdb.store import Store

_REMAINING_HYPERSTAGES: Final = "select vertex_id, hyperstage_id from temp.remaining_situation"
_REMAINING_PRIORS: Final = "select vertex_id, label, prior from temp.remaining_prior"
_REMAINING_MEMBERS: Final = MemberTable("temp.remaining_member")


def rebuild_stages(store: Store, staging_id: int, *, keeps: bool) -> None:
    """Make a staging again with its settings, on its rebuilt tree; id, name and alpha stay.

    What was there before is in the temp tables ``remaining_...``. With ``keeps`` situations
    stay in their stage, and new ones are their own; otherwise learnt stages are learnt again.
    Stages given by path hold for new situations too; paths that no longer fit are skipped.
    """
    with store.writing() as (_, catalog):
        staging = row(catalog, "staging", staging_id)
        delete_rows(catalog, "staging", staging_id)
    settings = recorded_settings(staging)
    initial = None if keeps else recorded_groups(settings["initial"], None)
    if settings["initial"] is not None and initial is None and not keeps:
        raise StagingError(
            f"staging {staging['name']!r} started from the stages of a large frame or file, "
            "which is not stored",
            hint="keep its stages (stages='keep', --stages keep), or learn it again by hand",
        )
    options = recorded_options(
        staging,
        recorded_prior(settings["prior"], _REMAINING_PRIORS),
        recorded_groups(settings["hyperstages"], _REMAINING_HYPERSTAGES),
    )
    learning = None
    if staging["method"] != "given":
        frozen = recorded_groups(settings["frozen"], _REMAINING_MEMBERS)
        learning = replace(recorded_learning(staging), initial=initial, frozen=frozen)
    request = StagingRequest(
        options,
        learning,
        stages=recorded_groups(settings["stages"], _REMAINING_MEMBERS),
        depends=settings.get("depends"),
        name=staging["name"],
        former=staging,
        keeps_stages=keeps and learning is not None,
    )
    build(store, staging["tree_id"], request)
