"""A graph as rows to go through: of the database in batches, or of a networkx graph."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.findings import findings_of, titles
from cegdb.graphs.networkx_graphs import COLUMNS
from cegdb.small_cells import masked_views
from cegdb.store.catalog import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import Kind
    from cegdb.store import Store

    Values = dict[str, "int | float | str"]

_BATCH: Final = 5_000
_TYPES: Final = {int: "bigint", float: "double", str: "varchar"}


class VertexRow(NamedTuple):
    """A vertex: its values, and whether it is a leaf or the sink."""

    name: str
    values: Values
    is_end: bool


class EdgeRow(NamedTuple):
    """An edge; those between the same vertices have different keys, their labels."""

    source: str
    target: str
    key: str
    values: Values

    @property
    def where(self) -> str:
        """The edge in a message."""
        return f"edge {self.source} -> {self.target}"


@dataclass(frozen=True)
class GraphRows:
    """A graph read row by row; ``nodes`` and ``edges`` start anew each time they are called.

    ``node_columns`` and ``edge_columns`` are the values that some node or edge has,
    ``findings`` what to know before the numbers.
    """

    attributes: Mapping[str, int | str]
    node_columns: Mapping[str, type]
    edge_columns: Mapping[str, type]
    nodes: Callable[[], Iterable[VertexRow]]
    edges: Callable[[], Iterable[EdgeRow]]
    findings: Sequence[Mapping[str, object]] = ()

    @property
    def about(self) -> dict[str, object]:
        """What JSON says of the graph as a whole."""
        findings = {"findings": list(self.findings)} if self.findings else {}
        return {**self.attributes, **findings}


class FileParts(NamedTuple):
    """What a graph file is made of; every format of other programs has this form."""

    head: str
    vertex: Callable[[VertexRow], str]
    middle: str
    edge: Callable[[int, EdgeRow], str]
    tail: str
    separator: str = ""

    def lines(self, rows: GraphRows) -> Iterator[str]:
        """Yield the file, a vertex or edge at a time."""
        yield self.head
        yield from self._separated(map(self.vertex, rows.nodes()))
        yield self.middle
        yield from self._separated(self.edge(i, row) for i, row in enumerate(rows.edges()))
        yield self.tail

    def _separated(self, items: Iterable[str]) -> Iterator[str]:
        separator = ""
        for item in items:
            yield separator + item
            separator = self.separator


def graph_rows(graph: Graph) -> GraphRows:
    """Return the rows of a graph made by `ceg_graph` or `tree_graph`."""

    def nodes() -> Iterator[VertexRow]:
        for name, data in graph.nodes(data=True):
            yield VertexRow(name, data, graph.out_degree(name) == 0)

    def edges() -> Iterator[EdgeRow]:
        for source, target, key, data in graph.edges(keys=True, data=True):
            yield EdgeRow(source, target, str(key), data)

    return GraphRows(
        dict(graph.graph),
        _columns_of(data for _, data in graph.nodes(data=True)),
        _columns_of(data for _, _, data in graph.edges(data=True)),
        nodes,
        edges,
    )


def _columns_of(rows: Iterable[Mapping[str, object]]) -> dict[str, type]:
    used = {name for values in rows for name in values}
    return {name: kind for name, kind in COLUMNS.items() if name in used}


class _RowSource(NamedTuple):
    """Where the rows of a kind of object are."""

    graph_kind: str
    nodes: str
    node_name: str
    node_order: str
    edges: str
    edge_order: str


# As networkx orders them: by source, then by the first label that leads to the target.
_CEG_EDGES: Final = (
    "source_id, min(label_id) over (partition by source_id, target_id), label_id"
)
_SOURCES: Final[dict[str, _RowSource]] = {
    "tree": _RowSource(
        "event_tree", "vertices", "vertex", "vertex_id", "tree_edges", "child_id"
    ),
    "staging": _RowSource(
        "staged_tree",
        "staged_vertices",
        "vertex",
        "vertex_id",
        "staged_edges",
        "child_id",
    ),
    "ceg": _RowSource(
        "ceg",
        "positions",
        "position",
        "stage_id is null, position_id",
        "ceg_edges",
        _CEG_EDGES,
    ),
}


@contextmanager
def stored_rows(
    store: Store, kind: Kind, name: str, *, min_n: int | None = None
) -> Iterator[GraphRows]:
    """Give the rows of a tree, staged tree or CEG, read in batches while the block lasts.

    They are those of the networkx graph, in the same order; one pass at a time. ``min_n``
    hides small cells as in `cegdb.small_cells.masked_view`.
    """
    source = _SOURCES[kind]
    where: dict[str, object] = {kind: name}
    with store.catalog() as catalog:
        find(catalog, kind, name)
        found = findings_of(catalog, kind, name)
    attributes: dict[str, int | str] = {"name": name, "kind": source.graph_kind}
    if min_n is not None:
        attributes["min_n"] = min_n
    with (
        store.reading() as con,
        masked_views(store, (source.nodes, source.edges), where, min_n) as (nodes, edges),
    ):

        def rows(relation: str, columns: str, order: str) -> Iterator[tuple[object, ...]]:
            query = (
                f"select {columns} from {relation} where {kind} = $name "  # noqa: S608
                f"order by {order}"
            )
            result = con.execute(query, {"name": name})
            while batch := result.fetchmany(_BATCH):
                yield from batch

        def used(relation: str) -> dict[str, type]:
            result = con.execute(f"select * from {relation} limit 0")  # noqa: S608
            present = {column[0] for column in result.description or []}
            known = [column for column in COLUMNS if column in present]
            ((*counts,),) = rows(relation, ", ".join(f"count({one})" for one in known), "all")
            return {one: COLUMNS[one] for one, n in zip(known, counts, strict=True) if n}

        node_columns, edge_columns = used(nodes), used(edges)

        def each_node() -> Iterator[VertexRow]:
            is_end = "variable is null" if kind == "tree" else "stage_id is null"
            first = f"{source.node_name}, {is_end}"
            columns = list(node_columns)
            for row in rows(nodes, f"{first}{_cast(node_columns)}", source.node_order):
                yield VertexRow(str(row[0]), _values(columns, row[2:]), bool(row[1]))

        def each_edge() -> Iterator[EdgeRow]:
            columns = list(edge_columns)
            selected = f"source, target, label{_cast(edge_columns)}"
            for row in rows(edges, selected, source.edge_order):
                yield EdgeRow(str(row[0]), str(row[1]), str(row[2]), _values(columns, row[3:]))

        findings = (
            [one._asdict() for one in found]
            if min_n is None
            else [{"title": title} for title in titles(found)]
        )
        yield GraphRows(attributes, node_columns, edge_columns, each_node, each_edge, findings)


def _cast(columns: Mapping[str, type]) -> str:
    return "".join(f", cast({name} as {_TYPES[kind]})" for name, kind in columns.items())


def _values(columns: list[str], row: tuple[object, ...]) -> Values:
    return {
        column: value  # type: ignore[misc]
        for column, value in zip(columns, row, strict=True)
        if value is not None
    }
