"""Readers of the formats of published data sets: delimited text, KEEL, IDX; plain, in gzip or in a zip file.

`read_files` reads the files of a card as tables. Their checksums are those of the card, so that they have its
form.
"""

import gzip
import re
import struct
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from confml.data.cards import Card, Idx, Inline, Keel, Sklearn
from confml.data.csv_text import CsvFormat, read_blocks
from confml.data.text_table import TextTable

LABEL = "(label)"
"""Name of the column of labels of data sets whose files have none."""


def read_files(card: Card, paths: Sequence[Path]) -> tuple[list[TextTable], str, tuple[str, ...]]:
    """Return a table per part of a card (training and test part, or all rows), the column of the label, and
    the columns of categories.

    paths: of the files, in the order of the card.
    """
    reader, label, nominal = card.reader, card.label or LABEL, card.nominal
    if isinstance(reader, Sklearn):
        tables = [_read_sklearn(card, reader)]
    elif isinstance(reader, Idx):
        arrays = [read_idx(path) for path in paths]  # images and labels in turn
        tables = [
            _array_table(card, card.columns or (), images.reshape(len(images), -1), labels)
            for images, labels in zip(arrays[::2], arrays[1::2], strict=True)
        ]
    elif isinstance(reader, Inline):
        columns = list(map(pa.array, zip(*card.rows, strict=True)))
        rows = pa.table(columns, names=list(card.columns or ()))
        tables = [TextTable(card.path, rows, np.arange(1, len(card.rows) + 1), unit="row")]
    elif isinstance(reader, Keel):
        (path,) = paths
        table, nominal, declared = read_keel(path, reader.member)
        tables, label = [table], card.label or declared
    else:
        skipped, separator = reader.skip_lines, reader.separator
        texts = [(path, read_text(path, reader.compressed)) for path in paths]
        tables = [read_rows(*text, skipped, separator, card.columns) for text in texts]
        if card.files[0].part is None:
            data, lines = (
                pa.concat_tables([table.data for table in tables]),
                [table.lines for table in tables],
            )
            tables = [replace(tables[0], data=data, lines=np.concatenate(lines))]
    if nominal == "all":
        nominal = tuple(name for name in tables[0].names if name != label and name not in card.ignore)
    return tables, label, tuple(nominal)


def _array_table(card: Card, names: Iterable[str], X: np.ndarray, labels: np.ndarray) -> TextTable:
    columns = [*X.T, labels.astype(str)]
    data = pa.table(list(map(pa.array, columns)), names=[*names, LABEL])
    return TextTable(card.path, data, np.arange(1, len(X) + 1), unit="row")


def _read_sklearn(card: Card, reader: Sklearn) -> TextTable:
    import sklearn.datasets

    bunch: Any = getattr(sklearn.datasets, f"load_{reader.set}")()
    y = bunch.target if reader.labels == "codes" else np.asarray(bunch.target_names)[bunch.target]
    return _array_table(card, map(str, bunch.feature_names), np.asarray(bunch.data), y)


# ---- formats


def read_text(path: Path, compressed: str | None = None, member: str | None = None) -> str:
    """Return a file as text with plain line ends: UTF-8, or Latin-1 if it is not UTF-8 (some old files).

    compressed: ``gzip`` or None. member: a file in a zip file.
    """
    if member is None:
        data = path.read_bytes()
    else:
        with zipfile.ZipFile(path) as archive:
            data = archive.read(member)
    data = gzip.decompress(data) if compressed else data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n")


def read_rows(path: Path, text: str, skipped: int, separator: str, names: Sequence[str] | None) -> TextTable:
    """Return rows of text, one per line; empty lines and blanks around a field do not count.

    skipped: lines before them. names: of the columns; None reads them from the first line that is not
    skipped.
    """
    body = "\n" * skipped + text.split("\n", skipped)[-1]
    header, parts = read_blocks(path, iter([body.encode()]), CsvFormat(None, separator, names is None), None)
    tables, lines = zip(*parts, strict=True)
    data = pa.concat_tables(tables).rename_columns(list(header.names if names is None else names))
    return TextTable(path, data, np.concatenate(lines), separator)


def read_keel(path: Path, member: str | None = None) -> tuple[TextTable, tuple[str, ...], str]:
    """Return rows in KEEL's format, the nominal attributes, and the label: ``@outputs``, or the last one."""
    text = read_text(path, member=member)
    head = re.split(r"(?im)^@data", text)[0]
    attributes = re.findall(r"(?im)^@attribute\s+(\S+)\s+(.)", head)
    output = re.search(r"(?im)^@outputs?\s+(\S+)", head)
    names = [name for name, _ in attributes]
    label = output[1] if output else names[-1]
    nominal = tuple(name for name, first in attributes if first == "{" and name != label)
    return read_rows(path, text, head.count("\n") + 1, "comma", names), nominal, label


def read_idx(path: Path) -> np.ndarray:
    """Return the array in a gzip file of MNIST's format: uint8, one or more axes, the first over examples."""
    data = gzip.decompress(path.read_bytes())
    axes = data[3]
    shape = struct.unpack_from(f">{axes}I", data, 4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)
