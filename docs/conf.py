"""Sphinx configuration: ``sphinx-build -W docs docs/_build`` builds the site."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The site documents the package beside it, whatever else is installed.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer

from cegdb.version import __version__

project = "cegdb"
author = "The cegdb developers"
copyright = "The cegdb developers"  # noqa: A001
release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_click",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_ext"]
nitpicky = False
suppress_warnings = ["myst.header"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
myst_update_mathjax = False

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
autosummary_generate = False

html_theme = "pydata_sphinx_theme"
html_title = "cegdb"
html_math_renderer = "mathml"
smartquotes = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False


def setup(app):
    """Render formulas as MathML, which needs no script, and help as plain text."""
    app.add_html_math_renderer("mathml", (_inline_formula, None), (_formula, None))
    app.add_lexer("csv", TextLexer)
    app.connect("sphinx-click-process-description", _plain_help)
    app.connect("autodoc-process-signature", _without_constructor)


def _inline_formula(translator, node):
    translator.body.append(convert(node.astext()))
    raise SkipNode


def _formula(translator, node):
    translator.body.append(f"<div>{convert(node.astext(), display='block')}</div>")
    raise SkipNode


def _plain_help(_app, _context, lines):
    """Escape what reStructuredText takes for markup; examples are a block of their own."""
    out = []
    for line in lines:
        # sphinx-click makes lines that click must not wrap a line block.
        if line.startswith("|   "):
            out.append("   $ " + line[4:])
        elif line.startswith("| ") and line[2:].strip() == "Examples:":
            out += ["Examples:", "", ".. code-block:: console", ""]
        else:
            out.append(re.sub(r"([*`_\\])", r"\\\1", line))
    lines[:] = out


def _without_constructor(_app, what, _name, _object, _options, _signature, result):
    """Objects of these classes come from a database, not from a call of the class."""
    return ("", result) if what == "class" else None
