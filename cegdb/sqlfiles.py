"""The SQL steps of the algorithm: find, check and run the files of ``sql/``.

A step is one SELECT in ``sql/PART/NN_phase/NNN_name.sql`` under a header of comments. Its
``mode`` says what the runner does with the rows: ``create`` keeps them as a temp table of
the step's name, ``view`` only the query as a temp view, ``append TABLE`` adds them to a
table, ``fetch`` hands them to Python.
"""

from __future__ import annotations

import difflib
import logging
import math
import re
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import duckdb

from cegdb.errors import SqlStepError, StoreError, joined, listed
from cegdb.interrupts import raise_lost_interrupt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from types import TracebackType

    from numpy.typing import NDArray

log = logging.getLogger("cegdb")

_ARRAYS = "cegdb_arrays"
_LONGEST = 4_000
_BATCH = 5_000  # rows of a streamed step

Value: TypeAlias = "str | int | float | Sequence[object] | None"
Row: TypeAlias = "tuple[Any, ...]"

HEADER_FIELDS = ("step", "mode", "purpose", "reads", "writes", "params", "source")
_FIELD = re.compile(r"^-- (\w+): +(\S.*)$")
_CONTINUED = re.compile(r"^-- {3,}(\S.*)$")
_FILE = re.compile(r"^\d{3}_([a-z][a-z0-9_]*)\.sql$")
_MODE = re.compile(r"^(create|view|fetch|append ((?:cegdb|temp)\.[a-z_]+))$")
_KINDS = {
    "create": duckdb.StatementType.CREATE,
    "view": duckdb.StatementType.CREATE,
    "append": duckdb.StatementType.INSERT,
    "fetch": duckdb.StatementType.SELECT,
}
# A parameter, where it is not part of a text, a quoted name or a comment.
_BOUND = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|\$([a-z_][a-z0-9_]*)")
_CONTROL = re.compile(r"([\x00-\x1f\x7f-\x9f\u2028\u2029]+)")
_RELATION = re.compile(r"\b(?:cegdb|temp)\.[a-z_]\w*")
_TEMP = re.compile(r"\btemp\.([a-z_]+)")
_EXAMPLES = {"VARCHAR": "''", "BOOLEAN": "false"}
_PARAM = re.compile(r"^([a-z][a-z0-9_]*) ([A-Z]+(?:\(\d+, *\d+\))?(?:\[\])*)(?!\w)")


def resource_root(kind: str) -> Traversable:
    """Return the folder ``sql`` or ``migrations``, of the wheel or else of the checkout.

    Raises
    ------
    SqlStepError
        Neither exists.

    Examples
    --------
    >>> resource_root("sql").is_dir()
    True
    """
    packaged = files("cegdb") / kind
    if packaged.is_dir():
        return packaged
    checkout = Path(__file__).resolve().parents[1] / kind
    if checkout.is_dir():
        return checkout
    raise SqlStepError(f"installed without {kind}/", hint="reinstall cegdb")


