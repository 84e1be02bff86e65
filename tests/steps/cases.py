"""Random training sets, and literal versions of Tomek links."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def training_sets(draw, rows=25):
    """Rows on a coarse grid, so that distances tie and rows repeat; some of the attributes nominal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    m, d = draw(st.integers(1, rows)), draw(st.integers(1, 3))
    X = rng.integers(0, draw(st.integers(2, 6)), (m, d)).astype(float)
    nominal = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    return X, rng.integers(0, draw(st.integers(1, 3)), m), nominal


def literal_distances(X, nominal):
    """(m, m) eq. 3.2; the number of differences where all attributes are nominal."""
    squared = np.zeros((len(X), len(X)))
    for column, coded in zip(X.T, nominal, strict=True):
        differences = column[:, None] - column
        squared += (differences != 0) if coded else differences**2
    return squared if nominal.all() else np.sqrt(squared)


def literal_links(X, y, nominal):
    """Pairs of different classes in which each is a nearest neighbour of the other."""
    distances = literal_distances(X, nominal)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    return {
        (i, j)
        for i in range(len(X))
        for j in range(i + 1, len(X))
        if y[i] != y[j] and distances[i, j] == nearest[i] == nearest[j]
    }


def fitted(step, X, y, nominal, seed=1):
    step.nominal = nominal
    return step.fit_training(X, y, np.random.default_rng(seed))
