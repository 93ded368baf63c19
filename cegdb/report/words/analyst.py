"""The analyst's report: everything that the tables say about how a CEG came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import counted
from cegdb.findings import spurious_stages, spurious_stages_text, texts
from cegdb.options import SCORE_NAMES
from cegdb.render.document import Code, Heading, Items, Note, Paragraph, Table
from cegdb.report.lineage import json_column
from cegdb.report.setting_texts import DEFAULTS, setting_text
from cegdb.report.summaries import posterior_text, summary
from cegdb.report.view_queries import view_query
from cegdb.report.words import methods, position_tables
from cegdb.report.words.citations import reference_list
from cegdb.report.words.phrases import quoted
from cegdb.report.words.report_data import n_respondents
from cegdb.report.words.stage_table import stage_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.options import Kind
    from cegdb.render.document import Block
    from cegdb.report.words.report_data import ReportData
    from cegdb.store import Store

_LONGEST: Final = 300
_VIEWS: Final = (
    ("situations", "tree", "vertex_id"),
    ("stages", "staging", "stage_id"),
    ("stage_edges", "staging", "stage_id, label_id"),
    ("merges", "staging", "step"),
    ("positions", "ceg", "position_id"),
    ("ceg_edges", "ceg", "source_id, label_id, target_id"),
    ("situation_positions", "ceg", "vertex_id"),
    ("merge_steps", "ceg", "step"),
)


def analyst_report(
    store: Store,
    report: ReportData,
    explained: Sequence[tuple[str, Sequence[str]]],
    left_out: str,
    *,
    limit: int,
) -> list[Block]:
    """Return the report for an analyst, with at most ``limit`` positions.

    ``explained`` are the sections of `cegdb.ChainEventGraph.explain`; ``left_out`` says why
    some of them are missing, if so.
    """
    rows = _objects(report)
    blocks: list[Block] = [Heading(f"Analyst's report on CEG {quoted(report.ceg['name'])}", 1)]
    blocks += [Heading("Warnings"), Items(_warnings(report) or ["none"])]
    blocks += [Heading("Summaries")]
    if report.min_n is None:
        blocks.append(Items([_summary_sentences(kind, row) for kind, row in rows]))
        blocks += [*_cells(report), *_histories(report)]
    else:
        blocks.append(
            Note(
                "Summaries, merges and associations are left out, because they would reveal "
                "small cells."
            )
        )
    blocks += [
        Heading("Settings"),
        _settings(rows),
        Heading("Defaults used"),
        Items(_defaults(rows) or ["none: every setting was chosen"]),
        Heading("Sizes and scores"),
        _sizes(report),
        Heading("What the CEG says"),
    ]
    for title, sentences in explained:
        blocks += [Heading(title, 3), Items(sentences)]
    if left_out:
        blocks.append(Note(left_out))
    blocks += [Heading("Stages"), *stage_table(store, report)]
    blocks += [Heading("Positions"), *position_tables.positions(store, report, limit=limit)]
    if report.min_n is None:
        blocks += [Heading("Merge log"), *position_tables.merges(store, report)]
    blocks += [*position_tables.steps_table(store, report), Heading("Uncertainty")]
    blocks += [Items(_uncertainty(report)), Heading("SQL"), *_sql(report)]
    return [
        *blocks,
        Heading("Software and references"),
        Paragraph(methods.software_sentence(report.tree, report.staging, report.ceg)),
        reference_list(report.survey, [report.staging]),
    ]


def _objects(report: ReportData) -> list[tuple[Kind, Mapping[str, Any]]]:
    return [
        ("survey", report.survey),
        ("tree", report.tree),
        ("staging", report.staging),
        ("ceg", report.ceg),
    ]


def _summary_sentences(kind: Kind, row: Mapping[str, Any]) -> str:
    """Return the summary of an object in one item; what was found is among the warnings."""
    return f"{'; '.join(line.strip() for line in summary(kind, row).splitlines())}."


def _cells(report: ReportData) -> list[Block]:
    """Return how many cells of each variable are values, not applicable, missing, blank."""
    cells = report.survey["summary"].get("cells") or {}
    kinds = ("value", "structural", "missing", "blank")
    rows = [
        (name, *(f"{counts.get(kind, 0):,}" for kind in kinds))
        for name, counts in cells.items()
    ]
    caption = "Cells of each variable of the survey, counted in respondents."
    return [Table.of_rows(caption, ("Variable", *kinds), rows, kinds)] if rows else []


def _histories(report: ReportData) -> list[Block]:
    """Return how blank or missing cells were classified, history by history."""
    histories = report.tree["summary"].get("histories") or {}
    rows = [
        (name, one["history"] or "the root", f"{one['decided']:,}", one["as"])
        for name, of_variable in histories.items()
        for one in of_variable["shown"]
    ]
    more = sum(
        of_variable["n"] - len(of_variable["shown"]) for of_variable in histories.values()
    )
    caption = "How cells without an answer were classified, by history"
    caption += f"; {more:,} more are not shown." if more else "."
    names = ("Variable", "History", "Rows", "Classified as")
    return [Table.of_rows(caption, names, rows, ("Rows",))] if rows else []


def _warnings(report: ReportData) -> list[str]:
    is_hidden = report.min_n is not None
    return texts(report.findings, "ceg", is_hidden=is_hidden, has_details=True)


def _settings(rows: Sequence[tuple[Kind, Mapping[str, Any]]]) -> Table:
    settings = []
    for kind, row in rows:
        values = {**json_column(row, "settings"), "made by": f"cegdb {row['cegdb_version']}"}
        if kind == "staging":
            values = {"method": row["method"], "alpha": row["alpha"], **values}
        for name, value in values.items():
            if value in (None, [], {}, ""):
                continue
            settings.append((f"{kind} {row['name']}", name, setting_text(value, _LONGEST)))
    caption = "Settings, without those that are empty."
    return Table.of_rows(caption, ("Object", "Setting", "Value"), settings)


def _defaults(rows: Sequence[tuple[Kind, Mapping[str, Any]]]) -> list[str]:
    used = []
    for kind, row in rows:
        settings = json_column(row, "settings")
        used += [
            text
            for (owner, name, value), text in DEFAULTS.items()
            if owner == kind and settings.get(name) == value
        ]
        if json_column(row, "summary").get("alpha_is_default"):
            which = (
                "of each stage"
                if settings.get("prior") == "stage"
                else "the largest number of levels of a variable"
            )
            used.append(f"alpha = {row['alpha']:g}, {which}")
    return used


def _sizes(report: ReportData) -> Table:
    survey, tree, staging, ceg = report.survey, report.tree, report.staging, report.ceg
    numbers = [
        ("respondents in the survey", f"{n_respondents(report):,}"),
        ("distinct rows in the survey", f"{survey['n_distinct']:,}"),
        ("respondents in the tree", f"{tree['n']:,}"),
        ("vertices of the tree", f"{tree['n_vertices']:,}"),
        ("situations", f"{tree['n_situations']:,}"),
        ("leaves", f"{tree['n_leaves']:,}"),
        ("height", f"{tree['height']:,}"),
        ("hyperstages", f"{staging['n_hyperstages']:,}"),
        ("stages", f"{staging['n_stages']:,}"),
        ("free parameters", f"{staging['df']:,}"),
        (SCORE_NAMES["log_marginal_likelihood"], f"{staging['log_marginal_likelihood']:.4f}"),
        (SCORE_NAMES["log_likelihood"], f"{staging['log_likelihood']:.4f}"),
        (SCORE_NAMES["bic"], f"{staging['bic']:.2f}"),
        (SCORE_NAMES["aic"], f"{staging['aic']:.2f}"),
        ("vertices of the CEG, including the sink", f"{ceg['n_vertices']:,}"),
        ("edges of the CEG", f"{ceg['n_edges']:,}"),
    ]
    caption = "Sizes of the survey, the tree, the staging and the CEG, and scores."
    if report.min_n is not None:
        hidden = set(SCORE_NAMES.values())
        numbers = [(name, number) for name, number in numbers if name not in hidden]
        caption = f"Sizes. {methods.NO_SCORES}"
    return Table.of_rows(caption, ("Quantity", "Value"), numbers, ("Value",))


def _uncertainty(report: ReportData) -> list[str]:
    name, details = report.staging["name"], json_column(report.staging, "summary")
    spurious = []
    if details.get("null_runs") and not spurious_stages(details, 0):
        spurious.append(
            f"Expected number of spurious stages: {spurious_stages_text(details)} "
            f"({counted(details['null_runs'], 'null run')})."
        )
    known = details.get("posterior")
    among_all = (
        f"Among all stagings: {posterior_text(known)}."
        if isinstance(known, dict)
        else "How probable the staging is among all stagings, and whether a better one is "
        f"known: cegdb posterior DB {name!r}, or staged.posterior()."
    )
    return [
        *spurious,
        among_all,
        (
            "Intervals hold whether or not the situations of a stage are alike. How often "
            f"situations share a stage in other samples: cegdb stability DB {name!r}, or "
            "staged.stability()."
        ),
        (
            "Intervals for which the stages are learnt again: cegdb intervals DB "
            f"{name!r} --method bootstrap, or staged.intervals('bootstrap')."
        ),
        (
            "Another prior: learn stages with another alpha (--alpha), and compare the two "
            "with cegdb compare DB."
        ),
        (
            "Another order of the variables: cegdb search-orders DB "
            f"{report.survey['name']!r}, or survey.search_orders()."
        ),
    ]


def _sql(report: ReportData) -> list[Block]:
    owners = {
        "tree": report.tree["name"],
        "staging": report.staging["name"],
        "ceg": report.ceg["name"],
    }
    queries = [
        view_query(view, "*", owner, owners[owner], order).replace("\n", " ")
        for view, owner, order in _VIEWS
    ]
    return [
        Paragraph(
            "These queries give the tables behind this report; run them with cegdb sql. "
            "cegdb steps trace writes the SQL that made the tables."
        ),
        Code("\n".join(f"{query};" for query in queries), "sql"),
    ]
