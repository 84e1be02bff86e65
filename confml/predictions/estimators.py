"""Estimators of scikit-learn as parameters and arrays: trees and their ensembles, networks, pipelines.

A fitted estimator is restored from its parameters and the attributes that its predictions need, each checked
against its declaration (`confml.predictions.declarations`). scikit-learn reads its trees without checks, so
every child, feature and category of a node is checked here. Other estimators are stored with skops.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from confml.predictions.declarations import Check, Mismatch

_OUTPUT = {"n_features_in_": "int(d)", "n_outputs_": "int in 1..2"}
_CLASSES = {"n_features_in_": "int(d)", "classes_": "labels(c)"}
_TREE = _CLASSES | {
    "n_outputs_": "int in 1..2",
    "n_classes_": "int(c)",
    "max_features_": "int",
    "tree_": "NodeTable(d, v=c)",
}
_REGRESSION_TREE = _OUTPUT | {"max_features_": "int", "tree_": "NodeTable(d, v)"}
_FOREST = _CLASSES | {
    "n_outputs_": "int in 1..2",
    "n_classes_": "int(c)",
    "estimators_": "list[DecisionTreeClassifier(d, c)](t)",
}

STORED: Mapping[str, Mapping[str, str]] = {
    "sklearn.tree:DecisionTreeClassifier": _TREE,
    "sklearn.tree:ExtraTreeClassifier": _TREE,
    "sklearn.tree:DecisionTreeRegressor": _REGRESSION_TREE,
    "sklearn.ensemble:RandomForestClassifier": _FOREST,
    "sklearn.ensemble:ExtraTreesClassifier": _FOREST,
    "sklearn.ensemble:BaggingClassifier": _CLASSES
    | {
        "n_classes_": "int(c)",
        "estimators_": "list[object](t)",
        "estimators_features_": "list[number(*) in 0..d](t)",
    },
    "sklearn.ensemble:AdaBoostClassifier": _CLASSES
    | {
        "n_classes_": "int(c)",
        "estimators_": "list[object](t)",
        "estimator_weights_": "f8(*)",
        "estimator_errors_": "f8(*)",
    },
    "sklearn.ensemble:GradientBoostingClassifier": _CLASSES
    | {
        "n_classes_": "int(c)",
        "n_trees_per_iteration_": "int(k)",
        "n_estimators_": "int(t)",
        "estimators_": "list[list[DecisionTreeRegressor(d, v=1)](k)](t)",
        "init_": "str | object",
    },
    "sklearn.ensemble:HistGradientBoostingClassifier": _CLASSES
    | {
        "n_trees_per_iteration_": "int(k)",
        "_n_features": "int(w)",
        "_baseline_prediction": "f8(1, k)",
        "_predictors": "list[list[LeafTable(w)](k)](t)",
        "_bin_mapper": "CategoryBins(w)",
        "_preprocessor": "None | object",
        "is_categorical_": "b1(*) | None",
        "_is_categorical_remapped": "b1(w) | None",
    },
    "sklearn.neural_network:MLPClassifier": _CLASSES
    | {
        "n_outputs_": "int in 1..",
        "n_layers_": "int(l)",
        "out_activation_": "str",
        "_label_binarizer": "LabelBinarizer",
        "coefs_": "list[f8(*, *) | f4(*, *)](l-1)",
        "intercepts_": "list[f8(*) | f4(*)](l-1)",
    },
    "sklearn.preprocessing:LabelBinarizer": {
        "classes_": "labels(c)",
        "y_type_": "str",
        "sparse_input_": "bool",
    },
    "sklearn.dummy:DummyClassifier": {
        "classes_": "labels(c)",
        "n_classes_": "int(c)",
        "n_outputs_": "int in 1..2",
        "class_prior_": "f8(c)",
        "sparse_output_": "bool",
        "_strategy": "str",
    },
    "sklearn.pipeline:Pipeline": {},
}
"""The attributes that predictions need, of the estimators that are stored as parameters and arrays."""


class Fitted(NamedTuple):
    """Parameters and attributes of an estimator that is stored as plain values and arrays."""

    name: str
    params: dict[str, Any]
    attributes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A tree of scikit-learn. nodes: (m,) its nodes. values: (m, 1, v) numbers of each. depth: its depth."""

    nodes: np.ndarray
    values: np.ndarray
    depth: int
    features: int

    stored = {
        "nodes": "array(m)",
        "values": "f8(m, 1, v)",
        "depth": "int in 0..m",
        "features": "int(d)",
    }

    @classmethod
    def of(cls, tree: Any) -> "NodeTable":
        state = tree.__getstate__()
        return cls(
            _packed(state["nodes"]), np.array(state["values"]), int(state["max_depth"]), tree.n_features
        )

    def check_stored(self) -> None:
        """Raise ValueError unless every inner node has two later nodes as children, and a known feature."""
        left, right = _column(self.nodes, "left_child"), _column(self.nodes, "right_child")
        _check_tree(left, right, (left == -1) & (right == -1), _column(self.nodes, "feature"), self.features)

    def restored(self) -> Any:
        """Return the tree of scikit-learn. Raises ValueError for nodes of another version."""
        from sklearn.tree._tree import NODE_DTYPE, Tree

        tree = Tree(self.features, np.array([self.values.shape[2]], dtype=np.intp), 1)
        values = np.ascontiguousarray(self.values)
        nodes = _as_dtype(self.nodes, NODE_DTYPE)
        tree.__setstate__(
            {"max_depth": self.depth, "node_count": len(nodes), "nodes": nodes, "values": values}
        )
        return tree


