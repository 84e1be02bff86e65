"""A commented config for a table file: from an audit of its columns, or as in a paper."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confml.config.dataset_spec import folder_name
from confml.config.read import bundled_configs, read_config
from confml.data.audit import are_dates, audit, column_findings
from confml.data.csv_table import load_csv, load_tables
from confml.data.dataset import DataSet
from confml.data.findings import Finding
from confml.data.table_files import read_table
from confml.data.text_table import TextTable
from confml.errors import ConfigError, DataError
from confml.yaml import flow

LEVELS = (0.01, 0.05, 0.1, 0.2)
CONFORMAL_ROWS = 200  # training rows from which a calibration part leaves enough of them on both sides
K_FOLD_ROWS = 2000  # rows from which one holdout split is enough
FOLDS, TEST_SIZE = 10, 0.3
MOST_COUNTS = 12  # classes whose numbers of rows the first comment has
_ENCODINGS = (None, "cp1252", "latin-1")


@dataclass(frozen=True)
class Suggestion:
    """A config for a table file, with the reasons for it.

    data: the data set that the config loads. config: its values. reasons: comments for keys of the config and
    of its data set, and for methods. questions: columns that only the user can decide on. findings: of the
    audit of the columns that are used.
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
        features = len(self.data.table_attributes)
        lines = [
            f"# {len(self.data)} rows, {features} features; classes: {', '.join(counts)}",
            *(f"# To decide: {question}" for question in self.questions),
        ]
        for key, value in self.config.items():
            if key == "datasets":
                lines.append("datasets:")
                for number, (name, setting) in enumerate(value[0].items()):
                    lines.append(self._line(f"{'    ' if number else '  - '}{name}: {flow(setting)}", name))
            elif key == "methods":
                lines.append("methods:")
                for method in value:
                    lines.append(self._line(f"  - {flow(method)}", method.get("label", method["name"])))
            else:
                lines.append(self._line(f"{key}: {flow(value)}", key))
        return "\n".join(lines) + "\n"

    def _line(self, text: str, key: str) -> str:
        reason = self.reasons.get(key)
        return f"{text}  # {' '.join(reason.split())}" if reason else text


def suggest(spec: Mapping[str, Any], folder: Path | None = None) -> Suggestion:
    """Return a config for a table file.

    spec: keys of a data set, at least ``csv`` and ``label``; those that are given are kept. folder: of the
    config, which the path of the file is relative to; the current folder by default.

    Raises DataError for a file that cannot be read, columns that mix numbers and text, and a path that is not
    UTF-8, which no config can name.
    """
    table, data, found, reasons = _load(dict(spec))
    _columns(table, data, found, reasons)
    data = _coded(table, {**found, "missing": found.get("missing", "mean")})
    if np.isnan(data.table).any() and "missing" not in found:
        rows = int(np.isnan(data.table).any(axis=1).sum())
        found["missing"] = "mean"
        reasons["missing"] = (
            f"{rows} rows have missing values; mean fills in training means, drop leaves them out"
        )
    findings = [*audit(data, coded=False), *column_findings(data)]
    codes = {finding.code for finding in findings}
    questions = [
        f"{finding.sentence}; {finding.remedy}"
        for finding in findings
        if finding.code not in ("unscaled-features", "constant-columns", "duplicate-columns", "identifier")
    ]
    steps = []
    if "unscaled-features" in codes or data.nominal.any():
        steps = ["standardise"]
        reasons["steps"] = "distances and margins need features of one scale"
    path = Path(found["csv"])
    found["csv"] = Path(os.path.relpath(path, folder)).as_posix() if folder is not None else str(path)
    if os.fsencode(found["csv"]).decode(errors="ignore") != found["csv"]:
        message = "the name is not UTF-8, and a config cannot have it"
        raise DataError(message, where=found["csv"], hint="rename the file or its folder")
    config = {"name": folder_name(data.name), "datasets": [{"name": folder_name(data.name), **found}]}
    config |= {"steps": steps} if steps else {}
    config |= _experiment(len(data), reasons) | {"seed": 1}
    return Suggestion(data, config, reasons, questions, findings)


# ---- the file


def _load(found: dict[str, Any]) -> tuple[TextTable, DataSet, dict[str, Any], dict[str, str]]:
    """Return the file as text and as a data set, with the encoding and the decimal mark that it needs."""
    reasons: dict[str, str] = {}
    table = _read(found, reasons)
    lenient = {"missing": "mean", **found}
    try:
        return table, _coded(table, lenient), found, reasons
    except DataError as error:
        hint = error.hint or ""
        if "decimal" in found or "decimal comma" not in hint or "thousands" in hint:
            raise
    reasons["decimal"] = "numbers are written as 1,5"
    return table, _coded(table, {**lenient, "decimal": ","}), {**found, "decimal": ","}, reasons


def _read(found: dict[str, Any], reasons: dict[str, str]) -> TextTable:
    """Return the file as text; an encoding other than UTF-8 is added to ``found``."""
    separator, header, sheet = found.get("separator"), found.get("header", True), found.get("sheet")
    encodings = (found["encoding"],) if "encoding" in found else _ENCODINGS
    for encoding in encodings:
        try:
            table = read_table(Path(found["csv"]), separator, encoding, header, sheet)
        except DataError as error:
            if "utf-8 text" not in error.message or encoding == encodings[-1]:
                raise
        else:
            if encoding not in (None, found.get("encoding")):
                found["encoding"], reasons["encoding"] = encoding, "the file is not UTF-8"
            return table
    raise AssertionError("one of the encodings reads any file")


