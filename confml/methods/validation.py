"""`validated_training` and `validated_test`: scikit-learn's checks of examples.

Arrays that scikit-learn would return unchanged are returned at once. On a few rows its checks take longer
than many fits, because they search for data frames and for names of features.
"""

import functools
import inspect
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from confml.data.large_integers import warn_of_rounded_integers
from confml.errors import ConfmlError

# Squares of larger values overflow in linear solvers, which then return zero weights or do not end.
LARGEST_VALUE = 1e100


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
    """Return whether a column of a data frame holds a text that is not a number."""
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


def without_weights(fit: Any) -> Any:
    """Decorate ``fit``: it raises ConfmlError for ``sample_weight``, which no method of confml uses."""
    if "sample_weight" in inspect.signature(fit).parameters:
        return fit

    @functools.wraps(fit)
    def unweighted(self, *args, **kwargs):
        if "sample_weight" in kwargs:
            if kwargs.pop("sample_weight") is not None:
                raise ConfmlError(
                    f"{type(self).__name__} cannot use sample_weight, because it counts every example once",
                    hint="leave it out, or fit a classifier with its weights and calibrate it: "
                    "Conformal(FrozenEstimator(classifier)).fit(X_calibration, y_calibration)",
                )
        return fit(self, *args, **kwargs)

    return unweighted


@functools.cache
def parameter_names(cls: type) -> list[str]:
    return sorted(inspect.signature(cls).parameters)


def class_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted class labels (c,) of y (m,), and the class numbers (m,) from 0.

    Raises ConfmlError for labels of types that cannot be sorted together, such as text and numbers.
    """
    try:
        # scikit-learn accepts integers and texts, with a warning if there are many different ones.
        plain = isinstance(y, np.ndarray) and y.dtype.kind in "biuU" and y.ndim == 1
        if not plain:
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if plain and 4 * len(classes) > len(y):
            check_classification_targets(y)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        raise ConfmlError(
            f"the labels y must be of one type, got {kinds}", hint="convert them, for example y.astype(str)"
        ) from None
    return classes, np.ascontiguousarray(codes, dtype=np.int64)


def takes_sparse(method: Any) -> bool:
    """Return whether a classifier takes sparse examples, as its tags say; False without tags."""
    return hasattr(method, "__sklearn_tags__") and bool(method.__sklearn_tags__().input_tags.sparse)


def check_largest(X, name: str) -> None:
    """Raise ConfmlError where training examples X (m, d), an array or sparse, exceed `LARGEST_VALUE`."""
    values = X.data if hasattr(X, "toarray") else X
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > LARGEST_VALUE:
        raise ConfmlError(
            f"{name} accepts values up to {LARGEST_VALUE:g}, and the training part has {largest:.3g}",
            hint="scale the features first, for example with the step 'min-max'",
        )


def finite_scores(scores: np.ndarray, name: str) -> np.ndarray:
    """Return the scores (n, c) of the method ``name``; raise ConfmlError unless all are finite.

    Finite test examples have scores that are not finite where products of large values overflow.
    """
    check_all_finite(np.isfinite(scores).all(axis=1), name)
    return scores


def check_all_finite(finite: np.ndarray, name: str) -> None:
    """Raise ConfmlError unless all examples have finite scores. finite: (n,) bool. name: of the method."""
    if not finite.all():
        raise ConfmlError(
            f"{name}: values are too large for double precision, so that {np.count_nonzero(~finite)} of "
            f"{len(finite)} examples have scores that are not finite",
            hint="scale the features first, for example with the step 'min-max'",
        )
