"""`Reasons`: why numbers of confml differ from the published ones, from ``reasons.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Code:
    """A reason. is_open: whether it states that the difference is not explained. for_missing: whether it
    states why a number is not computed. of_times: whether it is about run times."""

    text: str
    is_open: bool
    for_missing: bool
    of_times: bool = False


@dataclass(frozen=True)
class Rule:
    """The reason for some numbers of a table.

    only: for names of key columns, and ``column``, the values to which the rule applies; all by default.
    within_chance: whether the reason is also stated for a difference within two standard errors.
    """

    table: str
    reason: str
    only: Mapping[str, tuple[str, ...]]
    within_chance: bool = False

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
        name: Code(
            " ".join(one["text"].split()),
            one.get("open", False),
            one.get("missing", False),
            one.get("times", False),
        )
        for name, one in document["codes"].items()
    }
    rules = tuple(
        Rule(
            table=one["table"],
            reason=one["reason"],
            only={name: tuple(map(str, values)) for name, values in one.get("only", {}).items()},
            within_chance=one.get("within-chance", False),
        )
        for one in document["rules"]
    )
    for rule in rules:
        if rule.reason not in codes:
            raise ValueError(f"reasons.yaml: unknown reason '{rule.reason}' of a rule for {rule.table}")
    return Reasons(codes, rules)
