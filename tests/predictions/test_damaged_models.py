"""Model files that are damaged, foreign or hostile, each with right checksums, are refused with an error."""

import contextlib
import functools
import io
import json

import numpy as np
import pandas as pd
import pytest
from programs.fuzz.model_mutants import members_of, signed, table
from sklearn.svm import SVC

import confml
from confml import TCMNN
from confml.errors import DataError
from confml.predictions.store import FORMAT, save_model
from confml.predictions.trusted import objects_in

TRAIN, NEW = table(), table(1)
FOREST = "sklearn.ensemble.RandomForestClassifier"
HISTOGRAMS = "sklearn.ensemble.HistGradientBoostingClassifier"
PARAMS = {FOREST: {"n_estimators": 3}, HISTOGRAMS: {"max_iter": 2, "min_samples_leaf": 3}}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Return the path of the model file of a method, which is fitted once."""
    folder = tmp_path_factory.mktemp("models")

    @functools.cache
    def path(method):
        file = folder / f"{method}.confml"
        params = PARAMS.get(method, {})
        confml.predict(TRAIN, NEW[:0], label="target", method=method, params=params, save=file)
        return file

    return path


def with_head(**values):
    """A change of values of ``model.json``."""

    def change(members):
        members["model.json"] = json.dumps(json.loads(members["model.json"]) | values).encode()

    return change


def with_attribute(part, name, node=None):
    """A change of the description of an attribute in a part of the model, which is removed by default."""

    def change(members):
        schema = json.loads(members["schema.json"])
        described = schema["content"]["content"]
        attributes = described[part]["content"]["content"] if part else described
        attributes[name] = node
        if node is None:
            del attributes[name]
        members["schema.json"] = json.dumps(schema).encode()

    return change


def foreign(module, name, loader):
    """A change of the view of the model into an object of a type that no model file holds."""
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "1"}
    node = {"__module__": module, "__class__": name, "__loader__": loader, "content": text}
    return with_attribute(None, "view", node)


def with_arrays(change):
    """A change of every array for which ``change`` returns another array, not None."""

    def changed(members):
        count = 0
        for name in [name for name in members if name.endswith(".npy")]:
            array = change(np.load(io.BytesIO(members[name])))
            if array is not None:
                file = io.BytesIO()
                np.save(file, array)
                members[name], count = file.getvalue(), count + 1
        assert count

    return changed


def absurd_code(array):
    """Class codes with one of 2^63 - 1; counts of so many classes corrupted the heap."""
    if array.dtype == np.int64 and array.size == 45 and array.max() == 2:
        array[-1] = 2**63 - 1
        return array
    return None


def nan_rows(array):
    """Rows with NaN: kernels that order rows by distance left their arrays."""
    if array.dtype == np.float64 and array.ndim == 2 and 45 in array.shape:
        array[0] = np.nan
        return array
    return None


def shorter(array):
    return array[:-1] if array.ndim == 2 and len(array) == 45 else None


def rows_counted(count):
    """Another number of rows in the ranges of the features; 1e300 ended in an OverflowError."""

    def change(array):
        if array.ndim == 2 and len(array) == 3 and 45 in array[2]:
            array[2, 0] = count
            return array
        return None

    return with_arrays(change)


def nodes(change):
    """A change of the nodes of every tree."""
    return with_arrays(lambda array: change(array) if array.dtype.names else None)


def root(field, value):
    """A change of the first node of every tree."""

    def change(array):
        array[field][0] = value
        return array

    return nodes(change)


NUMBER = {"__class__": "int", "__module__": "builtins", "__loader__": "JsonNode", "content": "7"}
NUMBER |= {"is_json": True, "__id__": 0}
TYPES = [
    ("os", "system", "FunctionNode"),
    ("builtins", "eval", "TypeNode"),
    ("subprocess", "Popen", "ObjectNode"),
    ("subprocess", "Popen", "ConstructorFromReduceNode"),
    ("confml.cli", "main", "FunctionNode"),
    ("confml.errors", "ConfmlError", "ObjectNode"),
]
ATTRIBUTES = [("facts", "params"), ("facts", "notes"), ("coder", "features"), ("neighbours", "X")]
ROOTS = [
    *((FOREST, "left_child", child) for child in (0, -7, 10**6, 2**63 - 1, -1)),
    *((FOREST, "right_child", child) for child in (1, -(2**63))),
    *((FOREST, "feature", feature) for feature in (-2, 5, 2**62)),
    *((HISTOGRAMS, "left", 0), (HISTOGRAMS, "right", 2**32 - 1)),
    *((HISTOGRAMS, "feature_idx", 5), (HISTOGRAMS, "feature_idx", -1)),
    *((HISTOGRAMS, "is_categorical", 1), (HISTOGRAMS, "is_leaf", 1)),
]


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("tcm-nn", with_head(format=FORMAT + 1, confml="9.0"), f"format {FORMAT + 1} .written by confml 9.0"),
        ("tcm-nn", with_head(format=3, confml="0.9"), f"format 3 .written by .* reads format {FORMAT}"),
        ("tcm-nn", lambda members: members.update({"model.json": b"{"}), "damaged: .*JSONDecodeError"),
        ("tcm-nn", lambda members: members.update({"schema.json": b"{}"}), "damaged: "),
        *(
            ("tcm-nn", with_attribute(part, name, node), "damaged: ")
            for part, name in ATTRIBUTES
            for node in (None, NUMBER)
        ),
        *(
            (method, with_arrays(change), "damaged: .*; copy it again, or fit it again with")
            for method in ("tcm-nn", "knn", "bayes-knn")
            for change in (absurd_code, nan_rows, shorter)
        ),
        *(("tcm-nn", rows_counted(count), None) for count in (1e300, np.nan)),  # or predicted
        *((method, root(field, value), "damaged: ") for method, field, value in ROOTS),
        (FOREST, nodes(lambda array: array[:-1]), "damaged: "),
        (FOREST, nodes(lambda array: array[:0]), "damaged: "),
        (FOREST, nodes(lambda array: array[["left_child", "right_child", "feature"]].copy()), "damaged: "),
        *(
            ("tcm-nn", foreign(*kind), "not trusted: {0}.{1}; .*--trust {0}.{1}".format(*kind))
            for kind in TYPES
        ),
    ],
)
def test_changed_files_are_refused(model_file, tmp_path, method, change, words):
    """Some changes are noticed only where rows are explained; without that no other error occurs."""
    members = members_of(model_file(method))
    change(members)
    path = tmp_path / "changed.confml"
    path.write_bytes(signed(members))
    with contextlib.suppress(DataError):
        confml.predict(path, NEW)
    with pytest.raises(DataError, match=words) if words else contextlib.suppress(DataError):
        confml.predict(path, NEW, explain=1)


def test_every_changed_or_missing_byte_is_noticed(model_file, tmp_path):
    whole = model_file("tcm-nn").read_bytes()
    expected = confml.predict(model_file("tcm-nn"), NEW, explain=1)
    rng = np.random.default_rng(1)
    for at in rng.choice(len(whole), 12, replace=False).tolist():
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]):
            (tmp_path / "damaged.confml").write_bytes(damaged)
            try:
                answers = confml.predict(tmp_path / "damaged.confml", NEW, explain=1)
            except DataError:
                continue
            pd.testing.assert_frame_equal(answers, expected)  # such as a byte of a time stamp


@pytest.mark.parametrize("method", ["kernel-svm", "sklearn.svm.SVC"])
@pytest.mark.parametrize("part", ["support_vectors", "support", "n_support", "dual_coef", "intercept"])
def test_support_vectors_that_do_not_fit_are_damaged(model_file, tmp_path, method, part):
    """LIBSVM read them beyond their ends, which ended the interpreter."""
    model = confml.load_model(model_file(method))
    machine = next(value for value in objects_in(model) if isinstance(value, SVC))
    for name in [name for name in vars(machine) if name.strip("_") == part]:
        array = getattr(machine, name)
        setattr(machine, name, array * 1000 + 1000 if array.dtype == np.int32 else array[:0])
    save_model(model, tmp_path / "changed.confml")
    with pytest.raises(DataError, match=r"the model file is damaged: .*support vector"):
        confml.load_model(tmp_path / "changed.confml")


@pytest.mark.parametrize("k", [0, -1, 2**62])
def test_parameters_that_a_fit_refuses_are_damaged(model_file, tmp_path, k):
    model = confml.load_model(model_file("knn"))
    model.method.k = k
    save_model(model, tmp_path / "changed.confml")
    if k > 0:
        assert len(confml.predict(tmp_path / "changed.confml", NEW))
        return
    with pytest.raises(DataError, match=r"damaged: .*k must be"):
        confml.load_model(tmp_path / "changed.confml")


def test_another_version_of_a_method_is_refused(model_file, monkeypatch):
    path, version = model_file("tcm-nn"), TCMNN.version
    monkeypatch.setattr(TCMNN, "version", version + 1)
    with pytest.raises(DataError, match=f"version {version} of TCMNN, .* has version {version + 1}"):
        confml.predict(path, NEW)


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "csv.confml").write_text("a,b\n1,2\n")
    (tmp_path / "zip.confml").write_bytes(b"PK\x05\x06" + bytes(18))  # an empty archive
    (tmp_path / "folder.confml").mkdir()
    words = {"csv": "not a model file", "zip": "not a model file", "gone": "no such", "folder": "a folder"}
    for name, message in words.items():
        with pytest.raises(DataError, match=message):
            confml.load_model(tmp_path / f"{name}.confml")
