"""The parts of overviews: which vertices are drawn, and which nodes stand for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from cegdb.options import Kind
    from cegdb.sqlfiles import Steps

    Row = dict[str, Any]

#: The most situations, or edges, among which a bound is chosen.
CANDIDATES: Final = 500

_LAST_ID: Final = 1 << 62  # after every id


@dataclass(frozen=True, slots=True)
class OverviewSource:
    """Whose overview is made, its variables in order, and the relations to read."""

    con: duckdb.DuckDBPyConnection
    steps: Steps
    kind: Kind
    row: Mapping[str, Any]
    tree: Mapping[str, Any]
    variables: Mapping[int, str]
    nodes: str
    edges: str
    hides_counts: bool

    @property
    def tree_id(self) -> int:
        """The id of its tree."""
        return int(self.tree["tree_id"])

    def read(self, query: str, **params: object) -> list[Row]:
        """Return the rows of a query as mappings."""
        result = self.con.execute(query, params or None)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def read_drawn(self, relation: str, drawn: str, key: str) -> list[Row]:
        """Return the rows of a masked view, which a step says are drawn, by their key."""
        self.steps.run(drawn)
        return self.read(f"from {relation} where {key} in (from temp.{drawn}) order by {key}")


class CollapsedTree:
    """An event tree, or a staged one: subtrees are collapsed."""

    def __init__(self, source: OverviewSource) -> None:
        self.source = source

    def sizes(self) -> list[tuple[int, int, int]]:
        """Return how many edges are drawn from low + 1 to high people on: low, high, edges."""
        tree_id = self.source.tree_id
        self.source.steps.run("large_situation", tree_id=tree_id, most=CANDIDATES)
        return self.source.steps.fetch("tree_overview_size", tree_id=tree_id)

    def choose_drawn(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, tree_id = self.source.steps, self.source.tree_id
        n_drawn = steps.run(
            "drawn_situation",
            tree_id=tree_id,
            collapse_below=collapse_below,
            variables=list(self.source.variables)[:n_variables],
        )
        steps.run("fringe_vertex", tree_id=tree_id, collapse_below=collapse_below)
        ((n_nodes,),) = steps.rows("select count(distinct node_id) from temp.fringe_vertex")
        return max(n_drawn - 1, 0) + int(n_nodes)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges; situations below the fringe are counted."""
        source = self.source
        level, n_deeper = 0, source.steps.run("hidden_situation")
        while n_deeper:
            level += 1
            n_deeper = source.steps.run("hidden_level", tree_id=source.tree_id, step=level)
        source.steps.run("collapsed_subtree", tree_id=source.tree_id)
        nodes, edges = self._masked_rows() if source.hides_counts else self._plain_rows()
        parents = {node["vertex_id"]: node for node in nodes}
        by_child = {edge["child_id"]: edge for edge in edges}
        has_drawn = {edge["parent_id"] for edge in edges}
        for subtree in source.read("from temp.collapsed_subtree order by node_id"):
            parent, n_labels, n = (
                parents[subtree["parent_id"]],
                subtree["n_labels"],
                subtree["n"],
            )
            if n_labels == 1:
                edge = by_child[subtree["node_id"]]
                name = edge["target"] = f"{edge['target']} and below"
            else:
                name = f"others below {parent['vertex']}"
                edges.append(
                    {
                        "source": parent["vertex"],
                        "target": name,
                        "label": _answers(n_labels, subtree["parent_id"] in has_drawn),
                        "variable": parent["variable"],
                        "n": n,
                        "weight": subtree["weight"],
                        "n_labels": n_labels,
                        "parent_id": subtree["parent_id"],
                        "child_id": _LAST_ID,
                    }
                )
            n_hidden = subtree["n_hidden"]
            content = counted(n_hidden, "situation") if n_hidden else counted(n_labels, "leaf")
            nodes.append(
                {"vertex": name, "text": _box_text(content, n), "n_hidden": n_hidden, "n": n}
            )
        edges.sort(key=lambda edge: (edge["parent_id"], edge["child_id"]))
        return nodes, edges

    def _masked_rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of the views without small cells, which hold all vertices."""
        source = self.source
        nodes = source.read_drawn(source.nodes, "drawn_vertex", "vertex_id")
        return nodes, source.read_drawn(source.edges, "drawn_child", "child_id")

    def _plain_rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows that the views have, without naming all vertices."""
        steps, tree_id = self.source.steps, self.source.tree_id
        is_staged = self.source.kind == "staging"
        staging_id = int(self.source.row["staging_id"]) if is_staged else 0
        name = str(self.source.row["name"]) if is_staged else ""
        steps.run("overview_vertex", tree_id=tree_id, staging_id=staging_id, staging=name)
        steps.run("overview_edge", tree_id=tree_id, staging=name)
        nodes = self.source.read("from temp.overview_vertex where is_drawn order by vertex_id")
        return nodes, self.source.read("from temp.overview_edge order by child_id")


