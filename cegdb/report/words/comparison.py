"""Two or three stagings of one tree in words: scores, and one sentence a disagreement."""

from __future__ import annotations

from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb import compare
from cegdb.compare.comparability import of_one_tree
from cegdb.errors import StagingError, agreeing, counted
from cegdb.render.document import Code, Heading, Items, Note, Paragraph, References, Table
from cegdb.report.words import methods, phrases
from cegdb.report.words.citations import used
from cegdb.report.words.report_data import MOST_COMPARED, labels_of, places_of, variables_of
from cegdb.report.words.situation_words import Places
from cegdb.small_cells import shown
from cegdb.sqlfiles import Steps
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cegdb.render.document import Block
    from cegdb.report.words import Form
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
    """Situations that both stagings keep together, in words if they are not too many."""

    pair_id: int
    stage_id: int
    other_id: int
    variable: str | None
    n_situations: int
    n: int | None
    group: Group | None


class Disagreement(NamedTuple):
    """What one staging keeps apart and another joins."""

    apart: str
    joined: str
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


class Compared(NamedTuple):
    """Stagings of one tree as catalog rows, and the tree and survey."""

    survey: Mapping[str, Any]
    tree: Mapping[str, Any]
    stagings: Sequence[Mapping[str, Any]]
    min_n: int | None

    @property
    def staging(self) -> Mapping[str, Any]:
        """Return the first, whose weighting is told."""
        return self.stagings[0]


def compared(store: Store, staging_ids: Sequence[int], min_n: int | None) -> Compared:
    """Return what is compared.

    Raises
    ------
    StagingError
        They are not two or three, or of different trees.
    """
    ids = list(dict.fromkeys(staging_ids))
    if len(ids) not in (2, 3):
        raise StagingError(
            f"{counted(len(ids), 'staging')} to compare in words, expected two or three",
            hint="name two or three different stagings of one tree",
        )
    for one, other in combinations(ids, 2):
        of_one_tree(store, one, other)
    with store.catalog() as catalog:
        stagings = [row(catalog, "staging", one) for one in ids]
        tree = row(catalog, "tree", stagings[0]["tree_id"])
        return Compared(row(catalog, "survey", tree["survey_id"]), tree, stagings, min_n)


def questions(store: Store, what: Compared) -> tuple[list[str], dict[str, list[str]]]:
    """Return the variables of the tree, and the labels of each."""
    with store.reading() as con, Steps(con) as steps:
        known = variables_of(steps, what.tree["survey_id"], what.tree)
        return [name for _, name, _ in known], labels_of(steps, what.tree["survey_id"])


def disagreements(
    store: Store, what: Compared, one: Mapping[str, Any], other: Mapping[str, Any], limit: int
) -> tuple[list[Disagreement], int]:
    """Return where two stagings disagree, most people first, and how many are left out."""
    tree_id, names = what.tree["tree_id"], (str(one["name"]), str(other["name"]))
    ids = {"staging_id": one["staging_id"], "other_staging_id": other["staging_id"]}
    with store.reading() as con, Steps(con) as steps:
        tree = what.tree["name"]
        with shown(store, "vertices", {"tree": tree}, what.min_n) as vertices:
            rows = steps.fetch("told_pair", vertices=vertices, tree=tree, **ids)
        pieces = [_piece(r) for r in rows]
        numbers = np.array([p[:3] for p in pieces], np.int64).reshape(-1, 3).T
        names_of = ("pair_id", "stage_id", "other_id")
        steps.create_from("asked_pair", dict(zip(names_of, numbers, strict=True)))
        found = [
            *_split(pieces, 2, apart=names[0], joined=names[1]),
            *_split(pieces, 1, apart=names[1], joined=names[0]),
        ]
        found.sort(key=lambda d: (-d.weight, d.joined != names[1], d.pieces[0].pair_id))
        kept = found[:limit]
        groups = _groups(steps, what, kept, pieces, tree_id, ids)
    said = [
        d._replace(pieces=tuple(p._replace(group=groups.get(p.pair_id)) for p in d.pieces))
        for d in kept
    ]
    return said, len(found) - len(kept)


def _piece(found: Sequence[object]) -> Piece:
    pair_id, stage_id, other_id, variable, n_situations, n = found
    return Piece(
        int(str(pair_id)),
        int(str(stage_id)),
        int(str(other_id)),
        None if variable is None else str(variable),
        int(str(n_situations)),
        None if n is None else int(str(n)),
        None,
    )


def _split(pieces: Sequence[Piece], by: int, *, apart: str, joined: str) -> list[Disagreement]:
    """Return each stage (of the column ``by``) that lies in several of the other staging."""
    ordered = sorted(pieces, key=lambda p: (p[by], p.pair_id))
    grouped = (list(few) for _, few in groupby(ordered, key=lambda p: p[by]))
    return [
        Disagreement(apart, joined, tuple(sorted(few, key=lambda p: (-(p.n or 0), p.pair_id))))
        for few in grouped
        if len(few) > 1
    ]


