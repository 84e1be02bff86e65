"""Data of several tests, and cases of `make test-all` that `make test` leaves out (see conftest.py)."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import estimator_checks_generator

# Table 3.7, which has lost its minus signs: the places of its three plus signs are those that exercises 1 and
# 2 leave, where 1-NN and 3-NN differ about (1, 2.2), and two of the five nearest of (3, 3) are positive, whom
# weights make win.
TABLE_3_7 = np.array([[1, 1], [1, 2], [1, 4], [2, 3], [3, 0], [3, 2], [3, 5], [4, 4], [5, 3]], float)
SIGNS = np.array(["+", "-", "-", "+", "-", "+", "-", "-", "-"])


def blobs(seed: int, rows: int, c: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes of unequal sizes in two features: X (rows, 2) and y (rows,)."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, c + 1, rows), c - 1)
    return rng.normal(size=(rows, 2)) + 1.3 * np.stack([y, y == 1], axis=1), y


def clouds(rows: int = 150, classes: int = 5, d: int = 4, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return overlapping classes with an example of each at least, X and y, and 80 test examples."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    X = rng.normal(scale=1.2, size=(classes, d))[y] + rng.normal(size=(rows, d))
    return X, y, rng.normal(scale=2.0, size=(80, d))


@st.composite
def tied_rows(draw, scales=(1.0, 0.1, 1e6, 1e-60)):
    """Draw X, y, X_test and k with few distinct values: ties, duplicates, zeros, contradictory labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 3, 20]))
    low, scale = draw(st.sampled_from([0, -2])), draw(st.sampled_from(scales))
    X, X_test = (rng.integers(low, 4, size=(rows, d)) * scale for rows in (m, 4))
    return X, rng.integers(0, 3, size=m), X_test, draw(st.integers(1, 9))


def rows_of(kind: str, rng: np.random.Generator, n: int, d: int = 4) -> np.ndarray:
    """Return rows on which neighbours are hard to find: with ties, or far apart, or beyond float32."""
    X = rng.normal(size=(n, d))
    if kind == "ties":
        X = rng.integers(0, 3, (n, d)).astype(float)
    elif kind == "whole numbers":
        X = rng.integers(-40, 40, (n, d)).astype(float)
    elif kind == "one decimal":
        X = np.round(X, 1)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif kind == "mixed scales":
        X *= 10.0 ** rng.uniform(-3, 3, (n, 1))
    elif kind == "apart":  # most new examples are nearer to their class than all others are
        X[: n // 2, 0] += 30.0
    elif kind == "distant groups":
        X = 1e-4 * X + 1e6 * rng.integers(-3, 3, (n, 1))
    elif kind == "one outlier":
        X[7] = 1e35
    elif kind == "clumped":
        X[: n // 7] *= 1e-9  # closer together than float32 can tell
    elif kind == "nearly all clumped":
        X[: n - 10] *= 1e-9
    elif kind in ("tiny", "huge"):  # squares vanish, or overflow
        X *= 1e-200 if kind == "tiny" else 1e200
    return X


def more_of(cases: Iterable[Any]) -> list[Any]:
    """Return cases of a parametrised test that run only with ``--exhaustive``."""
    return [pytest.param(case, marks=pytest.mark.exhaustive) for case in cases]


def checks_of(estimators: Iterable[Any], expected_failures: dict[type, dict[str, str]]) -> list[Any]:
    """Return the checks of scikit-learn for each estimator, as cases (estimator, check) of a test.

    Those that repeat another check with read-only files run only with ``--exhaustive``: large kernels are
    compiled once more for read-only arrays. So do the 1,800 machines of tcm-svm.
    """
    cases = []
    for estimator in estimators:
        failures = expected_failures.get(type(estimator), {})
        for copy, check in estimator_checks_generator(estimator, expected_failed_checks=failures, mark=None):
            name = check.func.__name__
            if "array_api" in name:  # needs other array libraries
                continue
            repeated = check.keywords.get("readonly_memmap", False)
            many = type(copy).__name__ == "TCMSVM" and name == "check_classifiers_train"
            marks = [pytest.mark.exhaustive] if repeated or many else []
            if name in failures:
                marks.append(pytest.mark.xfail(reason=failures[name]))
            cases.append(pytest.param(copy, check, marks=marks, id=f"{type(copy).__name__}-{name}"))
    return cases