@dataclass(frozen=True)
class Step:
    """One SQL file: its checked header, its text, and its parsed statement.

    ``target`` is what its mode puts before the SELECT.
    """

    name: str
    path: str
    mode: str
    table: str | None
    header: Mapping[str, str]
    params: Mapping[str, str]
    target: str
    sql: str
    statement: duckdb.Statement

    @property
    def phase(self) -> str:
        """The folder of its file, such as ``40_positions``."""
        return self.path.split("/")[-2]

    def needs(self, examples: Iterable[str] = ()) -> list[str]:
        """Return the temp tables read, also those named by example values of parameters."""
        code = "\n".join(line for line in self.sql.splitlines() if not line.startswith("--"))
        return sorted(set(_TEMP.findall(" ".join([code, *examples]))))

    def prepared(self) -> str:
        """Return the step in a form that runs in a DuckDB shell: it shows the rows made.

        A comment says what it needs; its parameters have example values of their types.
        """
        examples = {name: self.example(name) for name in self.params}
        lines = [
            "-- Run this in a DuckDB shell, on a file made by cegdb: it shows the step's rows."
        ]
        if needs := self.needs(examples.values()):
            lines += [
                "-- It reads these temp tables (a script of cegdb steps trace makes those of",
                "-- trees, stages, positions and CEGs):",
            ]
            lines += [f"--   {table}: {_made_by(table)}" for table in needs]
        lines.append(f"prepare {self.name} as\n{self.sql.rstrip()};")
        values = ", ".join(f"{name} := {value}" for name, value in examples.items())
        if values:
            lines.append("-- Put your own values in place of these.")
        lines.append(f"execute {self.name}{f'({values})' if values else ''};")
        return "\n".join(lines) + "\n"

    def example(self, name: str) -> str:
        """Return a literal for a parameter; of a table's name, the one in its description."""
        kind = self.params[name]
        described = re.search(
            rf"^{name} .*(?:\n(?!\w+ [A-Z]+\b).*)*", self.header["params"], re.MULTILINE
        )
        if kind == "VARCHAR" and described and (relation := _RELATION.search(described[0])):
            return literal(relation[0])
        if kind in _EXAMPLES:
            return _EXAMPLES[kind]
        element = kind.rstrip("[]")
        depth = kind.count("[]")
        value = "[" * depth + _EXAMPLES.get(element, "1") + "]" * depth
        return f"cast({value} as {kind.lower()})"

    def bound(self, params: Mapping[str, Value]) -> str:
        """Return the statement that its mode makes, without header or parameters.

        Each parameter is written as a literal of the type that the header declares.
        """
        lines = self.sql.splitlines()
        n_header = next(i for i, line in enumerate(lines) if not line.startswith("--"))
        body = "\n".join(lines[n_header:]).strip()
        texts = {name: _typed_literal(params[name], kind) for name, kind in self.params.items()}
        return self.target + bound(body, texts)


def parse(path: str, text: str) -> Step:
    """Check one SQL file and return its step; ``path`` is ``PART/NN_phase/NNN_name.sql``.

    Examples
    --------
    >>> step = parse("10_demo/010_one.sql", '''-- step:    one
    ... -- mode:    create
    ... -- purpose: An example.
    ... -- reads:   nothing
    ... -- writes:  one(x)
    ... -- params:  x INTEGER, any number
    ... -- source:  serves this example
    ... select $x as x
    ... ''')
    >>> step.name, step.mode, dict(step.params)
    ('one', 'create', {'x': 'INTEGER'})
    """
    file_name = _FILE.match(path.rsplit("/", 1)[-1])
    if file_name is None:
        raise SqlStepError(f"{path} is not named NNN_step.sql")
    header: dict[str, str] = {}
    field = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if match := _FIELD.match(line):
            field = match[1]
            header[field] = match[2].strip()
        elif field and (match := _CONTINUED.match(line)):
            header[field] += "\n" + match[1].strip()
    missing = [name for name in HEADER_FIELDS if name not in header]
    if missing:
        raise SqlStepError(f"{path}: the header lacks {listed(missing)}")
    if header["step"] != file_name[1]:
        raise SqlStepError(f"{path}: the header calls the step {header['step']!r}")
    mode = _MODE.match(header["mode"])
    if mode is None:
        raise SqlStepError(
            f"{path}: mode {header['mode']!r}",
            hint="modes are create, view, fetch, append cegdb.TABLE, append temp.TABLE",
        )
    params: dict[str, str] = {}
    if header["params"] != "none":
        for line in header["params"].splitlines():
            if match := _PARAM.match(line):
                params[match[1]] = match[2]
    kind, table = mode[1].split(" ", 1)[0], mode[2]
    target = ""
    if kind in ("create", "view"):
        relation = "table" if kind == "create" else "view"
        target = f'create or replace temp {relation} "{file_name[1]}" as\n'
    elif table is not None:
        target = f"insert into {table} {_columns(path, header['writes'])}\n"
    try:
        statements = duckdb.extract_statements(target + text)
    except duckdb.Error as error:
        raise SqlStepError(f"{path} is not one SELECT: {error}") from error
    if len(statements) != 1 or statements[0].type != _KINDS[kind]:
        raise SqlStepError(f"{path} must hold one SELECT")
    used = set(statements[0].named_parameters)
    if used != set(params):
        raise SqlStepError(f"{path} declares params {sorted(params)} and uses {sorted(used)}")
    return Step(file_name[1], path, kind, table, header, params, target, text, statements[0])


