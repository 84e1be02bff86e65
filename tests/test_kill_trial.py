"""Two kills of a small run, and two commands in one folder; `make kill-trial` has more."""

from __future__ import annotations

import processes
import pytest
from programs.kill_trial import Finding, KillTrial

SMALL = """\
name: killed
datasets: [{generate: five-gaussians, n: 60, test-n: 20}]
methods:  # none that compiles kernels
  - {name: sklearn.neighbors.KNeighborsClassifier, tune: {n_neighbors: [1, 3]}}
  - {name: sklearn.naive_bayes.GaussianNB, sweep: {var_smoothing: [0.1, 0.2]}}
protocol: {kind: holdout, test-size: 0.3, repeats: 2, inner-folds: 2}
figures: []
seed: 3
"""


def test_a_run_that_is_killed_twice_gives_the_same_bytes(tmp_path):
    trial = KillTrial(tmp_path, seed=1, config=SMALL, start=processes.start)
    assert "metrics.csv" in trial.expected
    trial.until(2)
    assert trial.kills == 2
    (tmp_path / "run-1" / "metrics.csv").write_text("")
    two = [trial.start("twice") for _ in range(2)]  # two commands in one folder at the same time
    for process in two:
        trial.wait(process, "twice")
    trial.compare("twice")
    with pytest.raises(Finding, match="other bytes in .'metrics.csv'."):
        trial.compare("run-1")
