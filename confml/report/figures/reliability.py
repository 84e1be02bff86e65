"""Reliability diagrams: isotonic regression of outcomes on probabilities, with a consistency band."""

from typing import NamedTuple

import numpy as np

from confml.measures.isotonic import IsotonicFit, isotonic
from confml.measures.recalibration import Event
from confml.report.figures.figure import DatasetResults, Figure, of_views
from confml.report.figures.style import BLUE, Panels
from confml.report.numbers.outcomes import probability_events

PANELS = 12
DRAWS = 1000  # random outcomes of the band
AT_ONCE = 100_000  # values of draws that are fitted by one call


class Diagram(NamedTuple):
    """Isotonic fit at distinct probabilities (k,), and the band of fits to calibrated outcomes (k,) each."""

    fit: IsotonicFit
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, event: Event, draws: int = DRAWS, seed: int = 0) -> "Diagram":
        """Return fit and band; the band has the 5 % and 95 % quantiles at each probability by itself."""
        fit = IsotonicFit.of(*event)
        rng, p, k = np.random.default_rng(seed), np.clip(fit.values, 0.0, 1.0), len(fit.values)
        parts = []
        for part in np.array_split(np.arange(draws), -(-draws * k // AT_ONCE)):
            happened = rng.binomial(fit.counts, p, (len(part), k))
            above = 2.0 * np.arange(len(part))[:, None]  # no draw is pooled with the one before
            pooled = isotonic((happened / fit.counts + above).ravel(), np.tile(fit.counts, len(part)))
            parts.append(pooled.reshape(len(part), k) - above)
        fits = np.concatenate(parts)
        return cls(fit, *np.quantile(fits, [0.05, 0.95], axis=0))


def draw(data: DatasetResults):
    """Isotonic regression of an event on its probability. The event is the second class of two, or a correct
    prediction if there are more classes. Each test row counts once. Grey: 90 % band, at each probability by
    itself, of outcomes drawn with these probabilities (none for data with groups). Bars: distribution of the
    probabilities.
    """
    events = data.collected(probability_events)
    shown, title = data.shown(events, PANELS, "no method has probabilities or vote shares")
    grouped = data.run.has_groups(data.name)
    panels = Panels(len(shown), height=2.3, sharex=True, sharey=True)
    handles = panels.handles
    for axes, (name, event) in zip(panels.axes, shown.items(), strict=True):
        diagram = Diagram.of(event)
        p = diagram.fit.values
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.5)
        marker = "." if len(p) < 30 else ""
        (handles["isotonic fit"],) = axes.plot(p, diagram.fit.fitted, color=BLUE, marker=marker)
        if not grouped:
            band = axes.fill_between(p, diagram.low, diagram.high, color="0.6", alpha=0.35, linewidth=0)
            handles["90 % band of calibrated probabilities"] = band
        counts, edges = np.histogram(event.p, bins=40, range=(0.0, 1.0))
        counted = axes.stairs(
            0.12 * counts / max(counts.max(), 1), edges, fill=True, color="black", alpha=0.25
        )
        handles["relative number of rows"] = counted
        if len(p) == 1:
            axes.text(0.05, 0.9, f"every probability is {p[0]:.3g}", fontsize=7, color="0.4")
        axes.set_title(f"{name}, n = {len(event.p)}")
        axes.set(xlim=(0, 1), ylim=(0, 1))
    return panels.finish(title, "probability", "frequency of the event")


RELIABILITY = Figure(draw, collects=of_views(probability_events))
