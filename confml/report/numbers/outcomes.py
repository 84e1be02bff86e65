"""Outcomes of the test examples of a view over the splits, for figures.

Curves, clouds, confusions, absent classes, probabilities and groups, each in little memory.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.martingales import online_p_values, power_martingale, simple_mixture
from confml.measures.novelty import familiarity
from confml.measures.p_values import is_online
from confml.measures.prediction import SHARES
from confml.measures.recalibration import Event, event_of
from confml.measures.rejection import RejectionCurve, rejection_curve
from confml.methods.details import ChainSummary, ClassTreeNode
from confml.report.run.results import Split, Variant, ViewKey, first_tests

MOST_ROWS = 20_000  # with more test rows, rows at equal steps are used


@dataclass(frozen=True)
class ViewNumbers:
    """Function of a variant that returns, by key, the numbers that ``function`` makes of each of its views.

    function: of the splits of a view, and of the variant; returns None for a view without such numbers.
    """

    function: Callable[..., Any]
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, function: Callable[..., Any], options: Mapping[str, Any]) -> "ViewNumbers":
        """Return it with those options of a figure that the function takes."""
        names = list(signature(function).parameters)[2:]
        return cls(function, tuple((name, options[name]) for name in names if name in options))

    def __call__(self, variant: Variant) -> dict[ViewKey, Any]:
        numbers = {
            (*variant.key, view): self.function(splits, variant, **dict(self.options))
            for view, splits in variant.views.items()
        }
        return {key: value for key, value in numbers.items() if value is not None}


def rejection_curves(splits: Sequence[Split], variant: Variant) -> list[RejectionCurve] | None:
    """Return the accuracy-rejection curves of the splits."""
    return [case.curve for _, case in splits if len(case.truth) and case.curve is not None] or None


class AbsentClasses(NamedTuple):
    """Sorted credibility (confidence for views without p-values) over all splits.

    values: by absent class, and of all other classes together by None. kind: of the view.
    """

    values: dict[Any, np.ndarray]
    kind: str


def absent_classes(splits: Sequence[Split], variant: Variant) -> AbsentClasses:
    """Return the credibility of absent and known classes."""
    values: dict[Any, list[np.ndarray]] = {}
    for _, case in splits:
        shown, unseen = familiarity(case), ~case.known
        values.setdefault(None, []).append(shown[~unseen])
        for label in np.unique(case.truth[unseen]).tolist():
            values.setdefault(label, []).append(shown[unseen & (case.truth == label)])
    ordered = {label: np.sort(np.concatenate(parts)) for label, parts in values.items()}
    return AbsentClasses(ordered, splits[-1].case.prediction.kind)


def probability_events(splits: Sequence[Split], variant: Variant) -> Event | None:
    """Return the event of the test rows of a view with shares; each row counts once."""
    predictions = [case.prediction for _, case in splits]
    if any(view.kind not in SHARES or np.isnan(view.scores).any() for view in predictions):
        return None
    parts = [
        event_of(Case(case.prediction.take(new), case.truth[new]))
        for (_, case), new in zip(splits, first_tests(splits), strict=True)
        if len(new)
    ]
    if not parts:
        return None
    p, happened = (np.concatenate(part) for part in zip(*parts, strict=True))
    every = -(-len(p) // MOST_ROWS)
    return Event(p[::every], happened[::every])


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


class FirstSplit(NamedTuple):
    """The first split of a variant, and the parameters of each split.

    split: its name. chains, tree: None without them. errors: error rate and number of the test examples of
    each inner node of the tree. chosen: parameters of each split that inner cross-validation chose.
    """

    split: str
    chains: ChainSummary | None
    tree: ClassTreeNode | None
    errors: list[tuple[float, int]]
    chosen: dict[str, dict[str, Any]]


def first_split(splits: Sequence[Split], variant: Variant) -> FirstSplit:
    """Return the details of the first split."""
    chosen = {result.cell.split: dict(result.tuning["chosen"]) for result in variant.splits if result.tuning}
    result, case = splits[0]
    details = result.views.fit_details
    nodes = [] if details.tree is None else details.tree.inner_nodes()
    errors = [node_error(node, case.truth, case.prediction.labels) for node in nodes]
    return FirstSplit(result.cell.split, details.chains, details.tree, errors, chosen)


MOST_POINTS = 2000  # points of a line


class MartingalePath(NamedTuple):
    """Base-10 logarithms of two martingales after ``steps`` (m,) learnt examples. begin: learnt before."""

    split: str
    steps: np.ndarray
    mixture: np.ndarray
    power: np.ndarray
    begin: int


def martingale_paths(splits: Sequence[Split], variant: Variant) -> list[MartingalePath] | None:
    """Return the martingales against exchangeability of each split of an online pass."""
    paths = []
    for result, case in splits:
        p = online_p_values(case)
        if p is not None and len(p):
            steps = np.unique(np.rint(np.linspace(1, len(p), MOST_POINTS)).astype(int))
            mixture, power = simple_mixture(p), power_martingale(p)
            begin = int(case.prediction.extra["learnt"][0])
            path = MartingalePath(result.cell.split, steps, mixture[steps - 1], power[steps - 1], begin)
            paths.append(path)
    return paths or None


def online_errors(splits: Sequence[Split], variant: Variant) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return for each split steps (m,), and the shares (levels, m) of regions without the true label so far.

    The levels are those of the config in ascending order.
    """
    levels = np.array(sorted(map(float, variant.run.config.levels)))
    errors = []
    for _, case in splits:
        n = len(case.truth)
        if n and is_online(case.prediction):
            p = case.prediction.scores[np.arange(n), case.true_columns]
            spaces = (np.geomspace(1, n, MOST_POINTS), np.linspace(1, n, MOST_POINTS))
            steps = np.union1d(*(np.unique(np.rint(space).astype(int)) for space in spaces))
            missed = np.cumsum(p <= levels[:, None], axis=1)
            errors.append((steps, missed[:, steps - 1] / steps))
    return errors or None


