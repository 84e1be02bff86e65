"""Readers of the formats of published data sets: delimited text, KEEL, IDX; plain, in gzip or in a zip file.

`read_files` reads the files of a card as `Rows`. Their checksums are those of the card, so that they have its
form.
"""

import gzip
import math
import struct
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from confml.data.cards import Card, CardFile, Delimited, Idx, Inline, Keel, Sklearn
from confml.data.coding import numbers_of, plain_numbers
from confml.data.csv_text import CsvFormat, read_blocks
from confml.data.dataset import as_labels
from confml.data.text_table import TextTable


@dataclass(frozen=True)
class Rows:
    """The rows of the files of a card.

    names: (a,) of the features. values: (n, a) float64: numbers, NaN where one is missing; in a column of
    text, places in its ``texts``. y: (n,) labels. texts: for the columns of text, by name, their distinct
    values. lines: (n,) line of the file on which each row stands, counted from 1. in_train: (n,) bool, which
    rows are of the provider's training part, if files have parts.
    """

    names: tuple[str, ...]
    values: np.ndarray
    y: np.ndarray
    texts: dict[str, list[str]] = field(default_factory=dict)
    lines: np.ndarray | None = None
    in_train: np.ndarray | None = None

    def only(self, kept: np.ndarray) -> "Rows":
        """Return the rows (n,) bool that are kept."""
        in_train = None if self.in_train is None else self.in_train[kept]
        lines = None if self.lines is None else self.lines[kept]
        return replace(self, values=self.values[kept], y=self.y[kept], in_train=in_train, lines=lines)


def read_files(card: Card, paths: Sequence[Path]) -> Rows:
    """Return the rows of all files of a card. paths: of the files, in the order of the card."""
    if isinstance(card.reader, Sklearn):
        return _read_sklearn(card.reader)
    if isinstance(card.reader, Idx):
        return _read_images(card, paths)
    nominal, label = card.nominal, card.label
    if isinstance(card.reader, Inline):
        columns = list(map(pa.array, zip(*card.rows, strict=True)))
        rows = pa.table(columns, names=list(card.columns or ()))
        tables = [TextTable(card.path, rows, np.arange(1, len(card.rows) + 1), unit="row")]
    elif isinstance(card.reader, Keel):
        read = [read_keel(path, card.reader.member) for path in paths]
        tables, nominal, label = [table for table, _, _ in read], read[0][1], card.label or read[0][2]
    else:
        tables = [read_delimited(path, card.reader, card.columns) for path in paths]
    in_train = _in_train(card.files, list(map(len, tables)))
    lines = np.concatenate([table.lines for table in tables])
    table = replace(tables[0], data=pa.concat_tables([table.data for table in tables]), lines=lines)
    table.missing = frozenset(card.missing_values)
    names = [name for name in table.names if name != label and name not in card.ignore]
    values, texts = _features(table, names, {*(names if nominal == "all" else nominal), *card.ordinal})
    labels = table.texts(str(label))
    y = as_labels(np.array(labels.distinct))[labels.codes]
    return Rows(tuple(names), values, y, texts, None if table.unit == "row" else lines, in_train)


