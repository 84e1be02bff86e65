"""`check_known_labels`: labels that meet the classes of a fitted model or of a list."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from confml.data.text_table import listed
from confml.errors import ConfmlError

SEVERAL_KINDS = "labels of several kinds"


def check_known_labels(
    classes: Iterable[Any], labels: Iterable[Any], classes_are: str, labels_are: str
) -> None:
    """Raise ConfmlError for ``labels`` of another kind than ``classes``, and if none of them is a class.

    Text and numbers are never the same label, true and false are 1 and 0 only where these are all labels.
    Labels without a class, and classes without a label, are allowed. classes_are, labels_are: beginnings of
    the two parts of the message.
    """
    expected, new = _distinct(classes), _distinct(labels)
    kinds = [kind_of(expected), kind_of(new)]
    if {"text", SEVERAL_KINDS} & set(kinds):
        meet = kinds[0] == kinds[1]
    elif "truth values" in kinds and kinds[0] != kinds[1]:
        meet = set(new) <= set(expected) <= {0, 1}
    else:
        meet = True
    if not meet or not set(expected) & set(new):
        raise ConfmlError(
            f"{classes_are} {listed(map(repr, expected))} ({kinds[0]}), and {labels_are} "
            f"{listed(map(repr, new))} ({kinds[1]})",
            hint="give the labels as they are in the classes",
        )


def kind_of(labels: Iterable[Any]) -> str:
    """Return whether labels are text, truth values, numbers, or of several kinds."""
    kinds = {
        "text" if isinstance(label, str) else "truth values" if isinstance(label, bool) else "numbers"
        for label in _distinct(labels)
    }
    return kinds.pop() if len(kinds) == 1 else SEVERAL_KINDS


def _distinct(labels: Iterable[Any]) -> list[Any]:
    """Return the distinct labels, as Python values."""
    values = (label.item() if isinstance(label, np.generic) else label for label in labels)
    return list({(type(label), label): label for label in values}.values())
