"""The recorded settings of a staging, as options with which it can be made again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from cegdb.options import LearnOptions, StageOptions, options_of
from cegdb.stages.effective_counts import Weighting
from cegdb.stages.relabel import recorded_relabel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.options import PriorRule
    from cegdb.stages.groups import MemberTable
    from cegdb.stages.hyperstages import Hyperstages
    from cegdb.stages.priors import Prior


def recorded_options(
    staging: Mapping[str, Any], prior: Prior = "mass", hyperstages: Hyperstages = "variable"
) -> StageOptions:
    """Return what all ways of staging share; priors and hyperstages are as they are given."""
    settings = staging["settings"]
    return StageOptions(
        alpha=staging["alpha"],
        prior=prior,
        hyperstages=hyperstages,
        relabel=recorded_relabel(settings),
        single_edges=settings.get("single_edges", "together"),
        smoothing=float(settings.get("smoothing", 0)),
        weighting=settings.get("weighting", "situation"),
        deff=settings.get("deff") if settings.get("deff_is_given") else None,
    )


def recorded_learning(staging: Mapping[str, Any]) -> LearnOptions:
    """Return how stages were learnt, but for initial and frozen stages.

    Where nothing is recorded of what decided, the score did, and where nothing is of situations
    that nobody reached, they have their own prior.
    """
    names = {option.name for option in options_of(LearnOptions)} - {"initial", "frozen"}
    recorded = {name: value for name, value in staging["settings"].items() if name in names}
    recorded = {"unobserved": "own", "criterion": "score", **recorded}
    return LearnOptions(**{**recorded, "method": staging["method"]})


def recorded_weighting(settings: Mapping[str, Any]) -> Weighting:
    """Return the weighting and design effects that the settings of a staging record."""
    return Weighting(settings.get("weighting", "situation"), settings.get("deff") or {})


def recorded_groups(setting: Any, stored: str | MemberTable | None) -> Any:
    """Return recorded groups of situations as they can be given again.

    ``stored`` stands for the rows of a frame or file, which are not in the settings.

    Examples
    --------
    >>> recorded_groups({"groups": {"a": [["High", "Low"]]}}, None)
    {('High', 'Low'): 'a'}
    >>> recorded_groups("indep", None)
    'indep'
    """
    if not isinstance(setting, dict):
        return setting
    if "groups" not in setting:
        return stored
    if not setting.get("is_named", True):
        return list(setting["groups"].values())
    return {tuple(path): name for name, paths in setting["groups"].items() for path in paths}


def recorded_prior(setting: object, stored: str) -> Prior:
    """Return recorded priors as they can be given again.

    ``stored`` is a SELECT of what was given as a table.
    """
    if not isinstance(setting, dict):
        return cast("PriorRule", setting or "mass")
    if not isinstance(setting.get("groups"), dict):
        return stored
    priors = recorded_groups({"groups": setting["groups"]}, None)
    return {path: json.loads(text) for path, text in priors.items()}


def prior_rule(settings: Mapping[str, Any]) -> str:
    """Return the rule by which alpha is shared out, also beside priors given."""
    setting = settings.get("prior", "mass")
    return setting if isinstance(setting, str) else "mass"
