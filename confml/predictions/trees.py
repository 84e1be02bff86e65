"""Checks of the trees of scikit-learn in a model file: scikit-learn reads their nodes without checks."""

import io
import json
import zipfile
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.tree import BaseDecisionTree


def check_tree_nodes(content: bytes) -> None:
    """Raise ValueError unless the trees in a file of skops are made as skops makes them, with one output.

    The constructor of a tree of scikit-learn reads one number of classes for each output without a check.
    """

    def checked(entry: dict[str, Any]) -> dict[str, Any]:
        if entry.get("__class__") == "Tree":
            if entry.get("__loader__") != "TreeNode":
                raise ValueError("the object is not a tree")
            if entry["__reduce__"]["args"]["content"][2]["content"] != "1":
                raise ValueError("a tree has several outputs")
        return entry

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        json.loads(archive.read("schema.json"), object_hook=checked)


def check_trees(value: Any) -> None:
    """Raise ValueError if an estimator of scikit-learn has trees whose nodes lead out of their arrays."""
    if isinstance(value, BaseDecisionTree) and hasattr(value, "tree_"):
        tree = value.tree_
        if tree.node_count != tree.capacity:
            raise ValueError("a tree has another number of nodes")
        is_leaf = (tree.children_left == -1) & (tree.children_right == -1)
        nodes = tree.children_left, tree.children_right, tree.feature
        _check_nodes(*nodes, is_leaf, value.n_features_in_)
        if tree.n_features != value.n_features_in_:
            raise ValueError("a tree has another number of features")
    elif isinstance(value, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        _check_histogram(value)
    elif isinstance(value, GradientBoostingClassifier | GradientBoostingRegressor):
        _check_boosting(value)
    members = np.ravel(np.asarray(getattr(value, "estimators_", ()), dtype=object))
    if hasattr(value, "estimators_features_"):  # it chooses the columns of each tree
        return
    for member in members:
        if isinstance(member, BaseDecisionTree) and member.n_features_in_ != value.n_features_in_:
            raise ValueError("a tree of an ensemble has another number of features")


def _check_boosting(value: Any) -> None:
    """Check that there is a tree for each class, or one for two classes, with one value per node."""
    if not hasattr(value, "estimators_"):
        return
    classes = len(getattr(value, "classes_", ()))
    columns, start, members = classes if classes > 2 else 1, vars(value)["init_"], value.estimators_
    fits = isinstance(members, np.ndarray) and members.ndim == 2 and members.shape[1] == columns
    for tree in members.ravel() if fits else ():
        fits = fits and isinstance(tree, BaseDecisionTree) and tree.tree_.value.shape[1:] == (1, 1)
    if start != "zero" and hasattr(start, "predict_proba"):
        fits = fits and start.predict_proba(np.zeros((1, value.n_features_in_))).shape == (1, classes)
    fits = fits and getattr(value, "n_trees_per_iteration_", columns) == columns
    if not fits or vars(value)["_loss"].is_multiclass != (columns > 1):
        raise ValueError("the trees of gradient boosting do not have the number of classes")


def _check_histogram(value: Any) -> None:
    state = vars(value)
    if "_predictors" not in state:
        return
    features, first = value.n_features_in_, state["_preprocessor"]
    if first is not None:
        features = first.transform(np.zeros((1, features))).shape[1]
    categorical = np.asarray(state["_bin_mapper"].is_categorical_)
    if len(categorical) != features:
        raise ValueError("the trees have another number of features")
    for tree in (tree for row in state["_predictors"] for tree in row):
        nodes = tree.nodes
        is_leaf, feature = nodes["is_leaf"] != 0, nodes["feature_idx"]
        left, right = (nodes[name].astype(np.int64) for name in ("left", "right"))
        _check_nodes(left, right, feature, is_leaf, features)
        splits = nodes[(nodes["is_categorical"] != 0) & ~is_leaf]
        sets = tree.raw_left_cat_bitsets
        if len(splits) and not (splits["bitset_idx"].max() < len(sets) and sets.shape[1] == 8):
            raise ValueError("a node refers to categories that are missing")
        if not categorical[splits["feature_idx"]].all():
            raise ValueError("a node compares a numeric feature with categories")


def _check_nodes(
    left: np.ndarray, right: np.ndarray, feature: np.ndarray, is_leaf: np.ndarray, features: int
) -> None:
    """Raise ValueError unless the children of inner nodes are all later nodes, each once."""
    inner = np.flatnonzero(~is_leaf)
    left, right, feature = left[inner], right[inner], feature[inner]
    if not len(is_leaf) or not ((left > inner).all() and (right > inner).all()):
        raise ValueError("a tree has no nodes, or a node that is its own ancestor")
    if not np.array_equal(np.sort(np.concatenate([left, right])), np.arange(1, len(is_leaf))):
        raise ValueError("the children of the nodes of a tree are not its nodes")
    if len(feature) and not (feature.min() >= 0 and feature.max() < features):
        raise ValueError("a node of a tree has an unknown feature")
