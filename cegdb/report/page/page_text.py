"""What a page says about a CEG, and the tables it shows with the SQL that gives them.

Texts that do not depend on the data are in ``page.html``, and as ``TEXT`` in ``page.js``.
"""

from __future__ import annotations

import datetime
import decimal
import math
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import counted
from cegdb.findings import DETAIL, texts
from cegdb.inference.mean_scores import scale_text
from cegdb.report.setting_texts import setting_text
from cegdb.report.summaries import summary
from cegdb.report.view_queries import view_query
from cegdb.report.words.phrases import mean_phrase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.findings import StoredFinding
    from cegdb.report.lineage import Lineage
    from cegdb.report.page.page_reader import Content
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
        "Situations and their positions in the CEG",
        "situation, variable, path, stage, position, n",
        "vertex_id",
    ),
    (
        "merges",
        "staging",
        "Merges that made the stages",
        "step, kept, absorbed, variable, log_bayes_factor",
        "step",
    ),
    (
        "merge_steps",
        "ceg",
        "Steps of the recursion that made the positions",
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


def about(
    lineage: Lineage, found: Sequence[StoredFinding], min_n: int | None
) -> list[dict[str, Any]]:
    """Return the summaries and the settings of all that a CEG was made from.

    Of what was found the details are here, the rest is among the `warnings`. With ``min_n``
    settings only: the summaries count respondents.
    """
    titles = ("CEG", "Staging", "Event tree", "Survey")
    cards = []
    for title, kind, one in zip(titles, lineage._fields, lineage, strict=True):
        lines = [] if min_n is not None else summary(kind, one).split("\n")  # type: ignore[arg-type]
        details = [f for f in found if f.from_kind == kind and f.consequence == DETAIL]
        cards.append(
            {
                "title": f"{title} {one['name']}",
                "lines": lines,
                "notes": [one.text for one in details] if min_n is None else [],
                "settings": [
                    [key, setting_text(value, _LONGEST)]
                    for key, value in sorted(one["settings"].items())
                    if key not in _LEFT_OUT and value not in (None, [], {}, False)
                ],
            }
        )
    return cards[::-1]


def headline(lineage: Lineage, content: Content, min_n: int | None) -> str:
    """Return the size of a CEG in a line."""
    people = "" if min_n is not None else f"{counted(lineage.tree['n'], 'respondent')}, "
    return (
        f"{people}{counted(content.n_situations, 'situation')}, "
        f"{counted(content.n_stages, 'stage')}, "
        f"{counted(content.n_positions, 'position')} and {counted(content.n_edges, 'edge')}"
    )


def warnings(found: Sequence[StoredFinding], min_n: int | None) -> list[str]:
    """Return what a reader must know before the numbers, the most consequential first."""
    notices = [f"Note: {text}." for text in texts(found, "ceg", is_hidden=min_n is not None)]
    if min_n is not None:
        notices.append(
            f"Counts below {min_n} and what would reveal them are hidden. This page shows only "
            "the counts of the CEG itself: no summaries, no counts in the staged tree, and no "
            "merge log."
        )
    return notices


def ceg_in_part(n_drawn: int, n_positions: int) -> str:
    """Return that only some positions are drawn."""
    return (
        f"Only part of the CEG is drawn: {n_drawn:,} of {counted(n_positions, 'position')}, "
        "those that most people reach. Vertices with \u2026 stand for the others."
    )


def tree_in_part(n_drawn: int, n_situations: int, *, by_people: bool) -> str:
    """Return that only some situations are drawn."""
    which = "that most people reach" if by_people else "next to the root"
    return (
        f"Only part of the staged tree is drawn: {n_drawn:,} of "
        f"{counted(n_situations, 'situation')}, those {which}. Vertices with \u2026 show how "
        "many situations are below them."
    )


def evidence_off(n_edges: int, most: int | None) -> str:
    """Return why the page does not calculate with evidence."""
    if most is None:
        return (
            "Evidence is off: small counts are hidden on this page, and some of the "
            "probabilities it needs would reveal them."
        )
    return (
        f"Evidence is off: this CEG has {n_edges:,} edges, more than the {most:,} that a page "
        "can calculate with. Use cegdb probability."
    )


def evidence_refused(reason: str) -> str:
    """Return why the page does not calculate with evidence, as an error says it."""
    return f"Evidence is off: {reason}."


def average(content: Content, stage: Mapping[str, Any]) -> str | None:
    """Return the mean score of a stage of ordered answers; None of others."""
    mean = content.means.get(stage["stage_id"])
    if mean is None:
        return None
    scores = content.scores[stage["variable"]]
    counts = [
        edge["n"]
        for edge in content.stage_edges
        if edge["stage_id"] == stage["stage_id"] and scores[edge["label"]] is not None
    ]
    n = None if None in counts else sum(counts)
    return f"On average {mean_phrase(mean, n)} on a scale {scale_text(scores)}."


def graph_not_drawn(graph: str, reason: str) -> str:
    """Return why the CEG or the staged tree is not drawn, as an error says it."""
    return f"The {graph} is not drawn: {reason}."


def no_merges(method: str) -> str:
    """Return that there is no merge log, by the method of the staging."""
    stages = "given" if method == "given" else f"made by {method!r}"
    return f"There is no merge log: the stages were {stages}, without merges."


def too_many_merges(n: int) -> str:
    """Return that the merge log is too long for a page."""
    return f"The merge log is not shown, because it has {counted(n, 'step')}."


NO_MERGES_GIVEN_EVIDENCE: Final = (
    "There is no merge log: a CEG given evidence has stages of its own."
)
MERGES_HIDDEN: Final = (
    "The merge log is not shown, because it depends on counts that are hidden."
)
MERGES_OF_A_PART: Final = (
    "The merge log is not shown, because only part of the staged tree is drawn."
)
MERGES_INCOMPLETE: Final = (
    "The merge log is not shown, because merging began with groups of situations that it does "
    "not record."
)


def tables(
    store: Store, lineage: Lineage, content: Content, min_n: int | None, most: int
) -> list[dict[str, Any]]:
    """Return the tables that a page shows, each with the SQL that gives it.

    With ``min_n`` only the tables that can be shown together with small cells hidden, and
    no SQL, which sees every count.
    """
    shown_tables = []
    is_long = lineage.tree["n_situations"] > _WALKED
    for view, kind, title, columns, order in _TABLES:
        if is_long and view == "situation_positions":
            continue
        if min_n is None and not (lineage.is_conditioned and view in _OF_STAGING):
            name = getattr(lineage, kind)["name"]
            sql = view_query(view, columns, kind, name, order)
            rows, n_rows = _fetched(store, sql, most)
        elif min_n is not None and view in content.first:
            sql = ""
            rows = [[one[key] for key in columns.split(", ")] for one in content.first[view]]
            n_rows = content.n_edges if view == "ceg_edges" else content.n_positions + 1
        else:
            continue
        if not n_rows:
            continue
        shown_tables.append(
            {
                "title": title,
                "view": view,
                "sql": sql,
                "columns": columns.split(", "),
                "rows": [[json_value(value) for value in one] for one in rows],
                "n_rows": n_rows,
            }
        )
    return shown_tables


def _fetched(store: Store, sql: str, most: int) -> tuple[list[Any], int]:
    with store.reading() as con:
        rows = con.execute(f"{sql}\nlimit {most + 1}").fetchall()
        if len(rows) <= most:
            return rows, len(rows)
        unordered = sql.rpartition("\norder by ")[0]
        count = con.execute(f"select count(*) from ({unordered})").fetchone()  # noqa: S608
    return rows[:most], int(count[0]) if count else 0


def json_value(value: object) -> Any:
    """Return a value as JSON has it.

    Examples
    --------
    >>> json_value(0.5), json_value(float("nan")), json_value(["a"])
    (0.5, None, ['a'])
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [json_value(one) for one in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return str(value)
    return value
