"""p-values of examples: TCM-NN, TCM-SVM, conformal methods, online TCM-NN and the martingales on it."""

from __future__ import annotations

import functools

import numpy as np
from _entries import ABOUT, EXACTLY, LEVELS, Claim, Entry, grid, p_value_claims, rejected
from _examples import features, online_p_values, sample, seeded, true_p_value
from scipy.stats import binom

from confml.measures.martingales import power_martingale, simple_mixture
from confml.methods.tcm_nn.online import OnlineTCMNN

STEPS = 100
FOREST = "sklearn.ensemble.RandomForestClassifier"
SIZES = ({"classes": 3, "rows": 60}, {"classes": 10, "rows": 100}, {"classes": 20, "rows": 100})
FEW_ROWS = ({"classes": 20, "rows": 40}, {"classes": 100, "rows": 150})


def label(rng, classes, rows, method="tcm-nn", absent=np.nan, ties=False, **params):
    """p-value of a test example's label. absent: that of a label that training never saw; NaN is no error."""
    X, y = sample(rng, rows + 1, classes, ties)
    return rejected(np.nan_to_num(true_p_value(seeded(rng, method, params), X, y, rows), nan=absent))


def rare_label(rng, classes, rows, method="tcm-nn", **params):
    """The same for test examples of one class, which is half as frequent as the others."""
    X, y = sample(rng, rows + 1, classes)
    y[:-1] = np.where((y[:-1] == 0) & (rng.random(rows) < 0.5), 1, y[:-1])
    X = features(rng, y)
    y[-1], X[-1] = 0, rng.normal(size=2)
    return rejected(true_p_value(seeded(rng, method, params), X, y, rows))


def single_row(rng, classes, rows, method, **params):
    """The same for a test example of a class that has exactly one training example."""
    _, y = sample(rng, rows + 1, classes)
    y[:-1] = np.maximum(y[:-1], 1)
    y[[rng.integers(0, rows), -1]] = 0
    X = features(rng, y)
    return rejected(true_p_value(seeded(rng, method, params), X, y, rows))


def every_label(rng, classes, rows, mondrian):
    """The same for all labels, those without a training example included, smoothed."""
    X, y = sample(rng, rows + 1, classes)
    seed = int(rng.integers(2**31))
    online = OnlineTCMNN(np.arange(classes), smoothed=True, mondrian=mondrian, random_state=seed)
    return rejected(float(online.learn(X[:rows], y[:rows]).predict(X[rows:]).scores[0, y[rows]]))


