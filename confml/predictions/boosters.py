"""Classifiers of XGBoost and LightGBM in the formats of these packages, with all nodes checked.

Both packages read a model without checks of all its indices, so they are checked here first.
"""

import importlib
import importlib.util
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.errors import DataError
from confml.predictions.declarations import Mismatch

CLASSES = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}


@dataclass(frozen=True, eq=False)
class Booster:
    """A classifier. content: (b,) its model in the package's format, None without a fit. objective: of
    LightGBM."""

    package: str
    version: str
    params: dict[str, Any]
    content: np.ndarray | None
    classes: np.ndarray | None
    features: int
    objective: str | None

    stored = {
        "package": "str",
        "version": "str",
        "params": "dict",
        "content": "u1(b) | None",
        "classes": "labels(c) | None",
        "features": "int(d)",
        "objective": "str | None",
    }


def stored_booster(value: Any) -> Booster | None:
    """Return the stored form of a classifier of XGBoost or LightGBM, None for any other object."""
    package = type(value).__module__.partition(".")[0]
    if CLASSES.get(package) != type(value).__name__:
        return None
    version = importlib.import_module(package).__version__
    params = value.get_params(deep=False)
    if not (value.__sklearn_is_fitted__()):
        return Booster(package, version, params, None, None, 0, None)
    if package == "xgboost":
        content, objective = bytes(value.get_booster().save_raw("json")), None
    else:
        content, objective = value.booster_.model_to_string(num_iteration=-1).encode(), value.objective_
    array = np.frombuffer(content, dtype=np.uint8)
    return Booster(
        package, version, params, array, np.asarray(value.classes_), int(value.n_features_in_), objective
    )


def restored_booster(found: Booster) -> Any:
    """Return the classifier. Raises DataError if its package is missing, ValueError if it is damaged."""
    if found.package not in CLASSES:
        raise Mismatch(f"{found.package!r} is no package of a model file")
    if importlib.util.find_spec(found.package) is None:
        raise DataError(
            f"the model is a classifier of {found.package}, which is not installed",
            hint=f"pip install {found.package}=={found.version}",
        )
    package = importlib.import_module(found.package)
    classifier = getattr(package, CLASSES[found.package])(**found.params)
    if found.content is None or found.classes is None:
        return classifier
    content = found.content.tobytes()
    if found.package == "xgboost":
        _check_xgboost(content, len(found.classes), found.features)
        classifier.load_model(bytearray(content))
        return classifier
    _check_lightgbm(content, len(found.classes), found.features)
    from sklearn.preprocessing import LabelEncoder

    encoder = LabelEncoder()
    encoder.classes_ = found.classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of parameters, which are part of the model
        booster = package.Booster(model_str=content.decode(), params={"verbose": -1})
    vars(classifier).update(
        _Booster=booster,
        _le=encoder,
        _classes=found.classes,
        _class_map=dict(zip(found.classes.tolist(), range(len(found.classes)), strict=True)),
        _n_classes=len(found.classes),
        _objective=found.objective,
        _n_features=found.features,
        _n_features_in=found.features,
        fitted_=True,
    )
    return classifier


def _check_xgboost(content: bytes, classes: int, features: int) -> None:
    """Raise ValueError unless the trees have nodes and features that exist, and as many groups as classes."""
    try:
        learner = json.loads(content)["learner"]
        boosted = learner["gradient_booster"]
        boosted = boosted.get("gbtree", boosted)  # of the booster dart
        stated = learner["learner_model_param"]
        groups = max(1, int(stated["num_class"]))
        if "model" not in boosted or boosted.get("name") == "gblinear":
            raise Mismatch("the model of xgboost has no trees")
        if int(stated["num_feature"]) != features or max(2, groups) != max(2, classes):
            raise Mismatch("the model of xgboost has other features or classes")
        model = boosted["model"]
        trees = model["trees"]
        if len(trees) != int(model["gbtree_model_param"]["num_trees"]) or len(trees) != len(
            model["tree_info"]
        ):
            raise Mismatch("the model of xgboost has another number of trees")
        if not all(0 <= int(group) < groups for group in model["tree_info"]):
            raise Mismatch("a tree of xgboost has an unknown class")
        ends = model["iteration_indptr"]
        if ends[0] != 0 or ends[-1] != len(trees) or any(np.diff(ends) < 0):
            raise Mismatch("the iterations of xgboost are not in order")
        for tree in trees:
            count = int(tree["tree_param"]["num_nodes"])
            if (
                int(tree["tree_param"]["num_feature"]) != features
                or tree["tree_param"]["size_leaf_vector"] != "1"
            ):
                raise Mismatch("a tree of xgboost has other features")
            for name in ("base_weights", "default_left", "loss_changes", "split_conditions", "sum_hessian"):
                if len(tree[name]) != count:
                    raise Mismatch(f"{name} of a tree of xgboost has another length")
            if tree["categories"] or any(tree["split_type"]) or len(tree["split_type"]) != count:
                raise Mismatch("a tree of xgboost has categories")
            left, right, parents = (
                np.array(tree[name], dtype=np.int64)
                for name in ("left_children", "right_children", "parents")
            )
            _check_nodes(left, right, tree["split_indices"], features, count)
            inner = np.flatnonzero(left >= 0)
            if not ((parents[left[inner]] == inner).all() and (parents[right[inner]] == inner).all()):
                raise Mismatch("a node of a tree of xgboost has another parent")
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Mismatch(f"the model of xgboost lacks {error}") from None


