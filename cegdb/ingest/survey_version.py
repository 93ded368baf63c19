"""Later rows of a survey: appended to those it has, or replacing them (a refresh).

What was decided at the first ingest holds for later rows: codebook, count and weight, columns,
cut points of quantiles. Trees made of the earlier rows are stale until they are rebuilt, and
keep the levels they were made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from cegdb.errors import SurveyError, listed
from cegdb.findings import Finding
from cegdb.ingest.codebook.codebook import load_codebook
from cegdb.ingest.coding.bins import number_of, plain
from cegdb.ingest.coding.cell_codes import count_query, max_grouping_sets
from cegdb.ingest.coding.variables import VariableVersion
from cegdb.ingest.files.relation import match_columns
from cegdb.ingest.settings import check_settings
from cegdb.options import IngestOptions
from cegdb.store import schema
from cegdb.store.catalog import (
    claim_name,
    copy_rows,
    drop_variables,
    new_id,
    response_table,
    row,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.options import DecimalSign
    from cegdb.sqlfiles import Steps

_SUMMED_KEYS: Final = ("rows_read", "rows_kept")
_FILE_KEYS: Final = (
    *_SUMMED_KEYS, "rows_dropped", "declared_labels", "bad_rows", "weights", "gates", "format",
    "columns_found_as", "notes", "hints",
)  # fmt: skip


@dataclass(frozen=True)
class SurveyVersion:
    """A survey as it is stored before rows are added: its catalog row and its variables."""

    row: dict[str, Any]
    variables: dict[str, VariableVersion]
    in_trees: set[str]

    @property
    def survey_id(self) -> int:
        """The survey; its id and name stay."""
        return int(self.row["survey_id"])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings the survey was made with."""
        return dict(self.row["settings"])


def survey_version(catalog: sa.Connection, survey_id: int) -> SurveyVersion:
    """Return a survey as it is stored."""
    survey = row(catalog, "survey", survey_id)
    query = (
        sa.select(
            schema.variable.c.name,
            schema.variable.c.ordinal,
            schema.variable.c.question,
            schema.level.c.kind,
            schema.level.c.label,
            schema.level.c.original_code,
            schema.level.c.n,
        )
        .join(schema.level, schema.level.c.variable_id == schema.variable.c.variable_id)
        .where(schema.variable.c.survey_id == survey_id)
        .order_by(schema.variable.c.ordinal, schema.level.c.code)
    )
    texts_of = {
        (name, kind, label): texts
        for name, levels in survey["settings"].get("codes", {}).items()
        for kind, label, texts in levels
    }
    variables: dict[str, VariableVersion] = {}
    for name, ordinal, question, *level in catalog.execute(query):
        variable = variables.setdefault(name, VariableVersion(ordinal, question, []))
        kind, label, code, n = level
        one_text = [] if code is None else [code]
        variable.levels.append((kind, label, texts_of.get((name, kind, label), one_text), n))
    trees = sa.select(schema.event_tree.c.settings).where(
        schema.event_tree.c.survey_id.in_(
            sa.select(schema.survey.c.survey_id).where(
                sa.or_(
                    schema.survey.c.survey_id == survey_id,
                    schema.survey.c.superseded_by == survey_id,
                )
            )
        )
    )
    used = {name for settings in catalog.execute(trees).scalars() for name in settings["order"]}
    return SurveyVersion(survey, variables, used)


def stored_options(
    survey: SurveyVersion, columns: Sequence[str], decimal: DecimalSign | None
) -> IngestOptions:
    """Return the options that a survey was made with, for these columns."""
    settings = survey.settings
    gates = {name: rule for name, rule in settings.get("gates", {}).items() if name in columns}
    book = load_codebook({"variables": settings.get("variables"), "gates": gates})
    cuts = {
        name: tuple(number for text in texts if (number := number_of(text)) is not None)
        for name, texts in settings.get("quantiles", {}).items()
    }
    entries = {
        name: replace(entry, bins=replace(entry.bins, cuts=cuts[name]))
        if entry.bins is not None and name in cuts
        else entry
        for name, entry in book.variables.items()
    }
    return IngestOptions(
        columns,
        settings.get("count"),
        settings.get("weight"),
        settings.get("cluster"),
        decimal if decimal is not None else settings.get("decimal", "."),
        settings.get("structural", ()),
        settings.get("missing", ()),
        codebook=replace(book, variables=entries),
    )


