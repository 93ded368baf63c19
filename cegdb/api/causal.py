"""Interventions and their effects, as the user asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cegdb.api.base import Named
from cegdb.api.effect import Adjustment, Effect
from cegdb.api.inference import Askable
from cegdb.api.intervened import Intervened, actions_of
from cegdb.errors import QueryError, is_number, items_of
from cegdb.evidence import All, answers, evidence_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from cegdb.causal.interventions import Absent, Intervention
    from cegdb.evidence import Asked


class Causal(Named, Askable):
    """A CEG that can be intervened on."""

    def do(
        self,
        actions: Mapping[str, object] | None = None,
        /,
        *,
        absent: Absent = "error",
        **labels: object,
    ) -> Intervened:
        """Return the CEG after an intervention: some answers are set from outside.

        Parameters
        ----------
        actions
            Variable -> the label it is set to, or a distribution, label -> probability. In
            the place of a variable a position (``"w3"``), where no variable has that name.
        absent
            Where a position that can be reached lacks a label (a structural zero):
            ``"error"``, or ``"leave"`` it as it is.
        **labels
            Variable -> label, for names that are identifiers.

        Returns
        -------
        Intervened
            To be asked like the CEG; ``given`` observes after the intervention. It shows the
            assumption on which it rests.

        Raises
        ------
        QueryError
            A name or label is unknown, or a label is absent at a position; the CEG is
            conditioned on evidence.

        Notes
        -----
        The edges of the variable get the probabilities stated, all others keep theirs [1]_.
        Where the variable does not occur or apply, nothing is set.

        References
        ----------
        .. [1] P. Thwaites (2013), Causal identifiability via chain event graphs. Artificial
           Intelligence 195, 291-315.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     treated = ceg.do(x=1)
        ...     round(treated.probability(y=True), 4), treated.intervention
        (0.2561, 'x = 1')
        """
        from cegdb.causal import interventions as room
        from cegdb.inference import queries

        made = room.intervene(self._untouched(), actions_of(actions, labels), absent)
        return Intervened(self._graph(), made, queries.condition(made.ceg, All(())))

    def _untouched(self) -> Intervention:
        """Return the CEG with nothing set; refuse one that is conditioned."""
        from cegdb.causal import interventions as room

        if self._row()["staging_id"] is None:
            raise QueryError(
                f"CEG {self.name!r} is conditioned on evidence, and intervening after "
                "observing is no question to it",
                hint="intervene on the CEG it was made from, then give the evidence",
            )
        return room.untouched(self._conditioned().ceg)

    def positivity(
        self,
        treatment: str,
        between: Sequence[object] | None = None,
        *,
        given: Asked | None = None,
        least: float = 0.05,
    ) -> pd.DataFrame:
        """Return where a label of a treatment is impossible, or has a small probability.

        An effect rests there on few respondents, or on none.

        Parameters
        ----------
        treatment
            A variable.
        between
            Labels of it; all if left out.
        given
            Evidence on what comes before the treatment: only positions it leaves.
        least
            Probabilities below it are small.

        Returns
        -------
        DataFrame
            One row a position and label: ``position``; ``history``, the most probable way
            to it; ``label``; ``probability`` where the treatment applies, 0 without an
            edge; ``is_possible``, whether there is an edge; ``passed``, the probability to
            pass the position; ``n`` rows that reach it.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.positivity("y", least=0.3).drop(columns="history").round(3)
          position label  probability  is_possible  passed   n
        0       w2  True        0.256         True     0.5  40
        """
        import pandas as pd

        from cegdb.causal import interventions as room
        from cegdb.inference import queries

        ceg = self._untouched().ceg
        place = ceg.place(treatment)
        if not is_number(least) or not 0 <= least <= 1:
            raise QueryError(f"least is {least!r}", hint="give a number from 0 to 1: 0.05")
        labels = room.levels_of(ceg, place, _listed(between))
        group = _group(given)
        room.refuse_later(ceg, place, group)
        under = queries.condition(ceg, group)
        passed = np.bincount(under.product.node, under.smoothed, ceg.graph.n_nodes).astype(
            float
        )
        found = room.rare(ceg, place, labels, passed, float(least))
        histories = room.histories(ceg, [node for node, *_ in found])
        n = self._frame("positions", "ceg", "position_id").set_index("position")["n"]
        rows = [
            (name, history, label, probability, is_possible, passed[node], int(n[name]))
            for (node, label, probability, is_possible), history in zip(
                found, histories, strict=True
            )
            for name in [ceg.names[node]]
        ]
        columns = ["position", "history", "label", "probability", "is_possible", "passed", "n"]
        return pd.DataFrame(rows, columns=columns)

    def effect(
        self,
        treatment: str,
        outcome: Asked,
        between: Sequence[object] | None = None,
        *,
        given: Asked | None = None,
        absent: Absent = "error",
        least: float = 0.05,
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 1,
    ) -> Effect:
        """Return what setting a treatment does to the probability of an outcome.

        Parameters
        ----------
        treatment
            A variable.
        outcome
            An event: ``{"Fall": "Fall"}``.
        between
            Labels of the treatment to compare, each with the first; of a single one, all
            others with it; all if left out.
        given
            Evidence on what comes before the treatment: the effect in that group.
        absent
            As in `do`.
        least
            As in `positivity`.
        level, draws, seed
            Of the intervals: how many probability vectors are drawn from the Dirichlet
            posterior of each stage, 0 for no intervals. They are given the staging, so too
            narrow where it was learnt from the same rows.

        Returns
        -------
        Effect
            The probability of the outcome when each label is set, their differences (the
            average effect), what is only observed beside it, and where positivity is weak.

        Raises
        ------
        QueryError
            A name or label is unknown; the group is told by what may come after the
            treatment; a setting is not usable.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.effect("x", {"y": True}).differences.round(3)
          label against  effect    low   high  observed
        0     1       0  -0.244 -0.441 -0.043    -0.244
        """
        import pandas as pd

        from cegdb.causal import effects as effects_room
        from cegdb.causal import interventions as room
        from cegdb.inference import queries
        from cegdb.inference.compiled import NOT_APPLICABLE
        from cegdb.inference.sampling import checked_seed

        effects_room.checked_draws(level, draws)
        seed = checked_seed(seed)
        positivity = self.positivity(treatment, between, given=given, least=least)
        ceg, group, event = self._untouched().ceg, _group(given), evidence_of(outcome)
        room.refuse_soft(event)
        place = ceg.place(treatment)
        labels = room.levels_of(ceg, place, _listed(between))
        made = effects_room.interventions(ceg, treatment, labels, group, absent)
        found = effects_room.outcomes(ceg, treatment, made, event, group)
        drawn = np.full((1, len(labels)), np.nan)
        if draws:
            drawn = effects_room.drawn_outcomes(
                list(made.values()), event, group, self._masses(), draws, seed
            )
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(drawn, tails, axis=0)
        probabilities = pd.DataFrame(
            {
                "label": labels,
                "probability": found.under,
                "low": low,
                "high": high,
                "observed": found.seen,
            }
        )
        low, high = np.quantile(drawn[:, 1:] - drawn[:, :1], tails, axis=0)
        differences = pd.DataFrame(
            {
                "label": labels[1:],
                "against": labels[0],
                "effect": found.under[1:] - found.under[0],
                "low": low,
                "high": high,
                "observed": found.seen[1:] - found.seen[0],
            }
        )
        under = queries.condition(ceg, group)
        lacks = queries.probability_of(under, answers({treatment: NOT_APPLICABLE}))
        told = (
            f"{100 * level:.4g} % intervals: {draws:,} draws from the Dirichlet posterior of "
            f"each stage (seed {seed}), given the staging, so too narrow where it was learnt "
            "from the same rows"
        )
        return Effect(
            treatment,
            str(event),
            str(group),
            probabilities,
            differences,
            positivity,
            1 - lacks,
            told if draws else "",
            room.assumption(ceg, [treatment]),
        )

    def adjustment(
        self,
        treatment: str,
        outcome: str,
        by: str | Sequence[str] | None = None,
        *,
        between: Sequence[object] | None = None,
        given: Asked | None = None,
        absent: Absent = "error",
        seed: int = 1,
    ) -> Adjustment:
        """Return whether adjusting for variables gives the effect of a treatment.

        Parameters
        ----------
        treatment, outcome
            Variables.
        by
            Variables to adjust for, ``[]`` for none. Left out, the smallest sets of what
            comes before the treatment that work are searched for: sets of up to 3
            variables, 200 at most, then all of them.
        between
            Labels of the treatment; all if left out.
        given
            Events before the treatment: the question in that group. What needs adjusting
            for in general may need none there.
        absent
            As in `do`. A position that is left counts as it is under each label.
        seed
            Of the random parameters.

        Returns
        -------
        Adjustment
            The verdict with its reason, and the estimate beside the truth.

        Raises
        ------
        QueryError
            A name or label is unknown; variables have too many combinations of labels.

        Notes
        -----
        The back-door criterion of CEGs [1]_: for each combination z of labels, P(z || x) =
        P(z) and P(y || x, z) = P(y | x, z). ``not applicable`` is a label, and z tells also
        whether the treatment applies. It is decided for all probabilities that the stages
        may have, not only the fitted ones: both sides are polynomials in these, and compared
        at random points modulo 2^61 - 1 (two draws: a set that fails is called working with
        a probability below 10^-30; the reverse cannot happen). All that comes before the
        treatment always works, unless some of it comes after the treatment on other paths.

        References
        ----------
        .. [1] P. Thwaites (2013), Causal identifiability via chain event graphs. Artificial
           Intelligence 195, 291-315.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as z, i % 6 < 2 + i % 2 as x, i % 9 < 4 as y"
        ...     tree = db.ingest(f"{rows} from range(900) t(i)").event_tree()
        ...     ceg = tree.set_stages({}).to_ceg()
        ...     print(ceg.adjustment("x", "y", by=[]).verdict)
        ...     print(ceg.adjustment("x", "y").sets)
        no: y differs between those set to x = False and those seen with it
        [('z',)]
        """
        import pandas as pd

        from cegdb.causal import adjustment as adjusting
        from cegdb.causal import effects as effects_room
        from cegdb.causal import interventions as room
        from cegdb.inference import queries
        from cegdb.inference.sampling import checked_seed

        ceg, group = self._untouched().ceg, _group(given)
        room.refuse_soft(group)
        names = [] if by is None else queries.names_of(self._conditioned(), by)
        place, target, *places = adjusting.checked(ceg, treatment, outcome, names)
        room.refuse_later(ceg, place, group)
        labels = room.levels_of(ceg, place, _listed(between))
        effects_room.interventions(ceg, treatment, labels, group, absent)
        question = adjusting.Question(
            ceg, place, target, tuple(labels), group, checked_seed(seed)
        )
        known = [variable.name for variable in ceg.variables]
        sets, tries_all = ([tuple(places)], True) if by is not None else question.smallest()
        chosen = sets[0] if sets else tuple(question.predecessors())
        failure = question.failure(chosen)
        found = question.estimates(chosen)
        shape = (len(labels), len(found.answers))
        estimates = pd.DataFrame(
            {
                "label": np.repeat(labels, shape[1]).tolist(),
                "outcome": found.answers * shape[0],
                "adjusted": found.adjusted.ravel(),
                "truth": found.truth.ravel(),
                "observed": found.seen.ravel(),
            }
        )
        working = [] if failure else [tuple(known[i] for i in one) for one in sets]
        return Adjustment(
            treatment,
            outcome,
            tuple(known[i] for i in chosen),
            str(group),
            failure is None,
            failure or "",
            working,
            tries_all,
            estimates,
            room.assumption(ceg, [treatment]),
        )

    def _masses(self) -> dict[tuple[int, str], float]:
        from cegdb.stability.intervals import posterior_masses

        return posterior_masses(self._store, self._row()["staging_id"])


def _group(given: Asked | None) -> All:
    return All(()) if given is None else All((evidence_of(given),))


def _listed(between: Sequence[object] | None) -> list[object] | None:
    if between is None:
        return None
    return items_of(between, "between", QueryError, hint="give labels of the treatment")
