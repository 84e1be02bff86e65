"""`Advice`: which method to take for an aim, at which price, and what is guaranteed."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from confml.report.answers.accepted import Accepted
from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.datasets import rank
from confml.report.answers.differences import SIGNIFICANCE, Comparison
from confml.report.answers.losses import COST, ERROR, SIZE
from confml.report.answers.text import SAME, detectable_text, listed, percent, plain_number, points

TITLES = {
    "error": "lowest error",
    "cost": "lowest cost",
    "regions": "smallest valid regions",
    "certified": "largest certified share",
}
"""Title of each aim of a config."""
METRICS = {"error": (ERROR, "points"), "cost": (COST, ""), "regions": (SIZE, "labels")}
"""Metric and unit of the aims whose methods are compared."""
USUAL_LEVEL = 0.05


@dataclass(frozen=True)
class Advice:
    """The best method for an aim, and the fastest one that is not shown to differ from it.

    aim: a key of `TITLES`. best: label, None without advice; reason: why there is none, a sentence. value:
    of the best one, as text. seconds: of inner selection, fit and prediction of a split, by label. alike:
    methods that are not shown to differ from the best. power: sentence on what the run could show.
    guarantee: sentences on the promise of the recommended method.
    """

    aim: str
    best: str | None = None
    value: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    alike: Sequence[str] = ()
    power: str = ""
    guarantee: str = ""
    reason: str = ""

    @property
    def fastest(self) -> str | None:
        """The fastest of the best method and those not shown to differ from it."""
        labels = [label for label in (self.best, *self.alike) if label is not None and label in self.seconds]
        return min(labels, key=lambda label: self.seconds[label], default=self.best)

    @property
    def head(self) -> str:
        """The recommendation: the best method, those not shown to differ, and the fastest of these."""
        if self.best is None:
            return self.reason
        time = f", {seconds_text(self.seconds[self.best])}" if self.best in self.seconds else ""
        text = f"For the {TITLES[self.aim]}: {self.best} ({self.value}{time})."
        if not self.alike:
            return text
        text += f" Not shown to differ: {listed(self.alike)}; {self.fastest} is the fastest"
        if self.fastest != self.best and self.fastest is not None:
            text += f" ({seconds_text(self.seconds[self.fastest])})"
        return f"{text}."

    @property
    def rest(self) -> str:
        """Detectable difference and guarantee, as sentences."""
        return " ".join(filter(None, [self.power, self.guarantee]))

    @property
    def sentence(self) -> str:
        return f"{self.head} {self.rest}".strip()

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, for JSON."""
        values = {key: value for key, value in asdict(self).items() if value}
        return {**values, "recommended": self.fastest, "sentence": self.sentence}


def usual_level(levels: Sequence[float]) -> float | None:
    """Return the level of short tables and advice: the one that is closest to 0.05; None without levels."""
    return min(map(float, levels), key=lambda level: (abs(level - USUAL_LEVEL), level), default=None)


def level_of(comparisons: Comparisons) -> float | None:
    """Return the `usual_level` of the first run."""
    return usual_level(comparisons.results.config.levels)


def aim_of(config: Any) -> str:
    """Return the aim of a config: the given one, or the lowest cost if it has costs, or the lowest error."""
    return config.aim or ("cost" if config.costs else "error")


def unpromised(comparisons: Comparisons, level: float) -> str:
    """Return a sentence on the regions that promise no coverage at a level; "" without such regions."""
    views: dict[str, dict[str, None]] = {}
    several = {line.method for line in comparisons.lines if comparisons.label(line) != line.method}
    for line in comparisons.lines:
        is_unpromised = comparisons.has_regions(line, level) and comparisons.promise(line, level) is None
        if is_unpromised and not comparisons.is_baseline(line):
            views.setdefault(line.method, {})[line.view] = None
    names = [
        f"{name} ({listed(list(of_method))})" if name in several else name
        for name, of_method in views.items()
    ]
    return f"No coverage of 1 - level is promised for the regions of {listed(names, 8)}." if names else ""


