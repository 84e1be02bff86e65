"""Readers of the formats of published data sets: delimited text, KEEL, IDX; plain, in gzip or in a zip file.

`read_files` reads the files of a card as `Rows`; a reader raises a DataError that names the file, the row and
the column. Numbers are rounded correctly (as ``float(text)`` does): ties between distances depend on it.
"""

import math
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from confml.data.cards import Card, CardFile, Delimited, Idx, Inline, Keel, Sklearn
from confml.data.unpack import decompress, zip_member
from confml.errors import DataError

SEPARATORS = {"blanks": None, "comma": ",", "semicolon": ";"}


@dataclass(frozen=True)
class Rows:
    """The rows of one file.

    names: (m,) column names.
    values: (n, m) float64: numbers, NaN where one is missing; in a column of text, places in its ``texts``.
    texts: for the columns of text, by name, their distinct values in order of appearance.
    label: the column of the class where the file itself says so (KEEL).
    lines: (n,) line of the file on which each row stands, counted from 1.
    y: (n,) labels; empty as long as they are a column. in_train: (n,) bool, which rows are of the provider's
    training part, if files have parts.
    """

    names: tuple[str, ...]
    values: np.ndarray
    texts: dict[str, list[str]] = field(default_factory=dict)
    label: str | None = None
    lines: np.ndarray | None = None
    y: np.ndarray = field(default_factory=lambda: np.empty(0))
    in_train: np.ndarray | None = None

    def only(self, kept: np.ndarray) -> "Rows":
        """Return the rows (n,) bool that are kept."""
        in_train = None if self.in_train is None else self.in_train[kept]
        lines = None if self.lines is None else self.lines[kept]
        return replace(self, values=self.values[kept], y=self.y[kept], in_train=in_train, lines=lines)


def read_files(card: Card, paths: Sequence[Path]) -> Rows:
    """Return the rows of all files of a card. paths: of the files, in the order of the card.

    Raises DataError with the file for content that is not as the card says.
    """
    if isinstance(card.reader, Sklearn):
        return _read_sklearn(card.reader)
    if isinstance(card.reader, Idx):
        return _read_images(card, paths)
    if isinstance(card.reader, Inline):
        return _read_inline(card)
    files = [_read_rows(card, path) for path in paths]
    for file, rows in zip(card.files, files, strict=True):
        if file.rows is not None and len(rows.values) != file.rows:
            raise DataError(f"expected {file.rows} rows, got {len(rows.values)}", where=_where(card, file))
        if rows.names != files[0].names:
            raise DataError("its columns are not those of the card's first file", where=_where(card, file))
    in_train = _in_train(card.files, [len(rows.values) for rows in files])
    return replace(_joined(files), in_train=in_train)


def _read_inline(card: Card) -> Rows:
    names = card.columns or ()
    nominal = names if card.nominal == "all" else card.nominal
    text_columns = {*nominal, *card.ordinal, *card.ignore, str(card.label)}
    lines = [",".join(row) for row in card.rows]
    return replace(_coded(card.path, lines, 0, "comma", names, text_columns, ()), lines=None)


def _read_rows(card: Card, path: Path) -> Rows:
    reader, missing = card.reader, card.missing_values
    if isinstance(reader, Keel):
        return read_keel(path, member=reader.member, missing=missing)
    assert isinstance(reader, Delimited)
    nominal = card.nominal
    if nominal == "all":
        nominal = tuple(column for column in card.columns or () if column != card.label)
    return read_delimited(
        path,
        separator=reader.separator,
        names=card.columns,
        text_columns={*nominal, *card.ordinal, *card.ignore},
        label=card.label,
        skip_lines=reader.skip_lines,
        compressed=reader.compressed,
        missing=missing,
    )


def _joined(all_rows: Sequence[Rows]) -> Rows:
    """Return the rows of several files below each other; columns of text get one common list of texts."""
    if len(all_rows) == 1:
        return all_rows[0]
    values = np.concatenate([rows.values for rows in all_rows])
    texts: dict[str, list[str]] = {}
    for j, column in enumerate(all_rows[0].names):
        if not any(column in rows.texts for rows in all_rows):
            continue
        place: dict[str, int] = {}
        start = 0
        for rows in all_rows:
            codes = rows.values[:, j]
            if column not in rows.texts:  # a label that is all numbers in this file and text in another
                raise DataError(f"column '{column}' is text in one file and numbers in another")
            new = np.array([place.setdefault(text, len(place)) for text in rows.texts[column]], dtype=float)
            there = ~np.isnan(codes)
            values[start : start + len(codes), j][there] = new[codes[there].astype(np.intp)]
            start += len(codes)
        texts[column] = list(place)
    lines = [rows.lines for rows in all_rows if rows.lines is not None]
    together = np.concatenate(lines) if len(lines) == len(all_rows) else None
    return replace(all_rows[0], values=values, texts=texts, lines=together)


def _in_train(files: Sequence[CardFile], rows: Sequence[int]) -> np.ndarray | None:
    """Return (n,) which rows are of a training part; None for files without parts."""
    if files[0].part is None:
        return None
    return np.repeat([file.part == "train" for file in files], rows)


