"""The report for the analyst: everything that the tables say of how a CEG came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import counted
from cegdb.render.document import Code, Heading, Items, Note, Paragraph, References, Table
from cegdb.report.summaries import summary
from cegdb.report.words import methods, position_tables
from cegdb.report.words.citations import used
from cegdb.report.words.phrases import quoted
from cegdb.report.words.report_data import respondents
from cegdb.report.words.stage_table import stage_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.render.document import Block
    from cegdb.report.words.report_data import Told
    from cegdb.store import Store
    from cegdb.store.catalog import Kind

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
_SCORES: Final = ("log marginal likelihood", "log likelihood", "BIC", "AIC")
#: Which default says what, beside those that a summary tells.
_DEFAULTS: Final = {
    ("tree", "blank", "auto"): "blank cells were judged by history (blank='auto')",
    ("tree", "missing_policy", "prefix"): "rows count up to their first missing answer "
    "(missing_policy='prefix')",
    ("tree", "sampling_zeros", "none"): "answers that nobody gave have no edge "
    "(sampling_zeros='none')",
    ("staging", "hyperstages", "variable"): "situations may share a stage if they ask the "
    "same variable with the same labels (hyperstages='variable')",
    ("staging", "prior", "mass"): "the prior is shared along the tree from the root on "
    "(prior='mass')",
    ("staging", "weighting", "situation"): "weights count by what they are worth at each "
    "situation (weighting='situation')",
    ("ceg", "stop", "early"): "the recursion stops where nothing merges any more, which "
    "changes nothing (stop='early')",
}


def analyst(
    store: Store,
    told: Told,
    explained: Sequence[tuple[str, Sequence[str]]],
    left_out: str,
    *,
    limit: int,
) -> list[Block]:
    """Return the report for the analyst.

    Parameters
    ----------
    store
        Where more is read.
    told
        What the tables say.
    explained
        What the CEG says, in sections: see `cegdb.ChainEventGraph.explain`.
    left_out
        Why there is less of that, if so.
    limit
        The most rows of a table of positions.
    """
    rows = _objects(told)
    blocks: list[Block] = [Heading(f"Analyst's report on CEG {quoted(told.ceg['name'])}", 1)]
    blocks += _warnings(rows, told)
    blocks += [Heading("Receipt and summaries")]
    if told.min_n is None:
        lines = [line for kind, row in rows for line in _lines(kind, row)]
        blocks += [Items(lines), *_cells(told), *_decisions(told)]
    else:
        blocks.append(
            Note(
                "Left out, as are merges and what goes with what: they would show small cells."
            )
        )
    blocks += [
        Heading("Settings"),
        _settings(rows),
        Heading("Defaults that decided"),
        Items(_defaults(rows) or ["none: every choice was made"]),
        Heading("Sizes and scores"),
        _sizes(told),
        Heading("What explains what"),
    ]
    for title, said in explained:
        blocks += [Heading(title, 3), Items(said)]
    if left_out:
        blocks.append(Note(left_out))
    blocks += [Heading("Stages"), *stage_table(store, told)]
    blocks += [Heading("Positions"), *position_tables.positions(store, told, limit=limit)]
    if told.min_n is None:
        blocks += [Heading("Merge log"), *position_tables.merges(store, told)]
    blocks += [*position_tables.steps_table(store, told), Heading("How sure is this")]
    blocks += [Items(_sensitivity(told)), Heading("The same in SQL"), *_sql(told)]
    return [
        *blocks,
        Heading("Software and references"),
        Paragraph(methods.software(told.tree, told.staging, told.ceg)),
        References(used(told.survey, [told.staging])),
    ]


def _objects(told: Told) -> list[tuple[Kind, Mapping[str, Any]]]:
    return [
        ("survey", told.survey),
        ("tree", told.tree),
        ("staging", told.staging),
        ("ceg", told.ceg),
    ]


def _lines(kind: Kind, row: Mapping[str, Any]) -> list[str]:
    return [
        line.strip() for line in summary(kind, row).split("\n") if not line.startswith("note: ")
    ]


def _cells(told: Told) -> list[Block]:
    """Return how many cells of each variable are values, not applicable, missing, blank."""
    cells = told.survey["summary"].get("cells") or {}
    kinds = ("value", "structural", "missing", "blank")
    rows = [(name, *(f"{of.get(kind, 0):,}" for kind in kinds)) for name, of in cells.items()]
    caption = "Cells of each variable of the survey, in respondents."
    return [Table(caption, ("Variable", *kinds), rows, kinds)] if rows else []


def _decisions(told: Told) -> list[Block]:
    """Return what blank or missing cells were taken for, history by history."""
    histories = told.tree["summary"].get("histories") or {}
    rows = [
        (name, one["history"] or "the root", f"{one['decided']:,}", one["as"])
        for name, of in histories.items()
        for one in of["shown"]
    ]
    more = sum(of["n"] - len(of["shown"]) for of in histories.values())
    caption = "What cells without an answer were taken for, by history" + (
        f"; {more:,} further histories are not shown." if more else "."
    )
    names = ("Variable", "After", "Rows", "Taken as")
    return [Table(caption, names, rows, ("Rows",))] if rows else []


def _hints(row: Mapping[str, Any]) -> list[str]:
    found = row["summary"].get("hints", []) if isinstance(row["summary"], dict) else []
    return [str(hint) for hint in found]


def _warnings(rows: Sequence[tuple[Kind, Mapping[str, Any]]], told: Told) -> list[Block]:
    blocks: list[Block] = [Heading("Warnings")]
    said = ["The CEG is stale: its survey has other rows since."] * bool(told.ceg["is_stale"])
    if told.min_n is None:
        said += [f"{kind}: {hint}" for kind, row in rows for hint in _hints(row)]
    few = [
        f"{stage.name} ({stage.variable or 'several variables'}) rests on "
        f"{counted(stage.n_answered, 'respondent')}"
        for stages in told.stages.values()
        for stage in stages
        if stage.n_answered is not None and stage.n_answered < 30 and stage.kind != "unobserved"
    ]
    if few:
        shown, more = few[:10], len(few) - 10
        said += [
            *shown,
            *([f"and {counted(more, 'more stage')} on fewer than 30"] if more > 0 else []),
        ]
    return [*blocks, Items(said or ["none"])]


def _settings(rows: Sequence[tuple[Kind, Mapping[str, Any]]]) -> Table:
    found = []
    for kind, row in rows:
        settings = row["settings"] if isinstance(row["settings"], dict) else {}
        values = {**settings, "made by": f"cegdb {row['cegdb_version']}"}
        if kind == "staging":
            values = {"method": row["method"], "alpha": row["alpha"], **values}
        for name, value in values.items():
            if value in (None, [], {}, ""):
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (cut)"
            found.append((f"{kind} {row['name']}", name, cut))
    return Table(
        "Settings, those left out being empty.", ("Object", "Setting", "Value"), found, ()
    )


def _defaults(rows: Sequence[tuple[Kind, Mapping[str, Any]]]) -> list[str]:
    said = []
    for kind, row in rows:
        settings = row["settings"] if isinstance(row["settings"], dict) else {}
        for (of, name, value), words in _DEFAULTS.items():
            if of == kind and settings.get(name) == value:
                said.append(words)
        if isinstance(row["summary"], dict) and row["summary"].get("alpha_is_default"):
            said.append(f"alpha = {row['alpha']:g}, the largest number of levels of a variable")
    return said


def _sizes(told: Told) -> Table:
    survey, tree, staging, ceg = told.survey, told.tree, told.staging, told.ceg
    numbers = [
        ("respondents of the survey", f"{respondents(told):,}"),
        ("distinct rows of the survey", f"{survey['n_distinct']:,}"),
        ("respondents in the tree", f"{tree['n']:,}"),
        ("vertices of the tree", f"{tree['n_vertices']:,}"),
        ("situations", f"{tree['n_situations']:,}"),
        ("leaves", f"{tree['n_leaves']:,}"),
        ("height", f"{tree['height']:,}"),
        ("hyperstages", f"{staging['n_hyperstages']:,}"),
        ("stages", f"{staging['n_stages']:,}"),
        ("free parameters", f"{staging['df']:,}"),
        ("log marginal likelihood", f"{staging['log_marginal_likelihood']:.4f}"),
        ("log likelihood", f"{staging['log_likelihood']:.4f}"),
        ("BIC", f"{staging['bic']:.2f}"),
        ("AIC", f"{staging['aic']:.2f}"),
        ("vertices of the CEG, with the sink", f"{ceg['n_vertices']:,}"),
        ("edges of the CEG", f"{ceg['n_edges']:,}"),
    ]
    if told.min_n is not None:
        numbers = [(what, number) for what, number in numbers if what not in _SCORES]
        caption = f"Sizes. {methods.NO_SCORES}"
    else:
        caption = "Sizes and scores."
    return Table(caption, ("What", "Number"), numbers, ("Number",))


def _sensitivity(told: Told) -> list[str]:
    staging = told.staging["name"]
    details = told.staging["summary"]
    said = []
    if isinstance(details, dict) and "false_stages" in details:
        said.append(
            f"Chance alone would make {details['false_stages']:.2f} further stages (± "
            f"{details['false_stages_error']:.2f}, {details['null_runs']} null runs)."
        )
    return [
        *said,
        (
            "Intervals are given the stages. How often situations are staged together on other "
            f"samples: cegdb stability DB {staging!r}, or staged.stability()."
        ),
        (
            "Intervals that learn the stages again: cegdb intervals DB "
            f"{staging!r} --method bootstrap, or staged.intervals('bootstrap')."
        ),
        "Another prior: learn with other alpha (--alpha), and compare by cegdb compare DB.",
        "Another order of the variables: cegdb orders DB SURVEY.",
    ]


def _sql(told: Told) -> list[Block]:
    owners = {
        "tree": told.tree["name"],
        "staging": told.staging["name"],
        "ceg": told.ceg["name"],
    }
    lines = [
        f"select * from cegdb.{view} where {owner} = {_literal(owners[owner])} "  # noqa: S608
        f"order by {order};"
        for view, owner, order in _VIEWS
    ]
    return [
        Paragraph(
            "The tables that this report is of; cegdb sql runs each of these, and cegdb steps "
            "trace writes the SQL that made them."
        ),
        Code("\n".join(lines), "sql"),
    ]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
