"""Staged trees of Bayesian networks: the structure on data, or the tables without any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cegdb.errors import NetworkError, TreeError, listed
from cegdb.ingest import declare_levels
from cegdb.networks.bayesian_network import normalised
from cegdb.networks.readers import network_of
from cegdb.options import StageOptions, TreeOptions, check_alpha
from cegdb.sqlfiles import Steps
from cegdb.stages import set_stages
from cegdb.stages.build import chosen_alpha
from cegdb.stages.priors import PriorRows
from cegdb.store.catalog import row
from cegdb.tree import event_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.networks.bayesian_network import Network
    from cegdb.networks.readers import NetworkSource
    from cegdb.store import Store

_PRIORS = "select vertex_id, label, prior from temp.network_prior"


def rules_of(store: Store, tree_id: int, source: NetworkSource) -> dict[str, list[str]]:
    """Return the parents of a network in the form of ``depends=`` of `set_stages`."""
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
            f"tree {tree['name']!r} and network {network.name!r} have different variables: "
            f"{only}{joined}{other}",
            hint="build a tree of the network's variables (event_tree(order=...)), or give "
            "the network a node for each variable of the tree",
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
    """Make the staged tree of a network with its tables, without rows, in one transaction.

    The stage of a situation is its variable with the labels of its parents. The prior of an
    edge is alpha times the probability of the path, so that the probabilities of the stage are
    those of the table. An entry of 0 is an edge that the tree does not have.
    """
    check_alpha(alpha)
    network = network_of(source)
    tree_order = network.order(order)
    network = normalised(network)
    levels = {variable: network.levels[variable] for variable in tree_order}
    root = tree_order[0]
    possible = network.levels[root][
        max(range(len(levels[root])), key=network.tables[root][()].__getitem__)
    ]
    with store.writing() as (con, catalog), Steps(con) as steps:
        survey_id = declare_levels(
            store,
            levels,
            source=f"network {network.name}",
            default=network.name,
            name=name,
            replace=replace,
        )
        survey_name = str(row(catalog, "survey", survey_id)["name"])
        try:
            tree_id = event_tree(
                store,
                survey_id,
                TreeOptions(
                    order=tree_order,
                    sampling_zeros="full",
                    add_paths=[{root: possible}],  # without rows, this starts the tree
                    impossible=_zeros(network),
                ),
                name=survey_name if name is not None else None,
                replace=replace,
            )
        except TreeError as error:
            raise NetworkError(
                f"network {network.name!r} cannot be made a tree: {error.args[0]}",
                hint=error.hint,
            ) from error
        tree = row(catalog, "tree", tree_id)
        given = StageOptions(alpha=alpha, prior="mass")
        _make_priors(steps, network, tree, chosen_alpha(catalog, tree, given))
        return set_stages(
            store,
            tree_id,
            options=StageOptions(
                alpha=alpha, prior=PriorRows(_PRIORS, f"network {network.name}")
            ),
            depends={variable: list(network.parents[variable]) for variable in tree_order},
            name=survey_name if name is not None else None,
            replace=replace,
        )


def _zeros(network: Network) -> list[dict[str, str]]:
    """Return the paths that have no edge, since their probability is 0."""
    paths: list[dict[str, str]] = []
    for name, table in network.tables.items():
        for index, label in enumerate(network.levels[name]):
            zero = [given for given, row in table.items() if row[index] == 0]
            if len(zero) == network.n_rows(name):
                paths.append({name: label})
                continue
            parents = network.parents[name]
            paths += [{**dict(zip(parents, given, strict=True)), name: label} for given in zero]
    return paths


def _make_priors(steps: Steps, network: Network, tree: Mapping[str, Any], alpha: float) -> None:
    """Make ``network_prior``, the priors of the tree's edges."""
    levels: dict[str, dict[str, int]] = {name: {} for name in network.parents}
    ids: dict[str, int] = {}
    for variable, variable_id, label, level_id in steps.fetch(
        "value_level", survey_id=tree["survey_id"]
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
    variable_ids = [ids[name] for name in order]
    steps.run(
        "network_rule",
        variable_ids=variable_ids,
        parent_indexes=[[order.index(p) + 1 for p in network.parents[name]] for name in order],
    )
    steps.run(
        "network_row",
        level_ids=[row[0] for row in rows],
        answers=[row[1] for row in rows],
        probabilities=[row[2] for row in rows],
    )
    n = steps.run(
        "network_prior", tree_id=tree["tree_id"], variable_ids=variable_ids, alpha=alpha
    )
    if n + 1 < tree["n_vertices"]:
        ((variable, labels),) = steps.fetch("situation_without_row", tree=tree["name"])
        raise NetworkError(
            f"there are no probabilities of {variable!r} after {labels or 'the root'}",
            hint="give a row for each combination of the parents' labels that can occur",
        )
