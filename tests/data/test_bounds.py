"""Data without an end, or too large, are refused with a clear message before the memory is taken."""

import os
import threading

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

from confml.config import make_config
from confml.data import load, memory
from confml.data.table_files import read_table
from confml.errors import ConfigError, DataError

TABLE = "x,y\n1,a\n2,b\n3,a\n4,b\n"


@pytest.fixture(params=["/dev/zero", "/dev/urandom", "pipe.csv", "/dev/full"])
def strange(request, tmp_path, monkeypatch):
    """A path that is no regular file: an endless device, or a pipe without a writer."""
    monkeypatch.chdir(tmp_path)
    if not request.param.startswith("/"):
        os.mkfifo(request.param)
    return request.param


def test_devices_and_pipes_are_no_data(strange):
    os.symlink(strange, "link.parquet")
    for path in (strange, "link.parquet"):
        with pytest.raises(DataError, match="not a regular file"):
            load({"csv": path, "label": "y"})


FIT = ("predict", "--train", "t.csv", "--label", "y", "--method", "naive-bayes")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "/dev/zero"), "short YAML file"),
        (("run", "c.yaml"), "regular file"),
        (("predict", "/dev/zero", "t.csv"), "regular file"),
        ((*FIT, "/dev/zero"), "regular file"),
        ((*FIT, "t.csv", "--costs", "/dev/zero"), "regular file"),
    ],
    ids=["config", "test part", "model", "new rows", "costs"],
)
def test_commands_refuse_devices(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    dataset = "{csv: t.csv, label: y, test: /dev/zero}"
    (tmp_path / "c.yaml").write_text(f"datasets: [{dataset}]\nmethods: [knn]\n")
    assert words in str(refusal(*arguments))


def test_new_rows_may_come_from_a_pipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    os.mkfifo("pipe")
    threading.Thread(target=(tmp_path / "pipe").write_text, args=(TABLE,), daemon=True).start()
    assert len(command(*FIT, "pipe", "-q").stdout.splitlines()) == 5


SWEEP, TUNE = ({key: {"k": [1, 2, 3]}} for key in ("sweep", "tune"))


@pytest.mark.parametrize(
    ("limit", "most", "message", "protocol", "method"),
    [
        ("SPLITS", None, "", {"repeats": 10**12}, {}),
        ("SPLITS", None, "", {"kind": "k-fold", "folds": 10, "repeats": 200_000}, {}),
        ("SPLITS", 3, "3 splits", {"repeats": 3}, {}),
        ("FITS", None, "20,000,000 fits", {"repeats": 200_000}, {"sweep": {"k": "1..100"}}),
        ("FITS", 6, "6 fits", {"repeats": 2}, SWEEP),
        ("FITS", 2, "2 fits", {"repeats": 2}, TUNE),
        ("COMBINATIONS", 3, "3 combinations", {"repeats": 2}, SWEEP),
        ("COMBINATIONS", 3, "3 combinations", {"repeats": 2}, TUNE),
    ],
)
def test_limits_of_runs_can_be_raised(monkeypatch, limit, most, message, protocol, method):
    values = {"name": "a", "datasets": ["iris"], "methods": [{"name": "knn", **method}]}
    values["protocol"] = {"kind": "holdout", **protocol}
    if most is not None:
        monkeypatch.setenv(f"CONFML_MOST_{limit}", str(most - 1))
    with pytest.raises(ConfigError, match=f"{message}.*CONFML_MOST_{limit}"):
        make_config(values)
    if most is not None:
        monkeypatch.setenv(f"CONFML_MOST_{limit}", str(most))
        make_config(values)


def test_columns_have_a_limit_that_can_be_raised(tmp_path, monkeypatch):
    wide = tmp_path / "wide.csv"
    wide.write_text(("x," * 10**6 + "\n") * 3)
    with pytest.raises(DataError, match="CONFML_MOST_COLUMNS"):
        read_table(wide)
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("a,b,c,y\n1,2,3,a\n")
    monkeypatch.setenv("CONFML_MOST_COLUMNS", "3")
    with pytest.raises(DataError, match="4 columns are more than the limit of 3"):
        read_table(narrow)
    assert "limit of 3" in str(refusal("predict", "--train", narrow, "--label", "y", narrow))
    monkeypatch.setenv("CONFML_MOST_COLUMNS", "4")
    assert len(read_table(narrow).names) == 4


def test_parquet_of_many_equal_values_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """A few kilobytes can hold any number of equal values."""
    path = tmp_path / "t.parquet"
    zeros = np.zeros(3 * 10**6, np.int8)
    pd.DataFrame({"x": zeros, "y": zeros}).to_parquet(path)
    assert path.stat().st_size < 10**5
    monkeypatch.setattr(memory, "available_memory", lambda: 10**8)
    with pytest.raises(DataError, match="3,000,000 rows takes 0.1 GB"):
        read_table(path)
