"""`validated_training` and `validated_test`: scikit-learn's checks of examples.

Arrays that scikit-learn would return unchanged are returned at once. On a few rows its checks take longer
than many fits, because they search for data frames and for names of features.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from confml.data.large_integers import warn_of_rounded_integers
from confml.errors import ConfmlError


def validated_training(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Return the training examples X (m, d) as C-ordered float64 and their labels y (m,).

    The number of features is stored in the estimator. options: of ``validate_data`` of scikit-learn.
    """
    if _is_plain(X) and _are_plain_labels(y, len(X)) and not hasattr(estimator, "feature_names_in_"):
        estimator.n_features_in_ = X.shape[1]
        return X, y
    check_numbers(X, type(estimator).__name__, bool(options.get("accept_sparse")))
    return validate_data(estimator, X, y, dtype=np.float64, order="C", **options)


def validated_test(estimator: Any, X: Any, **options: Any) -> Any:
    """Return the test examples X (n, d) as C-ordered float64; they must have the features of the fit.

    options: of ``validate_data`` of scikit-learn.
    """
    features = getattr(estimator, "n_features_in_", None)
    if _is_plain(X) and X.shape[1] == features and not hasattr(estimator, "feature_names_in_"):
        return X
    check_numbers(X, type(estimator).__name__, bool(options.get("accept_sparse")))
    return validate_data(estimator, X, dtype=np.float64, order="C", reset=False, **options)


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame, of pandas or another package."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and len(getattr(X, "shape", ())) == 2


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return rows of an array or data frame by their positions."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def checked_frame(estimator: Any, X: Any, y: Any = None) -> tuple[Any, Any]:
    """Return a data frame X (m, d) as it is, and its labels (m,) as an array; None without labels.

    With labels, the names of the columns are stored in the estimator; else they must be those of the fit.
    Raises ConfmlError without rows.
    """
    validate_data(estimator, X, reset=y is not None, skip_check_array=True)
    warn_of_rounded_integers(X)
    if y is None:
        return X, None
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if not len(y):
        raise ConfmlError("Found array with 0 sample(s), and at least 1 is needed")
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y.tolist()):
        y = y.astype(str)
    return X, y


def check_numbers(X: Any, name: str, accept_sparse: bool = False) -> None:
    """Raise ConfmlError for a data frame with columns of text, and for a sparse matrix that is not accepted;
    warn of integers that float64 rounds.

    name: of the method.
    """
    if is_frame(X) and hasattr(X, "iloc"):
        texts = [str(column) for column, kind in X.dtypes.items() if _is_text(X[column], kind)]
        if texts:
            raise ConfmlError(
                f"{name} needs numbers, and these columns are text: {', '.join(map(repr, texts[:5]))}",
                hint="code them in a pipeline, such as make_pipeline(make_column_transformer((OneHotEncoder("
                f"sparse_output=False), {texts[:5]}), remainder='passthrough'), {name}(...))",
            )
    elif hasattr(X, "toarray") and not accept_sparse:
        raise ConfmlError(
            f"{name} needs a dense array, got a sparse one",
            hint="OneHotEncoder(sparse_output=False) and make_column_transformer(..., sparse_threshold=0) "
            "give dense ones; X.toarray() converts",
        )
    warn_of_rounded_integers(X)


def _is_text(column: Any, kind: Any) -> bool:
    """Return whether a column of a data frame holds a text that is no number."""
    if getattr(kind, "kind", "O") not in "OSU" and str(kind) not in ("category", "str", "string"):
        return False
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return any(isinstance(value, str) for value in column.tolist())
    return False


def _is_plain(X: Any) -> bool:
    """Return whether X is a C-ordered float64 array of finite numbers with rows and columns."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or 0 in X.shape:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return X.flags.c_contiguous and bool(np.isfinite(X.sum()))


def _are_plain_labels(y: Any, rows: int) -> bool:
    """Return whether y is a C-ordered array with an integer or a text for each row."""
    return type(y) is np.ndarray and y.dtype.kind in "biuU" and y.shape == (rows,) and y.flags.c_contiguous
