"""`ClassTree`: binary tree that divides the classes into two groups until each class is a leaf."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.methods.details import ClassTreeNode
from confml.methods.svm.graph_cuts import minimum_cut

Nested = Any  # a class number, or a cut and two such trees


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

        def grow(members: np.ndarray) -> Nested:
            if len(members) == 1:
                return int(members[0])
            side = minimum_cut(weights[np.ix_(members, members)])
            cut = float(weights[np.ix_(members[side], members[~side])].sum())
            return cut, grow(members[~side]), grow(members[side])

        return cls.of_nested(classes, grow(np.arange(len(classes))))

    @classmethod
    def of_nested(cls, classes: np.ndarray, root: Nested) -> "ClassTree":
        """Build the tree from a class number, or from a cut and two such trees; the left one comes first."""
        left: list[int] = []
        right: list[int] = []
        cuts: list[float] = []

        def add(nested: Nested) -> int:
            if isinstance(nested, int):
                return -1 - nested
            cut, first, second = nested
            node = len(cuts)
            cuts.append(cut)
            left.append(0)
            right.append(0)
            left[node], right[node] = add(first), add(second)
            return node

        add(root)
        return cls(classes, np.array(left, np.int64), np.array(right, np.int64), np.array(cuts))

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

    def only(self, classes: np.ndarray) -> "ClassTree":
        """Return the tree restricted to these classes (sorted labels, all in the tree)."""
        number = {label: code for code, label in enumerate(classes.tolist())}
        names = self.classes.tolist()

        def restricted(child: int) -> Nested | None:
            if child < 0:
                return number.get(names[-1 - child])
            left, right = restricted(int(self.left[child])), restricted(int(self.right[child]))
            if left is None or right is None:
                return right if left is None else left
            return float(self.cut[child]), left, right

        root = restricted(0 if len(self) else -1)
        assert root is not None  # the classes are in the tree
        return ClassTree.of_nested(classes, root)

    def to_node(self, child: int | None = None) -> ClassTreeNode:
        """Return the tree below a child, by default the whole one, for the report."""
        if child is None:
            child = 0 if len(self) else -1
        labels = tuple(self.classes[self.leaves(child)].tolist())
        if child < 0:
            return ClassTreeNode(labels)
        left, right = self.to_node(int(self.left[child])), self.to_node(int(self.right[child]))
        return ClassTreeNode(labels, float(self.cut[child]), left, right)

    def __str__(self) -> str:
        """Return the tree in lines of text, the root first."""
        return self.to_node().to_text()
