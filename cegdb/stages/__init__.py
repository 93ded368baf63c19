"""Stages: given by an expert or learnt, one probability vector each, as tables."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, TypeAlias, get_args

from cegdb.errors import StagingError, is_one_of
from cegdb.options import LearnOptions, StageOptions, StartRule
from cegdb.stages.build import StagingLimits, StagingRequest, build, chosen_alpha
from cegdb.stages.depends import Depends
from cegdb.stages.groups import Grouping, SituationPath
from cegdb.stages.hyperstages import Hyperstages
from cegdb.stages.priors import Prior
from cegdb.stages.rebuild import rebuild_stages
from cegdb.store.catalog import drop, row
from cegdb.store.copies import writable_copy

if TYPE_CHECKING:
    from cegdb.store import Store

Start: TypeAlias = StartRule | Grouping

__all__ = [
    "Depends",
    "Grouping",
    "Hyperstages",
    "Prior",
    "SituationPath",
    "StagingLimits",
    "Start",
    "alpha_path",
    "learn_stages",
    "rebuild_stages",
    "set_stages",
]

_ALPHAS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_PATH_COLUMNS: Final = (
    "n_stages", "df", "log_marginal_likelihood", "log_likelihood", "aic", "bic",
)  # fmt: skip


def set_stages(
    store: Store,
    tree_id: int,
    stages: Grouping | None = None,
    options: StageOptions | None = None,
    *,
    depends: Depends | None = None,
    name: str | None = None,
    default_name: str | None = None,
    replace: bool = False,
) -> int:
    """Give the stages of a tree by hand; return ``staging_id``.

    A name left out is ``default_name``, else that of the tree, with a number if it is taken.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'u'")
    ...     set_stages(store, event_tree(store, survey), {("a",): "s", ("b",): "s"})
    1
    """
    if stages is None and depends is None:
        raise StagingError("no stages are given", hint="give stages or dependence rules")
    if is_one_of(stages, get_args(StartRule)):
        raise StagingError(
            f"stages cannot be {stages!r}, which names no stages",
            hint=f"the method tree.{stages}() makes this staging; or give a mapping, a list, a "
            "frame, a file or a SELECT",
        )
    request = StagingRequest(
        options or StageOptions(),
        stages=stages,
        depends=depends,
        name=name,
        default_name=default_name,
        replace=replace,
    )
    return build(store, tree_id, request)


def learn_stages(
    store: Store,
    tree_id: int,
    options: StageOptions | None = None,
    learning: LearnOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
    limits: StagingLimits | None = None,
) -> int:
    """Learn the stages of a tree; return ``staging_id``.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     learn_stages(store, event_tree(store, survey))
    1
    """
    options, learning = options or StageOptions(), learning or LearnOptions()
    request = StagingRequest(
        options, learning, name=name, replace=replace, limits=limits or StagingLimits()
    )
    return build(store, tree_id, request)


def alpha_path(
    store: Store, tree_id: int, options: StageOptions, learning: LearnOptions
) -> list[dict[str, object]]:
    """Return what `learn_stages` would make for alpha from 0.5 to 64; nothing is kept.

    Marginal likelihoods of different alpha are those of different priors. Each staging is
    stored and dropped again, so a read-only file is copied first.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i % 2 as x, i % 4 < 2 as y from range(8) t(i)")
    ...     tree = event_tree(store, survey)
    ...     path = alpha_path(store, tree, StageOptions(), LearnOptions())
    >>> [(row["alpha"], row["n_stages"]) for row in path if row["is_default"]]
    [(1.0, 2)]
    """
    if store.read_only:
        with writable_copy(store) as copy:
            return alpha_path(copy, tree_id, options, learning)
    rows: list[dict[str, object]] = []
    with store.writing() as (_, catalog):
        default = chosen_alpha(
            catalog,
            row(catalog, "tree", tree_id),
            dataclasses.replace(options, alpha=None),
        )
        alphas = sorted({*_ALPHAS, default})
        with store.counting(len(alphas), "run") as progress:
            for alpha in alphas:
                staging_id = learn_stages(
                    store, tree_id, dataclasses.replace(options, alpha=alpha), learning
                )
                staging = row(catalog, "staging", staging_id)
                drop(catalog, "staging", staging_id)
                rows.append(
                    {
                        "alpha": alpha,
                        "is_default": alpha == default,
                        **{name: staging[name] for name in _PATH_COLUMNS},
                        "smallest_prior": staging["summary"]["smallest_prior"],
                    }
                )
                progress.read()
    return rows
