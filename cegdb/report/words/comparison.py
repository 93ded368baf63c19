"""Two or three stagings of one tree in words: scores, and a sentence per disagreement."""

from __future__ import annotations

from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb import compare
from cegdb.compare.comparability import stagings_of_one_tree
from cegdb.errors import StagingError, agreeing, counted, joined
from cegdb.render.document import Code, Heading, Items, Note, Paragraph, Table
from cegdb.report.words import methods, phrases
from cegdb.report.words.citations import reference_list
from cegdb.report.words.report_data import (
    MOST_COMPARED,
    create_variables,
    histories,
    labels_of,
    variables_of,
)
from cegdb.report.words.situation_words import StageDescriber
from cegdb.small_cells import masked_view
from cegdb.sqlfiles import Steps, literal
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cegdb.options import ReportForm
    from cegdb.render.document import Block
    from cegdb.report.words.phrases import Words
    from cegdb.report.words.situation_words import Group
    from cegdb.store import Store

_MOST_PIECES: Final = 4
_HARDLY: Final = 0.05
_NAMES: Final = (
    "Staging",
    "Method",
    "Stages",
    "Free parameters",
    "Log marginal likelihood",
    "BIC",
    "Log Bayes factor",
)


class Piece(NamedTuple):
    """Situations that share a stage in both stagings, in words if they are not too many."""

    pair_id: int
    stage_id: int
    other_id: int
    variable: str | None
    n_situations: int
    n: int | None
    group: Group | None = None


class Disagreement(NamedTuple):
    """A stage of one staging whose situations another one separates."""

    separating: str
    joining: str
    pieces: tuple[Piece, ...]

    @property
    def n(self) -> int | None:
        """Return its people; None if those of a piece are hidden."""
        counts = [piece.n for piece in self.pieces if piece.n is not None]
        return sum(counts) if len(counts) == len(self.pieces) else None

    @property
    def weight(self) -> int:
        """Return its people as far as they are shown, to sort by."""
        return sum(piece.n or 0 for piece in self.pieces)


class ComparisonData(NamedTuple):
    """Stagings of one tree as catalog rows, and the tree and survey."""

    survey: Mapping[str, Any]
    tree: Mapping[str, Any]
    stagings: Sequence[Mapping[str, Any]]
    min_n: int | None

    @property
    def staging(self) -> Mapping[str, Any]:
        """Return the first, whose weighting stands for all."""
        return self.stagings[0]


def read_comparison(
    store: Store, staging_ids: Sequence[int], min_n: int | None
) -> ComparisonData:
    """Return two or three stagings of one tree to compare, with their tree and survey."""
    ids = list(dict.fromkeys(staging_ids))
    if len(ids) not in (2, 3):
        raise StagingError(
            f"{counted(len(ids), 'staging')} to compare, expected two or three",
            hint="name two or three different stagings of one tree",
        )
    for one, other in combinations(ids, 2):
        stagings_of_one_tree(store, one, other)
    with store.catalog() as catalog:
        stagings = [row(catalog, "staging", one) for one in ids]
        tree = row(catalog, "tree", stagings[0]["tree_id"])
        return ComparisonData(row(catalog, "survey", tree["survey_id"]), tree, stagings, min_n)


