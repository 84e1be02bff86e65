"""GenSVM by the authors' package gensvm and by confml: ``tests/programs/gensvm_package.py [CARD ...]``.

It writes results/reference/smartsvm/gensvm/package.csv, with one row for each data set, point of the paper's
grid and stopping rule of the package. Both programs fit the same stratified four fifths of the rows, scaled
to [0, 1]. excess: objective of the package's coefficients, divided by the minimum that ``gen-svm`` finds,
minus 1. same_labels: fraction of the other rows with the same prediction.

The extension of gensvm 0.2.7 does not compile as it is with Python 3.11 and NumPy 2. Write np.int64_t instead
of np.int_t in ``gensvm/cython_wrapper/wrapper.pyx``, and compile it with Cython 3 and OpenBLAS.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from confml.data import load
from confml.methods.svm.gen_svm import GenSVM, Problem, simplex
from confml.report.files import write_csv

TARGET = Path(__file__).resolve().parents[2] / "results" / "reference" / "smartsvm" / "gensvm" / "package.csv"
CARDS = ("yeast-smartsvm",)  # five minutes; larger data sets take the package hours
RIDGES = (2.0**-8, 2.0**-2)
EPSILONS = (1e-6, 1e-10)
REST = tuple(itertools.product((-0.9, 5.0), (1.0, 2.0), ("unit", "group")))


def package() -> Any:
    """Return the package, which imports a function of its grid search that scikit-learn no longer has."""
    from sklearn.model_selection import _search

    vars(_search).setdefault("_check_param_grid", None)
    import gensvm

    return gensvm


def parts(card: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return scaled training and test rows with their class codes (X, X_test, y, y_test)."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import minmax_scale

    data = load({"name": card})
    X = np.ascontiguousarray(minmax_scale(data.X))
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    return train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)


def rows(card: str) -> Iterator[tuple]:
    """Yield the rows of the table of one data set."""
    from sklearn.metrics import adjusted_rand_score

    X, X_test, y, y_test = parts(card)
    corners = simplex(int(y.max()) + 1)
    for ridge, (kappa, p, weights) in itertools.product(RIDGES, REST):
        own = GenSVM(ridge, kappa, p, weights).fit(X, y)
        problem, labels = Problem(X, y, corners, kappa, p, weights), own.predict(X_test)
        for epsilon in EPSILONS:
            options = {"kappa": kappa, "weights": weights, "epsilon": epsilon, "random_state": 0}
            fit = package().GenSVM(p, ridge, **options).fit(X, y)
            objective = problem.objective(np.vstack([fit.intercept_, fit.coef_]), ridge)[0]
            others = fit.predict(X_test)
            excess, same = objective / own.objective_ - 1, np.mean(labels == others)
            scores = [adjusted_rand_score(y_test, one) for one in (labels, others)]
            yield (
                *(card.removesuffix("-smartsvm"), ridge, kappa, p, weights, epsilon, fit.n_iter_),
                *(float(f"{one:.9g}") for one in (own.objective_, objective)),
                *(float(f"{one:.4g}") for one in (excess, same, *scores)),
            )


if __name__ == "__main__":
    header = (
        *("dataset", "ridge", "kappa", "p", "weights", "epsilon", "iterations", "objective"),
        *("package_objective", "excess", "same_labels", "ari", "package_ari"),
    )
    names = sys.argv[1:] or CARDS
    print(write_csv(TARGET, header, [row for card in names for row in rows(card)]))
