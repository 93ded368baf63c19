"""Turn an order of variables into path codes: the one place that spells out columns.

A row's path is one integer in mixed radix, with a digit for each variable: 0 if the row
stopped before, else the code of its level. Where the product of the radices would pass 2^62,
the codes start again from a consecutive id of the path so far: one *chunk* of variables after
another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from cegdb.errors import TreeError, agreeing, counted, listed
from cegdb.store.catalog import response_table
from cegdb.tree.histories import TreeVariable, histories, label_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cegdb.sqlfiles import Steps

MAX_CODE: Final = 1 << 62
"""Path codes stay below this."""

_FEWEST: Final = 100
"""Only where so many rows lack an answer may it be presumed impossible."""

_PATHS: Final = (
    "The path of each row as one integer, with a digit for each variable: the code of its "
    "answer, or 0 after the row stopped."
)


@dataclass(frozen=True)
class Policy:
    """How blanks, missing answers and unseen paths are treated."""

    blank: str
    missing: str
    sampling_zeros: str
    gate_min_rows: int

    def as_json(self) -> dict[str, object]:
        """Return it under the names of the settings of a tree."""
        return {
            "blank": self.blank,
            "missing_policy": self.missing,
            "sampling_zeros": self.sampling_zeros,
            "gate_min_rows": self.gate_min_rows,
        }


@dataclass
class PathCodes:
    """Where chunks of variables end, and what was decided about empty and missing cells.

    ``paths`` is the table of the distinct paths. ``decisions`` are numbers of rows by
    variable; ``n_answered_later`` counts rows that answer a question after a missing answer.
    ``n_situations`` counts the situations that rows reach, ``n_unreached`` those without rows,
    if the tree ``has_unreached`` vertices at all.
    ``unexpanded`` has the number of histories without rows at which the tree ends early, by
    the variable that is not asked there any more.
    """

    paths: str
    chunk_ends: list[int] = field(default_factory=list)
    histories: dict[str, dict[str, object]] = field(default_factory=dict)
    n_answered_later: int = 0
    decisions: dict[str, dict[str, int]] = field(default_factory=dict)
    n_situations: int = 0
    n_unreached: int = 0
    has_unreached: bool = False
    unexpanded: dict[str, int] = field(default_factory=dict)


def code_paths(
    steps: Steps,
    survey_id: int,
    variables: Sequence[TreeVariable],
    policy: Policy,
    add_paths: Sequence[Mapping[int, int]],
    impossible: Sequence[Mapping[int, int]],
    *,
    n_rows: int,
    max_code: int,
    is_weighted: bool,
    uses_all: bool,
) -> PathCodes:
    """Make the distinct paths of the last chunk, and ``path_prefix``.

    ``add_paths`` and ``impossible`` map indices in the order to codes. The survey has
    ``n_rows``. ``uses_all`` says whether the tree has all variables of the survey, so that its
    rows are distinct paths.
    """
    several = _chunk_end(variables, 0, 0, max_code) < len(variables)
    source = _responses(
        steps,
        survey_id,
        variables,
        add_paths,
        needs_ids=several or bool(add_paths),
        is_weighted=is_weighted,
    )
    _refuse_observed(steps, source, variables, impossible)
    is_undecided = any(variable.n_undecided for variable in variables)
    if not (several or is_undecided or add_paths or policy.sampling_zeros != "none"):
        steps.empty("stopped_prefix", "prefix_id bigint")
        _first_paths(steps, source, variables)
        steps.view("path_row", "select * from temp.coded_path", purpose=_PATHS)
        paths = "temp.path_row" if uses_all else _sum_paths(steps, is_weighted=is_weighted)
        return PathCodes(paths, [len(variables)])
    is_auto = policy.sampling_zeros == "auto"
    is_complete = policy.missing == "complete" and policy.sampling_zeros != "none"
    n_situations = None
    if several and (is_auto or is_complete):
        # Zeros of an earlier chunk must not come of rows that a later one leaves out, and all
        # situations must be counted before the first zero.
        observed = replace(policy, sampling_zeros="auto" if is_auto else "none")
        n_situations = _code_chunks(
            steps,
            source,
            variables,
            observed,
            (),
            n_rows=n_rows,
            max_code=max_code,
            is_weighted=is_weighted,
            adds_zeros=False,
        ).n_situations
    if several and is_complete:
        steps.run("remaining_row")
        steps.run("included_response")
        source = "temp.included_response"
    return _code_chunks(
        steps,
        source,
        variables,
        policy,
        impossible,
        n_rows=n_rows,
        max_code=max_code,
        is_weighted=is_weighted,
        n_situations=n_situations,
        has_unreached=bool(add_paths),
    )


def _sum_paths(steps: Steps, *, is_weighted: bool) -> str:
    """Sum the rows of each path; return the table that has them."""
    name = "weighted_path_end" if is_weighted else "path_end"
    steps.run(name)
    return f"temp.{name}"


def _code_chunks(
    steps: Steps,
    source: str,
    variables: Sequence[TreeVariable],
    policy: Policy,
    impossible: Sequence[Mapping[int, int]],
    *,
    n_rows: int,
    max_code: int,
    is_weighted: bool,
    adds_zeros: bool = True,
    n_situations: int | None = None,
    has_unreached: bool = False,
) -> PathCodes:
    """Code one chunk of variables after another, and decide the cells of each variable.

    ``n_situations`` are those that rows reach, if they were counted before.
    """
    steps.empty("path_prefix", "chunk integer, prefix_id bigint, code bigint")
    steps.empty("stopped_prefix", "prefix_id bigint")
    steps.empty(
        "presumed_answer",
        "level integer, prefix bigint, digit integer, n bigint, n_with bigint, "
        "n_without bigint, log_p0 double",
    )
    _first_paths(steps, source, variables[: _chunk_end(variables, 0, 0, max_code)])
    steps.create("path_row", "select * from temp.coded_path", purpose=_PATHS)
    codes = PathCodes("", n_situations=n_situations or 0, has_unreached=has_unreached)
    is_auto = policy.sampling_zeros == "auto"
    places: list[_Place] = []
    start, n_prefixes = 0, 0
    while True:
        end = _chunk_end(variables, start, n_prefixes, max_code)
        chunk = list(variables[start:end])
        if start:
            last_radix = variables[start - 1].radix
            _continue_paths(steps, source, chunk, len(codes.chunk_ends) - 1, last_radix)
        divisors = _divisors(chunk)
        for variable, divisor in zip(chunk, divisors, strict=True):
            if variable.n_undecided:
                index = start + chunk.index(variable) + 1
                _decide(steps, variable, divisor, index, policy, codes)
                codes.histories[variable.name] = histories(
                    steps, variables, codes.chunk_ends, variable, divisor
                )
                _write_decisions(steps, variable, divisor, policy)
        places += _places(len(codes.chunk_ends), chunk, divisors)
        if is_auto and n_situations is None:
            counts = (
                steps.fetch("observed_situation", **place.digit) for place in places[start:]
            )
            codes.n_situations += sum(int(rows[0][0]) for rows in counts)
        if adds_zeros and policy.sampling_zeros != "none":
            _impossible_digits(steps, impossible, variables, start, end)
            _zero_paths(steps, chunk, places, policy, codes, n_rows)
        codes.chunk_ends.append(end)
        if end >= len(variables):
            codes.paths = _sum_paths(steps, is_weighted=is_weighted)
            return codes
        n_prefixes = steps.run("path_prefix", chunk=len(codes.chunk_ends) - 1)
        start = end


def _chunk_end(
    variables: Sequence[TreeVariable], start: int, n_prefixes: int, max_code: int
) -> int:
    """Return where the chunk ends that starts here after so many distinct paths."""
    size, end = n_prefixes + 1, start
    while end < len(variables) and size * variables[end].radix < max_code:
        size *= variables[end].radix
        end += 1
    return max(end, start + 1)


def _divisors(chunk: Sequence[TreeVariable]) -> list[int]:
    """Return what the digit of each variable is multiplied by."""
    divisors = [1]
    for variable in reversed(chunk[1:]):
        divisors.insert(0, divisors[0] * variable.radix)
    return divisors


def _responses(
    steps: Steps,
    survey_id: int,
    variables: Sequence[TreeVariable],
    add_paths: Sequence[Mapping[int, int]],
    *,
    needs_ids: bool,
    is_weighted: bool,
) -> str:
    """Return the relation to read: the responses, followed by any added paths.

    Rows get an id where later chunks must find them again. Without weights their columns are
    as narrow as possible, since every step carries them.
    """
    table = response_table(survey_id)
    weights = ("weight", "weight_sq")
    columns = ", ".join(
        [
            *(f"v{variable.ordinal}" for variable in variables),
            "n",
            *(weights if is_weighted else (f"cast(null as tinyint) as {w}" for w in weights)),
        ]
    )
    last = f"{_last_answer(variables)} as last_answer, true as is_included"
    if not needs_ids:
        return f"(select null as row_id, {columns}, {last} from {table})"  # noqa: S608
    codes = ", ".join(
        f"unnest(cast({[path.get(i, 0) for path in add_paths]} as integer[])) as v{x.ordinal}"
        for i, x in enumerate(variables)
    )
    steps.view("survey_row", f"select {columns}, {last} from {table}")  # noqa: S608
    steps.view("added_row", f"select *, {last} from (select {codes})")  # noqa: S608
    steps.run("numbered_response")
    return "temp.numbered_response"


def distinct_rows(
    steps: Steps, survey_id: int, ordinals: Sequence[int], *, is_weighted: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct coded rows of some variables, whatever order they will be in.

    Returned are codes of shape (rows, variables), sorted, and a column each for the
    respondents of each row and, with weights, their sum and the sum of their squares.
    """
    import numpy as np

    columns = ", ".join(f"v{ordinal}" for ordinal in ordinals)
    query = f"select {columns}, n, weight, weight_sq from {response_table(survey_id)}"  # noqa: S608
    steps.view("chosen_answer", query)
    steps.run("distinct_answer")
    rows = steps.arrays("from temp.distinct_answer")
    codes = np.column_stack([rows[f"v{ordinal}"] for ordinal in ordinals])
    summed = ("n", "weight", "weight_sq") if is_weighted else ("n",)
    sums = np.column_stack([rows[name] for name in summed])
    return codes.astype(np.int64), sums.astype(np.float64)


