"""Execute the tutorial: ``python tests/tutorial/execute.py falls_cegpy.csv`` writes it anew."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("falls.ipynb")


def executed(data: Path, folder: Path) -> Any:
    """Return the notebook with the outputs of a fresh kernel, run in a folder."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    shutil.copyfile(data, folder / "falls.csv")
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
        nbformat.write(executed(Path(sys.argv[1]), Path(where)), NOTEBOOK)
