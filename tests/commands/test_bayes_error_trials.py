"""``confml bayes-error-trials``."""

from __future__ import annotations

import json

import pytest
from commands.bayes_error_cases import run

from confml.commands.bayes_error_trials import bayes_error_trials
from confml.commands.options import number_list
from confml.errors import ConfigError


def test_trials_from_the_command_line(tmp_path, every_format):
    arguments = ["--priors", "0.5,0.3", "--separations", "0:2:1", "--trees", "1,2", "--rows", 40]
    arguments += ["--trials", 3, "--jobs", 1, "--out", tmp_path]
    out, _ = run(*arguments, command=bayes_error_trials)
    assert "Variance of the estimate" in out and "Bhattacharyya" in out
    told = json.loads(run(*arguments, "--json", "-q", command=bayes_error_trials)[0])
    assert (
        len(told["points"]) == 12
        and told["points"] == json.loads((tmp_path / "trials.json").read_text())["points"]
    )
    endings = ("svg", "png", "pdf")
    drawn = {f"{name}.{ending}" for name in ("bias", "variance") for ending in endings}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == drawn
    assert number_list("--x", "0:1:0.1")[-1] == 1.0 and len(number_list("--x", "0:1:0.1")) == 11
    old, new = (
        json.loads(
            run(*arguments[:4], *arguments[6:], option, 3, "--json", "-q", command=bayes_error_trials)[0]
        )
        for option in ("--attributes", "--features")
    )
    assert old["points"] == new["points"] and len(new["points"]) == 6  # one number of trees
    assert not list((tmp_path / "figures").glob("variance.*"))
    for wrong in ("1:0:1", "a", "0:1", "0:1:0", "nan", "0,inf", "0:nan:1"):
        with pytest.raises(ConfigError, match="from:to:step"):
            number_list("--x", wrong)
