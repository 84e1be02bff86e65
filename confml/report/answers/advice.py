"""`Advice`: which method to take for an aim, at which price, and what is guaranteed."""

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, NamedTuple

from confml.measures.costs import COSTS
from confml.measures.ranks import holm
from confml.measures.regions import by_usual_level
from confml.methods import BASELINE
from confml.report.answers.accepted import Accepted
from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.datasets import rank
from confml.report.answers.differences import SIGNIFICANCE, Comparison
from confml.report.answers.losses import COST, ERROR, SIZE
from confml.report.answers.text import (
    SAME,
    capitalised,
    detectable_text,
    listed,
    percent,
    plain_number,
    points,
)
from confml.runner.splits import IN_PARTS

TITLES = {
    "error": "lowest error",
    "cost": "lowest cost",
    "regions": "smallest valid regions",
    "certified": "smallest certified risk",
}
"""Title of each aim of a config."""
METRICS = {"error": (ERROR, "points"), "cost": (COST, ""), "regions": (SIZE, "labels")}
"""Metric and unit of the aims whose methods are compared."""


@dataclass(frozen=True)
class Advice:
    """The method to take for an aim.

    It is one of those without a significant difference from the best: the one with the lowest AUGRC,
    then one with a guarantee, then the fastest.

    aim: a key of `TITLES`. recommended: label, None without advice; reason: why there is none, a sentence.
    value: of the recommended method, as text. best: label of the method with the lowest mean; lowest: its
    value, "" if it is the recommended one. alike: the other methods without a significant difference from
    the best; choice: by what the recommended one is better than these. power: sentence on the detectable
    difference. guarantee: sentences on the promise of the recommended method.
    """

    aim: str
    recommended: str | None = None
    value: str = ""
    best: str = ""
    lowest: str = ""
    alike: Sequence[str] = ()
    choice: str = ""
    power: str = ""
    guarantee: str = ""
    reason: str = ""

    @property
    def head(self) -> str:
        """The recommendation, and the methods without a significant difference."""
        if self.recommended is None:
            return self.reason
        text = f"Recommended for the {TITLES[self.aim]}: {self.recommended} ({self.value})."
        if not self.alike:
            return text
        names = [
            f"{name} ({self.lowest})" if name == self.best and self.lowest else name for name in self.alike
        ]
        return f"{text} No significant difference from {listed(names)}; {self.recommended} {self.choice}."

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
        return {**values, "recommended": self.recommended, "sentence": self.sentence}


class Merits(NamedTuple):
    """What decides between methods without a significant difference; smaller is better."""

    augrc: float
    unguaranteed: bool
    seconds: float

    def advantage(self, runner_up: "Merits") -> str:
        """Return the first merit that differs from another method's, as a predicate."""
        if self.augrc != runner_up.augrc:
            return f"has the lowest AUGRC ({plain_number(100 * self.augrc)} %)"
        return "has a guarantee" if self.unguaranteed != runner_up.unguaranteed else "is the fastest"


def merits_of(comparisons: Comparisons, lines: Sequence[Line], level: float | None) -> Merits:
    """Return the means of the lines of one method, which has a guarantee if it has it on all of them."""
    areas = [area.mean if (area := comparisons.estimate(line, "augrc")) else math.nan for line in lines]
    mean = math.fsum(areas) / len(areas)
    return Merits(
        math.inf if math.isnan(mean) else round(mean, 12),
        level is None or not all(_is_guaranteed(comparisons, line, level) for line in lines),
        median(map(comparisons.seconds, lines)),
    )


def _is_guaranteed(comparisons: Comparisons, line: Line, level: float) -> bool:
    return comparisons.promise(line, level) is not None and comparisons.low_coverage(line, level) is None


def usual_level(levels: Sequence[float]) -> float | None:
    """Return the level of short tables and advice: the one that is closest to 0.05; None without levels."""
    return next(iter(by_usual_level(levels)), None)


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
    return f"The regions of {listed(names, 8)} have no guarantee of coverage." if names else ""


def comparison_for(comparisons: Comparisons, dataset: str, aim: str) -> Comparison | None:
    """Return the comparison of the lines of a data set by the metric of an aim."""
    level = level_of(comparisons) if aim == "regions" else None
    return comparisons.comparison(dataset, METRICS[aim][0], level)


