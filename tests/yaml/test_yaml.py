"""The YAML grammar of configs and cards: values, and mistakes with their places."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confml.data.cards import read_document
from confml.errors import ConfigErrors, DataError
from confml.yaml import Mark, Problems, flow, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        (".5", 0.5),
        ("012", 12),
        ("0x1F", 31),
        ("+3", 3),
        ("no", "no"),
        ("10:30", "10:30"),
        ("2024-05-01", "2024-05-01"),
        ("1_000", "1_000"),
        ("1..20", "1..20"),
        ("nan", "nan"),
        ("True", True),
        ("~", None),
        ("'5'", "5"),
        ("!!str 5", "5"),
        (".inf", math.inf),
        (".nan", math.nan),
        ("1e999", math.inf),
    ],
)
def test_scalar(text, value):
    scalar = parse(f"about: [{{x: {text}}}]\n").values["about"][0]["x"]
    assert type(scalar) is type(value) and (scalar == value or math.isnan(scalar) and math.isnan(value))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_values_in_messages_and_suggested_configs_are_read_as_themselves(value):
    text = flow(value)
    assert parse(text).values == value and len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: 2\na: 3\n", "3:1: repeated key 'a', first given on line 1"),
        (b"x: {a: 1, a: 2}\n", "1:11: repeated key 'a', first given on line 1"),
        (b"a: [1\n", "1:4: the '[' that opens here is not closed by ']'"),
        (b"a: caf\xe9\n", "1:7: the byte 0xE9 is not UTF-8; save the file as UTF-8"),
        (b"a: {b: 1]\n", "1:9: expected ',' or '}', got ']'; put a value that contains ': ' in quotes"),
        (b"[a]: 1\n", "1:1: a key must be a word, got a list or a mapping"),
        (b"a: !set 1\n", "1:4: tags such as !set are not used here: write the value alone"),
        (b"a: b: c\n", "1:5: a second ':' in one line; put a value that contains ': ' in quotes"),
        (b"[a]", "1:1: expected keys with values, such as 'title: Wine', got [a]"),
    ],
)
def test_mistake(content, message, tmp_path):
    path = tmp_path / "it.yaml"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_document(path)
    assert str(caught.value) == f"{path}:{message}"


def test_places_of_keys_and_values():
    document = parse("a: [1, {b: two}]\nc:\n  d: 3\n", "f")
    assert document.values == {"a": [1, {"b": "two"}], "c": {"d": 3}}
    assert document.mark_of(("a", 1, "b")) == Mark(0, 1, 12, "f")
    assert document.mark_of(("a", 1, "b"), at_key=True) == Mark(0, 1, 9, "f")
    assert document.mark_of(("c", "d")) == Mark(0, 3, 6, "f")


def test_a_message_lists_fifty_errors():
    problems = Problems()
    for line in range(1, 61):
        problems.add(Mark(0, line, 1, "f"), "wrong")
    with pytest.raises(ConfigErrors) as caught:
        problems.raise_any()
    *listed, last = str(caught.value).splitlines()
    assert len(listed) == 50 and last == "10 more errors are not shown"
