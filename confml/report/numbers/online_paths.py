"""Martingales, and errors of regions so far, along an online pass, for figures."""

from typing import NamedTuple

import numpy as np

from confml.measures.martingales import POWER, learnt_examples, power_martingale, simple_mixture
from confml.measures.p_values import is_online
from confml.report.numbers.variant_numbers import VariantNumbers

MOST = 2000  # points of a line


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
        learnt = learnt_examples(case)
        if learnt is not None and len(learnt.p):
            steps = np.unique(np.rint(np.linspace(1, len(learnt.p), MOST)).astype(int))
            mixture, power = simple_mixture(learnt.p), power_martingale(learnt.p, self.epsilon)
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
            *(np.unique(np.rint(space(1, n, MOST)).astype(int)) for space in (np.geomspace, np.linspace))
        )
        missed = np.cumsum(p <= self.levels[:, None], axis=1)
        self.paths.append((steps, missed[:, steps - 1] / steps))
