"""Random texts, bytes and values as configs: nothing but errors of a config."""

from config.cases import FIGURES, FULL, GOOD, TABLES
from hypothesis import given, settings
from hypothesis import strategies as st

from confml.config import Config, load_config, make_config
from confml.errors import ConfigErrors

LINES = st.sampled_from(
    [
        *FULL.splitlines(),
        "name: [",
        "  - knn",
        "\t- x",
        "k: {a: 1..3}",
        "? x",
        "<<: *a",
        "a: &a",
        "- - -",
        "'",
        "%YAML 1.1",
    ]
)
WORDS = st.sampled_from(
    [*"{}[],:&*!|>'\"%@`#?-=<~\n\t ", "\n  ", "knn", "name", "methods", "k", "1..3", "0", "log2", "\\"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["knn", "wine", "1..3"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(["name", "k", "sweep", "tune", "csv", "kind"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(Config.keys())


def only_config_errors(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except ConfigErrors as error:
        assert error.errors and all(line.strip() for line in str(error).splitlines())
        assert str(error).encode("utf-8")


@given(
    text=st.lists(LINES, max_size=12).map("\n".join)
    | st.lists(WORDS, max_size=30).map("".join)
    | st.text(max_size=60)
)
def test_garbage_never_crashes(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "garbage.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    only_config_errors(load_config, path)


@settings(max_examples=100)
@given(content=st.binary(max_size=40))
def test_bytes_never_crash(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(content)
    only_config_errors(load_config, path)


@given(changes=st.dictionaries(KEYS, VALUES, max_size=4))
def test_wrong_values_never_crash(changes):
    only_config_errors(make_config, {**GOOD, **changes}, figures=FIGURES, tables=TABLES)


@given(
    path=st.lists(
        KEYS | st.sampled_from(["0", "1", "knn", "wine", "k", "sweep", "x"]), min_size=1, max_size=4
    ),
    value=st.lists(WORDS, max_size=8).map("".join),
)
def test_overrides_never_crash(path, value):
    only_config_errors(make_config, GOOD, overrides=[".".join(path) + "=" + value])