def conformal(rng, classes, rows, method="knn", group=1, **params):
    """p-value of a test example's label, with ``group`` similar examples in a group."""
    X, y = sample(rng, rows + 1, classes)
    fit = {}
    if group > 1:
        X, y = np.repeat(X, group, axis=0)[: rows + 1], np.repeat(y, group)[: rows + 1]
        X = X + 0.1 * rng.normal(size=X.shape)
        fit = {"groups": np.arange(rows) // group}
    settings = {"knn": {"k": 3}, FOREST: {"n_estimators": 100}}.get(method, {}) | {
        name if name == "conformal" else f"conformal__{name}": value for name, value in params.items()
    }
    return rejected(true_p_value(seeded(rng, method, settings), X, y, rows, **fit))


def cross_claims(setting):
    """Bound of cross-conformal prediction: 2 (e + (1 - e) (K - 1) / (m + K)) at level e."""
    m, folds = setting["rows"], 5
    bounds = [2 * (e + (1 - e) * (folds - 1) / (m + folds)) for e in LEVELS]
    return [Claim(f"p <= {e:g}", bound) for e, bound in zip(LEVELS, bounds, strict=True)]


def group_claims(setting):
    """Bound of split conformal prediction with groups: e + 1 / (G + 1) for G calibration groups."""
    G = round(0.3 * setting["rows"] / setting["group"])
    return [Claim(f"p <= {e:g}", e + 1 / (G + 1)) for e in LEVELS]


def online_errors(rng, classes, ties):
    """Smoothed p-values of an online pass: the last, and the number of errors of all steps."""
    p = online_p_values(rng, STEPS, classes, ties)
    return [*rejected(p[-1]), *(np.sum(p <= level) > binom.ppf(0.95, STEPS, level) for level in LEVELS)]


def online_claims(setting):
    """Errors at a level are independent: their number exceeds a binomial quantile as often as it should."""
    many = [
        Claim(f"more than the binomial 95 % quantile of {STEPS} errors at {e:g}",
              float(binom.sf(binom.ppf(0.95, STEPS, e), STEPS, e)), EXACTLY)
        for e in LEVELS
    ]  # fmt: skip
    return [*p_value_claims(EXACTLY)(setting), *many]


def martingales(rng, classes, ties):
    """Largest value of the two martingales of an online pass."""
    p = online_p_values(rng, STEPS, classes, ties)
    largest = [martingale(p).max() for martingale in (simple_mixture, power_martingale)]
    return [value >= limit for value in largest for limit in (np.log10(20), 2)]


def martingale_claims(setting):
    """Ville's inequality."""
    return [
        Claim(f"{name} martingale reaches {limit}", 1 / limit)
        for name in ("mixture", "power")
        for limit in (20, 100)
    ]


EXACT = "true label's p-value at most any given level with at most that probability"
SPLIT = "true label's p-value is at most e with probability at most e"
BY_CLASS = "makes p-values valid for each class by itself"
# k-NN's shares are few values with many ties; naive Bayes has probabilities without ties.
SPLITS = [
    *grid(SIZES, nonconformity=("lac", "aps", "raps")),
    *grid(SIZES[:2], method="ovr-svm", nonconformity="margin"),
    *grid(SIZES, method="naive-bayes", nonconformity="lac"),
]
FEW_ROWS_METHODS = (
    {"method": "tcm-nn"},
    {"method": "tcm-nn", "mondrian": True},
    {"method": "naive-bayes", "conformal": "split"},
    {"method": "naive-bayes", "conformal": "split", "conformal__mondrian": True},
)
whole = functools.partial(label, absent=0.0)
ENTRIES = (
    Entry("tcm-nn", "p-value, tcm-nn", EXACT, grid(SIZES, k=(1, 10), ties=(False, True)),
          p_value_claims(), whole, fraction=0.1),
    Entry("tcm-nn-smoothed", "p-value, tcm-nn smoothed", "makes the true label's p-value exactly uniform",
          grid(SIZES, k=(1, 10), ties=True, smoothed=True),
          p_value_claims(EXACTLY), whole, fraction=0.4),
    Entry("tcm-nn-mondrian", "p-value, tcm-nn mondrian (a rare class)", BY_CLASS,
          grid(SIZES, k=(1, 10), mondrian=True), p_value_claims(), rare_label, fraction=0.1),
    Entry("few-rows", "p-value, many classes with few rows",
          "true label's p-value is at most e with probability at most e, if training has the class",
          [{**size, **method} for size in FEW_ROWS for method in FEW_ROWS_METHODS],
          p_value_claims(), label, fraction=0.1),
    Entry("few-rows-smoothed", "p-value, OnlineTCMNN with all classes, smoothed",
          "makes the true label's p-value exactly uniform, with classes that have no example so far",
          grid(FEW_ROWS, mondrian=(False, True)), p_value_claims(EXACTLY), every_label, fraction=0.4),
    Entry("single-row", "p-value of a class with one training row, mondrian, smoothed", BY_CLASS,
          grid(SIZES, method="tcm-nn", k=(1, 10), mondrian=True, smoothed=True),
          p_value_claims(EXACTLY), single_row, fraction=0.2),
    Entry("tcm-svm", "p-value, tcm-svm", EXACT, grid(classes=(2, 3), rows=40),
          p_value_claims(), functools.partial(whole, method="tcm-svm"), fraction=0.025),
    Entry("split", "p-value, conformal: split", SPLIT, grid(SPLITS, conformal="split"),
          p_value_claims(), conformal, fraction=0.05),
    Entry("split-smoothed", "p-value, conformal: split, smoothed", "p-values of split are then uniform",
          [{**SIZES[0], "conformal": "split", "nonconformity": "lac", "smoothed": True,
            "method": "naive-bayes"}], p_value_claims(EXACTLY), conformal, fraction=0.4),
    Entry("split-mondrian", "p-value, conformal: split, mondrian", "the bounds hold for each class",
          grid(SIZES, conformal="split", nonconformity="lac", mondrian=True),
          p_value_claims(), conformal, fraction=0.05),
    Entry("split-groups", "p-value, conformal: split, with groups",
          "a random example of a new group errs with probability at most e + 1 / (G + 1)",
          grid(SIZES[:2], conformal="split", nonconformity="lac", group=5),
          group_claims, conformal, fraction=0.05),
    Entry("cross", "p-value, conformal: cross",
          "at most e with probability at most 2 (e + (1 - e) (K - 1) / (m + K))",
          grid(SIZES, conformal="cross", nonconformity="lac"), cross_claims, conformal, fraction=0.025),
    Entry("cross-usual", "p-value, conformal: cross", "the error rate is usually near e if folds are large",
          grid(SIZES[:1], conformal="cross", nonconformity="lac"),
          p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("oob", "p-value, conformal: oob, 100 trees",
          "the true label's p-value is at most e with probability about e",
          grid(SIZES[:2], method=FOREST, conformal="oob", nonconformity=("lac", "margin")),
          p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("oob-mondrian", "p-value, conformal: oob, mondrian, 100 trees",
          "the p-value of each class's rows is at most e with probability about e",
          grid(SIZES[:1], method=FOREST, conformal="oob", mondrian=True),
          p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("online", "p-value, protocol: online, smoothed", "independent and uniform: errors are coin tosses",
          grid(classes=(3, 10), ties=(False, True)), online_claims, online_errors, fraction=0.4),
    Entry("martingales", "log10 martingales", "ever reaches C with probability at most 1/C",
          grid(classes=(3, 10), ties=(False, True)), martingale_claims, martingales, fraction=0.2),
)  # fmt: skip
