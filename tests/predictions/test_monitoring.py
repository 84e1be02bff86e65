"""Batches of labelled new rows: distances, p-values, and what the command says."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import kstest, kstwobign

from confml.commands.predict import predict
from confml.measures.ranks import holm
from confml.predictions.monitoring import ks_p_value


def write(path, n, seed, shift_from=None):
    """Two classes; from row ``shift_from`` on the labels are those of a coin."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)).round(2)
    y = x[:, 0] + 0.5 * rng.normal(size=n) > 0
    if shift_from is not None:
        y[shift_from:] = rng.random(n - shift_from) < 0.5
    lines = [f"{a!r},{b!r},{'yes' if label else 'no'}" for (a, b), label in zip(x.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]) + "\n", encoding="utf-8")
    return path


def run(folder, *options):
    arguments = ["--train", str(folder / "train.csv"), "--label", "label", str(folder / "new.csv")]
    method = ["--method", "naive-bayes", "--conformal", "split", "--out", str(folder / "out.csv")]
    return CliRunner().invoke(predict, [*arguments, *method, *options])


def batches(folder, rows):
    """The batches of ``--json`` with their values as text."""
    run(folder, "--batch-rows", rows, "--json")
    document = json.loads((folder / "out.csv").read_text())
    return [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in document["batches"]
    ]


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_batch_of_noise_is_named_with_its_lines(tmp_path):
    write(tmp_path / "train.csv", 1500, 0)
    write(tmp_path / "new.csv", 640, 1, shift_from=400)
    rows = batches(tmp_path, "200")
    found = run(tmp_path, "--batch-rows", "200")
    assert found.exit_code == 0
    # The last 40 rows are fewer than half a batch.
    assert [(row["first_line"], row["last_line"], row["rows"]) for row in rows] == [
        ("2", "201", "200"),
        ("202", "401", "200"),
        ("402", "641", "240"),
    ]
    assert [row["different"] for row in rows] == ["0", "0", "1"]
    assert rows[0]["meaning"] == "no action needed"
    assert found.stderr.count("The new rows do not look exchangeable") == 1
    assert "Batch 3: lines 402 to 641 differ from the training rows" in found.stderr
    assert "tests shows that new rows differ" not in found.stderr
    assert "fit again with labelled rows like them" in found.stderr
    adjusted = holm([float(row["p"]) for row in rows])
    assert [float(row["adjusted_p"]) for row in rows] == pytest.approx(list(adjusted))
    for row in rows:
        # 450 calibration rows.
        assert float(row["p"]) == pytest.approx(
            kstwobign.sf(float(row["ks"]) / math.sqrt(1 / int(row["rows"]) + 1 / 450))
        )
    # Errors and small p-values are those of the predictions.
    labels = [line.rsplit(",", 1)[1] for line in (tmp_path / "new.csv").read_text().splitlines()[1:]]
    answers = read(tmp_path / "out.csv")
    wrong = np.array([row["prediction"] != label for row, label in zip(answers, labels, strict=True)])
    assert float(rows[2]["error"]) == pytest.approx(wrong[400:].mean())
    unsmoothed = np.array([float(row[f"p[{label}]"]) for row, label in zip(answers, labels, strict=True)])
    assert float(rows[2]["small"]) >= np.mean(unsmoothed[400:] <= 0.1) > 0.1
    assert float(rows[2]["ks"]) == pytest.approx(kstest(unsmoothed[400:], "uniform").statistic, abs=0.02)


