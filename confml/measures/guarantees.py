"""Reasons why the bound of p-values is approximate. All outputs ask this module."""

from collections.abc import Sequence


def approximations(selected: Sequence[str], steps: Sequence[str]) -> list[str]:
    """Return the reasons why the bound of p-values does not hold for every number of rows; none if it does.

    The bound needs p-values that treat the new example and the examples that they are counted among alike.
    Steps that are fitted to these examples, and parameters that are selected with their labels, do not: with
    39 examples of random labels and k of TCM-NN selected from 1 to 12, regions at level 0.1 miss 10.6 % of
    the labels.

    selected: names of such parameters. steps: names of such steps. Both are empty for split and
    cross-conformal methods, which select and fit without the examples that p-values are counted among.
    """
    found = []
    if selected:
        found.append(f"{joined(selected)} {_is(selected)} selected with the labels of the training rows")
    if steps:
        found.append(f"{joined(steps)} {_is(steps)} fitted to the training rows but not to the new rows")
    return found


def joined(names: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
