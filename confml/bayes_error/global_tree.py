"""Bounds of the Bayes error of all classes from one spanning tree (Sekeh, Oselio and Hero 2020)."""

from dataclasses import dataclass

import numpy as np

from confml.bayes_error.complexity import cover_hart_bound
from confml.bayes_error.shared_trees import WholeTrees


@dataclass(frozen=True)
class GlobalTreeBounds:
    """Bounds of the Bayes error of all classes from one minimum spanning tree of all rows.

    classes (K,); delta (K, K): edges between two classes divided by twice the rows, an estimate of the
    integral of p_i f_i p_j f_j / f (symmetric, NaN diagonal); upper: 2 times the sum of delta
    over pairs, the share of edges between classes; lower: (K-1)/K (1 - sqrt(1 - K/(K-1) upper)); estimate:
    mean of both; least, most: the estimate at the smallest and largest number of such edges that the tree can
    have under ties. All are at most 1 - (largest class share), the error of predicting the largest class.
    """

    classes: np.ndarray
    delta: np.ndarray
    estimate: float
    lower: float
    upper: float
    least: float
    most: float


def bounds_of_tree(classes: np.ndarray, counts: np.ndarray, whole: WholeTrees) -> GlobalTreeBounds:
    """Return the bounds from the first of the trees of all rows; counts (K,): rows of each class."""
    rows = counts.sum()
    delta = whole.crossing[0] / (2 * rows)
    np.fill_diagonal(delta, np.nan)
    between = np.triu(whole.crossing[0], 1).sum()
    lower, upper = bounds_of_share(between / rows, counts)
    least, most = (sum(bounds_of_share(edges / rows, counts)) / 2 for edges in whole.between)
    return GlobalTreeBounds(classes, delta, (lower + upper) / 2, lower, upper, least, most)


def bounds_of_share(share: float, counts: np.ndarray) -> tuple[float, float]:
    """Return lower and upper bound of the Bayes error for a share of edges between classes.

    For many rows the share is the probability of two labels at one place that differ, E[1 - sum p_j^2]: the
    asymptotic error of 1-NN. Both bounds are those of Cover and Hart (1967), and at most the error of
    predicting the largest class. counts (K,): rows of each class.
    """
    largest = (counts.size - 1) / counts.size
    most = 1 - counts.max() / counts.sum()
    upper = min(max(float(share), 0.0), largest)
    return float(min(cover_hart_bound(upper, counts.size), most)), float(min(upper, most))
