"""confml: run and compare classifiers with a confidence for each single prediction.

The names below are imported when they are first used, so ``import confml`` takes a few milliseconds.
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any

from confml._version import __version__

if TYPE_CHECKING:
    from confml._threads import threads as threads
    from confml.bayes_error import bayes_errors as bayes_errors
    from confml.measures.prediction import Prediction as Prediction
    from confml.measures.region_scores import coverage as coverage
    from confml.measures.region_scores import set_size as set_size
    from confml.methods.base import Method as Method
    from confml.methods.bayes_discriminant import BayesDiscriminant as BayesDiscriminant
    from confml.methods.bayes_knn import BayesKNN as BayesKNN
    from confml.methods.conformal import Conformal as Conformal
    from confml.methods.knn import KNN as KNN
    from confml.methods.knn import WeightedKNN as WeightedKNN
    from confml.methods.linear import LinearSVM as LinearSVM
    from confml.methods.linear import Perceptron as Perceptron
    from confml.methods.linear import Polynomial as Polynomial
    from confml.methods.linear import Winnow as Winnow
    from confml.methods.majority_class import MajorityClass as MajorityClass
    from confml.methods.naive_bayes import NaiveBayes as NaiveBayes
    from confml.methods.pipelines import confident_predict as confident_predict
    from confml.methods.samples import Samples as Samples
    from confml.methods.svm import DAGSVM as DAGSVM
    from confml.methods.svm import CrammerSinger as CrammerSinger
    from confml.methods.svm import GenSVM as GenSVM
    from confml.methods.svm import OvOSVM as OvOSVM
    from confml.methods.svm import OvRSVM as OvRSVM
    from confml.methods.svm import SmartSVM as SmartSVM
    from confml.methods.tcm_nn import TCMNN as TCMNN
    from confml.methods.tcm_nn import OnlineTCMNN as OnlineTCMNN
    from confml.methods.tcm_svm import TCMSVM as TCMSVM
    from confml.methods.venn_abers import VennAbers as VennAbers
    from confml.methods.version_space import BayesPointMachine as BayesPointMachine
    from confml.methods.version_space import BayesTransduction as BayesTransduction
    from confml.methods.version_space import KernelSVM as KernelSVM
    from confml.predictions.predict import predict as predict
    from confml.predictions.store import load_model as load_model
    from confml.predictions.store import save_model as save_model
    from confml.report.outcomes import OutcomeComparison as OutcomeComparison
    from confml.report.outcomes import compare as compare
    from confml.run_config import run as run
    from confml.runs import Run as Run
    from confml.runs import load_run as load_run
    from confml.steps.step_transformer import StepTransformer as StepTransformer

_HOMES = {
    "confml._threads": ("threads",),
    "confml.bayes_error": ("bayes_errors",),
    "confml.measures.prediction": ("Prediction",),
    "confml.measures.region_scores": ("coverage", "set_size"),
    "confml.methods.base": ("Method",),
    "confml.methods.bayes_discriminant": ("BayesDiscriminant",),
    "confml.methods.bayes_knn": ("BayesKNN",),
    "confml.methods.conformal": ("Conformal",),
    "confml.methods.knn": ("KNN", "WeightedKNN"),
    "confml.methods.linear": ("LinearSVM", "Perceptron", "Polynomial", "Winnow"),
    "confml.methods.majority_class": ("MajorityClass",),
    "confml.methods.naive_bayes": ("NaiveBayes",),
    "confml.methods.pipelines": ("confident_predict",),
    "confml.methods.samples": ("Samples",),
    "confml.methods.svm": ("CrammerSinger", "DAGSVM", "GenSVM", "OvOSVM", "OvRSVM", "SmartSVM"),
    "confml.methods.tcm_nn": ("TCMNN", "OnlineTCMNN"),
    "confml.methods.tcm_svm": ("TCMSVM",),
    "confml.methods.venn_abers": ("VennAbers",),
    "confml.methods.version_space": ("BayesPointMachine", "BayesTransduction", "KernelSVM"),
    "confml.predictions.predict": ("predict",),
    "confml.predictions.store": ("load_model", "save_model"),
    "confml.report.outcomes": ("OutcomeComparison", "compare"),
    "confml.run_config": ("run",),
    "confml.runs": ("Run", "load_run"),
    "confml.steps.step_transformer": ("StepTransformer",),
}
_LOCK = threading.RLock()
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'confml' has no attribute '{name}'")
    with _LOCK:  # threads that import modules of one package in two orders would wait for each other
        value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
