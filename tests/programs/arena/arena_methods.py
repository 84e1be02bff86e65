"""Entries of the arena: the code of each package around the same classifiers, as views of one method.

An entry is a function of at most 40 lines. Split entries get one fitted classifier and one calibration
part, drawn plainly; the others get the whole training part and fit the classifier themselves. An entry that
raises an error refuses, and has no view. A package that gives sets for a level, and no p-values, has one view
per level, such as ``MAPIE LAC at 0.1``, with the scores 1 (in the set) and 0. Settings are those of the
documentation of each package.
"""

import os
import pickle
import subprocess
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from crepes import WrapClassifier
from mapie.classification import CrossConformalClassifier, SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from venn_abers import VennAbersCalibrator

from confml import Conformal, Prediction, VennAbers
from confml.measures import Metric
from confml.methods.base import Method
from confml.plugins.parameters import Choice

LEVELS = (0.05, 0.1, 0.2)
CALIBRATION = 0.25  # of the training part, as in the quick start of crepes
BASES = {
    "logistic": LogisticRegression(max_iter=1000),
    "forest": RandomForestClassifier(n_estimators=50, random_state=0),
    "boosting": HistGradientBoostingClassifier(
        learning_rate=0.2,
        max_iter=30,
        max_leaf_nodes=15,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    ),
    "k-nn": KNeighborsClassifier(),
}


class Remembered(ClassifierMixin, BaseEstimator):
    """A classifier of `BASES`; a fit to the same rows is done once, charged to each entry."""

    fits: dict = {}
    seconds = 0.0  # charged so far

    def __init__(self, base="logistic"):
        self.base = base

    def fit(self, X, y):
        key = self.base, np.shape(X), np.asarray(X).tobytes(), np.asarray(y).tobytes()
        if key not in self.fits:
            started = time.process_time()
            self.fits[key] = clone(BASES[self.base]).fit(X, y), time.process_time() - started
        self.model_, seconds = self.fits[key]
        Remembered.seconds += seconds
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


def forest_of(classifier, **settings):
    """Return an unfitted forest for out-of-bag scores; ValueError for another classifier."""
    if classifier.base != "forest":
        raise ValueError("out-of-bag scores need a forest")
    return clone(BASES["forest"]).set_params(**settings)


def mapie_split(score):
    def sets(fitted, X, y, new):
        answers, refusal = {}, None
        for level in LEVELS:
            model = SplitConformalClassifier(
                fitted, confidence_level=1 - level, conformity_score=score, random_state=0
            )
            try:
                answers[level] = model.conformalize(X, y).predict_set(new)[1][:, :, 0]
            except ValueError as error:  # too few rows for this level
                refusal = error
        if not answers:
            raise refusal
        return answers

    return sets


def mapie_cross(aggregation):
    def sets(classifier, X, y, new):
        model = CrossConformalClassifier(classifier, confidence_level=[1 - level for level in LEVELS])
        answer = model.fit_conformalize(X, y).predict_set(new, agg_scores=aggregation)[1]
        return {level: answer[:, :, i] for i, level in enumerate(LEVELS)}

    return sets


def crepes_p_values(smoothing=True, **settings):
    def p_values(classifier, X, y, new):
        model = WrapClassifier(classifier)
        if settings.get("oob"):
            model = WrapClassifier(forest_of(classifier, oob_score=True))
            model.fit(X, y)
        model.calibrate(X, y, seed=0, **settings)
        return "p-value", model.predict_p(new, smoothing=smoothing)

    return p_values


def confml_p_values(kind="split", **settings):
    def p_values(classifier, X, y, new):
        wrapped = {"split": FrozenEstimator, "oob": forest_of}.get(kind, clone)(classifier)
        model = Conformal(wrapped, kind=kind, random_state=0, **settings).fit(X, y)
        return "p-value", model.predict_p_values(new), model.classes_

    return p_values


