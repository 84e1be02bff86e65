"""A user's own module, with classifiers and transformers that are right and wrong; tests copy it."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from confml import TCMNN, Prediction
from confml.methods.base import Method
from confml.plugins.parameters import Integer


class Nearest(ClassifierMixin, BaseEstimator):
    """Predict the nearest class mean. It accepts class numbers only.

    Parameters
    ----------
    sharpness : float
        Factor of the squared distances.
    """

    def __init__(self, sharpness=1.0, class_weight=None, n_jobs=None):
        self.sharpness = sharpness
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X, y):
        print("fitting")
        if set(y.tolist()) != set(range(len(set(y.tolist())))):
            raise ValueError(f"labels must be 0, 1, ..., got {sorted(set(y.tolist()))}")
        self.n_features_in_ = X.shape[1]
        self.means_ = np.stack([X[y == code].mean(axis=0) for code in range(y.max() + 1)])
        return self

    def shares(self, X):
        nearness = np.exp(-self.sharpness * ((X[:, None] - self.means_) ** 2).mean(axis=2)) + 1e-9
        return nearness / nearness.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.shares(X).argmax(axis=1)


class Probable(Nearest):
    def predict_proba(self, X):
        return self.shares(X)


class Backwards(Nearest):
    """Classes and columns in the opposite order, labels as floats in one column."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = np.arange(y.max(), -1, -1)
        return self

    def predict_proba(self, X):
        return self.shares(X)[:, ::-1]

    def predict(self, X):
        return super().predict(X).astype(float)[:, None]


class OneColumn(Nearest):
    """Probability of the second of two classes alone."""

    def predict_proba(self, X):
        return self.shares(X)[:, 1]


class Margins(Nearest):
    def decision_function(self, X):
        values = np.log(self.shares(X))
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


class TooFew(Nearest):
    def predict_proba(self, X):
        return self.shares(X)[:, :-1]


class NotANumber(Nearest):
    def predict_proba(self, X):
        return self.shares(X) * np.nan


class Fractions(Nearest):
    def predict(self, X):
        return self.shares(X).max(axis=1) / 2


class FailsInFit(Nearest):
    def fit(self, X, y):
        raise RuntimeError("no licence")


class Open(Nearest):
    """Accepts any further keyword."""

    def __init__(self, sharpness=1.0, **more_params):
        self.sharpness = sharpness
        self.more_params = more_params

    def get_params(self, deep=True):
        return {"sharpness": self.sharpness, **self.more_params}

    def set_params(self, **params):
        self.sharpness = params.pop("sharpness", self.sharpness)
        self.more_params.update(params)
        return self


class Changes(Nearest):
    def __init__(self, sharpness=1.0):
        self.sharpness = float(sharpness) + 1


class Refuses(Nearest):
    def __init__(self, sharpness=1.0):
        raise RuntimeError("no licence")


class Untagged(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class NoFit:
    pass


class Doubled(TransformerMixin, BaseEstimator):
    """Each column twice."""

    def fit(self, X, y=None):
        self.rows_ = len(X)
        return self

    def transform(self, X):
        return np.hstack([X, X])


class Words(Doubled):
    def transform(self, X):
        return np.full(X.shape, "word", dtype=object)


class OneRow(Doubled):
    def transform(self, X):
        return X.mean(axis=0, keepdims=True).repeat(max(len(X) // 2, 2), axis=0)


class Infinite(Doubled):
    def transform(self, X):
        return X / 0


class PValues(Method):
    """Return the p-values of TCM-NN, of a path and with a metric."""

    name = "p-values"
    version = 7
    views = ("p-value",)
    parameters = {"k": Integer("number of neighbours", low=1)}

    def __init__(self, k=1):
        self.k = k

    def prepare(self, X, y, grid=()):
        return {"rows": np.array([len(X)])}

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        assert state is None or state["rows"][0] == len(X)
        yield from super().evaluate_path(X, y, X_test, grid, rng, state)

    def fit(self, X, y):
        X, codes = self.check_fit_data(X, y)
        self.model_ = TCMNN(k=self.k).fit(X, self.classes_[codes])
        return self

    @property
    def fit_metrics_(self):
        return {"kept_rows": 5.0}

    def confident_predict(self, X, rng=None):
        return {"p-value": Prediction(self.classes_, self.model_.predict_p_values(X), "p-value")}


class PlainPValues(ClassifierMixin, BaseEstimator):
    """The same, without a base class of confml."""

    views = ("p-value",)

    def fit(self, X, y):
        self.model_ = TCMNN().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def confident_predict(self, X, rng=None):
        return {"p-value": Prediction(self.classes_, self.model_.predict_p_values(X), "p-value")}


class LogPValues(PValues):
    """Return logarithms of p-values, as margins."""

    name = "log-p-values"
    views = ("margin",)

    def confident_predict(self, X, rng=None):
        return {"margin": Prediction(self.classes_, np.log(self.model_.predict_p_values(X)), "margin")}


class Arrays(PlainPValues):
    """Return something else than predictions."""

    def confident_predict(self, X, rng=None):
        return {"p-value": np.zeros((len(X), 3))}


model = make_pipeline(StandardScaler(), SVC())
