"""Execute the tutorial: ``python tests/tutorial/execute.py`` writes it anew."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

sys.path.append(str(Path(__file__).resolve().parents[1]))
from datasets import opened, survey_file

NOTEBOOK = Path(__file__).with_name("falls.ipynb")


def executed(folder: Path) -> Any:
    """Return the notebook with the outputs of a fresh kernel, run in a folder."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with opened(survey_file("falls_cegpy")) as file:
        (folder / "falls.csv").write_text(file.read(), encoding="utf-8", newline="")
    client = NotebookClient(
        notebook,
        timeout=120,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    return notebook


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        nbformat.write(executed(Path(where)), NOTEBOOK)
