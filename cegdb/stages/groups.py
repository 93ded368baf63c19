"""Groups of situations that a user gives: stages, hyperstages, initial stages, priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from cegdb.errors import StagingError, SurveyError, counted, items_of, listed
from cegdb.ingest.files.cell_labels import label_of
from cegdb.ingest.files.relation import match_columns
from cegdb.ingest.files.sources import Source, keep_cells, open_source
from cegdb.names import WILDCARD, find_name, folded
from cegdb.stages import template_reader
from cegdb.stages.situations import (
    describe_situation,
    explain_mismatch,
    extend_paths,
    find_situation,
    name_hint,
    shown_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from cegdb.ingest.files.relation import Relation
    from cegdb.sqlfiles import Steps

__all__ = [
    "GroupReader",
    "Grouping",
    "MemberTable",
    "SituationPath",
    "StagesOf",
    "checked_name",
]

MAX_RECORDED: Final = 10_000
"""Larger frames and files are not recorded in the settings of a staging."""

SAME_LABELS: Final = (
    "situations can share a stage only if they have the same labels: complete the florets "
    "(tree with sampling_zeros='floret', --sampling-zeros floret) or relabel"
)
OTHER_VARIABLES: Final = (
    "they belong to different variables, and only situations with the same labels can share "
    "a stage"
)
SAME_HYPERSTAGE: Final = (
    "they have the same labels, but situations share a stage only within a hyperstage (by "
    "default: same variable and same label set): give hyperstages='labels' (--hyperstages "
    "labels) or hyperstages of your own"
)
_PATHS: Final = "give labels from the root to a situation, such as ('High', 'Low')"
_NAME: Final = "a name is a text or a number"

SituationPath: TypeAlias = "str | Sequence[object]"
Role: TypeAlias = Literal[
    "stage", "frozen", "initial", "hyperstage", "prior", "split", "unobserved"
]

_SETTINGS: Final[Mapping[Role, str]] = {
    "stage": "stages",
    "frozen": "frozen",
    "initial": "initial",
    "hyperstage": "hyperstages",
    "prior": "prior",
    "split": "groups",
    "unobserved": "unobserved",
}
"""The setting in which a user gives groups of each role."""

_KINDS: Final[Mapping[Role, str]] = {"frozen": "frozen stage", "initial": "initial stage"}
"""What a message calls a group, where that is not its role."""


@dataclass(frozen=True)
class MemberTable:
    """Stages in a temp table of ``vertex_id``, ``name`` and ``shown_name``.

    Situations with one ``name`` share a stage. ``settings`` is what to record.
    """

    table: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class StagesOf:
    """The stages of another staging of the tree."""

    staging_id: int


Grouping: TypeAlias = (
    "Mapping[SituationPath, object] | Sequence[Sequence[SituationPath]] | Source"
    " | MemberTable | StagesOf"
)


@dataclass(frozen=True)
class GroupReader:
    """Reads groups of situations of one tree into ``given_group``.

    Paths that fit no situation are refused or, where ``skipped`` is a list, noted there.
    Frames and files of more than ``max_recorded`` rows are not recorded in the settings.
    """

    steps: Steps
    con: duckdb.DuckDBPyConnection
    tree_id: int
    skipped: list[str] | None = None
    max_recorded: int = MAX_RECORDED

    @property
    def is_strict(self) -> bool:
        """Whether what fits no situation is refused."""
        return self.skipped is None

    def read(self, grouping: Grouping | None, role: Role) -> dict[str, object] | None:
        """Add what a user grouped to ``given_group``, and return it as settings to record.

        ``grouping`` is a mapping from path to name, a list of groups of paths, a template, a
        frame, file or SELECT with the columns ``vertex_id`` and one more, the name, a
        `MemberTable` or `StagesOf`.
        """
        if grouping is None:
            return None
        if isinstance(grouping, MemberTable):
            rows = self.steps.run("member_group", role=role, members=grouping.table)
            return {**grouping.settings, "rows": rows}
        if isinstance(grouping, StagesOf):
            self.steps.run("named_member", staging_id=grouping.staging_id)
            grouping = "select vertex_id, stage from temp.named_member"
        if isinstance(grouping, (Mapping, list, tuple)):
            settings = self._read_paths(grouping, role)
        elif isinstance(grouping, (Number, bytes)):
            raise StagingError(
                f"{_SETTINGS[role]} cannot be {grouping!r}", hint=_accepted_forms(role)
            )
        else:
            settings = self._read_source(cast("Source", grouping), role)
        for vertex_id, name, other in self.steps.fetch("group_overlap", role=role):
            raise StagingError(
                f"situation {self._described(vertex_id)} has two {_group_word(role)}s: "
                f"{name!r} and {other!r}",
                hint="name each situation once",
            )
        return settings

    def find_path_situations(self, groups: Sequence[object], role: Role) -> None:
        """Make ``path_situation`` of groups of paths, which are numbered from 1."""
        self._fit_paths(_numbered_paths(groups, role), role)

    def refuse_mixed_labels(self, role: Role) -> None:
        """Refuse groups of situations that differ in their labels."""
        hint = f"{SAME_LABELS}, or split the stage"
        if role == "hyperstage":
            hint = "a hyperstage holds situations with the same labels"
        self._refuse_mixed(role, hint, is_by_labels=True)

    def refuse_mixed_hyperstages(self, role: Role) -> None:
        """Refuse stages of situations that differ in their hyperstage."""
        hint = f"{SAME_HYPERSTAGE}, or split the stage"
        self._refuse_mixed(role, hint, is_by_labels=False)

    def _read_paths(
        self, grouping: Mapping[SituationPath, object] | Sequence[object], role: Role
    ) -> dict[str, object]:
        is_mapping = isinstance(grouping, Mapping)
        if isinstance(grouping, Mapping):
            named = [
                (
                    _path_labels(path, role),
                    checked_name(name, f"{_SETTINGS[role]}: the name of {path!r}"),
                )
                for path, name in grouping.items()
            ]
        else:
            named = _numbered_paths(grouping, role)
        self._fit_paths(named, role)
        self.steps.run("path_group", role=role, is_named=is_mapping)
        groups: dict[str, list[list[str]]] = {}
        for labels, name in named:
            groups.setdefault(name, []).append(labels)
        return {"groups": groups} if is_mapping else {"groups": groups, "is_named": False}

    def _fit_paths(self, named: Sequence[tuple[list[str], str]], role: Role) -> None:
        """Make ``path_situation``; paths that fit no situation are refused, or skipped."""
        steps = self.steps
        paths = self._spell_paths([labels for labels, _ in named])
        steps.run(
            "given_path",
            names=[name for _, name in named],
            paths=paths,
            wildcards=[[label == WILDCARD for label in labels] for labels in paths],
        )
        extend_paths(steps, max(map(len, paths), default=0))
        steps.run("path_situation")
        unfit = [path_id for (path_id,) in steps.fetch("unfit_path")]
        if not unfit:
            return
        mismatch = explain_mismatch(steps, self.tree_id, paths[unfit[0]])
        reason = f"{_SETTINGS[role]}: {mismatch}"
        if self.skipped is None:
            hint = name_hint(steps, self.tree_id, paths[unfit[0]])
            raise StagingError(reason, hint=hint or _PATHS)
        more = f"; and {counted(len(unfit) - 1, 'more path')}" if len(unfit) > 1 else ""
        self.skipped.append(f"skipped: {reason}{more}")

    def _spell_paths(self, paths: Sequence[list[str]]) -> list[list[str]]:
        """Return paths with labels as the tree spells them; unknown ones stay as written."""
        alike: dict[str, list[str]] = {}
        for (label,) in self.steps.rows("select distinct label from temp.situation_edge"):
            alike.setdefault(folded(label), []).append(label)
        written = {label for path in paths for label in path} - {WILDCARD}
        spelled = {
            label: find_name(label, alike.get(folded(label), ())) or label for label in written
        }
        return [[spelled.get(label, label) for label in path] for path in paths]

    def _read_source(self, source: Source, role: Role) -> dict[str, object]:
        template = template_reader.read_file(source)
        if template is not None:
            return self._read_template(template, role)
        with self._open_source(source, role) as relation:
            if template_reader.is_template(relation.columns):
                template = template_reader.read_relation(self.steps, self.con, relation)
                return self._read_template(template, role)
            vertex_id = match_columns(["vertex_id"], relation).get("vertex_id")
            columns = [name for name in relation.columns if name != vertex_id]
            if vertex_id is None or len(columns) != 1 or len(relation.columns) != 2:
                raise StagingError(
                    f"{_SETTINGS[role]}: the columns are {listed(relation.columns)}",
                    hint=f"give two columns, vertex_id and {role}, or a template with its "
                    "column 'stage'",
                )
            (column,) = columns
            names = {"vertex_id": vertex_id, "name": column}
            keep_cells(self.steps, self.con, relation, "written_row", names)
        self.steps.run("group_row")
        self._refuse_unknown_rows(role)
        is_named = folded(column) == "stage"
        rows = self.steps.run("row_group", role=role, is_named=is_named)
        recorded = self._recorded_groups(role, rows, is_named=is_named)
        return {"source": relation.description, "rows": rows, **recorded}

    def _refuse_unknown_rows(self, role: Role) -> None:
        rows = self.steps.fetch("unknown_row")
        unknown = [written for written, is_situation in rows if not is_situation]
        if unknown:
            raise StagingError(
                f"{_SETTINGS[role]}: the tree has no situation with vertex_id "
                f"{listed(unknown)}",
                hint="the view cegdb.situations lists them",
            )
        if rows:
            nameless = listed(written for written, _ in rows)
            raise StagingError(
                f"{_SETTINGS[role]}: there is no name for vertex_id {nameless}",
                hint="fill it in, or leave the row out",
            )

    @contextmanager
    def _open_source(self, source: Source, role: Role) -> Iterator[Relation]:
        """Open a source of groups; an error says which setting it is about."""
        try:
            with open_source(self.con, source) as relation:
                yield relation
        except SurveyError as error:
            message = f"{_SETTINGS[role]}: {error.args[0]}"
            raise StagingError(message, hint=_accepted_forms(role)) from None

    def _read_template(
        self, template: template_reader.Template, role: Role
    ) -> dict[str, object]:
        steps = self.steps
        paths = iter(
            self._spell_paths([row.path for row in template.rows if row.path is not None])
        )
        rows = [
            row if row.path is None else replace(row, path=next(paths)) for row in template.rows
        ]
        steps.run(
            "template_row",
            lines=[row.line for row in rows],
            names=[row.stage for row in rows],
            vertex_ids=[row.vertex_id for row in rows],
            variables=[row.variable for row in rows],
            paths=[row.path for row in rows],
        )
        extend_paths(steps)
        steps.run("template_situation")
        for row_id, path, variable in steps.fetch("template_mismatch"):
            row = rows[row_id]
            if path is None and row.vertex_id is None:
                reason = explain_mismatch(steps, self.tree_id, row.path or [], is_literal=True)
                raise StagingError(
                    f"{template.title}, {row.line}: {reason}", hint=template_reader.OTHER_TREE
                )
            template_reader.refuse_mismatch(template, row, path, variable)
        for vertex_id, name, line, other, other_line in steps.fetch("template_conflict"):
            raise StagingError(
                f"{template.title}, {line} and {other_line}: situation "
                f"{self._described(vertex_id)} has two {_group_word(role)}s: {name!r} and "
                f"{other!r}",
                hint="delete one of the rows, or write the same name in both",
            )
        n_rows = steps.run("template_group", role=role)
        recorded = self._recorded_groups(role, n_rows, is_named=True)
        return {"source": template.title, "rows": n_rows, **recorded}

    def _recorded_groups(self, role: Role, rows: int, *, is_named: bool) -> dict[str, object]:
        """Return the groups by path, so that they can be given again, unless they are many.

        Stages are not recorded: a rebuild finds them by their members.
        """
        if role == "stage" or rows > self.max_recorded:
            return {}
        extend_paths(self.steps)
        groups: dict[str, list[list[str]]] = {}
        for name, labels in self.steps.fetch("group_path", role=role):
            groups.setdefault(name, []).append(labels)
        if any(WILDCARD in labels for paths in groups.values() for labels in paths):
            return {}  # given again, this label would fit any
        return {"groups": groups, **({} if is_named else {"is_named": False})}

    def _refuse_mixed(self, role: Role, hint: str, *, is_by_labels: bool) -> None:
        rows = self.steps.fetch("mixed_group", role=role, is_by_labels=is_by_labels)
        for name, *vertex_ids in rows:
            first, second = (
                find_situation(self.steps, self.tree_id, vertex_id) for vertex_id in vertex_ids
            )
            one, other = (
                f"{self._line_prefix(role, vertex_id)}{shown_path(situation.path)}"
                for vertex_id, situation in zip(vertex_ids, (first, second), strict=True)
            )
            if is_by_labels and first.variable != second.variable and role != "hyperstage":
                hint = OTHER_VARIABLES
            raise StagingError(
                f"{_group_word(role)} {name!r} cannot hold both {one} and {other}: the first "
                f"is about {first.question}, the second about {second.question}",
                hint=hint,
            )

    def _line_prefix(self, role: Role, vertex_id: int) -> str:
        """Return where a template names a situation, as ``row 3, ``; nothing if none does."""
        query = (
            "select line from temp.given_group where role = $role and vertex_id = $vertex_id"
        )
        ((line,),) = self.steps.rows(query, {"role": role, "vertex_id": vertex_id})
        return f"{line}, " if line is not None else ""

    def _described(self, vertex_id: int) -> str:
        return describe_situation(self.steps, self.tree_id, vertex_id)


def checked_name(name: object, what: str) -> str:
    """Return the name of a stage or group, trimmed; refuse what is not a text or number.

    Examples
    --------
    >>> checked_name(" frail ", "the new name"), checked_name(2.0, "the new name")
    ('frail', '2')
    """
    try:
        text = (label_of(name) or "").strip()
    except SurveyError:
        wanted = "UTF-8 text" if isinstance(name, str) else "a text or a number"
        raise StagingError(f"{what} must be {wanted}, not {name!r}", hint=_NAME) from None
    if not text:
        raise StagingError(f"{what} is empty", hint=_NAME)
    return text


def _group_word(role: Role) -> str:
    return _KINDS.get(role, role)


def _accepted_forms(role: Role) -> str:
    """Return the forms in which groups of a role can be given."""
    words = {
        "hyperstage": "'variable', 'labels', 'height', 'paper', ",
        "initial": "'full', 'indep', ",
    }.get(role, "")
    return (
        f"give {words}a mapping from path to name, a list of groups of paths, or a frame, file "
        "or SELECT with vertex_id and the name"
    )


def _numbered_paths(groups: Sequence[object], role: Role) -> list[tuple[list[str], str]]:
    """Return the paths of groups without names; each group is named by its number."""
    return [
        (_path_labels(path, role), str(number))
        for number, group in enumerate(groups, 1)
        for path in items_of(
            group,
            f"a group of {_SETTINGS[role]}",
            StagingError,
            hint=_accepted_forms(role),
        )
    ]


def _path_labels(path: object, role: Role) -> list[str]:
    """Return a path as texts; one text is a path of one label."""
    setting = _SETTINGS[role]
    parts = (
        [path]
        if isinstance(path, str)
        else items_of(path, f"a path of {setting}", StagingError, hint=_PATHS, in_order=True)
    )
    labels = [label_of(part) for part in parts]
    if None in labels:
        raise StagingError(f"{setting}: the path {path!r} contains an empty label")
    return [str(label) for label in labels]
