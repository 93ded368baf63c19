"""What to cite: works, as text and as BibTeX, and which of them a CEG used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cegdb.demo import demo_of
from cegdb.render.document import References
from cegdb.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Reference(NamedTuple):
    """A work: its text without the address, its address, and its BibTeX fields."""

    key: str
    text: str
    url: str
    kind: str
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """Return the BibTeX entry."""
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in self.fields.items())
        return f"@{self.kind}{{{self.key},\n{lines}}}"


_DOI: Final = "https://doi.org/"

REFERENCES: Final = {
    reference.key: reference
    for reference in (
        Reference(
            "cegdb",
            "The cegdb developers. cegdb: event trees, staged trees and Chain Event Graphs of "
            f"survey data, as tables in a DuckDB file. Version {__version__}.",
            "",
            "misc",
            {
                "author": "{The cegdb developers}",
                "title": "cegdb: Event trees, staged trees and {Chain Event Graphs} of survey "
                "data, as tables in a {DuckDB} file",
                "note": f"Version {__version__}",
            },
        ),
        Reference(
            "shenvi2020constructing",
            "Shenvi, A. and Smith, J. Q. (2020). Constructing a Chain Event Graph from a "
            "Staged Tree. Proceedings of the 10th International Conference on Probabilistic "
            "Graphical Models, PMLR 138, 437-448.",
            "https://proceedings.mlr.press/v138/shenvi20a.html",
            "inproceedings",
            {
                "author": "Shenvi, Aditi and Smith, Jim Q.",
                "title": "Constructing a {Chain Event Graph} from a Staged Tree",
                "booktitle": "Proceedings of the 10th International Conference on "
                "Probabilistic Graphical Models",
                "series": "Proceedings of Machine Learning Research",
                "volume": "138",
                "pages": "437--448",
                "year": "2020",
                "publisher": "PMLR",
                "url": "https://proceedings.mlr.press/v138/shenvi20a.html",
            },
        ),
        Reference(
            "smith2008conditional",
            "Smith, J. Q. and Anderson, P. E. (2008). Conditional independence and chain event "
            "graphs. Artificial Intelligence 172(1), 42-68.",
            f"{_DOI}10.1016/j.artint.2007.05.004",
            "article",
            {
                "author": "Smith, Jim Q. and Anderson, Paul E.",
                "title": "Conditional independence and chain event graphs",
                "journal": "Artificial Intelligence",
                "volume": "172",
                "number": "1",
                "pages": "42--68",
                "year": "2008",
                "doi": "10.1016/j.artint.2007.05.004",
            },
        ),
        Reference(
            "freeman2011bayesian",
            "Freeman, G. and Smith, J. Q. (2011). Bayesian MAP model selection of chain event "
            "graphs. Journal of Multivariate Analysis 102(7), 1152-1165.",
            f"{_DOI}10.1016/j.jmva.2011.03.008",
            "article",
            {
                "author": "Freeman, Guy and Smith, Jim Q.",
                "title": "{Bayesian MAP} model selection of chain event graphs",
                "journal": "Journal of Multivariate Analysis",
                "volume": "102",
                "number": "7",
                "pages": "1152--1165",
                "year": "2011",
                "doi": "10.1016/j.jmva.2011.03.008",
            },
        ),
        Reference(
            "collazo2018chain",
            "Collazo, R. A., Görgen, C. and Smith, J. Q. (2018). Chain Event Graphs. Chapman "
            "and Hall/CRC. ISBN 978-1-4987-2960-4.",
            "",
            "book",
            {
                "author": 'Collazo, Rodrigo A. and G{\\"o}rgen, Christiane and Smith, Jim Q.',
                "title": "Chain Event Graphs",
                "publisher": "Chapman and Hall/CRC",
                "year": "2018",
                "isbn": "978-1-4987-2960-4",
            },
        ),
        Reference(
            "raasveldt2019duckdb",
            "Raasveldt, M. and Mühleisen, H. (2019). DuckDB: an embeddable analytical "
            "database. Proceedings of the 2019 International Conference on Management of Data "
            "(SIGMOD), 1981-1984.",
            f"{_DOI}10.1145/3299869.3320212",
            "inproceedings",
            {
                "author": 'Raasveldt, Mark and M{\\"u}hleisen, Hannes',
                "title": "{DuckDB}: an Embeddable Analytical Database",
                "booktitle": "Proceedings of the 2019 International Conference on Management "
                "of Data",
                "pages": "1981--1984",
                "year": "2019",
                "publisher": "ACM",
                "doi": "10.1145/3299869.3320212",
            },
        ),
        Reference(
            "carli2022stagedtrees",
            "Carli, F., Leonelli, M., Riccomagno, E. and Varando, G. (2022). The R package "
            "stagedtrees for structural learning of stratified staged trees. Journal of "
            "Statistical Software 102(6), 1-30.",
            f"{_DOI}10.18637/jss.v102.i06",
            "article",
            {
                "author": "Carli, Federico and Leonelli, Manuele and Riccomagno, Eva and "
                "Varando, Gherardo",
                "title": "The {R} Package {stagedtrees} for Structural Learning of Stratified "
                "Staged Trees",
                "journal": "Journal of Statistical Software",
                "volume": "102",
                "number": "6",
                "pages": "1--30",
                "year": "2022",
                "doi": "10.18637/jss.v102.i06",
            },
        ),
        Reference(
            "kish1965survey",
            "Kish, L. (1965). Survey Sampling. New York: Wiley.",
            "",
            "book",
            {
                "author": "Kish, Leslie",
                "title": "Survey Sampling",
                "publisher": "Wiley",
                "address": "New York",
                "year": "1965",
            },
        ),
        Reference(
            "dawson1995unusual",
            "Dawson, R. J. M. (1995). The “Unusual Episode” data revisited. Journal of "
            "Statistics Education 3(3). Data of the British Board of Trade's report on the "
            "loss of the Titanic.",
            f"{_DOI}10.1080/10691898.1995.11910499",
            "article",
            {
                "author": "Dawson, Robert J. MacG.",
                "title": "The ``{Unusual Episode}'' Data Revisited",
                "journal": "Journal of Statistics Education",
                "volume": "3",
                "number": "3",
                "year": "1995",
                "doi": "10.1080/10691898.1995.11910499",
            },
        ),
        Reference(
            "shenvi2019modelling",
            "Shenvi, A., Smith, J. Q., Walton, R., & Eldridge, S. (2019). Modelling with "
            "non-stratified Chain Event Graphs. In Argiento, R., Durante, D., & Wade, S. "
            "(eds), Bayesian Statistics and New Generations. Springer. The simulated data are "
            "those of the Python package cegpy.",
            "",
            "incollection",
            {
                "author": "Shenvi, Aditi and Smith, Jim Q. and Walton, Robert and "
                "Eldridge, Sandra",
                "title": "Modelling with Non-stratified {Chain Event Graphs}",
                "booktitle": "Bayesian Statistics and New Generations",
                "editor": "Argiento, Raffaele and Durante, Daniele and Wade, Sara",
                "publisher": "Springer",
                "year": "2019",
            },
        ),
    )
}
_ALWAYS: Final = (
    "cegdb",
    "shenvi2020constructing",
    "smith2008conditional",
    "raasveldt2019duckdb",
)
_GENERAL: Final = (
    "cegdb",
    "shenvi2020constructing",
    "smith2008conditional",
    "freeman2011bayesian",
    "collazo2018chain",
    "raasveldt2019duckdb",
)
#: Data set of the demo -> who published it.
_DATA: Final = {
    "chds": "collazo2018chain",
    "titanic": "dawson1995unusual",
    "falls": "shenvi2019modelling",
}
_AHC: Final = ("ahc", "auto")


def general_references() -> list[Reference]:
    """Return what to cite for cegdb itself."""
    return [REFERENCES[key] for key in _GENERAL]


def references_used(
    survey: Mapping[str, Any], stagings: Sequence[Mapping[str, Any]]
) -> list[Reference]:
    """Return what to cite for a CEG made from catalog rows: only what it used.

    Examples
    --------
    >>> given = {"method": "given", "settings": {}}
    >>> [r.key for r in references_used({"source": "falls.csv"}, [given])][1:]
    ['shenvi2020constructing', 'smith2008conditional', 'raasveldt2019duckdb']
    """
    keys = dict.fromkeys(_ALWAYS)
    for staging in stagings:
        if staging["method"] in _AHC:
            keys["freeman2011bayesian"] = None
        elif staging["method"] not in ("given", "network", "exact", "ordinal"):
            keys["carli2022stagedtrees"] = None
        settings = staging["settings"] if isinstance(staging["settings"], dict) else {}
        if settings.get("weighting") in ("situation", "global"):
            keys["kish1965survey"] = None
    name = demo_of(survey["source"])
    if name:
        keys[_DATA[name]] = None
    return [reference for key, reference in REFERENCES.items() if key in keys]


def reference_list(
    survey: Mapping[str, Any], stagings: Sequence[Mapping[str, Any]]
) -> References:
    """Return what to cite for a CEG, for the end of a report."""
    return References([(work.text, work.url) for work in references_used(survey, stagings)])


def format_references(references: Sequence[Reference], *, bibtex: bool = False) -> str:
    """Return works one below another, or as a BibTeX file.

    Examples
    --------
    >>> print(format_references([REFERENCES["kish1965survey"]]))
    Kish, L. (1965). Survey Sampling. New York: Wiley.
    """
    if bibtex:
        return "\n\n".join(reference.bibtex for reference in references)
    return "\n".join(f"{r.text} {r.url}".strip() for r in references)
