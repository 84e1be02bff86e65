"""Warnings of a run: their codes and their text."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

WARNINGS: Mapping[str, str] = {
    "unscaled-features": "features have very different ranges, a method uses distances or margins, and no "
    "step scales the features: the features with the largest range dominate",
    "level-as-confidence": "a level above 0.5, which was probably meant as a confidence: a region at "
    "level 0.95 may miss the true label in 95 % of the rows",
    "k-too-large": "k is not smaller than the training set, or for tcm-nn than its smallest class",
    "level-too-small": "a level is below the smallest possible p-value 1/(m + 1) of m training (or "
    "calibration) rows, so that no label can be excluded",
    "duplicate-rows": "rows occur several times, label included, so that copies of training rows are in "
    "test parts",
    "rows-in-train-and-test": "test rows of a predefined split are training rows too",
    "alike-labels": "labels differ only in case, blanks or the form of a number, and count as different "
    "classes",
    "identifier": "a feature has a different value in every row, as an identifier has",
    "repeated-identifier": "a feature may name subjects with several rows each, and the config has no groups",
    "gives-label-away": "a feature determines the label of every training row",
    "class-coverage": "the regions of a method contain the labels of a class more rarely than 1 - level "
    "(p <= 0.01, Holm over the classes): the guarantee is for all rows together",
    "constant-predictions": "a method predicts the same class for every test row",
    "end-of-grid": "inner selection chooses the smallest or largest number of a tune grid on most splits, so "
    "that better values may be outside of it",
    "votes-below-threshold": "votes of one-vs-one machines cannot reach a threshold: a class wins at most "
    "K - 1 of K (K - 1) / 2 votes, a share of 2/K",
}
"""Code of each warning, with its meaning. The codes do not change; ``silence:`` of a config takes them."""

MANY = 3
"""Number of data sets from which one line has the warning of all."""


@dataclass(frozen=True)
class Warned:
    """A warning. code: one of `WARNINGS`. sentence: the fact. remedy: what to do about it. dataset: name or
    ""."""

    code: str
    sentence: str
    remedy: str
    dataset: str = ""

    @property
    def text(self) -> str:
        """The warning in one line, with its data set and its code."""
        return f"{f'{self.dataset}: ' if self.dataset else ''}{self.sentence}; {self.remedy} [{self.code}]"

    def as_dict(self) -> dict[str, Any]:
        """Return the warning as plain values, for JSON."""
        return asdict(self)


def unsilenced(warnings: Iterable[Warned], silence: Collection[str]) -> list[Warned]:
    """Return the warnings whose codes are not in ``silence``."""
    return [warning for warning in warnings if warning.code not in silence]


def warning_texts(warnings: Iterable[Warned]) -> list[str]:
    """Return one line per warning; one for all data sets with the same fact but for its numbers."""
    alike: dict[tuple[str, str], list[Warned]] = {}
    for warning in warnings:
        masked = re.sub(r"(?<=1/)\d+|\d+(?= (?:training |calibration )?rows?)", "#", warning.sentence)
        fact = re.split(r" \(| class ", masked)[0]
        same = alike.setdefault((warning.code, fact), [])
        same += [warning] if warning not in same else []
    texts = []
    for first, *rest in alike.values():
        names = list(dict.fromkeys(warning.dataset for warning in rest if warning.dataset != first.dataset))
        if len(names) < MANY - 1:
            texts += [warning.text for warning in (first, *rest)]
        else:
            note = f"the same on {len(names)} other data set{'s' * (len(names) > 1)}: {', '.join(names)}"
            texts.append(f"{first.text} ({note})")
    return texts
