"""The SQL reference, from the comments in a new database.

``sql_reference(db)`` returns the text of ``docs/reference/sql.md``. The page is kept in the
repository, so that it reads without a site; a test compares it with the database. Write it
again with ``python docs/sql_reference.py``.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cegdb import Database

PAGE = Path(__file__).parent / "reference" / "sql.md"

SUBJECTS = {
    "Surveys": ["surveys", "variables", "scores", "labels"],
    "Event trees": ["vertices", "situations", "florets", "tree_edges", "presumed_zeros"],
    "Staged trees": [
        "stagings", "stages", "stage_edges", "stage_table", "staged_vertices",
        "staged_situations", "staged_florets", "staged_edges", "merges",
        "parent_sets",
    ],
    "Stability": [
        "hyperstage_posteriors", "costagings",
        "stage_bootstraps", "stage_stability", "stage_pairs", "bootstrap_intervals",
    ],
    "Chain Event Graphs": [
        "positions", "ceg_edges", "situation_positions", "merge_steps",
        "position_probability", "marginals", "most_probable_paths", "conditioned_cegs",
        "ceg_ancestors",
    ],
    "Findings": ["findings"],
    "Changes": ["stale", "drift"],
}  # fmt: skip
MACROS = {
    "paths": "select path, round(probability, 4) as probability, round(low, 4) as low,\n"
    "    round(high, 4) as high, n\n"
    "from cegdb.paths('falls')\n"
    "order by probability desc limit 3",
    "most_probable_paths": "select rank, path, round(probability, 4) as probability,\n"
    "    round(low, 4) as low, round(high, 4) as high, n\n"
    "from cegdb.most_probable_paths('falls', 2) order by rank",
    "position_probability": "select position, variable, round(probability, 4) as probability,\n"
    "    round(low, 4) as low, round(high, 4) as high, n\n"
    "from cegdb.position_probability('falls') order by position_id limit 4",
    "marginals": "select label, round(probability, 4) as probability,\n"
    "    round(low, 4) as low, round(high, 4) as high, n\n"
    "from cegdb.marginals('falls')\n"
    "where variable = 'Fall' order by label",
    "event_probability": "with patients as (\n"
    "    select 1 as patient, 'High Risk' as Risk, 'Fall' as Fall\n"
    "    union all\n"
    "    select 2, 'Low Risk', null\n"
    ")\n"
    "select patient, event, round(probability, 4) as probability,\n"
    "    round(low, 4) as low, round(high, 4) as high, n\n"
    "from cegdb.event_probability('falls', 'patients') order by patient",
    "conditional_probability": "with patients as (\n"
    "    select 'High Risk' as Risk, 'Fall' as Fall\n"
    ")\n"
    "select event, evidence, round(probability, 4) as probability,\n"
    "    round(low, 4) as low, round(high, 4) as high, n\n"
    "from cegdb.conditional_probability('falls', 'patients', ['Fall'])",
    "nearest": "select cegdb.nearest('Comunity', ['Communal', 'Community']) as nearest",
    "ceg_answers": "select source_id, target_id, variable, label, probability\n"
    "from cegdb.ceg_answers('falls') order by source_id, level_id limit 3",
    "row_masses": "",
    "counted_edges": "select vertex_id, variable, label, n, round(share, 4) as share\n"
    "from cegdb.counted_edges('falls') order by vertex_id limit 3",
    "known_variables": "",
    "agreeing": "with tree as (from cegdb.counted_edges('falls'))\n"
    "select * from cegdb.agreeing('tree')",
    "path_limits": "",
    "share_limits": "select round(limits.low, 6) as low, round(limits.high, 6) as high\n"
    "from (\n"
    "    select\n"
    "        cegdb.share_limits(0.2, 0.2, 0.8, 0.2 / 15, 0.8 / 15, 1 / 15, 0, 0.95)\n"
    "        as limits\n"
    ")",
    "normal_quantile": "select round(cegdb.normal_quantile(0.975), 6) as quantile",
    "situation_paths": "select vertex_id, path from cegdb.situation_paths(1)\n"
    "order by vertex_id limit 3",
}
INTERNAL = {
    "nearest", "ceg_answers", "row_masses", "situation_paths", "counted_edges",
    "known_variables", "agreeing", "path_limits", "share_limits", "normal_quantile",
    "alembic_version",
}  # fmt: skip

COLUMNS = """
    select column_name, data_type, comment
    from duckdb_columns()
    where schema_name = 'cegdb' and table_name = $name
    order by column_index
"""
MACRO = """
    select parameters, comment from duckdb_functions()
    where schema_name = 'cegdb' and function_name = $name
"""
TABLES = """
    select table_name as name, comment from duckdb_tables()
    where schema_name = 'cegdb' and table_name not like 'response\\_%' escape '\\'
    order by name
"""
VIEWS = """
    select view_name as name, comment from duckdb_views()
    where schema_name = 'cegdb' order by name
