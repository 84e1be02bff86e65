"""Bands and bounds: coverage bands, certified thresholds, the PAC bound, standard errors of the billiard."""

from __future__ import annotations

import itertools
import math

import numpy as np
from _entries import ABOUT, Claim, Entry, sample
from scipy.stats import norm

from confml.measures import Case
from confml.measures.bounds import sparse_svm_bound
from confml.measures.certified import certify, threshold_grid
from confml.measures.coverage_band import coverage_band
from confml.methods.registry import build

LEVEL, TESTS, DELTA = 0.1, 200, 0.05


def coverage(rng, classes, rows, method="tcm-nn", **params):
    """Coverage of all classes together on 200 test examples, outside the band of the validity figure."""
    case, smoothed = _case(rng, classes, rows, method, params)
    if case is None:
        return [False]
    covered = sum(right for _, right in case.class_coverage(LEVEL).values())
    low, high = coverage_band([(TESTS, int(case.counted[0]))], LEVEL, smoothed)
    return [not low <= covered / TESTS <= high]


def coverage_of_a_class(rng, classes, rows, method="tcm-nn", **params):
    """Coverage of the first class on 200 test examples, outside the band of class-coverage.csv."""
    case, smoothed = _case(rng, classes, rows, method, params)
    if case is None:
        return [False]
    examples, covered = case.class_coverage(LEVEL).get(0, (0, 0))
    if not examples:
        return [False]
    counted = int(case.counted[case.truth == 0][0])
    low, high = coverage_band([(examples, counted)], LEVEL, smoothed)
    return [not low <= covered / examples <= high]


def _case(rng, classes, rows, name, params):
    """A case in which training has all classes (None otherwise), and whether its p-values are smoothed."""
    X, y = sample(rng, rows + TESTS, classes)
    if len(np.unique(y[:rows])) < classes:
        return None, False
    method = build(name, params)
    if "random_state" in method.get_params():
        method.set_params(random_state=int(rng.integers(2**31)))
    method.fit(X[:rows], y[:rows])
    case = Case(method.confident_predict(X[rows:])["p-value"], y[rows:])
    return case, bool(params.get("smoothed") or params.get("conformal__smoothed"))


def certified(rng, rows, risk, hard):
    """Risk of the certified threshold, known exactly, above the certified one.

    Confidences are uniform on [1/2, 1] and right with that probability; hard: every threshold's risk is just
    above the promised one instead.
    """
    confidence = rng.uniform(0.5, 1, rows)
    correct = rng.random(rows) < (1 - risk * 1.0001 if hard else confidence)
    grid = threshold_grid(rng.uniform(0.5, 1, rows), rows, risk, DELTA)
    found = certify(confidence, correct, grid, risk, DELTA)
    if found.threshold is None:
        return [False]
    return [hard or (1 - found.threshold) / 2 > risk]


def pac_bound(rng, rows, attributes):
    """Error of a hard-margin SVM on two Gaussians, known exactly, above the bound."""
    from sklearn.svm import SVC

    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, attributes))
    X[:, 0] += 6.0 * y
    machine = SVC(C=1e9, kernel="linear").fit(X, y)
    if np.any(machine.predict(X) != y):
        return [False]
    w, b = machine.coef_[0], machine.intercept_[0]
    length = np.linalg.norm(w)
    error = (norm.sf(-b / length) + norm.cdf(-(6.0 * w[0] + b) / length)) / 2
    return [error > sparse_svm_bound(rows, len(machine.support_), DELTA)]


def billiard(rng, sampler, bounces):
    """Probability of a class by billiard, more than 1.96 standard errors off the area of version space."""
    while True:
        true = rng.normal(size=3)
        X = rng.normal(size=(3, 3))
        y = np.sign(X @ true)
        x = rng.normal(size=3)
        if len(set(y)) < 2:
            continue
        exact = _area([*(y[:, None] * X), x]) / _area(list(y[:, None] * X))
        if 0.05 < exact < 0.95:
            break
    method = build(
        "bayes-transduction",
        {
            "kernel": "linear",
            "sampler": sampler,
            "n_bounces": bounces,
            "random_state": int(rng.integers(2**31)),
        },
    )
    view = method.fit(X, y).confident_predict(x[None])["probability"]
    error = abs(view.scores[0, 1] - exact)
    return [error > 1.96 * view.extra["standard_error"][0]]


