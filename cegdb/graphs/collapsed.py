"""The parts of overviews: which vertices are drawn, and which nodes stand for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from cegdb.sqlfiles import Steps
    from cegdb.store.catalog import Kind

    Row = dict[str, Any]

#: The most situations, or edges, among which a bound is chosen.
CANDIDATES: Final = 500

_LAST_ID: Final = 1 << 62  # after every id
_DRAWN_VERTEX: Final = (
    "(x.vertex_id = 0 or x.vertex_id in (select vertex_id from temp.drawn_situation union all "
    "select vertex_id from temp.fringe_vertex where is_drawn))"
)
_DRAWN_EDGE: Final = (
    "x.child_id in (select vertex_id from temp.drawn_situation union all "
    "select vertex_id from temp.fringe_vertex where n_members = 1)"
)
_DRAWN_POSITION: Final = (
    "x.position_id in (select node_id from temp.overview_position where node_id >= 0)"
)
_PLAIN_EDGE: Final = (
    "(x.source_id, x.label_id) in (select (source_id, label_id) from temp.node_edge "
    "where n_edges = 1 and source_node >= 0)"
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Whose overview is made, and the relations to read instead of its views.

    ``variables`` are those asked, in order, with their names.
    """

    con: duckdb.DuckDBPyConnection
    steps: Steps
    kind: Kind
    row: Mapping[str, Any]
    tree: Mapping[str, Any]
    variables: Mapping[int, str]
    nodes: str
    edges: str
    hides: bool

    @property
    def tree_id(self) -> int:
        """Of the tree under it."""
        return int(self.tree["tree_id"])

    def read(self, relation: str, condition: str, order: str) -> list[Row]:
        """Return the rows of a relation that meet a condition."""
        result = self.con.execute(
            f"select * from {relation} as x where x.{self.kind} = $name "  # noqa: S608
            f"and {condition} order by {order}",
            {"name": self.row["name"]},
        )
        return _dicts(result)


def _dicts(result: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, found, strict=True)) for found in result.fetchall()]


