"""Random texts, bytes and values as configs: nothing but errors of a config."""

from config.cases import FIGURES, GOOD, TABLES
from hypothesis import given
from hypothesis import strategies as st

from confml.config import Config, make_config
from confml.errors import ConfigErrors

WORDS = st.sampled_from(
    [*"{}[],:&*!|>'\"%@`#?-=<~\n\t ", "\n  ", "knn", "name", "methods", "k", "1..3", "0", "log2", "\\"]
)
NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
TEXTS = st.text(max_size=5) | st.sampled_from(["knn", "wine", "1..3"])
NAMES = st.text(max_size=3) | st.sampled_from(["name", "k", "sweep", "tune", "csv", "kind"])
VALUES = st.recursive(
    NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(Config.keys())


def only_config_errors(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except ConfigErrors as error:
        assert error.errors and all(line.strip() for line in str(error).splitlines())
        assert str(error).encode("utf-8")


@given(changes=st.dictionaries(KEYS, VALUES, max_size=4))
def test_wrong_values_never_crash(changes):
    only_config_errors(make_config, {**GOOD, **changes}, figures=FIGURES, tables=TABLES)


PARTS = KEYS | st.sampled_from(["0", "1", "knn", "wine", "k", "sweep", "x"])


@given(path=st.lists(PARTS, min_size=1, max_size=4), value=st.lists(WORDS, max_size=8).map("".join))
def test_overrides_never_crash(path, value):
    only_config_errors(make_config, GOOD, overrides=[".".join(path) + "=" + value])
