"""Noise on purpose: changed labels, changed attribute values, attributes that mean nothing.

The three kinds are those of Kubat, An Introduction to Machine Learning, sections 3.1 and 3.3 and the
computer assignments of chapters 3 and 4. Each draws from a stream of its own, so that adding irrelevant
attributes does not change which labels are noised; and with one seed the rows noised at 5 % are among those
noised at 10 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from confml.data.dataset import DataSet
from confml.errors import ConfmlError
from confml.plugins.parameters import Integer, Number, Parameter, check_parameters

VERSION = 2  # raised whenever results change
NOISE: Mapping[str, Parameter] = {
    "labels": Number("the share of rows given another class", low=0, high=1),
    "attributes": Number("the share of each attribute's values taken from another row", low=0, high=1),
    "irrelevant": Integer("how many attributes of uniform random numbers in [0, 1] are appended", low=0),
}


def apply_noise(
    X: np.ndarray,
    y: np.ndarray,
    noise: Mapping[str, Any],
    rng: np.random.Generator,
    nominal: Sequence[Sequence[int]] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Noised copies of X (n, d) and y (n,); X gets ``irrelevant`` more columns on the right.

    noise: any of the keys of `NOISE`, None counting as not given; ``on``, which says what rows to hand in, is
        the caller's and passed over.
    rng: read three times whatever is asked for.
    nominal: groups of columns that code one nominal attribute; their values are taken from another row
        together, so that a row still has one category (`nominal_columns` finds them). All other columns are
        attributes of their own.

    Labels: exactly ``n * labels`` rows, rounded to the nearest whole number (a half upwards), get a class
    drawn uniformly from the other classes of ``y``. Attributes: of each attribute exactly ``n * attributes``
    values, rounded so, become the value of another row, drawn uniformly (it may happen to be the same).

    Raises ConfmlError for an unknown key, a wrong value, or label noise where there is one class only.
    """
    given = {key: value for key, value in noise.items() if key != "on" and value is not None}
    check_parameters("noise", NOISE, given)
    X, y = np.array(X, dtype=np.float64, order="C"), np.array(y)
    seeds = rng.integers(np.iinfo(np.int64).max, size=3)
    for_labels, for_attributes, for_irrelevant = (np.random.default_rng(seed) for seed in seeds)
    if given.get("labels"):
        y = _noise_labels(y, given["labels"], for_labels)
    if given.get("attributes"):
        _noise_attributes(X, given["attributes"], for_attributes, nominal or ())
    if given.get("irrelevant"):
        X = np.hstack([X, for_irrelevant.random((len(X), given["irrelevant"]))])
    return X, y


def nominal_columns(data: DataSet) -> list[list[int]]:
    """The groups of columns of ``data.X`` that code one nominal attribute each, for `apply_noise`."""
    at = {name: column for column, name in enumerate(data.attributes)}
    groups = []
    for name, categories in zip(data.table_attributes, data.categories, strict=True):
        columns = [at.get(f"{name}={category}") for category in categories or ()]
        groups.append([column for column in columns if column is not None])
    return [group for group in groups if group]


def irrelevant_names(attributes: Iterable[str], count: int) -> tuple[str, ...]:
    """Names for ``count`` appended attributes that are not taken: irrelevant-1, irrelevant-2, ..."""
    taken = set(attributes)
    names: list[str] = []
    number = 0
    while len(names) < count:
        number += 1
        if f"irrelevant-{number}" not in taken:
            names.append(f"irrelevant-{number}")
    return tuple(names)


def _noise_labels(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ConfmlError("labels cannot be noised where all rows have the same class")
    # Both are drawn for every row before any is taken: a greater share keeps what a smaller one did.
    order = rng.permutation(len(y))
    shifts = rng.integers(1, len(classes), size=len(y))
    rows = order[: _count(len(y), share)]
    codes[rows] = (codes[rows] + shifts[rows]) % len(classes)
    return classes[codes]


def _noise_attributes(
    X: np.ndarray, share: float, rng: np.random.Generator, nominal: Sequence[Sequence[int]]
) -> None:
    n, d = X.shape
    if n < 2:
        raise ConfmlError("attribute values cannot be taken from another row where there is only one")
    first = {int(group[0]): [int(column) for column in group] for group in nominal if len(group)}
    grouped = {column for columns in first.values() for column in columns}
    for column in range(d):
        if column in grouped and column not in first:
            continue
        columns = first.get(column, [column])
        order = rng.permutation(n)
        others = (np.arange(n) + rng.integers(1, n, size=n)) % n
        rows, together = order[: _count(n, share)], np.array(columns)
        X[np.ix_(rows, together)] = X[np.ix_(others[rows], together)]


def _count(n: int, share: float) -> int:
    # Rounded first to nine places: 0.15 of 10 is one and a half, whatever the binary product says.
    return int(np.floor(round(n * share, 9) + 0.5))
