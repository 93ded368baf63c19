"""The smallest Bayesian network that holds a staged tree, and what the tree says beyond it."""

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

_NOT_ASKED: Final = -1


@dataclass(frozen=True)
class Family:
    """A variable, its parents, and its stage for each combination of their labels.

    Attributes
    ----------
    variable, before
        The variable, and those before it in the tree.
    parents, kinds
        In the order of the tree; the kind of each edge: see `find_families`.
    is_unique
        Whether no other set of parents without a needless one would do.
    levels
        Labels of the parents, one list each.
    answers
        Shape (combinations, parents): places in ``levels``; combinations that count.
    stage
        What of the stages is met in each: equal numbers are equal stages.
    n, mass
        Rows that are asked the variable there, and the probability of being asked.
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

    Parameters
    ----------
    store, staging_id
        The staging.

    Returns
    -------
    list of Family
        A parent is a variable without which some histories that differ in it alone could
        not be told apart, though their stages differ [1]_. That a variable is not asked is
        a label of it, ``not applicable``. The kind of an edge tells how the stage depends on
        the parent, the other parents being fixed: ``"total"``, it differs for any two
        labels; ``"context"``, in some contexts it does not depend on it; ``"partial"``, in
        some contexts it is the same for some labels, not for all; ``"context/partial"``,
        both; ``"local"``, as total, but some stage is met with several labels of the parent
        (and other labels of the others).

    Notes
    -----
    Where all combinations of answers occur the parents are unique. Elsewhere (structural
    zeros, histories that no row has, which do not count) variables are left out one after
    another, in the order of the tree, as long as stages can be told apart; ``is_unique``
    tells whether another order could end with others. k^2 statements that group the
    histories once, for k variables.

    References
    ----------
    .. [1] G. Varando, F. Carli and M. Leonelli (2024), Staged trees and asymmetry-labeled
       DAGs, Metrika.

    Examples
    --------
    >>> import cegdb
    >>> rows = "select i % 2 as x, i // 2 % 2 as y, i % 5 = 0 as z from range(40) t(i)"
    >>> with cegdb.open() as db:
    ...     staged = db.ingest(rows).event_tree().set_stages(depends={"z": ["y"], "y": []})
    ...     [(f.variable, f.parents) for f in find_families(db._store, staged.id)]
    [('x', []), ('y', []), ('z', ['y'])]
    """
    with store.reading() as con, Steps(con) as steps:
        histories = _Histories(store, staging_id, steps)
        return [histories.family(place) for place in range(1, len(histories.order) + 1)]