def _last_answer(variables: Sequence[TreeVariable]) -> str:
    """Return the SQL of the index of the last answered question of a row, from 1."""
    if not any(variable.n_undecided for variable in variables):
        return "0"
    cases = [
        f"when v{variable.ordinal} between 1 and {variable.n_values} then {index}"
        for index, variable in reversed(list(enumerate(variables, 1)))
    ]
    return f"case {' '.join(cases)} else 0 end"


def _refuse_observed(
    steps: Steps,
    source: str,
    variables: Sequence[TreeVariable],
    impossible: Sequence[Mapping[int, int]],
) -> None:
    for rule in impossible:
        where = " and ".join(f"v{variables[i].ordinal} = {c}" for i, c in rule.items())
        n, rows = steps.rows(
            f"select coalesce(sum(n), 0), count(*) from {source} where {where}"  # noqa: S608
        )[0]
        if rows:
            words = ", ".join(
                f"{variables[i].name} = {label_for(variables[i], code)}"
                for i, code in rule.items()
            )
            why = (
                f"{counted(n, 'respondent')} {agreeing(n, 'have')} it"
                if n
                else "add_paths adds it"
            )
            raise TreeError(f"the path {words} is declared impossible, but {why}")


def refuse_gaps(
    steps: Steps,
    survey_id: int,
    variables: Sequence[TreeVariable],
    named: Mapping[int, int],
) -> None:
    """Refuse an added path that leaves out a variable which its history answers."""
    table = response_table(survey_id)
    for gap in range(max(named)):
        if gap in named:
            continue
        variable = variables[gap]
        known = [f"v{variables[i].ordinal} = {c}" for i, c in named.items() if i < gap]
        where = " and ".join([*known, f"v{variable.ordinal} <= {variable.n_values}"])
        (n,) = steps.rows(f"select coalesce(sum(n), 0) from {table} where {where}")[0]  # noqa: S608
        if n:
            words = listed(label_for(variables[i], c) for i, c in named.items())
            raise TreeError(
                f"the added path {words} leaves out {variable.name!r}, but "
                f"{counted(n, 'respondent')} who {agreeing(n, 'start')} like it "
                f"{agreeing(n, 'answer')} that question",
                hint=f"give its label, or {variable.name!r}: 'not applicable'",
            )


