"""`tomek-links`: removes pairs of mutual nearest neighbours that belong to different classes."""

from dataclasses import dataclass

import numpy as np

from confml.measures.metric import Metric
from confml.methods.knn import KNN
from confml.neighbours.mixed_rows import nearest_rows, rows_of_pairs
from confml.plugins.parameters import Flag
from confml.steps import _kernels_pairs as kernels
from confml.steps._columns import complete
from confml.steps.base import Step


@dataclass(eq=False, repr=False)
class TomekLinks(Step):
    """Remove both examples of every Tomek link (borderline and mislabelled examples) from the training set.

    Two examples of different classes form a link if each is a nearest neighbour of the other; all examples at
    the smallest distance are nearest neighbours. With ``repeat``, the links among the remaining examples are
    removed as well, until there are none. A class that would lose all its examples keeps its first one.
    Distances are those of `knn`: use a scaling step before it.

    metrics: ``removed_rows``, ``links``, ``passes``.

    Source: Tomek 1976; Kubat, An Introduction to Machine Learning (2015), Table 3.5.
    """

    name = "tomek-links"
    breaks_exchangeability = True
    metrics = {
        "removed_rows": Metric("number of training rows that the step removed", None),
        "links": Metric("number of Tomek links found", None),
        "passes": Metric("number of passes over the training rows", None),
    }
    parameters = {
        "repeat": Flag("repeat until no links are left"),
    }
    stored = {"links_": "int", "passes_": "int", "removed_": "int"}

    repeat: bool = False

    def fit_training(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = complete(X, self.name)
        codes = np.unique(y, return_inverse=True)[1]
        kept = np.arange(len(y))
        self.links_ = self.passes_ = 0
        while True:
            links, linked = find_links(X[kept], codes[kept], self._coded(X))
            self.passes_ += 1
            self.links_ += links
            for code in np.unique(codes[kept[linked]]):
                own = np.flatnonzero(codes[kept] == code)
                if linked[own].all():
                    linked[own[0]] = False
            kept = kept[~linked]
            if not self.repeat or not linked.any():
                break
        self.removed_ = len(y) - len(kept)
        return X[kept], np.asarray(y)[kept], kept

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the neighbour search and the kernels of pairs."""
        KNN.compile_kernels()
        cls().fit_training(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "removed_rows": float(self.removed_),
            "links": float(self.links_),
            "passes": float(self.passes_),
        }


def find_links(X: np.ndarray, codes: np.ndarray, nominal: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the number of Tomek links of X (m, d) with class codes (m,), and (m,) bool: rows in a link."""
    linked = np.zeros(len(X), dtype=bool)
    if len(X) < 2:
        return 0, linked
    # The nearest row of all is the row itself.
    nearest = nearest_rows(X, codes, int(codes.max()) + 1, nominal).query(X, 2).distances[:, 1].copy()
    rows, count = rows_of_pairs(X, nominal)
    links = kernels.tomek_links(rows, count, codes, nearest, np.argsort(nearest, kind="stable"), linked)
    return links, linked