def test_sound_batches_and_batches_that_cannot_be_tested(tmp_path):
    write(tmp_path / "train.csv", 600, 0)
    text = write(tmp_path / "new.csv", 300, 1).read_text().splitlines()
    assert "None of 4 tests shows that new rows differ." in run(tmp_path, "--batch-rows", "100").stderr
    (tmp_path / "new.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in text) + "\n")
    assert "the new rows have no labels" in run(tmp_path, "--batch-rows", "100").stderr
    fit = ["--train", str(tmp_path / "train.csv"), "--label", "label", "--method", "naive-bayes"]
    refused = CliRunner().invoke(predict, [*fit, str(tmp_path / "new.csv"), "--batch-rows", "20"]).exception
    assert "naive-bayes has none" in str(refused) and "--conformal split" in refused.hint


def test_no_batch_or_feature_differs_if_the_tests_together_show_no_difference(tmp_path, monkeypatch):
    """Adjusted p-values of 0.006 within the batches and the features are 0.036 over all six tests."""
    write(tmp_path / "train.csv", 600, 0)
    write(tmp_path / "new.csv", 300, 1)
    monkeypatch.setattr(
        "confml.predictions.monitoring._distance",
        lambda batch: (0.2, 0.002 if batch["line"].iloc[0] == "2" else 0.9),
    )
    monkeypatch.setattr("confml.predictions.two_samples.holm", lambda p: np.full(len(p), 0.006))
    monkeypatch.setattr("confml.predictions.two_samples._joint", lambda *_: (0.5, 0.1, 0.5))
    text = run(tmp_path, "--batch-rows", "100", "--drift").stderr
    assert "None of 6 tests shows that new rows differ" in text
    assert "fit again" not in text and "Features that differ" not in text
    assert "features: 0.006 (Holm)" in text
    ran = run(tmp_path, "--batch-rows", "100", "--drift", "--json")
    document = json.loads((tmp_path / "out.csv").read_text())
    assert ran.exit_code == 0
    texts = {test["test"]: test["text"] for test in document["tests"]}
    assert texts["batches"] == "Smallest p-value of 3 batches: 0.006 (Holm)."
    assert document["drift"] == [texts["classifier"], texts["features"]]
    assert [row["different"] for row in document["batches"]] == [0, 0, 0]
    assert {row["meaning"] for row in document["batches"]} == {"no action needed"}


@pytest.mark.parametrize("by_class", [False, True])
def test_the_test_of_a_batch_keeps_its_level(by_class):
    """Ranks among shared calibration scores: about 5 % of the batches of exchangeable rows, not 15 %."""
    rng = np.random.default_rng(0)
    small = plain = 0
    batches = 800
    for _ in range(batches):
        classes = rng.integers(0, 2, 200) if by_class else np.zeros(200, dtype=int)
        p = np.empty(200)
        for label in np.unique(classes):
            calibration = np.sort(rng.random(250 if by_class else 500))
            mine = classes == label
            above = len(calibration) - np.searchsorted(calibration, rng.random(mine.sum()))
            p[mine] = (above + rng.random(mine.sum())) / (len(calibration) + 1)
        ks = kstest(p, "uniform").statistic
        small += ks_p_value(ks, np.full(200, 250 if by_class else 500), classes) <= 0.05
        plain += kstwobign.sf(ks * math.sqrt(200)) <= 0.05
    assert 0.03 < small / batches < 0.07 < plain / batches


def test_rows_of_an_absent_class_are_counted_and_have_no_p_value(tmp_path):
    """A p-value of 0 for them made every batch with some of them different."""
    write(tmp_path / "train.csv", 600, 0)
    lines = write(tmp_path / "new.csv", 200, 1).read_text().splitlines()
    lines[1:61] = [f"{line.rsplit(',', 1)[0]},maybe" for line in lines[1:61]]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    found = run(tmp_path, "--batch-rows", "50")
    rows = batches(tmp_path, "50")
    assert [row["absent"] for row in rows] == ["50", "10", "0", "0"]
    assert [row["different"] for row in rows] == ["0", "0", "0", "0"]
    assert (rows[0]["ks"], rows[0]["small"], rows[0]["p"], rows[0]["error"]) == ("", "", "1.0", "1.0")
    assert "batch 2: 10 rows have a class that is absent from the training rows" in found.stderr