def advise(comparisons: Comparisons, dataset: str, aim: str, accepted: Accepted) -> Advice:
    """Return the advice for an aim on one data set."""
    if dataset in comparisons.unfinished:
        return Advice(aim, reason=f"So far {comparisons.unfinished[dataset]}: no advice.")
    if aim == "certified":
        return _of_certified(accepted)
    level, comparison = level_of(comparisons), comparison_for(comparisons, dataset, aim)
    if comparison is None:
        return Advice(aim, reason=_why_none(comparisons, dataset, aim, level))
    label, best, baselines, undecided = comparisons.label, comparison.best[0], list(comparison.baselines), ""
    costs: dict[Line, float] = {}
    if aim == "cost":
        undecided = _without_decisions(comparisons, comparisons.of_dataset(dataset))
        costs = {line: _mean_cost(comparisons, line) for line in baselines}
        baselines = sorted(baselines, key=costs.__getitem__)[:1]
    means = dict(zip(comparison.lines, comparison.means.tolist(), strict=True))
    values = {line: _value_text(aim, mean, level) for line, mean in means.items()}
    several = len({line.method for line in comparison.lines}) > 1
    if not several and not costs:
        return Advice(aim, reason=f"Nothing to compare with {label(best)} ({values[best]}).{undecided}")
    unbeaten = [line for line in baselines if not comparison.p_value(best, line) < SIGNIFICANCE]
    merits = {
        line: merits_of(comparisons, [line], level)
        for line in comparison.lines
        if line in comparison.best or comparison.adjusted(line) >= SIGNIFICANCE  # NaN without a test
        if all(comparison.p_value(line, baseline) < SIGNIFICANCE for baseline in baselines)
    }
    if not merits:
        text = (
            f"{label(best)} has the {TITLES[aim]} of the methods ({values[best]}), and is not shown to be "
            f"better than {label(unbeaten[0])}."
        )
        if costs:
            cost = _value_text(aim, costs[unbeaten[0]], level)
            text = (
                f"Recommended for the lowest cost: {unbeaten[0].view} ({cost}). No method is shown to cost "
                f"less; the lowest cost of the methods is that of {label(best)}, {plain_number(means[best])}."
                f"{undecided}"
            )
        return Advice(aim, best=label(best), reason=text)
    of_methods: dict[str, Line] = {}  # the best of the views of each method
    for line in sorted(merits, key=lambda line: (*merits[line], means[line])):
        of_methods.setdefault(line.method, line)
    recommended, *rivals = of_methods.values()
    power = SAME if aim == "error" else "the methods have the same losses on every row"
    if not several:
        power = "nothing else is compared"
    elif not comparison.same:
        power = detectable_text([comparison.detectable], means[best], METRICS[aim][1])
    choice = merits[recommended].advantage(merits[rivals[0]]) if rivals else ""
    if best.method not in of_methods:
        rivals.append(best)
        choice = f"is shown to be better than {label(unbeaten[0])}"
        if costs:
            choice = f"is shown to cost less than {unbeaten[0].view}"
    best = of_methods.get(best.method, best)
    return Advice(
        aim,
        label(recommended),
        values[recommended],
        label(best),
        values[best] if values[best] != values[recommended] else "",
        [label(line) for line in sorted(rivals, key=means.__getitem__)],
        choice,
        f"{capitalised(power)}.{undecided}",
        _guarantee(comparisons, dataset, recommended, comparison),
    )


def _value_text(aim: str, mean: float, level: float | None) -> str:
    """Return the mean of the metric of an aim as text."""
    if aim == "regions":
        return f"set size {mean:.3f} at level {level!r}"
    return f"{points(mean)} %" if aim == "error" else f"cost {plain_number(mean)}"


def _mean_cost(comparisons: Comparisons, line: Line) -> float:
    """Return the mean cost of the decisions of a line, with abstaining if it has a cost."""
    return next(cost.mean for metric in COSTS[::-1] if (cost := comparisons.estimate(line, metric)))


def _without_decisions(comparisons: Comparisons, lines: Sequence[Line]) -> str:
    """Return a sentence on the methods without probabilities, which do not decide; "" without any."""
    deciding = {line.method for line in lines if comparisons.decides(line)}
    names = list(dict.fromkeys(line.method for line in lines if line.method not in deciding))
    have, they_are = ("has", "it is") if len(names) == 1 else ("have", "they are")
    text = f" {listed(names)} {have} no probabilities, so {they_are} not recommended for cost."
    return text if names else ""


