"""Three public surveys as contingency tables, and how the demo reads each."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from cegdb.atomic_files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DemoName: TypeAlias = Literal["chds", "titanic", "falls"]


class Demo(NamedTuple):
    """A contingency table with its source, and what is impossible.

    An empty text is an empty cell: a question that these people were not asked.
    """

    about: str
    variables: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    impossible: Sequence[Mapping[str, object]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables, and the column of counts."""
        return (*self.variables, "people")

    def write(self, path: Path) -> Path:
        """Write the table to a CSV file, whole or not at all, and return its path."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return atomic_write(path, text.getvalue().encode())

    def select(self) -> str:
        """Return the table as a SELECT, the number of people of each row in ``people``."""
        lines = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in self.rows)
        columns = ", ".join(f'"{name}"' for name in self.columns)
        return f"select * from (values {lines}) as t({columns})"  # noqa: S608


def _literal(value: str | int) -> str:
    if value == "":
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


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
        (),
    ),
    "falls": Demo(
        "50,000 residents of a simulated study of falls among people over 65: data set of the "
        "Python package cegpy, after Shenvi, Smith, Walton & Eldridge (2019), Modelling with "
        "non-stratified Chain Event Graphs. Only residents who were assessed can be referred "
        "or treated: for the others Treatment is left empty.",
        ("HousingAssessment", "Risk", "Treatment", "Fall"),
        (
            ("Communal Assessed", "High Risk", "Not Referred & Not Treated", "Don't Fall", 11),
            ("Communal Assessed", "High Risk", "Not Referred & Not Treated", "Fall", 42),
            ("Communal Assessed", "High Risk", "Not Referred & Treated", "Don't Fall", 28),
            ("Communal Assessed", "High Risk", "Not Referred & Treated", "Fall", 24),
            ("Communal Assessed", "High Risk", "Referred & Treated", "Don't Fall", 58),
            ("Communal Assessed", "High Risk", "Referred & Treated", "Fall", 72),
            ("Communal Assessed", "Low Risk", "Not Referred & Not Treated", "Don't Fall", 102),
            ("Communal Assessed", "Low Risk", "Not Referred & Not Treated", "Fall", 28),
            ("Communal Assessed", "Low Risk", "Not Referred & Treated", "Don't Fall", 12),
            ("Communal Assessed", "Low Risk", "Not Referred & Treated", "Fall", 2),
            ("Communal Not Assessed", "High Risk", "", "Don't Fall", 82),
            ("Communal Not Assessed", "High Risk", "", "Fall", 354),
            ("Communal Not Assessed", "Low Risk", "", "Don't Fall", 870),
            ("Communal Not Assessed", "Low Risk", "", "Fall", 233),
            ("Community Assessed", "High Risk", "Not Referred & Not Treated", "Don't Fall", 65),
            ("Community Assessed", "High Risk", "Not Referred & Not Treated", "Fall", 254),
            ("Community Assessed", "High Risk", "Not Referred & Treated", "Don't Fall", 151),
            ("Community Assessed", "High Risk", "Not Referred & Treated", "Fall", 164),
            ("Community Assessed", "High Risk", "Referred & Treated", "Don't Fall", 379),
            ("Community Assessed", "High Risk", "Referred & Treated", "Fall", 436),
            ("Community Assessed", "Low Risk", "Not Referred & Not Treated", "Don't Fall", 974),
            ("Community Assessed", "Low Risk", "Not Referred & Not Treated", "Fall", 292),
            ("Community Assessed", "Low Risk", "Not Referred & Treated", "Don't Fall", 133),
            ("Community Assessed", "Low Risk", "Not Referred & Treated", "Fall", 23),
            ("Community Not Assessed", "High Risk", "", "Don't Fall", 1103),
            ("Community Not Assessed", "High Risk", "", "Fall", 4272),
            ("Community Not Assessed", "Low Risk", "", "Don't Fall", 30769),
            ("Community Not Assessed", "Low Risk", "", "Fall", 9067),
        ),
        (),
    ),
}


def demo_of(source: object) -> DemoName | None:
    """Return which of the surveys a source is, if any: the SELECT of its table."""
    return next((name for name, demo in DEMOS.items() if demo.select() == source), None)
