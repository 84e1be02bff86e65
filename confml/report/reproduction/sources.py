"""`Source`: a paper or textbook whose numbers and claims confml reproduces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RankedTable:
    """A published table whose methods are ranked over its data sets.

    metric: that of its numbers. variants: groups of rows of confml; those of the first group that a data set
    has are ranked. folders: folders with stored tables; the first one that has the data set is used. notes:
    on the rows that are ranked. columns: those that are ranked, None for all. kind: part of the file's name.
    fits: kind of the fits behind times, for the title of the figure.
    """

    table: str
    metric: str
    variants: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    kind: str = ""
    fits: str = ""


@dataclass(frozen=True)
class Source:
    """A paper or textbook.

    key: name of its file in ``claims/``. citation: authors, title, place and year. tables: names of its
    published tables. folders: folders with stored tables below ``results/reference``; the first one that
    holds a number is used. splits: number of splits behind a printed number; exceptions: the same of single
    data sets. target: command that computes the tables. ranked: tables whose methods are ranked. repeated:
    folder with runs on the same splits with other random numbers of the methods.
    """

    key: str
    title: str
    citation: str
    tables: tuple[str, ...]
    folders: tuple[str, ...]
    splits: int
    target: str
    ranked: tuple[RankedTable, ...] = ()
    exceptions: Mapping[str, int] = field(default_factory=dict)
    repeated: str | None = None

    def splits_of(self, dataset: str) -> int:
        """Return the number of splits behind the printed numbers of a data set."""
        return self.exceptions.get(dataset, self.splits)


_COLD = (
    "smartsvm/cold",
    "smartsvm/cold-small",
    "smartsvm/cold-shuttle",
    "smartsvm/cold-fars",
    "smartsvm/cold-large",
    "smartsvm/cold-krkopt",
)

SOURCES = (
    Source(
        key="tcm-nn",
        title="TCM-NN",
        citation="Proedrou, Nouretdinov, Vovk & Gammerman, Transductive Confidence Machines for Pattern "
        "Recognition, ECML 2002 (LNAI 2430, 381-390)",
        tables=("tcm-nn-table1", "tcm-nn-table2", "tcm-nn-table3"),
        folders=(
            "tcm-nn",
            "tcm-nn/figure1",
            "tcm-nn/figure2",
            "tcm-nn/wrong-prior",
            "tcm-nn/absent-class",
            "tcm-nn/more",
            "tcm-nn/segment",
        ),
        splits=1,
        exceptions={"segment": 10},  # 10-fold cross-validation
        target="make table-tcm-nn",
    ),
    Source(
        key="transduction",
        title="Bayesian transduction",
        citation="Graepel, Herbrich & Obermayer, Bayesian Transduction, NIPS 12 (2000)",
        tables=("transduction-figure2",),
        folders=(
            "transduction",
            "transduction/lengths",
            "transduction/trajectories",
            "transduction/variants",
            "transduction/version-space",
        ),
        repeated="transduction/trajectories",
        splits=100,
        target="make figure-transduction",
    ),
    Source(
        key="bayes-knn",
        title="Bayesian k-NN",
        citation="Krzanowski, Fieldsend, Bailey, Everson, Partridge & Schetinin, Confidence in "
        "Classification: A Bayesian Approach, Journal of Classification 23 (2006)",
        tables=("bayesian-knn-table1", "bayesian-knn-table2", "bayesian-knn-table3"),
        folders=(
            "bayes-knn-full",
            "bayes-knn-long",
            "bayes-knn",
            "bayes-knn/figure1",
            "bayes-knn-change-points",
            "bayes-knn-settings",
            "bayes-knn-tricube",
            "bayes-knn-tricube-raw",
            "bayes-knn-tricube-quarter",
        ),
        splits=1,
        target="make table-bayes-knn",
    ),
    Source(
        key="smartsvm",
        title="SmartSVM",
        citation="van den Burg & Hero, Fast Meta-Learning for Adaptive Hierarchical Classifier Design, arXiv "
        "1711.03512 (2017)",
        tables=(
            "smartsvm-table1",
            "smartsvm-table2-total-training-seconds",
            "smartsvm-table3-adjusted-rand-index",
            "smartsvm-table4-seconds-per-configuration",
        ),
        folders=(
            "smartsvm/full",
            "smartsvm/laptop",
            "smartsvm/laptop-fars",
            "smartsvm/small",
            *_COLD,
            "smartsvm/variants",
            "smartsvm/costs",
            "smartsvm/costs-standardised",
            "smartsvm/costs-raw",
            "smartsvm/trees",
            "smartsvm/components",
            "smartsvm/ratios",
            "smartsvm/gensvm",
            "smartsvm/gensvm-fars",
            "smartsvm/splits",
            "smartsvm/bayes-error",
            "smartsvm/tree",
        ),
        splits=5,
        target="make table-smartsvm",
        ranked=(
            RankedTable(
                table="smartsvm-table3-adjusted-rand-index",
                metric="ari",
                variants=(("without the label",), ("",)),
                folders=("smartsvm/laptop", "smartsvm/laptop-fars"),
                notes=("winered and winewhite are ranked without the label among their features.",),
            ),
            RankedTable(
                table="smartsvm-table2-total-training-seconds",
                metric="training_seconds",
                variants=(("without the label",), ("warm primal", "exact path")),
                folders=("smartsvm/laptop", "smartsvm/laptop-fars"),
                fits="warm fits and exact paths",
                notes=(
                    "Seconds of confml are of warm primal fits and exact paths over the paper's grids.",
                    "winered and winewhite are ranked without the label among their features.",
                ),
            ),
            *(
                RankedTable(
                    table=table,
                    metric=metric,
                    variants=(("",),),
                    folders=_COLD,
                    columns=("dag", "ovo", "ovr", "smartsvm"),
                    kind="cold-",
                    fits="cold fits",
                    notes=(
                        "Seconds of confml are of cold fits of LIBLINEAR's dual solver over the paper's "
                        "grid, on one split.",
                        "winered and winewhite have the label among their features, as in the paper.",
                    ),
                )
                for table, metric in (
                    ("smartsvm-table2-total-training-seconds", "training_seconds"),
                    ("smartsvm-table4-seconds-per-configuration", "seconds_per_configuration"),
                )
            ),
        ),
    ),
    Source(
        key="kubat",
        title="Kubat's textbook",
        citation="Kubat, An Introduction to Machine Learning, 2nd edition, Springer 2017, chapters 2 to 4",
        tables=(),
        folders=("kubat", "kubat/distances"),
        splits=1,
        target="make figure-classical",
    ),
)
