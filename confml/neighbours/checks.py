"""Checks of arrays that come from a model file: compiled kernels use them without checks."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def check_arrays(values: Mapping[str, Any], **forms: str) -> dict[str, int]:
    """Check arrays of an object that was read from a model file, and return their sizes by name.

    Parameters
    ----------
    values : mapping
        The arrays by name, such as ``vars(self)``.
    **forms : str
        For each array its dtype and its sizes, such as ``X="f8 n d"`` and ``codes="i8 n"``. Sizes with
        the same name are equal; a number is the size itself.

    Raises
    ------
    ValueError
        For a value that is not such an array, and for NaN: kernels that compare distances with NaN leave
        their arrays.
    """
    sizes: dict[str, int] = {}
    for name, form in forms.items():
        dtype, *axes = form.split()
        array = values.get(name)
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != len(axes):
            raise ValueError(f"{name} is not an array {form}")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"{name} has NaN")
        for axis, size in zip(axes, array.shape, strict=True):
            expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
            if size != expected:
                raise ValueError(f"{name} has {size} entries, expected {expected}")
    return sizes


def check_range(name: str, values: np.ndarray, low: int, high: int) -> None:
    """Raise ValueError unless all values are at least ``low`` and below ``high``."""
    if values.size and not (values.min() >= low and values.max() < high):
        raise ValueError(f"{name} has values from {values.min()} to {values.max()}, not below {high}")


def check_width(rows: np.ndarray, features: int) -> None:
    """Raise ValueError unless rows (n, d) have as many features as the training rows."""
    if rows.shape[1] != features:
        raise ValueError(f"the rows have {rows.shape[1]} features, expected {features}")
