"""Results of queries: tables of rows, effects, adjustments."""

from __future__ import annotations

import html
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.api.base import Displayed
from cegdb.errors import NameTakenError, QueryError, StoreError, listed, path_of
from cegdb.graphs.label_text import format_probability
from cegdb.store import quoted

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    import duckdb
    import pandas as pd

    from cegdb.inference.row_answers import RowTables
    from cegdb.inference.row_scores import ClassificationMetrics
    from cegdb.store import Store

_MOST_NOTES: Final = 5
_RESERVED_SCHEMAS: Final = ("cegdb", "information_schema", "pg_catalog")


class Probability(float):
    """A probability, with its interval and the rows it rests on.

    It is a number, but printed with its interval, and to three digits: ``float(p)`` is the
    plain number.

    Parameters
    ----------
    value
        The posterior mean.
    low, high
        Ends of the interval, which holds the value.
    n
        Rows that meet the condition: all, or those that agree with the evidence.

    Examples
    --------
    >>> import cegdb
    >>> cegdb.open().demo("chds").probability(Admission="Yes")
    0.191 (0.165 to 0.217; n = 890)
    """

    low: float
    high: float
    n: int

    def __new__(cls, value: float, low: float, high: float, n: int) -> Self:
        """Make the number, and keep what belongs to it."""
        made = super().__new__(cls, value)
        made.low, made.high, made.n = low, high, n
        return made

    def __reduce__(self) -> tuple[type[Probability], tuple[float, float, float, int]]:
        """Return what a copy is made of."""
        return Probability, (float(self), self.low, self.high, self.n)

    def __repr__(self) -> str:
        """Return the number to three digits, with its interval."""
        value, low, high = map(format_probability, (float(self), self.low, self.high))
        return f"{value} ({low} to {high}; n = {self.n:,})"

    __str__ = __repr__


class RowResult(Displayed):
    """Tables with answers for the rows of a source: as DataFrames, or where they were written.

    Parameters
    ----------
    summary
        How many rows there were, and what looks wrong.
    frames
        Name -> DataFrame, of what was not written elsewhere.
    written
        Name -> table or file that has it.
    """

    def __init__(
        self, summary: str, frames: dict[str, pd.DataFrame], written: dict[str, str | Path]
    ) -> None:
        self.summary = summary
        self.written = written
        self._frames = frames

    def _frame(self, name: str) -> pd.DataFrame:
        if name in self._frames:
            return self._frames[name]
        raise QueryError(
            f"the {name} were written to {self.written[name]}, not to a DataFrame",
            hint="read them there, or leave out into= and file=",
        )

    @property
    def rows(self) -> pd.DataFrame:
        """One row per row of the source."""
        return self._frame("rows")

    def __repr__(self) -> str:
        """Return the summary."""
        return self.summary


class Assigned(RowResult):
    """Where the rows of a source are in a CEG: see `Queryable.assign`.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> ceg.assign("select 'Low' as Social").paths[["depth", "variable", "position"]]
       depth  variable position
    0      0    Social       w0
    1      1  Economic       w2
    """

    @property
    def paths(self) -> pd.DataFrame:
        """The path of each row through the tree: one row per row of the source and depth."""
        return self._frame("paths")


class Completed(RowResult):
    """What completes the rows of a source: see `Queryable.complete`.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> rows = "select 'Low' as Social, 'Yes' as Admission"
    >>> ceg.complete(rows, "Economic").labels[["label", "probability"]].round(4)
      label  probability
    0  High       0.1211
    1   Low       0.8789
    """

    @property
    def labels(self) -> pd.DataFrame:
        """One row per row of the source, variable it leaves open, and label."""
        return self._frame("labels")


class Classification(Displayed):
    """How well a CEG predicts a variable: see `Queryable.classify`.

    Parameters
    ----------
    metrics
        The numbers.
    confusion
        Weight of respondents: a row per label given, a column per label predicted.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> rows = "from (values ('High', 'No'), ('Low', 'Yes')) as t(Social, Admission)"
    >>> ceg.classify(rows, "Admission").confusion.loc["Yes"].to_dict()
    {'No': 1.0, 'Yes': 0.0}
    """

    def __init__(self, metrics: ClassificationMetrics, confusion: pd.DataFrame) -> None:
        self.metrics = metrics
        self.confusion = confusion

    def __repr__(self) -> str:
        """Return the numbers."""
        return repr(self.metrics)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>{self.confusion.to_html()}"


