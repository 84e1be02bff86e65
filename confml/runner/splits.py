"""Outer splits and inner folds; their rows depend on the seed, the data and the repeat only."""

from collections import namedtuple
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from confml._seeds import stable_generator, stable_integer
from confml.data.dataset import DataSet
from confml.data.folds import calibration_rows, calibration_rows_by_class, rows_outside, train_test_pairs
from confml.errors import ConfigError

MOST_LEFT_OUT = 10_000
"""Largest number of rows for leave-one-out, which has a result for each row and method."""


IN_PARTS = ("fixed-split", "ordered")
"""Protocols that use the parts of a data set: those of the provider, or those of `load_dataset`."""


Division = namedtuple(
    "Division", "kind repeats test_size folds inner_folds stratify rows absent by order start"
)
"""The values of `confml.config.protocol.Protocol`, for worker processes, which do without pydantic."""


@dataclass(frozen=True)
class Split:
    """One outer split: its ``repeat`` and, for k-fold, its ``fold``, both from 0.

    For protocol online it is an order of the examples; the given order has no repeat. For leave-one-out
    ``fold`` is the row of the test example.
    """

    kind: str
    repeat: int | None = 0
    fold: int | None = None

    @property
    def name(self) -> str:
        """Name in reports: ``fixed``, ``ordered``, ``r0-f3`` (k-fold), ``r0`` (holdout, online), ``given``
        (online) or ``row3`` (leave-one-out)."""
        if self.kind in IN_PARTS:
            return self.kind.removesuffix("-split")
        if self.kind == "leave-one-out":
            return f"row{self.fold}"
        if self.kind == "online" and self.repeat is None:
            return "given"
        return f"r{self.repeat}" if self.fold is None else f"r{self.repeat}-f{self.fold}"


def outer_splits(protocol, data: DataSet) -> list[Split]:
    """Return the splits of a data set in the order of the reports.

    Raises ConfigError for leave-one-out with too many rows, or with groups, before the list is built.
    """
    if protocol.kind in IN_PARTS:
        return [Split(protocol.kind)]
    if protocol.kind == "leave-one-out":
        _check_leave_one_out(data)
        return [Split("leave-one-out", 0, row) for row in range(len(data.y))]
    if protocol.kind == "online" and protocol.order == "given":
        return [Split("online", None)]
    repeats = range(protocol.repeats)
    if protocol.kind == "online":
        return [Split("online", repeat) for repeat in repeats]
    if protocol.kind == "holdout":
        return [Split("holdout", repeat) for repeat in repeats]
    return [Split("k-fold", repeat, fold) for repeat in repeats for fold in range(protocol.folds)]


def checked_splits(data: DataSet, protocol, seed: int, tunes: bool) -> tuple[list[Split], dict]:
    """Return the splits of a data set, and the rows per class of the smallest training part.

    Splits whose parts may differ in size are divided, with ``tunes`` into inner folds too. The sizes of the
    parts do not depend on the repeat, unless groups stay together or classes are absent from training. All
    training parts of leave-one-out have the same size. Raises ConfigError for a part that is empty or cannot
    be divided.
    """
    splits = outer_splits(protocol, data)
    first: dict[Hashable, Split] = {}
    for split in splits:
        first.setdefault(sizes_identity(protocol, data, split), split)
    smallest: np.ndarray | None = None
    for split in first.values():
        train, test = split_rows(data, protocol, split, seed)
        if tunes:
            inner_folds(data, train, protocol, split, seed)
        if len(test) == 0 or (len(train) == 0 and protocol.kind != "online"):
            raise ConfigError(f"data set '{data.name}', split {split.name}: an empty part")
        if smallest is None or len(train) < len(smallest):
            smallest = train
    labels, counts = np.unique(data.y[smallest], return_counts=True)
    return splits, dict(zip(labels.tolist(), counts.tolist(), strict=True))


def sizes_identity(protocol, data: DataSet, split: Split) -> Hashable:
    """Return a key that two splits of a data set share only if their parts have the same sizes."""
    if data.groups is not None or protocol.absent:
        return split.name
    return None if split.kind == "leave-one-out" else split.fold


def _check_leave_one_out(data: DataSet) -> None:
    """Raise ConfigError for data that leave-one-out is not for."""
    rows, hint = len(data.y), "use protocol kind k-fold"
    if rows > MOST_LEFT_OUT:
        raise ConfigError(
            f"data set '{data.name}' has {rows} rows, so leave-one-out would fit every method {rows} times; "
            f"at most {MOST_LEFT_OUT} rows are allowed",
            hint=hint,
        )
    if rows < 2:
        raise ConfigError(f"data set '{data.name}' has {rows} row, and leave-one-out needs two")
    if data.groups is not None:
        message = f"data set '{data.name}' has groups, and leave-one-out would divide them"
        raise ConfigError(message, hint=hint)


