"""Event tree: coded rows to vertices and edges, level by level, in SQL."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import sqlalchemy as sa

from cegdb.errors import TreeError, agreeing, counted, items_of, listed
from cegdb.ingest.coding.levels import MANY_LEVELS
from cegdb.ingest.coding.variables import MISSING
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import find_columns
from cegdb.names import available, did_you_mean, find_name
from cegdb.options import TreeOptions
from cegdb.sqlfiles import Steps
from cegdb.store import schema
from cegdb.store.catalog import claim_name, clear, new_id, row, write
from cegdb.tree.histories import TreeVariable
from cegdb.tree.path_codes import Coded, Policy, code_paths, refuse_gaps
from cegdb.version import made_by

if TYPE_CHECKING:
    import duckdb

    from cegdb.store import Store
    from cegdb.store.progress import Progress

__all__ = [
    "ANY",
    "Path",
    "event_tree",
    "remake_tree",
]

Path: TypeAlias = "Mapping[str, object] | Sequence[object]"

ANY: Final = "*"
_PATHS: Final = "give a list of paths: variable -> label, or labels from the root"
_MOST_VERTICES: Final = 2_000_000_000
_MOST_VARIABLES: Final = 1_000
_POLICY: Final = ("blank", "missing_policy", "sampling_zeros", "gate_min_rows")


def event_tree(
    store: Store,
    survey_id: int,
    options: TreeOptions | None = None,
    *,
    name: str | None = None,
    replace: bool = False,
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
    paths_to_add = items_of(options.add_paths, "add_paths", TreeError, hint=_PATHS)
    ruled_out = items_of(options.impossible, "impossible", TreeError, hint=_PATHS)
    policy = Policy(
        options.blank,
        options.missing_policy,
        options.sampling_zeros,
        int(options.gate_min_rows),
    )
    with store.writing() as (con, catalog):
        survey = row(catalog, "survey", survey_id)
        name = claim_name(catalog, "tree", name, str(survey["name"]), replace=replace)
        asked = _Asked(name, options.order, policy, paths_to_add, ruled_out)
        return _make(store, con, catalog, survey, asked, again=None)


def remake_tree(store: Store, tree_id: int) -> None:
    """Make a stale tree again of the rows that its survey has now, with its settings.

    Its id and name stay. What is built on it has to be made again too, in the same
    transaction.

    Raises
    ------
    TreeError
        The rows do not allow its settings any more: see the message.
    """
    with store.writing() as (con, catalog):
        tree = row(catalog, "tree", tree_id)
        former = row(catalog, "survey", tree["survey_id"])
        survey = row(catalog, "survey", former["superseded_by"] or former["survey_id"])
        said = dict(tree["settings"])
        policy = Policy(*(said[name] for name in _POLICY))
        asked = _Asked(
            tree["name"], said["order"], policy, said["add_paths"], said["impossible"]
        )
        clear(catalog, "tree", tree_id)
        _make(store, con, catalog, survey, asked, again=tree_id)


@dataclass(frozen=True)
class _Asked:
    """What a tree is asked for."""

    name: str
    order: Sequence[str] | None
    policy: Policy
    add_paths: Sequence[object]
    impossible: Sequence[object]


def _make(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    catalog: sa.Connection,
    survey: Mapping[str, Any],
    asked: _Asked,
    *,
    again: int | None,
) -> int:
    started = time.perf_counter()
    survey_id, policy = survey["survey_id"], asked.policy
    known = _survey_variables(catalog, survey_id)
    variables = _variables(
        catalog, survey, known, asked.order, policy, gaps=bool(asked.add_paths)
    )
    passed_over: list[str] | None = None if again is None else []
    added = _paths(asked.add_paths, variables, "add_paths", passed_over)
    rules = _paths(asked.impossible, variables, "impossible", passed_over)
    if policy.sampling_zeros == "full":
        _refuse_size(variables, "sampling_zeros='full'")
    # The rows, each level up and down, and the tables.
    with store.counting(2 * len(variables) + 2, "step") as progress, Steps(con) as steps:
        for path in added:
            refuse_gaps(steps, survey_id, variables, path)
        filled = [_filled(path, variables) for path in added]
        is_weighted = _is_weighted(survey)
        coded = code_paths(
            steps,
            survey_id,
            variables,
            policy,
            filled,
            rules,
            is_weighted=is_weighted,
            is_whole=len(variables) == len(known),
        )
        progress.read()
        tree_id = new_id(catalog, "tree") if again is None else again
        _build(steps, tree_id, variables, coded, progress, is_weighted=is_weighted)
        if dict(survey["settings"]).get("same"):
            _refuse_siblings(steps, tree_id)
        size = steps.fetch("tree_size", tree_id=tree_id)[0]
    n, n_vertices, n_situations, n_leaves, height, n_stopped, n_zero = (value for value in size)
    write(
        catalog,
        "tree",
        {
            "tree_id": tree_id,
            "name": asked.name,
            "survey_id": survey_id,
            "n": n,
            "n_vertices": n_vertices,
            "n_situations": n_situations,
            "n_leaves": n_leaves,
            "height": height,
            "settings": {
                "order": [variable.name for variable in variables],
                **policy.as_json(),
                "add_paths": [_words(path, variables) for path in filled]
                if again is None
                else list(asked.add_paths),
                "impossible": [_words(path, variables) for path in rules]
                if again is None
                else list(asked.impossible),
            },
            "summary": {
                "rows_of_survey": survey["n"],
                "rows_left_out": survey["n"] - n,
                "rows_stopped_at_a_situation": n_stopped,
                "decisions": coded.decisions,
                "histories": coded.histories,
                "missing": _missing(coded, policy, survey["n"]),
                "vertices_without_rows": n_zero,
                "hints": [
                    *_hints(variables, coded, policy, survey["n"]),
                    *(passed_over or []),
                ],
            },
            **made_by(time.perf_counter() - started),
        },
        again=again is not None,
    )
    return tree_id


def _is_weighted(survey: Mapping[str, object]) -> bool:
    settings = survey["settings"]
    return isinstance(settings, dict) and settings.get("weight") is not None


def _build(
    steps: Steps,
    tree_id: int,
    variables: Sequence[TreeVariable],
    coded: Coded,
    progress: Progress,
    *,
    is_weighted: bool,
) -> None:
    """Roll the paths up to the root, walk down again, and write vertices and edges."""
    chunk_of = {end: chunk for chunk, end in enumerate(coded.chunk_ends[:-1])}
    steps.run("node", level=len(variables))
    steps.drop(["path_end", "path_row"])
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
            steps.run("node_head", level=level, below=by_id, chunk=chunk)
        progress.read()
    steps.run("placed")
    for level, variable in enumerate(variables, 1):
        steps.run(
            "placed_level",
            level=level,
            radix=variable.radix,
            first_level_id=variable.first_level_id,
        )
        progress.read()
    steps.drop(["node"])
    ranked = _ranked(steps)
    variable_ids = [variable.variable_id for variable in variables]
    steps.run("tree_vertex", tree_id=tree_id, variable_ids=variable_ids, ranked=ranked)
    steps.run("tree_edge", tree_id=tree_id, ranked=ranked)
    if is_weighted:
        steps.run("tree_weight", tree_id=tree_id, ranked=ranked)


def _ranked(steps: Steps) -> str:
    """Put the vertices in the order of their ids, and return the table that has them."""
    ((has_gate,),) = steps.rows("select bool_or(is_gate) from temp.placed")
    if not has_gate:
        steps.run("ranked")
        return "temp.ranked"
    steps.run("ranked_place")
    steps.run("ranked_vertex")
    steps.drop(["placed", "ranked_place"])
    return "temp.ranked_vertex"


def _refuse_siblings(steps: Steps, tree_id: int) -> None:
    """Refuse a floret with two labels that are declared the same: they would collide."""
    for parent_id, labels in steps.fetch("same_sibling", tree_id=tree_id):
        words = steps.fetch("path_words", tree_id=tree_id, vertex_id=parent_id)
        path = [str(label) for part, _, label in words if part == "path"]
        raise TreeError(
            f"the labels {listed(map(repr, labels))} are declared the same, and the situation "
            f"{' / '.join(path) or 'root'} has both",
            hint="to count them as one answer use recode instead of same in the codebook",
        )


def _survey_variables(catalog: sa.Connection, survey_id: int) -> dict[str, sa.RowMapping]:
    """Return the catalog rows of a survey's variables by name, in their order."""
    of_survey = schema.variable.c.survey_id == survey_id
    query = sa.select(schema.variable).where(of_survey).order_by(schema.variable.c.ordinal)
    return {str(found["name"]): found for found in catalog.execute(query).mappings()}