def _groups(
    steps: Steps,
    what: Compared,
    kept: Sequence[Disagreement],
    pieces: Sequence[Piece],
    tree_id: int,
    ids: Mapping[str, int],
) -> dict[int, Group]:
    """Return the situations of the pieces to tell of, in words."""
    known = variables_of(steps, what.tree["survey_id"], what.tree)
    labels = labels_of(steps, what.tree["survey_id"])
    numbers = np.array([variable_id for variable_id, _, _ in known], np.int64)
    steps.create_from(
        "told_variable", {"variable_id": numbers, "place": np.arange(len(numbers))}
    )
    names = {variable_id: name for variable_id, name, _ in known}
    asked = {p.variable: p for d in kept for p in d.pieces}
    groups: dict[int, Group] = {}
    for place, (variable_id, name, _) in enumerate(known):
        size = sum(p.n_situations for p in pieces if p.variable == name)
        if name not in asked or size > MOST_COMPARED:
            continue
        steps.run(
            "told_pair_place", tree_id=tree_id, variable_id=variable_id, place=place, **ids
        )
        found = list(places_of(steps, "told_pair_place", tree_id, names, what.min_n))
        places = Places(found, [n for _, n, _ in known[:place]], labels)
        for pair_id in {p.pair_id for d in kept for p in d.pieces if p.variable == name}:
            groups[pair_id] = places.group(pair_id)
    return groups


def comparison(
    store: Store, what: Compared, form: Form, *, unit: str, words: Words, limit: int
) -> list[Block]:
    """Return the comparison of two or three stagings in one of the forms."""
    names = [phrases.quoted(str(staging["name"])) for staging in what.stagings]
    title = {
        "plain": f"{phrases.joined(names)}: where they differ",
        "paper": f"Comparison of the stagings {phrases.joined(names)}",
        "analyst": f"Comparison of the stagings {phrases.joined(names)}",
    }[form]
    blocks: list[Block] = [Heading(title, 1)]
    if any(staging["is_stale"] for staging in what.stagings):
        blocks.append(Note("Stale: the survey has other rows since."))
    if form == "plain":
        blocks.append(
            Paragraph(
                f"{phrases.joined(names)} are two ways to put {unit} into groups who are taken "
                "to answer a question alike."
                if len(names) == 2
                else f"{phrases.joined(names)} are three ways to put {unit} into groups who "
                "are taken to answer a question alike."
            )
        )
    if form == "paper":
        made = [*methods.data(what), *methods.tree_built(what)]
        blocks += [Heading("Methods"), Paragraph(" ".join(made))]
        blocks += [
            Paragraph(f"{name}. {' '.join(methods.stages(staging, what.min_n))}")
            for name, staging in zip(names, what.stagings, strict=True)
        ]
        blocks.append(Paragraph(methods.software(what.tree, *what.stagings)))
    blocks.append(Heading("Which the data support"))
    if form != "plain":
        blocks.append(_scores(store, what))
    pairs = list(combinations(what.stagings, 2))
    blocks.append(Items([_evidence(store, a, b, form, what.min_n) for a, b in pairs]))
    for one, other in pairs:
        blocks += _differences(store, what, one, other, form, unit, words, limit)
    if form == "analyst":
        blocks += _sql(what)
    if form != "plain":
        cited = used(what.survey, what.stagings)
        blocks += [Heading("References"), References(cited)]
    return blocks


def _scores(store: Store, what: Compared) -> Table:
    if what.min_n is not None:
        sizes = [
            (str(s["name"]), str(s["method"]), f"{s['n_stages']:,}", f"{s['df']:,}")
            for s in what.stagings
        ]
        return Table(f"Sizes. {methods.NO_SCORES}", _NAMES[:4], sizes, _NAMES[2:4])
    frame = compare.compare(store, [staging["staging_id"] for staging in what.stagings])
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
        for staging, factor in zip(what.stagings, factors, strict=True)
    ]
    first = phrases.quoted(str(what.stagings[0]["name"]))
    return Table(
        f"Scores; the log Bayes factor (natural logarithm) is against {first}, and empty where "
        "the settings differ.",
        _NAMES,
        rows,
        _NAMES[2:],
    )


