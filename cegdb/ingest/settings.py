"""The options of an ingest, checked against the source's columns before any work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cegdb.errors import SurveyError, items_of, listed
from cegdb.findings import Finding
from cegdb.ingest.codebook.codebook import CodebookEntry, load_codebook
from cegdb.ingest.coding.bins import bins_of, plain
from cegdb.ingest.coding.variables import Variable
from cegdb.ingest.files.cell_labels import abbreviated, label_list
from cegdb.ingest.files.relation import find_columns, number_text, refuse_duplicates
from cegdb.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.ingest.codebook.codebook import Codebook
    from cegdb.ingest.files.relation import Relation
    from cegdb.options import IngestOptions, Labels


@dataclass(frozen=True)
class Settings:
    """Checked settings: every name found, every label as text."""

    variables: dict[str, Variable]
    cells: dict[str, str]
    count: str | None
    weight: str | None
    cluster: str | None
    source_column: str | None
    decimal: str
    structural: dict[str, list[str]]
    missing: dict[str, list[str]]
    column_in_source: dict[str, str]
    gates: dict[str, str]
    findings: list[Finding]
    all_columns: bool
    labels_for_all: dict[str, list[str]]
    entries_without_column: dict[str, CodebookEntry]
    weight_exponent: int = 0

    @property
    def count_text(self) -> str:
        """The SQL of the count as text, NULL for a blank."""
        return self._number_text(self.count)

    @property
    def weight_text(self) -> str:
        """The SQL of the weight as text, NULL for a blank."""
        return self._number_text(self.weight)

    def _number_text(self, column: str | None) -> str:
        if column is None:
            # DuckDB 1 takes a bare null for an integer, which texts cannot be compared with.
            return "cast(null as varchar)"
        return number_text(self.cells[column], self.decimal)

    def as_json(self) -> dict[str, object]:
        """Return what makes the same survey again: its columns and codebook."""
        entries = {name: entry.as_json() for name, entry in self.entries_without_column.items()}
        entries |= {name: v.entry.as_json() for name, v in self.variables.items()}
        quantiles = {
            name: [plain(cut) for cut in variable.entry.bins.cuts or ()]
            for name, variable in self.variables.items()
            if variable.entry.bins is not None and variable.entry.bins.quantiles
        }
        return {
            "columns": list(self.variables),
            "codes": {
                name: levels
                for name, variable in self.variables.items()
                if (levels := _levels_of_several_texts(variable))
            },
            "all_columns": self.all_columns,
            "count": self.count,
            "weight": self.weight,
            **({"weight_exponent": self.weight_exponent} if self.weight_exponent else {}),
            "cluster": self.cluster,
            "source_column": self.source_column,
            "decimal": self.decimal,
            "gates": self.gates,
            "quantiles": quantiles,
            **self.labels_for_all,
            "same": [g for v in self.variables.values() for g in v.entry.same],
            "variables": {name: entry for name, entry in entries.items() if entry},
        }


def check_settings(relation: Relation, options: IngestOptions) -> Settings:
    """Find every column and label of the options in a source, or refuse what is not there."""
    where, names, book = relation.title, relation.columns, load_codebook(options.codebook)
    roles = _find_roles(relation, options, book)
    columns = options.columns if options.columns is not None else book.columns
    chosen, column_in_source = _choose_columns(relation, columns, roles)
    structural = _labels_of(options.structural, chosen, "structural")
    missing = _labels_of(options.missing, chosen, "missing")
    levels = _labels_of(options.levels, chosen, "levels")
    empty = [name for name, labels in levels.items() if not labels]
    if empty:
        raise SurveyError(f"levels of {empty[0]!r} is empty", hint="give at least one label")
    entries, entries_without_column, findings = _entries(book, names, where)
    for name, bins in _items(options.bins, chosen, "bins"):
        entries[name] = replace(
            entries.get(name, CodebookEntry()), bins=bins_of(bins, repr(name))
        )
    gates = dict(_items(book.gates, chosen, "gates"))
    gated = set(gates)
    variables = {}
    for name in chosen:
        entry = entries.get(name, CodebookEntry())
        variables[name] = Variable(
            name,
            replace(
                entry,
                structural=list(dict.fromkeys([*entry.structural, *structural.get(name, [])])),
                missing={**dict.fromkeys(missing.get(name, [])), **entry.missing},
                levels=levels.get(name, entry.levels),
            ),
            relation.metadata.get(name),
            options.decimal,
            is_gated=name in gated,
        )
    return Settings(
        variables,
        dict(zip(names, relation.cells, strict=True)),
        roles.count,
        roles.weight,
        roles.cluster,
        relation.source_column,
        options.decimal,
        structural,
        missing,
        column_in_source,
        {name: str(rule) for name, rule in gates.items()},
        findings,
        columns is None,
        {
            setting: _label_list(labels, setting)
            for setting, labels in (
                ("structural", options.structural),
                ("missing", options.missing),
            )
            if labels and not isinstance(labels, Mapping)
        },
        entries_without_column,
    )


@dataclass(frozen=True)
class _Roles:
    """The columns that are no variables, as the source names them."""

    count: str | None
    weight: str | None
    cluster: str | None


def _find_roles(relation: Relation, options: IngestOptions, book: Codebook) -> _Roles:
    names = (
        options.count if options.count is not None else book.count,
        options.weight if options.weight is not None else book.weight,
        options.cluster,
    )
    roles = _Roles(
        *(
            None
            if name is None
            else find_columns(relation.columns, [name], relation.title, word="column")[0]
            for name in names
        )
    )
    if roles.count is not None and roles.count == roles.weight:
        raise SurveyError(f"{roles.count!r} cannot be both the count and the weight")
    return roles


def _choose_columns(
    relation: Relation, columns: object, roles: _Roles
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to be variables, and those that the user spelled otherwise.

    Without a choice they are all that have no other role.
    """
    names, where = relation.columns, relation.title
    column_in_source: dict[str, str] = {}
    if columns is None:
        others = (roles.count, roles.weight, roles.cluster)
        chosen = [name for name in names if name not in others]
    else:
        wanted = items_of(
            columns, "columns", SurveyError, hint="give a list of names", in_order=True
        )
        chosen = find_columns(names, wanted, where, word="column")
        column_in_source = {
            str(name): column
            for name, column in zip(wanted, chosen, strict=True)
            if str(name) != column
        }
    if relation.source_column is not None and relation.source_column not in chosen:
        chosen = [relation.source_column, *chosen]
    _check_names(chosen, relation)
    for column, role in ((roles.count, "count"), (roles.weight, "weight")):
        if column is not None and column in chosen:
            raise SurveyError(f"{column!r} cannot be both the {role} and a variable")
        if column is not None:
            refuse_duplicates([column], names, where)
    return chosen, column_in_source


