"""Methods: a file or a folder each. `Method` is the public contract, ``_template.py`` an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confml.methods.base import Method as Method
    from confml.methods.base import Views as Views

__all__ = ["BASELINE", "Method", "Views"]
BASELINE = "majority-class"
"""The method that a run adds to those of its config. The others are compared with it one by one: it is not
among the pairs of methods that are tested, nor among the methods that are ranked or certified together."""


# Class of each method by its name in a config, in its package: threads that import a module and its package
# at the same time can block each other.
METHODS: dict[str, str] = {
    "bayes-discriminant": "confml.methods.bayes_discriminant:BayesDiscriminant",
    "bayes-knn": "confml.methods.bayes_knn:BayesKNN",
    "bayes-point-machine": "confml.methods.version_space:BayesPointMachine",
    "bayes-transduction": "confml.methods.version_space:BayesTransduction",
    "crammer-singer": "confml.methods.svm:CrammerSinger",
    "dag-svm": "confml.methods.svm:DAGSVM",
    "external": "confml.methods.external:External",
    "gen-svm": "confml.methods.svm:GenSVM",
    "kernel-svm": "confml.methods.version_space:KernelSVM",
    "knn": "confml.methods.knn:KNN",
    "linear-svm": "confml.methods.linear:LinearSVM",
    "majority-class": "confml.methods.majority_class:MajorityClass",
    "naive-bayes": "confml.methods.naive_bayes:NaiveBayes",
    "ovo-svm": "confml.methods.svm:OvOSVM",
    "ovr-svm": "confml.methods.svm:OvRSVM",
    "perceptron": "confml.methods.linear:Perceptron",
    "polynomial": "confml.methods.linear:Polynomial",
    "smart-svm": "confml.methods.svm:SmartSVM",
    "tcm-nn": "confml.methods.tcm_nn:TCMNN",
    "tcm-svm": "confml.methods.tcm_svm:TCMSVM",
    "weighted-knn": "confml.methods.knn:WeightedKNN",
    "winnow": "confml.methods.linear:Winnow",
}


def __getattr__(name: str) -> Any:
    """Import the contract when it is first used: a stored model needs no scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from confml.methods import base

    return getattr(base, name)
