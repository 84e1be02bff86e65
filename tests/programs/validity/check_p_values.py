"""p-values of examples: TCM-NN, TCM-SVM, conformal methods, online TCM-NN and the martingales on it."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, EXACTLY, LEVELS, Claim, Entry, p_value_claims, rejected, sample, true_p_value
from scipy.stats import binom

from confml.measures import Case
from confml.measures.martingales import power_martingale, simple_mixture
from confml.methods.registry import build
from confml.methods.tcm_nn.online import OnlineTCMNN

STEPS = 100
FOREST = "sklearn.ensemble.RandomForestClassifier"
SIZES = ({"classes": 3, "rows": 60}, {"classes": 10, "rows": 100}, {"classes": 20, "rows": 100})


def tcm_nn(rng, classes, rows, **params):
    """p-value of a test example's label; a label that training never saw counts as rejected."""
    ties = params.pop("ties", False)
    X, y = sample(rng, rows + 1, classes, ties)
    method = build("tcm-nn", {**params, "random_state": int(rng.integers(2**31))})
    return rejected(np.nan_to_num(true_p_value(method, X, y, rows), nan=0.0))


def tcm_nn_by_class(rng, classes, rows, **params):
    """The same for test examples of one class, which is half as frequent as the others."""
    X, y = sample(rng, rows + 1, classes)
    y[:-1] = np.where((y[:-1] == 0) & (rng.random(rows) < 0.5), 1, y[:-1])
    X = rng.normal(size=X.shape) + 1.2 * np.column_stack([y % 4, y // 4])
    y[-1], X[-1] = 0, rng.normal(size=2)
    return rejected(true_p_value(build("tcm-nn", params), X, y, rows))


def few_rows(rng, classes, rows, method, **params):
    """p-value of a test example's label, if training has it; many classes have one training example."""
    X, y = sample(rng, rows + 1, classes)
    built = build(method, params)
    built.set_params(random_state=int(rng.integers(2**31)))
    return rejected(np.nan_to_num(true_p_value(built, X, y, rows), nan=1.0))


def every_label(rng, classes, rows, mondrian):
    """The same for all labels, those without a training example included, smoothed."""
    X, y = sample(rng, rows + 1, classes)
    seed = int(rng.integers(2**31))
    online = OnlineTCMNN(np.arange(classes), smoothed=True, mondrian=mondrian, random_state=seed)
    return rejected(float(online.learn(X[:rows], y[:rows]).predict(X[rows:]).scores[0, y[rows]]))


def single_row(rng, classes, rows, method, **params):
    """The same for a test example of a class that has exactly one training example."""
    X, y = sample(rng, rows + 1, classes)
    y[:-1] = np.maximum(y[:-1], 1)
    y[[rng.integers(0, rows), -1]] = 0
    X = rng.normal(size=X.shape) + 1.2 * np.column_stack([y % 4, y // 4])
    built = build(method, params)
    built.set_params(random_state=int(rng.integers(2**31)))
    return rejected(true_p_value(built, X, y, rows))


def tcm_svm(rng, classes, rows, **params):
    """p-value of a test example's label, two examples of each class at least."""
    X, y = sample(rng, rows + 1, classes)
    return rejected(np.nan_to_num(true_p_value(build("tcm-svm", params), X, y, rows), nan=0.0))


def conformal(rng, classes, rows, method="knn", ties=False, group=1, **params):
    """p-value of a test example's label, with one in ``group`` equal examples to a group."""
    X, y = sample(rng, rows + 1, classes, ties)
    groups = None
    if group > 1:
        X, y = np.repeat(X, group, axis=0)[: rows + 1], np.repeat(y, group)[: rows + 1]
        X = X + 0.1 * rng.normal(size=X.shape)
        groups = np.arange(rows) // group
    own = {"knn": {"k": 3}, FOREST: {"n_estimators": 100}}.get(method, {})
    settings = {
        name if name == "conformal" else f"conformal__{name}": value for name, value in params.items()
    }
    built = build(method, {**own, **settings})
    built.set_params(random_state=int(rng.integers(2**31)))
    if groups is None:
        return rejected(true_p_value(built, X, y, rows))
    built.fit(X[:rows], y[:rows], groups=groups)
    place = np.flatnonzero(built.classes_ == y[rows])
    return rejected(built.predict_p_values(X[rows:])[0, place[0]] if len(place) else np.nan)


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
    p = _online_p_values(rng, classes, ties)
    most = [binom.ppf(0.95, STEPS, level) for level in LEVELS]
    many = [np.sum(p <= level) > limit for level, limit in zip(LEVELS, most, strict=True)]
    return [*rejected(p[-1]), *many]


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
    p = _online_p_values(rng, classes, ties)
    found = []
    for martingale in (simple_mixture(p), power_martingale(p)):
        found += [martingale.max() >= np.log10(20), martingale.max() >= 2]
    return found


def martingale_claims(setting):
    """Ville's inequality."""
    return [
        Claim(f"{name} martingale reaches {limit}", 1 / limit)
        for name in ("mixture", "power")
        for limit in (20, 100)
    ]


def _online_p_values(rng, classes, ties):
    X, y = sample(rng, STEPS, classes, ties)
    online = OnlineTCMNN(np.arange(classes), smoothed=True, random_state=int(rng.integers(2**31)))
    return Case(online.predict_then_learn(X, y), y).smoothed


EXACT = "true label's p-value at most any given level with at most that probability"
SPLIT = "true label's p-value is at most e with probability at most e"
KINDS = ("lac", "aps", "raps")
# k-NN's shares are few values with many ties; naive Bayes has probabilities without ties.
SPLITS = [
    *({**size, "nonconformity": kind} for size in SIZES for kind in KINDS),
    *({**size, "method": "ovr-svm", "nonconformity": "margin"} for size in SIZES[:2]),
    *({**size, "method": "naive-bayes", "nonconformity": "lac"} for size in SIZES),
]
ENTRIES = (
    Entry("tcm-nn", "p-value, tcm-nn", EXACT,
          [{**size, "k": k, "ties": ties} for size in SIZES for k in (1, 10) for ties in (False, True)],
          p_value_claims(), tcm_nn, fraction=0.1),
    Entry("tcm-nn-smoothed", "p-value, tcm-nn smoothed", "makes the true label's p-value exactly uniform",
          [{**size, "k": k, "ties": True, "smoothed": True} for size in SIZES for k in (1, 10)],
          p_value_claims(EXACTLY), tcm_nn, fraction=0.4),
    Entry("tcm-nn-mondrian", "p-value, tcm-nn mondrian (a rare class)",
          "makes p-values valid for each class by itself",
          [{**size, "k": k, "mondrian": True} for size in SIZES for k in (1, 10)],
          p_value_claims(), tcm_nn_by_class, fraction=0.1),
    Entry("few-rows", "p-value, many classes with few rows",
          "true label's p-value is at most e with probability at most e, if training has the class",
          [{**size, **one} for size in ({"classes": 20, "rows": 40}, {"classes": 100, "rows": 150})
           for one in ({"method": "tcm-nn"}, {"method": "tcm-nn", "mondrian": True},
                       {"method": "naive-bayes", "conformal": "split"},
                       {"method": "naive-bayes", "conformal": "split", "conformal__mondrian": True})],
          p_value_claims(), few_rows, fraction=0.1),
    Entry("few-rows-smoothed", "p-value, OnlineTCMNN with all classes, smoothed",
          "makes the true label's p-value exactly uniform, with classes that have no example so far",
          [{"classes": classes, "rows": rows, "mondrian": mondrian}
           for classes, rows in ((20, 40), (100, 150)) for mondrian in (False, True)],
          p_value_claims(EXACTLY), every_label, fraction=0.4),
    Entry("single-row", "p-value of a class with one training row, mondrian, smoothed",
          "makes p-values valid for each class by itself",
          [{**size, "method": "tcm-nn", "k": k, "mondrian": True, "smoothed": True} for size in SIZES
           for k in (1, 10)], p_value_claims(EXACTLY), single_row, fraction=0.2),
    Entry("tcm-svm", "p-value, tcm-svm", EXACT, [{"classes": 2, "rows": 40}, {"classes": 3, "rows": 40}],
          p_value_claims(), tcm_svm, fraction=0.025),
    Entry("split", "p-value, conformal: split", SPLIT,
          [{**one, "conformal": "split"} for one in SPLITS], p_value_claims(), conformal, fraction=0.05),
    Entry("split-smoothed", "p-value, conformal: split, smoothed", "p-values of split are then uniform",
          [{**size, "conformal": "split", "nonconformity": "lac", "smoothed": True, "method": "naive-bayes"}
           for size in SIZES[:1]], p_value_claims(EXACTLY), conformal, fraction=0.4),
    Entry("split-mondrian", "p-value, conformal: split, mondrian", "the bounds hold for each class",
          [{**size, "conformal": "split", "nonconformity": "lac", "mondrian": True} for size in SIZES],
          p_value_claims(), conformal, fraction=0.05),
    Entry("split-groups", "p-value, conformal: split, with groups",
          "a random example of a new group errs with probability at most e + 1 / (G + 1)",
          [{**size, "conformal": "split", "nonconformity": "lac", "group": 5} for size in SIZES[:2]],
          group_claims, conformal, fraction=0.05),
    Entry("cross", "p-value, conformal: cross",
          "at most e with probability at most 2 (e + (1 - e) (K - 1) / (m + K))",
          [{**size, "conformal": "cross", "nonconformity": "lac"} for size in SIZES],
          cross_claims, conformal, fraction=0.025),
    Entry("cross-usual", "p-value, conformal: cross", "the error rate is usually near e if folds are large",
          [{**SIZES[0], "conformal": "cross", "nonconformity": "lac"}],
          p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("oob", "p-value, conformal: oob, 100 trees",
          "the true label's p-value is at most e with probability about e",
          [{**size, "method": FOREST, "conformal": "oob", "nonconformity": kind} for size in SIZES[:2]
           for kind in ("lac", "margin")], p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("oob-mondrian", "p-value, conformal: oob, mondrian, 100 trees",
          "the p-value of each class's rows is at most e with probability about e",
          [{**SIZES[0], "method": FOREST, "conformal": "oob", "mondrian": True}],
          p_value_claims(ABOUT), conformal, fraction=0.05),
    Entry("online", "p-value, protocol: online, smoothed", "independent and uniform: errors are coin tosses",
          [{"classes": classes, "ties": ties} for classes in (3, 10) for ties in (False, True)],
          online_claims, online_errors, fraction=0.4),
    Entry("martingales", "log10 martingales", "ever reaches C with probability at most 1/C",
          [{"classes": classes, "ties": ties} for classes in (3, 10) for ties in (False, True)],
          martingale_claims, martingales, fraction=0.2),
)  # fmt: skip