def _features(
    table: TextTable, names: Sequence[str], text_columns: Collection[str]
) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Return the values (n, a) of columns, and the distinct texts of those of text."""
    values, texts = np.empty((len(table), len(names))), {}
    numeric = [j for j, name in enumerate(names) if name not in text_columns]
    values[:, numeric], plain = plain_numbers(table, [names[j] for j in numeric], ".")
    for j in set(range(len(names))) - set(np.array(numeric, dtype=np.intp)[plain].tolist()):
        column = table.texts(names[j])
        if names[j] in text_columns:
            texts[names[j]] = [text for text in column.distinct if text]
            codes = iter(range(len(column.distinct)))
            numbers: Any = [float(next(codes)) if text else math.nan for text in column.distinct]
        else:
            numbers, _ = numbers_of(column.distinct, ".")
        values[:, j] = np.asarray(numbers)[column.codes]
    return values, texts


def _in_train(files: Sequence[CardFile], rows: Sequence[int]) -> np.ndarray | None:
    """Return (n,) which rows are of a training part; None for files without parts."""
    if not files or files[0].part is None:
        return None
    return np.repeat([file.part == "train" for file in files], rows)


def _read_images(card: Card, paths: Sequence[Path]) -> Rows:
    """Return the images and labels of IDX files, paired in the order of the card, each image flattened row by
    row.
    """
    names, arrays = card.columns or (), [read_idx(path) for path in paths]
    files = list(zip(card.files, arrays, strict=True))
    images = [image.reshape(len(image), -1) for file, image in files if file.holds == "attributes"]
    labels = [label for file, label in files if file.holds == "labels"]
    in_train = _in_train([file for file in card.files if file.holds == "labels"], list(map(len, labels)))
    values = np.concatenate(images).astype(np.float64)
    return Rows(names, values, as_labels(np.concatenate(labels)), in_train=in_train)


def _read_sklearn(reader: Sklearn) -> Rows:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{reader.set}")()
    y = bunch.target if reader.labels == "codes" else np.asarray(bunch.target_names).astype(str)[bunch.target]
    return Rows(tuple(map(str, bunch.feature_names)), np.asarray(bunch.data, dtype=np.float64), as_labels(y))


# ---- formats


def read_text(path: Path, compressed: str | None = None, member: str | None = None) -> str:
    """Return a file as text with plain line ends: UTF-8, or Latin-1 if it is not UTF-8 (some old files).

    compressed: ``gzip`` or None. member: a file in a zip file.
    """
    if member is not None:
        with zipfile.ZipFile(path) as archive:
            data = archive.read(member)
    else:
        data = path.read_bytes()
    data = gzip.decompress(data) if compressed else data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n")


def read_delimited(path: Path, reader: Delimited, names: Sequence[str] | None) -> TextTable:
    """Return rows of text, one per line; empty lines and blanks around a field do not count.

    names: of the columns; None reads them from the first line after ``skip-lines``.
    """
    text = read_text(path, reader.compressed)
    return _table(path, text, reader.skip_lines, reader.separator, names)


def _table(path: Path, text: str, skipped: int, separator: str, names: Sequence[str] | None) -> TextTable:
    body = "\n" * skipped + text.split("\n", skipped)[-1]
    header, parts = read_blocks(path, iter([body.encode()]), CsvFormat(None, separator, names is None), None)
    tables, lines = zip(*parts, strict=True)
    names = header.names if names is None else names
    data = pa.concat_tables(tables).rename_columns(list(names))
    return TextTable(path, data, np.concatenate(lines), separator)


def read_keel(path: Path, member: str | None = None) -> tuple[TextTable, tuple[str, ...], str]:
    """Return rows in KEEL's format, the nominal attributes, and the label: ``@outputs``, or the last one."""
    text = read_text(path, member=member)
    names: list[str] = []
    nominal: list[str] = []
    label = None
    lines = text.split("\n")
    number = next(at for at, line in enumerate(lines, start=1) if line.lower().startswith("@data"))
    for line in lines[: number - 1]:
        words = line.split(None, 2)
        keyword = words[0].lower() if words else ""
        if keyword == "@attribute" and len(words) == 3:
            names.append(words[1])
            nominal += [words[1]] if words[2].lstrip().startswith("{") else []
        elif keyword in ("@output", "@outputs"):
            label = words[1]
    label = label or names[-1]
    return _table(path, text, number, "comma", names), tuple(set(nominal) - {label}), label


def read_idx(path: Path) -> np.ndarray:
    """Return the array in a gzip file of MNIST's format: uint8, one or more axes, the first over examples."""
    data = gzip.decompress(path.read_bytes())
    axes = data[3]
    shape = struct.unpack_from(f">{axes}I", data, 4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)
