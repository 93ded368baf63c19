"""Graphs for other programs: networkx in and out, DOT text, pictures, graph files.

Rows of the views become a ``networkx.MultiDiGraph``; the DOT text is written here and
laid out by the Graphviz that the wheel of pygraphviz carries (the extra ``draw``).
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import secrets
import threading
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from cegdb.errors import GraphError, MissingExtraError, is_one_of, listed, path_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import networkx as nx

    Graph: TypeAlias = nx.MultiDiGraph[str]

EdgeInfo: TypeAlias = Literal["probability", "count", "prior", "posterior", "none"]

#: The most edges that ``draw`` and ``svg`` lay out: seconds for a usual graph, half a
#: minute at worst (many edges that span many heights).
MAX_DRAWN_EDGES = 2_000

PICTURES = (".svg", ".png", ".pdf", ".dot")
GRAPH_FILES = (".graphml", ".json", ".dot")

_COLUMNS: dict[str, Callable[[Any], int | float | str]] = {
    **dict.fromkeys(("label", "variable", "stage", "colour"), str),
    **dict.fromkeys(("position_id", "vertex_id", "depth", "height"), int),
    **dict.fromkeys(("n", "n_situations"), int),
    **dict.fromkeys(("weight", "prior", "probability"), float),
}

_HIDDEN = " … "
_LINE_WIDTH = 28  # characters; a longer label continues on the next line
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters without width
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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
# Beyond 60 inches a PNG takes too much memory, beyond 200 a PDF cannot be read: such a
# picture is scaled down.
_FORMAT_SETTINGS = {
    "png": {"dpi": "200", "size": "60,60"},
    "pdf": {"size": "200,200"},
}
_graphviz_lock = threading.Lock()  # Graphviz keeps global state


def ceg_graph(
    name: str,
    positions: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    min_n: int | None = None,
) -> Graph:
    """Return a Chain Event Graph as a networkx graph.

    Parameters
    ----------
    name
        Name of the CEG.
    positions
        One row a position, in the order wanted: ``position`` (``w0``, ``w_inf``),
        ``position_id``, ``stage``, ``variable``, ``height``, ``n``,
        ``n_situations``, ``colour`` (``#rrggbb``).
    edges
        One row an edge: ``source``, ``target``, ``label``, ``variable``, ``n``,
        ``weight``, ``prior``, ``probability``.
    min_n
        Smaller counts were left out of the rows; the graph's attribute ``min_n``.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are the shown names, and edge keys the labels: they differ within a
        floret, so parallel edges keep apart. The other columns are attributes (int,
        float or str), None left out; the graph's are ``name`` and ``kind``.

    Raises
    ------
    GraphError
        A row repeats another one, or an edge names an unknown position.

    Examples
    --------
    >>> graph = ceg_graph(
    ...     "coin",
    ...     [{"position": "w0", "variable": "Toss", "n": 10}, {"position": "w_inf"}],
    ...     [
    ...         {"source": "w0", "target": "w_inf", "label": "heads", "n": 6},
    ...         {"source": "w0", "target": "w_inf", "label": "tails", "n": 4},
    ...     ],
    ... )
    >>> graph.edges["w0", "w_inf", "tails"]
    {'label': 'tails', 'n': 4}
    """
    return _graph(name, "ceg", "position", positions, edges, min_n)


def tree_graph(
    name: str,
    vertices: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    min_n: int | None = None,
) -> Graph:
    """Return an event tree or a staged tree as a networkx graph.

    Parameters
    ----------
    name
        Name of the tree or of the staging.
    vertices
        One row a vertex, in the order wanted: ``vertex`` (situations ``s0``, leaves
        ``l0``), ``vertex_id``, ``depth``, ``height``, ``variable``, ``n``, ``stage``,
        ``colour``.
    edges
        As for `ceg_graph`; ``prior`` and ``probability`` are None without stages.
    min_n
        As for `ceg_graph`.

    Returns
    -------
    networkx.MultiDiGraph
        As for `ceg_graph`; ``kind`` is ``staged_tree`` or, without any stage,
        ``event_tree``.

    Raises
    ------
    GraphError
        A row repeats another one, or an edge names an unknown vertex.

    Examples
    --------
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss", "n": 6}, {"vertex": "l0", "n": 6}],
    ...     [{"source": "s0", "target": "l0", "label": "heads", "n": 6}],
    ... )
    >>> graph.graph["kind"], list(graph.edges(keys=True))
    ('event_tree', [('s0', 'l0', 'heads')])
    """
    staged = any(row.get("stage") is not None for row in vertices)
    kind = "staged_tree" if staged else "event_tree"
    return _graph(name, kind, "vertex", vertices, edges, min_n)


def _graph(
    name: str,
    kind: str,
    key: str,
    nodes: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    min_n: int | None,
) -> Graph:
    """Return the graph of the rows; networkx itself would merge equal ones."""
    import networkx as nx

    graph: Graph = nx.MultiDiGraph(name=name, kind=kind)
    if min_n is not None:
        graph.graph["min_n"] = min_n
    for row in nodes:
        node = str(row[key])
        if node in graph:
            raise GraphError(f"{key} {node!r} of {name!r} is given twice")
        graph.add_node(node, **_attributes(row))
    for row in edges:
        ends = source, target = str(row["source"]), str(row["target"])
        label = str(row["label"])
        unknown = [end for end in ends if end not in graph]
        if unknown:
            raise GraphError(
                f"edge {source} -> {target} of {name!r} ends at an unknown {key}: "
                f"{listed(unknown)}"
            )
        if graph.has_edge(source, target, label):
            raise GraphError(
                f"edge {source} -> {target} of {name!r} with label {label!r} is given twice"
            )
        graph.add_edge(source, target, label, **_attributes(row))
    return graph


def _attributes(row: Mapping[str, object]) -> dict[str, int | float | str]:
    """Return the typed values of the row; None and NaN are left out."""
    return {
        column: as_type(row[column])
        for column, as_type in _COLUMNS.items()
        if row.get(column) is not None and row[column] == row[column]
    }


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
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss"}, {"vertex": "l0"}],
    ...     [{"source": "s0", "target": "l0", "label": 'the "head"', "n": 6012}],
    ... )
    >>> print(to_dot(graph, edge_info="count").splitlines()[-2].strip())
    "s0" -> "l0" [key="the \"head\"", label="the \"head\"\n 6,012 "];
    """
    if not is_one_of(edge_info, get_args(EdgeInfo)):
        raise GraphError(f"edge_info is {edge_info!r}, expected {_choice(get_args(EdgeInfo))}")
    is_ceg = graph.graph.get("kind") == "ceg"
    hides = _hidden_columns(graph)
    lines = [
        f"digraph {_quoted(_visible(str(graph.graph.get('name', ''))))} {{",
        _HEAD.replace("ORDERING", "" if is_ceg else "out"),
    ]
    shared = _shared_stages(graph)
    for node, data in graph.nodes(data=True):
        text = [node, *([data["variable"]] if "variable" in data else [])]
        look = ""
        if "colour" in data and data.get("stage") in shared:
            colour = str(data["colour"])
            look = f", fillcolor={_quoted(colour)}, fontcolor={_quoted(_ink(colour))}"
        elif graph.out_degree(node) == 0:
            text = ["w∞" if node == "w_inf" else node]
            sink = ', shape="doublecircle", margin="0.02"'
            look = sink if is_ceg else ', color="gray"'
        lines.append(f"  {_quoted(_visible(node))} [label={_label(text)}{look}];")
    for source, target, key, data in graph.edges(keys=True, data=True):
        text = [str(data.get("label", key)), *_edge_number(data, hides, edge_info)]
        lines.append(
            f"  {_quoted(_visible(source))} -> {_quoted(_visible(target))} "
            f"[key={_quoted(str(key))}, label={_label(text)}];"
        )
    return "\n".join([*lines, "}", ""])


