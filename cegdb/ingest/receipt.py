"""The receipt of an ingest: what became of every row and cell, and what looks wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from cegdb.ingest.codebook.gates import gate_hints
from cegdb.ingest.coding.count_column import looks_like
from cegdb.ingest.suspects import suspects

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sqlalchemy as sa

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.files.relation import Relation
    from cegdb.ingest.settings import Settings


def receipt_of(
    relation: Relation,
    settings: Settings,
    variables: list[Variable],
    *,
    n_lines: int,
    n_zero: int,
    n: int,
    weights: dict[str, object] | None,
    gates: list[dict[str, object]],
    effects: dict[str, float],
    patterns: dict[str, object],
    twins: list[str],
) -> dict[str, object]:
    """Return the receipt as it is stored in the catalog.

    Parameters
    ----------
    relation, settings, variables
        What was read, how, and the levels found.
    n_lines, n_zero, n
        Lines of the source with the right shape, those with a count of 0, respondents.
    weights, gates, effects, patterns
        What `check_weights`, `apply_gates`, `design_effects` and `missing_patterns` say
        of them.
    twins
        Surveys already made of the same bytes.

    Returns
    -------
    dict
        ``rows_read``, ``rows_kept``, ``rows_dropped`` (reason -> rows), ``bad_rows`` (the
        first of those skipped), ``respondents``, ``weights``, ``gates``,
        ``design_effects`` (variable -> effect), ``patterns``, ``format`` (encoding and
        dialect used), ``columns_found_as``, ``cells`` (variable -> kind -> respondents),
        ``declared_labels``, ``notes`` (what was done) and ``hints`` (what looks wrong).
    """
    readers = [part.csv for part in (relation.parts or [relation]) if part.csv is not None]
    skipped = [reader.skipped for reader in readers if reader.skipped is not None]
    n_bad = sum(rows.count for rows in skipped)
    dropped = {f"{settings.count} is 0": n_zero, "of another shape": n_bad}
    return {
        "rows_read": n_lines + n_bad,
        "rows_kept": n_lines - n_zero,
        "rows_dropped": {why: rows for why, rows in dropped.items() if rows},
        "bad_rows": [row._asdict() for rows in skipped for row in rows.first],
        "respondents": n,
        "weights": weights,
        "gates": gates,
        "design_effects": effects,
        "patterns": patterns,
        "format": relation.format,
        "columns_found_as": settings.found_as,
        "cells": {variable.name: variable.kinds() for variable in variables},
        "declared_labels": {
            variable.name: apart for variable in variables if (apart := variable.set_apart())
        },
        "notes": relation.notes,
        "hints": [
            *(f"the same bytes were read before, as survey {name!r}" for name in twins),
            *_hints(relation, settings),
            *settings.hints,
            *gate_hints(gates),
            *suspects(variables, settings),
        ],
    }


def _hints(relation: Relation, settings: Settings) -> list[str]:
    """Return what looks wrong about columns."""
    said = {"count": settings.count, "weight": settings.weight}
    return [
        f"column {name!r} looks like a {what}: if it is one, ingest with {what}={name!r}"
        for name in settings.variables
        if (what := looks_like(name)) and said[what] is None
    ] + [
        f"column {asked!r} was found as {found!r} in {relation.shown}"
        for asked, found in settings.found_as.items()
    ]


def fingerprint_of(files: Iterable[str]) -> str | None:
    """Return a hash of the bytes of files, None where there are none.

    Examples
    --------
    >>> fingerprint_of([]) is None
    True
    """
    digests = []
    for name in files:
        with Path(name).open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return " ".join(sorted(digests)) or None


def twins_of(catalog: sa.Connection, fingerprint: str | None, name: str) -> list[str]:
    """Return the names of other surveys that were read from the same bytes."""
    if fingerprint is None:
        return []
    found = catalog.exec_driver_sql(
        "select name from cegdb.survey where name <> $2 "
        "and superseded_by is null and contains(cast(settings as varchar), $1) "
        "order by survey_id",
        (fingerprint, name),
    )
    return [str(row[0]) for row in found]
