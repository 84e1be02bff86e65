"""Configs: what they may say, the traps of YAML, and every mistake told once, at its place."""

import json
from pathlib import Path

import processes
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confml.config import Config, bundled_configs, json_schema, load_config, make_config, restore_config
from confml.config.grids import GridError, expand
from confml.errors import ConfigErrors
from confml.methods import registry
from confml.methods.base import Method
from confml.plugins.parameters import BadValue, IncompatibleParameters, Integer, UnknownParameter
from confml.yaml import got

BROKEN = Path(__file__).parent / "configs" / "broken"
FIGURES, TABLES = ["error-against-k"], ["tcm-nn-table1", "tcm-nn-table3"]
GOOD = {"name": "good", "datasets": ["wine"], "methods": ["knn"], "protocol": "fixed-split"}
FULL = """\
# everything that a config can say
name: full
about: 2024-05-01, at 10:30
datasets:
  - wine
  - {name: again, card: iris}
  - {name: mine, csv: small.csv, label: y, test: ./new.csv, ignore: id, nominal: [colour],
     groups: site, missing: drop, separator: "\\t", encoding: latin-1}
  - {generate: two-gaussians, n: 250, test-n: 10, distance: 2}
steps: [row-standardise, {name: standardise}, min-max: ]
noise: {labels: 0.1, on: train}
methods:
  - {name: knn, k: 1, label: 1-NN}
  - {name: knn, sweep: {k: [3, 5..7, {log2: [3, 5]}]}}
  - name: sklearn.linear_model.LogisticRegression
    max-iter: 200
    tune: {C: {log2: [-2, 2, 2]}, fit_intercept: [true, false]}
    select-by: ari
protocol: {kind: k-fold, folds: 5, repeats: 2, inner-folds: 3, stratify: false}
levels: [1e-2, .05]
thresholds: [0.9]
figures: [error-against-k, {name: error-against-k, view: p-value}, error-against-k: {view: vote}]
seed: 012
paper: tcm-nn-table3
"""


