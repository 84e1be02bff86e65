"""``confml compare``."""

import sys
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
@click.option("--against", metavar="MODEL", help="Also say which models differ from this one.")
@click.option("--out", type=Folder(), metavar="DIR", help="Output folder of tables, a figure and a page.")
@click.option(
    "--rope", type=click.FloatRange(0), default=0.01, show_default=True, metavar="WIDTH",
    help="Mean differences within +-WIDTH of 0 are equivalent, for the Bayesian test over tasks.",
)  # fmt: skip
@click.option("--latex", "as_latex", is_flag=True, help="Print the tables for LaTeX (booktabs).")
@json_option
@quiet_option
@keeps_files
def compare(inputs, against, out, as_latex, as_json, quiet, rope, **columns: Any) -> None:
    """Compare models on outcomes, or methods of runs.

    TABLE is a table file with one row per item and model. The outcome is whether the answer is right, or a
    score or loss. The output says which models differ significantly, and which difference would probably have
    been detected. Pairs are tested on the items that all models have, with Holm's correction over all pairs.
    Items of one document, patient or template are not independent: name their column with --group.

    RUN is the folder of a run. The methods of all runs are compared by their errors on the same test rows.
    Each data set is a task. The test is that of the report: its variance is at least the variance of Nadeau
    and Bengio over splits.

    Several tasks add mean ranks with Friedman's and Wilcoxon's tests. They also add the Bayesian signed-rank
    test of the best ranked model against each other model (Benavoli et al. 2017). It has three probabilities:
    the first is better, both are equivalent (differences within --rope), the second is better.

    \b
    confml compare outcomes.csv --group document
    confml compare scores.csv --wide --lower-is-better --out results/models
    confml compare results/pima --against knn
    confml compare results/pima results/pima-noisy --out results/compared
    """
    from confml.data.table_files import is_table_name
    from confml.errors import ConfigError
    from confml.report import outcomes
    from confml.report.console import print_shown
    from confml.report.shown_table import to_latex

    tables = [path for path in inputs if not path.is_dir() and (path.is_file() or is_table_name(path.name))]
    if tables and len(inputs) > 1:
        raise ConfigError(f"expected one table of outcomes, or folders of runs, got {len(inputs)} paths")
    columns = {name: value for name, value in columns.items() if value not in (None, False)}
    if columns and not tables:
        raise ConfigError(f"--{next(iter(columns)).replace('_', '-')} is for a table of outcomes")
    if tables:
        compared = outcomes.compare(tables[0], rope=rope, against=against, **columns)
    else:
        compared = outcomes.compare_runs(inputs, rope, against)
    width = width_of(sys.stdout)
    if as_json:
        echo_json(compared.to_dict())
    elif as_latex:
        for label, table in compared.shown.items():
            print(to_latex(table, label), end="")
    elif not quiet:
        for sentence in (*compared.sentences, ""):
            echo("\n".join(folded(sentence, width)))
        for table in compared.shown.values():
            print_shown(table)
    for path in () if out is None else compared.write(out):
        if not quiet:
            say(f"wrote {path}")
