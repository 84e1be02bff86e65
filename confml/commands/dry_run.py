"""``confml run --dry-run``: the cells of a run, without computing."""

from pathlib import Path

from confml.commands import common
from confml.terminal import echo


def show_cells(settings, folder: Path, as_json: bool) -> None:
    """Print the cells of a config and the state of its folder."""
    import pandas as pd

    from confml.report.console import print_shown
    from confml.report.shown_table import ShownTable
    from confml.report.tables.notes import step_notes
    from confml.runner.plan import load_datasets, make_plan
    from confml.runner.status import run_state
    from confml.runner.store import Store

    whole = make_plan(settings, load_datasets(settings))
    state = run_state(Store(folder), whole.cells)
    rows: dict[tuple, list[int]] = {}
    for job in whole.jobs:
        for cell in job.cells:
            inner_fits = len(job.entry.tune_grid()) * settings.protocol.inner_folds if job.entry.tune else 0
            key = cell.dataset, cell.method, cell.variant, inner_fits
            counts = rows.setdefault(key, [0] * 4)
            column = 1 if cell.key in state.done else 2 if cell.key in state.failed else 3
            counts[0] += 1
            counts[column] += 1
    if as_json:
        names = ("dataset", "method", "params", "inner_fits", "cells", "done", "failed", "left")
        cells = [dict(zip(names, (*row, *counts), strict=True)) for row, counts in rows.items()]
        common.echo_json({"folder": str(folder), "cells": cells})
        return
    headings = ["data set", "method", "params", "inner fits", "splits", "done", "failed", "left"]
    frame = pd.DataFrame([map(str, (*row, *counts)) for row, counts in rows.items()], columns=headings)
    print_shown(ShownTable("", frame, keys=3))
    for note in step_notes(settings):
        echo(f"note: {note}", err=True)
    echo(
        f"{len(whole.cells)} fits in {folder}: {len(state.done)} done, {len(state.failed)} failed, "
        f"{len(state.left)} left"
    )
