"""Files of the method ``external``: read and checked in the plan, and opened again by the workers."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confml.data.dataset import DataSet
from confml.errors import ConfigError, ConfmlError, DataError
from confml.methods.registry import methods
from confml.runner.splits import Split, split_rows

if TYPE_CHECKING:  # worker processes do without pydantic
    from confml.config import Config
    from confml.config.method_entry import MethodEntry
    from confml.data.probability_table import ProbabilityTable

KEY = "probabilities"


@dataclass(frozen=True)
class ExternalFile:
    """A file with probabilities.

    name: without its folder, as reports show it. sha256: of its bytes.
    """

    name: str
    path: str
    sha256: str


def external_files(config: Config, data: DataSet, entry: MethodEntry, splits: Sequence[Split]) -> tuple:
    """Return the `ExternalFile` of each file of a method; none for methods that are fitted.

    Raises DataError for a file that does not fit the data set, or lacks rows of a split.
    """
    if not _takes_rows(entry):
        return ()
    if entry.tune:
        raise ConfigError(
            f"method '{entry.name}' has nothing to tune", hint="sweep it: each file is reported"
        )
    return tuple(_checked(config, data, entry, path, splits) for _, path in entry.files())


def shown_params(entry: MethodEntry, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a cell: files by their names, because a run can be moved."""
    if not _takes_rows(entry):
        return dict(params)
    return {name: Path(value).name if name == KEY else value for name, value in params.items()}


def _takes_rows(entry: MethodEntry) -> bool:
    """Return whether a method predicts rows from a file; classes of other packages, which do not, are not
    imported."""
    cls = methods.own_class(entry.name)
    return cls is not None and cls.takes_rows


def open_table(
    files: Iterable[ExternalFile], name: str, data: DataSet, fixed_split: bool
) -> ProbabilityTable:
    """Return the table of a file, in a worker; raise ConfmlError if it is not the file of the plan."""
    file = next((candidate for candidate in files if candidate.name == Path(name).name), None)
    if file is None:
        raise ConfmlError("external predicts the rows of a data set in a run", hint="use confml run")
    return _read(file, data, fixed_split)


@functools.lru_cache(maxsize=4)
def _read(file: ExternalFile, data: DataSet, fixed_split: bool) -> ProbabilityTable:
    from confml.data.files import sha256_of
    from confml.data.probability_table import read_probabilities

    if sha256_of(Path(file.path)) != file.sha256:
        raise DataError("the file has changed since the run began", where=file.path, hint="run it again")
    return read_probabilities(file.path, data, fixed_split)


def _checked(
    config: Config, data: DataSet, entry: MethodEntry, path: str, splits: Sequence[Split]
) -> ExternalFile:
    from confml.data.files import sha256_of
    from confml.data.probability_table import read_probabilities

    fixed = config.protocol.kind == "fixed-split"
    table = read_probabilities(path, data, fixed)
    _check_splits(config, table)
    for split in splits:
        train, test = split_rows(data, config.protocol, split, config.seed)
        where = (split.repeat, split.fold)
        table.check_rows(test, *where, f"test rows of '{data.name}', split {split.name},")
        if entry.conformal:
            part = f"training rows of '{data.name}', split {split.name}, which conformal calibrates on,"
            table.check_rows(train, *where, part)
    return ExternalFile(Path(path).name, str(path), sha256_of(Path(path)))


def _check_splits(config: Config, table: ProbabilityTable) -> None:
    """Raise DataError for a column repeat or fold that the protocol does not have."""
    protocol = config.protocol
    allowed = {"k-fold": ("repeat", "fold"), "holdout": ("repeat",)}.get(protocol.kind, ())
    for name in table.split_columns:
        if name not in allowed:
            raise DataError(
                f"the protocol {protocol.kind} has no {name}s",
                where=f"{table.path}, column '{name}'",
                hint="remove the column, or use the protocol k-fold",
            )