def variables_and_labels(
    store: Store, data: ComparisonData
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the variables of the tree, and the labels of each."""
    with store.reading() as con, Steps(con) as steps:
        variables = variables_of(steps, data.tree["survey_id"], data.tree)
        return [name for _, name, _ in variables], labels_of(steps, data.tree["survey_id"])


def disagreements(
    store: Store,
    data: ComparisonData,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    limit: int,
) -> tuple[list[Disagreement], int]:
    """Return where two stagings disagree, most people first, and how many are left out."""
    tree_id, names = data.tree["tree_id"], (str(one["name"]), str(other["name"]))
    ids = {"staging_id": one["staging_id"], "other_staging_id": other["staging_id"]}
    with store.reading() as con, Steps(con) as steps:
        tree = data.tree["name"]
        with masked_view(store, "vertices", {"tree": tree}, data.min_n) as vertices:
            rows = steps.fetch("report_pair", vertices=vertices, tree=tree, **ids)
        pieces = [Piece(*row) for row in rows]
        numbers = np.array([p[:3] for p in pieces], np.int64).reshape(-1, 3).T
        names_of = ("pair_id", "stage_id", "other_id")
        steps.create_from("reported_pair", dict(zip(names_of, numbers, strict=True)))
        every = [
            *_split(pieces, 2, separating=names[0], joining=names[1]),
            *_split(pieces, 1, separating=names[1], joining=names[0]),
        ]
        every.sort(key=lambda d: (-d.weight, d.joining != names[1], d.pieces[0].pair_id))
        largest = every[:limit]
        groups = _groups(steps, data, largest, pieces, tree_id, ids)
    described = [
        d._replace(pieces=tuple(p._replace(group=groups.get(p.pair_id)) for p in d.pieces))
        for d in largest
    ]
    return described, len(every) - len(largest)


def _split(
    pieces: Sequence[Piece], column: int, *, separating: str, joining: str
) -> list[Disagreement]:
    """Return each stage (of a column of pieces) that the other staging separates."""
    ordered = sorted(pieces, key=lambda p: (p[column], p.pair_id))
    stages = (list(of_stage) for _, of_stage in groupby(ordered, key=lambda p: p[column]))
    return [
        Disagreement(
            separating,
            joining,
            tuple(sorted(of_stage, key=lambda p: (-(p.n or 0), p.pair_id))),
        )
        for of_stage in stages
        if len(of_stage) > 1
    ]


def _groups(
    steps: Steps,
    data: ComparisonData,
    reported: Sequence[Disagreement],
    pieces: Sequence[Piece],
    tree_id: int,
    ids: Mapping[str, int],
) -> dict[int, Group]:
    """Return the situations of the pieces to report, in words."""
    variables = variables_of(steps, data.tree["survey_id"], data.tree)
    labels = labels_of(steps, data.tree["survey_id"])
    create_variables(steps, variables)
    names = {variable_id: name for variable_id, name, _ in variables}
    groups: dict[int, Group] = {}
    for index, (variable_id, name, _) in enumerate(variables):
        size = sum(p.n_situations for p in pieces if p.variable == name)
        pair_ids = {p.pair_id for d in reported for p in d.pieces if p.variable == name}
        if not pair_ids or size > MOST_COMPARED:
            continue
        steps.run(
            "report_pair_history",
            tree_id=tree_id,
            variable_id=variable_id,
            variable_index=index,
            **ids,
        )
        paths = list(histories(steps, "report_pair_history", tree_id, names, data.min_n))
        describer = StageDescriber(paths, [n for _, n, _ in variables[:index]], labels)
        groups |= {pair_id: describer.group(pair_id) for pair_id in pair_ids}
    return groups


def comparison_report(
    store: Store, data: ComparisonData, form: ReportForm, *, unit: str, words: Words, limit: int
) -> list[Block]:
    """Return the comparison of two or three stagings in one of the forms."""
    names = [phrases.quoted(str(staging["name"])) for staging in data.stagings]
    title = (
        f"Where {joined(names)} differ"
        if form == "plain"
        else f"Comparison of the stagings {joined(names)}"
    )
    blocks: list[Block] = [Heading(title, 1)]
    if any(staging["is_stale"] for staging in data.stagings):
        blocks.append(Note("Some of these are stale: their survey has changed."))
    if form == "plain":
        n_ways = "two" if len(names) == 2 else "three"
        blocks.append(
            Paragraph(
                f"{joined(names)} are {n_ways} ways to divide {unit} into groups. People in "
                "one group are treated as answering a question alike: these data do not show "
                "that they differ, or they were assumed not to."
            )
        )
    if form == "paper":
        sentences = [*methods.data_sentences(data), *methods.tree_sentences(data)]
        blocks += [Heading("Methods"), Paragraph(" ".join(sentences))]
        blocks += [
            Paragraph(f"{name}. {' '.join(methods.stages_sentences(staging, data.min_n))}")
            for name, staging in zip(names, data.stagings, strict=True)
        ]
        blocks.append(Paragraph(methods.software_sentence(data.tree, *data.stagings)))
    blocks.append(Heading("What the data support"))
    if form != "plain":
        blocks.append(_scores(store, data))
    pairs = list(combinations(data.stagings, 2))
    blocks.append(Items([_evidence(store, a, b, form, data.min_n) for a, b in pairs]))
    for one, other in pairs:
        blocks += _differences(store, data, one, other, form, unit, words, limit)
    if form == "analyst":
        blocks += _sql(data)
    if form != "plain":
        blocks += [Heading("References"), reference_list(data.survey, data.stagings)]
    return blocks


def _scores(store: Store, data: ComparisonData) -> Table:
    if data.min_n is not None:
        sizes = [
            (str(s["name"]), str(s["method"]), f"{s['n_stages']:,}", f"{s['df']:,}")
            for s in data.stagings
        ]
        caption = f"Sizes. {methods.NO_SCORES}"
        return Table.of_rows(caption, _NAMES[:4], sizes, _NAMES[2:4])
    frame = compare.compare(store, [staging["staging_id"] for staging in data.stagings])
    factors = [float(x) for x in frame["log_bayes_factor"].fillna(np.nan).tolist()]
    rows = [
        (
            str(staging["name"]),
            str(staging["method"]),
            f"{staging['n_stages']:,}",
            f"{staging['df']:,}",
            f"{staging['log_marginal_likelihood']:.2f}",
            f"{staging['bic']:.2f}",
            "" if np.isnan(factor) else f"{factor:.2f}",
        )
        for staging, factor in zip(data.stagings, factors, strict=True)
    ]
    first = phrases.quoted(str(data.stagings[0]["name"]))
    return Table.of_rows(
        f"Scores. The log Bayes factor (natural logarithm) is relative to {first}, and empty "
        "if the settings differ.",
        _NAMES,
        rows,
        _NAMES[2:],
    )


def _evidence(
    store: Store,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    form: ReportForm,
    min_n: int | None,
) -> str:
    """Return which of two stagings the rows support, and how strongly unless that is hidden."""
    names = [phrases.quoted(str(staging["name"])) for staging in (one, other)]
    try:
        log_factor = compare.bayes_factor(store, one["staging_id"], other["staging_id"])
    except StagingError as error:
        if form == "plain":
            return (
                f"The data cannot say whether {names[0]} or {names[1]} is better: they were "
                "made with different settings."
            )
        reason = str(error.args[0])
        return f"{reason[0].upper()}{reason[1:]}."
    if abs(log_factor) < 1e-9:
        return f"The data support {names[0]} and {names[1]} equally."
    better, worse = names if log_factor > 0 else names[::-1]
    support = f"The data support {better} more than {worse}"
    if min_n is not None:
        return f"{support}. {methods.NO_SCORES}"
    if form == "plain" and abs(log_factor) < _HARDLY:
        return f"The data support {better} only slightly more than {worse}."
    probable = f"such data are {_times(abs(log_factor))} as probable under {better}"
    if form == "plain":
        return f"{support}: {probable}."
    return (
        f"{support}: log Bayes factor {abs(log_factor):.2f} (natural logarithm), so {probable}."
    )


def _times(log_factor: float) -> str:
    """Return a Bayes factor in words.

    Examples
    --------
    >>> _times(0.7), _times(15.4), _times(100)
    ('2.0 times', '4,900,000 times', 'more than a billion times')
    """
    if log_factor > np.log(1e9):
        return "more than a billion times"
    factor = float(np.exp(log_factor))
    if factor < 10:
        return f"{factor:.1f} times" if log_factor >= _HARDLY else f"{factor:.3f} times"
    rounded = float(f"{factor:.1e}")
    return f"{rounded:,.0f} times"


def _differences(
    store: Store,
    data: ComparisonData,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    form: ReportForm,
    unit: str,
    words: Words,
    limit: int,
) -> list[Block]:
    names = [phrases.quoted(str(staging["name"])) for staging in (one, other)]
    blocks: list[Block] = [Heading(f"{names[0]} and {names[1]}")]
    differences, n_left_out = disagreements(store, data, one, other, limit)
    if form != "plain":
        n = compare.hamming(store, one["staging_id"], other["staging_id"])
        blocks.append(
            Paragraph(
                f"To make the stagings equal, {n:,} of "
                f"{counted(data.tree['n_situations'], 'situation')} would have to change stage."
            )
        )
    if not differences:
        return [*blocks, Paragraph(f"{names[0]} and {names[1]} form the same groups.")]
    sentence = _plain_sentence if form == "plain" else _exact_sentence
    blocks.append(Items([sentence(d, unit, words) for d in differences]))
    if n_left_out:
        blocks.append(
            Note(
                f"{counted(n_left_out, 'difference')} between fewer people "
                f"{agreeing(n_left_out, 'are')} not shown."
            )
        )
    return blocks


def _exact_sentence(disagreement: Disagreement, unit: str, words: Words) -> str:
    """Return a disagreement: A separates X and Y, B joins them (123 people)."""
    groups = _pieces(disagreement, unit, words, lambda piece: f" ({_n_text(piece.n)})")
    separating, joining = map(phrases.quoted, (disagreement.separating, disagreement.joining))
    people = _count_text(disagreement.n, unit)
    return (
        f"{_variable(disagreement)}: {separating} separates {groups}; {joining} joins them "
        f"({people})."
    )


def _plain_sentence(disagreement: Disagreement, unit: str, words: Words) -> str:
    groups = _pieces(
        disagreement, unit, words, lambda piece: f" ({_count_text(piece.n, unit)})"
    )
    separating, joining = map(phrases.quoted, (disagreement.separating, disagreement.joining))
    in_all = "" if disagreement.n is None else " in all"
    people = f"{_count_text(disagreement.n, unit)}{in_all}"
    return (
        f"{_variable(disagreement)}: {joining} treats as alike {groups}; {separating} "
        f"separates them ({people})."
    )


def _variable(disagreement: Disagreement) -> str:
    names = {piece.variable for piece in disagreement.pieces}
    (name,) = names if len(names) == 1 else (None,)
    return name or "Several questions"


def _pieces(
    disagreement: Disagreement, unit: str, words: Words, format_n: Callable[[Piece], str]
) -> str:
    """Return what is separated or joined, most people first."""
    parts = [
        phrases.group_phrase(piece.group, unit, words)
        if piece.group
        else counted(piece.n_situations, "situation")
        for piece in disagreement.pieces[:_MOST_PIECES]
    ]
    parts = [
        f"({i}) {part}{format_n(piece)}"
        for i, (part, piece) in enumerate(
            zip(parts, disagreement.pieces, strict=False), start=1
        )
    ]
    more = len(disagreement.pieces) - _MOST_PIECES
    if more > 0:
        parts.append(counted(more, "more group"))
    return joined(parts)


def _n_text(n: int | None) -> str:
    return "n not shown" if n is None else f"{n:,}"


def _count_text(n: int | None, unit: str) -> str:
    if n is None:
        return "number not shown"
    return phrases.count_of(n, unit)


def _sql(data: ComparisonData) -> list[Block]:
    listed = ", ".join(literal(str(staging["name"])) for staging in data.stagings)
    return [
        Heading("SQL"),
        Code(
            f"select * from cegdb.stagings where staging in ({listed});\n"  # noqa: S608
            f"select * from cegdb.stage_edges where staging in ({listed}) "
            "order by staging, stage_id, label_id;",
            "sql",
        ),
        Paragraph("For each situation: a.diff(b), or cegdb diff DB A B."),
    ]
