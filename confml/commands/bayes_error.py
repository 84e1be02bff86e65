"""``confml bayes-error``."""

import dataclasses
import time
from typing import Any

import click

from confml.commands import common
from confml.commands.common import say, say_unless
from confml.steps import SCALINGS

# Options that modify another option, and the options that they need.
PARTNERS = {
    **{"confidence_level": "intervals", "blocks": "intervals"},
    **{"select_rows": "select", "criterion": "select"},
}


@click.command("bayes-error")
@click.argument("dataset", metavar="DATASET|FILE")
@common.table_options
@click.option(
    "--part", type=click.Choice(["all", "train", "test"]), default="all", show_default=True,
    help="Part of a data set with a training and a test part.",
)  # fmt: skip
@click.option(
    "--scale", type=click.Choice([*SCALINGS, "none"]), default="min-max", show_default=True,
    help="Scaling of the features; use none for features of one unit, such as images.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(2), metavar="N", help="Estimate from N random rows, stratified."
)
@click.option(
    "--trees", type=click.IntRange(1, 100), default=3, show_default=True,
    help="Number of orthogonal spanning trees.",
)  # fmt: skip
@click.option(
    "--count", type=click.Choice(["all", "nontrivial"]), default="all", show_default=True,
    help="Edges to count between two classes: all, or all minus 1 (a spanning tree always has one).",
)  # fmt: skip
@click.option("--no-bias-correction", is_flag=True, help="Do not correct the bias for small separations.")
@click.option("--one-vs-rest", "one_vs_rest", is_flag=True, help="Print no table of pairs.")
@click.option("--intervals", is_flag=True, help="Compute leave-block-out intervals; slow.")
@click.option(
    "--confidence-level", "--level", "confidence_level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence level of the intervals; the older name is --level.",
)  # fmt: skip
@click.option(
    "--blocks", type=click.IntRange(2), default=20, show_default=True,
    help="Number of blocks of the intervals.",
)  # fmt: skip
@click.option("--select", type=click.IntRange(1), metavar="N", help="Select N features by forward selection.")
@click.option(
    "--select-rows", type=click.IntRange(2), default=2000, show_default=True, metavar="N",
    help="Largest number of rows for the selection, stratified.",
)  # fmt: skip
@click.option(
    "--criterion", type=click.Choice(["mean", "worst"]), default="mean", show_default=True,
    help="Criterion of the selection: mean or worst estimate of the pairs.",
)  # fmt: skip
@common.seed_option
@click.option("--all", "every", is_flag=True, help="Print every row of long tables.")
@click.option(
    "--out", type=common.Folder(), metavar="DIR", help="Output folder of CSV files, JSON and figures."
)
@common.json_option
@common.quiet_option
@common.keeps_files
def bayes_error(dataset: str, **options: Any) -> None:
    """Estimate the Bayes error of a data set.

    DATASET is a name of `confml data list` or a generator; FILE a table file (CSV, .parquet,
    .xlsx) with a header line, with --label.

    The Bayes error of each pair of classes, and of each class against the rest, is estimated from minimum
    spanning trees (van den Burg and Hero 2017). "share" is the estimate divided by the smaller prior, from 0
    (separated) to 1 (indistinguishable). "tie band" is its range over other orders of equal distances, not a
    confidence interval (use --intervals). "error %" is the estimate. "lower" and "upper" are bounds of the
    Bayes error. "hold" is the share of simulated data sets in which the bounds contained the Bayes error. The
    Bayes error of all classes is estimated from one tree of all rows, and from leave-one-out 1-NN. Features
    are scaled to [0, 1] by default; nominal features become 0/1 columns.

    \b
    confml bayes-error optdigits
    confml bayes-error loans.csv --label default --nominal region,job --missing mean
    confml bayes-error mnist --part train --scale none --out results/mnist
    confml bayes-error segment --select 10 --intervals
    """
    from confml.report.bayes_error.study import Request, study

    _check_partners(options)
    spec, true_error = _spec(dataset, options)
    computed = {
        "correct_bias": not options["no_bias_correction"],
        "intervals": options["confidence_level"] if options["intervals"] else None,
    }
    given = {key.name: options[key.name] for key in dataclasses.fields(Request) if key.name in options}
    from confml.data import load
    from confml.runner.warm import warm_bayes_errors

    data = load(spec)
    warm_bayes_errors(say_unless(options["quiet"]))
    begun = time.perf_counter()
    result = study(data, Request(**given | computed), say_unless(options["quiet"]), true_error)

    from confml.report.bayes_error import print_study, study_document, write_study
    from confml.runner.provenance import write_study_provenance

    if (out := options["out"]) is not None:
        seconds = time.perf_counter() - begun
        paths = [*write_study(result, out), write_study_provenance(out, options["seed"], seconds)]
        say_unless(options["quiet"])(f"{len(paths)} files in {out}")
    if options["as_json"]:
        common.echo_json(study_document(result))
    elif not options["quiet"]:
        print_study(result, every=options["every"], pairs=not options["one_vs_rest"])
    for text in result.warnings:
        say(f"warning: {text}")


def _check_partners(options: dict[str, Any]) -> None:
    """Raise ConfigError for an option whose partner is missing."""
    from confml.errors import ConfigError

    context = click.get_current_context()
    for name, partner in PARTNERS.items():
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and not options[partner]:
            raise ConfigError(f"--{name.replace('_', '-')} has no effect", hint=f"it needs --{partner}")


def _spec(dataset: str, options: dict[str, Any]) -> tuple[dict[str, Any], float | None]:
    """Return the spec for `confml.data.load`, and the true Bayes error of synthetic data."""
    from confml.data.generators import GENERATORS

    spec = common.named_or_table(dataset, options)
    if "generate" not in spec:
        return spec, None
    generator = GENERATORS[dataset]
    return {**spec, "seed": options["seed"]}, float(generator.bayes_error(**generator.defaults))
