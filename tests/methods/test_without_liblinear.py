"""LIBLINEAR is compiled when it is installed; without it confml works, and its methods name the remedy."""

import sys

import processes
import pytest

from confml import OvOSVM
from confml.config import make_config
from confml.errors import ConfigError
from confml.methods.registry import methods

NEEDS = ("crammer-singer", "dag-svm", "linear-svm", "ovo-svm", "ovr-svm", "polynomial", "smart-svm")


@pytest.fixture
def without_liblinear(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "liblinear"]:
        monkeypatch.delitem(sys.modules, name)
    find = sys.modules["importlib.util"].find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "liblinear" else find(name))
    monkeypatch.setitem(sys.modules, "liblinear", None)  # an import raises ModuleNotFoundError


def config(*entries):
    return make_config({"name": "a", "datasets": ["iris"], "methods": [*entries], "protocol": "holdout"})


def test_a_config_names_the_remedy_before_anything_runs(without_liblinear):
    refused = []
    for name in methods.names():
        try:
            config(name)
        except ConfigError as error:
            if "needs LIBLINEAR, which is not installed; install a C++ compiler, then" in str(error):
                refused.append(name)
    assert tuple(sorted(refused)) == NEEDS
    config({"name": "smart-svm", "estimator": "naive-bayes"})
    with pytest.raises(ConfigError, match="LIBLINEAR is not installed; install a C"):
        OvOSVM().fit([[0.0], [1.0]], [0, 1])


def test_all_modules_are_imported_without_it():
    """And their import leaves the handling of signals to the program that uses them."""
    program = (
        "import signal, sys; sys.modules['liblinear'] = None\n"
        "before = signal.getsignal(signal.SIGINT)\n"  # ignored where a shell has started it in the background
        "import confml.runner.run\n"
        "from confml.methods.registry import known_methods, methods\n"
        "assert len(known_methods()) > 10 and not methods.broken()\n"
        "import confml; [getattr(confml, name) for name in confml.__all__]\n"
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    processes.assert_program(program)
