"""Compilation of the kernels behind estimates of the Bayes error."""

import numpy as np


class BayesErrorKernels:
    """The kernels of this package, which commands, methods and steps have in common."""

    key = "bayes-error"

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels by estimates on a few hundred rows."""
        from confml.bayes_error.rates import bayes_errors

        n = 300  # classes of 100 rows, whose 10,000 equal distances are too many for the filter of edges
        y = np.arange(n) % 3
        rng = np.random.default_rng(0)
        # few features, equal rows, more features, and many with equal distances have kernels of their own
        whole = rng.integers(3, size=(n, 3)).astype(float)
        for X in (rng.normal(size=(n, 3)), whole, rng.normal(size=(n, 20)), np.eye(n)):
            bayes_errors(X, y)
