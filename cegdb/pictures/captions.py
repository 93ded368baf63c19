"""Captions of figures: what names, colours, numbers and widths mean, and what is left out.

Every sentence under a graph or a plot is written here; what stands inside a plot is in
`cegdb.pictures.plots`.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from cegdb.errors import agreeing, counted, joined
from cegdb.graphs.label_text import format_number, is_shared, one_line
from cegdb.inference.mean_scores import scale_text
from cegdb.options import PictureOptions
from cegdb.pictures.plot_data import END, REST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import EdgeInfo
    from cegdb.pictures.merge_data import Dendrogram, MergeCriterion, Merges
    from cegdb.pictures.plot_data import Block, Flow, OmittedSituations, Overlap, Stages

_KINDS: Final = {
    "ceg": "Chain Event Graph",
    "staged_tree": "Staged tree",
    "event_tree": "Event tree",
}
_NUMBERS: Final = {
    "probability": "its probability (posterior mean)",
    "count": "the number of people who gave it",
    "prior": "its prior count",
    "posterior": "its posterior count (prior and people)",
}
GAINS: Final = {
    "log_marginal_likelihood": "log Bayes factor",
    "bic": "half the decrease in BIC",
    "aic": "half the decrease in AIC",
    "log_likelihood": "gain in log likelihood",
}
_COLOURS: Final = (
    "Stages of several situations are coloured; those of a single situation are white"
)
_READABLE: Final = 4.5  # points
_CUTS: Final[Mapping[MergeCriterion, str]] = {
    "score": "where no further merge improves the score",
    "size": "where the score, with the prior on the number of stages, is best",
    "test": "beyond which tests tell the situations of a stage apart",
}


def join_sentences(*parts: str) -> str:
    """Return sentences as a paragraph, empty ones left out."""
    return one_line(" ".join(f"{part}." for part in parts if part))


def cautions_note(titles: Sequence[str]) -> str:
    """Point at what to know before the numbers, by the kinds of findings.

    Examples
    --------
    >>> cautions_note(["missing answers"])
    'Before using these numbers, see the findings: missing answers'
    >>> cautions_note([])
    ''
    """
    return (
        f"Before using these numbers, see the findings: {'; '.join(titles)}" if titles else ""
    )


def scale_note(text_size: float | None) -> str:
    """Say how small the text of a figure is that was scaled down."""
    if text_size is None:
        return ""
    advice = "" if text_size >= _READABLE else ", too small to read in print"
    return f"Reduced to fit: text is {text_size:.1f} pt{advice}"


def omission_note(n_shown: int, n_omitted: int, word: str, n_people: int | None = None) -> str:
    """Say that only the largest are shown, and how many people the others have."""
    if not n_omitted:
        return ""
    which = {0: "none", 1: "the largest"}.get(n_shown, f"the {n_shown:,} largest")
    shown = f"Shown: {which} of {counted(n_shown + n_omitted, word)}"
    others = "" if n_people is None else f"; the others have {counted(n_people, 'person')}"
    return f"{shown}{others}"


# -----------------------------------------------------------------------------
# Graphs
# -----------------------------------------------------------------------------


def graph_caption(
    graph: Graph,
    *,
    edge_info: EdgeInfo = PictureOptions.edge_info,
    text_size: float | None = None,
) -> str:
    """Return the caption of a graph's figure; ``text_size`` in points if it was scaled down."""
    min_n = graph.graph.get("min_n")
    return join_sentences(
        _vertices(graph),
        order_sentence("Positions", _ordered_variables(graph)),
        *_edges(graph, edge_info),
        *_stages(graph),
        _collapsed(graph),
        f"… marks a number left out: fewer than {min_n} people, or a number that would reveal "
        "them"
        if min_n is not None
        else "",
        scale_note(text_size),
        cautions_note(graph.graph.get("cautions", ())),
    )


