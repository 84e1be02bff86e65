"""Warnings of a run that need its data: an audit of each data set, and parameters that do not fit its
size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from confml.config import Config
from confml.config.method_entry import MethodEntry
from confml.config.warnings import WARNINGS, Warned
from confml.data.audit import audit, row_groups
from confml.data.dataset import DataSet
from confml.data.findings import Finding
from confml.methods import BASELINE
from confml.runner.plan import Plan
from confml.runner.splits import IN_PARTS

OF_TRAINING = ("k", "n_neighbors")
SCALING_STEPS = frozenset({"standardise", "min-max", "row-standardise"})
SCALE_FREE = frozenset({"naive-bayes", "external", BASELINE})
"""Methods that do not depend on the scale of a feature; all others use distances, margins or products."""
SCALED_CLASSES = (
    *("KNeighborsClassifier", "RadiusNeighborsClassifier", "NearestCentroid", "LabelPropagation"),
    *("LabelSpreading", "SVC", "NuSVC", "LinearSVC", "SGDClassifier", "Perceptron", "MLPClassifier"),
    *("PassiveAggressiveClassifier", "RidgeClassifier", "LogisticRegression", "GaussianProcessClassifier"),
)
"""Classifiers of scikit-learn that use distances, margins or penalised products."""


def audits(plan: Plan) -> dict[str, list[Finding]]:
    """Return the audit of each data set, with the parts of the provider only where the protocol uses them."""
    audited = {}
    for data in plan.datasets.values():
        pooled = data
        if plan.config.protocol.kind not in IN_PARTS and data.train_rows is not None:
            pooled = replace(data, train_rows=None, test_rows=None)
        audited[data.name] = audit(pooled)
    return audited


def run_warnings(plan: Plan, audited: Mapping[str, Sequence[Finding]]) -> list[Warned]:
    """Return the warnings of a run before it computes anything, those on the config first."""
    warnings = list(_level_warnings(plan.config.levels))
    for data in plan.datasets.values():
        of_data = [
            *_data_warnings(plan.config, data, audited[data.name]),
            *_large_k(plan, data),
            *_unreachable_votes(plan.config, data),
        ]
        warnings += [replace(warning, dataset=data.name) for warning in of_data]
    return warnings


def _level_warnings(levels: Sequence[float]) -> Iterator[Warned]:
    """Yield a warning if at least half of the significance levels are above 0.5."""
    high = [level for level in levels if level > 0.5]
    if high and 2 * len(high) >= len(levels):
        meant = ", ".join(f"{1 - level:.10g}" for level in high)
        yield Warned(
            "level-as-confidence",
            f"level {high[0]!r} is a significance level: its regions may miss {100 * high[0]:g} % of the "
            f"labels",
            f"levels: [{meant}] if {100 * high[0]:g} % is the confidence",
        )


def _data_warnings(config: Config, data: DataSet, findings: Sequence[Finding]) -> Iterator[Warned]:
    """Yield those findings of the audit that make results look better or worse than they are."""
    fixed = config.protocol.kind in IN_PARTS
    unscaled = [entry.name for entry in config.methods if needs_scaling(entry.name)]
    is_scaled = any(step.name in SCALING_STEPS for step in config.steps)
    for finding in findings:
        if finding.code not in WARNINGS:
            continue
        sentence = finding.sentence
        if finding.code == "duplicate-rows":
            if fixed or config.protocol.kind == "online" or _in_groups(data):
                continue
            sentence += ", so that copies of training rows are among the test rows"
        if finding.code == "unscaled-features":
            if is_scaled or not unscaled:
                continue
            sentence += f", and {unscaled[0]} depends on the scale"
        yield Warned(finding.code, sentence, finding.remedy)


def needs_scaling(method: str) -> bool:
    """Return whether a method of a config depends on the scale of the features."""
    if "." in method or not method.islower():
        return method.rpartition(".")[2] in SCALED_CLASSES
    return method not in SCALE_FREE


def _in_groups(data: DataSet) -> bool:
    """Return whether equal rows are of one group, which is never divided between training and test parts."""
    if data.groups is None:
        return False
    y = np.unique(data.y, return_inverse=True)[1].reshape(-1)
    first = row_groups(np.column_stack([data.table, y]))
    return np.array_equal(data.groups, data.groups[first])


def _large_k(plan: Plan, data: DataSet) -> Iterator[Warned]:
    """Yield a warning for each method whose largest k is not smaller than its training rows."""
    counts = plan.smallest_training.get(data.name)
    if not counts or plan.config.protocol.kind == "online":
        return
    rows, (label, fewest) = sum(counts.values()), min(counts.items(), key=lambda item: item[1])
    for entry in plan.config.methods:
        k = _largest_k(entry)
        if k is None:
            continue
        if k >= rows:
            sentence = f"k = {k} of {entry.name} is not smaller than the training set ({rows} rows)"
            remedy = f"choose k below {fewest if entry.name == 'tcm-nn' else rows}"
            yield Warned("k-too-large", sentence, remedy)
        elif entry.name == "tcm-nn" and k >= fewest:
            sentence = (
                f"k = {k} of tcm-nn is not smaller than class {label} ({fewest} training "
                f"{'row' if fewest == 1 else 'rows'}): neighbours that are missing make its strangeness "
                "infinite"
            )
            remedy = (
                f"choose k below {fewest}" if fewest > 1 else "merge the class with another, or leave it out"
            )
            yield Warned("k-too-large", sentence, remedy)


def _largest_k(entry: MethodEntry) -> int | None:
    """Return the largest number of neighbours that an entry names, or None."""
    lists = (entry.sweep, entry.tune)
    values = [value for name in OF_TRAINING for grid in lists for value in grid.get(name, ())]
    values += [entry.given.get(name) for name in OF_TRAINING]
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return max(numbers, default=None)


def _unreachable_votes(config: Config, data: DataSet) -> Iterator[Warned]:
    """Yield a warning if thresholds are above the largest possible share of one-vs-one votes."""
    classes = len(data.classes)
    largest = 2 / classes
    above = [threshold for threshold in config.thresholds if threshold > largest]
    for entry in config.methods:
        if entry.name == "ovo-svm" and above:
            listed = ", ".join(f"{threshold:g}" for threshold in above)
            sentence = (
                f"a vote share of ovo-svm is at most 2/{classes} = {largest:.3g} with {classes} classes, "
                f"so its votes reject every row at threshold {listed}"
            )
            yield Warned("votes-below-threshold", sentence, "read its margin view, or add conformal: split")