def _shared_stages(graph: Graph) -> set[str]:
    """Return the stages with two situations or more; the others stay white."""
    situations: dict[str, int] = {}
    for _, data in graph.nodes(data=True):
        if "stage" in data:
            stage = data["stage"]
            situations[stage] = situations.get(stage, 0) + data.get("n_situations", 1)
    return {stage for stage, number in situations.items() if number > 1}


def _ink(colour: str) -> str:
    """Return black or white, whichever contrasts more with ``#rrggbb`` (WCAG 2)."""
    if not re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        return "#000000"
    red, green, blue = ((byte / 255) ** 2.2 for byte in bytes.fromhex(colour[1:]))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.18 else "#ffffff"


def _hidden_columns(graph: Graph) -> set[str]:
    """Return the columns that an edge lacks only where its small cells are hidden."""
    if "min_n" not in graph.graph:
        return set()
    return {"n"} if graph.graph.get("kind") == "event_tree" else {"n", "probability"}


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
    return _NOT_XML.sub(
        lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "\ufffd", text
    )


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    edge_info: EdgeInfo = "probability",
) -> Path:
    """Draw the graph into a file and return its path.

    Parameters
    ----------
    graph, edge_info
        As for `to_dot`.
    path
        Where to: ``.svg``, ``.png`` (200 dots an inch), ``.pdf`` or ``.dot``. A file
        there is replaced, and stays as it was if anything fails.

    Raises
    ------
    GraphError
        Unknown suffix, more edges than `MAX_DRAWN_EDGES` (not for ``.dot``), or the
        file cannot be written.
    MissingExtraError
        pygraphviz is not installed (not for ``.dot``).

    Examples
    --------
    >>> import tempfile
    >>> graph = tree_graph("one", [{"vertex": "s0"}], [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(graph, folder + "/one.dot").name
    'one.dot'
    """
    target = path_of(path)
    suffix = check_picture(target)
    if suffix == ".dot":
        return write_whole(target, to_dot(graph, edge_info=edge_info).encode())
    return write_whole(target, _rendered(graph, suffix[1:], edge_info))


