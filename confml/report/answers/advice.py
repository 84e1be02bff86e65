"""`Advice`: which method to take for an aim, at which price, and what is guaranteed."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from confml.report.answers.datasets import RankVerdict, ranking_of
from confml.report.answers.differences import Comparison
from confml.report.answers.lines import Line
from confml.report.answers.losses import COST, SIZE
from confml.report.answers.standings import Standings
from confml.report.answers.text import SAME, detectable_text, listed, percent, plain_number, points
from confml.report.answers.thresholds import Decided


def unpromised(standings: Standings, level: float) -> str:
    """Return a sentence on the regions that promise no coverage at a level; "" without such regions."""
    views: dict[str, dict[str, None]] = {}
    several = {line.method for line in standings.lines if standings.label(line) != line.method}
    for line in standings.lines:
        if line not in standings.compared(line.dataset):
            continue
        regions = [cell.has_regions(line.view, level) for cell in standings.losses(line).values()]
        if any(regions) and standings.promise(line, level) is None:
            views.setdefault(line.method, {})[line.view] = None
    names = [f"{one} ({listed(list(own))})" if one in several else one for one, own in views.items()]
    return f"No coverage of 1 - level is promised for the regions of {listed(names, 8)}." if names else ""


TITLES = {
    "error": "lowest error",
    "cost": "lowest cost",
    "regions": "smallest valid regions",
    "certified": "largest certified share",
}
"""Title of each aim of a config."""
METRICS = {"error": "error", "cost": COST, "regions": SIZE}
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
        if self.alike:
            text += f" Not shown to differ: {listed(self.alike)}"
            if self.fastest != self.best and self.fastest is not None:
                text += f"; {self.fastest} is the fastest ({seconds_text(self.seconds[self.fastest])})"
            elif self.best in self.seconds:
                text += f"; {self.best} is the fastest"
            text += "."
        return text

    @property
    def rest(self) -> str:
        """Detectable difference and guarantee, as sentences."""
        return " ".join(filter(None, [self.power, self.guarantee]))

    @property
    def sentence(self) -> str:
        return f"{self.head} {self.rest}".strip()

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, for JSON."""
        kept = {key: value for key, value in asdict(self).items() if value}
        recommended = self.fastest if self.best is not None else None
        return {**kept, "recommended": recommended, "sentence": self.sentence}


def usual_level(levels: Sequence[float]) -> float | None:
    """Return the level of short tables and advice: the one that is closest to 0.05; None without levels."""
    return min(map(float, levels), key=lambda level: (abs(level - USUAL_LEVEL), level), default=None)


def aim_of(config: Any) -> str:
    """Return the aim of a config: the given one, or the lowest cost if it has costs, or the lowest error."""
    return config.aim or ("cost" if config.costs else "error")


def advise(standings: Standings, dataset: str, aim: str, decided: Decided) -> Advice:
    """Return the advice for an aim on one data set."""
    if progress := standings.progress(dataset).text:
        return Advice(aim, reason=f"So far {progress}: no advice.")
    if aim == "certified":
        return _of_certified(standings, dataset, decided)
    level = usual_level(standings.results.config.levels) if aim == "regions" else None
    family = standings.family(dataset, METRICS[aim], level)
    if family is None or not family.best:
        with_regions = [line for line in standings.of_dataset(dataset) if standings.of(line, SIZE, level)]
        if aim == "regions" and level is not None and with_regions:
            if all(standings.promise(line, level) is None for line in with_regions):
                return Advice(aim, reason="No method promises the coverage of its regions.")
            return Advice(aim, reason=f"None keeps its promise at level {level!r}.")
        missing = {"cost": "costs (costs: in the config)", "regions": "regions"}.get(aim, "results")
        return Advice(aim, reason=f"No method has {missing}.")
    if len({line.method for line in family.lines}) < 2:
        return Advice(aim, reason="Nothing to compare with.")
    best = family.best[0]
    mean = family.mean(best)
    for baseline in family.baselines:
        if not family.beats(best, baseline):
            text = f"{standings.label(best)} has the {TITLES[aim]} ({_value(aim, mean, level)})"
            text += f", and is not shown to be better than {standings.label(baseline)}."
            return Advice(aim, reason=text)
    alike = [line for line in _first_of_methods(family) if line.method != best.method]
    # Without a test, nothing is known of their difference.
    alike = [line for line in alike if not (family.worse(line) or math.isnan(family.adjusted(line)))]
    advice = Advice(
        aim,
        standings.label(best),
        _value(aim, mean, level),
        {standings.label(line): standings.seconds(line) for line in family.lines},
        tuple(standings.label(line) for line in alike),
        _power(aim, family, mean),
    )
    chosen = next((line for line in alike if standings.label(line) == advice.fastest), best)
    return replace(advice, guarantee=_guarantee(standings, dataset, chosen, family))


def _first_of_methods(family: Comparison) -> list[Line]:
    """Return the line with the lowest mean of each method, by mean."""
    means = dict(zip(family.lines, family.means.tolist(), strict=True))
    order = sorted(family.lines, key=lambda line: (means[line], family.lines.index(line)))
    return list({line.method: line for line in reversed(order)}.values())[::-1]


def _value(aim: str, mean: float, level: float | None) -> str:
    if aim == "error":
        return f"{points(mean)} %"
    return f"cost {plain_number(mean)}" if aim == "cost" else f"set size {mean:.3f} at level {level!r}"


