"""`ExchangeabilityCheck`: whether new rows look exchangeable with the training rows."""

import math
from collections import Counter

import numpy as np

from confml.measures import Case, Context
from confml.measures.coverage_band import coverage_band, covered_by_parts, covered_probabilities
from confml.measures.ranks import holm
from confml.measures.regions import by_usual_level
from confml.predictions.batch import Batch
from confml.predictions.guarantee import Guarantee, are, digits, listed, percent, row_count
from confml.predictions.model import Model
from confml.predictions.rounding import p_text
from confml.predictions.two_samples import ALARM, Drift, Finding
from confml.report.answers.coverage import FEWEST, low_class_text, per_class_remedy


class ExchangeabilityCheck:
    """Counts of new rows, and the tests of their exchangeability with the training rows.

    One verdict is from all tests together: new rows differ if a test has a p-value of at most `ALARM` after
    Holm's correction over the tests.

    - Atypical rows, at the smallest level that can exclude a label (p-values only, without labels).
    - Rows with a number outside the range of its feature in the training rows (without labels).
    - The coverage of rows whose label is a training class, at each level (p-values with labels).

    labelled: numbers of rows by group of ``by``, column of the class, and number of examples that their
    p-values are computed from. covered: numbers of rows whose region contains their label, by level;
    covered_classes: the same by level and column.
    """

    def __init__(self, model: Model, guarantee: Guarantee, drift: bool):
        self.model, self.guarantee = model, guarantee
        self.drift = Drift(model) if drift else None
        self.labelled: Counter[tuple[int, int, int]] = Counter()
        self.covered: Counter[float] = Counter()
        self.covered_classes: Counter[tuple[float, int]] = Counter()
        self.has_p_values = model.none.kind == "p-value"
        self.rows = self.predicted = self.outside_rows = 0
        self.reasons = {level: Counter[str]() for level in guarantee.levels}
        self._outside = np.zeros((2, len(model.coder.features)), dtype=np.int64)

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch: their reasons, numbers outside the training range, covered labels."""
        self.rows += len(batch.rows.lines)
        self.predicted += int(batch.predicted.sum())
        if self.drift is not None:
            self.drift.add(batch)
        for level, reasons in batch.reasons.items():
            self.reasons[level].update(reasons.tolist())
        ranges = self.model.coder.ranges
        if ranges is not None:
            table = batch.rows.table
            below, above = table < ranges[0], table > ranges[1]
            self.outside_rows += int((below | above).any(axis=1).sum())
            self._outside += [below.sum(axis=0), above.sum(axis=0)]
        positions, columns = batch.labelled
        positions, columns = positions[columns >= 0], columns[columns >= 0]
        for level, region in batch.regions.items():
            covered = columns[region[positions, columns]].tolist()
            self.covered[level] += len(covered)
            self.covered_classes.update((level, column) for column in covered)
        groups = counted = np.zeros(len(positions), dtype=np.int64)
        if self.has_p_values and len(positions):
            facts, prediction = self.model.facts, batch.prediction.take(positions)
            context = Context(facts.fitted_rows, facts.class_counts, facts.params)
            counted = np.asarray(Case(prediction, prediction.classes[columns], context=context).counted)
            groups = prediction.extra["group"][:, 0] if "group" in prediction.extra else groups
        self.labelled.update(zip(groups.tolist(), columns.tolist(), counted.tolist(), strict=True))

    # ---- sentences

    def alarms(self) -> list[str]:
        """Return the verdict with the tests in which the new rows differ; none if they do not."""
        texts = [finding.text for finding in self.tests().values() if finding.differs]
        return [f"{self.verdict()} {' '.join(texts)}"] if texts else []

    def verdict(self) -> str:
        """Return whether the new rows differ, by all tests together; "" without any."""
        differs = [finding.differs for finding in self.tests().values() if finding.p is not None]
        if any(differs):
            so = ", so the guarantee may not hold" if self.has_p_values else ""
            return f"The new rows do not look exchangeable with the training rows{so}."
        if not differs:
            return ""
        tests = f"None of {len(differs)} tests" if len(differs) > 1 else "No test"
        unseen = "" if self.labelled else "; without labels a change of the labels is not detected"
        return f"{tests} shows that new rows differ{unseen}."

    def tests(self) -> dict[str, Finding]:
        """Return the tests that apply: ``atypical``, ``ranges``, ``coverage`` and those of ``drift``."""
        if not self.predicted:
            return {}
        every = {"ranges": self._ranges()}
        if self.has_p_values:
            every = {"atypical": self._atypical(), **every, "coverage": self._coverage()}
        findings = {name: finding for name, finding in every.items() if finding is not None}
        findings |= self.drift.findings() if self.drift is not None else {}
        p_values = {name: finding.p for name, finding in findings.items() if finding.p is not None}
        for name, p in zip(p_values, holm(list(p_values.values())).tolist(), strict=True):
            differs, finding = bool(p <= ALARM), findings[name]
            text = finding.text if differs else finding.otherwise or finding.text
            findings[name] = finding._replace(text=text, differs=differs)
        return findings

    def class_sentences(self) -> list[str]:
        """Return a sentence for each class that the regions contain too rarely, and the remedy.

        The test is that of a run: classes with `FEWEST` rows or more, Holm's correction over the classes and
        levels. Of several levels at which a class is too low, the sentence is at the one closest to 0.05.
        """
        if not self.has_p_values or self._labelled_parts() is None:
            return []
        tests = [
            (column, level, *test)
            for level in by_usual_level(self.guarantee.levels)
            for column in sorted({column for _, column, _ in self.labelled})
            if (test := self._of_class(column, level)) is not None
        ]
        low: dict[int, tuple[float, float]] = {}
        for (column, level, share, _), p in zip(tests, holm([test[-1] for test in tests]), strict=True):
            if p <= ALARM:
                low.setdefault(column, (share, level))
        if not low:
            return []
        names, level = self.model.none.classes.tolist(), min(level for _, level in low.values())
        sentences = [f"Class {names[at]}: the regions {low_class_text(*low[at])}." for at in low]
        remedy = per_class_remedy(self.model.facts.params, level, "--mondrian")
        return [*sentences, *filter(None, [remedy])]

    def _of_class(self, column: int, level: float) -> tuple[float, float] | None:
        """Return the coverage of a class, and the probability of so low a one; None with too few rows."""
        parts = [(n, counted) for (_, label, counted), n in self.labelled.items() if label == column]
        rows, covered = sum(n for n, _ in parts), self.covered_classes[level, column]
        p = self._low_coverage_p(parts, level, covered) if rows >= FEWEST else None
        return None if p is None else (covered / rows, p)

    def _low_coverage_p(self, parts: list[tuple[int, int]], level: float, covered: int) -> float | None:
        """Return the probability of at most ``covered`` covered labels of valid p-values."""
        masses = covered_by_parts(parts, level, self._is_smoothed)
        return None if masses is None else min(1.0, math.fsum(masses[: covered + 1]))

    # ---- tests

    def _atypical(self) -> Finding | None:
        """Return atypical rows at the smallest level that can exclude a label, with the probability of so
        many.
        """
        facts, n = self.model.facts, self.predicted
        rows = min(facts.class_counts.values()) if facts.is_label_conditional else facts.counted_rows
        rows = max(facts.group_rows.values(), default=rows)
        level = next((level for level in sorted(self.guarantee.levels) if level >= 1 / (rows + 1)), None)
        if level is None:
            return None
        atypical = self.reasons[level]["atypical"]
        text = (
            f"{atypical} of {row_count(n)} ({percent(atypical, n)}) {are(atypical)} atypical at "
            f"level {level!r} (every p-value is at most {level!r})"
        )
        bound = min(1.0, self.guarantee.error_bound(level))
        if not self._is_testable() or bound >= 1:
            return Finding(f"{text}.")
        if facts.single_rows:  # a row of another class may be atypical too
            bound = min(1.0, bound + self.guarantee.other_class_rate)
        p, how = self._atypical_p(atypical, n, level, rows + 1, bound)
        return Finding(
            f"{text}. For exchangeable rows the expected share is at most {digits(100 * bound)} %, and the "
            f"p-value of these rows is {p_text(p, ALARM)} ({how}).",
            p,
        )

    def _atypical_p(
        self, atypical: int, n: int, level: float, counted: int, bound: float
    ) -> tuple[float, str]:
        """Return a bound on the probability of at least ``atypical`` atypical rows among n exchangeable ones.

        An atypical row is an error. Errors of split conformal prediction are beta-binomial given the
        calibration examples, fewer with ties; in other cases only their expected number is bounded.
        """
        facts, params = self.model.facts, self.model.facts.params
        one_sample = not (facts.is_label_conditional or facts.group_rows or facts.single_rows)
        inexact = ("conformal__classes", "conformal__smoothed", "conformal__best_of")
        exact = params.get("conformal") == "split" and not any(params.get(name) for name in inexact)
        if exact and one_sample:
            covered = covered_probabilities(n, counted, level)
            return min(1.0, math.fsum(covered[: n - atypical + 1])), "beta-binomial"
        return (min(1.0, n * bound / atypical) if atypical else 1.0), "Markov's inequality"

    def _ranges(self) -> Finding | None:
        """Return the rows outside the training range of a feature, and the features with most of them."""
        ranges, names = self.model.coder.ranges, self.model.coder.features
        if ranges is None or not ranges[2].any():
            return None
        numeric = np.flatnonzero(ranges[2] > 0)
        n, outside, rows = self.rows, self._outside.sum(axis=0), self.outside_rows
        order = [j for j in np.argsort(-outside, kind="stable").tolist() if outside[j]]
        features = listed([f"'{names[j]}' ({outside[j]})" for j in order])
        features = f": {features}" if features else ""
        text = f"{rows} of {row_count(n)} ({percent(rows, n)}) {are(rows)} outside the training range of a "
        text += "feature"
        if not self._is_testable(noise_matters=False):
            return Finding(f"{text}{features}.")
        expected = min(1.0, float(np.sum(2 / (ranges[2, numeric] + 1))))
        chances = outside_probability(self._outside[:, numeric], n, ranges[2, numeric].astype(np.int64))
        p = min(1.0, chances.size * float(chances.min()))
        return Finding(
            f"{text} (at most {digits(100 * expected)} % expected, p-value {p_text(p, ALARM)}, "
            f"Bonferroni){features}.",
            p,
        )

    def band(self, level: float) -> str:
        """Return the 95 % band of the coverage of labelled rows as text, empty if there is none."""
        parts = self._labelled_parts()
        if parts is None:
            return ""
        ends = coverage_band(parts, level, self._is_smoothed)
        text = " to ".join(digits(100 * end) for end in ends)
        return "" if math.isnan(ends[0]) else f" (95 % band {text} %)"

    @property
    def _is_smoothed(self) -> bool:
        params = self.model.facts.params
        return bool(params.get("smoothed") or params.get("conformal__smoothed"))

    def _labelled_parts(self) -> list[tuple[int, int]] | None:
        """Return (labelled rows, examples that each p-value is computed from), for `coverage_band`.

        None if errors of labelled rows are not beta-binomial: errors in overlapping groups are dependent, and
        cross-conformal p-values have another bound.
        """
        facts, rows = self.model.facts, Counter[tuple[int, int, int]]()
        other_errors = facts.params.get("conformal") == "cross" or facts.params.get("conformal__best_of")
        if not self.labelled or not self._is_testable() or len(facts.groups_of) > 1 or other_errors:
            return None
        for (group, column, counted), n in self.labelled.items():
            rows[group, column if facts.is_label_conditional else 0, counted] += n
        return [(n, counted) for (_, _, counted), n in rows.items()]

    def _coverage(self) -> Finding | None:
        """Return the coverage of labelled rows, compared with that of valid p-values."""
        facts, parts = self.model.facts, self._labelled_parts()
        if parts is None:
            return None
        count, levels = sum(rows for rows, _ in parts), self.guarantee.levels
        p = [self._low_coverage_p(parts, level, self.covered[level]) for level in levels]
        if None in p:
            return None
        adjusted = holm(p)
        low = [level for level, adjusted_p in zip(levels, adjusted, strict=True) if adjusted_p <= ALARM]
        how = "beta-binomial" + (", approximate" if facts.params.get("conformal") != "split" else "")
        shown = low or [levels[int(np.argmin(adjusted))]]
        bands = [
            f"{percent(self.covered[level], count)} at level {level!r}{self.band(level)}" for level in shown
        ]
        return Finding(
            f"Coverage of {row_count(count)} with labels of these classes: {', '.join(bands)} "
            f"(p-value {p_text(min(adjusted), ALARM)}, {how}{', Holm' if len(levels) > 1 else ''}).",
            float(min(adjusted)),
        )

    def _is_testable(self, noise_matters: bool = True) -> bool:
        facts, broken = self.model.facts, self.guarantee.promise.broken is not None
        return not (facts.groups or facts.shift or (noise_matters and broken))


def outside_probability(outside: np.ndarray, n: int, m: np.ndarray) -> np.ndarray:
    """Return the largest probability that ``outside`` or more of n values exceed all of m exchangeable ones.

    The largest ``outside`` of the m + n values are then all new: C(n, outside) / C(m + n, outside), less with
    ties. The same holds for values below all of them.
    """
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.pmf(outside, m + n, n, outside))
