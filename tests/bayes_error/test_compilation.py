"""The kernels of Bayes error estimates are compiled before a run and not within it."""

import subprocess
import sys

NEW_KERNELS = """
import sys

import numpy as np
from numba.core.registry import CPUDispatcher

from confml import bayes_errors
from confml.bayes_error.compilation import BayesErrorKernels


def kernels():
    modules = [vars(module) for name, module in sys.modules.items() if name.startswith("confml.")]
    found = {value for names in modules for value in names.values() if isinstance(value, CPUDispatcher)}
    return {(one.__module__, one.__name__, str(types)) for one in found for types in one.signatures}


BayesErrorKernels.compile_kernels()
before = kernels()
assert before
for n, d in ((9, 1), (60, 3), (60, 12), (160, 30), (700, 12), (300, 60)):
    y = np.arange(n) % 3
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(n, d)) + y[:, None]
    for X in normal, np.asfortranarray(normal), rng.integers(2, size=(n, d)).astype(float):
        bayes_errors(X, y)
print(sorted(kernels() - before))
"""


def test_estimates_use_kernels_that_are_compiled_beforehand():
    ended = subprocess.run([sys.executable, "-c", NEW_KERNELS], capture_output=True, text=True)
    assert (ended.stdout.strip(), ended.stderr) == ("[]", "")
