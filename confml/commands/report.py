"""``confml report``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from confml.commands import common
from confml.commands.common import say
from confml.errors import ConfmlError


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--table", "tables", multiple=True, metavar="NAME", help="Published table to fill; may be repeated."
)
@click.option("--out", type=common.Folder(), metavar="DIR", help="Output folder of several runs.")
@click.option(
    "--figures", is_flag=True, help="Draw the figures of the first run's config with the cells of all runs."
)
@click.option("--against", metavar="KEY", help="Draw a metric against a key of the runs' configs.")
@click.option("--metric", default="error", show_default=True, help="Metric to draw against KEY.")
@click.option(
    "--line", "methods", multiple=True, metavar="LABEL", help="Method variant to draw; may be repeated."
)
@click.option("--log", is_flag=True, help="Use a logarithmic axis for KEY.")
@click.option("--log-metric", "log_y", is_flag=True, help="Use a logarithmic axis for the metric.")
@click.option(
    "--aim", type=click.Choice(["error", "cost", "regions", "certified"]),
    help="Aim of the advice; by default that of the config.",
)  # fmt: skip
@click.option(
    "--columns", metavar="NAMES", help="Print the tables of a run with these metrics, separated by commas."
)
@click.option(
    "--levels", metavar="LEVELS", help="Print the tables at these significance levels, separated by commas."
)
@click.option("--latex", "as_latex", is_flag=True, help="Print the tables for LaTeX (booktabs).")
@common.allow_import_option
@common.json_option
@common.all_option
@common.quiet_option
@common.keeps_files
def report(runs, tables, out, figures, against, aim, as_json, everything, quiet, **views: Any) -> None:
    """Rebuild tables, figures and the page of a run, or compare several runs on one page.

    They are computed from the stored cells of the run in folder RUN. With several runs, write one page,
    report.html, that compares them: ranks, paired differences, and the results that cannot be compared. The
    page goes to --out, by default the folder "comparison" next to the first run. With --table and --out, fill
    published tables with the numbers of several runs, for tables whose data sets need different protocols.
    With --against and --out, draw a metric of several runs. The horizontal axis is a dotted key of their
    configs, a parameter of their methods, train-rows (number of training examples), or bayes-error (known
    Bayes error of generated data). With --figures and --out, draw the figures of the first run's config with
    the cells of all runs.

    With --columns, --levels or --latex, only print the tables of methods: --columns names metrics of the run
    (confml describe metrics lists them), and --levels any significance levels. The files of the run stay.

    \b
    confml report results/usps
    confml report results/usps --aim regions
    confml report results/usps results/satellite --out results/both
    confml report results/satellite results/segment --table tcm-nn-table1 --out results/tcm-nn
    confml report results/usps --columns error,coverage,mean_region_size --levels 0.05 --latex
    confml report results/noise-* --against noise.labels --metric error --out results/noise
    """
    columns, levels, as_latex = (views.pop(name) for name in ("columns", "levels", "as_latex"))
    chosen = columns or levels or as_latex
    asked = {"--against": against is not None, "--figures": figures, "--table": bool(tables)}
    several = next((option for option, given in asked.items() if given), "")
    if several and (out is None or (tables and several != "--table")):
        rest = " and cannot be combined with --table" if several != "--table" else ""
        raise ConfmlError(f"{several} needs --out{rest}")
    if not several and chosen and (len(runs) > 1 or out is not None):
        raise ConfmlError("--columns, --levels and --latex print the tables of one run")
    if against is not None and out is not None:
        _draw_against(runs, against, out, quiet, views)
    elif figures and out is not None:
        _draw_merged(runs, out, quiet)
    elif tables and out is not None:
        _fill_tables(runs, tables, out, quiet)
    elif len(runs) > 1:
        _write_comparison(runs, out, as_json, quiet)
    elif out is not None:
        raise ConfmlError("--out needs --table, --against, --figures or several runs")
    elif chosen:
        from confml.report.console import print_chosen
        from confml.report.run.stored import open_run

        print_chosen(open_run(runs[0]), list(common.names_of(columns)), _levels(levels), as_latex)
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
        hint = "the printed results come from the stored cells; correct this, then run the command again"
        message = f"not all files of the report are written ({fault.message})"
        raise ConfmlError(message, where=fault.where, hint=hint)


def _draw_against(runs: Sequence[Path], key: str, out: Path, quiet: bool, options: Mapping[str, Any]) -> None:
    """Draw a metric of several runs against a key of their configs."""
    from confml.report.across import plot_across_runs

    paths = plot_across_runs(runs, key, folder=out, **options)
    if not quiet:
        click.echo("".join(f"{path}\n" for path in paths), nl=False)


def _draw_merged(runs: Sequence[Path], out: Path, quiet: bool) -> None:
    """Draw the figures of the first run's config with the cells of all runs."""
    from confml.report.across import draw_merged

    paths, undrawn = draw_merged(runs, out)
    if not quiet:
        click.echo("".join(f"{path}\n" for path in paths), nl=False)
    for note in undrawn:
        say(f"note: {note}")


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
                click.echo(path.read_text(encoding="utf-8"))
        click.echo(f"in {out / 'tables'}")


def _write_comparison(runs: Sequence[Path], out: Path | None, as_json: bool, quiet: bool) -> None:
    """Write the page that compares several runs."""
    from confml._outputs import protected
    from confml.report.page.page import write_comparison_page

    folder = out or runs[0].parent / "comparison"
    with protected(folder=folder, force=click.get_current_context().params["force"]):
        page, sentences = write_comparison_page(runs, folder)
    if as_json:
        common.echo_json({"page": str(page), "answer": sentences})
    elif not quiet:
        click.echo("".join(f"{line}\n" for line in (*sentences, f"page: {page}")), nl=False)


def _levels(text: str | None) -> list[float]:
    """Return significance levels separated by commas."""
    levels = []
    for name in common.names_of(text):
        try:
            level = float(name)
        except ValueError:
            level = 0.0
        if not 0 < level < 1:
            raise click.BadParameter(f"expected numbers between 0 and 1, got '{name}'", param_hint="--levels")
        levels.append(level)
    return levels
