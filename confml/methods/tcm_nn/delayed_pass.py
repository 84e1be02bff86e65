"""An online pass whose labels arrive later: `delayed_pass`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confml.methods.label_schedule import LabelSchedule
from confml.methods.tcm_nn.base_counts import Counts
from confml.methods.tcm_nn.online_pass import OnlinePass


class DelayedCounts(NamedTuple):
    """Counts of n predicted rows (all labels) and of the m learnt rows (the true label only).

    counts, counted: as from `OnlinePass.step`, each row against the rows learnt before its prediction.
    greater, equal: (m, K) for the true labels of the learnt rows, in the order of the schedule, each against
    the rows learnt before it. learnt_counted: (m,) denominators of their p-values.
    """

    counts: Counts
    counted: np.ndarray
    greater: np.ndarray
    equal: np.ndarray
    learnt_counted: np.ndarray

    def label_p_values(self, q: int, tau: np.ndarray) -> np.ndarray:
        """Return the smoothed p-values (m,) of the learnt rows for the value of k at index ``q``."""
        return (self.greater[:, q] + tau * self.equal[:, q]) / self.learnt_counted


def delayed_pass(
    online: OnlinePass, X: np.ndarray, codes: np.ndarray, schedule: LabelSchedule
) -> DelayedCounts:
    """Predict rows X (n, d) in their order, and learn each with its class when the schedule says so."""
    learnt = schedule.learnt
    # Runs of rows that are predicted from the same learnt rows.
    starts = np.flatnonzero(np.diff(learnt, prepend=-1))
    stops = np.append(starts[1:], len(X))
    predictions, labels = [], []
    done = 0
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        labels.append(_learn(online, X, codes, schedule.rows[done : learnt[start]]))
        done = int(learnt[start])
        predictions.append(online.step(np.ascontiguousarray(X[start:stop]), None, predicts=True))
    labels.append(_learn(online, X, codes, schedule.rows[done:]))
    counts = Counts(*(np.concatenate(parts) for parts in zip(*(one for one, _ in predictions), strict=True)))
    counted = np.concatenate([one for _, one in predictions])
    return DelayedCounts(counts, counted, *map(np.concatenate, zip(*labels, strict=True)))


def _learn(online: OnlinePass, X: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Predict and then learn some rows; return the counts of their true labels, and the denominators."""
    mine, at = codes[rows], np.arange(len(rows))
    counts, counted = online.step(np.ascontiguousarray(X[rows]), mine, predicts=True)
    greater, equal, _ = counts
    return greater[at, mine], equal[at, mine], counted[at, mine]
