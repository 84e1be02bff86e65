"""Cases of `make test-all` that `make test` leaves out: `more_of` marks them (see conftest.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from sklearn.pipeline import Pipeline


def more_of(cases: Iterable[Any]) -> list[Any]:
    """Return cases of a parametrised test that run only with ``--exhaustive``."""
    return [pytest.param(case, marks=pytest.mark.exhaustive) for case in cases]


def is_slow_variant(estimator: Any, check: Any) -> bool:
    """Return whether a check of scikit-learn with read-only files needs seconds.

    Large kernels are compiled once more, or many machines are fitted. `make test` has the same check without
    read-only files, and `check_readonly_memmap_input`.
    """
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    of_files = getattr(check, "keywords", {}).get("readonly_memmap")
    slow = {
        "check_estimators_pickle": ("TCMNN", "VennKNN", "BayesTransduction", "BayesPointMachine"),
        "check_classifiers_train": ("TCMSVM",),
    }
    function = getattr(check, "func", check).__name__
    return bool(of_files) and type(estimator).__name__ in slow.get(function, ())
