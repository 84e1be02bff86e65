"""Rows ranked by the evidence against their label."""

import dataclasses
import json

import numpy as np
import pytest
from command_line import command
from sklearn.metrics import average_precision_score

from confml.data import label_errors, load
from confml.data.label_errors import label_evidence
from confml.data.noise import apply_noise
from confml.errors import DataError


def with_errors(name):
    """A data set in which 10 % of the labels were changed, and which labels these are."""
    data = load({"name": name})
    _, y = apply_noise(data.X, data.y, {"labels": 0.1}, np.random.default_rng(3))
    return dataclasses.replace(data, y=y), y != data.y


@pytest.fixture(scope="module")
def evidence():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_errors, "TREES", 40)
        return label_evidence(with_errors("wine-sklearn")[0])


def test_injected_errors_are_ranked_first(evidence):
    data, wrong = with_errors("wine-sklearn")
    rows, p_label = evidence.rows, evidence.p_label
    assert average_precision_score(wrong[rows], -p_label) > 0.97
    assert np.all(np.diff(p_label) >= 0) and sorted(rows) == list(range(len(data)))
    true = load({"name": "wine-sklearn"}).y
    assert wrong[rows[:12]].all() and np.array_equal(evidence.likelier[:12], true[rows[:12]])


def test_few_rows():
    data = load({"name": "wine-sklearn"})
    few = dataclasses.replace(data, X=data.X[:9], y=data.y[:9], table=data.table[:9], lines=None)
    with pytest.raises(DataError, match="too few"):
        label_evidence(few)


def test_command_lists_lines_and_labels(tmp_path, monkeypatch, evidence):
    monkeypatch.setattr(label_errors, "label_evidence", lambda data: evidence)  # of the same rows
    data, wrong = with_errors("wine-sklearn")
    path = tmp_path / "wine.csv"
    data.to_frame().to_csv(path, index=False)
    check = ("data", "check", path, "--label", "label", "--labels")
    doubted = json.loads(command(*check, "8", "--json").stdout)["labels"]
    assert len(doubted) == 8 and all(wrong[row["line"] - 2] for row in doubted)
    assert all(row["p_likelier"] > row["p_label"] and row["likelier"] != row["label"] for row in doubted)
    shown = command(*check)
    assert "P LIKELIER" in shown.stdout and shown.stdout.count("\n") > 15
