"""The prior of each edge: alpha shared out by a rule, or given."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, cast, get_args

from cegdb.errors import (
    LARGEST,
    SqlStepError,
    StagingError,
    SurveyError,
    counted,
    is_one_of,
    listed,
)
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.sources import Source, open_source, read_error
from cegdb.options import PriorRule
from cegdb.stages.situation_names import SituationPath, resolve
from cegdb.stages.situation_paths import whole, words

if TYPE_CHECKING:
    import duckdb

    from cegdb.sqlfiles import Steps

PriorEntries: TypeAlias = "float | Sequence[float] | Mapping[object, float]"
Prior: TypeAlias = "PriorRule | Mapping[SituationPath, PriorEntries] | Source | PriorRows"

SMALL: Final = 0.01
"""Below this an entry makes late questions merge too easily."""

_FORMS: Final = (
    "give 'mass', 'floret' or 'path'; a mapping from the path of a situation to its "
    "prior (one number for every label, a list in level order, or label -> number); or a "
    "frame, file or SELECT with the columns vertex_id, label and prior"
)


@dataclass(frozen=True)
class PriorRows:
    """Priors that a query finds: rows of ``vertex_id``, ``label`` and ``prior``.

    ``source`` is recorded in the settings.
    """

    query: str
    source: str


def make_priors(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    staging_id: int,
    prior: Prior,
    alpha: float,
    passed_over: list[str] | None,
) -> object:
    """Make ``edge_prior``, and keep the priors that were given.

    Parameters
    ----------
    steps, con
        Run the SQL; ``situation_edge``, ``floret`` and ``situation_path`` exist.
    tree_id, staging_id
        The tree, and the staging that the priors belong to.
    prior
        A rule, or the priors of some situations; the others follow ``"mass"``.
    alpha
        Prior mass of the root.
    passed_over
        Where to tell of paths that fit no situation; None refuses them.

    Returns
    -------
    object
        The settings to record.

    Raises
    ------
    StagingError
        An entry is not above 0, does not fit its floret, or is lost to underflow.
    """
    rule = str(prior) if is_one_of(prior, get_args(PriorRule)) else "mass"
    told: object = rule
    if not is_one_of(prior, (rule,)):
        told = _given(steps, con, tree_id, prior, passed_over)
        steps.run("named_prior", staging_id=staging_id)
    edge_priors(steps, tree_id, staging_id, rule, alpha)
    ((least,),) = steps.rows("select min(prior) from temp.edge_prior")
    if least is not None and not least > sys.float_info.min:
        raise StagingError(
            f"alpha = {alpha:g}, shared from the root on, leaves no prior mass to the "
            "deepest florets (less than 1e-308)",
            hint="give a larger alpha, or use fewer variables",
        )
    return told


def edge_priors(steps: Steps, tree_id: int, staging_id: int, rule: str, alpha: float) -> None:
    """Make ``edge_prior`` of a staging by its rule and the priors kept of it."""
    steps.run("floret_mass", tree_id=tree_id)
    if rule == "path":
        steps.run("leaf_count", tree_id=tree_id)
    else:
        steps.empty("leaf_count", "vertex_id bigint, n_leaves bigint")
    steps.run("edge_prior", tree_id=tree_id, staging_id=staging_id, alpha=alpha, rule=rule)


def has_priors(steps: Steps, staging_id: int) -> bool:
    """Return whether situations of a staging were given priors of their own."""
    query = "select exists(select * from cegdb.prior_entry where staging_id = $staging_id)"
    ((found,),) = steps.rows(query, {"staging_id": staging_id})
    return bool(found)


def rule_of(settings: Mapping[str, Any]) -> str:
    """Return the rule by which a staging's settings share out alpha."""
    said = settings.get("prior", "mass")
    return said if isinstance(said, str) else "mass"


def small_prior(steps: Steps) -> tuple[float | None, str | None]:
    """Return the smallest entry of florets with several edges, and a warning if it is tiny."""
    found = steps.rows(
        "select a.prior, v.name from temp.edge_prior as a "
        "inner join temp.situation_edge as e on a.child_id = e.child_id "
        "inner join temp.floret as f on e.vertex_id = f.vertex_id "
        "inner join cegdb.variable as v on f.variable_id = v.variable_id "
        "where f.n_edges > 1 order by a.prior, e.child_id limit 1"
    )
    if not found:
        return None, None
    least, variable = found[0]
    if least >= SMALL:
        return least, None
    return least, (
        f"the smallest prior entry is {least:.2g} (of {variable!r}), under {SMALL}: late "
        "questions then merge too easily; give a larger alpha, or prior='floret'"
    )


def again(said: object, kept: str) -> Prior:
    """Return recorded priors as they can be given again.

    Parameters
    ----------
    said
        The setting ``prior``.
    kept
        A SELECT of what was given as a table.
    """
    if isinstance(said, dict):
        groups = said.get("groups")
        if isinstance(groups, dict):
            return {
                tuple(path): json.loads(name)
                for name, paths in groups.items()
                for path in paths
            }
        return kept
    return cast("PriorRule", said or "mass")


def _given(
    steps: Steps,
    con: duckdb.DuckDBPyConnection,
    tree_id: int,
    prior: Prior,
    passed_over: list[str] | None,
) -> object:
    if isinstance(prior, Mapping):
        named = {path: _as_json(path, entries) for path, entries in prior.items()}
        told = resolve(steps, con, tree_id, named, "prior", passed_over)
        _spread(steps, tree_id, is_strict=passed_over is None)
    elif isinstance(prior, PriorRows):
        told = {**_from_source(steps, con, prior.query), "source": prior.source}
    elif isinstance(prior, (Real, bytes, list, tuple)):
        raise StagingError(f"prior is {prior!r}", hint=_FORMS)
    else:
        told = _from_source(steps, con, prior)
    _refuse_bad(steps, tree_id, is_strict=passed_over is None)
    return {**(told or {}), "sha256": _fingerprint(steps)}


