"""JSON Schema of configs, for editors (yaml-language-server)."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from confml.config.part import hyphenated
from confml.config.schema import Config
from confml.config.values import parameter_schema
from confml.plugins.parameters import Parameter
from confml.plugins.registry import default_parameters


class _WithoutNull(GenerateJsonSchema):
    """A schema without titles, which repeat the keys, and without null, because a key may be left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        result = super().default_schema(schema)
        return {key: value for key, value in result.items() if (key, value) != ("default", None)}


def json_schema(
    figures: Iterable[str] | Mapping[str, Any] | None = None, tables: Iterable[str] | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of a config.

    It lists the cards, methods, steps and generators with their parameters; other names stay valid.
    figures, tables: names to list; figures given as a mapping also have their ``options``.
    """
    from confml.data.cards import known_cards
    from confml.data.generators import COMMON, GENERATORS
    from confml.methods.registry import known_methods
    from confml.methods.wrappers import WRAPPERS
    from confml.steps.registry import known_steps

    schema = Config.model_json_schema(by_alias=True, schema_generator=_WithoutNull)
    parts = schema["$defs"]
    parameters: dict[tuple[str, str], Mapping[str, Mapping[str, Parameter]]] = {
        ("MethodEntry", "name"): {name: cls.parameters for name, cls in known_methods().items()},
        ("StepSpec", "name"): {name: cls.parameters for name, cls in known_steps().items()},
        ("DatasetSpec", "generate"): {name: {**COMMON, **one.parameters} for name, one in GENERATORS.items()},
        ("FigureSpec", "name"): {name: getattr(figure, "options", {}) for name, figure in figures.items()}
        if isinstance(figures, Mapping)
        else dict.fromkeys(figures or (), {}),
    }
    for (model, key), known in parameters.items():
        _suggest(parts[model], key, known)
        parts[model]["additionalProperties"] = True
        parts[model]["allOf"] = [_with_parameters(key, name, rules) for name, rules in known.items()]
    for key, wrapper in WRAPPERS.items():
        part = parts[f"{key.capitalize()}Spec"]
        part["properties"] |= _properties(wrapper.declared(), default_parameters(wrapper))
        del part["properties"]["random-state"], part["properties"]["params"]
    _suggest(parts["DatasetSpec"], "card", known_cards())
    _suggest(parts["PaperSpec"], "table", tables or ())
    dataset = parts["DatasetSpec"]
    dataset.pop("required")  # the file or the generator may give the name
    own_keys = {"propertyNames": {"enum": list(dataset["properties"])}}
    dataset["allOf"].append({"if": {"required": ["generate"]}, "else": own_keys})
    samples = parts["MethodEntry"]["properties"]["samples"]
    samples["anyOf"] = [{"$ref": samples.pop("$ref")}, {"type": "integer"}]  # a number is a parameter
    # The short forms: a name or a kind alone.
    for model, full in parts.items():
        short = next((key for key in ("name", "kind", "table") if key in full["properties"]), None)
        if short:
            word = known_cards() if model == "DatasetSpec" else ()
            listed = [{"enum": sorted(word)}] if word else []
            value = {"anyOf": [*listed, full["properties"][short], full]}
            if model in ("StepSpec", "FigureSpec"):  # {name: {key: value}}
                value["anyOf"].append({"type": "object", "maxProperties": 1})
            parts[model] = {"description": full.pop("description")} | value
    schema["required"].remove("name")  # by default the name of the file
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "confml config"}


def _suggest(part: dict[str, Any], key: str, names: Iterable[str]) -> None:
    """Suggest names for a key; other names stay valid."""
    field = part["properties"][key]
    listed = [{"enum": sorted(names)}] if list(names) else []
    about = {one: field.pop(one) for one in ("description", "examples", "default", "title") if one in field}
    part["properties"][key] = {"anyOf": [*listed, field]} | about


def _with_parameters(key: str, name: str, rules: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the condition that a mapping with this name has these parameters."""
    return {
        "if": {"properties": {key: {"const": name}}, "required": [key]},
        "then": {"properties": _properties(rules)},
    }


def _properties(rules: Mapping[str, Parameter], defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    given = {key: {"default": value} for key, value in (defaults or {}).items() if value is not None}
    return {
        hyphenated(key): {"description": rule.about} | parameter_schema(rule) | given.get(key, {})
        for key, rule in rules.items()
    }
