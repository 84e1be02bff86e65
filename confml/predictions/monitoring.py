"""`BatchMonitor`: whether batches of new rows with labels still look like the training rows."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from confml.errors import ConfigError
from confml.measures import Case, Context
from confml.measures.p_values import has_counts, is_weighted
from confml.measures.ranks import holm
from confml.measures.validity import distance_from_uniform
from confml.predictions.batch import Batch
from confml.predictions.exchangeability import ALARM, Finding
from confml.predictions.guarantee import have, row_count
from confml.predictions.model import Model
from confml.predictions.rounding import p_text


class BatchRow(NamedTuple):
    """One batch of labelled rows.

    absent: number of rows whose class is absent from the training rows; they are errors and have no p-value.
    ks: Kolmogorov-Smirnov distance of the smoothed p-values of the other true labels from uniform, None
    without any. p: probability of such a distance for exchangeable rows. adjusted_p: p after Holm's
    correction for all batches. small: share of these p-values that are at most 0.1. error: error rate.
    different: 1 if adjusted_p is at most 0.01, and the new rows differ by all tests together.
    """

    batch: int
    first_line: str
    last_line: str
    rows: int
    error: float
    absent: int
    small: float | None
    ks: float | None
    p: float
    adjusted_p: float
    different: int
    meaning: str


class BatchMonitor:
    """Divide the labelled new rows, in their order, into batches of ``rows``, and test each batch.

    The p-values of a batch share the N examples that they are counted among, so the distance of n of them
    from uniform has the variance of two samples: n and N. All batches share these examples too; Holm's
    correction is valid for that. The test is asymptotic; for split conformal prediction with 500 calibration
    examples and batches of 200 rows, 5.7 % of sound batches have p <= 0.05, and 4.0 % of families of ten an
    adjusted p <= 0.05. For TCM-NN it is approximate.
    """

    def __init__(self, model: Model, rows: int):
        if not has_counts(model.none):
            hint = "add --conformal split, or use tcm-nn"
            raise ConfigError(f"batches need p-values, and {model.facts.method} has none", hint=hint)
        facts = model.facts
        self.rows = rows
        self._context = Context(facts.fitted_rows, facts.class_counts, facts.params)
        self._by_class = facts.is_label_conditional
        self._parts: list[pd.DataFrame] = []

    def add(self, batch: Batch) -> None:
        """Collect the labelled rows of a chunk. Raises ConfigError with shift."""
        positions, columns = batch.labelled
        if batch.rows.labels is None or not len(batch.prediction):
            return
        prediction = batch.prediction.take(positions)
        if is_weighted(prediction):
            raise ConfigError("--batch-rows cannot be used with shift", hint="remove shift")
        case = Case(prediction, prediction.classes[np.maximum(columns, 0)], context=self._context)
        assert case.counted is not None  # no online pass
        part = {
            "p": np.where(columns >= 0, case.smoothed, np.nan),
            "counted": case.counted - 1,
            "class": columns if self._by_class else np.zeros_like(columns),
            "wrong": prediction.predicted_columns != columns,
            "line": batch.rows.lines[batch.predicted][positions].astype(str),
        }
        self._parts.append(pd.DataFrame(part))

    def table(self, differs: bool = True) -> list[BatchRow]:
        """Return a row for each batch; a last batch of less than half the size belongs to the one before.

        differs: whether the batches differ by all tests together.
        """
        rows = pd.concat(self._parts, ignore_index=True) if self._parts else pd.DataFrame()
        starts = list(range(0, len(rows), self.rows))
        if len(starts) > 1 and len(rows) - starts[-1] < self.rows / 2:
            starts.pop()
        batches = [rows[start:end] for start, end in itertools.pairwise([*starts, len(rows)])]
        tests = [_distance(batch) for batch in batches]
        adjusted = holm([p for _, p in tests]).tolist() if tests else []
        numbered = enumerate(zip(batches, tests, adjusted, strict=True), start=1)
        return [_batch_row(number, *each, differs) for number, each in numbered]

    def findings(self) -> dict[str, Finding]:
        """Return the test of the batches together."""
        table = self.table()
        if not table:
            return {}
        different = [f"Batch {row.batch}: {row.meaning}." for row in table if row.different]
        least = min(row.adjusted_p for row in table)
        none = f"Smallest p-value of {len(table)} batches: {p_text(least, ALARM)} (Holm)."
        return {"batches": Finding(" ".join(different) or none, least, otherwise=none)}

    def sentences(self) -> list[str]:
        """Return sentences on batches with absent classes, or that there are no batches."""
        if not (table := self.table()):
            return ["batches: the new rows have no labels, and batches are tested with labels only"]
        return [f"batch {row.batch}: {absence(row.absent)}" for row in table if row.absent]


def _distance(batch: pd.DataFrame) -> tuple[float | None, float]:
    """Return the distance of a batch from uniform, and its p-value: None and 1 without p-values."""
    labelled = batch[batch["p"].notna()]
    if labelled.empty:
        return None, 1.0
    ks = distance_from_uniform(labelled["p"].to_numpy())
    return ks, ks_p_value(ks, labelled["counted"].to_numpy(), labelled["class"].to_numpy())


def _batch_row(
    number: int, batch: pd.DataFrame, test: tuple[float | None, float], adjusted: float, differs: bool
) -> BatchRow:
    p_values, lines = batch["p"].dropna(), (batch["line"].iloc[0], batch["line"].iloc[-1])
    small = float(np.mean(p_values <= 0.1)) if len(p_values) else None
    absent = len(batch) - len(p_values)
    different = differs and adjusted <= ALARM
    meaning = [batch_words(lines, small, adjusted)] if different else []
    meaning += [absence(absent)] if absent else []
    counts = number, *lines, len(batch), float(batch["wrong"].mean()), absent, small
    return BatchRow(*counts, *test, adjusted, int(different), "; ".join(meaning) or "no action needed")


def absence(rows: int) -> str:
    """Return that rows have a class that is absent from the training rows."""
    return f"{row_count(rows)} {have(rows)} a class that is absent from the training rows"


def ks_p_value(ks: float, counted: np.ndarray, classes: np.ndarray) -> float:
    """Return the probability of a distance of at least ``ks`` of n valid p-values.

    counted: (n,) number of examples that each is counted among. classes: (n,) p-values of different classes
    are counted among different examples. The variance is that of one sample of n and, per class with n_c
    rows and N_c examples, (n_c / n)^2 / N_c. Asymptotic.
    """
    from scipy.special import kolmogorov

    n = len(counted)
    of_class = [counted[classes == label] for label in np.unique(classes)]
    variance = 1 / n + sum((len(part) / n) ** 2 / max(int(part.min()), 1) for part in of_class)
    return float(kolmogorov(ks / math.sqrt(variance)))


def batch_words(lines: tuple[str, str], small: float | None, adjusted: float) -> str:
    """Return the meaning of a batch that differs."""
    if small is not None and small > 0.1:
        effect = f"{small:.0%} of the true labels have p-values up to 0.1"
    else:
        effect = "the p-values are not uniform, but not too small at 0.1"
    return (
        f"lines {lines[0]} to {lines[1]} differ from the training rows (adjusted p-value "
        f"{p_text(adjusted, ALARM)}): {effect}; check how these rows were "
        "collected, and fit again with labelled rows like them"
    )
