"""Parts of a run: ``--shard 3/16``, or the part that a SLURM job array gives."""

import os
from collections.abc import Mapping

from confml.errors import ConfmlError

TASK = "SLURM_ARRAY_TASK_ID"


def parse_shard(text: str, environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """Return (3, 16) for ``3/16``; ``auto`` and ``auto/16`` take the part from the job array of SLURM.

    Raises ConfmlError for anything else. ``auto`` needs an array of consecutive numbers, ``auto/16`` numbers
    from 1 to 16.
    """
    index, slash, count = text.partition("/")
    if index == "auto" and (not slash or count.isdecimal()):
        return _part_of_array(text, int(count) if slash else None, environment)
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ConfmlError(f"--shard must be like 3/16, from 1/16 to 16/16, auto or auto/16, got {text!r}")
    return int(index), int(count)


def _part_of_array(text: str, count: int | None, environment: Mapping[str, str]) -> tuple[int, int]:
    task, first, last, tasks = (
        int(value) if value.isdecimal() else None
        for value in (
            environment.get(f"SLURM_ARRAY_TASK_{name}", "") for name in ("ID", "MIN", "MAX", "COUNT")
        )
    )
    if task is None:
        message = f"--shard {text}: this process is not in a job array of SLURM; {TASK} is not set"
        raise ConfmlError(message, hint="write the part, such as --shard 3/16")
    if count is None:
        if first is None or last is None or tasks != last - first + 1:
            array = f"SLURM has {tasks} tasks from {first} to {last}"
            message = f"--shard auto needs an array of consecutive numbers; {array}"
            raise ConfmlError(message, hint="write --shard auto/16 for tasks of an array from 1 to 16")
        task, count = task - first + 1, tasks
    if not 1 <= task <= count:
        message = f"--shard {text}: {TASK}={environment[TASK]} is not between 1 and {count}"
        raise ConfmlError(message, hint=f"use an array from 1 to {count}")
    return task, count
