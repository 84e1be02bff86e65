"""Verdicts on files: same bytes, same numbers, same without retired parts, gone, or different."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

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


class Verdict(NamedTuple):
    kind: str
    file: str
    details: str = ""


class Retired(NamedTuple):
    """A line of retired.csv: a file, a column (or JSON key), or the rows with a value in a column.

    The file and the value are patterns as of a shell.
    """

    file: str
    column: str
    value: str


class Rules(NamedTuple):
    retired: list[Retired]
    moved: list[tuple[str, str, str]]

    @classmethod
    def read(cls, folder: Path) -> Rules:
        lines, moved = read_csv(folder / "retired.csv"), read_csv(folder / "moved.csv")
        retired = [Retired(line["file"], line["column"], line["value"]) for line in lines]
        return cls(retired, [(line["old"], line["new"], line["split"]) for line in moved])

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
    texts = differences(*tables, retired)
    if not texts:
        return SAME_WITHOUT_RETIRED, ""
    fastest = [Retired(before.name, key, "") for key in OF_FASTEST]
    if before.name == "answer.json" and not differences(*tables, retired + fastest):
        kind = OTHER_FASTEST
    else:
        kind = DIFFERENT
    return kind, f"{len(texts)} differences: " + "; ".join(texts[:SHOWN])


def differences(before: Any, now: Any, retired: Sequence[Retired] = ()) -> list[str]:
    """Return a text per difference of two values of JSON; texts that are the same number are equal."""
    first, second = dict(scalars(before, retired)), dict(scalars(now, retired))
    texts = [f"only before: {path}" for path in first if path not in second]
    texts += [f"only now: {path}" for path in second if path not in first]
    both = [path for path in first if path in second]
    return texts + [
        f"{path}: {first[path]!r} and {second[path]!r}"
        for path in both
        if not _is_equal(first[path], second[path])
    ]


def scalars(value: Any, retired: Sequence[Retired], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of each text, number or empty part, without retired keys and rows."""
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        gone = {rule.column for rule in retired if rule.column and not rule.value}
        items = [(f"{path}.{key}", item) for key, item in value.items() if key not in gone]
    elif isinstance(value, list):
        rows = [row for row in value if not any(_has_value(row, rule) for rule in retired)]
        items = [(f"{path}[{number}]", row) for number, row in enumerate(rows)]
    if not items:
        yield path, [] if isinstance(value, list) else value
    for name, item in items:
        yield from scalars(item, retired, name)


def _has_value(row: Any, rule: Retired) -> bool:
    is_row = isinstance(row, dict) and bool(rule.value) and rule.column in row
    return is_row and fnmatchcase(str(row[rule.column]), rule.value)


def _is_equal(before: Any, now: Any) -> bool:
    if before == now:
        return True
    try:
        first, second = float(before), float(now)
    except (TypeError, ValueError):
        return False
    return first == second or (first != first and second != second)


def _json(path: Path) -> Any:
    """Read a document without times, which differ from run to run, and without the state of the checkout."""

    def lasting(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: item for key, item in pairs if "seconds" not in key and key != "provenance"}

    return json.loads(TIME.sub("TIME", path.read_text()), object_pairs_hook=lasting)
