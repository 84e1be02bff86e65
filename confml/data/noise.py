"""Added noise: changed labels, changed feature values, irrelevant features.

The three kinds are those of Kubat, An Introduction to Machine Learning, sections 3.1 and 3.3 and the
computer assignments of chapters 3 and 4. Each has its own random stream, so that adding irrelevant features
does not change the labels that get noise. With one seed, the rows noised at 5 % are among those noised at
10 %.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from confml.data.dataset import DataSet
from confml.errors import ConfmlError
from confml.plugins.parameters import Integer, Number, Parameter, check_parameters

VERSION = 2  # raised whenever results change
NOISE: Mapping[str, Parameter] = {
    "labels": Number("fraction of rows that get another class", low=0, high=1),
    "attributes": Number(
        "fraction of the values of each feature that are taken from another row", low=0, high=1
    ),
    "irrelevant": Integer("number of features of uniform random numbers in [0, 1] that are appended", low=0),
}


def apply_noise(
    X: np.ndarray,
    y: np.ndarray,
    noise: Mapping[str, Any],
    rng: np.random.Generator,
    nominal: Sequence[Sequence[int]] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return noised copies of X (n, d) and y (n,); ``irrelevant`` columns are appended to X.

    noise: any of the keys of `NOISE`; None means not given. The key ``on`` is ignored: the caller selects the
        rows.
    rng: three seeds are drawn, whatever the noise.
    nominal: groups of columns that code one nominal feature (see `nominal_columns`); their values are taken
        together from another row, so that a row still has one category. Every other column is a feature.

    Labels: exactly ``n * labels`` rows, rounded half up, get a class drawn uniformly from the other classes
    of ``y``. Features: exactly ``n * attributes`` values of each feature, rounded half up, are replaced by
    the value of another row, drawn uniformly (which may be equal).

    Raises ConfmlError for an unknown key, a wrong value, or label noise with a single class.
    """
    fractions = {key: value for key, value in noise.items() if key != "on" and value is not None}
    check_parameters("noise", NOISE, fractions)
    X, y = np.array(X, dtype=np.float64, order="C"), np.array(y)
    seeds = rng.integers(np.iinfo(np.int64).max, size=3)
    for_labels, for_attributes, for_irrelevant = (np.random.default_rng(seed) for seed in seeds)
    if fractions.get("labels"):
        y = _noise_labels(y, fractions["labels"], for_labels)
    if fractions.get("attributes"):
        _noise_attributes(X, fractions["attributes"], for_attributes, nominal or ())
    if fractions.get("irrelevant"):
        X = np.hstack([X, for_irrelevant.random((len(X), fractions["irrelevant"]))])
    return X, y


def nominal_columns(data: DataSet) -> list[list[int]]:
    """Return the groups of columns of ``data.X`` that each code one nominal feature."""
    at = {name: column for column, name in enumerate(data.attributes)}
    groups = []
    for name, categories in zip(data.table_attributes, data.categories, strict=True):
        columns = [at.get(f"{name}={category}") for category in categories or ()]
        groups.append([column for column in columns if column is not None])
    return [group for group in groups if group]


def irrelevant_names(attributes: Iterable[str], count: int) -> tuple[str, ...]:
    """Return ``count`` unused names for appended features: irrelevant-1, irrelevant-2, ..."""
    existing = set(attributes)
    names = (f"irrelevant-{number}" for number in itertools.count(1))
    return tuple(itertools.islice((name for name in names if name not in existing), count))


def _noise_labels(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ConfmlError("label noise needs at least two classes")
    # Both are drawn for every row, so a larger fraction keeps the changes of a smaller one.
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
    grouped = {column for group in nominal for column in group}
    features = [*nominal, *([column] for column in range(d) if column not in grouped)]
    for columns in sorted(list(group) for group in features if len(group)):
        order = rng.permutation(n)
        sources = (np.arange(n) + rng.integers(1, n, size=n)) % n
        rows, together = order[: _count(n, share)], np.array(columns)
        X[np.ix_(rows, together)] = X[np.ix_(sources[rows], together)]


def _count(n: int, share: float) -> int:
    # Rounded to nine decimals first, so that 0.15 of 10 is exactly 1.5.
    return int(np.floor(round(n * share, 9) + 0.5))
