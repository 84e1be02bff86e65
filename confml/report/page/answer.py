"""The answer of a run: the best method of each data set, by how much, and the predictions it can decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confml.measures.comparison import corrected_t
from confml.measures.distributions import binomial_test
from confml.measures.ranks import holm
from confml.report.joint_paths import ALL
from confml.report.page.material import Material, ViewData
from confml.report.sections.certified import group_columns

LEVEL, RISK = 0.05, 0.01


@dataclass(frozen=True)
class Difference:
    """Error of a method minus that of the best one, with its 95 % interval and its p-values.

    p_value: NaN where there is no test. holm: corrected over the methods of the data set. reason: why the
    two cannot be compared, or "".
    """

    label: str
    error: float
    difference: float
    low: float
    high: float
    p_value: float
    holm: float
    splits: int
    reason: str = ""


@dataclass(frozen=True)
class Decided:
    """Share of the predictions that are accepted at a risk of at most `RISK`.

    observed: largest coverage of the mean risk-coverage curve, with the label of its view. certified: mean
    coverage on new examples of the thresholds that are certified together for all ``views`` of a run, and
    the label of the view chosen most often; None for several runs, and for rows in groups, which have no
    guarantee. needed, rows: accepted examples without error that a certificate needs, and examples of a
    calibration half.
    """

    observed: float
    observed_label: str
    certified: float | None
    certified_label: str
    views: int
    needed: int | None
    rows: int | None


@dataclass(frozen=True)
class Answer:
    """The answer for one data set. best: the view with the smallest mean error; others: by difference.

    missing: labels of methods of the config that have no results on the data set.
    """

    dataset: str
    best: ViewData
    error: float
    sd: float
    splits: int
    test_rows: int
    others: tuple[Difference, ...]
    best_area: str
    decided: Decided
    missing: tuple[str, ...] = ()

    @property
    def indistinguishable(self) -> list[str]:
        """Labels of the methods whose error does not differ from the best at the level."""
        return [one.label for one in self.others if not one.reason and not one.holm < LEVEL]

    @property
    def compared(self) -> list[Difference]:
        return [one for one in self.others if not one.reason]

    @property
    def incomparable(self) -> list[Difference]:
        return [one for one in self.others if one.reason]

    @property
    def not_compared(self) -> str:
        """The methods that are not compared with the best one, with the reason; "" without such methods."""
        by_reason: dict[str, list[str]] = {}
        for one in self.incomparable:
            by_reason.setdefault(one.reason, []).append(one.label)
        if self.missing:
            by_reason["no results"] = list(self.missing)
        return "; ".join(f"{listed(labels)} ({reason})" for reason, labels in by_reason.items())


def answers(material: Sequence[Material]) -> list[Answer]:
    """Return the answer for every data set with results, in order."""
    names = dict.fromkeys(name for one in material for name in one.datasets)
    return [found for name in names if (found := answer(material, name)) is not None]


def answer(material: Sequence[Material], dataset: str) -> Answer | None:
    """Return the answer for one data set; None without results. The first view of each method counts."""
    views = [(one, view) for one in material for view in one.of_dataset(dataset, first_only=True)]
    if not views:
        return None
    means = [float(np.mean(list(view.errors.values()))) for _, view in views]
    order = sorted(range(len(views)), key=lambda place: (means[place], views[place][1].label))
    home, best = views[order[0]]
    others = [difference(home, best, *views[place], means[place]) for place in order[1:]]
    tested = [place for place, one in enumerate(others) if not math.isnan(one.p_value)]
    corrected = dict(zip(tested, holm([others[place].p_value for place in tested]), strict=True))
    others = [
        Difference(**{**vars(one), "holm": float(corrected[place]) if place in corrected else math.nan})
        for place, one in enumerate(others)
    ]
    errors = list(best.errors.values())
    areas = _areas(material, dataset)
    return Answer(
        dataset,
        best,
        means[order[0]],
        float(np.std(errors, ddof=1)) if len(errors) > 1 else math.nan,
        len(errors),
        int(np.mean([n for (name, _), (_, n, _) in home.splits.items() if name == dataset])),
        tuple(others),
        min(areas, key=lambda label: areas[label]) if areas else "",
        _decided(material, dataset),
        tuple(label for one in material for label in one.missing(dataset)),
    )


def _areas(material: Sequence[Material], dataset: str) -> dict[str, float]:
    """Return the mean AUGRC of each view by label."""
    found = {}
    for one in material:
        labels = {view.key: view.label for view in one.of_dataset(dataset)}
        for row in one.results.summary:
            key = (row.dataset, row.method, row.variant, row.view)
            if row.metric == "augrc" and key in labels and not math.isnan(row.mean):
                found[labels[key]] = row.mean
    return found


def best_first(material: Sequence[Material], dataset: str) -> list[str]:
    """Return the labels of all views of a data set by AUGRC, smallest first."""
    areas = _areas(material, dataset)
    return sorted(areas, key=lambda label: areas[label])


def difference(home: Material, best: ViewData, away: Material, other: ViewData, error: float) -> Difference:
    """Return the error of a view minus that of another, on their common splits; error: mean of the first.

    home, away: the runs of ``best`` and of ``other``.
    """
    dataset = best.dataset
    common = [split for split in best.errors if split in other.errors]
    same = [split for split in common if home.splits[dataset, split][2] == away.splits[dataset, split][2]]
    nan = math.nan
    reason = ""
    if not common:
        reason = "no common split"
    elif not same:
        reason = "different test examples"
    if reason:
        plain = error - float(np.mean(list(best.errors.values())))
        return Difference(other.label, error, plain, nan, nan, nan, nan, 0, reason)
    gaps = np.array([other.errors[split] - best.errors[split] for split in same])
    if len(same) == 1:
        split = same[0]
        if split not in best.wrong or split not in other.wrong:
            return Difference(other.label, error, float(gaps[0]), nan, nan, nan, nan, 1, "one common split")
        low, high, p_value = paired_test(other.wrong[split], best.wrong[split])
        return Difference(other.label, error, float(gaps[0]), low, high, p_value, nan, 1)
    train, test = np.mean([home.splits[dataset, split][:2] for split in same], axis=0)
    found = corrected_t(gaps, float(train), float(test))
    return Difference(
        other.label, error, found.difference, found.low, found.high, found.p_value, nan, len(same)
    )


def paired_test(first: np.ndarray, second: np.ndarray, z: float = 1.959964) -> tuple[float, float, float]:
    """Compare the errors (n,) bool of two methods on the same test examples.

    Returns the 95 % interval of the difference of error rates (Bonett and Price 2012) and the p-value of the
    exact test of McNemar.
    """
    n = len(first)
    more, fewer = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    p_value = binomial_test(more, more + fewer)
    a, b = (more + 1) / (n + 2), (fewer + 1) / (n + 2)
    half = z * math.sqrt(max(a + b - (a - b) ** 2, 0.0) / (n + 2))
    return max(a - b - half, -1.0), min(a - b + half, 1.0), p_value


def _decided(material: Sequence[Material], dataset: str) -> Decided:
    observed, observed_label = 0.0, ""
    certified, certified_label, views = None, "", 0
    needed, rows = None, None
    for one in material:
        labels = {view.key: view.label for view in one.of_dataset(dataset)}
        for row in one.rows_of("rejection-curves.csv", dataset):
            key = (row["dataset"], row["method"], row["params"], row["view"])
            coverage = 1 - row["rejection_rate"]
            if row["risk"] <= RISK + 1e-9 and coverage > observed + 1e-9 and key in labels:
                observed, observed_label = float(coverage), labels[key]
        # The best of thresholds that are certified each by itself, or of several runs, has no guarantee.
        if len(material) > 1 or dataset in group_columns(one.results):
            continue
        for row in one.rows_of("certified-jointly.csv", dataset):
            if row["scope"] == ALL and abs(row["limit"] - RISK) < 1e-12:
                key = (row["dataset"], row["method"], row["params"], row["view"])
                certified, certified_label = float(row["coverage"]), labels.get(key, "")
                views, needed, rows = (
                    int(row[name]) for name in ("candidates", "needed", "calibration_rows")
                )
    return Decided(observed, observed_label, certified, certified_label, views, needed, rows)


# ---- as sentences


def percent(value: float, digits: int = 1) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.{digits}f} %".replace("-", "\N{MINUS SIGN}")


def points(value: float) -> str:
    digits = 1 if abs(value) >= 0.001 or value == 0 else 2
    return f"{100 * value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def fixed_points(found: Answer) -> str:
    """Return the error of the best method in per cent."""
    return points(found.error)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names joined by commas and "and"; some of them if there are many."""
    names = list(names)
    if len(names) > most:
        return ", ".join(names[: most - 1]) + f" and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def best_sentence(found: Answer) -> str:
    """Return which method has the smallest error, by how much, and what is indistinguishable from it."""
    spread = f" ± {points(found.sd)}" if not math.isnan(found.sd) else ""
    over = f"over {found.splits} splits" if found.splits > 1 else f"on {found.test_rows} test examples"
    text = f"{found.best.label} has the lowest error, {points(found.error)}{spread} % {over}"
    rest = f" Not compared with it: {found.not_compared}." if found.not_compared else ""
    compared = found.compared
    if not compared:
        return f"{text}.{rest}"
    next_one = compared[0]
    interval = ""
    if not math.isnan(next_one.low):
        interval = f" (95 % interval of the difference {points(next_one.low)} to {points(next_one.high)})"
    if abs(next_one.difference) < 5e-10:
        text += f"; {next_one.label} has the same{interval}"
    else:
        text += f"; {next_one.label} follows with {points(next_one.difference)} points more{interval}"
    alike = found.indistinguishable
    if not alike:
        return f"{text}, and all {len(compared)} other methods differ from it at the 5 % level.{rest}"
    if len(alike) == len(compared) and len(compared) > 1:
        return f"{text}. None of the {len(compared)} other methods differs from it at the 5 % level.{rest}"
    return f"{text}. Indistinguishable from it at the 5 % level: {listed(alike)}.{rest}"


def decided_sentence(found: Answer) -> str:
    """Return the share of predictions that can be decided at a risk of 1 %."""
    one = found.decided
    if one.observed > 0:
        text = (
            f"At a risk of 1 %, {percent(one.observed, 0)} of the predictions can be accepted "
            f"({one.observed_label}, as observed on the test examples)"
        )
    else:
        text = "No share of the predictions has an observed risk of at most 1 %"
    if one.certified is None:
        return text + "."
    if one.certified > 0:
        together = f" together for all {one.views} views" if one.views > 1 else ""
        return (
            f"{text}; with a threshold that is certified{together} it is {percent(one.certified, 0)} of new "
            f"examples (most often {one.certified_label})."
        )
    if (one.rows or 0) < (one.needed or 0):
        return (
            f"{text}; no threshold is certified for new examples: a certificate needs at least {one.needed} "
            f"accepted examples without an error, and a calibration half has {one.rows}."
        )
    return (
        f"{text}; no threshold is certified for new examples, because the most confident of the {one.rows} "
        "examples of a calibration half have too many errors."
    )