def _coded(table: TextTable, spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of a table that was read; it keeps the rows that are left out."""
    if "test" in spec:
        return load_csv(spec, coded=False)
    return load_tables(spec, [replace(table)], coded=False)


def _columns(table: TextTable, data: DataSet, found: dict[str, Any], reasons: dict[str, str]) -> None:
    """Put columns under ``id``, ``ignore`` and ``nominal`` in ``found``, with reasons."""
    audited = {finding.code: finding.columns for finding in audit(data, coded=False)}
    given = {name for key in ("id", "ignore", "nominal") for name in found.get(key, ())}
    nominal = [name for name, is_one in zip(data.table_attributes, data.nominal, strict=True) if is_one]
    texts = [name for name in (*nominal, *data.id_columns) if name not in given]
    dates = [name for name in texts if are_dates(table.texts(name).distinct)]
    ids = [*data.id_columns, *(name for name in audited.get("identifier", ()) if name not in given)]
    ids = [name for name in ids if name not in dates]
    ignored = {
        "dates": dates,
        "constant": audited.get("constant-columns", ()),
        "copies of other columns": audited.get("duplicate-columns", ()),
    }
    ignore = [name for names in ignored.values() for name in names if name not in {*given, *ids}]
    why = ", ".join(reason for reason, names in ignored.items() if names)
    for key, names, reason in (
        ("id", ids, "a different value in every row: no feature, kept with its row"),
        ("ignore", ignore, why),
        ("nominal", nominal, "categories: one 0/1 column per category"),
    ):
        taken = {*ignore, *ids} if key == "nominal" else ()
        listed = dict.fromkeys((*found.get(key, ()), *(name for name in names if name not in taken)))
        if listed:
            found[key], reasons[key] = list(listed), reason


# ---- the experiment


def _experiment(rows: int, reasons: dict[str, str]) -> dict[str, Any]:
    """Return methods, protocol and levels for a number of rows."""
    if rows < K_FOLD_ROWS:
        folds = max(2, min(FOLDS, rows // 2))
        protocol, train = {"kind": "k-fold", "folds": folds}, rows - -(-rows // folds)
        reasons["protocol"] = "every row is a test row once"
    else:
        protocol, train = {"kind": "holdout", "test-size": TEST_SIZE}, rows - round(TEST_SIZE * rows)
        reasons["protocol"] = "one division is enough for this many rows"
    other: dict[str, Any] = {"name": "knn", "k": 5}
    if train >= CONFORMAL_ROWS:
        forest = "sklearn.ensemble.RandomForestClassifier"
        other = {"name": forest, "conformal": "split", "label": "random forest"}
    smallest = 1 / (train + 1)
    reasons |= {
        "tcm-nn": "p-values from distances",
        "knn": "shares of votes, for comparison",
        "random forest": "any classifier with p-values from a calibration part",
        "levels": f"significance levels; the smallest possible p-value is 1/{train + 1} = {smallest:.2g}",
    }
    levels = [level for level in LEVELS if level >= smallest][:3] or [LEVELS[-1]]
    return {"methods": [{"name": "tcm-nn", "k": 1}, other], "protocol": protocol, "levels": levels}


# ---- as in a paper

SOURCES: Mapping[str, tuple[str, ...]] = {
    "proedrou": ("papers/tcm-nn/segment",),
    "graepel": ("papers/transduction/transduction-heart",),
    "krzanowski": ("papers/bayes-knn/bayes-knn", "papers/bayes-knn/bayes-knn-adaptive"),
    "burg": ("papers/smartsvm/smartsvm-laptop",),
    "kubat": ("papers/kubat/square-noise", "papers/kubat/not-separable"),
}
# Of the first config; methods are those of all. Figures of several data sets or of two features are left out.
_KEYS = ("thresholds", "figures", "noise")
_LEFT_OUT = ("ranks", "decision-boundary")
# The paper has 10,000 + 70,000 steps.
_CHAINS = {"chains": 4, "burn_in": 500, "samples": 60, "thin": 5}


def like_source(found: Suggestion, source: str) -> Suggestion:
    """Return ``found`` with the steps, methods, protocol, levels and further keys of a source.

    Columns and questions stay. Label noise is added to training parts only, and the chains of the adaptive
    model are shortened. Raises ConfigError for an unknown source.
    """
    if source not in SOURCES:
        raise ConfigError(f"unknown source '{source}'", near=(source, SOURCES))
    configs = [read_config(str(bundled_configs()[name])).values for name in SOURCES[source]]
    first, reasons = configs[0], dict(found.reasons)
    reasons |= {key: f"as in {SOURCES[source][0]}" for key in ("steps", "protocol", "levels") if key in first}
    methods = [dict(method) for config in configs for method in config["methods"]]
    for method in methods:
        reasons.pop(method["name"], None)
        if method.get("model") == "adaptive":
            reasons[method["label"]] = "4 chains of 500 + 300 steps; the paper has 10,000 + 70,000"
            method |= _CHAINS
    more = {key: first[key] for key in _KEYS if key in first}
    more["figures"] = [figure for figure in first.get("figures", ()) if _name(figure) not in _LEFT_OUT]
    if "noise" in more:
        more["noise"] = {**more["noise"], "on": "train"}
        reasons["noise"] = "on training parts: labels of test rows stay as they are"
    config = {key: found.config[key] for key in ("name", "datasets")}
    for key in ("steps", "methods", "protocol", "levels"):
        value = methods if key == "methods" else first.get(key) or found.config.get(key)
        config |= {key: value} if value else {}
    config |= {key: value for key, value in more.items() if value or key == "thresholds"}
    return replace(found, config={**config, "seed": 1}, reasons=reasons)


def _name(figure: Any) -> str:
    return figure.get("name") or next(iter(figure)) if isinstance(figure, dict) else figure
