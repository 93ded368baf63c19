"""A Bayesian network: variables with their labels, parents and conditional tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Final

from cegdb.errors import NetworkError, counted, items_of, listed
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROUNDING: Final = 1e-4
"""Rows of a table whose sum is this close to 1 are divided by it."""
_EXACT: Final = 1e-12

MAX_ROWS: Final = 1_000_000
"""The largest table, in rows, that is written out row by row."""


@dataclass(frozen=True)
class Network:
    """A Bayesian network, or (without tables) its structure.

    Attributes
    ----------
    name
        What it is called.
    parents
        Variable -> its parents, in the order of the rows of its table.
    levels
        Variable -> its labels; empty if only the structure is known.
    tables
        Variable -> labels of its parents -> probabilities of its labels. Rows that cannot
        occur may be left out.
    """

    name: str
    parents: Mapping[str, Sequence[str]]
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[tuple[str, ...], Sequence[float]]] = field(
        default_factory=dict
    )

    def order(self, wanted: Sequence[str] | None = None) -> list[str]:
        """Return the variables, parents first: as wanted, else close to the declared order."""
        default = self._sorted()
        if wanted is None:
            return default
        hint = "an order with parents first: " + listed(map(repr, default), most=40)
        order = [str(name) for name in items_of(wanted, "order", NetworkError, hint=hint)]
        wrong = sorted(set(order) ^ set(default)) or sorted(
            name for name in set(order) if order.count(name) > 1
        )
        if wrong:
            raise NetworkError(
                "the order must name each variable of the network once; check "
                f"{listed(map(repr, wrong))}",
                hint=hint,
            )
        index = {name: i for i, name in enumerate(order)}
        for name in order:
            late = [parent for parent in self.parents[name] if index[parent] > index[name]]
            if late:
                raise NetworkError(
                    f"the order puts {name!r} before its parent {late[0]!r}", hint=hint
                )
        return order

    def _sorted(self) -> list[str]:
        n_left = {name: len(parents) for name, parents in self.parents.items()}
        children: dict[str, list[str]] = {name: [] for name in self.parents}
        for name, parents in self.parents.items():
            for parent in parents:
                children[parent].append(name)
        order: list[str] = []
        while len(order) < len(self.parents):
            ready = next((name for name, n in n_left.items() if n == 0), None)
            if ready is None:
                raise NetworkError(
                    f"network {self.name!r} has a cycle among {listed(map(repr, n_left))}",
                    hint="a Bayesian network has no cycles: remove an edge",
                )
            order.append(ready)
            del n_left[ready]
            for child in children[ready]:
                n_left[child] -= 1
        return order

    def n_rows(self, name: str) -> int:
        """Return how many combinations of labels the parents of a variable have."""
        return math.prod(len(self.levels[parent]) for parent in self.parents[name])

    def rows(self, name: str) -> Iterator[tuple[tuple[str, ...], Sequence[float] | None]]:
        """Yield each combination of labels of a variable's parents, and its row if any."""
        table = self.tables[name]
        for given in product(*(self.levels[parent] for parent in self.parents[name])):
            yield given, table.get(given)


def normalised(network: Network) -> Network:
    """Return a network whose tables have rows that add to 1; refuse one without tables."""
    bare = [name for name in network.parents if name not in network.tables]
    if bare:
        raise NetworkError(
            f"network {network.name!r} has no probabilities of {listed(map(repr, bare))}",
            hint="give conditional tables; or use the structure alone on data: "
            "tree.set_stages(network)",
        )
    tables = {}
    for name in network.parents:
        _check_labels(name, network.levels[name])
        if network.n_rows(name) > MAX_ROWS:
            raise NetworkError(
                f"the table of {name!r} has {network.n_rows(name):,} rows, more than "
                f"{MAX_ROWS:,}",
                hint="such a network is too large for a tree",
            )
        rows = {}
        for given, row in network.rows(name):
            where = _where(network, name, given)
            if row is None and given:
                continue  # the parents may never have these labels at once
            if row is None:
                raise NetworkError(
                    f"there are no probabilities of {where}", hint="give one for each label"
                )
            if len(row) != len(network.levels[name]):
                labels = counted(len(network.levels[name]), "label")
                raise NetworkError(
                    f"{where} has {labels} but {counted(len(row), 'probability')}",
                    hint="give one for each label",
                )
            rows[given] = normalised_row(row, where)
        tables[name] = rows
    return Network(network.name, network.parents, network.levels, tables)


def normalised_row(row: Sequence[float], where: str) -> list[float]:
    """Return numbers as probabilities that add to 1; refuse what cannot be such."""
    bad = [value for value in row if not 0 <= value <= 1]
    if bad:
        raise NetworkError(f"a probability of {where} must be from 0 to 1, not {bad[0]:g}")
    total = math.fsum(row)
    if not abs(total - 1) <= ROUNDING:
        raise NetworkError(
            f"probabilities of {where} sum to {total:g}",
            hint=f"they must sum to 1, within {ROUNDING:g}",
        )
    if abs(total - 1) <= _EXACT:
        return [float(value) for value in row]
    return [value / total for value in row]


def _where(network: Network, name: str, given: Sequence[str]) -> str:
    conditions = [
        f"{parent} = {label!r}"
        for parent, label in zip(network.parents[name], given, strict=True)
    ]
    return f"{name!r} given {', '.join(conditions)}" if conditions else repr(name)


def _check_labels(name: str, labels: Sequence[str]) -> None:
    if not labels:
        raise NetworkError(f"{name!r} has no labels", hint="list the labels of each variable")
    twice = sorted({label for label in labels if list(labels).count(label) > 1})
    if twice:
        raise NetworkError(
            f"{name!r} has label {twice[0]!r} more than once", hint="list each label once"
        )
    if "" in labels:
        raise NetworkError(f"{name!r} has an empty label", hint="give it a name")
    if NOT_APPLICABLE in labels:
        raise NetworkError(
            f"{name!r} has the label {NOT_APPLICABLE!r}, which is reserved for variables "
            "that do not apply",
            hint="rename it",
        )
