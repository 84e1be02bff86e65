"""``confml compare``."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from confml.commands.common import Folder, echo_json, json_option, keeps_files, quiet_option, say
from confml.terminal import echo, folded, width_of


@click.command()
@click.argument("inputs", metavar="TABLE|RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--item", metavar="COLUMN", help="Column of the item.  [default: item]")
@click.option("--model", metavar="COLUMN", help="Column of the model.  [default: model]")
@click.option("--outcome", metavar="COLUMN", help="Column of the outcome.  [default: outcome]")
@click.option("--wide", is_flag=True, help="The table has one row per item and one column per model.")
@click.option("--group", metavar="COLUMN", help="Column of the group (document, patient) of dependent items.")
@click.option("--task", metavar="COLUMN", help="Column of the task (benchmark, data set).")
@click.option("--split", metavar="COLUMN", help="Column of repeated runs, seeds or splits.")
@click.option("--lower-is-better", is_flag=True, help="Outcomes are losses or errors.")
@click.option("--against", metavar="NAME", help="The method, or a unique beginning.  [default: the first]")
@click.option("--view", metavar="VIEW", help="Only comparisons with this view of confidence.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@click.option("--out", type=Folder(), metavar="DIR", help="Write tables there.")
@click.option(
    "--rope", type=click.FloatRange(0), metavar="WIDTH",
    help="Differences within +-WIDTH of 0 are practically equivalent, for tests over data sets.  "
    "[default: 0.01]",
)  # fmt: skip
@click.option("--latex", "as_latex", is_flag=True, help="Print the tables for LaTeX (booktabs).")
@json_option
@quiet_option
@keeps_files
def compare(inputs, out, as_latex, as_json, quiet, against, view, metrics, rope, **columns: Any) -> None:
    """Compare models on outcomes, or methods of runs.

    TABLE is a table file with one row per item and model: was the answer right, or which score or loss has
    it? The answer says which models differ significantly, and which difference would probably have been
    detected. Pairs are tested on the items that all models have, with Holm's correction over all pairs.
    Items of one document, patient or template are not independent: name their column with --group. --out
    writes CSV, JSON, Markdown, LaTeX, a figure and a page.

    RUN is the folder of a run. With one run, compare each method with --against. With several runs, compare
    methods of the same name. Print differences of error, and of sure and unsure rates at the run's
    thresholds. They have the t test of the test rows, whose variance is at least that of Nadeau and Bengio.
    Intervals are simultaneous over all pairs of methods and views of the data set, and p-values are corrected
    by Holm's method over the same pairs. A star marks a method that is shown to be worse than the best one.
    --json and --out also give the intervals and p-values of single differences. Each common view is compared.
    If two methods have no common view (reject and p-value, for example), each view of one is compared with
    each view of the other.

    With two data sets or more, also print the Bayesian signed-rank test of the mean differences (Benavoli et
    al. 2017). It has three probabilities: the first is better, both are practically equivalent (differences
    within --rope), the second is better. With --json it is the list signed_rank.

    \b
    confml compare outcomes.csv --group document
    confml compare scores.csv --wide --lower-is-better --out results/models
    confml compare results/pima --against standard
    confml compare results/pima results/pima-noisy --view reject --out results/compared
    """
    from confml.data.table_files import is_table_name
    from confml.errors import ConfigError
    from confml.report import compare as comparison
    from confml.report.console import print_shown
    from confml.report.shown_table import to_latex

    tables = [path for path in inputs if not path.is_dir() and (path.is_file() or is_table_name(path.name))]
    if tables and len(inputs) > 1:
        raise ConfigError(f"expected one table of outcomes, or folders of runs, got {len(inputs)} paths")
    of_runs = {"against": against, "view": view, "metric": metrics, "rope": rope}
    for name, value in (of_runs if tables else columns).items():
        if value not in (None, False, ()):
            option = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{option} is for {'folders of runs' if tables else 'a table of outcomes'}")
    if tables:
        sentences, shown, document, write = _of_table(tables[0], columns)
    else:
        sentences, shown, document, write = _of_runs(inputs, **of_runs)
    width = width_of(sys.stdout)
    if as_json:
        echo_json(document)
    elif as_latex or not quiet:
        for sentence in () if as_latex else sentences:
            echo("\n".join(folded(sentence, width)))
        for label, table in shown.items():
            if as_latex:
                click.echo(to_latex(table, label), nl=False)
            elif width and not tables:
                echo(f"{table.title}\n")
                for of_pair in comparison.tables_of_pairs(table):
                    print_shown(of_pair)
                for note in table.notes:
                    echo(note)
            else:
                print_shown(table)
    for path in () if out is None else write(out):
        if not quiet:
            say(f"wrote {path}")


Output = tuple[Sequence[str], Mapping[str, Any], Mapping[str, Any], Callable[[Path], Sequence[Path]]]
"""Sentences, tables for readers by label, JSON, and a function that writes files into a folder."""


def _of_table(path: Path, columns: Mapping[str, Any]) -> Output:
    """Compare the models of a table of outcomes."""
    from confml.report.outcomes import compare as compare_outcomes

    compared = compare_outcomes(path, **{key: value for key, value in columns.items() if value is not None})
    return [*compared.sentences, ""], compared.shown, compared.to_dict(), compared.write


def _of_runs(
    runs: Sequence[Path], against: str | None, view: str | None, metric: Sequence[str], rope: float | None
) -> Output:
    """Compare the methods of runs."""
    from confml.errors import ConfmlError
    from confml.report import compare as comparison

    rows = comparison.compare(runs, against, view)
    compared = list(dict.fromkeys(row.metric for row in rows))
    for name in metric:
        if name not in compared:
            raise ConfmlError(f"no comparison of the metric '{name}'", near=(name, compared))
    rows = [row for row in rows if not metric or row.metric in metric]
    tests = comparison.signed_rank_rows(rows, 0.01 if rope is None else rope)
    shown = {"comparison": comparison.comparison_table(rows)}
    if tests:
        shown["signed-rank"] = comparison.signed_rank_table(tests)
    document = {"comparisons": [*map(_plain, rows)], "signed_rank": [*map(_plain, tests)]}
    return (), shown, document, lambda folder: comparison.write_comparison(rows, folder, tests)


def _plain(row: Any) -> dict[str, Any]:
    """Return the values of a row; those that are not numbers are None."""
    return {key: None if value != value else value for key, value in row._asdict().items()}
