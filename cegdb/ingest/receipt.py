"""The receipt of an ingest: what became of every row and cell, and what looks wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from cegdb.ingest.codebook.gates import gate_hints
from cegdb.ingest.label_checks import guessed_role, label_hints
from cegdb.names import invisible_ends, trimmed

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
    same_files: list[str],
) -> dict[str, object]:
    """Return the receipt as it is stored in the catalog.

    ``n_lines`` are those of the right shape, ``n_zero`` those of them with a count of 0, ``n``
    respondents. ``same_files`` are surveys made of the same bytes.
    """
    skipped = relation.skipped_rows
    n_bad = sum(rows.count for rows in skipped)
    dropped = {f"{settings.count} is 0": n_zero, "malformed": n_bad}
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
        "columns_found_as": settings.column_in_source,
        "cells": {variable.name: variable.counts_by_kind() for variable in variables},
        "declared_labels": {
            variable.name: labels
            for variable in variables
            if (labels := variable.declared_labels())
        },
        "notes": relation.notes,
        "hints": [
            *(f"survey {name!r} was read from an identical file" for name in same_files),
            *_column_hints(relation, settings),
            *settings.hints,
            *gate_hints(gates),
            *label_hints(variables, settings),
        ],
    }


def _column_hints(relation: Relation, settings: Settings) -> list[str]:
    """Return hints about columns that may have another role or another name."""
    column_of_role = {"count": settings.count, "weight": settings.weight}
    return [
        *(
            f"column {name!r} looks like a {role}: if it is one, ingest with {role}={name!r}"
            for name in settings.variables
            if (role := guessed_role(name)) and column_of_role[role] is None
        ),
        *(
            f"column {name!r} is called {column!r} in {relation.title}"
            for name, column in settings.column_in_source.items()
        ),
        *(
            f"the name {name!r} begins or ends with what cannot be seen: {invisible}; "
            f"{trimmed(name)!r} finds it too, but not in SQL: better rename the column"
            for name in settings.variables
            if (invisible := invisible_ends(name))
        ),
    ]


def fingerprint_of(files: Iterable[str]) -> str | None:
    """Return a hash of the bytes of files, None where there are none."""
    digests = []
    for name in files:
        with Path(name).open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return " ".join(sorted(digests)) or None


def surveys_of_same_files(
    catalog: sa.Connection, fingerprint: str | None, name: str
) -> list[str]:
    """Return the names of other surveys that were read from the same bytes."""
    if fingerprint is None:
        return []
    rows = catalog.exec_driver_sql(
        "select name from cegdb.survey where name <> $2 "
        "and superseded_by is null and contains(cast(settings as varchar), $1) "
        "order by survey_id",
        (fingerprint, name),
    )
    return [str(row[0]) for row in rows]
