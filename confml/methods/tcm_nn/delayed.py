"""Online p-values of examples whose labels come later, or never: `DelayedLabels`, `NoveltyPass`."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from confml.errors import ConfmlError
from confml.measures import Case
from confml.measures.p_values import required_smoothed_p_values
from confml.measures.prediction import Prediction
from confml.methods.label_schedule import ARRIVAL, GIVEN
from confml.methods.tcm_nn.online import OnlineTCMNN


class DelayedLabels:
    """Predict examples at once, and learn each one when its label is known.

    ``p_values`` are the smoothed p-values of the true labels, each against the examples learnt before it.
    They are independent and uniform if the examples are exchangeable, so the statistics of
    `confml.measures.monitoring` apply to them. order: ``given``: examples are learnt in the order in which
    they were predicted, and one whose label is missing delays all later examples. ``arrival``: in the order
    of their labels; valid only if the delay has nothing to do with features or label, which the user states
    by this choice (labels of bad loans come early). Until labels come, `NoveltyPass` shows changes of the
    features.

    ::

        delayed = DelayedLabels(OnlineTCMNN(classes=[0, 1], smoothed=True), order="given")
        delayed.predict("loan 1", x).region(0.05)
        delayed.label("loan 1", 0)
        shiryaev_roberts_alarms(delayed.p_values, 10_000)
    """

    def __init__(self, online: OnlineTCMNN, order: str = GIVEN):
        if order not in (GIVEN, ARRIVAL):
            raise ConfmlError(f"order must be given or arrival, got {order!r}")
        if not online.smoothed:
            raise ConfmlError("DelayedLabels needs smoothed p-values", hint="OnlineTCMNN(smoothed=True)")
        self.online, self.order = online, order
        self.keys: list[Hashable] = []  # of the learnt examples, in their order
        self._p: list[float] = []
        self._waiting: dict[Hashable, np.ndarray] = {}  # predicted and not learnt
        self._labels: dict[Hashable, Any] = {}

    @property
    def p_values(self) -> np.ndarray:
        """(n,) smoothed p-values of the true labels of ``keys``."""
        return np.array(self._p)

    @property
    def waiting(self) -> int:
        """Number of examples that are predicted and not learnt."""
        return len(self._waiting)

    def predict(self, key: Hashable, x) -> Prediction:
        """Return the prediction of the example x (d,) from all examples learnt so far.

        Raises ConfmlError for a key that waits.
        """
        if key in self._waiting:
            raise ConfmlError(f"example {key!r} is predicted already, and its label is not known")
        view = self.online.predict([x])
        self._waiting[key] = np.asarray(x, dtype=np.float64)
        return view

    def label(self, key: Hashable, y) -> list[Hashable]:
        """Take the label of a predicted example; return the keys of the examples that are learnt now.

        Raises ConfmlError for an unknown key or label.
        """
        if key not in self._waiting:
            raise ConfmlError(f"example {key!r} is not waiting for a label", hint="predict it first")
        if y not in self.online.classes_.tolist():
            hint = "list all possible labels in classes"
            raise ConfmlError(f"label {y!r} of example {key!r} is not one of the classes", hint=hint)
        self._labels[key] = y
        learnt = []
        ready = [key] if self.order == ARRIVAL else list(self._waiting)
        for one in ready:
            if one not in self._labels:
                break
            truth = np.array([self._labels.pop(one)])
            view = self.online.predict_then_learn([self._waiting.pop(one)], truth)
            self._p.append(float(required_smoothed_p_values(Case(view, truth))[0]))
            self.keys.append(one)
            learnt.append(one)
        return learnt


class NoveltyPass:
    """Online p-values of examples without labels; the strangeness is the distance to the k-th neighbour.

    Each example is compared with all before it and then learnt. The p-values are independent and uniform if
    the examples are exchangeable; they show changes of the features only. k: number of neighbours.
    random_state: seeds the smoothing.
    """

    def __init__(self, k: int = 1, random_state: int | None = None):
        self.k = k
        self._rng = np.random.default_rng(random_state)
        self._X: np.ndarray | None = None
        self._nearest = np.empty((0, k))  # sorted distances of each example to its k nearest others

    def p_values(self, X) -> np.ndarray:
        """Return the smoothed p-values (n,) of examples X (n, d), each against all before it."""
        X = check_array(X, dtype=np.float64, input_name="X")
        return np.array([self._step(x) for x in X])

    def _step(self, x: np.ndarray) -> float:
        before = np.empty((0, len(x))) if self._X is None else self._X
        distances = np.sqrt(((before - x) ** 2).sum(axis=1))
        own = np.full(self.k, np.inf)
        found = np.sort(distances)[: self.k]
        own[: len(found)] = found
        joined = np.sort(np.column_stack([self._nearest, distances]), axis=1)[:, : self.k]
        self._X = np.vstack([before, x])
        self._nearest = np.vstack([joined, own])
        strangeness = self._nearest[:, -1]
        greater = np.count_nonzero(strangeness > strangeness[-1])
        equal = np.count_nonzero(strangeness == strangeness[-1])
        return float((greater + self._rng.random() * equal) / len(strangeness))
