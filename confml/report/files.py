"""Writing of report files: complete or not at all, the same bytes for the same results.

CSV here is UTF-8 with a header line, ``,`` between and ``\\n`` after; a field with a comma, a quote or a line
break stands in quotes. A text that a spreadsheet would take for a formula begins with ``'`` (`quoted`).
Numbers are the shortest decimals that read back as the same number; what is not defined (NaN) is an empty
field.
"""

import csv
import functools
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from confml._outputs import check_target, open_atomically, write_atomically
from confml.errors import printable


def write_file(path: Path, content: bytes | str) -> Path:
    """Write a complete file or none, create its folders, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str) and path.suffix != ".csv":  # the fields of a table are `quoted`
        content = printable(content) if path.suffix != ".tex" else _for_latex(content)
    write_atomically(path, content.encode("utf-8") if isinstance(content, str) else content, durable=False)
    return path


def _for_latex(text: str) -> str:
    """Return a `printable` text whose escapes LaTeX prints."""
    return re.sub(r"[^\n\t -~]", lambda match: printable(match[0]).replace("\\", "\\textbackslash{}"), text)


def place_of(name: str) -> str:
    """Return the path of a CSV file of a report in the folder of the run."""
    return name if name in ("metrics.csv", "summary.csv") else f"tables/{name}"


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of rows of numbers, texts and None as CSV, without line breaks."""
    yield ",".join(map(field, header))
    rest = iter(rows)
    while part := list(islice(rest, _PART)):
        columns = map(fields, zip(*part, strict=True))
        yield from map(",".join, zip(*columns, strict=True))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write rows of numbers, strings and None."""
    return write_lines(path, csv_lines(header, rows))


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by the names of the columns; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def remove_earlier(folder: Path, names: Iterable[str], written: Iterable[Path]) -> None:
    """Remove those of the named files that an earlier command wrote into the folder and this one did not."""
    current = set(written)
    for name in names:
        if folder / name not in current and (folder / name).exists():
            check_target(folder / name)
            (folder / name).unlink(missing_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write lines as they are produced; the file is there when all are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomically(path, durable=False) as file:
        rest = iter(lines)
        while part := list(islice(rest, _PART)):
            file.write(("\n".join(part) + "\n").encode("utf-8"))
    return path


def field(value: Any) -> str:
    """Return a value as one CSV field."""
    if isinstance(value, str):
        return quoted(value)
    if type(value) is float:
        return repr(value) if value == value else ""
    if type(value) is int:
        return str(value)
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else repr(float(value))
    return quoted(str(value))


def fields(values: Sequence[Any]) -> list[str]:
    """Return the fields of the values of a column."""
    types = set(map(type, values))
    if types == {float}:
        return [repr(value) if value == value else "" for value in values]
    return list(map(quoted if types == {str} else field, values))


def numbers(values: np.ndarray) -> list[str]:
    """Return the fields of a (n,) column of floats."""
    return number_columns(np.asarray(values, dtype=float)[:, None])[0]


def number_columns(values: np.ndarray) -> list[list[str]]:
    """Return the fields of each column of (n, k) floats; equal numbers are written once."""
    values = np.ascontiguousarray(values.T, dtype=float)
    different, inverse = values.reshape(-1), np.arange(values.size)
    if values.size >= _MANY:  # as bits, because 0 and -0 are different
        bits, inverse = np.unique(different.view(np.int64), return_inverse=True)
        different = bits.view(float)
    texts = fields(different.tolist())
    return np.array(texts, dtype=object)[inverse.reshape(values.shape)].tolist()


@functools.lru_cache(maxsize=4096)  # names are in many rows
def quoted(text: str) -> str:
    """Return the text as a CSV field: in quotes where it has to be, and safe for a terminal and a
    spreadsheet.

    Control characters become escapes (`printable`). A text that a spreadsheet would take for a formula (it
    begins with ``=``, ``+``, ``-``, ``@``, also full-width ones, a tab or a line break) gets a ``'`` before
    it. Numbers, and sets of numbers such as ``-1|1``, stay as they are.
    """
    if text.isalnum():
        return text
    if text.startswith(_FORMULA) and not all(map(_is_number, text.split("|"))):
        text = f"'{text}"
    text = printable(text)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


_PART = 10_000  # rows that are written at a time
_MANY = 256  # numbers from which equal ones are looked for
_SPECIAL = re.compile('[,"\r\n]')
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def safe_name(raw: str, limit: int = 80) -> str:
    """Return a file or folder name for ``raw``, of letters, digits and ``. _ = -`` only.

    The ``;`` between parameters becomes ``_``. If other characters are replaced, or the name is longer than
    ``limit``, eight digits of a hash of ``raw`` are appended.
    """
    name = re.sub("[^A-Za-z0-9._=-]+", "-", raw.replace(";", "_"))
    plain = re.fullmatch("[A-Za-z0-9][A-Za-z0-9._=;-]*", raw) and not name.endswith(".")
    if plain and len(name) <= limit:
        return name
    stem = name[: limit - 9].strip("-._=") or "unnamed"
    return f"{stem}-{digest(raw)}"


def safe_names(raws: Iterable[str]) -> dict[str, str]:
    """Return a `safe_name` for each, all different even without regard to case."""
    raws = list(dict.fromkeys(raws))
    names = {raw: safe_name(raw) for raw in raws}
    folded = [name.casefold() for name in names.values()]
    for raw, name in names.items():
        if folded.count(name.casefold()) > 1:
            names[raw] = f"{name[:71]}-{digest(raw)}"
    return names


def digest(raw: str) -> str:
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()[:8]


@functools.lru_cache(maxsize=4096)  # many cells have the split
def natural(text: str) -> tuple:
    """Return a sort key that puts r2 before r10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", text)
    )
