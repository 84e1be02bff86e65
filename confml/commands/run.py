"""``confml run``."""

from __future__ import annotations

import click

from confml.commands.options import (
    config_argument,
    folder_of,
    json_option,
    load,
    out_option,
    quiet_option,
    say,
    set_option,
)


@click.command()
@config_argument
@out_option
@set_option
@click.option("--jobs", "-j", type=int, default=None, help="Tasks at the same time.  [default: all cores]")
@click.option(
    "--engine", type=click.Choice(["serial", "loky", "dask"]), help="Where tasks run.  [default: loky]"
)
@click.option("--scheduler", metavar="ADDRESS|FILE", help="A dask cluster to run on (needs confml[dask]).")
@click.option("--retry-failed", is_flag=True, help="Compute cells again that failed before.")
@click.option(
    "--shard", metavar="I/N", help="Only part I of N, as in a job array; all parts share one folder."
)
@json_option
@quiet_option
def run(config, out, overrides, jobs, engine, scheduler, retry_failed, shard, as_json, quiet) -> int:
    """Run a config and write its reports.

    CONFIG is a YAML file, or the name of a bundled config (quickstart). Results that the folder holds
    already are not computed again: run the same command again to go on after an interruption, or after
    adding methods, data sets or repeats. Every cell is kept the moment it is done.

    \b
    confml run configs/usps.yaml
    confml run quickstart --out /tmp/try --jobs 1
    confml run configs/segment.yaml --set protocol.repeats=2 --set 'levels=[0.01, 0.05, 0.1]'

    Exit code 1 if some cells failed: the others are reported, and failures.csv says why.
    """
    settings = load(config, overrides)
    folder = folder_of(settings, out)

    import joblib

    from confml.errors import ConfmlError
    from confml.report import open_run, print_json, print_run, write_report
    from confml.runner.progress import progress_for
    from confml.runner.run import parse_shard
    from confml.runner.run import run as compute

    if jobs is not None and jobs < 1:
        raise ConfmlError(f"--jobs must be at least 1, got {jobs}")
    part = parse_shard(shard) if shard else None
    try:
        state = compute(
            settings,
            folder,
            jobs=jobs or joblib.cpu_count(),
            engine=engine,
            scheduler=scheduler,
            retry_failed=retry_failed,
            shard=part,
            progress=progress_for(quiet),
            say=(lambda text: None) if quiet else say,
        )
    except KeyboardInterrupt:
        say(f"confml: interrupted; what is done is kept in {folder}: run the same command again to go on")
        return 130
    results = open_run(folder)
    write_report(results, folder)
    if as_json:
        print_json(results)
    elif not quiet:
        print_run(results, folder)
    if state.failed:
        noun = "cell" if len(state.failed) == 1 else "cells"
        say(f"confml: {len(state.failed)} {noun} failed; see {folder / 'failures.csv'}")
    return 1 if state.failed or state.left else 0
