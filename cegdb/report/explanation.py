"""What a CEG says, in sentences, the most important first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import agreeing, counted, listed
from cegdb.evidence import All
from cegdb.independence.cuts import useful_cuts
from cegdb.independence.separation import independence
from cegdb.inference.compiled_model import MIXED
from cegdb.inference.mean_scores import MeanScore, mean_numbers, mean_scores, scale_text
from cegdb.inference.queries import condition, distribution, most_probable_histories
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.report.words.phrases import mean_phrase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from cegdb.inference.answer_intervals import AnswerIntervals
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import ConditionedModel

MOST: Final = 6
_MOST_WORK: Final = 20_000_000
_MOST_LABELS: Final = 3
_SMALLEST: Final = 0.005


class Counts(NamedTuple):
    """The respondents of a CEG by node and edge, and what its staging says.

    ``is_conditioned``: the CEG is given evidence, so that answers may lead out of it.
    ``low`` and ``high`` are the ends of the interval of each edge, NaN where it has none;
    ``intervals`` makes those of other probabilities, if its survey has not changed.
    ``parents`` and ``statements`` are sentences on what answers depend on, most people first
    (``docs/theory.md``, section 9.2). ``ordered`` is on the last answer, if it is ordered.
    """

    n: Ints
    n_taken: Ints
    low: Floats
    high: Floats
    intervals: AnswerIntervals | None
    n_left_out: int
    is_conditioned: bool
    stage_names: Mapping[int, str]
    order: Sequence[str]
    parents: Sequence[str] = ()
    statements: Sequence[str] = ()
    ordered: OrderedOutcome | None = None


class OrderedOutcome(NamedTuple):
    """The scores of the last answers, their mean among all who gave one, and in each stage."""

    scores: Mapping[str, float | None]
    mean: MeanScore
    n: int | None
    in_stages: Mapping[int, MeanScore]


@dataclass(frozen=True)
class Explanation:
    """What a CEG says: titles, and sentences below each."""

    sections: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The sentences as rows; columns ``section``, ``sentence``."""
        import pandas as pd

        rows = [(title, one) for title, sentences in self.sections for one in sentences]
        return pd.DataFrame(rows, columns=["section", "sentence"])

    def __str__(self) -> str:
        """Return titles and sentences."""
        return "\n".join(
            line
            for title, sentences in self.sections
            for line in (f"{title}:", *(f"  - {sentence}" for sentence in sentences))
        )

    __repr__ = __str__

    def after(self, cautions: Sequence[str]) -> Explanation:
        """Return it after what to know before the numbers, if there is anything."""
        if not cautions:
            return self
        return Explanation((("Before the numbers", _first_few(cautions)), *self.sections))


def names_of_stages(positions: Sequence[Mapping[str, object]]) -> dict[int, str]:
    """Return stage -> its name, from rows of the view ``positions``."""
    return {
        int(str(row["stage_id"])): str(row["stage"])
        for row in positions
        if row["stage_id"] is not None
    }


def count_people(
    ceg: CompiledModel,
    positions: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    intervals: AnswerIntervals | None,
    n_left_out: int,
    is_conditioned: bool,
    order: Sequence[str],
    parents: Sequence[str],
    statements: Sequence[str],
    ordered: OrderedOutcome | None,
) -> Counts:
    """Return the respondents of a CEG, from rows of its views."""
    n = {row["position_id"]: row["n"] for row in positions}
    row_of = {(row["source_id"], row["label"]): row for row in edges}
    sources = ceg.position_id[ceg.graph.source].tolist()
    taken = [row_of[edge] for edge in zip(sources, ceg.edge_labels, strict=True)]
    return Counts(
        np.array([n[i] for i in ceg.position_id.tolist()], np.int64),
        np.array([row["n"] for row in taken], np.int64),
        np.array([row["low"] for row in taken], np.float64),
        np.array([row["high"] for row in taken], np.float64),
        intervals,
        n_left_out,
        is_conditioned,
        names_of_stages(positions),
        order,
        parents,
        statements,
        ordered,
    )


