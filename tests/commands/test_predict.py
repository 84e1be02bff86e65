"""``confml predict`` and `confml.predict`: new rows in, one row of answers per new row out."""

import csv
import io
import json
import pickle
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal
from sklearn import datasets

import confml
from confml.cli import main
from confml.data import table_files
from confml.errors import ConfigError, ConfmlError, DataError

LEVELS = (0.01, 0.05, 0.1)


@pytest.fixture(scope="module")
def wine():
    """(training rows, new rows) with an identifier, shuffled."""
    frame = datasets.load_wine(as_frame=True).frame.sample(frac=1, random_state=1).reset_index(drop=True)
    frame.insert(0, "bottle", [f"b{row}" for row in range(len(frame))])
    return frame[:120].reset_index(drop=True), frame[120:].reset_index(drop=True)


@pytest.fixture
def files(wine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, part in zip(("wine", "new"), wine, strict=True):
        part.to_csv(f"{name}.csv", index=False)
    return tmp_path


def run(*arguments, stdin=None):
    """(rows of the output with all digits, stderr)."""
    result = command("predict", *arguments, "--digits", "17", stdin=stdin)
    return list(csv.DictReader(io.StringIO(result.stdout))), result.stderr


def error(kind, *arguments):
    """Text of the error of the command, of a kind."""
    raised = refusal("predict", *arguments)
    assert isinstance(raised, kind), raised
    return str(raised)


def sentences(*arguments) -> str:
    """All sentences of ``--json`` on the guarantee and the data."""
    document = json.loads(command("predict", *arguments, "--json").stdout)
    tests = [test["text"] for test in document["tests"]]
    return " ".join([*document["guarantee"], *tests, *document["warnings"]])


def standardised(wine):
    X, X_new = (part.drop(columns=["bottle", "target"]).to_numpy() for part in wine)
    return (X - X.mean(axis=0)) / X.std(axis=0), (X_new - X.mean(axis=0)) / X.std(axis=0)


WITHOUT_CONFIG = ("--train", "wine.csv", "--label", "target", "--id", "bottle")


def test_answers_are_those_of_the_method(files, wine):
    train, new = wine
    rows, messages = run(*WITHOUT_CONFIG, "new.csv")
    X, X_new = standardised(wine)
    expected = confml.TCMNN(k=1).fit(X, train["target"]).confident_predict(X_new)["p-value"]
    p = [[float(row[f"p[{label}]"]) for label in (0, 1, 2)] for row in rows]
    np.testing.assert_array_equal(p, expected.scores)
    assert [row["line"] for row in rows] == [str(line) for line in range(2, len(new) + 2)]
    assert [row["bottle"] for row in rows] == new["bottle"].tolist()
    assert [int(row["label"]) for row in rows] == new["target"].tolist()
    assert [int(row["prediction"]) for row in rows] == expected.labels.tolist()
    for level in LEVELS:
        sets = expected.label_sets(level)
        assert [row[f"region@{level}"] for row in rows] == ["|".join(map(str, region)) for region in sets]
        reasons = ["atypical", "certain", "ambiguous", "ambiguous"]
        assert [row[f"reason@{level}"] for row in rows] == [reasons[len(region)] for region in sets]
    errors = np.mean(expected.labels != new["target"])
    assert f"58 rows with labels: error rate {100 * errors:.3g} %" in messages
    assert "fitted to 120 rows of wine" in messages and "99 % at level 0.01, 95 % at level 0.05" in messages


def test_columns_are_matched_by_name_in_any_order(files, wine):
    expected, _ = run(*WITHOUT_CONFIG, "new.csv")
    new = wine[1][wine[1].columns[::-1]].drop(columns="target").assign(colour="red")
    new.to_csv("new.csv", index=False, sep=";")
    rows, messages = run(*WITHOUT_CONFIG, "new.csv")
    assert rows == [{name: value for name, value in row.items() if name != "label"} for row in expected]
    assert "labels of" not in messages and "not used: 'colour'" in messages


def test_a_stream_gives_the_same_rows_as_the_file_in_any_chunks(files, monkeypatch):
    expected, _ = run(*WITHOUT_CONFIG, "new.csv")
    monkeypatch.setitem(table_files.table_chunks.__kwdefaults__, "rows", 7)
    rows, _ = run(*WITHOUT_CONFIG, "-", stdin=(files / "new.csv").read_bytes())
    assert rows == expected


def test_single_rows_and_no_row(files, wine):
    expected, _ = run(*WITHOUT_CONFIG, "new.csv")
    wine[1][:1].to_csv("new.csv", index=False)
    assert run(*WITHOUT_CONFIG, "new.csv")[0] == expected[:1]
    wine[1][:0].to_csv("new.csv", index=False)
    assert command("predict", *WITHOUT_CONFIG, "new.csv").stdout == ",".join(expected[0]) + "\n"
    (files / "new.csv").write_text("")
    assert "the file is empty" in error(DataError, *WITHOUT_CONFIG, "new.csv")


def test_missing_values_of_new_rows(files, wine):
    whole, _ = run(*WITHOUT_CONFIG, "new.csv")
    new = wine[1].copy()
    new.loc[2, "ash"] = np.nan
    new.to_csv("new.csv", index=False)
    message = error(DataError, *WITHOUT_CONFIG, "new.csv")
    assert "new.csv, line 4, column 'ash': the field is empty" in message and "--missing mean" in message
    rows, messages = run(*WITHOUT_CONFIG, "new.csv", "--missing", "drop")
    assert rows[:2] + rows[3:] == whole[:2] + whole[3:]
    assert rows[2]["line"] == "4" and rows[2]["prediction"] == rows[2]["region@0.05"] == ""
    assert "57 rows with labels" in messages
    filled, _ = run(*WITHOUT_CONFIG, "new.csv", "--missing", "mean")
    new.loc[2, "ash"] = wine[0]["ash"].mean()
    new.to_csv("new.csv", index=False)
    assert [row.pop("filled") for row in filled] == ["", "", "ash", *[""] * 55]
    assert filled == run(*WITHOUT_CONFIG, "new.csv")[0]


def test_long_integer_labels_are_exact_beside_rows_without_a_prediction(files):
    row = np.arange(40)
    pd.DataFrame({"x": row % 2 + row / 100, "y": 2**53 + row % 2}).to_csv("long.csv", index=False)
    (files / "few.csv").write_text("x,z\n0.1,0\n,0\n1.1,0\n")
    line = ("predict", "--train", "long.csv", "--label", "y", "few.csv", "--missing", "drop", "--json")
    answers = json.loads(command(*line).stdout)["answers"]
    assert [row["prediction"] for row in answers] == [2**53, None, 2**53 + 1]
    frame = confml.predict("long.csv", "few.csv", label="y", missing="drop")
    assert frame["prediction"].dropna().tolist() == [2**53, 2**53 + 1]


GERMAN = "größe;stadt;kauf\n" + "".join(
    f"{row % 7},5;{('Köln', 'Jülich')[row % 2]};{('ja', 'nein')[row % 2]}\n" for row in range(40)
)
GERMAN_CONFIG = """
name: german
datasets: [{csv: train.csv, label: kauf, encoding: latin-1, separator: ";", decimal: ","}]
methods: [tcm-nn]
protocol: k-fold
levels: [0.1]
"""


@pytest.fixture
def german(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "german.yaml").write_text(GERMAN_CONFIG)
    (tmp_path / "train.csv").write_text(GERMAN, encoding="latin-1")
    return tmp_path / "new.csv"


def test_new_rows_are_read_as_the_training_file(german):
    content = "größe;stadt\n1,5;Köln\n2,5;Jülich\n".encode("latin-1")
    german.write_bytes(content)
    expected, messages = run("german.yaml", "new.csv", "--save", "m.confml")
    assert [row["prediction"] for row in expected] == ["ja", "nein"] and "no training row has" not in messages
    assert run("m.confml", "new.csv")[0] == run("m.confml", "-", stdin=content)[0] == expected
    answers = confml.predict("m.confml", german, levels=[0.1])
    assert answers["prediction"].tolist() == ["ja", "nein"]
    for values in ([1.5, 2.5], ["1,5", "2,5"]):
        frame = pd.DataFrame({"größe": values, "stadt": ["Köln", "Jülich"]})
        assert confml.predict("m.confml", frame, levels=[0.1])["p[ja]"].tolist() == answers["p[ja]"].tolist()


def test_utf_8_is_found_after_a_first_block_of_ascii(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text("x,c,y\n" + "1,é,a\n2,b,b\n" * 5, encoding="latin-1")
    new = tmp_path / "new.csv"
    new.write_bytes(b"x,c" + b"\r\n1,b" * 20_000 + "\r\n2,é\r\n".encode())
    options = ("--train", "train.csv", "--label", "y", "--encoding", "latin-1", "--method", "naive-bayes")
    command("predict", *options, "--save", "m.confml")
    rows, messages = run("m.confml", "new.csv")
    assert rows[-1]["line"] == "20002" and "no training row has" not in messages


def test_new_rows_of_another_format_say_which_option_is_missing(german):
    german.write_text("größe,stadt\n1.5,Köln\n2.5,Jülich\n", encoding="utf-8")
    command("predict", "german.yaml", "--save", "m.confml")
    for source in ("german.yaml", "m.confml"):
        message = error(DataError, source, "new.csv")
        assert "column 'größe' must be numbers" in message and "--decimal ." in message
        rows, messages = run(source, "new.csv", "--decimal", ".")
        assert [row["prediction"] for row in rows] == ["ja", "nein"] and "no training row has" not in messages
        assert "decimal must be one of" in error(ConfigError, source, "new.csv", "--decimal", ";")


LOANS = "id,age,job,default\n" + "".join(
    f"c{row},{20 + row % 40},{'abc'[row % 3]},{'no' if row % 40 < 22 else 'yes'}\n" for row in range(90)
)


LOANS_FIT = ("--train", "loans.csv", "--label", "default", "new.csv")


@pytest.fixture
def loans(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loans.csv").write_text(LOANS)
    return tmp_path / "new.csv"


def test_categories_that_training_rows_do_not_have(loans):
    loans.write_text("job,age,id\na,21,x1\nd,59,x2\n")
    rows, messages = run(*LOANS_FIT)
    assert [(row["prediction"], row["id"]) for row in rows] == [("no", "x1"), ("yes", "x2")]
    assert "column 'job'" in messages and "'d' (1 row, the first on line 3)" in messages
    assert "training categories: 'a', 'b', 'c'" in messages
    loans.write_text("job,age\na,21\n")
    rows, messages = run(*LOANS_FIT)
    assert rows[0]["id"] == "" and "identifier columns of the training rows are missing: 'id'" in messages


def test_the_features_that_put_a_row_far_away_are_named(loans):
    loans.write_text("id,job,age\nx,a,300\ny,z,26\n")
    for method in ((), ("--method", "knn", "--conformal", "split")):
        rows, _ = run(*LOANS_FIT, "--explain", 1, *method)
        assert rows[0]["features@predicted"].split("|")[0] == "age"
        assert "job" in rows[1]["features@predicted"].split("|")[0]


def test_nearest_training_rows_are_listed(files, wine):
    train, new = wine
    rows, _ = run(*WITHOUT_CONFIG, "new.csv", "--explain", 3)
    X, X_new = standardised(wine)
    for x, row in zip(X_new, rows, strict=True):
        p = {label: float(row[f"p[{label}]"]) for label in (0, 1, 2) if str(label) != row["prediction"]}
        assert p[int(row["runner_up"])] == max(p.values())
        for label, side in ((row["prediction"], "predicted"), (row["runner_up"], "runner-up")):
            of_class = np.flatnonzero(train["target"] == int(label))
            distances = np.sqrt(((X[of_class] - x) ** 2).sum(axis=1))
            near = np.argsort(distances, kind="stable")[:3]
            assert row[f"lines@{side}"] == "|".join(str(line) for line in of_class[near] + 2)
            printed = [float(text) for text in row[f"distances@{side}"].split("|")]
            np.testing.assert_allclose(printed, distances[near], rtol=1e-12)


def test_label_conditional_p_values(files, wine):
    rows, messages = run(*WITHOUT_CONFIG, "new.csv", "--mondrian")
    model = confml.predict(*wine, label="target", id="bottle", params={"mondrian": True})
    assert [float(row["p[1]"]) for row in rows] == model["p[1]"].tolist()
    assert ", for each class. The probability is approximate" in messages
    message = error(ConfigError, *WITHOUT_CONFIG, "new.csv", "--mondrian", "--method", "knn")
    assert "knn has no label-conditional p-values" in message and "--conformal split" in message


def test_other_methods_promise_no_more_than_they_keep(files):
    rows, messages = run(*WITHOUT_CONFIG, "new.csv", "--method", "knn", "--param", "k=5")
    assert "prob[1]" in rows[0] and rows[0]["credibility"] == "" and "no coverage is guaranteed" in messages
    rows, messages = run(*WITHOUT_CONFIG, "new.csv", "--method", "linear-svm")
    assert "margin[1]" in rows[0] and "region@0.05" not in rows[0] and "have no regions" in messages
    fit = (*WITHOUT_CONFIG, "new.csv", "--method", "knn", "--param", "k=5", "--conformal", "split")
    rows, messages = run(*fit)
    assert "p[1]" in rows[0] and "approximate" not in messages + sentences(*fit)
    rows, messages = run(*WITHOUT_CONFIG, "new.csv", "--method", "knn", "--conformal", "cross")
    bound = 2 * (0.05 + 0.95 * 4 / 125)
    assert f"{100 * (1 - bound):.3g} % at level 0.05" in messages


CONFIG = """\
datasets: [{name: wine, csv: wine.csv, label: target, id: bottle}]
steps: [min-max]
methods:
  - {name: tcm-nn, k: 1, label: fixed}
  - {name: tcm-nn, sweep: {k: [3, 5]}, label: swept}
  - {name: knn, tune: {k: [1, 5, 9]}}
protocol: {kind: k-fold, inner-folds: 3}
levels: [0.2]
"""


def test_a_config_says_steps_methods_and_levels(files, wine):
    (files / "wine.yaml").write_text(CONFIG)
    rows, _ = run("wine.yaml", "new.csv", "--method", "fixed")
    expected = confml.predict(*wine, label="target", id="bottle", steps=["min-max"], levels=[0.2])
    assert [float(row["p[0]"]) for row in rows] == expected["p[0]"].tolist()
    assert [name for name in rows[0] if name.startswith("region")] == ["region@0.2"]
    of_level, _ = run("wine.yaml", "new.csv", "--method", "fixed", "--level", 0.3, "--save", "m.confml")
    assert "region@0.3" in of_level[0] and run("m.confml", "new.csv")[0] == of_level
    both = ("--method", "knn", "--conformal", "split", "--param", "conformal=cross")
    assert "conformal is both split and cross" in error(ConfigError, "wine.yaml", "new.csv", *both)
    assert "the config has several methods" in error(ConfigError, "wine.yaml", "new.csv")
    assert "--param k=3" in error(ConfigError, "wine.yaml", "new.csv", "--method", "swept")
    assert run("wine.yaml", "new.csv", "--method", "swept", "--param", "k=1")[0] == rows
    _, messages = run("wine.yaml", "new.csv", "--method", "knn")
    assert "3-fold cross-validation on the training rows chose {k:" in messages
    assert "did you mean 'knn'?" in error(ConfigError, "wine.yaml", "new.csv", "--method", "kn")


def test_fixed_split_trains_on_the_training_part(files, wine):
    wine[0][100:].to_csv("test.csv", index=False)
    wine[0][:100].to_csv("wine.csv", index=False)
    text = CONFIG.replace("id: bottle", "id: bottle, test: test.csv")
    (files / "pooled.yaml").write_text(text)
    (files / "fixed.yaml").write_text(text.replace("kind: k-fold", "kind: fixed-split"))
    rows, messages = run("pooled.yaml", "new.csv", "--method", "fixed", "--explain", 120)
    assert "fitted to 120 rows of wine: a region" in messages
    lines = "|".join(row[f"lines@{side}"] for row in rows for side in ("predicted", "runner-up")).split("|")
    assert {"2", "101", "test:2", "test:21"} <= set(lines) and "102" not in lines
    _, messages = run("fixed.yaml", "new.csv", "--method", "fixed")
    assert "fitted to 100 rows of wine (its training part): a region" in messages


def test_a_promise_that_does_not_hold_is_taken_back(files):
    text = CONFIG.replace("[min-max]", "[min-max, tomek-links]")
    (files / "cleaned.yaml").write_text(text)
    _, messages = run("cleaned.yaml", "new.csv", "--method", "fixed")
    assert "no coverage is guaranteed, because tomek-links lowers the nonconformity scores" in messages
    assert "Condition" not in messages
    fit = ("cleaned.yaml", "new.csv", "--method", "knn", "--param", "k=5", "--conformal", "split")
    messages = sentences(*fit)
    assert "because" not in messages and "tests shows that new rows differ" in messages
    assert "because the config adds noise" in sentences(*fit, "--set", "noise.labels=0.1")
    noisy = ("cleaned.yaml", "new.csv", "--method", "fixed", "--set", "noise.irrelevant=2")
    assert "noise.irrelevant" in error(ConfigError, *noisy)
    (files / "cleaned.yaml").write_text(CONFIG.replace("id: bottle", "ignore: bottle, groups: ash"))
    _, messages = run("cleaned.yaml", "new.csv", "--method", "fixed")
    assert "Rows of new groups are not exchangeable" in messages


def test_a_card_is_a_training_set_too(files, wine):
    (files / "cards.yaml").write_text(
        "datasets: [wine-sklearn, iris]\nsteps: [standardise]\nmethods: [tcm-nn]\nprotocol: k-fold\n"
    )
    assert "choose one with --dataset" in error(ConfigError, "cards.yaml", "new.csv")
    message = error(ConfigError, "cards.yaml", "new.csv", "--dataset", "wine")
    assert "there are wine-sklearn, iris" in message
    wine[1].drop(columns="hue").to_csv("other.csv", index=False)
    message = error(DataError, "cards.yaml", "other.csv", "--dataset", "wine-sklearn")
    assert "missing: 'hue'" in message
    rows, _ = run("cards.yaml", "new.csv", "--dataset", "wine-sklearn")
    assert [row["prediction"] for row in rows] == [str(label) for label in wine[1]["target"]]


def test_data_frames_in_and_out(files, wine):
    train, new = wine
    rows, _ = run(*WITHOUT_CONFIG, "new.csv", "--explain", 2)
    messages: list[str] = []
    settings = {"label": "target", "id": "bottle", "explain": 2}
    frame = confml.predict(train, new.set_index(new.index + 1000), say=messages.append, **settings)
    assert list(frame.columns) == list(rows[0]) and frame.index[0] == 1000
    regions = frame["region@0.1"].map(lambda labels: "|".join(map(str, labels)))
    assert regions.tolist() == [row["region@0.1"] for row in rows]
    assert frame["prediction"].dtype == np.int64 and frame["confidence"].dtype == float
    assert frame["label"].tolist() == new["target"].tolist()
    lines = [int(line) + 1 for line in frame["lines@predicted"].iloc[0]]
    assert "|".join(map(str, lines)) == rows[0]["lines@predicted"]
    assert any(text.startswith("Condition: new rows") for text in messages)
    of_files = confml.predict("wine.csv", "new.csv", **settings)
    columns = frame.columns.drop(["line", "lines@predicted", "lines@runner-up"])
    pd.testing.assert_frame_equal(of_files[columns], frame.reset_index(drop=True)[columns])


def test_labels_of_data_frames_keep_their_type():
    frame = datasets.load_breast_cancer(as_frame=True).frame[::3].copy()
    frame["target"] = frame["target"].astype(bool)
    frame["mean texture"] = pd.cut(frame["mean texture"], 3, labels=["low", "mid", "high"])
    train, new = frame[:100].copy(), frame[100:].copy()
    new["mean texture"] = new["mean texture"].astype(object)
    new.iloc[0, new.columns.get_loc("mean texture")] = None
    answers = confml.predict(train, new, label="target", missing="drop", explain=1)
    assert answers["prediction"].tolist()[1:] == [bool(label) for label in answers["prediction"][1:]]
    assert {type(value) for value in answers["prediction"][1:]} == {bool}
    assert {label for labels in answers["region@0.1"][1:] for label in labels} == {False, True}
    assert answers.iloc[0][["prediction", "region@0.1", "p[True]"]].isna().all()
    assert answers["label"].tolist() == new["target"].tolist()
    assert confml.predict(train, new[:0], label="target").empty


def test_python_and_json_say_what_the_command_says(files, wine):
    drifted = wine[1].assign(alcohol=100 * wine[1]["alcohol"])
    drifted.loc[3, "ash"] = np.nan
    drifted.to_csv("new.csv", index=False)
    fit = (*WITHOUT_CONFIG, "new.csv", "--missing", "drop", "--level", "0.05")
    rows, messages = run(*fit)
    document = json.loads(command("predict", *fit, "--json").stdout)
    settings = {"label": "target", "id": "bottle", "missing": "drop", "levels": [0.05]}
    answers = confml.predict(wine[0], drifted, **settings)
    assert isinstance(answers, pd.DataFrame) and type(answers[:3]) is pd.DataFrame
    for test in answers.tests:
        assert (test["text"] in messages) == test["differs"]
    assert answers.guarantee[1:] == document["guarantee"][1:]
    assert all(text in messages for text in document["guarantee"])
    assert answers.tests == document["tests"] and any(test["differs"] for test in answers.tests)
    assert answers.score in messages and document["score"] == answers.score
    assert "--missing mean" in answers.warnings[0] == document["warnings"][0]
    assert "do not look exchangeable" in answers.warnings[1]
    of_json = document["answers"]
    assert [tuple(row["region@0.05"]) for row in of_json[:3]] == answers["region@0.05"][:3].tolist()
    assert of_json[3]["prediction"] is None and of_json[3]["region@0.05"] is None
    assert [row["p[1]"] for row in of_json[:3]] == [float(row["p[1]"]) for row in rows[:3]]
    assert [row["label"] for row in of_json] == wine[1]["target"].tolist()
    page = answers._repr_html_()
    assert "<table" in page and "Warning: The new rows do not look exchangeable" in page
    assert pickle.loads(pickle.dumps(answers)).guarantee == answers.guarantee


OWN = """\
from sklearn.base import BaseEstimator, ClassifierMixin


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self.check(X)

    def check(self, X):
        raise KeyError("no such column")

    def predict(self, X):
        return X
"""


def test_errors_of_own_classifiers(files, monkeypatch):
    """They are errors of the classifier, and --debug and failures.csv say where they are."""
    (files / "own_broken.py").write_text(OWN)
    monkeypatch.syspath_prepend(files)
    allowed = ("--allow-import", "own_broken")
    with pytest.raises(ConfmlError) as raised:
        main(["--debug", "predict", *WITHOUT_CONFIG, "new.csv", "--method", "own_broken.Broken", *allowed])
    assert traceback.extract_tb(raised.value.__cause__.__traceback__)[-1].name == "check"
    (files / "own.yaml").write_text(
        "datasets: [{name: wine, csv: wine.csv, label: target, ignore: bottle}]\n"
        "methods: [own_broken.Broken]\nprotocol: holdout\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["run", "own.yaml", "--out", "out", *allowed, "--engine", "serial", "--quiet"])
    assert ended.value.code == 1
    (row,) = csv.DictReader(Path("out/tables/failures.csv").open(newline=""))
    assert row["calls"] == "own_broken.py:6 fit > own_broken.py:9 check"
    assert row["error"] == "KeyError: 'no such column'"


def test_errors_of_methods_are_theirs():
    same = pd.DataFrame({"x": [1.0] * 40, "y": ["a", "b"] * 20})
    with pytest.raises(ConfmlError, match="^version space is empty"):
        confml.predict(same, same[["x"]], label="y", method="bayes-transduction", params={"ridge": 0})
