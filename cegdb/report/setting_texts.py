"""How summaries and reports say the settings of an object."""

from __future__ import annotations

import json
from typing import Final

#: Kind of a stage -> how a summary says it.
STAGE_KINDS: Final = {
    "learnt": "learnt",
    "given": "given",
    "not_named": "not named",
    "single_edge": "with a single edge",
    "unobserved": "never observed",
}
#: Prior -> how a summary says it, and how the methods of a paper do.
PRIORS: Final = {
    "mass": (
        "prior divided among the edges from the root on",
        "divided equally among the edges of each floret, from the root on",
    ),
    "floret": (
        "prior anew in each floret",
        "which starts anew in each floret and is divided equally among its edges",
    ),
    "path": (
        "prior divided equally among the paths to the leaves",
        "divided equally among the paths from the root to the leaves",
    ),
    "stage": (
        "prior anew in each stage",
        "which starts anew in each stage and is divided equally among its labels",
    ),
}
#: Weighting -> how a summary says it, and how the methods of a paper do.
WEIGHTING: Final = {
    "situation": (
        "rescaled in each situation to its effective sample size (Kish)",
        (
            "in scores and probabilities, weights are rescaled in each situation to its "
            "effective sample size (Kish, 1965)"
        ),
    ),
    "global": (
        "rescaled by one factor to the effective sample size (Kish)",
        (
            "in scores and probabilities, all weights are rescaled by one factor to the "
            "effective sample size (Kish, 1965)"
        ),
    ),
    "total": (
        "rescaled to sum to the number of respondents",
        "in scores and probabilities, weights are rescaled to sum to the number of respondents",
    ),
    "none": (
        "not used in scores and probabilities",
        "they are not used in scores and probabilities",
    ),
}
#: Method of learning -> how the methods of a paper say it.
METHODS: Final = {
    "ahc": "agglomerative hierarchical clustering (AHC; Freeman and Smith, 2011), which "
    "repeatedly merges the two stages whose merger improves the {score} most{until}",
    "auto": "agglomerative hierarchical clustering (AHC; Freeman and Smith, 2011), scored by "
    "the {score}; where there are very many situations, nearly equal ones were merged "
    "beforehand",
    "bhc": "backward hill climbing (as in Carli et al., 2022), scored by the {score}",
    "fbhc": "fast backward hill climbing (as in Carli et al., 2022), scored by the {score}",
    "csbhc": "context-specific backward hill climbing (as in later versions of the R package "
    "of Carli et al., 2022), scored by the {score}",
    "bj": "backward joining (as in Carli et al., 2022) of stages while their distance "
    "({distance}) is below {threshold:g}",
    "hc": "hill climbing (as in Carli et al., 2022), scored by the {score}",
    "exact": "an exact search for the optimum of the {score}",
    "ordinal": "an exact search for the optimum of the {score} among the stagings in which the "
    "stages of ordered answers are neighbours in their mean score",
    "hclust": "hierarchical clustering of the situations' probabilities (as in Carli et al., "
    "2022)",
    "kmeans": "k-means clustering of the situations' probabilities (as in Carli et al., 2022)",
}
#: What follows for methods of which tests decided how many stages there are.
TESTED: Final = (
    "; of the stages merged in this order, the fewest were kept in which no test of "
    "homogeneity at the {level:g} % level (Pearson's statistic and the count furthest out, "
    "with Bonferroni's correction) told the situations apart"
)
#: Hyperstages -> which situations could share a stage, as the methods of a paper say it.
HYPERSTAGES: Final = {
    "variable": "of the same variable with the same possible answers",
    "labels": "with the same possible answers, whatever their variable,",
    "height": "of the same height with the same possible answers",
    "paper": "at the same shortest distance to a leaf with the same possible answers",
}
GIVEN_HYPERSTAGES: Final = "of the same predefined group"
#: Kind of object, setting and its default -> how a report says that it was used.
DEFAULTS: Final = {
    ("tree", "blank", "auto"): "blank cells were classified by history (blank='auto')",
    ("tree", "missing_policy", "prefix"): "respondents count up to their first missing answer "
    "(missing_policy='prefix')",
    ("tree", "sampling_zeros", "auto"): "answers that nobody gave have an edge, unless they "
    "are presumed impossible (sampling_zeros='auto')",
    ("staging", "hyperstages", "variable"): "situations may share a stage if they have the "
    "same variable and the same labels (hyperstages='variable')",
    ("staging", "prior", "stage"): "each stage has the same prior, however many situations it "
    "has (prior='stage')",
    ("staging", "criterion", "test"): "situations are kept apart only where a test tells them "
    "apart (criterion='test')",
    ("staging", "weighting", "situation"): "weights are rescaled in each situation to its "
    "effective sample size (weighting='situation')",
    ("ceg", "stop", "early"): "the recursion stops when no more vertices merge, which does "
    "not change the result (stop='early')",
}


def setting_text(value: object, most: int) -> str:
    """Return the value of a setting, cut after ``most`` characters.

    Examples
    --------
    >>> setting_text("mass", 4), setting_text(["Risk", "Fall"], 8)
    ('mass', '["Risk",… (16 characters in all)')
    """
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    )
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters in all)"