def _evidence(
    store: Store,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    form: Form,
    min_n: int | None,
) -> str:
    """Return which of two stagings the rows support, and how strongly unless that is hidden."""
    names = [phrases.quoted(str(staging["name"])) for staging in (one, other)]
    try:
        found = compare.bayes_factor(store, one["staging_id"], other["staging_id"])
    except StagingError as error:
        if form == "plain":
            return (
                f"Whether the data speak for {names[0]} or for {names[1]} cannot be said: they "
                "were made with different settings."
            )
        said = str(error.args[0])
        return f"{said[0].upper()}{said[1:]}."
    if abs(found) < 1e-9:
        return f"The data support {names[0]} and {names[1]} equally."
    better, worse = names if found > 0 else names[::-1]
    if min_n is not None:
        said = "speak for" if form == "plain" else "support"
        than = "rather" if form == "plain" else "more"
        return f"The data {said} {better} {than} than {worse}. {methods.NO_SCORES}"
    if form == "plain" and abs(found) < _HARDLY:
        return f"The data speak hardly more for {better} than for {worse}."
    times = _times(abs(found))
    if form == "plain":
        return (
            f"The data speak for {better} rather than {worse}: such data are {times} as "
            "probable if it holds."
        )
    return (
        f"The data support {better} more than {worse}: log Bayes factor {abs(found):.2f} "
        f"(natural logarithm), so that such data are {times} as probable under {better}."
    )


def _times(log_factor: float) -> str:
    """Return a Bayes factor in words.

    Examples
    --------
    >>> _times(0.7), _times(15.4), _times(100)
    ('2.0 times', '4,900,000 times', 'more than a thousand million times')
    """
    if log_factor > np.log(1e9):
        return "more than a thousand million times"
    factor = float(np.exp(log_factor))
    if factor < 10:
        return f"{factor:.1f} times" if log_factor >= _HARDLY else f"{factor:.3f} times"
    rounded = float(f"{factor:.1e}")
    return f"{rounded:,.0f} times"


def _differences(
    store: Store,
    what: Compared,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    form: Form,
    unit: str,
    words: Words,
    limit: int,
) -> list[Block]:
    names = [phrases.quoted(str(staging["name"])) for staging in (one, other)]
    blocks: list[Block] = [Heading(f"{names[0]} and {names[1]}")]
    found, n_left_out = disagreements(store, what, one, other, limit)
    if form != "plain":
        n = compare.hamming(store, one["staging_id"], other["staging_id"])
        blocks.append(
            Paragraph(
                f"{counted(n, 'situation')} of {what.tree['n_situations']:,} must change stage "
                "to make them equal."
            )
        )
    if not found:
        return [*blocks, Paragraph(f"{names[0]} and {names[1]} group everybody alike.")]
    say = _plainly if form == "plain" else _exactly
    blocks.append(Items([say(d, unit, words) for d in found]))
    if n_left_out:
        blocks.append(
            Note(
                f"{counted(n_left_out, 'difference')} of fewer people "
                f"{agreeing(n_left_out, 'are')} left out here."
            )
        )
    return blocks


def _exactly(found: Disagreement, unit: str, words: Words) -> str:
    """Return a disagreement: A keeps X and Y apart, B joins them (123 people)."""
    parts = _pieces(found, unit, words, lambda piece: f" ({_n(piece.n)})")
    return (
        f"{_variable(found)}: {phrases.quoted(found.apart)} keeps apart {parts}; "
        f"{phrases.quoted(found.joined)} joins them ({_people(found.n, unit)})."
    )


def _plainly(found: Disagreement, unit: str, words: Words) -> str:
    parts = _pieces(found, unit, words, lambda piece: f" ({_people(piece.n, unit)})")
    return (
        f"{_variable(found)}: {phrases.quoted(found.joined)} takes to be alike {parts}; "
        f"{phrases.quoted(found.apart)} tells them apart ({_people(found.n, unit)} in all)."
    )


def _variable(found: Disagreement) -> str:
    names = {piece.variable for piece in found.pieces}
    (name,) = names if len(names) == 1 else (None,)
    return name or "Several questions"


def _pieces(
    found: Disagreement, unit: str, words: Words, shown_n: Callable[[Piece], str]
) -> str:
    """Return what is apart or joined, most people first."""
    parts = [
        phrases.people(piece.group, unit, words)
        if piece.group
        else counted(piece.n_situations, "situation")
        for piece in found.pieces[:_MOST_PIECES]
    ]
    parts = [
        f"({i}) {part}{shown_n(piece)}"
        for i, (part, piece) in enumerate(zip(parts, found.pieces, strict=False), start=1)
    ]
    more = len(found.pieces) - _MOST_PIECES
    if more > 0:
        parts.append(counted(more, "further group"))
    return phrases.joined(parts)


def _n(n: int | None) -> str:
    return "n hidden" if n is None else f"{n:,}"


def _people(n: int | None, unit: str) -> str:
    if n is None:
        return "how many is not shown"
    return phrases.so_many(n, unit)


def _sql(what: Compared) -> list[Block]:
    names = [str(staging["name"]).replace("'", "''") for staging in what.stagings]
    listed = ", ".join(f"'{name}'" for name in names)
    return [
        Heading("The same in SQL"),
        Code(
            f"select * from cegdb.stagings where staging in ({listed});\n"  # noqa: S608
            f"select * from cegdb.stage_edges where staging in ({listed}) "
            "order by staging, stage_id, label_id;",
            "sql",
        ),
        Paragraph("Situation by situation: a.diff(b), or cegdb compare DB A B --diff."),
    ]
