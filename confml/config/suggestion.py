"""A commented config for a table file: from an audit of its columns, or as in a paper."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from confml.config.dataset_spec import folder_name
from confml.config.stages import bundled_configs, read_config
from confml.data.audit import are_dates, audit, column_findings
from confml.data.csv_table import load_csv, load_tables
from confml.data.dataset import DataSet
from confml.data.findings import Finding
from confml.data.table_files import read_table
from confml.data.text_table import TextTable
from confml.errors import ConfigError, DataError

LEVELS = (0.01, 0.05, 0.1, 0.2)
CONFORMAL_ROWS = 200  # training rows from which a calibration part leaves enough of them on both sides
K_FOLD_ROWS = 2000  # rows from which one holdout split is enough
FOLDS, TEST_SIZE = 10, 0.3
_PLAIN = re.compile(r"(\.\./)*[A-Za-z_][\w./-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_ENCODINGS = (None, "cp1252", "latin-1")


@dataclass(frozen=True)
class Suggestion:
    """A config for a table file, with the reasons for it.

    data: the data set that the config loads. dataset: its keys. steps, methods, protocol, levels: of the
    config. reasons: a comment for each of these keys, and for keys of ``dataset``. questions: columns that
    only the user can decide on. findings: of the audit of the columns that are used. more: further keys.
    """

    data: DataSet
    dataset: dict[str, Any]
    steps: list[str]
    methods: list[dict[str, Any]]
    protocol: dict[str, Any]
    levels: list[float]
    reasons: dict[str, str]
    questions: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return the config as plain values."""
        values: dict[str, Any] = {"name": self.dataset["name"], "datasets": [self.dataset]}
        if self.steps:
            values["steps"] = self.steps
        return values | {
            "methods": self.methods,
            "protocol": self.protocol,
            "levels": self.levels,
            **self.more,
            "seed": 1,
        }

    def yaml(self) -> str:
        """Return the config as a commented YAML file."""
        counts = ", ".join(f"{_yaml(str(label))}: {count}" for label, count in self._classes())
        lines = [
            f"# {len(self.data)} rows, {len(self.data.table_attributes)} features; classes: {counts}",
            *(f"# To decide: {question}" for question in self.questions),
            f"name: {_yaml(self.dataset['name'])}",
            "datasets:",
        ]
        for number, (key, value) in enumerate(self.dataset.items()):
            lines.append(self._line(f"{'  - ' if number == 0 else '    '}{key}: {_yaml(value)}", key))
        if self.steps:
            lines.append(self._line(f"steps: {_yaml(self.steps)}", "steps"))
        lines.append("methods:")
        for method in self.methods:
            lines.append(self._line(f"  - {_yaml(method)}", method.get("label", method["name"])))
        for key, value in {"protocol": self.protocol, "levels": self.levels, **self.more}.items():
            lines.append(self._line(f"{key}: {_yaml(value)}", key))
        lines.append(self._line("seed: 1", "seed"))
        return "\n".join(lines) + "\n"

    def _classes(self) -> list[tuple[Any, int]]:
        counts = list(self.data.class_counts().items())
        return counts if len(counts) <= 12 else [*counts[:11], ("...", len(counts))]

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
    protocol, train = _protocol(len(data), reasons)
    steps = []
    if "unscaled-features" in codes or data.nominal.any():
        steps = ["standardise"]
        reasons["steps"] = "distances and margins need features of one scale"
    path = Path(found["csv"])
    found["csv"] = Path(os.path.relpath(path, folder)).as_posix() if folder is not None else str(path)
    if os.fsencode(found["csv"]).decode(errors="ignore") != found["csv"]:
        message = "the name is not UTF-8, and a config cannot have it"
        raise DataError(message, where=found["csv"], hint="rename the file or its folder")
    return Suggestion(
        data=data,
        dataset={"name": folder_name(data.name), **found},
        steps=steps,
        methods=_methods(data, train, reasons),
        protocol=protocol,
        levels=_levels(train, reasons),
        reasons=reasons,
        questions=questions,
        findings=findings,
    )


# ---- the file


def _load(found: dict[str, Any]) -> tuple[TextTable, DataSet, dict[str, Any], dict[str, str]]:
    """Return the file as text and as a data set, with the encoding and the decimal mark that it needs."""
    reasons: dict[str, str] = {}
    for encoding in (found["encoding"],) if "encoding" in found else _ENCODINGS:
        try:
            table = read_table(
                Path(found["csv"]),
                found.get("separator"),
                encoding,
                found.get("header", True),
                found.get("sheet"),
            )
        except DataError as error:
            if "utf-8 text" not in error.message or encoding == _ENCODINGS[-1]:
                raise
            continue
        if encoding is not None and "encoding" not in found:
            found["encoding"] = encoding
            reasons["encoding"] = "the file is not UTF-8"
        break
    lenient = {"missing": "mean", **found}
    try:
        return table, _coded(table, lenient), found, reasons
    except DataError as error:
        if (
            "decimal" in found
            or error.hint is None
            or "decimal comma" not in error.hint
            or "thousands" in error.hint
        ):
            raise
    data = _coded(table, {**lenient, "decimal": ","})
    reasons["decimal"] = "numbers are written as 1,5"
    return table, data, {**found, "decimal": ","}, reasons


