"""`Nodes`: training examples in LIBLINEAR's format, built once and shared by all binary problems."""

import ctypes
import importlib.util
import threading
import time
from collections.abc import Sequence
from ctypes import POINTER, byref

import numpy as np

from confml.errors import ConfigError
from confml.plugins.parameters import IncompatibleParameters

PRIMAL, DUAL, CRAMMER_SINGER = 2, 1, 4  # LIBLINEAR's -s
SOLVERS = {"primal": PRIMAL, "dual": DUAL}  # of binary machines: L2-regularised squared hinge loss
# Each warm path starts with these increasing values of C, so the start of a fit depends on its own C only.
RUNGS = tuple(2.0**power for power in range(-18, 19, 4))
# LIBLINEAR draws from the C library's generator, of which a process has one. The lock is held from seeding to
# the end of the fit, so that fits in several threads do not share its numbers.
_GENERATOR = threading.Lock()


def require_liblinear(method: str = "", solver: str = "") -> None:
    """Raise ConfigError if LIBLINEAR is not installed.

    It is compiled when it is installed, so it may be missing where there was no compiler. method, solver:
    what needs it.
    """
    if importlib.util.find_spec("liblinear") is not None:
        return
    hint = "install a C++ compiler, then: pip install liblinear-official"
    if not method:
        raise ConfigError("LIBLINEAR is not installed", hint=hint)
    message = f"{method} needs LIBLINEAR, which is not installed"
    raise IncompatibleParameters(message, owner=method, parameter="solver", value=solver, hint=hint)


