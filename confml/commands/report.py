"""``confml report``."""

from __future__ import annotations

from pathlib import Path

import click

from confml.commands._options import json_option, quiet_option


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@json_option
@quiet_option
def report(run: Path, as_json: bool, quiet: bool) -> None:
    """Rebuild the tables and figures of the run in folder RUN from its stored cells. Computes no cell.

    \b
    confml report results/usps
    """
    from confml.report import open_run, print_json, print_run, write_report

    results = open_run(run)
    write_report(results, run)
    if as_json:
        print_json(results)
    elif not quiet:
        print_run(results, run)