def explain(ceg: CompiledModel, counts: Counts) -> Explanation:
    """Return what a CEG says: people, the last answer, associations, cuts, independence.

    A section has at most 6 sentences, and how many more there are. Probabilities are posterior
    means, with their intervals of 95 %; differences below 0.005 are left out.
    """
    sections = [("People", _people(ceg, counts))]
    if (ceg.variable == MIXED).any():
        cuts = [cut.statement for cut in useful_cuts(ceg, counts.stage_names)]
        cuts.append("some positions have several variables, so answers are not compared")
        return Explanation((sections[0], ("Cuts", _first_few(cuts))))
    variables = _ordered(ceg, counts)
    given = condition(ceg, All(()))
    if variables:
        last = variables[-1]
        sections += [
            (f"Answers to {last}", _outcome(given, counts, last)),
            (f"Associations with {last}", _associations(given, counts, variables)),
        ]
    sections += [
        (
            "Where the model makes no further use of the past",
            _first_few(_cuts_by_people(ceg, counts)),
        ),
        ("What each answer depends on", _first_few(counts.parents)),
        ("Independent according to the stages", _first_few(counts.statements)),
        ("Independent whatever the probabilities", _independent(ceg, counts, variables)),
    ]
    return Explanation(tuple((title, sentences) for title, sentences in sections if sentences))


