"""`MachineSteps`: transformers that are fitted to the training rows of each binary machine."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.bayes_error import pairwise_bayes_error
from confml.errors import ConfmlError
from confml.methods.sklearn.estimators import new_estimator
from confml.methods.sklearn.names import TRANSFORMER, find_estimator
from confml.plugins.imports import without_output
from confml.plugins.parameters import Parameter


class MachineSteps(Parameter):
    """None, a list of transformers, or a list of such lists, from which each machine takes one."""

    def expected(self) -> str:
        return "null, a list of transformers such as [sklearn.decomposition.PCA: {n_components: 5}], or lists"

    def accepts(self, value: Any) -> bool:
        lists = candidates(value) if value is None or isinstance(value, list | tuple) else ["wrong"]
        return all(isinstance(one, list | tuple) and all(map(_is_step, one)) for one in lists)


def _is_step(value: Any) -> bool:
    if isinstance(value, Mapping) and len(value) == 1:
        ((value, params),) = value.items()
        return _is_step(value) and isinstance(params, Mapping)
    return isinstance(value, str) and "." in value


def candidates(steps: Sequence[Any] | None) -> list[Any]:
    """Return the lists of transformers of ``pair_steps``."""
    return list(steps or []) if steps and isinstance(steps[0], list | tuple) else [list(steps or [])]


def new_steps(listed: Sequence[Any], seed: int = 0) -> list[Any]:
    """Return unfitted transformers; each ``random_state`` that is None is set to ``seed``.

    Raises ConfigError for an unknown transformer or parameter.
    """
    found = []
    for one in listed:
        name, params = next(iter(one.items())) if isinstance(one, Mapping) else (one, {})
        found.append(new_estimator(name, find_estimator(name, "step", TRANSFORMER), params))
        seed_states(found[-1], seed)
    return found


def seed_states(estimator: Any, seed: int) -> None:
    """Set each ``random_state`` that is None, also of nested estimators, to ``seed``."""
    values = estimator.get_params().items()
    names = [name for name, value in values if name.rpartition("__")[2] == "random_state" and value is None]
    estimator.set_params(**dict.fromkeys(names, seed))


def fitted_steps(steps: Sequence[Any], X: np.ndarray, targets: np.ndarray, seed: int) -> list[Any]:
    """Return fitted transformers for a machine with examples X (l, d) and targets (l,).

    Of several lists it is the one with the smallest estimated Bayes error of the transformed examples; ties
    go to the first.
    """
    best: list[Any] | None = None
    lists, smallest = candidates(steps), np.inf
    for listed in lists:
        found, inputs = new_steps(listed, seed), X
        for step in found:
            with without_output():
                step.fit(inputs, targets > 0)
            inputs = transformed([step], inputs)
        if len(lists) == 1:
            return found
        rate = float(pairwise_bayes_error(inputs, (targets > 0).astype(np.int64)).estimate[0, 1])
        if best is None or rate < smallest:
            best, smallest = found, rate
    return best or []


def transformed(steps: Sequence[Any], X: np.ndarray) -> np.ndarray:
    """Return examples X (n, d) after fitted transformers, as C-ordered finite float64 (n, d').

    Raises ConfmlError for others.
    """
    for step in steps:
        with without_output():
            X = step.transform(X)
        X = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if not np.isfinite(X).all():
            raise ConfmlError(f"pair_steps: {type(step).__name__} returns values that are not finite")
    return X
