"""``monitoring.csv``: alarms of a pass with a change, and none without one."""

import numpy as np
import pytest
from report.report_cases import entry, read, result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.report.write import write_report

ROWS, CHANGE = 1500, 1000


def predict(cell):
    """p-values of the true label are uniform, for ``changed`` only up to row 1000."""
    rng = np.random.default_rng(3)
    p = rng.random(ROWS)
    if cell.dataset == "changed":
        p[CHANGE:] **= 3
    truth = rng.integers(0, 2, ROWS)
    scores = np.repeat(p[:, None], 2, axis=1)
    scores[np.arange(ROWS), 1 - truth] = rng.random(ROWS) / 4
    extra = {"learnt": np.arange(ROWS), "tau": np.full(ROWS, 0.5)}
    view = Prediction(np.array([0, 1]), scores, "p-value", extra=extra)
    return result_of(cell, view, truth, rows=np.arange(ROWS)[::-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitoring")
    method = entry("tcm-nn", {"smoothed": True})
    write_report(run_by_hand([method], predict, ["changed", "quiet"], levels=(0.1,)), folder)
    return folder


def test_a_change_is_found_and_said(folder):
    rows = [row for row in read(folder / "tables/monitoring.csv") if row["dataset"] == "changed"]
    first = {row["statistic"]: row for row in rows[::-1]}
    assert set(first) == {"simple-jumper", "composite-jumper", "histogram", "cusum", "shiryaev-roberts"}
    alarm = first["shiryaev-roberts"]
    assert CHANGE < int(alarm["step"]) < CHANGE + 60 and abs(int(alarm["change_after"]) - CHANGE) < 60
    assert int(alarm["row"]) == ROWS - int(alarm["step"])  # rows are numbered from the end here
    assert alarm["meaning"] in (folder / ".run/notes.txt").read_text()
    jumper = first["simple-jumper"]
    assert float(jumper["log10_value"]) > 2 and "do not rely" in jumper["meaning"]


def test_a_quiet_pass_has_no_alarm(folder):
    rows = [row for row in read(folder / "tables/monitoring.csv") if row["dataset"] == "quiet"]
    assert [row["statistic"] for row in rows][-1] == "shiryaev-roberts"
    assert rows[-1]["meaning"] == "no alarm in 1,500 rows: nothing to do" and rows[-1]["step"] == ""
    assert all("not enough evidence" in row["meaning"] for row in rows[:3])
    assert "quiet" not in "".join(line for line in (folder / ".run/notes.txt").open() if "alarm" in line)
