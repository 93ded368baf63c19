"""Graphs as files for other programs, written whole or not at all."""

from __future__ import annotations

import io
import json
import secrets
from itertools import chain
from typing import TYPE_CHECKING

from cegdb.errors import GraphError, path_of
from cegdb.graphs.dot import choice, to_dot
from cegdb.graphs.texts import NOT_XML

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from cegdb.graphs.convert import Graph

GRAPH_FILES = (".graphml", ".json", ".dot")


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
    >>> from cegdb.graphs import tree_graph
    >>> import tempfile
    >>> graph = tree_graph("one", [{"vertex": "s0"}], [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(graph, folder + "/one.graphml").name
    'one.graphml'
    """
    import networkx as nx

    target = path_of(path)
    suffix = suffix_of(target, GRAPH_FILES, "a graph")
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
        found = NOT_XML.search(value) if isinstance(value, str) else None
        if found:
            raise GraphError(
                f"{key} {value!r} of {where} has the character "
                f"U+{ord(found[0]):04X}, which GraphML cannot hold",
                hint="write a .json or .dot file",
            )


def suffix_of(path: Path, allowed: Sequence[str], what: str) -> str:
    """Return the suffix of a file to write in lower case, or refuse it.

    Examples
    --------
    >>> from pathlib import Path
    >>> suffix_of(Path("falls.DOT"), GRAPH_FILES, "a graph")
    '.dot'
    """
    suffix = path.suffix.lower()
    if suffix not in allowed:
        raise GraphError(
            f"{path.name!r} does not say which kind of file to write",
            hint=f"{what} is written as {choice(allowed)}",
        )
    return suffix


def check_folder(path: Path) -> None:
    """Refuse a file to write in a folder that is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_folder(Path("falls.dot"))
    """
    if not path.parent.is_dir():
        raise GraphError(f"there is no folder {str(path.parent)!r} to write to")


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
    check_folder(path)
    beside = path.with_name(f".cegdb-{secrets.token_hex(8)}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise GraphError(f"cannot write {str(path)!r}: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)
    return path
