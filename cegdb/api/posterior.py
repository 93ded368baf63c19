"""The posterior of the stagings of a tree, as its user sees it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cegdb import views
from cegdb.api.base import Displayed
from cegdb.errors import counted
from cegdb.report.summaries import posterior_text

if TYPE_CHECKING:
    import pandas as pd

    from cegdb.api.staged_tree import StagedTree
    from cegdb.stability.posterior import PosteriorFrames
    from cegdb.store import Store


class Posterior(Displayed):
    """How probable a staging is among all stagings: see `StagedTree.posterior`.

    Examples
    --------
    >>> import cegdb
    >>> staged = cegdb.open().demo("chds").staging
    >>> found = staged.posterior()
    >>> print(str(found).partition(": ")[2])
    the one shown has posterior probability 0.00018; a better one is known (+0.93 log)
    """

    def __init__(self, store: Store, staging: StagedTree, frames: PosteriorFrames) -> None:
        self._store = store
        self._name = staging.name
        self._known = staging._row()["summary"]["posterior"]
        self._frames = frames

    @property
    def probability(self) -> float:
        """Posterior probability of the staging; an upper bound where stagings were sampled."""
        return math.exp(self._known["log_probability"])

    @property
    def log_gain(self) -> float:
        """By how much the log posterior of the best staging known is larger; 0 if none is."""
        return float(self._known["log_gain"])

    @property
    def hyperstages(self) -> pd.DataFrame:
        """The posterior by hyperstage, as stored.

        Columns: ``staging``; ``variable`` (missing if it has several); ``n_situations`` whose
        stages are in question; ``n_stages`` of the staging, ``n_stages_best`` of the best one
        known, and ``mean_stages`` expected; ``probability`` of the stages shown (sampled: an
        upper bound); ``log_gain``, by how much the best stages known are better; ``log_total``,
        the log of the sum over all stagings (sampled: a lower bound), ``log_shown``,
        ``log_best``; ``method``, ``exact`` or ``sampled``; ``structure_prior``; of samples
        ``n_chains``, ``n_draws``, ``effective_size``, the largest ``max_difference`` between
        two chains in a co-staging probability, and ``seed``; ``hyperstage_id``.
        """
        where: dict[str, object] = {"staging": self._name}
        return views.view_frame(self._store, "hyperstage_posteriors", where, "hyperstage_id")

    @property
    def pairs(self) -> pd.DataFrame:
        """The pairs of situations that may share a stage: see `StagedTree.costagings`."""
        where: dict[str, object] = {"staging": self._name}
        return views.view_frame(self._store, "costagings", where, "vertex_id, other_id")

    @property
    def probabilities(self) -> pd.DataFrame:
        """The probabilities of each situation, averaged over all stagings; not stored.

        One row per situation and label. Columns: ``staging``; ``variable``; ``situation`` and
        ``path``; ``stage``; ``label``; ``n`` respondents of the situation who gave it;
        ``staged``, its probability in the staging; ``probability``, averaged over all stagings,
        with ``low`` and ``high``, which answer for the staging too; ``vertex_id``,
        ``label_id``.
        """
        return self._frames.probabilities.copy()

    @property
    def best(self) -> pd.DataFrame:
        """The best staging known, one row per situation in question; not stored.

        Columns: ``staging``; ``variable``; ``situation`` and ``path``; ``stage``;
        ``best_stage``; ``vertex_id``. To make it:
        ``tree.set_stages(posterior.best[["vertex_id", "best_stage"]])``.
        """
        return self._frames.best.copy()

    def __repr__(self) -> str:
        """Return how probable the staging is, and how far draws can be trusted."""
        prior = self._known["structure_prior"]
        shown = (
            f"staging {self._name!r}, among all stagings of its hyperstages (structure prior "
            f"{prior}): {posterior_text(self._known)}"
        )
        sampled = self.hyperstages.query("method == 'sampled'")
        if len(sampled):
            shown += (
                f"\n  {counted(len(sampled), 'hyperstage')} sampled: effective sample size at "
                f"least {sampled['effective_size'].min():.0f}; chains differ by up to "
                f"{sampled['max_difference'].max():.2g} in the probability that two situations "
                "share a stage"
            )
        return shown
