"""Fits of a run again, for figures that need more than predictions of test examples."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.report.figures.figure import DatasetResults, NotApplicable, View
from confml.report.numbers.outcomes import ViewNumbers, first_split


@contextmanager
def first_fit(data: DatasetResults, view: View) -> Iterator[tuple]:
    """Yield the data set and the input of a fit on its first split: `SplitData`, parameters, generator.

    Raises `NotApplicable` without the data, and for a method that is not fitted.
    """
    from confml.methods.registry import method_class
    from confml.runner.plan import load_dataset, steps_for
    from confml.runner.split_data import SplitData
    from confml.runner.splits import outer_splits
    from confml.runner.tasks import TaskContext
    from confml.runner.workspace import Workspace

    config, cell = data.run.config, view.cells[0]
    if config.protocol.kind == "online":
        raise NotApplicable("an online pass has no single fit")
    (spec,) = [spec for spec in config.datasets if spec.name == data.name]
    try:
        loaded = load_dataset(spec, config.protocol)
    except ConfmlError as error:
        raise NotApplicable(f"it fits again and needs the data ({error.message})") from None
    info = data.run.datasets.get(data.name)
    if info is not None and info.checksum and info.checksum != loaded.checksum:
        raise NotApplicable("the data differ from those of the run")
    try:
        takes_rows = method_class(cell.method).takes_rows
    except ConfmlError as error:  # a class whose import is not allowed
        raise NotApplicable(str(error)) from None
    if takes_rows:
        raise NotApplicable(f"{cell.method} is not fitted")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Workspace(Path(temporary)).put_dataset(loaded)
        context = TaskContext(
            run_folder=folder,
            work_folder=folder,
            data_file=folder,
            checksum=loaded.checksum,
            protocol=config.protocol,
            split=next(split for split in outer_splits(config.protocol, loaded) if split.name == cell.split),
            steps=steps_for(config, loaded),
            noise=config.noise_values,
            seed=config.seed,
            method=cell.method,
        )
        chosen = data.run.by_view(ViewNumbers(first_split))[view.key].chosen
        point: dict[str, Any] = dict(chosen.get(cell.split, cell.params))
        parts = SplitData.of(context, [point])
        (point,) = parts.with_nominal_columns([point])
        rng: np.random.Generator = context.generator("path", None)
        yield loaded, parts, point, rng
