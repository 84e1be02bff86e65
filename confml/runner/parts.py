"""`Parts`: the training and test examples of one outer split or inner fold, after noise and steps."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from confml._seeds import stable_generator
from confml.data.dataset import DataSet
from confml.data.noise import apply_noise, nominal_columns
from confml.runner.splits import inner_folds, split_identity, split_rows
from confml.runner.workspace import open_dataset
from confml.steps.registry import build_chain


class Parts:
    """What a task trains and predicts on; the steps are learnt when the examples are first asked for.

    train_rows, test_rows: rows of the data set. X (m, d), y (m,): training examples after noise and steps,
    which may drop some. X_test (n, d), y_test (n,): test examples. numbers: (n,) row numbers for reports.
    """

    def __init__(
        self, setting, data: DataSet, train_rows: np.ndarray, test_rows: np.ndarray, outer_rows=None
    ):
        self.setting, self.data = setting, data
        self.train_rows, self.test_rows = train_rows, test_rows
        self._outer_rows = outer_rows

    @classmethod
    def outer(cls, setting) -> Parts:
        data = open_dataset(setting.data_folder)
        train, test = split_rows(data, setting.protocol, setting.split, setting.seed)
        return cls(setting, data, train, test)

    @classmethod
    def inner(cls, setting, fold: int) -> Parts:
        """Inner fold ``fold`` of the outer training set."""
        data = open_dataset(setting.data_folder)
        rows, _ = split_rows(data, setting.protocol, setting.split, setting.seed)
        train, test = inner_folds(data, rows, setting.protocol, setting.split, setting.seed)[fold]
        return cls(setting, data, train, test, rows)

    @property
    def numbers(self) -> np.ndarray:
        """(n,) from 0 within the provider's part for a fixed split, else in the pooled data set."""
        if self.setting.split.kind == "fixed-split":
            return self.data.part_row(self.test_rows)
        return np.asarray(self.test_rows)

    @property
    def X(self) -> np.ndarray:
        return self._treated["X"]

    @property
    def y(self) -> np.ndarray:
        return self._treated["y"]

    @property
    def X_test(self) -> np.ndarray:
        return self._treated["X_test"]

    @property
    def y_test(self) -> np.ndarray:
        return self._raw["y_test"]

    @property
    def dropped_rows(self) -> np.ndarray:
        """Rows of the data set that the steps took out of the training part."""
        kept = np.zeros(len(self.train_rows), dtype=bool)
        kept[self._treated["kept"]] = True
        return np.asarray(self.train_rows)[~kept]

    @property
    def step_metrics(self) -> dict[str, float]:
        """The steps' own quantities."""
        return self._treated["metrics"]

    @property
    def places(self) -> np.ndarray | None:
        """Places of an inner fold's training rows in the outer training set; None once a step drops rows."""
        if self._outer_rows is None or len(self._treated["kept"]) != len(self.train_rows):
            return None
        return np.searchsorted(self._outer_rows, self.train_rows)

    @cached_property
    def _raw(self) -> dict[str, np.ndarray]:
        """Examples after noise: ``on: all`` noises the whole file as one, ``on: train`` the training part."""
        data, noise = self.data, self.setting.noise
        train, test = self.train_rows, self.test_rows
        if not noise:
            return {"X": data.X[train], "y": data.y[train], "X_test": data.X[test], "y_test": data.y[test]}
        rng = self._generator("noise", noise, repeat_only=noise["on"] == "all")
        if noise["on"] == "all":
            X, y = apply_noise(data.X, data.y, noise, rng, nominal_columns(data))
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        return self._noised_training(noise, rng)

    def _noised_training(self, noise, rng) -> dict[str, np.ndarray]:
        """Noise on the outer training part; irrelevant attributes are added to the test part too.

        An inner fold is cut from the noised outer training part: its validation rows stand for training data.
        """
        data = self.data
        outer = self.train_rows if self._outer_rows is None else self._outer_rows
        X, y = apply_noise(data.X[outer], data.y[outer], noise, rng, nominal_columns(data))
        if self._outer_rows is not None:
            train, test = np.searchsorted(outer, self.train_rows), np.searchsorted(outer, self.test_rows)
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        test_noise = {"on": "train", "irrelevant": noise.get("irrelevant") or 0}
        X_test, y_test = apply_noise(data.X[self.test_rows], data.y[self.test_rows], test_noise, rng)
        return {"X": X, "y": y, "X_test": X_test, "y_test": y_test}

    @cached_property
    def _treated(self) -> dict:
        """Examples after the steps, learnt on the training part."""
        raw = self._raw
        chain = build_chain(self.setting.steps)
        X, y, kept = chain.fit_training(raw["X"], raw["y"], self._generator("steps"))
        return {
            "X": np.ascontiguousarray(X),
            "y": np.asarray(y),
            "kept": kept,
            "X_test": np.ascontiguousarray(chain.transform(raw["X_test"])),
            "metrics": chain.fit_metrics_,
        }

    def _generator(self, purpose: str, *more, repeat_only: bool = False) -> np.random.Generator:
        setting = self.setting
        place = setting.split.repeat if repeat_only else split_identity(setting.protocol, setting.split)
        return stable_generator(purpose, setting.seed, setting.checksum, place, *more)
