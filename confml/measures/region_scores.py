"""Coverage and size of prediction regions of any origin, for arrays of any labels."""

from collections.abc import Callable, Collection
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from confml.errors import ConfmlError


def coverage(y_true: Any, regions: Any, *, classes: Any = None, by_class: bool = False) -> float | pd.Series:
    """Return the share of regions that contain the true label.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of any type.
    regions : array-like of bool of shape (n, c), or n collections of labels
        Whether the region of each row contains each class, or the labels of each region, such as
        ``Prediction.label_sets(0.05)`` and the column ``region@0.05`` of `predict`.
    classes : array-like of shape (c,), optional
        Labels of the columns of ``regions``, such as ``model.classes_``; only for an array of bool.
    by_class : bool, default=False
        Return the coverage of each class of ``y_true``.

    Returns
    -------
    float or Series
        The coverage; with ``by_class`` one value per class.

    Raises
    ------
    ConfmlError
        If the shapes do not agree, or no region has a label of ``y_true``'s kind.

    Examples
    --------
    >>> from confml import coverage
    >>> regions = [("no",), ("no", "yes"), ("no",), ()]
    >>> coverage(["no", "no", "yes", "yes"], regions)
    0.5
    >>> coverage(["no", "no", "yes", "yes"], regions, by_class=True).to_dict()
    {'no': 1.0, 'yes': 0.0}
    """
    return _mean(lambda label, region: label in region, y_true, regions, classes, by_class)


def set_size(y_true: Any, regions: Any, *, classes: Any = None, by_class: bool = False) -> float | pd.Series:
    """Return the mean number of labels in a region.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of any type.
    regions : array-like of bool of shape (n, c), or n collections of labels
        As for `coverage`.
    classes : array-like of shape (c,), optional
        Labels of the columns of ``regions``; only for an array of bool.
    by_class : bool, default=False
        Return the mean size for the rows of each class of ``y_true``.

    Returns
    -------
    float or Series
        The mean size; with ``by_class`` one value per class.

    Raises
    ------
    ConfmlError
        If the shapes do not agree, or no region has a label of ``y_true``'s kind.

    Examples
    --------
    >>> import numpy as np
    >>> from confml import set_size
    >>> regions = np.array([[True, False], [True, True], [False, False]])
    >>> set_size([3, 3, 7], regions, classes=[3, 7])
    1.0
    >>> set_size([3, 3, 7], regions, classes=[3, 7], by_class=True).to_dict()
    {3: 1.5, 7: 0.0}
    """
    return _mean(lambda label, region: len(region), y_true, regions, classes, by_class)


def _mean(
    value: Callable[[Any, Collection], float], y_true: Any, regions: Any, classes: Any, by_class: bool
) -> float | pd.Series:
    """Return the mean of a value of each true label and the set of labels of its region."""
    labels = pd.Series(np.asarray(y_true, dtype=object))
    if classes is not None:
        names, array = list(classes), np.asarray(regions)
        if array.dtype != bool or array.shape != (len(labels), len(names)):
            raise ConfmlError(
                f"regions must be bool of shape {len(labels), len(names)}, got {array.dtype} of {array.shape}"
            )
        sets = [set(compress(names, row)) for row in array.tolist()]
    elif getattr(regions, "ndim", 1) != 1:
        raise ConfmlError("an array of regions needs classes, such as model.classes_")
    else:
        for region in regions:
            if isinstance(region, str) or not isinstance(region, Collection):
                raise ConfmlError(f"a region must be a collection of labels, got {region!r}")
        sets = [set(region) for region in regions]
        names = list(set().union(*sets))
        if any(isinstance(name, bool) for name in names) and not any(isinstance(y, bool) for y in labels):
            raise ConfmlError("regions of truth values need classes, such as model.classes_")
    if len(sets) != len(labels) or not len(labels):
        raise ConfmlError(f"expected one region for each of {len(labels)} labels, got {len(sets)}")
    if names and not set(labels) & set(names):
        raise ConfmlError(f"no true label, such as {labels[0]!r}, is a label of regions: {names[0]!r}")
    values = pd.Series(list(map(value, labels, sets)), dtype=float)
    return values.groupby(labels).mean() if by_class else float(values.mean())
