"""Positions, merges and steps of a CEG, as the report for an analyst lists them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from cegdb.errors import counted
from cegdb.graphs.label_text import shown_probability
from cegdb.render.document import Items, Note, Paragraph, Table
from cegdb.report.words.stage_table import HIDDEN, count
from cegdb.small_cells import shown
from cegdb.sqlfiles import Steps

if TYPE_CHECKING:
    from cegdb.render.document import Block
    from cegdb.report.words.report_data import Told
    from cegdb.store import Store

_MOST_LABELS = 12


def positions(store: Store, told: Told, *, limit: int) -> list[Block]:
    """Return the positions that most people reach, and where their edges lead."""
    name = told.ceg["name"]
    where = {"ceg": name}
    with store.reading() as con, Steps(con) as steps:
        with shown(store, "positions", where, told.min_n) as relation:
            found = steps.fetch("told_position", positions=relation, ceg=name, most=limit)
        ids = np.array([int(str(r[0])) for r in found], np.int64)
        steps.create_from("asked_position", {"position_id": ids})
        with shown(store, "ceg_edges", where, told.min_n) as relation:
            edges = steps.fetch("told_edge", edges=relation, ceg=name)
    leads = {source: list(rows) for source, rows in groupby(edges, key=lambda r: r[0])}
    rows = []
    for position_id, position, stage, variable, height, n, n_situations in found:
        to = [
            f"{label} → {target} ({_number(n_taken)}, {_probability(p)})"
            for _, label, target, n_taken, p in leads.get(position_id, [])
        ]
        more = [f"and {len(to) - _MOST_LABELS:,} more"] if len(to) > _MOST_LABELS else []
        rows.append(
            (
                str(position),
                str(stage or ""),
                str(variable or ""),
                _number(n),
                _number(n_situations),
                _number(height),
                "; ".join([*to[:_MOST_LABELS], *more]),
            )
        )
    names = ("Position", "Stage", "Variable", "n", "Situations", "Height", "Leads to")
    blocks: list[Block] = [
        Table(
            "Positions, with respondents n, situations merged (leaves in the sink), and where "
            "each answer leads (respondents, probability).",
            names,
            rows,
            ("n", "Situations", "Height"),
        )
    ]
    left_out = told.ceg["n_vertices"] - len(found)
    if left_out > 0:
        blocks.append(
            Note(
                f"{counted(left_out, 'position')} of fewer people left out of this table. All "
                "are in the view cegdb.positions."
            )
        )
    return blocks


def _number(n: object) -> str:
    return count(None if n is None else int(str(n)))


def _probability(p: object) -> str:
    return HIDDEN if p is None else shown_probability(float(str(p)))


def merges(store: Store, told: Told) -> list[Block]:
    """Return what the merge log says: how many merges, and which were the closest calls."""
    with store.reading() as con:
        rows = con.execute(
            "select kept, absorbed, variable, log_bayes_factor, step, count(*) over () as n, "
            "sum(log_bayes_factor) over () as won from cegdb.merges where staging = $staging "
            "order by log_bayes_factor, step limit 5",
            {"staging": told.staging["name"]},
        ).fetchall()
    if not rows:
        return [Paragraph("No stages were joined by learning, or the method keeps no log.")]
    n = rows[0][5]
    said = [
        f"step {step:,}: {kept} and {absorbed} ({variable or 'several variables'}), log Bayes "
        f"factor {gain:.3f}"
        for kept, absorbed, variable, gain, step, *_ in rows
    ]
    return [
        Paragraph(
            f"{counted(n, 'merge')}, each of which raised the score. The closest calls, which "
            "other data or another prior may turn:"
        ),
        Items(said),
    ]


def steps_table(store: Store, told: Told) -> list[Block]:
    """Return the steps of the recursion that made the CEG."""
    with store.reading() as con:
        rows = con.execute(
            "select step, height, n_situations, n_positions, n_vertices, n_edges "
            "from cegdb.merge_steps where ceg = $ceg order by step",
            {"ceg": told.ceg["name"]},
        ).fetchall()
    if not rows:
        return []
    names = ("Step", "Height", "Situations", "Positions", "Vertices", "Edges")
    return [
        Table(
            "Steps of the recursion: situations of a height and the positions they became; "
            "vertices and edges of the graph after it.",
            names,
            [tuple(f"{value:,}" for value in row) for row in rows],
            names,
        )
    ]