def _why_none(comparisons: Comparisons, dataset: str, aim: str, level: float | None) -> str:
    """Return why no methods are compared for an aim."""
    lines = [line for line in comparisons.of_dataset(dataset) if comparisons.estimate(line, SIZE, level)]
    if aim == "regions" and level is not None and lines:
        if all(comparisons.promise(line, level) is None for line in lines):
            return "No method guarantees the coverage of its regions."
        return f"At level {level!r} the coverage of every method with a guarantee is shown to be too low."
    costs = "probabilities for decisions" if comparisons.results.costs else "costs (costs: in the config)"
    missing = {"cost": costs, "regions": "regions"}.get(aim, "results")
    return f"No method has {missing}."


def _guarantee(comparisons: Comparisons, dataset: str, chosen: Line, comparison: Comparison) -> str:
    """Return the guarantee of the regions of a line, or else the best line with one, and its price."""
    level = level_of(comparisons)
    if level is None:
        return ""
    label, share = comparisons.label(chosen), f"{100 * (1 - level):g} %"
    if comparisons.low_coverage(chosen, level) is not None:
        return _low_coverage_text(comparisons, chosen, level)
    promise = comparisons.promise(chosen, level)
    if promise is not None:
        about = "about" if promise else "at least"
        return (
            f"Regions of {label} at level {level!r} contain the true label of a new row with probability "
            f"{about} {share}. This is an average over training sets and rows, which must be exchangeable."
        )
    text = f"The regions of {label} have no guaranteed coverage of {share}"
    if comparisons.estimate(chosen, SIZE, level) is None:
        text = f"{label} has no regions"
    errors = {
        line: estimate.mean
        for line in comparisons.of_dataset(dataset)
        if _is_guaranteed(comparisons, line, level) and (estimate := comparisons.estimate(line, ERROR))
    }
    if not errors:
        return f"{text}."
    worse = {line for line in errors if line in comparison.lines and comparison.worse(line)}
    guaranteed = min(errors, key=lambda line: (line in worse, errors[line], line))
    times = f"{comparisons.seconds(guaranteed) / max(comparisons.seconds(chosen), 1e-9):.2g}"
    price = "" if times in ("1", "inf", "nan") else f"; the method takes {times} times as long"
    price += "; its error is shown to be worse" if guaranteed in worse else ""
    return f"{text}. Those of {comparisons.label(guaranteed)} have a guaranteed coverage of {share}{price}."


def _low_coverage_text(comparisons: Comparisons, line: Line, level: float) -> str:
    """Return sentences on a coverage that is shown to be too low, with the reason where it is known."""
    coverage, label = comparisons.estimate(line, "coverage", level), comparisons.label(line)
    assert coverage is not None
    text = (
        f"The regions of {label} contain the true label of {100 * coverage.mean:.4g} % of the rows, which is "
        f"shown to be too low for {100 * (1 - level):g} %."
    )
    promise = comparisons.promise(line, level)
    if promise:
        return f"{text} The guarantee is approximate, because {', and '.join(promise)}."
    if promise is None or comparisons.results.config.protocol.kind not in IN_PARTS:
        return text
    p = comparisons.low_coverage(line, level)
    # Tails from a Fourier transform are exact to about 1e-16.
    size = f"p = {p:.2g}" if p is not None and p >= 1e-12 else "p < 1e-12"
    return f"{text} The test part is not exchangeable with the training part ({size})."


def _of_certified(accepted: Accepted) -> Advice:
    if not accepted.certified:
        return Advice("certified", reason=accepted.sentence)
    limit = accepted.joint["limit"]
    return Advice(
        "certified",
        accepted.label,
        f"at most {percent(limit)} for {percent(accepted.certified)} of new predictions",
        accepted.label,
        guarantee="The risk bound holds with probability 95 % over the calibration rows, for the threshold "
        f"of each split. It is chosen among all {accepted.joint['candidates']} views and all limits. The "
        "share is an estimate.",
    )


# ---- over data sets