def _graphviz() -> Any:
    try:
        import pygraphviz
    except ImportError as error:
        raise MissingExtraError(
            "a picture needs pygraphviz, which is not installed",
            hint='pip install "cegdb[draw]" (a .dot file needs nothing)',
        ) from error
    return pygraphviz


def check_picture(path: Path) -> str:
    """Return the suffix of a picture that can be drawn to a path, before it is drawn.

    Raises
    ------
    GraphError
        The suffix is unknown, or there is no such folder.
    MissingExtraError
        pygraphviz is not installed (not for ``.dot``).

    Examples
    --------
    >>> from pathlib import Path
    >>> check_picture(Path("falls.dot"))
    '.dot'
    """
    suffix = _suffix(path, PICTURES, "a picture")
    _check_folder(path)
    if suffix != ".dot":
        _graphviz()
    return suffix


def svg(graph: Graph, *, edge_info: EdgeInfo = "probability") -> str:
    """Return the picture as an ``<svg>`` element, for a notebook or a web page.

    Parameters
    ----------
    graph, edge_info
        As for `to_dot`; refusals as for `draw`.

    Examples
    --------
    >>> svg(tree_graph("one", [{"vertex": "s0"}], []))[:11]
    '<svg width='
    """
    document = _rendered(graph, "svg", edge_info).decode()
    return document[document.index("<svg ") :]


def _rendered(graph: Graph, picture: str, edge_info: EdgeInfo) -> bytes:
    """Return the picture that Graphviz makes of the DOT text."""
    if graph.number_of_edges() > MAX_DRAWN_EDGES:
        raise GraphError(
            f"the graph has {graph.number_of_edges():,} edges, and a picture holds at "
            f"most {MAX_DRAWN_EDGES:,}",
            hint="write a .dot or .graphml file for a program made for large graphs, "
            "or draw a tree of fewer variables",
        )
    pygraphviz = _graphviz()
    # AGraph(string=...) would take a label such as charset="..." for a setting.
    layout = pygraphviz.AGraph()
    # pygraphviz writes a warning on stderr from 1,000 nodes on.
    with _graphviz_lock, contextlib.redirect_stderr(io.StringIO()):
        layout.from_string(to_dot(graph, edge_info=edge_info))
        layout.graph_attr.update(_FORMAT_SETTINGS.get(picture, {}))
        content: bytes = layout.draw(format=picture, prog="dot")
    if picture == "svg":  # the comments before <svg name the version of Graphviz
        head, element = content.split(b"<svg ", 1)
        return head[: head.index(b"<!-- ")] + b"<svg " + element
    if picture == "pdf":  # as many spaces as the day had, since offsets are written
        return re.sub(rb"/CreationDate \(.*?\)", lambda m: b" " * len(m[0]), content)
    return content


