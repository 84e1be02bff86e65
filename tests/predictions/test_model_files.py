"""Model files: the same predictions after a fit and from a file, without pickle, of trusted types only."""

import json
import zipfile

import pandas as pd
import pytest
from command_line import command, invoke, refusal
from programs.fuzz.model_mutants import members_of, table

import confml
from confml import TCMNN
from confml.errors import ConfigError, ConfmlError
from confml.methods.registry import known_methods
from confml.plugins.parameters import Choice
from confml.predictions.store import FORMAT, CannotStore, save_model
from confml.steps.registry import known_steps

CHAINS = {"model": "adaptive", "samples": 20, "burn_in": 20, "chains": 2, "thin": 1}
TREE_CLASSIFIERS = [
    ("sklearn.tree.DecisionTreeClassifier", {}),
    ("sklearn.tree.ExtraTreeClassifier", {}),
    ("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 7}),
    ("sklearn.ensemble.ExtraTreesClassifier", {"n_estimators": 5}),
    ("sklearn.ensemble.BaggingClassifier", {"max_features": 0.6}),
    ("sklearn.ensemble.AdaBoostClassifier", {"n_estimators": 4}),
    ("sklearn.ensemble.GradientBoostingClassifier", {"n_estimators": 4, "subsample": 0.7}),
    ("sklearn.ensemble.GradientBoostingClassifier", {"n_estimators": 4, "init": "zero"}),
    ("sklearn.ensemble.HistGradientBoostingClassifier", {"max_iter": 4, "min_samples_leaf": 3}),
]
PIPELINE = [
    ["scale", "sklearn.preprocessing.StandardScaler"],
    ["forest", "sklearn.ensemble.RandomForestClassifier"],
]


def cases():
    """(method, further arguments, number of classes) of every fitted state that is tested."""
    for name, cls in known_methods().items():
        if cls.takes_rows:  # it has no predictions for new rows
            continue
        yield name, {}, 3
        if name not in ("tcm-nn", "tcm-svm"):
            yield name, {"conformal": "split"}, 2
        for parameter, rule in cls.parameters.items():
            for option in rule.options if isinstance(rule, Choice) and parameter != "kernel" else ():
                options = {"nominal": "dummy"} if parameter == "distance" else {}
                options |= {key: value for key, value in CHAINS.items() if option == "adaptive"}
                yield name, {"params": {parameter: option, **options}}, 2
    for name in known_steps():
        yield "tcm-nn", {"steps": [name]}, 2
    yield "knn", {"conformal": "cross"}, 3
    candidates = ["knn", "sklearn.linear_model.LogisticRegression"]
    yield "knn", {"conformal": "split", "params": {"conformal__best_of": candidates}}, 3
    yield "tcm-nn", {"params": {"k": 3, "mondrian": True, "smoothed": True}}, 3
    yield "bayes-knn", {"params": CHAINS}, 2
    yield "knn", {"risk": 0.3}, 2
    for transformer in ("sklearn.decomposition.PCA", "sklearn.feature_selection.VarianceThreshold"):
        yield "knn", {"steps": ["standardise", transformer]}, 2
    yield "sklearn.linear_model.LogisticRegression", {}, 3
    yield "sklearn.dummy.DummyClassifier", {}, 3
    yield "sklearn.neural_network.MLPClassifier", {"params": {"max_iter": 10}}, 3
    yield "sklearn.pipeline.Pipeline", {"params": {"steps": PIPELINE, "forest__n_estimators": 3}}, 3
    for method, params in TREE_CLASSIFIERS:
        yield method, {"params": params}, 3
    for method, params in (TREE_CLASSIFIERS[2], TREE_CLASSIFIERS[6], TREE_CLASSIFIERS[8]):
        yield method, {"params": params | {"venn": "inductive"}}, 2
        yield method, {"params": params, "conformal": "split"}, 3


@pytest.mark.parametrize(("method", "options", "classes"), list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_predictions_from_a_file_have_the_same_bytes(tmp_path, method, options, classes):
    frame = table()[lambda rows: rows["target"] < classes]
    train, new, path = frame[:40], frame[-8:].drop(columns="target"), tmp_path / "m.confml"
    answers = confml.predict(train, new, label="target", method=method, explain=1, save=path, **options)
    assert confml.predict(path, new, explain=1).to_csv() == answers.to_csv()
    assert all(name.endswith((".json", ".npy")) for name in members_of(path))  # no pickle


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table()[:30].to_csv("train.csv", index=False)
    table()[30:].to_csv("new.csv", index=False)
    return tmp_path


FIT = ("predict", "--train", "train.csv", "--label", "target")


def test_the_command_saves_and_reads(files):
    fitted = command(*FIT, "new.csv", "--save", "models/m.confml", "--explain", 2)
    saved = "wrote the model of tcm-nn to models/m.confml\n"
    assert saved in fitted.stderr
    assert command(*FIT, "--save", "m.confml").stdout == ""
    read = command("predict", "m.confml", "new.csv", "--explain", 2)
    assert read.stdout_bytes == fitted.stdout_bytes and read.stderr == fitted.stderr.replace(saved, "")
    stream = command("predict", "m.confml", "-", "--level", 0.05, stdin=(files / "new.csv").read_bytes())
    assert "region@0.05" in stream.stdout and "region@0.1" not in stream.stdout
    head = json.loads(zipfile.ZipFile("m.confml").read("model.json"))
    assert (head["format"], head["confml"], head["classes"]) == (FORMAT, confml.__version__, ["0", "1", "2"])
    assert head["columns"][2] == {"name": "kind", "kind": "nominal"} and len(head["data"]["sha256"]) == 64


def test_options_of_a_fit_do_not_go_with_a_model(files):
    command(*FIT, "--save", "m.confml")
    for option in (("--method", "knn"), ("--set", "seed=2"), ("--label", "target"), ("--risk", 0.1)):
        result = invoke("predict", "m.confml", "new.csv", *option)
        assert result.exit_code == 2 and f"{option[0]} cannot be combined with a fitted" in result.stderr
    assert "got a model file" in str(refusal(*FIT, "m.confml"))
    for line, words in (
        (("predict", "m.confml"), "a file of new rows are needed"),
        ((*FIT, "--save", "n.confml", "--out", "x.csv"), "--out is for predictions of new rows"),
        ((*FIT, "--save", "n.confml", "--costs", "costs.yaml"), "--costs is for predictions of new rows"),
        (("predict", "train.csv", "new.csv"), "confml predict --train train.csv --label COLUMN new.csv"),
    ):
        assert words in invoke(*line).stderr
    (files / "file").write_text("")
    result = invoke(*FIT, "new.csv", "--save", "file/m.confml")  # noticed before the fit
    assert isinstance(result.exception, OSError) and not result.stdout


def test_a_loaded_model_predicts_in_python(files):
    expected = confml.predict("train.csv", "new.csv", label="target", save="m.confml")
    model = confml.load_model("m.confml")
    confml.save_model(model, "n.confml")
    for source in (model, files / "m.confml", "n.confml"):
        pd.testing.assert_frame_equal(confml.predict(source, "new.csv"), expected)
    for level in (0, 2, float("nan")):
        with pytest.raises(ConfigError, match="levels must be above 0 and below 1"):
            confml.predict("m.confml", "new.csv", levels=[level])
    with pytest.raises(ConfmlError, match="method cannot be combined with a fitted model"):
        confml.predict(model, table()[30:], method="knn")


class Unknown(TCMNN):
    """A method of a module that confml does not know."""

    name = "unknown"


def test_types_that_are_not_trusted_are_not_written(files):
    command(*FIT, "--save", "m.confml")
    model = confml.load_model("m.confml")
    model.method = Unknown().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(CannotStore, match=r"holds objects of types .*Unknown.*--trust"):
        save_model(model, "n.confml")
    model.method = (row for row in ())
    with pytest.raises(CannotStore, match=r"generator.*predict without --save"):
        save_model(model, "n.confml")
    assert not (files / "n.confml").exists()


def test_types_are_trusted_by_name_when_written_and_when_read(files):
    settings = {"label": "target", "method": "sklearn.neighbors.KNeighborsClassifier", "save": "m.confml"}
    with pytest.raises(CannotStore) as refused:
        confml.predict("train.csv", "new.csv", **settings)
    trust = refused.value.types
    expected = confml.predict("train.csv", "new.csv", trust=trust, **settings)
    with pytest.raises(ConfmlError, match=r"types that are not trusted: .*KDTree.*--trust"):
        confml.predict("m.confml", "new.csv")
    for source, options in (("m.confml", {"trust": trust}), (confml.load_model("m.confml", trust=trust), {})):
        pd.testing.assert_frame_equal(confml.predict(source, "new.csv", **options), expected)