def write(folder, text, name="config.yaml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def messages(call, *arguments, **options):
    with pytest.raises(ConfigErrors) as caught:
        call(*arguments, **options)
    return str(caught.value).splitlines()


def base(**changes):
    return {**GOOD, **changes}


@pytest.fixture
def full(tmp_path):
    for name in ("small.csv", "new.csv"):
        write(tmp_path, "id\tcolour\tsite\tx\ty\n1\tred\tA\t2\t1\n", name)
    return write(tmp_path, FULL)


# ---- broken configs: one message a mistake, exactly this one, in the order of the file


@pytest.mark.parametrize("path", sorted(BROKEN.glob("*.yaml")), ids=lambda path: path.stem)
def test_broken_config(path, monkeypatch):
    monkeypatch.chdir(BROKEN)
    found = messages(load_config, path.name, figures=FIGURES, tables=TABLES)
    found = [line.replace(str(BROKEN.parent), "FOLDER") for line in found]
    assert found == path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def test_there_are_enough_broken_configs():
    assert len(list(BROKEN.glob("*.yaml"))) >= 10


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfed\x00a\x00", "bad.yaml:1:1: the file is UTF-16; save it as UTF-8"),
        (b"datasets: [a\x07]", "bad.yaml:1:13: the control character U+0007 is not allowed"),
        (
            b"\xef\xbb\xbfa: b: c",
            "bad.yaml:1:5: a second ':' in one line; put a value that contains ': ' in quotes",
        ),
        (b"", "bad.yaml:1:1: expected keys with values, such as 'datasets: [wine]', got an empty file"),
        (b"x" * 1_000_001, "bad.yaml: a config is a short YAML file, this one has 1,000,001 bytes"),
        (b"a: " + b"[" * 500, "bad.yaml:1:44: nested more than 40 levels deep"),
        (
            b'a: "\\UFFFFFFFF"',
            "bad.yaml:1:7: unknown escape: in double quotes a backslash begins an escape; "
            "use single quotes, where a backslash is an ordinary character",
        ),
        (b"a: [1,\n\tb]", "bad.yaml:2:1: a tab where lines are indented; indent with spaces"),
    ],
)
def test_unreadable_file(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_bytes(content)
    assert messages(load_config, "bad.yaml") == [message]


def test_billion_laughs(tmp_path):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (line,) = messages(load_config, write(tmp_path, "\n".join(lines)))
    assert line.endswith("more than 100,000 values once aliases (*) are filled in")


# ---- good configs


def test_everything_a_config_can_say(full):
    config = load_config(full, figures=FIGURES, tables=TABLES)
    folder = str(full.parent)
    assert (config.name, config.path, config.seed) == ("full", full, 12)
    assert config.about == "2024-05-01, at 10:30"
    wine, again, mine, made = (dataset.spec() for dataset in config.datasets)
    assert wine == {"name": "wine"}
    assert again == {"name": "again", "card": "iris"}
    assert mine == {
        "name": "mine",
        "csv": f"{folder}/small.csv",
        "test": f"{folder}/new.csv",
        "label": "y",
        "ignore": ["id"],
        "nominal": ["colour"],
        "groups": "site",
        "missing": "drop",
        "separator": "\t",
        "encoding": "latin-1",
    }
    assert made == {
        "name": "two-gaussians",
        "generate": "two-gaussians",
        "n": 250,
        "test_n": 10,
        "distance": 2,
        "seed": 12,
    }
    assert [(step.name, step.params) for step in config.steps] == [
        ("row-standardise", {}),
        ("standardise", {}),
        ("min-max", {}),
    ]
    assert config.noise.as_dict() == {"on": "train", "labels": 0.1, "attributes": 0, "irrelevant": 0}
    one, several, logistic = config.methods
    assert (one.params, one.label, one.variants(), one.tune_grid()) == ({"k": 1}, "1-NN", [{}], [{}])
    assert several.variants() == [{"k": k} for k in (3, 5, 6, 7, 8, 16, 32)]
    assert logistic.params == {"max_iter": 200}
    assert logistic.tune_grid() == [
        {"C": C, "fit_intercept": flag} for C in (0.25, 1, 4) for flag in (True, False)
    ]
    assert (one.select_by, logistic.select_by) == ("accuracy", "ari")
    assert config.protocol.kind == "k-fold"
    assert (config.protocol.folds, config.protocol.repeats, config.protocol.inner_folds) == (5, 2, 3)
    assert config.protocol.stratify is False
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.9,)
    assert [(figure.name, figure.options) for figure in config.figures] == [
        ("error-against-k", {}),
        ("error-against-k", {"view": "p-value"}),
        ("error-against-k", {"view": "vote"}),
    ]
    assert config.paper.table == ("tcm-nn-table3",)


def test_defaults(tmp_path):
    path = write(
        tmp_path, "datasets: [wine]\nmethods: [knn]\nprotocol: holdout\nsteps:\nnoise:\n", "my run.yaml"
    )
    config = load_config(path)
    assert config.name == "my-run"
    assert config.steps == config.figures == () and config.noise is config.paper is None
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.8, 0.95, 0.99) and config.seed == 1
    protocol = config.protocol
    assert (protocol.repeats, protocol.test_size, protocol.inner_folds, protocol.stratify) == (
        1,
        0.2,
        10,
        True,
    )


def test_as_dict_reads_back_as_itself(full, tmp_path):
    config = load_config(full)
    plain = config.as_dict()
    text = json.dumps(plain)
    assert "test_size" not in text and "inner-folds" in text
    for again in (
        restore_config(json.loads(text)),
        make_config(plain),
        load_config(write(tmp_path, text, "again.yaml")),
        restore_config(plain),
    ):
        assert json.dumps(again.as_dict()) == text
    # A manifest is read where neither data nor plug-ins are.
    (tmp_path / "small.csv").unlink()
    restore_config({**plain, "methods": [{"name": "of-another-package"}]})
    assert messages(restore_config, {**plain, "seed": -1}) == [
        "seed: expected a whole number at least 0, got -1"
    ]


def test_parameters_whose_names_clash_with_keys(tmp_path):
    entry = {"name": "of-another-package", "params": {"label": 3, "tune": 1}, "k": 2}
    (method,) = restore_config(base(methods=[entry])).methods
    assert method.params == {"label": 3, "tune": 1, "k": 2} and method.label is None and method.tune == {}
    assert restore_config(base(methods=[method.as_dict()])).methods == (method,)


