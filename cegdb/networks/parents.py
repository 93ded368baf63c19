"""The smallest Bayesian network that contains a staged tree, and the kinds of its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.networks.bayesian_network import Network
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cegdb.store import Store

EdgeKind: TypeAlias = Literal["total", "local", "context", "partial", "context/partial"]

_INAPPLICABLE: Final = -1


@dataclass(frozen=True)
class Family:
    """A variable, its parents, and its stage for each combination of their labels.

    Attributes
    ----------
    before
        The variables before it in the tree.
    parents, kinds
        In the order of the tree; the kind of each edge: see `find_families`.
    is_unique
        Whether no other set of parents without a needless one would do.
    levels
        Labels of the parents, one list each.
    answers
        Shape (combinations, parents): indexes in ``levels``, of combinations that count.
    stage
        What stage is met in each: equal numbers are equal stages.
    n, mass
        Rows to which the variable applies there, and their probability.
    """

    variable: str
    before: list[str]
    parents: list[str]
    kinds: list[EdgeKind]
    is_unique: bool
    levels: list[list[str]]
    answers: NDArray[np.int64]
    stage: NDArray[np.int64]
    n: NDArray[np.int64]
    mass: NDArray[np.float64]


def find_families(store: Store, staging_id: int) -> list[Family]:
    """Return each variable of a staged tree with its parents, in the order of the tree.

    A parent is a variable without which some histories that differ in it alone could not be
    told apart, though their stages differ [1]_; ``not applicable`` is a label. The kind of an
    edge says how the stage depends on the parent, the other parents being fixed:
    ``"total"``, it differs for any two labels; ``"context"``, in some contexts it does not
    depend on it; ``"partial"``, in some it is the same for some labels, not for all;
    ``"context/partial"``, both; ``"local"``, as total, but some stage is met with several
    labels of the parent (and other labels of the others).

    Where all combinations of answers occur the parents are unique. Elsewhere (structural
    zeros, histories without rows) ``is_unique`` says whether others would do.

    References
    ----------
    .. [1] G. Varando, F. Carli and M. Leonelli (2024), Staged trees and asymmetry-labeled
       DAGs, Metrika.
    """
    with store.reading() as con, Steps(con) as steps:
        histories = _Histories(store, staging_id, steps)
        return [histories.family(index) for index in range(1, len(histories.order) + 1)]


def smallest_network(store: Store, staging_id: int) -> tuple[Network, list[Family]]:
    """Return the smallest Bayesian network that contains a staged tree, and its families.

    A row of a table is left out where the parents never have these labels at once.
    """
    with store.reading() as con, Steps(con) as steps:
        return _Histories(store, staging_id, steps).network()


class _Histories:
    """The histories of answers in a staged tree: temp tables, and what their ids mean."""

    def __init__(self, store: Store, staging_id: int, steps: Steps) -> None:
        with store.catalog() as catalog:
            staging = row(catalog, "staging", staging_id)
            tree = row(catalog, "tree", staging["tree_id"])
        self.name = str(staging["name"])
        self.order: list[str] = list(tree["settings"]["order"])
        self._steps = steps
        ids: dict[str, int] = {
            str(name): int(variable_id)
            for name, variable_id in steps.rows(
                "select name, variable_id from cegdb.variable where survey_id = $survey_id",
                {"survey_id": tree["survey_id"]},
            )
        }
        variable_ids = [ids[name] for name in self.order]
        of_tree = {
            "tree_id": tree["tree_id"],
            "staging_id": staging_id,
            "variable_ids": variable_ids,
        }
        steps.run("network_edge", **of_tree)
        steps.run("history_stage", is_empty=tree["n"] == 0, **of_tree)
        self.levels: dict[int, dict[int, str]] = {i: {} for i in range(1, len(self.order) + 1)}
        for index, label_id, label in steps.fetch(
            "network_level", survey_id=tree["survey_id"], variable_ids=variable_ids
        ):
            self.levels[index][label_id] = label
        for (index,) in steps.fetch("inapplicable_variable"):
            self.levels[index][_INAPPLICABLE] = NOT_APPLICABLE

    def network(self) -> tuple[Network, list[Family]]:
        """Return the network, its tables and its families."""
        # Tables are the probabilities of the stage, wherever the parents determine it. They do
        # but for histories that do not count; there it is the mean over the histories, weighted
        # by their probability: of all networks with these parents the one nearest to the staged
        # tree by relative entropy.
        indexes = range(1, len(self.order) + 1)
        families = [self.family(index) for index in indexes]
        return (
            Network(
                self.name,
                {family.variable: family.parents for family in families},
                {self.order[index - 1]: list(self.levels[index].values()) for index in indexes},
                {
                    family.variable: self._table(index, family)
                    for index, family in zip(indexes, families, strict=True)
                },
            ),
            families,
        )

    def family(self, index: int) -> Family:
        """Return a variable with its parents."""
        import numpy as np

        parents, is_unique = self._parents(index)
        configurations = self._steps.fetch(
            "parent_configuration", variable_index=index, parents=parents
        )
        rows = [row for row in configurations if row[1] is not None]
        index_of = [
            {label_id: i for i, label_id in enumerate(self.levels[parent])}
            for parent in parents
        ]
        answers = np.array(
            [[p[a] for p, a in zip(index_of, answers, strict=True)] for answers, *_ in rows],
            dtype=np.int64,
        ).reshape(len(rows), len(parents))
        stage = np.array([row[1] for row in rows], dtype=np.int64)
        return Family(
            self.order[index - 1],
            self.order[: index - 1],
            [self.order[parent - 1] for parent in parents],
            [edge_kind(answers, stage, column) for column in range(len(parents))],
            is_unique,
            [list(self.levels[parent].values()) for parent in parents],
            answers,
            stage,
            np.array([row[2] for row in rows], dtype=np.int64),
            np.array([row[3] for row in rows], dtype=np.float64),
        )

    def _parents(self, index: int) -> tuple[list[int], bool]:
        """Return the indexes of the parents, and whether no others would do."""
        before = list(range(1, index))
        needed = [
            one for one in before if not self._suffice(index, [i for i in before if i != one])
        ]
        if self._suffice(index, needed):
            return needed, True
        # Some labels never occur together: leave out one variable after another, in the order
        # of the tree, as long as stages are still told apart.
        parents = before
        for one in before:
            fewer = [i for i in parents if i != one]
            if one not in needed and self._suffice(index, fewer):
                parents = fewer
        return parents, False

    def _suffice(self, index: int, parents: list[int]) -> bool:
        """Return whether the answers to these variables determine the stage of another."""
        ((has_conflict,),) = self._steps.fetch(
            "stage_conflict", variable_index=index, parents=parents
        )
        return not has_conflict

    def _table(self, index: int, family: Family) -> dict[tuple[str, ...], list[float]]:
        parents = [self.order.index(parent) + 1 for parent in family.parents]
        labels = list(self.levels[index])
        rows: dict[tuple[str, ...], list[float]] = {}
        for answers, label_id, probability in self._steps.fetch(
            "parent_probability", variable_index=index, parents=parents
        ):
            given = tuple(
                self.levels[parent][answer]
                for parent, answer in zip(parents, answers, strict=True)
            )
            row = rows.setdefault(given, [0.0] * len(labels))
            row[labels.index(label_id)] = probability
        return rows


def edge_kind(answers: NDArray[np.int64], stage: NDArray[np.int64], column: int) -> EdgeKind:
    """Return how a stage depends on one parent, the others being fixed."""
    import numpy as np

    _, n_answers, n_stages = group_by_others(answers, stage, column)
    several = n_answers > 1
    is_context = bool((several & (n_stages == 1)).any())
    is_partial = bool((several & (n_stages > 1) & (n_stages < n_answers)).any())
    if is_context or is_partial:
        return (
            "context/partial"
            if is_context and is_partial
            else ("context" if is_context else "partial")
        )
    met = np.unique(np.column_stack([answers[:, column], stage]), axis=0)
    return "total" if len(met) == len(np.unique(stage)) else "local"


def group_by_others(
    answers: NDArray[np.int64], stage: NDArray[np.int64], column: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group combinations by the labels of all parents but one.

    For each group: the labels of the other parents, how many labels of the one parent occur,
    and how many stages.
    """
    import numpy as np

    others = np.delete(answers, column, axis=1)
    if others.shape[1]:
        keys, group = np.unique(others, axis=0, return_inverse=True)
        group = group.reshape(-1)
    else:
        keys, group = others[:1], np.zeros(len(answers), dtype=np.int64)
    met = np.unique(np.column_stack([group, stage]), axis=0)
    return (
        keys,
        np.bincount(group, minlength=len(keys)),
        np.bincount(met[:, 0], minlength=len(keys)),
    )
