"""Graphs as DOT text, every label shown as it is."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from cegdb.errors import GraphError, is_one_of
from cegdb.graphs.rows import graph_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from cegdb.graphs.convert import Graph
    from cegdb.graphs.rows import GraphRows

EdgeInfo: TypeAlias = Literal["probability", "count", "prior", "posterior", "none"]

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HIDDEN = " … "
_LINE_WIDTH = 28  # characters; a longer label continues on the next line
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters without width
# ORDERING: a tree keeps its children in the order of the levels, which in a CEG would
# cost crossings. nslimit: a fifth of the time, for edges slightly less straight.
_HEAD = """\
  graph [charset="UTF-8", rankdir="LR", ordering="ORDERING", nslimit="4",
    nodesep="0.15", ranksep="0.3"];
  node [shape="box", style="rounded,filled", fillcolor="white", color="#404040",
    fontname="Helvetica,Arial,sans-serif", fontsize="11", margin="0.07,0.03",
    width="0.3", height="0.25"];
  edge [color="#606060", fontname="Helvetica,Arial,sans-serif", fontsize="10",
    arrowsize="0.5"];"""


def to_dot(graph: Graph, *, edge_info: EdgeInfo = "probability") -> str:
    r"""Return the graph in Graphviz' DOT language, from left to right.

    Parameters
    ----------
    graph
        A graph made by `ceg_graph` or `tree_graph`.
    edge_info
        What an edge shows below its label: the ``probability`` (three decimals; more
        next to 0 and 1), the ``count`` of answers, the ``prior`` or ``posterior``
        (prior + count) of the Dirichlet distribution, or ``none``. An edge without
        that number shows its label only, or ``…`` where a small cell is hidden (the
        graph's attribute ``min_n`` says that some are).

    Returns
    -------
    str
        The same text for the same graph, however large. A node shows its name and
        its variable, filled with the colour of its stage if it shares it. Labels show
        as they are, whatever they contain; beyond 28 characters they continue on the
        next line, and control characters show as their symbols (``␀``). The ``key``
        of an edge is its label, with two backslashes for one.

    Raises
    ------
    GraphError
        ``edge_info`` is none of the choices.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss"}, {"vertex": "l0"}],
    ...     [{"source": "s0", "target": "l0", "label": 'the "head"', "n": 6012}],
    ... )
    >>> print(to_dot(graph, edge_info="count").splitlines()[-2].strip())
    "s0" -> "l0" [key="the \"head\"", label="the \"head\"\n 6,012 "];
    """
    return "".join(dot_lines(graph_rows(graph), edge_info=edge_info))


def dot_lines(rows: GraphRows, *, edge_info: EdgeInfo = "probability") -> Iterator[str]:
    r"""Yield the lines of `to_dot`, one node or edge at a time.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> graph = tree_graph("one", [{"vertex": "l0"}], [])
    >>> list(dot_lines(graph_rows(graph)))[-2:]
    ['  "l0" [label="l0", color="gray"];\n', '}\n']
    """
    if not is_one_of(edge_info, get_args(EdgeInfo)):
        raise GraphError(f"edge_info is {edge_info!r}, expected {choice(get_args(EdgeInfo))}")
    is_ceg = rows.attributes.get("kind") == "ceg"
    hides = _hidden_columns(rows.attributes)
    yield f"digraph {_quoted(_visible(str(rows.attributes.get('name', ''))))} {{\n"
    yield _HEAD.replace("ORDERING", "" if is_ceg else "out") + "\n"
    for node, data, is_shared, is_end in rows.nodes():
        text = [node, *([str(data["variable"])] if "variable" in data else [])]
        look = ""
        if "colour" in data and is_shared:
            colour = str(data["colour"])
            look = f", fillcolor={_quoted(colour)}, fontcolor={_quoted(_ink(colour))}"
        elif is_end:
            text = ["w∞" if node == "w_inf" else node]
            sink = ', shape="doublecircle", margin="0.02"'
            look = sink if is_ceg else ', color="gray"'
        yield f"  {_quoted(_visible(node))} [label={_label(text)}{look}];\n"
    for source, target, key, data in rows.edges():
        text = [str(data.get("label", key)), *_edge_number(data, hides, edge_info)]
        yield (
            f"  {_quoted(_visible(source))} -> {_quoted(_visible(target))} "
            f"[key={_quoted(key)}, label={_label(text)}];\n"
        )
    yield "}\n"


def _ink(colour: str) -> str:
    """Return black or white, whichever contrasts more with ``#rrggbb`` (WCAG 2)."""
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        return "#000000"
    red, green, blue = ((byte / 255) ** 2.2 for byte in bytes.fromhex(colour[1:]))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.18 else "#ffffff"


