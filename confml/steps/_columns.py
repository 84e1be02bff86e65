"""What the scaling steps share: columns to a common centre and scale, and complete input."""

from __future__ import annotations

import numpy as np

from confml.errors import ConfmlError


def complete(X: np.ndarray, step: str) -> np.ndarray:
    """``X`` as float64 (n, d) in C order, without missing values (NaN); raises ConfmlError otherwise."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    missing = np.isnan(X)
    if missing.any():
        rows = missing.any(axis=1)
        raise ConfmlError(
            f"step '{step}' got missing values in {rows.sum()} of {len(X)} rows, "
            f"the first of them row {rows.argmax()}",
            hint="put 'impute-mean' ahead of it",
        )
    return X


def rescale(X: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n, d) ``(X - centre) / scale`` by columns; a column of scale 0 becomes zeros."""
    return np.divide(X - centre, scale, out=np.zeros_like(X), where=scale > 0)
