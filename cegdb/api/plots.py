"""Plots of staged trees and CEGs: ``staged.plot`` and ``ceg.plot``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, get_args

from cegdb.api.base import MOST_IN_CAPTION, MethodGroup
from cegdb.errors import StagingError
from cegdb.findings import titles
from cegdb.options import BootstrapKind, PlotOptions, check_choice

if TYPE_CHECKING:
    from cegdb.api.base import StoredObject
    from cegdb.api.chain_event_graph import ChainEventGraph
    from cegdb.api.staged_tree import StagedTree
    from cegdb.pictures import Picture
    from cegdb.pictures.merge_data import Merges


class StagingPlots(MethodGroup):
    """The plots of a staged tree: ``staged.plot.probabilities("Fall")``.

    Every plot is a `cegdb.Picture`: it shows itself in a notebook, has a ``caption`` and is
    written by ``save("plot.svg")`` (or ``.pdf``, ``.png``). ``min_n`` hides counts from 1 to
    ``min_n - 1``, those that would reveal them, and what was calculated from either.
    ``width_mm`` is the width in millimetres. What exceeds ``most`` is counted in the figure
    and its caption.

    Examples
    --------
    >>> import cegdb
    >>> staged = cegdb.open().demo("chds").staging
    >>> print(staged.plot.flow(width_mm=85).caption[:33])
    People through stages: one column
    """

    _purpose = "plots of a staging"

    def __init__(self, staging: StagedTree) -> None:
        self._staging = staging
        self._store = staging._store

    def _variables(self) -> list[str]:
        from cegdb.pictures.plot_data import variables_of

        return variables_of(self._store, int(self._staging._row()["tree_id"]))

    def _known(self, variable: object) -> str:
        from cegdb.pictures.plot_data import find_variable

        return find_variable(self._variables(), variable)

    def probabilities(
        self,
        variable: str,
        *,
        min_n: int | None = None,
        most: int = 40,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot the probabilities of a variable's stages, their intervals and people.

        Parameters
        ----------
        variable
            Whose stages.
        min_n, width_mm
            As for all plots: see `StagingPlots`.
        most
            The most stages, those with most people.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        QueryError
            No situation has that variable, or ``most`` or ``min_n`` is not a whole number in
            its range.
        GraphError
            No figure has that width.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.probabilities("Admission").caption[:43])
        Probabilities of Admission in its 2 stages,
        """
        from cegdb.pictures.plot_data import read_stages
        from cegdb.pictures.plots import draw_probabilities

        _check(most, "stages", width_mm)
        name = self._known(variable)
        stages = read_stages(self._store, self._staging._row(), name, min_n)
        return _cautioned(
            draw_probabilities(stages, name, width_mm=width_mm, most=most), self._staging
        )

    def situations(
        self,
        variable: str,
        *,
        min_n: int | None = None,
        most: int = 400,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot the situations of a variable by the shares of its answers, coloured by stage.

        With two labels each stage has a row; three make a triangle, more make parallel axes.

        Parameters
        ----------
        variable
            The variable of the situations.
        min_n, width_mm
            As for all plots: see `StagingPlots`.
        most
            The most situations, those with most people.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        QueryError
            No situation has that variable, or ``most`` or ``min_n`` is not a whole number in
            its range.
        GraphError
            No figure has that width.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.situations("Admission").caption[:39])
        The 12 situations of Admission, one row
        """
        from cegdb.pictures.plot_data import read_situations
        from cegdb.pictures.plots import draw_situations

        _check(most, "situations", width_mm)
        name = self._known(variable)
        plotted = read_situations(
            self._store,
            self._staging._row(),
            self._staging.tree.name,
            name,
            min_n,
            int(most),
        )
        return _cautioned(draw_situations(plotted, name, width_mm=width_mm), self._staging)

    def flow(
        self,
        *,
        min_n: int | None = None,
        most: int = 10,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot the people who go through the stages, a column per variable.

        Parameters
        ----------
        min_n, width_mm
            As for all plots: see `StagingPlots`; more variables than fit are scaled down.
        most
            The most stages of a variable, those with most people; the others are one block.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        QueryError
            ``most`` or ``min_n`` is not a whole number in its range.
        GraphError
            No figure has that width.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.flow().caption[:43])
        People through stages: one column per varia
        """
        from cegdb.pictures.plot_data import read_stage_flow
        from cegdb.pictures.plots import draw_flow

        _check(most, "stages", width_mm)
        stage_flow = read_stage_flow(
            self._store, self._staging._row(), self._variables(), min_n, int(most)
        )
        return _cautioned(draw_flow(stage_flow, "stage", width_mm=width_mm), self._staging)

    def merges(
        self,
        variable: str | None = None,
        *,
        min_n: int | None = None,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot what each merge of stages gained, and their sum, with the cut at 0.

        Beyond the cut it shows what the next merges would lose, calculated for the plot.

        Parameters
        ----------
        variable
            Whose stages. Default: all.
        min_n, width_mm
            As for all plots: see `StagingPlots`. A gain is calculated from counts: merges
            of a hyperstage with a hidden count are left out.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        StagingError
            The stages were not learnt by merging pairs.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.merges().caption[:31])
        The gain of each merge of stage
        """
        from cegdb.pictures.plots import draw_merges

        return _cautioned(
            draw_merges(self._merges(variable, min_n, 2, width_mm), width_mm=width_mm),
            self._staging,
        )

    def dendrogram(
        self,
        variable: str | None = None,
        *,
        min_n: int | None = None,
        most: int = 40,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot the tree of the merges of stages, cut at 0 into the stages there are.

        Parameters
        ----------
        variable
            Whose stages. Default: all.
        min_n, width_mm
            As for `merges`.
        most
            The most leaves; the first merges are folded into one leaf.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        StagingError
            The stages were not learnt by merging pairs.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.dendrogram("Admission").caption[:42])
        Situations and the stages they were merged
        """
        from cegdb.pictures.merge_data import read_dendrogram
        from cegdb.pictures.plots import draw_dendrogram

        merges = self._merges(variable, min_n, most, width_mm)
        dendrogram = read_dendrogram(self._store, self._staging.id, merges, min_n, int(most))
        return _cautioned(draw_dendrogram(dendrogram, width_mm=width_mm), self._staging)

    def _merges(
        self, variable: str | None, min_n: int | None, most: object, width_mm: float
    ) -> Merges:
        from cegdb.pictures.merge_data import read_merges

        _check(most, "leaves", width_mm)
        name = None if variable is None else self._known(variable)
        return read_merges(self._store, self._staging.id, name, min_n)

    def costaging(
        self,
        variable: str,
        *others: StagedTree,
        bootstrap: BootstrapKind | None = None,
        min_n: int | None = None,
        most: int = 120,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot how often two situations of a variable share a stage, as a map.

        Parameters
        ----------
        variable
            The variable of the situations.
        *others
            Stagings of the same tree: shares are of these and this one. Default: of the
            bootstrap replicates of `stability`; if that was not run, of this staging alone.
        bootstrap
            Which one to use if there are both: ``"nonparametric"`` or ``"parametric"``.
        min_n, width_mm
            As for all plots: see `StagingPlots`. Situations with hidden counts are left
            out.
        most
            The most situations, those with most people.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        StagingError
            A staging is of another tree, or there is no bootstrap of that kind.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> frame = staged.stability(runs=20)
        >>> print(staged.plot.costaging("Admission").caption[:32])
        Share of 20 bootstrap replicates
        """
        from cegdb.pictures.plot_data import read_members, read_pairs, read_situations
        from cegdb.pictures.plots import draw_costaging, shares_of_pairs, shares_of_stagings

        _check(most, "situations", width_mm)
        name = self._known(variable)
        boots = self._bootstraps(bootstrap, others)
        for other in others:
            if other.tree != self._staging.tree:
                raise StagingError(
                    f"{self._staging.name!r} and {other.name!r} are not of the same tree",
                    hint="give stagings of one tree",
                )
        plotted = read_situations(
            self._store,
            self._staging._row(),
            self._staging.tree.name,
            name,
            min_n,
            int(most),
            only_learnt=bool(boots),
        )
        ids = [one.vertex_id for one in plotted.situations]
        if boots:
            which, n_runs = boots[0]
            how = "bootstrap" if which == "nonparametric" else "simulated"
            of = f"{n_runs:,} {how} replicates"
            shares = shares_of_pairs(
                ids, read_pairs(self._store, self._staging.name, which, ids), of
            )
        else:
            stagings = [self._staging.id, *(other.id for other in others)]
            of = f"{len(stagings)} stagings" if others else "this staging"
            members = [read_members(self._store, one, ids) for one in stagings]
            shares = shares_of_stagings(ids, members, of)
        return _cautioned(
            draw_costaging(plotted, shares, name, width_mm=width_mm), self._staging
        )

    def _bootstraps(
        self, bootstrap: str | None, others: tuple[StagedTree, ...]
    ) -> list[tuple[str, int]]:
        from cegdb.views import view_rows

        if bootstrap is not None:
            check_choice("bootstrap", bootstrap, get_args(BootstrapKind), StagingError)
        if others:
            if bootstrap is not None:
                raise StagingError(
                    "a kind of bootstrap and other stagings are given", hint="give one of them"
                )
            return []
        rows = view_rows(
            self._store, "stage_bootstraps", {"staging": self._staging.name}, "kind"
        )
        stored = [(str(row["kind"]), int(str(row["n_runs"]))) for row in rows]
        if bootstrap is None:
            return stored
        if bootstrap not in dict(stored):
            raise StagingError(
                f"staging {self._staging.name!r} has no {bootstrap} bootstrap",
                hint=f"run it first: staged.stability({bootstrap!r}), cegdb stability",
            )
        return [(bootstrap, dict(stored)[bootstrap])]

    def difference(
        self,
        other: StagedTree,
        *,
        min_n: int | None = None,
        most: int = 10,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot how the stages of another staging of the tree differ from these.

        Stages are matched one to one so that they share as many people as possible; matched
        ones have the colour of the stage here.

        Parameters
        ----------
        other
            Another staging of the tree.
        min_n, width_mm
            As for all plots: see `StagingPlots`.
        most
            The most stages of a variable and staging; the others are one block.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        StagingError
            The stagings are of different trees.

        Examples
        --------
        >>> import cegdb
        >>> staged = cegdb.open().demo("chds").staging
        >>> print(staged.plot.difference(staged.full()).caption[:50])
        Stages of chds (left) and chds-full (right), by va
        """
        from cegdb.compare.comparability import stagings_of_one_tree
        from cegdb.pictures.plot_data import matched_stages, read_overlap, read_stages
        from cegdb.pictures.plots import StagingPair, draw_difference
        from cegdb.stages.build import PALETTE

        _check(most, "stages", width_mm)
        other_id = self._staging._beside(other)
        stagings_of_one_tree(self._store, self._staging.id, other_id)
        stages, others = (
            {
                stage.stage_id: stage
                for stage in read_stages(self._store, one._row(), None, min_n).stages
            }
            for one in (self._staging, other)
        )
        overlaps = read_overlap(self._store, self._staging.name, other_id, min_n)
        matched = matched_stages(overlaps)
        compared = StagingPair(
            (self._staging.name, other.name), stages, others, overlaps, matched
        )
        drawn = draw_difference(
            compared, self._variables(), PALETTE, width_mm=width_mm, most=int(most)
        )
        return _cautioned(drawn, self._staging, other)


class CegPlots(MethodGroup):
    """The plots of a CEG: ``ceg.plot.flow()``. See `StagingPlots` for what plots share.

    Examples
    --------
    >>> import cegdb
    >>> ceg = cegdb.open().demo("chds")
    >>> print(ceg.plot.flow(width_mm=85).caption[:36])
    People through positions: one column
    """

    _purpose = "plots of a CEG (those of its stages: ceg.staging.plot)"

    def __init__(self, ceg: ChainEventGraph) -> None:
        self._ceg = ceg

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say where the plots of stages are."""
            message = f"a CEG has no plot {name!r}"
            if name in vars(StagingPlots):
                message = f"{message}; its staging has: ceg.staging.plot.{name}"
            raise AttributeError(message, name=name, obj=self)

    def flow(
        self,
        *,
        min_n: int | None = None,
        most: int = 10,
        width_mm: float = PlotOptions.width_mm,
    ) -> Picture:
        """Plot the people who go through the positions, a column per variable.

        Parameters
        ----------
        min_n, width_mm
            As for all plots: see `StagingPlots`; more variables than fit are scaled down.
        most
            The most positions of a variable, those with most people; the others are one
            block.

        Returns
        -------
        Picture
            The figure with its ``caption``; ``save(path)`` writes it.

        Raises
        ------
        QueryError
            ``most`` or ``min_n`` is not a whole number in its range.
        GraphError
            No figure has that width.

        Examples
        --------
        >>> import cegdb
        >>> ceg = cegdb.open().demo("chds")
        >>> print(ceg.plot.flow().caption[:46])
        People through positions: one column per varia
        """
        from cegdb.pictures.plot_data import read_position_flow, variables_of
        from cegdb.pictures.plots import draw_flow

        _check(most, "positions", width_mm)
        ceg = self._ceg
        tree_id = ceg.staging.tree.id
        variables = variables_of(ceg._store, tree_id)
        stage_flow = read_position_flow(
            ceg._store, ceg._row(), tree_id, variables, min_n, int(most)
        )
        return _cautioned(
            draw_flow(stage_flow, "position", given=ceg._given(), width_mm=width_mm), ceg
        )


def _cautioned(picture: Picture, *of: StoredObject) -> Picture:
    """Add to a caption what to know before the numbers of one object or several."""
    from cegdb.pictures.captions import cautions_note, join_sentences

    found = sorted(
        (finding for one in of for finding in one._found()), key=lambda one: one.consequence
    )
    note = cautions_note(titles(found, most=MOST_IN_CAPTION))
    caption = " ".join(filter(None, (picture.caption, join_sentences(note))))
    return replace(picture, caption=caption)


def _check(most: object, what: str, width_mm: object) -> None:
    """Refuse settings of a plot before any work."""
    from cegdb.pictures.plot_data import check_most
    from cegdb.pictures.plots import check_width

    check_most(most, what)
    check_width(width_mm)