def _variables(
    catalog: sa.Connection,
    survey: Mapping[str, object],
    rows: Mapping[str, sa.RowMapping],
    order: Sequence[str] | None,
    policy: Policy,
    *,
    gaps: bool,
) -> list[TreeVariable]:
    names = list(rows)
    if order is not None:
        asked = items_of(
            order, "order", TreeError, hint="give a list of variables", in_order=True
        )
        names = find_columns(names, asked, f"survey {survey['name']!r}")
    if not names:
        raise TreeError("order names no variable")
    if len(names) > _MOST_VARIABLES:
        most = len(names) * int(str(survey["n_distinct"]))
        raise TreeError(
            f"a tree of {len(names):,} variables would have up to {most:,} edges, one below "
            f"another: {_MOST_VARIABLES:,} variables are the most",
            hint="name those you mean with order, from the root (--order A,B,C)",
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TreeError(f"order names {listed(map(repr, twice))} more than once")
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
                f"{name!r} has another answer for each of the {survey['n']:,} "
                "respondents: it tells them apart, and makes no tree",
                hint="name the variables of the tree with order (--order A,B,C)",
            )
    return [
        _variable(rows[name], levels[rows[name]["variable_id"]], policy, gaps=gaps)
        for name in names
    ]


def _variable(
    found: sa.RowMapping, levels: Sequence[sa.RowMapping], policy: Policy, *, gaps: bool
) -> TreeVariable:
    n = dict.fromkeys(("value", "missing", "blank", "structural"), 0)
    for level in levels:
        n[level["kind"]] += level["n"]
    values = [level["label"] for level in levels if level["kind"] == "value"]
    blank_code = next(level["code"] for level in levels if level["kind"] == "blank")
    codes: dict[str, int] = {}
    for level in levels:  # a declared label 'missing' comes before that of blanks
        codes.setdefault(level["label"], level["code"])
    missing_code = codes[MISSING]
    category = policy.missing == "category"
    if category and n["blank"] and MISSING in values:
        raise TreeError(
            f"{found['name']!r} has the answer {MISSING!r} and blank cells, which would be "
            "called the same",
            hint=f"ingest with missing=[{MISSING!r}], or take another missing_policy",
        )
    if n["blank"] or n["structural"] or gaps:
        radix = blank_code + 2
    else:
        radix = blank_code if n["missing"] else len(values) + 1
    return TreeVariable(
        name=found["name"],
        ordinal=found["ordinal"],
        variable_id=found["variable_id"],
        first_level_id=levels[0]["level_id"],
        codes=codes,
        n_values=len(values),
        is_unanswered=n["blank"] > 0 and not n["value"] + n["missing"],
        blank_code=blank_code,
        missing_code=missing_code if category else blank_code,
        n_undecided=n["blank"] + (0 if category else n["missing"]),
        radix=radix,
    )