@dataclass(frozen=True, eq=False)
class LeafTable:
    """A tree of histogram gradient boosting. nodes: (m,); bitsets: (s, 8), categories that go to the left."""

    nodes: np.ndarray
    bitsets: np.ndarray
    features: int

    stored = {"nodes": "array(m)", "bitsets": "u4(s, 8)", "features": "int(w)"}

    def check_stored(self) -> None:
        """Raise ValueError unless every inner node has two later nodes as children, and a known feature."""
        nodes = self.nodes
        is_leaf, feature = _column(nodes, "is_leaf") != 0, _column(nodes, "feature_idx")
        _check_tree(_column(nodes, "left"), _column(nodes, "right"), is_leaf, feature, self.features)
        bitset = _column(nodes, "bitset_idx")[self._is_categorical]
        if len(bitset) and not (bitset.min() >= 0 and bitset.max() < len(self.bitsets)):
            raise Mismatch("a node refers to categories that are missing")

    @property
    def _is_categorical(self) -> np.ndarray:
        return (_column(self.nodes, "is_categorical") != 0) & (_column(self.nodes, "is_leaf") == 0)

    @property
    def categorical_features(self) -> np.ndarray:
        """The features that inner nodes compare with categories."""
        return np.unique(_column(self.nodes, "feature_idx")[self._is_categorical])

    def restored(self) -> Any:
        """Return the predictor of scikit-learn. Raises ValueError for nodes of another version."""
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        return TreePredictor(_as_dtype(self.nodes, PREDICTOR_RECORD_DTYPE), self.bitsets[:0], self.bitsets)


@dataclass(frozen=True, eq=False)
class CategoryBins:
    """The categories of histogram gradient boosting. known: of each feature, None for numeric features."""

    known: list[np.ndarray | None]

    stored = {"known": "list[f8(*) in 0..256 | None](w)"}

    def restored(self) -> Any:
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

        mapper = _BinMapper()
        mapper.is_categorical_ = np.array([one is not None for one in self.known], dtype=np.uint8)
        mapper.bin_thresholds_ = [np.empty(0) if one is None else one for one in self.known]
        return mapper


def stored_estimator(value: Any) -> Fitted | None:
    """Return the parameters and attributes of an estimator; None if it is not among `STORED`."""
    name = next((name for name in STORED if _is_of(value, name)), None)
    if name is None:
        return None
    state = vars(value)
    attributes = {key: state[key] for key in STORED[name] if key in state}
    # A random state is not used after a fit.
    params = {
        key: None if isinstance(one, np.random.RandomState) else one
        for key, one in value.get_params(deep=False).items()
    }
    return Fitted(name, params, _FORMS.get(name, _same)(value, attributes))


def restored_estimator(found: Fitted, known: dict[int, Any]) -> Any:
    """Return the estimator of parameters and attributes, which are checked. known: sizes of checked objects.

    Raises ValueError.
    """
    if found.name not in STORED:
        raise Mismatch(f"{found.name!r} is no estimator that a model file may hold")
    module, _, class_name = found.name.partition(":")
    estimator = getattr(importlib.import_module(module), class_name)(**found.params)
    if hasattr(estimator, "_validate_params"):
        methodcaller("_validate_params")(estimator)
    if not found.attributes:  # not fitted, or without attributes of a fit
        return estimator
    check = Check(known)
    check.attributes(class_name, dict(STORED[found.name]), found.attributes)
    for key, value in found.attributes.items():
        setattr(estimator, key, _restored(value))
    _finish(estimator, found.name, found.attributes)
    known[id(estimator)] = check.sizes
    return estimator


