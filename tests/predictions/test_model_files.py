"""Model files: the same predictions after a fit and from a file, and refusals of files that are not whole."""

from __future__ import annotations

import hashlib
import io
import json
import pickletools
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import processes
import pytest
from click.testing import CliRunner
from programs.fuzz.model_mutants import signed

import confml
from confml.commands.predict import predict
from confml.errors import ConfmlError, DataError
from confml.methods.few_rows import FewRows
from confml.methods.registry import known_methods, method_class
from confml.methods.tcm_nn import TCMNN
from confml.plugins.parameters import Choice
from confml.predictions import model as model_module
from confml.predictions import model_file
from confml.predictions.declarations import Mismatch
from confml.predictions.state_codec import CannotStore, Decoder, Encoder
from confml.predictions.store import save_model
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
        yield name, name, {}, 2
        yield f"{name}, 3 classes", name, {}, 3
        if not {"tcm-nn", "tcm-svm"} & {name}:
            yield f"{name}, split", name, {"conformal": "split"}, 3
        for parameter, rule in cls.parameters.items():
            for option in rule.options if isinstance(rule, Choice) and parameter != "kernel" else ():
                more = {"nominal": "dummy"} if parameter == "distance" else {}
                more |= {key: value for key, value in CHAINS.items() if option == "adaptive"}
                yield f"{name}, {parameter}: {option}", name, {"params": {parameter: option, **more}}, 2
    for name in known_steps():
        yield f"step {name}", "tcm-nn", {"steps": [name]}, 2
        yield f"step {name}, split", "knn", {"steps": [name], "conformal": "split"}, 2
    yield "cross", "knn", {"conformal": "cross"}, 3
    others = ["knn", "sklearn.linear_model.LogisticRegression"]
    yield "best_of", "knn", {"conformal": "split", "params": {"conformal__best_of": others}}, 3
    yield "mondrian", "tcm-nn", {"params": {"k": 3, "mondrian": True, "smoothed": True}}, 3
    yield "chains", "bayes-knn", {"params": CHAINS}, 2
    yield "operating point", "knn", {"risk": 0.3}, 2
    for transformer in ("sklearn.decomposition.PCA", "sklearn.feature_selection.VarianceThreshold"):
        yield transformer, "knn", {"steps": ["standardise", transformer]}, 2
        yield f"{transformer}, split", "knn", {"steps": [transformer], "conformal": "split"}, 2
    yield "scikit-learn", "sklearn.linear_model.LogisticRegression", {}, 3


READ = """
import sys, pandas as pd, confml
from pathlib import Path
for path in sorted(Path(sys.argv[1]).glob("*.confml")):
    new = Path(sys.argv[1]) / f"new-{path.stem.partition('-')[0]}.csv"
    confml.predict(path, new, explain=1).to_csv(path.with_suffix(".again"))
"""


@pytest.mark.filterwarnings("ignore")
def test_every_method_predicts_the_same_bytes_from_a_file(tmp_path):
    """Fitted and saved here, loaded in a fresh process: all own methods and steps, conformal wrappers."""
    for classes in (2, 3):
        frame = frame_of(classes)
        frame[:40].to_csv(tmp_path / f"train-{classes}.csv", index=False)
        frame[40:].drop(columns="target").to_csv(tmp_path / f"new-{classes}.csv", index=False)
    names = {}
    for number, (name, method, more, classes) in enumerate(cases()):
        path = tmp_path / f"{classes}-{number}.confml"
        answers = confml.predict(
            *(tmp_path / f"{part}-{classes}.csv" for part in ("train", "new")),
            **{"label": "target", "method": method, "explain": 1, "save": path, **more},
        )
        answers.to_csv(path.with_suffix(".first"))
        names[path.stem] = name
    (tmp_path / "read.py").write_text(READ)
    done = processes.confml(tmp_path, program=tmp_path / "read.py")
    assert done.returncode == 0, done.stderr
    wrong = [
        name
        for stem, name in names.items()
        if (tmp_path / f"{stem}.first").read_bytes() != (tmp_path / f"{stem}.again").read_bytes()
    ]
    assert wrong == [] and len(names) > 60


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = frame_of(2)
    frame[:40].to_csv("train.csv", index=False)
    frame[40:].to_csv("new.csv", index=False)
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(predict, [str(one) for one in arguments], input=stdin)


