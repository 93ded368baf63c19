"""What the graph of a CEG says of independence, as the user asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.base import Named
from cegdb.api.inference import Askable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from cegdb.evidence import Asked
    from cegdb.independence.association import GivenRows, IndependenceTest
    from cegdb.independence.separation import Independence, Parts
    from cegdb.report.explanation import Counts, Explanation


class Independent(Named, Askable):
    """What a CEG says of independence."""

    def _stage_names(self) -> dict[int, str]:
        raise NotImplementedError

    def _survey_id(self) -> int:
        raise NotImplementedError

    def _counts(self) -> Counts:
        raise NotImplementedError

    def cuts(self) -> pd.DataFrame:
        """Return where the past no longer matters.

        Returns
        -------
        DataFrame
            One row a set of positions of which each path passes exactly one (a fine cut):
            ``kind`` and ``of`` (single ``position``, all of a ``variable``, all of a
            ``depth`` or ``height`` in edges); ``variable`` asked at all of them;
            ``positions``, ``stages`` as lists; ``is_cut``: these are all positions of
            the stages; ``statement`` in words. Sets that say nothing are left out.

        Notes
        -----
        O(edges) for positions, depths and heights, and for each variable [1]_.

        References
        ----------
        .. [1] Smith & Anderson (2008), Artificial Intelligence 172:42-68.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(80) t(i)")
        ...     print(survey.event_tree().learn_stages().to_ceg().cuts().statement[0])
        everybody passes w1: what comes after does not depend on what came before
        """
        import pandas as pd

        from cegdb.independence import cuts

        found = cuts.useful_cuts(self._conditioned().ceg, self._stage_names())
        return pd.DataFrame(found, columns=list(cuts.Cut._fields))

    def is_fine_cut(self, positions: Sequence[str | int]) -> bool:
        """Return whether each path passes exactly one of some positions.

        Then what comes after does not depend on what came before, given which is passed.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.is_fine_cut(["w1", "w2"]), ceg.is_fine_cut(["w1"])
        (True, False)
        """
        from cegdb.independence import cuts

        return cuts.is_fine_cut(self._conditioned().ceg, positions)

    def is_cut(self, stages: Sequence[str | int]) -> bool:
        """Return whether each path passes exactly one position of some stages.

        Then the next answer does not depend on what came before, given which stage it is.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.is_cut(["u1", "u2"]), ceg.is_cut(["u1"])
        (True, False)
        """
        from cegdb.independence import cuts

        return cuts.is_cut(self._conditioned().ceg, stages, self._stage_names())

    def independence(
        self, x: Parts, y: Parts, *, given: Parts = (), context: Asked | None = None
    ) -> Independence:
        """Return whether X is independent of Y given Z, for all values of the probabilities.

        Parameters
        ----------
        x, y, given
            Variables by name, one or several, or events: ``{"smoker": ["Never", "Former"]}``,
            `cegdb.evidence.visits`, `cegdb.evidence.takes`. A variable that a path lacks
            has the answer ``not applicable`` there.
        context
            Something known (as for `given` of a CEG): there X and Y are compared.

        Returns
        -------
        Independence
            ``holds`` for all values; ``is_trivial``, where each stratum leaves X or Y one
            answer only; ``false_positive_bound``, the probability that it is wrong;
            ``fitted``, the conditional mutual information in nats at the fitted
            probabilities; ``strata``, the same for each combination of answers of Z, those
            that differ most first (``frame`` as a DataFrame); ``statement``; ``str()`` is
            the answer in words.

        Raises
        ------
        QueryError
            A name is unknown or used twice, or the context is impossible or soft evidence.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 4 < 2 as y from range(80) t(i)")
        ...     print(survey.event_tree().learn_stages().to_ceg().independence("x", "y"))
        x independent of y: yes, whatever the probabilities of the stages (wrong with \
probability below 1e-35)
        """
        from cegdb.independence import separation

        return separation.independence(
            self._conditioned().ceg, x, y, given=given, context=context
        )

    def test_independence(
        self, x: str, y: str, *, given: GivenRows = (), alpha: float | None = None
    ) -> IndependenceTest:
        """Return whether the rows of its survey speak for X independent of Y.

        Names and labels are those of the survey; see `Survey.test_independence`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     round(ceg.test_independence("y", "x").posterior_dependence, 3)
        0.636
        """
        from cegdb.independence.association import independence_test

        return independence_test(self._store, self._survey_id(), x, y, given=given, alpha=alpha)

    def explain(self) -> Explanation:
        """Return what it says in sentences, the most consequential first.

        Returns
        -------
        Explanation
            Shows itself as text; ``frame`` has one row a sentence. Its people; at which
            positions the last answer is most and least probable; what goes with it; cuts;
            what each answer depends on, the last one first; what is independent by the
            stages, and what else is for all their probabilities. A few sentences of each,
            the others counted.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     survey.event_tree().learn_stages().to_ceg().explain()
        People:
          - CEG 'survey' has 80 respondents, 3 positions and 3 stages
        Answers to y:
          - 80 respondents are asked y, at 2 positions; probabilities: False 0.622, True 0.378
          - y = False is most probable at w2 (n = 40; mostly x = 1): 0.744; least probable \
at w1 (n = 40; mostly x = 0): 0.500
        Associations with y:
          - x: the probability of y = False is 0.744 if 1 (n = 40) and 0.500 if 0 (n = 40)
        What each answer depends on:
          - y depends on x in every context, for any two of its answers
        """
        from cegdb.report.explanation import explain

        return explain(self._conditioned().ceg, self._counts())
