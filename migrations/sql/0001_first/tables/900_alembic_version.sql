-- Alembic makes this table, and so does the store for a new file.
comment on table cegdb.alembic_version is 'One row: the revision of this schema.';
comment on column cegdb.alembic_version.version_num is 'Id of the revision.';
