"""Hill climbing over stagings: merge, move and split.

A step merges two stages, moves a situation to another stage or to one of its own, or splits
a stage in two. The objective is the sum of the score over stages plus the log structure
prior of their number. Of equal steps a merge comes before a move and that before a split,
then the smallest situations decide.

Splits tried are those of the situations ordered by the share of each label, and along the
line between two distant ones: for two labels and a penalised likelihood the best split is
among them. Where no step is left, two stages near each other are divided anew; then each
stage in turn is dissolved, its situations going to the best of the others, and the climb
continues from there, if it ends higher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb.clustering.best_pairs import BestPairs
from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import shares_of, sum_by, tie_tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score

MIN_GAIN = 1e-9
"""A step must raise the objective by more than this."""

MAX_DISSOLVED = 500
"""Beyond this many distinct situations no stage is dissolved: it would take too long."""

N_NEAR = 5
"""How many stages near a stage it is divided anew with, one at a time."""


def climb(
    hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Take the step that raises the objective most, until no step raises it.

    ``structure`` is the log prior of a staging by its number of stages, from 0 up. The result
    is never worse than the start.
    """
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    shares = shares_of(hyperstage.sizes + hyperstage.prior, smoothing=0.0)
    contents = np.concatenate((hyperstage.counts, hyperstage.multiplicities), axis=1)
    _, content = np.unique(contents, axis=0, return_inverse=True)
    rows = np.arange(len(content))
    member = name_stages(rows, hyperstage.start)
    n_groups = len(rows) + 1
    # Situations of equal content that start together move together first, then on their
    # own: fewer steps to the same staging.
    while True:
        twins = np.stack((member, content.reshape(-1)), axis=1)
        _, first, twin = np.unique(twins, axis=0, return_index=True, return_inverse=True)
        first, group = np.unique(first[twin.reshape(-1)], return_inverse=True)
        if len(first) == n_groups:
            break
        n_groups = len(first)
        together = sum_by(group, terms, n_groups)
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
    """Climb, also from where one stage is dissolved, until that helps for none."""
    best = _ascend(climber)
    if len(best.member) > MAX_DISSOLVED:
        return best.member
    index = n_failed = 0
    while n_failed < best.n_stages > 1:
        _, first = np.unique(best.member, return_index=True)
        stage = int(best.member[np.sort(first)[index % best.n_stages]])
        tried = _ascend(best.dissolved(stage))
        if tried.objective > best.objective + tie_tolerance(best.objective):
            best, n_failed = tried, 0
        else:
            n_failed += 1
        index += 1
    return best.member


class _Split(NamedTuple):
    gain: float
    part: NDArray[np.int64]