@pytest.mark.parametrize("name", sorted(bundled_configs()))
def test_bundled_configs_are_right(name):
    config = load_config(name)
    assert config.name and load_config(config.path).as_dict() == config.as_dict()


def test_config_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, FULL, "experiment.yaml")
    no = "no such file, and no config of that name comes with confml"
    assert messages(load_config, "quickstrat") == [f"quickstrat: {no}; did you mean 'quickstart'?"]
    assert messages(load_config, "experimnt.yaml") == [
        f"experimnt.yaml: {no}; did you mean 'experiment.yaml'?"
    ]
    (tmp_path / "folder").mkdir()
    assert messages(load_config, "folder") == ["folder: this is a folder, expected a YAML file"]
    (tmp_path / "quickstart").mkdir()  # a folder does not hide a bundled config
    assert load_config("quickstart").name == "quickstart"
    for name in ("", "\0", "x" * 5000, "/dev/null/x"):
        assert len(messages(load_config, name)) == 1


def test_a_config_can_come_out_of_plain_values(tmp_path):
    write(tmp_path, "y\n1\n", "a.csv")
    config = make_config(
        base(datasets=[{"csv": "a.csv", "label": "y"}]), folder=tmp_path, overrides=["seed=7"]
    )
    assert config.datasets[0].spec() == {"name": "a", "csv": str(tmp_path / "a.csv"), "label": "y"}
    assert config.seed == 7
    assert messages(make_config, base(seed=-1, level=1), where="--method") == [
        "--method: seed: expected a whole number at least 0, got -1",
        "--method: unknown key 'level'; did you mean 'levels'?",
    ]


# ---- the traps of YAML


def test_keys_are_text(tmp_path):
    path = write(
        tmp_path, "datasets: [wine]\nmethods: [knn]\nprotocol: holdout\nnoise: {on: train}\nyes: 1\n1: 2"
    )
    there_are = "there are " + ", ".join(Config.keys())
    assert messages(load_config, path) == [
        f"{path}:5:1: unknown key 'yes'; {there_are}",
        f"{path}:6:1: unknown key '1'; {there_are}",
    ]


def test_aliases_and_merge_keys(tmp_path):
    text = """\
datasets: [wine]
methods:
  - &one {name: knn, k: 1}
  - {<<: *one, k: 3}
  - {<<: [{k: 5}, *one], label: five}
protocol: holdout
"""
    config = load_config(write(tmp_path, text))
    assert [method.params for method in config.methods] == [{"k": 1}, {"k": 3}, {"k": 5}]
    assert config.methods[2].label == "five"
    # An override of one entry leaves the others alone.
    config = load_config(write(tmp_path, text), ["methods.0.k=7"])
    assert [method.params for method in config.methods] == [{"k": 7}, {"k": 3}, {"k": 5}]


def test_windows_line_ends_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfdatasets: [wine]\r\nmethods: [knn]\r\nprotocol: holdout\r\nsed: 1\r\n")
    assert messages(load_config, path) == [f"{path}:4:1: unknown key 'sed'; did you mean 'seed'?"]


# ---- grids


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ([1, 3.0, "a", None, True], [1, 3.0, "a", None, True]),
        ("1..4", [1, 2, 3, 4]),
        (["-1..1", 7], [-1, 0, 1, 7]),
        ({"range": [1, 9, 4]}, [1, 5, 9]),
        ({"range": [1, 8, 4]}, [1, 5]),
        ({"range": [3, 1, -1]}, [3, 2, 1]),
        ({"range": [0.1, 0.5, 0.1]}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"range": [0, 1, 0.5]}, [0.0, 0.5, 1.0]),
        ({"log2": [0, 4]}, [1, 2, 4, 8, 16]),
        ({"log2": [-2, 2, 2]}, [0.25, 1.0, 4.0]),
        ({"log10": [-3, 3, 3]}, [0.001, 1.0, 1000.0]),
        ({"log10": [-23, -22]}, [1e-23, 1e-22]),
        ({"log2": [0.5, 1.5, 1]}, [2**0.5, 2**1.5]),
        ([0, {"log10": [0, 2]}], [0, 1, 10, 100]),
        ([[50], [50, 20]], [[50], [50, 20]]),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}]),
        (["../x", "a..b"], ["../x", "a..b"]),
    ],
)
def test_grid(grid, values):
    found = expand(grid)
    assert found == values and [type(value) for value in found] == [type(value) for value in values]


