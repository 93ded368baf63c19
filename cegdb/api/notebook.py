"""How objects show themselves in a notebook."""

from __future__ import annotations

import html


class Shown:
    """An object that a notebook shows as its words."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
