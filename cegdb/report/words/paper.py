"""The report for a paper: methods, figure, stage table, references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.findings import texts
from cegdb.render.document import Figure, Heading, Items, Note, Paragraph
from cegdb.report.words.citations import reference_list
from cegdb.report.words.methods import methods_paragraphs
from cegdb.report.words.phrases import quoted
from cegdb.report.words.stage_table import stage_table

if TYPE_CHECKING:
    from cegdb.render.document import Block
    from cegdb.report.words.report_data import ReportData
    from cegdb.store import Store


def paper_report(store: Store, report: ReportData, figure: Figure | str) -> list[Block]:
    """Return the report for a paper, with the picture of the CEG or why there is none."""
    cautions = texts(report.findings, "ceg", is_hidden=report.min_n is not None)
    limitations: list[Block] = [Heading("Limitations"), Items(cautions)] if cautions else []
    return [
        Heading(f"Chain Event Graph {quoted(report.ceg['name'])}", 1),
        *limitations,
        Heading("Methods"),
        *map(Paragraph, methods_paragraphs(report)),
        Heading("Figure"),
        figure if isinstance(figure, Figure) else Note(f"No figure: {figure}"),
        Heading("Stages"),
        *stage_table(store, report),
        Heading("References"),
        reference_list(report.survey, [report.staging]),
    ]
