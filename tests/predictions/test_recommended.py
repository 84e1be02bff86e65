"""`predict` without a method takes the one that the finished run of a config recommends."""

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

from confml.errors import ConfigError

CONFIG = """\
datasets: [{name: d, csv: train.csv, label: y}]
methods:
  - {name: tcm-nn, sweep: {k: [1, 5]}}
  - {name: naive-bayes, label: Bayes}
protocol: {kind: holdout, test-size: 0.4}
levels: [0.1]
"""
PREDICT = ("predict", "d.yaml", "new.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with data, a config and its finished run."""
    folder = tmp_path_factory.mktemp("recommended")
    y = np.arange(120) % 2
    x = np.random.default_rng(1).normal(size=120) + 3 * y
    frame = pd.DataFrame({"x": x, "y": np.where(y == 1, "yes", "no")})
    frame[:100].to_csv(folder / "train.csv", index=False)
    frame[100:].to_csv(folder / "new.csv", index=False)
    (folder / "d.yaml").write_text(CONFIG)
    with contextlib.chdir(folder):
        command("run", "d.yaml", "--engine", "serial")
    return folder


@pytest.fixture
def files(finished, tmp_path, monkeypatch):
    shutil.copytree(finished, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")


def recommend(label: str | None) -> None:
    """Replace the recommended method in the answer of the run."""
    path = Path("results/d/answer.json")
    answer = json.loads(path.read_text())
    answer["datasets"]["d"] |= {"recommended": label, "best": "Bayes"}
    path.write_text(json.dumps(answer))


def test_the_recommendation_of_the_run_is_taken_and_named(files):
    for label, *options in (("Bayes", "--method", "Bayes"), ("tcm-nn k=5", "--method=tcm-nn", "--param=k=5")):
        recommend(label)
        recommended, chosen = command(*PREDICT), command(*PREDICT, *options)
        assert recommended.stdout == chosen.stdout
        sentence = f"method: {label}, which the run in results/d recommends for the lowest error"
        assert sentence in recommended.stderr and sentence not in chosen.stderr


def test_options_that_change_the_method_are_named_and_its_view_is_not_kept(files):
    for label, *options in (
        ("Bayes", "--conformal", "split"),
        ("Bayes", "--conformal", "split", "--mondrian"),
        ("tcm-nn k=5", "--param", "k=3"),
    ):
        recommend(label)
        changed = command(*PREDICT, *options)
        sentence = f"recommends for the lowest error, with {' '.join(options)}\n"
        assert f"method: {label}, which" in changed.stderr and sentence in changed.stderr
        assert "p[yes]" in changed.stdout.partition("\n")[0]
    assert "recommends for the lowest error\n" in command(*PREDICT, "--param", "k=5").stderr


def test_after_a_run_that_recommends_none_the_hint_is_a_method(files):
    recommend(None)
    error = refusal(*PREDICT)
    assert "--method 'Bayes'" in error.hint
    assert "the run in results/d recommends no method. " in error.message and ".;" not in str(error)


def test_a_recommendation_of_another_config_or_other_data_is_not_taken(files):
    command(*PREDICT, "--set", "silence=[duplicate-rows]", "--set", "figures=[error-against]")
    costs = "costs={matrix: {yes: {no: 5}, no: {yes: 1}}}"
    for setting in ("seed=2", "protocol.test-size=0.3", "steps=[standardise]", "aim=regions", costs):
        error = refusal(*PREDICT, "--set", setting)
        key = setting.partition("=")[0].partition(".")[0]
        assert f"of another config or other data ({key})" in str(error)
        assert "confml run d.yaml again" in error.hint
    Path("d.yaml").write_text(CONFIG.replace("[1, 5]", "[1, 3]"))
    assert "other data (methods)" in str(refusal(*PREDICT))
    Path("d.yaml").write_text(CONFIG)
    lines = Path("train.csv").read_text().splitlines()
    Path("train.csv").write_text("\n".join(lines[:-1]))
    assert "other data (the data of d)" in str(refusal(*PREDICT))
    command(*PREDICT, "--method", "Bayes")


def test_without_a_finished_run_the_methods_are_named_before_data_are_read(files):
    shutil.rmtree("results")
    Path("train.csv").write_text("")
    error = refusal(*PREDICT)
    assert isinstance(error, ConfigError) and "no finished run in results/d recommends one" in str(error)
    assert "--method 'tcm-nn'" in error.hint and "confml run d.yaml" in error.hint