class CollapsedTree:
    """An event tree, or a staged one: subtrees are collapsed."""

    def __init__(self, of: Drawing) -> None:
        self._of = of

    def sizes(self) -> list[tuple[int, int, int]]:
        """Return how many edges are drawn from low + 1 to high people on: low, high, edges."""
        tree_id = self._of.tree_id
        self._of.steps.run("large_situation", tree_id=tree_id, most=CANDIDATES)
        return self._of.steps.fetch("tree_overview_size", tree_id=tree_id)

    def cut(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, tree_id = self._of.steps, self._of.tree_id
        n_drawn = steps.run(
            "drawn_situation",
            tree_id=tree_id,
            collapse_below=collapse_below,
            variables=list(self._of.variables)[:n_variables],
        )
        steps.run("fringe_vertex", tree_id=tree_id, collapse_below=collapse_below)
        ((n_nodes,),) = steps.rows("select count(distinct node_id) from temp.fringe_vertex")
        return max(n_drawn - 1, 0) + int(n_nodes)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges; situations below the fringe are counted."""
        of = self._of
        level, n_found = 0, of.steps.run("hidden_situation")
        while n_found:
            level += 1
            n_found = of.steps.run("hidden_level", tree_id=of.tree_id, step=level)
        of.steps.run("collapsed_subtree", tree_id=of.tree_id)
        nodes, edges = self._hidden() if of.hides else self._plain()
        parents = {node["vertex_id"]: node for node in nodes}
        has_others = {edge["parent_id"] for edge in edges}
        by_child = {edge["child_id"]: edge for edge in edges}
        for found in _dicts(of.con.execute("from temp.collapsed_subtree order by node_id")):
            parent = parents[found["parent_id"]]
            if found["n_labels"] == 1:
                name = f"{by_child[found['node_id']]['target']} and below"
                by_child[found["node_id"]]["target"] = name
            else:
                name = f"others below {parent['vertex']}"
                edges.append(
                    {
                        "source": parent["vertex"],
                        "target": name,
                        "label": _labels(found["n_labels"], found["parent_id"] in has_others),
                        "variable": parent["variable"],
                        "n": found["n"],
                        "weight": found["weight"],
                        "n_labels": found["n_labels"],
                        "parent_id": found["parent_id"],
                        "child_id": _LAST_ID,
                    }
                )
            hides = (found["n_hidden"], "situation")
            if not found["n_hidden"]:
                hides = (found["n_labels"], "leaf")
            nodes.append(
                {
                    "vertex": name,
                    "text": _text(*hides, found["n"]),
                    "n_hidden": found["n_hidden"],
                    "n": found["n"],
                }
            )
        edges.sort(key=lambda edge: (edge["parent_id"], edge["child_id"]))
        return nodes, edges

    def _hidden(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of the views without small cells, of all vertices made anew."""
        of = self._of
        nodes = of.read(of.nodes, _DRAWN_VERTEX, "vertex_id")
        return nodes, of.read(of.edges, _DRAWN_EDGE, "child_id")

    def _plain(self) -> tuple[list[Row], list[Row]]:
        """Return the rows that the views have, without naming all vertices."""
        steps, con, tree_id = self._of.steps, self._of.con, self._of.tree_id
        is_staged = self._of.kind == "staging"
        staging_id = int(self._of.row["staging_id"]) if is_staged else 0
        name = str(self._of.row["name"]) if is_staged else ""
        steps.run("overview_vertex", tree_id=tree_id, staging_id=staging_id, staging=name)
        steps.run("overview_edge", tree_id=tree_id, staging_id=staging_id)
        nodes = con.execute("from temp.overview_vertex where is_drawn order by vertex_id")
        return _dicts(nodes), _dicts(con.execute("from temp.overview_edge order by child_id"))


class CollapsedCeg:
    """A CEG: the positions of a column are collapsed together."""

    def __init__(self, of: Drawing) -> None:
        self._of = of
        of.steps.run(
            "position_place",
            ceg_id=self._id,
            tree_id=of.tree_id,
            variables=list(of.variables),
        )

    @property
    def _id(self) -> int:
        return int(self._of.row["ceg_id"])

    def sizes(self) -> list[tuple[int, int, int]]:
        """Return how many edges are drawn from low + 1 to high people on: low, high, edges."""
        return self._of.steps.fetch("ceg_overview_size", ceg_id=self._id, most=CANDIDATES)

    def cut(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, n_all = self._of.steps, len(self._of.variables)
        ((last,),) = steps.fetch("last_place", collapse_below=collapse_below)
        self._n_columns = n_variables
        if last < min(n_variables, n_all - 1):
            self._n_columns = max(last, 1)
        steps.run(
            "overview_position", collapse_below=collapse_below, top_variables=self._n_columns
        )
        return steps.run("node_edge", ceg_id=self._id)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges."""
        of = self._of
        of.steps.run("collapsed_position")
        nodes = of.read(of.nodes, _DRAWN_POSITION, "stage_id is null, position_id")
        edges = of.read(of.edges, _PLAIN_EDGE, "source_id, label_id, target_id")
        names = {node["position_id"]: node["position"] for node in nodes}
        variables = {node["position_id"]: node["variable"] for node in nodes}
        places = {
            names[number]: place
            for number, place in of.steps.rows(
                "select position_id, place from temp.overview_position where node_id >= 0"
            )
        }
        columns = dict(enumerate(of.variables.values(), start=1))
        for found in _dicts(of.con.execute("from temp.collapsed_position order by place")):
            number = found["node_id"]
            is_later = -number > self._n_columns
            where = columns[-number - is_later]
            names[number] = f"hidden {'after' if is_later else 'in'} {where}"
            variables[number] = None if is_later else where
            nodes.append(
                {
                    "position": names[number],
                    "text": _text(found["n_hidden"], "position", found["n"]),
                    "n_hidden": found["n_hidden"],
                    "n": found["n"],
                    "variable": variables[number],
                }
            )
        if len(places) < len(nodes):
            # Every node after those that lead to it.
            places |= {names[number]: -number for number in names if number < 0}
            nodes.sort(key=lambda node: places[node["position"]] or _LAST_ID)
        targets = {
            (source, label): names[target]
            for source, label, target in of.steps.rows(
                "select source_id, label_id, target_node from temp.node_edge "
                "where n_edges = 1 and source_node >= 0"
            )
        }
        for edge in edges:
            edge["target"] = targets[edge["source_id"], edge["label_id"]]
        has_others = {edge["source"] for edge in edges}
        for source, target, label, n_labels, n, weight in of.steps.fetch(
            "melted_edge", survey_id=of.tree["survey_id"]
        ):
            text = label if n_labels == 1 else _labels(n_labels, names[source] in has_others)
            edges.append(
                {
                    "source": names[source],
                    "target": names[target],
                    "label": text if source >= 0 or n_labels == 1 else f"{n_labels:,} labels",
                    "variable": variables[source],
                    "n": n,
                    "weight": weight,
                    "n_labels": n_labels,
                }
            )
        return nodes, edges


def _labels(n: int, has_others: bool) -> str:  # noqa: FBT001
    return f"{n:,} more labels" if has_others else f"all {n:,} labels"


def _text(n_hidden: int, what: str, n: int | None) -> str:
    hides = counted(n_hidden, what)
    return hides if n is None else f"{hides}\n{counted(n, 'person')}"
