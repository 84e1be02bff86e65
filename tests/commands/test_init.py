"""``confml init``: a commented config that runs as it is."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from sklearn import datasets

import confml
from confml.commands.init import init
from confml.config import load_config
from confml.config.suggestion import SOURCES
from confml.data import load
from confml.errors import ConfigError, DataError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loans(rows=240, decimal=",", separator=";", job="clerk farmer nurse no"):
    rng = np.random.default_rng(0)
    lines = [["customer", "opened", "age", "income", "job", "branch", "country", "years", "default"]]
    for row in range(rows):
        age, income = int(rng.integers(20, 70)), f"{rng.lognormal(8, 0.5):.2f}".replace(".", decimal)
        lines.append(
            [
                *(f"C{row:04d}", f"2020-0{1 + row % 9}-11", str(age), income if row % 50 else ""),
                *(str(rng.choice(job.split())), f"b{row % 40}", "DE", str(age)),
                "yes" if age / 70 + rng.normal(0, 0.1) < 0.6 else "no",
            ]
        )
    return "\n".join(separator.join(line) for line in lines) + "\n"


def run(*arguments, fails=None):
    """(stdout, stderr) of the command, or the message of the error that it fails with."""
    result = CliRunner().invoke(init, [str(one) for one in arguments])
    if fails is not None:
        assert isinstance(result.exception, fails), result.exception or result.output
        return str(result.exception)
    assert result.exit_code == 0, result.exception or result.output
    return result.stdout, result.stderr


def test_columns_of_every_kind_are_proposed(here):
    (here / "loans.csv").write_text(loans())
    text, told = run("loans.csv", "--label", "default")
    (here / "loans.yaml").write_text(text)
    config = load_config("loans.yaml")
    dataset = config.datasets[0].as_dict()
    assert dataset["id"] == ["customer"] and dataset["nominal"] == ["job", "branch"]
    assert dataset["ignore"] == ["opened", "country", "years"]
    assert dataset["decimal"] == "," and dataset["missing"] == "mean" and dataset["label"] == "default"
    assert [step.name for step in config.steps] == ["standardise"]
    assert [entry.name for entry in config.methods][0] == "tcm-nn"
    assert "# dates, constant, copies of other columns" in text and "1/217 = 0.0046" in text
    assert "subjects with several rows each, in 240 rows: 'branch' (40 values); if so, groups: branch" in told
    data = load(config.datasets[0].as_dict())
    assert len(data) == 240 and data.id_columns == ("customer",)
    assert data.table_attributes == ("age", "income", "job", "branch")


def test_the_config_runs_and_predicts(here):
    (here / "loans.csv").write_text(loans(120))
    run("loans.csv", "--label", "default", "--ignore", "branch", "--out", "configs/loans.yaml")
    assert "csv: ../loans.csv" in (here / "configs" / "loans.yaml").read_text()
    finished = confml.run("configs/loans.yaml", out=here / "run", jobs=1, engine="serial")
    assert finished.failures.empty
    assert set(finished.metrics["method"]) == {"tcm-nn", "knn", "majority-class"}
    message = run("loans.csv", "--label", "default", "--out", "configs/loans.yaml", fails=ConfigError)
    assert "configs/loans.yaml: the file exists" in message and "--force" in message


def test_a_level_is_proposed_only_if_a_p_value_can_reach_it(here):
    (here / "few.csv").write_text("x,y\n" + "".join(f"{row / 7},{'ab'[row % 2]}\n" for row in range(30)))
    text, _ = run("few.csv", "--label", "y")
    assert "levels: [0.05, 0.1, 0.2]  # significance levels; the smallest possible p-value is 1/28" in text
    assert "steps:" not in text


def test_names_and_encodings_are_written_so_that_they_are_read_again(here):
    frame = datasets.load_iris(as_frame=True).frame
    frame.columns = ["no", "a: b", "größe, #1", "1", "true"]
    frame["größe, #1"] *= 100
    frame.to_csv("blüten.csv", index=False, encoding="latin-1")
    text, _ = run("blüten.csv", "--label", "true")
    (here / "config.yaml").write_text(text, encoding="utf-8")
    config = load_config("config.yaml")
    assert config.datasets[0].encoding == "cp1252" and config.datasets[0].label == "true"
    assert load(config.datasets[0].as_dict()).table_attributes == ("no", "a: b", "größe, #1", "1")


def wine_file(folder):
    datasets.load_wine(as_frame=True).frame.to_csv(folder / "wine.csv", index=False)


@pytest.mark.parametrize("source", SOURCES)
def test_the_experiment_of_a_source_on_another_file(here, source):
    """Methods with their parameters, and the protocol; noise is on training parts."""
    wine_file(here)
    run("wine.csv", "--label", "target", "--like", source, "--out", "wine.yaml")
    config, paper = load_config("wine.yaml"), load_config(SOURCES[source][0])
    assert config.datasets[0].as_dict()["csv"].endswith("wine.csv") and len(config.datasets) == 1
    assert config.methods[: len(paper.methods)] == paper.methods
    assert config.protocol == paper.protocol
    assert config.thresholds == paper.thresholds
    assert config.noise is None or (config.noise.on == "train" and config.noise.labels == paper.noise.labels)


@pytest.mark.parametrize("source", SOURCES)
def test_the_experiment_of_a_source_runs_to_its_report(here, source):
    """Every method has an error on a third of the irises."""
    frame = datasets.load_iris(as_frame=True).frame[::3]
    frame.to_csv(here / "irises.csv", index=False)
    run("irises.csv", "--label", "target", "--like", source, "--out", "irises.yaml")
    fewer = ["protocol.inner-folds=2", "methods.5.tune.kappa=[0.5]", "methods.5.tune.p=[1.5]"]
    chosen = ["protocol.repeats=1", *(fewer if source == "burg" else [])]
    found = confml.run("irises.yaml", out="results", overrides=chosen)
    errors = found.summary.query("metric == 'error'")
    assert set(errors["method"]) >= {method.name for method in load_config("irises.yaml").methods}
    assert found.failures.empty and not (here / "results" / "tables/failures.csv").exists()
    assert (here / "results" / "report.html").is_file()


def test_noise_of_a_source_leaves_test_labels(here):
    wine_file(here)
    run("wine.csv", "--label", "target", "--like", "kubat", "--out", "wine.yaml")
    chosen = ["protocol.repeats=1", "methods=[{name: knn, k: 1}]", "figures=[]"]
    labels = confml.run("wine.yaml", out="results", overrides=chosen).regions()
    truth = pandas.read_csv("wine.csv")["target"]
    assert (labels["label"].to_numpy() == truth.to_numpy()[labels["row"]]).all()


def test_names_of_files_that_are_no_names_of_folders(here):
    (here / "my loans (2).csv").write_text(loans())
    run("my loans (2).csv", "--label", "default", "--out", "c.yaml")
    config = load_config("c.yaml")
    assert config.name == config.datasets[0].name == "my-loans-2-"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_not_utf_8(here):
    """A config cannot have such a name; it can stand in a folder that has one, and so can its run."""
    folder = here / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "loans.csv").write_text(loans(60))
    assert "is not UTF-8" in run(folder / "loans.csv", "--label", "default", fails=DataError)
    run(folder / "loans.csv", "--label", "default", "--out", folder / "c.yaml")
    confml.run(folder / "c.yaml", out=folder / "run", engine="serial")
    assert len(confml.load_run(folder / "run").metrics)
