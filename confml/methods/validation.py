"""`validated_training` and `validated_test`: scikit-learn's checks of examples.

Arrays that scikit-learn would return unchanged are returned at once. On a few rows its checks take longer
than many fits, because they search for data frames and for names of features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confml._sklearn import validate_data


def validated_training(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Return the training examples X (m, d) as C-ordered float64 and their labels y (m,).

    The number of features is stored in the estimator. options: of ``validate_data`` of scikit-learn.
    """
    if _is_plain(X) and _are_plain_labels(y, len(X)) and not hasattr(estimator, "feature_names_in_"):
        estimator.n_features_in_ = X.shape[1]
        return X, y
    return validate_data(estimator, X, y, dtype=np.float64, order="C", **options)


def validated_test(estimator: Any, X: Any, **options: Any) -> Any:
    """Return the test examples X (n, d) as C-ordered float64; they must have the features of the fit.

    options: of ``validate_data`` of scikit-learn.
    """
    known = getattr(estimator, "n_features_in_", None)
    if _is_plain(X) and X.shape[1] == known and not hasattr(estimator, "feature_names_in_"):
        return X
    return validate_data(estimator, X, dtype=np.float64, order="C", reset=False, **options)


def _is_plain(X: Any) -> bool:
    """Return whether X is a C-ordered float64 array of finite numbers with rows and columns."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or 0 in X.shape:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return X.flags.c_contiguous and bool(np.isfinite(X.sum()))


def _are_plain_labels(y: Any, rows: int) -> bool:
    """Return whether y is a C-ordered array with an integer or a text for each row."""
    return type(y) is np.ndarray and y.dtype.kind in "biuU" and y.shape == (rows,) and y.flags.c_contiguous