def write_or_return(
    store: Store,
    opening: AbstractContextManager[RowTables],
    other: str,
    into: str | None,
    file: str | os.PathLike[str] | None,
    *,
    replace: bool,
) -> tuple[str, dict[str, pd.DataFrame], dict[str, str | Path]]:
    """Open the rows; return the summary, and frames or where they were written."""
    from cegdb import export

    if into is not None and file is not None:
        raise QueryError("both into and file are given", hint="give one of them")
    if replace and into is None and file is None:
        raise QueryError("replace is given, but nothing is written", hint="give into or file")
    with ExitStack() as stack:
        if into is not None:
            targets = _tables(store, into, other, replace=replace)
            tables = stack.enter_context(opening)
            with store.writing() as (con, _):
                for name, target in targets.items():
                    con.execute(f"create or replace table {target} as {tables.tables[name]}")
            return tables.summary, {}, dict(targets)
        if file is not None:
            files = _files(file, other, replace=replace)
            tables = stack.enter_context(opening)
            for name, path in files.items():
                export.export_query(tables.con, tables.tables[name], path)
            return tables.summary, {}, dict(files)
        tables = stack.enter_context(opening)
        frames = {
            name: tables.con.execute(f"{query} order by {tables.order[name]}").df()
            for name, query in tables.tables.items()
        }
        return tables.summary, frames, {}


def _files(file: str | os.PathLike[str], other: str, *, replace: bool) -> dict[str, Path]:
    from cegdb import export

    path = path_of(file)
    files = {"rows": path, other: path.with_stem(f"{path.stem}_{other}")}
    for one in files.values():
        export.table_file(one)
        if one.exists() and not replace:
            raise NameTakenError(
                f"file {one} already exists",
                hint="give another name, or replace it (replace=True, --replace)",
            )
    return files


def _tables(store: Store, into: str, other: str, *, replace: bool) -> dict[str, str]:
    """Return the tables to write, as SQL names, if they may be written."""
    if store.read_only:
        raise StoreError(f"{store.path} is open read-only", hint="open it without read_only")
    schema, dot, table = str(into).rpartition(".")
    schema = schema if dot else "main"
    if not table or not schema:
        raise QueryError(
            f"into must name a table, not {into!r}", hint='give "table" or "schema.table"'
        )
    if schema.casefold() in (*_RESERVED_SCHEMAS, "temp"):
        raise QueryError(
            f"into cannot be {into!r}: schema {schema!r} is reserved",
            hint="name another schema, such as main",
        )
    names = {"rows": table, other: f"{table}_{other}"}
    with store.reading() as con:
        _check_tables(con, schema, list(names.values()), replace=replace)
    return {name: f"{quoted(schema)}.{quoted(one)}" for name, one in names.items()}


def _check_tables(
    con: duckdb.DuckDBPyConnection, schema: str, names: list[str], *, replace: bool
) -> None:
    schemas = con.execute(
        "select schema_name from duckdb_schemas() where database_name = current_database()"
    ).fetchall()
    if schema.casefold() not in {name.casefold() for (name,) in schemas}:
        raise QueryError(
            f"no schema named {schema!r}",
            hint=f"create it in SQL first: create schema {quoted(schema)}",
        )
    rows = con.execute(
        "select table_name, table_type from information_schema.tables "
        "where table_catalog = current_database() and lower(table_schema) = lower($schema)",
        {"schema": schema},
    ).fetchall()
    kinds = {name.casefold(): kind for name, kind in rows}
    for name in names:
        kind = kinds.get(name.casefold())
        if kind is not None and (kind != "BASE TABLE" or not replace):
            what = "table" if kind == "BASE TABLE" else kind.lower()
            raise NameTakenError(
                f"{what} {schema}.{name} already exists",
                hint="choose another name, or replace a table (replace=True, --replace)",
            )


