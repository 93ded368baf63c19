"""Clustered samples: how much less a variable's respondents are worth than as many alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import SurveyError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps

_EFFECT: Final = """
with cell as (
    select
        cluster,
        {code} as code,
        cast(sum(coalesce(weight, n)) as double) as w,
        cast(sum(coalesce(weight_sq, n)) as double) as w_sq
    from temp.clustered_line
    where {code} <= {n_values} and cluster is not null
    group by cluster, {code}
),

total as (
    select list_sum(list_sort(list(w))) as w, list_sum(list_sort(list(w_sq))) as w_sq from cell
),

share as (
    select code, list_sum(list_sort(list(w))) / (select w from total) as p
    from cell
    group by code
),

cluster as (
    select cluster, list_sum(list_sort(list(w))) as w from cell group by cluster
),

residual as (
    select s.code, coalesce(e.w, 0) - s.p * c.w as r
    from share as s
    cross join cluster as c
    left join cell as e on s.code = e.code and c.cluster = e.cluster
)

select
    (select count(*) from cluster) as n_clusters,
    (select list_sum(list_sort(list(r * r))) from residual) as between_clusters,
    (select list_sum(list_sort(list(p * (1 - p)))) from share)
    * (select w_sq from total) as within_sample
"""


def design_effects(
    steps: Steps, cluster: str, variables: Sequence[Variable]
) -> dict[str, float]:
    """Return the design effect of each variable's clustering, at least 1.

    Parameters
    ----------
    steps
        Runs the SQL; ``clustered_line`` has the coded lines with their cluster.
    cluster
        The column of the clusters, for messages.
    variables
        Those of the survey, in order.

    Returns
    -------
    dict
        Variable -> variance of its shares between clusters (linearised, with the factor
        m / (m - 1) for m clusters) over that of as many respondents alone, both added up
        over its levels; that weights differ is no part of it.

    Raises
    ------
    SurveyError
        There is one cluster only, or a respondent has none.
    """
    ((n_clusters, n_blank),) = steps.rows(
        "select count(distinct cluster), coalesce(sum(n) filter (where cluster is null), 0) "
        "from temp.clustered_line"
    )
    if n_blank:
        raise SurveyError(f"{cluster!r} is blank for {counted(n_blank, 'respondent')}")
    if n_clusters < 2:
        raise SurveyError(f"{cluster!r} has one cluster only", hint="leave cluster out")
    effects = {}
    for i, variable in enumerate(variables, 1):
        query = _EFFECT.format(code=f"v{i}", n_values=len(variable.values))
        ((m, between, within),) = steps.rows(query)
        effects[variable.name] = (
            max(1.0, m / (m - 1) * between / within) if within and m > 1 else 1.0
        )
    return effects
