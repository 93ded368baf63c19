"""How plots show stages: their colour, their name, and which there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from cegdb.pictures.plots.sheet import some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cegdb.pictures.plot_data import Stage

Item = TypeVar("Item")

COLOURS: Final = (
    "Stages of several situations have colours, those of a single one are white; every stage "
    "is named"
)
WHITE: Final = "#ffffff"


def face(stage: Stage) -> str:
    """Return the colour that marks of a stage are filled with.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Stage
    >>> face(Stage(7, "u3", None, "learnt", "#009E73", 2, 40))
    '#009E73'
    """
    return stage.colour if stage.n_situations > 1 else WHITE


def title(stage: Stage) -> str:
    """Return the name of a stage, and the one it was given.

    Examples
    --------
    >>> from cegdb.pictures.plot_data import Stage
    >>> title(Stage(7, "u3", "frail", "learnt", "#009E73", 2, 40))
    'u3 frail'
    """
    return stage.stage if stage.name is None else f"{stage.stage} {stage.name}"


def largest(
    items: Sequence[Item], most: int, size: Callable[[Item], float]
) -> tuple[list[Item], list[Item]]:
    """Return the items of largest size there is room for, in their order, and the others.

    Examples
    --------
    >>> largest([3, 9, 1, 5], 2, float)
    ([9, 5], [3, 1])
    """
    places = sorted(range(len(items)), key=lambda place: (-size(items[place]), place))
    kept = set(places[:most])
    return (
        [item for place, item in enumerate(items) if place in kept],
        [item for place, item in enumerate(items) if place not in kept],
    )


def left_out(n_kept: int, n_left: int, n_people: int, one: str) -> str:
    """Say how many there was room for, and the people in the others.

    Examples
    --------
    >>> left_out(40, 172, 3456, "stage")
    'Shown: the 40 stages with most people of 212; 3,456 people in the others'
    """
    if not n_left:
        return ""
    return (
        f"Shown: the {some(n_kept, one)} with most people of {n_kept + n_left:,}; "
        f"{some(n_people, 'person', 'people')} in the others"
    )