def _vertices(graph: Graph) -> str:
    kind = str(graph.graph.get("kind"))
    title = f"{_KINDS.get(kind, 'Graph')} '{graph.graph.get('name', '')}'"
    if given := str(graph.graph.get("given", "")):
        title += f" given {given}"
    first = next(iter(graph.nodes), None)
    if first is None:
        return f"{title}: nothing to draw"
    inner = (n for n, d in graph.nodes(data=True) if "variable" in d and "n_hidden" not in d)
    if kind == "ceg":
        examples = ", ".join(islice(inner, 2)) or first
        return (
            f"{title}, from left to right: each vertex ({examples}, …) is a position: the "
            "model gives people there the same future probabilities. The variable of a "
            "position heads its column; w∞ is the sink, where every path ends"
        )
    ends = (n for n, d in graph.nodes(data=True) if not {"variable", "n_hidden"} & set(d))
    leaf = next(ends, None)
    end = f"; {leaf} is a leaf" if leaf is not None and leaf != first else ""
    return (
        f"{title}, from left to right: {first} is a situation, and its variable heads the "
        f"column{end}"
    )


def _ordered_variables(graph: Graph) -> list[str]:
    """Return the variables of which several vertices have a mean score."""
    scored = Counter(d["variable"] for _, d in graph.nodes(data=True) if "mean" in d)
    return [name for name, n in scored.items() if n > 1]


def _edges(graph: Graph, edge_info: EdgeInfo) -> list[str]:
    if not graph.number_of_edges():
        return []
    shown = edge_info
    if shown == "probability" and graph.graph.get("kind") == "event_tree":
        shown = "count"
    column = {"count": "n", "posterior": "prior"}.get(shown, shown)
    has_number = any(column in data for *_, data in graph.edges(data=True))
    meaning = _NUMBERS.get(shown)
    if shown == "probability" and "given" in graph.graph:
        meaning = "its probability given this evidence"
    number = f", with {meaning}" if meaning and has_number else ""
    total = max((data.get("n") or 0 for _, data in graph.nodes(data=True)), default=0)
    width = (
        f"; its width is proportional to the number of people ({format_number(total)} in all)"
        if total
        else ""
    )
    lacks_counts = column == "prior" and not has_number
    return [
        f"Each arrow is an answer{number}{width}",
        f"Edges have no {shown} counts" if lacks_counts else "",
    ]


def _stages(graph: Graph) -> list[str]:
    example = next((d["stage"] for _, d in graph.nodes(data=True) if is_shared(d)), None)
    if example is None:
        return []
    is_ceg = graph.graph.get("kind") == "ceg"
    coloured = (
        f"Coloured vertices show their stage (such as {example}) below the name; the model "
        "gives vertices of one stage the same probabilities of the next answer"
    )
    return [
        coloured,
        "White positions are single situations with a stage of their own"
        if is_ceg
        else "White situations have a stage of their own",
    ]


def _collapsed(graph: Graph) -> str:
    attributes = graph.graph
    if not attributes.get("n_hidden"):
        return ""
    reasons = []
    if attributes.get("collapse_below"):
        reasons.append(f"fewer than {attributes['collapse_below']:,} people")
        if attributes.get("min_n"):
            reasons.append("a number left out")
    if attributes.get("top_variables"):
        reasons.append(f"after the first {counted(attributes['top_variables'], 'variable')}")
    why = f" ({' or '.join(reasons)})" if reasons else ""
    several = any(data.get("n_labels", 1) > 1 for *_, data in graph.edges(data=True))
    more = "; an arrow to or from a box may stand for several answers" if several else ""
    word = "position" if attributes.get("kind") == "ceg" else "situation"
    return (
        f"Dashed boxes stand for {counted(attributes['n_hidden'], word)} not drawn{why}{more}"
    )


# -----------------------------------------------------------------------------
# Stages and situations
# -----------------------------------------------------------------------------


