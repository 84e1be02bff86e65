"""Tree-augmented naive Bayes: its tree and labels against a literal version."""

import itertools

import numpy as np
import pytest
from programs.reproduction.tree_network import TreeNetwork


def literal(X, y, new, bins):
    """Labels by loops: mutual informations, the best of all spanning trees, and smoothed shares."""
    low, high = X.min(axis=0), X.max(axis=0)

    def intervals(rows):
        return [
            [
                min(max(int((v - a) / (b - a) * bins), 0), bins - 1)
                for v, a, b in zip(r, low, high, strict=False)
            ]
            for r in rows
        ]

    rows, features = intervals(X), range(X.shape[1])

    def count(label, **values):
        pairs = [(int(name[1:]), value) for name, value in values.items()]
        return sum(
            one == label and all(row[i] == v for i, v in pairs) for row, one in zip(rows, y, strict=False)
        )

    information = {}
    for i, j in itertools.combinations(features, 2):
        total = 0.0
        for label, a, b in itertools.product(sorted(set(y)), range(bins), range(bins)):
            both = count(label, **{f"f{i}": a, f"f{j}": b})
            if both:
                expected = count(label, **{f"f{i}": a}) * count(label, **{f"f{j}": b}) / count(label)
                total += both * np.log(both / expected)
        information[i, j] = total
    best, parents = -np.inf, None
    for choice in itertools.product(features, repeat=len(features) - 1):  # parents of the features 1, 2, ...
        found = dict(zip(features[1:], choice, strict=True))
        if all(root(found, i) == 0 for i in features):
            total = sum(information[min(i, j), max(i, j)] for i, j in found.items())
            if total > best:
                best, parents = total, found
    labels = []
    for row in intervals(new):
        scores = {}
        for label in sorted(set(y)):
            score = np.log(count(label)) + np.log((count(label, f0=row[0]) + 1) / (count(label) + bins))
            for i, j in parents.items():
                both = count(label, **{f"f{i}": row[i], f"f{j}": row[j]})
                score += np.log((both + 1) / (count(label, **{f"f{j}": row[j]}) + bins))
            scores[label] = score
        labels.append(max(scores, key=scores.get))
    return parents, labels


def root(parents, i):
    for _ in range(len(parents) + 1):
        i = parents.get(i, i)
    return i


@pytest.mark.parametrize("seed", [0, 1])
def test_tree_and_labels_are_those_of_the_definition(seed):
    random = np.random.default_rng(seed)
    y = random.permutation(np.repeat(["b", "a", "c"], [40, 30, 10]))
    X = random.normal(size=(80, 4)) + (y == "a")[:, None]
    X[:, 3] += X[:, 1]
    X[:, 2] -= 2 * X[:, 0] * (y == "b")
    new = random.normal(size=(60, 4)) * 1.5
    model = TreeNetwork(bins=3).fit(X, y)
    parents, labels = literal(X, y, new, 3)
    edges = {frozenset((int(i), int(model.parents_[i]))) for i in model.order_[1:]}
    assert edges == {frozenset(pair) for pair in parents.items()}
    assert list(model.predict(new)) == labels


def test_a_constant_feature_and_rows_outside_the_intervals():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0], [5.0, 5.0]])
    model = TreeNetwork(bins=2).fit(X, [0, 0, 1, 1])
    assert list(model.predict([[-9.0, 7.0], [9.0, -7.0]])) == [0, 1]
