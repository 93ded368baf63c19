"""A survey: its rows, trees of it, and orders of its variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cegdb.api.base import StoredObject
from cegdb.api.event_tree import EventTree
from cegdb.api.exploration import Exploration
from cegdb.api.order_search import OrderSearch
from cegdb.api.settings import options_from, takes
from cegdb.ingest import append, refresh
from cegdb.options import (
    TREES_LIKE,
    ExploreOptions,
    ExploreSettings,
    LikeOptions,
    NewRowsOptions,
    NewRowsSettings,
    OrderOptions,
    OrderSettings,
    ReadOptions,
    TreeOptions,
    TreeSettings,
    like_settings,
)
from cegdb.tree import event_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    import pandas as pd

    from cegdb.independence.association import GivenRows, IndependenceTest
    from cegdb.ingest import Source
    from cegdb.options import Kind


class Survey(StoredObject):
    """A survey: coded rows, its variables, and a receipt of what was read.

    Examples
    --------
    >>> import cegdb
    >>> with cegdb.open() as db:
    ...     survey = db.ingest("select unnest(['yes', 'no', 'yes']) as vote", name="polls")
    ...     survey.variables[["label", "n"]].head(2)
      label  n
    0    no  1
    1   yes  2
    """

    kind: Kind = "survey"

    @property
    def receipt(self) -> dict[str, object]:
        """Rows read, kept and dropped with the reason; cells by kind; hints."""
        receipt = self._row()["summary"]
        return dict(receipt) if isinstance(receipt, dict) else {}

    @property
    def seconds(self) -> float:
        """How long its ingest took."""
        return float(self._row()["seconds"])

    @property
    def variables(self) -> pd.DataFrame:
        """The levels of the variables, in level order.

        Columns: ``survey``; ``variable`` and its ``ordinal``; ``label``; ``kind`` (value,
        missing, blank or structural); ``n`` respondents' cells; ``code`` in the response
        table; ``level_id``, ``label_id``, ``variable_id``.
        """
        return self._frame("variables", "survey", "ordinal, code")

    @takes(NewRowsSettings, NewRowsOptions, ReadOptions)
    def append(
        self,
        source: Source,
        **settings: Unpack[NewRowsSettings],
    ) -> Survey:
        """Add the rows of another file, matched by column name.

        Parameters
        ----------
        source
            A file, several files, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`.
            Columns it lacks are empty in its rows; new columns become variables,
            empty in the former rows, unless columns were chosen at ingest.
        **settings
            Those of `NewRowsOptions` and `ReadOptions`.

        Returns
        -------
        Survey
            This one.

        Raises
        ------
        SurveyError
            The source lacks columns that are needed, or cannot be read.

        Notes
        -----
        The survey is then as if all its files had been read as one. Trees built before are
        stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     tree = survey.event_tree()
        ...     _ = survey.append("select unnest(['no', 'yes']) as vote")
        ...     print(survey.receipt["respondents"], tree.is_stale)
        3 True
        """
        options, reading = options_from(settings, NewRowsSettings, NewRowsOptions, ReadOptions)
        append(self._store, self.id, source, decimal=options.decimal, reading=reading)
        return self

    @takes(NewRowsSettings, NewRowsOptions, ReadOptions)
    def refresh(
        self,
        source: Source,
        **settings: Unpack[NewRowsSettings],
    ) -> Survey:
        """Replace the rows with those of a new snapshot.

        Parameters
        ----------
        source
            A file, several files, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`.
            It must have the columns chosen at ingest and those that a tree uses.
        **settings
            Those of `NewRowsOptions` and `ReadOptions`.

        Returns
        -------
        Survey
            This one.

        Raises
        ------
        SurveyError
            The source lacks columns that are needed, or cannot be read.

        Notes
        -----
        Trees built before are stale until `Database.rebuild`.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'yes' as vote", name="polls")
        ...     survey.refresh("select unnest(['no', 'yes']) as vote").receipt["respondents"]
        2
        """
        options, reading = options_from(settings, NewRowsSettings, NewRowsOptions, ReadOptions)
        refresh(self._store, self.id, source, decimal=options.decimal, reading=reading)
        return self

    @takes(TreeSettings, TreeOptions, LikeOptions)
    def event_tree(
        self,
        name: str | None = None,
        *,
        replace: bool = False,
        **settings: Unpack[TreeSettings],
    ) -> EventTree:
        """Build an event tree of variables in a given order [1]_.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the survey, with a number if it is
            taken.
        **settings
            Those of `TreeOptions` and `LikeOptions`.
        replace
            Replace a tree of that name, with everything built on it.

        Returns
        -------
        EventTree
            Without stages: `EventTree.learn_stages` or `EventTree.set_stages` gives them.

        Raises
        ------
        TreeError
            A variable or label is unknown, a setting is not one of its choices, or a path
            declared impossible has rows.

        Notes
        -----
        Paths are mappings of variables to labels, or lists of labels from the root; in
        ``impossible`` a list may have ``"*"`` for any label, and a mapping rules out all paths
        that have its labels.

        References
        ----------
        .. [1] A. Shenvi and J. Q. Smith (2020), Constructing a Chain Event Graph from a Staged
           Tree, section 2.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     survey = db.ingest("select 'a' as x, 'u' as y", name="one")
        ...     survey.event_tree(order=["y"])
        event tree 'one': 2 vertices, 1 situation, 1 leaf, height 1; 1 respondent
        """
        settings_of_tree, _ = like_settings(settings, TREES_LIKE)
        options = options_from(settings_of_tree, TreeSettings, TreeOptions)
        tree_id = event_tree(self._store, self.id, options, name=name, replace=replace)
        return EventTree(self._store, tree_id)

    @takes(ExploreSettings, ExploreOptions)
    def explore(self, outcome: str, **settings: Unpack[ExploreSettings]) -> Exploration:
        """Find the variables of a wide survey that say most about an outcome, and an order.

        Parameters
        ----------
        outcome
            Variable to explain: the others are screened for it, and it comes last.
        **settings
            Those of `ExploreOptions`.

        Returns
        -------
        Exploration
            ``frame`` has all variables with their Bayes factors, and why they are left out;
            ``event_tree`` builds the tree of the order.

        Raises
        ------
        TreeError
            The outcome cannot come last, or everybody gave the same answer to it.
        StagingError
            A setting of weights is not one of its choices.
        SurveyError
            A variable is unknown.

        Notes
        -----
        Variables are chosen one after the other. The configurations of those chosen are
        grouped into stages of the outcome, and the next variable is the one with the largest
        Bayes factor of dependence within the stages: a copy of one that is chosen adds nothing.
        Outcomes have Dirichlet-multinomial likelihoods, with a symmetric prior of mass 1 for
        each group. Two variables that say something only together
        are not found.

        Of m variables screened each has the prior probability 1/m (at most 1/2) of an
        association, so that one is expected [1]_. A variable is chosen from the posterior
        probability 0.9. The expected Bayes factor of a variable without association is 1, so
        at most 1/9 of one (a little more where m is small) is expected to get that far by
        chance.

        A variable that does not apply to some respondents is compared among the others, and its
        gate comes before it: the gate of its codebook, or else an earlier variable of the
        survey whose answers decide it. Left out are constants, identifiers (more than half as
        many labels as respondents), variables that the outcome decides, and those that tell
        nearly all (90 %) of the entropy of the outcome, as a copy of it would.

        The same rows choose the variables and show the associations, so these look stronger
        than they are.

        References
        ----------
        .. [1] Scott, J. G. and Berger, J. O. (2010). Bayes and empirical-Bayes multiplicity
           adjustment in the variable-selection problem. Annals of Statistics, 38, 2587-2619.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 7 as z, i % 6 = 0 as y from range(60) t(i)"
        ...     found = db.ingest(rows, name="one").explore("y")
        ...     print(found.order, found.frame.set_index("variable").reason["z"])
        ['x', 'y'] too little evidence
        """
        from cegdb.orders.exploration import explore

        options = options_from(settings, ExploreSettings, ExploreOptions)
        return Exploration(
            self._store, self.id, explore(self._store, self.id, outcome, options)
        )

    @takes(OrderSettings, OrderOptions)
    def search_orders(
        self,
        variables: Sequence[str] | None = None,
        **settings: Unpack[OrderSettings],
    ) -> OrderSearch:
        """Find the order of variables whose staged tree has the best score [1]_.

        Parameters
        ----------
        variables
            Variables to order, 2 to 60. Default: all of the survey.
        **settings
            Those of `OrderOptions`.

        Returns
        -------
        OrderSearch
            The best order, its score and ties, and tables of others; ``event_tree()`` of it
            builds the tree.

        Raises
        ------
        TreeError
            Too many variables, or the constraints contradict each other.
        StagingError
            A setting is not one of its choices, or the method does not fit the variables.
        SurveyError
            A variable is unknown.

        Notes
        -----
        The stages of a variable are learnt among the observed configurations of the set of
        variables before it. They do not depend on the order within the set, so k variables need
        ``k * 2**(k - 1)`` stagings for all ``k!`` orders; constraints make it fewer. The tree
        is that of ``event_tree(order, missing_policy="complete", sampling_zeros="floret")``,
        its stages those of ``learn_stages(prior="mass", criterion="score")``: a prior that does
        not favour any order.

        Only rows with an answer to every variable are used. A variable that does not apply to
        some respondents comes after its gate: the one its codebook declares, or else the
        earlier variable of the survey (of several, the one with the fewest levels) whose
        answers decide it. If nothing decides it, "not applicable" is an answer like others.

        The greedy search compares total scores of the same set of variables. (The search of the
        R package stagedtrees adds the variable with the best score so far; scores of different
        variables are of different data, so it prefers variables with few levels.)

        With each situation as its own stage every order has the same log marginal likelihood:
        differences come from the stages alone, and the best order is not evidence of a causal
        order.

        References
        ----------
        .. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for
           learning chain event graphs. Discovery Science, LNAI 8140, 201-216.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     rows = "select i % 2 as x, i % 6 = 0 as y from range(60) t(i)"
        ...     db.ingest(rows, name="one").search_orders(before=[("x", "y")])
        best order of 2 variables of survey 'one': x, y
        """
        from cegdb.orders.search import search_orders

        options = replace(
            options_from(settings, OrderSettings, OrderOptions), variables=variables
        )
        result = search_orders(self._store, self.id, options)
        return OrderSearch(self._store, self.id, result)

    def test_independence(
        self, x: str, y: str, *, given: GivenRows = (), alpha: float | None = None
    ) -> IndependenceTest:
        """Test in the rows whether X is independent of Y, also in a context.

        Parameters
        ----------
        x, y
            Variables: shares of the answers to X are compared between the groups that Y
            makes.
        given
            A mapping of variables to a label or labels keeps the rows that have them (the
            context; ``--where`` on the command line); names of variables stratify: X and Y are
            compared within each combination of their answers (``--by``). A list may hold both:
            ``["region", {"smoker": "Current"}]``.
        alpha
            Prior mass of each stratum, shared equally among groups and answers. Default: the
            largest number of levels of a variable named.

        Returns
        -------
        IndependenceTest
            ``log_bayes_factor`` (natural; above 0 speaks for independence),
            ``posterior_dependence`` at even prior odds; ``g``, ``df``, ``p_value``; the
            largest ``difference`` of shares between two groups, with its 95 % interval
            ``low`` to ``high`` (Newcombe), and the ``answer``, ``stratum`` and groups
            (``larger``, ``smaller``) where it is; ``n``; ``n_left_out``, rows without an
            answer; ``n_effective``.

        Raises
        ------
        QueryError
            A label is unknown, or there are no two groups and two answers to compare.

        Notes
        -----
        The Bayes factor compares Dirichlet-multinomial likelihoods of each stratum, with groups
        joined and apart; G is the likelihood-ratio statistic, summed over strata.

        Examples
        --------
        >>> import cegdb
        >>> with cegdb.open() as db:
        ...     cells = "i % 2 as sex, i % 8 < 3 as ill, i < 60 as young"
        ...     survey = db.ingest(f"select {cells} from range(80) t(i)")
        ...     print(survey.test_independence("ill", "sex", given={"young": True}))
        ill and sex, where young = True: 60 respondents
          log Bayes factor of independence -0.2385; probability of dependence 0.559 at even \
prior odds (alpha = 2)
          G = 4.511, 1 df, p = 0.0337
          largest difference: the share of ill = False is 0.733 among sex = 1 (n = 30) and \
0.467 among sex = 0 (n = 30); difference 0.267, 95 % Newcombe interval 0.019 to 0.473
        """
        from cegdb.independence.association import independence_test

        return independence_test(self._store, self.id, x, y, given=given, alpha=alpha)
