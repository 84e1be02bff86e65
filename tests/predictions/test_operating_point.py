"""Certified operating points: ``--risk`` and ``confml.predict(risk=...)``."""

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

import confml
from confml.errors import ConfigError
from confml.measures.certified import minimum_accepted
from confml.predictions.operating_point import certified_point, held_out_rows


def frame_of(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame({"x": rng.normal(size=rows) + 3 * y, "y": rng.normal(size=rows), "target": y})


def test_accepted_rows_reach_the_threshold_and_the_words_say_it():
    messages: list[str] = []
    settings = {"label": "target", "method": "naive-bayes", "risk": 0.05, "say": messages.append}
    answers = confml.predict(frame_of(1000, 1), frame_of(400, 2), **settings)
    words = " ".join(messages)
    threshold = float(words.partition("confidence >= ")[2].split()[0])
    certainly = answers["confidence"] >= threshold + 1e-5
    assert 0 < answers["accepted"].sum() < 400 and certainly.sum() > 50
    assert (answers["accepted"] == (answers["confidence"] >= threshold - 1e-5)).mean() > 0.99
    assert answers["accepted"][certainly].all()
    assert "An accepted row is wrong with probability at most 5 %" in words
    assert "over the 240 held-out training rows" in words and "fitted to 700 rows of train." in words
    n = int(answers["accepted"].sum())
    assert f"{n} of 400 rows" in words and f"{n} accepted with error rate" in words


def test_the_risk_of_accepted_rows_is_kept_with_the_stated_probability():
    """In simulations the risk of the accepted rows exceeds the target at most as often as stated.

    The risk is known: P(wrong | x) of the classifier x > 1 for two normal classes.
    """
    broken = certified = 0
    rng = np.random.default_rng(7)
    x_new = rng.normal(size=200_000) + 2 * (half := rng.random(200_000) < 0.5)
    wrong_new, new = (x_new > 1) != half, np.abs(x_new - 1)
    for _ in range(400):
        y = rng.random(300) < 0.5
        x = rng.normal(size=300) + 2 * y
        point = certified_point(np.abs(x - 1), (x > 1) == y, 60, 0.1, 0.2)
        if point.threshold is not None:
            certified += 1
            broken += wrong_new[new >= point.threshold].mean() > 0.1
    assert certified > 200
    assert broken <= 400 * 0.2 + 3 * np.sqrt(400 * 0.2 * 0.8)


def test_rows_are_divided_at_random_and_completely():
    rows = np.arange(100, 200)
    fit, grid, test = held_out_rows(rows, np.random.default_rng(1))
    assert (len(fit), len(grid), len(test)) == (70, 6, 24)
    assert sorted([*fit, *grid, *test]) == rows.tolist()
    with pytest.raises(ConfigError, match="at least 10 training rows"):
        held_out_rows(rows[:9], np.random.default_rng(1))


def test_too_few_rows_and_noisy_classes_are_told():
    messages: list[str] = []
    settings = {"label": "target", "risk": 0.05, "say": messages.append}
    answers = confml.predict(frame_of(100, 1), frame_of(50, 2), **settings)
    assert not answers["accepted"].any()
    (message,) = [text for text in messages if "No threshold is certified" in text]
    assert f"at least {minimum_accepted(0.05, 0.05)} accepted held-out rows without an error" in message
    assert "only 24 rows are held out (247 training rows are needed)" in message
    messages.clear()
    noisy = frame_of(600, 1)
    noisy["target"] = np.random.default_rng(0).integers(0, 2, 600)
    answers = confml.predict(noisy, frame_of(50, 2), **settings)
    assert not answers["accepted"].any() and "the strictest threshold accepts" in " ".join(messages)


def test_the_number_of_rows_that_is_said_to_be_needed_is_enough():
    frame = frame_of(247, 1)
    frame["x"] = frame["target"] * 100.0 + frame["y"]
    answers = confml.predict(frame, frame[:20], label="target", method="naive-bayes", risk=0.05)
    assert answers["accepted"].all()


def test_the_command_and_a_stored_model_accept_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_of(800, 1).to_csv("train.csv", index=False)
    frame_of(60, 2).to_csv("new.csv", index=False)
    fit = ("--train", "train.csv", "--label", "target", "--method", "knn", "--param", "k=15")
    first = command("predict", *fit, "new.csv", "--risk", 0.1, "--save", "m.confml")
    again = command("predict", "m.confml", "new.csv")
    assert first.stdout == again.stdout
    assert ",accepted\n" in first.stdout and "with probability at least 95 %" in again.stderr


def test_groups_and_noise_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_of(100, 1).assign(site=np.arange(100) // 5).to_csv("train.csv", index=False)
    frame_of(20, 2).to_csv("new.csv", index=False)
    config = "datasets: [{name: d, csv: train.csv, label: target%s}]\nmethods: [knn]\nprotocol: k-fold\n"
    (tmp_path / "groups.yaml").write_text(config % ", groups: site")
    (tmp_path / "noise.yaml").write_text(config % ", ignore: site" + "noise: {labels: 0.1}\n")
    for name, words in (
        ("groups", "the rows of a group are not independent"),
        ("noise", "--risk cannot be used with noise"),
    ):
        assert words in str(refusal("predict", f"{name}.yaml", "new.csv", "--risk", "0.1"))
    with pytest.raises(ConfigError, match="risk must be above 0 and below 1, got 5"):
        confml.predict(frame_of(100, 1), frame_of(9, 2), label="target", risk=5)