def _read_images(card: Card, paths: Sequence[Path]) -> Rows:
    """Return the images and labels of IDX files, paired in the order of the card, each image flattened row by
    row.
    """
    files = list(zip(card.files, paths, strict=True))
    images = [pair for pair in files if pair[0].holds == "attributes"]
    labels = [pair for pair in files if pair[0].holds == "labels"]
    names = card.columns or ()
    if len(images) != len(labels) or len(images) + len(labels) != len(files):
        raise DataError("every file of images needs one of labels (holds: ...)", where=str(card.path))
    pixels, y = [], []
    for (image_file, image_path), (label_file, label_path) in zip(images, labels, strict=True):
        image, label = read_idx(image_path), read_idx(label_path)
        where = _where(card, image_file)
        if image.ndim < 2 or label.ndim != 1 or len(image) != len(label):
            message = f"expected images and as many labels, got {image.shape} and {label.shape}"
            raise DataError(message, where=f"{where} and {label_file.name}")
        image = image.reshape(len(image), -1)
        if image.shape[1] != len(names):
            raise DataError(f"expected {len(names)} values an image, got {image.shape[1]}", where=where)
        pixels.append(image)
        y.append(label)
    in_train = _in_train([file for file, _ in images], [len(image) for image in pixels])
    values = np.concatenate(pixels).astype(np.float64)
    return Rows(names, values, y=np.concatenate(y), in_train=in_train)


def _read_sklearn(reader: Sklearn) -> Rows:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{reader.set}")()
    y = bunch.target if reader.labels == "codes" else np.asarray(bunch.target_names).astype(str)[bunch.target]
    names = tuple(str(column) for column in bunch.feature_names)
    return Rows(names, np.asarray(bunch.data, dtype=np.float64), y=y)


def _where(card: Card, file: CardFile) -> str:
    return f"data set '{card.name}', file {file.name}"


# ---- formats


def read_bytes(path: Path, compressed: str | None = None, member: str | None = None) -> bytes:
    """Return the uncompressed bytes of a file: ``compressed`` is ``gzip`` or None, ``member`` a file in a zip
    file.

    Raises DataError for a file that cannot be read, whose compressed data are broken or cut short, or which
    unpacks to more than 4 GiB.
    """
    try:
        if member is not None:
            return zip_member(path, member)
        data = path.read_bytes()
        return decompress(compressed, data) if compressed is not None else data
    except DataError as error:
        hint = error.hint or "remove it and fetch it again"
        raise DataError(error.message, where=str(path), hint=hint) from None
    except OSError as error:
        said = error.strerror or str(error)
        raise DataError(f"the file cannot be read: {said}", where=str(path)) from None


def read_text(path: Path, compressed: str | None = None, member: str | None = None) -> str:
    """Read bytes (`read_bytes`) as text with plain line ends: UTF-8, or Latin-1 if it is not UTF-8 (some old
    files).
    """
    return decoded(read_bytes(path, compressed, member))


