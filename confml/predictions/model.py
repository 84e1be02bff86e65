"""`Model`: a method of a config, fitted to all training rows of its data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.config import Config
from confml.config.dataset_spec import DatasetSpec
from confml.config.method_entry import MethodEntry
from confml.data import load
from confml.data.dataset import DataSet
from confml.data.new_rows import NewRows, RowCoder
from confml.errors import ConfigError, did_you_mean
from confml.measures.prediction import Prediction
from confml.measures.selection import best_point, inner_score
from confml.methods.base import Method
from confml.methods.conformal.settings import INNER, KEY, TUNE
from confml.methods.registry import check, method_class
from confml.runner.plan import steps_for
from confml.runner.run import compile_all_kernels
from confml.runner.split_data import SplitData
from confml.runner.splits import Split, inner_folds
from confml.runner.tasks import TaskContext
from confml.steps.registry import build_pipeline, imputes, step_class

_PLACE = Split("fixed-split")  # the training rows are no random part: all draws have this identity


@dataclass(frozen=True)
class Choice:
    """The parts of a config that a prediction takes: all of them, unless there are several.

    dataset, method: names (of a method, its name or its label). params: replace parameters of the method,
    swept and tuned ones too. conformal: ``split`` or ``cross`` makes the method conformal. per_class:
    label-conditional p-values. view: name of the view, by default the first one with regions.
    """

    dataset: str | None = None
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    conformal: str | None = None
    per_class: bool = False
    view: str | None = None


class Model:
    """A method that is fitted to the training rows, with the coding of new rows.

    data: the data set. rows: (m,) its training rows: the provider's training part under ``fixed-split``,
    else all rows. name, params: the method, and its parameters, tuned ones included. coder: reads new rows.
    levels: significance levels of the config. view: name of the view.
    """

    def __init__(self, config: Config, choice: Choice, data: DataSet | None, say: Callable[[str], None]):
        spec = _chosen_dataset(config, choice.dataset)
        entry = _chosen_method(config, choice.method)
        if config.noise is not None and config.noise.irrelevant:
            raise ConfigError(
                "noise.irrelevant adds features that new rows do not have", hint="--set noise.irrelevant=0"
            )
        if method_class(entry.name).takes_rows:
            raise ConfigError(
                f"{entry.name} has no predictions for new rows",
                hint="choose another method with --method, or add the rows to the data set for confml run",
            )
        params, grid = _parameters(entry, choice)
        self.config, self.levels, self.name = config, config.levels, entry.name
        self.data = load(spec.spec()) if data is None else data
        missing = _missing_rule(spec, self.data)
        self.coder = RowCoder(self.data, _label(spec), _unused(spec), missing, spec.decimal or ".")
        self.rows = self._training_rows()
        steps = steps_for(config, self.data)
        if missing == "mean" and not any(imputes(name) for name, _ in steps):
            steps = (("impute-mean", {}), *steps)
        self.context = TaskContext(
            run_folder=Path(),
            work_folder=Path(),
            data_folder=Path(),
            checksum=self.data.checksum,
            protocol=config.protocol,
            split=_PLACE,
            steps=steps,
            noise=config.noise_values,
            seed=config.seed,
            method=entry.name,
            select_by=entry.select_by,
        )
        compile_all_kernels([method_class(entry.name), *(step_class(name) for name, _ in steps)], say)
        if grid and KEY in params:
            protocol = config.protocol
            inner = {
                "folds": protocol.inner_folds,
                "stratify": protocol.stratify,
                "select_by": entry.select_by,
            }
            params = {**params, TUNE: grid, INNER: inner}
        elif grid:
            params = self._tuned([{**params, **point} for point in grid], say)
        self.parts = SplitData(self.context, self.data, self.rows, self.rows[:0], grid=[params])
        self.params = {name: value for name, value in params.items() if name not in (TUNE, INNER)}
        self.method = self._fitted(params)
        self.view = self._chosen_view(choice.view)

    # ---- training

    def _training_rows(self) -> np.ndarray:
        protocol, data = self.config.protocol, self.data
        rows = np.arange(len(data))
        if protocol.kind == "fixed-split" and data.train_rows is not None:
            rows = np.asarray(data.train_rows)
        if protocol.absent:
            rows = rows[[str(label) not in protocol.absent for label in data.y[rows].tolist()]]
        return rows

    def _tuned(self, grid: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> dict[str, Any]:
        """The point of a grid that inner cross-validation on the training rows chooses."""
        context, seed = self.context, self.config.seed
        scores: list[list[float]] = [[] for _ in grid]
        folds = inner_folds(self.data, self.rows, self.config.protocol, _PLACE, seed)
        for number, (train, test) in enumerate(folds):
            parts = SplitData(context, self.data, train, test, self.rows, grid)
            told = parts.with_nominal_columns(grid)
            path = parts.method(told[0]).evaluate_path(
                parts.X, parts.y, parts.X_test, told, context.generator("inner", number)
            )
            for at, (_, views) in enumerate(path):
                first = next(iter(views.values()))
                labels = np.asarray(first.labels)
                scores[at].append(inner_score(labels, parts.y_test, context.select_by))
        chosen, _ = best_point(grid, scores, context.select_by)
        if chosen is None:
            raise ConfigError(f"no point of the tune grid of {self.name} could be evaluated")
        best = dict(grid[chosen])
        shown = ", ".join(f"{name}: {value}" for name, value in best.items())
        say(f"{len(folds)}-fold cross-validation on the training rows chose {{{shown}}}")
        return best

    def _fitted(self, params: Mapping[str, Any]) -> Method:
        point = self.parts.with_nominal_columns([params])[0]
        method = self.parts.method(point)
        method.seed_random_states(self._generator("fit", point))
        return method.fit(self.parts.X, self.parts.y)

    def _generator(self, *purpose: Any) -> np.random.Generator:
        return stable_generator("predict", self.config.seed, self.data.checksum, self.name, *purpose)

    def _chosen_view(self, view: str | None) -> str:
        """The name of the view; its form without rows is kept for files that have none."""
        views = self.method.confident_predict(self.parts.X[:1], self._generator("form"))
        if view is not None and view not in views:
            raise ConfigError(f"{self.name} has no view '{view}'", hint=did_you_mean(view, list(views)))
        chosen = view or next((name for name, one in views.items() if one.has_regions), next(iter(views)))
        self._none = views[chosen].take(np.arange(0))
        return chosen

    # ---- new rows

    def predict(self, rows: NewRows, chunk: int = 0) -> Prediction:
        """The prediction of the complete ones of new rows.

        chunk: the number of the chunk, which seeds the random numbers that a method draws.
        """
        X = self.features(rows)
        if not len(X):
            return self._none
        return self.method.confident_predict(X, self._generator("new rows", chunk))[self.view]

    def features(self, rows: NewRows) -> np.ndarray:
        """(k, d) the complete ones of new rows, as the method takes them."""
        X = rows.table if self.parts.takes_codes else rows.X
        if self.coder.missing != "mean":
            X = X[rows.complete]
        return self.parts.transform(X) if len(X) else np.empty((0, self.parts.X.shape[1]))

    def is_predicted(self, rows: NewRows) -> np.ndarray:
        """(n,) bool, which of new rows have a prediction: all, or those without missing values."""
        return np.ones(len(rows.lines), dtype=bool) if self.coder.missing == "mean" else rows.complete

    # ---- properties

    @property
    def is_conformal(self) -> bool:
        """Whether the method is any classifier made conformal."""
        return KEY in self.params

    @property
    def is_label_conditional(self) -> bool:
        return any(name.rpartition("__")[2] == "mondrian" and value for name, value in self.params.items())

    @cached_property
    def counted_rows(self) -> int:
        """Number of examples that p-values are counted among, the new one not included."""
        return int(self.method.fit_metrics_.get("calibration_rows", len(self.parts.y)))

    @cached_property
    def class_counts(self) -> dict[Any, int]:
        """`counted_rows` per class."""
        own = self.method.fit_details_.calibration_rows
        if own is not None:
            return dict(own)
        labels, counts = np.unique(self.parts.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @cached_property
    def scaled(
        self,
    ) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray], np.ndarray, np.ndarray, list[str] | None]:
        """The training rows after the steps, for distances, also where a conformal method learns them itself.

        Returns X (m', d), the transform of new rows before the steps, (d,) which columns hold codes, (m') the
        kept training rows, and the names of the columns, None where the steps make new ones.
        """
        data = self.data
        names = data.table_attributes if self.parts.takes_codes else data.attributes
        if not self.is_conformal:
            coded = np.zeros(self.parts.X.shape[1], dtype=bool)
            coded[self.parts.with_nominal_columns([{}])[0].get("nominal", [])] = True
            dropped = set(self.parts.dropped_attributes)
            left = [name for name in names if name not in dropped]
            known = left if len(left) == self.parts.X.shape[1] else None
            return self.parts.X, self.parts.transform, coded, self.parts.kept, known
        X, y = self.parts.untransformed
        coded = np.zeros(X.shape[1], dtype=bool)
        if self.parts.takes_codes:
            coded[: len(self.data.nominal)] = self.data.nominal
        steps = build_pipeline(self.context.steps)
        X, _, kept = steps.fit_training(X, y, self._generator("steps"), coded)
        columns = steps.columns_
        known = None if columns is None else [names[column] for column in columns.tolist()]
        return X, steps.transform, steps.nominal_, kept, known


def _chosen_dataset(config: Config, name: str | None) -> DatasetSpec:
    by_name = {spec.name: spec for spec in config.datasets}
    if name is None and len(by_name) == 1:
        return config.datasets[0]
    if name is None:
        raise ConfigError(
            f"the config has {len(by_name)} data sets: {', '.join(by_name)}", hint="choose one with --dataset"
        )
    if name not in by_name:
        raise ConfigError(f"the config has no data set '{name}'", hint=did_you_mean(name, by_name))
    return by_name[name]


def _chosen_method(config: Config, name: str | None) -> MethodEntry:
    named = [f"{entry.name} ({entry.label})" if entry.label else entry.name for entry in config.methods]
    found = [entry for entry in config.methods if name in (None, entry.label)]
    found = found or [entry for entry in config.methods if name == entry.name]
    if not found:
        known = [known for entry in config.methods for known in (entry.label, entry.name) if known]
        raise ConfigError(f"the config has no method '{name}'", hint=did_you_mean(str(name), known))
    if len(found) > 1:
        hint = "choose one with --method, by its name or its label"
        which = f"{len(found)} methods" if name is None else f"several methods '{name}'"
        raise ConfigError(f"the config has {which}: {', '.join(named)}", hint=hint)
    return found[0]


def _parameters(entry: MethodEntry, choice: Choice) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The parameters of a method, and the grid that is left to tune (empty for none)."""
    given = dict(choice.params)
    params = {**entry.given, **given}
    if choice.conformal is not None:
        params[KEY] = choice.conformal
    if choice.per_class:
        if KEY in params:
            params[f"{KEY}__mondrian"] = True
        elif "mondrian" in method_class(entry.name).parameters:
            params["mondrian"] = True
        else:
            raise ConfigError(
                f"{entry.name} has no label-conditional p-values",
                hint="make it conformal: --conformal split",
            )
    swept = {name: values for name, values in entry.sweep.items() if name not in given}
    several = [name for name, values in swept.items() if len(values) > 1]
    if several:
        values = ", ".join(map(str, swept[several[0]][:5]))
        raise ConfigError(
            f"{entry.name} is swept over {', '.join(several)} ({values})",
            hint=f"choose a value, as --param {several[0]}={swept[several[0]][0]}",
        )
    params |= {name: values[0] for name, values in swept.items()}
    tuned = {name: values for name, values in entry.tune.items() if name not in given}
    grid = entry.model_copy(update={"tune": tuned}).tune_grid() if tuned else []
    check(entry.name, {**params, **(grid[0] if grid else {})})
    return params, grid


def _missing_rule(spec: DatasetSpec, data: DataSet) -> str:
    if spec.missing is not None:
        return spec.missing
    return "mean" if np.isnan(data.X).any() else "error"


def _label(spec: DatasetSpec) -> str | None:
    """The name of the label column, None for generated data."""
    if spec.kind == "card":
        from confml.data.cards import read_card

        return read_card(spec.card or spec.name).label
    return spec.label if spec.kind == "csv" else None


def _unused(spec: DatasetSpec) -> tuple[str, ...]:
    return (*(spec.ignore or ()), *(spec.id or ()), *((spec.groups,) if spec.groups else ()))
