"""`Parts`: the training and test examples of one outer split or inner fold, after noise and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confml._seeds import derived_generator, stable_generator
from confml.data.dataset import DataSet
from confml.data.noise import apply_noise, irrelevant_names, nominal_columns
from confml.errors import ConfmlError
from confml.methods.base import Method
from confml.methods.conformal.settings import KEY
from confml.methods.nominal import nominal_mask
from confml.methods.registry import build, method_class
from confml.runner.splits import inner_folds, split_identity, split_rows
from confml.runner.workspace import open_dataset
from confml.steps.pipeline import StepPipeline
from confml.steps.registry import build_pipeline


class Parts:
    """What a task trains and predicts on; the steps are learnt when the examples are first asked for.

    train_rows, test_rows: rows of the data set, in the order in which they come where it goes online.
    X (m, d), y (m,): training examples after noise and steps, which may drop some.
    X_test (n, d), y_test (n,): test examples. reported_rows: (n,) row numbers for reports.

    A method that takes nominal attributes gets codes of categories where the data set has them beside its
    dummy columns, unless a point of its ``grid`` says ``nominal: dummy``; every other method gets the columns
    of the data set. Where a card codes its categories as integers, they are numbers to every method.

    A method that is made conformal gets examples ahead of the steps, and the steps themselves (`method`).
    """

    def __init__(
        self,
        setting,
        data: DataSet,
        train_rows: np.ndarray,
        test_rows: np.ndarray,
        outer_rows: np.ndarray | None = None,
        grid: Sequence[Mapping[str, Any]] = (),
    ):
        self.setting, self.data = setting, data
        self.train_rows, self.test_rows = train_rows, test_rows
        self._outer_rows = outer_rows
        self._nominal = _nominal_of(setting.method, grid)
        self._defers = any(KEY in point for point in grid)

    @classmethod
    def outer(cls, setting, grid: Sequence[Mapping[str, Any]] = ()) -> Parts:
        data = open_dataset(setting.data_folder)
        train, test = split_rows(data, setting.protocol, setting.split, setting.seed)
        return cls(setting, data, train, test, grid=grid)

    @classmethod
    def inner(cls, setting, fold: int, grid: Sequence[Mapping[str, Any]] = ()) -> Parts:
        """Inner fold ``fold`` of the outer training set."""
        data = open_dataset(setting.data_folder)
        rows, _ = split_rows(data, setting.protocol, setting.split, setting.seed)
        train, test = inner_folds(data, rows, setting.protocol, setting.split, setting.seed)[fold]
        return cls(setting, data, train, test, rows, grid)

    def method(self, point: Mapping[str, Any]) -> Method:
        """The method with the parameters of a point.

        A conformal one gets the steps, which it learns on each of its training parts, and the groups.
        """
        method = build(self.setting.method, point)
        if self._defers and self.data.groups is not None:
            method.set_params(groups=np.asarray(self.data.groups)[self.train_rows])
        if self._defers and self.setting.steps:
            raw = self._raw["X"].shape[1]
            method.set_params(
                steps=_Deferred(self.setting.steps, self._columns(raw), self._generator("steps"))
            )
        return method

    def with_nominal_columns(self, points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the points of a grid, each with the columns of ``X`` that hold codes as ``nominal``."""
        if self._nominal is None:
            return [dict(point) for point in points]
        columns = np.flatnonzero(self._transformed["nominal"]).tolist()
        return [{**point, "nominal": columns} for point in points]

    @property
    def reported_rows(self) -> np.ndarray:
        """(n,) from 0 within the provider's part for a fixed split, else in the pooled data set."""
        if self.setting.split.kind == "fixed-split":
            return self.data.part_row(self.test_rows)
        return np.asarray(self.test_rows)

    @property
    def X(self) -> np.ndarray:
        return self._transformed["X"]

    @property
    def y(self) -> np.ndarray:
        return self._transformed["y"]

    @property
    def X_test(self) -> np.ndarray:
        return self._transformed["X_test"]

    @property
    def y_test(self) -> np.ndarray:
        return self._raw["y_test"]

    @property
    def given(self) -> tuple[np.ndarray, np.ndarray]:
        """Training examples with noise, ahead of the steps: X (m, d) and y (m,)."""
        return self._raw["X"], self._raw["y"]

    @property
    def kept(self) -> np.ndarray:
        """Which of the ``given`` examples the steps left."""
        return self._transformed["kept"]

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return further examples (n, d), transformed by the steps fitted to the training part."""
        return np.ascontiguousarray(self._transformed["chain"].transform(X))

    @property
    def dropped_rows(self) -> np.ndarray:
        """Rows that the steps took out of the training part, counted as in ``reported_rows``."""
        kept = np.zeros(len(self.train_rows), dtype=bool)
        kept[self._transformed["kept"]] = True
        rows = np.asarray(self.train_rows)[~kept]
        return self.data.part_row(rows) if self.setting.split.kind == "fixed-split" else rows

    @property
    def dropped_attributes(self) -> tuple[str, ...]:
        """Names of the attributes that the steps took out; none where a step makes new ones of them."""
        left = self._transformed["columns"]
        if left is None:
            return ()
        data = self.data
        names = data.table_attributes if self._has_codes else data.attributes
        names += irrelevant_names(names, (self.setting.noise or {}).get("irrelevant") or 0)
        kept = set(left.tolist())
        return tuple(name for column, name in enumerate(names) if column not in kept)

    @property
    def step_metrics(self) -> dict[str, float]:
        """The steps' own quantities."""
        return self._transformed["metrics"]

    @property
    def outer_positions(self) -> np.ndarray | None:
        """Places of an inner fold's training rows in the outer training set; None once a step drops rows."""
        if self._outer_rows is None or len(self._transformed["kept"]) != len(self.train_rows):
            return None
        return np.searchsorted(self._outer_rows, self.train_rows)

    @property
    def takes_codes(self) -> bool:
        """Whether the examples are rows of the data set's ``table``, with codes, and not of its ``X``."""
        return self._has_codes

    @property
    def _has_codes(self) -> bool:
        """Whether the examples are taken from the data set's table, with codes, and not from its columns."""
        return self._nominal == "auto" and self.data.attributes != self.data.table_attributes

    @property
    def _mask(self) -> np.ndarray:
        """(d,) bool: which columns hold codes ahead of noise and steps."""
        if self._has_codes:
            return self.data.nominal
        return nominal_mask("auto" if self._nominal is None else self._nominal, self.data.X.shape[1])

    def _columns(self, number: int) -> np.ndarray:
        """(number,) bool: which columns hold codes, with noise; attributes that it appends are numbers."""
        mask = np.zeros(number, dtype=bool)
        mask[: len(self._mask)] = self._mask
        return mask

    def _noised(self, rows, noise, rng) -> tuple[np.ndarray, np.ndarray]:
        """Some rows with noise, the same on codes and on the dummy columns of a category."""
        if self._has_codes:
            return apply_noise(self.data.table[rows], self.data.y[rows], noise, rng)
        return apply_noise(self.data.X[rows], self.data.y[rows], noise, rng, nominal_columns(self.data))

    @cached_property
    def _raw(self) -> dict[str, np.ndarray]:
        """Examples after noise: ``on: all`` noises the whole file as one, ``on: train`` the training part."""
        data, noise = self.data, self.setting.noise
        train, test = self.train_rows, self.test_rows
        if not noise:
            X = data.table if self._has_codes else data.X
            return {"X": X[train], "y": data.y[train], "X_test": X[test], "y_test": data.y[test]}
        # Not by how much noise there is: the rows noised at 5 % are among those noised at 10 %.
        rng = self._generator("noise", repeat_only=noise["on"] == "all")
        if noise["on"] == "all":
            X, y = self._noised(slice(None), noise, rng)
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        return self._noised_training(noise, rng)

    def _noised_training(self, noise, rng) -> dict[str, np.ndarray]:
        """Noise on the outer training part; irrelevant attributes are added to the test part too.

        An inner fold is cut from the noised outer training part: its validation rows stand for training data.
        """
        outer = self.train_rows if self._outer_rows is None else self._outer_rows
        X, y = self._noised(outer, noise, rng)
        if self._outer_rows is not None:
            train, test = np.searchsorted(outer, self.train_rows), np.searchsorted(outer, self.test_rows)
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        test_noise = {"on": "train", "irrelevant": noise.get("irrelevant") or 0}
        X_test, y_test = self._noised(self.test_rows, test_noise, rng)
        return {"X": X, "y": y, "X_test": X_test, "y_test": y_test}

    @cached_property
    def _transformed(self) -> dict:
        """Examples after the steps, learnt on the training part."""
        raw = self._raw
        chain = build_pipeline(() if self._defers else self.setting.steps)
        mask = self._columns(raw["X"].shape[1])
        X, y, kept = chain.fit_training(raw["X"], raw["y"], self._generator("steps"), mask)
        return {
            "X": np.ascontiguousarray(X),
            "y": np.asarray(y),
            "kept": kept,
            "X_test": np.ascontiguousarray(chain.transform(raw["X_test"])),
            "chain": chain,
            "metrics": chain.fit_metrics_,
            "nominal": chain.nominal_,
            "columns": chain.columns_,
        }

    def _generator(self, purpose: str, repeat_only: bool = False) -> np.random.Generator:
        setting = self.setting
        place = setting.split.repeat if repeat_only else split_identity(setting.protocol, setting.split)
        return stable_generator(purpose, setting.seed, setting.checksum, place)