VOLUMES, MACHINES, POINTS = "bayes-transduction", "kernel-svm", "bayes-point-machine"
RATES = (0.0, 0.1, 0.2, 0.4)  # rejection rates of the errors in tables
ERROR = 0.023  # error at which rejection rates are compared, as in the paper
THRESHOLDS = np.unique(np.concatenate([np.linspace(0, 1, 17), 1 - np.logspace(-3.5, -1.5, 5)]))


@dataclass(eq=False)
class ThresholdCurve:
    """Confidence (n,) and correctness (n,) of one view on each split; thresholds up to ``top``.

    A threshold theta on the confidence, which is 2 max(p) - 1 of Bayesian transduction (Graepel, Herbrich and
    Obermayer, NIPS 12, equation 7) and |f| of a support vector machine, rejects the examples below it.
    """

    confidence: list[np.ndarray]
    correct: list[np.ndarray]
    top: float

    def at(self, theta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (splits,) rejection rates and (splits,) errors of the accepted, NaN if none is accepted."""
        acceptances = [confidence >= theta for confidence in self.confidence]
        rejected = np.array([1.0 - np.mean(accepted) for accepted in acceptances])
        errors = [
            1.0 - np.mean(correct[accepted]) if accepted.any() else np.nan
            for correct, accepted in zip(self.correct, acceptances, strict=True)
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
        for index in np.flatnonzero(y <= error):
            if index == 0:
                return float(x[0])
            share = (y[index - 1] - error) / (y[index - 1] - y[index])
            return float(x[index - 1] + share * (x[index] - x[index - 1]))
        return float("nan")


def threshold_curves(splits: Sequence[Split], variant: Variant) -> ThresholdCurve | None:
    """Return the curves of Bayesian transduction, a Bayes point machine or a support vector machine."""
    method = variant.splits[0].cell.method
    if method not in (VOLUMES, MACHINES, POINTS):
        return None
    confidence = [case.prediction.confidence for _, case in splits]
    if method == VOLUMES:
        confidence = [2.0 * values - 1.0 for values in confidence]
    top = 1.0 if method == VOLUMES else math.inf
    return ThresholdCurve(confidence, [case.correct for _, case in splits], top)


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
