"""Bands and bounds: coverage, certified thresholds, PAC, standard errors of the billiard, Bayes errors."""

from __future__ import annotations

import functools
import itertools

import numpy as np
from _entries import ABOUT, MEASURED, Claim, Entry, grid
from _examples import sample, seeded
from scipy.stats import norm
from sklearn.svm import SVC

from confml.bayes_error.rates import bayes_errors
from confml.data.generators import GENERATORS
from confml.measures import Case
from confml.measures.bounds import sparse_svm_bound
from confml.measures.certified import certify, threshold_grid
from confml.measures.certified_paths import Path, certify_paths
from confml.measures.coverage_band import coverage_band

LEVEL, TESTS, DELTA = 0.1, 200, 0.05


def coverage(rng, classes, rows, method="tcm-nn", of_a_class=False, **params):
    """Coverage of all classes, or of the first one, on 200 test examples, outside the 95 % band.

    Training has all classes; a draw without one of them counts as inside.
    """
    X, y = sample(rng, rows + TESTS, classes)
    if len(np.unique(y[:rows])) < classes:
        return [False]
    model = seeded(rng, method, params).fit(X[:rows], y[:rows])
    case = Case(model.confident_predict(X[rows:])["p-value"], y[rows:])
    in_band = case.truth == 0 if of_a_class else np.ones(TESTS, bool)
    if not in_band.any():
        return [False]
    covered = case.covered(LEVEL)[in_band]
    parts = [(len(covered), int(case.counted[in_band][0]))]
    low, high = coverage_band(parts, LEVEL, params.get("smoothed", False))
    return [not low <= covered.mean() <= high]


def certified(rng, rows, risk, hard):
    """Risk of the certified threshold, known exactly, above the certified one.

    Confidences are uniform on [1/2, 1] and right with that probability; hard: every threshold's risk is just
    above the promised one instead.
    """
    confidence = rng.uniform(0.5, 1, rows)
    correct = rng.random(rows) < (1 - risk * 1.0001 if hard else confidence)
    grid = threshold_grid(rng.uniform(0.5, 1, rows), rows, risk, DELTA)
    threshold = certify(confidence, correct, grid, risk, DELTA).threshold
    return [threshold is not None and (hard or (1 - threshold) / 2 > risk)]


def certified_over_methods(rng, rows, methods, risk, hard):
    """Any certified threshold of any method whose risk, known exactly, is above the limit.

    The risk of the rows with confidence >= t is 0.1 (1 - t)^1.5; hard: just above the limit at every t.
    """
    paths = []
    for _ in range(methods):
        confidence = rng.random(rows)
        chance = risk * 1.0001 if hard else 0.25 * (1 - confidence) ** 1.5
        grid = threshold_grid(rng.random(rows), rows, risk, DELTA / methods)
        paths.append(Path.of_errors(confidence, rng.random(rows) >= chance, grid, risk))
    counts = certify_paths(paths, DELTA)
    thresholds = [t for path, n in zip(paths, counts, strict=True) for t in path.thresholds[:n]]
    return [any(hard or 0.1 * (1 - t) ** 1.5 > risk for t in thresholds)]


def pac_bound(rng, rows, attributes):
    """Error of a hard-margin SVM on two Gaussians, known exactly, above the bound."""
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, attributes))
    X[:, 0] += 6.0 * y
    machine = SVC(C=1e9, kernel="linear").fit(X, y)
    if np.any(machine.predict(X) != y):
        return [False]
    w, b = machine.coef_[0], machine.intercept_[0]
    distances = np.array([-b, -(6.0 * w[0] + b)]) / np.linalg.norm(w)
    error = (norm.sf(distances[0]) + norm.cdf(distances[1])) / 2
    return [error > sparse_svm_bound(rows, len(machine.support_), DELTA)]


def billiard(rng, sampler, bounces):
    """Probability of a class by billiard, more than 1.96 standard errors off the area of version space."""
    exact, y = 0.0, np.zeros(3)
    while len(set(y)) < 2 or not 0.05 < exact < 0.95:
        true, X, x = rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=3)
        y = np.sign(X @ true)
        normals = y[:, None] * X
        exact = _area([*normals, x]) / _area([*normals])
    params = {"kernel": "linear", "sampler": sampler, "n_bounces": bounces}
    method = seeded(rng, "bayes-transduction", params)
    view = method.fit(X, y).confident_predict(x[None])["probability"]
    return [abs(view.scores[0, 1] - exact) > 1.96 * view.extra["standard_error"][0]]


