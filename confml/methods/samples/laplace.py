"""Laplace's approximation of the posterior of logistic regression: a Gaussian at the maximum.

The log posterior is sum_i v_i ln p(y_i | x_i) - |W|^2 / (2 C), as scikit-learn maximises it: the prior of the
coefficients W is Gaussian with variance C, that of the intercepts flat, and v_i are the class weights. The
covariance is the inverse of the negative Hessian in all coefficients and intercepts together.

With c > 2 classes the model has one vector too many: the likelihood does not depend on the sum of all
vectors, and the prior makes the sum independent of the rest. The logits are therefore written as ``phi A^T``
with orthonormal contrasts A (c, c - 1); with two classes as (0, f), as scikit-learn does.
"""

import numpy as np
from scipy.linalg import cho_factor, solve_triangular
from scipy.special import softmax

from confml.errors import ConfmlError

LARGEST = 5000  # parameters; the Hessian of these has 200 MB


def contrasts(c: int) -> np.ndarray:
    """Return (c, k) the logits of c classes as a function of k = max(c - 1, 1) free ones."""
    if c <= 2:
        return np.eye(2)[:, 1:]
    basis = np.linalg.qr(np.column_stack([np.ones(c), np.eye(c)[:, : c - 1]]))[0]
    return basis[:, 1:]


def check_fit(fitted) -> None:
    """Raise ConfmlError for a logistic regression that has no Gaussian prior of the coefficients."""
    shrunk = getattr(fitted, "penalty", None) in ("l1", "elasticnet") or getattr(fitted, "l1_ratio", None)
    if shrunk:
        raise ConfmlError(
            "samples: laplace needs the penalty l2 (l1_ratio 0): with l1 the log posterior has no Hessian at "
            "coefficients of 0",
            hint="use samples: bootstrap",
        )
    if fitted.solver == "liblinear":
        message = "samples: laplace needs a solver that does not penalise the intercept, got liblinear"
        raise ConfmlError(message, hint="use solver: lbfgs")


def negative_hessian(fitted, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (k e, k e), e = d + 1, of a fitted logistic regression at its maximum; intercepts are last.

    X: (m, d). weights: (m,) v_i. Raises ConfmlError for too many parameters.
    """
    A = contrasts(len(fitted.classes_))
    k, e = A.shape[1], X.shape[1] + 1
    if k * e > LARGEST:
        raise ConfmlError(
            f"samples: laplace has at most {LARGEST} parameters, got {k * e} "
            f"({k} vectors of {e - 1} coefficients and an intercept)",
            hint="use samples: bootstrap, or fewer features (step select-attributes)",
        )
    full = np.column_stack([X, np.full(len(X), float(fitted.fit_intercept))])
    p = softmax(full @ maximum(fitted).T @ A.T, axis=1)
    hessian = np.empty((k, e, k, e))
    for a in range(k):
        for b in range(a + 1):
            slope = p @ (A[:, a] * A[:, b]) - (p @ A[:, a]) * (p @ A[:, b])
            block = (full * (weights * slope)[:, None]).T @ full
            hessian[a, :, b], hessian[b, :, a] = block, block
    free = getattr(fitted, "penalty", "l2") is None or not np.isfinite(fitted.C)
    precision = np.append(
        np.full(e - 1, 0.0 if free else 1.0 / fitted.C), 0.0 if fitted.fit_intercept else 1.0
    )
    for a in range(k):
        hessian[a, :, a] += np.diag(precision)
    return hessian.reshape(k * e, k * e)


def maximum(fitted) -> np.ndarray:
    """Return (k, e) coefficients and intercepts of the free logits of a fitted logistic regression."""
    both = np.column_stack([fitted.coef_, np.broadcast_to(fitted.intercept_, len(fitted.coef_))])
    return both if len(fitted.classes_) <= 2 else contrasts(len(fitted.classes_)).T @ both


def logit_draws(
    fitted, X: np.ndarray, weights: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return (s, k, e) draws of coefficients and intercepts from Laplace's approximation.

    Raises ConfmlError for a flat posterior.
    """
    check_fit(fitted)
    hessian = negative_hessian(fitted, X, weights)
    try:
        factor, _ = cho_factor(hessian, lower=True)
    except np.linalg.LinAlgError:
        raise ConfmlError(
            "samples: laplace: the log posterior of logistic regression is flat in a direction, so it has no "
            "Gaussian approximation",
            hint="use a finite C (a penalty), and remove constant features",
        ) from None
    top = maximum(fitted)
    noise = solve_triangular(factor, rng.standard_normal((top.size, draws)), trans=1, lower=True)
    logits = top + noise.T.reshape(draws, *top.shape)
    if not fitted.fit_intercept:
        logits[:, :, -1] = 0.0
    return logits


def probabilities(phi: np.ndarray, X: np.ndarray, classes: int) -> np.ndarray:
    """Return (s, n, c) the class probabilities of examples X (n, d) for draws phi (s, k, e)."""
    logits = np.einsum("nd,skd->snk", X, phi[:, :, :-1], optimize=True) + phi[:, None, :, -1]
    return softmax(logits @ contrasts(classes).T, axis=2)
