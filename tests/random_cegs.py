"""A random staged tree as a compiled CEG with random probabilities, and all its paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from oracle import BLANK, Path

from cegdb.inference.compiled_model import CompiledModel, Variable
from cegdb.inference.propagation import Graph
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strategies import StagedSample

Answers = dict[str, str]


class RandomCeg:
    """A staged tree whose stages have random probabilities; only its leaves are merged.

    The label ``absent`` becomes the explicit one of what does not apply.
    """

    def __init__(self, sample: StagedSample, seed: int, absent: str | None = None) -> None:
        random = np.random.default_rng(seed)
        self.order = sample.order
        self.children: dict[Path, dict[str, Path]] = {}
        self.stage: dict[Path, str] = {}
        for row, _ in sample.rows:
            path: Path = ()
            known: Path = ()
            for name in sample.order:
                label = row[name]
                if label is not BLANK:
                    shown = NOT_APPLICABLE if label == absent else str(label)
                    longer = (*path, (name, shown))
                    self.children.setdefault(path, {})[shown] = longer
                    self.stage[path] = sample.stage[known]
                    path, known = longer, (*known, (name, str(label)))
        self.theta: dict[str, dict[str, float]] = {}
        for path, below in self.children.items():
            if self.stage[path] not in self.theta:
                shares = random.dirichlet(np.ones(len(below)))
                self.theta[self.stage[path]] = dict(
                    zip(sorted(below), shares.tolist(), strict=True)
                )
        self.compiled = self._compiled()

    def asks(self, path: Path) -> str:
        """Return the variable of a situation."""
        return next(iter(self.children[path].values()))[-1][0]

    def paths(
        self, theta: Callable[[Path, str], float] | None = None
    ) -> Iterator[tuple[Answers, float]]:
        """Give the answers of each path and its probability."""
        of = theta or self.fitted

        def below(path: Path, probability: float) -> Iterator[tuple[Answers, float]]:
            if path not in self.children:
                yield dict(path), probability
                return
            for label, child in self.children[path].items():
                yield from below(child, probability * of(path, label))

        return below((), 1.0)

    def fitted(self, path: Path, label: str) -> float:
        """Return the probability of an edge."""
        return self.theta[self.stage[path]][label]

    def _height(self, path: Path) -> int:
        below = self.children.get(path, {})
        return 1 + max(map(self._height, below.values())) if below else 0

    def _compiled(self) -> CompiledModel:
        height = {path: self._height(path) for path in self.children}
        nodes = sorted(self.children, key=lambda path: (-height[path], path))
        number = {path: i for i, path in enumerate(nodes)}
        labels = {
            name: sorted(
                {
                    label
                    for path in nodes
                    if self.asks(path) == name
                    for label in self.children[path]
                }
            )
            for name in self.order
        }
        edges = [(path, label) for path in nodes for label in sorted(self.children[path])]
        stages = sorted(self.theta)
        return CompiledModel(
            "random",
            Graph(
                np.array([*(height[path] for path in nodes), 0]),
                np.array([number[path] for path, _ in edges]),
                np.array(
                    [number.get(self.children[p][label], len(nodes)) for p, label in edges]
                ),
            ),
            np.arange(len(nodes) + 1),
            np.array([*(stages.index(self.stage[path]) for path in nodes), -1]),
            (*(f"w{i}" for i in range(len(nodes))), "w_inf"),
            np.array([*(self.order.index(self.asks(path)) for path in nodes), -1]),
            np.array([labels[self.asks(path)].index(label) for path, label in edges]),
            tuple(label for _, label in edges),
            np.array([self.fitted(path, label) for path, label in edges]),
            tuple(Variable(name, tuple(labels[name]), {}) for name in self.order),
            np.zeros(len(edges), np.int64),
        )