def _check_nodes(
    left: np.ndarray, right: np.ndarray, split: Sequence[int], features: int, count: int
) -> None:
    """Raise ValueError unless the children of inner nodes are later nodes, each once."""
    feature = np.array(split, dtype=np.int64)
    if not len(left) == len(right) == len(feature) == count or count < 1:
        raise Mismatch("the nodes of a tree have different lengths")
    inner = np.flatnonzero(left != -1)
    if not ((right == -1) == (left == -1)).all():
        raise Mismatch("a node of a tree has one child")
    if not ((left[inner] > inner).all() and (right[inner] > inner).all()):
        raise Mismatch("a node of a tree is its own ancestor")
    children = np.sort(np.concatenate([left[inner], right[inner]]))
    if not np.array_equal(children, np.unique(children)) or len(children) and children[-1] >= count:
        raise Mismatch("the children of the nodes of a tree are not its nodes")
    if len(inner) and not (feature[inner].min() >= 0 and feature[inner].max() < features):
        raise Mismatch("a node of a tree has an unknown feature")


def _check_lightgbm(content: bytes, classes: int, features: int) -> None:
    """Raise ValueError unless the trees have nodes, leaves and features that exist."""
    head, *blocks = content.decode("utf-8").partition("\nend of trees")[0].split("\nTree=")
    stated = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    try:
        per_iteration = int(stated["num_tree_per_iteration"])
        wrong = (
            int(stated["max_feature_idx"]) != features - 1
            or len(stated["feature_names"].split()) != features
            or per_iteration != (1 if classes <= 2 else classes)
            or int(stated["num_class"]) != per_iteration
            or len(blocks) % per_iteration
            or len(stated["tree_sizes"].split()) != len(blocks)
        )
        if wrong:
            raise Mismatch("the model of lightgbm has other features, classes or trees")
        sizes = list(map(int, stated["tree_sizes"].split()))
        for number, block in enumerate(blocks):
            if not block.startswith(f"{number}\n"):
                raise Mismatch("the trees of lightgbm are not in order")
            if abs(len(f"Tree={block}".encode()) - sizes[number]) > 2:
                raise Mismatch("a tree of lightgbm has another size")
            lines = dict(line.split("=", 1) for line in block.splitlines()[1:] if "=" in line)
            _check_leaves(lines, features)
    except KeyError as error:
        raise Mismatch(f"the model of lightgbm lacks {error}") from None


def _check_leaves(lines: dict[str, str], features: int) -> None:
    """Raise ValueError unless a tree of LightGBM has one node less than leaves, each with known children."""
    leaves = int(lines["num_leaves"])
    if leaves < 1 or int(lines["num_cat"]) or int(lines.get("is_linear", 0)):
        raise Mismatch("a tree of lightgbm has categories, linear leaves or no leaves")
    values = lines["leaf_value"].split()
    if len(values) != leaves:
        raise Mismatch("a tree of lightgbm has another number of leaves")
    if leaves == 1:
        return
    feature, left, right = (
        np.array(lines[name].split(), dtype=np.int64)
        for name in ("split_feature", "left_child", "right_child")
    )
    thresholds, kinds = lines["threshold"].split(), lines["decision_type"].split()
    if not len(feature) == len(left) == len(right) == len(thresholds) == len(kinds) == leaves - 1:
        raise Mismatch("the nodes of a tree of lightgbm have different lengths")
    if feature.min() < 0 or feature.max() >= features or any(int(kind) & 1 for kind in kinds):
        raise Mismatch("a node of a tree of lightgbm has an unknown feature")
    children = np.concatenate([left, right])
    nodes = children[children >= 0]
    own = np.tile(np.arange(leaves - 1), 2)[children >= 0]
    if not (nodes > own).all() or not np.array_equal(np.sort(nodes), np.arange(1, leaves - 1)):
        raise Mismatch("the children of the nodes of a tree of lightgbm are not its nodes")
    if not np.array_equal(np.sort(~children[children < 0]), np.arange(leaves)):
        raise Mismatch("the leaves of a tree of lightgbm are not its leaves")
