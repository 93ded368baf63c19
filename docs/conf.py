"""Sphinx configuration: ``sphinx-build -W docs docs/_build`` builds the site."""

from __future__ import annotations

from cegdb.version import __version__

project = "cegdb"
author = "The cegdb developers"
copyright = "The cegdb developers"  # noqa: A001
release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_ext"]
nitpicky = False
suppress_warnings = ["myst.header"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autosummary_generate = True
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "cegdb"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}
html_static_path = ["_static"]
html_show_sourcelink = False
