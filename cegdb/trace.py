"""Write the whole run that made a CEG as one SQL script, which does not need cegdb.

The run is repeated in a scratch database on the coded rows of the survey, and each statement
is recorded: the script consists of the files of ``sql/`` in the order in which they ran, with
the parameters as literals. What comes from outside SQL (coded rows, variables, labels, the
stage of each situation, given priors, intervals) is written as values.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import sqlalchemy as sa

from cegdb.atomic_files import atomic_write, atomic_writer, check_folder
from cegdb.ceg import rebuild_ceg
from cegdb.errors import CegError, is_whole
from cegdb.ingest.csv.csv_file import path_literal
from cegdb.positions import MAX_BITS
from cegdb.sqlfiles import Steps, bound, literal, recording
from cegdb.stages.build import write_stages
from cegdb.stages.effective_counts import Weighting
from cegdb.stages.priors import make_edge_priors
from cegdb.stages.recorded import prior_rule, recorded_options
from cegdb.store import Store, schema
from cegdb.store.catalog import ceg_and_parents, insert_rows, refuse_stale, response_table, row
from cegdb.tree import rebuild_tree
from cegdb.tree.path_codes import MAX_CODE
from cegdb.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from cegdb.sqlfiles import Step, Value

__all__ = ["MAX_VALUES", "trace"]

MAX_VALUES: Final = 5_000
"""A table with more rows is written to a Parquet file beside the script."""

_WIDTH: Final = 92
_SECTIONS: Final = {
    "20_tree": "The event tree",
    "30_stages": "The staged tree",
    "40_positions": "Positions: the backward recursion, one height at a time",
    "50_ceg": "The Chain Event Graph",
}
_SHOWN_FIELDS: Final = ("purpose", "reads", "writes", "source")
_FOLDER: Final = "cegdb_folder"
_NO_BREAK_SPACE: Final = "\xa0"
_TOLERANCE: Final = 1e-9
# The columns that the steps read.
_CATALOG_INPUTS: Final = (
    (
        "cegdb.variable",
        "The variables of the tree. The ordinal i is that of column vi of the coded rows.",
        ("variable_id", "survey_id", "ordinal", "name"),
    ),
    (
        "cegdb.level",
        "Their levels. Equal labels have the same label_id.",
        ("level_id", "variable_id", "code", "label", "label_id", "kind"),
    ),
)
_CODED_ROWS: Final = "The distinct rows of the survey, as codes, with n respondents each."
_HYPERSTAGES: Final = "The hyperstages: groups of situations that may share a stage."
# The tables that the script makes, by the kind of their owner; they must equal those stored.
_OUTPUTS: Final = {
    "tree": (schema.vertex, schema.edge, schema.vertex_weight, schema.presumed_zero),
    "staging": (
        schema.stage, schema.stage_member, schema.stage_edge, schema.prior_entry,
        schema.relabelled_edge,
    ),
    "ceg": (schema.position, schema.position_member, schema.ceg_edge),
}  # fmt: skip


class _Input(NamedTuple):
    """A temp table of values from which the staged tree is made."""

    name: str
    purpose: str
    query: str


_STAGES: Final = (
    _Input(
        "situation_stage",
        "The stage of each situation, given or learnt, and its hyperstage.",
        "select * from temp.recorded_member order by vertex_id",
    ),
    _Input(
        "given_name",
        "The given names of stages, by a situation of each.",
        "select stage_id as vertex_id, name, 0 as priority from cegdb.stage "
        "where staging_id = $id and name is not null order by stage_id",
    ),
    _Input(
        "given_label",
        "Edges with another label in the staging than in the tree (relabel).",
        "select child_id, label_id, label from cegdb.relabelled_edge "
        "where staging_id = $id order by child_id",
    ),
    _Input(
        "given_entry",
        "Given priors of single situations. The other priors follow from alpha.",
        "select vertex_id, label, prior from cegdb.prior_entry "
        "where staging_id = $id order by child_id",
    ),
)


def trace(
    store: Store,
    ceg_id: int,
    path: str | os.PathLike[str] | None = None,
    *,
    max_values: int = MAX_VALUES,
    max_code: int = MAX_CODE,
    max_bits: int = MAX_BITS,
) -> str:
    """Write the whole run that made a CEG as one SQL script, and return its text.

    See `cegdb.api.ChainEventGraph.trace`. The store is not changed.
    """
    if not is_whole(max_values) or max_values < 0:
        raise CegError(f"max_values must be a whole number of 0 or more, not {max_values!r}")
    file = None if path is None else Path(path)
    if file is not None:
        check_folder(file)
    with tempfile.TemporaryDirectory(prefix="cegdb-") as folder:
        script = _Script(Path(folder), file, int(max_values))
        with store.catalog() as catalog:
            ceg = row(catalog, "ceg", ceg_id)
            _refuse_untraceable(catalog, ceg)
            staging = row(catalog, "staging", ceg["staging_id"])
            tree = row(catalog, "tree", staging["tree_id"])
        run = _Run(store, ceg, staging, tree, Path(folder))
        with Store.open() as scratch:
            run.copy(scratch)
            with recording(script):
                run.repeat(scratch, script, max_code, max_bits)
            run.compare(scratch)
        text = script.text(_head(ceg["name"], staging["name"], tree["name"]))
        if file is not None:
            script.save_tables(file)
            atomic_write(file, text.encode())
    return text


def _refuse_untraceable(catalog: sa.Connection, ceg: Mapping[str, Any]) -> None:
    """Refuse a stale CEG, and one given evidence; name the CEG that this comes from."""
    if ceg["staging_id"] is None:
        origin = ceg_and_parents(catalog, ceg["ceg_id"])[-1]
        raise CegError(
            f"CEG {ceg['name']!r} is conditioned on evidence, and not made from a staged tree",
            hint=f"trace the CEG it comes from: {origin['name']!r}",
        )
    refuse_stale("ceg", ceg)


class _Run:
    """The run that made a CEG: its catalog rows, and how to repeat it in another database."""

    def __init__(
        self,
        store: Store,
        ceg: Mapping[str, Any],
        staging: Mapping[str, Any],
        tree: Mapping[str, Any],
        folder: Path,
    ) -> None:
        self._store = store
        self._ceg, self._staging, self._tree = ceg, staging, tree
        self._folder = folder
        self._response = response_table(tree["survey_id"])

    def copy(self, scratch: Store) -> None:
        """Copy the input of the run: catalog, coded rows, and the stages as temp tables."""
        survey_id, order = self._tree["survey_id"], self._tree["settings"]["order"]
        variable = schema.variable.c
        in_tree = (variable.survey_id == survey_id) & variable.name.in_(order)
        variable_ids = sa.select(variable.variable_id).where(in_tree)
        chosen = {
            schema.survey: schema.survey.c.survey_id == survey_id,
            schema.variable: in_tree,
            schema.level: schema.level.c.variable_id.in_(variable_ids),
            schema.event_tree: schema.event_tree.c.tree_id == self._tree["tree_id"],
            schema.staging: schema.staging.c.staging_id == self._staging["staging_id"],
            schema.ceg: schema.ceg.c.ceg_id == self._ceg["ceg_id"],
        }
        with self._store.catalog() as catalog:
            rows_of = {
                table: [
                    dict(record)
                    for record in catalog.execute(
                        sa.select(table).where(condition).order_by(*table.primary_key)
                    ).mappings()
                ]
                for table, condition in chosen.items()
            }
        with scratch.writing() as (con, catalog):
            for table, rows in rows_of.items():
                if table in (schema.variable, schema.level):
                    insert_rows(catalog, table, rows)
                else:
                    catalog.execute(sa.insert(table), rows)
            # Generated, since the rows keep only the columns of variables in the tree.
            columns = ", ".join(
                f"v{variable['ordinal']}" for variable in rows_of[schema.variable]
            )
            self._copy_query(
                con,
                f"create table {self._response} as",
                f"select {columns}, cast(sum(n) as bigint) as n, "  # noqa: S608
                "sum(weight) as weight, sum(weight_sq) as weight_sq "
                f"from {self._response} group by all order by all",
            )
            staging_id = self._staging["staging_id"]
            hyperstages = f"select * from cegdb.hyperstage where staging_id = {staging_id}"  # noqa: S608
            self._copy_query(
                con, "insert into cegdb.hyperstage", f"{hyperstages} order by hyperstage_id"
            )
            for stage_input in _STAGES:
                query = bound(stage_input.query, {"id": literal(staging_id)})
                self._copy_query(con, f"create temp table {stage_input.name} as", query)

    def _copy_query(self, con: duckdb.DuckDBPyConnection, target: str, query: str) -> None:
        """Fill a table of the scratch database with the rows of a query on the store."""
        file = literal(str(self._folder / "copied.parquet"))
        with self._store.reading() as source, Steps(source) as steps:
            steps.run("recorded_member", staging_id=self._staging["staging_id"])
            source.execute(f"copy ({query}) to {file} (format parquet)")
        con.execute(f"{target} select * from read_parquet({file})")  # noqa: S608

    def repeat(self, scratch: Store, script: _Script, max_code: int, max_bits: int) -> None:
        """Make tree, stages and CEG again, and write their input to the script."""
        tree_id, staging = self._tree["tree_id"], self._staging
        staging_id = staging["staging_id"]
        with scratch.writing() as (con, catalog):
            script.start_section("The tables to be made")
            script.add_empty_tables(
                con, [table.fullname for tables in _OUTPUTS.values() for table in tables]
            )
            script.start_section("The survey, coded")
            for name, purpose, columns in _CATALOG_INPUTS:
                script.add_table(con, name, purpose, columns)
            script.add_table(con, self._response, _CODED_ROWS)
            script.start_section(_SECTIONS["20_tree"])
            rebuild_tree(scratch, tree_id, max_code)
            script.start_section(_SECTIONS["30_stages"])
            script.add_table(con, "cegdb.hyperstage", _HYPERSTAGES)
            for table in _STAGES:
                script.on_table(con, table.name, table.purpose)
            with Steps(con) as steps:
                steps.run("situation_edge", tree_id=tree_id)
                steps.run("staging_prior", staging_id=staging_id)
                rule = prior_rule(staging["settings"])
                make_edge_priors(steps, tree_id, staging_id, rule, staging["alpha"])
                options = recorded_options(staging)
                weighting = Weighting(options.weighting, options.deff)
                weighting.for_tree(catalog, self._tree).measure(steps, tree_id)
                write_stages(
                    steps,
                    staging_id,
                    tree_id,
                    self._tree["settings"]["sampling_zeros"],
                    is_by_stage=rule == "stage",
                    is_predictive=self._staging["settings"].get("unobserved") == "predictive",
                )
            rebuild_ceg(scratch, self._ceg["ceg_id"], max_bits)

    def compare(self, scratch: Store) -> None:
        """Refuse a run whose rows differ from those stored.

        Floating-point numbers may differ by the rounding of another version of DuckDB.
        """
        owners = {
            "tree": self._tree["tree_id"],
            "staging": self._staging["staging_id"],
            "ceg": self._ceg["ceg_id"],
        }
        with self._store.reading() as source, scratch.reading() as con:
            for table, owner in [
                (table, owners[kind]) for kind in _OUTPUTS for table in _OUTPUTS[kind]
            ]:
                query = _digest(con, table.name, owner)
                stored, made = (
                    database.execute(query).fetchall()[0] for database in (source, con)
                )
                same = (
                    a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=_TOLERANCE))
                    for a, b in zip(stored, made, strict=True)
                )
                if not all(same):
                    raise CegError(
                        f"repeating the run of CEG {self._ceg['name']!r} gives rows of "
                        f"cegdb.{table.name} that differ from those stored",
                        hint="run cegdb check on the file, or make tree, stages and CEG again "
                        "with this version of cegdb",
                    )


def _digest(con: duckdb.DuckDBPyConnection, table: str, owner: int) -> str:
    """Return a query for an owner's number of rows, a hash of them, and sums of doubles."""
    columns = con.execute(
        "select column_name, data_type from duckdb_columns() "
        "where database_name = current_database() and schema_name = $1 and table_name = $2 "
        "order by column_index",
        [schema.SCHEMA, table],
    ).fetchall()
    names = [name for name, kind in columns if kind != "DOUBLE"]
    sums = "".join(f", fsum({name})" for name, kind in columns if kind == "DOUBLE")
    return (
        f"select count(*), sum(cast(hash({', '.join(names)}) as hugeint)){sums} "  # noqa: S608
        f"from {schema.SCHEMA}.{table} where {names[0]} = {owner}"
    )


