"""What a parameter of a method or step may be: checked before anything runs, and shown by ``describe``."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from confml.errors import ConfmlError, did_you_mean


@dataclass(frozen=True)
class Parameter(ABC):
    """One parameter: ``about`` in words, and `check`, which returns the value or raises ConfmlError."""

    about: str

    @abstractmethod
    def expected(self) -> str:
        """What a value must be, in words that fit behind "must be"."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether a value is such."""

    def check(self, name: str, value: Any) -> Any:
        if not self.accepts(value):
            raise ConfmlError(f"{name} must be {self.expected()}, got {value!r}")
        return value


@dataclass(frozen=True)
class Integer(Parameter):
    """A whole number in [low, high]; booleans are not numbers."""

    low: int | None = None
    high: int | None = None

    def expected(self) -> str:
        return _between("a whole number", self.low, self.high, "at least", "at most")

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )


@dataclass(frozen=True)
class Number(Parameter):
    """A finite number above (or at) ``low`` and below (or at) ``high``."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    def expected(self) -> str:
        lower = "above" if self.low_open else "at least"
        upper = "below" if self.high_open else "at most"
        return _between("a number", self.low, self.high, lower, upper)

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            return False
        above = self.low is None or (value > self.low if self.low_open else value >= self.low)
        below = self.high is None or (value < self.high if self.high_open else value <= self.high)
        return above and below


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few words."""

    options: tuple = ()

    def expected(self) -> str:
        return "one of " + ", ".join(map(str, self.options))

    def accepts(self, value: Any) -> bool:
        return any(value == option and type(value) is type(option) for option in self.options)

    def check(self, name: str, value: Any) -> Any:
        if not self.accepts(value):
            hint = did_you_mean(str(value), self.options, list_all=False)
            raise ConfmlError(f"{name} must be {self.expected()}, got {value!r}", hint=hint)
        return value


@dataclass(frozen=True)
class Flag(Parameter):
    """true or false."""

    def expected(self) -> str:
        return "true or false"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True)
class AnyOf(Parameter):
    """Whatever one of several parameters accepts, as a number or the word ``median``; None by ``Nothing``."""

    of: tuple[Parameter, ...] = ()

    def expected(self) -> str:
        return ", or ".join(one.expected() for one in self.of)

    def accepts(self, value: Any) -> bool:
        return any(one.accepts(value) for one in self.of)


@dataclass(frozen=True)
class Nothing(Parameter):
    """No value: null in YAML, None in Python."""

    def expected(self) -> str:
        return "null"

    def accepts(self, value: Any) -> bool:
        return value is None


def check_parameters(owner: str, known: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    """Raise ConfmlError for the first parameter that ``owner`` does not have or that has a wrong value."""
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, known) or "it has none"
            raise ConfmlError(f"{owner} has no parameter '{name}'", hint=hint)
        known[name].check(name, value)


def _between(noun: str, low, high, lower: str, upper: str) -> str:
    bounds = [f"{lower} {low}"] * (low is not None) + [f"{upper} {high}"] * (high is not None)
    return f"{noun} {' and '.join(bounds)}" if bounds else noun