def test_paper_grid_of_penalties():
    assert expand({"log2": [-18, 18, 2]}) == [2.0**power for power in range(-18, 19, 2)]


@given(st.integers(-50, 50), st.integers(0, 60), st.integers(1, 7))
def test_ranges_include_their_ends_where_they_are_reached(first, length, step):
    assert expand({"range": [first, first + length, step]}) == list(range(first, first + length + 1, step))
    assert expand(f"{first}..{first + length}") == list(range(first, first + length + 1))


@pytest.mark.parametrize(
    "grid", [[1, 1.0], ["1..3", 2], {"range": [0, 1e9]}, {"range": [0, 1, 1e-300]}, "9" * 20 + "..3"]
)
def test_grids_that_are_refused(grid):
    with pytest.raises(GridError):
        expand(grid)


def test_one_and_true_are_two_values():
    assert expand([1, True, "1"]) == [1, True, "1"]


# ---- --set


@pytest.mark.parametrize(
    ("option", "read", "value"),
    [
        ("seed=5", lambda c: c.seed, 5),
        ("levels=[1e-2, 0.5]", lambda c: c.levels, (0.01, 0.5)),
        ("levels.1=0.2", lambda c: c.levels, (0.01, 0.2)),
        ("protocol.repeats=5", lambda c: c.protocol.repeats, 5),
        ("protocol.stratify = true", lambda c: c.protocol.stratify, True),
        ("methods.0.k=11", lambda c: c.methods[0].params, {"k": 11}),
        ("methods.1-NN.k=11", lambda c: c.methods[0].params, {"k": 11}),
        ("methods.1.sweep.k=9..10", lambda c: c.methods[1].variants(), [{"k": 9}, {"k": 10}]),
        (
            "methods.sklearn.linear_model.LogisticRegression.max_iter=7",
            lambda c: c.methods[2].params,
            {"max_iter": 7},
        ),
        ("methods.2=knn", lambda c: c.methods[2].name, "knn"),
        ("datasets.wine.card=iris", lambda c: c.datasets[0].spec(), {"name": "wine", "card": "iris"}),
        ("datasets.two-gaussians.n=7", lambda c: c.datasets[3].params["n"], 7),
        ("datasets.mine.test=small.csv", lambda c: Path(c.datasets[2].test).name, "small.csv"),
        ("figures.2.view=reject", lambda c: c.figures[2].options, {"view": "reject"}),
        ("noise.irrelevant=3", lambda c: (c.noise.irrelevant, c.noise.labels), (3, 0.1)),
        ("noise=", lambda c: c.noise, None),
        ("about=a=b", lambda c: c.about, "a=b"),
        ("paper.table=[tcm-nn-table1]", lambda c: c.paper.table, ("tcm-nn-table1",)),
    ],
)
def test_override(full, option, read, value):
    assert read(load_config(full, [option])) == value


