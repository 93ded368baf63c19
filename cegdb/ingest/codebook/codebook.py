"""Codebook: what each code of each variable means, as YAML, as CSV or as a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from cegdb.atomic_files import unknown_file_type
from cegdb.errors import SurveyError, counted, listed
from cegdb.ingest.coding.bins import Bins, bins_of, number_of
from cegdb.ingest.csv.records import file_rows
from cegdb.ingest.files.cell_labels import abbreviated, label_list, label_of
from cegdb.names import did_you_mean, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Codebook", "CodebookEntry", "CodebookSource", "load_codebook"]

CodebookSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, object] | Codebook"

_KEYS: Final = ("columns", "count", "weight", "variables", "gates")
_VARIABLE_KEYS: Final = (
    "label",
    "values",
    "structural",
    "missing",
    "levels",
    "recode",
    "same",
    "bins",
    "ordered",
    "scores",
)
_COLUMNS: Final = ("variable", "kind", "code", "label")
_IGNORED_COLUMNS: Final = ("n", "note")
_KINDS: Final = (
    "value", "structural", "missing", "recode", "same", "variable", "bins", "gate", "column",
    "ordered", "score", "count", "weight", "note",
)  # fmt: skip


@dataclass(frozen=True)
class CodebookEntry:
    """What a codebook says of one variable; codes and labels are texts as read.

    Answers that are ``ordered`` have the scores 0, 1, ... in level order; other ``scores`` are
    given by label or code.
    """

    label: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    structural: list[str] = field(default_factory=list)
    missing: dict[str, str | None] = field(default_factory=dict)
    levels: list[str] | None = None
    recode: dict[str, str] = field(default_factory=dict)
    same: list[list[str]] = field(default_factory=list)
    bins: Bins | None = None
    ordered: bool = False
    scores: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the entry as a codebook writes it, without empty keys."""
        keys = {name: getattr(self, name) for name in _VARIABLE_KEYS}
        keys["bins"] = self.bins.as_text() if self.bins else None
        return {
            name: value for name, value in keys.items() if value not in (None, {}, [], False)
        }


@dataclass(frozen=True)
class Codebook:
    """A codebook: settings of the survey, and a `CodebookEntry` for each variable it names."""

    columns: list[str] | None = None
    count: str | None = None
    weight: str | None = None
    variables: dict[str, CodebookEntry] = field(default_factory=dict)
    gates: dict[str, str] = field(default_factory=dict)