class Nodes:
    """Examples X (m, d), an array or a scipy CSR matrix, as LIBLINEAR's (feature number, value) nodes.

    Each example has an additional feature 1, whose weight is the bias (``-B 1``). The bias is therefore part
    of |w|. Zeros are omitted, which does not change the results.
    """

    def __init__(self, X):
        from scipy.sparse import csr_matrix

        require_liblinear()
        from liblinear.liblinear import feature_node, liblinear

        self.m, self.d = X.shape
        node = np.dtype(feature_node)
        X = csr_matrix(X)
        # Two more nodes per example: the bias and the end mark.
        starts = X.indptr.astype(np.int64) + 2 * np.arange(self.m + 1)
        self._nodes = np.empty(starts[-1], dtype=node)
        positions = np.arange(X.nnz) + 2 * np.repeat(np.arange(self.m), np.diff(X.indptr))
        self._nodes["index"][positions], self._nodes["value"][positions] = X.indices + 1, X.data
        ends = starts[1:]
        self._nodes["index"][ends - 2], self._nodes["value"][ends - 2] = self.d + 1, 1.0
        self._nodes["index"][ends - 1], self._nodes["value"][ends - 1] = -1, 0.0
        self._addresses = (self._nodes.ctypes.data + starts[:-1] * node.itemsize).astype(np.uintp)
        self._library = liblinear

    def binary_path(
        self,
        rows: np.ndarray,
        targets: np.ndarray,
        Cs: Sequence[float],
        solver: int = PRIMAL,
        tolerance: float = 0.001,
        seed: int = 0,
        penalties: tuple[float, float] = (1.0, 1.0),
        warm: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (len(Cs), d + 1), the bias first, and CPU seconds (len(Cs),) of this thread.

        Minimises ``1/2 |w|^2 + C sum s max(0, 1 - t f(x))^2`` over the examples ``rows`` (l,) with targets t
        (l,), +1 or -1, both of which must occur. penalties: s for the targets +1 and -1. tolerance: ``-e``.
        A warm primal fit starts from the solution of the next lower value of `RUNGS`. The dual solver always
        starts from 0 and draws the order of the examples with ``seed``. The result for one C does not depend
        on the other values.
        """
        sides = np.concatenate([np.flatnonzero(targets > 0), np.flatnonzero(targets <= 0)])
        order, labels = rows[sides], np.ascontiguousarray(targets[sides], dtype=np.float64)
        task, arrays = self._problem(order, labels)
        options = _options(solver, tolerance, [1, -1], penalties)
        Cs = list(map(float, Cs))
        rungs = [rung for rung in RUNGS if rung < max(Cs)] if warm and solver == PRIMAL else []
        weights: dict[float, np.ndarray] = {}
        seconds: dict[float, float] = {}
        start, pending = None, 0.0  # the time of values of `RUNGS` that are not in Cs counts for the next C
        for C in sorted({*Cs, *rungs}):
            started = time.thread_time()
            weights[C] = self._train(task, options, C, start, seed=seed if solver == DUAL else None)
            pending += time.thread_time() - started
            if C in Cs:
                seconds[C], pending = pending, 0.0
            if C in rungs:
                start = np.append(weights[C][1:], weights[C][0])
        del arrays
        return np.stack([weights[C] for C in Cs]), np.array([seconds[C] for C in Cs])

    def crammer_singer(
        self,
        codes: np.ndarray,
        classes: int,
        C: float,
        tolerance: float,
        seed: int,
        penalties: Sequence[float],
    ) -> np.ndarray:
        """Return weights (classes, d + 1), the bias first, of Crammer and Singer's machine (``-s 4``).

        codes (m,): class numbers from 0, all of which must occur. penalties (classes,): factors of C.
        """
        order = np.argsort(codes, kind="stable")  # LIBLINEAR numbers classes by first occurrence
        task, arrays = self._problem(order, codes[order].astype(np.float64))
        options = _options(CRAMMER_SINGER, tolerance, range(classes), penalties)
        solved = self._train(task, options, C, None, classes, seed)
        del arrays
        return solved

    def _problem(self, rows: np.ndarray, labels: np.ndarray):
        """Return LIBLINEAR's problem and the arrays that it points to."""
        from liblinear.liblinear import feature_node, problem

        pointers, labels = np.ascontiguousarray(self._addresses[rows]), np.ascontiguousarray(labels)
        task = problem.__new__(problem)
        task.l, task.n, task.bias = len(rows), self.d + 1, 1.0
        task.y = labels.ctypes.data_as(POINTER(ctypes.c_double))
        task.x = ctypes.cast(pointers.ctypes.data, POINTER(POINTER(feature_node)))
        return task, (pointers, labels)

    def _train(self, task, options, C, start, classes: int = 1, seed: int | None = None) -> np.ndarray:
        """Return weights (d + 1,), or (classes, d + 1), the bias first.

        options: the result of `_options`, of which C and the start are set here. seed: of a random solver.
        """
        options.C = C
        if start is not None:
            start = np.ascontiguousarray(start)
            options.init_sol = start.ctypes.data_as(POINTER(ctypes.c_double))
        if seed is None:
            trained = self._library.train(byref(task), byref(options))
        else:
            with _GENERATOR:
                ctypes.CDLL(None).srand(ctypes.c_uint(seed % 2**31))
                trained = self._library.train(byref(task), byref(options))
        try:
            weights = np.empty((self.d + 1, classes))
            ctypes.memmove(weights.ctypes.data, trained.contents.w, weights.nbytes)
        finally:
            self._library.free_and_destroy_model(byref(trained))
        weights = np.concatenate([weights[-1:], weights[:-1]]).T
        return np.ascontiguousarray(weights if classes > 1 else weights[0])


def _options(solver: int, tolerance: float, labels: Sequence[int], factors: Sequence[float]):
    """Return LIBLINEAR's parameters. labels, factors: the factors of C by class label.

    They are made once per path: reading the text of options takes as long as a small fit, and threads wait
    for each other in Python code.
    """
    from liblinear.liblinear import parameter

    options = parameter(f"-s {solver} -q")
    options.eps, options.nr_weight = tolerance, len(labels)
    options.weight_label = (ctypes.c_int * len(labels))(*labels)
    options.weight = (ctypes.c_double * len(labels))(*factors)
    return options
