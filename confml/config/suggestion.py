"""A commented config for a table file, from an audit of its columns."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confml.config.dataset_spec import folder_name
from confml.data.audit import audit
from confml.data.coding import plain_numbers
from confml.data.csv_table import load_csv, load_tables
from confml.data.dataset import DataSet
from confml.data.findings import Finding
from confml.data.identifiers import KEY, no_feature
from confml.data.table_files import read_table
from confml.data.text_table import TextTable, counted, missing_texts, short
from confml.errors import ConfigError, DataError
from confml.yaml import flow

LEVELS = (0.01, 0.05, 0.1, 0.2)
CONFORMAL_ROWS = 200  # training rows from which a calibration part leaves enough of them on both sides
CALIBRATION = 0.3  # share of the training rows in a calibration part
MOST_SMALLEST = 0.05  # this level is proposed even if a rare class has too few rows for it
RARE = 0.2  # share of the rows below which a class needs a promise of its own
K_FOLD_ROWS = 2000  # rows from which one holdout split is enough
FOLDS, TEST_SIZE = 10, 0.3
FIGURES = ("accuracy-rejection", "coverage-by-level", "efficiency")
MOST_COUNTS = 12  # classes whose numbers of rows the first comment has


@dataclass(frozen=True)
class Suggestion:
    """A config for a table file, with the reasons for it.

    data: the data set that the config loads. config: its values. reasons: comments for keys of the config and
    of its data set, for methods, and for columns (``ignore NAME``). questions: columns that only the user can
    decide on. findings: of the audit of the columns that are used.
    """

    data: DataSet
    config: dict[str, Any]
    reasons: dict[str, str]
    questions: list[str]
    findings: list[Finding]

    def yaml(self) -> str:
        """Return the config as a commented YAML file."""
        counts = [f"{flow(str(label))}: {count}" for label, count in self.data.class_counts().items()]
        counts[MOST_COUNTS:] = ["..."] * (len(counts) > MOST_COUNTS)
        features = counted(len(self.data.table_attributes), "feature")
        lines = [
            f"# {len(self.data)} rows, {features}; classes: {', '.join(counts)}",
            *(f"# To decide: {question}" for question in self.questions),
        ]
        for key, value in self.config.items():
            if key == "datasets":
                settings = [text for name, setting in value[0].items() for text in self._lines(name, setting)]
                lines += ["datasets:", f"  - {settings[0]}", *(f"    {text}" for text in settings[1:])]
            elif key == "methods":
                lines.append(f"methods:{self._reason(key)}")
                for method in value:
                    reason = self._reason(method.get("label", method["name"]))
                    lines.append(f"  - {flow(method)}{reason}")
            else:
                lines.append(f"{key}: {flow(value)}{self._reason(key)}")
        return "\n".join(lines) + "\n"

    def _lines(self, key: str, setting: Any) -> list[str]:
        """Return the lines of a key of the data set; columns that are left out have one line each."""
        if key != "ignore":
            return [f"{key}: {flow(setting)}{self._reason(key)}"]
        return ["ignore:", *(f"  - {flow(name)}{self._reason(f'ignore {name}')}" for name in setting)]

    def _reason(self, key: str) -> str:
        """Return the reason for a key as a comment, or no text."""
        return f"  # {' '.join(self.reasons[key].split())}" if key in self.reasons else ""


def suggest(spec: Mapping[str, Any], folder: Path | None = None) -> Suggestion:
    """Return a config for a table file.

    spec: keys of a data set, at least ``csv`` and ``label``; those that are given are kept. folder: of the
    config, which the path of the file is relative to; the current folder by default.

    Raises DataError for a file that cannot be read, columns that mix numbers and text, and a path that is not
    UTF-8, which no config can name.
    """
    spec, reasons = dict(spec), dict[str, str]()
    form = spec.get("separator"), spec.get("encoding"), spec.get("header", True), spec.get("sheet")
    table = read_table(Path(spec["csv"]), *form)
    _leave_out(table, spec, reasons)
    try:
        data = _coded(table, {"missing": "mean", **spec})
    except DataError as error:
        hint = error.hint or ""
        if "decimal" in spec or "decimal comma" not in hint or "thousands" in hint:
            raise
        spec["decimal"], reasons["decimal"] = ",", "numbers are written as 1,5"
        data = _coded(table, {"missing": "mean", **spec})
    copies = [
        column for finding in audit(data) if finding.code == "duplicate-columns" for column in finding.columns
    ]
    if copies:
        _list(spec, "ignore", copies)
        reasons |= {f"ignore {name}": "a copy of another column" for name in copies}
        data = _coded(table, {"missing": "mean", **spec})
    nominal = [
        name for name, is_nominal in zip(data.table_attributes, data.nominal, strict=True) if is_nominal
    ]
    if nominal:
        _list(spec, "nominal", nominal)
        reasons["nominal"] = "categories: one 0/1 column per category"
    rows = int(np.isnan(data.table).any(axis=1).sum())
    if rows and "missing" not in spec:
        reason = (
            f"{counted(rows, 'row')} with missing values; mean fills in training means, drop leaves them out"
        )
        spec["missing"], reasons["missing"] = "mean", reason
    findings = audit(data)
    questions = [
        f"{finding.sentence}; {finding.remedy}"
        for finding in findings
        if finding.code not in ("unscaled-features", "constant-columns", "identifier")
    ]
    csv = spec["csv"] if folder is None else Path(os.path.relpath(spec["csv"], folder)).as_posix()
    spec["csv"] = str(csv)
    if os.fsencode(spec["csv"]).decode(errors="ignore") != spec["csv"]:
        message = "the name is not UTF-8, and a config cannot have it"
        raise DataError(message, where=spec["csv"], hint="rename the file or its folder")
    name = folder_name(data.name)
    config: dict[str, Any] = {"name": name, "datasets": [{"name": name, **spec}]}
    if data.nominal.any() or "unscaled-features" in [finding.code for finding in findings]:
        config["steps"] = ["standardise"]
        reasons["steps"] = "distances and margins need features of one scale"
    config |= _experiment(data, reasons) | {"seed": 1, "figures": list(FIGURES)}
    return Suggestion(data, config, reasons, questions, findings)


# ---- the file


def _coded(table: TextTable, spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of a table that was read; it keeps the rows that are left out."""
    if "test" in spec:
        return load_csv(spec, coding="integer")
    return load_tables(spec, [replace(table)], coding="integer")