class _Climber:
    """The staging reached, and what each step from it would gain.

    A stage lives in a slot. ``leave_gain[i]`` is what the stage of situation ``i`` gains
    when it leaves, ``join_gain[i]`` what its best other stage, ``target[i]``, gains when it
    comes. Situations alone in their stage do not move: that would be a merge.
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
        self.terms[:n_stages] = sum_by(self.member, terms, n_stages)
        self.value = np.zeros(n_situations + 1)
        self.value[:n_stages] = score.value(self.terms[:n_stages])
        self.first = np.full(n_situations + 1, n_situations)
        self.splits: dict[int, _Split] = {}
        self.leave_gain = np.full(n_situations, -np.inf)
        self.join_gain = np.full(n_situations, -np.inf)
        self.target = np.full(n_situations, -1)
        self.n_stages = n_stages
        self.pairs = BestPairs(self._merge_gains, n_situations + 1, n_stages)
        for slot in range(n_stages):
            self._update_members(slot)
        self._find_targets(np.flatnonzero(self.leave_gain > -np.inf))
        self.objective = float(self.value.sum() + structure[n_stages])

    def step(self) -> bool:
        """Take the best step; false if none is left."""
        fewer, more = (
            self.structure[min(max(m, 0), len(self.structure) - 1)]
            - self.structure[self.n_stages]
            for m in (self.n_stages - 1, self.n_stages + 1)
        )
        merge, kept, absorbed = self.pairs.find(self.first, tie_tolerance)
        moves = self.leave_gain + self.join_gain
        leaves = self.leave_gain + self.alone
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
            return self._redivide()
        floor = best - tie_tolerance(best)
        member = self.member.copy()
        if gains[0] >= floor:
            changed = [min(kept, absorbed, key=lambda slot: int(self.first[slot]))]
            freed = [absorbed if changed == [kept] else kept]
            member[member == freed[0]] = changed[0]
        else:
            freed = []
            new = int(np.flatnonzero(~self.pairs.taken)[0])
            if gains[1] >= floor:
                moved = np.array([int((moves >= floor).argmax())])
                new = self._first_target(int(moved[0]), floor)
            elif gains[2] >= floor:
                moved = np.array([int((leaves + more >= floor).argmax())])
            else:
                moved = self.splits[slots[int((splits + more >= floor).argmax())]].part
            changed = [int(member[moved[0]]), new]
            member[moved] = new
        return self._move_to(member, changed, freed)

    def _redivide(self) -> bool:
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
                if split.gain > best.gain + tie_tolerance(best.gain):
                    best, changed = split, [int(slot), int(other)]
        if not len(best.part):
            return False
        member = self.member.copy()
        member[member == changed[1]] = changed[0]
        member[best.part] = changed[1]
        return self._move_to(member, changed, [])

    def dissolved(self, slot: int) -> _Climber:
        """Return a climber without one stage, whose members go to the best of the others."""
        members = np.flatnonzero(self.member == slot)
        slots = np.flatnonzero(self.pairs.taken)
        member = self.member.copy()
        member[members] = slots[self._join_gains(members, slots).argmax(axis=1)]
        terms, shares = self.situation_terms, self.shares
        return _Climber(terms, shares, member, self.score, self.structure)

    def _move_to(self, member: NDArray[np.int64], changed: list[int], freed: list[int]) -> bool:
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
            self._update_members(slot)
        self.pairs.update(changed, freed)
        self._renew_targets(changed, freed)
        return True

    def _merge_gains(self, slot: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        joined = self.score.value(self.terms[others] + self.terms[slot])
        gains: NDArray[np.float64] = joined - self.value[others] - self.value[slot]
        return gains

    def _update_members(self, slot: int) -> None:
        """Find what each member of a stage gains by leaving it, and its best split."""
        members = np.flatnonzero(self.member == slot)
        self.first[slot] = members[0]
        self.leave_gain[members] = -np.inf
        self.splits.pop(slot, None)
        if len(members) < 2:
            return
        # Sums of those before and of those after: no difference loses digits.
        terms = self.situation_terms[members]
        none = np.zeros((1, terms.shape[1]))
        before = np.concatenate((none, terms.cumsum(axis=0)[:-1]))
        after = np.concatenate((terms[::-1].cumsum(axis=0)[-2::-1], none))
        self.leave_gain[members] = self.score.value(before + after) - self.value[slot]
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
            if gains[cut] > best.gain + tie_tolerance(value):
                lower, upper = order[: cut + 1], order[cut + 1 :]
                part = upper if 0 in lower else lower
                best = _Split(float(gains[cut]), members[np.sort(part)])
        return best

    def _renew_targets(self, changed: list[int], freed: list[int]) -> None:
        """Find the best targets again after stages have changed."""
        is_mobile = self.leave_gain > -np.inf
        self.join_gain[~is_mobile] = -np.inf
        self.target[~is_mobile] = -1
        moved = np.isin(self.member, changed)
        stale = is_mobile & (moved | np.isin(self.target, changed + freed))
        self._find_targets(np.flatnonzero(stale | (is_mobile & (self.target < 0))))
        rest = np.flatnonzero(is_mobile & ~stale)
        for slot in changed:
            gains = self._join_gains(rest, np.array([slot]))[:, 0]
            better = gains > self.join_gain[rest]
            self.join_gain[rest[better]] = gains[better]
            self.target[rest[better]] = slot

    def _find_targets(self, situations: NDArray[np.int64]) -> None:
        slots = np.flatnonzero(self.pairs.taken)
        # By blocks, so that memory stays small.
        n_blocks = 1 + len(situations) * len(slots) // 1_000_000
        for block in np.array_split(situations, n_blocks):
            gains = self._join_gains(block, slots)
            self.target[block] = slots[gains.argmax(axis=1)]
            self.join_gain[block] = gains.max(axis=1)

    def _join_gains(
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
        gains = self._join_gains(np.array([situation]), slots)[0] + self.leave_gain[situation]
        equals = slots[gains >= min(floor, float(gains.max()))]
        return int(equals[self.first[equals].argmin()])
