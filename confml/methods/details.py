"""`FitDetails`: findings of a fit that are not single numbers, with their form in the store.

A method returns them from ``fit_details_``; reports read them from a finished cell. ``to_dict`` gives plain
data for JSON, and ``from_dict`` is its inverse.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ClassTreeNode:
    """A node of a tree of classes.

    classes: labels of the classes of the node. cut: weight of the cut between the two sides, None in a leaf.
    left, right: the two sides, None in a leaf, which has one class.
    """

    classes: tuple[Any, ...]
    cut: float | None = None
    left: "ClassTreeNode | None" = None
    right: "ClassTreeNode | None" = None

    @property
    def is_leaf(self) -> bool:
        return self.left is None

    @property
    def sides(self) -> "tuple[ClassTreeNode, ...]":
        """The left and the right side; none in a leaf."""
        return () if self.left is None or self.right is None else (self.left, self.right)

    @property
    def depth(self) -> int:
        """Number of nodes on the longest path from here to a leaf, without the leaf."""
        return 1 + max(side.depth for side in self.sides) if self.sides else 0

    def inner_nodes(self) -> "Iterator[ClassTreeNode]":
        """Iterate over this node and those below it that are not leaves, the left side first."""
        if self.sides:
            yield self
        for side in self.sides:
            yield from side.inner_nodes()

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"class": label}`` for a leaf, else ``{"classes", "cut", "left", "right"}``."""
        if not self.sides:
            return {"class": self.classes[0]}
        left, right = (side.to_dict() for side in self.sides)
        return {"classes": list(self.classes), "cut": self.cut, "left": left, "right": right}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ClassTreeNode":
        if "class" in values:
            return cls((values["class"],))
        sides = (cls.from_dict(values[side]) for side in ("left", "right"))
        return cls(tuple(values["classes"]), values["cut"], *sides)


@dataclass(frozen=True)
class ChainSummary:
    """Markov chains in short, as `confml.measures.chains.ChainDiagnostics.summary` returns them.

    traces: for each quantity one list of draws per chain. every: for each quantity, the number of draws from
    one that is kept to the next. rhat, ess: for each quantity. worst_rhat, least_ess: over all quantities,
    also those without a trace. warnings: sentences for the reader.
    """

    traces: Mapping[str, list[list[float]]]
    every: Mapping[str, int]
    rhat: Mapping[str, float]
    ess: Mapping[str, float]
    worst_rhat: float
    least_ess: float
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class FitDetails:
    """Findings of one fit; None for what a method does not have.

    tree: the root of a tree of classes. chains: Markov chains. calibration_rows: (label, number of examples
    that were calibrated on) for each class. tuning: a choice of parameters that the method made itself, with
    the keys ``chosen``, ``select_by``, ``scores`` and ``seconds``. other: anything else, as plain data for
    JSON, by names that are not those of the fields.
    """

    tree: ClassTreeNode | None = None
    chains: ChainSummary | None = None
    calibration_rows: tuple[tuple[Any, int], ...] | None = None
    tuning: Mapping[str, Any] | None = None
    other: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without the fields that are None."""
        values = {
            "tree": self.tree and self.tree.to_dict(),
            "chains": self.chains and vars(self.chains),
            "calibration_rows": self.calibration_rows and [list(pair) for pair in self.calibration_rows],
            "tuning": self.tuning and dict(self.tuning),
        }
        return {name: value for name, value in values.items() if value is not None} | dict(self.other)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any] | None) -> "FitDetails":
        rest = dict(values or {})
        tree, chains = rest.pop("tree", None), rest.pop("chains", None)
        rows = rest.pop("calibration_rows", None)
        return cls(
            tree=None if tree is None else ClassTreeNode.from_dict(tree),
            chains=None if chains is None else ChainSummary(**chains),
            calibration_rows=None if rows is None else tuple((label, count) for label, count in rows),
            tuning=rest.pop("tuning", None),
            other=rest,
        )
