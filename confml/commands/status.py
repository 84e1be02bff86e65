"""``confml status``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from confml.commands.options import json_option
from confml.errors import printable


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@json_option
def status(run: Path, as_json: bool) -> None:
    """Show the numbers of cells done, failed and left in the folder RUN. The data are not needed.

    \b
    confml status results/usps
    """
    from confml.plugins.parameters import parameters_text
    from confml.runner.manifest import manifest_cells, read_manifest
    from confml.runner.run import run_state
    from confml.runner.store import Store

    manifest = read_manifest(run)
    cells = manifest_cells(manifest)
    store = Store(run)
    state = run_state(store, cells)
    failures = []
    for cell in cells:
        if cell.key in state.failed:
            record = store.read("failures", cell.key)
            failures.append({**cell.as_dict(), "error": _error_of(record)})
    if as_json:
        document = {
            "name": manifest["name"],
            "started": manifest["started"],
            "finished": manifest["finished"],
            "cells": len(cells),
            "done": len(state.done),
            "failed": len(state.failed),
            "left": len(state.left),
            "failures": failures,
        }
        click.echo(json.dumps(document, indent=1))
        return
    click.echo(
        f"{manifest['name']}: {len(cells)} cells, {len(state.done)} done, {len(state.failed)} failed, "
        f"{len(state.left)} left"
    )
    finished = f", finished {manifest['finished']}" if manifest["finished"] else ", not finished"
    click.echo(
        f"started {manifest['started']}{finished}, {manifest['jobs']} jobs, engine {manifest['engine']}"
    )
    for failure in failures:
        params = parameters_text(failure["params"])
        place = " ".join(filter(None, [failure["dataset"], failure["method"], params, failure["split"]]))
        click.echo(printable(f"failed: {place}: {failure['error']}"))


def _error_of(record) -> str:
    error = record[0].get("error") if record else None
    return error if isinstance(error, str) else "its record is damaged"
