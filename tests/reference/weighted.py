"""Weighted p-values as written down, with exact sums."""

from fractions import Fraction


def weighted_p_value(scores, score, weights, new_weight, tau=1):
    """``(sum of w_i with s_i > s + tau (sum of w_i with s_i = s + w)) / (sum of w_i + w)``."""
    above = sum((Fraction(int(w)) for s, w in zip(scores, weights, strict=True) if s > score), Fraction(0))
    equal = sum((Fraction(int(w)) for s, w in zip(scores, weights, strict=True) if s == score), Fraction(0))
    total = sum((Fraction(int(w)) for w in weights), Fraction(0)) + Fraction(int(new_weight))
    return float((above + Fraction(tau) * (equal + Fraction(int(new_weight)))) / total)


def bbse(predicted, true, predicted_test, classes):
    """Class weights from C w = mu by Cramer's rule in fractions; None if C is singular."""
    n = len(true)
    C = [
        [Fraction(sum(p == i and t == j for p, t in zip(predicted, true, strict=True)), n) for j in classes]
        for i in classes
    ]
    mu = [Fraction(sum(p == i for p in predicted_test), len(predicted_test)) for i in classes]
    whole = determinant(C)
    if whole == 0:
        return None
    replaced = ([[mu[i] if j == at else C[i][j] for j in range(len(C))] for i in range(len(C))]
                for at in range(len(C)))  # fmt: skip
    w = [max(determinant(minor) / whole, Fraction(0)) for minor in replaced]
    prior = [Fraction(sum(t == j for t in true), n) for j in classes]
    total = sum(a * b for a, b in zip(w, prior, strict=True))
    return [float(weight / total) for weight in w]


def determinant(rows):
    if not rows:
        return Fraction(1)
    return sum(
        (-1) ** j * rows[0][j] * determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j in range(len(rows))
    )
