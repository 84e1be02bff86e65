"""``confml compare``."""

import sys
from pathlib import Path
from typing import Any

import click

from confml.commands.common import Folder, echo_json, json_option, keeps_files, quiet_option, say
from confml.terminal import echo, width_of


@click.command()
@click.argument("runs", metavar="RUN [RUN]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--against", metavar="NAME", help="The method, or a unique beginning.  [default: the first]")
@click.option("--view", metavar="VIEW", help="Only comparisons with this view of confidence.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@click.option("--out", type=Folder(), metavar="DIR", help="Write tables there.")
@click.option(
    "--rope", type=click.FloatRange(0), default=0.01, show_default=True, metavar="WIDTH",
    help="Differences within +-WIDTH of 0 are practically equivalent, for tests over data sets.",
)  # fmt: skip
@click.option("--latex", "as_latex", is_flag=True, help="Print the tables for LaTeX (booktabs).")
@json_option
@quiet_option
@keeps_files
def compare(runs, against, view, metrics, out, rope, as_latex, as_json, quiet) -> None:
    """Compare methods on the same splits.

    With one run, compare each method with --against. With two runs, compare methods of the same name. Print
    differences of error, and of sure and unsure rates at the run's thresholds. They have the t test of the
    test rows, whose variance is at least the variance of Nadeau and Bengio. Intervals are simultaneous over
    all pairs of methods and views of the data set, and p-values are corrected by Holm's method over the same
    pairs. A star marks a method that is shown to be worse than the best one. --json and --out also give the
    intervals and p-values of single differences. Each common view is compared. If two methods have no common
    view (reject and p-value, for example), each view of one is compared with each view of the other. --out
    writes CSV files.

    With two data sets or more, also print the Bayesian signed-rank test of the mean differences (Benavoli et
    al. 2017). It has three probabilities: the first is better, both are practically equivalent (differences
    within --rope), the second is better. With --json it is the list signed_rank.

    \b
    confml compare results/pima --against standard
    confml compare results/pima results/pima-noisy --view reject --out results/compared
    """

    from confml.errors import ConfmlError
    from confml.report.compare import compare as compare_runs
    from confml.report.compare import (
        comparison_table,
        signed_rank_rows,
        signed_rank_table,
        tables_of_pairs,
        write_comparison,
    )
    from confml.report.console import print_shown
    from confml.report.shown_table import to_latex

    if len(runs) > 2:
        raise ConfmlError(f"expected one or two runs, got {len(runs)}")
    rows = compare_runs(runs, against, view)
    compared = list(dict.fromkeys(row.metric for row in rows))
    for name in metrics:
        if name not in compared:
            raise ConfmlError(f"no comparison of the metric '{name}'", near=(name, compared))
    rows = [row for row in rows if not metrics or row.metric in metrics]
    tests = signed_rank_rows(rows, rope)
    if as_json:
        echo_json({"comparisons": [*map(_plain, rows)], "signed_rank": [*map(_plain, tests)]})
    elif as_latex or not quiet:
        shown = {"comparison": comparison_table(rows)}
        if tests:
            shown["signed-rank"] = signed_rank_table(tests)
        for label, table in shown.items():
            if as_latex:
                click.echo(to_latex(table, label), nl=False)
            elif width_of(sys.stdout):
                echo(f"{table.title}\n")
                for of_pair in tables_of_pairs(table):
                    print_shown(of_pair)
                for note in table.notes:
                    echo(note)
            else:
                print_shown(table)
    if out is not None:
        for path in write_comparison(rows, out, tests):
            if not quiet:
                say(f"wrote {path}")


def _plain(row: Any) -> dict[str, Any]:
    """Return the values of a row; those that are not numbers are None."""
    return {key: None if value != value else value for key, value in row._asdict().items()}
