"""Event tree: coded rows to vertices and edges, level by level, in SQL."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import sqlalchemy as sa

from cegdb import findings
from cegdb.errors import TreeError, counted, items_of, listed
from cegdb.ingest.coding.levels import MANY_LEVELS
from cegdb.ingest.coding.variables import MISSING
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import find_columns
from cegdb.names import WILDCARD, available, did_you_mean, find_name
from cegdb.options import TreeOptions
from cegdb.sqlfiles import Steps
from cegdb.store import schema
from cegdb.store.catalog import claim_name, delete_rows, new_id, row, write
from cegdb.tree.histories import TreeVariable, label_for
from cegdb.tree.path_codes import MAX_CODE, PathCodes, Policy, code_paths, refuse_gaps
from cegdb.version import made_by

if TYPE_CHECKING:
    import duckdb

    from cegdb.store import Store
    from cegdb.store.progress import Progress

__all__ = [
    "Path",
    "event_tree",
    "rebuild_tree",
]

Path: TypeAlias = "Mapping[str, object] | Sequence[object]"

_PATHS: Final = "give a list of paths: mappings of variables to labels, or labels from the root"
_MAX_VERTICES: Final = 2_000_000_000
_MAX_VARIABLES: Final = 1_000
_MOST_PRESUMED: Final = 20
_PRESUMED: Final = ("variable", "label", "path", "asked", "n", "n_with", "log_p0")
_POLICY: Final = ("blank", "missing_policy", "sampling_zeros", "gate_min_rows")


@dataclass(frozen=True)
class _Request:
    """What a tree is made of; ``former_id`` is the id of a tree to be made again.

    ``screening`` says how its variables were chosen, if an exploration did.
    """

    name: str
    order: Sequence[str] | None
    policy: Policy
    add_paths: Sequence[object]
    impossible: Sequence[object]
    former_id: int | None = None
    screening: findings.Screening | None = None


def event_tree(
    store: Store,
    survey_id: int,
    options: TreeOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
    max_code: int = MAX_CODE,
    screening: findings.Screening | None = None,
) -> int:
    """Build the event tree of a survey's variables in a given order; return ``tree_id``.

    One pass over the distinct rows, then one grouped statement for each variable over the
    nodes below it: linear in the number of vertices.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select 'a' as x, 'u' as y union all select 'b', 'v'")
    ...     event_tree(store, survey, TreeOptions(order=["y", "x"]))
    1
    """
    options = options or TreeOptions()
    add_paths = items_of(options.add_paths, "add_paths", TreeError, hint=_PATHS)
    impossible = items_of(options.impossible, "impossible", TreeError, hint=_PATHS)
    policy = Policy(
        options.blank,
        options.missing_policy,
        options.sampling_zeros,
        int(options.gate_min_rows),
    )
    with store.writing() as (con, catalog):
        survey = row(catalog, "survey", survey_id)
        name = claim_name(catalog, "tree", name, str(survey["name"]), replace=replace)
        request = _Request(
            name, options.order, policy, add_paths, impossible, screening=screening
        )
        return _build(store, con, catalog, survey, request, max_code)


def rebuild_tree(store: Store, tree_id: int, max_code: int = MAX_CODE) -> None:
    """Make a stale tree again with its settings, from the rows that its survey has now.

    Its id and name stay. What stands on it must be made again too, in the same transaction.
    """
    with store.writing() as (con, catalog):
        tree = row(catalog, "tree", tree_id)
        former = row(catalog, "survey", tree["survey_id"])
        survey = row(catalog, "survey", former["superseded_by"] or former["survey_id"])
        settings = dict(tree["settings"])
        screening = settings.get("screening")
        request = _Request(
            tree["name"],
            settings["order"],
            Policy(*(settings[name] for name in _POLICY)),
            settings["add_paths"],
            settings["impossible"],
            tree_id,
            None if screening is None else findings.Screening(**screening),
        )
        delete_rows(catalog, "tree", tree_id)
        _build(store, con, catalog, survey, request, max_code)


def _build(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    catalog: sa.Connection,
    survey: Mapping[str, Any],
    request: _Request,
    max_code: int,
) -> int:
    started = time.perf_counter()
    survey_id, policy = survey["survey_id"], request.policy
    is_new = request.former_id is None
    of_survey = _survey_variables(catalog, survey_id)
    variables = _variables(
        catalog, survey, of_survey, request.order, policy, has_gaps=bool(request.add_paths)
    )
    # A tree made again may name labels that are gone; such paths are skipped, and noted here.
    skipped: list[str] | None = None if is_new else []
    named_paths = _paths(request.add_paths, variables, "add_paths", skipped)
    add_paths = [_fill_gaps(path, variables) for path in named_paths]
    impossible = _paths(request.impossible, variables, "impossible", skipped)
    if policy.sampling_zeros == "full":
        _refuse_size(variables, "sampling_zeros='full'")
    # A step for the rows, one for each level up and down, and one for the tables.
    with store.counting(2 * len(variables) + 2, "step") as progress, Steps(con) as steps:
        for path in named_paths:
            refuse_gaps(steps, survey_id, variables, path)
        is_weighted = _is_weighted(survey)
        codes = code_paths(
            steps,
            survey_id,
            variables,
            policy,
            add_paths,
            impossible,
            n_rows=survey["n"],
            max_code=max_code,
            is_weighted=is_weighted,
            uses_all=len(variables) == len(of_survey),
        )
        progress.read()
        tree_id = new_id(catalog, "tree") if request.former_id is None else request.former_id
        n_presumed = _write_tables(
            steps, tree_id, variables, codes, progress, is_weighted=is_weighted
        )
        if dict(survey["settings"]).get("same"):
            _refuse_equivalent_siblings(steps, tree_id)
        size = steps.fetch("tree_size", tree_id=tree_id)[0]
        presumed = (
            steps.fetch("largest_presumed_zero", tree_id=tree_id, most=_MOST_PRESUMED)
            if n_presumed
            else []
        )
        zeros = [dict(zip(_PRESUMED, zero, strict=False)) for zero in presumed]
        found = [
            *findings.chosen_variables(request.screening, is_new=is_new),
            *_missing_answers(variables, codes, policy, survey["n"]),
            *findings.unexpanded(codes.unexpanded),
            *findings.presumed_zeros(zeros, presumed[0][-1] if presumed else 0),
            *findings.skipped_paths(skipped or []),
            *findings.thin_situations(steps, tree_id),
            *findings.reversals(steps, tree_id, survey_id, [one.name for one in variables]),
        ]
    paths: dict[str, Sequence[object]] = {
        "add_paths": [_labels_by_name(path, variables) for path in add_paths],
        "impossible": [_labels_by_name(path, variables) for path in impossible],
    }
    if not is_new:  # a path that was skipped now may have its labels again later
        paths = {"add_paths": request.add_paths, "impossible": request.impossible}
    tree = {
        "tree_id": tree_id,
        "name": request.name,
        "survey_id": survey_id,
        "settings": {
            "order": [variable.name for variable in variables],
            **policy.as_json(),
            **paths,
            **({"screening": request.screening._asdict()} if request.screening else {}),
        },
        **_results(size, codes, presumed, policy, survey["n"]),
        **made_by(time.perf_counter() - started),
    }
    write(catalog, "tree", tree, is_update=not is_new)
    findings.record(catalog, "tree", tree_id, found)
    return tree_id


def _results(
    size: Sequence[Any],
    codes: PathCodes,
    presumed: Sequence[tuple[Any, ...]],
    policy: Policy,
    n_survey: int,
) -> dict[str, object]:
    """Return what the catalog says of a tree that was built: its size and its summary."""
    n, n_vertices, n_situations, n_leaves, height, n_stopped, n_zero = size
    return {
        "n": n,
        "n_vertices": n_vertices,
        "n_situations": n_situations,
        "n_leaves": n_leaves,
        "height": height,
        "summary": {
            "rows_of_survey": n_survey,
            "rows_left_out": n_survey - n,
            "rows_stopped_at_a_situation": n_stopped,
            "decisions": codes.decisions,
            "histories": codes.histories,
            "missing": _missing_counts(codes, policy, n_survey),
            "vertices_without_rows": n_zero,
            "presumed_zeros": {
                "n": presumed[0][-1] if presumed else 0,
                "shown": [dict(zip(_PRESUMED, zero, strict=False)) for zero in presumed],
            },
        },
    }


def _is_weighted(survey: Mapping[str, object]) -> bool:
    settings = survey["settings"]
    return isinstance(settings, dict) and settings.get("weight") is not None


def _write_tables(
    steps: Steps,
    tree_id: int,
    variables: Sequence[TreeVariable],
    codes: PathCodes,
    progress: Progress,
    *,
    is_weighted: bool,
) -> int:
    """Roll the paths up to the root, go down again, and write vertices and edges.

    Counts and heights are known on the way up; depths and parents, which skip florets that
    vanish, only on the way down. Return how many answers are presumed impossible.
    """
    chunk_of = {end: chunk for chunk, end in enumerate(codes.chunk_ends[:-1])}
    steps.run("node", level=len(variables), paths=codes.paths)
    steps.drop({codes.paths.removeprefix("temp."), "path_row"})
    for level in range(len(variables) - 1, -1, -1):
        chunk = chunk_of.get(level)
        by_id = level if chunk is None else -1 - chunk
        steps.run(
            "node_level",
            level=by_id,
            below=level + 1,
            radix=variables[level].radix,
            structural_code=variables[level].structural_code,
        )
        if chunk is not None:
            steps.run("prefix_node", level=level, below=by_id, chunk=chunk)
        progress.read()
    steps.run("rooted_node")
    for level, variable in enumerate(variables, 1):
        steps.run(
            "rooted_level",
            level=level,
            radix=variable.radix,
            first_level_id=variable.first_level_id,
        )
        progress.read()
    steps.drop(["node"])
    vertices = _number_vertices(steps)
    variable_ids = [variable.variable_id for variable in variables]
    steps.run("tree_vertex", tree_id=tree_id, variable_ids=variable_ids, vertices=vertices)
    steps.run("tree_edge", tree_id=tree_id, vertices=vertices)
    if is_weighted:
        steps.run("squared_weight", tree_id=tree_id, vertices=vertices)
    if not steps.has("presumed_answer"):
        return 0
    return steps.run(
        "presumed_zero",
        tree_id=tree_id,
        first_level_ids=[variable.first_level_id for variable in variables],
        vertices=vertices,
    )


def _number_vertices(steps: Steps) -> str:
    """Give the vertices their ids, and return the table that has them."""
    ((has_gate,),) = steps.rows("select bool_or(is_gate) from temp.rooted_node")
    if not has_gate:
        steps.run("numbered_vertex")
        return "temp.numbered_vertex"
    steps.run("vertex_order")
    steps.run("reordered_vertex")
    steps.drop(["rooted_node", "vertex_order"])
    return "temp.reordered_vertex"


def _refuse_equivalent_siblings(steps: Steps, tree_id: int) -> None:
    """Refuse a floret with two labels that are declared the same: they would collide."""
    for parent_id, labels in steps.fetch("equivalent_siblings", tree_id=tree_id):
        rows = steps.fetch("path_label", tree_id=tree_id, vertex_id=parent_id)
        path = [str(label) for part, _, label in rows if part == "path"]
        raise TreeError(
            f"the situation {' / '.join(path) or '(root)'} has edges labelled "
            f"{listed(map(repr, labels))}, which are declared the same",
            hint="to count them as one answer, use recode instead of same in the codebook",
        )


def _survey_variables(catalog: sa.Connection, survey_id: int) -> dict[str, sa.RowMapping]:
    """Return the catalog rows of a survey's variables by name, in their order."""
    variable = schema.variable
    query = sa.select(variable).where(variable.c.survey_id == survey_id)
    rows = catalog.execute(query.order_by(variable.c.ordinal)).mappings()
    return {str(one["name"]): one for one in rows}


