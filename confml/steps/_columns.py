"""Functions that the scaling steps share."""

import numpy as np

from confml.errors import ConfmlError


def complete(X: np.ndarray, step: str) -> np.ndarray:
    """Return X (n, d) as C-ordered float64; raise ConfmlError where values are missing (NaN)."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    missing = np.isnan(X)
    if missing.any():
        rows = missing.any(axis=1)
        raise ConfmlError(
            f"step '{step}' got missing values in {rows.sum()} of {len(X)} rows, "
            f"the first of them row {rows.argmax()}",
            hint="add the step impute-mean before it",
        )
    return X


def rescale(X: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return ``(X - centre) / scale`` (n, d) by columns; a column of scale 0 becomes zeros."""
    return np.divide(X - centre, scale, out=np.zeros_like(X), where=scale > 0)