def later_settings(
    relation: Relation, survey: SurveyVersion, decimal: DecimalSign | None, *, is_append: bool
) -> tuple[Relation, Settings]:
    """Return a later file with the survey's column names, and the settings for it."""
    if is_append and survey.settings.get("cluster") is not None:
        raise SurveyError(
            f"rows cannot be appended to survey {survey.row['name']!r}, a clustered sample: "
            "its design effects cannot be estimated again, because clusters are not stored",
            hint="refresh it with all its files at once, or ingest the file as another survey",
        )
    renamed, columns, column_in_source, findings = _match_survey(
        relation, survey, is_append=is_append
    )
    settings = check_settings(renamed, stored_options(survey, columns, decimal))
    for name, variable in settings.variables.items():
        variable.is_update = True
        if name in survey.variables:
            variable.own_labels = survey.variables[name].own_labels
            variable.previous = survey.variables[name] if is_append else None
    return renamed, replace(
        settings,
        structural={},  # a later file need not have these labels
        missing={},
        column_in_source=column_in_source,
        findings=findings,
        all_columns=survey.settings.get("all_columns", False),
    )


def _match_survey(
    relation: Relation, survey: SurveyVersion, *, is_append: bool
) -> tuple[Relation, list[str], dict[str, str], list[Finding]]:
    """Return a later file with the survey's column names.

    Also its variables from now on, names found under another spelling, and findings on
    columns that came or went. A column that the file lacks is blank in its rows if these are
    appended; else the survey loses it, if no tree uses it.
    """
    settings, name = survey.settings, survey.row["name"]
    others = [column for key in ("count", "weight", "cluster") if (column := settings.get(key))]
    wanted = [*others, *survey.variables]
    column_of = match_columns(wanted, relation)
    lacking = [column for column in wanted if column not in column_of]
    if not set(column_of) & set(survey.variables):
        raise SurveyError(
            f"{relation.title} has no column of survey {name!r}: it has "
            f"{listed(map(repr, relation.columns))}",
            hint=f"the survey has {listed(map(repr, survey.variables))}",
        )
    needed = [column for column in lacking if column in others]
    if not is_append:
        chosen = set() if settings.get("all_columns") else set(survey.variables)
        needed += [column for column in lacking if column in survey.in_trees | chosen]
    if needed:
        raise SurveyError(
            f"{relation.title} has no column {listed(map(repr, dict.fromkeys(needed)))}, which "
            f"survey {name!r} needs",
            hint="rename the column in the file; or ingest the file as another survey",
        )
    new_name = {file_name: column for column, file_name in column_of.items()}
    names = [new_name.get(column, column) for column in relation.columns]
    columns = [c for c in survey.variables if is_append or c in column_of]
    added: list[str] = []
    if settings.get("all_columns"):
        added = [column for column in names if column not in wanted]
    gone = [column for column in lacking if column in survey.variables]
    findings = []
    if gone:
        effect = "their cells are blank in its rows" if is_append else "they are dropped"
        sentence = f"{relation.title} lacks the columns {listed(map(repr, gone))}: {effect}"
        findings.append(Finding("wave", sentence))
    if added:
        effect = "their cells are blank in earlier rows" if is_append else "they are added"
        sentence = f"{relation.title} has the columns {listed(map(repr, added))}: {effect}"
        findings.append(Finding("wave", sentence))
    blank = gone if is_append else []
    renamed = replace(
        relation,
        columns=[*names, *blank],
        cells=[*relation.cells, *["cast(null as varchar)"] * len(blank)],
        level_order={new_name.get(key, key): v for key, v in relation.level_order.items()},
        metadata={new_name.get(key, key): v for key, v in relation.metadata.items()},
        chunks=relation.chunks and partial(_chunks, relation, column_of, blank),
    )
    column_in_source = {column: other for column, other in column_of.items() if column != other}
    return renamed, [*columns, *added], column_in_source, findings


def _chunks(
    relation: Relation, column_of: Mapping[str, str], blank: Sequence[str], names: list[str]
) -> Iterator[pd.DataFrame]:
    """Give the rows of a file with the survey's column names, and blank columns."""
    present = [name for name in names if name not in blank]
    if relation.chunks is None:
        return
    for frame in relation.chunks([column_of.get(name, name) for name in present]):
        yield frame.set_axis(present, axis=1).reindex(columns=names)


def earlier_lines(survey: SurveyVersion, variables: Sequence[Variable]) -> str:
    """Return a SELECT of the rows a survey has already, coded by its levels now."""
    columns = []
    for i, variable in enumerate(variables, 1):
        previous = variable.previous
        if previous is None:
            code = str(variable.blank_code)
        else:
            codes = _new_codes(variable, previous)
            code = f"v{previous.ordinal}"
            if codes != list(range(1, len(codes) + 1)):
                code = f"({codes})[v{previous.ordinal}]"
        columns.append(f"cast({code} as {variable.code_type}) as v{i}")
    table = response_table(survey.survey_id)
    return f"select {', '.join(columns)}, n, weight, weight_sq from {table}"  # noqa: S608


def _new_codes(variable: Variable, previous: VariableVersion) -> list[int]:
    code_of = variable.code_of_level()
    code_of_kind = {"blank": variable.blank_code, "structural": variable.structural_code}
    return [
        code_of_kind[kind] if kind in code_of_kind else code_of[kind, label]
        for kind, label, *_ in previous.levels
    ]


