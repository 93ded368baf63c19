"""Levels as tables: in the catalog, and with the code of each text that was read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import sqlalchemy as sa

from cegdb.errors import SurveyError, agreeing, listed
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE
from cegdb.store import schema
from cegdb.store.catalog import insert_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps


def insert_levels(catalog: sa.Connection, survey_id: int, variables: list[Variable]) -> None:
    """Write ``variable``, ``level`` (values, missing, blank, structural) and ``level_score``.

    ``level_id`` is the variable's first one plus ``code - 1``; ``code`` is what
    ``response_<survey_id>`` holds.
    """
    variable_id = _next(catalog, schema.variable.c.variable_id)
    level_id = _next(catalog, schema.level.c.level_id)
    label_ids: dict[str, int] = {}
    same = same_labels(variables)
    variable_rows, level_rows, score_rows = [], [], []
    for ordinal, variable in enumerate(variables, 1):
        variable_rows.append(
            {
                "variable_id": variable_id,
                "survey_id": survey_id,
                "ordinal": ordinal,
                "name": variable.name,
                "question": variable.entry.label
                or (variable.metadata.label if variable.metadata else None)
                or (variable.previous.question if variable.previous else None),
            }
        )
        n_of = Counter[tuple[str, str]]()
        texts = variable.texts_of_levels()
        for text, (kind, label) in variable.meanings.items():
            level = (kind, NOT_APPLICABLE if kind == "structural" else label)
            n_of[level] += variable.counts.get(text, 0)
        levels = [
            *((label, "value", n_of["value", label]) for label in variable.values),
            *((label, "missing", n_of["missing", label]) for label in variable.missing),
            (MISSING, "blank", variable.counts.get(None, 0)),
            (NOT_APPLICABLE, "structural", n_of["structural", NOT_APPLICABLE]),
        ]
        for code, (label, of_kind, n_read) in enumerate(levels, 1):
            gated = variable.n_of_code
            n = n_read if gated is None else gated.get(code, 0)
            level_rows.append(
                {
                    "level_id": level_id,
                    "variable_id": variable_id,
                    "code": code,
                    "label": label,
                    "label_id": label_ids.setdefault(
                        same.get(label, label), len(label_ids) + 1
                    ),
                    "original_code": "; ".join(texts.get((of_kind, label), [])) or None,
                    "kind": of_kind,
                    "n": n,
                }
            )
            if of_kind == "value" and label in variable.scores:
                score_rows.append({"level_id": level_id, "score": variable.scores[label]})
            level_id += 1
        variable_id += 1
    insert_rows(catalog, schema.variable, variable_rows)
    insert_rows(catalog, schema.level, level_rows)
    insert_rows(catalog, schema.level_score, score_rows)


def _next(catalog: sa.Connection, column: sa.ColumnElement[int]) -> int:
    highest = catalog.execute(sa.select(sa.func.max(column))).scalar()
    return (highest or 0) + 1


def same_labels(variables: Iterable[Variable]) -> dict[str, str]:
    """Return, for each label declared to be the same as others, the first of its group."""
    first: dict[str, str] = {}
    for variable in variables:
        for group in variable.entry.same:
            if variable.is_update:  # later rows need not have all labels
                group = [label for label in group if label in variable.values]  # noqa: PLW2901
                if not group:
                    continue
            unknown = [label for label in group if label not in variable.values]
            if unknown or (len(group) < 2 and not variable.is_update):
                raise SurveyError(
                    f"{variable.name!r}: same lists {listed(map(repr, unknown or group))}, "
                    + (
                        f"which {agreeing(len(unknown), 'are')} not among its answers"
                        if unknown
                        else "which is only one label"
                    ),
                    hint=f"its answers are {listed(map(repr, variable.values), most=10)}",
                )
            heads = list(dict.fromkeys(first.get(label, label) for label in group))
            joined = {label for label, head in first.items() if head in heads}
            first.update(dict.fromkeys([*joined, *group], heads[0]))
    return first


def join_level_codes(ordinal: int, cell: str) -> str:
    """Return the join that gives a variable's cells their codes, as ``l<ordinal>.code``."""
    return (
        f"left join temp.level_code as l{ordinal} "
        f"on l{ordinal}.ordinal = {ordinal} and l{ordinal}.cell = {cell}"
    )


def create_level_codes(
    steps: Steps, codes_by_ordinal: Iterable[tuple[int, Mapping[str, int]]]
) -> None:
    """Make ``level_code``: the code of each text of some variables, given by ordinal."""
    ordinals: list[int] = []
    texts: list[str] = []
    codes: list[int] = []
    for ordinal, code_of_text in codes_by_ordinal:
        ordinals += [ordinal] * len(code_of_text)
        texts += code_of_text
        codes += code_of_text.values()
    steps.run("level_code", ordinals=ordinals, texts=texts, codes=codes)