def _as_json(path: SituationPath, entries: object) -> str:
    """Return the prior of a situation as a JSON text: a number, a list or an object."""
    if _is_number(entries):
        return json.dumps(_float(entries))
    if isinstance(entries, Mapping) and all(map(_is_number, entries.values())):
        return json.dumps({str(label_of(label)): _float(a) for label, a in entries.items()})
    is_list = isinstance(entries, Sequence) and not isinstance(entries, (str, bytes))
    if is_list and all(map(_is_number, cast("Sequence[object]", entries))):
        return json.dumps([_float(entry) for entry in cast("Sequence[float]", entries)])
    raise StagingError(f"prior of {path!r} is {entries!r}", hint=_FORMS)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _float(number: float) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _spread(steps: Steps, tree_id: int, *, is_strict: bool) -> None:
    """Make ``given_entry(vertex_id, label, prior)`` of the JSON texts in ``given_prior``."""
    florets: dict[tuple[int, str], list[str]] = {}
    for vertex_id, text, label in steps.rows(
        "select g.vertex_id, g.name, e.label from temp.given_prior as g inner join "
        "temp.situation_edge as e on g.vertex_id = e.vertex_id order by e.child_id"
    ):
        florets.setdefault((vertex_id, text), []).append(label)
    rows: list[tuple[int, str, float]] = []
    for (vertex_id, text), labels in florets.items():
        said = json.loads(text)
        if isinstance(said, dict):
            entries = list(said.items())
            fits = set(said) == set(labels)
        else:
            values = said if isinstance(said, list) else [said] * len(labels)
            entries = list(zip(labels, values, strict=False))
            fits = len(values) == len(labels)
        if fits:
            rows += [(vertex_id, label, value) for label, value in entries]
        elif is_strict:
            raise StagingError(
                f"prior {text} does not fit situation {words(steps, tree_id, vertex_id)}",
                hint="give a number for each label of the floret",
            )
    _entries(steps, rows)


def _entries(steps: Steps, rows: list[tuple[int, str, float]]) -> None:
    steps.create(
        "given_entry",
        "select unnest(cast($vertices as bigint[])) as vertex_id, "
        "unnest(cast($labels as varchar[])) as label, "
        "unnest(cast($priors as double[])) as prior",
        {
            "vertices": [row[0] for row in rows],
            "labels": [row[1] for row in rows],
            "priors": [row[2] for row in rows],
        },
    )


def _from_source(
    steps: Steps, con: duckdb.DuckDBPyConnection, source: Source
) -> dict[str, object]:
    wanted = ("vertex_id", "label", "prior")
    try:
        with open_source(con, source) as relation:
            if sorted(relation.columns) != sorted(wanted):
                raise StagingError(f"prior: columns {listed(relation.columns)}", hint=_FORMS)
            cells = dict(zip(relation.columns, relation.cells, strict=True))
            query = (
                f"select {whole(cells['vertex_id'])} as vertex_id, "  # noqa: S608
                f"{cells['label']} as label, try_cast({cells['prior']} as double) as prior "
                f"from {relation.from_clause}"
            )
            try:
                steps.create("given_entry", query, dict(relation.params))
            except SqlStepError as error:
                raise read_error(con, relation, error) from None
            described = relation.description
    except SurveyError as error:
        raise StagingError(f"prior: {error.args[0]}", hint=_FORMS) from None
    ((n_rows,),) = steps.rows("select count(*) from temp.given_entry")
    return {"source": described, "rows": n_rows}


def _refuse_bad(steps: Steps, tree_id: int, *, is_strict: bool) -> None:
    unknown = steps.rows(
        "select g.vertex_id, g.label from temp.given_entry as g left join "
        "temp.situation_edge as e on g.vertex_id = e.vertex_id and g.label = e.label "
        "where e.child_id is null order by 1, 2 limit 1"
    )
    if unknown and is_strict:
        vertex_id, label = unknown[0]
        raise StagingError(
            f"prior: vertex_id {vertex_id} has no edge with label {label!r}",
            hint="the view cegdb.florets lists situations and their labels",
        )
    bad = steps.rows(
        "select g.vertex_id, g.label, g.prior from temp.given_entry as g where not coalesce("
        "g.prior > 0 and g.prior <= $largest, false) order by g.vertex_id, g.label limit 1",
        {"largest": LARGEST},
    )
    if bad:
        vertex_id, label, value = bad[0]
        raise StagingError(
            f"prior of label {label!r} is {value} in situation "
            f"{words(steps, tree_id, vertex_id)}",
            hint="an entry of a prior is a number above 0, up to 1e100",
        )
    uneven = steps.rows(
        "select f.vertex_id, f.n_edges, count(g.label) from temp.floret as f "
        "inner join temp.given_entry as g on f.vertex_id = g.vertex_id "
        "group by f.vertex_id, f.n_edges having count(g.label) <> f.n_edges order by 1 limit 1"
    )
    if uneven and is_strict:
        vertex_id, n_edges, n_given = uneven[0]
        raise StagingError(
            f"prior: {counted(n_given, 'entry')} for the {n_edges} labels of situation "
            f"{words(steps, tree_id, vertex_id)}",
            hint="give each label of a situation one entry",
        )


def _fingerprint(steps: Steps) -> str:
    """Return a digest of the priors given, so that equal ones are known as equal."""
    digest = hashlib.sha256()
    for row in steps.rows("select * from temp.given_entry order by vertex_id, label"):
        digest.update(repr(row).encode())
    return digest.hexdigest()