def overall(comparisons: Comparisons, aim: str, failed: Collection[tuple[str, str]] = ()) -> Advice | None:
    """Return the advice over data sets by mean ranks; None with fewer than two data sets.

    failed: (data set, method) pairs, which rank last there.
    """
    if aim not in METRICS:
        return None
    level = level_of(comparisons)
    lines: dict[tuple[str, str], Line] = {}
    means: dict[tuple[str, str], float] = {}
    datasets = dict.fromkeys(line.dataset for line in comparisons.lines)
    for name in datasets:
        comparison = comparison_for(comparisons, name, aim)
        for line, mean in zip(comparison.lines, comparison.means.tolist(), strict=True) if comparison else ():
            if lines.setdefault((name, line.method), line) == line:
                means[name, line.method] = round(mean, 12)
    methods = dict.fromkeys(line.method for line in comparisons.lines)
    finished = [name for name in datasets if name not in comparisons.unfinished]
    ranking = rank(means, (finished, list(methods)), False, aim, failed)
    if ranking is None:
        return None
    ranks = dict(zip(ranking.labels, ranking.comparison.mean_ranks.tolist(), strict=True))
    best, *worse = [ranking.labels[index] for index in ranking.by_rank]
    alike = [label for label in worse if ranking.testable and not ranking.worse(ranking.labels.index(label))]
    of_method = {
        label: [lines[name, label] for name in ranking.datasets if (name, label) in lines]
        for label in (best, *alike)
    }
    better = {label: better_than_baselines(comparisons, of_method[label], aim) for label in of_method}
    merits = {
        label: merits_of(comparisons, of_method[label], level)
        for label, is_better in better.items()
        if not is_better or any(is_better.values())
    }
    baselines = "cost less than every constant decision" if aim == "cost" else f"be better than {BASELINE}"
    undecided = _without_decisions(comparisons, comparisons.lines) if aim == "cost" else ""
    if not merits:
        text = f"{best} has the best mean rank of the methods, {ranks[best]:.2f}, for the {TITLES[aim]}"
        subject = "Neither it nor a method without a significant difference is" if alike else "It is not"
        return Advice(aim, reason=f"{text}. {subject} shown to {baselines} on any data set.{undecided}")
    recommended, *rivals = sorted(merits, key=merits.__getitem__)
    guarantee = "" if level is None else _guarantee_over(comparisons, of_method[recommended], level)
    shown = list(better[recommended].values())
    if not all(shown):
        count = f"{sum(shown)} of {len(shown)} data sets"
        guarantee = f"{recommended} is shown to {baselines} on {count}. {guarantee}".rstrip()
    return Advice(
        aim,
        recommended,
        f"mean rank {ranks[recommended]:.2f} over {len(ranking.datasets)} data sets",
        best,
        f"{ranks[best]:.2f}" if best != recommended else "",
        [label for label in merits if label != recommended],
        merits[recommended].advantage(merits[rivals[0]]) if rivals else "",
        ranking.sentence,
        " ".join(filter(None, [guarantee, ranking.missing])) + undecided,
    )


def better_than_baselines(comparisons: Comparisons, lines: Sequence[Line], aim: str) -> dict[str, bool]:
    """Return whether the lines of a method are shown to be better than every baseline, by data set.

    Holm's correction is over the data sets. {} without baselines.
    """
    p_values = {}
    for line in lines:
        comparison = comparison_for(comparisons, line.dataset, aim)
        if comparison is not None and comparison.baselines:
            of_baselines = [comparison.p_value(line, baseline) for baseline in comparison.baselines]
            p_values[line.dataset] = max(p if p < 1 else 1.0 for p in of_baselines)  # NaN without a test
    corrected = holm(list(p_values.values())).tolist()
    return {name: p < SIGNIFICANCE for name, p in zip(p_values, corrected, strict=True)}


def _guarantee_over(comparisons: Comparisons, lines: Sequence[Line], level: float) -> str:
    """Return a sentence on the guarantee of the lines of one method on all data sets."""
    method, share = lines[0].method, f"{100 * (1 - level):g} %"
    low = [line.dataset for line in lines if comparisons.low_coverage(line, level) is not None]
    if low:
        return f"The coverage of the regions of {method} is shown to be too low for {share} on {listed(low)}."
    promises = [comparisons.promise(line, level) for line in lines]
    text = "no guaranteed coverage"
    if None not in promises:
        text = "an approximately guaranteed coverage" if any(promises) else "a guaranteed coverage"
    return f"The regions of {method} have {text} of {share}."