def _columns(path: str, writes: str) -> str:
    """Return the column list of an append, from the step's ``writes`` line."""
    match = re.search(r"\(([^)]*)\)", writes.replace("\n", " "))
    if match is None:
        raise SqlStepError(f"{path}: the writes line names no columns")
    return f"({match[1]})"


@cache
def _paths() -> dict[str, Traversable]:
    paths: dict[str, Traversable] = {}
    parts = [part for part in resource_root("sql").iterdir() if part.is_dir()]
    phases = [phase for part in parts for phase in part.iterdir() if phase.is_dir()]
    for phase in sorted(phases, key=lambda item: item.name):
        for item in sorted(phase.iterdir(), key=lambda item: item.name):
            match = _FILE.match(item.name)
            if match is None:
                raise SqlStepError(f"{phase.name}/{item.name} is not named NNN_step.sql")
            if match[1] in paths:
                raise SqlStepError(f"two SQL files are named {match[1]}")
            paths[match[1]] = item
    return paths


def _made_by(table: str) -> str:
    """Return where the rows of a temp table come from."""
    makers = [
        step.name
        for step in in_phase()
        if step.table == f"temp.{table}"
        or (step.name == table and step.mode in ("create", "view"))
    ]
    if not makers:
        return "made by cegdb without a step"
    return f"made by {'step' if len(makers) == 1 else 'steps'} {listed(makers)}"


def names() -> list[str]:
    """Return the names of all steps, in the order of their files.

    Examples
    --------
    >>> "layer_block" in names()
    True
    """
    return list(_paths())


@cache
def load(name: str) -> Step:
    """Return the step of that name.

    Raises
    ------
    SqlStepError
        There is none, or its file is malformed.

    Examples
    --------
    >>> load("layer_block").mode
    'append'
    """
    item = _paths().get(name)
    if item is None:
        near = difflib.get_close_matches(name, names(), n=3)
        guess = f"did you mean {joined(near, 'or')}? " if near else ""
        raise SqlStepError(f"no step named {name!r}", hint=f"{guess}cegdb steps lists all")
    part, phase, file = Path(str(item)).parts[-3:]
    return parse(f"{part}/{phase}/{file}", item.read_text(encoding="utf-8"))


def _phase_hint(phase: str, phases: Collection[str]) -> str:
    """Return a hint on an unknown phase: close ones, else all of them."""
    known = {part: one for one in phases for part in (one, *one.split("_", 1))}
    near = [known[part] for part in difflib.get_close_matches(phase, known)]
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    return f"phases are {', '.join(phases)}"


def in_phase(phase: str | None = None) -> list[Step]:
    """Return the steps of a phase (``40_positions``, ``positions`` or ``40``), or all.

    Raises
    ------
    SqlStepError
        There is no such phase.

    Examples
    --------
    >>> [step.name for step in in_phase("positions")][:2]
    ['staged_situation', 'label_digit']
    """
    steps = [load(name) for name in names()]
    phases = dict.fromkeys(step.phase for step in steps)
    if phase is None:
        return steps
    chosen = [known for known in phases if phase in (known, *known.split("_", 1))]
    if not chosen:
        raise SqlStepError(f"no phase named {phase!r}", hint=_phase_hint(phase, phases))
    return [step for step in steps if step.phase in chosen]


def bound(sql: str, literals: Mapping[str, str]) -> str:
    """Return SQL with its parameters replaced by literals.

    Examples
    --------
    >>> bound("select $x, '$x' -- $x", {"x": "1"})
    "select 1, '$x' -- $x"
    """
    return _BOUND.sub(lambda match: literals[match[1]] if match[1] else match[0], sql)


