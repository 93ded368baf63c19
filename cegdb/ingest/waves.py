"""Later rows of a survey: appended to those it has, or in their place (a refresh).

What was said and decided when the survey was first read holds for its later rows: its
codebook, count and weight, columns, the cut points of quantiles. Trees made from the
former rows are stale until they are rebuilt, and keep the levels they were made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from cegdb.errors import SurveyError, listed
from cegdb.ingest.codebook.codebook import Codebook, load_codebook
from cegdb.ingest.coding.bins import number_of, plain
from cegdb.ingest.coding.cell_codes import counting, sets_in_memory
from cegdb.ingest.coding.variables import Former
from cegdb.ingest.files.relation import find_columns
from cegdb.ingest.settings import settled
from cegdb.options import IngestOptions
from cegdb.store import schema
from cegdb.store.catalog import claim_name, drop_variables, new_id, response_table, row, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings
    from cegdb.options import DecimalSign
    from cegdb.sqlfiles import Steps

_SUMMED: Final = ("rows_read", "rows_kept")
_OF_FILE: Final = (
    *_SUMMED, "rows_dropped", "declared_labels", "bad_rows", "weights", "gates", "format",
    "columns_found_as", "notes", "hints",
)  # fmt: skip


@dataclass(frozen=True)
class Before:
    """A survey as it is before other rows come: its catalog row and its variables."""

    row: dict[str, Any]
    variables: dict[str, Former]
    in_trees: set[str]

    @property
    def survey_id(self) -> int:
        """The survey; its id and name stay."""
        return int(self.row["survey_id"])

    @property
    def settings(self) -> dict[str, Any]:
        """What the survey was made with."""
        return dict(self.row["settings"])


def survey_before(catalog: sa.Connection, survey_id: int) -> Before:
    """Return a survey as it is, to append to it or to replace its rows."""
    found = row(catalog, "survey", survey_id)
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
    several = {
        (name, kind, label): texts
        for name, of_name in found["settings"].get("codes", {}).items()
        for kind, label, texts in of_name
    }
    variables: dict[str, Former] = {}
    for name, ordinal, question, *level in catalog.execute(query):
        of_name = variables.setdefault(name, Former(ordinal, question, []))
        kind, label, code, n = level
        one = [] if code is None else [code]
        of_name.levels.append((kind, label, several.get((name, kind, label), one), n))
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
    return Before(found, variables, used)


def options_again(
    before: Before, columns: Sequence[str], decimal: DecimalSign | None
) -> tuple[IngestOptions, Codebook]:
    """Return the settings and codebook that a survey was made with, for other columns."""
    said = before.settings
    gates = {name: rule for name, rule in said.get("gates", {}).items() if name in columns}
    book = load_codebook({"variables": said.get("variables"), "gates": gates})
    cuts = {
        name: tuple(number for text in texts if (number := number_of(text)) is not None)
        for name, texts in said.get("quantiles", {}).items()
    }
    entries = {
        name: replace(entry, bins=replace(entry.bins, cuts=cuts[name]))
        if entry.bins is not None and name in cuts
        else entry
        for name, entry in book.variables.items()
    }
    options = IngestOptions(
        columns,
        said.get("count"),
        said.get("weight"),
        said.get("cluster"),
        decimal if decimal is not None else said.get("decimal", "."),
        said.get("structural", ()),
        said.get("missing", ()),
    )
    return options, replace(book, variables=entries)


def settled_again(
    relation: Relation, before: Before, decimal: DecimalSign | None, *, is_append: bool
) -> tuple[Relation, Settings]:
    """Return a later file under the survey's names, and the survey's settings for it.

    Raises
    ------
    SurveyError
        The file lacks columns that must be there, or a survey of clusters is appended to.
    """
    if is_append and before.settings.get("cluster") is not None:
        raise SurveyError(
            f"survey {before.row['name']!r} has design effects of the clusters of its rows, "
            "which are not kept: they cannot be estimated with other rows",
            hint="refresh it with all its files at once, or ingest them as another survey",
        )
    renamed, columns, found_as, hints = _matched(relation, before, is_append=is_append)
    settings = settled(renamed, *options_again(before, columns, decimal))
    for name, variable in settings.variables.items():
        variable.is_later = True
        variable.former = before.variables.get(name) if is_append else None
    return renamed, replace(
        settings,
        structural={},  # that a later file has none of these labels is no news
        missing={},
        found_as=found_as,
        hints=hints,
        all_columns=before.settings.get("all_columns", False),
    )


def _matched(
    relation: Relation, before: Before, *, is_append: bool
) -> tuple[Relation, list[str], dict[str, str], list[str]]:
    """Call the columns of a later file as the survey does.

    Parameters
    ----------
    relation
        The file.
    before
        The survey.
    is_append
        Whether a column that the file lacks is blank in its rows; else it goes, if no
        tree uses it.

    Returns
    -------
    relation, columns, found_as, hints
        The file with the survey's names; the variables of the survey from now on; names
        found under another spelling; what to tell of columns that came or went.

    Raises
    ------
    SurveyError
        The file has none of the survey's columns, or lacks one that must be there.
    """
    said, name = before.settings, before.row["name"]
    others = [column for key in ("count", "weight", "cluster") if (column := said.get(key))]
    wanted = [*others, *before.variables]
    found = {column: column for column in wanted if column in relation.columns}
    for column in wanted:
        fits = None if column in found else fitting(column, relation, taken=found)
        if fits is not None:
            found[column] = fits
    lacking = [column for column in wanted if column not in found]
    if not set(found) & set(before.variables):
        raise SurveyError(
            f"{relation.shown} has none of the columns of survey {name!r}: it has "
            f"{listed(map(repr, relation.columns))}",
            hint=f"the survey has {listed(map(repr, before.variables))}",
        )
    needed = [column for column in lacking if column in others]
    if not is_append:
        chosen = set() if said.get("all_columns") else set(before.variables)
        needed += [column for column in lacking if column in before.in_trees | chosen]
    if needed:
        raise SurveyError(
            f"{relation.shown} has no column {listed(map(repr, dict.fromkeys(needed)))}, which "
            f"survey {name!r} needs",
            hint="rename the column in the file; or ingest the file as another survey",
        )
    called = {file_name: column for column, file_name in found.items()}
    names = [called.get(column, column) for column in relation.columns]
    columns = [c for c in before.variables if is_append or c in found]
    came: list[str] = []
    if said.get("all_columns"):
        came = [column for column in names if column not in wanted]
    went = [column for column in lacking if column in before.variables]
    hints = []
    if went:
        what = "their cells are blank in its rows" if is_append else "they are no more"
        hints.append(f"{relation.shown} lacks the columns {listed(map(repr, went))}: {what}")
    if came:
        what = "their cells are blank in the former rows" if is_append else "they are new"
        hints.append(f"{relation.shown} has the columns {listed(map(repr, came))}: {what}")
    blank = went if is_append else []
    renamed = replace(
        relation,
        columns=[*names, *blank],
        cells=[*relation.cells, *["cast(null as varchar)"] * len(blank)],
        level_order={called.get(key, key): v for key, v in relation.level_order.items()},
        known={called.get(key, key): v for key, v in relation.known.items()},
        chunks=relation.chunks and partial(_chunks, relation, found, blank),
    )
    found_as = {column: other for column, other in found.items() if column != other}
    return renamed, [*columns, *came], found_as, hints


def fitting(column: str, relation: Relation, taken: Mapping[str, str]) -> str | None:
    """Return the column of a file that a name means, None if there is none."""
    free = [name for name in relation.columns if name not in taken.values()]
    if not any(name.strip().casefold() == column.strip().casefold() for name in free):
        return None
    return find_columns(free, [column], relation.shown)[0]


def _chunks(
    relation: Relation, found: Mapping[str, str], blank: Sequence[str], names: list[str]
) -> Iterator[pd.DataFrame]:
    """Give the rows of a file under the survey's names, with columns of blanks."""
    there = [name for name in names if name not in blank]
    if relation.chunks is None:
        return
    for frame in relation.chunks([found.get(name, name) for name in there]):
        yield frame.set_axis(there, axis=1).reindex(columns=names)


