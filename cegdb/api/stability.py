"""How sure a staging is: stages learnt again on replicates, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb import views
from cegdb.api.pictures import Drawn

if TYPE_CHECKING:
    import pandas as pd

    from cegdb.stability.intervals import IntervalMethod
    from cegdb.stability.relearning import Kind


class Resampled(Drawn):
    """A staging whose stages can be learnt again on bootstrap replicates."""

    def stability(
        self, kind: Kind = "nonparametric", *, runs: int = 100, seed: int = 1
    ) -> pd.DataFrame:
        """Return how often situations are staged together when stages are learnt again.

        The stages are learnt, by the settings of this staging, on ``runs`` replicates of its
        rows; the database keeps how often each pair of situations was in one stage (view
        ``cegdb.stage_pairs``), until it is run again.

        Parameters
        ----------
        kind
            ``"nonparametric"``: rows drawn with replacement: what another sample might give.
            ``"parametric"``: rows simulated from these stages: how often they would be found
            if they were true.
        runs
            How many replicates; each costs as much as the learning.
        seed
            Of the random numbers: the same seed and rows give the same shares.

        Returns
        -------
        DataFrame
            One row a learnt stage. Columns: ``staging``; ``kind``; ``stage``; ``variable``;
            ``n_situations``; ``n_runs``; ``mean_share`` and ``min_share``, of the runs that
            staged two of its situations together (missing for a single one);
            ``max_share_outside``, the largest share of one of them with the situation
            ``outside`` of another stage, with its ``outside_path`` and ``outside_stage``;
            ``stage_id``, ``outside_id``.

        Raises
        ------
        StagingError
            The stages were given by hand, there are more than 2,000,000 pairs, or a setting
            is not usable.
        StoreError
            The database is open read-only.

        Notes
        -----
        Shares are of the runs in which rows reached both situations. How weights and design
        effects count is told at `cegdb.stability.bootstrap.stability`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 3 as x, i % 9 < 5 as y from range(900) t(i)")
        ...     staged = survey.event_tree().learn_stages()
        ...     staged.stability(runs=20)[["stage", "n_situations", "mean_share"]]
          stage  n_situations  mean_share
        0    u0             1         NaN
        1    u1             2         1.0
        2    u2             1         NaN
        """
        from cegdb.stability import bootstrap

        bootstrap.stability(self._store, self.id, kind, runs=runs, seed=seed)
        where: dict[str, object] = {"staging": self.name, "kind": kind}
        return views.view_frame(self._store, "stage_stability", where, "stage_id")

    @property
    def stage_pairs(self) -> pd.DataFrame:
        """The pairs of situations that may share a stage, once `stability` was run.

        Columns: ``staging``; ``kind`` of the bootstrap; ``variable``; ``situation`` and
        ``path``; ``other`` and ``other_path``; ``stage`` and ``other_stage``;
        ``is_together``, whether these are the same; ``n_runs`` in which rows reached both;
        ``n_together`` of these that staged them together; their ``share``; ``vertex_id``,
        ``other_id``.
        """
        return self._frame("stage_pairs", "staging", "kind, vertex_id, other_id")

    def intervals(
        self,
        method: IntervalMethod = "credible",
        *,
        level: float = 0.95,
        runs: int = 200,
        seed: int = 1,
    ) -> pd.DataFrame:
        """Return intervals of the probabilities; see `cegdb.stability.intervals.intervals`.

        Parameters
        ----------
        method
            Given the staging, so too narrow if it was learnt from the same rows:
            ``"credible"`` (Beta), ``"wilson"`` (each share alone), ``"goodman"`` (all shares
            of a stage at once). Learning the stages again: ``"bootstrap"`` (stored as the view
            ``cegdb.bootstrap_intervals``).
        level
            Between 0 and 1.
        runs, seed
            Of the bootstrap.

        Returns
        -------
        DataFrame
            One row a stage and label, or of the bootstrap a situation and label. Columns:
            ``staging``; ``stage``; ``situation`` and ``path`` (missing where a row is a
            stage); ``variable``; ``label``; ``n``, ``weight`` and ``share`` in the stage, or
            of the bootstrap at the situation; ``probability``, the posterior mean of the
            stage; ``low``, ``high``; ``method``; ``level``; ``given``, on what the interval is
            conditional.

        Raises
        ------
        StagingError
            A setting is not usable; of the bootstrap, what `stability` raises.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     staged = db.ingest("select i < 3 as x from range(9) t(i)").event_tree()
        ...     found = staged.learn_stages(alpha=2).intervals("goodman", level=0.9)
        ...     found[["stage", "label", "low", "high", "given"]].round(2)
          stage  label   low  high              given
        0    u0  False  0.35  0.88  given the staging
        1    u0   True  0.12  0.65  given the staging
        """
        from cegdb.stability import intervals as intervals_room

        return intervals_room.intervals(
            self._store, self.id, method, level=level, runs=runs, seed=seed
        )
