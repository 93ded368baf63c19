"""The tutorial shows what it gives: texts as they are, and pictures where it has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from pathlib import Path


def shown(notebook: Any) -> list[tuple[str, object]]:
    """Return each code and what it shows; of a picture, that it is one."""
    found: list[tuple[str, object]] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = []
            for output in cell.outputs:
                data = output.get("data", {})
                texts.append(output.get("text") or data.get("text/plain"))
                texts.append(re.sub(r"(?s)<svg .*</svg>", "<svg>", data.get("text/html", "")))
                texts.append(data.get("text/markdown"))
            found.append((cell.source, texts))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_tutorial_gives_what_it_shows(tmp_path: Path) -> None:
    from tutorial.execute import NOTEBOOK, executed

    stored = nbformat.read(NOTEBOOK, as_version=4)
    again = executed(tmp_path)
    assert shown(again) == shown(stored)
    assert sum("<svg>" in str(texts) for _, texts in shown(stored)) == 5
    assert (tmp_path / "falls.html").stat().st_size < 3_000_000
