"""``confml bayes-error``."""

import dataclasses
import functools
import time
from typing import Any

import click

from confml.commands.options import (
    FOLDER,
    allow_import_option,
    compile_bayes_error_kernels,
    json_option,
    keeps_files,
    named_or_table,
    names_of,
    number_list,
    parameters,
    put_out_study,
    quiet_option,
    say,
    say_unless,
    seed_option,
    table_options,
)
from confml.steps import SCALINGS

SCALES = (*SCALINGS, "none")
CRITERIA = ("mean", "worst")
PARTNERS = {
    "confidence_level": ("intervals", "extrapolate"),
    "blocks": ("intervals",),
    "select_rows": ("select", "embeddings"),
    "criterion": ("select", "transforms", "components", "embeddings"),
    "test_size": ("classifier",),
    "repeats": ("noise",),
    "best_error": ("noise",),
}
"""Options that modify another option, and the options that they need."""


@click.command("bayes-error")
@click.argument("dataset", metavar="DATASET|FILE")
@table_options
@click.option(
    "--part", type=click.Choice(["all", "train", "test"]), default="all", show_default=True,
    help="Part of a data set with a training and a test part.",
)  # fmt: skip
@click.option(
    "--scale", type=click.Choice(SCALES), default="min-max", show_default=True,
    help="Scaling of the features; use none for features of one unit, such as images.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(2), metavar="N", help="Estimate from N random rows, stratified."
)
@click.option(
    "--trees",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Number of orthogonal spanning trees.",
)
@click.option(
    "--count", type=click.Choice(["all", "nontrivial"]), default="all", show_default=True,
    help="Edges to count between two classes: all, or all minus 1 (a spanning tree always has one).",
)  # fmt: skip
@click.option("--no-bias-correction", is_flag=True, help="Do not correct the bias for small separations.")
@click.option(
    "--neighbours", type=click.IntRange(1), default=40, show_default=True, metavar="K",
    help="Largest k of the k-NN estimates.",
)  # fmt: skip
@click.option("--extrapolate", is_flag=True, help="Extrapolate k-NN estimates to infinitely many rows.")
@click.option(
    "--soft-labels", metavar="COLUMNS",
    help="Columns of a table file with the probability of each class, or with the number of annotators for "
    "each class; comma-separated. They are not used as features.",
)  # fmt: skip
@click.option(
    "--noise", metavar="RATES",
    help="Rates of label noise, as 0:1:0.1 or 0,0.2,0.4: compare the estimates with the known rise of the "
    "Bayes error.",
)  # fmt: skip
@click.option(
    "--repeats", type=click.IntRange(1), default=5, show_default=True, help="Draws of label noise per rate."
)
@click.option(
    "--best-error", type=click.FloatRange(0, 1), metavar="FRACTION",
    help="Error of the best known classifier without label noise.  [default: smallest k-NN error]",
)  # fmt: skip
@click.option("--one-vs-rest", "one_vs_rest", is_flag=True, help="Print no table of pairs.")
@click.option("--intervals", is_flag=True, help="Compute leave-block-out intervals; slow.")
@click.option(
    "--confidence-level", "--level", "confidence_level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence level of the intervals; the older name is --level.",
)  # fmt: skip
@click.option(
    "--blocks",
    type=click.IntRange(2),
    default=20,
    show_default=True,
    help="Number of blocks of the intervals.",
)
@click.option(
    "--permutations", type=click.IntRange(1), metavar="N",
    help="Test each pair of classes for equal distributions with N permutations of the labels; p-values are "
    "not adjusted for the number of pairs.",
)  # fmt: skip
@click.option("--select", type=click.IntRange(1), metavar="N", help="Select N features by forward selection.")
@click.option(
    "--select-rows", type=click.IntRange(2), default=2000, show_default=True, metavar="N",
    help="Largest number of rows for the selection and for embeddings, stratified.",
)  # fmt: skip
@click.option("--transforms", is_flag=True, help="Rank scalings, principal components and selected features.")
@click.option("--components", metavar="NUMBERS", help="Numbers of principal components, comma-separated.")
@click.option(
    "--embeddings", is_flag=True,
    help="Rank kernel PCA and Laplacian eigenmaps too. All transforms then use at most --select-rows rows.",
)  # fmt: skip
@click.option(
    "--criterion", type=click.Choice(CRITERIA), default="mean", show_default=True,
    help="Criterion of selections and transforms: mean or worst estimate of the pairs.",
)  # fmt: skip
@click.option(
    "--classifier", metavar="METHOD",
    help="Compare the estimates with the test errors of a method.",
)  # fmt: skip
@click.option(
    "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of METHOD; may be repeated."
)
@click.option(
    "--test-size", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.3, show_default=True,
    help="Test share for METHOD, if the data set has no test part.",
)  # fmt: skip
@seed_option
@click.option("--all", "every", is_flag=True, help="Print every row of long tables.")
@click.option(
    "--out", type=FOLDER, metavar="DIR",
    help="Output folder of CSV files, JSON and figures.",
)  # fmt: skip
@allow_import_option
@json_option
@quiet_option
@keeps_files
def bayes_error(dataset: str, **options: Any) -> None:
    """Estimate the Bayes error of a data set.

    DATASET is a name of `confml data list` or a generator; FILE a table file (CSV, .parquet,
    .xlsx) with a header line, with --label.

    The Bayes error of each pair of classes, and of each class against the rest, is estimated from minimum
    spanning trees (van den Burg and Hero 2017). "share" is the estimate divided by the smaller prior, from 0
    (separated) to 1 (indistinguishable). "tie band" is its range over other orders of equal distances, not a
    confidence interval (use --intervals). "error %" is the estimate. "lower" and "upper" are bounds of the
    Bayes error. "holds" and "hold" are the shares of simulated data sets in which the bounds contained the
    Bayes error. The Bayes error of all classes is estimated from one tree of all rows, from leave-one-out
    k-NN, and from soft labels. Features are scaled to [0, 1] by default; nominal features become 0/1 columns.
    With --classifier, estimates and scaling use the training part only.

    \b
    confml bayes-error optdigits
    confml bayes-error loans.csv --label default --nominal region,job --missing mean
    confml bayes-error mnist --scale none --classifier knn --param k=3 --out results/mnist
    confml bayes-error segment --select 10 --transforms --intervals --permutations 999
    confml bayes-error letter --extrapolate --noise 0:1:0.1 --out results/letter
    """
    from confml.errors import ConfigError
    from confml.studies.bayes_error.study import Request, study

    _check_partners(options)
    params = parameters(options["params"])
    if params and options["classifier"] is None:
        raise ConfigError("--param needs a method", hint="add --classifier METHOD")
    spec, true_error = _spec(dataset, options)
    level = options["confidence_level"]
    computed = {
        "correct_bias": not options["no_bias_correction"],
        "level": level,
        "intervals": level if options["intervals"] else None,
        "noise": tuple(number_list("--noise", options["noise"])) if options["noise"] else (),
        "soft_labels": names_of(options["soft_labels"]),
        "transforms": options["transforms"] or options["embeddings"] or options["components"] is not None,
        "components": _numbers(options["components"]),
        "params": params,
    }
    same = {one.name: options[one.name] for one in dataclasses.fields(Request) if one.name in options}
    from confml.data import load

    data = load(spec)
    compile_bayes_error_kernels(say_unless(options["quiet"]))
    begun = time.perf_counter()
    found = study(data, Request(**same | computed), say_unless(options["quiet"]), true_error)

    from confml.studies.bayes_error import print_study, study_document, write_study

    show = functools.partial(print_study, every=options["every"], pairs=not options["one_vs_rest"])
    put_out_study(found, (write_study, study_document, show), begun, None, options)
    for text in found.warnings:
        say(f"warning: {text}")


