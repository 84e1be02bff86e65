"""Scores and transformed values have the same bytes on every processor, or their class says that they do not.

OpenBLAS has other products for other processors, and ``OPENBLAS_CORETYPE`` chooses them.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest

SWEEP = """
import hashlib, json, sys, warnings
import numpy as np
from threadpoolctl import threadpool_info
from confml._threads import one_blas_thread
from confml.methods import registry
from confml.steps.registry import build_pipeline, known_steps, step_class

warnings.simplefilter("ignore")
FEWER = {"bayes-transduction": {"n_bounces": 3000}, "bayes-point-machine": {"n_bounces": 3000}}
REQUIRED = {"smooth-images": {"width": 37}, "select-by-bayes-error": {"attributes": 5}}
rng = np.random.default_rng(4)
y = np.arange(90) % 3
X = rng.normal(size=(90, 37)) + rng.normal(size=(3, 37))[y] * 0.6
found = {}
with one_blas_thread():
    for name, cls in registry.methods.own.items():
        if not cls.takes_rows:
            method = cls(**FEWER.get(name, {}))
            if "random_state" in method.get_params():
                method.set_params(random_state=3)
            method.fit(X[:60], y[:60])
            views = method.confident_predict(X[60:], rng=np.random.default_rng(1))
            digest = hashlib.sha256(b"".join(one.scores.tobytes() for one in views.values())).hexdigest()
            found[name] = digest, cls.depends_on_processor
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
            digest = hashlib.sha256(b"".join(one.tobytes() for one in values)).hexdigest()
            found[f"{name} {params}"] = digest, cls.depends_on_processor
print(json.dumps([[one["architecture"] for one in threadpool_info() if "architecture" in one], found]))
"""


def swept(processor: str) -> tuple[list[str], dict]:
    environment = {**os.environ, "OPENBLAS_CORETYPE": processor}
    done = subprocess.run([sys.executable, "-c", SWEEP], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names processors of this kind")
def test_methods_and_steps_that_differ_between_processors_say_so():
    (first, ours), (second, theirs) = swept("Haswell"), swept("Prescott")
    if first == second:
        pytest.skip("numpy and scipy have no OpenBLAS that this variable changes")
    differing = {name for name in ours if ours[name] != theirs[name]}
    assert differing and differing <= {name for name, (_, depends) in ours.items() if depends}