def advise(comparisons: Comparisons, dataset: str, aim: str, accepted: Accepted) -> Advice:
    """Return the advice for an aim on one data set."""
    if dataset in comparisons.unfinished:
        return Advice(aim, reason=f"So far {comparisons.unfinished[dataset]}: no advice.")
    if aim == "certified":
        return _of_certified(comparisons, dataset, accepted)
    level = level_of(comparisons) if aim == "regions" else None
    metric, unit = METRICS[aim]
    comparison = comparisons.comparison(dataset, metric, level)
    if comparison is None:
        return Advice(aim, reason=_why_none(comparisons, dataset, aim, level))
    if len({line.method for line in comparison.lines}) < 2:
        return Advice(aim, reason="Nothing to compare with.")
    best, mean = comparison.best[0], float(comparison.means.min())
    label = comparisons.label(best)
    value = {
        "error": f"{points(mean)} %",
        "cost": f"cost {plain_number(mean)}",
        "regions": f"set size {mean:.3f} at level {level!r}",
    }[aim]
    for baseline in comparison.baselines:
        if comparison.p_value(best, baseline) >= SIGNIFICANCE:
            text = f"{label} has the {TITLES[aim]} ({value}), and is not shown to be better than "
            return Advice(aim, reason=f"{text}{comparisons.label(baseline)}.")
    alike = {
        comparisons.label(line): line
        for line in _best_of_methods(comparison)
        # Without a test, nothing is known of their difference.
        if line.method != best.method and not math.isnan(comparison.adjusted(line))
        if not comparison.worse(line)
    }
    power = SAME if aim == "error" else "the methods have the same losses on every row"
    if not comparison.same:
        power = detectable_text([comparison.detectable], mean, unit)
    times = {comparisons.label(line): comparisons.seconds(line) for line in comparison.lines}
    advice = Advice(aim, label, value, times, tuple(alike), f"{power[0].upper()}{power[1:]}.")
    chosen = alike.get(str(advice.fastest), best)
    return replace(advice, guarantee=_guarantee(comparisons, dataset, chosen, comparison))


def _why_none(comparisons: Comparisons, dataset: str, aim: str, level: float | None) -> str:
    """Return why no methods are compared for an aim."""
    lines = [line for line in comparisons.of_dataset(dataset) if comparisons.estimate(line, SIZE, level)]
    if aim == "regions" and level is not None and lines:
        if all(comparisons.promise(line, level) is None for line in lines):
            return "No method promises the coverage of its regions."
        return f"None keeps its promise at level {level!r}."
    missing = {"cost": "costs (costs: in the config)", "regions": "regions"}.get(aim, "results")
    return f"No method has {missing}."


def _best_of_methods(comparison: Comparison) -> list[Line]:
    """Return the line with the lowest mean of each method, by mean."""
    order = comparison.means.argsort(kind="stable").tolist()
    lines = [comparison.lines[index] for index in reversed(order)]
    return list({line.method: line for line in lines}.values())[::-1]


def _guarantee(comparisons: Comparisons, dataset: str, chosen: Line, comparison: Comparison) -> str:
    """Return the guarantee of the regions of a line, or else the best line with one, and its price."""
    level = level_of(comparisons)
    if level is None:
        return ""
    label, share = comparisons.label(chosen), f"{100 * (1 - level):g} %"
    p_value = comparisons.low_coverage(chosen, level)
    if p_value is not None:
        low = f"The coverage of the regions of {label} is shown to be too low for {share}"
        return f"{low} (p = {p_value:.2g})."
    promise = comparisons.promise(chosen, level)
    if promise is not None:
        about = "; the bound is approximate" if promise else ""
        return (
            f"Regions of {label} at level {level!r} contain the label of a new row with probability at least "
            f"{share}, on average over training sets and rows, if the rows are exchangeable{about}."
        )
    text, have = f"The regions of {label} have no guarantee of {share}", "one"
    if comparisons.estimate(chosen, SIZE, level) is None:
        text, have = f"{label} has no regions", f"a guarantee of {share}"
    errors = {
        line: estimate.mean
        for line in comparisons.of_dataset(dataset)
        if comparisons.promise(line, level) is not None and comparisons.low_coverage(line, level) is None
        if (estimate := comparisons.estimate(line, ERROR))
    }
    if not errors:
        return f"{text}."
    worse = {line for line in errors if line in comparison.lines and comparison.worse(line)}
    other = min(errors, key=lambda line: (line in worse, errors[line], line))
    times = comparisons.seconds(other) / max(comparisons.seconds(chosen), 1e-9)
    price = f", at {times:.2g} times the time" if math.isfinite(times) and f"{times:.2g}" != "1" else ""
    price += ", but it is shown to be worse" if other in worse else ""
    return f"{text}; the regions of {comparisons.label(other)} have {have}{price}."


