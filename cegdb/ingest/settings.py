"""What an ingest was asked for, checked against the source's columns before any work."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cegdb.errors import SurveyError, items_of, listed
from cegdb.ingest.codebook.codebook import Codebook, Entry
from cegdb.ingest.coding.bins import bins_of, plain
from cegdb.ingest.coding.variables import Variable
from cegdb.ingest.files.cell_labels import label_of, shown
from cegdb.ingest.files.relation import find_columns

if TYPE_CHECKING:
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
    found_as: dict[str, str]
    gates: dict[str, str]
    hints: list[str]
    all_columns: bool
    everywhere: dict[str, list[str]]
    absent: dict[str, Entry]
    weight_exponent: int = 0

    @property
    def written(self) -> str:
        """The SQL of the count as text, NULL for a blank."""
        return self._number(self.count)

    @property
    def weighed(self) -> str:
        """The SQL of the weight as text, NULL for a blank."""
        return self._number(self.weight)

    def _number(self, column: str | None) -> str:
        if column is None:
            return "null"
        text = f"trim({self.cells[column]})"
        if self.decimal != ".":
            text = f"replace({text}, '{self.decimal}', '.')"
        return f"nullif({text}, '')"

    def as_json(self) -> dict[str, object]:
        """Return what makes the same survey again: its columns and codebook."""
        entries = {name: entry.as_json() for name, entry in self.absent.items()}
        entries |= {name: v.entry.as_json() for name, v in self.variables.items()}
        quantiles = {
            name: [plain(cut) for cut in variable.entry.bins.cuts or ()]
            for name, variable in self.variables.items()
            if variable.entry.bins is not None and variable.entry.bins.quantiles
        }
        return {
            "columns": list(self.variables),
            "codes": {
                name: several
                for name, variable in self.variables.items()
                if (several := _several(variable))
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
            **self.everywhere,
            "same": [g for v in self.variables.values() for g in v.entry.same],
            "variables": {name: entry for name, entry in entries.items() if entry},
        }


def settled(relation: Relation, request: IngestOptions, book: Codebook) -> Settings:
    """Check every setting against the columns of a source.

    Raises
    ------
    SurveyError
        A name is not found or fits several columns, a list is none, a column is asked for
        twice or has no name.
    """
    where, names = relation.shown, relation.columns
    columns = request.columns if request.columns is not None else book.columns
    asked: list[object] = []
    if columns is not None:
        asked = items_of(
            columns, "columns", SurveyError, hint="give a list of names", in_order=True
        )
    count = request.count if request.count is not None else book.count
    count_column = None if count is None else find_columns(names, [count], where)[0]
    weight = request.weight if request.weight is not None else book.weight
    weight_column = None if weight is None else find_columns(names, [weight], where)[0]
    cluster_column = None
    if request.cluster is not None:
        cluster_column = find_columns(names, [request.cluster], where)[0]
    if columns is None:
        others = (count_column, weight_column, cluster_column)
        chosen = [name for name in names if name not in others]
    else:
        chosen = find_columns(names, asked, where)
    found_as = {
        str(name): found
        for name, found in zip(asked, chosen, strict=False)
        if str(name) != found
    }
    if relation.source_column is not None and relation.source_column not in chosen:
        chosen = [relation.source_column, *chosen]
    _check_names(chosen, relation)
    for column, what in ((count_column, "count"), (weight_column, "weight")):
        if column is not None and column in chosen:
            raise SurveyError(f"{column!r} cannot be the {what} and a variable")
        if column is not None and names.count(column) > 1:
            raise SurveyError(f"{where} has several columns called {column!r}")
    if count_column is not None and count_column == weight_column:
        raise SurveyError(f"{count_column!r} cannot be the count and the weight")
    structural = _labels(request.structural, chosen, "structural")
    missing = _labels(request.missing, chosen, "missing")
    levels = _labels(request.levels, chosen, "levels")
    empty = [name for name, labels in levels.items() if not labels]
    if empty:
        raise SurveyError(f"levels of {empty[0]!r} lists no label")
    entries, absent, hints = _entries(book, names, where)
    for name, bins in _items(request.bins, chosen, "bins"):
        entries[name] = replace(entries.get(name, Entry()), bins=bins_of(bins, repr(name)))
    gates = dict(_items(book.gates, chosen, "gates"))
    gated = set(gates)
    variables = {}
    for name in chosen:
        entry = entries.get(name, Entry())
        variables[name] = Variable(
            name,
            replace(
                entry,
                structural=list(dict.fromkeys([*entry.structural, *structural.get(name, [])])),
                missing={**dict.fromkeys(missing.get(name, [])), **entry.missing},
                levels=levels.get(name, entry.levels),
            ),
            relation.known.get(name),
            request.decimal,
            is_gated=name in gated,
        )
    return Settings(
        variables,
        dict(zip(names, relation.cells, strict=True)),
        count_column,
        weight_column,
        cluster_column,
        relation.source_column,
        request.decimal,
        structural,
        missing,
        found_as,
        {name: str(rule) for name, rule in gates.items()},
        hints,
        columns is None,
        {
            what: _texts(labels, what)
            for what, labels in (
                ("structural", request.structural),
                ("missing", request.missing),
            )
            if labels and not isinstance(labels, Mapping)
        },
        absent,
    )


def _several(variable: Variable) -> list[list[object]]:
    """Return kind, label and texts of the levels that do not stand for one text."""
    return [
        [*cell, texts] for cell, texts in variable.texts_of_levels().items() if len(texts) > 1
    ]


def _check_names(chosen: list[str], relation: Relation) -> None:
    where, names = relation.shown, relation.columns
    twice = sorted({name for name in chosen if names.count(name) > 1})
    if twice:
        raise SurveyError(
            f"{where} has several columns called {listed(map(repr, twice))}",
            hint="rename them, or choose columns",
        )
    if len(set(chosen)) < len(chosen):
        again = sorted({name for name in chosen if chosen.count(name) > 1})
        raise SurveyError(f"columns names {listed(map(repr, again))} more than once")
    if not chosen:
        raise SurveyError(f"{where} has no column left to be a variable")
    if "" in chosen:
        at = names.index("") + (relation.source_column is None)
        raise SurveyError(
            f"column {at} of {where} has no name", hint="name it, or choose columns"
        )


def _entries(
    book: Codebook, names: Sequence[str], where: str
) -> tuple[dict[str, Entry], dict[str, Entry], list[str]]:
    """Return the codebook's entries by column, those of no column, and hints about these."""
    entries: dict[str, Entry] = {}
    absent: dict[str, Entry] = {}
    hints = []
    for name, entry in book.variables.items():
        try:
            (found,) = find_columns(names, [name], where)
        except SurveyError:
            near = difflib.get_close_matches(name, names, n=1)
            ask = f"; did you mean {near[0]!r}?" if near else ""
            hints.append(f"the codebook describes {name!r}, which is no column of {where}{ask}")
            absent[name] = entry
            continue
        if found in entries:
            raise SurveyError(f"the codebook describes {found!r} twice")
        entries[found] = entry
    return entries, absent, hints


