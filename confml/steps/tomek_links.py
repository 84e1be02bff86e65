"""`tomek-links`: without pairs of examples that are each other's nearest neighbour, of different classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from confml.measures.metrics import Metric
from confml.methods.knn import KNN
from confml.neighbours.mixed_rows import nearest_rows, rows_of_pairs
from confml.plugins.parameters import Flag, Parameter
from confml.steps import _kernels_pairs as kernels
from confml.steps._columns import complete
from confml.steps.base import Step


class TomekLinks(Step):
    """Removes both examples of every Tomek link from the training set: the borderline and the mislabelled.

    Two examples of different classes form a link if each is the other's nearest neighbour; all examples at
    the smallest distance are nearest neighbours. Distances are those of `knn`: put a scaling step ahead. With
    ``repeat``, links that a removal has made are removed, too, until there are none. A class whose examples
    would all go keeps its first one.

    metrics: ``removed_rows``, ``links``, ``passes``.

    Source: Tomek 1976; Kubat, An Introduction to Machine Learning (2015), Table 3.5.
    """

    name: ClassVar[str] = "tomek-links"
    favours_training: ClassVar[bool] = True
    metrics: ClassVar[Mapping[str, Metric]] = {
        "removed_rows": Metric("number of training rows that the step removed", None),
        "links": Metric("number of Tomek links found", None),
        "passes": Metric("number of passes over the training rows", None),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "repeat": Flag("whether to go on until no links are left"),
    }

    def __init__(self, repeat: bool = False):
        self.repeat = repeat

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
    def warm(cls) -> None:
        """Compile the search, and the kernels of pairs."""
        KNN.warm()
        cls().fit_training(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {
            "removed_rows": float(self.removed_),
            "links": float(self.links_),
            "passes": float(self.passes_),
        }


def find_links(X: np.ndarray, codes: np.ndarray, nominal: np.ndarray) -> tuple[int, np.ndarray]:
    """How many Tomek links X (m, d) with class codes (m,) has, and (m,) bool: which rows are in one."""
    linked = np.zeros(len(X), dtype=bool)
    if len(X) < 2:
        return 0, linked
    # The nearest row of all is the row itself.
    nearest = nearest_rows(X, codes, int(codes.max()) + 1, nominal).query(X, 2).distances[:, 1].copy()
    rows, count = rows_of_pairs(X, nominal)
    links = kernels.tomek_links(rows, count, codes, nearest, np.argsort(nearest, kind="stable"), linked)
    return links, linked