def quoted(name: str) -> str:
    """Return a name as an SQL identifier, whatever it holds.

    Examples
    --------
    >>> quoted('5" disk')
    '"5"" disk"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    r"""Return a value as an SQL literal, on one line, that reads back as the same value.

    Examples
    --------
    >>> for value in (None, True, -1, 0.1, "it's", "a\nb", ["x", None]):
    ...     print(literal(value))
    null
    true
    -1
    0.1e0
    'it''s'
    ('a' || chr(10) || 'b')
    ['x', null]
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return f"cast('{value}' as double)"
        # Without an exponent it would be a decimal.
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    if isinstance(value, str):
        parts = _CONTROL.split(value)
        texts = [
            _quoted_text(part)
            if index % 2 == 0
            else " || ".join(f"chr({ord(c)})" for c in part)
            for index, part in enumerate(parts)
            if part
        ]
        return f"({' || '.join(texts)})" if len(parts) > 1 else _quoted_text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _typed_literal(value: Value, kind: str) -> str:
    if kind.endswith("[]") or (kind in _EXAMPLES and value is not None):
        return literal(value)
    return f"cast({literal(value)} as {kind.lower()})"


def raise_interrupt(error: Exception) -> None:
    """Raise KeyboardInterrupt if that is what DuckDB's error stands for.

    Examples
    --------
    >>> raise_interrupt(ValueError("another"))
    """
    text = str(error)
    # The last comes from Python code that DuckDB calls, such as an import.
    if (
        isinstance(error, duckdb.InterruptException)
        or text == "Query interrupted"
        or text.startswith("KeyboardInterrupt")
    ):
        raise KeyboardInterrupt from None


def raise_out_of_memory(error: BaseException) -> None:
    """Raise a StoreError that says what to do, if DuckDB ran out of memory.

    Examples
    --------
    >>> raise_out_of_memory(ValueError("another"))
    """
    text = str(error)
    if not isinstance(error, duckdb.OutOfMemoryException) and "Out of Memory" not in text:
        return
    if "max_temp_directory_size" in text:
        raise StoreError(
            "there is not enough disk space for what does not fit in memory",
            hint="free space beside the database file, or raise memory_limit",
        ) from error
    limit = re.search(r"/([\d.]+ \w+) used", text)
    of_limit = f" of {limit[1]}" if limit else ""
    raise StoreError(
        f"the memory_limit{of_limit} is too small for this",
        hint="raise it, as in cegdb.open(path, memory_limit='4GB'), or lower threads",
    ) from error


def damage_error(text: str, file: Path | None = None) -> StoreError | None:
    """Return the error of a damaged file, if DuckDB's message says that it is damaged.

    Examples
    --------
    >>> damage_error('Could not read enough bytes from file "s.duckdb": attempted to ...')
    StoreError('s.duckdb is incomplete: it was not fully copied or written')
    """
    reason = text.strip().splitlines()[0]
    named = re.search(r'Could not read enough bytes from file "(.*?)"', reason)
    if named:
        problem = "is incomplete: it was not fully copied or written"
    elif "Corrupt database file" in reason:
        problem = f"is damaged: {reason}"
    else:
        return None
    name = file or (named[1] if named else "the database file")
    return StoreError(f"{name} {problem}", hint="restore a copy of it")


@contextmanager
def registered(con: duckdb.DuckDBPyConnection, name: str, rows: object) -> Iterator[None]:
    """Let a query read a frame or arrays by name; after an error, the rollback removes it.

    Examples
    --------
    >>> import numpy as np
    >>> con = duckdb.connect()
    >>> with registered(con, "numbers", {"x": np.arange(3)}):
    ...     con.execute("select sum(x) from numbers").fetchall()
    [(3,)]
    """
    con.register(name, rows)
    try:
        yield
    finally:
        # In an aborted transaction this fails, and would hide the first error.
        with suppress(duckdb.TransactionException):
            con.unregister(name)


