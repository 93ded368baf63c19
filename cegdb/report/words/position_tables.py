"""Positions, merges and steps of a CEG, as the analyst's report lists them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.errors import agreeing, counted
from cegdb.inference.mean_scores import in_order_of_means, mean_scores
from cegdb.render.document import Items, Note, Paragraph, Table
from cegdb.render.writers import format_count
from cegdb.report.lineage import json_column
from cegdb.report.words.stage_table import format_mean
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from cegdb.render.document import Block
    from cegdb.report.words.report_data import ReportData
    from cegdb.store import Store

_MOST_LABELS: Final = 12
_CLOSEST: Final = 5


def positions(store: Store, report: ReportData, *, limit: int) -> list[Block]:
    """Return the positions that most people reach, and where their edges lead."""
    name = report.ceg["name"]
    where = {"ceg": name}
    with store.reading() as con, Steps(con) as steps:
        with masked_view(store, "positions", where, report.min_n) as relation:
            largest = steps.fetch("report_position", positions=relation, ceg=name, most=limit)
        ids = np.array([row[0] for row in largest], np.int64)
        steps.create_from("reported_position", {"position_id": ids})
        with masked_view(store, "ceg_edges", where, report.min_n) as relation:
            edges = steps.fetch("report_edge", edges=relation, ceg=name)
    edges_of = {source: list(rows) for source, rows in groupby(edges, key=lambda row: row[0])}
    variable_of = {row[0]: row[3] for row in largest}
    means = mean_scores(
        ((source, variable_of[source], label, mean) for source, label, _, _, mean in edges),
        report.scores,
    )
    largest = in_order_of_means(largest, lambda row: row[3], lambda row: means.get(row[0]))
    rows = []
    for position_id, position, stage, variable, height, n, n_situations in largest:
        targets = [
            f"{label} → {target} ({format_count(n_taken)}, {format_mean(mean)})"
            for _, label, target, n_taken, mean in edges_of.get(position_id, [])
        ]
        more = len(targets) - _MOST_LABELS
        rest = [f"and {more:,} more"] if more > 0 else []
        numbers = (format_count(n), format_count(n_situations), format_count(height))
        leads_to = "; ".join([*targets[:_MOST_LABELS], *rest])
        rows.append((position, stage or "", variable or "", *numbers, leads_to))
    blocks: list[Block] = [
        Table.of_rows(
            "Positions: respondents (n), number of situations merged (for the sink, leaves), "
            "and where each answer leads (respondents, probability)."
            + (" Those of ordered answers stand in the order of their mean." if means else ""),
            ("Position", "Stage", "Variable", "n", "Situations", "Height", "Leads to"),
            rows,
            ("n", "Situations", "Height"),
        )
    ]
    left_out = report.ceg["n_vertices"] - len(largest)
    if left_out > 0:
        blocks.append(
            Note(
                f"{counted(left_out, 'position')} with fewer people "
                f"{agreeing(left_out, 'are')} left out of this table; the view cegdb.positions "
                "has all of them."
            )
        )
    return blocks


def merges(store: Store, report: ReportData) -> list[Block]:
    """Return how many merges the log has, and which were the closest calls."""
    with store.reading() as con, Steps(con) as steps:
        rows = steps.fetch("report_merge", staging=report.staging["name"], most=_CLOSEST)
    if not rows:
        return [Paragraph("There are no merges: no stages were merged, or no log was kept.")]
    merges = counted(rows[0][5], "merge")
    is_tested = json_column(report.staging, "settings").get("criterion") == "test"
    text = (
        f"{merges}; no test told the situations of a merged stage apart. Those that the score "
        "supports least, which other data might change:"
        if is_tested
        else f"{merges}, each of which improved the score. The closest calls, which other data "
        "or another prior might change:"
    )
    return [
        Paragraph(text),
        Items(
            [
                f"step {step:,}: {kept} and {absorbed} ({variable or 'several variables'}), "
                f"log Bayes factor {gain:.3f}"
                for kept, absorbed, variable, gain, step, _ in rows
            ]
        ),
    ]


def steps_table(store: Store, report: ReportData) -> list[Block]:
    """Return the steps of the recursion that made the CEG."""
    with store.reading() as con, Steps(con) as steps:
        rows = steps.rows(
            "select step, height, n_situations, n_positions, n_vertices, n_edges "
            "from cegdb.merge_steps where ceg = $ceg order by step",
            {"ceg": report.ceg["name"]},
        )
    names = ("Step", "Height", "Situations", "Positions", "Vertices", "Edges")
    caption = (
        "Steps of the recursion: situations at each height and the positions they became; "
        "vertices and edges of the graph after the step."
    )
    cells = [[f"{value:,}" for value in row] for row in rows]
    return [Table.of_rows(caption, names, cells, names)] if rows else []
