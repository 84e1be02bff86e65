"""Checks of examples and labels against scikit-learn's, which are not called for plain arrays."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from confml.methods.validation import class_codes, validated_test, validated_training


class Classifier(ClassifierMixin, BaseEstimator):
    pass


X = np.arange(12.0).reshape(6, 2)
EXAMPLES = {
    "plain": X,
    "read-only": np.broadcast_to(X, X.shape),
    "columns": np.asfortranarray(X),
    "every second row": X[::2],
    "list": X.tolist(),
    "table": pd.DataFrame(X, columns=["a", "b"]),
    "nan": np.where(X == 3, np.nan, X),
    "infinite": np.where(X == 3, np.inf, X),
    "sum overflows": np.full((3, 2), 1e308),
    "no rows": X[:0],
    "no columns": X[:, :0],
    "one dimension": X[0],
    "three columns": np.arange(9.0).reshape(3, 3),
    "text": X.astype(str),
}
LABELS = {
    "integers": lambda n: np.arange(n) % 2,
    "text": lambda n: np.array(["a", "b"])[np.arange(n) % 2],
    "truth values": lambda n: np.arange(n) % 2 == 1,
    "objects": lambda n: np.array(["a", "b"], dtype=object)[np.arange(n) % 2],
    "column": lambda n: np.arange(n)[:, None] % 2,
    "nan": lambda n: np.full(n, np.nan),
    "all different": lambda n: np.arange(n),
    "none": lambda n: None,
}


def outcome(function, *args, **options):
    """Return the result of a call, its arrays as bytes, or its error; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            arrays = function(*args, **options)
            arrays = arrays if isinstance(arrays, tuple) else (arrays,)
            result = [(type(a), a.dtype, a.shape, a.flags.c_contiguous, a.tobytes()) for a in arrays]
        except (ValueError, TypeError) as error:
            result = [type(error), str(error)]
    # Files that other tests left open are closed whenever the collector finds them.
    ours = [warning for warning in caught if warning.category is not ResourceWarning]
    return result, [(warning.category, str(warning.message)) for warning in ours]


def of_sklearn(estimator, *examples, **options):
    return validate_data(estimator, *examples, dtype=np.float64, order="C", **options)


def attributes(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items()}


@pytest.mark.parametrize("after", EXAMPLES)
@pytest.mark.parametrize("before", ["plain", "table"])
def test_every_kind_of_examples_as_scikit_learn(before, after):
    for labels in LABELS if before == "plain" else ["integers"]:
        ours, theirs = Classifier(), Classifier()
        for kind in (before, after):
            examples = EXAMPLES[kind]
            y = LABELS[labels](len(examples))
            assert outcome(validated_training, ours, examples, y) == outcome(of_sklearn, theirs, examples, y)
            assert attributes(ours) == attributes(theirs)


@pytest.mark.parametrize("tested", EXAMPLES)
@pytest.mark.parametrize("fitted", ["plain", "table", "three columns"])
def test_predictions_are_checked_as_scikit_learn_does(fitted, tested):
    ours, theirs = Classifier(), Classifier()
    y = LABELS["integers"](len(EXAMPLES[fitted]))
    validated_training(ours, EXAMPLES[fitted], y)
    of_sklearn(theirs, EXAMPLES[fitted], y)
    rows = EXAMPLES[tested]
    assert outcome(validated_test, ours, rows) == outcome(of_sklearn, theirs, rows, reset=False)
    assert attributes(ours) == attributes(theirs)


@pytest.mark.parametrize("rows", [1, 8, 40])
@pytest.mark.parametrize("kind", [kind for kind in LABELS if kind != "none"])
def test_class_codes_accept_and_warn_as_scikit_learn(kind, rows):
    def literal(y):
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int64)

    y = LABELS[kind](rows)
    assert outcome(class_codes, y) == outcome(literal, y)
