"""`confident_predict`: the views of a method inside a scikit-learn pipeline or search."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction


def confident_predict(model: Any, X, rng: np.random.Generator | None = None) -> Mapping[str, Prediction]:
    """Return every view of a fitted method, also where it is the last step of a fitted pipeline.

    Parameters
    ----------
    model : estimator
        A fitted method, a scikit-learn ``Pipeline`` that ends in one, or a search over either
        (``GridSearchCV`` and others with ``best_estimator_``). The interface of a pipeline has only the
        methods that scikit-learn knows, such as ``predict_proba``.
    X : array of shape (n, d)
        Features before the transformers of the pipeline.
    rng : numpy.random.Generator, optional
        Random generator of smoothed p-values and sampled views.

    Returns
    -------
    dict of Prediction
        Views by name: ``confident_predict(model, X)["p-value"].scores`` are p-values (n, c).

    Raises
    ------
    ConfmlError
        For a model that ends in another estimator.
    NotFittedError
        Before a fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from confml import TCMNN, confident_predict
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), TCMNN(k=1)).fit(X[::2], y[::2])
    >>> confident_predict(model, X[1::2])["p-value"].label_sets(0.05)[0]
    (0,)
    """
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if hasattr(model, "estimator") and not hasattr(model, "confident_predict"):
        check_is_fitted(model)
    while not hasattr(model, "confident_predict"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            check_is_fitted(model)
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model[-1]
        else:
            raise ConfmlError(
                f"{type(model).__name__} has no confident_predict",
                hint="pass a method of confml, a Pipeline that ends in one, or a search over either",
            )
    return model.confident_predict(X, rng)
