"""``confml run``."""

from __future__ import annotations

import contextlib
import functools
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from confml.commands import common
from confml.commands.common import say, say_unless
from confml.commands.dry_run import show_cells

if TYPE_CHECKING:
    from confml.runner.run import Execution

LARGE = 10_000  # cells of a run whose report only the last shard writes: a report takes 1 ms per cell


@click.command()
@common.config_argument
@common.out_option
@common.set_option
@common.allow_import_option
@click.option(
    "--jobs", "-j", type=int, default=None, help="Number of parallel tasks.  [default: number of cores]"
)
@click.option(
    "--engine", metavar="NAME|ADDRESS|FILE",
    help="Where tasks run: joblib (worker processes), serial (this process; a crash of a method ends the "
    "run), or the address or scheduler file of a dask cluster (needs confml[dask]).  [default: joblib]",
)  # fmt: skip
@click.option("--retry-failed", is_flag=True, help="Compute failed fits again.")
@click.option(
    "--shard", metavar="I/N|auto",
    help="Compute part I of N; all parts share one folder. auto takes I and N from the job array of SLURM; "
    "auto/N takes I.",
)  # fmt: skip
@click.option(
    "--timeout", metavar="TIME", help="Time limit of a task, such as 90s, 10min or 2h; its fits fail."
)
@click.option("--memory", metavar="SIZE", help="Memory limit of a task, such as 500MB or 4GB; its fits fail.")
@click.option("--force", is_flag=True, help="Write into a folder that holds another run or other files.")
@click.option(
    "--dry-run", is_flag=True, help="Show the number of fits done, failed and left, without computing."
)
@click.option("--verbose", "-v", is_flag=True, help="Print a line per finished task, and all tables.")
@common.json_option
@common.all_option
@common.quiet_option
def run(config, out, overrides, dry_run, verbose, as_json, everything, quiet, **options: Any) -> int:
    """Run a config and write its reports.

    CONFIG is a YAML file, or the name of a bundled config (quickstart). Results that are already in
    the folder are not computed again. Run the same command to continue after an interruption, or after adding
    methods, data sets or repeats. Finished fits are stored within about a second.

    \b
    confml run configs/usps.yaml
    confml run quickstart --out /tmp/try --jobs 1
    confml run configs/papers/tcm-nn/segment.yaml --set protocol.repeats=2 --set 'levels=[0.01, 0.05, 0.1]'

    A task is one fit with its predictions. A method that computes a sweep in one pass has one task for all
    values.

    limits: {timeout: 10min, memory: 4GB} of a method in the config has priority over --timeout and --memory.

    Exit code 1 if some fits failed: the others are reported, and tables/failures.csv has the errors. Ctrl-C,
    SIGTERM and SIGHUP stop the run with exit code 130; finished fits are kept.
    """
    from confml.runs import load_settings

    settings = load_settings(config, overrides).with_baseline()
    folder = common.folder_of(settings, out)
    if dry_run:
        show_cells(settings, folder, as_json)
        return 0

    from confml._outputs import protected
    from confml.config.warnings import unsilenced, warning_texts
    from confml.report.imports import import_report
    from confml.runner.environment import guarded
    from confml.runner.progress import progress_for
    from confml.runner.run import run as compute

    execution, note = _execution(**options), say_unless(quiet)
    debug = click.get_current_context().find_root().params.get("debug", False)
    try:
        with stopped_by_signals(), protected(common.inputs_of(settings)):
            progress = progress_for(quiet, verbose, debug)
            meanwhile = functools.partial(import_report, settings)
            state = compute(
                settings, folder, execution, progress=progress, say=note, warn=say, meanwhile=meanwhile
            )
            from confml.report.console import print_json, print_run
            from confml.report.run.stored import open_run
            from confml.report.tables.notes import result_warnings
            from confml.report.write import write_report

            with guarded(folder):
                results = open_run(folder, done_keys=state.done)
                left = len(results.cells) - len(results.results) - len(results.failures)
                if execution.shard and left and len(results.cells) > LARGE:
                    later = f"the shard that finishes last, or 'confml report {folder}', writes the report"
                    note(f"{left} fits of other shards are not finished; {later}")
                    if as_json:
                        print_json(results, counts=True)
                    return 1 if state.failed or state.left else 0
                with common.status_of(results, quiet):
                    write_report(results, folder)
        if quiet or as_json:  # print_run prints them too
            for text in warning_texts(unsilenced(result_warnings(results), settings.silence)):
                say(f"warning: {text}")
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # after SIGHUP there may be no terminal
            say(f"confml: interrupted; finished fits are in {folder}: run the same command again to continue")
        return 130
    if as_json:
        print_json(results)
    elif not quiet:
        print_run(results, folder, everything=everything or verbose)
    if state.failed:
        noun = "fit" if len(state.failed) == 1 else "fits"
        say(f"confml: {len(state.failed)} {noun} failed; see {folder / 'tables' / 'failures.csv'}")
    if state.left:
        noun = "fit was" if len(state.left) == 1 else "fits were"
        say(f"confml: {len(state.left)} {noun} not computed; run the same command again to continue")
    return 1 if state.failed or state.left else 0


def _execution(jobs, engine, shard, timeout, memory, **options: Any) -> Execution:
    """Return the execution that the options ask for."""
    import joblib

    from confml.runner.limits import parse_limits
    from confml.runner.run import Execution
    from confml.runner.shards import parse_shard

    return Execution(
        jobs=(1 if engine == "serial" else joblib.cpu_count()) if jobs is None else jobs,
        engine=engine,
        shard=parse_shard(shard) if shard else None,
        limits=parse_limits(timeout, memory),
        forkserver=True,
        **options,
    )


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Handle SIGTERM (kill, time limit of a cluster) and SIGHUP (closed terminal) like a first Ctrl-C.

    Later signals interrupt neither the clean-up nor the end of the process.
    """

    def interrupt(number, frame):
        for name in before:
            signal.signal(name, signal.SIG_IGN)
        raise KeyboardInterrupt

    names = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    try:
        for name in names:
            if signal.getsignal(name) is not signal.SIG_IGN:  # nohup
                before[name] = signal.signal(name, interrupt)
    except ValueError:  # not the main thread, as in some tests
        pass
    try:
        yield
    finally:
        for name, handler in before.items():
            if signal.getsignal(name) is not signal.SIG_IGN:
                signal.signal(name, handler)
