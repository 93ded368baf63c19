"""Findings: what a reader of a survey, tree, staging or CEG should know before its numbers.

Notes of earlier versions, which were part of the summaries, become findings of kind ``note``.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0007_finding"
down_revision = "0006_presumed_zeros"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))
    for table, key in (
        ("survey", "survey_id"),
        ("event_tree", "tree_id"),
        ("staging", "staging_id"),
    ):
        connection.exec_driver_sql(f"""
            insert into cegdb.finding by name
            with noted as (
                select
                    {key},
                    unnest(from_json(json_extract(summary, '$.hints'), '["varchar"]'))
                        as sentence
                from cegdb.{table}
            )
            select
                *,
                row_number() over (partition by {key}) as ordinal,
                'note' as finding,
                2 as consequence
            from noted
        """)  # noqa: S608
    for table in ("event_tree", "staging", "ceg"):
        connection.exec_driver_sql(
            f"update cegdb.{table} set summary = "  # noqa: S608
            """json_merge_patch(summary, '{"hints": null}')"""
        )


def downgrade() -> None:
    connection = op.get_bind()
    for table, key in (("event_tree", "tree_id"), ("staging", "staging_id")):
        connection.exec_driver_sql(f"""
            update cegdb.{table} as o
            set summary = json_merge_patch(o.summary, json_object('hints', coalesce((
                select list(concat_ws('; ', f.sentence, f.advice) order by f.ordinal)
                from cegdb.finding as f
                where f.{key} = o.{key}
            ), [])))
        """)  # noqa: S608
    connection.exec_driver_sql(
        """update cegdb.ceg set summary = json_merge_patch(summary, '{"hints": []}')"""
    )
    connection.exec_driver_sql("drop view cegdb.findings")
    connection.exec_driver_sql("drop table cegdb.finding")
