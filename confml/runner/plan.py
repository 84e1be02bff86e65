"""The plan of a run: its cells in the order of the config, and the keys of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from confml._seeds import stable_hash
from confml.data.dataset import DataSet
from confml.data.noise import VERSION as NOISE_VERSION
from confml.data.ordered import with_ordered_parts
from confml.errors import ConfigError, ConfigErrors, ConfmlError
from confml.measures.costs import costs_of
from confml.methods.conformal.settings import KEY
from confml.methods.registry import version_of
from confml.plugins.parameters import parameters_text
from confml.runner.external_files import ExternalFile, external_files, shown_params
from confml.runner.split_data import by_places, form_of_rows
from confml.runner.splits import Split, checked_splits, split_identity
from confml.steps.registry import imputes, step_class, version_of_step
from confml.steps.transformer import divided_groups

if TYPE_CHECKING:  # worker processes do without pydantic
    from confml.config import Config
    from confml.config.dataset_spec import DatasetSpec
    from confml.config.method_entry import MethodEntry
    from confml.config.protocol import Protocol


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
    entry: MethodEntry
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

    @cached_property
    def cells(self) -> list[Cell]:
        return [cell for job in self.jobs for cell in job.cells]

    def shard(self, index: int, count: int) -> Plan:
        """Return part ``index`` of ``count`` (from 1), selected by the keys of the jobs."""
        mine = tuple(job for job in self.jobs if int(job.cells[0].key[:8], 16) % count == index - 1)
        return replace(self, jobs=mine)


def make_plan(config: Config, datasets: Mapping[str, DataSet]) -> Plan:
    """Return the plan of a config with its loaded data sets.

    Raises ConfigErrors if the protocol does not fit the data.
    """
    problems: dict[str, ConfigError] = {}
    jobs: list[Job] = []
    smallest: dict[str, dict[Any, int]] = {}
    tunes = any(entry.tune for entry in config.methods)
    for data in datasets.values():
        try:
            _check_steps(config, data)
            if config.costs is not None:
                costs_of(config.costs, "costs").decider(data.classes, f"data set '{data.name}' does")
            splits, smallest[data.name] = checked_splits(data, config.protocol, config.seed, tunes)
            jobs += _jobs_of(config, data, splits)
        except ConfigError as error:
            problems.setdefault(str(error), error)
    if problems:
        raise ConfigErrors(list(problems.values()))
    return Plan(config, datasets, tuple(jobs), smallest)


def load_datasets(config: Config) -> dict[str, DataSet]:
    """Load the data sets of a config, by name; all errors are reported together."""
    loaded: dict[str, DataSet] = {}
    problems = []
    for dataset in config.datasets:
        try:
            loaded[dataset.name] = load_dataset(dataset, config.protocol)
        except ConfmlError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise type(problems[0])("\n".join(str(problem) for problem in problems))
    return loaded


def load_dataset(spec: DatasetSpec, protocol: Protocol) -> DataSet:
    """Load a data set of a config; its parts are those of the protocol if it is ordered."""
    from confml.data import load

    data = load(spec.as_dict())
    if protocol.kind != "ordered" or protocol.by is None:
        return data
    return with_ordered_parts(data, protocol.by, protocol.test_size)


def _check_steps(config: Config, data: DataSet) -> None:
    """Raise ConfigError for missing values without a training part, and for a step that divides groups."""
    if config.protocol.kind == "online" and len(steps_for(config, data)) > len(config.steps):
        hint = "missing: drop, for a CSV file"
        raise ConfigError(f"data set '{data.name}' has missing values, and no training part", hint=hint)
    for step in config.steps if data.groups is not None else ():
        if step_class(step.name).divides_groups(step.params):
            raise divided_groups(step.name)


def steps_for(config: Config, data: DataSet) -> tuple[tuple[str, dict], ...]:
    """Return the steps of the config; with missing values, imputation is added as the first step."""
    listed = tuple((step.name, dict(step.params)) for step in config.steps)
    if np.isnan(data.table).any() and not any(imputes(name) for name, _ in listed):
        return (("impute-mean", {}), *listed)
    return listed


def _jobs_of(config: Config, data: DataSet, splits: Sequence[Split]) -> Iterator[Job]:
    """Yield the jobs of a data set."""
    steps = [
        {"name": name, "version": version_of_step(name, params), "params": params}
        for name, params in steps_for(config, data)
    ]
    entries = [(entry, *_shared_by_splits(config, data, entry, splits, steps)) for entry in config.methods]
    for split in splits:
        of_split = split_identity(config.protocol, split)
        for entry, shared, variants, files in entries:
            identity = {**shared, "split": of_split}
            keys = [stable_hash("cell", data.name, identity, params)[:32] for params in variants]
            cells = tuple(
                Cell(key, data.name, entry.name, params, split.name)
                for key, params in zip(keys, variants, strict=True)
            )
            yield Job(data.name, entry, split, cells, shared, of_split, files)


def _shared_by_splits(
    config: Config,
    data: DataSet,
    entry: MethodEntry,
    splits: Sequence[Split],
    steps: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Any], list[dict[str, Any]], tuple[ExternalFile, ...]]:
    """Return what the jobs of a method on a data set share: values of keys, parameters of cells, files."""
    points = [{**entry.given, **variant} for variant in entry.variants()]
    by_places(data, points)  # raises for a wrong name
    files: tuple[ExternalFile, ...] = external_files(config, data, entry, splits)
    shared: dict[str, Any] = {
        "data": data.checksum,
        "seed": config.seed,
        "noise": config.noise_values and {**config.noise_values, "version": NOISE_VERSION},
        "steps": steps,
        "method": entry.name,
        "version": version_of(entry.name, entry.given, [*entry.sweep.values(), *entry.tune.values()]),
    }
    # Each point of a sweep is a method of its own, which may take other rows than the next one.
    forms = {
        form_of_rows(data, entry.name, [point], steps_for(config, data), config.noise_values)
        for point in points
    }
    if "dense" in forms:
        data.require_dense()
    if "sparse" in forms:
        shared["rows"] = "sparse"  # the same columns, and results that differ by rounding
    if entry.tune:
        shared["tune"] = entry.tune_grid()
        shared["inner-folds"] = config.protocol.inner_folds
        shared["inner-stratify"] = config.protocol.stratify
        shared["select-by"] = entry.select_by
        if entry.select_by == "cost":
            shared["costs"] = config.costs
    if config.costs is not None and entry.calibrating == KEY:
        shared["decides"] = True
    if files:
        shared["files"] = {file.name: file.sha256 for file in files}
    return shared, [shown_params(entry, point) for point in points], files
