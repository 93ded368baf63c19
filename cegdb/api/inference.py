"""Questions to a CEG, as the user asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.notebook import Shown
from cegdb.api.rows import Answering
from cegdb.errors import QueryError, StaleError
from cegdb.evidence import All, answers, evidence_of, items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.api.results import Assigned
    from cegdb.evidence import Asked, Evidence
    from cegdb.inference.queries import Conditioned


class Askable:
    """What a CEG, and a CEG given evidence, can be asked."""

    def _conditioned(self) -> Conditioned:
        raise NotImplementedError

    def _graph(self) -> ChainEventGraph:
        raise NotImplementedError

    def given(self, *evidence: Asked, **labels: object) -> Given:
        """Return the CEG given that something is known of a person.

        Parameters
        ----------
        *evidence
            Mappings of variables to labels (or lists of labels), and what `cegdb.evidence`
            makes: positions passed, soft evidence, counts of events, their order.
        **labels
            Variable -> label, for names that are identifiers.

        Returns
        -------
        Given
            To be asked like the CEG.

        Raises
        ------
        QueryError
            The evidence has probability 0, or names what the CEG does not have.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     given = ceg.given(y=True)
        ...     round(given.probability_of_evidence, 4), round(given.probability(x=0), 4)
        (0.378, 0.6613)
        """
        from cegdb.inference import queries

        found = queries.condition(self._conditioned().ceg, self._joined(evidence, labels))
        return Given(found, self._graph())

    def _joined(self, evidence: Sequence[Asked], labels: Mapping[str, object]) -> Evidence:
        parts = [evidence_of(part) for part in evidence]
        if labels:
            parts.append(answers(labels))
        known = (self._conditioned().evidence, *parts)
        return All(tuple(item for part in known for item in items(part)))

    def probability(self, event: Asked | None = None, /, **labels: object) -> float:
        """Return the probability of an event.

        Parameters
        ----------
        event, labels
            As for `given`; all of it must hold.

        Returns
        -------
        float
            Posterior mean, exact; 0 of what cannot happen.

        Raises
        ------
        QueryError
            A variable, label or position is none of the CEG.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     round(ceg.probability({"y": True}), 4), round(ceg.probability(x=0, y=True), 4)
        (0.378, 0.25)
        """
        from cegdb.inference import queries

        parts = () if event is None else (evidence_of(event),)
        asked = All((*parts, answers(labels))) if labels else All(parts)
        return queries.probability_of(self._conditioned(), asked)

    def marginals(self, variables: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Return the probability of each label of variables.

        Parameters
        ----------
        variables
            Names; left out, all of the CEG.

        Returns
        -------
        DataFrame
            One row a label that some path has: ``variable``, ``label`` (``not applicable``
            where the variable does not occur), ``probability``.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.marginals("y").round(4)
          variable  label  probability
        0        y  False        0.622
        1        y   True        0.378
        """
        import pandas as pd

        from cegdb.inference import queries

        given = self._conditioned()
        rows: list[tuple[str, str, float]] = []
        for name in queries.names_of(given, variables):
            labels, probability = queries.marginal(given, name)
            rows += zip([name] * len(labels), labels, probability.tolist(), strict=True)
        return pd.DataFrame(rows, columns=["variable", "label", "probability"])

    def distribution(
        self, variables: str | Sequence[str], given: str | Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return the joint distribution of variables, alone or for each label of others.

        Parameters
        ----------
        variables
            Names.
        given
            Names of other variables: the probabilities are then conditional on each
            combination of their labels.

        Returns
        -------
        DataFrame
            One row a combination that some path has: a column for each variable, those of
            ``given`` first, then ``probability``. A variable called ``probability`` is
            refused: use `marginals`.

        Raises
        ------
        QueryError
            A name is unknown, or named twice.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.distribution("y", given="x").round(4)
           x      y  probability
        0  0  False       0.5000
        1  0   True       0.5000
        2  1  False       0.7439
        3  1   True       0.2561
        """
        import pandas as pd

        from cegdb.inference import queries

        conditioned = self._conditioned()
        before = queries.names_of(conditioned, given)
        names, columns, probability = queries.conditional(
            conditioned, before, queries.names_of(conditioned, variables)
        )
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        frame["probability"] = probability
        return frame

    def most_probable_paths(self, k: int = 1) -> pd.DataFrame:
        """Return the most probable paths.

        Parameters
        ----------
        k
            How many.

        Returns
        -------
        DataFrame
            The most probable first; equal ones in level order: ``rank`` from 1 on, ``path``
            in words, ``probability``, ``variables`` and ``labels`` as lists.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.most_probable_paths(2)[["rank", "path", "probability"]].round(4)
           rank              path  probability
        0     1  x = 1, y = False        0.372
        1     2  x = 0, y = False        0.250
        """
        import pandas as pd

        from cegdb.inference import queries

        given = self._conditioned()
        rows = []
        for rank, (edges, probability) in enumerate(queries.most_probable(given, k), start=1):
            variables, labels = queries.words(given, edges)
            path = ", ".join(f"{v} = {x}" for v, x in zip(variables, labels, strict=True))
            rows.append((rank, path, probability, variables, labels))
        return pd.DataFrame(
            rows, columns=["rank", "path", "probability", "variables", "labels"]
        )

    def expected_cost(self, costs: Mapping[str, Mapping[object, float]]) -> float:
        """Return the expected sum of what the edges of a path cost.

        Parameters
        ----------
        costs
            Variable -> label -> cost, or position (``"w3"``) -> label -> cost where no
            variable has that name. What is not named costs nothing.

        Raises
        ------
        QueryError
            A name or label is unknown, or a cost is no number.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     round(ceg.expected_cost({"y": {True: 100}}), 2)
        37.8
        """
        from cegdb.inference import queries

        return queries.expected_cost(self._conditioned(), costs)

    def sample(self, n: int, *, seed: int | None = None) -> pd.DataFrame:
        """Draw synthetic rows.

        Parameters
        ----------
        n
            How many.
        seed
            Of the random numbers: the same seed gives the same rows. Left out, one is drawn;
            ``frame.attrs["seed"]`` tells it.

        Returns
        -------
        DataFrame
            One column a variable, categorical in level order, blank (missing) where the
            variable does not occur.

        Raises
        ------
        QueryError
            ``n`` or ``seed`` is no whole number, or a position asks different variables.

        Notes
        -----
        Each stage's probabilities are its posterior means, so a sample varies less than new
        respondents would: how sure these probabilities are is no part of it.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     ceg.given(y=True).sample(1000, seed=1)["x"].value_counts().to_dict()
        {'0': 657, '1': 343}
        """
        import pandas as pd

        from cegdb.inference.sampling import checked_seed, sample

        seed = checked_seed(seed)
        columns = {
            name: pd.Categorical.from_codes(code, pd.Index(labels))
            for name, code, labels in sample(self._conditioned(), n, seed)
        }
        frame = pd.DataFrame(columns, index=pd.RangeIndex(n))
        frame.attrs["seed"] = seed
        return frame

    @property
    def n_paths(self) -> int:
        """Number of root-to-sink paths."""
        from cegdb.inference import queries

        return queries.n_paths(self._conditioned())


class Given(Askable, Answering, Shown):
    """A CEG given evidence: made by `ChainEventGraph.given`, asked like it."""

    def __init__(self, conditioned: Conditioned, graph: ChainEventGraph) -> None:
        self._found = conditioned
        self._of = graph

    def _graph(self) -> ChainEventGraph:
        return self._of

    def assign(self, *_: object, **__: object) -> Assigned:
        """Refuse: the situations and stages are those of the CEG without evidence."""
        raise QueryError(
            "evidence changes the probabilities of a CEG, so that its situations have other "
            "stages",
            hint="assign rows by the CEG itself; complete and score work given evidence",
        )

    def _conditioned(self) -> Conditioned:
        return self._found

    @property
    def evidence(self) -> str:
        """What is known, in words."""
        return str(self._found.evidence)

    @property
    def probability_of_evidence(self) -> float:
        """Probability of the evidence; of soft evidence, its expected likelihood."""
        return self._found.probability_of_evidence

    @property
    def positions(self) -> pd.DataFrame:
        """How probable it is to pass each position.

        Columns: ``position``; ``variable``; ``prior``, without the evidence; ``probability``
        given all of it (smoothed); ``position_id``.
        """
        import pandas as pd

        from cegdb.inference import queries

        names = ["position", "variable", "prior", "probability", "position_id"]
        return pd.DataFrame(queries.passed(self._found), columns=names)

    @property
    def progress(self) -> pd.DataFrame:
        """Where a person may be after so many edges.

        Columns: ``depth``; ``position``; ``filtered``, its probability given the evidence on
        the edges up to there; ``smoothed``, given all of it. Both sum to 1 for each depth;
        who has ended is in the sink.
        """
        import pandas as pd

        from cegdb.inference import queries

        names = self._found.ceg.names
        rows = [
            (depth, names[node], *pair) for depth, node, *pair in queries.by_depth(self._found)
        ]
        return pd.DataFrame(rows, columns=["depth", "position", "filtered", "smoothed"])

    def save(self, name: str | None = None, *, replace: bool = False) -> ChainEventGraph:
        """Save it as a CEG: to be drawn, exported, listed and asked in SQL like any other.

        Parameters
        ----------
        name
            Left out, that of the CEG with ``-given``.
        replace
            Drop a CEG of that name first.

        Returns
        -------
        ChainEventGraph
            Its positions are those that can be reached, as few as tell the future apart;
            stages are new: what asks the same with the same probabilities. Counts are the
            rows of the survey that reach it.

        Raises
        ------
        StaleError
            The CEG was made again since, or shows rows that were added to since.
        CegError
            It would replace the CEG it is made from.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select i % 2 as x, i % 8 < 3 as y from range(80) t(i)")
        ...     ceg = survey.event_tree().learn_stages().to_ceg()
        ...     saved = ceg.given(y=True).save("faller")
        ...     saved.edges[["source", "label", "target", "n", "probability"]].round(4)
          source label target   n  probability
        0     w0     0     w1  40       0.6613
        1     w0     1     w1  40       0.3387
        2     w1  True  w_inf  30       1.0000
        """
        from cegdb.api.chain_event_graph import ChainEventGraph
        from cegdb.inference.conditioned_ceg import save_conditioned

        of = self._of
        if of._conditioned().ceg is not self._found.ceg:
            raise StaleError(
                f"CEG {of.name!r} was made again since it was given {self.evidence}",
                hint="ask it again: ceg.given(...)",
            )
        found = save_conditioned(
            of._store,
            of.id,
            self._found.evidence,
            name=name,
            replace=replace,
        )
        return ChainEventGraph(of._store, found)

    def __repr__(self) -> str:
        """Return the CEG, the evidence, and its probability."""
        found = self.probability_of_evidence
        return f"CEG {self._found.ceg.name!r} given {self.evidence} (probability {found:.4g})"
