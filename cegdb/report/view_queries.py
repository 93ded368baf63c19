"""SQL that reports and pages show for readers to copy."""

from __future__ import annotations

from cegdb.sqlfiles import literal


def view_query(view: str, columns: str, owner: str, name: str, order: str) -> str:
    """Return the query for the rows of a view that belong to one object.

    Examples
    --------
    >>> print(view_query("stages", "*", "staging", "falls", "stage_id"))
    select *
    from cegdb.stages
    where staging = 'falls'
    order by stage_id
    """
    return (
        f"select {columns}\nfrom cegdb.{view}\n"
        f"where {owner} = {literal(name)}\norder by {order}"
    )
