"""Parts of a run: as written, or from the environment of a job array."""

import pytest

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
    [(slurm(3, 1, 4, 4), (3, 4)), (slurm(0, 0, 15, 16), (1, 16)), (slurm(5, 5, 5, 1), (1, 1))],
)
def test_the_part_of_an_array(environment, part):
    assert parse_shard("auto", environment) == part


def test_an_array_of_a_stated_size():
    assert parse_shard("auto/16", {"SLURM_ARRAY_TASK_ID": "16"}) == (16, 16)
    for outside in ("0", "17"):
        with pytest.raises(ConfmlError, match=f"ID={outside} is not between 1 and 16.*from 1 to 16"):
            parse_shard("auto/16", {"SLURM_ARRAY_TASK_ID": outside})


def test_an_array_with_gaps_is_refused():
    """Its tasks could otherwise compute the same part, or leave one out."""
    for environment in (slurm(7, 1, 7, 3), slurm(3, 3, 7, 2), {"SLURM_ARRAY_TASK_ID": "3"}):
        with pytest.raises(ConfmlError, match="consecutive numbers"):
            parse_shard("auto", environment)


def test_no_array():
    with pytest.raises(ConfmlError, match="not in a job array.*SLURM_ARRAY_TASK_ID.*--shard 3/16"):
        parse_shard("auto", {"SGE_TASK_ID": "2"})
