"""Groups of ``by`` in runs and in predictions for new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import processes
import pytest

CONFIG = """
name: groups
datasets: [{name: mine, csv: train.csv, label: y}]
steps: [standardise]
methods:
  - {name: naive-bayes, conformal: split, label: plain}
  - {name: naive-bayes, conformal: {kind: split, by: [[site], [{age: 3}]]}, label: largest}
  - {name: tcm-nn, by: site, label: tcm}
protocol: {kind: holdout, test-size: 0.4, repeats: 3}
levels: [0.1, 0.3]
figures: [groups]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=500),
            "site": rng.choice(["north", "south"], 500),
            "age": rng.integers(20, 80, 500),
        }
    )
    noise = np.where(frame.site == "south", 2.0, 0.3) * rng.normal(size=500)
    frame["y"] = np.where(frame.a + noise > 0, "high", "low")
    frame[:400].to_csv(path / "train.csv", index=False)
    frame[400:].to_csv(path / "new.csv", index=False)
    (path / "c.yaml").write_text(CONFIG)
    return path


def command(*arguments, code=0):
    found = processes.confml(*arguments)
    assert found.returncode == code, found.stderr
    return found


def test_table_of_groups(folder):
    command("run", folder / "c.yaml", "--out", folder / "res", "--engine", "serial")
    table = pd.read_csv(folder / "res" / "tables/groups.csv")
    assert set(table.label) == {"plain", "largest", "tcm", "majority-class"}
    assert set(table.by) == {"site", "age in 3 bins"}
    assert (table.guaranteed == ((table.label == "largest") | (
        (table.label == "tcm") & (table.by == "site")))).all()  # fmt: skip
    by_site = table[(table.by == "site") & (table.level == 0.3) & (table.group == "site = south")]
    assert by_site.calibration_rows.between(20, 100).all()
    error, size = by_site.set_index("label").error, by_site.set_index("label").mean_size
    assert error["plain"] > 0.35 > error["largest"]
    assert size["plain"] < size["largest"]
    assert (folder / "res" / "figures" / "groups-mine.svg").exists()
    assert "groups.csv" in (folder / "res" / "report.html").read_text()
    rows = table[table.label == "plain"].groupby(["by", "level"]).rows.sum()
    assert rows.nunique() == 1


@pytest.mark.parametrize("method", ["largest", "tcm"])
def test_stored_models_predict_the_same_bytes(folder, method):
    config, model, new = folder / "c.yaml", folder / f"{method}.confml", folder / "new.csv"
    fitted = command("predict", config, new, "--method", method, "--save", model, "--force")
    stored = command("predict", model, new)
    assert fitted.stdout == stored.stdout and len(fitted.stdout.splitlines()) == 101
    assert "in each group of (site)" in fitted.stderr
    explained = command("predict", model, new, "--explain", "1")
    assert "lines@predicted" in explained.stdout.splitlines()[0]


def test_new_groups_and_wrong_columns(folder):
    text = (folder / "new.csv").read_text().replace("north", "moon")
    (folder / "moon.csv").write_text(text)
    found = command("predict", folder / "c.yaml", folder / "moon.csv", "--method", "tcm")
    assert "in groups without calibration rows: all labels have p-value 1" in found.stderr
    wrong = command("run", "--dry-run", folder / "c.yaml", "--set", "methods.2.by=sity", code=2)
    assert "has no column 'sity'" in wrong.stderr and "site" in wrong.stderr
