"""Out-of-bag calibration: each training example is scored by the trees that were fitted without it.

Source: Johansson, Boström, Löfström, Linusson, Regression conformal prediction with random forests, 2014.
"""

import warnings

import numpy as np

from confml.errors import ConfigError
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.conformal.selection import FittedPart
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.parameters import IncompatibleParameters

OUT_OF_BAG = "oob"


def check_bags(name: str, method: Method) -> None:
    """Raise ConfigError unless the method ``name`` is a classifier with out-of-bag probabilities."""
    params = method.get_params(deep=False)
    if not isinstance(method, SklearnMethod) or "oob_score" not in params:
        raise ConfigError(
            f"{name} has no out-of-bag rows, because it does not fit an ensemble to bootstrap samples",
            hint="use conformal: split, or a classifier such as sklearn.ensemble.RandomForestClassifier",
        )
    needed = {"bootstrap": True, "warm_start": False}
    for parameter, value in needed.items():
        if params.get(parameter, value) != value:
            hint = f"add {parameter}: {str(value).lower()}, or use conformal: split"
            raise IncompatibleParameters(
                f"{name} has no out-of-bag rows with {parameter}: {str(not value).lower()}",
                owner=name,
                parameter=parameter,
                value=params[parameter],
                hint=hint,
            )


def fit_with_bags(method: Method, X: np.ndarray, y: np.ndarray) -> None:
    """Fit an ensemble and its out-of-bag probabilities; `out_of_bag_view` warns in place of scikit-learn."""
    method.set_params(oob_score=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some inputs do not have OOB|invalid value encountered in divide")
        method.fit(X, y)


def out_of_bag_view(part: FittedPart, rows: int) -> tuple[np.ndarray, Prediction]:
    """Return the training examples (k,) that at least one tree did not see, and their probabilities (k, c).

    rows: number of training examples before the steps. A warning says how many are in every bag.
    Raises ConfigError if steps have dropped rows.
    """
    assert isinstance(part.method, SklearnMethod)
    shares = part.method.estimator_.oob_decision_function_
    if len(shares) != rows:
        raise ConfigError(
            f"the steps keep {len(shares)} of {rows} training rows, and the other rows are in no bag",
            hint="use conformal: split, or remove the step that drops rows",
        )
    # scikit-learn's forests have zeros for an example that is in every bag, its bagging has NaN.
    scored = np.flatnonzero(shares.sum(axis=1) > 0)
    if len(scored) < rows:
        text = f"{rows - len(scored)} of {rows} training rows are in every bag and do not calibrate"
        warnings.warn(f"{part.name}: {text}; use more trees", UserWarning, stacklevel=2)
    return scored, part.method.probability_view(shares[scored])