def former_lines(before: Before, variables: Sequence[Variable]) -> str:
    """Return a SELECT of the rows a survey has already, coded as its levels are now."""
    columns = []
    for i, variable in enumerate(variables, 1):
        former = variable.former
        if former is None:
            code = str(variable.blank_code)
        else:
            codes = _codes_now(variable, former)
            code = f"v{former.ordinal}"
            if codes != list(range(1, len(codes) + 1)):
                code = f"({codes})[v{former.ordinal}]"
        columns.append(f"cast({code} as {variable.code_type}) as v{i}")
    table = response_table(before.survey_id)
    return f"select {', '.join(columns)}, n, weight, weight_sq from {table}"  # noqa: S608


def _codes_now(variable: Variable, former: Former) -> list[int]:
    code_of = variable.codes_of_levels()
    apart = {"blank": variable.blank_code, "structural": variable.structural_code}
    return [
        apart[kind] if kind in apart else code_of[kind, label]
        for kind, label, *_ in former.levels
    ]


def count_codes(steps: Steps, table: str, variables: Sequence[Variable]) -> None:
    """Set how many respondents of the whole survey gave each level of each variable."""
    for variable in variables:
        variable.n_of_code = {}
    cells = {i: f"cast(v{i} as integer)" for i in range(1, len(variables) + 1)}
    query = counting(cells, table, "n", most_sets=sets_in_memory(steps))
    for ordinal, code, n in steps.rows(query):
        of_code = variables[ordinal - 1].n_of_code
        if of_code is not None:
            of_code[int(code)] = int(n)


