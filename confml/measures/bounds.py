"""Bounds on the error of a whole classifier, to compare with the confidence of single predictions."""

import math


def sparse_svm_bound(train_rows: int, support_vectors: int, delta: float = 1.0) -> float:
    """Return Littlestone and Warmuth's bound on the error of a two-class SVM, with probability 1 - delta

    ``(d ln(e l / d) + ln(l / delta)) / (l - d)``, with l training examples, all classified correctly (a hard
    margin), and d support vectors; inf if d = l. Source: Cristianini, Shawe-Taylor (2000), quoted by Proedrou
    et al. (2002), who omit the second term for USPS: 274 ln(7291 e / 274) / (7291 - 274) = 0.17 for one of
    ten machines. Raises ValueError for impossible numbers.
    """
    rows, d = train_rows, support_vectors
    if not (0 <= d <= rows and rows > 0 and 0 < delta <= 1):
        raise ValueError(f"expected 0 <= d <= l and 0 < delta <= 1, got d = {d}, l = {rows}, delta = {delta}")
    if d == rows:
        return math.inf
    chosen = d * math.log(math.e * rows / d) if d else 0.0
    return (chosen + math.log(rows / delta)) / (rows - d)


def hoeffding_draws(epsilon: float, eta: float) -> int:
    """Return the smallest number n of independent draws with ``exp(-2 n epsilon^2) <= eta``.

    The mean of n independent values in [0, 1] then exceeds its expectation by ``epsilon`` or more with a
    probability of at most ``eta``. Source: Hoeffding (1963), quoted by Graepel, Herbrich and Obermayer
    (2000), equation 8. Raises ValueError unless 1e-9 <= epsilon < 1 and 0 < eta < 1.
    """
    if not (1e-9 <= epsilon < 1 and 0 < eta < 1):
        raise ValueError(f"expected 1e-9 <= epsilon < 1 and 0 < eta < 1, got {epsilon} and {eta}")
    return max(math.ceil(math.log(1 / eta) / (2 * epsilon**2)), 1)
