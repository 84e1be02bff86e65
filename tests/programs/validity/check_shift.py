"""p-values of examples of a test part with another distribution, with weights that are known or estimated."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, EXACTLY, Claim, Entry, grid, p_value_claims, rejected
from sklearn.linear_model import LogisticRegression

from confml import Conformal
from confml.methods.conformal import conformal as module
from confml.methods.naive_bayes import NaiveBayes
from confml.methods.shift import ShiftWeights, covariate_weights

TESTS = 30
NEW = (0.2, 0.3, 0.5)


def covariate(rng, classes, rows, known):
    """p-value of the first test example's label; the first feature has mean 1 in the test part."""
    X, T = rng.normal(size=(rows, 2)), rng.normal(size=(TESTS if not known else 5, 2)) + [1.0, 0.0]
    y, y_T = (_labels(rng, Z, classes) for Z in (X, T))

    def weights(X, T, rows):
        ratio = [np.exp(Z[:, 0] - 0.5) for Z in (X, T)]
        return ShiftWeights.of(ratio[0][rows], ratio[1][:, None], {})

    module.covariate_weights = weights if known else covariate_weights
    seed = int(rng.integers(2**31))
    method = Conformal(NaiveBayes(), calibration=0.5, smoothed=True, shift="covariate", random_state=seed)
    method.fit(X, y)
    column = np.flatnonzero(method.classes_ == y_T[0])
    # A class that training does not have is rejected at the rate of a p-value of its own: a fair draw.
    return rejected(method.predict_p_values(T)[0, column[0]] if len(column) else rng.random())


def _labels(rng, Z, classes):
    """Labels by the second feature, with noise that grows with the first."""
    position = Z[:, 1] + np.exp(Z[:, 0] - 1.0) * rng.normal(size=len(Z))
    return np.clip(np.floor(position * 2 + classes / 2), 0, classes - 1).astype(int)


def other_priors(rng, rows, tests, distance=1.5, new=NEW):
    """Draw X, y, T, y_T; priors 0.7, 0.2, 0.1 become ``new``. Classes are around the corners of a square."""
    y, y_T = rng.choice(3, rows, p=[0.7, 0.2, 0.1]), rng.choice(3, tests, p=new)
    y[:3] = 0, 1, 2
    X, T = (rng.normal(size=(len(z), 2)) + distance * np.column_stack([z % 2, z // 2]) for z in (y, y_T))
    return X, y, T, y_T


def label(rng, rows, mondrian):
    """The same if the priors change: label-conditional or weighted."""
    X, y, T, y_T = other_priors(rng, rows, 200)
    kind = {"mondrian": mondrian, "shift": None if mondrian else "label"}
    seed = int(rng.integers(2**31))
    method = Conformal(NaiveBayes(), calibration=0.5, smoothed=True, random_state=seed, **kind).fit(X, y)
    return rejected(method.predict_p_values(T)[0, y_T[0]])


def frequencies(rng, rows, tests, probabilities, distance=1.5, new=NEW, shift="label"):
    """Class frequencies of a test part outside their 95 % interval."""
    X, y, T, _ = other_priors(rng, rows, tests, distance, new)
    seed = int(rng.integers(2**31))
    method = Conformal(LogisticRegression(), calibration=0.5, shift=shift, random_state=seed).fit(X, y)
    method.predict_p_values(T)
    low, high = np.array([row[3:] for row in method.fit_details_.other["class_shift"]]).T
    return [not a <= truth <= b for a, b, truth in zip(low, high, new, strict=True)]


def frequency_claims(setting):
    rate = 0.1 if setting["rows"] == 200 else 0.05
    return [Claim(f"frequency of class {code} outside its interval", rate, ABOUT) for code in range(3)]


SIZES = ({"classes": 2, "rows": 100}, {"classes": 10, "rows": 100}, {"classes": 20, "rows": 200})
EXACT = "with the true weights, smoothed weighted p-values are uniform"
ENTRIES = (
    Entry("shift-known", "weighted p-value, split", EXACT,
          grid(SIZES[:1], known=True), p_value_claims(EXACTLY), covariate, fraction=0.2),
    Entry("shift-estimated", "weighted p-value, estimated weights",
          "the error rate is about the level if the effective sample size is large enough",
          grid(SIZES, known=False), p_value_claims(ABOUT), covariate, fraction=0.02),
    Entry("shift-label", "weighted or label-conditional p-value, label shift",
          "label-conditional p-values are valid under label shift",
          grid(rows=(100, 300), mondrian=True), p_value_claims(), label, fraction=0.1),
    Entry("shift-bbse", "weighted p-value, label shift, estimated weights",
          "the error rate is about the level", grid(rows=400, mondrian=False),
          p_value_claims(ABOUT), label, fraction=0.1),
    Entry("shift-frequencies-bbse", "class frequency of the test part, label",
          "the interval holds the frequency in about 95 % of test parts (90 % with 100 calibration rows)",
          [{"rows": rows, "tests": rows // 2, "probabilities": "calibrated", "shift": "label", **settings}
           for rows, settings in ((200, {}), (400, {}), (400, {"distance": 0.5}),
                                (400, {"new": (0.9, 0.08, 0.02)}), (4000, {}))],
          frequency_claims, frequencies, fraction=0.1),
)  # fmt: skip
