"""The prior of each edge: alpha shared out by a rule, or given."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard, cast, get_args

from cegdb.errors import LARGEST, StagingError, SurveyError, counted, is_one_of, listed
from cegdb.findings import Finding, small_prior
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import match_columns
from cegdb.ingest.files.sources import Source, keep_cells, open_source
from cegdb.names import find_name
from cegdb.options import PriorRule
from cegdb.stages.situations import describe_situation

if TYPE_CHECKING:
    import duckdb

    from cegdb.sqlfiles import Steps
    from cegdb.stages.groups import GroupReader, SituationPath

PriorEntries: TypeAlias = "float | Sequence[float] | Mapping[object, float]"
Prior: TypeAlias = "PriorRule | Mapping[SituationPath, PriorEntries] | Source | PriorRows"

SMALL_PRIOR: Final = 0.01
"""Of a prior: with smaller entries, stages of later questions may merge too easily."""

_FORMS: Final = (
    "give 'mass', 'floret', 'path' or 'stage'; a mapping from the path of a situation to its "
    "prior (one number for every label, a list in level order, or label -> number); or a "
    "frame, file or SELECT with the columns vertex_id, label and prior"
)
_COLUMNS: Final = ("vertex_id", "label", "prior")


@dataclass(frozen=True)
class PriorRows:
    """Priors as the rows of a query: ``vertex_id``, ``label`` and ``prior``.

    ``source`` is recorded in the settings.
    """

    query: str
    source: str


def make_priors(reader: GroupReader, staging_id: int, prior: Prior, alpha: float) -> object:
    """Make ``edge_prior`` by a rule or the priors given; return the setting to record.

    Priors that were given are stored in ``cegdb.prior_entry``; other situations follow the rule
    ``"mass"``.
    """
    steps, tree_id = reader.steps, reader.tree_id
    is_rule = is_one_of(prior, get_args(PriorRule))
    rule = str(prior) if is_rule else "mass"
    setting: object = rule
    if not is_rule:
        setting = _read_priors(reader, prior)
        steps.run("staging_prior", staging_id=staging_id)
    make_edge_priors(steps, tree_id, staging_id, rule, alpha)
    ((least,),) = steps.rows("select min(prior) from temp.edge_prior")
    if least is not None and not least > sys.float_info.min:
        raise StagingError(
            f"alpha = {alpha:g}, shared from the root on, leaves no prior mass to the "
            "deepest florets (less than 1e-308)",
            hint="give a larger alpha, or use fewer variables",
        )
    return setting


def make_edge_priors(
    steps: Steps, tree_id: int, staging_id: int, rule: str, alpha: float
) -> None:
    """Make ``edge_prior`` of a staging by its rule and the priors stored for it."""
    steps.run("floret_mass", tree_id=tree_id)
    if rule == "path":
        steps.run("leaf_count", tree_id=tree_id)
    else:
        steps.empty("leaf_count", "vertex_id bigint, n_leaves bigint")
    steps.run("edge_prior", tree_id=tree_id, staging_id=staging_id, alpha=alpha, rule=rule)


def stage_mass(rule: object, alpha: float) -> float | None:
    """Return the prior mass of every stage, None where it depends on its situations."""
    return alpha if is_one_of(rule, ("stage",)) else None


def has_priors(steps: Steps, staging_id: int) -> bool:
    """Return whether situations of a staging were given priors of their own."""
    query = "select exists(select * from cegdb.prior_entry where staging_id = $staging_id)"
    ((is_given,),) = steps.rows(query, {"staging_id": staging_id})
    return bool(is_given)


def smallest_prior(steps: Steps) -> tuple[float | None, list[Finding]]:
    """Return the smallest entry of florets with several edges, and a finding if it is tiny."""
    for least, variable in steps.fetch("smallest_prior"):
        found = [small_prior(least, SMALL_PRIOR, variable)] if least < SMALL_PRIOR else []
        return least, found
    return None, []


def _read_priors(reader: GroupReader, prior: Prior) -> dict[str, object]:
    """Make ``given_entry`` of priors given, check it, and return the setting to record."""
    steps, con, tree_id = reader.steps, reader.con, reader.tree_id
    is_strict = reader.is_strict
    steps.empty("given_entry", "vertex_id bigint, label varchar, prior double")
    if isinstance(prior, Mapping):
        by_path = {path: _as_json(path, entries) for path, entries in prior.items()}
        setting = reader.read(by_path, "prior") or {}
        _spread_over_labels(steps, tree_id, is_strict=is_strict)
    elif isinstance(prior, PriorRows):
        setting = {**_read_source(steps, con, prior.query), "source": prior.source}
    elif isinstance(prior, (Real, bytes, list, tuple)):
        raise StagingError(f"prior cannot be {prior!r}", hint=_FORMS)
    else:
        setting = _read_source(steps, con, prior)
    _refuse_unusable(steps, tree_id, is_strict=is_strict)
    return {**setting, "sha256": _digest(steps)}


def _as_json(path: SituationPath, entries: object) -> str:
    """Return the prior of a situation as a JSON text: a number, a list or an object."""
    if _is_real(entries):
        return json.dumps(_as_float(entries))
    if isinstance(entries, Mapping) and all(map(_is_real, entries.values())):
        return json.dumps({str(label_of(label)): _as_float(a) for label, a in entries.items()})
    is_list = isinstance(entries, Sequence) and not isinstance(entries, (str, bytes))
    if is_list and all(map(_is_real, cast("Sequence[object]", entries))):
        return json.dumps([_as_float(entry) for entry in cast("Sequence[float]", entries)])
    raise StagingError(f"the prior of {path!r} must be numbers, not {entries!r}", hint=_FORMS)


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _as_float(number: float) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _spread_over_labels(steps: Steps, tree_id: int, *, is_strict: bool) -> None:
    """Fill ``given_entry`` with the JSON texts given by path."""
    entries: list[tuple[int, str, float]] = []
    for vertex_id, text, labels in steps.fetch("prior_floret"):
        prior = json.loads(text)
        if isinstance(prior, dict):
            by_label = [(find_name(label, labels) or label, a) for label, a in prior.items()]
            fits = sorted(label for label, _ in by_label) == sorted(labels)
        else:
            values = prior if isinstance(prior, list) else [prior] * len(labels)
            by_label = list(zip(labels, values, strict=False))
            fits = len(values) == len(labels)
        if fits:
            entries += [(vertex_id, label, value) for label, value in by_label]
        elif is_strict:
            raise StagingError(
                f"prior {text} does not fit situation "
                f"{describe_situation(steps, tree_id, vertex_id)}",
                hint="give a number for each label of the floret",
            )
    vertex_ids, labels, priors = zip(*entries, strict=True) if entries else ([], [], [])
    steps.run("path_entry", vertex_ids=vertex_ids, labels=labels, priors=priors)


def _read_source(
    steps: Steps, con: duckdb.DuckDBPyConnection, source: Source
) -> dict[str, object]:
    """Fill ``given_entry`` with a frame, file or SELECT."""
    try:
        with open_source(con, source) as relation:
            columns = match_columns(_COLUMNS, relation)
            if sorted(columns.values()) != sorted(relation.columns) or len(columns) < 3:
                raise StagingError(
                    f"prior: the columns are {listed(relation.columns)}", hint=_FORMS
                )
            keep_cells(steps, con, relation, "prior_row", columns)
            rows = _add_rows(steps)
            return {"source": relation.description, "rows": rows}
    except SurveyError as error:
        raise StagingError(f"prior: {error.args[0]}", hint=_FORMS) from None


def _add_rows(steps: Steps) -> int:
    """Add ``prior_row`` to ``given_entry``; labels are found like columns. Return how many."""
    steps.run("prior_number")
    unmatched = steps.fetch("unmatched_label")
    return steps.run(
        "row_entry",
        written=[written for written, _ in unmatched],
        labels=[labels for _, labels in unmatched],
        meant=[find_name(written, json.loads(labels)) for written, labels in unmatched],
    )


def _refuse_unusable(steps: Steps, tree_id: int, *, is_strict: bool) -> None:
    if is_strict:
        for vertex_id, label in steps.fetch("unknown_prior"):
            if vertex_id is None:
                raise StagingError(
                    f"prior: the vertex_id of a row with label {label!r} is not a whole number",
                    hint="the view cegdb.florets lists situations and their labels",
                )
            raise StagingError(
                f"prior: vertex_id {vertex_id} has no edge with label {label!r}",
                hint="the view cegdb.florets lists situations and their labels",
            )
    for vertex_id, label, prior in steps.fetch("bad_prior", largest=LARGEST):
        raise StagingError(
            f"prior of label {label!r} is {prior} in situation "
            f"{describe_situation(steps, tree_id, vertex_id)}",
            hint="an entry of a prior is a number above 0, up to 1e100",
        )
    if is_strict:
        for vertex_id, n_edges, n_given in steps.fetch("incomplete_prior"):
            raise StagingError(
                f"prior: {counted(n_given, 'entry')} for {counted(n_edges, 'label')} of "
                f"situation {describe_situation(steps, tree_id, vertex_id)}",
                hint="give each label of a situation one entry",
            )


def _digest(steps: Steps) -> str:
    """Return a digest of the priors given, so that equal ones are known as equal."""
    digest = hashlib.sha256()
    for row in steps.rows("select * from temp.given_entry order by vertex_id, label"):
        digest.update(repr(row).encode())
    return digest.hexdigest()
