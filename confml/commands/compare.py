"""``confml compare``."""

from __future__ import annotations

from pathlib import Path

import click

from confml.commands.options import json_option, quiet_option, say


@click.command()
@click.argument("runs", metavar="RUN [RUN]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--against", metavar="LABEL", help="The method to compare with.  [default: the first]")
@click.option("--view", metavar="VIEW", help="Only comparisons with this view of confidence.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write tables and figures there.",
)
@json_option
@quiet_option
def compare(
    runs: tuple[Path, ...],
    against: str | None,
    view: str | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare methods on the same splits.

    With one run, its methods are compared with one of them; with two runs, equal methods are compared.
    Print differences of error, of areas under accuracy-rejection curves, and of sure and unsure rates at the
    run's thresholds, with the corrected resampled t test (Nadeau and Bengio). Each common view is compared;
    if two methods have no common view (reject and p-value, for example), each view of one is compared with
    each view of the other. --out writes CSV files and a figure of the difference at each rejection rate.

    \b
    confml compare results/pima --against standard
    confml compare results/pima results/pima-noisy --view reject --out results/compared
    """
    import json

    from confml.errors import ConfmlError
    from confml.report.compare import compare as compare_runs
    from confml.report.compare import comparison_table, write_comparison
    from confml.report.console import print_table

    if len(runs) > 2:
        raise ConfmlError(f"expected one or two runs, got {len(runs)}")
    rows, curves = compare_runs(runs, against, view)
    if as_json:
        document = [
            {key: None if value != value else value for key, value in row._asdict().items()} for row in rows
        ]
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    elif not quiet:
        headings, table = comparison_table(rows)
        print_table(headings, table, title="First minus second, means over splits", right=5)
    if out is not None:
        for path in write_comparison(rows, curves, out):
            if not quiet:
                say(f"wrote {path}")
