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


def json_schema(figures: Mapping[str, Any], tables: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of a config.

    It lists the cards, methods, steps and generators with their parameters; other names stay valid.
    figures: name -> figure with its ``options``. tables: names of published tables.
    """
    from confml.data.cards import known_cards
    from confml.data.generators import COMMON, GENERATORS
    from confml.methods.registry import known_methods
    from confml.methods.wrappers import WRAPPERS
    from confml.steps.registry import known_steps

    schema = Config.model_json_schema(by_alias=True, schema_generator=_WithoutNull)
    models = schema["$defs"]
    parameters: dict[tuple[str, str], Mapping[str, Mapping[str, Parameter]]] = {
        ("MethodEntry", "name"): {name: cls.parameters for name, cls in known_methods().items()},
        ("StepSpec", "name"): {name: cls.parameters for name, cls in known_steps().items()},
        ("DatasetSpec", "generate"): {key: {**COMMON, **kind.parameters} for key, kind in GENERATORS.items()},
        ("FigureSpec", "name"): {name: getattr(figure, "options", {}) for name, figure in figures.items()},
    }
    for (model, key), choices in parameters.items():
        _suggest(models[model], key, choices)
        models[model]["additionalProperties"] = True
        models[model]["allOf"] = [_with_parameters(key, name, rules) for name, rules in choices.items()]
    for key, wrapper in WRAPPERS.items():
        wrapper_schema = models[f"{key.capitalize()}Spec"]
        wrapper_schema["properties"] |= _properties(wrapper.parameters, default_parameters(wrapper))
        del wrapper_schema["properties"]["random-state"], wrapper_schema["properties"]["params"]
    _suggest(models["DatasetSpec"], "card", known_cards())
    _suggest(models["PaperSpec"], "table", tables)
    dataset = models["DatasetSpec"]
    dataset.pop("required")  # the file or the generator may give the name
    own_keys = {"propertyNames": {"enum": list(dataset["properties"])}}
    dataset["allOf"].append({"if": {"required": ["generate"]}, "else": own_keys})
    samples = models["MethodEntry"]["properties"]["samples"]
    samples["anyOf"] = [{"$ref": samples.pop("$ref")}, {"type": "integer"}]  # a number is a parameter
    # The short forms: a name or a kind alone.
    for model, model_schema in models.items():
        short = next((key for key in ("name", "kind", "table") if key in model_schema["properties"]), None)
        if short:
            word = known_cards() if model == "DatasetSpec" else ()
            listed = [{"enum": sorted(word)}] if word else []
            value = {"anyOf": [*listed, model_schema["properties"][short], model_schema]}
            if model in ("StepSpec", "FigureSpec"):  # {name: {key: value}}
                value["anyOf"].append({"type": "object", "maxProperties": 1})
            models[model] = {"description": model_schema.pop("description")} | value
    schema["required"].remove("name")  # by default the name of the file
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "confml config"}


def _suggest(model: dict[str, Any], key: str, names: Iterable[str]) -> None:
    """Suggest names for a key; other names stay valid."""
    field = model["properties"][key]
    listed = [{"enum": sorted(names)}] if list(names) else []
    notes = {word: field.pop(word) for word in ("description", "examples", "default") if word in field}
    model["properties"][key] = {"anyOf": [*listed, field]} | notes


def _with_parameters(key: str, name: str, rules: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the condition that a mapping with this name has these parameters."""
    return {
        "if": {"properties": {key: {"const": name}}, "required": [key]},
        "then": {"properties": _properties(rules)},
    }


def _properties(rules: Mapping[str, Parameter], defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    default = {key: {"default": value} for key, value in (defaults or {}).items() if value is not None}
    return {
        hyphenated(key): {"description": rule.about} | parameter_schema(rule) | default.get(key, {})
        for key, rule in rules.items()
    }
