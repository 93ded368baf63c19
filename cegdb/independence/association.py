"""A test of independence of two survey variables, by Bayes factor and G-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from cegdb.errors import QueryError, agreeing, counted, items_of, joined, listed
from cegdb.evidence import answers, items
from cegdb.independence.contingency import Cells, g_test, largest_difference, log_bayes_factor
from cegdb.inference.queries import refuse_repeated
from cegdb.ingest.files.relation import find_columns
from cegdb.ingest.survey_version import survey_version
from cegdb.names import only_match
from cegdb.options import check_alpha
from cegdb.sqlfiles import Steps
from cegdb.tree.answer_columns import AnswerColumn, pair_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.evidence import Answer
    from cegdb.ingest.coding.variables import VariableVersion
    from cegdb.ingest.survey_version import SurveyVersion
    from cegdb.store import Store

GivenRows: TypeAlias = "str | Mapping[str, object] | Sequence[str | Mapping[str, object]]"

_HINT: Final = 'give {"smoker": "Current"}, names to stratify by, or a list of both'


class AnswerGroup(NamedTuple):
    """A group (one answer to the second variable), its n and its share of an answer."""

    label: str
    n: int
    share: float


@dataclass(frozen=True)
class IndependenceTest:
    """The result of a test of independence.

    Parameters
    ----------
    statement
        The independence that was tested.
    x, y
        The variable whose answers are compared, and the one that makes the groups.
    n, n_left_out
        Respondents counted, and those in the context without an answer.
    n_effective
        Effective number of respondents: Kish's with weights, divided by the design effect.
    n_strata
        Strata that have rows.
    log_bayes_factor
        Natural log of P(rows | independent) / P(rows | dependent): above 0 supports
        independence.
    alpha
        Prior mass of each stratum, shared equally among groups and answers.
    posterior_dependence
        Probability of dependence at even prior odds.
    g, df, p_value
        G-test: likelihood ratio statistic, degrees of freedom, upper tail of chi-squared.
    answer, stratum
        Where the shares of two groups differ most: for which answer to the first variable, and
        in which stratum.
    larger, smaller
        These two groups.
    difference, low, high
        Difference of their shares with Newcombe's hybrid score interval (95 %), which does not
        allow for choosing the largest difference.
    """

    statement: str
    x: str
    y: str
    n: int
    n_left_out: int
    n_effective: float
    n_strata: int
    log_bayes_factor: float
    alpha: float
    posterior_dependence: float
    g: float
    df: int
    p_value: float
    answer: str
    stratum: str
    larger: AnswerGroup
    smaller: AnswerGroup
    difference: float
    low: float
    high: float

    def row(self) -> tuple[list[str], list[object]]:
        """Return column names and values of one row, with groups spread out."""
        columns: dict[str, object] = {}
        for name, value in vars(self).items():
            if isinstance(value, AnswerGroup):
                columns |= {f"{name}_{part}": one for part, one in value._asdict().items()}
            else:
                columns[name] = value
        return list(columns), list(columns.values())

    def __str__(self) -> str:
        """Return the result as text."""
        left_out = (
            f"; {self.n_left_out:,} without an answer left out" if self.n_left_out else ""
        )
        effective = (
            "" if self.n_effective == self.n else f" (effective n = {self.n_effective:,.1f})"
        )
        dependence = self.posterior_dependence
        probability = "above 0.999" if dependence > 0.9995 else f"{dependence:.3g}"
        one, other = self.larger, self.smaller
        where = f" ({self.stratum})" if self.stratum else ""
        return (
            f"{self.statement}: {counted(self.n, 'respondent')}{effective}{left_out}\n"
            f"  log Bayes factor of independence {self.log_bayes_factor:.4g}; probability of "
            f"dependence {probability} at even prior odds (alpha = {self.alpha:g})\n"
            f"  G = {self.g:.4g}, {self.df} df, p = {self.p_value:.3g}\n"
            f"  largest difference{where}: the share of {self.x} = {self.answer} is "
            f"{one.share:.3f} among {self.y} = {one.label} (n = {one.n:,}) and "
            f"{other.share:.3f} among {self.y} = {other.label} (n = {other.n:,}); difference "
            f"{self.difference:.3f}, 95 % Newcombe interval {self.low:.3f} to {self.high:.3f}"
        )


class _SurveyVariable(NamedTuple):
    """A variable of the survey, its value labels, and the codes of each text."""

    name: str
    answered: AnswerColumn
    labels: list[str]
    codes: Mapping[str, Sequence[int]]


def independence_test(
    store: Store,
    survey_id: int,
    x: str,
    y: str,
    *,
    given: GivenRows = (),
    alpha: float | None = None,
) -> IndependenceTest:
    """Test whether the rows of a survey support X independent of Y, in a context.

    Shares of the answers to X are compared between the groups of Y. In ``given`` a mapping
    keeps the rows with these labels, names of variables stratify. ``alpha`` is the prior mass
    of each stratum; None takes the largest number of levels of a variable named.
    """
    # A stratum z with r answers to X and c to Y has prior mass a = alpha / (r c) in each cell.
    # Dependent: each group y has its own probabilities, prod_y DM(n_zxy; a). Independent: one
    # for all groups, DM(sum_y n_zxy; c a), as if groups of one stage were merged; DM is the
    # Dirichlet-multinomial. With weights a group counts as W^2 / sum w^2 respondents (Kish),
    # over the design effect of X where there are clusters.
    check_alpha(alpha, QueryError, hint=None)
    from scipy.special import expit

    with store.reading() as con, store.catalog() as catalog, Steps(con) as steps:
        survey = survey_version(catalog, survey_id)
        first, second, strata, context = _parse(survey, x, y, given)
        pair_answers(
            steps,
            survey_id,
            (first.answered, second.answered),
            [variable.answered for variable in strata],
            {variable.answered.ordinal: codes for variable, codes, _ in context},
        )
        rows = steps.fetch("answer_pair")
    conditions = [f"{variable.name} = {text}" for variable, _, text in context]
    statement = f"{first.name} and {second.name}"
    if strata:
        statement += f" given {listed(one.name for one in strata)}"
    if conditions:
        statement += f", where {', '.join(conditions)}"
    effects = survey.row["summary"].get("design_effects") or {}
    complete = [cell for cell in rows if cell[0] is not None]
    cells, codes = _cells_counted(complete, float(effects.get(first.name, 1.0)), statement)
    g, df, p_value = g_test(cells)
    mass = float(alpha or max(one.answered.n_values for one in (first, second, *strata)))
    log_factor = log_bayes_factor(cells, mass)
    widest = largest_difference(cells)
    return IndependenceTest(
        statement=statement,
        x=first.name,
        y=second.name,
        n=sum(cell[3] for cell in complete),
        n_left_out=sum(cell[3] for cell in rows if cell[0] is None),
        n_effective=fsum(cells.size),
        n_strata=len(codes),
        log_bayes_factor=log_factor,
        alpha=mass,
        posterior_dependence=float(expit(-log_factor)),
        g=g,
        df=df,
        p_value=p_value,
        answer=first.labels[widest.answer - 1],
        stratum=_stratum_text(strata, codes[widest.stratum]),
        larger=AnswerGroup(second.labels[widest.larger.group - 1], *widest.larger[1:]),
        smaller=AnswerGroup(second.labels[widest.smaller.group - 1], *widest.smaller[1:]),
        difference=widest.difference,
        low=widest.low,
        high=widest.high,
    )


def _parse(
    survey: SurveyVersion, x: str, y: str, given: GivenRows
) -> tuple[
    _SurveyVariable,
    _SurveyVariable,
    list[_SurveyVariable],
    list[tuple[_SurveyVariable, list[int], str]],
]:
    """Return X, Y, the strata, and the context with its codes."""
    names: list[str] = []
    where: dict[str, tuple[str, ...]] = {}
    parts = (
        [given]
        if isinstance(given, (str, Mapping))
        else items_of(given, "given", QueryError, hint=_HINT)
    )
    for part in parts:
        if isinstance(part, Mapping):
            for answer in cast("tuple[Answer, ...]", items(answers(part))):
                if answer.variable in where:
                    raise QueryError(
                        f"given has two conditions on {answer.variable!r}", hint=_HINT
                    )
                where[answer.variable] = answer.labels
        elif isinstance(part, str):
            names.append(part)
        else:
            raise QueryError(f"given contains {part!r}", hint=_HINT)
    exact = find_columns(
        list(survey.variables), [x, y, *names, *where], f"survey {survey.row['name']!r}"
    )
    refuse_repeated(exact, "X, Y and the variables given must differ")
    variables = [_survey_variable(name, survey.variables[name]) for name in exact]
    n_names = 2 + len(names)
    context = [
        (variable, *_codes_and_text(variable, labels))
        for variable, labels in zip(variables[n_names:], where.values(), strict=True)
    ]
    return variables[0], variables[1], variables[2:n_names], context


def _survey_variable(name: str, variable: VariableVersion) -> _SurveyVariable:
    labels: list[str] = []
    codes: dict[str, list[int]] = {}
    codes_of_source: dict[str, list[int]] = {}
    for code, (kind, label, texts, _) in enumerate(variable.levels, 1):
        if kind == "blank":
            continue
        if kind == "value":
            labels.append(label)
        codes.setdefault(label, []).append(code)
        for text in texts:
            codes_of_source.setdefault(text, []).append(code)
    # A label comes before a code of the source that is spelled the same.
    for text, known in codes_of_source.items():
        if len(known) == 1:
            codes.setdefault(text, known)
    return _SurveyVariable(name, AnswerColumn(variable.ordinal, len(labels)), labels, codes)


def _codes_and_text(variable: _SurveyVariable, labels: Sequence[str]) -> tuple[list[int], str]:
    codes: list[int] = []
    texts = []
    for label in labels:
        unknown = f"{variable.name!r} has no label {label!r}"
        texts.append(only_match(label, variable.codes, unknown, QueryError))
        codes += variable.codes[texts[-1]]
    return sorted(set(codes)), joined(texts, "or")


def _cells_counted(
    cells: Sequence[tuple[Any, ...]], effect: float, statement: str
) -> tuple[Cells, list[int]]:
    """Return the cells with a positive effective n, and the codes of their strata."""
    stratum, x, y, n = (np.array([cell[i] for cell in cells], np.int64) for i in range(4))
    size = n.astype(float)
    if cells and cells[0][4] is not None:
        group = np.unique(np.column_stack([stratum, y]), axis=0, return_inverse=True)[1]
        weight, squares = (np.array([cell[i] for cell in cells], float) for i in (4, 5))
        total, square = (
            np.bincount(group.ravel(), sums)[group.ravel()] for sums in (weight, squares)
        )
        size = np.divide(total * weight, square, out=np.zeros(len(n)), where=square > 0)
    counts = size > 0
    strata, z = np.unique(stratum[counts], return_inverse=True)
    table = Cells(z.ravel(), x[counts], y[counts], n[counts], size[counts] / effect)
    if not counts.any() or not g_test(table)[1]:
        raise QueryError(
            f"{statement}: no stratum has two groups and two answers to compare",
            hint=f"{counted(int(n.sum()), 'respondent')} {agreeing(int(n.sum()), 'have')} an "
            "answer to all of these variables: stratify by fewer of them, or widen the context",
        )
    return table, strata.tolist()


def _stratum_text(strata: Sequence[_SurveyVariable], code: int) -> str:
    answers = []
    for variable in reversed(strata):
        code, value = divmod(code, variable.answered.n_values)
        answers.append(f"{variable.name} = {variable.labels[value]}")
    return ", ".join(reversed(answers))
