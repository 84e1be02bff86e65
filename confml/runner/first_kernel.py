"""Work of the fork server, after its imports, for workers whose methods have compiled kernels.

The first call of a kernel loads numba's compiler, which takes half a second: once here, not in each worker.
"""

import contextlib

import numpy as np

from confml._jit import kernel


@kernel
def _first(values):
    return values[0]


with contextlib.suppress(Exception):  # a worker that calls a kernel has the same error
    _first(np.zeros(1))
