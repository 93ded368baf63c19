"""What makes two stagings comparable: one tree, and the same settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import StagingError, listed
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sqlalchemy as sa

    from cegdb.store import Store

#: What a log likelihood depends on besides rows, tree and stages, and its default.
LIKELIHOOD: Final = {"weighting": None, "deff": None, "smoothing": 0}
MARGINAL: Final = {"alpha": None, "prior": "mass", **LIKELIHOOD}
_MAX_LENGTH: Final = 60


def stagings_of_one_tree(
    store: Store, a: int, b: int
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the catalog rows of two stagings, refusing those of different trees."""
    with store.catalog() as catalog:
        one, other = row(catalog, "staging", a), row(catalog, "staging", b)
        if one["tree_id"] == other["tree_id"]:
            return one, other
        first, second = (row(catalog, "tree", x["tree_id"]) for x in (one, other))
        surveys = [_survey_name(catalog, tree["survey_id"]) for tree in (first, second)]
    differences = [
        f"{setting} ({_shortened(first['settings'][setting])} and "
        f"{_shortened(second['settings'].get(setting))})"
        for setting in first["settings"]
        if first["settings"][setting] != second["settings"].get(setting)
    ]
    if surveys[0] != surveys[1]:
        differences.insert(0, f"survey ({surveys[0]!r} and {surveys[1]!r})")
    hint = "learn or give both stagings on one tree, such as db.trees[name].learn_stages()"
    if first["is_stale"] != second["is_stale"]:
        stale = first if first["is_stale"] else second
        differences.insert(0, f"rows ({stale['name']!r} is out of date)")
        hint = "rebuild what is stale first (db.rebuild(), cegdb rebuild DB); then " + hint
    difference = f", which differ in {listed(differences)}" if differences else ""
    raise StagingError(
        f"stagings {one['name']!r} and {other['name']!r} are of different trees, "
        f"{first['name']!r} and {second['name']!r}{difference}",
        hint=hint,
    )


def _survey_name(catalog: sa.Connection, survey_id: int) -> str:
    """Return the name of a survey, or of the one that superseded it."""
    survey = row(catalog, "survey", survey_id)
    if survey["superseded_by"] is not None:
        survey = row(catalog, "survey", survey["superseded_by"])
    return str(survey["name"])


def _shortened(value: object) -> str:
    """Return a setting for a message."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 3]}..."


def refuse_different_settings(
    one: Mapping[str, Any], other: Mapping[str, Any], settings: Mapping[str, object], score: str
) -> None:
    """Refuse stagings whose scores rest on different settings."""
    different = {}
    for setting, default in settings.items():
        values = [
            staging["alpha"]
            if setting == "alpha"
            else staging["settings"].get(setting, default)
            for staging in (one, other)
        ]
        if values[0] != values[1]:
            different[setting] = values
    if different:
        named = (
            f"{setting} ({_shortened(x)} and {_shortened(y)})"
            for setting, (x, y) in different.items()
        )
        raise incomparable(one, other, score, listed(named))


def incomparable(
    one: Mapping[str, Any], other: Mapping[str, Any], score: str, differing: str
) -> StagingError:
    """Return the error that two stagings cannot be compared by a score."""
    return StagingError(
        f"stagings {one['name']!r} and {other['name']!r} cannot be compared by {score}: they "
        f"differ in {differing}",
        hint="make one of them again with the settings of the other",
    )
