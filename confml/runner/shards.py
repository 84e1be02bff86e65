"""Parts of a run: ``--shard 3/16``, or the part that the array of a job scheduler gives."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from confml.errors import ConfmlError


@dataclass(frozen=True)
class JobArray:
    """Environment variables of the tasks of a job array: number, first and last number, step.

    Only ``task`` is set by every scheduler; the others are empty where there is none.
    """

    scheduler: str
    task: str
    first: str = ""
    last: str = ""
    step: str = ""


# Innermost first: a worker of HyperQueue usually is a job of one of the others.
ARRAYS = (
    JobArray("HyperQueue", "HQ_TASK_ID"),
    JobArray("SLURM", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"),
    JobArray("SGE", "SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE"),
    JobArray("PBS", "PBS_ARRAY_INDEX"),
    JobArray("Torque", "PBS_ARRAYID"),
    JobArray("LSF", "LSB_JOBINDEX", last="LSB_JOBINDEX_END", step="LSB_JOBINDEX_STEP"),
)


def parse_shard(text: str, environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """Return (3, 16) for ``3/16``; ``auto`` and ``auto/16`` take the part from the job array.

    Raises ConfmlError for anything else. ``auto`` needs an array of consecutive numbers whose ends the
    scheduler gives; ``auto/16`` needs numbers from 1 to 16.
    """
    index, slash, count = text.partition("/")
    if index == "auto" and (not slash or count.isdecimal()):
        return _part_of_array(text, int(count) if slash else None, environment)
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ConfmlError(f"--shard must be like 3/16, from 1/16 to 16/16, auto or auto/16, got {text!r}")
    return int(index), int(count)


def _part_of_array(text: str, count: int | None, environment: Mapping[str, str]) -> tuple[int, int]:
    for array in ARRAYS:
        number = environment.get(array.task, "")
        if not number.isdecimal() or (array.scheduler == "LSF" and number == "0"):
            continue  # SGE writes "undefined", and LSF 0, in jobs that are no arrays
        if count is not None:
            return _checked(int(number), count, f"{array.task}={number}", text)
        first, last, step = (_number(environment, name) for name in (array.first, array.last, array.step))
        if last is None:
            raise ConfmlError(
                f"--shard auto: {array.scheduler} does not give the size of its array "
                f"({array.task}={number})",
                hint="write --shard auto/16 for an array from 1 to 16",
            )
        first, step = 1 if first is None else first, step or 1
        parts = (last - first) // step + 1
        listed = environment.get("SLURM_ARRAY_TASK_COUNT", "") if array.scheduler == "SLURM" else ""
        if (int(number) - first) % step or (listed.isdecimal() and int(listed) != parts):
            raise ConfmlError(
                f"--shard auto needs an array of consecutive numbers; {array.scheduler} has {listed} tasks "
                f"from {first} to {last}",
                hint="write --shard auto/16 for tasks of an array from 1 to 16",
            )
        return _checked((int(number) - first) // step + 1, parts, f"{array.task}={number}", text)
    names = ", ".join(array.task for array in ARRAYS)
    raise ConfmlError(
        f"--shard {text}: this process is not in a job array; none of {names} is set",
        hint="write the part, such as --shard 3/16",
    )


def _checked(index: int, count: int, found: str, text: str) -> tuple[int, int]:
    if not 1 <= index <= count:
        raise ConfmlError(
            f"--shard {text}: {found} is not between 1 and {count}", hint=f"use an array from 1 to {count}"
        )
    return index, count


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "") if name else ""
    return int(text) if text.isdecimal() else None