def split_identity(protocol, split: Split) -> dict:
    """Return the settings that determine the rows of a split, for keys and seeds; without the repeats."""
    identity = _identity_of_all_classes(protocol, split)
    return identity | {"absent": sorted(protocol.absent)} if protocol.absent else identity


def _identity_of_all_classes(protocol, split: Split) -> dict:
    """Return `split_identity` without the absent classes, which do not change the division."""
    identity: dict = {"kind": split.kind}
    if split.kind == "online":
        return identity | {"order": protocol.order, "repeat": split.repeat, "start": protocol.start}
    if split.kind == "leave-one-out":
        return identity | {"row": split.fold}
    if split.kind not in IN_PARTS:
        identity |= {"repeat": split.repeat, "stratify": protocol.stratify}
    if split.kind == "holdout":
        identity["test-size"] = float(protocol.test_size)
    if split.kind == "k-fold":
        identity |= {"folds": protocol.folds, "fold": split.fold}
    return identity if protocol.rows is None else identity | {"rows": protocol.rows}


def split_rows(data: DataSet, protocol, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted (training rows, test rows) of the pooled data set; for online, in their order.

    Absent classes of the protocol are removed from the training part. Rows of one group stay in one part. A
    class with a single row cannot be stratified; for holdout it is in the training part. Raises ConfigError
    if the data cannot be split.
    """
    train, test = _split_all_classes(data, protocol, split, seed)
    if not protocol.absent:
        return train, test
    absent = {label: str(label) in protocol.absent for label in np.unique(data.y).tolist()}
    unknown = [label for label in protocol.absent if label not in map(str, absent)]
    if unknown:
        message = f"data set '{data.name}' has no class '{unknown[0]}' that could be absent"
        raise ConfigError(message, hint=f"its classes: {', '.join(map(str, absent))}")
    return train[[not absent[label] for label in data.y[train].tolist()]], test


def _split_all_classes(data: DataSet, protocol, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `split_rows` before absent classes are removed from the training part."""
    if split.kind in IN_PARTS:
        if data.train_rows is None or data.test_rows is None:
            raise ConfigError(
                f"data set '{data.name}' has no training and test parts of its own",
                hint="use protocol kind holdout or k-fold, or give the data set a test file",
            )
        return data.train_rows, data.test_rows
    if split.kind == "online":
        return _in_order(data, protocol, split, seed)
    if split.kind == "leave-one-out":
        left_out = split.fold or 0
        return np.delete(np.arange(len(data.y)), left_out), np.array([left_out])
    folds = protocol.folds if split.kind == "k-fold" else None
    identity = _identity_of_all_classes(protocol, split)
    identity.pop("fold", None)  # the folds of one repeat come from one shuffle
    random_state = stable_integer("split", seed, data.checksum, identity)
    size, key = (
        (float(protocol.test_size), "protocol.test-size") if folds is None else (folds, "protocol.folds")
    )
    used = _used_rows(data.y, protocol, random_state)
    groups = None if data.groups is None else data.groups[used]
    parts = train_test_pairs(data.y[used], groups, size, protocol.stratify, random_state, data.name, key)
    train, test = parts[split.fold or 0]
    return used[train], used[test]


def _used_rows(y: np.ndarray, protocol, random_state: int) -> np.ndarray:
    """Return the sorted rows that are divided: all, or those drawn for ``rows`` of the protocol."""
    if protocol.rows is None or len(y) <= protocol.rows:
        return np.arange(len(y))
    rng, left_out = np.random.default_rng(random_state), 1 - protocol.rows / len(y)
    if not protocol.stratify:
        return rows_outside(calibration_rows(len(y), left_out, rng), len(y))
    codes = np.unique(y, return_inverse=True)[1]
    return rows_outside(calibration_rows_by_class(codes, left_out, rng), len(y))


def _in_order(data: DataSet, protocol, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows that are only learnt, rows that are predicted and then learnt), in their order."""
    if split.repeat is None:
        train, test = data.train_rows, data.test_rows
        rows = np.arange(len(data.y)) if train is None or test is None else np.concatenate([train, test])
    else:
        rows = stable_generator("order", seed, data.checksum, split.repeat).permutation(len(data.y))
    if protocol.start >= len(rows):
        raise ConfigError(f"data set '{data.name}' has {len(rows)} rows, none after start: {protocol.start}")
    return rows[: protocol.start], rows[protocol.start :]


def inner_folds(
    data: DataSet, train_rows: np.ndarray, protocol, split: Split, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the inner folds of an outer training set: sorted (training rows, validation rows)."""
    random_state = stable_integer("inner", seed, data.checksum, split_identity(protocol, split))
    groups = None if data.groups is None else data.groups[train_rows]
    name = f"the training part of '{data.name}'"
    y, size, stratify = data.y[train_rows], protocol.inner_folds, protocol.stratify
    folds = train_test_pairs(y, groups, size, stratify, random_state, name, "protocol.inner-folds")
    return [(train_rows[train], train_rows[test]) for train, test in folds]
