"""`Part`: base class of the mappings of a config, with short forms and hyphenated keys."""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator

from confml.config.values import wrong
from confml.yaml import parse


def hyphenated(field: str) -> str:
    return field.replace("_", "-")


def underscored(parameter: str) -> str:
    """Return the Python name of a parameter; configs may write it with hyphens."""
    return parameter.replace("-", "_")


class Part(BaseModel):
    """A mapping of a config. short: the field that a single word sets, as the short form.

    The docstring of a class describes its fields, one per paragraph, most with an example.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=hyphenated,
        validate_by_alias=True,
        validate_by_name=True,
    )
    short: ClassVar[str | None] = None
    # Field for all keys that are not fields: parameters or options.
    rest: ClassVar[str | None] = None
    # Whether ``{name: {key: value}}`` may be written for ``{name: ..., key: value}``.
    one_key: ClassVar[bool] = False

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys of this mapping, with hyphens."""
        return [hyphenated(field) for field in cls.model_fields if field != cls.rest]

    @classmethod
    def documented(cls, field: str) -> tuple[str, str]:
        """Return the description of a field and its example, or ""; several examples are separated by or."""
        text = re.search(rf"^{field}: (.*(?:\n +.*)*)", inspect.getdoc(cls) or "", re.MULTILINE)
        description, _, example = " ".join(text[1].split() if text else ()).partition(" Example: ")
        return description, example

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        schema["description"] = (inspect.getdoc(cls) or "").partition("\n")[0]
        for field in cls.model_fields:
            description, examples = cls.documented(field)
            values = {"examples": [parse(text).values for text in examples.split(" or ")]} if examples else {}
            schema["properties"][hyphenated(field)] |= {"description": description} | values
        return reference

    @model_validator(mode="before")
    @classmethod
    def _normalise(cls, values: Any) -> Any:
        if isinstance(values, cls):
            return values
        if isinstance(values, str) and cls.short:
            values = {cls.short: values}
        if not isinstance(values, Mapping):
            expected = f"a {cls.short}, or a mapping with the key '{cls.short}'"
            raise wrong(expected if cls.rest else f"a mapping with keys out of {', '.join(cls.keys())}")
        if cls.one_key and len(values) == 1:
            ((name, inner),) = values.items()
            if name not in cls._names() and (inner is None or isinstance(inner, Mapping)):
                values = {cls.short: name, **(inner or {})}
        return cls._collect(values)

    @classmethod
    def _names(cls) -> set[str]:
        return {*cls.keys(), *cls.model_fields}

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Remove keys without a value, such as ``steps:``, and move unknown keys into the field `rest`."""
        names = cls._names()
        fields = {key: value for key, value in values.items() if key in names and value is not None}
        unknown = {key: value for key, value in values.items() if key not in names}
        params = fields.get(cls.rest or "", {})
        if cls.rest is None or not isinstance(params, Mapping):
            return fields | unknown
        return fields | {cls.rest: {underscored(key): value for key, value in {**params, **unknown}.items()}}

    def as_dict(self) -> dict[str, Any]:
        """Return all keys that have a value, as plain values."""
        plain: dict[str, Any] = {}
        for field in type(self).model_fields:
            value = getattr(self, field)
            if field == self.rest:
                clash = {key: item for key, item in value.items() if hyphenated(key) in self._names()}
                plain |= {key: _plain(item) for key, item in value.items() if key not in clash}
                if clash:
                    plain[field] = _plain(clash)
            elif value is not None and value != {}:
                plain[hyphenated(field)] = _plain(value)
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