def billiard_near_one(rng, bounces):
    """Probability above 0.98 by a short billiard, more than 3 standard errors off that of a long one."""
    X, new = rng.normal(size=(40, 4)), rng.normal(size=(20, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
    if len(set(y.tolist())) < 2:
        return [False]
    long, short = (
        seeded(rng, "bayes-transduction", {"sigma": 2.0, "n_bounces": number})
        .fit(X, y)
        .confident_predict(new)["probability"]
        for number in (60 * bounces, bounces)
    )
    near = np.flatnonzero(long.scores.max(axis=1) > 0.98)
    if not len(near):
        return [False]
    row = rng.choice(near)
    return [abs(short.scores[row, 0] - long.scores[row, 0]) > 3 * short.extra["standard_error"][row]]


def _area(normals):
    """Area of the part of the unit sphere where every normal has a positive product, a convex polygon.

    It is the sum of the angles minus (corners - 2) pi (Girard).
    """
    normals = [normal / np.linalg.norm(normal) for normal in normals]
    angles = [
        np.pi - np.arccos(a @ b)
        for a, b in itertools.combinations(normals, 2)
        for corner in (np.cross(a, b), np.cross(b, a))
        if all(normal is a or normal is b or normal @ corner > 0 for normal in normals)
    ]
    return sum(angles) - (len(angles) - 2) * np.pi if len(angles) > 2 else 0.0


def overall_bayes_error(rng, rows, distance, features):
    """Bayes error of two Gaussians, known exactly, outside the bounds."""
    params = {"d": features, "distance": distance}
    generator = GENERATORS["two-gaussians"]
    X, y = generator.make(rows, rng, **params)
    truth = float(generator.bayes_error(**params))
    errors = bayes_errors(X, np.unique(y, return_inverse=True)[1], trees=1)
    return [not b.lower <= truth <= b.upper for b in (errors.global_tree, errors.nearest_neighbour)]


def _outside(kind=ABOUT, rate=0.05):
    return lambda setting: [Claim(f"coverage at level {LEVEL:g} outside the 95 % band", rate, kind)]


SIZES = [*grid(classes=3, rows=(60, 100, 200)), *grid(classes=10, rows=(100, 200))]
SPLIT = {"method": "naive-bayes", "conformal": "split", "conformal__nonconformity": "lac"}
BY_CLASS = "coverage of this class lies in the band with probability 95 % if its p-values are valid for it"
ENTRIES = (
    Entry("band", "95 % band, validity figure, tcm-nn",
          "TCM-NN leaves the band in 6 to 11 % of the splits with k = 1, in 3 to 7 % with k = 10",
          grid(SIZES, k=(1, 10), smoothed=True),
          lambda setting: _outside(rate=0.11 if setting["k"] == 1 else 0.07)(setting), coverage,
          fraction=0.1),
    Entry("band-split", "95 % band, validity figure, split",
          "exact for split conformal prediction without ties",
          grid(SIZES[:4], **SPLIT), _outside("at most"), coverage, fraction=0.1),
    Entry("band-class", "95 % band, class-coverage.csv, tcm-nn mondrian", BY_CLASS,
          grid(SIZES, k=(1, 10), mondrian=True, smoothed=True),
          _outside(), functools.partial(coverage, of_a_class=True), fraction=0.1),
    Entry("certified", "certified.csv, threshold",
          "with probability at least 1 - delta the accepted new examples have risk at most r",
          grid([*grid(rows=200, risk=(0.1, 0.05)), *grid(rows=1000, risk=0.05)], hard=(False, True)),
          lambda setting: [Claim("true risk above the certified one", DELTA)], certified),
    Entry("pac-bound", "bound on the error of an SVM", "true with probability 1 - delta",
          [{"rows": 60, "attributes": 2}, {"rows": 200, "attributes": 10}],
          lambda setting: [Claim("true error above the bound", DELTA)], pac_bound, fraction=0.1),
    Entry("billiard", "standard error, bayes-transduction", "standard error of the label's p",
          [{"sampler": "geodesic", "bounces": 4000}],
          lambda setting: [Claim("more than 1.96 standard errors off", 0.05, ABOUT)], billiard,
          fraction=0.05),
    Entry("near-one", "standard error, bayes-transduction, p near 1",
          "at least 1 / effective sample size of the trajectory", [{"bounces": 5000}],
          lambda setting: [Claim("more than 3 standard errors off", 0.01, ABOUT)], billiard_near_one,
          fraction=0.05),
    Entry("overall-bayes-error", "bounds, bayes-error",
          "bounds of the Bayes error of two Gaussians have no sampling error",
          grid(rows=1000, distance=(2.0, 4.0), features=(2, 10)),
          lambda setting: [Claim(f"Bayes error outside the bounds of {name}", 0.0, MEASURED)
                           for name in ("global-tree", "1-nn")],
          overall_bayes_error, fraction=0.05),
    Entry("jointly-methods", "certified-jointly.csv, all",
          "with probability at least 1 - delta no certified threshold is above its limit",
          grid([*grid(rows=500, methods=(4, 10)), *grid(rows=2000, methods=10)],
               risk=0.05, hard=(False, True)),
          lambda setting: [Claim("any certified threshold above the limit", DELTA)],
          certified_over_methods),
)  # fmt: skip
