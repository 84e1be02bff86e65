"""A billiard trajectory has the same bytes under different BLAS kernels, that is, on different processors.

A trajectory amplifies the last bit of its walls and of its start. OPENBLAS_CORETYPE selects the BLAS
kernels of another processor. Two new interpreters take most of the time; `make test` has fewer bounces than
`make test-all`.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from confml.methods.registry import describe, known_methods

SCRIPT = """
import hashlib, json
import numpy as np
from threadpoolctl import threadpool_info
from confml.methods.registry import build

rng = np.random.default_rng(5)
X = rng.standard_normal((90, 13))
y = (X[:, 0] + 0.8 * X[:, 1] * X[:, 2] + 0.7 * rng.standard_normal(90) > 0).astype(int)

def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()

found = {"architectures": [one.get("architecture") for one in threadpool_info() if one["user_api"] == "blas"]}
for name, params in {
    "geodesic": {"n_bounces": BOUNCES, "chains": 2},
    "chord": {"sampler": "chord", "n_bounces": 1000, "chains": 1, "burn_in": 0.0},
    "linear": {"kernel": "linear", "ridge": 0.5, "n_bounces": 2000},
}.items():
    fitted = build("bayes-transduction", {"sigma": 6.0, "random_state": 1, **params}).fit(X[:60], y[:60])
    chain = fitted.machines_[0].found.chains[-1]
    own = fitted.confident_predict(X[60:])["probability"]
    found[name] = digest(chain.steps, chain.hit, chain.anchors, own.scores, fitted.fit_metrics_["ess"])
print(json.dumps(found))
"""


def cores():
    """BLAS kernels that this processor can run."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if platform.machine() != "x86_64" or "avx2" not in flags:
        pytest.skip("needs an x86-64 processor with AVX2, to run the BLAS kernels of several processors")
    return ["Nehalem", "Haswell", *(["SkylakeX"] if "avx512dq" in flags else [])]


def test_trajectories_do_not_depend_on_the_processor(exhaustive):
    found = {}
    script = SCRIPT.replace("BOUNCES", "20_000" if exhaustive else "4_000")
    for core in cores() if exhaustive else (cores()[0], cores()[-1]):
        environment = {**os.environ, "OPENBLAS_CORETYPE": core, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        found[core] = json.loads(run.stdout)
    used = {json.dumps(one.pop("architectures")) for one in found.values()}
    if len(used) == 1:
        pytest.skip("NumPy's BLAS is not OpenBLAS: its kernels cannot be selected")
    first = next(iter(found.values()))
    assert set(first) == {"geodesic", "chord", "linear"}
    for core, digests in found.items():
        assert digests == first, f"the trajectories with the BLAS kernels of {core} differ"


METHODS = """
import hashlib, json, warnings
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from confml.methods.registry import build, known_methods

warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
X = np.round(rng.standard_normal((150, 11)) + 2 * rng.standard_normal((150, 1)), 3)
y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] / 5 + rng.standard_normal(150), [-1, 1])
found = {"architectures": [one.get("architecture") for one in threadpool_info() if one["user_api"] == "blas"]}
with threadpool_limits(1):
    for name in sorted(set(known_methods()) - {"external", "bayes-transduction", "bayes-point-machine"}):
        digest = hashlib.sha256()
        for labels in (y, (y > 0).astype(int)):
            method = build(name)
            if method.get_params().get("random_state", 1) is None:
                method.set_params(random_state=1)
            method.fit(X[:100], labels[:100])
            for view in method.confident_predict(X[100:], np.random.default_rng(1)).values():
                digest.update(np.ascontiguousarray(view.scores).tobytes())
        found[name] = digest.hexdigest()
print(json.dumps(found))
"""


def test_methods_that_depend_on_the_processor_say_so():
    found = {}
    for core in (cores()[0], cores()[-1]):
        environment = {**os.environ, "OPENBLAS_CORETYPE": core, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, "-c", METHODS], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        found[core] = json.loads(run.stdout)
    first, second = found.values()
    if first.pop("architectures") == second.pop("architectures"):
        pytest.skip("NumPy's BLAS is not OpenBLAS: its kernels cannot be selected")
    differ = {name for name, digest in first.items() if second[name] != digest}
    declared = {name for name in first if known_methods()[name].depends_on_processor}
    assert "gen-svm" in differ <= declared
    assert describe("gen-svm")["depends_on_processor"] and not describe("tcm-nn")["depends_on_processor"]


def test_wrappers_and_steps_of_such_methods_are_marked():
    from confml.config import make_config
    from confml.runner.manifest import _on_processor

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
    assert _on_processor(make_config(config)) == ["gen-svm", "naive-bayes", "sklearn.decomposition.PCA"]
    config |= {"methods": [{"name": "tcm-nn", "shift": "covariate"}], "steps": []}
    assert _on_processor(make_config(config)) == ["tcm-nn"]
    assert "classifier" in describe("conformal")["depends_on_processor"]
