"""Base classes and checks of scikit-learn, imported without pandas, scipy.stats and other modules.

scikit-learn and scipy import them when they are imported themselves, which takes longer than the rest, and
use them for data frames and a few functions only. Modules of confml import these names from here.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy  # noqa: F401

NAMES = {
    "scipy.integrate": ("trapezoid",),
    "scipy.interpolate": ("BSpline",),
    "scipy.stats": ("chi2", "gmean", "rankdata", "spearmanr"),
}
"""Modules, and those of their names that scikit-learn imports to use them in few of its classes."""


class _PostponedName:
    """Stand-in for a function or a class, whose module is imported at the first use."""

    def __init__(self, module: str, name: str):
        self._module, self._name = module, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(self._module), self._name)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(importlib.import_module(self._module), self._name), name)


class _Postponed(ModuleType):
    """Stand-in for a module that is imported when one of its attributes is first used.

    The `NAMES` of the module are stand-ins too.
    """

    def __getattr__(self, name: str) -> Any:
        if name in NAMES.get(self.__name__, ()):
            return _PostponedName(self.__name__, name)
        if name == "__path__" and self.__name__ in NAMES:  # asked for by "from module import name"
            package, _, last = self.__name__.rpartition(".")
            return [f"{folder}/{last}" for folder in importlib.import_module(package).__path__]
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Import nothing for ``import name`` inside the block: the module is imported when it is first used.

    A submodule is also an attribute of its package, if the package is imported, because packages import
    submodules when they are asked for such an attribute.
    """
    stand_ins: dict[str, ModuleType] = {name: _Postponed(name) for name in names if name not in sys.modules}
    places: list[tuple[Any, str, ModuleType]] = []  # package, attribute and its stand-in
    for name, stand_in in stand_ins.items():
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], last, stand_in)
            places.append((sys.modules[package], last, stand_in))
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
        for place, last, stand_in in places:
            if vars(place).get(last) is stand_in:
                delattr(place, last)


# numpy must be there before: its submodules become attributes of it.
with postponed("asyncio", "numpy.f2py", "numpy.testing", "pandas", *NAMES):
    import sklearn
    from sklearn import config_context
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone, is_classifier
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


def import_sklearn(module: str) -> ModuleType:
    """Import a module of scikit-learn without the modules of `NAMES`."""
    with postponed(*NAMES):
        return importlib.import_module(module)


__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ConvergenceWarning",
    "TransformerMixin",
    "available_if",
    "check_array",
    "check_classification_targets",
    "check_consistent_length",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "column_or_1d",
    "config_context",
    "import_sklearn",
    "is_classifier",
    "postponed",
    "sklearn",
    "validate_data",
]