@dataclass(frozen=True)
class _Deferred:
    """The steps of a run for a conformal method, learnt on each of its training parts."""

    steps: Sequence[tuple[str, Mapping[str, Any]]]
    nominal: np.ndarray
    rng: np.random.Generator

    def __sklearn_clone__(self) -> _Deferred:
        return self

    def learn(
        self, X: np.ndarray, y: np.ndarray, *part: Any
    ) -> tuple[StepPipeline, np.ndarray, np.ndarray, np.ndarray]:
        """Learn from X (m, d), y (m,) and return (chain, X (m', d'), y (m',), kept rows (m',)).

        part: names the training part; each part has random numbers of its own.
        """
        chain = build_pipeline(self.steps)
        X, y, kept = chain.fit_training(X, y, derived_generator(self.rng, *part), self.nominal)
        return chain, X, y, kept


def _nominal_of(method: str, grid: Sequence[Mapping[str, Any]]) -> str | tuple[int, ...] | None:
    """What the points of a grid say of nominal attributes; None for a method that has no use for them."""
    if not method_class(method).takes_nominal:
        return None
    said = [point.get("nominal", "auto") for point in grid] or ["auto"]
    if any(one != said[0] for one in said):
        raise ConfmlError(f"nominal of {method} differs within one tuning grid", hint="sweep it instead")
    return said[0] if isinstance(said[0], str) else tuple(said[0])
