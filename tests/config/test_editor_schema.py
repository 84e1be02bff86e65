"""The JSON Schema of configs."""

import json

from config.cases import TABLES

from confml.config import Config, json_schema
from confml.report.figures import FIGURES


def test_schema_describes_every_key():
    schema = json_schema(figures=FIGURES, tables=TABLES)
    json.dumps(schema)

    def objects(part):
        if isinstance(part, dict):
            if "properties" in part and part.get("type") == "object":
                yield part
            for value in part.values():
                yield from objects(value)
        elif isinstance(part, list):
            for value in part:
                yield from objects(value)

    parts = list(objects(schema))
    assert len(parts) >= 8
    for part in parts:
        for key, value in part["properties"].items():
            assert "_" not in key or key in ("log2", "log10"), key
            if key not in ("log2", "log10", "range"):
                assert value.get("description"), key
    assert set(schema["properties"]) == set(Config.keys())
    assert schema["required"] == ["datasets", "methods", "protocol"]


def test_schema_names_what_there_is_and_stays_open():
    parts = json_schema(figures=FIGURES, tables=TABLES)["$defs"]
    word, full = parts["MethodEntry"]["anyOf"]
    assert "knn" in word["anyOf"][0]["enum"] and word["anyOf"][1]["type"] == "string"
    assert full["properties"]["name"] == word
    (knn,) = [case["then"] for case in full["allOf"] if case["if"]["properties"]["name"]["const"] == "knn"]
    assert knn["properties"]["k"]["minimum"] == 1
    assert full["additionalProperties"] is True
    assert parts["FigureSpec"]["anyOf"][0]["anyOf"][0]["enum"] == sorted(FIGURES)
    noise = parts["NoiseSpec"]["properties"]
    assert noise["labels"]["maximum"] == 1 and parts["NoiseSpec"]["additionalProperties"] is False