def billiard_near_one(rng, bounces):
    """Probability above 0.98 by a short billiard, more than 3 standard errors off that of a long one."""
    X, new = rng.normal(size=(40, 4)), rng.normal(size=(20, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
    if len(set(y.tolist())) < 2:
        return [False]
    seeds = rng.integers(2**31, size=2).tolist()
    long, short = (
        build("bayes-transduction", {"sigma": 2.0, "n_bounces": number, "random_state": seed})
        .fit(X, y)
        .confident_predict(new)["probability"]
        for number, seed in ((60 * bounces, seeds[0]), (bounces, seeds[1]))
    )
    near = np.flatnonzero(long.scores.max(axis=1) > 0.98)
    if not len(near):
        return [False]
    row = rng.choice(near)
    return [abs(short.scores[row, 0] - long.scores[row, 0]) > 3 * short.extra["standard_error"][row]]


def _area(normals):
    """Area of the part of the unit sphere where every normal has a positive product, a convex polygon."""
    corners = []
    for a, b in itertools.combinations(normals, 2):
        for v in (np.cross(a, b), np.cross(b, a)):
            if all(n is a or n is b or n @ v > 0 for n in normals):
                corners.append(v / np.linalg.norm(v))
    if len(corners) < 3:
        return 0.0
    centre = np.sum(corners, axis=0)
    centre /= np.linalg.norm(centre)
    first = corners[0] - (corners[0] @ centre) * centre
    other = np.cross(centre, first)
    corners.sort(key=lambda v: math.atan2(v @ other, v @ first))
    total = 0.0
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        total += 2 * math.atan2(abs(centre @ np.cross(a, b)), 1 + centre @ a + a @ b + b @ centre)
    return total


def _outside(kind=ABOUT, rate=0.05):
    return lambda setting: [Claim(f"coverage at level {LEVEL:g} outside the 95 % band", rate, kind)]


SIZES = [
    {"classes": classes, "rows": rows}
    for classes, rows in ((3, 60), (3, 100), (3, 200), (10, 100), (10, 200))
]
SPLIT = {"method": "naive-bayes", "conformal": "split", "conformal__nonconformity": "lac"}
BY_CLASS = "coverage of this class lies in the band with probability 95 % if its p-values are valid for it"
ENTRIES = (
    Entry("band", "95 % band, validity figure, tcm-nn",
          "TCM-NN leaves the band in 6 to 11 % of the splits with k = 1, in 3 to 7 % with k = 10",
          [{**size, "k": k, "smoothed": True} for size in SIZES for k in (1, 10)],
          lambda setting: _outside(rate=0.11 if setting["k"] == 1 else 0.07)(setting), coverage,
          fraction=0.1),
    Entry("band-split", "95 % band, validity figure, split",
          "exact for split conformal prediction without ties",
          [{**size, **SPLIT} for size in SIZES[:4]], _outside("at most"), coverage, fraction=0.1),
    Entry("band-class", "95 % band, class-coverage.csv, tcm-nn mondrian", BY_CLASS,
          [{**size, "k": k, "mondrian": True, "smoothed": True} for size in SIZES for k in (1, 10)],
          _outside(), coverage_of_a_class, fraction=0.1),
    Entry("certified", "certified.csv, threshold",
          "with probability at least 1 - delta the accepted new examples have risk at most r",
          [{"rows": rows, "risk": risk, "hard": hard}
           for rows, risk in ((200, 0.1), (200, 0.05), (1000, 0.05)) for hard in (False, True)],
          lambda setting: [Claim("true risk above the certified one", DELTA)], certified),
    Entry("pac-bound", "bound on the error of an SVM", "true with probability 1 - delta",
          [{"rows": rows, "attributes": attributes} for rows, attributes in ((60, 2), (200, 10))],
          lambda setting: [Claim("true error above the bound", DELTA)], pac_bound, fraction=0.1),
    Entry("billiard", "standard error, bayes-transduction", "standard error of the label's p",
          [{"sampler": sampler, "bounces": 4000} for sampler in ("geodesic",)],
          lambda setting: [Claim("more than 1.96 standard errors off", 0.05, ABOUT)], billiard,
          fraction=0.05),
    Entry("near-one", "standard error, bayes-transduction, p near 1",
          "at least 1 / effective sample size of the trajectory", [{"bounces": 5000}],
          lambda setting: [Claim("more than 3 standard errors off", 0.01, ABOUT)], billiard_near_one,
          fraction=0.05),
)  # fmt: skip
