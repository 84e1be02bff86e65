"""`PairDistances`: distances of training examples, and searches that drop or add one example at a time."""

import numpy as np

from confml.neighbours.distance_kinds import MinkowskiRows


class PairDistances:
    """Distances between training examples X (m, d), those of `knn`; equal distances are equal numbers.

    nominal: (d,) bool, the columns with codes. codes: (m,) class codes below ``classes``.
    """

    def __init__(self, X: np.ndarray, nominal: np.ndarray, codes: np.ndarray, classes: int):
        self._rows, self.codes, self.classes = MinkowskiRows(X, codes, classes, nominal), codes, classes

    def distances(self, row: int) -> np.ndarray:
        """Return the distances (m,) from an example."""
        return self._rows.distances(self._rows.X[row])

    def nearest(self, row: int, subset: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the smallest distance to the examples ``subset`` (m,) bool, and class counts (c,) there."""
        distances = np.where(subset, self.distances(row), np.inf)
        smallest = distances.min()
        return smallest, np.bincount(self.codes[distances == smallest], minlength=self.classes)

    def links(self, nearest: np.ndarray) -> tuple[int, np.ndarray]:
        """Return the number of Tomek links and (m,) bool, the examples in one.

        nearest: (m,) the distance of each example to its nearest other one. Two examples can be each other's
        nearest only where these distances are equal.
        """
        count, linked = 0, np.zeros(len(nearest), dtype=bool)
        order = np.argsort(nearest, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(nearest[order])) + 1):
            for position, row in enumerate(group[:-1].tolist()):
                partners = group[position + 1 :]
                partners = partners[self.codes[partners] != self.codes[row]]
                if len(partners):
                    partners = partners[self.distances(row)[partners] == nearest[row]]
                    count += len(partners)
                    linked[partners] = True
                    linked[row] |= len(partners) > 0
        return count, linked

    def condense(self, chosen: np.ndarray) -> int:
        """Add each example that 1-NN on those ``chosen`` (m,) bool gets wrong, at once, until none is.

        Examples come in their order, pass after pass; ``chosen`` is changed. Returns the number of passes.
        """
        distance, counts = np.full(len(chosen), np.inf), np.zeros((len(chosen), self.classes), dtype=np.int64)

        def add(row: int) -> None:
            between = self.distances(row)
            counts[between < distance] = 0
            np.minimum(distance, between, out=distance)
            counts[between == distance, self.codes[row]] += 1

        for row in np.flatnonzero(chosen).tolist():
            add(row)
        passes, before = 0, -1
        while before < chosen.sum():
            passes, before = passes + 1, chosen.sum()
            for row in range(len(chosen)):
                if not chosen[row] and counts[row].argmax() != self.codes[row]:
                    chosen[row] = True
                    add(row)
        return passes

    def drop(self, order: np.ndarray, subset: np.ndarray) -> int:
        """Drop one example at a time while no fewer examples are classified right by 1-NN on the subset.

        order: (m,) in which examples are tried, in rounds until one drops none. subset: (m,) bool, changed in
        place; one example always remains. Returns the number of rounds.
        """
        distances, class_counts = zip(*(self.nearest(row, subset) for row in range(len(order))), strict=True)
        distance, counts = np.array(distances), np.array(class_counts)
        rounds, before = 0, -1
        while subset.sum() not in (1, before):
            rounds, before = rounds + 1, subset.sum()
            for row in order[subset[order]].tolist():
                if subset.sum() == 1:
                    break
                nearest = np.flatnonzero(self.distances(row) == distance)  # of which it is a nearest one
                new_distance, new_counts = distance[nearest], counts[nearest]
                new_counts[:, self.codes[row]] -= 1
                subset[row] = False
                for index in np.flatnonzero(new_counts.sum(axis=1) == 0).tolist():
                    new_distance[index], new_counts[index] = self.nearest(int(nearest[index]), subset)
                truth = self.codes[nearest]
                subset[row] = (new_counts.argmax(axis=1) == truth).sum() < (
                    counts[nearest].argmax(axis=1) == truth
                ).sum()
                if not subset[row]:
                    distance[nearest], counts[nearest] = new_distance, new_counts
        return rounds
