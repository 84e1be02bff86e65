"""`Reasons`: why numbers of confml differ from the published ones, from ``reasons.yaml``."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


class Kind(enum.StrEnum):
    """Evidence that a reason gives.

    PROVED: a contradiction in the source, its rounding, or a count. SETTING: a setting that the source does
    not state, chosen after its number was seen, gives the number or explains the difference. DATA: the data
    are known to differ. CHANCE: more splits show that the difference is chance. OPEN: nothing was found.
    STAND_IN: another algorithm is computed instead. MISSING: why a number is not computed. TIME: about run
    times.
    """

    PROVED = "proved"
    SETTING = "setting"
    DATA = "data"
    CHANCE = "chance"
    OPEN = "open"
    STAND_IN = "stand-in"
    MISSING = "missing"
    TIME = "time"


@dataclass(frozen=True)
class Code:
    """A reason and its kind."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class Rule:
    """The reason for some numbers of a table.

    only: for names of key columns, and ``column``, the values to which the rule applies; all by default.
    within_chance: whether the reason is also stated for a difference within two standard errors. no_chance:
    whether chance is not considered, because the two numbers are of test parts of other sizes. bound: lower
    bound, in seconds, of times that are not computed, and `points`, the number of its grid points.
    """

    table: str
    reason: str
    only: Mapping[str, tuple[str, ...]]
    within_chance: bool = False
    no_chance: bool = False
    bound: float | None = None
    points: int | None = None

    def applies(self, table: str, keys: Mapping[str, str], column: str) -> bool:
        named = {**keys, "column": column}
        return table == self.table and all(named.get(name) in values for name, values in self.only.items())


@dataclass(frozen=True)
class Reasons:
    """All reasons by code, and the rules in order: the first one that applies counts."""

    codes: Mapping[str, Code]
    rules: tuple[Rule, ...]

    def find(self, table: str, keys: Mapping[str, str], column: str) -> Rule | None:
        """Return the first rule for a number, None if there is none."""
        return next((rule for rule in self.rules if rule.applies(table, keys, column)), None)


def read_reasons() -> Reasons:
    """Return the reasons of this package; ValueError for a rule with an unknown code."""
    path = Path(__file__).parent / "reasons.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    codes = {
        name: Code(" ".join(one["text"].split()), Kind(one["kind"]))
        for name, one in document["codes"].items()
    }
    rules = tuple(map(_rule, document["rules"]))
    for rule in rules:
        if rule.reason not in codes:
            raise ValueError(f"reasons.yaml: unknown reason '{rule.reason}' of a rule for {rule.table}")
    return Reasons(codes, rules)


def _rule(entry: Mapping[str, Any]) -> Rule:
    only = {name: tuple(map(str, values)) for name, values in entry.get("only", {}).items()}
    return Rule(**{name.replace("-", "_"): value for name, value in {**entry, "only": only}.items()})
