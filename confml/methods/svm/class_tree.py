"""Trees of classes by minimum cuts: each node divides its classes into two groups until each is a leaf."""

import numpy as np

from confml.methods.details import ClassTreeNode
from confml.methods.svm.graph_cuts import minimum_cut


def class_tree(classes: np.ndarray, weights: np.ndarray) -> ClassTreeNode:
    """Return the tree of recursive minimum cuts of the complete graph on the classes (c,), weights (c, c).

    The left side of a node has its first class.
    """

    def grow(members: np.ndarray) -> ClassTreeNode:
        labels = tuple(classes[members].tolist())
        if len(members) == 1:
            return ClassTreeNode(labels)
        side = minimum_cut(weights[np.ix_(members, members)])
        cut = float(weights[np.ix_(members[side], members[~side])].sum())
        return ClassTreeNode(labels, cut, grow(members[~side]), grow(members[side]))

    return grow(np.arange(len(classes)))


def restricted(node: ClassTreeNode, classes: list) -> ClassTreeNode | None:
    """Return the tree of those of its classes that are among ``classes``; None if there are none."""
    left, right = [restricted(side, classes) for side in node.sides] or [None, None]
    if left and right:
        labels = tuple(label for label in node.classes if label in classes)
        return ClassTreeNode(labels, node.cut, left, right)
    return node if node.is_leaf and node.classes[0] in classes else left or right
