"""Pydantic types of single values in a config, with the rules for parameters of methods."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from confml.config import grids
from confml.plugins.parameters import (
    AnyOf,
    Choice,
    FilePath,
    Flag,
    Integer,
    Nothing,
    Number,
    Parameter,
    without_rounding_error,
)


@dataclass(frozen=True)
class Text(Parameter):
    """Text that matches ``pattern``, if given. form: description for messages."""

    pattern: str | None = None
    form: str = "text"

    def expected(self) -> str:
        return self.form

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, str):
            return False
        return re.fullmatch(self.pattern, value) is not None if self.pattern else bool(value.strip())

    def hint(self, value: Any) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return f"put it in quotes: '{value}'" if is_number and self.accepts(str(value)) else None


class Rule:
    """A `Parameter` as the annotation of a pydantic field; it checks values and gives a JSON Schema."""

    def __init__(self, parameter: Parameter):
        self.parameter = parameter

    def check(self, value: Any) -> Any:
        if self.parameter.accepts(value):
            return value
        raise wrong(self.parameter.expected(), hint=self.parameter.hint(value))

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable) -> dict[str, Any]:
        return parameter_schema(self.parameter)


def wrong(expected: str, *, hint: str | None = None) -> PydanticCustomError:
    """Return the error of a wrong value; the reporting code adds the value itself."""
    return PydanticCustomError("expected", "expected {expected}", {"expected": expected, "hint": hint})


def parameter_schema(parameter: Parameter) -> dict[str, Any]:
    """Return the JSON Schema of a parameter."""
    if isinstance(parameter, Number):
        bounds = {"exclusiveMinimum" if parameter.low_open else "minimum": parameter.low}
        bounds |= {"exclusiveMaximum" if parameter.high_open else "maximum": parameter.high}
        kind = "integer" if isinstance(parameter, Integer) else "number"
        return {"type": kind} | {key: value for key, value in bounds.items() if value is not None}
    if isinstance(parameter, Choice):
        return {"enum": list(parameter.options)}
    if isinstance(parameter, AnyOf):
        kinds = [parameter_schema(kind) for kind in parameter.of]
        return {"anyOf": kinds} if all(kinds) else {}  # any value
    if isinstance(parameter, Text) and parameter.pattern:
        return {"type": "string", "pattern": f"^(?:{parameter.pattern})$"}
    if isinstance(parameter, Text | FilePath):
        return {"type": "string", "minLength": 1}
    types = {Flag: "boolean", Nothing: "null"}
    return {"type": types[type(parameter)]} if type(parameter) in types else {}


# A name that is a valid name of a folder on any system.
FOLDER_NAME = Text(
    "a name",
    pattern=r"[^\W_][\w.+-]{0,98}[\w+-]|[^\W_]",
    form="a name that can be a folder's: letters, digits and . _ + -, the first a letter or digit",
)
Name = Annotated[str, Rule(FOLDER_NAME)]
SEPARATOR = Text(
    "separator between columns",
    pattern=r"[^\r\n\"']|comma|semicolon|tab|pipe|blanks",
    form="one character, or one of comma, semicolon, tab, pipe, blanks",
)
Separator = Annotated[str, Rule(SEPARATOR)]
Words = Annotated[str, Rule(Text("words"))]
Whole = Annotated[int, Rule(Integer("", low=0))]
Count = Annotated[int, Rule(Integer("", low=1))]
Folds = Annotated[int, Rule(Integer("", low=2))]
Seed = Annotated[int, Rule(Integer("", low=0))]
Share = Annotated[float, Rule(Number("", low=0, high=1))]
Between = Annotated[float, Rule(Number("", low=0, high=1, low_open=True, high_open=True))]
Level = Annotated[Between, AfterValidator(without_rounding_error)]
Threshold = Annotated[Share, AfterValidator(without_rounding_error)]
Switch = Annotated[bool, Rule(Flag(""))]
DURATION = AnyOf(
    "a time",
    of=(
        Number("", low=0, low_open=True, high=1e9),
        Text("", pattern=r"[0-9]+(\.[0-9]+)?\s*(s|min|h|d)", form="a time such as 90s, 10min or 2h"),
    ),
)
Duration = Annotated[str | float, Rule(DURATION)]
MEMORY = Text(
    "", pattern=r"[0-9]+(\.[0-9]+)?\s*[kKmMgGtT][bB]", form="an amount of memory such as 500MB or 4GB"
)
Memory = Annotated[str, Rule(MEMORY)]


def one_of(*options: str) -> Rule:
    """Return the rule for one of several options, for ``Annotated[str, one_of(...)]``."""
    return Rule(Choice("", options=options))


def _names(values: Any) -> Any:
    """Return a list of names; a single name may be given without a list."""
    return [values] if isinstance(values, str) else values


def _texts(values: Any) -> tuple[str, ...]:
    """Return texts without duplicates; numbers need no quotes."""
    values = values if isinstance(values, list | tuple) else [values]
    if not all(isinstance(value, str | int | float) and not isinstance(value, bool) for value in values):
        raise wrong("a list of texts", hint="null, true, no and the like need quotes: ['null']")
    return tuple(dict.fromkeys(map(str, values)))


_ENDS = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}
_GRID = {
    "description": "Values: a list, a..b, or a series {range | log2 | log10: [from, to, step]}.",
    "anyOf": [
        {"type": "array", "minItems": 1},
        {"type": "string", "pattern": r"^[-+]?\d+\.\.[-+]?\d+$"},
        {
            "type": "object",
            "properties": dict.fromkeys(grids.KINDS, _ENDS),
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
        },
    ],
}
Grid = Annotated[
    tuple[Any, ...], BeforeValidator(lambda grid: tuple(grids.expand(grid))), WithJsonSchema(_GRID)
]
_NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
NameList = Annotated[tuple[Words, ...], BeforeValidator(_names), WithJsonSchema(_NAMES)]
_TEXT = {"type": ["string", "number"]}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
TextList = Annotated[tuple[str, ...], PlainValidator(_texts), WithJsonSchema(_TEXTS)]
