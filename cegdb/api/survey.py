"""A survey: its rows, trees of it, and orders of its variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cegdb.api.base import StoredObject
from cegdb.api.event_tree import EventTree
from cegdb.api.order_search import OrderSearch
from cegdb.ingest import append, refresh
from cegdb.options import OrderOptions, ReadOptions, TreeOptions
from cegdb.tree import event_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from cegdb.independence.association import GivenRows, IndependenceTest
    from cegdb.ingest import Source
    from cegdb.options import (
        BadRows,
        Blank,
        DecimalSign,
        Deff,
        Method,
        MissingPolicy,
        SamplingZeros,
        ScoreName,
        Search,
        WeightChoice,
    )
    from cegdb.store.catalog import Kind
    from cegdb.tree import Path as TreePath


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

    def append(
        self,
        source: Source,
        *,
        decimal: DecimalSign | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: BadRows = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Add the rows of another file, matched by column name.

        Parameters
        ----------
        source
            A file, several files, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`.
            Columns it lacks are empty in its rows; new columns become variables,
            empty in the former rows, unless columns were chosen at ingest.
        decimal
            Decimal sign of this source. Default: the one given at ingest.
        encoding
            Text encoding of a CSV file, such as cp1252. Default: UTF-8.
        delimiter
            Character between the fields of a CSV file. Default: detected.
        quote
            Character around a quoted field of a CSV file; an empty text if there is
            none, so that quotes are part of the cells. Default: the double quote.
        escape
            Character that escapes the next one in a CSV file. Default: none.
        bad_rows
            What to do with rows of a CSV file that have the wrong number of fields
            or a broken quote: "error" refuses the file, "skip" leaves them out and
            lists them.
        sheet
            Sheet of a workbook: its name, or its number from 1. Default: the only
            one.

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
        reading = ReadOptions(encoding, delimiter, quote, escape, bad_rows, sheet)
        append(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def refresh(
        self,
        source: Source,
        *,
        decimal: DecimalSign | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        escape: str | None = None,
        bad_rows: BadRows = "error",
        sheet: str | int | None = None,
    ) -> Survey:
        """Replace the rows with those of a new snapshot.

        Parameters
        ----------
        source
            A file, several files, a DataFrame, an Arrow table or a SELECT, as for
            `Database.ingest`.
            It must have the columns chosen at ingest and those that a tree uses.
        decimal
            Decimal sign of this source. Default: the one given at ingest.
        encoding
            Text encoding of a CSV file, such as cp1252. Default: UTF-8.
        delimiter
            Character between the fields of a CSV file. Default: detected.
        quote
            Character around a quoted field of a CSV file; an empty text if there is
            none, so that quotes are part of the cells. Default: the double quote.
        escape
            Character that escapes the next one in a CSV file. Default: none.
        bad_rows
            What to do with rows of a CSV file that have the wrong number of fields
            or a broken quote: "error" refuses the file, "skip" leaves them out and
            lists them.
        sheet
            Sheet of a workbook: its name, or its number from 1. Default: the only
            one.

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
        reading = ReadOptions(encoding, delimiter, quote, escape, bad_rows, sheet)
        refresh(self._store, self.id, source, decimal=decimal, reading=reading)
        return self

    def event_tree(
        self,
        name: str | None = None,
        *,
        order: Sequence[str] | None = None,
        blank: Blank = "auto",
        missing_policy: MissingPolicy = "prefix",
        sampling_zeros: SamplingZeros = "none",
        add_paths: Sequence[TreePath] = (),
        impossible: Sequence[TreePath] = (),
        gate_min_rows: int = 5,
        replace: bool = False,
    ) -> EventTree:
        """Build an event tree of variables in a given order [1]_.

        Parameters
        ----------
        name
            Name to store it under. Default: the name of the survey, with a number if it is
            taken.
        order
            Variables from the root. Default: all, in the order of the survey.
        blank
            What an empty cell means: "structural" (the question does not apply),
            "missing" (it applies, but the answer is not known) or "auto"
            (structural where at least `gate_min_rows` rows share the same answers
            so far and all of them are empty).
        missing_policy
            How a row with a missing answer counts: "prefix" (up to its first
            missing answer), "complete" (not at all) or "category" (missing is
            treated as an answer).
        sampling_zeros
            Answers that nobody gave: "none" leaves them out; "floret" gives each
            floret all levels of its variable, the new ones as leaves; "full" also
            expands these down to the last variable.
        add_paths
            Paths to add although no row has them. Variables left out before the
            last one named do not apply there.
        impossible
            Paths, or combinations of answers, that `sampling_zeros` must not add.
        gate_min_rows
            Smallest number of rows from which `blank` "auto" concludes that an
            empty cell is structural.
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
        event tree 'one': 2 vertices, 1 situation, 1 leaf, height 1; 1 row
        """
        options = TreeOptions(
            order=order,
            blank=blank,
            missing_policy=missing_policy,
            sampling_zeros=sampling_zeros,
            add_paths=add_paths,
            impossible=impossible,
            gate_min_rows=gate_min_rows,
        )
        tree_id = event_tree(self._store, self.id, options, name=name, replace=replace)
        return EventTree(self._store, tree_id)

    def search_orders(
        self,
        variables: Sequence[str] | None = None,
        *,
        tiers: Sequence[Sequence[str]] | None = None,
        before: Sequence[Sequence[str]] = (),
        method: Method = "ahc",
        score: ScoreName | None = None,
        alpha: float | None = None,
        search: Search = "auto",
        blank: Blank = "auto",
        weighting: WeightChoice = "situation",
        deff: Deff | None = None,
    ) -> OrderSearch:
        """Find the order of variables whose staged tree has the best score [1]_.

        Parameters
        ----------
        variables
            Variables to order, 2 to 60. Default: all of the survey.
        tiers
            Groups of variables: all of one group come before any of the next.
            Variables in no group may stand anywhere.
        before
            Pairs of variables: the first comes before the second.
        method
            How stages are learnt. "ahc" (agglomerative hierarchical clustering)
            merges the two stages that gain most until no merge improves the score;
            "auto" does the same, but starts from groups of similar situations where
            a hyperstage has more than 4,000 distinct florets. As in stagedtrees:
            "bhc" merges the best pair while nothing is lost, "fbhc" the first pair
            found; "csbhc" joins all stages over the answers to one earlier question
            in one context; "bj" joins the two nearest stages while their `distance`
            is below `threshold`; "hc" moves single situations, merges and splits
            stages; "hclust" and "kmeans" cluster the shares, fast and approximate.
            "exact" finds the optimum of BIC or AIC, for florets of two labels.
        score
            What is optimised. Default: log_marginal_likelihood for ahc and auto,
            bic for the other methods; for bj, which has no score, BIC compares the
            orders.
        alpha
            Prior mass of the root (equivalent sample size). Default: the largest
            number of levels of a variable.
        search
            How to search: "exact" (the best of all orders), "greedy" (a good one)
            or "auto" (exact, unless more than 250,000 situations would have to be
            staged).
        blank
            What an empty cell means: "structural" (the question does not apply),
            "missing" (it applies, but the answer is not known) or "auto"
            (structural where at least 5 rows share an answer to an earlier variable
            of the survey and all of them are empty).
        weighting
            What respondents of a weighted survey count in scores and probabilities:
            "situation" (those in a situation count as W^2 / Q people, where W is
            the sum of their weights and Q the sum of the squares: Kish), "global"
            (the same with one factor for the whole survey), "total" (weights scaled
            to sum to the number of respondents) or "none" (each counts 1).
        deff
            Design effect of a clustered sample, by which effective counts are
            divided: a number, or one for each variable. Default: estimated from the
            clusters of the survey.

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
        is that of ``event_tree(order, missing_policy="complete", sampling_zeros="floret")``.

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

        options = OrderOptions(
            variables=variables,
            tiers=tiers,
            before=before,
            method=method,
            score=score,
            alpha=alpha,
            search=search,
            blank=blank,
            weighting=weighting,
            deff=deff,
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
            context); names of variables stratify: X and Y are compared within each
            combination of their answers. A list may hold both:
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
        ill and sex, where young = True: 60 rows
          log Bayes factor of independence -0.2385; probability of dependence 0.559 at even \
prior odds (alpha = 2)
          G = 4.511, 1 df, p = 0.0337
          largest difference: the share of 'False' is 0.733 among '1' (n = 30) and 0.467 \
among '0' (n = 30); difference 0.267, 95 % Newcombe interval 0.019 to 0.473
        """
        from cegdb.independence.association import independence_test

        return independence_test(self._store, self.id, x, y, given=given, alpha=alpha)
