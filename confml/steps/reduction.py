"""`tomek-links`, `consistent-subset` and `select-examples`: steps that remove training examples."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from confml.measures.metric import Metric
from confml.neighbours.distance_kinds import prepare_rows
from confml.plugins.parameters import Choice, Flag
from confml.steps.base import Step, complete
from confml.steps.pairs import PairDistances

REMOVED = {"removed_rows": Metric("number of training rows that the step removed", None)}
KEPT = {"kept_rows": Metric("number of training rows that the step kept", None)}
PASSES = {"passes": Metric("number of passes over the training rows", None)}


class ExampleReduction(Step):
    """A step that removes training examples. Test examples are not changed."""

    breaks_exchangeability = True

    @abstractmethod
    def _selected(self, X: np.ndarray, codes: np.ndarray, classes: int, rng) -> np.ndarray:
        """Return the sorted numbers of the rows that are kept of X (m, d) with class codes (m,)."""

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y = complete(X, self.name), np.asarray(y)
        classes, codes = np.unique(y, return_inverse=True)
        rows = self._selected(X, codes, len(classes), np.random.default_rng(0) if rng is None else rng)
        self.removed_rows_, self.kept_rows_ = len(y) - len(rows), len(rows)
        return X[rows], y[rows], rows


@dataclass(eq=False, repr=False)
class ConsistentSubset(ExampleReduction):
    """Reduce the training set to a subset on which 1-NN still classifies every training example correctly.

    Hart's condensed nearest neighbour. The subset begins with one random example of each class. In each pass,
    the training examples that 1-NN on the subset misclassifies are added, until there are no more. With
    ``add: all``, as in the book, they are added together at the end of a pass. With ``add: one``, Hart's
    rule, each is added before the next one is tried, which keeps far fewer examples. An example that is
    identical to one of another class may stay misclassified. Noisy examples make the subset large: use
    `tomek-links` before this step. Distances and ties are those of `knn`: use a scaling step before it.

    metrics: ``removed_rows``, ``kept_rows``, ``passes``.

    References
    ----------
    Hart 1968; Kubat, An Introduction to Machine Learning (2015), Table 3.6, whose "go to step 1" means step
    2.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> ConsistentSubset().fit_training(X, y, np.random.default_rng(0))[2]
    array([1, 3])
    """

    name = "consistent-subset"
    metrics = {**REMOVED, **KEPT, **PASSES}
    parameters = {
        "add": Choice("add misclassified examples at the end of a pass, or one by one", ("all", "one"))
    }

    add: str = "all"

    def _selected(self, X: np.ndarray, codes: np.ndarray, classes: int, rng) -> np.ndarray:
        chosen = np.zeros(len(codes), dtype=bool)
        for code in range(classes):
            chosen[rng.choice(np.flatnonzero(codes == code))] = True
        if self.add == "one":
            self.passes_ = PairDistances(X, self._coded(X), codes, classes).condense(chosen)
            return np.flatnonzero(chosen)
        self.passes_, before = 0, -1
        while before < chosen.sum():  # Table 3.6
            self.passes_, before = self.passes_ + 1, chosen.sum()
            rows = prepare_rows(X[chosen], codes[chosen], classes, self._coded(X))
            chosen |= rows.query(X, 1).vote(1)[1] != codes
        return np.flatnonzero(chosen)


class SelectExamples(ExampleReduction):
    """Drop training examples one at a time as long as the training accuracy of 1-NN does not decrease.

    Examples are tried in random order, in rounds, until a round drops none. The accuracy is that of 1-NN on
    the examples that are left, measured on all training examples, including those already dropped. Distances
    and ties are those of `knn` with k = 1: use a scaling step before it. The time grows with the square of
    the number of examples.

    metrics: ``removed_rows``, ``kept_rows``, ``rounds``.

    References
    ----------
    Kubat, An Introduction to Machine Learning (2015), section 3.9, thought experiment 3.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> SelectExamples().fit_training(X, y, np.random.default_rng(0))[2]
    array([1, 3])
    """

    name = "select-examples"
    metrics = {**REMOVED, **KEPT, "rounds": Metric("number of rounds of the search", None)}

    def _selected(self, X: np.ndarray, codes: np.ndarray, classes: int, rng) -> np.ndarray:
        subset = np.ones(len(codes), dtype=bool)
        pairs = PairDistances(X, self._coded(X), codes, classes)
        self.rounds_ = pairs.drop(rng.permutation(len(codes)), subset)
        return np.flatnonzero(subset)


@dataclass(eq=False, repr=False)
class TomekLinks(ExampleReduction):
    """Remove both examples of every Tomek link (borderline and mislabelled examples) from the training set.

    Two examples of different classes form a link if each is a nearest neighbour of the other; all examples at
    the smallest distance are nearest neighbours. With ``repeat``, the links among the remaining examples are
    removed as well, until there are none. A class that would lose all its examples keeps its first one.
    Distances are those of `knn`: use a scaling step before it.

    metrics: ``removed_rows``, ``links``, ``passes``.

    References
    ----------
    Tomek 1976; Kubat, An Introduction to Machine Learning (2015), Table 3.5.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [4.0], [4.5], [8.0]]), np.array([0, 0, 0, 1, 1])
    >>> TomekLinks().fit_training(X, y)[2]
    array([0, 1, 4])
    """

    name = "tomek-links"
    metrics = {**REMOVED, "links": Metric("number of Tomek links found", None), **PASSES}
    parameters = {"repeat": Flag("repeat until no links are left")}

    repeat: bool = False

    def _selected(self, X: np.ndarray, codes: np.ndarray, classes: int, rng) -> np.ndarray:
        row_numbers = np.arange(len(codes))
        self.links_ = self.passes_ = 0
        while True:
            links, linked = find_links(X[row_numbers], codes[row_numbers], self._coded(X))
            self.passes_ += 1
            self.links_ += links
            for code in np.unique(codes[row_numbers[linked]]):
                of_class = np.flatnonzero(codes[row_numbers] == code)
                if linked[of_class].all():
                    linked[of_class[0]] = False
            row_numbers = row_numbers[~linked]
            if not self.repeat or not linked.any():
                return row_numbers


def find_links(X: np.ndarray, codes: np.ndarray, nominal: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the number of Tomek links of X (m, d) with class codes (m,), and (m,) bool: rows in a link."""
    if len(X) < 2:
        return 0, np.zeros(len(X), dtype=bool)
    classes = int(codes.max()) + 1
    # The nearest row of all is the row itself.
    nearest = prepare_rows(X, codes, classes, nominal).query(X, 2).distances[:, 1]
    return PairDistances(X, nominal, codes, classes).links(nearest)