def supersede(catalog: sa.Connection, before: Before) -> None:
    """Set the variables of the former rows apart: for the trees made of them, or for good."""
    survey_id = before.survey_id
    of_survey = schema.event_tree.c.survey_id == survey_id
    if not catalog.execute(sa.select(sa.exists().where(of_survey))).scalar_one():
        drop_variables(catalog, survey_id)
        return
    kept_id = new_id(catalog, "survey")
    kept = {key: value for key, value in before.row.items() if key != "is_stale"}
    name = claim_name(
        catalog, "survey", None, f"{before.row['name']} (former rows)", replace=False
    )
    write(
        catalog,
        "survey",
        {**kept, "survey_id": kept_id, "name": name, "superseded_by": survey_id},
    )
    moved = {"survey_id": kept_id}
    catalog.execute(sa.update(schema.event_tree).where(of_survey).values(**moved))
    of_survey = schema.variable.c.survey_id == survey_id
    catalog.execute(sa.update(schema.variable).where(of_survey).values(**moved))


def settings_with(before: Before, made: dict[str, Any]) -> dict[str, Any]:
    """Return the settings to record: what was said of absent columns is not forgotten."""
    said = before.settings
    return {
        **made,
        "decimal": said.get("decimal", "."),
        "source_column": said.get("source_column"),
        "gates": said.get("gates", {}) | made["gates"],
        "quantiles": said.get("quantiles", {}) | made["quantiles"],
    }


def receipt_with(before: Before, receipt: dict[str, Any], source: str) -> dict[str, Any]:
    """Return the receipt of a survey to which a file was appended.

    Rows and weights are added up, cells and patterns are those of all rows; what was noticed
    is that of ``last``, the file just read; ``earlier`` has the same of those before it.
    """
    former: dict[str, Any] = dict(before.row["summary"])
    first = {"source": before.row["source"], **{key: former.get(key) for key in _OF_FILE}}
    apart: dict[str, dict[str, int]] = {}
    for name, of_name in [
        *former.get("declared_labels", {}).items(),
        *receipt["declared_labels"].items(),
    ]:
        for label, n in of_name.items():
            of_both = apart.setdefault(name, {})
            of_both[label] = of_both.get(label, 0) + n
    dropped = dict(former["rows_dropped"])
    for why, n in receipt["rows_dropped"].items():
        dropped[why] = dropped.get(why, 0) + n
    return {
        **receipt,
        **{key: former[key] + receipt[key] for key in _SUMMED},
        "rows_dropped": dropped,
        "declared_labels": apart,
        "weights": _both(former["weights"], receipt) if receipt["weights"] else None,
        "last": {"source": source, **{key: receipt[key] for key in _OF_FILE}},
        "earlier": [*former.get("earlier", []), former.get("last", first)],
    }


def _both(former: Mapping[str, Any], receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of the weights of both, as `check_weights` says it of one."""
    if not receipt["rows_kept"]:
        return dict(former)
    later = receipt["weights"]
    sums, least, most = (
        [Decimal(former[key]), Decimal(later[key])] for key in ("sum", "smallest", "largest")
    )
    return {
        **{key: former[key] for key in ("column", "kept_times") if key in former},
        "sum": plain(sum(sums, Decimal(0))),
        "smallest": plain(min(least)),
        "largest": plain(max(most)),
        **{
            key: former[key] + later[key]
            for key in ("rows_of_weight_0", "rows_kept_to_12_decimals")
        },
    }


def new_labels(before: Before, variables: Sequence[Variable]) -> list[str]:
    """Return a hint for each variable that has answers which its former rows had not."""
    hints = []
    for variable in variables:
        if variable.name not in before.variables:
            continue
        known = before.variables[variable.name].labels("value")
        new = [label for label in dict.fromkeys(variable.values) if label not in set(known)]
        if known and new:
            hints.append(
                f"{variable.name!r} has answers that were not there before: "
                f"{listed(map(repr, new))}"
            )
    return hints
