"""Gates (skip logic): which respondents a question was asked, as a condition on answers.

Where a gate is closed the cell is structural, whatever stands in it; where it is open a
blank is missing. What contradicts the gate is counted, with examples, in the receipt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import SqlStepError, SurveyError, agreeing, counted, listed
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE
from cegdb.ingest.files.cell_labels import shown
from cegdb.ingest.files.relation import find_columns, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps, Value

_EXAMPLES: Final = 3
_HINT: Final = "write a condition on other variables, by their labels: smoker = 'Current'"
_WRONG: Final = {
    "answered": "answered although it was closed, counted as not applicable",
    "unanswered": "blank although it was open, counted as missing",
    "not applicable": "declared not applicable although it was open",
}


@dataclass(frozen=True)
class Gate:
    """A gate: the variable behind it, its condition, and the variables that it asks."""

    variable: str
    rule: str
    asks: list[str]


def ordered_gates(
    con: duckdb.DuckDBPyConnection, rules: Mapping[str, str], names: list[str], where: str
) -> list[Gate]:
    """Check the gates of a survey and return them in an order in which each can be decided.

    Parameters
    ----------
    con
        Parses the conditions; nothing is read.
    rules
        Variable -> condition in SQL, whose columns are variables and values their labels.
    names
        The variables of the survey.
    where
        What to call the survey in a message.

    Raises
    ------
    SurveyError
        A condition is no SQL expression of variables, or gates depend on each other.

    Examples
    --------
    >>> import duckdb
    >>> rules = {"brand": "cigs <> '0'", "cigs": "smoker = 'Current'"}
    >>> found = ordered_gates(duckdb.connect(), rules, ["smoker", "brand", "cigs"], "it")
    >>> [(gate.variable, gate.asks) for gate in found]
    [('cigs', ['smoker']), ('brand', ['cigs'])]
    """
    gates = {}
    for asked, rule in rules.items():
        (name,) = find_columns(names, [asked], f"{where} (gates)")
        if name in gates:
            raise SurveyError(f"the codebook has two gates of {name!r}")
        gates[name] = Gate(name, rule, _asked(con, name, rule, names, where))
    done: list[Gate] = []
    waiting = dict(gates)
    while waiting:
        ready = [
            name
            for name, gate in waiting.items()
            if not any(asked in waiting for asked in gate.asks)
        ]
        if not ready:
            raise SurveyError(f"the gates of {listed(map(repr, waiting))} ask each other")
        done += [waiting.pop(name) for name in ready]
    for gate in done:
        _check(con, gate)
    return done


def _asked(
    con: duckdb.DuckDBPyConnection, name: str, rule: str, names: list[str], where: str
) -> list[str]:
    """Return the variables that a condition names."""
    ((text,),) = con.execute("select json_serialize_sql($1)", [f"select ({rule}\n)"]).fetchall()
    tree = json.loads(text)
    called = f"the gate of {name!r}, {shown(rule)!r},"
    if tree.get("error") or len(tree["statements"]) != 1:
        why = first_line(ValueError(tree.get("error_message", "several statements")))
        raise SurveyError(f"{called} is no condition: {why}", hint=_HINT)
    nodes = list(_nodes(tree))
    if any(node.get("class") == "SUBQUERY" for node in nodes):
        raise SurveyError(f"{called} holds a SELECT", hint=_HINT)
    columns = [node["column_names"][-1] for node in nodes if node.get("class") == "COLUMN_REF"]
    asks = list(dict.fromkeys(find_columns(names, columns, f"{where} (gate of {name!r})")))
    if not asks:
        raise SurveyError(f"{called} names no variable", hint=_HINT)
    if name in asks:
        raise SurveyError(f"{called} asks {name!r} itself", hint=_HINT)
    return asks


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)


def _check(con: duckdb.DuckDBPyConnection, gate: Gate) -> None:
    import duckdb

    columns = ", ".join(f"cast(null as varchar) as {_quoted(name)}" for name in gate.asks)
    query = f"select cast(({gate.rule}\n) as boolean) from (select {columns})"  # noqa: S608
    try:
        con.execute(query).fetchall()
    except duckdb.Error as error:
        raise SurveyError(
            f"the gate of {gate.variable!r}, {shown(gate.rule)!r}, is no condition: "
            f"{first_line(error)}",
            hint=_HINT,
        ) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def apply_gates(
    steps: Steps, gates: Sequence[Gate], variables: list[Variable], lines: str
) -> tuple[str, list[dict[str, object]]]:
    """Close and open the cells behind gates; return the relation of lines, and a report.

    Parameters
    ----------
    steps
        Runs the SQL.
    gates
        In an order in which each can be decided.
    variables
        Those of the survey; ``n_of_code`` of gated ones is set.
    lines
        A SELECT of coded lines: ``v1`` ... , ``n``, ``weight``, ``weight_sq``.

    Returns
    -------
    lines, report
        A SELECT of the lines as the gates leave them; and, for each gate, ``variable``,
        ``gate``, ``rows_closed``, and the ``rows`` and ``examples`` of each kind of row
        that contradicts it.
    """
    if not gates:
        return lines, []
    steps.create("gated_line", lines)
    place = {variable.name: i for i, variable in enumerate(variables, 1)}
    report = []
    for gate in gates:
        behind = variables[place[gate.variable] - 1]
        codes = [f"v{place[name]}" for name in gate.asks]
        params: dict[str, Value] = {
            f"labels{i}": _labels(variables[place[name] - 1])
            for i, name in enumerate(gate.asks)
        }
        columns = ", ".join(
            f"cast($labels{i} as varchar[])[{code}] as {_quoted(name)}"
            for i, (code, name) in enumerate(zip(codes, gate.asks, strict=True))
        )
        key = "cegdb_codes" + "_" * max(len(name) for name in gate.asks)
        # A condition on a question that was not asked itself is not met.
        unasked = " or ".join(
            f"{key}[{i}] = {variables[place[name] - 1].structural_code}"
            for i, name in enumerate(gate.asks, 1)
        )
        is_open = f"coalesce(cast(({gate.rule}\n) as boolean), if({unasked}, false, null))"
        try:
            steps.create(
                "gate_state",
                f"select {key} as codes, {is_open} as is_open from ("  # noqa: S608
                f"select [{', '.join(codes)}] as {key}, {columns} from ("
                f"select distinct {', '.join(codes)} from temp.gated_line))",
                params,
            )
        except SqlStepError as error:
            raise SurveyError(
                f"the gate of {gate.variable!r}, {shown(gate.rule)!r}, cannot be decided: "
                f"{first_line(error.__cause__ or error)}",
                hint="labels are texts; try_cast(age as integer) >= 18 compares numbers",
            ) from None
        cell = f"g.v{place[gate.variable]}"
        source = (
            f"temp.gated_line as g inner join temp.gate_state as s "
            f"on [{', '.join(f'g.{code}' for code in codes)}] = s.codes"
        )
        report.append(_report(steps, gate, behind, cell, codes, source, variables, place))
        missing_code = len(behind.values) + behind.missing.index(MISSING) + 1
        steps.create(
            "gated_cell",
            f"select g.* replace (cast(case when not s.is_open then {behind.structural_code} "  # noqa: S608
            f"when s.is_open and {cell} = {behind.blank_code} then {missing_code} "
            f"else {cell} end as {behind.code_type}) as v{place[gate.variable]}) from {source}",
        )
        steps.create("gated_line", "select * from temp.gated_cell")
        counted = steps.rows(
            f"select g.v{place[gate.variable]}, sum(g.n) from temp.gated_line as g group by 1"  # noqa: S608
        )
        behind.n_of_code = {int(code): int(n) for code, n in counted}
    return "select * from temp.gated_line", report


def _labels(variable: Variable) -> list[str | None]:
    """Return the text of each code in a condition, NULL for what is no answer."""
    return [*variable.values, *[None] * (len(variable.missing) + 2)]


def _report(
    steps: Steps,
    gate: Gate,
    behind: Variable,
    cell: str,
    codes: list[str],
    source: str,
    variables: list[Variable],
    place: Mapping[str, int],
) -> dict[str, object]:
    wrong = (
        f"case when not s.is_open and {cell} <= {len(behind.values)} then 'answered' "
        f"when s.is_open and {cell} = {behind.blank_code} then 'unanswered' "
        f"when s.is_open and {cell} = {behind.structural_code} then 'not applicable' end"
    )
    ((closed,),) = steps.rows(
        f"select coalesce(sum(g.n), 0) from {source} where not s.is_open"  # noqa: S608
    )
    found: dict[str, dict[str, object]] = {}
    totals = steps.rows(
        f"select {wrong} as wrong, sum(g.n) from {source} where {wrong} is not null "  # noqa: S608
        "group by 1 order by 1"
    )
    last = len(codes) + 2
    order = ", ".join([f"{last} desc", *map(str, range(1, last))])
    for kind, n in totals:
        rows = steps.rows(
            f"select {', '.join(f'g.{code}' for code in codes)}, {cell}, sum(g.n) as n "  # noqa: S608
            f"from {source} where {wrong} = $kind group by all order by {order} "
            f"limit {_EXAMPLES}",
            {"kind": kind},
        )
        names = [*gate.asks, gate.variable]
        examples = [
            ", ".join(
                f"{name} = {_word(variables[place[name] - 1], code)}"
                for name, code in zip(names, row[:-1], strict=True)
            )
            + f" ({row[-1]:,})"
            for row in rows
        ]
        found[str(kind)] = {"rows": int(n), "examples": examples}
    return {
        "variable": gate.variable,
        "gate": gate.rule,
        "rows_closed": int(closed),
        "contradictions": found,
    }


def _word(variable: Variable, code: int) -> str:
    known = [*variable.values, *variable.missing, "(blank)", NOT_APPLICABLE]
    return known[code - 1] if code <= len(known) else "(unknown)"


def gate_hints(report: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each kind of row that contradicts a gate."""
    return [
        f"{counted(wrong['rows'], 'row')} {agreeing(wrong['rows'], 'violate')} "
        f"the gate of {gate['variable']!r} ({gate['gate']}), {_WRONG[kind]}: "
        + "; ".join(wrong["examples"])
        for gate in report
        for kind, wrong in gate["contradictions"].items()
    ]
