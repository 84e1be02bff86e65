"""Base classes and checks of scikit-learn, imported without pandas and scipy.stats.

scikit-learn imports both when it is imported itself, which takes longer than the rest of it, and uses them
only for data frames and for a few functions. Modules of confml import these names from here.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


class _Postponed(ModuleType):
    """Stand-in for a module that is imported when one of its attributes is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Import nothing for ``import name`` inside the block: the module is imported when it is first used."""
    stand_ins = {name: _Postponed(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


with postponed("pandas", "scipy.stats"):
    import sklearn
    from sklearn import config_context
    from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_array,
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ConvergenceWarning",
    "available_if",
    "check_array",
    "check_classification_targets",
    "check_consistent_length",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "column_or_1d",
    "config_context",
    "is_classifier",
    "postponed",
    "sklearn",
    "validate_data",
]