def test_overrides_apply_in_order_and_make_what_is_missing(tmp_path):
    path = write(tmp_path, "datasets: [wine]\nmethods: [knn]\nprotocol: k-fold\n")
    options = ["protocol.folds=3", "protocol.folds=4", "noise.labels=0.2", "methods.knn.sweep.k=[1, 3]"]
    config = load_config(path, options)
    assert config.protocol.folds == 4 and config.noise.labels == 0.2
    assert config.methods[0].sweep == {"k": (1, 3)}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("protocol.repeats=x", "protocol.repeats: expected a whole number at least 1, got 'x'"),
        ("protocol.repeat=2", "unknown key 'repeat' in protocol; did you mean 'repeats'?"),
        ("protocol.inner_folds=2", "unknown key 'inner_folds' in protocol; did you mean 'inner-folds'?"),
        ("protocl.repeats=2", "unknown key 'protocl'; did you mean 'protocol'?"),
        ("methods.knm.k=2", "methods has no entry 'knm'; did you mean 'knn'?"),
        ("methods.9.k=2", "methods has no entry 9; it has entries 0 to 2"),
        (
            "methods.knn.k=2",
            "'knn' is in methods more than once; write methods.0 or methods.1",
        ),
        ("methods.0.k=0", "methods.0.k: expected a whole number at least 1, got 0"),
        ("methods.0.name=knm", "unknown method 'knm'; did you mean 'knn'?"),
        ("seed.x=3", "seed is 12 and has no 'x'"),
        ("levels.0.x=3", "levels.0 is 0.01 and has no 'x'"),
        ("seed", "expected KEY=VALUE, such as protocol.repeats=5"),
        ("=3", "expected KEY=VALUE, such as protocol.repeats=5"),
        ("a..b=3", "expected KEY=VALUE, such as protocol.repeats=5"),
        ("levels=[0.1", "the '[' that opens here is not closed by ']'"),
        ("noise={on: all, on: train}", "repeated key 'on'"),
        ("levels=0.1", "levels: expected a list, got 0.1; write [0.1]"),
        ("datasets.mine.csv=smal.csv", "datasets.2.csv: no file FOLDER/smal.csv; did you mean 'small.csv'?"),
    ],
)
def test_override_that_is_wrong(full, option, message):
    found = messages(load_config, full, [option])
    assert [line.replace(str(full.parent), "FOLDER") for line in found] == [f"--set {option}: {message}"]


def test_errors_of_the_file_come_first(full):
    full.write_text(full.read_text().replace("seed: 012", "seed: x"))
    assert messages(load_config, full, ["protocol.folds=1", "levels.0=2"]) == [
        f"{full}:23:7: seed: expected a whole number at least 0, got 'x'",
        "--set protocol.folds=1: protocol.folds: expected a whole number at least 2, got 1",
        "--set levels.0=2: levels.0: expected a number above 0 and below 1, got 2; write 0.02 for 2 %",
    ]


# ---- what callers hand in


def test_figures_and_tables_are_checked_where_they_are_known(full):
    assert load_config(full).figures  # nothing handed in, nothing checked
    found = messages(load_config, full, figures={"error-against-m": print}, tables=iter(["other"]))
    assert found == [
        f"{full}:22:11: unknown figure 'error-against-k'; did you mean 'error-against-m'?",
        f"{full}:22:35: unknown figure 'error-against-k'; did you mean 'error-against-m'?",
        f"{full}:22:68: unknown figure 'error-against-k'; did you mean 'error-against-m'?",
        f"{full}:24:8: unknown table 'tcm-nn-table3'; there is other",
    ]


def test_options_of_figures_are_checked_by_the_caller(full):
    def check(name, options):
        if options.get("view") == "vote":
            raise BadValue(f"figure '{name}'", "view", "vote", "one of p-value", hint="change it")
        if options.get("view") == "p-value":
            raise UnknownParameter(f"figure '{name}'", "view", hint="it has none")

    assert messages(load_config, full, check_figure=check) == [
        f"{full}:22:52: figure 'error-against-k' has no parameter 'view'; it has none",
        f"{full}:22:92: figures.2.view: expected one of p-value, got 'vote'; change it",
    ]


# ---- errors are told apart by their types, not by words in their messages


@pytest.mark.parametrize("words", ["needs a parameter", "x has no parameter 'y'", "requires the parameter k"])
def test_words_of_a_value_do_not_change_its_error(words):
    assert messages(make_config, base(methods=[{"name": "knn", "k": words}])) == [
        f"config: methods.0.k: expected a whole number at least 1, got {got(words)}"
    ]


class Refusing(Method):
    """A method that needs ``k`` wherever ``other`` is given, and says so in words of its own."""

    name = "refusing"
    views = ("margin",)
    parameters = {"k": Integer("a number"), "other": Integer("another number")}  # noqa: RUF012

    def __init__(self, k=0, other=0):
        self.k, self.other = k, other

    def fit(self, X, y):
        return self

    def confident_predict(self, X, rng=None):
        return {}

    @classmethod
    def check_combination(cls, params):
        if "other" in params and "k" not in params:
            message = "other requires the parameter k"
            raise IncompatibleParameters(message, owner=cls.name, parameter="other", value=params["other"])