"""
NAMES = """
    select distinct function_name as name from duckdb_functions()
    where schema_name = 'cegdb' order by name
"""
HEAD = """# SQL reference

For those who query with SQL. Everything cegdb stores is in the schema `cegdb` of one DuckDB
file. This page is generated from the comments in that file. They are there in SQL too: in
`duckdb_views()`, `duckdb_tables()`, `duckdb_functions()` and `duckdb_columns()`. (A database in
memory has no comments.)

- [Views](#views) are what you query. They show names instead of ids.
- [Macros](#macros) compute what needs an argument, such as the name of a CEG.
- [Tables](#tables) are what the views read.

What is marked *Internal* serves cegdb itself and may change from version to version.

Open the file with any DuckDB client. In a file that you attach to another database, macros work
after `use`. The examples use the survey of falls:

```console
$ cegdb demo falls --db falls.duckdb
```

<!-- database: falls.duckdb -->
```sql
select source, label, target, n, probability, low, high
from cegdb.ceg_edges
where ceg = 'falls' and source = 'w7'
order by label
```
"""
TABLES_HEAD = """## Tables

The views read these tables. Query them for what no view shows, and write to none of them.
The rows of a survey are in a table of its own, `response_<survey_id>`: a column of level codes
for each variable (`v1`, `v2`, ...), and `n`, the number of respondents with these answers.
"""


def sql_reference(db: Database) -> str:
    """Return the page, from a database with the demo survey of falls."""
    views = dict(db.sql(VIEWS).itertuples(index=False))
    tables = dict(db.sql(TABLES).itertuples(index=False))
    listed = [name for names in SUBJECTS.values() for name in names]
    unlisted = {*listed} ^ {*views} | {*MACROS} ^ {*db.sql(NAMES)["name"]}
    if unlisted:
        raise SystemExit(f"list these views and macros here, or take them out: {unlisted}")
    parts = [HEAD.rstrip(), _shown(db, _example(HEAD)), "## Views", _summary(views)]
    for subject, names in SUBJECTS.items():
        parts.append(f"### {subject}")
        for name in names:
            parts += _relation(db, f"#### `cegdb.{name}`", name, views[name])
    parts.append("## Macros")
    for name, example in MACROS.items():
        parts += _macro(db, name, example)
    parts.append(TABLES_HEAD.rstrip())
    for name, comment in tables.items():
        parts += _relation(db, f"### `cegdb.{name}`", name, comment)
    return "\n\n".join(parts) + "\n"


def _summary(views: dict[str, str]) -> str:
    lines = ["| subject | view | one row per |", "| --- | --- | --- |"]
    for subject, names in SUBJECTS.items():
        for index, name in enumerate(names):
            row = views[name].rstrip(".").removeprefix("One row per ")
            row = re.split(r"(?<!\.)\. |[:;] |, (?=in |with )", row)[0]
            first = subject if index == 0 else ""
            lines.append(f"| {first} | [`{name}`](#cegdb{name}) | {_plain(row)} |")
    return "\n".join(lines)


def _relation(db: Database, heading: str, name: str, comment: str) -> Iterator[str]:
    yield heading
    yield _plain(comment) + (" *Internal.*" if name in INTERNAL else "")
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    for column in db.sql(COLUMNS, {"name": name}).itertuples():
        meaning = _plain(column.comment).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{column.column_name}` | {column.data_type} | {meaning} |")
    yield "\n".join(lines)


def _macro(db: Database, name: str, example: str) -> Iterator[str]:
    macro = db.sql(MACRO, {"name": name}).iloc[0]
    yield f"### `cegdb.{name}({', '.join(macro.parameters)})`"
    # The example that the comment has for readers of SQL is shown as a block.
    told = re.sub(r": select [^.]*cegdb\.\w+\([^)]*\)(?=\.)", "", str(macro.comment))
    yield _plain(told) + (" *Internal.*" if name in INTERNAL else "")
    if example:
        yield f"```sql\n{example}\n```"
        yield _shown(db, example)


def _example(page: str) -> str:
    return page.split("```sql\n")[1].split("\n```")[0]


def _shown(db: Database, sql: str) -> str:
    # pandas 2 writes a text that is null as None, pandas 3 as NaN.
    rows = db.sql(sql).fillna(float("nan"))
    return f"```text\n{rows.to_string(index=False)}\n```"


def _plain(text: str) -> str:
    """Return a comment as Markdown that shows each of its characters."""
    return re.sub(r"([*<$\\\[\]])", r"\\\1", text)


def write() -> str:
    """Return the page from a new database."""
    import cegdb
    from cegdb.demo import DEMOS

    falls = DEMOS["falls"]
    # A database in memory has no comments.
    with (
        tempfile.TemporaryDirectory() as folder,
        cegdb.open(Path(folder) / "falls.duckdb") as db,
    ):
        survey = db.ingest(falls.select(), name="falls", count="people")
        survey.event_tree().learn_stages().to_ceg()
        return sql_reference(db)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    PAGE.write_text(write(), encoding="utf-8")