FIT = ("--train", "train.csv", "--label", "target")


def test_the_command_saves_and_reads(files):
    first = run(*FIT, "new.csv", "--save", "models/m.confml", "--explain", 2)
    assert first.exit_code == 0 and "model of tcm-nn in models/m.confml" in first.stderr
    alone = run(*FIT, "--save", "m.confml")
    assert alone.exit_code == 0 and alone.stdout == ""
    assert (files / "m.confml").read_bytes() == (files / "models" / "m.confml").read_bytes()
    again = run("m.confml", "new.csv", "--explain", 2)
    assert again.stdout_bytes == first.stdout_bytes
    said = first.stderr.replace("model of tcm-nn in models/m.confml\n", "")
    assert again.stderr.replace("a new fit with ", "") == said
    document = json.loads(run("m.confml", "new.csv", "--json").stdout)
    assert "(a new fit with --per-class gives this guarantee)" in " ".join(document["guarantee"])
    stream = run("m.confml", "-", "--level", 0.05, stdin=(files / "new.csv").read_bytes())
    assert "region@0.05" in stream.stdout and "region@0.1" not in stream.stdout
    about = json.loads(zipfile.ZipFile("m.confml").read("model.json"))
    assert about["format"] == 3 and about["confml"] == confml.__version__ and about["classes"] == ["0", "1"]
    assert about["columns"][2] == {"name": "kind", "kind": "nominal"} and len(about["data"]["sha256"]) == 64


