"""Scores and transformed values have the same bytes on every processor, or their class says that they do not.

OpenBLAS has other products for other processors, and ``OPENBLAS_CORETYPE`` chooses them. A trajectory of the
billiard amplifies the last bit of its walls and of its start. New interpreters take much of the time.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from confml.methods.registry import describe

SWEEP = """
import hashlib, json, sys, warnings
import numpy as np
from threadpoolctl import threadpool_info
from confml._threads import one_blas_thread
from confml.methods import registry
from confml.steps.registry import build_pipeline, known_steps, step_class

warnings.simplefilter("ignore")
FEWER = {"bayes-transduction": {"n_bounces": 3000}, "bayes-point-machine": {"n_bounces": 3000}}
REQUIRED = {
    "smooth-images": {"width": 37},
    "select-by-bayes-error": {"attributes": 5},
    "select-attributes": {"least": 33},
}
BILLIARDS = {
    "geodesic": {"n_bounces": BOUNCES, "chains": 2},
    "chord": {"sampler": "chord", "n_bounces": 1000, "chains": 1, "burn_in": 0.0},
    "linear": {"kernel": "linear", "ridge": 0.5, "n_bounces": 2000},
}

def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()

rng = np.random.default_rng(4)
y = np.arange(90) % 3
X = rng.normal(size=(90, 37)) + rng.normal(size=(3, 37))[y] * 0.6
found = {}
with one_blas_thread():
    for name, params in BILLIARDS.items():
        method = registry.build("bayes-transduction", {"sigma": 6.0, "random_state": 1, **params})
        chain = method.fit(X[:60, :13], y[:60] > 0).machines_[0].found.chains[-1]
        own = method.confident_predict(X[60:, :13])["probability"].scores
        found[name] = digest(chain.steps, chain.hit, chain.anchors, own, method.fit_metrics_["ess"]), False
    for name, cls in registry.methods.built_in.items():
        if not cls.takes_rows:
            scores = []
            for labels in (y, (y > 0).astype(int)):
                method = cls(**FEWER.get(name, {}))
                if "random_state" in method.get_params():
                    method.set_params(random_state=3)
                method.fit(X[:60], labels[:60])
                views = method.confident_predict(X[60:], rng=np.random.default_rng(1))
                scores += [one.scores for one in views.values()]
            found[name] = digest(*scores), cls.depends_on_processor
    steps = {name: (cls, [{}]) for name, cls in known_steps().items()}
    steps |= {name: (step_class(name), [{}]) for name in ("sklearn.decomposition.PCA",)}
    for name, (cls, variants) in steps.items():
        for parameter, rule in cls.parameters.items():
            variants += [{parameter: option} for option in getattr(rule, "options", ())]
        X[::7, 3] = np.nan if name == "impute-mean" else 0.0
        for params in variants:
            params = {**REQUIRED.get(name, {}), **params}
            pipeline = build_pipeline([(name, params)])
            kept, _, rows = pipeline.fit_training(X[:60], y[:60], np.random.default_rng(1))
            values = kept, rows, pipeline.transform(X[60:])
            found[f"{name} {params}"] = digest(*values), cls.depends_on_processor
print(json.dumps([[one["architecture"] for one in threadpool_info() if "architecture" in one], found]))
"""


def swept(processor: str, bounces: int) -> tuple[list[str], dict]:
    environment = {**os.environ, "OPENBLAS_CORETYPE": processor, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SWEEP.replace("BOUNCES", str(bounces))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def processors() -> list[str]:
    """Types whose BLAS kernels this processor can run."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if platform.machine() != "x86_64" or "avx2" not in flags:
        pytest.skip("needs an x86-64 processor with AVX2, to run the BLAS kernels of several processors")
    return ["Prescott", "Nehalem", "Haswell", *(["SkylakeX"] if "avx512dq" in flags else [])]


def test_methods_and_steps_that_differ_between_processors_say_so(exhaustive):
    first, *others, last = processors()
    used, ours = swept(first, 20_000 if exhaustive else 4_000)
    differing = set()
    for other in (*(others if exhaustive else ()), last):
        theirs_used, theirs = swept(other, 20_000 if exhaustive else 4_000)
        if theirs_used == used:
            pytest.skip("numpy and scipy have no OpenBLAS that this variable changes")
        differing |= {name for name in ours if ours[name] != theirs[name]}
    assert {"geodesic", "chord", "linear"} < set(ours)
    assert "gen-svm" in differing <= {name for name, (_, depends) in ours.items() if depends}
    assert describe("gen-svm")["depends_on_processor"] and not describe("tcm-nn")["depends_on_processor"]


def test_wrappers_and_steps_of_such_methods_are_marked():
    from confml.config import make_config

    def sensitive(values):
        config = make_config(values)
        return [entry.name for entry in [*config.methods, *config.steps] if entry.depends_on_processor]

    config = {
        "datasets": ["iris"],
        "protocol": "holdout",
        "methods": [
            {"name": "tcm-nn"},
            {"name": "knn", "conformal": "split"},
            {"name": "gen-svm", "conformal": "split"},
            {
                "name": "naive-bayes",
                "conformal": "split",
                "sweep": {"conformal__shift": ["covariate", "label"]},
            },
        ],
        "steps": ["standardise", "sklearn.decomposition.PCA"],
    }
    assert sensitive(config) == ["gen-svm", "naive-bayes", "sklearn.decomposition.PCA"]
    config |= {"methods": [{"name": "tcm-nn", "shift": "covariate"}], "steps": []}
    assert sensitive(config) == ["tcm-nn"]
    assert "classifier" in describe("conformal")["depends_on_processor"]
