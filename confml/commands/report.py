"""``confml report``."""

from collections.abc import Sequence
from pathlib import Path

import click

from confml.commands import common
from confml.commands.common import say
from confml.errors import ConfmlError


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--table", "tables", multiple=True, metavar="NAME", help="Published table to fill; may be repeated."
)
@click.option("--out", type=common.Folder(), metavar="DIR", help="Output folder of --table.")
@click.option(
    "--aim", type=click.Choice(["error", "cost", "regions", "certified"]),
    help="Aim of the advice; by default that of the config.",
)  # fmt: skip
@common.allow_import_option
@common.json_option
@common.all_option
@common.quiet_option
@common.keeps_files
def report(runs, tables, out, aim, as_json, everything, quiet) -> None:
    """Rebuild tables, figures and the page of a run.

    They are computed from the stored fits of the run in folder RUN. With --table and --out, fill
    published tables with the numbers of several runs, for tables whose data sets need different protocols.

    \b
    confml report results/usps
    confml report results/usps --aim regions
    confml report results/satellite results/segment --table tcm-nn-table1 --out results/tcm-nn
    """
    if bool(tables) != (out is not None):
        raise ConfmlError("--table and --out need each other")
    if tables:
        _fill_tables(runs, tables, out, quiet)
    elif len(runs) > 1:
        raise ConfmlError(f"expected one run, got {len(runs)}", hint="confml compare RUN RUN compares them")
    else:
        _rebuild(runs[0], aim, as_json, everything, quiet)


def _rebuild(run: Path, aim: str | None, as_json: bool, everything: bool, quiet: bool) -> None:
    """Write and print the report of one run; it is also printed if its files cannot be written."""
    from confml.report.console import print_json, print_run
    from confml.report.run.stored import open_run
    from confml.report.write import write_report
    from confml.runner.environment import EnvironmentFault, guarded

    results, fault = open_run(run), None
    if aim is not None:
        results.config = results.config.model_copy(update={"aim": aim})
    try:
        with common.status_of(results, quiet), guarded(run):
            write_report(results, run)
    except EnvironmentFault as error:
        fault = error
    if as_json:
        print_json(results)
    elif not quiet:
        print_run(results, run, everything=everything)
    if fault is not None:
        hint = "the printed results come from the stored fits; correct this, then run the command again"
        message = f"not all files of the report are written ({fault.message})"
        raise ConfmlError(message, where=fault.where, hint=hint)


def _fill_tables(runs: Sequence[Path], tables: Sequence[str], out: Path, quiet: bool) -> None:
    """Fill published tables with the numbers of several runs."""
    from confml.published import known_tables
    from confml.report.report import Report
    from confml.report.run.results import RunResults
    from confml.report.tables.published_tables import write_combined_tables

    for name in tables:
        if name not in known_tables():
            raise ConfmlError(f"unknown table '{name}'", near=(name, known_tables()))
    report = Report(RunResults(None, (), {}), out)  # type: ignore[arg-type]
    write_combined_tables(report, tables, runs)
    if not report.paths:
        raise ConfmlError("; ".join(report.notes), hint="confml describe NAME shows what a table needs")
    for note in report.notes:
        say(f"note: {note}")
    if not quiet:
        for path in report.paths:
            if path.suffix == ".md":
                print(path.read_text(encoding="utf-8"))
        print(f"in {out / 'tables'}")