@cache
def puncc_process():
    """Return a process with puncc, which needs numpy below 2: ARENA_PUNCC is the Python with it."""
    command = [os.environ["ARENA_PUNCC"], str(Path(__file__).with_name("puncc_worker.py"))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def puncc(name):
    def sets(fitted, X, y, new):
        process = puncc_process()
        if not np.isin(y, fitted.classes_).all():  # labels are columns for puncc
            raise ValueError("a calibration row has a label that the classifier does not know")
        columns = np.searchsorted(fitted.classes_, y)
        request = name, fitted.predict_proba(X), columns, fitted.predict_proba(new), LEVELS
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        answer, error, seconds = pickle.load(process.stdout)
        Remembered.seconds += seconds
        if not answer:
            raise ValueError(error)
        return {level: np.array(rows) for level, rows in answer.items()}

    return sets


def calibrated(make):
    def probabilities(classifier, X, y, new):
        return "probability", np.asarray(make(classifier).fit(X, y).predict_proba(new), float)

    return probabilities


def venn_abers(**settings):
    def probabilities(classifier, X, y, new):
        if classifier.base in ("forest", "boosting") and y.max() > 3:
            raise ValueError("left out above four classes: one fit for each pair of classes")
        model = VennAbersCalibrator(estimator=classifier, random_state=0, **settings)
        model.fit(X, y)
        return "probability", np.asarray(model.predict_proba(new), float)

    return probabilities


SPLIT = {
    "MAPIE LAC": mapie_split("lac"),
    "MAPIE APS": mapie_split("aps"),
    "MAPIE RAPS": mapie_split("raps"),
    "crepes": crepes_p_values(),
    "crepes unsmoothed": crepes_p_values(smoothing=False),
    "crepes Mondrian": crepes_p_values(class_cond=True),
    "puncc LAC": puncc("LAC"),
    "puncc classwise LAC": puncc("ClasswiseLAC"),
    "puncc APS": puncc("APS"),
    "puncc RAPS": puncc("RAPS"),
    "confml split": confml_p_values(),
    "confml split smoothed": confml_p_values(smoothed=True),
    "confml split Mondrian": confml_p_values(mondrian=True),
}
WHOLE = {
    "MAPIE cross, mean": mapie_cross("mean"),
    "MAPIE cross, crossval": mapie_cross("crossval"),
    "crepes out-of-bag": crepes_p_values(oob=True),
    "confml cross": confml_p_values("cross"),
    "confml out-of-bag": confml_p_values("oob"),
    "no calibration": calibrated(lambda classifier: classifier),
    "scikit-learn sigmoid": calibrated(CalibratedClassifierCV),
    "scikit-learn isotonic": calibrated(lambda base: CalibratedClassifierCV(base, method="isotonic")),
    "scikit-learn temperature": calibrated(lambda base: CalibratedClassifierCV(base, method="temperature")),
    "venn-abers": venn_abers(inductive=True, cal_size=0.2),
    "venn-abers cross": venn_abers(inductive=False, n_splits=5),
    "confml Venn-Abers": calibrated(lambda classifier: VennAbers(classifier, random_state=0)),
}


class Arena(Method):
    """All entries around one classifier: one view for each entry, or for each entry and level."""

    views = (*SPLIT, *WHOLE)
    parameters = {"base": Choice("classifier that the packages wrap", list(BASES))}
    metrics = {"calibration_rows": Metric("rows of the calibration part", None)} | {
        f"seconds {name}": Metric(f"CPU seconds of {name}, its fits of the classifier included", "lower")
        for name in (*SPLIT, *WHOLE)
    }

    def __init__(self, base="logistic"):
        self.base = base

    def fit(self, X, y):
        """Fit the classifier to three quarters of X (m, d) with labels y (m,); the rest calibrates."""
        X, codes = self.check_fit_data(X, y)
        Remembered.fits.clear()
        order = np.random.default_rng(len(codes)).permutation(len(codes))
        last, first = np.split(order, [int(CALIBRATION * len(codes))])
        self.fitted_ = Remembered(self.base).fit(X[first], codes[first])
        self.parts_ = (X[last], codes[last]), (X, codes)
        self.fit_metrics_ = {"calibration_rows": float(len(last))}
        return self

    fit_metrics_ = {}

    def confident_predict(self, X, rng=None):
        X = self.check_predict_data(X)
        part, whole = self.parts_
        labels = self.classes_[self.fitted_.predict(X)]
        views: dict[str, Prediction] = {}
        for name, entry in (SPLIT | WHOLE).items():
            before, started = Remembered.seconds, time.process_time()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if name in SPLIT:
                        answer = entry(self.fitted_, *part, X)
                        views |= views_of(name, answer, self.classes_, self.fitted_.classes_, labels)
                    else:
                        answer = entry(Remembered(self.base), *whole, X)
                        views |= views_of(name, answer, self.classes_, np.arange(len(self.classes_)), None)
            except Exception as error:  # a package that refuses
                warnings.warn(f"{self.base}, {name}: {type(error).__name__}: {error}", stacklevel=1)
                continue
            seconds = time.process_time() - started + Remembered.seconds - before
            self.fit_metrics_[f"seconds {name}"] = seconds
        return views


def views_of(name, answer, classes, columns, labels):
    """Return the views of an entry: of sets {level: (n, c)}, or of a kind and scores (n, c).

    columns: (c,) codes of the columns, if the entry returns none. labels: (n,) predicted by the classifier;
    None: those with the largest score.
    """
    if isinstance(answer, dict):
        classes = classes[columns]
        return {
            f"{name} at {level}": Prediction(classes, np.asarray(sets, float), "p-value", labels)
            for level, sets in answer.items()
        }
    kind, scores, *of_package = answer
    classes = classes[of_package[0] if of_package else columns]
    return {name: Prediction(classes, np.asarray(scores, float), kind, labels)}