def probabilities_caption(rows: Stages, variable: str, note: str) -> str:
    """Return the caption of the plot of stage probabilities."""
    kinds = {stage.kind for stage in rows.stages}
    n_hidden = sum(answer.probability is None for answer in rows.answers)
    return join_sentences(
        f"Probabilities of {variable} in its {counted(len(rows.stages), 'stage')}, one panel "
        "per label: dots are posterior means, lines are 95 % intervals of the "
        "share in the stage, whether or not its situations are alike; n is the number of "
        "people who reach the stage",
        _COLOURS,
        "The first panel has the mean score of each stage, on a scale "
        f"{scale_text(rows.scores)}; stages stand in its order"
        if rows.scores
        else "",
        "Squares: nobody gave another answer" if "single_edge" in kinds else "",
        "Diamonds: nobody in the stage gave an answer, so the dot is the prior mean"
        if "unobserved" in kinds
        else "",
        f"…: {counted(n_hidden, 'number')} hidden, because small counts could be calculated "
        f"from {'it' if n_hidden == 1 else 'them'}"
        if n_hidden
        else "",
        note,
    )


def situations_note(omitted: OmittedSituations, n_unknown: int = 0) -> str:
    """Return the note on situations left out, of which ``n_unknown`` have unknown shares.

    They are the smaller ones only if each has a known number of people.
    """
    n_shown = omitted.n_all - omitted.n_omitted
    if not omitted.n_omitted or not (omitted.n_hidden or n_unknown):
        return omission_note(n_shown, omitted.n_omitted, "situation", omitted.n_people)
    more = " (hidden counts not included)" if omitted.n_hidden else ""
    why = (
        f"; {counted(n_unknown, 'situation')} left out because nobody answered there or small "
        "counts are hidden"
        if n_unknown
        else ""
    )
    return (
        f"Shown: {n_shown or 'none'} of {counted(omitted.n_all, 'situation')}; the others have "
        f"{counted(omitted.n_people, 'person')}{more}{why}"
    )


def situations_caption(n: int, variable: str, marks: str, note: str) -> str:
    """Return the caption of a plot of situations, whose marks its form explains."""
    which = "The only situation of" if n == 1 else f"The {n:,} situations of"
    return join_sentences(f"{which} {variable}, {marks}", _COLOURS, note)


def order_sentence(what: str, variables: Sequence[str]) -> str:
    """Say that vertices or blocks of ordered answers stand in the order of their means.

    Examples
    --------
    >>> order_sentence("Positions", ["pain"])
    'Positions of pain stand in the order of their mean score, the lowest at the top'
    >>> order_sentence("Positions", [])
    ''
    """
    if not variables:
        return ""
    return (
        f"{what} of {joined(variables, 'and')} stand in the order of their mean score, the "
        "lowest at the top"
    )


ROW_MARKS: Final = (
    "one row per stage. Each circle is a situation, placed at the share of people who gave "
    "the answer; its area is proportional to the number of people (small circles are "
    "enlarged). The vertical line is the posterior mean of the stage; n is the number of "
    "people who reach it"
)
TRIANGLE_MARKS: Final = (
    "each a circle placed by the shares of its three answers. At a corner everybody gives that "
    "answer, on the opposite side nobody does. The scale of the left corner is at the bottom, "
    "that of the right corner at the right, that of the upper corner at the left. Areas are "
    "proportional to the number of people (small circles are enlarged). Each + is the "
    "posterior mean of the stage named beside it; thin lines lead to its situations"
)
PARALLEL_MARKS: Final = (
    "one axis per label and one line per situation, through the shares of its answers (wider "
    "for more people). Black lines with dots are the posterior means of the stages, which are "
    "named at the right; lines of neighbouring stages have different dashes"
)
NO_MARKS: Final = "none of which can be shown"


def costaging_caption(
    n: int, variable: str, source: str, note: str, *, has_unknown: bool, is_one: bool
) -> str:
    """Return the caption of the map of situations that share a stage."""
    if n < 2:
        which = "only one situation" if n else "no situation"
        return join_sentences(f"There is {which} of {variable} to show", _COLOURS, note)
    situations = f"{counted(n, 'situation')} of {variable}"
    return join_sentences(
        f"Pairs of the {situations}, dark if both are in one stage of this staging"
        if is_one
        else f"Share of {source} in which two of the {situations} are in one stage (darker: "
        "more often)",
        "Situations are sorted by their stage in this staging; black frames are its stages, "
        "named at the left where there is room",
        _COLOURS,
        "Crossed out: no replicate has people in both, or they can never share a stage"
        if has_unknown
        else "",
        note,
    )


