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
exclude_patterns = ["_build", "_templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
# numpydoc brings autosummary, which would look for .rst files.
autosummary_generate = False

html_theme = "pydata_sphinx_theme"
html_title = "cegdb"
html_math_renderer = "mathml"
smartquotes = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}
templates_path = ["_templates"]
html_sidebars = {"**": ["contents.html"]}
html_show_sourcelink = False

# Commands that have commands of their own.
NESTED = {"cegdb steps", "cegdb plot", "cegdb report"}


def setup(app):
    """Render formulas as MathML, which needs no script, and help as plain text."""
    app.add_html_math_renderer("mathml", (_inline_formula, None), (_formula, None))
    app.add_lexer("csv", TextLexer)
    app.connect("sphinx-click-process-description", _plain_help)
    app.connect("autodoc-process-signature", _without_constructor)
    app.connect("source-read", _with_directives)


def _with_directives(_app, name, source):
    """Make directives of what a code host would show as code: contents, API, commands.

    The contents of the site are the lists of links in the pages called index.
    """
    text = re.sub(
        r"^<!-- (auto\w+|click): ([\w.:]+) ?(.*?) -->$",
        _directive,
        source[0],
        flags=re.MULTILINE,
    )
    if name.rpartition("/")[2] == "index":
        for part in re.split(r"(?=^## )", text, flags=re.MULTILINE):
            pages = re.findall(r"^- \[.*?\]\(([^)]+)\.md\)", part, re.MULTILINE)
            title = re.match(r"## (.*)", part)
            if pages:
                caption = f":caption: {title[1]}\n" if title else ""
                entries = "\n".join(pages)
                text += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n{caption}\n{entries}\n```\n"
    source[0] = text


def _directive(match):
    kind, target, rest = match.groups()
    options = {
        "autoclass": [":members:", ":inherited-members:"],
        "automodule": [f":members: {rest}"],
        "click": [f":prog: {rest}", *([":nested: full"] if rest in NESTED else [])],
    }
    lines = [f".. {kind}:: {target}", *("   " + line for line in options.get(kind, []))]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


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
            prompt = "$ " if line.startswith("|   cegdb ") else "  "
            out.append(f"   {prompt}{line[4:]}")
        elif line.startswith("| "):
            title = line[2:].strip()
            language = "console" if title == "Examples:" else "none"
            out += [title, "", f".. code-block:: {language}", ""]
        else:
            out.append(re.sub(r"([*`_\\])", r"\\\1", line))
    lines[:] = out


def _without_constructor(_app, what, _name, _object, _options, _signature, result):
    """Objects of these classes come from a database, not from a call of the class."""
    return ("", result) if what == "class" else None