def _leave_out(table: TextTable, spec: dict[str, Any], reasons: dict[str, str]) -> None:
    """Put the columns that are not features under ``id`` and ``ignore``, with reasons.

    Columns that the spec names stay where they are.
    """
    table.missing = missing_texts(spec.get("missing-values"))
    keys = ("id", "ignore", "nominal")
    listed = {spec["label"], spec.get("groups"), *(name for key in keys for name in spec.get(key, ()))}
    names = [name for name in table.names if name not in listed]
    numbers, is_number = plain_numbers(table, names, spec.get("decimal", "."))
    is_number &= ~(np.abs(numbers) >= 2**53).any(axis=0)  # floats do not hold them
    for j, name in enumerate(names):
        _, reason = no_feature(name, numbers[:, j] if is_number[j] else table.texts(name))
        if reason == KEY:
            _list(spec, "id", [name])
            reasons["id"] = f"{KEY}: not a feature, kept with its row"
        elif reason:
            _list(spec, "ignore", [name])
            reasons[f"ignore {name}"] = reason
    if names and {*spec.get("id", ()), *spec.get("ignore", ())} >= {*names} and not spec.get("nominal"):
        reason = reasons.get(f"ignore {names[0]}", KEY)
        message = f"no column besides the label is a feature, such as '{short(names[0])}': {reason}"
        hint = "if it is one, write the config by hand: datasets: [{csv: FILE, label: COLUMN}]"
        raise ConfigError(message, where=str(table.path), hint=hint)


def _list(spec: dict[str, Any], key: str, columns: Iterable[str]) -> None:
    """Add columns to a list of a spec."""
    spec[key] = list(dict.fromkeys((*spec.get(key, ()), *columns)))


# ---- the experiment


def _experiment(data: DataSet, reasons: dict[str, str]) -> dict[str, Any]:
    """Return methods, protocol and levels for a data set."""
    rows, counts = len(data), data.class_counts()
    protocol: dict[str, Any]
    if rows < K_FOLD_ROWS:
        folds = max(2, min(FOLDS, rows // 2))
        protocol, train = {"kind": "k-fold", "folds": folds}, rows - -(-rows // folds)
        reasons["protocol"] = "every row is a test row once"
    else:
        protocol, train = {"kind": "holdout", "test-size": TEST_SIZE}, rows - round(TEST_SIZE * rows)
        reasons["protocol"] = "one division is enough for this many rows"
    rarest, of_rarest = min(counts.items(), key=lambda item: item[1])
    share, is_large = of_rarest / rows, train >= CONFORMAL_ROWS
    mondrian: dict[str, Any] = {"mondrian": True} if share < RARE else {}
    counted = int(train * (share if mondrian else 1) * (CALIBRATION if is_large else 1))
    smallest = max(1 / (train + 1), min(1 / (counted + 1), MOST_SMALLEST))
    levels = [level for level in LEVELS if level >= smallest][:3] or [LEVELS[-1]]
    if mondrian:
        needed = ", ".join(f"{rows_needed(level)} for {level:g}" for level in levels)
        reasons["methods"] = (
            f"class {rarest} has {100 * share:.3g} % of the rows; mondrian: true guarantees "
            "the coverage of each class; rows of the class (calibration rows in split) that a level needs: "
            f"{needed}"
        )
    kind = "split" if is_large else "cross"
    conformal = {"kind": kind, **mondrian} if mondrian else kind
    reasons |= {
        "tcm-nn": "p-values from distances",
        "logistic regression": "probabilities, for comparison",
        "random forest": "any classifier with p-values from "
        + ("a calibration part" if is_large else "folds: these data are too few for a calibration part"),
        "boosting": "the same",
        "levels": f"significance levels; the smallest possible p-value{f' of {rarest}' if mondrian else ''}"
        f"{' of split' * is_large} is about 1/{counted + 1} = {1 / (counted + 1):.2g}",
    }
    named: dict[str, dict[str, Any]] = {
        "logistic regression": {"name": "sklearn.linear_model.LogisticRegression", "max_iter": 1000},
        "random forest": {"name": "sklearn.ensemble.RandomForestClassifier", "conformal": conformal},
        "boosting": {"name": "sklearn.ensemble.HistGradientBoostingClassifier", "conformal": conformal},
    }
    methods = [{"name": "tcm-nn", "k": 1, **mondrian}, *({**m, "label": label} for label, m in named.items())]
    return {"methods": methods, "protocol": protocol, "levels": levels}


def rows_needed(level: float) -> int:
    """Return the number of rows of a class from which its p-values can be at most ``level``."""
    return math.ceil(round(1 / level, 9)) - 1
