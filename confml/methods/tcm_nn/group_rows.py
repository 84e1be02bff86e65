"""`GroupRows`: the groups of the training examples of a TCM-NN whose p-values are valid in each of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction, columns_of_p_values
from confml.methods.divisions import DIVISION, DIVISIONS, GROUP, UNKNOWN, Divisions
from confml.methods.tcm_nn.neighbour_counter import NeighbourCounter


class GroupRows:
    """The groups of ``by`` of m training examples: ``divisions``, and ``codes`` (m, D) of the examples."""

    def __init__(self, by: Any, columns: Sequence[Any], values: np.ndarray, classes: np.ndarray):
        self.divisions = Divisions(by, columns, classes)
        if self.divisions.uses_predictions:
            raise ConfmlError(
                "by: predicted needs a classifier that is fitted to other examples",
                hint="use conformal: split with a classifier",
            )
        self.divisions.cut(values, quantiles=False)
        self.divisions.learn(values, None)
        self.codes = self.divisions.codes(values, None)

    def details(self, labels: np.ndarray) -> dict[str, Any]:
        """Return the groups with their numbers of training examples, whose label codes are ``labels``."""
        rows = []
        for division in range(len(self.divisions)):
            groups = self.divisions.groups(division)[self.codes[:, division], labels]
            rows.append(np.bincount(groups, minlength=self.divisions.size(division)))
        return {DIVISIONS: self.divisions.details(rows)}

    def views(
        self,
        counter: NeighbourCounter,
        lists: tuple[np.ndarray, np.ndarray],
        X: np.ndarray,
        values: np.ndarray,
        tau: np.ndarray | None,
    ) -> dict[str, Prediction]:
        """Return the view ``p-value`` of examples X (n, d) with the columns ``values`` (n, k).

        Each p-value counts the training examples of the group. Of several divisions the
        largest p-value counts.
        """
        codes = self.divisions.codes(values, None)
        n, c, k = len(X), len(self.divisions.classes), lists[0].shape[1]
        best = np.zeros((n, c))
        rank = np.zeros((2, n, c), np.int64)  # greater, equal
        alpha, division_of = np.full((n, c), np.nan), np.zeros((n, c), dtype=np.int64)
        for division in range(len(self.divisions)):
            by_label = self.divisions.has_label(division)
            for code in np.unique(codes[:, division]).tolist():
                rows = np.flatnonzero(codes[:, division] == code)
                mine = (self.codes[:, division] == code) & (code != UNKNOWN)
                counts = counter.counts(*lists, X[rows], [k], by_label, mine)
                greater, equal, alphas = (array[:, :, 0] for array in counts)
                sizes = np.bincount(counter.codes[mine[counter.order]], minlength=c)
                counted = np.broadcast_to(1 + (sizes if by_label else sizes.sum()), greater.shape)
                share = np.where(counted == 1, 1.0, 1.0 if tau is None else tau[rows, None])
                p = (greater + share * equal) / counted
                larger = p > best[rows]
                best[rows] = np.where(larger, p, best[rows])
                for index, numbers in enumerate((greater, equal)):
                    rank[index, rows] = np.where(larger, numbers, rank[index, rows])
                division_of[rows] = np.where(larger, division, division_of[rows])
                alpha[rows] = alphas
        extra = {GROUP: codes, "alpha": alpha}
        extra |= (
            {DIVISION: division_of} if len(self.divisions) > 1 else {"n_greater": rank[0], "n_equal": rank[1]}
        )
        if tau is not None:
            extra["tau"] = tau
        classes = self.divisions.classes
        columns = columns_of_p_values(best, alpha, self.divisions.label_conditional)
        return {"p-value": Prediction(classes, best, "p-value", classes[columns], extra)}