def _levels_of_several_texts(variable: Variable) -> list[list[object]]:
    """Return kind, label and texts of the levels that stand for several texts."""
    return [
        [*level, texts] for level, texts in variable.texts_of_levels().items() if len(texts) > 1
    ]


def _check_names(chosen: list[str], relation: Relation) -> None:
    where, names = relation.title, relation.columns
    refuse_duplicates(chosen, names, where, hint="rename them, or leave them out with columns")
    if len(set(chosen)) < len(chosen):
        repeated = sorted({name for name in chosen if chosen.count(name) > 1})
        raise SurveyError(f"columns lists {listed(map(repr, repeated))} more than once")
    if not chosen:
        raise SurveyError(f"{where} has no column left to be a variable")
    if "" in chosen:
        number = names.index("") + (relation.source_column is None)
        raise SurveyError(
            f"column {number} of {where} has no name",
            hint="name it, or leave it out with columns",
        )


def _entries(
    book: Codebook, names: Sequence[str], where: str
) -> tuple[dict[str, CodebookEntry], dict[str, CodebookEntry], list[Finding]]:
    """Return the codebook's entries by column, those of no column, and findings on these."""
    entries: dict[str, CodebookEntry] = {}
    entries_without_column: dict[str, CodebookEntry] = {}
    findings = []
    for name, entry in book.variables.items():
        try:
            (column,) = find_columns(names, [name], where)
        except SurveyError:
            close = did_you_mean(name, names)
            sentence = f"the codebook describes {name!r}, which is not a column of {where}"
            findings.append(Finding("columns", sentence, close or None))
            entries_without_column[name] = entry
            continue
        if column in entries:
            raise SurveyError(f"the codebook describes {column!r} twice")
        entries[column] = entry
    return entries, entries_without_column, findings


def _items(
    by_name: Mapping[str, object] | None, chosen: list[str], setting: str
) -> list[tuple[str, object]]:
    """Return variables and values, every name found among the chosen ones."""
    if by_name is None:
        return []
    if not isinstance(by_name, Mapping):
        raise SurveyError(
            f"{setting} must be a mapping, not {abbreviated(repr(by_name))}",
            hint="give a value for each variable",
        )
    items: list[tuple[str, object]] = []
    for name, value in by_name.items():
        column = find_columns(chosen, [name], "the survey", setting=setting)[0]
        if column in dict(items):
            raise SurveyError(f"{setting} lists {column!r} more than once")
        items.append((column, value))
    return items


def _labels_of(labels: Labels | None, chosen: list[str], setting: str) -> dict[str, list[str]]:
    """Return the labels of each variable, from one list for all or from a mapping."""
    if labels is None:
        return {}
    if isinstance(labels, Mapping):
        items = _items(labels, chosen, setting)
        return {name: _label_list(each, f"{setting} of {name!r}") for name, each in items}
    labels_for_all = _label_list(labels, setting)
    return dict.fromkeys(chosen, labels_for_all) if labels_for_all else {}


def _label_list(labels: object, setting: str) -> list[str]:
    items = items_of(labels, setting, SurveyError, hint="give a list of labels")
    return label_list(items, setting)