class Recorder(Protocol):
    """Receives each statement that makes rows, in the order in which they run."""

    def on_step(
        self, con: duckdb.DuckDBPyConnection, step: Step, params: Mapping[str, Value]
    ) -> None:
        """Receive a step with its parameters, before it runs."""

    def on_statement(self, name: str, sql: str, purpose: str) -> None:
        """Receive a generated statement, with its parameters as literals."""

    def on_table(self, con: duckdb.DuckDBPyConnection, table: str, purpose: str) -> None:
        """Receive a temp table whose rows come from outside SQL."""


_recorder: ContextVar[Recorder | None] = ContextVar("cegdb_recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Pass the statements of all `Steps` made within the block to a recorder."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


class Steps:
    """Runs steps on one connection and drops their temp tables at the end.

    The caller owns the transaction; a step never commits. Within `recording`, a recorder
    receives each statement that makes rows.

    A step is called by its name: ``run`` makes the rows of a table or view, ``fetch`` returns
    them, ``stream`` yields them. SQL generated in Python is passed as text: ``create``,
    ``empty`` and ``view`` make a temp table or view of it, ``execute`` runs it, ``rows`` and
    ``arrays`` return what it finds. ``create_from`` makes a temp table of arrays.

    Examples
    --------
    >>> con = duckdb.connect()
    >>> with Steps(con) as steps:
    ...     steps.create("one", "select 1 as x")
    ...     steps.rows("select x from temp.one")
    1
    [(1,)]
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._tables: dict[str, str] = {}
        self._recorder = _recorder.get()

    def __enter__(self) -> Steps:
        """Return self."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop the temp tables; after an error the caller's rollback does it."""
        if kind is None:
            self.drop_all()

    def drop_all(self) -> None:
        """Drop all temp tables and views made here; in an aborted transaction do nothing."""
        with suppress(duckdb.TransactionException):
            self.drop(self._tables.copy())

    def drop(self, tables: Iterable[str]) -> None:
        """Drop temp tables and views made here."""
        drops = [f'drop {self._tables.pop(table)} if exists temp."{table}"' for table in tables]
        if drops:
            self._con.execute(";".join(drops))

    def run(self, name: str, **params: Value) -> int:
        """Run a step that is not fetched and return its number of rows, 0 of a view."""
        step = load(name)
        if step.mode == "fetch":
            raise SqlStepError(f"step {name!r} is fetched, not run")
        rows = _count(self._run(step, params))
        if step.table is None:
            self._tables[step.name] = "table" if step.mode == "create" else "view"
        return rows

    def fetch(self, name: str, **params: Value) -> list[Row]:
        """Run a ``fetch`` step and return its rows."""
        step = load(name)
        if step.mode != "fetch":
            raise SqlStepError(f"step {name!r} is run, not fetched")
        return self._run(step, params).fetchall()

    def stream(self, name: str, **params: Value) -> Iterator[Row]:
        """Run a ``fetch`` step and yield its rows; meanwhile the connection is in use."""
        step = load(name)
        if step.mode != "fetch":
            raise SqlStepError(f"step {name!r} is run, not fetched")
        result = self._run(step, params)
        while batch := result.fetchmany(_BATCH):
            yield from batch

    def create(
        self,
        table: str,
        sql: str,
        params: Mapping[str, Value] | None = None,
        *,
        purpose: str = "",
    ) -> int:
        """Keep the rows of generated SQL as a temp table; return their number.

        ``purpose`` heads it in a script of the run.
        """
        statement = f'create or replace temp table "{table}" as\n{sql}'
        rows = _count(self._make(table, statement, params or {}, purpose))
        self._tables[table] = "table"
        return rows

    def empty(self, table: str, columns: str) -> None:
        """Make an empty temp table, for steps that append to it or read nothing from it."""
        statement = f'create or replace temp table "{table}" ({columns})'
        self._make(table, statement, {}, "Empty, until a step adds to it.")
        self._tables[table] = "table"

    def view(self, name: str, sql: str, *, purpose: str = "") -> None:
        """Keep generated SQL, without its rows, as a temp view."""
        self._make(name, f'create or replace temp view "{name}" as\n{sql}', {}, purpose)
        self._tables[name] = "view"

    def has(self, table: str) -> bool:
        """Return whether a temp table or view of that name was made here."""
        return table in self._tables

    def create_from(
        self, table: str, columns: Mapping[str, NDArray[Any]], *, purpose: str = ""
    ) -> int:
        """Keep arrays of equal length as the columns of a temp table."""
        with registered(self._con, _ARRAYS, dict(columns)):
            statement = f'create or replace temp table "{table}" as select * from {_ARRAYS}'  # noqa: S608
            rows = _count(self._execute(table, statement, {}))
        self._tables[table] = "table"
        if self._recorder is not None:
            self._recorder.on_table(self._con, table, purpose)
        return rows

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return the columns of one generated query as arrays."""
        result = self._execute("generated query", sql, {})
        return cast("dict[str, NDArray[Any]]", result.fetchnumpy())

    def execute(self, sql: str, params: Mapping[str, Value] | None = None) -> int:
        """Run one generated statement; return the number of rows it touched."""
        return _count(self._make("generated statement", sql, params or {}, ""))

    def rows(self, sql: str, params: Mapping[str, Value] | None = None) -> list[Row]:
        """Return the rows of one generated query."""
        return self._execute("generated query", sql, params or {}).fetchall()

    def _run(self, step: Step, params: Mapping[str, Value]) -> duckdb.DuckDBPyConnection:
        if set(step.params) != set(params):
            raise SqlStepError(
                f"step {step.name!r} takes {sorted(step.params)}, got {sorted(params)}",
                hint="see the params line at the head of its file",
            )
        if self._recorder is not None:
            self._recorder.on_step(self._con, step, params)
        typed = {key: _typed(value, step.params[key]) for key, value in params.items()}
        return self._execute(step.name, step.statement, typed, params)

    def _make(
        self, name: str, statement: str, params: Mapping[str, Value], purpose: str
    ) -> duckdb.DuckDBPyConnection:
        """Run a generated statement that makes rows."""
        if self._recorder is not None:
            texts = {key: literal(value) for key, value in params.items()}
            self._recorder.on_statement(name, bound(statement, texts), purpose)
        return self._execute(name, statement, params)

    def _execute(
        self,
        name: str,
        statement: str | duckdb.Statement,
        params: Mapping[str, object],
        shown_params: Mapping[str, object] | None = None,
    ) -> duckdb.DuckDBPyConnection:
        raise_lost_interrupt()
        started = time.perf_counter()
        try:
            result = self._con.execute(statement, params or None)
        except (duckdb.Error, RuntimeError) as error:
            raise_interrupt(error)
            raise_out_of_memory(error)
            if broken := damage_error(str(error)):
                raise broken from error
            text = statement if isinstance(statement, str) else statement.query
            details = (
                _shortened(f"parameters: {dict(shown_params or params)}")
                + "\n"
                + _shortened(text)
            )
            raise SqlStepError(f"step {name!r} failed: {error}\n{details}") from error
        log.debug("step %s: %.1f ms", name, 1000 * (time.perf_counter() - started))
        return result


def _typed(value: Value, kind: str) -> object:
    """Return a parameter as the type its header declares.

    DuckDB would take a small int for INTEGER, whose products overflow.
    """
    if kind.endswith("[]"):
        return value
    return duckdb.Value(value, _sqltype(kind))


@cache
def _sqltype(kind: str) -> duckdb.sqltypes.DuckDBPyType:
    return duckdb.sqltype(kind)


def _shortened(text: str) -> str:
    """Shorten a text for a message: generated SQL and parameters can be megabytes."""
    return (
        text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... ({len(text):,} characters)"
    )


def _count(result: duckdb.DuckDBPyConnection) -> int:
    row = result.fetchone()
    return int(row[0]) if row else 0
