"""Targets: the steps of each with its variables, their parts, and a small target executed."""

import csv
import itertools
import json
import sys
from pathlib import Path

import processes
import pytest
import yaml

from confml.config import load_config
from confml.errors import ConfmlError
from confml.plugins.imports import allow_imports
from confml.studies.reproduction import actions
from confml.studies.reproduction import targets as module
from confml.studies.reproduction.__main__ import main
from confml.studies.reproduction.actions import Copy, Listing
from confml.studies.reproduction.targets import plan, targets

ROOT = Path(__file__).parents[2]
SCALES = [(name, scale) for name, entry in targets().items() for scale in entry.get("values", {"": 0})]


def words(target, **given):
    return [list(action.words()) for action in plan(target, given)]


def runs(target, **given):
    return [line for line in words(target, **given) if line[:2] == ["confml", "run"]]


def options(line, name):
    return [value for option, value in itertools.pairwise(line) if option == name]


@pytest.mark.parametrize(("target", "scale"), SCALES)
def test_every_run_has_a_config_that_takes_its_settings(target, scale):
    """What is kept and reported is what the target has run."""
    given = {"SCALE": scale} if scale else {}
    made = set()
    for line in words(target, **given):
        assert "$" not in " ".join(line)
        if line[:2] == ["confml", "run"]:
            with allow_imports(options(line, "--allow-import")):
                config = load_config(str(ROOT / line[2]), options(line, "--set"))
            made |= {*(options(line, "--out") or [f"results/{config.name}"])}
        made |= {*options(line, "--out")}
    for line in words(target, **given):
        if line[0] == "keep":
            kept = [name for name in line[2:] if name.startswith("results/") and not name.endswith("*")]
            assert set(kept) <= made
            assert options(line, "--command")[0].startswith("make ")


@pytest.mark.parametrize("target", targets())
def test_runs_take_shard_engine_and_jobs(target):
    if targets()[target].get("whole"):
        with pytest.raises(ConfmlError, match=f"{target} has no parts; run it without SHARD"):
            words(target, SHARD="2/4")
        return
    given = {"SHARD": "2/4", "ENGINE": "dask", "SCHEDULER": "tcp://host:1", "JOBS": "3"}
    lines = words(target, **given)
    if targets()[target].get("parts"):  # studies, see below
        return
    assert lines and all(line[:2] == ["confml", "run"] for line in lines)
    for line in lines:
        assert line[2:10] == [
            "--jobs",
            "3",
            "--engine",
            "dask",
            "--scheduler",
            "tcp://host:1",
            "--shard",
            "2/4",
        ]
    assert not any("--shard" in line or "--engine" in line for line in words(target))


