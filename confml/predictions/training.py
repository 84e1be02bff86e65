"""`fit_model`: fit a method of a config to the training rows of its data set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.config import Config
from confml.config.dataset_spec import DatasetSpec
from confml.config.method_entry import MethodEntry
from confml.data import load
from confml.data.dataset import DataSet
from confml.errors import ConfigError
from confml.measures.certified import OperatingPoint
from confml.measures.costs import costs_of
from confml.measures.selection import best_point, inner_score
from confml.methods.conformal.settings import KEY
from confml.methods.divisions import DIVISIONS
from confml.methods.registry import check, method_class
from confml.methods.shift import COVARIATE
from confml.methods.wrappers import wrapper_of
from confml.predictions.data_columns import line_texts, row_coder
from confml.predictions.model import (
    Facts,
    Model,
    TrainingRows,
    classifier_views,
    first_probability_view,
    named_errors,
)
from confml.predictions.operating_point import certified_point, held_out_rows
from confml.runner.graph import inner_settings
from confml.runner.plan import steps_for
from confml.runner.split_data import SplitData, form_of_rows
from confml.runner.splits import Split, inner_folds
from confml.runner.tasks import TaskContext
from confml.runner.warm import warm_method
from confml.steps.registry import build_pipeline, imputes, step_class

_PLACE = Split("fixed-split")  # the training rows are not a random part: all draws have this identity


@dataclass(frozen=True)
class Choice:
    """The parts of a config that a prediction takes: all of them, unless there are several.

    dataset, method: names (of a method, its name or its label). params: replace parameters of the method,
    swept and tuned ones too. conformal: ``split`` or ``cross`` makes the method conformal. mondrian:
    label-conditional p-values. view: name of the view, by default the first one with regions. risk: largest
    error probability of the rows that an operating point accepts, None for no such point. confidence: the
    probability with which it is certified, or no row is accepted. selection_part: share of the training rows
    that steps are fitted to and parameters are selected on, and that p-values are not computed from; None for
    no such part.
    """

    dataset: str | None = None
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    conformal: str | None = None
    mondrian: bool = False
    view: str | None = None
    risk: float | None = None
    confidence: float = 0.95
    selection_part: float | None = None

    def __post_init__(self):
        for name in ("risk", "confidence", "selection_part"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise ConfigError(f"{name} must be above 0 and below 1, got {value!r}")


def fit_model(
    config: Config,
    choice: Choice,
    data: DataSet | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Model:
    """Fit a method of a config to all training rows of its data set.

    These are the provider's training part under ``fixed-split``, else all rows. With ``choice.risk``, a part
    of them is held out to certify an operating point, and the method is fitted to the others. With
    ``choice.selection_part``, a part of the others only selects parameters and fits steps. data: the data
    set, by default loaded. say: called with each message. Raises ConfigError and DataError.
    """
    return _Fit(config, choice, data, say).model()


class _Fit:
    """A fit of one method to the training rows."""

    def __init__(self, config: Config, choice: Choice, data: DataSet | None, say: Callable[[str], None]):
        spec = chosen_dataset(config, choice.dataset)
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
        self.config, self.name, self.choice = config, entry.name, choice
        self.data = load(spec.as_dict()) if data is None else data
        self.coder = row_coder(spec, self.data)
        self.rows, self.grid_rows, self.test_rows = self._training_rows()
        self.coder.use_ranges(self.data.table[self.rows])
        self.selection_rows = self._selection_rows(params)
        steps = steps_for(config, self.data)
        if self.coder.missing == "mean" and not any(imputes(name) for name, _ in steps):
            steps = (("impute-mean", {}), *steps)
        self.context = TaskContext(
            checksum=self.data.checksum,
            protocol=config.protocol,
            split=_PLACE,
            steps=steps,
            noise=config.noise_values,
            seed=config.seed,
            method=entry.name,
            select_by=entry.select_by,
            costs=config.costs,
        )
        warm_method(self.context, self.data, self.rows, {**params, **(grid[0] if grid else {})}, say)
        self.selected = tuple(name for name in entry.tune if name not in choice.params) if grid else ()
        key, self.params = wrapper_of(params), params
        if grid and key is not None:  # the wrapper selects them without the calibration rows
            params = {**params, f"{key}__tune": grid, f"{key}__inner": inner_settings(config, entry)}
        elif grid:
            self.params = params = self._tuned([{**params, **point} for point in grid], say)
        parts = (self.rows, self.rows[:0])
        if len(self.selection_rows):  # the rows that the method is fitted to are only transformed
            parts = (self.selection_rows, np.setdiff1d(self.rows, self.selection_rows))
        if form_of_rows(self.data, entry.name, [params], steps, config.noise_values) == "dense":
            self.data.require_dense()
        self.parts = SplitData(self.context, self.data, *parts, grid=[params])
        self.X, self.y = self.parts.X, self.parts.y  # the rows that the method is fitted to, after the steps
        if len(self.selection_rows):
            self.X, self.y = self.parts.X_test, self.parts.y_test
        point = self.parts.with_nominal_columns([params])[0]
        self.method: Any = self.parts.method(point)
        self.method.seed_random_states(self._generator("fit", point))
        with named_errors(self.name, "be fitted"):
            self.method.fit(self.X, self.y)

    def model(self) -> Model:
        """Return the fitted model. Raises ConfigError for a view that it does not have."""
        row, view = self.X[:1], self.choice.view
        with named_errors(self.name, "predict"):
            views = self.method.confident_predict(row, self._generator("form"))
            of_classifier = classifier_views(self.method, row)  # for decisions
        if view is not None and view not in views:
            raise ConfigError(f"{self.name} has no view '{view}'", near=(view, list(views)))
        chosen = view or next((name for name in views if views[name].has_regions), next(iter(views)))
        return Model(
            facts=self._facts(),
            coder=self.coder,
            takes_codes=self.parts.takes_codes,
            steps=self.parts.steps,
            view=chosen,
            none=views[chosen].take(np.arange(0)),
            probability_view=first_probability_view({**views, **of_classifier}),
            point=self._point(chosen),
            costs=None if self.config.costs is None else costs_of(self.config.costs, "costs of the config"),
            by=self.parts.by,
            method=self.method,
            neighbours=self._neighbours(),
        )

    def _facts(self) -> Facts:
        details, groups = self.method.fit_details_, _group_rows(self.method)
        classes, counts = (part.tolist() for part in np.unique(self.y, return_counts=True))
        of_classes = details.calibration_rows
        counted_rows = int(self.method.fit_metrics_.get("calibration_rows", len(self.y)))
        kinds = [step_class(name) for name, _ in self.context.steps]
        return Facts(
            method=self.name,
            params=self.params,
            data=self.data.name,
            checksum=self.data.checksum,
            rows=len(self.data),
            training_rows=len(self.rows) + len(self.grid_rows) + len(self.test_rows),
            fitted_rows=len(self.y),
            counted_rows=min(groups.values(), default=counted_rows),
            class_counts=dict(of_classes or zip(classes, counts, strict=True)),
            tested_rows=len(self.test_rows),
            learning_steps=tuple(kind.name for kind in kinds if kind.learns),
            breaking_steps=tuple(kind.name for kind in kinds if kind.breaks_exchangeability),
            noise=bool(self.context.noise),
            groups=self.data.groups is not None,
            levels=tuple(self.config.levels),
            seed=self.config.seed,
            notes=tuple(self.data.notes),
            selected=self.selected,
            selection_rows=len(self.selection_rows),
            single_rows=counts.count(1),
            group_rows=groups,
        )

    # ---- training

    def _training_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows to fit to, and those held out to choose thresholds and to certify one."""
        protocol, data = self.config.protocol, self.data
        rows = np.arange(len(data))
        if protocol.kind == "fixed-split" and data.train_rows is not None:
            rows = np.asarray(data.train_rows)
        if protocol.absent:
            rows = rows[[str(label) not in protocol.absent for label in data.y[rows].tolist()]]
        if self.choice.risk is None:
            return rows, rows[:0], rows[:0]
        if data.groups is not None:
            raise ConfigError(
                "--risk needs independent rows, and the rows of a group are not independent",
                hint="leave out --risk, or groups if rows of one group are not alike",
            )
        self._refuse_noise("--risk")
        return held_out_rows(rows, self._generator("held out"))

    def _selection_rows(self, params: Mapping[str, Any]) -> np.ndarray:
        """Return the training rows that only select parameters and fit steps; none without
        ``selection_part``.
        """
        share = self.choice.selection_part
        if share is None:
            return self.rows[:0]
        if wrapper_of(params) is not None:
            raise ConfigError(
                "--selection-part cannot be combined with a method that has a calibration part",
                hint="leave it out: steps and parameters do not use the calibration part",
            )
        self._refuse_noise("--selection-part")
        count, rows = round(share * len(self.rows)), len(self.rows)
        if not 2 <= count <= rows - 2:
            message = f"--selection-part {share:g} leaves {count} of {rows} training rows for the selection"
            raise ConfigError(message, hint="both parts need at least 2 rows")
        return np.sort(self._generator("selection").permutation(self.rows)[:count])

    def _refuse_noise(self, option: str) -> None:
        if self.config.noise_values:
            text = f"{option} cannot be used with noise: in the config"
            raise ConfigError(text, hint="leave out one of them")

    def _tuned(self, grid: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> dict[str, Any]:
        """Return the point of a grid that inner cross-validation on the training rows chooses."""
        context, seed = self.context, self.config.seed
        scores: list[list[float]] = [[] for _ in grid]
        rows = self.selection_rows if len(self.selection_rows) else self.rows
        folds = inner_folds(self.data, rows, self.config.protocol, _PLACE, seed)
        for number, (train, test) in enumerate(folds):
            parts = SplitData(context, self.data, train, test, rows, grid)
            points = parts.with_nominal_columns(grid)
            path = parts.method(points[0]).evaluate_path(
                parts.X, parts.y, parts.X_test, points, context.generator("inner", number)
            )
            for at, (_, views) in enumerate(path):
                first = next(iter(views.values()))
                scores[at].append(inner_score(first, parts.y_test, context.select_by, context.costs))
        chosen, _ = best_point(grid, scores, context.select_by)
        if chosen is None:
            raise ConfigError(f"no point of the tune grid of {self.name} could be evaluated")
        best = dict(grid[chosen])
        shown = ", ".join(f"{name}: {value}" for name, value in best.items())
        of = "training rows" if rows is self.rows else f"{len(rows)} rows of the selection part"
        say(f"{len(folds)}-fold cross-validation on the {of} chose {{{shown}}}")
        return best

    def _generator(self, *purpose: Any) -> np.random.Generator:
        return stable_generator("predict", self.config.seed, self.data.checksum, self.name, *purpose)

    def _point(self, view: str) -> OperatingPoint | None:
        """Return the operating point that the held-out rows certify, None if none was asked for."""
        if self.choice.risk is None:
            return None
        rows = np.concatenate([self.grid_rows, self.test_rows])
        X = self.data.table[rows] if self.parts.takes_codes else self.data.X[rows]
        X = self.parts.with_by(self.parts.transform(X), rows)
        prediction = self.method.confident_predict(X, self._generator("certify"))[view]
        correct = np.asarray(prediction.labels) == self.data.y[rows]
        delta = round(1 - self.choice.confidence, 12)
        return certified_point(prediction.certainty, correct, len(self.grid_rows), self.choice.risk, delta)

    def _neighbours(self) -> TrainingRows:
        """Return the training rows for distances, also where a wrapper learns the steps itself."""
        data, parts = self.data, self.parts
        names = data.table_attributes if parts.takes_codes else data.attributes
        if wrapper_of(self.params) is None:
            X, y = self.X[:, : self.X.shape[1] - len(parts.by)], self.y
            coded = np.zeros(X.shape[1], dtype=bool)
            coded[parts.with_nominal_columns([{}])[0].get("nominal", [])] = True
            dropped = set(parts.dropped_attributes)
            left = [name for name in names if name not in dropped]
            kept_names = left if len(left) == X.shape[1] else None
            rows = parts.test_rows if len(self.selection_rows) else self.rows[parts.kept]
            return TrainingRows(X, y, coded, line_texts(data, rows), kept_names, parts.steps)
        X, y = parts.untransformed
        coded = np.zeros(X.shape[1], dtype=bool)
        if parts.takes_codes:
            coded[: len(data.nominal)] = data.nominal
        steps = build_pipeline(self.context.steps)
        groups = None if data.groups is None else np.asarray(data.groups)[self.rows]
        X, y, chosen = steps.fit_training(X, y, self._generator("steps"), coded, groups)
        columns = steps.columns_
        kept_names = None if columns is None else [names[column] for column in columns.tolist()]
        return TrainingRows(X, y, steps.nominal_, line_texts(data, self.rows[chosen]), kept_names, steps)


def chosen_dataset(config: Config, name: str | None) -> DatasetSpec:
    """Return the data set of a config with a name, by default the only one. Raises ConfigError."""
    by_name = {spec.name: spec for spec in config.datasets}
    if name is None and len(by_name) > 1:
        message = f"the config has {len(by_name)} data sets: {', '.join(by_name)}"
        raise ConfigError(message, hint="choose one with --dataset")
    if name not in (None, *by_name):
        raise ConfigError(f"the config has no data set '{name}'", near=(name, by_name))
    return config.datasets[0] if name is None else by_name[name]


def _chosen_method(config: Config, name: str | None) -> MethodEntry:
    entries = [entry for entry in config.methods if name in (None, entry.label)]
    entries = entries or [entry for entry in config.methods if name == entry.name]
    if not entries:
        names = [text for entry in config.methods for text in (entry.label, entry.name) if text]
        raise ConfigError(f"the config has no method '{name}'", near=(str(name), names))
    if len(entries) > 1:
        named = ", ".join(f"{e.name} ({e.label})" if e.label else e.name for e in config.methods)
        hint = "choose one by its label with --method (label: in the config)"
        raise ConfigError(f"the config has several methods '{name or ''}': {named}", hint=hint)
    return entries[0]


def _parameters(entry: MethodEntry, choice: Choice) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the parameters of a method, and the grid that is left to tune (empty for none)."""
    changes = dict(choice.params)
    params = {**entry.given, **changes}
    if choice.conformal is not None:
        if changes.get(KEY, choice.conformal) != choice.conformal:
            raise ConfigError(
                f"conformal is both {choice.conformal} and {changes[KEY]} (--conformal, --param)"
            )
        params[KEY] = choice.conformal
    if choice.mondrian:
        if KEY in params:
            params[f"{KEY}__mondrian"] = True
        elif "mondrian" in method_class(entry.name).parameters:
            params["mondrian"] = True
        else:
            raise ConfigError(
                f"{entry.name} has no label-conditional p-values",
                hint="make it conformal: --conformal split",
            )
    swept = {name: values for name, values in entry.sweep.items() if name not in changes}
    for name, values in swept.items():
        if len(values) > 1:
            shown = ", ".join(map(str, values[:5]))
            hint = f"choose a value, as --param {name}={values[0]}"
            raise ConfigError(f"{entry.name} is swept over {name} ({shown})", hint=hint)
    params |= {name: values[0] for name, values in swept.items()}
    tuned = {name: values for name, values in entry.tune.items() if name not in changes}
    grid = entry.model_copy(update={"tune": tuned}).tune_grid() if tuned else []
    check(entry.name, {**params, **(grid[0] if grid else {})})
    if params.get(f"{KEY}__shift") == COVARIATE:
        raise ConfigError(
            f"{KEY}__shift: covariate of {entry.name} needs the features of all training rows",
            hint="shift: label, or confml run with the rows as the test part of a CSV data set",
        )
    return params, grid


def _group_rows(method: Any) -> dict[str, int]:
    """Return the number of calibration examples of each group of ``by``; empty without it."""
    return {
        name: rows
        for division in method.fit_details_.other.get(DIVISIONS, ())
        for name, rows in zip(division["groups"], division["rows"], strict=True)
    }
