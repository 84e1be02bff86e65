"""Data sets of OpenML, with a stub of the function that calls scikit-learn: columns, errors, a run."""

import json

import pandas as pd
import pytest
from command_line import command
from sklearn.utils import Bunch

from confml.data import load, openml
from confml.errors import DataError

FRAME = pd.DataFrame(
    {
        "checking status": pd.Categorical(["<0", "0<=X<200", "no checking", "<0", "no checking", "<0"]),
        "duration": [6, 48, 12, 42, 24, 36],
        "it's": pd.Categorical(["yes", "no", None, "no", "yes", "no"]),
        "class": pd.Categorical(["good", "bad", "good", "good", "bad", "bad"]),
    }
)
ABOUT = {"id": "31", "name": "credit-g", "version": "1", "licence": "Public", "md5_checksum": "9d"}


@pytest.fixture
def asked(monkeypatch):
    """The names and labels that are asked for; the answer is the frame above."""
    asked = []

    def fetch(name, label=None):
        asked.append((name, label))
        names = ["class"] if label is None else [label]
        return Bunch(frame=FRAME, target_names=names, details=ABOUT, url="https://www.openml.org/d/31")

    monkeypatch.setattr(openml, "fetch", fetch)
    return asked


@pytest.mark.parametrize("name", ["credit-g", "31"])
def test_a_data_set_by_name_and_by_number(asked, name):
    data = load({"openml": name, "missing": "mean"})
    assert asked == [(name, None)] and data.name == "credit-g"
    assert data.table_attributes == ("checking status", "duration", "it's")
    assert data.categories[0] == ("0<=X<200", "<0", "no checking")
    assert data.table[:, 1].tolist() == [6, 48, 12, 42, 24, 36]
    assert data.y.tolist() == ["good", "bad", "good", "good", "bad", "bad"]
    assert any("OpenML data set 31, credit-g version 1" in note for note in data.notes)


def test_no_single_target(monkeypatch):
    targets = ["class", "it's"]
    answer = Bunch(frame=FRAME, target_names=targets, details=ABOUT, url="https://www.openml.org/d/31")
    monkeypatch.setattr(openml, "fetch", lambda name, label=None: answer)
    with pytest.raises(DataError, match=r"openml\.org/d/31: OpenML names no single target; label: names"):
        load({"openml": "31"})


@pytest.mark.parametrize(
    "answer, words",
    [
        (lambda **keys: json.loads("<html>"), "Expecting value"),
        (lambda **keys: (_ for _ in ()).throw(OSError("no\nnetwork")), "no network"),
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_of_the_data(answer, words, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    with pytest.raises(DataError, match=f"openml.org/d/31: .*cannot be fetched from OpenML: .*{words}"):
        load({"openml": "31"})


def test_a_run_and_predictions(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(
        "datasets: [{openml: credit-g, missing: mean}]\nsteps: [standardise]\nmethods: [{name: knn, k: 1}]\n"
        "protocol: {kind: k-fold, folds: 2}\n"
    )
    ran = command("run", "c.yaml", "--out", "r", "--engine", "serial")
    assert "credit-g" in ran.stdout and "OpenML data set 31, credit-g version 1" in ran.output
    (tmp_path / "new.csv").write_text("checking status,duration,it's\n<0,6,yes\n<0,36,no\n")
    predicted = command("predict", "c.yaml", "new.csv")
    assert [line.split(",")[1] for line in predicted.stdout.splitlines()[1:]] == ["good", "bad"]
