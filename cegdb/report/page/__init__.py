"""The page: one HTML file in which a reader explores a CEG and its staged tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.atomic_files import atomic_write, check_folder, suffix_of
from cegdb.errors import path_of
from cegdb.small_cells import check_min_n

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from cegdb.report.page.page_reader import Limits
    from cegdb.store import Store

PAGES = (".html", ".htm")


def write_page(
    store: Store,
    ceg_id: int,
    path: str | os.PathLike[str],
    *,
    min_n: int | None = None,
    limits: Limits | None = None,
) -> Path:
    """Write the page of a CEG and return its path; the same bytes for the same tables.

    Counts from 1 to ``min_n - 1``, and what would reveal them, are not in the file. Of a CEG or
    tree with more edges than the limits, the part that most people pass is drawn.
    """
    from cegdb.report.page.html import assemble_page
    from cegdb.report.page.page_data import page_model
    from cegdb.report.page.page_reader import Limits

    target = path_of(path)
    suffix_of(target, PAGES, "a page")
    check_folder(target)
    check_min_n(min_n)
    model = page_model(store, ceg_id, min_n, limits or Limits())
    return atomic_write(target, assemble_page(model).encode())
