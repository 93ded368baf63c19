"""Gates (skip logic): who is asked a question, as a condition on other answers.

Where a gate is closed, the cell is structural, whatever it contains; where it is open, a blank
is missing. The receipt counts the rows that contradict a gate, and shows examples.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import SqlStepError, SurveyError, agreeing, counted, listed
from cegdb.findings import Finding
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE
from cegdb.ingest.files.cell_labels import abbreviated
from cegdb.ingest.files.relation import find_columns, first_line
from cegdb.store import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from cegdb.ingest.coding.variables import Variable
    from cegdb.sqlfiles import Steps, Value

_EXAMPLES: Final = 3
_HINT: Final = "write a condition on other variables, by their labels: smoker = 'Current'"
_CONTRADICTIONS: Final = {
    "answered": "an answer although the gate is closed, counted as not applicable",
    "unanswered": "a blank although the gate is open, counted as missing",
    "not applicable": "a cell declared not applicable although the gate is open",
}


@dataclass(frozen=True)
class Gate:
    """A gate: the variable behind it, its condition, and the variables this depends on."""

    variable: str
    rule: str
    depends_on: list[str]


def ordered_gates(
    con: duckdb.DuckDBPyConnection, rules: Mapping[str, str], names: list[str], where: str
) -> list[Gate]:
    """Check the gates of a survey and return them in an order in which each can be decided."""
    gates = {}
    for written_name, rule in rules.items():
        (name,) = find_columns(names, [written_name], f"{where} (gates)")
        if name in gates:
            raise SurveyError(f"the codebook has two gates for {name!r}")
        gates[name] = Gate(name, rule, _variables_in(con, name, rule, names, where))
    ordered: list[Gate] = []
    waiting = dict(gates)
    while waiting:
        ready = [
            name
            for name, gate in waiting.items()
            if not any(other in waiting for other in gate.depends_on)
        ]
        if not ready:
            raise SurveyError(f"the gates of {listed(map(repr, waiting))} depend on each other")
        ordered += [waiting.pop(name) for name in ready]
    for gate in ordered:
        _check(con, gate)
    return ordered


def _variables_in(
    con: duckdb.DuckDBPyConnection, name: str, rule: str, names: list[str], where: str
) -> list[str]:
    """Return the variables that a condition names."""
    ((text,),) = con.execute("select json_serialize_sql($1)", [f"select ({rule}\n)"]).fetchall()
    tree = json.loads(text)
    gate = f"the gate of {name!r}, {abbreviated(rule)!r},"
    if tree.get("error") or len(tree["statements"]) != 1:
        why = first_line(ValueError(tree.get("error_message", "several statements")))
        raise SurveyError(f"{gate} is not a condition: {why}", hint=_HINT)
    nodes = list(_nodes(tree))
    if any(node.get("class") == "SUBQUERY" for node in nodes):
        raise SurveyError(f"{gate} contains a SELECT", hint=_HINT)
    columns = [node["column_names"][-1] for node in nodes if node.get("class") == "COLUMN_REF"]
    depends_on = list(
        dict.fromkeys(find_columns(names, columns, f"{where} (gate of {name!r})"))
    )
    if not depends_on:
        raise SurveyError(f"{gate} names no variable", hint=_HINT)
    if name in depends_on:
        raise SurveyError(f"{gate} depends on {name!r} itself", hint=_HINT)
    return depends_on


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)


def _check(con: duckdb.DuckDBPyConnection, gate: Gate) -> None:
    import duckdb

    columns = ", ".join(f"cast(null as varchar) as {quoted(name)}" for name in gate.depends_on)
    query = f"select cast(({gate.rule}\n) as boolean) from (select {columns})"  # noqa: S608
    try:
        con.execute(query).fetchall()
    except duckdb.Error as error:
        raise SurveyError(
            f"the gate of {gate.variable!r}, {abbreviated(gate.rule)!r}, is not a condition: "
            f"{first_line(error)}",
            hint=_HINT,
        ) from None


def apply_gates(
    steps: Steps,
    gates: Sequence[Gate],
    variables: list[Variable],
    lines: str,
    *,
    asked_blank: int | None = None,
) -> tuple[str, list[dict[str, object]]]:
    """Close and open the cells behind gates; return a SELECT of the lines, and a report.

    ``lines`` is a SELECT of coded lines: ``v1`` ... , ``n``, ``weight``, ``weight_sq``. A blank
    whose gate is open gets the code ``asked_blank``, by default that of the label "missing".
    The report has, for each gate, its rule, ``rows_closed``, and by kind the rows that
    contradict it. ``n_of_code`` of gated variables is set.
    """
    if not gates:
        return lines, []
    steps.create("gated_line", lines)
    ordinal = {variable.name: i for i, variable in enumerate(variables, 1)}
    report = []
    for gate in gates:
        gated = variables[ordinal[gate.variable] - 1]
        deciding = [variables[ordinal[name] - 1] for name in gate.depends_on]
        codes = [f"v{ordinal[name]}" for name in gate.depends_on]
        _decide_states(steps, gate, deciding, codes)
        cell = f"v{ordinal[gate.variable]}"
        joined = (
            "temp.gated_line as g inner join temp.gate_state as s "
            f"on [{', '.join(f'g.{code}' for code in codes)}] = s.codes"
        )
        steps.create(
            "gated_answer",
            f"select s.codes, s.is_open, g.{cell} as code, sum(g.n) as n from {joined} "  # noqa: S608
            "group by all",
        )
        report.append(_gate_report(steps, gate, gated, deciding))
        blank_code = asked_blank
        if blank_code is None:
            blank_code = len(gated.values) + gated.missing.index(MISSING) + 1
        steps.create(
            "gated_cell",
            f"select g.* replace (cast(case when not s.is_open then {gated.structural_code} "  # noqa: S608
            f"when s.is_open and g.{cell} = {gated.blank_code} then {blank_code} "
            f"else g.{cell} end as {gated.code_type}) as {cell}) from {joined}",
        )
        steps.create("gated_line", "select * from temp.gated_cell")
        counts = steps.rows(f"select {cell}, sum(n) from temp.gated_line group by 1")  # noqa: S608
        gated.n_of_code = {int(code): int(n) for code, n in counts}
    return "select * from temp.gated_line", report


def _decide_states(
    steps: Steps, gate: Gate, deciding: Sequence[Variable], codes: Sequence[str]
) -> None:
    """Make ``gate_state``: whether a gate is open, for each combination of codes."""
    params: dict[str, Value] = {
        f"labels{i}": _labels(variable) for i, variable in enumerate(deciding)
    }
    columns = ", ".join(
        f"cast($labels{i} as varchar[])[{code}] as {quoted(variable.name)}"
        for i, (code, variable) in enumerate(zip(codes, deciding, strict=True))
    )
    # A name that no variable of the condition has.
    key = "cegdb_codes" + "_" * max(len(variable.name) for variable in deciding)
    # The condition is not met where it depends on a question that was not asked.
    is_unasked = " or ".join(
        f"{key}[{i}] = {variable.structural_code}" for i, variable in enumerate(deciding, 1)
    )
    is_open = f"coalesce(cast(({gate.rule}\n) as boolean), if({is_unasked}, false, null))"
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
            f"the gate of {gate.variable!r}, {abbreviated(gate.rule)!r}, cannot be "
            f"decided: {first_line(error.__cause__ or error)}",
            hint="labels are texts; try_cast(age as integer) >= 18 compares numbers",
        ) from None


def _labels(variable: Variable) -> list[str | None]:
    """Return the text of each code in a condition, NULL for what is no answer."""
    return [*variable.values, *[None] * (len(variable.missing) + 2)]


def _gate_report(
    steps: Steps, gate: Gate, gated: Variable, deciding: Sequence[Variable]
) -> dict[str, object]:
    ((closed,),) = steps.rows(
        "select coalesce(sum(n), 0) from temp.gated_answer where not is_open"
    )
    contradictions: dict[str, dict[str, Any]] = {}
    for kind, n_of_kind, codes, code, n in steps.fetch(
        "gate_contradiction",
        n_values=len(gated.values),
        blank_code=gated.blank_code,
        structural_code=gated.structural_code,
        most=_EXAMPLES,
    ):
        of_kind = contradictions.setdefault(kind, {"rows": int(n_of_kind), "examples": []})
        answers = zip([*deciding, gated], [*codes, code], strict=True)
        example = ", ".join(f"{v.name} = {_label_of_code(v, c)}" for v, c in answers)
        of_kind["examples"].append(f"{example} ({n:,})")
    return {
        "variable": gate.variable,
        "gate": gate.rule,
        "rows_closed": int(closed),
        "contradictions": contradictions,
    }


def _label_of_code(variable: Variable, code: int) -> str:
    labels = [*variable.values, *variable.missing, "(blank)", NOT_APPLICABLE]
    return labels[code - 1] if code <= len(labels) else "(unknown)"


def gate_findings(report: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Return a sentence for each kind of row that contradicts a gate."""
    return [
        Finding(
            "gate",
            f"{gate['variable']!r}, asked if {gate['gate']}: {counted(rows['rows'], 'row')} "
            f"{agreeing(rows['rows'], 'have')} {_CONTRADICTIONS[kind]}: "
            + "; ".join(rows["examples"]),
            n=rows["rows"],
            variable=gate["variable"],
        )
        for gate in report
        for kind, rows in gate["contradictions"].items()
    ]
