"""Model files: the same predictions after a fit and from a file, and refusals of files that are not whole."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from command_line import command, invoke, refusal
from programs.fuzz.model_mutants import members_of, signed
from sklearn.svm import SVC

import confml
from confml import TCMNN
from confml.errors import ConfmlError, DataError
from confml.methods.registry import known_methods
from confml.plugins.parameters import Choice
from confml.predictions.store import FORMAT, CannotStore, save_model
from confml.predictions.trusted import objects_in
from confml.steps.registry import known_steps

CHAINS = {"model": "adaptive", "samples": 20, "burn_in": 20, "chains": 2, "thin": 1}


def frame_of(classes: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, 60)
    return pd.DataFrame(
        {
            "a": rng.normal(size=60) + 2 * y,
            "b": rng.normal(size=60) - y,
            "kind": rng.choice(list("uvw"), 60),
            "target": y,
        }
    )


def cases():
    """(name, method, further arguments, number of classes) of every fitted state that is tested."""
    for name, cls in known_methods().items():
        if cls.takes_rows:  # it has no predictions for new rows
            continue
        yield name, name, {}, 3
        if name not in ("tcm-nn", "tcm-svm"):
            yield f"{name}, split", name, {"conformal": "split"}, 2
        for parameter, rule in cls.parameters.items():
            for option in rule.options if isinstance(rule, Choice) and parameter != "kernel" else ():
                options = {"nominal": "dummy"} if parameter == "distance" else {}
                options |= {key: value for key, value in CHAINS.items() if option == "adaptive"}
                yield f"{name}, {parameter}: {option}", name, {"params": {parameter: option, **options}}, 2
    for name in known_steps():
        yield f"step {name}", "tcm-nn", {"steps": [name]}, 2
    yield "cross", "knn", {"conformal": "cross"}, 3
    candidates = ["knn", "sklearn.linear_model.LogisticRegression"]
    yield "best_of", "knn", {"conformal": "split", "params": {"conformal__best_of": candidates}}, 3
    yield "mondrian", "tcm-nn", {"params": {"k": 3, "mondrian": True, "smoothed": True}}, 3
    yield "chains", "bayes-knn", {"params": CHAINS}, 2
    yield "operating point", "knn", {"risk": 0.3}, 2
    for transformer in ("sklearn.decomposition.PCA", "sklearn.feature_selection.VarianceThreshold"):
        yield transformer, "knn", {"steps": ["standardise", transformer]}, 2
    yield "scikit-learn", "sklearn.linear_model.LogisticRegression", {}, 3


@pytest.mark.filterwarnings("ignore")
def test_every_method_predicts_the_same_bytes_from_a_file(tmp_path):
    """All own methods and steps, and conformal wrappers."""
    frames = {classes: frame_of(classes) for classes in (2, 3)}
    path, names = tmp_path / "m.confml", []
    for name, method, options, classes in cases():
        train, new = frames[classes][:40], frames[classes][40:].drop(columns="target")
        settings = {"label": "target", "method": method, "explain": 1, "save": path, **options}
        answers = confml.predict(train, new, **settings)
        assert confml.predict(path, new, explain=1).to_csv() == answers.to_csv(), name
        names.append(name)
    assert len(names) > 60


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = frame_of(2)
    frame[:40].to_csv("train.csv", index=False)
    frame[40:].to_csv("new.csv", index=False)
    return tmp_path


FIT = ("predict", "--train", "train.csv", "--label", "target")


def test_the_command_saves_and_reads(files):
    first = command(*FIT, "new.csv", "--save", "models/m.confml", "--explain", 2)
    assert "wrote the model of tcm-nn to models/m.confml" in first.stderr
    assert command(*FIT, "--save", "m.confml").stdout == ""
    again = command("predict", "m.confml", "new.csv", "--explain", 2)
    assert again.stdout_bytes == first.stdout_bytes
    said = first.stderr.replace("wrote the model of tcm-nn to models/m.confml\n", "")
    assert again.stderr == said
    stream = command("predict", "m.confml", "-", "--level", 0.05, stdin=(files / "new.csv").read_bytes())
    assert "region@0.05" in stream.stdout and "region@0.1" not in stream.stdout
    about = json.loads(zipfile.ZipFile("m.confml").read("model.json"))
    assert (
        about["format"] == FORMAT and about["confml"] == confml.__version__ and about["classes"] == ["0", "1"]
    )
    assert about["columns"][2] == {"name": "kind", "kind": "nominal"} and len(about["data"]["sha256"]) == 64


def test_options_of_a_fit_do_not_go_with_a_model(files):
    command(*FIT, "--save", "m.confml")
    for option in (("--method", "knn"), ("--set", "seed=2"), ("--label", "target"), ("--risk", 0.1)):
        result = invoke("predict", "m.confml", "new.csv", *option)
        words = f"{option[0]} cannot be combined with a fitted model (m.confml)"
        assert result.exit_code == 2 and words in result.stderr
    assert "a file of new rows are needed" in invoke("predict", "m.confml").stderr
    assert "expected a table of new rows, got a model file" in str(refusal(*FIT, "m.confml"))
    without_rows = invoke(*FIT, "--save", "n.confml", "--out", "x.csv").stderr
    assert "--out writes the predictions of new rows" in without_rows
    table = invoke("predict", "train.csv", "new.csv").stderr
    assert "train.csv is a table, expected a config or a model" in table
    assert "confml predict --train train.csv --label COLUMN new.csv" in table
    (files / "file").write_text("")
    result = invoke(*FIT, "new.csv", "--save", "file/m.confml")  # noticed before the fit
    assert isinstance(result.exception, OSError) and not result.stdout


def test_a_loaded_model_predicts_in_python(files):
    expected = confml.predict("train.csv", "new.csv", label="target", save="m.confml")
    model = confml.load_model("m.confml")
    confml.save_model(model, "n.confml")
    for source in (model, files / "m.confml", "n.confml"):
        pd.testing.assert_frame_equal(confml.predict(source, "new.csv"), expected)
    with pytest.raises(ConfmlError, match="method cannot be combined with a fitted model"):
        confml.predict(model, pd.read_csv("new.csv"), method="knn")


def test_files_that_are_no_models(files):
    (files / "csv.confml").write_text("a,b\n1,2\n")
    with zipfile.ZipFile("zip.confml", "w") as archive:
        archive.writestr("other", "x")
    for name in ("csv.confml", "zip.confml"):
        with pytest.raises(DataError, match="this is not a model file of confml; confml predict CONFIG"):
            confml.load_model(name)
    with pytest.raises(DataError, match="no such file"):
        confml.load_model("gone.confml")
    with pytest.raises(DataError, match="this is a folder, not a"):
        (files / "folder.confml").mkdir()
        confml.load_model("folder.confml")


def rewritten(source, path, change):
    """Write a model file whose members (name to bytes) were changed, with right checksums."""
    members = members_of(source)
    change(members)
    path.write_bytes(signed(members))


def with_head(**values):
    """A change of values of ``model.json``."""

    def change(members):
        members["model.json"] = json.dumps(json.loads(members["model.json"]) | values).encode()

    return change


def with_schema(change):
    """A change of the description of the objects, in place."""

    def changed(members):
        schema = json.loads(members["schema.json"])
        change(schema)
        members["schema.json"] = json.dumps(schema).encode()

    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_head(format=FORMAT + 1, confml="9.0"), f"format {FORMAT + 1} .written by confml 9.0"),
        (with_head(format=3, confml="0.9"), f"format 3 .written by .* reads format {FORMAT}; fit it again"),
        (lambda members: members.update({"model.json": b"{"}), "damaged: it cannot be read .JSONDecodeError"),
        (with_schema(lambda schema: schema.update(content=None)), "damaged: "),
        (
            with_schema(
                lambda schema: schema["content"]["content"]["neighbours"]["content"]["content"].pop("X")
            ),
            "damaged: its parts do not fit together .AttributeError",
        ),
    ],
)
def test_damaged_older_and_newer_files_are_refused(files, change, words):
    command(*FIT, "--save", "m.confml")
    rewritten(files / "m.confml", files / "n.confml", change)
    with pytest.raises(DataError, match=words):
        confml.predict("n.confml", "new.csv", explain=1)


NUMBER = {"__class__": "int", "__module__": "builtins", "__loader__": "JsonNode", "content": "7"}
NUMBER |= {"is_json": True, "__id__": 0}


@pytest.mark.parametrize(
    ("part", "name"), [("facts", "params"), ("facts", "notes"), ("coder", "features"), ("neighbours", "X")]
)
@pytest.mark.parametrize("is_there", [False, True])
def test_objects_whose_attributes_are_missing_or_numbers_are_refused(files, part, name, is_there):
    """Facts without ``params``, and ``notes`` that are a number, ended in a Python error."""
    command(*FIT, "--save", "m.confml")

    def change(schema):
        attributes = schema["content"]["content"][part]["content"]["content"]
        attributes |= {name: NUMBER}
        if not is_there:
            del attributes[name]

    rewritten(files / "m.confml", files / "n.confml", with_schema(change))
    error = invoke("predict", "n.confml", "new.csv").exception
    assert error is None or isinstance(error, ConfmlError)
    with pytest.raises(DataError, match="n.confml: the model file is damaged: "):
        confml.predict("n.confml", "new.csv", explain=1)


def test_every_changed_or_missing_byte_is_noticed(files):
    command(*FIT, "--save", "m.confml")
    whole = (files / "m.confml").read_bytes()
    expected = confml.predict("m.confml", "new.csv", explain=1)
    rng = np.random.default_rng(1)
    for at in rng.choice(len(whole), 12, replace=False).tolist():
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]):
            (files / "n.confml").write_bytes(damaged)
            try:
                answers = confml.predict("n.confml", "new.csv", explain=1)
            except DataError:
                continue  # refused in words
            pd.testing.assert_frame_equal(answers, expected)  # such as a byte of a time stamp


def test_another_version_of_a_method_is_refused(files, monkeypatch):
    command(*FIT, "--save", "m.confml")
    fitted, present = TCMNN.version, TCMNN.version + 1
    monkeypatch.setattr(TCMNN, "version", present)
    with pytest.raises(
        DataError,
        match=f"with version {fitted} of TCMNN, and this confml has version {present}.*fit it again",
    ):
        confml.predict("m.confml", "new.csv")


# ---- types


@pytest.mark.parametrize(
    ("module", "name", "loader"),
    [
        ("os", "system", "FunctionNode"),
        ("builtins", "eval", "TypeNode"),
        ("subprocess", "Popen", "ObjectNode"),
        ("subprocess", "Popen", "ConstructorFromReduceNode"),
        ("confml.cli", "main", "FunctionNode"),
        ("confml.errors", "ConfmlError", "ObjectNode"),
    ],
)
def test_foreign_types_are_refused(files, module, name, loader):
    command(*FIT, "--save", "m.confml")

    def change(schema):
        schema["content"]["content"]["view"] = {
            "__module__": module,
            "__class__": name,
            "__loader__": loader,
            "content": {
                "__class__": "str",
                "__module__": "builtins",
                "__loader__": "JsonNode",
                "content": "1",
            },
        }

    rewritten(files / "m.confml", files / "n.confml", with_schema(change))
    with pytest.raises(
        DataError, match=f"types that are not trusted: {module}.{name}; .*--trust {module}.{name}"
    ):
        confml.load_model("n.confml")


class Unknown(TCMNN):
    """A method of a module that confml does not know."""

    name = "unknown"


def test_types_that_are_not_trusted_are_not_written(files):
    command(*FIT, "--save", "m.confml")
    model = confml.load_model("m.confml")
    model.method = Unknown().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(CannotStore, match="cannot be stored: it holds objects of types .*Unknown.*--trust"):
        save_model(model, "n.confml")
    model.method = (row for row in ())
    with pytest.raises(CannotStore, match="tcm-nn cannot be stored: .*generator.*predict without --save"):
        save_model(model, "n.confml")
    assert not (files / "n.confml").exists()


# ---- arrays that would lead kernels out of their memory


def with_arrays(change):
    """A change of every array: ``change`` returns another one, or None."""

    def changed(members):
        done = 0
        for name in [name for name in members if name.endswith(".npy")]:
            array = change(np.load(io.BytesIO(members[name])))
            if array is not None:
                file = io.BytesIO()
                np.save(file, array)
                members[name], done = file.getvalue(), done + 1
        assert done

    return changed


def absurd_code(array):
    """Class codes with one of 2^63 - 1; counts of so many classes corrupted the heap."""
    if array.dtype == np.int64 and array.size == 40 and array.max() == 1:
        array[-1] = 2**63 - 1
        return array
    return None


def nan_rows(array):
    """Rows with NaN: kernels that order rows by distance left their arrays."""
    if array.dtype == np.float64 and array.ndim == 2 and 40 in array.shape:
        array[0] = np.nan
        return array
    return None


def shorter(array):
    return array[:-1] if array.ndim == 2 and len(array) == 40 else None


@pytest.mark.parametrize("method", ["tcm-nn", "knn", "bayes-knn"])
@pytest.mark.parametrize("change", [absurd_code, nan_rows, shorter])
def test_arrays_that_do_not_fit_are_damaged(files, method, change):
    command(*FIT, "--method", method, "--save", "m.confml")
    rewritten(files / "m.confml", files / "n.confml", with_arrays(change))
    with pytest.raises(DataError, match="the model file is damaged: .*; copy it again, or fit it again with"):
        confml.predict("n.confml", "new.csv", explain=1)


@pytest.mark.parametrize("method", ["kernel-svm", "sklearn.svm.SVC"])
@pytest.mark.parametrize("part", ["support_vectors", "support", "n_support", "dual_coef", "intercept"])
def test_support_vectors_that_do_not_fit_are_damaged(files, method, part):
    """LIBSVM read them beyond their ends, which ended the interpreter."""
    command(*FIT, "--method", method, "--save", "m.confml")
    model = confml.load_model("m.confml")
    machine = next(value for value in objects_in(model) if isinstance(value, SVC))
    for name in [name for name in vars(machine) if name.strip("_") == part]:
        array = getattr(machine, name)
        setattr(machine, name, array * 1000 + 1000 if array.dtype == np.int32 else array[:0])
    save_model(model, "n.confml")
    with pytest.raises(DataError, match="the model file is damaged: .*support vector"):
        confml.load_model("n.confml")


@pytest.mark.parametrize("k", [0, -1, 2**62])
def test_parameters_that_a_fit_refuses_are_damaged(files, k):
    command(*FIT, "--method", "knn", "--save", "m.confml")
    model = confml.load_model("m.confml")
    model.method.k = k
    save_model(model, "n.confml")
    if k > 0:
        assert len(confml.predict("n.confml", "new.csv"))
        return
    with pytest.raises(DataError, match="damaged: .*k must be"):
        confml.load_model("n.confml")


@pytest.mark.parametrize("count", [1e300, np.nan])
def test_absurd_numbers_of_rows(files, count):
    """A number of rows of 1e300 ended in an OverflowError."""
    command(*FIT, "--save", "m.confml")

    def change(array):
        if array.ndim == 2 and len(array) == 3 and 40 in array[2]:  # ranges of the features
            array[2, 0] = count
            return array
        return None

    rewritten(files / "m.confml", files / "n.confml", with_arrays(change))
    result = invoke("predict", "n.confml", "new.csv")
    assert result.exception is None or isinstance(result.exception, (DataError, SystemExit))
