"""`predict` without a method takes the one that the finished run of a config recommends."""

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from confml.cli import cli
from confml.errors import ConfigError

CONFIG = """\
datasets: [{name: d, csv: train.csv, label: y}]
methods:
  - {name: tcm-nn, sweep: {k: [1, 5]}}
  - {name: naive-bayes, label: Bayes}
protocol: {kind: holdout, test-size: 0.4}
levels: [0.1]
"""


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
        ran = CliRunner().invoke(cli, ["run", "d.yaml", "--engine", "serial"])
    assert ran.exit_code == 0, ran.output
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
    for label, arguments in (
        ("Bayes", ["--method", "Bayes"]),
        ("tcm-nn k=5", ["--method", "tcm-nn", "--param", "k=5"]),
    ):
        recommend(label)
        taken = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv"])
        chosen = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", *arguments])
        assert taken.stdout == chosen.stdout and taken.exit_code == 0
        sentence = f"method: {label}, which the run in results/d recommends for the lowest error"
        assert sentence in taken.stderr and sentence not in chosen.stderr


def test_options_that_change_the_method_are_named_and_its_view_is_not_kept(files):
    for label, *options in (
        ("Bayes", "--conformal", "split"),
        ("Bayes", "--conformal", "split", "--mondrian"),
        ("tcm-nn k=5", "--param", "k=3"),
    ):
        recommend(label)
        taken = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", *options])
        assert taken.exit_code == 0, taken.exception
        sentence = f"recommends for the lowest error, with {' '.join(options)}\n"
        assert f"method: {label}, which" in taken.stderr and sentence in taken.stderr
        assert "p[yes]" in taken.stdout.partition("\n")[0]
    same = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", "--param", "k=5"])
    assert "recommends for the lowest error\n" in same.stderr


def test_after_a_run_that_recommends_none_the_hint_is_a_method(files):
    recommend(None)
    error = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv"]).exception
    assert "--method 'Bayes'" in error.hint
    assert "the run in results/d recommends no method. " in error.message and ".;" not in str(error)


def test_a_recommendation_of_another_config_or_other_data_is_not_taken(files):
    same = ["--set", "silence=[duplicate-rows]", "--set", "figures=[error-against]"]
    assert CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", *same]).exit_code == 0
    costs = "costs={matrix: {yes: {no: 5}, no: {yes: 1}}}"
    for setting in ("seed=2", "protocol.test-size=0.3", "steps=[standardise]", "aim=regions", costs):
        changed = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", "--set", setting])
        key = setting.partition("=")[0].partition(".")[0]
        assert f"of another config or other data ({key})" in str(changed.exception)
        assert "confml run d.yaml again" in changed.exception.hint
    Path("d.yaml").write_text(CONFIG.replace("[1, 5]", "[1, 3]"))
    changed = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv"])
    assert "other data (methods)" in str(changed.exception)
    Path("d.yaml").write_text(CONFIG)
    lines = Path("train.csv").read_text().splitlines()
    Path("train.csv").write_text("\n".join(lines[:-1]))
    changed = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv"])
    assert "other data (the data of d)" in str(changed.exception)
    assert CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv", "--method", "Bayes"]).exit_code == 0


def test_without_a_finished_run_the_methods_are_named_before_data_are_read(files):
    shutil.rmtree("results")
    Path("train.csv").write_text("")
    result = CliRunner().invoke(cli, ["predict", "d.yaml", "new.csv"])
    assert isinstance(result.exception, ConfigError)
    text = "the config has several methods, and no finished run in results/d recommends one"
    assert text in str(result.exception)
    assert "--method 'tcm-nn'" in result.exception.hint and "confml run d.yaml" in result.exception.hint
