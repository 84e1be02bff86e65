"""Outcomes of the test examples of a view over the splits, for figures.

Curves, clouds, confusions, absent classes, probabilities and groups, each in little memory.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.martingales import POWER, online_p_values, power_martingale, simple_mixture
from confml.measures.novelty import familiarity
from confml.measures.p_values import is_online
from confml.measures.prediction import SHARES
from confml.measures.recalibration import Event, event_of
from confml.measures.rejection import RejectionCurve, curve_of, rejection_curve
from confml.methods.details import ChainSummary, ClassTreeNode
from confml.report.numbers.groups import UNSEEN, ErrorLine, GroupErrors
from confml.report.numbers.variant_numbers import VariantNumbers

MOST_ROWS = 20_000  # with more test rows, rows at equal steps are used


class RejectionCurves(VariantNumbers):
    """The accuracy-rejection curve of each split."""

    def start(self, options):
        self.curves: list[RejectionCurve] = []

    @classmethod
    def takes(cls, result, case):
        return len(case.prediction) > 0 and not np.isnan(case.certainty).any()

    def add(self, result, view, case):
        self.curves.append(curve_of(case.prediction, case.truth))


class AbsentClasses(VariantNumbers):
    """Sorted credibility (confidence for views without p-values) over all splits.

    values: by absent class, and of all other classes together by None. kind: of the view.
    """

    def start(self, options):
        self.values: dict = {}
        self.kind = ""

    def add(self, result, view, case):
        self.kind = case.prediction.kind
        shown, unseen = familiarity(case), case.true_columns < 0
        self.values.setdefault(None, []).append(shown[~unseen])
        for label in np.unique(case.truth[unseen]).tolist():
            self.values.setdefault(label, []).append(shown[unseen & (case.truth == label)])

    def finish(self):
        self.values = {label: np.sort(np.concatenate(parts)) for label, parts in self.values.items()}


class ProbabilityEvents(VariantNumbers):
    """The event of the test rows of one repeat, so that no row counts twice; None without shares."""

    def start(self, options):
        self.event: Event | None = None
        self._parts: list[Event] = []
        self._seen: set[int] = set()
        self._known = True

    def add(self, result, view, case):
        prediction, rows = case.prediction, result.rows.tolist()
        new = [place for place, row in enumerate(rows) if row not in self._seen]
        self._seen.update(rows)
        self._known = self._known and prediction.kind in SHARES and not np.isnan(prediction.scores).any()
        if self._known and new:
            self._parts.append(event_of(Case(prediction.take(new), result.truth[new])))

    def finish(self):
        if self._known and self._parts:
            p, happened = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
            every = -(-len(p) // MOST_ROWS)
            self.event = Event(p[::every], happened[::every])
        del self._parts, self._seen


def level_of(results, options) -> float:
    """Return the significance level of a figure: its option, or the smallest of the config."""
    return float(options.get("level", min(map(float, results.config.levels), default=0.1)))


class GroupErrorLines(VariantNumbers):
    """Errors and sizes of the regions of all views of a data set in the groups of ``by``, at one level."""

    options = ("level",)
    of_dataset = True

    def start(self, options):
        self._found = GroupErrors((level_of(self.results, options),))
        self._last = ""
        self.lines: list[ErrorLine] = []

    def add(self, result, view, case):
        if result.cell.key != self._last:  # it takes all views of a cell together
            self._last = result.cell.key
            self._found.add(result, self.results.label(result.cell))

    def finish(self):
        self.lines = [line for line in self._found.lines() if line.group != UNSEEN]
        self._found = GroupErrors(())


def node_error(node: ClassTreeNode, truth: np.ndarray, labels: np.ndarray) -> tuple[float, int]:
    """Return (error rate, number) of the test examples of a node's classes that pass through it.

    truth, labels (n,): true and predicted labels; an example passes through the node if its predicted label
    is below it. The error is the share sent to the wrong side.
    """
    truth, labels = np.asarray(truth), np.asarray(labels)
    here = np.isin(truth, node.classes) & np.isin(labels, node.classes)
    right = node.sides[1].classes
    wrong = np.isin(truth[here], right) != np.isin(labels[here], right)
    return (float(wrong.mean()) if here.any() else float("nan")), int(here.sum())


class FirstSplit(VariantNumbers):
    """The first split of a variant, and the parameters of each split.

    split: its name. chains, tree: None without them. errors: error rate and number of the test examples of
    each inner node of the tree. chosen: parameters of each split that inner cross-validation chose.
    """

    def start(self, options):
        self.split: str | None = None
        self.chains: ChainSummary | None = None
        self.tree: ClassTreeNode | None = None
        self.errors: list[tuple[float, int]] = []
        self.chosen: dict[str, dict[str, Any]] = {}

    def add(self, result, view, case):
        if result.tuning:
            self.chosen[result.cell.split] = dict(result.tuning["chosen"])
        if self.split is None:
            self.split = result.cell.split
            self.chains, self.tree = result.views.fit_details.chains, result.views.fit_details.tree
            labels = case.prediction.labels
            nodes = [] if self.tree is None else self.tree.inner_nodes()
            self.errors = [node_error(node, result.truth, labels) for node in nodes]


MOST_POINTS = 2000  # points of a line


class MartingalePath(NamedTuple):
    """Base-10 logarithms of two martingales after ``steps`` (m,) learnt examples. begin: learnt before."""

    split: str
    steps: np.ndarray
    mixture: np.ndarray
    power: np.ndarray
    begin: int


class Martingales(VariantNumbers):
    """Martingales against exchangeability, one path for each split."""

    options = ("epsilon",)

    def start(self, options):
        self.epsilon = float(options.get("epsilon", POWER))
        self.paths: list[MartingalePath] = []

    def add(self, result, view, case):
        p = online_p_values(case)
        if p is not None and len(p):
            steps = np.unique(np.rint(np.linspace(1, len(p), MOST_POINTS)).astype(int))
            mixture, power = simple_mixture(p), power_martingale(p, self.epsilon)
            begin = int(case.prediction.extra["learnt"][0])
            path = MartingalePath(result.cell.split, steps, mixture[steps - 1], power[steps - 1], begin)
            self.paths.append(path)


class OnlineErrors(VariantNumbers):
    """Share of regions without the true label among the examples so far.

    levels: those of the config in ascending order. paths: (steps (m,), shares (levels, m)) of each split.
    """

    def start(self, options):
        self.levels = np.array(sorted(map(float, self.results.config.levels)))
        self.paths: list[tuple[np.ndarray, np.ndarray]] = []

    @classmethod
    def takes(cls, result, case):
        return len(case.prediction) > 0 and is_online(case)

    def add(self, result, view, case):
        p = case.prediction.scores[np.arange(len(case.truth)), case.true_columns]
        n = len(p)
        steps = np.union1d(
            *(
                np.unique(np.rint(space(1, n, MOST_POINTS)).astype(int))
                for space in (np.geomspace, np.linspace)
            )
        )
        missed = np.cumsum(p <= self.levels[:, None], axis=1)
        self.paths.append((steps, missed[:, steps - 1] / steps))


VOLUMES, MACHINES, POINTS = "bayes-transduction", "kernel-svm", "bayes-point-machine"
RATES = (0.0, 0.1, 0.2, 0.4)  # rejection rates of the errors in tables
ERROR = 0.023  # error at which rejection rates are compared, as in the paper
THRESHOLDS = np.unique(np.concatenate([np.linspace(0, 1, 17), 1 - np.logspace(-3.5, -1.5, 5)]))


class ThresholdCurve(VariantNumbers):
    """Confidence (n,) and correctness (n,) of one view on each split; thresholds up to ``top``.

    A threshold theta on the confidence, which is 2 max(p) - 1 of Bayesian transduction (Graepel, Herbrich and
    Obermayer, NIPS 12, equation 7) and |f| of a support vector machine, rejects the examples below it.
    """

    def start(self, options):
        self.confidence: list[np.ndarray] = []
        self.correct: list[np.ndarray] = []
        self.top = math.inf

    @classmethod
    def takes(cls, result, case):
        return result.cell.method in (VOLUMES, MACHINES, POINTS)

    def add(self, result, view, case):
        prediction = case.prediction
        volume = result.cell.method == VOLUMES
        self.top = 1.0 if volume else math.inf
        self.confidence.append(2.0 * prediction.confidence - 1.0 if volume else prediction.confidence)
        self.correct.append(case.correct)

    def at(self, theta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (splits,) rejection rates and (splits,) errors of the accepted, NaN if none is accepted."""
        kept = [confidence >= theta for confidence in self.confidence]
        rejected = np.array([1.0 - np.mean(one) for one in kept])
        errors = [
            1.0 - np.mean(correct[one]) if one.any() else np.nan
            for correct, one in zip(self.correct, kept, strict=True)
        ]
        return rejected, np.array(errors)

    def rejected(self, theta: float) -> float:
        """Return the mean rejection rate at a threshold."""
        return float(np.mean(self.at(theta)[0]))

    @cached_property
    def points(self) -> np.ndarray:
        """(points, 4) mean rejection rate, mean error and their standard errors, over the thresholds."""
        rows = []
        for theta in THRESHOLDS * self.top:
            rejected, errors = self.at(theta)
            if not np.isnan(errors).all():
                rows.append([*_mean_and_error(rejected), *_mean_and_error(errors[~np.isnan(errors)])])
        return np.array(rows)[:, [0, 2, 1, 3]]

    @cached_property
    def curves(self) -> list[RejectionCurve]:
        return [rejection_curve(*pair) for pair in zip(self.confidence, self.correct, strict=True)]

    def rejection_at_error(self, error: float) -> float:
        """Return the smallest mean rejection rate of the curve at a mean error of ``error``, or NaN."""
        x, y = self.points[:, 0], self.points[:, 1]
        for place in np.flatnonzero(y <= error):
            if place == 0:
                return float(x[0])
            share = (y[place - 1] - error) / (y[place - 1] - y[place])
            return float(x[place - 1] + share * (x[place] - x[place - 1]))
        return float("nan")


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def limit_machines(volumes: Mapping[str, ThresholdCurve], machines: Mapping[str, ThresholdCurve]) -> None:
    """Set the largest threshold of each machine to its theta_max.

    There it rejects as many as the first transduction does at theta = 1.
    """
    rates = [volume.rejected(1.0) for volume in volumes.values()]
    for machine in machines.values():
        machine.top = theta_max(machine, rates[0]) if rates else math.inf


def theta_max(machine: ThresholdCurve, rate: float) -> float:
    """Return the threshold at which a machine rejects a share ``rate`` on average."""
    values = np.sort(np.concatenate(machine.confidence))
    low, high = 0, len(values) - 1
    while low < high:  # the rejection rate increases with the threshold
        middle = (low + high) // 2
        low, high = (low, middle) if machine.rejected(values[middle]) >= rate else (middle + 1, high)
    return float(values[low])
