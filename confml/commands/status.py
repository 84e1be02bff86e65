"""``confml status``."""

from __future__ import annotations

import sys
from pathlib import Path
from time import sleep
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
@click.option("--watch", "-w", is_flag=True, help="Show the state again until no fit is left.")
@click.option(
    "--every", metavar="SECONDS", type=click.FloatRange(min=0.1), default=5.0, show_default=True,
    help="Time between two states of --watch.",
)  # fmt: skip
@json_option
def status(run: Path, watch: bool, every: float, as_json: bool) -> None:
    """Show the fits of RUN that are done, failed and left.

    The data are not needed. All parts of a run (--shard) share one folder and are counted together. With
    --watch and --json, each state is one line.

    \b
    confml status results/usps
    confml status results/usps --watch
    """
    from confml.runner.status import RunStatus
    from confml.runner.store import Store

    store = Store(run)
    status_now = RunStatus.of(store)
    while True:
        if as_json:
            echo_json(_document(status_now, store), indent=None if watch else 1)
        else:
            if watch and sys.stdout.isatty():
                sys.stdout.flush()
                sys.stdout.buffer.write(b"\x1b[2J\x1b[1;1H")  # clear the terminal
            echo("\n".join(_lines(status_now, store, short=watch)))
        sys.stdout.flush()
        if not watch or not status_now.state.left:
            return
        sleep(every)
        status_now = RunStatus.of(store, done_keys=status_now.state.done)


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


def _lines(status: RunStatus, store: Store, short: bool) -> list[str]:
    """Return the text of a state; short: without the first line of the run, and three failures at most."""
    manifest, state = status.manifest, status.state
    lines = [
        f"{manifest['name']}: {len(status.cells)} fits, {len(state.done)} done, {len(state.failed)} failed, "
        f"{len(state.left)} left"
    ]
    if not short:
        finished = f", finished {manifest['finished']}" if manifest["finished"] else ", not finished"
        lines.append(
            f"started {manifest['started']}{finished}, {manifest['jobs']} jobs, engine {manifest['engine']}"
        )
        lines.append(f"{status.batches} batches in the store")
        for shard, part in status.shards.items():
            counts = ", ".join(f"{number} {name}" for name, number in _counts(part).items())
            lines.append(f"shard {shard}: {counts}")
    failures = status.failures(store)
    for failure in failures[: 3 if short else None]:
        from confml.plugins.parameters import parameters_text

        params = parameters_text(failure["params"])
        title = " ".join(filter(None, [failure["dataset"], failure["method"], params, failure["split"]]))
        lines.append(f"failed: {title}: {failure['error']}")
    if short and len(failures) > 3:
        lines.append(f"and {len(failures) - 3} more failures")
    return [printable(line) for line in lines]
