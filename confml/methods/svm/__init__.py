"""Linear support vector machines for two and more classes."""

from confml.methods.svm.crammer_singer import CrammerSinger
from confml.methods.svm.dag_svm import DAGSVM
from confml.methods.svm.gen_svm import GenSVM
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM

__all__ = ["CrammerSinger", "DAGSVM", "GenSVM", "OvOSVM", "OvRSVM", "SmartSVM"]