class CollapsedCeg:
    """A CEG: the positions of a column are collapsed together."""

    def __init__(self, source: OverviewSource) -> None:
        self.source = source
        self._id = int(source.row["ceg_id"])
        variables = list(source.variables)
        source.steps.run(
            "position_column", ceg_id=self._id, tree_id=source.tree_id, variables=variables
        )

    def sizes(self) -> list[tuple[int, int, int]]:
        """Return how many edges are drawn from low + 1 to high people on: low, high, edges."""
        return self.source.steps.fetch("ceg_overview_size", ceg_id=self._id, most=CANDIDATES)

    def choose_drawn(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, n_all = self.source.steps, len(self.source.variables)
        ((last,),) = steps.fetch("last_column", collapse_below=collapse_below)
        self._n_columns = n_variables
        if last < min(n_variables, n_all - 1):
            self._n_columns = max(last, 1)
        steps.run(
            "overview_position", collapse_below=collapse_below, top_variables=self._n_columns
        )
        return steps.run("node_edge", ceg_id=self._id)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges."""
        source = self.source
        source.steps.run("collapsed_position")
        ceg = source.row["name"]
        source.steps.run("drawn_position", positions=source.nodes, ceg=ceg)
        source.steps.run("drawn_edge", edges=source.edges, ceg=ceg)
        nodes = source.read("from temp.drawn_position order by stage_id is null, position_id")
        edges = source.read("from temp.drawn_edge order by source_id, label_id, target_id")
        names = {node["position_id"]: node["position"] for node in nodes}
        variables = {node["position_id"]: node["variable"] for node in nodes}
        column_of = {node["position"]: node["column_index"] for node in nodes}
        columns = dict(enumerate(source.variables.values(), start=1))
        for node in source.read("from temp.collapsed_position order by column_index"):
            number = node["node_id"]
            is_later = -number > self._n_columns
            where = columns[-number - is_later]
            names[number] = f"hidden {'after' if is_later else 'in'} {where}"
            variables[number] = None if is_later else where
            column_of[names[number]] = -number
            nodes.append(
                {
                    "position": names[number],
                    "text": _box_text(counted(node["n_hidden"], "position"), node["n"]),
                    "n_hidden": node["n_hidden"],
                    "n": node["n"],
                    "variable": variables[number],
                }
            )
        if any(number < 0 for number in names):
            # Every node after those that lead to it.
            nodes.sort(key=lambda node: column_of[node["position"]] or _LAST_ID)
        for edge in edges:
            edge["target"] = names[edge["target_node"]]
        has_drawn = {edge["source"] for edge in edges}
        collapsed_edges = source.steps.fetch(
            "collapsed_edge", survey_id=source.tree["survey_id"]
        )
        for source_node, target_node, label, n_labels, n, weight in collapsed_edges:
            text = label
            if n_labels > 1 and source_node < 0:
                text = f"{n_labels:,} answers"
            elif n_labels > 1:
                text = _answers(n_labels, names[source_node] in has_drawn)
            edges.append(
                {
                    "source": names[source_node],
                    "target": names[target_node],
                    "label": text,
                    "variable": variables[source_node],
                    "n": n,
                    "weight": weight,
                    "n_labels": n_labels,
                }
            )
        return nodes, edges


def _answers(n: int, has_drawn: bool) -> str:  # noqa: FBT001
    """Return the text of an edge that stands for several answers: the others, or all."""
    if has_drawn:
        return f"{n:,} other answers"
    return "both answers" if n == 2 else f"all {n:,} answers"


def _box_text(content: str, n: int | None) -> str:
    return content if n is None else f"{content}\n{counted(n, 'person')}"