def unlearnt_note(n_unlearnt: int) -> str:
    """Return the note on situations left out since their stage is not learnt."""
    return (
        f"{counted(n_unlearnt, 'situation')} left out because "
        f"{'its' if n_unlearnt == 1 else 'their'} stage is not learnt (a single answer, nobody "
        "there, or a given stage)"
        if n_unlearnt
        else ""
    )


# -----------------------------------------------------------------------------
# Flows and differences
# -----------------------------------------------------------------------------


def flow_caption(
    flow: Flow, word: str, note: str, given: str, *, stops: bool, text_size: float | None
) -> str:
    """Return the caption of a flow through stages or positions."""
    passes = any(ribbon.target_column > ribbon.source_column + 1 for ribbon in flow.ribbons)
    n_hidden = sum(ribbon.n_hidden for ribbon in flow.ribbons)
    coloured = (
        "Stages of several situations"
        if word == "stage"
        else "Positions whose stage has several situations"
    )
    return join_sentences(
        f"People through {word}s{f' given {given}' if given else ''}: one column per variable, "
        f"and one block per {word} with its name and the number of people who reach it",
        "Each ribbon is an answer; its width is proportional to the number of people who gave "
        "it. Long answers are cut with …; narrow ribbons have no text",
        f"{coloured} are coloured, and so are the ribbons that leave them; others are white",
        order_sentence(f"{word.capitalize()}s", _ordered_columns(flow)),
        "Grey blocks without a frame are people to whom that variable does not apply"
        if passes
        else "",
        f"{counted(n_hidden, 'number')} {agreeing(n_hidden, 'are')} hidden as small counts "
        "(dotted lines)"
        if n_hidden
        else "",
        "Where fewer people leave a block than reach it, the others stopped there or gave an "
        "answer that is not part of the graph"
        if stops and not n_hidden
        else "",
        note,
        scale_note(text_size),
    )


def _ordered_columns(flow: Flow) -> list[str]:
    """Return the columns in which several blocks have a mean score."""
    scored = Counter(block.column for block in flow.blocks if block.mean is not None)
    return [name for column, name in enumerate(flow.columns) if scored[column] > 1]


def flow_note(flow: Flow, word: str) -> str:
    """Return the note on nodes of a flow that are drawn as one block."""
    rests = [block for block in flow.blocks if block.block_id == REST]
    parts = [
        f"{counted(block.n_nodes, word)} with {_people(block.n, block.n_hidden)} at "
        f"{flow.columns[block.column] if block.column < len(flow.columns) else 'the end'}"
        for block in rests[:4]
    ]
    if not parts:
        return ""
    more = f"; likewise in {counted(len(rests) - 4, 'further column')}" if rests[4:] else ""
    return f"Drawn as one block: {'; '.join(parts)}{more}"


def block_text(block: Block) -> tuple[str, str]:
    """Return the name and the people that are written in a block."""
    name = counted(block.n_nodes, "other") if block.block_id == REST else block.name
    n = f"{block.n:,}" if block.n or not block.n_hidden else ""
    n += ("+…" if n else "…") if block.n_hidden else ""
    return "" if block.block_id == END else name, n


def _people(n: int, n_hidden: int) -> str:
    """Return how many people there are, of whom ``n_hidden`` counts are hidden."""
    if not n_hidden:
        return counted(n, "person")
    return (
        f"{counted(n, 'person')} and a hidden number more" if n else "a hidden number of people"
    )


def difference_caption(
    names: tuple[str, str],
    overlaps: Sequence[Overlap],
    unmatched: Sequence[Overlap],
    notes: Sequence[str],
) -> str:
    """Return the caption of the difference between two stagings."""
    first, second = names
    n_apart = sum(one.n_situations for one in unmatched)
    n_hidden = sum(one.n_hidden for one in overlaps)
    people = _people(sum(one.n for one in unmatched), sum(one.n_hidden for one in unmatched))
    return join_sentences(
        f"Stages of {first} (left) and {second} (right), by variable: the width of a ribbon is "
        "proportional to the number of people in both stages",
        "Stages are matched one to one so that matched stages share as many people as "
        "possible; matched stages have the same colour and are joined by a ribbon of that "
        "colour; hatched ribbons are people whose stages do not match",
        f"{counted(n_apart, 'situation')} with {people} "
        f"{agreeing(n_apart, 'are')} staged differently"
        if n_apart
        else "No situation is staged differently",
        "Unmatched stages of a single situation are white",
        f"{counted(n_hidden, 'situation')} with hidden small counts have dotted lines"
        if n_hidden
        else "",
        *notes,
    )


