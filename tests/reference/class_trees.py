"""Literal versions of hierarchies of classes: all trees, complete linkage, the Jensen-Shannon bound."""

import itertools
import math


def all_trees(classes):
    """Return every binary tree over a tuple of classes, as nested frozensets."""
    if len(classes) == 1:
        return [classes[0]]
    found = []
    first, rest = classes[0], classes[1:]
    for size in range(1, len(rest) + 1):
        for right in itertools.combinations(rest, size):
            left = (first, *(one for one in rest if one not in right))
            pairs = itertools.product(all_trees(left), all_trees(right))
            found += [frozenset(pair) for pair in pairs]
    return found


def last_merge(margins, members):
    """Return the two groups of the last merge of complete linkage, and the largest margin between them."""
    groups = [{one} for one in members]

    def distance(a, b):
        return max(margins[one][other] for one in a for other in b)

    while len(groups) > 2:
        a, b = min(itertools.combinations(groups, 2), key=lambda pair: distance(*pair))
        groups = [one for one in groups if one not in (a, b)] + [a | b]
    return groups, distance(*groups)


def entropy(shares):
    return -sum(share * math.log2(share) for share in shares if share > 0)


def jensen_shannon_bound(distributions, priors, side):
    """Return (H(prior) - JS) / 2 for two groups of classes; side: the classes of the second one."""
    total = sum(priors)
    mixtures, shares = [], []
    for inside in (False, True):
        group = [k for k in range(len(priors)) if (k in side) == inside]
        share = sum(priors[k] for k in group)
        length = range(len(distributions[0]))
        mixtures.append([sum(priors[k] * distributions[k][j] for k in group) / share for j in length])
        shares.append(share / total)
    whole = [sum(share * one[j] for share, one in zip(shares, mixtures, strict=True)) for j in length]
    divergence = entropy(whole)
    for share, one in zip(shares, mixtures, strict=True):
        divergence -= share * entropy(one)
    return (entropy(shares) - divergence) / 2