def test_parts_of_the_bayes_error_figures_are_those_of_the_whole():
    def studies(**given):
        lines = words("figure-bayes-error", **given)
        return [options(line, "--out")[0] for line in lines if line[0] == "confml"]

    parts = [studies(SHARD=f"{part}/3") for part in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(studies()) and len(studies()) == 7
    assert words("figure-bayes-error", SHARD="9/9") == []
    with pytest.raises(ConfmlError, match="SHARD is a part such as 1/2, got 'auto'"):
        words("figure-bayes-error", SHARD="auto")


def test_a_scale_and_a_data_set_have_a_folder_of_their_own():
    (run,) = runs("table-smartsvm", SCALE="laptop", SET="fars")
    assert run[2:] == [
        *("configs/papers/smartsvm/smartsvm-laptop.yaml", "--set"),
        *('datasets=[{"name": "fars", "card": "fars-smartsvm"}]', "--out", "results/smartsvm-laptop-fars"),
    ]
    *_, kept = words("table-smartsvm", SCALE="laptop", SET="fars")
    assert kept[1:] == [
        *("results/reference/smartsvm/laptop-fars", "results/smartsvm-laptop-fars"),
        *("--command", "make table-smartsvm SCALE=laptop SET=fars"),
    ]
    with pytest.raises(ConfmlError, match="SCALE is small, laptop, cold or full, got 'huge'"):
        words("table-smartsvm", SCALE="huge")
    with pytest.raises(ConfmlError, match="SET is one data set, such as fars, got 'nothing'"):
        words("table-smartsvm", SET="nothing")


def test_failed_cells_end_a_target_unless_it_says_otherwise():
    fails = {
        action.arguments[-1]: action.fails
        for target, given in (("table-smartsvm-cold", {}), ("table-smartsvm-splits", {}))
        for action in plan(target, given)
        if hasattr(action, "fails") and action.arguments[0] == "run"
    }
    assert fails == {
        "results/smartsvm-cold-small": True,
        "results/smartsvm-cold-large": True,
        "--quiet": False,
    }
    assert [one.fails for one in plan("table-smartsvm", {"SCALE": "cold"}) if hasattr(one, "fails")][0]


def test_an_unknown_target_or_variable_is_refused(capsys):
    assert main(["table-tcm"]) == 2 and "did you mean 'table-tcm-nn" in capsys.readouterr().err
    assert (
        main(["table-tcm-nn", "SHARDS=1/2"]) == 2 and "unknown variable 'SHARDS'" in capsys.readouterr().err
    )
    assert main(["figure-tcm-1", "--dry-run", "JOBS=2"]) == 0
    assert capsys.readouterr().out.startswith(
        "confml run --jobs 2 configs/papers/tcm-nn/tcm-nn-figure1.yaml\n"
    )


def test_a_target_is_executed(tmp_path, monkeypatch, capfd):
    """Runs with all values of `for`, a table of them, and what is kept with its command."""
    monkeypatch.chdir(tmp_path)
    config = {
        "name": "small",
        "datasets": ["wine-sklearn"],
        "methods": ["naive-bayes"],
        "protocol": {"kind": "holdout", "repeats": 2, "test-size": 0.5},
        "figures": [],
    }
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "small.yaml").write_text(json.dumps(config), encoding="utf-8")
    steps = [
        {"run": "small", "for": {"seed": [1, 2]}, "set": {"seed": "$seed"}, "out": "$name-$seed"},
        {"report": ["few-*"], "out": "drawn", "against": "seed", "metric": "error"},
        {"keep": "few", "of": ["few-*"], "metrics": ["error"]},
        {
            "copy": {"few-1/metrics.csv": "few/first.csv", "few-2/nothing.csv": "few"},
            "when": {"scale": ["b"]},
        },
        {"list": ["drawn/figures/*.svg"]},
    ]
    drawn = tmp_path / "results" / "drawn" / "figures" / "error-against-seed.svg"
    drawn.parent.mkdir(parents=True)
    drawn.write_text("of an earlier commit", encoding="utf-8")
    entry = {"about": "a few runs", "values": {"a": {"name": "few"}, "b": {"name": "few"}}, "steps": steps}
    monkeypatch.setattr(module, "targets", lambda: {"small": entry})

    def forked(command, env):
        assert command[:3] == [sys.executable, "-m", "confml"]
        return processes.confml(*command[3:], env=env, cwd=tmp_path)

    monkeypatch.setattr(actions.subprocess, "run", forked)
    assert main(["small", "JOBS=1"]) == 0
    kept = tmp_path / "results" / "reference" / "few"
    assert sorted(path.name for path in kept.iterdir()) == ["few-1.csv", "few-2.csv", "provenance.json"]
    content = json.loads((kept / "provenance.json").read_text(encoding="utf-8"))
    assert content["command"] == "make small" and [run["seed"] for run in content["runs"]] == [1, 2]
    with (kept / "few-2.csv").open(newline="") as file:
        assert [row["metric"] for row in csv.DictReader(file)] == ["error"]
    assert capfd.readouterr().out.endswith("results/drawn/figures/error-against-seed.svg\n")
    assert main(["small", "JOBS=1", "SCALE=b"]) == 2
    assert (kept / "first.csv").read_bytes() == (tmp_path / "results" / "few-1" / "metrics.csv").read_bytes()
    assert "no such file" in capfd.readouterr().err


def test_a_copy_goes_into_a_folder_or_to_a_file(tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name)
    assert Copy(f"{tmp_path}/*.csv", tmp_path / "deep" / "all")() == 0
    assert Copy(f"{tmp_path}/a.csv", tmp_path / "deep" / "one.csv")() == 0
    assert Listing((f"{tmp_path}/deep/*.csv", f"{tmp_path}/deep/all/*"))() == 0
    assert [line.rpartition("/")[2] for line in capsys.readouterr().out.split()] == [
        "one.csv",
        "a.csv",
        "b.csv",
    ]


def test_the_targets_are_read_by_make_and_by_people():
    """A name stands on a line of its own, and what it is about on the next: `make help` reads them."""
    lines = module.Path(module.__file__).with_suffix(".yaml").read_text(encoding="utf-8").splitlines()
    for name, entry in targets().items():
        place = lines.index(f"{name}:")
        assert yaml.safe_load(lines[place + 1]) == {"about": entry["about"]}
