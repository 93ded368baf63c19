"""Hill climbing over stagings: move, merge and split."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.clustering.best_pairs import Pairs
from cegdb.clustering.stage_sums import add_by, name_stages, share_of, slack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage, Score

MIN_GAIN = 1e-9
"""A step must raise the objective by more than this."""

MAX_AGAIN = 500
"""With more distinct situations than this no stage is given up: it would take too long."""

N_NEAR = 5
"""A stage is divided anew together with each of so many stages nearest to it."""


def climb(
    hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Take the step that raises the objective most, until no step raises it.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    score
        Its sum over stages and ``structure`` are the objective.
    structure
        Shape (situations + 1,), the log prior of a staging with that many stages, from 0
        up; all alike if it is flat.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation. The
        objective is never below that of the start.

    Notes
    -----
    The steps: two stages are merged; a situation moves to another stage, or to one of its
    own; a stage is split in two. Splits tried are those of its situations ordered by the
    share of each label, and along the line between two distant ones: for two labels and a
    penalised likelihood the best split is among them. Of equal steps a
    merge comes before a move and that before a split, then the smallest situations decide.

    Where no such step is left, two stages near each other are divided anew. Then, for up
    to 500 distinct situations, each stage in turn is given up, its situations going to
    the best of the others, and the climb goes on from there, if it ends higher.

    Situations alike that start together first move together, then each on its own. A step
    costs one evaluation for each situation and stage, more where what was best for
    a situation or a stage has changed.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage, Penalised
    >>> three = Hyperstage(
    ...     ids=np.array([4, 5, 6]),
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((3, 1), dtype=np.int64),
    ...     start=np.array([4, 4, 6]),
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> climb(three, Penalised(penalty=1.0), np.zeros(4))
    array([4, 5, 4])
    """
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    shares = share_of(hyperstage.sizes + hyperstage.prior, smoothing=0.0)
    contents = np.concatenate((hyperstage.counts, hyperstage.multiplicities), axis=1)
    _, content = np.unique(contents, axis=0, return_inverse=True)
    rows = np.arange(len(content))
    member = name_stages(rows, hyperstage.start)
    n_groups = len(rows) + 1
    # Those alike in a stage go together first: fewer steps to the same place.
    while True:
        twins = np.stack((member, content.reshape(-1)), axis=1)
        _, first, twin = np.unique(twins, axis=0, return_index=True, return_inverse=True)
        first, group = np.unique(first[twin.reshape(-1)], return_inverse=True)
        if len(first) == n_groups:
            break
        n_groups = len(first)
        together = add_by(group, terms, n_groups)
        climber = _Climber(together, shares[first], member[first], score, structure)
        member = name_stages(rows, _climb_again(climber)[group])
    if n_groups < len(rows):
        member = _ascend(_Climber(terms, shares, member, score, structure)).member
    return name_stages(hyperstage.ids, member)


def _ascend(climber: _Climber) -> _Climber:
    """Take steps until none is left."""
    while climber.step():
        pass
    return climber


def _climb_again(climber: _Climber) -> NDArray[np.int64]:
    """Climb, also from where one stage is given up, until that is better for none."""
    best = _ascend(climber)
    if len(best.member) > MAX_AGAIN:
        return best.member
    number = n_failed = 0
    while n_failed < best.n_stages > 1:
        _, first = np.unique(best.member, return_index=True)
        stage = int(best.member[np.sort(first)[number % best.n_stages]])
        tried = _ascend(best.without(stage))
        if tried.objective > best.objective + slack(best.objective):
            best, n_failed = tried, 0
        else:
            n_failed += 1
        number += 1
    return best.member


class _Split(NamedTuple):
    gain: float
    part: NDArray[np.int64]