def _coded(table: TextTable, spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of a table that was read; it keeps the rows that are left out."""
    if "test" in spec:
        return load_csv(spec, coded=False)
    return load_tables(spec, [replace(table)], coded=False)


def _columns(table: TextTable, data: DataSet, found: dict[str, Any], reasons: dict[str, str]) -> None:
    """Put columns under ``id``, ``ignore`` and ``nominal`` in ``found``, with reasons."""
    findings = {finding.code: finding for finding in audit(data, coded=False)}
    categorical = [
        name for name, is_nominal in zip(data.table_attributes, data.nominal, strict=True) if is_nominal
    ]
    given = {name for key in ("id", "ignore", "nominal") for name in found.get(key, ())}
    texts = [name for name in (*categorical, *data.id_columns) if name not in given]
    dates = [name for name in texts if are_dates(table.texts(name).distinct)]
    ids = [name for name in data.id_columns if name not in dates]
    if "identifier" in findings:
        ids += [name for name in findings["identifier"].columns if name not in given and name not in dates]
    _add(found, reasons, "id", ids, "a different value in every row: no feature, kept with its row")
    constant = findings["constant-columns"].columns if "constant-columns" in findings else ()
    same = findings["duplicate-columns"].columns if "duplicate-columns" in findings else ()
    left_out = [name for name in (*dates, *constant, *same) if name not in given and name not in ids]
    why = [
        word
        for word, names in (("dates", dates), ("constant", constant), ("copies of other columns", same))
        if names
    ]
    _add(found, reasons, "ignore", left_out, ", ".join(why))
    nominal = [name for name in categorical if name not in {*left_out, *ids}]
    _add(found, reasons, "nominal", nominal, "categories: one 0/1 column per category")


def _add(found: dict[str, Any], reasons: dict[str, str], key: str, names: Sequence[str], why: str) -> None:
    names = list(dict.fromkeys((*found.get(key, ()), *names)))
    if names:
        found[key] = names
        reasons[key] = why


# ---- the experiment


def _protocol(rows: int, reasons: dict[str, str]) -> tuple[dict[str, Any], int]:
    """Return the protocol, and the number of training rows of a split."""
    if rows < K_FOLD_ROWS:
        folds = max(2, min(FOLDS, rows // 2))
        reasons["protocol"] = "every row is a test row once"
        return {"kind": "k-fold", "folds": folds}, rows - -(-rows // folds)
    reasons["protocol"] = "one division is enough for this many rows"
    return {"kind": "holdout", "test-size": TEST_SIZE}, rows - round(TEST_SIZE * rows)


def _methods(data: DataSet, train: int, reasons: dict[str, str]) -> list[dict[str, Any]]:
    reasons["tcm-nn"] = "p-values from distances"
    methods: list[dict[str, Any]] = [{"name": "tcm-nn", "k": 1}]
    if train >= CONFORMAL_ROWS:
        forest = "sklearn.ensemble.RandomForestClassifier"
        reasons["random forest"] = "any classifier with p-values from a calibration part"
        methods.append({"name": forest, "conformal": "split", "label": "random forest"})
    else:
        reasons["knn"] = "shares of votes, for comparison"
        methods.append({"name": "knn", "k": 5})
    return methods


def _levels(train: int, reasons: dict[str, str]) -> list[float]:
    smallest = 1 / (train + 1)
    levels = [level for level in LEVELS if level >= smallest][:3]
    reasons["levels"] = (
        f"significance levels; the smallest possible p-value is 1/{train + 1} = {smallest:.2g}"
    )
    return levels or [LEVELS[-1]]


# ---- YAML


def _yaml(value: Any) -> str:
    """Return a value in YAML's flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.isascii() and value.lower() not in _WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


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
    configs = [read_config(str(bundled_configs()[name])).root.plain() for name in SOURCES[source]]
    first, reasons = configs[0], dict(found.reasons)
    for key in ("steps", "protocol", "levels"):
        if key in first:
            reasons[key] = f"as in {SOURCES[source][0]}"
    methods = [_sane(dict(method), reasons) for config in configs for method in config["methods"]]
    more = {key: first[key] for key in _KEYS if key in first}
    more["figures"] = [one for one in first.get("figures", ()) if _figure(one) not in _LEFT_OUT]
    if "noise" in more:
        more["noise"] = {**more["noise"], "on": "train"}
        reasons["noise"] = "on training parts: labels of test rows stay as they are"
    return replace(
        found,
        steps=first.get("steps") or found.steps,
        methods=methods,
        protocol=first["protocol"],
        levels=first.get("levels", found.levels),
        reasons=reasons,
        more={key: value for key, value in more.items() if value or key == "thresholds"},
    )


def _sane(method: dict[str, Any], reasons: dict[str, str]) -> dict[str, Any]:
    """Return a method of a paper; chains of the adaptive model are shortened."""
    reasons.pop(method["name"], None)
    if method.get("model") == "adaptive":
        reasons[method["label"]] = "4 chains of 500 + 300 steps; the paper has 10,000 + 70,000"
        return {**method, **_CHAINS}
    return method


def _figure(figure: Any) -> str:
    if isinstance(figure, Mapping):
        return figure.get("name") or next(iter(figure))
    return figure
