"""``confml bayes-error``."""

import dataclasses
import functools
import time
from pathlib import Path
from typing import Any

import click

from confml.commands import common
from confml.commands.common import say, say_unless
from confml.steps import SCALINGS

KEYS = ("label", "id", "nominal", "ignore", "missing")


@click.command("bayes-error")
@click.argument("dataset", metavar="DATASET|FILE|CONFIG")
@functools.partial(common.table_options, keys=KEYS)
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
@click.option("--intervals", is_flag=True, help="Compute 95 % leave-block-out intervals; slow.")
@click.option("--select", type=click.IntRange(1), metavar="N", help="Select N features by forward selection.")
@click.option(
    "--criterion", type=click.Choice(["mean", "worst"]), default="mean", show_default=True,
    help="Criterion of the selection: mean or worst estimate of the pairs.",
)  # fmt: skip
@common.seed_option
@click.option(
    "--out", type=common.Folder(), metavar="DIR", help="Output folder of CSV files, JSON and figures."
)
@common.json_option
@common.quiet_option
@common.keeps_files
def bayes_error(dataset: str, **options: Any) -> None:
    """Estimate the Bayes error of a data set.

    DATASET is a name of `confml data list`, or a generator. FILE is a table file (CSV, .parquet, .xlsx) with
    --label. CONFIG is a config with one data set, such as confml init writes. It has the keys for other forms
    of files.

    The Bayes error is estimated for each pair of classes, and for each class against the rest, from minimum
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
    from confml.errors import ConfigError
    from confml.report.bayes_error.study import Request, study

    if common.first_given("criterion") and not options["select"]:
        raise ConfigError("--criterion has no effect", hint="it needs --select")
    spec, true_error = _spec(dataset, options)
    computed = {
        "correct_bias": not options["no_bias_correction"],
        "intervals": 0.95 if options["intervals"] else None,
    }
    request = {key.name: options[key.name] for key in dataclasses.fields(Request) if key.name in options}
    from confml.data import load
    from confml.runner.warm import warm_bayes_errors

    data = load(spec)
    warm_bayes_errors(say_unless(options["quiet"]))
    begun = time.perf_counter()
    result = study(data, Request(**request | computed), say_unless(options["quiet"]), true_error)

    from confml.report.bayes_error import print_study, study_document, write_study
    from confml.runner.provenance import write_study_provenance

    if (out := options["out"]) is not None:
        seconds = time.perf_counter() - begun
        paths = [*write_study(result, out), write_study_provenance(out, options["seed"], seconds)]
        say_unless(options["quiet"])(f"wrote {len(paths)} files to {out}")
    if options["as_json"]:
        common.echo_json(study_document(result))
    elif not options["quiet"]:
        print_study(result)
    for text in result.warnings:
        say(f"{'note' if text in data.notes else 'warning'}: {text}")


def _spec(dataset: str, options: dict[str, Any]) -> tuple[dict[str, Any], float | None]:
    """Return the spec for `confml.data.load`, and the true Bayes error of synthetic data."""
    from confml.data.generators import GENERATORS

    if Path(dataset).suffix in (".yaml", ".yml"):
        return _spec_of_config(dataset), None
    spec = common.named_or_table(dataset, options)
    if "generate" not in spec:
        return spec, None
    generator = GENERATORS[dataset]
    return {**spec, "seed": options["seed"]}, float(generator.bayes_error(**generator.defaults))


def _spec_of_config(config: str) -> dict[str, Any]:
    """Return the spec of the data set of a config."""
    from confml.config import load_config
    from confml.errors import ConfigError

    if option := common.first_given(*KEYS):
        raise ConfigError(f"{option} is for table files, and {config} is a config")
    datasets = load_config(config).datasets
    if len(datasets) > 1:
        raise ConfigError(f"{config} has {len(datasets)} data sets, expected one")
    return datasets[0].as_dict()
