"""``confml status``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from confml.commands.common import echo_json, json_option
from confml.errors import printable
from confml.terminal import echo

if TYPE_CHECKING:
    from confml.runner.status import RunStatus, State
    from confml.runner.store import Store


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@json_option
def status(run: Path, as_json: bool) -> None:
    """Show the fits of RUN that are done, failed and left.

    The data are not needed. All parts of a run (--shard) share one folder and are counted together.

    \b
    confml status results/usps
    watch confml status results/usps      again every two seconds (a program of Linux)
    """
    from confml.runner.status import RunStatus
    from confml.runner.store import Store

    store = Store(run)
    status_now = RunStatus.of(store)
    if as_json:
        echo_json(_document(status_now, store))
    else:
        echo("\n".join(_lines(status_now, store)))


def _document(status: RunStatus, store: Store) -> dict:
    return {
        "name": status.manifest["name"],
        "started": status.manifest["started"],
        "finished": status.manifest["finished"],
        "cells": len(status.cells),
        **_counts(status.state),
        "batches": status.batches,
        "shards": [{"shard": name, **_counts(state)} for name, state in status.shards.items()],
        "failures": status.failures(store),
    }


def _counts(state: State) -> dict[str, int]:
    return {"done": len(state.done), "failed": len(state.failed), "left": len(state.left)}


def _text_of(state: State) -> str:
    return ", ".join(f"{number} {name}" for name, number in _counts(state).items())


def _lines(status: RunStatus, store: Store) -> list[str]:
    """Return the text of a state."""
    from confml.plugins.parameters import parameters_text

    manifest = status.manifest
    finished = f", finished {manifest['finished']}" if manifest["finished"] else ", not finished"
    lines = [
        f"{manifest['name']}: {len(status.cells)} fits, {_text_of(status.state)}",
        f"started {manifest['started']}{finished}, {manifest['jobs']} jobs, engine {manifest['engine']}",
        f"batches in the store: {status.batches}",
    ]
    lines += [f"shard {shard}: {_text_of(part)}" for shard, part in status.shards.items()]
    for failure in status.failures(store):
        params = parameters_text(failure["params"])
        title = " ".join(filter(None, [failure["dataset"], failure["method"], params, failure["split"]]))
        lines.append(f"failed: {title}: {failure['error']}")
    return [printable(line) for line in lines]