def _paths(
    paths: Sequence[object],
    variables: Sequence[TreeVariable],
    setting: str,
    passed_over: list[str] | None,
) -> list[dict[int, int]]:
    """Return paths or rules; those with a label that is gone are passed over, if allowed."""
    found = []
    for path in paths:
        try:
            found.append(_path(path, variables, setting))
        except TreeError as error:
            if passed_over is None:
                raise
            passed_over.append(f"passed over: {error.args[0]}")
    return found


def _path(path: object, variables: Sequence[TreeVariable], setting: str) -> dict[int, int]:
    """Return a path or rule as position in the order -> code."""
    names = [variable.name for variable in variables]
    if isinstance(path, str):
        raise TreeError(f"{setting} has one text, {path!r}, where a path belongs", hint=_PATHS)
    if isinstance(path, Mapping):
        items = path.items()
        found = find_columns(names, [str(key) for key, _ in items], "the order")
        labels = {names.index(key): label for key, (_, label) in zip(found, items, strict=True)}
    else:
        parts = items_of(path, f"a path of {setting}", TreeError, hint=_PATHS, in_order=True)
        if len(parts) > len(variables):
            raise TreeError(f"{setting} has a path of {len(parts)} labels: {listed(parts)}")
        labels = {i: label for i, label in enumerate(parts) if label != ANY}
    if not labels:
        raise TreeError(f"{setting} has a path that names no label")
    result: dict[int, int] = {}
    for i, label in sorted(labels.items()):
        codes = variables[i].codes
        text = label_of(label) or ""
        known = find_name(text, codes)
        if known is None:
            raise TreeError(
                f"{setting}: {names[i]!r} has no label {label!r}; {available(codes)}",
                hint=did_you_mean(text, codes) or "declare it with levels= when ingesting",
            )
        result[i] = codes[known]
    return result


