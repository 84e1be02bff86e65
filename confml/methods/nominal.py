"""How a method that can use nominal attributes is told which they are: its parameter ``nominal``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.plugins.parameters import AnyOf, Choice, Integer, Parameter

_COLUMN = Integer("", low=0)


class Columns(Parameter):
    """Different column numbers, from 0."""

    def expected(self) -> str:
        return "a list of different column numbers"

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, list | tuple)
            and all(_COLUMN.accepts(one) for one in value)
            and len(set(value)) == len(value)
        )


NOMINAL = AnyOf(
    "the columns that hold codes of categories; in a config auto, which are those of the data set, or dummy, "
    "which has a 0/1 column for each category in their place",
    of=(Choice("", options=("auto", "dummy")), Columns("")),
)


def nominal_mask(nominal: str | Sequence[int], d: int) -> np.ndarray:
    """(d,) bool: which columns hold codes; none where the parameter is a word.

    Raises ConfmlError for a column that is not there.
    """
    mask = np.zeros(d, dtype=bool)
    if isinstance(nominal, str):
        return mask
    for column in nominal:
        if column >= d:
            raise ConfmlError(f"nominal names column {column}, and there are {d}, counted from 0")
        mask[column] = True
    return mask
