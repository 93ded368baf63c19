"""Clustered samples: how much larger a variable's variance is than in a random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.errors import SurveyError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps


def design_effects(
    steps: Steps, cluster: str, variables: Sequence[Variable]
) -> dict[str, float]:
    """Return the design effect of each variable's clustering, at least 1.

    It is the variance of its shares between clusters, with the factor m / (m - 1) for m
    clusters, over that of as many respondents alone. ``cluster`` names the column in messages.
    Unequal weights are not part of it.
    """
    ((n_clusters, n_blank),) = steps.fetch("cluster_count")
    if n_blank:
        raise SurveyError(f"{cluster!r} is blank for {counted(n_blank, 'respondent')}")
    if n_clusters < 2:
        raise SurveyError(f"{cluster!r} has only one cluster", hint="leave cluster out")
    effects = {}
    for i, variable in enumerate(variables, 1):
        steps.view(
            "clustered_answer",
            f"select cluster, v{i} as code, n, weight, weight_sq from temp.clustered_line "  # noqa: S608
            f"where v{i} <= {len(variable.values)} and cluster is not null",
        )
        ((m, between, within),) = steps.fetch("design_effect")
        effects[variable.name] = (
            max(1.0, m / (m - 1) * between / within) if within and m > 1 else 1.0
        )
    return effects
