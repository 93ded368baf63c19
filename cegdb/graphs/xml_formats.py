"""Graphs as GraphML and GEXF, a node or an edge a line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cegdb.errors import GraphError
from cegdb.graphs.dot import is_shared
from cegdb.graphs.label_text import NOT_XML

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cegdb.graphs.graph_rows import GraphRows, Values

_TYPES: Final = {int: "long", float: "double", str: "string"}
_WHITE: Final = "#FFFFFF"
_ESCAPES: Final = str.maketrans(
    # A reader would make a space of a line break in an attribute, and drop a return.
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    | {character: f"&#{ord(character)};" for character in "\t\n\r"}
)


def node_label(name: str, values: Mapping[str, object]) -> str:
    """Return what a node shows: its name and what is asked there.

    Examples
    --------
    >>> node_label("w1", {"variable": "Risk"})
    'w1 Risk'
    """
    return f"{name} {values['variable']}" if "variable" in values else name


def graphml_lines(rows: GraphRows) -> Iterator[str]:
    """Yield the lines of a GraphML file that Gephi, yEd, igraph and networkx read.

    Notes
    -----
    ``label`` is the attribute that Gephi shows; yEd shows graphics of its own, which have
    the same label, and the colour of stages that situations share. Numbers are ``long`` and
    ``double``; what is not there is left out.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> from cegdb.graphs.graph_rows import graph_rows
    >>> graph = tree_graph("one", [{"vertex": "l0", "n": 3}], [])
    >>> print(list(graphml_lines(graph_rows(graph)))[-2].strip()[:62])
    <node id="l0"><data key="n_label">l0</data><data key="n_n">3</
    """
    node_keys = {"label": str, **rows.node_columns}
    edge_keys = {"label": str, **rows.edge_columns}
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xmlns:y="http://www.yworks.com/xml/graphml" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
        'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
    )
    graph_keys = {name: type(value) for name, value in rows.attributes.items()}
    for of, keys in (("graph", graph_keys), ("node", node_keys), ("edge", edge_keys)):
        for name, kind in keys.items():
            yield (
                f'  <key id="{of[0]}_{name}" for="{of}" attr.name="{name}" '
                f'attr.type="{_TYPES[kind]}"/>\n'
            )
    for of in ("node", "edge"):
        yield (
            f'  <key id="{of[0]}_graphics" for="{of}" attr.name="graphics" '
            f'attr.type="string" yfiles.type="{of}graphics"/>\n'
        )
    yield '  <graph edgedefault="directed">\n'
    yield f"    {_graphml_values('g', dict(rows.attributes), 'graph')}\n"
    for name, values, _ in rows.nodes():
        inner = _graphml_values("n", values, name)
        label = _escaped(node_label(name, values), "label", name)
        colour = _colour(values) if is_shared(values) else None
        yield (
            f'    <node id="{_escaped(name, "id", name)}">'
            f'<data key="n_label">{label}</data>{inner}'
            f'<data key="n_graphics"><y:ShapeNode><y:Fill color="{colour or _WHITE}" '
            f'transparent="false"/><y:NodeLabel xml:space="preserve">{label}</y:NodeLabel>'
            "</y:ShapeNode></data></node>\n"
        )
    for number, (source, target, key, values) in enumerate(rows.edges()):
        where = f"edge {source} -> {target}"
        shown = {"label": key, **values}
        label = _escaped(str(shown["label"]), "label", where)
        shown_label = label and f'<y:EdgeLabel xml:space="preserve">{label}</y:EdgeLabel>'
        yield (
            f'    <edge id="e{number}" source="{_escaped(source, "id", source)}" '
            f'target="{_escaped(target, "id", target)}">{_graphml_values("e", shown, where)}'
            '<data key="e_graphics"><y:PolyLineEdge><y:Arrows source="none" '
            f'target="standard"/>{shown_label}</y:PolyLineEdge></data></edge>\n'
        )
    yield "  </graph>\n</graphml>\n"


def _graphml_values(of: str, values: Values, where: str) -> str:
    return "".join(
        f'<data key="{of}_{name}">{_value(value, name, where)}</data>'
        for name, value in values.items()
    )


def gexf_lines(rows: GraphRows) -> Iterator[str]:
    """Yield the lines of a GEXF 1.3 file, the format of Gephi.

    Notes
    -----
    The kind of an edge is its label, by which Gephi keeps parallel edges apart. Its weight
    is that of the survey, where there is one.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> from cegdb.graphs.graph_rows import graph_rows
    >>> graph = tree_graph("one", [{"vertex": "l0", "n": 3}], [])
    >>> [line.strip() for line in gexf_lines(graph_rows(graph)) if "<node " in line]
    ['<node id="l0" label="l0"><attvalues><attvalue for="n" value="3"/></attvalues></node>']
    """
    edge_columns = {
        name: kind
        for name, kind in rows.edge_columns.items()
        if name not in ("label", "weight")
    }
    name = _escaped(str(rows.attributes.get("name", "")), "name", "graph")
    graph_kind = rows.attributes.get("kind", "")
    hidden = rows.attributes.get("min_n")
    more = "" if hidden is None else f", min_n {hidden}"
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" '
        'version="1.3">\n'
        f"  <meta>\n    <creator>cegdb</creator>\n    <title>{name}</title>\n"
        f"    <description>{graph_kind}{more}</description>\n  </meta>\n"
        '  <graph defaultedgetype="directed" mode="static">\n'
    )
    for of, columns in (("node", rows.node_columns), ("edge", edge_columns)):
        yield f'    <attributes class="{of}" mode="static">\n'
        for column, kind in columns.items():
            yield f'      <attribute id="{column}" title="{column}" type="{_TYPES[kind]}"/>\n'
        yield "    </attributes>\n"
    yield "    <nodes>\n"
    for name, values, _ in rows.nodes():
        colour = _colour(values) if is_shared(values) else None
        viz = ""
        if colour:
            red, green, blue = bytes.fromhex(colour[1:])
            viz = f'<viz:color r="{red}" g="{green}" b="{blue}"/>'
        label = _escaped(node_label(name, values), "label", name)
        yield (
            f'      <node id="{_escaped(name, "id", name)}" label="{label}">'
            f"{_gexf_values(values, name)}{viz}</node>\n"
        )
    yield "    </nodes>\n    <edges>\n"
    for number, (source, target, key, values) in enumerate(rows.edges()):
        where = f"edge {source} -> {target}"
        label = _escaped(str(values.get("label", key)), "label", where)
        weight = f' weight="{values["weight"]!r}"' if "weight" in values else ""
        kept = {column: values[column] for column in edge_columns if column in values}
        yield (
            f'      <edge id="e{number}" source="{_escaped(source, "id", source)}" '
            f'target="{_escaped(target, "id", target)}" label="{label}" kind="{label}"'
            f"{weight}>{_gexf_values(kept, where)}</edge>\n"
        )
    yield "    </edges>\n  </graph>\n</gexf>\n"


def _gexf_values(values: Values, where: str) -> str:
    inner = "".join(
        f'<attvalue for="{name}" value="{_value(value, name, where)}"/>'
        for name, value in values.items()
    )
    return f"<attvalues>{inner}</attvalues>"


def _colour(values: Mapping[str, object]) -> str | None:
    colour = str(values.get("colour"))
    return colour if re.fullmatch(r"#[0-9A-Fa-f]{6}", colour) else None


def _value(value: int | float | str, column: str, where: str) -> str:
    return _escaped(value, column, where) if isinstance(value, str) else repr(value)


def _escaped(text: str, column: str, where: str) -> str:
    """Return a text for an element or an attribute, or refuse what XML cannot hold."""
    found = _xml(text)
    if found is not None:
        return found
    odd = NOT_XML.search(text)
    code = ord(odd[0]) if odd else 0
    raise GraphError(
        f"{column} {text!r} of {where} has the character U+{code:04X}, which XML cannot hold",
        hint="write a .json, .cyjs or .dot file",
    )


@lru_cache(maxsize=4096)
def _xml(text: str) -> str | None:
    """Return the text escaped; None if it has a character that XML 1.0 cannot write."""
    return None if NOT_XML.search(text) else text.translate(_ESCAPES)