def smallest_network(store: Store, staging_id: int) -> tuple[Network, list[Family]]:
    """Return the smallest Bayesian network that holds a staged tree, and its families.

    Its tables are the probabilities of a variable given its parents in the staged tree: those
    of the stage, wherever the parents tell it. (They do but for histories that do not count;
    there it is the mean over the histories, weighted by their probability: of all networks
    with these parents the one nearest to the staged tree by relative entropy.) A row is left
    out where the parents never have these labels at once.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     staged = survey.event_tree().set_stages(depends={"y": []}, alpha=4)
    ...     smallest_network(db._store, staged.id)[0].tables["y"]
    {(): [0.5, 0.5]}
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
        steps.run("configuration", is_empty=tree["n"] == 0, **of_tree)
        self.levels: dict[int, dict[int, str]] = {i: {} for i in range(1, len(self.order) + 1)}
        for place, label_id, label in steps.fetch(
            "network_level", survey_id=tree["survey_id"], variable_ids=variable_ids
        ):
            self.levels[place][label_id] = label
        for (place,) in steps.rows(
            "select distinct place from temp.configuration where stage_key = -1 union "
            "select place from temp.network_edge where label_id = -1"
        ):
            self.levels[place][_NOT_ASKED] = NOT_APPLICABLE

    def network(self) -> tuple[Network, list[Family]]:
        """Return the network, its tables and its families."""
        places = range(1, len(self.order) + 1)
        families = [self.family(place) for place in places]
        return (
            Network(
                self.name,
                {family.variable: family.parents for family in families},
                {self.order[place - 1]: list(self.levels[place].values()) for place in places},
                {
                    family.variable: self._table(place, family)
                    for place, family in zip(places, families, strict=True)
                },
            ),
            families,
        )

    def family(self, place: int) -> Family:
        """Return a variable with its parents."""
        import numpy as np

        parents, is_unique = self._parents(place)
        rows = [
            found
            for found in self._steps.fetch("parent_configuration", place=place, parents=parents)
            if found[1] is not None
        ]
        place_of = [
            {label_id: i for i, label_id in enumerate(self.levels[parent])}
            for parent in parents
        ]
        answers = np.array(
            [[p[a] for p, a in zip(place_of, found[0], strict=True)] for found in rows],
            dtype=np.int64,
        ).reshape(len(rows), len(parents))
        stage = np.array([found[1] for found in rows], dtype=np.int64)
        return Family(
            self.order[place - 1],
            self.order[: place - 1],
            [self.order[parent - 1] for parent in parents],
            [edge_kind(answers, stage, column) for column in range(len(parents))],
            is_unique,
            [list(self.levels[parent].values()) for parent in parents],
            answers,
            stage,
            np.array([found[2] for found in rows], dtype=np.int64),
            np.array([found[3] for found in rows], dtype=np.float64),
        )

    def _parents(self, place: int) -> tuple[list[int], bool]:
        """Return the places of the parents, and whether no others would do."""
        before = list(range(1, place))
        needed = [
            one for one in before if self._matters(place, [i for i in before if i != one])
        ]
        if not self._matters(place, needed):
            return needed, True
        kept = before
        for one in before:
            fewer = [i for i in kept if i != one]
            if one not in needed and not self._matters(place, fewer):
                kept = fewer
        return kept, False

    def _matters(self, place: int, kept: list[int]) -> bool:
        """Return whether what is left out of ``kept`` tells stages apart."""
        ((is_found,),) = self._steps.fetch("stage_conflict", place=place, kept=kept)
        return bool(is_found)

    def _table(self, place: int, family: Family) -> dict[tuple[str, ...], list[float]]:
        parents = [self.order.index(parent) + 1 for parent in family.parents]
        labels = list(self.levels[place])
        found: dict[tuple[str, ...], list[float]] = {}
        for answers, label_id, probability in self._steps.fetch(
            "parent_probability", place=place, parents=parents
        ):
            given = tuple(
                self.levels[parent][answer]
                for parent, answer in zip(parents, answers, strict=True)
            )
            table = found.setdefault(given, [0.0] * len(labels))
            table[labels.index(label_id)] = probability
        return found


def edge_kind(answers: NDArray[np.int64], stage: NDArray[np.int64], column: int) -> EdgeKind:
    """Return how a stage depends on one parent, the others being fixed.

    Parameters
    ----------
    answers
        Shape (combinations, parents).
    stage
        The stage in each.
    column
        The parent.

    Examples
    --------
    >>> import numpy as np
    >>> answers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> [edge_kind(answers, np.array([0, 0, 1, 2]), column) for column in (0, 1)]
    ['total', 'context']
    >>> edge_kind(answers, np.array([0, 1, 1, 0]), 0)
    'local'
    """
    import numpy as np

    _, n_answers, n_stages = by_others(answers, stage, column)
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


def by_others(
    answers: NDArray[np.int64], stage: NDArray[np.int64], column: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group combinations by the labels of all parents but one.

    Returns
    -------
    others, n_answers, n_stages
        Of each group: the labels of the other parents, how many labels of the one parent
        occur, and how many stages.

    Examples
    --------
    >>> import numpy as np
    >>> by_others(np.array([[0, 0], [0, 1]]), np.array([5, 5]), 1)[1:]
    (array([2]), array([1]))
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
