"""A page as one HTML file that needs nothing else, loads nothing and runs only its own."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any, Final

from cegdb.graphs.label_text import xml_text

_FILES: Final = "cegdb.report.page"

#: The release of Cytoscape.js that is part of a page, and the SHA-256 of its file.
CYTOSCAPE: Final = (
    "3.35.0",
    "71fa9ebec21a7ca2c40cff6aacc30d1f6464e363662ad4b2c197e1adc770cd94",
)


def assemble_page(model: dict[str, Any]) -> str:
    r"""Return the page that shows a model made by `cegdb.report.page.page_data.page_model`.

    A browser runs only the two scripts of the package, by their hashes in the
    Content-Security-Policy: nothing of the model, and nothing from elsewhere.

    Examples
    --------
    >>> "</script><b>" in assemble_page({"name": "</script><b>"})
    False
    """
    library, script, style = (
        _text(name) for name in ("cytoscape.min.js", "page.js", "page.css")
    )
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; "
        f"style-src {_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": html.escape(policy, quote=False),
        "TITLE": html.escape(f"CEG {xml_text(model['name'])}"),
        "STYLE": style,
        "DATA": _json_for_html(model),
        "LIBRARY": library,
        "SCRIPT": script,
        "LICENSE": html.escape(_text("cytoscape.LICENSE")),
    }
    pieces = _text("page.html").split("@@")
    return "".join(parts[piece] if at % 2 else piece for at, piece in enumerate(pieces))


def _text(name: str) -> str:
    return (files(_FILES) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json_for_html(model: dict[str, Any]) -> str:
    """Return the model as JSON that ends no element of HTML, whatever its texts are."""
    text = json.dumps(
        model, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
    )
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
