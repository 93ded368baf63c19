"""Staged trees of Bayesian networks: its structure on rows, or its tables without any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cegdb.errors import NetworkError, TreeError, listed
from cegdb.ingest import declare
from cegdb.networks.bayesian_network import checked
from cegdb.networks.readers import network_of
from cegdb.options import StageOptions, TreeOptions, check_alpha
from cegdb.sqlfiles import Steps
from cegdb.stages import set_stages
from cegdb.stages.build import settled_alpha
from cegdb.stages.priors import PriorRows
from cegdb.store.catalog import row
from cegdb.tree import event_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.networks.bayesian_network import Network
    from cegdb.networks.readers import NetworkSource
    from cegdb.store import Store

_PRIORS = "select vertex_id, label, prior from temp.network_walk"


def rules_of(store: Store, tree_id: int, source: NetworkSource) -> dict[str, list[str]]:
    """Return a network's parents as the rules of stages on a tree of the same variables.

    Parameters
    ----------
    store, tree_id
        The tree; each parent is to come before its children in it.
    source
        See `network_of`; tables are not used.

    Returns
    -------
    dict
        What ``depends`` of `cegdb.stages.set_stages` takes.

    Raises
    ------
    NetworkError
        The variables are others than those of the tree, or come in another order.

    Examples
    --------
    >>> import cegdb, networkx as nx
    >>> with cegdb.open() as db:
    ...     tree = db.ingest("select i % 2 as x, i < 3 as y from range(8) t(i)").event_tree()
    ...     rules_of(db._store, tree.id, nx.DiGraph([("x", "y")]))
    {'x': [], 'y': ['x']}
    """
    network = network_of(source)
    with store.catalog() as catalog:
        tree = row(catalog, "tree", tree_id)
    order = list(tree["settings"]["order"])
    lacking = [name for name in order if name not in network.parents]
    unknown = [name for name in network.parents if name not in order]
    if lacking or unknown:
        only = f"only the tree has {listed(map(repr, lacking))}" if lacking else ""
        joined = "; " if lacking and unknown else ""
        other = f"only the network has {listed(map(repr, unknown))}" if unknown else ""
        raise NetworkError(
            f"tree {tree['name']!r} and network {network.name!r} have other variables: "
            f"{only}{joined}{other}",
            hint="build a tree of the network's variables (event_tree(order=...)), or give "
            "the network a node for each of the tree's",
        )
    network.order(order)
    return {name: list(network.parents[name]) for name in order}


def staged_tree(
    store: Store,
    source: NetworkSource,
    *,
    name: str | None = None,
    order: Sequence[str] | None = None,
    alpha: float | None = None,
    replace: bool = False,
) -> int:
    """Make the staged tree of a network with its tables, without rows.

    Parameters
    ----------
    store
        Where to; survey, tree and staging are made in one transaction.
    source
        See `network_of`.
    name
        Of the survey (variables and labels, no rows), the tree and the staging; left out,
        the network's.
    order
        The variables from the root, parents first; left out, as declared where that allows.
    alpha
        How many rows the tables are worth should rows be added later; left out, the largest
        number of labels of a variable.
    replace
        Drop a survey, tree and staging of that name first, with everything built on them.

    Returns
    -------
    int
        ``staging_id``.

    Raises
    ------
    NetworkError
        The network cannot be read, lacks probabilities, is too large to be a tree, or the
        order is none of it.

    Notes
    -----
    A situation's stage is its variable with the labels of its parents, and the prior of an
    edge is alpha times the probability of the path, so that the stage's probabilities are
    those of the table. An entry of 0 is an edge that the tree has not.

    Examples
    --------
    >>> from cegdb.networks import Network
    >>> from cegdb.store import Store
    >>> coin = Network("coin", {"x": []}, {"x": ["a", "b"]}, {"x": {(): [0.25, 0.75]}})
    >>> with Store.open() as store:
    ...     staging_id = staged_tree(store, coin)
    ...     with store.reading() as con:
    ...         con.execute("select label, probability from cegdb.stage_edges").fetchall()
    [('a', 0.25), ('b', 0.75)]
    """
    check_alpha(alpha)
    found = network_of(source)
    asked = found.order(order)
    network = checked(found)
    levels = {variable: network.levels[variable] for variable in asked}
    root = asked[0]
    possible = network.levels[root][
        max(range(len(levels[root])), key=network.tables[root][()].__getitem__)
    ]
    with store.writing() as (con, catalog), Steps(con) as steps:
        survey_id = declare(
            store,
            levels,
            source=f"network {network.name}",
            default=network.name,
            name=name,
            replace=replace,
        )
        called = str(row(catalog, "survey", survey_id)["name"])
        try:
            tree_id = event_tree(
                store,
                survey_id,
                TreeOptions(
                    order=asked,
                    sampling_zeros="full",
                    add_paths=[{root: possible}],  # without rows nothing else starts it
                    impossible=_zeros(network),
                ),
                name=called if name is not None else None,
                replace=replace,
            )
        except TreeError as error:
            raise NetworkError(
                f"network {network.name!r} cannot be a tree: {error.args[0]}", hint=error.hint
            ) from error
        tree = row(catalog, "tree", tree_id)
        _walk(steps, network, tree, settled_alpha(catalog, tree, alpha))
        return set_stages(
            store,
            tree_id,
            options=StageOptions(
                alpha=alpha, prior=PriorRows(_PRIORS, f"network {network.name}")
            ),
            depends={variable: list(network.parents[variable]) for variable in asked},
            name=called if name is not None else None,
            replace=replace,
        )


def _zeros(network: Network) -> list[dict[str, str]]:
    """Return the paths that have no edge, since their probability is 0."""
    found: list[dict[str, str]] = []
    for name, table in network.tables.items():
        for place, label in enumerate(network.levels[name]):
            zero = [given for given, row in table.items() if row[place] == 0]
            if len(zero) == network.n_rows(name):
                found.append({name: label})
                continue
            parents = network.parents[name]
            found += [{**dict(zip(parents, given, strict=True)), name: label} for given in zero]
    return found


def _walk(steps: Steps, network: Network, tree: Mapping[str, Any], alpha: float) -> None:
    """Make ``network_walk``, the priors of the tree's edges."""
    levels: dict[str, dict[str, int]] = {name: {} for name in network.parents}
    ids: dict[str, int] = {}
    for variable, variable_id, label, level_id in steps.rows(
        "select v.name, v.variable_id, l.label, l.level_id from cegdb.variable as v "
        "inner join cegdb.level as l on v.variable_id = l.variable_id "
        "where v.survey_id = $survey_id and l.kind = 'value'",
        {"survey_id": tree["survey_id"]},
    ):
        levels[variable][label] = level_id
        ids[variable] = variable_id
    order = tree["settings"]["order"]
    rows = [
        (
            level_of[label],
            [levels[p][value] for p, value in zip(parents, given, strict=True)],
            p,
        )
        for name, parents in network.parents.items()
        for level_of in [levels[name]]
        for given, row in network.tables[name].items()
        for label, p in zip(network.levels[name], row, strict=True)
    ]
    steps.create(
        "network_rule",
        "select unnest(cast($variables as integer[])) as variable_id, "
        "unnest(range(1, len($variables) + 1)) as place, "
        "unnest(cast($places as bigint[][])) as places",
        {
            "variables": [ids[name] for name in order],
            "places": [[order.index(p) + 1 for p in network.parents[name]] for name in order],
        },
    )
    steps.create(
        "network_row",
        "select unnest(cast($levels as integer[])) as level_id, "
        "unnest(cast($answers as integer[][])) as answers, "
        "unnest(cast($probabilities as double[])) as probability",
        {
            "levels": [row[0] for row in rows],
            "answers": [row[1] for row in rows],
            "probabilities": [row[2] for row in rows],
        },
    )
    variable_ids = [ids[name] for name in order]
    n = steps.run(
        "network_walk", tree_id=tree["tree_id"], variable_ids=variable_ids, alpha=alpha
    )
    if n + 1 < tree["n_vertices"]:
        ((variable, labels),) = steps.rows(
            "select v.name, s.path from cegdb.situations as s inner join cegdb.variable as v "
            "on v.survey_id = $survey_id and s.variable = v.name where s.tree = $tree and "
            "s.vertex_id not in (select w.vertex_id from temp.network_walk as w) and "
            "(s.vertex_id = 0 or s.vertex_id in (select w.child_id from temp.network_walk "
            "as w)) order by s.vertex_id limit 1",
            {"survey_id": tree["survey_id"], "tree": tree["name"]},
        )
        raise NetworkError(
            f"there are no probabilities of {variable!r} after {labels or 'the root'}",
            hint="give a row for each combination of the parents' labels that can occur",
        )