def _power(aim: str, family: Comparison, mean: float) -> str:
    if family.same:
        text = SAME if aim == "error" else "the methods have the same losses on every row"
    else:
        unit = {"error": "points", "cost": "", "regions": "labels"}[aim]
        text = detectable_text([family.detectable], mean, unit)
    return f"{text[0].upper()}{text[1:]}."


def _guarantee(standings: Standings, dataset: str, chosen: Line, family: Comparison) -> str:
    """Return the guarantee of the regions of a line, or else the best line with one, and its price."""
    level = usual_level(standings.results.config.levels)
    if level is None:
        return ""
    label, share = standings.label(chosen), f"{100 * (1 - level):g} %"
    verdict = standings.coverage(chosen, level)
    if verdict.too_low:
        return (
            f"The coverage of the regions of {label} is shown to be too low for {share} "
            f"(p = {verdict.p_value:.2g})."
        )
    promise = standings.promise(chosen, level)
    if promise is not None:
        about = "; the bound is approximate" if promise else ""
        return (
            f"Regions of {label} at level {level!r} contain the label of a new row with probability at least "
            f"{share}, on average over training sets and rows, if the rows are exchangeable{about}."
        )
    text, have = f"The regions of {label} have no guarantee of {share}", "one"
    if standings.of(chosen, SIZE, level) is None:
        text, have = f"{label} has no regions", f"a guarantee of {share}"
    others = [
        line
        for line in standings.of_dataset(dataset)
        if standings.promise(line, level) is not None and not standings.coverage(line, level).too_low
    ]
    errors = {line: one.mean for line in others if (one := standings.of(line, "error"))}
    if not errors:
        return f"{text}."
    other = min(errors, key=lambda line: (line in family.lines and family.worse(line), errors[line], line))
    times = standings.seconds(other) / max(standings.seconds(chosen), 1e-9)
    price = f", at {times:.2g} times the time" if math.isfinite(times) and f"{times:.2g}" != "1" else ""
    if other in family.lines and family.worse(other):
        price += ", but it is shown to be worse"
    return f"{text}; the regions of {standings.label(other)} have {have}{price}."


def _of_certified(standings: Standings, dataset: str, decided: Decided) -> Advice:
    if not decided.certified:
        return Advice("certified", reason=decided.sentence)
    label = decided.certified_label
    seconds = {standings.label(line): standings.seconds(line) for line in standings.of_dataset(dataset)}
    share = percent(decided.certified)
    return Advice(
        "certified",
        label,
        f"{share} of new predictions",
        seconds,
        guarantee="An accepted prediction is wrong with probability at most 1 %; this holds with probability "
        f"95 % over the calibration rows, for the choice among all {decided.views} views.",
    )


# ---- over data sets


def overall(
    standings: Standings, aim: str, failed: Collection[tuple[str, str]] = ()
) -> tuple[Advice | None, RankVerdict | None]:
    """Return the advice over data sets by mean ranks, and its verdict; None with fewer than two data sets.

    failed: (data set, method) pairs, which rank last there.
    """
    if aim not in METRICS:
        return None, None
    level = usual_level(standings.results.config.levels) if aim == "regions" else None
    means: dict[tuple[str, str], float] = {}
    times: dict[str, list[float]] = {}
    datasets = list(dict.fromkeys(line.dataset for line in standings.lines))
    datasets = [name for name in datasets if not standings.progress(name).pending]
    for name in datasets:
        family = standings.family(name, METRICS[aim], level)
        for line, mean in zip(family.lines, family.means.tolist(), strict=True) if family else ():
            if (name, line.method) not in means and not math.isnan(mean):
                means[name, line.method] = round(mean, 12)
                times.setdefault(line.method, []).append(standings.seconds(line))
    methods = list(dict.fromkeys(line.method for line in standings.lines))
    found = ranking_of(aim, means, (methods, datasets), False, failed=failed)
    if found is None:
        return None, None
    verdict, labels = found.verdict, found.labels
    ranks, order = verdict.comparison.mean_ranks.tolist(), verdict.by_rank
    best, *others = [labels[place] for place in order]
    alike = [label for label, place in zip(others, order[1:], strict=True) if not verdict.worse(place)]
    rest = "; ".join(f"{labels[place]} {ranks[place]:.2f}" for place in order[1:5])
    more = f" and {len(order) - 5} more" if len(order) > 5 else ""
    advice = Advice(
        aim,
        best,
        f"mean rank {ranks[order[0]]:.2f} over {len(found.datasets)} data sets",
        {label: median(own) for label, own in times.items()},
        alike if verdict.testable else (),
        f"Next by mean rank: {rest}{more}. {verdict.sentence(bars=False)}",
        found.missing,
    )
    if level := usual_level(standings.results.config.levels):
        chosen = [line for line in standings.lines if line.method == advice.fastest]
        reasons = {line: standings.promise(line, level) for line in chosen}
        kept = {line.dataset for line, why in reasons.items() if why is not None} >= set(found.datasets)
        kept = kept and not any(standings.coverage(line, level).too_low for line in reasons)
        about = "an approximate guarantee" if any(reasons.values()) else "a guarantee"
        promise = f"{about if kept else 'no guarantee'} of {100 * (1 - level):g} %"
        text = f"The regions of {advice.fastest} have {promise}."
        advice = replace(advice, guarantee=f"{text} {advice.guarantee}".strip())
    return advice, verdict


def seconds_text(value: float) -> str:
    """Return a time with two or three digits, in milliseconds below 0.1 s."""
    if value < 0.0995:
        return f"{1000 * value:.2g} ms"
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"