def test_a_stored_model_of_tcm_nn_imports_little(files):
    """scikit-learn, pandas, SciPy and numba each take longer to import than a few rows to predict.

    Scores of new rows with labels take SciPy.
    """
    run(*FIT, "--save", "m.confml")
    pd.read_csv("new.csv").drop(columns="target").to_csv("new.csv", index=False)
    program = (
        "import sys\nfrom confml.cli import cli\n"
        "cli.main(['predict', 'm.confml', 'new.csv'], standalone_mode=False)\n"
        "heavy = {'sklearn', 'numba', 'pandas', 'scipy', 'pydantic', 'joblib', 'matplotlib', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    processes.assert_program(program)


def test_options_of_a_fit_do_not_go_with_a_model(files):
    run(*FIT, "--save", "m.confml")
    for option in (("--method", "knn"), ("--set", "seed=2"), ("--label", "target"), ("--risk", 0.1)):
        result = run("m.confml", "new.csv", *option)
        assert (
            result.exit_code == 2
            and f"{option[0]} cannot be combined with a fitted model (m.confml)" in result.stderr
        )
    assert "a file of new rows are needed" in run("m.confml").stderr
    assert "expected a table of new rows, got a model file" in str(run(*FIT, "m.confml").exception)
    assert "--out is for answers" in run(*FIT, "--save", "n.confml", "--out", "x.csv").stderr


def test_a_loaded_model_predicts_in_python(files):
    expected = confml.predict("train.csv", "new.csv", label="target", save="m.confml")
    model = confml.load_model("m.confml")
    new = pd.read_csv("new.csv")
    for answers in (confml.predict(model, "new.csv"), confml.predict(files / "m.confml", "new.csv")):
        pd.testing.assert_frame_equal(answers, expected)
    assert confml.predict(model, new[:1]).shape == (1, expected.shape[1])
    confml.save_model(model, "n.confml")
    pd.testing.assert_frame_equal(confml.predict("n.confml", "new.csv"), expected)
    with pytest.raises(ConfmlError, match="method cannot be combined with a fitted model"):
        confml.predict(model, new, method="knn")
    with pytest.raises(ConfmlError, match="label, the name of the column with the class, is needed"):
        confml.predict(new, new)


def test_files_that_are_no_models(files):
    (files / "csv.confml").write_text("a,b\n1,2\n")
    with zipfile.ZipFile("zip.confml", "w") as archive:
        archive.writestr("other", "x")
    for name in ("csv.confml", "zip.confml"):
        with pytest.raises(DataError, match="this is not a model file of confml; confml predict CONFIG"):
            confml.load_model(name)
    with pytest.raises(DataError, match="no such file"):
        confml.load_model("gone.confml")
    with pytest.raises(DataError, match="this is a folder, not a model file"):
        (files / "folder.confml").mkdir()
        confml.load_model("folder.confml")


def test_a_file_that_is_cut_off(files):
    run(*FIT, "--save", "m.confml")
    (files / "n.confml").write_bytes((files / "m.confml").read_bytes()[:5000])
    with pytest.raises(DataError, match="n.confml: the model file is damaged: it is cut off; copy it again"):
        confml.load_model("n.confml")


def test_a_place_that_cannot_be_written_is_noticed_before_the_fit(files):
    (files / "file").write_text("")
    result = run(*FIT, "new.csv", "--save", "file/m.confml")
    assert isinstance(result.exception, OSError) and not result.stdout


def test_a_table_in_the_place_of_a_config(files):
    result = run("train.csv", "new.csv")
    assert result.exit_code == 2
    assert "train.csv is a table, and a config or a model is expected" in result.stderr
    assert "confml predict --train train.csv --label COLUMN new.csv" in result.stderr


def rewritten(source, path, change):
    """Write a model file whose members (name to bytes) were changed."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def with_head(change, digest=True):
    """A change of the values of ``model.json``, with its checksum made right again unless told."""

    def changed(members):
        head = json.loads(members["model.json"])
        change(head)
        members["model.json"] = json.dumps(head).encode()
        if digest:
            members["model.json.sha256"] = hashlib.sha256(members["model.json"]).hexdigest().encode()

    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_head(lambda head: head.update(format=4, confml="9.0")), "has format 4 .written by confml 9.0."),
        (with_head(lambda head: head.update(kind="other")), "this is not a model file"),
        (with_head(lambda head: head.update(seed=1), digest=False), "model.json does not have its checksum"),
        (lambda members: members.update({"model.json": b"{"}), "model.json is not JSON"),
        (lambda members: members.pop("model.json.sha256"), "model.json does not have its checksum"),
        (lambda members: members.pop("arrays/0.npy"), "arrays/0.npy is missing"),
        (with_head(lambda head: head["sections"].pop("model")), "section 'model' cannot be decoded"),
        (with_head(lambda head: head["sections"]["model"]["dict"].pop(0)), "section 'model' is incomplete"),
    ],
)
def test_damaged_and_newer_files_are_refused(files, change, words):
    run(*FIT, "--save", "m.confml")
    rewritten("m.confml", "n.confml", change)
    with pytest.raises(DataError, match=words):
        confml.load_model("n.confml")


def test_models_of_format_1_are_read(files):
    """They do not have the encoding and the separator of the training file, nor what later ones have."""
    expected = run(*FIT, "new.csv", "--save", "m.confml").stdout

    def change(head):
        head["format"] = 1
        values = dict(head["sections"]["model"]["dict"])
        for name in ("encoding", "separator", "ranges"):
            del values["coder"]["attributes"][name]
        for name in ("selected", "selection_rows", "single_rows"):
            del values["facts"]["attributes"][name]

    rewritten("m.confml", "n.confml", with_head(change))
    assert run("n.confml", "new.csv").stdout == expected


def test_every_changed_or_missing_byte_is_noticed(files):
    run(*FIT, "--save", "m.confml")
    whole = (files / "m.confml").read_bytes()
    expected = confml.predict("m.confml", "new.csv", explain=1)
    rng = np.random.default_rng(1)
    for place in rng.choice(len(whole), 60, replace=False).tolist():
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :]):
            (files / "n.confml").write_bytes(damaged)
            try:
                answers = confml.predict("n.confml", "new.csv", explain=1)
            except DataError:
                continue  # refused in words
            pd.testing.assert_frame_equal(answers, expected)  # such as a byte of a time stamp


def test_a_changed_array_is_refused(files):
    run(*FIT, "--save", "m.confml")

    def change(members):
        name = max((name for name in members if name.endswith(".npy")), key=lambda name: len(members[name]))
        members[name] = members[name][:-1] + b"\x01"

    rewritten("m.confml", "n.confml", change)
    with pytest.raises(DataError, match="damaged: arrays/.*.npy does not have its checksum"):
        confml.predict("n.confml", "new.csv", explain=1)


@pytest.mark.parametrize("kind", [TCMNN, FewRows])
def test_another_version_of_a_method_is_refused(files, monkeypatch, kind):
    run(*FIT, "--save", "m.confml")
    fitted, present = kind.version, kind.version + 1
    monkeypatch.setattr(kind, "version", present)
    if kind is FewRows:
        monkeypatch.delitem(sys.modules, "numba")
    name = kind.__name__
    with pytest.raises(
        DataError, match=f"with version {fitted} of {name}, and this confml has version {present}"
    ):
        confml.predict("m.confml", "new.csv")


def test_many_rows_are_predicted_by_kernels(files, monkeypatch):
    """A loop over rows takes longer than kernels where they are loaded, and for many rows in any process."""
    run(*FIT, "--save", "m.confml")
    expected = confml.predict("m.confml", "new.csv")
    asked = []
    few = FewRows.confident_predict
    monkeypatch.setattr(
        FewRows, "confident_predict", lambda self, X, rng=None: asked.append(len(X)) or few(self, X, rng)
    )
    confml.predict("m.confml", "new.csv")
    assert not asked
    monkeypatch.delitem(sys.modules, "numba")
    pd.testing.assert_frame_equal(confml.predict("m.confml", "new.csv"), expected)
    assert asked == [expected["prediction"].notna().sum()]
    monkeypatch.setattr(model_module, "FEW_ROWS", 0)
    pd.testing.assert_frame_equal(confml.predict("m.confml", "new.csv"), expected)
    assert len(asked) == 1


def test_few_rows_have_the_version_of_the_method():
    assert FewRows.version == TCMNN.version


# ---- the encoding


def there_and_back(value):
    encoder = Encoder()
    text = json.dumps(encoder.section(value), allow_nan=False)
    return Decoder(lambda number: encoder.arrays[number].copy(), lambda number: None).decode(json.loads(text))


def test_values_come_back_with_their_types():
    shared = np.arange(3.0)
    value = {
        "numbers": (1, 2.5, -0.0, float("inf"), True, None, np.float32(0.1), np.int64(7)),
        3: ["text", "\ud800", ()],
        "arrays": [shared, shared, np.array(["a", "bc"]), np.array(["a", None][:1], dtype=object)],
    }
    found = there_and_back(value)
    assert repr(found["numbers"]) == repr(value["numbers"]) and found[3] == value[3]
    assert found["arrays"][0] is found["arrays"][1] and found["arrays"][2].tolist() == ["a", "bc"]
    rng = np.random.default_rng(5)
    rng.random(3)
    assert there_and_back(rng).random() == rng.random()
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert not there_and_back([frozen])[0].flags.writeable


def test_values_that_run_code_are_neither_written_nor_read():
    for value in (print, lambda: None, object(), np.array([object()], dtype=object), subprocess.Popen):
        with pytest.raises(CannotStore, match="cannot be stored in a model file"):
            there_and_back(value)
    decoder = Decoder(lambda number: np.empty(0), lambda number: None)
    names = ("os:system", "builtins:eval", "subprocess:Popen", "confml.cli:main", "numpy:ndarray")
    more = ("confml.__main__:cli", "confml.errors:ConfmlError", "confml.none:X", ":", "confml.cli:main.x")
    for name in names + more:
        with pytest.raises(ValueError, match="no class that a model file may hold"):
            decoder.decode({"object": name, "number": 0, "attributes": {}})


def test_nothing_in_a_model_file_is_a_pickle(files):
    run(*FIT, "--save", "m.confml")
    with zipfile.ZipFile("m.confml") as archive:
        for name in archive.namelist():
            assert name in ("model.json", "model.json.sha256") or name.endswith(".npy")
            with pytest.raises(ValueError):
                list(pickletools.genops(archive.read(name)))


def test_scikit_learn_needs_skops(files, monkeypatch):
    more = {"label": "target", "save": "m.confml"}
    find = model_file.importlib.util.find_spec
    monkeypatch.setattr(
        model_file.importlib.util, "find_spec", lambda name: None if name == "skops" else find(name)
    )
    with pytest.raises(ConfmlError, match=r"skops, which is not installed: pip install 'confml\[models\]'"):
        confml.predict("train.csv", "new.csv", method="sklearn.linear_model.LogisticRegression", **more)
    assert not (files / "m.confml").exists()


# ---- values that do not fit together


@dataclass
class Rows:
    """A class of another package, as far as model files know."""

    X: np.ndarray
    codes: np.ndarray
    classes: int
    more: object = None

    stored = {
        "X": "real(n, d)",
        "codes": "i8(n) in 0..c",
        "classes": "int(c)",
        "more": "list[Rows(d)] | None",
    }


def decoded(value):
    encoder = Encoder()
    data = json.loads(json.dumps(encoder.section(value), allow_nan=False))
    return Decoder(lambda number: encoder.arrays[number].copy(), lambda number: None).decode(data)


@pytest.fixture
def permitted(monkeypatch):
    monkeypatch.setattr("confml.predictions.state_codec._may_be_imported", lambda name: True)
    monkeypatch.setitem(sys.modules, Rows.__module__, sys.modules[__name__])


def test_a_class_declares_how_it_is_stored(permitted):
    rows = Rows(np.ones((2, 3)), np.array([0, 1]), 2)
    found = decoded(Rows(np.ones((4, 3)), np.array([1, 0, 0, 1]), 2, [rows, rows]))
    assert found.codes.tolist() == [1, 0, 0, 1] and found.more[0] is found.more[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"codes": np.array([0, 2**63 - 1])}, "Rows.codes has values from 0 to 9223372036854775807"),
        ({"codes": np.array([0, -1])}, "expected i8.n. in 0..c"),
        ({"codes": np.array([0, 1, 1])}, "Rows.codes has the size 3, expected n = 2"),
        ({"codes": np.array([0.0, 1.0])}, "Rows.codes is an array <f8 of shape .2,., expected i8"),
        ({"codes": None}, "Rows.codes is of type NoneType"),
        ({"classes": True}, "Rows.classes is of type bool"),
        ({"classes": 2**62}, None),
        ({"X": np.full((2, 3), np.nan)}, "expected real.n, d."),
        ({"X": np.ones((2, 3), dtype=np.float32)}, "expected real.n, d."),
        ({"X": np.ones(2)}, "expected real.n, d."),
        ({"more": [Rows(np.ones((1, 2)), np.array([0]), 1)]}, "Rows.more has the size 2, expected d = 3"),
        ({"more": [1]}, "Rows.more is of type int, expected Rows"),
    ],
)
def test_values_are_checked_against_each_other(permitted, change, words):
    value = Rows(**({"X": np.ones((2, 3)), "codes": np.array([0, 1]), "classes": 2} | change))
    if words is None:  # a number of classes without examples
        assert decoded(value).classes == change["classes"]
        return
    with pytest.raises(Mismatch, match=words):
        decoded(value)


def test_attributes_that_are_not_declared_are_neither_written_nor_read(permitted):
    rows = Rows(np.ones((2, 3)), np.array([0, 1]), 2)
    rows.other = 1
    with pytest.raises(CannotStore, match="Rows has the attribute other, which it does not declare"):
        decoded(rows)
    decoder = Decoder(lambda number: np.empty(0), lambda number: None)
    with pytest.raises(Mismatch, match="Rows has other attributes: other"):
        decoder.decode({"object": f"{__name__}:Rows", "number": 0, "attributes": {"other": 1}})


def test_absurd_class_numbers_are_damaged(files, monkeypatch):
    """Counts of 2^63 - 1 classes corrupted the heap."""
    run(*FIT, "--save", "m.confml")

    def change(members):
        for name in [name for name in members if name.endswith(".npy")]:
            array = np.load(io.BytesIO(members[name]))
            if array.dtype == np.int64 and array.size == 40 and array.max() == 1:
                array = array.copy()
                array[-1] = 2**63 - 1
                file = io.BytesIO()
                np.save(file, array)
                members[name] = file.getvalue()

    with zipfile.ZipFile("m.confml") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    (files / "n.confml").write_bytes(signed(members))
    result = run("n.confml", "new.csv")
    assert isinstance(result.exception, DataError)
    assert "damaged: its section 'method'" in str(result.exception)
    monkeypatch.delitem(sys.modules, "numba")
    result = run("n.confml", "new.csv")
    assert "damaged: its section 'few'" in str(result.exception)
    assert "9223372036854775807" in str(result.exception)


def test_rows_with_nan_are_damaged(files):
    """Kernels that order rows by distance left their arrays, which ended the process."""
    run(*FIT, "--method", "bayes-knn", "--save", "m.confml")
    with zipfile.ZipFile("m.confml") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    damaged = 0
    for name in [name for name in members if name.endswith(".npy")]:
        array = np.load(io.BytesIO(members[name]))
        if array.dtype == np.float64 and array.ndim == 2 and len(array.T) == 40:  # the columns
            array[0] = np.nan
            file = io.BytesIO()
            np.save(file, array)
            (files / "n.confml").write_bytes(signed({**members, name: file.getvalue()}))
            with pytest.raises(DataError, match="damaged: its section"):
                confml.predict("n.confml", "new.csv")
            damaged += 1
    assert damaged


@pytest.mark.parametrize("count", [1e300, -1.0, 0.5, np.nan])
def test_absurd_numbers_of_rows_are_damaged(files, count):
    """A number of rows of 1e300 ended in an OverflowError."""
    run(*FIT, "--save", "m.confml")
    with zipfile.ZipFile("m.confml") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    changed = 0
    for name in [name for name in members if name.endswith(".npy")]:
        array = np.load(io.BytesIO(members[name]))
        if array.ndim == 2 and len(array) == 3 and 40 in array[2]:  # ranges of the features
            array = array.copy()
            array[2, 0] = count
            file = io.BytesIO()
            np.save(file, array)
            members[name], changed = file.getvalue(), changed + 1
    assert changed == 1
    (files / "n.confml").write_bytes(signed(members))
    result = run("n.confml", "new.csv")
    assert isinstance(result.exception, DataError) and "damaged: its section" in str(result.exception)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("class_counts", lambda counts: {"x": 0, **counts}, "labels that are no classes"),
        ("class_counts", lambda counts: {True: 1}, "labels that are no classes"),
        ("class_counts", lambda counts: dict.fromkeys(counts, 1.5), "no numbers of rows"),
        ("class_counts", lambda counts: dict.fromkeys(counts, 40), "class_counts counts 80 of 40 rows"),
        ("fitted_rows", lambda rows: rows + 1, "fitted_rows counts 41 of 40 rows"),
        ("counted_rows", lambda rows: 10**6, "counted_rows counts 1000000 of 40 rows"),
    ],
)
def test_facts_that_do_not_fit_together_are_damaged(files, name, change, reason):
    """Counts of classes of mixed types ended in a TypeError of the notes on small levels."""
    run(*FIT, "--param", "mondrian=true", "--save", "m.confml")
    model = confml.load_model("m.confml")
    facts = replace(model.facts, **{name: change(getattr(model.facts, name))})
    save_model(replace(model, facts=facts), "n.confml")
    result = run("n.confml", "new.csv", "--level", "0.001")
    assert isinstance(result.exception, DataError)
    assert "damaged: its section" in str(result.exception) and reason in str(result.exception)


def test_labels_that_are_no_classes_are_damaged(files):
    run(*FIT, "--save", "m.confml")
    model = confml.load_model("m.confml")
    rows = model.neighbours
    other = replace(rows, y=rows.y.astype(str))
    save_model(replace(model, parts={**model.parts, "neighbours": lambda: other}), "n.confml")
    with pytest.raises(DataError, match="damaged: TrainingRows has labels that are no classes"):
        confml.predict("n.confml", "new.csv", explain=1)


@pytest.mark.parametrize(("columns", "width"), [(4, None), (5, 4)])
def test_steps_that_do_not_fit_the_rows_are_damaged(files, columns, width):
    """Steps for other columns ended in an IndexError of an explanation, or a ValueError of the steps."""
    run(*FIT, "--save", "m.confml")
    model = confml.load_model("m.confml")
    assert model.transformed(np.zeros((1, 5)), model.steps, 5).shape == (1, 5)
    with pytest.raises(DataError, match="damaged: its steps cannot transform rows"):
        model.transformed(np.zeros((1, columns)), model.steps, width)


def test_arrays_of_another_byte_order_are_read(files):
    expected = run(*FIT, "new.csv", "--save", "m.confml").stdout
    with zipfile.ZipFile("m.confml") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in [name for name in members if name.endswith(".npy")]:
        array = np.load(io.BytesIO(members[name]))
        file = io.BytesIO()
        np.save(file, array.astype(array.dtype.newbyteorder(">")))
        members[name] = file.getvalue()
    (files / "n.confml").write_bytes(signed(members))
    assert run("n.confml", "new.csv").stdout == expected


# ---- TCM-NN for a few rows


@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_few_rows_equal_the_kernels(classes, k):
    """Ties, duplicates, infinite sums and huge ranges: the counts and alphas have the same bits."""
    rng = np.random.default_rng(classes * 100 + k)
    for scale in (1.0, 1e200):
        X = rng.integers(0, 4, (40, 3)) * scale
        y = np.append(np.arange(classes), rng.integers(0, classes, 40 - classes))
        T = np.vstack([X[:5], rng.integers(-2, 7, (10, 3)) * scale])
        for mondrian in (False, True):
            model = TCMNN(k=k, mondrian=mondrian, smoothed=True, random_state=3).fit(X, y)
            few = model.for_few_rows()
            assert isinstance(few, FewRows)
            expected, found = (one.confident_predict(T)["p-value"] for one in (model, few))
            for name in expected.extra:
                np.testing.assert_array_equal(found.extra[name], expected.extra[name], err_msg=name)
            np.testing.assert_array_equal(found.scores, expected.scores)
            np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("engine", ["direct", "product", "tree"])
def test_a_stored_neighbour_counter_counts_the_same(engine, monkeypatch):
    rng = np.random.default_rng(4)
    X, y, T = rng.normal(size=(300, 3)), rng.integers(0, 3, 300), rng.normal(size=(50, 3))
    model = TCMNN(k=2)
    monkeypatch.setattr(TCMNN, "_engine", engine)
    expected = model.fit(X, y).confident_predict(T)["p-value"]
    found = there_and_back(model).confident_predict(T)["p-value"]
    for name in expected.extra:
        np.testing.assert_array_equal(found.extra[name], expected.extra[name])
    few = model.for_few_rows().confident_predict(T)["p-value"]
    np.testing.assert_array_equal(few.scores, expected.scores)


def test_a_subclass_has_no_form_for_few_rows():
    class Other(TCMNN):
        pass

    assert Other().fit([[0.0], [1.0], [2.0]], [0, 1, 1]).for_few_rows() is None
    assert method_class("knn")().fit([[0.0], [1.0]], [0, 1]).for_few_rows() is None
