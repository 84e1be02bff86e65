"""`ClassTree`: binary tree that divides the classes into two groups until each class is a leaf."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.methods.details import ClassTreeNode
from confml.methods.svm.graph_cuts import minimum_cut


@dataclass(frozen=True, eq=False)
class ClassTree:
    """Binary tree with the c classes as leaves and c - 1 inner nodes; the root is node 0.

    classes: (c,) labels. left, right: (c - 1,) children of each node: a node number, or -1 - k for class
    number k. cut: (c - 1,) value of the cut of each node. The first class of a node is on its left side.
    """

    classes: np.ndarray
    left: np.ndarray
    right: np.ndarray
    cut: np.ndarray

    @classmethod
    def of_weights(cls, classes: np.ndarray, weights: np.ndarray) -> "ClassTree":
        """Build the tree by recursive minimum cuts of the complete graph on the classes, weights (c, c)."""
        left: list[int] = []
        right: list[int] = []
        costs: list[float] = []

        def grow(members: np.ndarray) -> int:
            if len(members) == 1:
                return -1 - int(members[0])
            side = minimum_cut(weights[np.ix_(members, members)])
            number = len(costs)
            costs.append(float(weights[np.ix_(members[side], members[~side])].sum()))
            left.append(0)
            right.append(0)
            left[number], right[number] = grow(members[~side]), grow(members[side])
            return number

        grow(np.arange(len(classes)))
        return cls(classes, np.array(left, np.int64), np.array(right, np.int64), np.array(costs))

    def __len__(self) -> int:
        """Return the number of inner nodes."""
        return len(self.left)

    def leaves(self, child: int) -> np.ndarray:
        """Return the sorted class numbers below a child (an entry of `left` or `right`)."""
        if child < 0:
            return np.array([-1 - child])
        return np.sort(np.concatenate([self.leaves(self.left[child]), self.leaves(self.right[child])]))

    def sides(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sorted class numbers on the left side and on the right side of a node."""
        return self.leaves(int(self.left[node])), self.leaves(int(self.right[node]))

    @property
    def depth(self) -> int:
        """Number of inner nodes on the longest path from the root to a class."""

        def below(child: int) -> int:
            return 0 if child < 0 else 1 + max(below(int(self.left[child])), below(int(self.right[child])))

        return below(0) if len(self) else 0

    def only(self, classes: np.ndarray) -> "ClassTree":
        """Return the tree restricted to these classes (sorted labels, all in the tree)."""
        kept = np.isin(self.classes, classes)
        if kept.all():
            return self
        number = np.cumsum(kept) - 1
        left: list[int] = []
        right: list[int] = []
        costs: list[float] = []

        def copy(child: int) -> int | None:
            if child < 0:
                return -1 - int(number[-1 - child]) if kept[-1 - child] else None
            if not (kept[self.leaves(self.left[child])].any() and kept[self.leaves(self.right[child])].any()):
                one = copy(int(self.left[child]))
                return copy(int(self.right[child])) if one is None else one
            node = len(costs)
            costs.append(self.cut[child])
            left.append(0)
            right.append(0)
            for children, copied in ((self.left, left), (self.right, right)):
                one = copy(int(children[child]))
                assert one is not None  # both sides have a kept class
                copied[node] = one
            return node

        if len(self):
            copy(0)
        new = (np.array(left, np.int64), np.array(right, np.int64), np.array(costs, dtype=np.float64))
        return ClassTree(self.classes[kept], *new)

    # ---- other forms

    def to_dict(self, child: int | None = None) -> dict[str, Any]:
        """Return plain data: ``{"class": c}`` for a leaf, else the keys classes, cut, left and right."""
        if child is None:
            child = 0 if len(self) else -1
        if child < 0:
            return {"class": self.classes[-1 - child].item()}
        return {
            "classes": self.classes[self.leaves(child)].tolist(),
            "cut": float(self.cut[child]),
            "left": self.to_dict(int(self.left[child])),
            "right": self.to_dict(int(self.right[child])),
        }

    def __str__(self) -> str:
        """Return the tree in lines of text, the root first."""
        return ClassTreeNode.from_dict(self.to_dict()).to_text()

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the tree as named arrays, from which `from_arrays` builds it again."""
        return {"classes": self.classes, "left": self.left, "right": self.right, "cut": self.cut}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "ClassTree":
        return cls(*(np.asarray(arrays[name]) for name in ("classes", "left", "right", "cut")))