def test_a_parameter_that_requires_another_is_checked_with_it(monkeypatch):
    monkeypatch.setitem(registry.methods.own, "refusing", Refusing)
    assert make_config(base(methods=[{"name": "refusing", "other": 1, "k": 2}]))
    assert make_config(base(methods=[{"name": "refusing", "other": 1, "sweep": {"k": [1, 2]}}]))
    assert messages(make_config, base(methods=[{"name": "refusing", "other": 1}])) == [
        "config: methods.0.other: other requires the parameter k"
    ]


def test_parameters_of_a_nested_method_are_checked_at_their_place(tmp_path):
    text = "datasets: [wine]\nprotocol: holdout\nmethods:\n"
    text += "  - {name: smart-svm, estimator: knn, estimator-params: {k: 0}}\n"
    text += "  - {name: smart-svm, estimator: knn, estimator-params: {kk: 1}}\n"
    text += "  - {name: polynomial, learner: winnow, C: 1}\n"
    path = write(tmp_path, text)
    assert messages(load_config, path) == [
        f"{path}:4:61: methods.0.estimator_params.k: expected a whole number at least 1, got 0",
        f"{path}:5:58: method 'knn' has no parameter 'kk'; did you mean 'k'?",
        f"{path}:6:44: methods.2.C: polynomial with learner winnow has no parameter 'C'",
    ]


# ---- scikit-learn's classifiers


def test_scikit_learn_parameters_are_checked(tmp_path):
    text = "datasets: [wine]\nprotocol: holdout\nmethods:\n"
    path = write(tmp_path, text + "  - {name: sklearn.svm.SVC, C: -1, tune: {gama: [1]}}\n")
    range_of_C, unknown = messages(load_config, path)
    assert range_of_C.startswith(f"{path}:4:32: methods.0.C: expected ")
    assert unknown == f"{path}:4:43: SVC has no parameter 'gama'; did you mean 'gamma'?"


# ---- the JSON Schema


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

    found = list(objects(schema))
    assert len(found) >= 8
    for part in found:
        for key, value in part["properties"].items():
            assert "_" not in key or key in ("log2", "log10"), key
            if key not in ("log2", "log10", "range"):
                assert value.get("description"), key
    assert set(schema["properties"]) == set(Config.keys())
    assert schema["required"] == ["datasets", "methods", "protocol"]


def test_schema_holds_together():
    schema = json_schema(figures=FIGURES, tables=TABLES)

    def check(part):
        if isinstance(part, dict):
            reference = part.get("$ref")
            if isinstance(reference, str):
                assert reference.removeprefix("#/$defs/") in schema["$defs"]
            for key in ("anyOf", "allOf", "enum"):
                assert part.get(key) != [], f"an empty {key} is no JSON Schema"
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            check(inner)

    check(schema)


def test_schema_names_what_there_is_and_stays_open():
    parts = json_schema(figures=FIGURES, tables=TABLES)["$defs"]
    word, full = parts["MethodEntry"]["anyOf"][:2]
    assert "knn" in word["anyOf"][0]["enum"] and word["anyOf"][1]["type"] == "string"
    assert "knn" in full["properties"]["name"]["anyOf"][0]["enum"]
    (knn,) = [one["then"] for one in full["allOf"] if one["if"]["properties"]["name"]["const"] == "knn"]
    assert knn["properties"]["k"]["minimum"] == 1
    assert full["additionalProperties"] is True
    assert parts["FigureSpec"]["anyOf"][0]["anyOf"][0]["enum"] == FIGURES
    noise = parts["NoiseSpec"]["properties"]
    assert noise["labels"]["maximum"] == 1 and parts["NoiseSpec"]["additionalProperties"] is False


# ---- nothing but ConfigErrors


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


def test_importing_configs_is_cheap():
    program = (
        "import sys, confml.config\nassert not {'sklearn', 'numpy', 'pandas', 'numba'} & set(sys.modules)"
    )
    processes.assert_program(program)
