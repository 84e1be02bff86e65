"""No parameter of scikit-learn that a config can set executes files, evaluates texts or starts processes."""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest
from sklearn.utils._param_validation import make_constraint
from sklearn.utils.discovery import all_estimators

from confml.errors import ConfigError
from confml.methods import registry
from confml.methods.sklearn.estimators import RULES, new_estimator
from confml.methods.sklearn.names import find_estimator
from confml.steps.registry import build_step

PIPELINE = "sklearn.pipeline.Pipeline"
STEPS = [["a", "sklearn.cluster.FeatureAgglomeration"], ["b", "sklearn.naive_bayes.GaussianNB"]]
# Parameters that accept any text or that scikit-learn does not check, each looked up in the source of
# scikit-learn: the text is compared with data, is a key of a table of functions, or is refused by the fit.
REVIEWED = {
    "constant": "a label",
    "dtype": "given to numpy.dtype",
    "estimator": "needs fit",
    "fill_value": "a value of the data",
    "metric": "a key of the metrics of scikit-learn and scipy",
    "missing_values": "a value of the data",
    "outlier_label": "a label",
    "pos_label": "a label",
    "refit": "the name of a score",
    "scoring": "a key of the table of scorers",
    "resource": "the name of a parameter",
    "separator": "put between names",
    "threshold": "mean or median, with a factor that float() reads",
    "transformer_list": "names and estimators",
    "transformer_weights": "numbers by name",
    "verbose": "true or false",
}


def accepted_classes():
    """Return every estimator of scikit-learn, which a config can name, as (dotted name, class)."""
    for one, cls in all_estimators():
        name = ".".join([*cls.__module__.split(".")[:2], one])
        if hasattr(importlib.import_module(name.rpartition(".")[0]), one):
            assert find_estimator(name, "estimator", ("fit", "get_params")) is cls
            yield name, cls


def accepts(cls, parameter, value):
    """Return whether scikit-learn's own check of a parameter lets a value pass."""
    known = getattr(cls, "_parameter_constraints", None)
    constraints = (known if isinstance(known, dict) else {}).get(parameter, "no_validation")
    if constraints == "no_validation":
        return True
    return any(make_constraint(one).is_satisfied_by(value) for one in constraints)


def free_text_parameters(value="./folder"):
    return [
        (name, cls, parameter)
        for name, cls in accepted_classes()
        for parameter in cls._get_param_names()
        if accepts(cls, parameter, value)
    ]


def test_every_parameter_that_accepts_any_text_is_restricted_or_reviewed():
    found = {parameter for _, _, parameter in free_text_parameters()}
    assert len(list(accepted_classes())) > 150
    assert {"memory", "pre_dispatch", "importance_getter"} <= found
    assert found - set(RULES) == set(REVIEWED) & found  # a new parameter: read its use, then add it


class Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


_events: list[str] = []
_hooked: list[bool] = []


def _hook(event, arguments):
    if _hooked and _hooked[-1] and event in ("open", "subprocess.Popen", "os.fork", "os.system", "exec"):
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
                try:
                    found = new_estimator(name, cls, {parameter: value})
                except Exception:  # refused
                    continue
                tried += 1
                _hooked.append(True)
                try:
                    found.fit(X, y)
                    found.get_feature_names_out()
                except Exception:
                    pass
                finally:
                    _hooked.pop()
    assert tried > 20
    assert not (tmp_path / "made").exists()
    assert "hostile_module" not in sys.modules
    # Modules of scikit-learn are imported when they are first used, and joblib counts the cores by lscpu.
    usual = ("open", "exec", "subprocess.Popen 'lscpu'")
    assert [one for one in _events if "folder" in one or "hostile" in one or not one.startswith(usual)] == []


def test_caches_are_refused_at_any_depth_in_grids_steps_and_after_the_constructor():
    for key, value in (("memory", "./folder"), ("memory", ["./folder"]), ("a__memory", "./folder")):
        with pytest.raises(ConfigError, match="null") as raised:
            registry.build(PIPELINE, {"steps": STEPS, key: value})
        assert raised.value.parameter == key
    method = registry.build(PIPELINE, {"steps": STEPS})
    with pytest.raises(ConfigError, match="memory must be null"):
        method.set_params(a__memory="x")
    with pytest.raises(ConfigError, match=r"param_grid.*memory must be null"):
        search = find_estimator("sklearn.model_selection.GridSearchCV", "estimator", ("fit",))
        grid = {"estimator": "sklearn.naive_bayes.GaussianNB", "param_grid": [{"memory": ["x"]}]}
        new_estimator("sklearn.model_selection.GridSearchCV", search, grid)
    with pytest.raises(ConfigError, match="memory must be null"):
        build_step("sklearn.cluster.FeatureAgglomeration", {"memory": "x"}).fit(np.eye(4), None)


@pytest.mark.parametrize(
    ("parameter", "bad", "good"),
    [
        ("n_jobs", [-1, 2, 0, True, 1.5], [None, 1]),
        ("pre_dispatch", ["9**9**9", "__import__('os')"], ["all", "2*n_jobs", 3]),
        ("importance_getter", ["__class__.__init__", "a._b", "a()"], ["auto", "best_estimator.coef_"]),
        ("verbose_feature_names_out", ["{0.__class__}"], [True, False]),
        ("memory", ["x", 1], [None]),
    ],
)
def test_harmless_values_stay(parameter, bad, good):
    assert not any(map(RULES[parameter].accepts, bad))
    assert all(map(RULES[parameter].accepts, good))