def write_graph(graph: Graph, path: str | os.PathLike[str]) -> Path:
    """Write the graph into a file for another program and return its path.

    Parameters
    ----------
    graph
        A graph made by `ceg_graph` or `tree_graph`.
    path
        Where to: ``.graphml``, ``.json`` (node-link data) or ``.dot``; the same bytes
        for the same graph. A file there is replaced, and stays as it was if anything
        fails.

    Raises
    ------
    GraphError
        Unknown suffix, a control character that GraphML cannot hold, or the file
        cannot be written.

    Notes
    -----
    ``networkx.node_link_graph(json.load(file), edges="edges")`` gives the graph back.
    In GraphML the label is data, and an edge's id is ``e0``, ``e1``, ...: ids must be
    unique there, and labels are not.

    Examples
    --------
    >>> import tempfile
    >>> graph = tree_graph("one", [{"vertex": "s0"}], [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(graph, folder + "/one.graphml").name
    'one.graphml'
    """
    import networkx as nx

    target = path_of(path)
    suffix = _suffix(target, GRAPH_FILES, "a graph")
    if suffix == ".dot":
        return write_whole(target, to_dot(graph).encode())
    if suffix == ".json":
        content = nx.node_link_data(graph, edges="edges")
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
        return write_whole(target, f"{text}\n".encode())
    _check_xml(graph)
    numbered: Graph = nx.MultiDiGraph(**graph.graph)
    numbered.add_nodes_from(graph.nodes(data=True))
    for number, (source, end, data) in enumerate(graph.edges(data=True)):
        numbered.add_edge(source, end, f"e{number}", **data)
    stream = io.BytesIO()
    # Not write_graphml: its bytes depend on whether lxml is installed.
    nx.write_graphml_xml(numbered, stream)
    # ElementTree leaves a carriage return as it is, and a reader would drop it.
    return write_whole(target, stream.getvalue().replace(b"\r", b"&#13;") + b"\n")


def _check_xml(graph: Graph) -> None:
    """Refuse a text with a character that XML 1.0 has no way to write."""
    texts = chain(
        (("graph", key, value) for key, value in graph.graph.items()),
        ((node, key, v) for node, d in graph.nodes(data=True) for key, v in d.items()),
        (
            (f"edge {source} -> {target}", key, value)
            for source, target, data in graph.edges(data=True)
            for key, value in data.items()
        ),
    )
    for where, key, value in texts:
        found = _NOT_XML.search(value) if isinstance(value, str) else None
        if found:
            raise GraphError(
                f"{key} {value!r} of {where} has the character "
                f"U+{ord(found[0]):04X}, which GraphML cannot hold",
                hint="write a .json or .dot file",
            )


def _suffix(path: Path, allowed: Sequence[str], what: str) -> str:
    """Return the suffix in lower case, or refuse it."""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        raise GraphError(
            f"{path.name!r} does not say which kind of file to write",
            hint=f"{what} is written as {_choice(allowed)}",
        )
    return suffix


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise GraphError(f"there is no folder {str(path.parent)!r} to write to")


def _choice(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all, and return its path.

    Raises
    ------
    GraphError
        There is no such folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "one.txt"), b"one").read_bytes()
    b'one'
    """
    _check_folder(path)
    beside = path.with_name(f".cegdb-{secrets.token_hex(8)}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise GraphError(f"cannot write {str(path)!r}: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)
    return path