def _items(
    given: Mapping[str, object] | None, chosen: list[str], setting: str
) -> list[tuple[str, object]]:
    """Return variable and value, every name found among the chosen ones."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise SurveyError(f"{setting} is {shown(repr(given))}", hint="give variable -> value")
    items: list[tuple[str, object]] = []
    for name, value in given.items():
        found = find_columns(chosen, [name], f"the variables ({setting})")[0]
        if found in dict(items):
            raise SurveyError(f"{setting} names {found!r} more than once")
        items.append((found, value))
    return items


def _labels(given: Labels | None, chosen: list[str], setting: str) -> dict[str, list[str]]:
    """Return variable -> labels as text, for a list (all variables) or a mapping."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        items = _items(given, chosen, setting)
        return {name: _texts(labels, f"{setting} of {name!r}") for name, labels in items}
    plain = _texts(given, setting)
    return dict.fromkeys(chosen, plain) if plain else {}


def _texts(labels: object, setting: str) -> list[str]:
    """Return a list of labels as text, refusing what is none."""
    items = items_of(labels, setting, SurveyError, hint="give a list of labels")
    texts = [label_of(label) for label in items]
    plain = [text for text in texts if text is not None]
    if len(plain) < len(texts):
        raise SurveyError(
            f"{setting} lists a blank, which is no label",
            hint="how blanks count is decided by blank= of the event tree",
        )
    if len(set(plain)) < len(plain):
        raise SurveyError(f"{setting} lists a label twice: {listed(plain)}")
    return plain
