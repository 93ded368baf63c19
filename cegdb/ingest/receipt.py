"""The receipt of an ingest: what became of every row and cell, and what looks wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from cegdb.findings import Finding
from cegdb.ingest.codebook.gates import gate_findings
from cegdb.ingest.label_checks import guessed_role, label_findings
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
    findings: list[Finding],
) -> dict[str, object]:
    """Return the receipt as it is stored in the catalog.

    ``n_lines`` are those of the right shape, ``n_zero`` those of them with a count of 0, ``n``
    respondents.
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
        "hints": [finding.text for finding in findings],
    }


def survey_findings(
    relation: Relation,
    settings: Settings,
    variables: list[Variable],
    gates: list[dict[str, object]],
    same_files: list[str],
) -> list[Finding]:
    """Return what looks wrong; ``same_files`` are surveys made of the same bytes."""
    return [
        *(
            Finding("same_file", f"survey {name!r} was read from an identical file")
            for name in same_files
        ),
        *(
            [
                Finding(
                    "clusters",
                    f"the sample is clustered ({settings.cluster!r}), and its strata are not "
                    "known",
                )
            ]
            if settings.cluster is not None
            else []
        ),
        *_column_findings(relation, settings),
        *settings.findings,
        *gate_findings(gates),
        *label_findings(variables, settings),
    ]


def _column_findings(relation: Relation, settings: Settings) -> list[Finding]:
    """Return columns that may have another role or another name."""
    column_of_role = {"count": settings.count, "weight": settings.weight}
    return [
        *(
            Finding(
                "unused_column",
                f"column {name!r} looks like a {role}",
                f"if it is one, ingest with {role}={name!r}",
            )
            for name in settings.variables
            if (role := guessed_role(name)) and column_of_role[role] is None
        ),
        *(
            Finding(
                "columns",
                f"column {name!r} is called {column!r} in {relation.title}",
                "if it is the wrong one, rename it in the file",
            )
            for name, column in settings.column_in_source.items()
        ),
        *(
            Finding(
                "columns",
                f"the name {name!r} begins or ends with what cannot be seen: {invisible}; "
                f"{trimmed(name)!r} finds it too, but not in SQL",
                "better rename the column",
            )
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
