"""Declarations of parameters: checked before anything runs, and shown by ``confml describe``.

A method, step, generator or figure declares each parameter with one of these classes::

    parameters = {"k": Integer("number of neighbours", low=1), "smoothed": Flag("break ties at random")}

A value that does not fit raises one of four exceptions, all of them `ParameterError`: `UnknownParameter`,
`MissingParameter`, `BadValue` and `IncompatibleParameters`. To declare another kind of value, subclass
`Parameter` with ``expected`` and ``accepts``.
"""

import copy
import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

from confml.errors import ConfigError, did_you_mean


class ParameterError(ConfigError):
    """A parameter that cannot be used.

    owner: the method, step, generator or figure, as messages name it, such as ``method 'knn'``.
    parameter: its name; a parameter inside the value of another one is ``outer.inner``.
    value: the value that was given, None where there is none.
    expected: text of the accepted values, which follows "must be"; None where that does not apply.
    """

    form: ClassVar[str]  # of the message, unless one is given

    def __init__(
        self,
        owner: str,
        parameter: str,
        value: Any = None,
        expected: str | None = None,
        *,
        message: str | None = None,
        hint: str | None = None,
        near: tuple[object, Iterable] | None = None,
    ):
        self.owner, self.parameter, self.value, self.expected = owner, parameter, value, expected
        super().__init__(message or self.form.format(**vars(self)), hint=hint, near=near)

    def inside(self, parameter: str) -> "ParameterError":
        """Return the same error for a parameter that is part of the value of ``parameter``."""
        nested = copy.copy(self)
        nested.parameter = f"{parameter}.{self.parameter}"
        return nested


class UnknownParameter(ParameterError):
    """A parameter that its owner does not have."""

    form = "{owner} has no parameter '{parameter}'"


class MissingParameter(ParameterError):
    """A parameter without a default that is not given, or that another given parameter requires."""

    form = "{owner} needs the parameter '{parameter}'"


class BadValue(ParameterError):
    """A value that its parameter does not accept."""

    form = "{parameter} must be {expected}, got {value!r}"


class IncompatibleParameters(ParameterError):
    """Parameters that are each accepted and cannot be combined; ``parameter`` is the one to change."""

    def __init__(
        self, message: str, *, owner: str, parameter: str, value: Any = None, hint: str | None = None
    ):
        super().__init__(owner, parameter, value, message=message, hint=hint)


@dataclass(frozen=True)
class Parameter(ABC):
    """Declaration of one parameter. about: its meaning, in a few words."""

    about: str

    @abstractmethod
    def expected(self) -> str:
        """Return a text of the accepted values, which follows "must be"."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return whether the value is accepted."""

    def hint(self, value: Any) -> str | None:
        """Return a remedy for a value that is not accepted, or None."""
        return None

    def check(self, name: str, value: Any, owner: str = "") -> Any:
        """Return the value; raise `BadValue` where it is not accepted."""
        if not self.accepts(value):
            raise BadValue(owner, name, value, self.expected(), hint=self.hint(value))
        return value


@dataclass(frozen=True)
class Number(Parameter):
    """A finite number in [low, high]; ``low_open`` and ``high_open`` exclude the ends."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    noun: ClassVar[str] = "a number"
    type: ClassVar[Any] = Real

    def expected(self) -> str:
        lower = f"{'above' if self.low_open else 'at least'} {self.low}" if self.low is not None else ""
        upper = f"{'below' if self.high_open else 'at most'} {self.high}" if self.high is not None else ""
        return " ".join(filter(None, (self.noun, " and ".join(filter(None, (lower, upper))))))

    def accepts(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, self.type):
            return False
        low: float = -math.inf if self.low is None else self.low
        high: float = math.inf if self.high is None else self.high
        inside = low <= value <= high and abs(value) <= sys.float_info.max
        return inside and not (self.low_open and value == low) and not (self.high_open and value == high)

    def hint(self, value: Any) -> str | None:
        if isinstance(value, str) and re.fullmatch(r"[-+]?[\s\d_,'.]*\d[\s\d_,'.]*(e[-+]?\d+)?", value):
            return "write the number without quotes, blanks or separators"
        is_percentage = self.high == 1 and type(value) in (int, float) and 1 < value <= 100
        return f"write {value / 100:g} for {value} %" if is_percentage else None


@dataclass(frozen=True)
class Integer(Number):
    """An integer in [low, high]; booleans are not accepted."""

    noun = "a whole number"
    type = Integral


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a fixed set of values, most often words."""

    options: tuple[Any, ...] = ()

    def expected(self) -> str:
        return "one of " + ", ".join(map(str, self.options))

    def accepts(self, value: Any) -> bool:
        return any(value == option and type(value) is type(option) for option in self.options)

    def hint(self, value: Any) -> str | None:
        return did_you_mean(str(value), self.options, list_all=False)


@dataclass(frozen=True)
class Flag(Parameter):
    """A boolean: true or false."""

    def expected(self) -> str:
        return "true or false"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)

    def hint(self, value: Any) -> str | None:
        words = {**dict.fromkeys(("yes", "on", "y"), "true"), **dict.fromkeys(("no", "off", "n"), "false")}
        word = words.get(str(value).lower())
        return f"write {word}" if word else None


@dataclass(frozen=True)
class AnyOf(Parameter):
    """A value that at least one of several declarations accepts, such as a number or the word ``median``."""

    of: tuple[Parameter, ...] = ()

    def expected(self) -> str:
        return ", or ".join(rule.expected() for rule in self.of)

    def accepts(self, value: Any) -> bool:
        return any(rule.accepts(value) for rule in self.of)

    def hint(self, value: Any) -> str | None:
        return next(filter(None, (rule.hint(value) for rule in self.of)), None)


@dataclass(frozen=True)
class FilePath(Parameter):
    """The path of a file. In a config, relative paths count from the config's folder."""

    def expected(self) -> str:
        return "the path of a file"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str | PathLike) and bool(str(value).strip()) and "\0" not in str(value)


@dataclass(frozen=True)
class Nothing(Parameter):
    """No value: null in YAML, None in Python."""

    def expected(self) -> str:
        return "null"

    def accepts(self, value: Any) -> bool:
        return value is None


def or_null(about: str, *rules: Parameter) -> AnyOf:
    """Return the declaration of a parameter that may also be null (None)."""
    return AnyOf(about, (*rules, Nothing("")))


def check_parameters(owner: str, rules: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    """Check the names and the values of parameters.

    owner: the name that messages use. rules: the declarations by name. Parameters without a value are not
    missed. Raises `UnknownParameter` or `BadValue` for the first parameter that is wrong.
    """
    for name, value in values.items():
        if name not in rules:
            raise UnknownParameter(owner, name, near=(name, rules), hint=None if rules else "it has none")
        rules[name].check(name, value, owner)


def value_text(value: Any) -> str:
    """Return a value as a config writes it: ``true``, ``null``, ``0.5``, ``distance``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def parameters_text(params: Mapping[str, Any]) -> str:
    """Return parameters as tables and messages show them: ``k=1;weights=distance``."""
    return ";".join(f"{name}={value_text(value)}" for name, value in params.items())


DECIMALS = 12  # of significance levels and thresholds


def without_rounding_error(level: float) -> float:
    """Return a significance level or a threshold without the rounding error of an expression such as
    ``1 - 0.9``."""
    return round(float(level), DECIMALS)


SEED = or_null("random seed; null: from the seed of the run, or a new one", Integer("", 0, 2**32 - 1))
