"""Tables as files: the rows of any table or view of an object, and tables for papers.

CSV, Parquet and JSON are written by DuckDB; Markdown, HTML and LaTeX by `cegdb.render`.
"""

from __future__ import annotations

from cegdb.export.object_tables import export_table, kind_of, tables_of
from cegdb.export.row_files import TABLE_FILES, export_query, table_file, write_frame
from cegdb.export.stage_tables import stage_table_text
from cegdb.render.writers import TEXT_FILES

__all__ = [
    "TABLE_FILES",
    "TEXT_FILES",
    "export_query",
    "export_table",
    "kind_of",
    "stage_table_text",
    "table_file",
    "tables_of",
    "write_frame",
]
