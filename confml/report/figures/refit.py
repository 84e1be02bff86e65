"""Fits of a run again, for figures that need more than predictions of test examples."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.report.figures import NotApplicable, Subject, Variant
from confml.report.numbers.outcomes import ViewNumbers
from confml.report.numbers.outcomes import first_split as details_of_first_split


@contextmanager
def data_at_hand(subject: Subject) -> Iterator[tuple]:
    """Return the data set, and a folder with it in the form for workers; `NotApplicable` if it is missing."""
    from confml.data import load
    from confml.runner.workspace import Workspace

    if subject.results.config.protocol.kind == "online":
        raise NotApplicable("an online pass has no single fit")
    (spec,) = [one for one in subject.results.config.datasets if one.name == subject.dataset]
    try:
        data = load(spec.spec())
    except ConfmlError as error:
        raise NotApplicable(f"it fits again and needs the data ({error.message})") from None
    info = subject.results.datasets.get(subject.dataset)
    if info is not None and info.checksum and info.checksum != data.checksum:
        raise NotApplicable("the data differ from those of the run")
    with tempfile.TemporaryDirectory() as temporary:
        yield data, Workspace(Path(temporary)).put_dataset(data)


def first_split(subject: Subject, variant: Variant, data, folder: Path):
    """Return the input of a variant's fit on its first split: (`SplitData`, parameters, seeded generator)."""
    from confml.methods.registry import method_class
    from confml.runner.plan import steps_for
    from confml.runner.split_data import SplitData
    from confml.runner.splits import outer_splits
    from confml.runner.tasks import TaskContext

    config, cell = subject.results.config, variant.cells[0]
    try:
        takes_rows = method_class(cell.method).takes_rows
    except ConfmlError as error:  # a class whose import is not allowed
        raise NotApplicable(str(error)) from None
    if takes_rows:
        raise NotApplicable(f"{cell.method} is not fitted")
    context = TaskContext(
        run_folder=folder,
        work_folder=folder,
        data_folder=folder,
        checksum=data.checksum,
        protocol=config.protocol,
        split=next(split for split in outer_splits(config.protocol, data) if split.name == cell.split),
        steps=steps_for(config, data),
        noise=config.noise_values,
        seed=config.seed,
        method=cell.method,
    )
    found = subject.results.by_view(ViewNumbers(details_of_first_split))[variant.key]
    point: dict[str, Any] = dict(found.chosen.get(cell.split, cell.params))
    parts = SplitData.outer(context, [point])
    (point,) = parts.with_nominal_columns([point])
    rng: np.random.Generator = context.generator("path", None)
    return parts, point, rng