def _digits(chunk: Sequence[TreeVariable]) -> tuple[str, int]:
    """Return the SQL of a row's code of one chunk, and the number of such codes."""
    digits, size = "0", 1
    for variable in chunk:
        digits = f"({digits} * {variable.radix} + cast(v{variable.ordinal} as bigint))"
        size *= variable.radix
    return digits, size


def _first_paths(steps: Steps, source: str, chunk: Sequence[TreeVariable]) -> None:
    """Make ``coded_path``: the paths of the rows in the first chunk, cells still undecided."""
    digits, _ = _digits(chunk)
    columns = f"row_id, {digits} as code, n, weight, weight_sq, last_answer, is_included"
    steps.view("coded_response", f"select {columns} from {source}")  # noqa: S608
    steps.run("coded_path")


def _continue_paths(
    steps: Steps, source: str, chunk: Sequence[TreeVariable], last: int, last_radix: int
) -> None:
    """Make ``path_row`` of a later chunk: codes start from the path so far.

    ``last`` is the chunk before, whose codes end in a digit of ``last_radix``.
    """
    digits, size = _digits(chunk)
    steps.run("stopped_prefix", chunk=last, radix=last_radix)
    query = f"select row_id, {digits} as code from {source}"  # noqa: S608
    steps.view("group_code", query, purpose="The digits of the next group of variables.")
    steps.run("next_path_row", chunk=last, radix=last_radix, size=size)
    steps.create("path_row", "select * from temp.next_path_row", purpose=_PATHS)
    steps.drop(["next_path_row"])


