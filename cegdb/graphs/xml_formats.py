"""Graphs as GraphML and GEXF, one node or edge per line.

Writers of our own: labels may hold control characters, which those of networkx write as
they are, and large graphs take a fifth of the time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cegdb.errors import GraphError
from cegdb.graphs.graph_rows import FileParts
from cegdb.graphs.label_text import NOT_XML, stage_colour, vertex_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cegdb.graphs.graph_rows import EdgeRow, GraphRows, Values, VertexRow

_TYPES: Final = {int: "long", float: "double", str: "string"}
_ESCAPES: Final = str.maketrans(
    # A reader would make a space of a line break in an attribute, and drop a return.
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    | {character: f"&#{ord(character)};" for character in "\t\n\r"}
)


def graphml_parts(rows: GraphRows) -> FileParts:
    """Return a GraphML file that Gephi, yEd, igraph and networkx read.

    Gephi shows the attribute ``label``; yEd shows graphics of its own, which have the same
    label, and the colour of stages that situations share.
    """
    graph_keys = {name: type(value) for name, value in rows.attributes.items()}
    node_keys = {"label": str, **rows.node_columns}
    edge_keys = {"label": str, **rows.edge_columns}
    keys = [
        f'  <key id="{of[0]}_{name}" for="{of}" attr.name="{name}" '
        f'attr.type="{_TYPES[kind]}"/>\n'
        for of, columns in (("graph", graph_keys), ("node", node_keys), ("edge", edge_keys))
        for name, kind in columns.items()
    ]
    keys += [
        f'  <key id="{of[0]}_graphics" for="{of}" attr.name="graphics" '
        f'attr.type="string" yfiles.type="{of}graphics"/>\n'
        for of in ("node", "edge")
    ]

    def data(of: str, values: Mapping[str, int | float | str], where: str) -> str:
        return "".join(
            f'<data key="{of}_{name}">{_value(value, name, where)}</data>'
            for name, value in values.items()
        )

    def vertex(row: VertexRow) -> str:
        inner = data("n", row.values, row.name)
        label = _escaped(vertex_label(row.name, row.values), "label", row.name)
        return (
            f'    <node id="{_escaped(row.name, "id", row.name)}">'
            f'<data key="n_label">{label}</data>{inner}'
            f'<data key="n_graphics"><y:ShapeNode><y:Fill '
            f'color="{stage_colour(row.values) or "#FFFFFF"}" '
            f'transparent="false"/><y:NodeLabel xml:space="preserve">{label}</y:NodeLabel>'
            "</y:ShapeNode></data></node>\n"
        )

    def edge(number: int, row: EdgeRow) -> str:
        values: Values = {"label": row.key, **row.values}
        label = _escaped(str(values["label"]), "label", row.where)
        shown_label = label and f'<y:EdgeLabel xml:space="preserve">{label}</y:EdgeLabel>'
        return (
            f"    <edge {_ends(number, row)}>{data('e', values, row.where)}"
            '<data key="e_graphics"><y:PolyLineEdge><y:Arrows source="none" '
            f'target="standard"/>{shown_label}</y:PolyLineEdge></data></edge>\n'
        )

    return FileParts(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xmlns:y="http://www.yworks.com/xml/graphml" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
        'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
        f'{"".join(keys)}  <graph edgedefault="directed">\n'
        f"    {data('g', rows.attributes, 'graph')}\n",
        vertex,
        "",
        edge,
        "  </graph>\n</graphml>\n",
    )


def gexf_parts(rows: GraphRows) -> FileParts:
    """Return a GEXF 1.3 file, the format of Gephi.

    The kind of an edge is its label, by which Gephi keeps parallel edges apart. Its weight
    is that of the survey, where there is one.
    """
    of_itself = ("label", "weight")
    edge_columns = {c: kind for c, kind in rows.edge_columns.items() if c not in of_itself}
    name = _escaped(str(rows.attributes.get("name", "")), "name", "graph")
    hidden = rows.attributes.get("min_n")
    description = str(rows.attributes.get("kind", ""))
    description += "" if hidden is None else f", min_n {hidden}"
    columns = "".join(
        f'    <attributes class="{of}" mode="static">\n'
        + "".join(
            f'      <attribute id="{column}" title="{column}" type="{_TYPES[kind]}"/>\n'
            for column, kind in kinds.items()
        )
        + "    </attributes>\n"
        for of, kinds in (("node", rows.node_columns), ("edge", edge_columns))
    )

    def data(values: Values, where: str) -> str:
        inner = "".join(
            f'<attvalue for="{name}" value="{_value(value, name, where)}"/>'
            for name, value in values.items()
        )
        return f"<attvalues>{inner}</attvalues>"

    def vertex(row: VertexRow) -> str:
        colour = ""
        if stage := stage_colour(row.values):
            red, green, blue = bytes.fromhex(stage[1:])
            colour = f'<viz:color r="{red}" g="{green}" b="{blue}"/>'
        label = _escaped(vertex_label(row.name, row.values), "label", row.name)
        return (
            f'      <node id="{_escaped(row.name, "id", row.name)}" label="{label}">'
            f"{data(row.values, row.name)}{colour}</node>\n"
        )

    def edge(number: int, row: EdgeRow) -> str:
        label = _escaped(str(row.values.get("label", row.key)), "label", row.where)
        weight = f' weight="{row.values["weight"]!r}"' if "weight" in row.values else ""
        values = {column: row.values[column] for column in edge_columns if column in row.values}
        return (
            f'      <edge {_ends(number, row)} label="{label}" kind="{label}"'
            f"{weight}>{data(values, row.where)}</edge>\n"
        )

    return FileParts(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" '
        'version="1.3">\n'
        f"  <meta>\n    <creator>cegdb</creator>\n    <title>{name}</title>\n"
        f"    <description>{description}</description>\n  </meta>\n"
        f'  <graph defaultedgetype="directed" mode="static">\n{columns}    <nodes>\n',
        vertex,
        "    </nodes>\n    <edges>\n",
        edge,
        "    </edges>\n  </graph>\n</gexf>\n",
    )


def _ends(number: int, row: EdgeRow) -> str:
    source, target = (_escaped(name, "id", name) for name in (row.source, row.target))
    return f'id="e{number}" source="{source}" target="{target}"'


def _value(value: int | float | str, column: str, where: str) -> str:
    return _escaped(value, column, where) if isinstance(value, str) else repr(value)


def _escaped(text: str, column: str, where: str) -> str:
    """Return a text for an element or an attribute, or refuse what XML cannot hold."""
    escaped = _xml(text)
    if escaped is not None:
        return escaped
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
