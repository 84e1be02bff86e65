"""The plan of a run: its cells in the order of the config, and the keys of their results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from confml.plugins.parameters import parameters_text
from confml.runner.external_files import ExternalFile, external_files, shown_params
from confml.runner.origins import coverage_columns
from confml.runner.split_data import by_places
from confml.runner.splits import Split, checked_splits, split_identity
from confml.steps.registry import imputes, version_of_step
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
    rows. columns: for each data set the columns of ``coverage-by`` that it has.
    """

    config: Config
    datasets: Mapping[str, DataSet]
    jobs: tuple[Job, ...] = field(default=())
    smallest_training: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

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
    columns = coverage_columns(config, datasets)
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
    return Plan(config, datasets, tuple(jobs), smallest, columns)


def load_datasets(config: Config) -> dict[str, DataSet]:
    """Load the data sets of a config, by name; all errors are reported together."""
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
    return loaded


def _check_steps(config: Config, data: DataSet) -> None:
    """Raise ConfigError for missing values without a training part, and for a step that divides groups."""
    if config.protocol.kind == "online" and len(steps_for(config, data)) > len(config.steps):
        hint = "missing: drop, for a CSV file"
        raise ConfigError(f"data set '{data.name}' has missing values, and no training part", hint=hint)
    for step in config.steps if data.groups is not None else ():
        if step.divides_groups:
            raise divided_groups(step.name)


def steps_for(config: Config, data: DataSet) -> tuple[tuple[str, dict], ...]:
    """Return the steps of the config; with missing values, imputation is added as the first step."""
    listed = tuple((step.name, dict(step.params)) for step in config.steps)
    if np.isnan(data.X).any() and not any(imputes(name) for name, _ in listed):
        return (("impute-mean", {}), *listed)
    return listed


def _jobs_of(config: Config, data: DataSet, splits: Sequence[Split]) -> Iterator[Job]:
    """Yield the jobs of a data set."""
    steps = [
        {"name": name, "version": version_of_step(name, params), "params": params}
        for name, params in steps_for(config, data)
    ]
    entries = [_EntryJobs(config, data, entry, splits, steps) for entry in config.methods]
    for split in splits:
        identity = split_identity(config.protocol, split)
        text = stable_text(identity)
        for entry in entries:
            yield entry.job(split, identity, text)


class _EntryJobs:
    """Makes the jobs of one method on one data set, which differ by their splits only."""

    def __init__(
        self,
        config: Config,
        data: DataSet,
        entry: MethodEntry,
        splits: Sequence[Split],
        steps: Sequence[Mapping[str, Any]],
    ):
        self._entry, self._data = entry, data
        points = [{**entry.given, **variant} for variant in entry.variants()]
        by_places(data, points)  # raises for a wrong name
        self._files: tuple[ExternalFile, ...] = external_files(config, data, entry, splits)
        self._identity: dict[str, Any] = {
            "data": data.checksum,
            "seed": config.seed,
            "noise": config.noise_values and {**config.noise_values, "version": NOISE_VERSION},
            "steps": steps,
            "method": entry.name,
            "version": entry.version,
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
        variants = [shown_params(entry, point) for point in points]
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
