"""No parameter of scikit-learn that a config can set executes files, evaluates texts or starts processes."""

import importlib
import pickle
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import make_constraint
from sklearn.utils.discovery import all_estimators

from confml.errors import ConfigError
from confml.methods import registry
from confml.methods.sklearn.estimators import RULES, new_estimator
from confml.methods.sklearn.names import find_estimator
from confml.steps.registry import build_step

PIPELINE = "sklearn.pipeline.Pipeline"
STEPS = [["a", "sklearn.cluster.FeatureAgglomeration"], ["b", "sklearn.naive_bayes.GaussianNB"]]


def accepted_classes():
    """Return every estimator of scikit-learn, which a config can name, as (dotted name, class)."""
    for class_name, cls in all_estimators():
        module = ".".join(cls.__module__.split(".")[:2])
        if hasattr(importlib.import_module(module), class_name):
            name = f"{module}.{class_name}"
            assert find_estimator(name, "estimator", ("fit", "get_params")) is cls
            yield name, cls


def free_text_parameters():
    """Yield (dotted name, class, parameter) where scikit-learn's own check lets any text pass."""
    for name, cls in accepted_classes():
        table = getattr(cls, "_parameter_constraints", None)
        for parameter in cls._get_param_names():
            rules = table.get(parameter, "no_validation") if isinstance(table, dict) else "no_validation"
            if rules == "no_validation" or any(
                make_constraint(rule).is_satisfied_by("./x") for rule in rules
            ):
                yield name, cls, parameter


class Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


_events: list[str] = []
_hooked: list[bool] = []


def _hook(event, arguments):
    if _hooked and event in ("open", "subprocess.Popen", "os.fork", "os.system", "exec"):
        _events.append(f"{event} {arguments[0]!r}"[:200])


def test_no_text_that_a_config_gives_is_opened_or_executed(tmp_path, monkeypatch):
    """Every class with every text parameter set to a folder, a module or code, fitted under an audit hook."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.pkl").write_bytes(pickle.dumps(Touch(str(tmp_path / "made"))))
    (tmp_path / "hostile_module.py").write_text("open('made', 'w')")
    monkeypatch.syspath_prepend(str(tmp_path))
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 4)), np.arange(20) % 2
    sys.addaudithook(_hook)
    tried = 0
    texts = ("./folder", "hostile_module.x", "__import__('os').mkdir('made')", "{0.__class__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, cls, parameter in free_text_parameters():
            for value in (*texts, {"memory": "./folder"}, [*texts]):
                with suppress(Exception):  # the text is refused here or there
                    estimator = new_estimator(name, cls, {parameter: value})
                    tried += 1
                    _hooked.append(True)
                    estimator.fit(X, y)
                    estimator.get_feature_names_out()
                _hooked.clear()
    assert tried > 20
    assert not (tmp_path / "made").exists()
    assert "hostile_module" not in sys.modules
    # Modules of scikit-learn are imported when they are first used, and joblib counts the cores by lscpu.
    usual = ("open", "exec", "subprocess.Popen 'lscpu'")
    assert not [
        text for text in _events if "folder" in text or "hostile" in text or not text.startswith(usual)
    ]


def test_caches_are_refused_at_any_depth_in_grids_steps_and_after_the_constructor():
    for key, value in (("memory", ["./folder"]), ("a__memory", "./folder")):
        with pytest.raises(ConfigError, match="null"):
            registry.build(PIPELINE, {"steps": STEPS, key: value})
    with pytest.raises(ConfigError, match="memory must be null"):
        registry.build(PIPELINE, {"steps": STEPS}).set_params(a__memory="x")
    with pytest.raises(ConfigError, match=r"param_grid.*memory must be null"):
        grid = {"estimator": "sklearn.naive_bayes.GaussianNB", "param_grid": [{"memory": ["x"]}]}
        new_estimator("sklearn.model_selection.GridSearchCV", GridSearchCV, grid)
    with pytest.raises(ConfigError, match="memory must be null"):
        build_step("sklearn.cluster.FeatureAgglomeration", {"memory": "x"}).fit(np.eye(4), None)
    assert RULES["importance_getter"].accepts("best_estimator.coef_")
    for parameter, text in (("n_jobs", -1), ("pre_dispatch", "9**9"), ("importance_getter", "__class__.a")):
        assert not RULES[parameter].accepts(text)
