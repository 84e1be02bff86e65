"""Records in the batches of a run's folder, read without `Store`."""

import json
from pathlib import Path


def stored_keys(out: Path, kind: str = "cells") -> list[str]:
    """Return the key of each stored record of a kind, sorted; one that was stored twice is there twice."""
    records = []
    for path in out.glob(".run/batches/*.jsonl"):
        _, *lines = path.read_text().splitlines()
        records += [json.loads(line.partition(" ")[2]) for line in lines]
    return sorted(record["key"] for record in records if record["kind"] == kind)