# -----------------------------------------------------------------------------
# Merges
# -----------------------------------------------------------------------------


def merges_caption(merges: Merges, *, is_named: bool, every: int) -> str:
    """Return the caption of the gains of merges."""
    named = ", named above the dot" if is_named else ""
    return join_sentences(
        "The gain of each merge of stages in the order made (above; "
        f"{GAINS[merges.score]}, natural logarithm) and the sum of gains (below)",
        f"The dashed line is the cut, after {counted(len(merges.made), 'merge')}, "
        f"{_CUTS[merges.criterion]}",
        further_note(merges),
        f"Each dot has the colour of the stage that the merge is part of{named}"
        if merges.made
        else "",
        "The upper scale is linear from -1 to 1 and logarithmic beyond",
        f"One in {every:,} of the merges made is drawn" if every > 1 else "",
        hidden_note(merges),
    )


def dendrogram_caption(dendrogram: Dendrogram) -> str:
    """Return the caption of a dendrogram."""
    merges = dendrogram.merges
    cut = (
        "The dashed line is the cut at 0: merges to its left were made, and the branches that "
        "cross it are the stages, named there"
        if merges.criterion == "score"
        else "The dashed line is 0; merges were made up to the stages that are named, "
        f"{_CUTS[merges.criterion]}"
    )
    return join_sentences(
        "Situations and the stages they were merged into, by variable. Two branches meet at "
        f"the {GAINS[merges.score]} of their merge (natural logarithm; the scale is linear "
        "from -1 to 1 and logarithmic beyond), but never before the merges within them",
        f"{cut}. The number beside a situation is its number of people",
        _COLOURS,
        further_note(merges),
        *dendrogram_notes(dendrogram),
    )


def dendrogram_notes(dendrogram: Dendrogram) -> list[str]:
    """Return the notes on what a dendrogram leaves out or folds."""
    leaves = [leaf for root in dendrogram.roots for leaf in root.leaves()]
    several = ""
    if any(leaf.start < 0 for leaf in leaves):
        several = "; a branch that begins beyond the cut is several stages"
    n_trees, n_single = dendrogram.n_trees_omitted, dendrogram.n_single
    return [
        f"{counted(dendrogram.n_folded, 'further leaf')} "
        f"{agreeing(dendrogram.n_folded, 'are')} folded into those that say “and n more”"
        f"{several}"
        if dendrogram.n_folded
        else "",
        f"Not shown: {counted(n_trees, 'further tree')}; the plot of one variable has more room"
        if n_trees
        else "",
        f"Not shown: {counted(n_single, 'stage')} that {agreeing(n_single, 'are')} not part of "
        "any merge"
        if n_single
        else "",
        hidden_note(dendrogram.merges),
    ]


def further_note(merges: Merges) -> str:
    """Say what is drawn beyond the cut."""
    if merges.why_incomplete:
        return f"Not all merges beyond the cut are shown: {merges.why_incomplete}"
    n = len(merges.further)
    if not n:
        return "" if merges.n_hidden else "Nothing is left to merge beyond the cut"
    following = (
        "the next merge, of the pair that loses least"
        if n == 1
        else f"the {n:,} merges that would follow if the pair that loses least were merged "
        "each time"
    )
    return (
        f"Beyond the cut: {following}; calculated for this figure and not part of the staging"
    )


def hidden_note(merges: Merges) -> str:
    """Say how many merges were left out, if any were."""
    if not merges.n_hidden:
        return ""
    return (
        f"{counted(merges.n_hidden, 'merge')} left out, in hyperstages with hidden small "
        f"counts that could be calculated from {'it' if merges.n_hidden == 1 else 'them'}"
    )
