"""Cases of `make test-all` that `make test` leaves out: `more_of` marks them (see conftest.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def more_of(cases: Iterable[Any]) -> list[Any]:
    """Return cases of a parametrised test that run only with ``--exhaustive``."""
    return [pytest.param(case, marks=pytest.mark.exhaustive) for case in cases]


def checks_of(
    estimators: Iterable[Any], expected_failures: Callable[[Any], dict] = lambda _: {}
) -> list[Any]:
    """Return the checks of scikit-learn for each estimator, as cases (estimator, check) of a test.

    Those that repeat another check with read-only files run only with ``--exhaustive``: large kernels are
    compiled once more for read-only arrays. So do the 1,800 machines of tcm-svm.
    """
    cases = []
    for estimator in estimators:
        failures = expected_failures(estimator)
        for copy, check in estimator_checks_generator(estimator, expected_failed_checks=failures, mark=None):
            name = check.func.__name__
            repeated = check.keywords.get("readonly_memmap", False)
            many = type(copy).__name__ == "TCMSVM" and name == "check_classifiers_train"
            marks = [pytest.mark.exhaustive] if repeated or many else []
            if name in failures:
                marks.append(pytest.mark.xfail(reason=failures[name]))
            cases.append(pytest.param(copy, check, marks=marks, id=f"{type(copy).__name__}-{name}"))
    return cases
