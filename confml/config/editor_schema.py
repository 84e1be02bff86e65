"""JSON Schema of configs, for editors (yaml-language-server)."""

from collections.abc import Iterable, Mapping
from typing import Any

from confml.config import grids
from confml.config.dataset_spec import DatasetSpec
from confml.config.method_entry import ConformalSpec, MethodEntry, SamplesSpec, VennSpec
from confml.config.part import hyphenated
from confml.config.protocol import Protocol
from confml.config.schema import Config, FigureSpec, PaperSpec, StepSpec
from confml.config.values import parameter_schema
from confml.plugins.parameters import Parameter

GRID = {
    "description": "Values: a list, a..b, or a series {range | log2 | log10: [from, to, step]}.",
    "anyOf": [
        {"type": "array", "minItems": 1},
        {"type": "string", "pattern": r"^[-+]?\d+\.\.[-+]?\d+$"},
        *(
            {
                "type": "object",
                "properties": {
                    kind: {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}
                },
                "required": [kind],
                "additionalProperties": False,
            }
            for kind in grids.KINDS
        ),
    ],
}


GRID_HERE = {"$ref": "#/$defs/Grid"}


def json_schema(
    figures: Iterable[str] | Mapping[str, Any] | None = None, tables: Iterable[str] | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of a config.

    It lists the cards, methods, steps and generators with their parameters.
    figures, tables: names to list; figures given as a mapping also have their ``options``.
    """
    from confml.data.cards import known_cards
    from confml.data.generators import COMMON, GENERATORS
    from confml.methods.registry import known_methods
    from confml.steps.registry import known_steps

    schema = Config.model_json_schema(by_alias=True)
    parts = schema["$defs"]
    generators = {name: {**COMMON, **one.parameters} for name, one in GENERATORS.items()}
    methods = {name: cls.parameters for name, cls in known_methods().items()}
    steps = {name: cls.parameters for name, cls in known_steps().items()}

    _suggest(parts["DatasetSpec"], "card", known_cards())
    _suggest(parts["DatasetSpec"], "generate", generators)
    _suggest(parts["MethodEntry"], "name", methods)
    _suggest(parts["StepSpec"], "name", steps)
    for kind in ("sweep", "tune"):
        parts["MethodEntry"]["properties"][kind]["additionalProperties"] = GRID_HERE
    _with_parameters(parts["MethodEntry"], "name", methods)
    _with_parameters(parts["StepSpec"], "name", steps)
    _with_parameters(parts["DatasetSpec"], "generate", generators)
    parts["Grid"] = GRID
    dataset = parts["DatasetSpec"]
    dataset.pop("required")  # the file or the generator may give the name
    of_others = {"propertyNames": {"enum": list(dataset["properties"])}}
    dataset.setdefault("allOf", []).append({"if": {"required": ["generate"]}, "else": of_others})
    if figures is not None:
        _suggest(parts["FigureSpec"], "name", figures)
        if isinstance(figures, Mapping):
            options = {name: getattr(figure, "options", {}) for name, figure in figures.items()}
            _with_parameters(parts["FigureSpec"], "name", options)
    if tables is not None:
        _suggest(parts["PaperSpec"], "table", tables, in_list=True)
    # A number of samples is a parameter of the method.
    parts["MethodEntry"]["properties"]["samples"]["anyOf"].append({"type": "integer"})
    for model, names in ((DatasetSpec, known_cards()), (MethodEntry, methods), (StepSpec, steps)):
        _or_a_word(parts, model.__name__, names)
    _or_a_word(parts, FigureSpec.__name__, figures)
    _or_a_word(parts, PaperSpec.__name__, tables)
    for wrapper in (SamplesSpec.__name__, ConformalSpec.__name__, VennSpec.__name__):
        _or_a_word(parts, wrapper, None, parts[wrapper]["properties"]["kind"])
    _or_a_word(parts, Protocol.__name__, None, parts["Protocol"]["properties"]["kind"])
    _tidy(schema)
    schema["required"] = [
        key for key in schema["required"] if key != "name"
    ]  # by default the name of the file
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "confml config",
        "description": "An experiment of confml: data sets, methods and a protocol, and what to report.",
    } | {key: value for key, value in schema.items() if key not in ("title", "description")}


def _suggest(part: dict[str, Any], key: str, names: Iterable[str], *, in_list: bool = False) -> None:
    """Suggest names for a key; other names stay valid."""
    word = {"anyOf": [{"enum": sorted(names)}, {"type": "string", "minLength": 1}]}
    rest = {k: v for k, v in part["properties"][key].items() if k in ("description", "examples", "default")}
    value = {"anyOf": [word, {"type": "array", "items": word}]} if in_list else word
    part["properties"][key] = value | rest


def _with_parameters(part: dict[str, Any], key: str, known: Mapping[str, Mapping[str, Parameter]]) -> None:
    """Allow the parameters of each method (step, generator, figure) next to its name, and no others."""
    from confml.methods.wrappers import wrapper_parameters

    part["additionalProperties"] = True  # scikit-learn's classifiers have parameters that are not listed
    own = list(part["properties"])
    wrappers = wrapper_parameters()
    for name, parameters in sorted(known.items()):
        values = {
            one: {"description": rule.about} | parameter_schema(rule) for one, rule in parameters.items()
        }
        then: dict[str, Any] = {"properties": dict(values)}
        then["propertyNames"] = {"enum": [*own, *_both_spellings(parameters)]}
        if "sweep" in own:
            grids_ = {one: {"description": rule.about} | GRID_HERE for one, rule in parameters.items()}
            tune = {"properties": grids_, "propertyNames": {"enum": _both_spellings(parameters)}}
            swept = {one: {"description": rule.about} | GRID_HERE for one, rule in wrappers.items()}
            names = _both_spellings({**parameters, **wrappers})
            sweep = {"properties": grids_ | swept, "propertyNames": {"enum": names}}
            then["properties"] |= {"sweep": sweep, "tune": tune}
        condition = {"properties": {key: {"const": name}}, "required": [key]}
        part.setdefault("allOf", []).append({"if": condition, "then": then})


def _both_spellings(parameters: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(key for name in parameters for key in (name, hyphenated(name))))


def _or_a_word(
    parts: dict[str, Any], model: str, names: Iterable[str] | None, word: dict[str, Any] | None = None
) -> None:
    """Allow a single word as the short form of a mapping."""
    if word is None:
        word = {"type": "string", "minLength": 1}
        if names is not None:
            word = {"anyOf": [{"enum": sorted(names)}, word]}
    full = parts.pop(model)
    about = full.pop("description", "")
    if model in ("StepSpec", "FigureSpec"):  # {name: {key: value}}
        one_key = {"type": "object", "minProperties": 1, "maxProperties": 1}
        one_key["additionalProperties"] = {"type": ["object", "null"]}
        parts[model] = {"description": about, "anyOf": [word, full, one_key]}
    else:
        parts[model] = {"description": about, "anyOf": [word, full]}


def _tidy(schema: Any) -> None:
    """Remove titles that repeat a key, and null for keys that are not given."""
    if isinstance(schema, list):
        for item in schema:
            _tidy(item)
        return
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("title"), str):
        schema.pop("title")
    if schema.get("default", ...) is None:
        schema.pop("default")
    kinds = schema.get("anyOf")
    if isinstance(kinds, list) and {"type": "null"} in kinds:
        kinds.remove({"type": "null"})
        if len(kinds) == 1:
            (only,) = schema.pop("anyOf")
            for key, value in only.items():
                schema.setdefault(key, value)
    for value in list(schema.values()):
        _tidy(value)