def _check_partners(options: dict[str, Any]) -> None:
    """Raise ConfigError for an option whose partner is missing."""
    from confml.errors import ConfigError

    context = click.get_current_context()
    for name, partners in PARTNERS.items():
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and not any(options[partner] for partner in partners):
            words = " or ".join(f"--{partner}" for partner in partners)
            raise ConfigError(f"--{name.replace('_', '-')} has no effect", hint=f"it needs {words}")


def _spec(dataset: str, options: dict[str, Any]) -> tuple[dict[str, Any], float | None]:
    """Return the spec for `confml.data.load`, and the true Bayes error of synthetic data."""
    from confml.data.generators import GENERATORS
    from confml.errors import ConfigError

    spec = named_or_table(dataset, options)
    if columns := names_of(options["soft_labels"]):
        if "csv" not in spec:
            raise ConfigError(f"--soft-labels is for table files, and '{dataset}' is the name of a data set")
        # columns of identifiers are no features, and keep their text with the rows
        return {**spec, "id": [*spec.get("id", []), *columns]}, None
    if "generate" not in spec:
        return spec, None
    generator = GENERATORS[dataset]
    return {**spec, "seed": options["seed"]}, float(generator.bayes_error(**generator.defaults))


def _numbers(text: str | None) -> tuple[int, ...]:
    from confml.errors import ConfigError

    try:
        return () if text is None else tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise ConfigError(f"--components must be comma-separated whole numbers, got '{text}'") from None
