"""``manifest.json``: what a run's folder holds and where it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from confml.errors import ConfmlError
from confml.runner.plan import Cell, Plan, cells_from
from confml.runner.provenance import now, provenance
from confml.runner.store import write_atomically

FORMAT = 1


def notes_on(data) -> list[str]:
    """What a reader should know of a data set: what its loading found, and values too large to square."""
    notes = list(data.notes)
    if np.nanmax(np.abs(data.X), initial=0.0) > 1e150:
        notes.append("values beyond 1e150: squared distances overflow; scale them (steps: [min-max])")
    return notes


def dataset_info(data) -> dict:
    """What the reports need to know of a data set, as plain values."""
    rows_of_classes = np.unique(data.y, return_counts=True)[1]
    return {
        "name": data.name,
        "rows": int(data.X.shape[0]),
        "attributes": int(data.X.shape[1]),
        "classes": len(data.classes),
        "smallest_class": int(rows_of_classes.min()),
        "largest_class": int(rows_of_classes.max()),
        "train_rows": None if data.train_rows is None else len(data.train_rows),
        "test_rows": None if data.test_rows is None else len(data.test_rows),
        "notes": notes_on(data),
        "checksum": data.checksum,
    }


def new_manifest(plan: Plan, *, jobs: int, engine: str, shard: str | None) -> dict:
    return {
        "format": FORMAT,
        "name": plan.config.name,
        "started": now(),
        "finished": None,
        "seconds": None,
        "jobs": jobs,
        "engine": engine,
        "shard": shard,
        "seed": plan.config.seed,
        "config": plan.config.as_dict(),
        "datasets": [dataset_info(data) for data in plan.datasets.values()],
        "provenance": provenance(),
        "cells": [cell.as_dict() for cell in plan.cells],
    }


def write_manifest(folder: Path, manifest: Mapping) -> None:
    write_atomically(Path(folder) / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())


def read_manifest(folder: Path | str) -> dict:
    """The manifest of a run's folder; raises ConfmlError where the folder holds no run."""
    path = Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
        if manifest["format"] != FORMAT:
            raise ConfmlError(
                f"format {manifest['format']} is not known to this version of confml (it knows {FORMAT})",
                where=str(path),
            )
        return manifest
    except FileNotFoundError:
        raise ConfmlError(
            "no manifest.json: this is not the folder of a run",
            where=str(folder),
            hint="name a folder that confml run has written, as results/usps",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, ConfmlError):
            raise
        raise ConfmlError(f"cannot be read: {error}", where=str(path), hint="run the config again") from None


def manifest_cells(manifest: Mapping) -> list[Cell]:
    return cells_from(manifest["cells"])