class _Climber:
    """The staging reached, and what each step from it would gain.

    A stage lives in a slot. ``away[i]`` is what the stage of situation ``i`` gains when it
    leaves, ``gain[i]`` what its best other stage, ``target[i]``, gains when it comes.
    Situations alone in their stage do not move: that would be a merge.
    """

    def __init__(
        self,
        terms: NDArray[np.float64],
        shares: NDArray[np.float64],
        member: NDArray[np.int64],
        score: Score,
        structure: NDArray[np.float64],
    ) -> None:
        n_situations = len(terms)
        self.score = score
        self.structure = structure
        self.situation_terms = terms
        self.alone = score.value(terms)
        self.shares = shares
        self.member = np.unique(member, return_inverse=True)[1]
        n_stages = int(self.member.max(initial=-1)) + 1
        self.terms = np.zeros((n_situations + 1, terms.shape[1]))
        self.terms[:n_stages] = add_by(self.member, terms, n_stages)
        self.value = np.zeros(n_situations + 1)
        self.value[:n_stages] = score.value(self.terms[:n_stages])
        self.first = np.full(n_situations + 1, n_situations)
        self.splits: dict[int, _Split] = {}
        self.away = np.full(n_situations, -np.inf)
        self.gain = np.full(n_situations, -np.inf)
        self.target = np.full(n_situations, -1)
        self.n_stages = n_stages
        self.pairs = Pairs(self._merge_gains, n_situations + 1, n_stages)
        for slot in range(n_stages):
            self._look_at_members(slot)
        self._find_targets(np.flatnonzero(self.away > -np.inf))
        self.objective = float(self.value.sum() + structure[n_stages])

    def step(self) -> bool:
        """Take the best step; false if none is left."""
        fewer, more = (
            self.structure[min(max(m, 0), len(self.structure) - 1)]
            - self.structure[self.n_stages]
            for m in (self.n_stages - 1, self.n_stages + 1)
        )
        merge, kept, gone = self.pairs.find(self.first, slack)
        moves = self.away + self.gain
        leaves = self.away + self.alone
        slots = sorted(self.splits, key=lambda slot: int(self.first[slot]))
        splits = np.array([self.splits[slot].gain for slot in slots])
        gains = (
            merge + fewer,
            float(moves.max(initial=-np.inf)),
            float(leaves.max(initial=-np.inf)) + more,
            float(splits.max(initial=-np.inf)) + more,
        )
        best = max(gains)
        if not best > MIN_GAIN:
            return self._divide_anew()
        floor = best - slack(best)
        member = self.member.copy()
        if gains[0] >= floor:
            changed = [min(kept, gone, key=lambda slot: int(self.first[slot]))]
            freed = [gone if changed == [kept] else kept]
            member[member == freed[0]] = changed[0]
        else:
            freed = []
            new = int(np.flatnonzero(~self.pairs.taken)[0])
            if gains[1] >= floor:
                who = np.array([int((moves >= floor).argmax())])
                new = self._first_target(int(who[0]), floor)
            elif gains[2] >= floor:
                who = np.array([int((leaves + more >= floor).argmax())])
            else:
                who = self.splits[slots[int((splits + more >= floor).argmax())]].part
            changed = [int(member[who[0]]), new]
            member[who] = new
        return self._take(member, changed, freed)

    def _divide_anew(self) -> bool:
        """Divide two stages in another way, where no simple step is left."""
        slots = np.flatnonzero(self.pairs.taken)
        slots = slots[self.first[slots].argsort()]
        best, changed, seen = _Split(MIN_GAIN, slots[:0]), [-1, -1], set()
        for slot in slots:
            near = np.argsort(-self._merge_gains(int(slot), slots), kind="stable")
            for other in slots[near[: N_NEAR + 1]]:
                pair = frozenset((int(slot), int(other)))
                members = np.flatnonzero(np.isin(self.member, list(pair)))
                if len(pair) < 2 or len(members) < 3 or pair in seen:
                    continue
                seen.add(pair)
                split = self._split(members, float(self.value[slot] + self.value[other]))
                if split.gain > best.gain + slack(best.gain):
                    best, changed = split, [int(slot), int(other)]
        if not len(best.part):
            return False
        member = self.member.copy()
        member[member == changed[1]] = changed[0]
        member[best.part] = changed[1]
        return self._take(member, changed, [])

    def without(self, slot: int) -> _Climber:
        """Return a climber from where one stage is given up, each member going elsewhere."""
        members = np.flatnonzero(self.member == slot)
        slots = np.flatnonzero(self.pairs.taken)
        member = self.member.copy()
        member[members] = slots[self._come(members, slots).argmax(axis=1)]
        terms, shares = self.situation_terms, self.shares
        return _Climber(terms, shares, member, self.score, self.structure)

    def _take(self, member: NDArray[np.int64], changed: list[int], freed: list[int]) -> bool:
        """Go to a staging, unless rounding alone made it look better."""
        terms = np.array([self.situation_terms[member == slot].sum(axis=0) for slot in changed])
        value = self.value.copy()
        value[changed] = self.score.value(terms)
        value[freed] = 0.0
        n_opened = int((~self.pairs.taken[changed]).sum())
        n_stages = self.n_stages + n_opened - len(freed)
        objective = float(value.sum() + self.structure[n_stages])
        if objective <= self.objective:
            return False
        self.member, self.value, self.n_stages = member, value, n_stages
        self.terms[changed] = terms
        self.objective = objective
        for slot in freed:
            self.splits.pop(slot, None)
            self.first[slot] = len(member)
        for slot in changed:
            self._look_at_members(slot)
        self.pairs.change(changed, freed)
        self._renew_targets(changed, freed)
        return True

    def _merge_gains(self, slot: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        joined = self.score.value(self.terms[others] + self.terms[slot])
        gains: NDArray[np.float64] = joined - self.value[others] - self.value[slot]
        return gains

    def _look_at_members(self, slot: int) -> None:
        """Find what each member of a stage gains by leaving it, and its best split."""
        members = np.flatnonzero(self.member == slot)
        self.first[slot] = members[0]
        self.away[members] = -np.inf
        self.splits.pop(slot, None)
        if len(members) < 2:
            return
        # Sums of those before and of those after: no difference loses digits.
        terms = self.situation_terms[members]
        none = np.zeros((1, terms.shape[1]))
        before = np.concatenate((none, terms.cumsum(axis=0)[:-1]))
        after = np.concatenate((terms[::-1].cumsum(axis=0)[-2::-1], none))
        self.away[members] = self.score.value(before + after) - self.value[slot]
        if len(members) > 2:
            self.splits[slot] = self._split(members, float(self.value[slot]))

    def _split(self, members: NDArray[np.int64], value: float) -> _Split:
        """Return the best of the splits tried, the part without the first situation."""
        shares = self.shares[members]
        off = ((shares - shares.mean(axis=0)) ** 2).sum(axis=1)
        one = shares[off.argmax()]
        other = shares[((shares - one) ** 2).sum(axis=1).argmax()]
        orders = np.column_stack((shares, shares @ (one - other)))
        if shares.shape[1] == 2:
            orders = orders[:, :1]
        best = _Split(-np.inf, members[:0])
        for key in orders.T:
            order = np.argsort(key, kind="stable")
            terms = self.situation_terms[members[order]]
            low = self.score.value(terms.cumsum(axis=0)[:-1])
            high = self.score.value(terms[::-1].cumsum(axis=0)[-2::-1])
            gains = low + high - value
            cut = int(gains.argmax())
            if gains[cut] > best.gain + slack(value):
                lower, upper = order[: cut + 1], order[cut + 1 :]
                part = upper if 0 in lower else lower
                best = _Split(float(gains[cut]), members[np.sort(part)])
        return best

    def _renew_targets(self, changed: list[int], freed: list[int]) -> None:
        """Find the best targets again, after stages have changed."""
        is_mobile = self.away > -np.inf
        self.gain[~is_mobile] = -np.inf
        self.target[~is_mobile] = -1
        moved = np.isin(self.member, changed)
        stale = is_mobile & (moved | np.isin(self.target, changed + freed))
        self._find_targets(np.flatnonzero(stale | (is_mobile & (self.target < 0))))
        rest = np.flatnonzero(is_mobile & ~stale)
        for slot in changed:
            gains = self._come(rest, np.array([slot]))[:, 0]
            better = gains > self.gain[rest]
            self.gain[rest[better]] = gains[better]
            self.target[rest[better]] = slot

    def _find_targets(self, situations: NDArray[np.int64]) -> None:
        slots = np.flatnonzero(self.pairs.taken)
        # By blocks, so that memory stays small.
        n_blocks = 1 + len(situations) * len(slots) // 1_000_000
        for block in np.array_split(situations, n_blocks):
            gains = self._come(block, slots)
            self.target[block] = slots[gains.argmax(axis=1)]
            self.gain[block] = gains.max(axis=1)

    def _come(
        self, situations: NDArray[np.int64], slots: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return what stages (columns) gain when situations (rows) come to them."""
        joined = self.terms[slots] + self.situation_terms[situations][:, None, :]
        gains: NDArray[np.float64] = self.score.value(joined) - self.value[slots]
        gains[self.member[situations][:, None] == slots] = -np.inf
        return gains

    def _first_target(self, situation: int, floor: float) -> int:
        """Return the stage with the smallest situation that is as good as the best."""
        slots = np.flatnonzero(self.pairs.taken)
        gains = self._come(np.array([situation]), slots)[0] + self.away[situation]
        equals = slots[gains >= min(floor, float(gains.max()))]
        return int(equals[self.first[equals].argmin()])