def _variables(
    catalog: sa.Connection,
    survey: Mapping[str, object],
    rows: Mapping[str, sa.RowMapping],
    order: Sequence[str] | None,
    policy: Policy,
    *,
    has_gaps: bool,
) -> list[TreeVariable]:
    """Return the variables of a tree in its order, or all of the survey."""
    names = list(rows)
    if order is not None:
        written = items_of(
            order, "order", TreeError, hint="give a list of variables", in_order=True
        )
        names = find_columns(names, written, f"survey {survey['name']!r}")
    if not names:
        raise TreeError("order names no variable", hint="name at least one (--order A,B,C)")
    if len(names) > _MAX_VARIABLES:
        most = len(names) * int(str(survey["n_distinct"]))
        raise TreeError(
            f"a tree with {len(names):,} variables would have up to {most:,} edges; at most "
            f"{_MAX_VARIABLES:,} variables are possible",
            hint="choose variables with order, from the root (--order A,B,C)",
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TreeError(f"order lists {listed(map(repr, twice))} more than once")
    levels: dict[int, list[sa.RowMapping]] = {}
    ids = [rows[name]["variable_id"] for name in names]
    chosen = schema.level.c.variable_id.in_(ids)
    query = sa.select(schema.level).where(chosen).order_by(schema.level.c.level_id)
    for level in catalog.execute(query).mappings():
        levels.setdefault(level["variable_id"], []).append(level)
    for name in names:
        of_name = levels[rows[name]["variable_id"]]
        sizes = [level["n"] for level in of_name if level["kind"] == "value"]
        if len(sizes) == survey["n"] and len(sizes) > MANY_LEVELS and set(sizes) == {1}:
            raise TreeError(
                f"{name!r} has a different answer for each of the {survey['n']:,} "
                "respondents: it identifies them, and cannot be part of a tree",
                hint="choose the variables of the tree with order (--order A,B,C)",
            )
    return [
        _variable(rows[name], levels[rows[name]["variable_id"]], policy, has_gaps=has_gaps)
        for name in names
    ]


def _variable(
    variable: sa.RowMapping,
    levels: Sequence[sa.RowMapping],
    policy: Policy,
    *,
    has_gaps: bool,
) -> TreeVariable:
    """Return a variable with its digits of a path code; no more digits than may occur."""
    n = dict.fromkeys(("value", "missing", "blank", "structural"), 0)
    for level in levels:
        n[level["kind"]] += level["n"]
    values = [level["label"] for level in levels if level["kind"] == "value"]
    blank_code = next(level["code"] for level in levels if level["kind"] == "blank")
    codes: dict[str, int] = {}
    for level in levels:  # a declared label 'missing' comes before that of blanks
        codes.setdefault(level["label"], level["code"])
    missing_code = codes[MISSING]
    is_category = policy.missing == "category"
    if is_category and n["blank"] and MISSING in values:
        raise TreeError(
            f"{variable['name']!r} has the answer {MISSING!r}, and empty cells would get the "
            "same label",
            hint=f"ingest with missing=[{MISSING!r}] (--missing {MISSING}), or choose another "
            "missing_policy (--missing-policy)",
        )
    if n["blank"] or n["structural"] or has_gaps:
        radix = blank_code + 2
    else:
        radix = blank_code if n["missing"] else len(values) + 1
    return TreeVariable(
        name=variable["name"],
        ordinal=variable["ordinal"],
        variable_id=variable["variable_id"],
        first_level_id=levels[0]["level_id"],
        codes=codes,
        n_values=len(values),
        is_unanswered=n["blank"] > 0 and not n["value"] + n["missing"],
        blank_code=blank_code,
        missing_code=missing_code if is_category else blank_code,
        n_undecided=n["blank"] + (0 if is_category else n["missing"]),
        radix=radix,
        known_labels=tuple(
            dict.fromkeys(
                level["label"] for level in levels if level["kind"] == "value" or level["n"]
            )
        ),
    )


def _paths(
    paths: Sequence[object],
    variables: Sequence[TreeVariable],
    setting: str,
    skipped: list[str] | None,
) -> list[dict[int, int]]:
    """Return paths or rules; those with unknown labels are refused, or noted in ``skipped``."""
    checked = []
    for path in paths:
        try:
            checked.append(_path(path, variables, setting))
        except TreeError as error:
            if skipped is None:
                raise
            skipped.append(f"skipped: {error.args[0]}")
    return checked


def _path(path: object, variables: Sequence[TreeVariable], setting: str) -> dict[int, int]:
    """Return a path or rule as index in the order -> code."""
    names = [variable.name for variable in variables]
    if isinstance(path, str):
        raise TreeError(f"{setting} contains the text {path!r} instead of a path", hint=_PATHS)
    if isinstance(path, Mapping):
        items = path.items()
        keys = find_columns(names, [str(key) for key, _ in items], "the order")
        labels = {names.index(key): label for key, (_, label) in zip(keys, items, strict=True)}
    else:
        parts = items_of(path, f"a path of {setting}", TreeError, hint=_PATHS, in_order=True)
        if len(parts) > len(variables):
            raise TreeError(
                f"{setting} has a path of {len(parts)} labels, but the tree has "
                f"{counted(len(variables), 'variable')}: {listed(parts)}"
            )
        labels = {i: label for i, label in enumerate(parts) if label != WILDCARD}
    if not labels:
        raise TreeError(f"{setting} has a path without labels", hint=_PATHS)
    result: dict[int, int] = {}
    for i, label in sorted(labels.items()):
        codes = variables[i].codes
        text = label_of(label) or ""
        known_label = find_name(text, codes)
        if known_label is None:
            raise TreeError(
                f"{setting}: {names[i]!r} has no label {label!r}; "
                f"{available(variables[i].known_labels)}",
                hint=did_you_mean(text, codes) or "declare it with levels= when ingesting",
            )
        result[i] = codes[known_label]
    return result


def _fill_gaps(path: Mapping[int, int], variables: Sequence[TreeVariable]) -> dict[int, int]:
    """Return a path whose unnamed variables before the last one do not apply."""
    return {i: path.get(i, variables[i].structural_code) for i in range(max(path) + 1)}


def _labels_by_name(
    path: Mapping[int, int], variables: Sequence[TreeVariable]
) -> dict[str, str]:
    return {variables[i].name: label_for(variables[i], code) for i, code in path.items()}


def _refuse_size(variables: Sequence[TreeVariable], why: str) -> None:
    size = 1
    for variable in variables:
        size *= max(variable.n_values, 1)
    if size > _MAX_VERTICES:
        raise TreeError(
            f"{why} would make up to {size:.1e} leaves",
            hint="use fewer variables, or sampling_zeros='auto'",
        )


def _missing_counts(codes: PathCodes, policy: Policy, n: int) -> dict[str, object]:
    """Return how many rows end at a missing answer, and the share that is monotone."""
    stopped = sum(of["blank_missing"] + of["missing"] for of in codes.decisions.values())
    if policy.missing == "category" or not n:
        return {}
    return {
        "rows_with_a_missing_answer": stopped,
        "rows_that_answer_later": codes.n_answered_later,
        "share_monotone": 1 - codes.n_answered_later / n,
    }


def _missing_answers(
    variables: Sequence[TreeVariable], codes: PathCodes, policy: Policy, n: int
) -> list[findings.Finding]:
    """Return what was found about rows that do not reach a leaf."""
    unanswered = [
        variable.name
        for variable in variables
        if variable.is_unanswered and codes.decisions[variable.name]["blank_missing"]
    ]
    found = findings.unanswered(unanswered)
    missing = _missing_counts(codes, policy, n)
    stopped = int(str(missing.get("rows_with_a_missing_answer", 0)))
    if policy.missing == "prefix":
        found += findings.stopped_rows(stopped, codes.n_answered_later, n)
    for name, decided in codes.decisions.items():
        if policy.missing != "category":
            found += findings.missing_answers(
                name,
                decided["blank_missing"] + decided["missing"],
                n,
                is_left_out=policy.missing == "complete",
            )
        found += findings.inapplicable_answers(name, decided["missing_structural"])
    return found
