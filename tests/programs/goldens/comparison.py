"""Verdicts on files: same bytes, same numbers, same without retired parts, gone, or different."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from programs.shared import read_csv

SAME_BYTES = "same bytes"
SAME_NUMBERS = "same numbers"
SAME_WITHOUT_RETIRED = "same without what is retired"
GONE = "gone on purpose"
NEW = "new"
OTHER_FASTEST = "another method is the fastest"
DIFFERENT = "DIFFERENT"
KINDS = (SAME_BYTES, SAME_NUMBERS, SAME_WITHOUT_RETIRED, OTHER_FASTEST, GONE, NEW, DIFFERENT)
# Keys of answer.json that name the fastest of equally good methods, which differs from run to run.
OF_FASTEST = ("recommended", "guarantee", "sentence", "sentences", "short")
TIME = re.compile(r"\b[0-9.]+ (ms|s|min|h)\b")
SHOWN = 3  # differences of a file that its verdict names


@dataclasses.dataclass(frozen=True)
class Verdict:
    kind: str
    file: str
    details: str = ""


@dataclasses.dataclass(frozen=True)
class Retired:
    """A line of retired.csv: a file, a column (or JSON key), or the rows with a value in a column.

    The file and the value are patterns as of a shell.
    """

    file: str
    column: str
    value: str


@dataclasses.dataclass(frozen=True)
class Rules:
    retired: tuple[Retired, ...]
    moved: tuple[tuple[str, str, str], ...]

    @classmethod
    def read(cls, folder: Path) -> Rules:
        lines = read_csv(folder / "retired.csv")
        retired = (Retired(line["file"], line["column"], line["value"]) for line in lines)
        moved = ((line["old"], line["new"], line["split"]) for line in read_csv(folder / "moved.csv"))
        return cls(tuple(retired), tuple(moved))

    def of_file(self, file: str) -> list[Retired]:
        return [rule for rule in self.retired if fnmatchcase(file, rule.file)]

    def new_name(self, file: str) -> tuple[str, str]:
        """Return where a file of the baseline is now, and the split of its rows there, "" for all rows.

        ``old`` is a regular expression.
        """
        for old, new, split in self.moved:
            if re.fullmatch(old, file):
                return re.sub(old, new, file), re.sub(old, split, file)
        return file, ""


def compare_files(
    before: Mapping[str, Path], now: Mapping[str, Path], rules: Rules, prefix: str
) -> list[Verdict]:
    """Return a verdict for each file of two folders of outputs."""
    verdicts, seen = [], set()
    for name, path in before.items():
        retired = rules.of_file(prefix + name)
        new_name, split = rules.new_name(name)
        seen.add(new_name)
        file = prefix + name if name == new_name else f"{prefix}{name} -> {new_name}"
        if new_name in now:
            kind, details = compare(path, now[new_name], retired, split)
        elif any(not rule.column for rule in retired):
            kind, details = GONE, ""
        else:
            kind, details = DIFFERENT, "the file is missing"
        verdicts.append(Verdict(kind, file, details))
    return verdicts + [Verdict(NEW, prefix + name) for name in now if name not in seen]


def compare(before: Path, now: Path, retired: list[Retired], split: str = "") -> tuple[str, str]:
    """Return the kind of verdict on two files, and the first differences.

    split: whose rows of the second file are those of the first, in more columns.
    """
    if before.read_bytes() == now.read_bytes():
        return SAME_BYTES, ""
    read = _json if before.suffix == ".json" else read_csv
    tables = read(before), read(now)
    if split:
        rows = [row for row in tables[1] if row["split"] == split]
        tables = tables[0], [{name: row[name] for name in tables[0][0] if name in row} for row in rows]
    if not differences(*tables):
        return SAME_NUMBERS, ""
    texts = differences(*(_without_retired(table, retired) for table in tables))
    if not texts:
        return SAME_WITHOUT_RETIRED, ""
    kind = DIFFERENT
    if before.name == "answer.json":
        of_time = retired + [Retired(before.name, key, "") for key in OF_FASTEST]
        if not differences(*(_without_retired(table, of_time) for table in tables)):
            kind = OTHER_FASTEST
    return kind, f"{len(texts)} differences: " + "; ".join(texts[:SHOWN])


def differences(before: Any, now: Any, place: str = "") -> list[str]:
    """Return a text per difference of two values of JSON; texts that are the same number are equal."""
    if isinstance(before, dict) and isinstance(now, dict):
        texts = [f"{place}: only before: {key}" for key in before if key not in now]
        texts += [f"{place}: only now: {key}" for key in now if key not in before]
        for key in before:
            if key in now:
                texts += differences(before[key], now[key], f"{place}.{key}" if place else str(key))
        return texts
    if isinstance(before, list) and isinstance(now, list):
        texts = [] if len(before) == len(now) else [f"{place}: {len(before)} and {len(now)} items"]
        for index, (first, second) in enumerate(zip(before, now, strict=False)):
            texts += differences(first, second, f"{place}[{index}]")
        return texts
    return [] if _is_equal(before, now) else [f"{place}: {before!r} and {now!r}"]


def _is_equal(before: Any, now: Any) -> bool:
    if before == now:
        return True
    try:
        first, second = float(before), float(now)
    except (TypeError, ValueError):
        return False
    return first == second or (first != first and second != second)


def _json(path: Path) -> Any:
    return _without_seconds(json.loads(path.read_text()))


def _without_seconds(value: Any) -> Any:
    """Return the value without times, which differ from run to run, and without the state of the checkout."""
    if isinstance(value, dict):
        return {
            key: _without_seconds(item)
            for key, item in value.items()
            if "seconds" not in key and key != "provenance"
        }
    if isinstance(value, list):
        return [_without_seconds(item) for item in value]
    return TIME.sub("TIME", value) if isinstance(value, str) else value


def _without_retired(value: Any, retired: list[Retired]) -> Any:
    """Return a value of JSON, or rows of a table, without retired keys, columns and rows."""
    if isinstance(value, dict):
        keys = {rule.column for rule in retired if rule.column and not rule.value}
        return {key: _without_retired(item, retired) for key, item in value.items() if key not in keys}
    if isinstance(value, list):
        return [
            _without_retired(item, retired)
            for item in value
            if not isinstance(item, dict) or not any(_has_value(item, rule) for rule in retired)
        ]
    return value


def _has_value(row: Mapping[str, Any], rule: Retired) -> bool:
    return bool(rule.value) and rule.column in row and fnmatchcase(str(row[rule.column]), rule.value)
