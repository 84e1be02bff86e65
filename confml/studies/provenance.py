"""`write_study_provenance`: software, machine and time of a study, as the manifest of a run states them."""

import json
from pathlib import Path

from confml.report.files import write_file
from confml.runner.provenance import STUDY_FILE, provenance


def write_study_provenance(folder: Path, seed: int, seconds: float, jobs: int | None = None) -> Path:
    """Write ``study.json`` into the folder of a study, whose name is that of the folder.

    seconds: run time. jobs: number of processes, None for a study in one process.
    """
    content = {
        **{"name": folder.name, "seed": seed, "seconds": round(seconds, 3), "jobs": jobs or 1},
        "provenance": provenance(),
    }
    return write_file(folder / STUDY_FILE, json.dumps(content, indent=1) + "\n")
