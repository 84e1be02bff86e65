"""The plan of a run: its cells in the order of the config, and the keys of their results."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from confml._seeds import stable_hash
from confml.config import Config
from confml.data.dataset import DataSet
from confml.data.noise import VERSION as NOISE_VERSION
from confml.errors import ConfigError, ConfigErrors, ConfmlError, did_you_mean
from confml.methods.registry import version_of
from confml.plugins.parameters import parameters_text
from confml.runner.external_files import ExternalFile, check_file_names, external_files, shown_params
from confml.runner.origins import grouping_columns
from confml.runner.splits import Split, inner_folds, outer_splits, split_identity, split_rows
from confml.steps.registry import imputes, version_of_step


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
    identity: Mapping[str, Any]  # values that all its cells share, hashed into the keys of inner folds
    files: tuple[ExternalFile, ...] = ()


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
    jobs = []
    smallest: dict[str, dict[Any, int]] = {}
    for data in datasets.values():
        files: list[tuple[ExternalFile, ...]] = []
        try:
            splits = outer_splits(protocol, data)
        except ConfigError as error:
            problems.setdefault(str(error), error)
            continue
        for split in splits:
            try:
                if protocol.kind == "online" and len(steps_for(config, data)) > len(config.steps):
                    hint = "missing: drop, for a CSV file"
                    raise ConfigError(
                        f"data set '{data.name}' has missing values, and no training part", hint=hint
                    )
                train, test = split_rows(data, protocol, split, config.seed)
                if any(entry.tune for entry in config.methods):
                    inner_folds(data, train, protocol, split, config.seed)
            except ConfigError as error:
                problems.setdefault(str(error), error)
                break
            if len(test) == 0 or (len(train) == 0 and protocol.kind != "online"):
                empty = ConfigError(f"data set '{data.name}', split {split.name}: an empty part")
                problems.setdefault(str(empty), empty)
                break
            if len(train) < sum(smallest.get(data.name, {0: len(data) + 1}).values()):
                labels, counts = np.unique(data.y[train], return_counts=True)
                smallest[data.name] = dict(zip(labels.tolist(), counts.tolist(), strict=True))
            if not files:  # read once: it checks every split
                files = [external_files(config, data, entry, splits) for entry in config.methods]
            jobs += [
                _job(config, data, split, entry, files[number]) for number, entry in enumerate(config.methods)
            ]
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
        hint = did_you_mean(name, known)
        if ignored:
            hint = f"list it under id: in place of ignore: of {ignored[0]}; methods do not see either"
        raise ConfigError(f"coverage-by: no data set has the column '{name}'", hint=hint)


def steps_for(config: Config, data: DataSet) -> tuple[tuple[str, dict], ...]:
    """Return the steps of the config; with missing values, imputation is added as the first step."""
    listed = tuple((step.name, dict(step.params)) for step in config.steps)
    if np.isnan(data.X).any() and not any(imputes(name) for name, _ in listed):
        return (("impute-mean", {}), *listed)
    return listed


def _job(config: Config, data: DataSet, split: Split, entry, files: tuple[ExternalFile, ...]) -> Job:
    identity = {
        "data": data.checksum,
        "split": split_identity(config.protocol, split),
        "seed": config.seed,
        "noise": config.noise_values and {**config.noise_values, "version": NOISE_VERSION},
        "steps": [
            {"name": name, "version": version_of_step(name, params), "params": params}
            for name, params in steps_for(config, data)
        ],
        "method": entry.name,
        "version": version_of(entry.name, entry.given, [*entry.sweep.values(), *entry.tune.values()]),
    }
    if entry.tune:
        identity["tune"] = entry.tune_grid()
        identity["inner-folds"] = config.protocol.inner_folds
        identity["inner-stratify"] = config.protocol.stratify
        identity["select-by"] = entry.select_by
    if files:
        identity["files"] = {file.name: file.digest for file in files}
    cells = tuple(
        Cell(
            key=stable_hash("cell", data.name, identity, params)[:32],
            dataset=data.name,
            method=entry.name,
            params=params,
            split=split.name,
        )
        for params in (shown_params(entry, {**entry.given, **variant}) for variant in entry.variants())
    )
    return Job(data.name, entry, split, cells, identity, files)


def cells_from(documents: Sequence[Mapping]) -> list[Cell]:
    """Return the cells of a manifest; equal names and parameters of cells are one object."""
    known: dict[str, Any] = {}
    cells = []
    for document in documents:
        names = {name: sys.intern(document[name]) for name in ("dataset", "method", "split")}
        params = known.setdefault(repr(document["params"]), document["params"])
        cells.append(Cell(key=document["key"], params=params, **names))
    return cells
