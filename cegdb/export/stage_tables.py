"""The stage table as papers print it: a part a variable, a group of lines a stage."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from cegdb.render.tables import (
    HIDDEN,
    Column,
    Group,
    TextTable,
    check_form,
    shown_number,
    table_lines,
)
from cegdb.small_cells import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import duckdb

    from cegdb.render.tables import Form
    from cegdb.store import Store

_BATCH: Final = 5_000
_TOLD: Final = (Column("Stage"), Column("Situations"), Column("People", is_number=True))
_READ: Final = (
    "variable",
    "stage_id",
    "stage",
    "name",
    "situations",
    "n_stage",
    "label",
    "n",
    "weight",
    "share",
    "probability",
    "low",
    "high",
)


def stage_table_text(
    store: Store, name: str, form: Form = "markdown", *, min_n: int | None = None
) -> str:
    """Return the stage table of a staging as text.

    Parameters
    ----------
    store
        Where to read.
    name
        The staging.
    form
        ``markdown``, ``latex`` or ``html``: see `cegdb.render.tables.table_lines`.
    min_n
        Hide counts below it, and what would reveal them: see `cegdb.small_cells.shown`.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     stage_table_text(store, "none")
    ''
    """
    check_form(form)
    with (
        store.reading() as con,
        shown(store, "stage_table", {"staging": name}, min_n) as relation,
    ):
        return "".join(table_lines(stage_tables(con, relation, name, min_n), form))


def stage_tables(
    con: duckdb.DuckDBPyConnection, relation: str, name: str, min_n: int | None
) -> Iterator[TextTable]:
    """Yield the stage table of each variable; their rows must be read in turn.

    Examples
    --------
    >>> from cegdb.store import Store
    >>> with Store.open() as store, store.reading() as con:
    ...     list(stage_tables(con, "cegdb.stage_table", "none", None))
    []
    """
    of = {"name": name}
    weighed = con.execute(
        f"select count(weight) from {relation} where staging = $name",  # noqa: S608
        of,
    ).fetchone()
    has_weights = bool(weighed and weighed[0])
    result = con.execute(
        f"select {', '.join(_READ)} from {relation} where staging = $name "  # noqa: S608
        "order by min(stage_id) over (partition by variable), stage_id, label_id",
        of,
    )
    columns = [
        Column("Answer"),
        Column("n", is_number=True),
        *([Column("Weighted n", is_number=True)] if has_weights else []),
        Column("Share", is_number=True),
        Column("Mean", is_number=True),
        Column("95 % interval", is_number=True),
    ]
    for variable, rows in groupby(_records(result), key=lambda row: row["variable"]):
        yield TextTable(
            _caption(name, variable, min_n),
            _TOLD,
            columns,
            _groups(rows, has_weights=has_weights),
        )


def _records(result: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    while batch := result.fetchmany(_BATCH):
        for row in batch:
            yield dict(zip(_READ, row, strict=True))


def _groups(rows: Iterable[dict[str, Any]], *, has_weights: bool) -> Iterator[Group]:
    for _, of_stage in groupby(rows, key=lambda row: row["stage_id"]):
        edges = list(of_stage)
        stage = edges[0]
        named = stage["stage"] + (f" ({stage['name']})" if stage["name"] else "")
        yield Group(
            [named, stage["situations"], _count(stage["n_stage"])],
            [_line(edge, has_weights=has_weights) for edge in edges],
        )


def _line(edge: dict[str, Any], *, has_weights: bool) -> list[str]:
    mean, weight = edge["probability"], edge["weight"]
    weights = [HIDDEN if weight is None else f"{weight:,.1f}"] if has_weights else []
    line = [edge["label"], _count(edge["n"]), *weights]
    if mean is None:
        return [*line, HIDDEN, HIDDEN, HIDDEN]
    return [*line, _share(edge["share"]), _share(mean), _interval(edge["low"], edge["high"])]


def _count(n: int | None) -> str:
    return HIDDEN if n is None else shown_number(n)


def _share(value: float | None) -> str:
    """Return three decimals; 0 and 1 only for what is 0 or 1 itself."""
    if value is None:
        return ""
    text = f"{value:.3f}"
    if 0 < value < 0.0005:
        return "<0.001"
    if 0.9995 <= value < 1 - 1e-12:
        return ">0.999"
    return text


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{_share(low)}–{_share(high)}"  # noqa: RUF001


def _caption(name: str, variable: str | None, min_n: int | None) -> str:
    what = "several variables" if variable is None else variable
    again = ", once for each variable" if variable is None else ""
    hidden = (
        ""
        if min_n is None
        else f" {HIDDEN}: hidden, so that no count below {min_n} is told or comes back by sums."
    )
    return (
        f"Stages of {what} in staging {name}. People: how many reached the situations of the "
        f"stage{again}; n: how many of them gave the answer; share: of those who answered; "
        f"mean: posterior mean, with its 95 % credible interval, given the stages.{hidden}"
    )
