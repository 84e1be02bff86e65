"""``confml init``: a commented config that runs as it is."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal
from sklearn import datasets

import confml
from confml.config import load_config
from confml.config.suggestion import LEVELS, rows_needed
from confml.data import load
from confml.data.coding import plain_numbers
from confml.data.frame_table import frame_table
from confml.data.identifiers import no_feature


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loans(rows=240):
    rng = np.random.default_rng(0)
    lines = [["customer", "opened", "age", "income", "job", "branch", "country", "years", "default"]]
    for row in range(rows):
        age, income = int(rng.integers(20, 70)), f"{rng.lognormal(8, 0.5):.2f}".replace(".", ",")
        job = rng.choice(["clerk", "farmer", "nurse", "no"])
        default = "yes" if age / 70 + rng.normal(0, 0.1) < 0.6 else "no"
        line = [f"C{row:04d}", f"2020-0{1 + row % 9}-11", str(age), income if row % 50 else ""]
        lines.append([*line, job, f"b{row % 40}", "DE", str(age), default])
    return "\n".join(";".join(line) for line in lines) + "\n"


def run(*arguments):
    """(stdout, stderr) of the command."""
    result = command("init", *arguments)
    return result.stdout, result.stderr


def error(*arguments):
    """Text of the error of the command."""
    return str(refusal("init", *arguments))


def test_columns_of_every_kind_are_proposed(here):
    (here / "loans.csv").write_text(loans())
    _, messages = run("loans.csv", "--label", "default")
    text, config = (here / "loans.yaml").read_text(), load_config("loans.yaml")
    dataset = config.datasets[0].as_dict()
    assert dataset["id"] == ["customer"] and dataset["nominal"] == ["job", "branch"]
    assert dataset["ignore"] == ["opened", "country", "years"]
    assert dataset["decimal"] == "," and dataset["missing"] == "mean" and dataset["label"] == "default"
    assert [step.name for step in config.steps] == ["standardise"]
    assert [entry.name for entry in config.methods][0] == "tcm-nn"
    assert "      - country  # constant" in text and "      - years  # a copy of another column" in text
    assert "levels: [0.05, 0.1, 0.2]" in text and "is about 1/65 = 0.015" in text
    assert "groups: branch" in messages and "wrote loans.yaml" in messages
    assert "the file exists" in error("loans.csv", "--label", "default")
    assert run("loans.csv", "--label", "default", "--out", "-")[0] == text
    data = load(config.datasets[0].as_dict())
    assert len(data) == 240 and data.id_columns == ("customer",)
    assert data.table_attributes == ("age", "income", "job", "branch")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([str(1_000_000 + 997 * (row % 90)) for row in range(100)], "identifier: 90 different values"),
        ([f"A{row % 60}" for row in range(100)], "identifier: 60 different values"),
        ([f"no heat since day {row} of May" for row in range(100)], "free text"),
        ([["12 May 2021", "3 June 2021"][row % 2] for row in range(100)], "dates"),
        ([str(20240101 + row % 28) for row in range(100)], "dates"),
        (["", *["7"] * 99], "constant"),
        (["3", *[""] * 85, *["5"] * 14], "nearly empty: 15 of 100 rows"),
        ([str(row % 50) for row in range(100)], "numbers the rows"),
        ([str(row * row % 90) for row in range(100)], "identifier of several rows each"),
        ([f"{row * 997 % 1000}.5" for row in range(100)], ""),
        (["strongly agree with this", "do not agree with this"] * 50, ""),
    ],
)
def test_reasons_to_leave_a_column_out(values, reason):
    table = frame_table(pd.DataFrame({"patient ID": values}), "t")
    numbers, is_number = plain_numbers(table, ["patient ID"], ".")
    code, reason_text = no_feature("patient ID", numbers[:, 0] if is_number[0] else table.texts("patient ID"))
    assert reason_text.startswith(reason or "!") == bool(reason) == bool(code)


def test_rare_classes_have_label_conditional_p_values(here):
    """With fewer rows than stated, 1 / (rows + 1), the smallest p-value, is above the level."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(500, 3)).round(3), columns=["a", "b", "c"])
    frame.assign(y=np.where(np.arange(500) % 25 < 3, "yes", "no")).to_csv("loans.csv", index=False)
    run("loans.csv", "--label", "y")
    text, methods = (here / "loans.yaml").read_text(), load_config("loans.yaml").methods
    assert "class yes has 12 % of the rows" in text
    assert "a level needs: 19 for 0.05, 9 for 0.1, 4 for 0.2" in text
    params = [method.given for method in methods]
    assert [values.get("mondrian", values.get("conformal__mondrian")) for values in params] == [
        *(True, None, True, True)
    ]
    assert [values.get("conformal") for values in params] == [None, None, "split", "split"]
    assert all(1 / (rows_needed(level) + 1) <= level < 1 / rows_needed(level) for level in LEVELS)


def test_the_config_runs_and_predicts(here):
    (here / "loans.csv").write_text(loans(120))
    run("loans.csv", "--label", "default", "--ignore", "branch", "--out", "configs/loans.yaml")
    assert "csv: ../loans.csv" in (here / "configs" / "loans.yaml").read_text()
    fewer = {"protocol.folds": 2, "methods.2.n_estimators": 10}
    finished = confml.run("configs/loans.yaml", overrides=fewer, engine="serial")
    assert finished.failures.empty
    methods = {method.rpartition(".")[2] for method in finished.metrics["method"]}
    trees = {"RandomForestClassifier", "HistGradientBoostingClassifier"}
    assert methods == {"tcm-nn", "LogisticRegression", *trees, "majority-class"}
    message = error("loans.csv", "--label", "default", "--out", "configs/loans.yaml")
    assert "configs/loans.yaml: the file exists" in message and "--force" in message


def test_a_level_is_proposed_only_if_a_p_value_can_reach_it(here):
    (here / "few.csv").write_text("x,y\n" + "".join(f"{row / 7},{'ab'[row % 2]}\n" for row in range(30)))
    text, _ = run("few.csv", "--label", "y", "--out", "-")
    assert "levels: [0.05, 0.1, 0.2]" in text and "p-value is about 1/28" in text and "steps:" not in text


def test_names_and_encodings_are_written_so_that_they_are_read_again(here):
    frame = datasets.load_iris(as_frame=True).frame
    frame.columns = ["no", "a: b", "größe, #1", "1", "true"]
    frame["größe, #1"] *= 100
    frame.to_csv("blüten.csv", index=False, encoding="latin-1")
    assert "--encoding latin-1" in error("blüten.csv", "--label", "true")
    text, _ = run("blüten.csv", "--label", "true", "--encoding", "latin-1", "--out", "-")
    (here / "config.yaml").write_text(text, encoding="utf-8")
    config = load_config("config.yaml")
    assert config.datasets[0].encoding == "latin-1" and config.datasets[0].label == "true"
    assert load(config.datasets[0].as_dict()).table_attributes == ("no", "a: b", "größe, #1", "1")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_not_utf_8(here):
    """A config cannot have such a name; it can stand in a folder that has one, and so can its run."""
    folder = here / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "loans.csv").write_text(loans(60))
    assert "is not UTF-8" in error(folder / "loans.csv", "--label", "default", "--out", "-")
    run(folder / "loans.csv", "--label", "default", "--out", folder / "c.yaml")
    confml.run(folder / "c.yaml", out=folder / "run", overrides={"methods": ["knn"]}, engine="serial")
    assert len(confml.load_run(folder / "run").metrics)