def _decide(
    steps: Steps,
    variable: TreeVariable,
    divisor: int,
    index: int,
    policy: Policy,
    codes: PathCodes,
) -> None:
    """Decide what empty and missing cells of one variable mean; count rows by decision."""
    steps.run(
        "gate_floret",
        divisor=divisor,
        radix=variable.radix,
        n_values=variable.n_values,
        blank_code=variable.blank_code,
        structural_code=variable.structural_code,
        blank=policy.blank,
        policy=policy.missing,
        gate_min_rows=policy.gate_min_rows,
    )
    decided = Counter[tuple[bool, bool]]()
    for is_blank, is_structural, is_followed, n in steps.fetch(
        "gate_decision",
        divisor=divisor,
        radix=variable.radix,
        n_values=variable.n_values,
        blank_code=variable.blank_code,
        variable_index=index,
    ):
        decided[bool(is_blank), bool(is_structural)] += n
        if is_followed and not is_structural:
            codes.n_answered_later += n
    codes.decisions[variable.name] = {
        "blank_structural": decided[True, True],
        "blank_missing": decided[True, False],
        "missing_structural": decided[False, True],
        "missing": decided[False, False],
    }


def _write_decisions(
    steps: Steps, variable: TreeVariable, divisor: int, policy: Policy
) -> None:
    """Change the digits of the cells that were decided."""
    steps.run(
        "path_row",
        divisor=divisor,
        radix=variable.radix,
        n_values=variable.n_values,
        blank_code=variable.blank_code,
        structural_code=variable.structural_code,
        missing_code=variable.missing_code,
        policy=policy.missing,
    )


