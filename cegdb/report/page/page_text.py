"""What a page says about a CEG, and the tables it shows with the SQL that gives them."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.report.summaries import summary

if TYPE_CHECKING:
    from cegdb.report.page.page_reader import Chain, Content
    from cegdb.store import Store

_WALKED: Final = 100_000
"""The most situations whose paths are walked for a table of which a page shows a part."""

_LONGEST: Final = 2_000
_LEFT_OUT: Final = frozenset({"fingerprints"})

_TABLES: Final = (
    (
        "positions",
        "ceg",
        "Positions: the vertices of the CEG",
        "position, variable, stage, n, n_situations, height",
        "stage_id is null, position_id",
    ),
    (
        "ceg_edges",
        "ceg",
        "Edges of the CEG",
        "source, label, target, variable, n, share, probability, low, high",
        "source_id, label_id, target_id",
    ),
    (
        "stages",
        "staging",
        "Stages",
        "stage, name, variable, n, n_situations, kind, colour",
        "stage_id",
    ),
    (
        "stage_edges",
        "staging",
        "Probabilities of the stages",
        "stage, variable, label, prior, n, share, probability, low, high",
        "stage_id, label_id",
    ),
    (
        "situation_positions",
        "ceg",
        "Situations: where each is in the CEG",
        "situation, variable, path, stage, position, n",
        "vertex_id",
    ),
    (
        "merges",
        "staging",
        "Merges that led to the stages",
        "step, kept, absorbed, variable, log_bayes_factor",
        "step",
    ),
    (
        "merge_steps",
        "ceg",
        "Steps of the recursion that led to the positions",
        "step, height, n_situations, n_positions, n_vertices, n_edges",
        "step",
    ),
    (
        "variables",
        "survey",
        "Variables of the survey",
        "variable, label, kind, n",
        "ordinal, code",
    ),
)
_OF_STAGING: Final = ("stages", "stage_edges", "merges", "merge_steps")


def told(chain: Chain, min_n: int | None) -> list[dict[str, Any]]:
    """Return the receipt, the summaries and the settings of all that a CEG was made from.

    With ``min_n`` settings only: the summaries count respondents.
    """
    found = []
    of = {
        "survey": ("Survey", chain.survey),
        "tree": ("Event tree", chain.tree),
        "staging": ("Staging", chain.staging),
        "ceg": ("CEG", chain.ceg),
    }
    for kind, (title, one) in of.items():
        lines = [] if min_n is not None else summary(kind, one).split("\n")  # type: ignore[arg-type]
        found.append(
            {
                "title": f"{title} {one['name']}",
                "lines": [line for line in lines if not line.startswith("note: ")],
                "notes": [line[6:] for line in lines if line.startswith("note: ")],
                "settings": [
                    [key, _shortened(json.dumps(value, ensure_ascii=False, default=str))]
                    for key, value in sorted(one["settings"].items())
                    if key not in _LEFT_OUT and value not in (None, [], {}, False)
                ],
            }
        )
    return found


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} \u2026 ({len(text):,} characters in all)"


def tables(
    store: Store, chain: Chain, content: Content, min_n: int | None, most: int
) -> list[dict[str, Any]]:
    """Return the tables that a page shows, each with the SQL that gives it.

    With ``min_n`` those that can be shown without small cells beside each other, without
    SQL, which sees every count.
    """
    found = []
    is_long = chain.tree["n_situations"] > _WALKED
    for view, kind, title, columns, order in _TABLES:
        if is_long and view == "situation_positions":
            continue
        if min_n is None and not (chain.is_given and view in _OF_STAGING):
            name = getattr(chain, kind)["name"]
            sql = (
                f"select {columns}\nfrom cegdb.{view}\n"
                f"where {kind} = {_literal(name)}\norder by {order}"
            )
            rows, n_rows = _asked(store, sql, most)
        elif min_n is not None and view in content.first:
            sql = ""
            rows = [[one[key] for key in columns.split(", ")] for one in content.first[view]]
            n_rows = content.n_edges if view == "ceg_edges" else content.n_positions + 1
        else:
            continue
        if not n_rows:
            continue
        found.append(
            {
                "title": title,
                "view": view,
                "sql": sql,
                "columns": columns.split(", "),
                "rows": [[plain(value) for value in one] for one in rows],
                "n_rows": n_rows,
            }
        )
    return found


def _asked(store: Store, sql: str, most: int) -> tuple[list[Any], int]:
    with store.reading() as con:
        rows = con.execute(f"{sql}\nlimit {most + 1}").fetchall()
        if len(rows) <= most:
            return rows, len(rows)
        unordered = sql.rpartition("\norder by ")[0]
        found = con.execute(f"select count(*) from ({unordered})").fetchone()  # noqa: S608
    return rows[:most], int(found[0]) if found else 0


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def plain(value: object) -> Any:
    """Return a value as JSON has it.

    Examples
    --------
    >>> plain(0.5), plain(float("nan")), plain(["a"])
    (0.5, None, ['a'])
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return str(value)
    return value
