"""`select-by-bayes-error`: the features with the smallest estimated Bayes error."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from confml.bayes_error.selection import sample_by_class, select_attributes
from confml.measures.metric import Metric
from confml.plugins.parameters import Integer, or_null
from confml.steps.base import ColumnSelection, complete


@dataclass(eq=False, repr=False)
class SelectByBayesError(ColumnSelection):
    """Select features by the estimated Bayes error of the pairs of classes, without training a classifier.

    Forward selection: in each round the feature that gives the smallest estimate is added, the first one of
    several, until there are ``attributes`` of them. The estimates come from minimum spanning trees, so
    distances matter: use a scaling step before it. The 0/1 columns of a nominal feature are selected one by
    one; a feature that holds codes is represented by its 0/1 columns. A training set with one class, or with
    at most ``attributes`` columns, is not changed. With ``groups`` the estimates use one row of each group
    and class, drawn at random. Rows of one group are near each other in features that identify the group.

    metrics: ``kept_attributes``, ``removed_attributes``, ``criterion``, the estimate with the selected
    features, as a fraction of the smaller prior.

    References
    ----------
    van den Burg & Hero, Fast meta-learning for adaptive hierarchical classifier design (2017),
    section 3.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> step = SelectByBayesError(attributes=1).fit(X, X[:, 1] > 0)
    >>> step.kept_columns_
    array([1])
    """

    name = "select-by-bayes-error"
    version = 3
    breaks_exchangeability = True
    metrics = {
        **ColumnSelection.metrics,
        "criterion": Metric("mean or largest estimated Bayes error with the features kept", "lower"),
    }
    parameters = {
        "attributes": Integer("number of features to keep", low=1),
        "trees": Integer("number of orthogonal spanning trees whose estimates are averaged", low=1, high=100),
        "rows": or_null(
            "largest number of training rows for the estimates, drawn by class", Integer("", low=2)
        ),
    }

    attributes: int = 10
    trees: int = 3
    rows: int | None = None

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator | None = None) -> Self:
        X, y = complete(X, self.name), np.asarray(y)
        self.criterion_ = np.nan
        self._keep(np.arange(X.shape[1]), X.shape[1])
        if X.shape[1] <= self.attributes or len(np.unique(y)) < 2:
            return self
        # in random order in any case, so that ties are not decided by rows that are sorted by class
        rng = np.random.default_rng(0) if rng is None else rng
        row_numbers = np.arange(len(y)) if self.groups is None else _sample_groups(y, self.groups, rng)
        rows = row_numbers[sample_by_class(y[row_numbers], self.rows, rng)]
        columns, groups = _dummies(X[rows], self._coded(X))
        selection = select_attributes(columns, y[rows], self.attributes, groups=groups, trees=self.trees)
        self._keep(np.sort(selection.attributes), X.shape[1])
        self.criterion_ = float(selection.criterion[-1])
        return self


def _sample_groups(y: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return sorted row numbers: a random row of each group and class."""
    order = rng.permutation(len(y))
    codes = np.unique(y, return_inverse=True)[1]
    first = np.unique(np.column_stack([groups, codes])[order], axis=0, return_index=True)[1]
    return np.sort(order[first])


def _dummies(X: np.ndarray, coded: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Return X with a 0/1 column for each code of its coded columns, and the columns of each feature."""
    parts = []
    for column, is_coded in enumerate(coded):
        values = X[:, [column]]
        parts.append((values == np.unique(values)).astype(float) if is_coded else values)
    ends = np.cumsum([part.shape[1] for part in parts])
    return np.hstack(parts), [numbers.tolist() for numbers in np.split(np.arange(ends[-1]), ends[:-1])]
