"""In a Jupyter kernel without ipywidgets every kind of source is read, and nothing is lost."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import nbclient
import nbformat
import pytest

if TYPE_CHECKING:
    from pathlib import Path


START = """
import sys


class NoWidgets:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ipywidgets":
            raise ModuleNotFoundError("No module named 'ipywidgets'", name="ipywidgets")


sys.meta_path.insert(0, NoWidgets())
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pyreadstat

import cegdb

db = cegdb.open("survey.duckdb")
frame = pd.DataFrame({"a": ["yes", "no"] * 200, "b": [1, 2, 3, 4] * 100})
try:
    duckdb.connect().execute("set enable_progress_bar = true")
except duckdb.Error as error:
    print("refused:", error)


def read(source):
    survey = db.ingest(source, name="s", replace=True)
    survey.append(source)
    db.codebook(source)
    print(survey.receipt["respondents"])
"""
SOURCES = {
    "CSV": "frame.to_csv('s.csv', index=False)\nread('s.csv')",
    # Of little text the progress is not tracked.
    "large CSV": "pd.DataFrame({'a': ['x' * 120] * 36_000}).to_csv('l.csv', index=False)\n"
    "read('l.csv')",
    "DataFrame": "read(frame)",
    "polars": "read(pl.DataFrame({'a': frame['a'].to_list(), 'b': frame['b'].to_list()}))",
    "Arrow": "read(pa.table({'a': frame['a'].to_list(), 'b': frame['b'].to_list()}))",
    "SELECT": "read('select i % 2 as a, i % 4 as b from range(400) t(i)')",
    "compressed CSV": "frame.to_csv('s.csv.gz', index=False)\nread('s.csv.gz')",
    "files of a folder": "import os\nos.mkdir('waves')\n"
    "for i in 1, 2:\n    frame[i - 1::2].to_csv(f'waves/{i}.csv', index=False)\n"
    "read('waves/*.csv')",
    "list of files": "read(['waves/1.csv', 'waves/2.csv'])",
    ".sav": "pyreadstat.write_sav(frame, 's.sav')\nread('s.sav')",
    ".zsav": "pyreadstat.write_sav(frame, 's.zsav', compress=True)\nread('s.zsav')",
    ".por": "pyreadstat.write_por(frame, 's.por')\nread('s.por')",
    # No library here writes .sas7bdat; the same process reads it as .xpt.
    ".xpt": "pyreadstat.write_xport(frame, 's.xpt')\nread('s.xpt')",
    ".dta": "pyreadstat.write_dta(frame, 's.dta')\nread('s.dta')",
    "xlsx": "frame.to_excel('s.xlsx', index=False)\nread('s.xlsx')",
    "Parquet": "pa.parquet.write_table(pa.table({'a': [1, 2] * 200}), 's.parquet')\n"
    "read('s.parquet')",
}
MODEL = """
survey = db.ingest(frame, name="model", replace=True)
ceg = survey.event_tree("tree").learn_stages("staged").to_ceg("ceg")
print(len(ceg.assign(frame).rows), len(db.sql("select 1 as x")))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_source_is_read_in_a_kernel_without_ipywidgets(tmp_path: Path) -> None:
    cells = [START, *SOURCES.values(), MODEL]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells]
    )
    client = nbclient.NotebookClient(
        notebook,
        timeout=240,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    printed = [
        "".join(output.get("text", output.get("evalue", "")) for output in cell.outputs)
        for cell in notebook.cells
    ]
    assert "ipywidgets" in printed[0]  # DuckDB does refuse, or this shows nothing
    expected = dict.fromkeys(SOURCES, "800\n") | {"large CSV": "72000\n"}
    assert dict(zip(SOURCES, printed[1:], strict=False)) == expected
    assert printed[-1] == "400 1\n"