def _first_few(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the first sentences, and how many more there are."""
    first, more = tuple(sentences[:MOST]), len(sentences) - MOST
    return (*first, f"({more:,} more not shown)") if more > 0 else first


def _ordered(ceg: CompiledModel, counts: Counts) -> list[str]:
    indices = set(ceg.variable.tolist())
    names = {ceg.variables[index].name for index in indices if index >= 0}
    return [name for name in counts.order if name in names]


def _people(ceg: CompiledModel, counts: Counts) -> tuple[str, ...]:
    n, left_out = int(counts.n[0]), counts.n_left_out
    stages = len(np.unique(ceg.stage_id[:-1]))
    size = (
        f"CEG {ceg.name!r} has {counted(n, 'respondent')}, "
        f"{counted(ceg.graph.n_nodes - 1, 'position')} and {counted(stages, 'stage')}"
    )
    if left_out:
        are = agreeing(left_out, "are")
        size += f"; {counted(left_out, 'respondent')} of its survey {are} not in the tree"
    ended = n - int(counts.n[-1])
    if not ended:
        return (size,)
    do, why = agreeing(ended, "do"), "an answer is missing"
    if counts.is_conditioned:
        why += " or ruled out by the evidence"
    return (
        size,
        f"{counted(ended, 'respondent')} {do} not reach the end, because {why}",
    )


def _outcome(given: ConditionedModel, counts: Counts, last: str) -> tuple[str, ...]:
    """Return how probable the answers to the last question are, and at which positions."""
    ceg = given.ceg
    index = ceg.variable_index(last)
    nodes = np.flatnonzero(ceg.variable == index)
    n = int(counts.n[nodes].sum())
    (labels,), probability = distribution(given, [last])
    low, high = _limits_of(counts, [last], [labels], probability)
    each = [
        f"{label} {_share_text(*of_label)}"
        for label, *of_label in zip(labels, probability, low, high, strict=True)
    ]
    of_all = (
        f"{counted(n, 'respondent')} {'was' if n == 1 else 'were'} asked {last}, at "
        f"{counted(len(nodes), 'position')}; probabilities: {listed(each, most=MOST)}"
    )
    sentences = _mean_sentences(ceg, counts, counts.ordered, last) if counts.ordered else []
    is_last = ceg.edge_variable == index
    at = np.searchsorted(nodes, ceg.graph.source[is_last])
    table = np.zeros((3, len(nodes), len(ceg.variables[index].labels)))
    table[:, at, ceg.label[is_last]] = np.stack((ceg.probability, counts.low, counts.high))[
        :, is_last
    ]
    spread = np.round(table[0].max(axis=0) - table[0].min(axis=0), 12)
    for label in np.argsort(-spread, kind="stable")[: _MOST_LABELS if len(spread) > 2 else 1]:
        if spread[label] < _SMALLEST:
            break
        answer = f"{last} = {ceg.variables[index].labels[label]}"
        sentences.append(_extremes(ceg, counts, answer, nodes, table[:, :, label]))
    return of_all, *sentences


def _limits_of(
    counts: Counts,
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    probability: Floats,
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of labels, given those of all variables but the last."""
    if counts.intervals is None:
        unknown = np.full(len(probability), np.nan)
        return unknown, unknown
    limits = counts.intervals.of_answers(names, columns, probability, len(names) - 1)
    return limits.low, limits.high


def _share_text(probability: float, low: float, high: float) -> str:
    """Return a probability, and its interval if it has one."""
    text = f"{probability:.3f}"
    return text if np.isnan(low) else f"{text} ({low:.3f} to {high:.3f})"


def _mean_sentences(
    ceg: CompiledModel, counts: Counts, ordered: OrderedOutcome, last: str
) -> list[str]:
    """Return the mean score of the last answer, and where it is highest and lowest."""
    scale, average = scale_text(ordered.scores), mean_phrase(ordered.mean, ordered.n)
    sentences = [f"{last} is on average {average} on a scale {scale}"]
    is_last = ceg.edge_variable == ceg.variable_index(last)
    rows = zip(
        ceg.graph.source[is_last].tolist(),
        ceg.stage_id[ceg.graph.source[is_last]].tolist(),
        np.array(ceg.edge_labels, object)[is_last].tolist(),
        ceg.probability[is_last].tolist(),
        strict=True,
    )
    stage_of: dict[int, int] = {}
    edges = []
    for node, stage_id, label, probability in rows:
        stage_of[node] = stage_id
        edges.append((node, last, label, probability))
    means = mean_scores(edges, {last: ordered.scores})
    if len(set(means.values())) < 2:
        return sentences
    most, least = (
        _position_mean(ceg, counts, node, means[node], ordered.in_stages.get(stage_of[node]))
        for node in (max(means, key=means.__getitem__), min(means, key=means.__getitem__))
    )
    return [*sentences, f"{last} is on average highest at {most}; lowest at {least}"]


def _position_mean(
    ceg: CompiledModel, counts: Counts, node: int, mean: float, stage: MeanScore | None
) -> str:
    """Return a position with its mean score, and the interval of its stage."""
    middle, interval = mean_numbers(MeanScore(mean) if stage is None else stage)
    name = counts.stage_names.get(int(ceg.stage_id[node]), "")
    of_stage = f" (in stage {name}: {interval})" if interval else ""
    return f"{_position_text(ceg, counts, node)}: {middle}{of_stage}"


def _extremes(
    ceg: CompiledModel, counts: Counts, answer: str, nodes: Ints, shares: Floats
) -> str:
    """Return where an answer is most and least probable, and where it does not occur.

    ``shares`` has a column for each node: its probability, and the ends of the interval.
    """
    share = shares[0]
    occurs = np.flatnonzero(share > 0)
    most, least = (
        f"{_position_text(ceg, counts, int(nodes[i]))}: {_share_text(*shares[:, i])}"
        for i in (occurs[np.argmax(share[occurs])], occurs[np.argmin(share[occurs])])
    )
    if len(occurs) == 1:
        sentence = f"{answer} occurs only at {most}"
    else:
        sentence = f"{answer} is most probable at {most}; least probable at {least}"
    absent = [
        f"{ceg.names[node]} (n = {int(counts.n[node]):,})"
        for node in nodes[share <= 0].tolist()
    ]
    if not absent or len(occurs) == 1:
        return sentence
    return f"{sentence}; it does not occur at {listed(absent, most=MOST)}"


def _position_text(ceg: CompiledModel, counts: Counts, node: int) -> str:
    """Return a position with its respondents and the most probable path to it."""
    n = f"n = {int(counts.n[node]):,}"
    (history,) = most_probable_histories(ceg, [node])
    path = f"; most often after {listed(history, most=MOST)}" if history else ""
    return f"{ceg.names[node]} ({n}{path})"


def _associations(
    given: ConditionedModel, counts: Counts, variables: Sequence[str]
) -> tuple[str, ...]:
    """Return how the last answer varies with each earlier one, largest differences first."""
    ceg, last = given.ceg, variables[-1]
    by_spread: list[tuple[float, int, str]] = []
    labels = ceg.variables[ceg.variable_index(last)].labels
    for number, name in enumerate(variables[:-1]):
        (first, second), joint = distribution(given, [name, last])
        rows, answers = list(dict.fromkeys(first)), set(second) - {NOT_APPLICABLE}
        columns = [label for label in labels if label in answers]
        if not columns:
            return ()
        table = np.zeros((len(rows), len(columns)))
        total = np.zeros(len(rows))
        for one, other, mass in zip(first, second, joint.tolist(), strict=True):
            total[rows.index(one)] += mass
            if other in columns:
                table[rows.index(one), columns.index(other)] += mass
        share = table / total[:, None]
        spread = share.max(axis=0) - share.min(axis=0)
        column = int(np.argmax(np.round(spread, 12)))
        high, low = int(np.argmax(share[:, column])), int(np.argmin(share[:, column]))
        if spread[column] < _SMALLEST:
            continue
        two = [high, low]
        given_ones, asked = [rows[row] for row in two], [columns[column]] * 2
        compared = share[two, column]
        ends = _limits_of(counts, [name, last], [given_ones, asked], compared)
        cases = [
            f"{_share_text(*of_row)} for {_answer(ceg, counts, name, label)}"
            for label, *of_row in zip(given_ones, compared, *ends, strict=True)
        ]
        sentence = (
            f"{name}: the probability of {last} = {columns[column]} is {' and '.join(cases)}"
        )
        by_spread.append((-float(round(spread[column], 12)), number, sentence))
    return _first_few([sentence for _, _, sentence in sorted(by_spread)])


def _answer(ceg: CompiledModel, counts: Counts, name: str, label: str) -> str:
    """Return an answer with its respondents, where the counts of edges give them."""
    index = ceg.variable_index(name)
    labels = ceg.variables[index].labels
    n = 0
    if label in labels:
        is_answer = (ceg.edge_variable == index) & (ceg.label == labels.index(label))
        n += int(counts.n_taken[is_answer].sum())
    if label == NOT_APPLICABLE:
        if counts.n[0] != counts.n[-1]:
            return label
        n += int(counts.n[0] - counts.n[ceg.variable == index].sum())
    # Counts of an edge cannot know what evidence rules out further on.
    later = ", before later evidence" if counts.is_conditioned else ""
    return f"{label} (n = {n:,}{later})"


def _cuts_by_people(ceg: CompiledModel, counts: Counts) -> list[str]:
    """Return the statements of cuts with their respondents, most people first."""
    node_of = {name: node for node, name in enumerate(ceg.names)}
    sentences = []
    for number, cut in enumerate(useful_cuts(ceg, counts.stage_names)):
        n = sum(int(counts.n[node_of[name]]) for name in cut.positions)
        sentences.append((-n, number, f"{cut.statement} (n = {n:,})"))
    return [sentence for _, _, sentence in sorted(sentences)]


def _independent(
    ceg: CompiledModel, counts: Counts, variables: Sequence[str]
) -> tuple[str, ...]:
    """Return which pairs are independent, alone or given all answers before the later one."""
    with np.errstate(over="ignore"):
        n_paths_to = ceg.graph.forward(np.ones(len(ceg.graph.source)))
    sentences: list[tuple[int, int, str]] = []
    spent, n_skipped = 0.0, 0
    for later in range(len(variables) - 1, 0, -1):
        y = variables[later]
        at = ceg.variable == ceg.variable_index(y)
        if len(np.unique(ceg.stage_id[at])) == 1:
            continue
        n = int(counts.n[at].sum())
        for earlier in range(later):
            x = variables[earlier]
            others = [name for name in variables[:later] if name != x and not counts.statements]
            n_states = float(np.prod([_n_answers(ceg, name) for name in (x, y)]))
            cases = (
                [([], n_states), (others, n_paths_to[at].sum())] if others else [([], n_states)]
            )
            for given, n_histories in cases:
                cost = n_histories * len(ceg.probability)
                if spent + cost > _MOST_WORK:
                    n_skipped += 1
                    continue
                spent += cost
                answer = independence(ceg, y, x, given=given)
                if answer.holds and not answer.is_trivial:
                    sentence = _independence_sentence(x, y, given, n)
                    sentences.append((-n, len(sentences), sentence))
    first = _first_few([sentence for _, _, sentence in sorted(sentences)])
    if not n_skipped:
        return first
    return *first, f"({counted(n_skipped, 'pair')} not checked: the graph is too large)"


def _n_answers(ceg: CompiledModel, name: str) -> int:
    return len(ceg.variables[ceg.variable_index(name)].labels) + 1


def _independence_sentence(x: str, y: str, given: Sequence[str], n: int) -> str:
    known = (
        f"once {listed(given, most=4)} {agreeing(len(given), 'are')} known"
        if given
        else "if nothing else is known"
    )
    return f"{y} does not depend on {x} {known} (n = {n:,} asked {y})"