def decoded(data: bytes) -> str:
    """Return bytes as text, as `read_text` does."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n") if "\r" in text else text


def read_delimited(
    path: Path,
    *,
    separator: str = "comma",
    names: Sequence[str] | None = None,
    text_columns: Collection[str] = (),
    label: str | None = None,
    skip_lines: int = 0,
    compressed: str | None = None,
    missing: Collection[str] = (),
) -> Rows:
    """Return rows of text, one a line; empty lines do not count.

    separator: ``blanks``, ``comma`` or ``semicolon``; blanks around a field do not count.
    names: of the columns; None reads them from the first line after ``skip_lines``.
    text_columns: columns that are not numbers. The label's column is text unless all of it is numbers.
    missing: texts of missing values. Raises DataError for a file of another form.
    """
    lines = read_text(path, compressed).split("\n")
    first = skip_lines
    if names is None:
        if first >= len(lines) or not lines[first].strip():
            raise DataError("the file is empty: it has no line of column names", where=str(path))
        names = [part.strip().strip('"') for part in _split(lines[first], separator)]
        first += 1
    if not text_columns and not missing:
        values = _all_numbers(lines[first:], separator, len(names))
        if values is not None:
            there = np.array([at for at, line in enumerate(lines[first:], start=first + 1) if line.strip()])
            return Rows(tuple(names), values, lines=there)
    text_columns = set(text_columns) | ({label} if label is not None else set())
    return _coded(path, lines, first, separator, tuple(names), text_columns, missing)


def read_keel(path: Path, *, member: str | None = None, missing: Collection[str] = ()) -> Rows:
    """Return rows in KEEL's format. The label is what ``@outputs`` names, else the last attribute.

    Raises DataError for another form.
    """
    lines = read_text(path, member=member).split("\n")
    names: list[str] = []
    nominal: list[str] = []
    label = None
    for number, line in enumerate(lines, start=1):
        words = line.split(None, 2)
        keyword = words[0].lower() if words else ""
        if keyword == "@data":
            break
        if keyword == "@attribute" and len(words) == 3:
            names.append(words[1])
            if words[2].lstrip().startswith("{"):
                nominal.append(words[1])
        elif keyword in ("@output", "@outputs") and len(words) == 2:
            label = words[1]
        elif keyword and keyword not in ("@relation", "@input", "@inputs"):
            raise DataError(f"not a line of a KEEL header: {line[:60]!r}", where=f"{path}, line {number}")
    else:
        raise DataError("not a KEEL file: it has no line @data", where=str(path))
    if not names:
        raise DataError("the KEEL header declares no attribute", where=str(path))
    label = label or names[-1]
    if label not in names:
        raise DataError(f"@outputs names '{label}', which is not declared", where=str(path))
    rows = _coded(path, lines, number, "comma", tuple(names), {*nominal, label}, missing)
    return Rows(rows.names, rows.values, rows.texts, label, rows.lines)


def read_idx(path: Path) -> np.ndarray:
    """Return the array in a gzip file of MNIST's format: uint8, one or more axes, the first over examples.

    Raises DataError for another form.
    """
    data = read_bytes(path, "gzip")
    magic = data[:4].hex()
    if len(data) < 4 or data[:3] != b"\x00\x00\x08" or data[3] == 0:
        raise DataError(
            f"not an IDX file of bytes: expected it to start with 000008 and the number of axes, got {magic}",
            where=str(path),
        )
    axes = data[3]
    start = 4 + 4 * axes
    if len(data) < start:
        raise DataError("the IDX header is cut short", where=str(path))
    shape = struct.unpack(f">{axes}I", data[4:start])
    if len(data) - start != math.prod(shape):
        raise DataError(
            f"the IDX header says {' x '.join(map(str, shape))} = {math.prod(shape)} bytes, got "
            f"{len(data) - start}",
            where=str(path),
        )
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)


def _split(line: str, separator: str) -> list[str]:
    return line.split(SEPARATORS[separator])


def _all_numbers(lines: Sequence[str], separator: str, columns: int) -> np.ndarray | None:
    """Return (n, columns) numbers, or None where a field is no finite number."""
    text = "\n".join(lines)
    if separator == "blanks":
        text = text.replace("\t", " ")
        while "  " in text:
            text = text.replace("  ", " ")
        text = text.replace("\n ", "\n").replace(" \n", "\n").strip(" ")
    names = list(map(str, range(columns)))
    try:
        table = csv.read_csv(
            pa.py_buffer(text.encode()),
            csv.ReadOptions(use_threads=False, column_names=names, block_size=1 << 24),
            csv.ParseOptions(delimiter=SEPARATORS[separator] or " ", quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float64())),
        )
    except pa.ArrowInvalid:
        return None
    values = np.column_stack([column.to_numpy() for column in table.columns])
    return values if np.isfinite(values).all() and len(values) else None


def _coded(
    path: Path,
    lines: Sequence[str],
    first: int,
    separator: str,
    names: tuple[str, ...],
    text_columns: Collection[str],
    missing: Collection[str],
) -> Rows:
    """Return rows with columns of text: every column is coded by its distinct texts, which then become
    numbers.
    """
    numbers = [number for number in range(first, len(lines)) if not lines[number].isspace() and lines[number]]
    if not numbers:
        raise DataError("the file is empty: it has no rows", where=str(path))
    split = [_split(lines[number], separator) for number in numbers]
    for row, fields in enumerate(split):
        if len(fields) != len(names):
            about = f"no field is expected after column '{names[-1]}'"
            if len(fields) < len(names):
                about = f"column '{names[len(fields)]}' is the first that it lacks"
            message = f"expected {len(names)} fields, got {len(fields)}: {about}"
            raise DataError(message, where=f"{path}, row {row + 1} (line {numbers[row] + 1})")
    values = np.empty((len(numbers), len(names)))
    texts: dict[str, list[str]] = {}
    for j, (name, column) in enumerate(zip(names, zip(*split, strict=True), strict=True)):
        encoded = pa.array(column, pa.string()).dictionary_encode()
        codes, distinct = (
            encoded.indices.to_numpy(),
            [text.strip() for text in encoded.dictionary.to_pylist()],
        )
        if name in text_columns:
            texts[name] = list(dict.fromkeys(text for text in distinct if text not in missing))
            places = {text: float(place) for place, text in enumerate(texts[name])}
            new = [places.get(text, math.nan) for text in distinct]
        else:
            new = [math.nan if text in missing else _number(text) for text in distinct]
            for code, text in enumerate(distinct):
                if text not in missing and math.isnan(new[code]):
                    row = int(np.flatnonzero(codes == code)[0])
                    raise DataError(
                        f"expected a number, got {text!r}" if text else "expected a number, got nothing",
                        where=f"{path}, row {row + 1} (line {numbers[row] + 1}), column '{name}'",
                    )
        values[:, j] = np.array(new)[codes]
    return Rows(names, values, texts, lines=np.array(numbers) + 1)


def _number(text: str) -> float:
    """Return the finite number in a text, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and "_" not in text else math.nan
