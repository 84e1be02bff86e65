"""The parameter ``nominal`` of methods that use nominal features as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.plugins.parameters import AnyOf, Choice, Integer, Parameter

_COLUMN = Integer("", low=0)


class Columns(Parameter):
    """A list of distinct column numbers, from 0."""

    def expected(self) -> str:
        return "a list of distinct column numbers"

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, list | tuple)
            and all(_COLUMN.accepts(column) for column in value)
            and len(set(value)) == len(value)
        )


NOMINAL = AnyOf(
    "columns that hold codes of categories; in a config auto (the nominal features of the data set) or dummy "
    "(0/1 columns instead of codes)",
    of=(Choice("", options=("auto", "dummy")), Columns("")),
)


def nominal_mask(nominal: str | Sequence[int], d: int) -> np.ndarray:
    """Return (d,) bool: the columns that hold codes; none where the parameter is a word.

    Raises ConfmlError for a column number that is too large.
    """
    mask = np.zeros(d, dtype=bool)
    if isinstance(nominal, str):
        return mask
    for column in nominal:
        if column >= d:
            raise ConfmlError(f"nominal has column {column}, but X has columns 0 to {d - 1}")
        mask[column] = True
    return mask