def _finish(estimator: Any, name: str, attributes: Mapping[str, Any]) -> None:
    """Check what declarations cannot express, and set the attributes that others determine."""
    c = len(getattr(estimator, "classes_", ()))
    if name.endswith("GradientBoostingClassifier"):
        if estimator.n_trees_per_iteration_ != (1 if c == 2 else c):
            raise Mismatch("the trees of an iteration do not have the number of classes")
        estimator.n_classes_ = c
        vars(estimator)["_loss"] = methodcaller("_get_loss", sample_weight=None)(estimator)
    if name.endswith(":GradientBoostingClassifier"):
        rows = attributes["estimators_"]
        estimator.estimators_ = np.empty((len(rows), estimator.n_trees_per_iteration_), dtype=object)
        for at, row in enumerate(rows):
            estimator.estimators_[at] = row
        if not len(rows) or isinstance(estimator.init_, str) and estimator.init_ != "zero":
            raise Mismatch("there are no trees, or no known start")
    if name.endswith("HistGradientBoostingClassifier"):
        state = vars(estimator)
        categorical = state["_bin_mapper"].is_categorical_
        for table in (one for row in attributes["_predictors"] for one in row):
            if not categorical[table.categorical_features].all():
                raise Mismatch("a node compares a numeric feature with categories")
        if state["_preprocessor"] is None and state["_n_features"] != estimator.n_features_in_:
            raise Mismatch("the trees have another number of features")
    if name.endswith("MLPClassifier"):
        widths = [len(estimator.coefs_[0])] + [one.shape[1] for one in estimator.coefs_]
        shapes = [one.shape for one in estimator.coefs_], [one.shape for one in estimator.intercepts_]
        if shapes != (list(zip(widths, widths[1:], strict=False)), [(width,) for width in widths[1:]]):
            raise Mismatch("the layers of the network do not fit together")
        if widths[0] != estimator.n_features_in_ or widths[-1] != (1 if c == 2 else c):
            raise Mismatch("the network has another number of features or classes")


def _of_histogram(value: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    if not attributes:
        return attributes
    features, mapper = attributes["_n_features"], attributes["_bin_mapper"]
    known = [
        np.asarray(cuts, dtype=np.float64) if categorical else None
        for categorical, cuts in zip(mapper.is_categorical_, mapper.bin_thresholds_, strict=True)
    ]
    predictors = [
        [LeafTable(_packed(one.nodes), np.array(one.raw_left_cat_bitsets), features) for one in row]
        for row in attributes["_predictors"]
    ]
    return attributes | {"_predictors": predictors, "_bin_mapper": CategoryBins(known)}


def _same(value: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    return attributes


_FORMS: Mapping[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    **{
        name: lambda value, found: (
            found | ({"tree_": NodeTable.of(found["tree_"])} if "tree_" in found else {})
        )
        for name in STORED
        if name.startswith("sklearn.tree:")
    },
    "sklearn.ensemble:GradientBoostingClassifier": lambda value, found: (
        found | ({"estimators_": found["estimators_"].tolist()} if found else {})
    ),
    "sklearn.ensemble:HistGradientBoostingClassifier": _of_histogram,
}


def _restored(value: Any) -> Any:
    """Return a value with the objects of scikit-learn in the place of tables."""
    if isinstance(value, NodeTable | LeafTable | CategoryBins):
        return value.restored()
    return [_restored(one) for one in value] if type(value) is list else value


def _is_of(value: Any, name: str) -> bool:
    """Return whether a value is exactly of the class ``module:name``, which is imported if it is."""
    module, _, class_name = name.partition(":")
    cls = type(value)
    if cls.__name__ != class_name or not cls.__module__.startswith(module):
        return False
    return getattr(importlib.import_module(module), class_name, None) is cls


def _check_tree(
    left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray, feature: np.ndarray, features: int
) -> None:
    """Raise ValueError unless the children of inner nodes are all later nodes, each once."""
    if not len(left):
        raise Mismatch("a tree has no nodes")
    inner = np.flatnonzero(~is_leaf)
    left, right, feature = left[inner], right[inner], feature[inner]
    children = np.sort(np.concatenate([left, right]))
    if not ((left > inner).all() and (right > inner).all()):
        raise Mismatch("a node of a tree is its own ancestor")
    if not np.array_equal(children, np.arange(1, len(is_leaf))):
        raise Mismatch("the children of the nodes of a tree are not its nodes")
    if len(feature) and not (feature.min() >= 0 and feature.max() < features):
        raise Mismatch("a node of a tree has an unknown feature")


def _column(nodes: np.ndarray, name: str) -> np.ndarray:
    """Return a field of nodes as integers."""
    if nodes.dtype.names is None or name not in nodes.dtype.names or nodes.dtype[name].kind not in "iu":
        raise Mismatch(f"the nodes of a tree have no {name}")
    if nodes.dtype[name].kind == "u" and nodes[name].max(initial=0) > np.iinfo(np.int64).max:
        raise Mismatch(f"{name} of a node is too large")
    return nodes[name].astype(np.int64)


def _packed(nodes: np.ndarray) -> np.ndarray:
    """Return nodes without bytes between their fields, which have no defined value."""
    names = nodes.dtype.names or ()
    packed = np.empty(len(nodes), dtype=[(name, nodes.dtype[name].str) for name in names])
    for name in names:
        packed[name] = nodes[name]
    return packed


def _as_dtype(nodes: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return nodes with the fields of the installed scikit-learn."""
    names = dtype.names or ()
    if nodes.dtype.names is None or set(nodes.dtype.names) != set(names):
        raise Mismatch("its trees have other fields than those of the installed scikit-learn")
    converted = np.zeros(len(nodes), dtype=dtype)
    for name in names:
        if nodes.dtype[name].kind != dtype[name].kind:
            raise Mismatch(f"{name} of a node is no {dtype[name].str}")
        converted[name] = nodes[name]
    return converted