def _of_certified(comparisons: Comparisons, dataset: str, accepted: Accepted) -> Advice:
    if not accepted.certified:
        return Advice("certified", reason=accepted.sentence)
    lines = comparisons.of_dataset(dataset)
    return Advice(
        "certified",
        accepted.label,
        f"{percent(accepted.certified)} of new predictions",
        {comparisons.label(line): comparisons.seconds(line) for line in lines},
        guarantee="An accepted prediction is wrong with probability at most 1 %; this holds with probability "
        f"95 % over the calibration rows, for the choice among all {accepted.joint['candidates']} views.",
    )


# ---- over data sets


def overall(comparisons: Comparisons, aim: str, failed: Collection[tuple[str, str]] = ()) -> Advice | None:
    """Return the advice over data sets by mean ranks; None with fewer than two data sets.

    failed: (data set, method) pairs, which rank last there.
    """
    if aim not in METRICS:
        return None
    level = level_of(comparisons)
    means: dict[tuple[str, str], float] = {}
    times: dict[str, list[float]] = {}
    datasets = dict.fromkeys(line.dataset for line in comparisons.lines)
    for name in datasets:
        comparison = comparisons.comparison(name, METRICS[aim][0], level if aim == "regions" else None)
        for line, mean in zip(comparison.lines, comparison.means.tolist(), strict=True) if comparison else ():
            if (name, line.method) not in means:
                means[name, line.method] = round(mean, 12)
                times.setdefault(line.method, []).append(comparisons.seconds(line))
    methods = dict.fromkeys(line.method for line in comparisons.lines)
    finished = [name for name in datasets if name not in comparisons.unfinished]
    ranking = rank(means, (finished, list(methods)), False, aim, failed)
    if ranking is None:
        return None
    ranks, order = ranking.comparison.mean_ranks.tolist(), ranking.by_rank
    labels = [ranking.labels[index] for index in order]
    alike = [label for label, index in zip(labels, order, strict=True) if not ranking.worse(index)]
    rest = "; ".join(f"{ranking.labels[index]} {ranks[index]:.2f}" for index in order[1:5])
    omitted = f" and {len(order) - 5} more" if len(order) > 5 else ""
    advice = Advice(
        aim,
        labels[0],
        f"mean rank {ranks[order[0]]:.2f} over {len(ranking.datasets)} data sets",
        {label: median(seconds) for label, seconds in times.items()},
        alike[1:] if ranking.testable else (),
        f"Next by mean rank: {rest}{omitted}. {ranking.sentence}",
        ranking.missing,
    )
    if level is None:
        return advice
    promises = {
        line: comparisons.promise(line, level) for line in comparisons.lines if line.method == advice.fastest
    }
    promised = {line.dataset for line, reasons in promises.items() if reasons is not None}
    low = [line for line in promises if comparisons.low_coverage(line, level) is not None]
    text = "no guarantee"
    if promised >= {*ranking.datasets} and not low:
        text = "an approximate guarantee" if any(promises.values()) else "a guarantee"
    guarantee = f"The regions of {advice.fastest} have {text} of {100 * (1 - level):g} %."
    return replace(advice, guarantee=f"{guarantee} {advice.guarantee}".strip())


def seconds_text(value: float) -> str:
    """Return a time with two or three digits, in milliseconds below 0.1 s."""
    if value < 0.0995:
        return f"{1000 * value:.2g} ms"
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"