def _hidden_columns(attributes: Mapping[str, object]) -> set[str]:
    """Return the columns that an edge lacks only where its small cells are hidden."""
    if "min_n" not in attributes:
        return set()
    return {"n"} if attributes.get("kind") == "event_tree" else {"n", "probability"}


def _edge_number(
    data: Mapping[str, Any], hides: Collection[str], edge_info: EdgeInfo
) -> list[str]:
    """Return the line with the edge's number, if any; its spaces keep curves off."""
    column = {"count": "n", "posterior": "prior"}.get(edge_info, edge_info)
    if column not in data:
        return [_HIDDEN] if column in hides else []
    if edge_info == "posterior" and "n" in hides and "n" not in data:
        return [_HIDDEN]
    if edge_info == "probability":
        return [f" {_probability(data[column])} "]
    more = data.get("n", 0) if edge_info == "posterior" else 0
    return [f" {_compact(data[column] + more)} "]


def _probability(value: float) -> str:
    """Return three decimals or four; 0 and 1 only for what is 0 or 1 itself."""
    if value == 0 or abs(value - 1) < 1e-12:
        return f"{value:.0f}"
    for digits in (3, 4):
        text = f"{value:.{digits}f}"
        if float(text) not in (0, 1):
            return text
    return "<0.0001" if value < 0.5 else ">0.9999"


def _compact(value: float) -> str:
    """Return at most three decimals; more only where all three would be 0."""
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:.2g}" if value and text in ("0", "-0") else text


def _quoted(text: str) -> str:
    """Return a DOT string; only NUL cannot be held, and shows as its symbol."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "␀")
    return f'"{escaped}"'


def _label(texts: Sequence[str]) -> str:
    """Return a DOT label that Graphviz shows literally, each text on its own lines."""
    lines = (_quoted(line.replace("&", "&amp;"))[1:-1] for line in _lines(texts))
    return '"' + "\\n".join(lines) + '"'


def _lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a label; joined, they are the texts, save line breaks.

    A line without width gets a space: Graphviz 14 crashes on one in a PNG or PDF.
    """
    for line in chain.from_iterable(map(_LINE_BREAK.split, texts)):
        rest = _visible(line)
        while len(rest) > _LINE_WIDTH:
            end = rest.rfind(" ", 0, _LINE_WIDTH) + 1 or _LINE_WIDTH
            while end < len(rest) and _joined(rest[end - 1], rest[end]):
                end += 1
            yield rest[:end] + _room(rest[:end])
            rest = rest[end:]
        yield rest + _room(rest)


def _joined(left: str, right: str) -> bool:
    """Return whether the two code points are (as a rule) one character."""
    return "\u200d" in (left, right) or unicodedata.category(right)[0] == "M"


def _room(line: str) -> str:
    """Return a space if no character of the line has a width for sure."""
    has_width = any(
        unicodedata.category(character)[0] in "LNPS" and character not in _FILLERS
        for character in line
    )
    return "" if has_width else " "


def _visible(text: str) -> str:
    """Return the text with a symbol for each character that XML forbids."""
    return NOT_XML.sub(
        lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "\ufffd", text
    )


def choice(names: Sequence[str]) -> str:
    """Return names to choose from.

    Examples
    --------
    >>> choice(("a", "b", "c"))
    'a, b or c'
    """
    return f"{', '.join(names[:-1])} or {names[-1]}"
