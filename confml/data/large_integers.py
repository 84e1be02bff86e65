"""Whole numbers above 2^53 that float64 changes: they are rounded nowhere without a word."""

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from confml.errors import in_quotes

_INTEGER = re.compile(r"[+-]?[0-9]{16,300}")


def rounded_texts(texts: Sequence[str], numbers: np.ndarray) -> Iterator[int]:
    """Iterate over the rows whose text is a whole number that float64 changes. numbers: (n,) of the texts."""
    for row in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= 2**53)).tolist():
        if _INTEGER.fullmatch(texts[row]) and int(texts[row]) != int(float(texts[row])):
            yield row


def rounded_integer(values: Any) -> int | None:
    """Return the first integer of an array that float64 changes, or None. Floats and texts are not looked
    at."""
    values = np.asarray(values)
    if values.dtype.kind not in "iuO" or (values.dtype.kind in "iu" and values.dtype.itemsize < 8):
        return None
    if values.dtype.kind in "iu":
        values = values[(values > 2**53) | (values < -(2**53))]
    integers = (int(value) for value in values.ravel().tolist() if isinstance(value, int | np.integer))
    return next((value for value in integers if abs(value) < 10**300 and int(float(value)) != value), None)


def warn_of_rounded_integers(X: Any) -> None:
    """Warn of the columns of an array, a data frame or a list of rows with integers that float64 changes."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        columns = ((in_quotes(str(name)), X[name]) for name in dict.fromkeys(X.columns))
    else:
        X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
        if not isinstance(X, np.ndarray) or X.ndim != 2 or rounded_integer(X) is None:
            return
        columns = ((str(j), column) for j, column in enumerate(X.T))
    rounded = [(name, value) for name, column in columns if (value := rounded_integer(column)) is not None]
    if rounded:
        names = ", ".join(name for name, _ in rounded[:5]) + (", ..." if len(rounded) > 5 else "")
        warnings.warn(
            f"column{'' if len(rounded) == 1 else 's'} {names}: whole numbers above 2^53 are rounded to "
            f"float64, such as {rounded[0][1]} to {int(float(rounded[0][1]))}; if they are categories or "
            "identifiers, code them or leave them out",
            UserWarning,
            stacklevel=4,
        )
