"""Two small public contingency tables, and how the demo reads each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.options import SamplingZeros

DemoName: TypeAlias = Literal["titanic", "chds"]


class Demo(NamedTuple):
    """A contingency table with its source, and the settings of its tree."""

    about: str
    variables: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    sampling_zeros: SamplingZeros
    impossible: Sequence[Mapping[str, object]]

    def select(self) -> str:
        """Return the table as a SELECT, the count of each line in ``people``."""
        lines = ", ".join(
            "(" + ", ".join(f"'{x}'" if isinstance(x, str) else str(x) for x in row) + ")"
            for row in self.rows
        )
        columns = ", ".join(f'"{name}"' for name in (*self.variables, "people"))
        return f"select * from (values {lines}) as t({columns})"  # noqa: S608


DEMOS: Final[Mapping[DemoName, Demo]] = {
    "titanic": Demo(
        "2,201 people aboard the Titanic: British Board of Trade (1990), Report on the "
        "Loss of the 'Titanic' (S.S.); tabulated by R. J. M. Dawson (1995), Journal of "
        "Statistics Education 3(3). No children among the crew: a structural zero.",
        ("Class", "Age", "Sex", "Survived"),
        (
            ("1st", "Child", "Male", "Yes", 5),
            ("1st", "Child", "Female", "Yes", 1),
            ("1st", "Adult", "Male", "No", 118),
            ("1st", "Adult", "Male", "Yes", 57),
            ("1st", "Adult", "Female", "No", 4),
            ("1st", "Adult", "Female", "Yes", 140),
            ("2nd", "Child", "Male", "Yes", 11),
            ("2nd", "Child", "Female", "Yes", 13),
            ("2nd", "Adult", "Male", "No", 154),
            ("2nd", "Adult", "Male", "Yes", 14),
            ("2nd", "Adult", "Female", "No", 13),
            ("2nd", "Adult", "Female", "Yes", 80),
            ("3rd", "Child", "Male", "No", 35),
            ("3rd", "Child", "Male", "Yes", 13),
            ("3rd", "Child", "Female", "No", 17),
            ("3rd", "Child", "Female", "Yes", 14),
            ("3rd", "Adult", "Male", "No", 387),
            ("3rd", "Adult", "Male", "Yes", 75),
            ("3rd", "Adult", "Female", "No", 89),
            ("3rd", "Adult", "Female", "Yes", 76),
            ("Crew", "Adult", "Male", "No", 670),
            ("Crew", "Adult", "Male", "Yes", 192),
            ("Crew", "Adult", "Female", "No", 3),
            ("Crew", "Adult", "Female", "Yes", 20),
        ),
        "floret",
        ({"Class": "Crew", "Age": "Child"},),
    ),
    "chds": Demo(
        "890 children of the Christchurch Health and Development Study: edge counts of "
        "Collazo, Görgen & Smith (2018), Chain Event Graphs, figure 7.5.",
        ("Social", "Economic", "Events", "Admission"),
        (
            ("High", "High", "Average", "No", 70),
            ("High", "High", "Average", "Yes", 16),
            ("High", "High", "High", "No", 24),
            ("High", "High", "High", "Yes", 8),
            ("High", "High", "Low", "No", 109),
            ("High", "High", "Low", "Yes", 10),
            ("High", "Low", "Average", "No", 76),
            ("High", "Low", "Average", "Yes", 14),
            ("High", "Low", "High", "No", 49),
            ("High", "Low", "High", "Yes", 16),
            ("High", "Low", "Low", "No", 104),
            ("High", "Low", "Low", "Yes", 11),
            ("Low", "High", "Average", "No", 12),
            ("Low", "High", "Average", "Yes", 2),
            ("Low", "High", "High", "No", 8),
            ("Low", "High", "High", "Yes", 3),
            ("Low", "High", "Low", "No", 18),
            ("Low", "High", "Low", "Yes", 3),
            ("Low", "Low", "Average", "No", 75),
            ("Low", "Low", "Average", "Yes", 30),
            ("Low", "Low", "High", "No", 117),
            ("Low", "Low", "High", "Yes", 41),
            ("Low", "Low", "Low", "No", 59),
            ("Low", "Low", "Low", "Yes", 15),
        ),
        "none",
        (),
    ),
}
