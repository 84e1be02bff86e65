"""Bayes error estimates from soft labels: class probabilities, or the votes of several annotators."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from confml.errors import ConfigError, DataError

SUM_TOLERANCE = 0.01
"""Largest difference between 1 and the sum of a row's probabilities; the row is divided by its sum."""


@dataclass(frozen=True)
class SoftLabelError:
    """Bayes error from soft labels.

    estimate: corrected mean if there are annotators, otherwise the mean; low, high: its interval at `level`;
    mean: mean of 1 - max p; held_out: mean error of predicting one annotator by the majority of the others,
    NaN without annotators; rows: rows with soft labels that count; level: confidence level; annotated:
    whether soft labels are votes of annotators.
    """

    estimate: float
    low: float
    high: float
    mean: float
    held_out: float
    rows: int
    level: float
    annotated: bool


def soft_label_error(soft_labels, *, level: float = 0.95) -> SoftLabelError:
    """Return the Bayes error from soft labels (n, K): one column per class.

    Rows are probabilities that sum to 1, or numbers of annotators: whole numbers, of which some row has a sum
    of at least 2.

    With probabilities, the Bayes error is the mean of 1 - max_j p_j (Ishida et al. 2023); the estimate is
    unbiased for true probabilities, and too small for overconfident ones.

    With n_j of m annotators for class j, 1 - max_j n_j / m is too small in the mean, by Jensen's inequality.
    The error of predicting one annotator by the majority of the other m - 1, with ties at random, is too
    large in the mean. Both biases are equal up to terms of order 1/m^2 if the density of the probabilities is
    smooth at the boundary between classes, so the corrected estimate is the mean of both. Rows with one
    annotator are left out.

    low, high: normal interval of the mean over the rows, for independent rows. With annotators, the lower end
    is that of the mean of 1 - max_j n_j / m, and the upper end that of the error of predicting one annotator:
    both biases are then covered for any distribution. level: confidence level. DataError for invalid soft
    labels.
    """
    if not 0 < level < 1:
        raise ConfigError(f"level: expected a number between 0 and 1, got {level!r}")
    shares = _checked(soft_labels)
    reach = ndtri(0.5 + level / 2)
    annotated = bool((shares == np.floor(shares)).all() and (shares.sum(axis=1) > 1).any())
    if annotated:
        shares = shares[shares.sum(axis=1) >= 2]
        lower, upper = votes_bounds(shares)
        values, mean, held_out = (lower + upper) / 2, float(lower.mean()), float(upper.mean())
    else:
        values = 1 - shares.max(axis=1) / _sums(shares)
        mean, held_out = float(values.mean()), float("nan")
    n = len(values)
    estimate = float(values.mean())
    ends = (lower, upper) if annotated else (values, values)
    half = [reach * each.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan for each in ends]
    low = max(float(ends[0].mean()) - half[0], 0.0)
    high = min(float(ends[1].mean()) + half[1], 1 - 1 / shares.shape[1])
    return SoftLabelError(estimate, float(low), float(high), mean, held_out, n, level, annotated)


def votes_bounds(votes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 - max n_j / m, and the error of predicting one annotator by the others, for each row.

    votes (n, K): numbers of annotators, at least 2 per row. The error is the mean over the annotators; the
    majority of the others is drawn at random among classes with equally many votes.
    """
    m, most = votes.sum(axis=1), votes.max(axis=1)
    tied = (votes == most[:, None]).sum(axis=1)
    second = np.where(votes == most[:, None], -1.0, votes).max(axis=1)  # -1: all classes are tied
    near = (votes == most[:, None] - 1).sum(axis=1)
    # An annotator of a class with most votes is predicted if no other class has as many without him.
    alone = np.where(second == most - 1, 1 / (1 + near), 1.0)
    right = np.where(tied == 1, most / m * alone, 0.0)
    return 1 - most / m, 1 - right


def _checked(soft_labels) -> np.ndarray:
    try:
        shares = np.asarray(soft_labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"expected a table of soft labels, one column per class: {error}") from None
    if shares.ndim != 2 or shares.shape[0] == 0 or shares.shape[1] < 2:
        raise DataError(f"expected soft labels of at least two classes, got an array of shape {shares.shape}")
    bad = ~np.isfinite(shares) | (shares < 0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"row {row}, column {column} of the soft labels is {shares[row, column]}; expected a probability "
            "or a number of annotators"
        )
    whole = (shares == np.floor(shares)).all()
    if whole and (shares.sum(axis=1) <= 1).all():
        raise DataError(
            "every row has one annotator, or none: soft labels have no information about the Bayes error",
            hint="expected probabilities, or numbers of annotators with at least 2 in some rows",
        )
    if not whole:
        _sums(shares)
    return shares


def _sums(shares: np.ndarray) -> np.ndarray:
    """Return the sums of the rows; DataError for a row of probabilities that do not sum to 1."""
    sums = shares.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if off.size:
        raise DataError(
            f"the soft labels of row {off[0]} sum to {sums[off[0]]:g}",
            hint="expected probabilities that sum to 1, or whole numbers of annotators",
        )
    return sums
