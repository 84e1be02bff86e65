"""The types that a model file may hold besides those that skops trusts, and checks of their objects."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from confml.methods import METHODS
from confml.methods.base import Method
from confml.methods.registry import methods
from confml.plugins.parameters import check_parameters
from confml.predictions.support_vectors import check_support_vectors
from confml.predictions.trees import check_trees
from confml.steps import STEPS
from confml.steps.base import Step
from confml.steps.registry import steps

_BY_MODULE = {
    "confml.data.new_rows": "RowCoder",
    "confml.measures.certified": "OperatingPoint",
    "confml.measures.chains": "ChainDiagnostics",
    "confml.measures.costs": "Costs",
    "confml.measures.prediction": "Prediction",
    "confml.methods.bayes_knn.adaptive": "Draws MetricPosterior",
    "confml.methods.bayes_knn.posterior": "BetaDensity NodePosterior Nodes Training",
    "confml.methods.conformal.conformal": "Conformal Labelled PartScores",
    "confml.methods.conformal.selection": "FittedPart",
    "confml.methods.details": "ClassTreeNode",
    "confml.methods.divisions": "Column Divisions",
    "confml.methods.linear.linear_group": "Boxed",
    "confml.methods.naive_bayes": "Bins CategoryProbabilities Gaussians KernelDensity",
    "confml.methods.samples.samples": "Samples",
    "confml.methods.sklearn.coded_labels": "CodedLabels",
    "confml.methods.sklearn.sklearn_method": "SklearnMethod",
    "confml.methods.tcm_nn.group_rows": "GroupRows",
    "confml.methods.tcm_nn.neighbour_counter": "NeighbourCounter",
    "confml.methods.venn_abers.venn_abers": "VennAbers VennAbersTable",
    "confml.methods.version_space.billiard": "MarkovChain Trajectory",
    "confml.methods.version_space.kernel_functions": "KernelFunction",
    "confml.methods.version_space.version_space": "RangeSpace VersionSpace",
    "confml.methods.wrapper_method": "RunSettings",
    "confml.neighbours.distance_kinds": "MahalanobisRows MinkowskiRows PolarRows",
    "confml.neighbours.nearest_rows": "NearestRows Neighbours",
    "confml.neighbours.scaling": "SafeScale",
    "confml.predictions.model": "Facts Model TrainingRows",
    "confml.runner.split_data": "_StepsPerPart",
    "confml.steps.pipeline": "StepPipeline",
    "confml.steps.transformer": "TransformerStep",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
}
TRUSTED = (
    *(f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split()),
    *(location.replace(":", ".") for location in (*METHODS.values(), *STEPS.values())),
)
"""Classes of confml, and of scikit-learn: `check_objects` checks those that compiled code reads."""


@functools.cache
def trusted_types() -> tuple[str, ...]:
    """Return the names of the trusted types, with the methods and steps of installed packages."""
    offered: list[type] = []
    for registry in (methods, steps):
        broken = registry.broken()
        offered += [registry.find(name) for name in registry.offers if name not in broken]
    return (*TRUSTED, *(f"{cls.__module__}.{cls.__qualname__}" for cls in offered))


def objects_in(value: Any) -> Iterator[Any]:
    """Iterate over a value and all objects that its attributes and containers hold, each once."""
    left, seen = [value], {}
    while left:
        item = left.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, dict):
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item
        elif isinstance(item, np.ndarray):
            left += item.ravel().tolist() if item.dtype.hasobject else []
        else:
            left += getattr(item, "__dict__", {}).values()
            yield item


def check_objects(model: Any) -> None:
    """Raise ValueError for parameters that a fit refuses, and arrays that do not fit compiled code."""
    for value in objects_in(model):
        if isinstance(value, Method | Step) and value.parameters:
            names = [name for name in value.parameters if hasattr(value, name)]
            parameters = {name: getattr(value, name) for name in names}
            check_parameters(type(value).__name__, value.parameters, parameters)
        else:
            check_trees(value)
            check_support_vectors(value)