def count_codes(steps: Steps, table: str, variables: Sequence[Variable]) -> None:
    """Set how many respondents of the whole survey gave each level of each variable."""
    for variable in variables:
        variable.n_of_code = {}
    cells = {i: f"cast(v{i} as integer)" for i in range(1, len(variables) + 1)}
    query = count_query(cells, table, "n", most_sets=max_grouping_sets(steps))
    for ordinal, code, n in steps.rows(query):
        n_of_code = variables[ordinal - 1].n_of_code
        if n_of_code is not None:
            n_of_code[int(code)] = int(n)


def supersede(catalog: sa.Connection, survey: SurveyVersion) -> None:
    """Keep the variables of the earlier rows if trees use them, else drop them."""
    survey_id = survey.survey_id
    of_survey = schema.event_tree.c.survey_id == survey_id
    if not catalog.execute(sa.select(sa.exists().where(of_survey))).scalar_one():
        drop_variables(catalog, survey_id)
        return
    former_id = new_id(catalog, "survey")
    former = {key: value for key, value in survey.row.items() if key != "is_stale"}
    name = claim_name(
        catalog, "survey", None, f"{survey.row['name']} (former rows)", replace=False
    )
    write(
        catalog,
        "survey",
        {**former, "survey_id": former_id, "name": name, "superseded_by": survey_id},
    )
    to_former = {"survey_id": former_id}
    catalog.execute(sa.update(schema.event_tree).where(of_survey).values(**to_former))
    copy_rows(catalog, "survey", survey_id, former_id)
    of_survey = schema.variable.c.survey_id == survey_id
    catalog.execute(sa.update(schema.variable).where(of_survey).values(**to_former))


def merged_settings(survey: SurveyVersion, later: dict[str, Any]) -> dict[str, Any]:
    """Return the settings to store: those of absent columns are kept."""
    settings = survey.settings
    return {
        **later,
        "decimal": settings.get("decimal", "."),
        "source_column": settings.get("source_column"),
        "gates": settings.get("gates", {}) | later["gates"],
        "quantiles": settings.get("quantiles", {}) | later["quantiles"],
    }


def merged_receipt(
    survey: SurveyVersion, receipt: dict[str, Any], source: str
) -> dict[str, Any]:
    """Return the receipt of a survey to which a file was appended.

    Rows and weights are added up, cells and patterns are those of all rows. The other keys are
    those of ``last``, the file just read; ``earlier`` has the same of the files before it.
    """
    earlier: dict[str, Any] = dict(survey.row["summary"])
    first = {"source": survey.row["source"], **{key: earlier.get(key) for key in _FILE_KEYS}}
    declared_labels: dict[str, dict[str, int]] = {}
    for name, labels in [
        *earlier.get("declared_labels", {}).items(),
        *receipt["declared_labels"].items(),
    ]:
        for label, n in labels.items():
            n_of_label = declared_labels.setdefault(name, {})
            n_of_label[label] = n_of_label.get(label, 0) + n
    dropped = dict(earlier["rows_dropped"])
    for why, n in receipt["rows_dropped"].items():
        dropped[why] = dropped.get(why, 0) + n
    return {
        **receipt,
        **{key: earlier[key] + receipt[key] for key in _SUMMED_KEYS},
        "rows_dropped": dropped,
        "declared_labels": declared_labels,
        "weights": _merged_weights(earlier["weights"], receipt) if receipt["weights"] else None,
        "last": {"source": source, **{key: receipt[key] for key in _FILE_KEYS}},
        "earlier": [*earlier.get("earlier", []), earlier.get("last", first)],
    }


def _merged_weights(earlier: Mapping[str, Any], receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `count_respondents` would return for both files."""
    if not receipt["rows_kept"]:
        return dict(earlier)
    later = receipt["weights"]
    sums, smallest, largest = (
        [Decimal(earlier[key]), Decimal(later[key])] for key in ("sum", "smallest", "largest")
    )
    return {
        **{key: earlier[key] for key in ("column", "kept_times") if key in earlier},
        "sum": plain(sum(sums, Decimal(0))),
        "smallest": plain(min(smallest)),
        "largest": plain(max(largest)),
        **{
            key: earlier[key] + later[key]
            for key in ("rows_of_weight_0", "rows_kept_to_12_decimals")
        },
    }


def new_labels(survey: SurveyVersion, variables: Sequence[Variable]) -> list[Finding]:
    """Return the variables that have answers that their earlier rows do not have."""
    findings = []
    for variable in variables:
        if variable.name not in survey.variables:
            continue
        earlier = set(survey.variables[variable.name].labels("value"))
        new = [label for label in dict.fromkeys(variable.values) if label not in earlier]
        if earlier and new:
            sentence = (
                f"{variable.name!r} has answers that earlier rows do not have: "
                f"{listed(map(repr, new))}"
            )
            findings.append(Finding("wave", sentence, variable=variable.name))
    return findings