def _impossible_digits(
    steps: Steps,
    impossible: Sequence[Mapping[int, int]],
    variables: Sequence[TreeVariable],
    start: int,
    end: int,
) -> None:
    """Make ``impossible_digit``: the rules as digits of this chunk's codes."""
    divisor_of = dict(zip(range(start, end), _divisors(variables[start:end]), strict=True))
    digits: list[tuple[int, int, int, int]] = []
    for rule_id, rule in enumerate(impossible):
        if any(i < start for i in rule) and any(i >= start for i in rule):
            raise TreeError(
                "sampling zeros cannot be checked against an impossible path: it names "
                f"{variables[min(rule)].name!r} and {variables[max(rule)].name!r}, which are "
                f"too far apart in an order of {len(variables)} variables",
                hint="put them nearer to each other in order=, or use fewer variables",
            )
        digits += [
            (rule_id, divisor_of[i], variables[i].radix, code)
            for i, code in rule.items()
            if start <= i < end
        ]
    names = ("rules", "divisors", "radices", "digits")
    columns = {name: [row[i] for row in digits] for i, name in enumerate(names)}
    steps.run("impossible_digit", **columns)


class _Place(NamedTuple):
    """Where the digit of a variable stands: in which chunk, and how to read it.

    ``digit`` has what steps need to read it, by parameter.
    """

    chunk: int
    size: int
    digit: Mapping[str, int]


def _places(
    chunk_index: int, chunk: Sequence[TreeVariable], divisors: Sequence[int]
) -> list[_Place]:
    size = divisors[0] * chunk[0].radix
    previous = [1, *(variable.radix for variable in chunk[:-1])]
    return [
        _Place(
            chunk_index,
            size,
            {
                "divisor": divisor,
                "radix": variable.radix,
                "previous_radix": radix,
                "structural_code": variable.structural_code,
            },
        )
        for variable, divisor, radix in zip(chunk, divisors, previous, strict=True)
    ]


def _zero_paths(
    steps: Steps,
    chunk: Sequence[TreeVariable],
    places: Sequence[_Place],
    policy: Policy,
    codes: PathCodes,
    n_rows: int,
) -> None:
    """Append the sampling zeros of a chunk, and the questions below them.

    With ``"full"`` every history without rows is asked all later questions that apply to it;
    with ``"auto"`` it is, as long as no more situations lack rows than have them. ``places``
    are those of all variables up to the end of the chunk.
    """
    is_auto = policy.sampling_zeros == "auto"
    start = len(places) - len(chunk)
    for level, variable in enumerate(chunk, start):
        digit = places[level].digit
        is_full = is_auto or policy.sampling_zeros == "full"
        if is_auto and n_rows >= _FEWEST:
            steps.run(
                "presumed_answer",
                level=level,
                n_values=variable.n_values,
                fewest=_FEWEST,
                divisor=digit["divisor"],
                radix=digit["radix"],
            )
        steps.empty("unreached_history", "prefix bigint, is_closed boolean")
        if is_full and codes.has_unreached and level > 0:
            _unreached_histories(steps, places[: level + 1])
        if is_full and is_auto and codes.has_unreached:
            query = "select count(*) from temp.unreached_history where not is_closed"
            ((n_open,),) = steps.rows(query)
            is_full = not codes.unexpanded and (
                codes.n_unreached + n_open <= codes.n_situations
            )
            if is_full:
                codes.n_unreached += n_open
            elif n_open:
                codes.unexpanded[variable.name] = n_open
        n_zeros = steps.run(
            "zero_path", level=level, n_values=variable.n_values, is_full=is_full, **digit
        )
        codes.has_unreached = codes.has_unreached or n_zeros > 0


def _unreached_histories(steps: Steps, places: Sequence[_Place]) -> None:
    """Make ``unreached_history`` of the variable at the last place."""
    *before, own = places
    steps.run(
        "unreached_history",
        **own.digit,
        chunk=own.chunk,
        sizes=list({place.chunk: place.size for place in places}.values()),
        chunks=[place.chunk for place in before],
        divisors=[place.digit["divisor"] for place in before],
        radices=[place.digit["radix"] for place in before],
    )