class _Script:
    """A script that grows with each statement that is run.

    Parquet files wait in ``folder`` until all is written. ``file`` is the script to write,
    None if its text is only returned.
    """

    def __init__(self, folder: Path, file: Path | None, max_values: int) -> None:
        self._folder, self._file, self._max_values = folder, file, max_values
        self._parts: list[str] = []
        self._sections: list[str] = []
        self._saved: list[str] = []

    def start_section(self, title: str) -> None:
        """Begin a section, unless it has begun."""
        if title not in self._sections:
            self._sections.append(title)
            line = f"-- {'=' * (_WIDTH - 3)}"
            self._parts.append(f"{line}\n-- {len(self._sections)}. {title}\n{line}")

    def on_statement(self, name: str, sql: str, purpose: str) -> None:
        """Add a generated statement."""
        self._add([("makes", name), ("purpose", purpose)], sql)

    def on_step(
        self,
        con: duckdb.DuckDBPyConnection,  # noqa: ARG002
        step: Step,
        params: Mapping[str, Value],
    ) -> None:
        """Add a step, headed by the description in its file."""
        if step.phase in ("40_positions", "50_ceg"):
            self.start_section(_SECTIONS[step.phase])
        values = [
            f", {key} = {literal(value)}"
            for key, value in params.items()
            if not isinstance(value, (list, tuple))
        ]
        fields = [("step", f"{step.name} (sql/{step.path}){''.join(values)}")]
        # The parameters that the header names are literals here.
        fields += [(key, step.header[key].replace("$", "")) for key in _SHOWN_FIELDS]
        self._add(fields, step.bound(params))

    def on_table(self, con: duckdb.DuckDBPyConnection, table: str, purpose: str) -> None:
        """Add a temp table with its rows as values."""
        self.add_table(con, f"temp.{table}", purpose)

    def add_table(
        self,
        con: duckdb.DuckDBPyConnection,
        table: str,
        purpose: str,
        columns: Sequence[str] | None = None,
    ) -> None:
        """Add a table, or some of its columns, with its rows as values."""
        relation = con.sql(f"select {', '.join(columns or ['*'])} from {table}")  # noqa: S608
        created = _create_table(table, relation)
        (n_rows,) = relation.count("*").fetchall()[0]
        if not n_rows:
            rows = ""
        elif self._file is None or n_rows <= self._max_values:
            lines = ",\n".join(
                f"({', '.join(map(literal, values))})" for values in relation.fetchall()
            )
            rows = f";\ninsert into {table} values\n{lines}"
        else:
            saved = f"{self._file.stem}.{table.split('.')[1]}.parquet"
            relation.write_parquet(str(self._folder / saved))
            self._saved.append(saved)
            rows = (
                f";\ninsert into {table}\nselect * from read_parquet("
                f"getvariable('{_FOLDER}') || {path_literal(Path('/' + saved))})"
            )
        self._add([("makes", table), ("purpose", purpose)], created + rows)

    def add_empty_tables(self, con: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
        """Add statements that create tables, without rows."""
        self._parts.append(
            ";\n".join(_create_table(table, con.table(table)) for table in tables) + ";"
        )

    def _add(self, fields: Iterable[tuple[str, str]], sql: str) -> None:
        lines = []
        for key, content in fields:
            first, *others = [
                line
                for text in content.split("\n")
                for line in textwrap.wrap(text, _WIDTH) or [""]
            ]
            lines.append(f"-- {key + ':':<8} {first}".rstrip())
            lines += [f"--          {other}" for other in others]
        self._parts.append("\n".join([*lines, sql + ";"]))

    def text(self, head: str) -> str:
        """Return the script."""
        if self._file is not None and self._saved:
            where = path_literal(self._file.absolute().parent)
            head += (
                "\n\n-- Where the Parquet files of this script are.\n"
                f"set variable {_FOLDER} = {where};"
            )
        body = "\n\n".join(self._parts)
        return f"{head}\n\ncreate schema cegdb;\nbegin transaction;\n\n{body}\n\ncommit;\n"

    def save_tables(self, file: Path) -> None:
        """Write the Parquet files beside the script."""
        for saved in self._saved:
            waiting, target = self._folder / saved, file.with_name(saved)
            with waiting.open("rb") as source, atomic_writer(target) as out:
                shutil.copyfileobj(source, out)


def _create_table(table: str, relation: duckdb.DuckDBPyRelation) -> str:
    """Return the statement that makes a table of a relation's columns, without a semicolon."""
    columns = ", ".join(
        f"{name}{_NO_BREAK_SPACE}{str(kind).lower()}"
        for name, kind in zip(relation.columns, relation.types, strict=True)
    )
    lines = textwrap.indent("\n".join(textwrap.wrap(columns, _WIDTH)), "    ")
    kind = "temp table" if table.startswith("temp.") else "table"
    return f"create {kind} {table} (\n{lines}\n)".replace(_NO_BREAK_SPACE, " ")


def _head(ceg: str, staging: str, tree: str) -> str:
    """Return the head comment of the script."""
    return f"""\
-- The CEG {literal(ceg)}, made step by step from the event tree {literal(tree)} and the \
staged tree {literal(staging)}.
--
-- Written by cegdb {__version__}. It runs in DuckDB alone, without cegdb, in any database that
-- has no schema cegdb, such as an empty one: with  .read FILE  in the shell, or with
-- duckdb.connect().execute(text)  in Python. It is one transaction, which makes tables in
-- the schema cegdb:
--   vertex, edge                                 the event tree
--   stage, stage_member, stage_edge              the staged tree
--   position, position_member, ceg_edge          the Chain Event Graph
-- Intermediate tables are temp tables, which exist until the connection closes. A SELECT on its
-- own shows what cegdb reads at that point to decide how to continue, such as whether to stop
-- merging. Tree, staged tree and CEG have the same ids as in the original database."""
