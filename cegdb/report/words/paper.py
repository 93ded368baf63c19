"""The report for a paper: figure, stage table, methods, references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.render.document import Figure, Heading, Note, Paragraph, References
from cegdb.report.words.citations import used
from cegdb.report.words.methods import methods
from cegdb.report.words.phrases import quoted
from cegdb.report.words.stage_table import stage_table

if TYPE_CHECKING:
    from cegdb.render.document import Block
    from cegdb.report.words.report_data import Told
    from cegdb.store import Store


def paper(store: Store, told: Told, figure: Figure | str) -> list[Block]:
    """Return the report for a paper.

    Parameters
    ----------
    store
        Where the stage table is read.
    told
        What the tables say.
    figure
        The picture of the CEG, or why there is none.
    """
    pictured: Block = figure if isinstance(figure, Figure) else Note(f"No figure: {figure}")
    return [
        Heading(f"Chain Event Graph {quoted(told.ceg['name'])}", 1),
        *_warnings(told),
        Heading("Methods"),
        *(Paragraph(text) for text in methods(told)),
        Heading("Figure"),
        pictured,
        Heading("Stages"),
        *stage_table(store, told),
        Heading("References"),
        References(used(told.survey, [told.staging])),
    ]


def _warnings(told: Told) -> list[Block]:
    if not told.ceg["is_stale"]:
        return []
    return [Note("This CEG is stale: its survey has other rows since.")]