@dataclass(frozen=True, repr=False)
class Effect(Displayed):
    """What setting a treatment does to an outcome: made by `ChainEventGraph.effect`.

    Parameters
    ----------
    treatment, outcome, group
        In words.
    probabilities
        One row per label of the treatment: ``label``; ``probability`` of the outcome when it
        is set, P(outcome | do(treatment = label)); ``low``, ``high``; ``staged``, the
        probability by the stages; ``observed``, P(outcome | treatment = label), which
        confounding may bias.
    differences
        One row per label but the first: ``label``; ``against``; ``effect``, the difference of
        their probabilities; ``low``, ``high``; ``staged``, the difference by the stages;
        ``observed``, the difference of what is observed.
    positivity
        As `ChainEventGraph.positivity` returns it.
    share
        The probability that the treatment occurs on a path (of the group); on other paths
        nothing is set.
    intervals
        What the intervals mean, in words.
    assumption
        What must be true for these to be effects.
    outcome_note
        Says so if the treatment cannot change the outcome, which comes before it; else empty.
    staging_note
        Says so if the stages would make it another effect, by more than a standard error.

    Examples
    --------
    >>> import cegdb
    >>> effect = cegdb.open().demo("chds").effect("Economic", {"Admission": "Yes"})
    >>> effect.differences[["label", "against", "effect"]].round(3)
      label against  effect
    0   Low    High    0.04
    """

    treatment: str
    outcome: str
    group: str
    probabilities: pd.DataFrame
    differences: pd.DataFrame
    positivity: pd.DataFrame
    share: float
    intervals: str
    assumption: str
    outcome_note: str = ""
    staging_note: str = ""

    def __str__(self) -> str:
        """Return all of it in words."""
        group = "" if self.group == "nothing" else f", given {self.group}"
        lines = [f"effect of {self.treatment} on {self.outcome}{group}"]
        lines += [
            f"  P({self.outcome} | do({self.treatment} = {label})) = {probability:.4f}"
            f"{_interval(low, high)}, observed {seen:.4f}"
            for label, probability, low, high, _, seen in _rows(self.probabilities)
        ]
        lines += [
            f"  {label} against {against}: {effect:+.4f}{_interval(low, high)}, "
            f"observed {seen:+.4f}"
            for label, against, effect, low, high, _, seen in _rows(self.differences)
        ]
        return "\n".join([*lines, *self.notes])

    @property
    def frame(self) -> pd.DataFrame:
        """Probabilities and differences in one table, a row per label of the treatment.

        Columns: those of ``probabilities``, then ``effect``, ``effect_low``,
        ``effect_high``, ``staged_effect``, ``observed_effect`` (missing in the row of the
        first label).
        """
        names = {"low": "effect_low", "high": "effect_high"}
        names |= {name: f"{name}_effect" for name in ("staged", "observed")}
        differences = self.differences.drop(columns="against").rename(columns=names)
        return self.probabilities.merge(differences, on="label", how="left")

    @property
    def notes(self) -> list[str]:
        """What must be known to read it: intervals, positivity, the assumption."""
        notes = [
            note for note in (self.outcome_note, self.intervals, self.staging_note) if note
        ]
        if self.share < 1 - 1e-12:
            notes.append(
                f"{self.treatment} occurs with probability {self.share:.4g}; on other paths "
                "nothing is set"
            )
        rare = _rows(self.positivity)
        notes += [
            f"positivity: {self.treatment} = {label} has "
            f"{f'probability {probability:.4g}' if is_possible else 'no edge'} at "
            f"{position} ({history}; n = {n:,})"
            for position, history, label, probability, is_possible, _, n in rare[:_MOST_NOTES]
        ]
        if len(rare) > _MOST_NOTES:
            notes.append(f"positivity: {len(rare) - _MOST_NOTES:,} more like these")
        return [*notes, self.assumption]

    def __repr__(self) -> str:
        """Return all of it in words."""
        return str(self)


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).to_numpy().tolist()


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f" ({low:.4f} to {high:.4f})"


@dataclass(frozen=True, repr=False)
class Adjustment(Displayed):
    """Whether adjusting for variables is valid: made by `ChainEventGraph.adjustment`.

    Parameters
    ----------
    treatment, outcome
        Variables.
    by
        The variables adjusted for: those given, or otherwise the first of the smallest sets.
    group
        In words.
    is_valid
        Whether it gives the effect, whatever the probabilities of the stages are.
    reason
        Why not.
    sets
        The valid ones: the variables given, or the smallest sets.
    all_sets_tried
        Whether all sets up to that size were tried.
    estimates
        One row per label of the treatment and answer to the outcome: ``label``; ``outcome``;
        ``adjusted``, the sum over z of P(y | x, z) P(z), missing where a z lacks x;
        ``truth``, P(y | do(x)); ``observed``, P(y | x); all as fitted.
    assumption
        What must be true for ``truth`` to be that.
    outcome_note
        Says so if the treatment cannot change the outcome, which comes before it; else empty.

    Examples
    --------
    >>> import cegdb
    >>> found = cegdb.open().demo("chds").adjustment("Economic", "Admission")
    >>> found.is_valid, found.by
    (True, ('Social',))
    """

    treatment: str
    outcome: str
    by: tuple[str, ...]
    group: str
    is_valid: bool
    reason: str
    sets: list[tuple[str, ...]]
    all_sets_tried: bool
    estimates: pd.DataFrame
    assumption: str
    outcome_note: str = ""

    @property
    def verdict(self) -> str:
        """Whether adjusting for them is valid, and if not, why."""
        return "yes" if self.is_valid else f"no: {self.reason}"

    def __str__(self) -> str:
        """Return all of it in words."""
        group = "" if self.group == "nothing" else f", given {self.group}"
        effect = f"the effect of {self.treatment} on {self.outcome}{group}"
        adjusting = f"adjusting for {listed(self.by, most=10)}" if self.by else "no adjustment"
        if self.is_valid:
            lines = [f"{adjusting} {'identifies' if self.by else 'is needed for'} {effect}"]
        elif self.by:
            lines = [f"{adjusting} does not identify {effect}: {self.reason}"]
        else:
            lines = [f"{effect} is not identified without adjustment: {self.reason}"]
        lines += [
            f"so does adjusting for {listed(one, most=10)}" for one in self.sets[1:] if one
        ]
        if self.outcome_note:
            lines.append(self.outcome_note)
        if not self.all_sets_tried:
            lines.append("not all sets were tried: there may be a smaller one")
        lines += [
            (
                f"  {self.outcome} = {answer}, {self.treatment} = {label}: adjusted "
                f"{adjusted:.4f}, set {truth:.4f}, observed {seen:.4f}"
            )
            for label, answer, adjusted, truth, seen in _rows(self.estimates)
        ]
        return "\n".join([*lines, self.assumption])

    def __repr__(self) -> str:
        """Return all of it in words."""
        return str(self)
