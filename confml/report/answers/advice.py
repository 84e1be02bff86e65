"""`Advice`: which method to take for an aim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confml.report.answers.text import detectable_text, listed, points


@dataclass(frozen=True)
class Advice:
    """The best method for an aim, and the fastest one that is not shown to differ from it.

    aim: "lowest error" or another aim. best: None without advice; reason: why there is none, a sentence.
    value: of the best one, as text. seconds: of inner selection, fit and prediction of a split, by label.
    alike: methods that are not shown to differ from the best. detectable: difference that the run could show.
    """

    aim: str
    best: str | None = None
    value: str = ""
    seconds: Mapping[str, float] | None = None
    alike: Sequence[str] = ()
    detectable: float = math.nan
    reason: str = ""

    @property
    def fastest(self) -> str | None:
        """The fastest of the best method and those not shown to differ from it."""
        known = self.seconds or {}
        labels = [label for label in (self.best, *self.alike) if label is not None and label in known]
        return min(labels, key=lambda label: known[label], default=self.best)

    @property
    def sentence(self) -> str:
        if self.best is None:
            return self.reason
        known = self.seconds or {}
        time = f", {_seconds(known[self.best])}" if self.best in known else ""
        text = f"For the {self.aim}: {self.best} ({self.value}{time})."
        if self.alike:
            text += f" Not shown to differ: {listed(self.alike)}"
            if self.fastest != self.best and self.fastest is not None:
                text += f"; {self.fastest} is the fastest ({_seconds(known[self.fastest])})"
            elif self.best in known:
                text += f"; {self.best} is the fastest"
            text += "."
        if not math.isnan(self.detectable):
            shown = detectable_text([self.detectable])
            text += f" {shown[0].upper()}{shown[1:]}."
        return text


def lowest_error(
    best: str,
    error: float,
    alike: Sequence[str],
    seconds: Mapping[str, float],
    detectable: float,
    better_than_class: bool,
    majority: str,
) -> Advice:
    """Return the advice for the lowest error.

    better_than_class: whether the best is shown to be better than the classifier that always answers the most
    frequent class of training, ``majority``.
    """
    aim = "lowest error"
    if not better_than_class:
        reason = "No method is shown to be better than always answering the most frequent class of training"
        return Advice(aim, reason=f"{reason} ({majority}).")
    return Advice(aim, best, f"{points(error)} %", seconds, tuple(alike), detectable)


def _seconds(value: float) -> str:
    return f"{value:.3g} s"
