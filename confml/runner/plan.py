"""The plan of a run: its cells in the order of the config, and the keys of their results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from confml._seeds import hash_of_texts, stable_text
from confml.config import Config
from confml.config.method_entry import MethodEntry
from confml.data.dataset import DataSet
from confml.data.noise import VERSION as NOISE_VERSION
from confml.errors import ConfigError, ConfigErrors, ConfmlError
from confml.measures.costs import costs_of
from confml.methods.registry import version_of
from confml.plugins.parameters import parameters_text
from confml.runner.external_files import ExternalFile, check_file_names, external_files, shown_params
from confml.runner.origins import grouping_columns
from confml.runner.split_data import by_places
from confml.runner.splits import (
    Split,
    inner_folds,
    outer_splits,
    split_identity,
    split_rows,
    splits_to_check,
)
from confml.steps.registry import imputes, step_class, version_of_step
from confml.steps.transformer import divided_groups


@dataclass(frozen=True)
class Cell:
    """One data set x method variant x split: the unit of results.

    params: given and swept values, without tuned ones. key: hash of everything that determines the result,
    and of the name of the data set, because two data sets may have the same rows.
    """

    key: str
    dataset: str
    method: str
    params: Mapping[str, Any]
    split: str

    @cached_property
    def variant(self) -> str:
        """The ``params`` column of the reports: ``k=1;weights=distance``."""
        return parameters_text(self.params)

    @property
    def title(self) -> str:
        """Name of the cell in messages."""
        return " ".join(filter(None, (self.dataset, self.method, self.variant, self.split)))

    def as_dict(self) -> dict:
        return {
            "key": self.key,
            "dataset": self.dataset,
            "method": self.method,
            "params": dict(self.params),
            "split": self.split,
        }


@dataclass(frozen=True)
class Job:
    """One method of a config on one split of one data set; one path may compute all its cells."""

    dataset: str
    entry: Any  # config.method_entry.MethodEntry
    split: Split
    cells: tuple[Cell, ...]
    shared: Mapping[str, Any]  # values that the method has on all splits
    split_identity: Mapping[str, Any]
    files: tuple[ExternalFile, ...] = ()

    @property
    def identity(self) -> dict[str, Any]:
        """Values that all its cells share, hashed into the keys of inner folds."""
        return {**self.shared, "split": self.split_identity}


@dataclass(frozen=True)
class Plan:
    """A config with its data sets; ``jobs`` and ``cells`` are in the order of the config.

    smallest_training: for each data set the training rows per class of the split with the fewest training
    rows.
    """

    config: Config
    datasets: Mapping[str, DataSet]
    jobs: tuple[Job, ...] = field(default=())
    smallest_training: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)

    def columns_of(self, dataset: str) -> dict[str, np.ndarray]:
        """Return the columns of ``coverage-by`` that a data set has: name -> (n,) values."""
        groups = next(spec.groups for spec in self.config.datasets if spec.name == dataset)
        return grouping_columns(self.datasets[dataset], self.config.coverage_by, groups)

    @cached_property
    def cells(self) -> list[Cell]:
        return [cell for job in self.jobs for cell in job.cells]

    def shard(self, index: int, count: int) -> Plan:
        """Return part ``index`` of ``count`` (from 1), selected by the keys of the jobs."""
        mine = tuple(job for job in self.jobs if int(job.cells[0].key[:8], 16) % count == index - 1)
        return Plan(self.config, self.datasets, mine, self.smallest_training)


def make_plan(config: Config, datasets: Mapping[str, DataSet]) -> Plan:
    """Return the plan of a config with its loaded data sets.

    Raises ConfigErrors if the protocol does not fit the data.
    """
    protocol = config.protocol
    check_file_names(config)
    problems: dict[str, ConfigError] = {}
    jobs: list[Job] = []
    smallest: dict[str, dict[Any, int]] = {}
    for data in datasets.values():
        try:
            _check_steps_of_groups(config, data)
            if config.costs is not None:
                costs_of(config.costs, "costs").decider(data.classes, f"data set '{data.name}' does")
            splits = outer_splits(protocol, data)
            jobs += _jobs_of(config, data, splits, smallest)
        except ConfigError as error:
            problems.setdefault(str(error), error)
    if problems:
        raise ConfigErrors(list(problems.values()))
    return Plan(config, datasets, tuple(jobs), smallest)


def load_datasets(config: Config) -> dict[str, DataSet]:
    """Load the data sets of a config, by name; all errors are reported together.

    Raises ConfigError if no data set has a column of ``coverage-by``.
    """
    from confml.data import load

    loaded: dict[str, DataSet] = {}
    problems = []
    for dataset in config.datasets:
        try:
            loaded[dataset.name] = load(dataset.spec())
        except ConfmlError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise type(problems[0])("\n".join(str(problem) for problem in problems))
    _check_coverage_by(config, loaded)
    return loaded


def _check_coverage_by(config: Config, loaded: Mapping[str, DataSet]) -> None:
    """Raise ConfigError for a column of ``coverage-by`` that no data set has."""
    specs = {spec.name: spec for spec in config.datasets}
    for name in config.coverage_by:
        if any(grouping_columns(data, [name], specs[key].groups) for key, data in loaded.items()):
            continue
        ignored = [key for key, spec in specs.items() if name in (spec.ignore or ())]
        known = [column for data in loaded.values() for column in (*data.table_attributes, *data.id_columns)]
        message = f"coverage-by: no data set has the column '{name}'"
        if ignored:
            hint = f"list it under id: in place of ignore: of {ignored[0]}; methods do not see either"
            raise ConfigError(message, hint=hint)
        raise ConfigError(message, near=(name, known))


def _check_steps_of_groups(config: Config, data: DataSet) -> None:
    """Raise ConfigError for a step that validates inside and would divide the groups of a data set."""
    for name, params in steps_for(config, data):
        if data.groups is not None and step_class(name).divides_groups(params):
            raise divided_groups(name)


def steps_for(config: Config, data: DataSet) -> tuple[tuple[str, dict], ...]:
    """Return the steps of the config; with missing values, imputation is added as the first step."""
    listed = tuple((step.name, dict(step.params)) for step in config.steps)
    if np.isnan(data.X).any() and not any(imputes(name) for name, _ in listed):
        return (("impute-mean", {}), *listed)
    return listed


def _jobs_of(
    config: Config, data: DataSet, splits: Sequence[Split], smallest: dict[str, dict[Any, int]]
) -> Iterator[Job]:
    """Yield the jobs of a data set, and store the rows of its ``smallest`` training part per class.

    Raises ConfigError for a split that the protocol cannot make of the data.
    """
    steps = steps_for(config, data)
    if config.protocol.kind == "online" and len(steps) > len(config.steps):
        hint = "missing: drop, for a CSV file"
        raise ConfigError(f"data set '{data.name}' has missing values, and no training part", hint=hint)
    for split in splits_to_check(config.protocol, data, splits):
        train = _checked_training_rows(config, data, split)
        if len(train) < sum(smallest.get(data.name, {0: len(data) + 1}).values()):
            labels, counts = np.unique(data.y[train], return_counts=True)
            smallest[data.name] = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    entries = [_EntryJobs(config, data, entry, splits, steps) for entry in config.methods]
    for split in splits:
        identity = split_identity(config.protocol, split)
        text = stable_text(identity)
        for entry in entries:
            yield entry.job(split, identity, text)


def _checked_training_rows(config: Config, data: DataSet, split: Split) -> np.ndarray:
    """Return the training rows of a split; raise ConfigError if a part is empty or cannot be divided."""
    protocol = config.protocol
    train, test = split_rows(data, protocol, split, config.seed)
    if any(entry.tune for entry in config.methods):
        inner_folds(data, train, protocol, split, config.seed)
    if len(test) == 0 or (len(train) == 0 and protocol.kind != "online"):
        raise ConfigError(f"data set '{data.name}', split {split.name}: an empty part")
    return train


class _EntryJobs:
    """Makes the jobs of one method on one data set, which differ by their splits only."""

    def __init__(
        self,
        config: Config,
        data: DataSet,
        entry: MethodEntry,
        splits: Sequence[Split],
        steps: Sequence[tuple[str, dict]],
    ):
        self._entry, self._data = entry, data
        by_places(
            data, [{**entry.given, **variant} for variant in entry.variants()]
        )  # raises for a wrong name
        self._files: tuple[ExternalFile, ...] = external_files(config, data, entry, splits)
        self._identity: dict[str, Any] = {
            "data": data.checksum,
            "seed": config.seed,
            "noise": config.noise_values and {**config.noise_values, "version": NOISE_VERSION},
            "steps": [
                {"name": name, "version": version_of_step(name, params), "params": params}
                for name, params in steps
            ],
            "method": entry.name,
            "version": version_of(entry.name, entry.given, [*entry.sweep.values(), *entry.tune.values()]),
        }
        if entry.tune:
            self._identity["tune"] = entry.tune_grid()
            self._identity["inner-folds"] = config.protocol.inner_folds
            self._identity["inner-stratify"] = config.protocol.stratify
            self._identity["select-by"] = entry.select_by
            if entry.select_by == "cost":
                self._identity["costs"] = config.costs
        if self._files:
            self._identity["files"] = {file.name: file.digest for file in self._files}
        variants = [shown_params(entry, {**entry.given, **variant}) for variant in entry.variants()]
        self._variants = [(params, stable_text(params)) for params in variants]
        self._texts = self._split_texts()

    def job(self, split: Split, split_identity: Mapping[str, Any], identity_text: str) -> Job:
        """Return the job of a split with its identity and the `stable_text` of that."""
        name, method, own = self._data.name, self._entry.name, split.name
        before, after = self._texts
        text = f"{before}{identity_text}{after}"
        cells = tuple(
            Cell(hash_of_texts(text, of_params)[:32], name, method, params, own)
            for params, of_params in self._variants
        )
        return Job(name, self._entry, split, cells, self._identity, split_identity, self._files)

    def _split_texts(self) -> tuple[str, str]:
        """Return the text that is hashed into the keys before the identity of the split, and after it."""
        others = [(json.dumps(name), stable_text(value)) for name, value in sorted(self._identity.items())]
        before = [f"{name}:{text}" for name, text in others if name < '"split"']
        after = [f"{name}:{text}" for name, text in others if name > '"split"']
        parts = f'"cell",{stable_text(self._data.name)},' + "{" + "".join(f"{one}," for one in before)
        return f'{parts}"split":', "".join(f",{one}" for one in after) + "}"


def cells_from(documents: Sequence[Mapping]) -> list[Cell]:
    """Return the cells of a manifest; equal names and parameters of cells are one object."""
    known: dict[str, Any] = {}
    cells = []
    for document in documents:
        names = {name: sys.intern(document[name]) for name in ("dataset", "method", "split")}
        params = known.setdefault(repr(document["params"]), document["params"])
        cells.append(Cell(key=document["key"], params=params, **names))
    return cells