def _filled(path: Mapping[int, int], variables: Sequence[TreeVariable]) -> dict[int, int]:
    """Return a path whose unnamed variables before the last one do not apply."""
    return {i: path.get(i, variables[i].structural_code) for i in range(max(path) + 1)}


def _words(path: Mapping[int, int], variables: Sequence[TreeVariable]) -> dict[str, str]:
    return {
        variables[i].name: next(
            label for label, known in variables[i].codes.items() if known == code
        )
        for i, code in path.items()
    }


def _refuse_size(variables: Sequence[TreeVariable], why: str) -> None:
    size = 1
    for variable in variables:
        size *= max(variable.n_values, 1)
    if size > _MOST_VERTICES:
        raise TreeError(
            f"{why} would make up to {size:.1e} leaves",
            hint="use fewer variables, or sampling_zeros='floret'",
        )


def _missing(coded: Coded, policy: Policy, n: int) -> dict[str, object]:
    """Return how many rows end at a missing answer, and the share that is monotone."""
    stopped = sum(of["blank_missing"] + of["missing"] for of in coded.decisions.values())
    if policy.missing == "category" or not n:
        return {}
    return {
        "rows_with_a_missing_answer": stopped,
        "rows_that_answer_later": coded.n_followed,
        "share_monotone": 1 - coded.n_followed / n,
    }


def _hints(
    variables: Sequence[TreeVariable], coded: Coded, policy: Policy, n: int
) -> list[str]:
    """Return what a reader of the summary should know of rows that do not reach a leaf."""
    hints = []
    unanswered = [
        variable.name
        for variable in variables
        if variable.is_unanswered and coded.decisions[variable.name]["blank_missing"]
    ]
    if unanswered:
        hints.append(
            f"nobody in the survey answered {listed(map(repr, unanswered))}: if nobody was "
            "asked, leave it out of order or use blank='structural'"
        )
    told = _missing(coded, policy, n)
    stopped = int(str(told.get("rows_with_a_missing_answer", 0)))
    if stopped * 10 > n and policy.missing == "prefix":
        hints.append(
            f"{stopped:,} of {counted(n, 'row')} ({stopped / n:.0%}) "
            f"{agreeing(stopped, 'count')} only up to a missing answer; "
            f"{coded.n_followed:,} of them {agreeing(coded.n_followed, 'have')} later answers, "
            "which are not used (see missing_policy)"
        )
    for name, decided in coded.decisions.items():
        stopped = decided["blank_missing"] + decided["missing"]
        if stopped and policy.missing != "category":
            verb = "left out" if policy.missing == "complete" else "counted up to there"
            hints.append(
                f"{stopped:,} of {counted(n, 'row')} {agreeing(stopped, 'have')} no answer to "
                f"{name!r} and {agreeing(stopped, 'are')} {verb}"
            )
        missing = decided["missing_structural"]
        if missing:
            hints.append(
                f"{counted(missing, 'missing answer')} to {name!r} "
                f"{agreeing(missing, 'count')} as not applicable, "
                "because nobody with the same history answered it"
            )
    return hints
