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
    """Write the page of a CEG and return its path.

    Parameters
    ----------
    store
        Where it is.
    ceg_id
        The CEG.
    path
        Ends in ``.html``. A file there is replaced, and stays as it was if anything fails.
    min_n
        Counts from 1 to ``min_n - 1`` are not in the file, nor what would reveal them: see
        `cegdb.small_cells`.
    limits
        How much the page holds. Default: up to 2,000 edges drawn of the CEG and of the tree.

    Raises
    ------
    GraphError
        The suffix is another one, or the file cannot be written.
    MissingExtraError
        The extra ``draw`` is not installed.
    QueryError
        ``min_n`` is not a whole number from 1 on.

    Notes
    -----
    The same bytes for the same tables. Of a CEG or tree of more edges than the limit, the
    part that most people pass is drawn.

    Examples
    --------
    >>> from cegdb.ceg import build_ceg
    >>> from cegdb.ingest import ingest
    >>> from cegdb.stages import set_stages
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> import tempfile
    >>> with Store.open() as store, tempfile.TemporaryDirectory() as folder:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     ceg = build_ceg(store, set_stages(store, event_tree(store, survey), {}))
    ...     write_page(store, ceg, folder + "/two.html").name
    'two.html'
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
