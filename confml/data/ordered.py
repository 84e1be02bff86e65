"""Parts of a data set by time: the training rows come before the test rows."""

import contextlib
import math
import warnings
from dataclasses import replace

import numpy as np

from confml.data.dataset import DataSet
from confml.errors import ConfigError


def with_ordered_parts(data: DataSet, by: str, test_size: float) -> DataSet:
    """Return the data set with the last rows in the order of a column as its test part.

    by: a feature with numbers, or a column of ``id`` with numbers or dates. test_size: fraction of the rows
    in the test part, rounded up. Raises ConfigError for a column that cannot be ordered, for rows with the
    same value before and after the boundary, and for groups that it divides.
    """
    values, n = _values(data, by), len(data)
    order = np.argsort(values, kind="stable")
    boundary = n - math.ceil(test_size * n)
    if not boundary:
        raise ConfigError(f"data set '{data.name}': an empty training part", hint="lower protocol.test-size")
    tied = np.flatnonzero(values[order] == values[order[boundary]])
    if tied[0] < boundary:
        digits = max(4, len(str(n)) + 1)
        sizes = [f"{(n - row - 0.5) / n:.{digits}g}" for row in (tied[0], tied[-1] + 1) if 0 < row < n]
        raise ConfigError(
            f"data set '{data.name}': {len(tied)} rows have the same '{by}' at the boundary of the parts",
            hint=f"protocol.test-size {' or '.join(sizes)} divides no ties" if sizes else None,
        )
    train, test = np.sort(order[:boundary]), np.sort(order[boundary:])
    if data.groups is not None and np.isin(data.groups[train], data.groups[test]).any():
        message = f"data set '{data.name}' has groups, and the order by '{by}' divides them"
        raise ConfigError(message, hint="use protocol kind holdout or k-fold, or leave out groups")
    return replace(data, train_rows=train, test_rows=test)


def _values(data: DataSet, by: str) -> np.ndarray:
    """Return (n,) numbers or times of a column. Raises ConfigError."""
    where = f"protocol.by: column '{by}' of data set '{data.name}'"
    identifiers = data.identifiers()
    if by in identifiers:
        texts = identifiers[by].tolist()
        values = _numbers_or_times(texts, where)
    elif by in data.table_attributes and not data.nominal[data.table_attributes.index(by)]:
        values = data.table[:, data.table_attributes.index(by)]
    else:
        near = by, [*data.table_attributes, *identifiers]
        message = f"{where} is neither under id: nor a feature with numbers"
        raise ConfigError(message, near=near, hint=f"id: [{by}]")
    if missing := int(np.sum(np.isnan(values) if values.dtype.kind == "f" else np.isnat(values))):
        raise ConfigError(f"{where} has {missing} missing values", hint="leave these rows out of the file")
    return values


def _numbers_or_times(texts: list[str], where: str) -> np.ndarray:
    """Return (n,) the numbers or times of texts, NaN or NaT for empty ones."""
    import pandas as pd

    with contextlib.suppress(ValueError):
        return np.array([float(text or "nan") for text in texts])
    with contextlib.suppress(ValueError):
        return pd.to_datetime(texts, format="ISO8601", utc=True).to_numpy(dtype="datetime64[ns]")
    readings = []
    for day_first in (True,) if any("." in text for text in texts) else (True, False):
        with contextlib.suppress(ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a form that contradicts dayfirst, which is then not used
            times = pd.to_datetime(texts, dayfirst=day_first, utc=True)
            readings.append(times.to_numpy(dtype="datetime64[ns]"))
    if not readings:
        raise ConfigError(f"{where} has no dates of one form", hint="write them as 2024-05-31")
    if any(not np.array_equal(readings[0], reading, equal_nan=True) for reading in readings[1:]):
        message = f"{where} has dates such as {texts[0]}, with the day or the month first"
        raise ConfigError(message, hint="write them as 2024-05-31")
    return readings[0]