def load_codebook(source: CodebookSource | None) -> Codebook:
    """Return a codebook from a YAML or CSV file, or from a mapping of the same keys.

    YAML scalars are texts as written: ``no`` is not false, ``01`` not 1. A CSV file has the
    columns ``variable, kind, code, label``; ``n`` and ``note``, and rows of the kind ``note``,
    are ignored. If there are rows of the kind ``column``, only their variables are read.
    """
    if source is None:
        return Codebook()
    if isinstance(source, Codebook):
        return source
    if isinstance(source, Mapping):
        return _from_tree(source, "the codebook")
    if not isinstance(source, (str, os.PathLike)):
        raise SurveyError(
            f"a codebook cannot be read from {type(source).__name__}",
            hint="give the path of a .yaml or .csv file, or a mapping",
        )
    file = Path(os.fspath(source))
    title = f"codebook {abbreviated(str(file), most=400)}"
    kind = file.suffix.lower()
    if kind not in (".yaml", ".yml", ".csv", ".tsv"):
        raise SurveyError(
            unknown_file_type(file), hint="a codebook is a .yaml, .yml, .csv or .tsv file"
        )
    try:
        # Not read_text, which would make one of all line ends, in labels too.
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SurveyError(f"{title} is not UTF-8 text", hint="save it as UTF-8") from error
    except FileNotFoundError:
        raise SurveyError(f"there is no file {title.removeprefix('codebook ')}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SurveyError(f"{title} cannot be read: {reason}") from None
    if kind in (".csv", ".tsv"):
        return _from_tree(_rows(text, title, "\t" if kind == ".tsv" else ","), title)
    return _from_tree(_yaml(text, title), title)


# -----------------------------------------------------------------------------
# YAML and CSV, as the same tree of texts
# -----------------------------------------------------------------------------


def _yaml(text: str, title: str) -> Mapping[object, object]:
    import yaml

    class Texts(yaml.BaseLoader):
        """Reads every scalar as text, and refuses a key written twice."""

    def mapping(loader: Any, node: Any) -> dict[object, object]:
        pairs = [
            (loader.construct_object(key, deep=True), loader.construct_object(value, deep=True))
            for key, value in node.value
        ]
        keys = [key for key, _ in pairs]
        for key, (node_of_key, _) in zip(keys, node.value, strict=True):
            if not isinstance(key, str) or keys.count(key) > 1:
                line = node_of_key.start_mark.line + 1
                what = "is repeated" if isinstance(key, str) else "is not plain text"
                raise SurveyError(f"{title}, line {line}: the key {key!r} {what}")
        return dict(pairs)

    Texts.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        tree = yaml.load(text, Loader=Texts)  # noqa: S506 (BaseLoader makes texts only)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SurveyError(f"{title}{where} is not YAML: {problem}") from None
    except RecursionError:
        raise SurveyError(f"{title} is nested too deeply") from None
    if tree in (None, ""):
        return {}
    if not isinstance(tree, dict):
        raise SurveyError(f"{title} is not a mapping", hint=f"its keys are {listed(_KEYS)}")
    return tree


def _rows(text: str, title: str, delimiter: str) -> dict[str, object]:
    """Return the tree of a CSV codebook: one row a code."""
    rows = file_rows(text, title, delimiter)
    header = [folded(name) for name in rows[0]] if rows else []
    columns = [name for name in header if name not in _IGNORED_COLUMNS]
    if sorted(columns) != sorted(_COLUMNS) or len(set(header)) < len(header):
        raise SurveyError(
            f"{title} has the columns {listed(map(repr, header))}",
            hint=f"it needs {', '.join(_COLUMNS)}, and may have {', '.join(_IGNORED_COLUMNS)}",
        )
    tree: dict[str, Any] = {"variables": {}, "gates": {}}
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        where = f"{title}, row {line}"
        if len(row) != len(header):
            raise SurveyError(
                f"{where}: {counted(len(row), 'field')} where the header has {len(header)}"
            )
        cells = dict(zip(header, row, strict=True))
        _row(tree, where, *(cells[name] for name in _COLUMNS))
    return tree


def _row(tree: dict[str, Any], where: str, name: str, kind: str, code: str, label: str) -> None:
    kind = folded(kind)
    if kind == "note":
        return
    if kind == "column":
        tree.setdefault("columns", []).append(name)
        return
    if kind in ("count", "weight"):
        if kind in tree:
            raise SurveyError(f"{where}: the {kind} is declared twice")
        tree[kind] = name
        return
    if kind == "gate":
        if name in tree["gates"]:
            raise SurveyError(f"{where}: {name!r} has a gate already")
        tree["gates"][name] = label
        return
    entry = tree["variables"].setdefault(name, {})
    if kind in ("variable", "bins"):
        key = "label" if kind == "variable" else "bins"
        if key in entry:
            what = "a label" if key == "label" else "bins"
            raise SurveyError(f"{where}: {name!r} has {what} already")
        entry[key] = label
        return
    if kind == "ordered":
        entry["ordered"] = True
        return
    if not code:
        raise SurveyError(f"{where}: the code is blank")
    if kind == "structural":
        entry.setdefault("structural", []).append(code)
    elif kind in ("value", "missing", "recode", "score"):
        of_kind = entry.setdefault({"value": "values", "score": "scores"}.get(kind, kind), {})
        if code in of_kind:
            raise SurveyError(f"{where}: the code {code!r} of {name!r} is repeated")
        of_kind[code] = label or (None if kind in ("missing", "score") else code)
    elif kind == "same":
        entry.setdefault("same", []).append([code, label])
    else:
        hint = did_you_mean(kind, _KINDS) or f"the kinds are {', '.join(_KINDS)}"
        raise SurveyError(f"{where}: unknown kind {kind!r}", hint=hint)


# -----------------------------------------------------------------------------
# From the tree to the codebook
# -----------------------------------------------------------------------------


def _from_tree(tree: Mapping[Any, object], title: str) -> Codebook:
    _refuse_unknown(tree, _KEYS, title)
    variables = {
        name: _entry(_mapping(entry, f"{title}, {name!r}"), f"{title}, {name!r}")
        for name, entry in _items(tree.get("variables"), f"{title}, variables")
    }
    gates = {}
    for name, rule in _items(tree.get("gates"), f"{title}, gates"):
        if not isinstance(rule, str) or not rule.strip():
            raise SurveyError(
                f"{title}: the gate of {name!r} must be a condition, not {rule!r}",
                hint="write a condition on other variables, such as smoker = 'Current'",
            )
        gates[name] = rule
    columns = tree.get("columns")
    return Codebook(
        None if columns in (None, "") else _texts(columns, f"{title}, columns"),
        _column_name(tree, "count", title),
        _column_name(tree, "weight", title),
        variables,
        gates,
    )


def _entry(tree: Mapping[Any, object], where: str) -> CodebookEntry:
    _refuse_unknown(tree, _VARIABLE_KEYS, where)
    missing = tree.get("missing")
    reasons: dict[str, str | None] = {}
    if isinstance(missing, Mapping):
        for code, reason in _items(missing, f"{where}, missing"):
            reasons[code] = label_of(reason)
    elif missing not in (None, ""):
        reasons = dict.fromkeys(_texts(missing, f"{where}, missing"))
    same = tree.get("same")
    groups = (
        []
        if same in (None, "")
        else [_texts(group, f"{where}, same") for group in _sequence(same, f"{where}, same")]
    )
    structural, levels = tree.get("structural"), tree.get("levels")
    return CodebookEntry(
        label_of(tree.get("label")),
        _labels_by_code(tree, "values", where),
        [] if structural in (None, "") else _texts(structural, f"{where}, structural"),
        reasons,
        None if levels in (None, "") else _texts(levels, f"{where}, levels"),
        _labels_by_code(tree, "recode", where),
        groups,
        bins_of(tree["bins"], where) if tree.get("bins") not in (None, "") else None,
        *_order(tree, where),
    )


def _order(tree: Mapping[Any, object], where: str) -> tuple[bool, dict[str, float]]:
    """Return whether answers are ordered, and the scores that are given."""
    ordered = tree.get("ordered")
    text = "" if ordered is None else str(ordered).casefold()
    if text not in ("", "true", "false"):
        raise SurveyError(
            f"{where}: ordered must be true or false, not {abbreviated(repr(ordered))}"
        )
    scores: dict[str, float] = {}
    for label, score in _items(tree.get("scores"), f"{where}, scores"):
        number = number_of(label_of(score) or "")
        if number is None:
            raise SurveyError(
                f"{where}: the score of {label!r} must be a number, not "
                f"{abbreviated(repr(score))}"
            )
        scores[label] = float(number)
    if text == "true" and scores:
        raise SurveyError(
            f"{where} has both ordered and scores",
            hint="ordered: true gives the answers the scores 0, 1, ... in level order; to give "
            "them others, leave it out",
        )
    return text == "true", scores


def _labels_by_code(tree: Mapping[Any, object], key: str, where: str) -> dict[str, str]:
    """Return the label of each code; one left out is the code itself."""
    return {
        code: label_of(label) or code
        for code, label in _items(tree.get(key), f"{where}, {key}")
    }


def _column_name(tree: Mapping[Any, object], key: str, title: str) -> str | None:
    value = tree.get(key)
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        raise SurveyError(f"{title}: {key} must be the name of a column, not {value!r}")
    return value


def _items(tree: object, where: str) -> Iterator[tuple[str, object]]:
    for key, value in _mapping(tree, where).items():
        text = label_of(key)
        if text is None:
            raise SurveyError(f"{where}: a code or name is blank")
        yield text, value


def _mapping(tree: object, where: str) -> Mapping[Any, object]:
    if tree in (None, ""):
        return {}
    if not isinstance(tree, Mapping):
        raise SurveyError(f"{where} must be a mapping, not {abbreviated(repr(tree))}")
    return tree


def _sequence(value: object, where: str) -> Sequence[object]:
    if isinstance(value, str) or not isinstance(value, (Sequence, set, frozenset)):
        raise SurveyError(f"{where} must be a list, not {abbreviated(repr(value))}")
    return cast("Sequence[object]", value)


def _texts(value: object, where: str) -> list[str]:
    return label_list(_sequence(value, where), where)


def _refuse_unknown(tree: Mapping[Any, object], known: Sequence[str], where: str) -> None:
    for key in tree:
        if key not in known:
            hint = did_you_mean(str(key), known) or f"the keys are {', '.join(known)}"
            raise SurveyError(f"{where} has an unknown key, {key!r}", hint=hint)
