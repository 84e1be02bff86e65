"""Parts of a run: as written, or from the environment of a job array."""

import pytest

import confml
from confml.errors import ConfmlError
from confml.runner.shards import parse_shard


def slurm(number, first, last, count):
    names = ("ID", "MIN", "MAX", "COUNT")
    values = (number, first, last, count)
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in zip(names, values, strict=True)}


def test_a_written_part():
    assert parse_shard("3/16", {}) == (3, 16) and parse_shard("1/1", slurm(2, 1, 4, 4)) == (1, 1)


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "a/b", "3/", "/4", "-1/4", "auto/", "auto/x", "²/4"])
def test_anything_else_is_refused(text):
    with pytest.raises(ConfmlError, match="must be like 3/16"):
        parse_shard(text, slurm(2, 1, 4, 4))


@pytest.mark.parametrize(
    "environment, part",
    [
        (slurm(3, 1, 4, 4), (3, 4)),
        (slurm(0, 0, 15, 16), (1, 16)),
        ({"SGE_TASK_ID": "5", "SGE_TASK_FIRST": "1", "SGE_TASK_LAST": "7", "SGE_TASK_STEPSIZE": "2"}, (3, 4)),
        ({"LSB_JOBINDEX": "2", "LSB_JOBINDEX_END": "8", "LSB_JOBINDEX_STEP": "1"}, (2, 8)),
        ({"SGE_TASK_ID": "undefined", **slurm(2, 1, 2, 2)}, (2, 2)),
    ],
)
def test_schedulers_that_give_the_size_of_their_array(environment, part):
    assert parse_shard("auto", environment) == part


@pytest.mark.parametrize("name", ["PBS_ARRAY_INDEX", "PBS_ARRAYID", "HQ_TASK_ID"])
def test_schedulers_that_do_not(name):
    assert parse_shard("auto/16", {name: "16"}) == (16, 16)
    with pytest.raises(ConfmlError, match="does not give the size.*auto/16"):
        parse_shard("auto", {name: "16"})
    for outside in ("0", "17"):
        with pytest.raises(ConfmlError, match=f"{name}={outside} is not between 1 and 16.*from 1 to 16"):
            parse_shard("auto/16", {name: outside})


def test_the_inner_scheduler_counts():
    assert parse_shard("auto/4", {**slurm(1, 1, 9, 9), "HQ_TASK_ID": "2"}) == (2, 4)


def test_an_array_with_gaps_is_refused():
    """Its tasks could otherwise compute the same part, or leave one out."""
    for environment in (slurm(7, 1, 7, 3), slurm(3, 3, 7, 2)):
        with pytest.raises(ConfmlError, match="consecutive numbers"):
            parse_shard("auto", environment)


def test_no_array():
    with pytest.raises(ConfmlError, match="not in a job array.*SLURM_ARRAY_TASK_ID.*--shard 3/16"):
        parse_shard("auto", {"SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0"})


def test_the_report_of_a_part_is_written_again(tmp_path):
    """Parts that end at the same time mix their files: the run without --shard must not keep them."""
    config = {
        "name": "parts", "datasets": ["wine-sklearn"], "methods": ["naive-bayes"],
        "protocol": {"kind": "holdout", "repeats": 4}, "figures": [],
    }  # fmt: skip
    for part in (1, 2):
        confml.run(config, out=tmp_path / "out", engine="serial", shard=(part, 2))
        assert not (tmp_path / "out" / ".report-of").exists()
    confml.run(config, out=tmp_path / "out", engine="serial")
    assert (tmp_path / "out" / ".report-of").exists()
