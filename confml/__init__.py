"""confml: run and compare classifiers with a confidence for each single prediction.

The names below are imported when they are first used, so ``import confml`` takes a few milliseconds.
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any

from confml._version import __version__
from confml.methods import METHODS

if TYPE_CHECKING:
    from confml._threads import threads as threads
    from confml.bayes_error.rates import bayes_errors as bayes_errors
    from confml.measures.prediction import Prediction as Prediction
    from confml.measures.region_scores import coverage as coverage
    from confml.measures.region_scores import set_size as set_size
    from confml.methods.base import Method as Method
    from confml.methods.bayes_discriminant import BayesDiscriminant as BayesDiscriminant
    from confml.methods.bayes_knn.bayes_knn import BayesKNN as BayesKNN
    from confml.methods.conformal.conformal import Conformal as Conformal
    from confml.methods.knn.knn import KNN as KNN
    from confml.methods.knn.weighted_knn import WeightedKNN as WeightedKNN
    from confml.methods.linear.linear_svm import LinearSVM as LinearSVM
    from confml.methods.linear.perceptron import Perceptron as Perceptron
    from confml.methods.linear.polynomial import Polynomial as Polynomial
    from confml.methods.linear.winnow import Winnow as Winnow
    from confml.methods.majority_class import MajorityClass as MajorityClass
    from confml.methods.naive_bayes import NaiveBayes as NaiveBayes
    from confml.methods.pipelines import confident_predict as confident_predict
    from confml.methods.samples.samples import Samples as Samples
    from confml.methods.svm.crammer_singer import CrammerSinger as CrammerSinger
    from confml.methods.svm.dag_svm import DAGSVM as DAGSVM
    from confml.methods.svm.gen_svm import GenSVM as GenSVM
    from confml.methods.svm.ovo_svm import OvOSVM as OvOSVM
    from confml.methods.svm.ovr_svm import OvRSVM as OvRSVM
    from confml.methods.svm.smart_svm import SmartSVM as SmartSVM
    from confml.methods.tcm_nn.online import OnlineTCMNN as OnlineTCMNN
    from confml.methods.tcm_nn.tcm_nn import TCMNN as TCMNN
    from confml.methods.tcm_svm import TCMSVM as TCMSVM
    from confml.methods.venn_abers.venn_abers import VennAbers as VennAbers
    from confml.methods.version_space.bayes_point_machine import BayesPointMachine as BayesPointMachine
    from confml.methods.version_space.bayes_transduction import BayesTransduction as BayesTransduction
    from confml.methods.version_space.kernel_svm import KernelSVM as KernelSVM
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
    "confml.bayes_error.rates": ("bayes_errors",),
    "confml.measures.prediction": ("Prediction",),
    "confml.measures.region_scores": ("coverage", "set_size"),
    "confml.methods.base": ("Method",),
    "confml.methods.conformal.conformal": ("Conformal",),
    "confml.methods.pipelines": ("confident_predict",),
    "confml.methods.samples.samples": ("Samples",),
    "confml.methods.tcm_nn.online": ("OnlineTCMNN",),
    "confml.methods.venn_abers.venn_abers": ("VennAbers",),
    "confml.predictions.predict": ("predict",),
    "confml.predictions.store": ("load_model", "save_model"),
    "confml.report.outcomes": ("OutcomeComparison", "compare"),
    "confml.run_config": ("run",),
    "confml.runs": ("Run", "load_run"),
    "confml.steps.step_transformer": ("StepTransformer",),
}
_LOCK = threading.RLock()
_METHOD_HOMES = (location.split(":") for name, location in METHODS.items() if name != "external")
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_HOME |= {name: home for home, name in _METHOD_HOMES}

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
