"""Venn-Abers prediction as written down: isotonic regression by max-min."""

import math
from fractions import Fraction


def isotonic_at(scores, labels, score):
    """Isotonic regression of labels on scores, read off at ``score``, one of the scores: max-min of means."""
    values = sorted(set(scores))
    groups = [[label for s, label in zip(scores, labels, strict=True) if s == value] for value in values]
    rank = values.index(score)
    best = None
    for a in range(rank + 1):
        least = None
        for b in range(rank, len(values)):
            inside = [label for group in groups[a : b + 1] for label in group]
            mean = Fraction(sum(inside), len(inside))
            least = mean if least is None else min(least, mean)
        best = least if best is None else max(best, least)
    return best


def inductive_venn_abers(scores, labels, score):
    """(p0, p1) as fractions: the isotonic regression at ``score``, added with label 0, then with label 1."""
    scores, labels = list(scores), [int(label) for label in labels]
    return tuple(isotonic_at([*scores, score], [*labels, label], score) for label in (0, 1))


def cross_venn_abers(folds, scores):
    """(lower, upper) by geometric means over folds of (calibration scores, labels) and one score each."""
    pairs = [inductive_venn_abers(*fold, score) for fold, score in zip(folds, scores, strict=True)]
    upper = math.exp(sum(math.log(p1) for _, p1 in pairs) / len(pairs))
    lower = 1 - math.exp(sum(math.log(1 - p0) for p0, _ in pairs) / len(pairs))
    return lower, upper
