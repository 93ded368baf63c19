"""What may be wrong with columns and labels: it is reported, but changes nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from cegdb.errors import counted, joined, listed
from cegdb.findings import Finding
from cegdb.ingest.coding.levels import MANY_LEVELS
from cegdb.names import folded, invisible_ends

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.ingest.coding.variables import Variable
    from cegdb.ingest.settings import Settings

# Labels in lower case that hardly ever are answers: ingest warns of them.
_NO_ANSWER: Final = (
    "na", "n/a", "nan", "none", "null", "nil", ".", "-", "?", "missing", "unknown",
)  # fmt: skip
# These and more, with what they may mean, for the draft of a codebook.
MEANING_OF_LABEL: Final[dict[str, str]] = {
    **dict.fromkeys(_NO_ANSWER, "missing or structural"),
    **dict.fromkeys(
        (
            "--", "?", "??", "unknown", "not known", "dk", "d/k", "don't know", "dont know",
            "do not know", "can't say", "refused", "refusal", "declined", "ref", "no answer",
            "no response", "not answered", "not stated", "prefer not to say",
            "prefer not to answer", "rather not say", "missing", "undetermined", "unsure",
            "nr", "n.r.", "#n/a", "n.a.", "nan", "dk/na", "don't know/refused",
        ),
        "missing",
    ),
    **dict.fromkeys(
        (
            "not applicable", "does not apply", "inapplicable", "inap", "iap", "not asked",
            "skip", "skipped", "legitimate skip", "valid skip",
        ),
        "structural",
    ),
}  # fmt: skip
# Numbers that often stand for no answer if they are far from the others.
MISSING_CODES: Final = (
    *(digit * times for digit in "789" for times in range(1, 8)),
    *("96", "97", "98", "996", "997", "998", "9996", "9997", "9998"),
    *("-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"),
    *("-66", "-77", "-88", "-99", "-96", "-97", "-98", "-777", "-888", "-999", "-9999"),
)

_MOST_ENDS: Final = 5
_ROLE_OF_NAME: Final = {
    **dict.fromkeys(("freq", "frequency", "count", "counts", "n"), "count"),
    **dict.fromkeys(("weight", "weights", "wt", "wgt", "pweight", "poids"), "weight"),
}
ID_NAME: Final = re.compile(
    r"(.*[ _.-])?(id|ident|identifier|uuid|key|serial|idno)|(case|resp|row|person|hh|p)id",
    re.IGNORECASE,
)
WEIGHT_NAME: Final = re.compile(r"(.*[ _.-])?(weight|wt|wgt|pond|poids)s?\d*", re.IGNORECASE)


def guessed_role(name: str) -> str | None:
    """Return ``count`` or ``weight`` for a column whose name says so."""
    return _ROLE_OF_NAME.get(folded(name))


def similar_labels(labels: list[str]) -> list[list[str]]:
    """Return groups of labels that differ only in case or in what is blank around them."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(folded(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def label_findings(variables: list[Variable], settings: Settings) -> list[Finding]:
    """Return labels that may not be answers, or were declared but not found."""
    return [
        *(finding for variable in variables for finding in _label_findings(variable)),
        *_not_found("structural", settings.structural, variables),
        *_not_found("missing", settings.missing, variables),
    ]


def _label_findings(variable: Variable) -> list[Finding]:
    """Return what looks wrong with the labels of a variable."""
    name = variable.name
    hidden = [label for label in variable.values if invisible_ends(label)]
    found = [one._replace(variable=name) for one in variable.findings]
    found += [
        Finding(
            "labels",
            f"{name!r} has the answer {label!r} ({counted(n, 'row')}), kept as a label",
            f"if it means no answer, ingest with missing=[{label!r}] (--missing); if the "
            f"question did not apply, with structural=[{label!r}] (--structural)",
            n,
            name,
        )
        for label in variable.values
        if folded(label) in _NO_ANSWER and (n := variable.n_of("value", label))
    ]
    found += [
        Finding(
            "labels",
            f"{name!r} has the answers {listed(map(repr, group), most=10)}, which differ only "
            "in case or in spaces around them",
            "to count them as one answer, use recode",
            variable=name,
        )
        for group in similar_labels(variable.values)
    ]
    found += [
        Finding(
            "labels",
            f"the answer {label!r} to {name!r} begins or ends with what cannot be seen: "
            f"{invisible_ends(label)}; it is kept as it is",
            "to change it, use recode",
            variable=name,
        )
        for label in hidden[:_MOST_ENDS]
    ]
    if len(hidden) > _MOST_ENDS:
        n_more = len(hidden) - _MOST_ENDS
        sentence = f"{name!r} has {n_more:,} more answers with such ends"
        found.append(Finding("labels", sentence, "to change them, use recode", variable=name))
    if len(variable.values) > MANY_LEVELS:
        sentence = f"{name!r} has {len(variable.values):,} levels"
        found.append(Finding("levels", sentence, variable=name))
    if not variable.values:
        advice = "leave it out, unless a later wave has answers"
        found.append(Finding("levels", f"{name!r} has no answers", advice, variable=name))
    return found


def _not_found(
    kind: str, declared: Mapping[str, Sequence[str]], variables: list[Variable]
) -> list[Finding]:
    """Return the labels of a kind that were declared, but are in no cell."""
    n_of_label: dict[str, int] = {}
    names_of_label: dict[str, list[str]] = {}
    for variable in variables:
        for label in declared.get(variable.name, ()):
            n = max(variable.declared_labels().get(label, 0), variable.counts.get(label, 0))
            n_of_label[label] = n_of_label.get(label, 0) + n
            names_of_label.setdefault(label, []).append(variable.name)
    return [
        Finding(
            "columns",
            f"{kind} label {label!r} was not found in "
            + (
                "any column"
                if len(names_of_label[label]) == len(variables)
                else joined([repr(name) for name in names_of_label[label]], "or")
            ),
        )
        for label, n in n_of_label.items()
        if not n
    ]
