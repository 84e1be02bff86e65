"""Compilation of the kernels behind estimates of the Bayes error."""

import numpy as np


class BayesErrorKernels:
    """The kernels of this package, which commands, methods and steps have in common."""

    key = "bayes-error"

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels by estimates on a few hundred rows."""
        from confml.bayes_error.assessment import assess
        from confml.bayes_error.uncertainty import no_separation_p_value

        n = 300  # classes of 100 rows, whose 10,000 equal distances are too many for the filter of edges
        y = np.arange(n) % 3
        rng = np.random.default_rng(0)
        # few features, more of them, and many of them with equal distances have kernels of their own
        for X in (rng.normal(size=(n, 3)), rng.normal(size=(n, 20)), np.eye(n)):
            assess(X, y, neighbours=2, rng=rng)
        no_separation_p_value(np.eye(4), [0, 1, 0, 1], rng, permutations=1)
