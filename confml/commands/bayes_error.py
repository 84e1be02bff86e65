"""``confml bayes-error``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from confml.commands.options import json_option, named_or_table, parameters, quiet_option, say, table_options
from confml.steps import SCALINGS

SCALES = (*SCALINGS, "none")
CRITERIA = ("mean", "worst")
PARTNERS = {
    "level": ("intervals",),
    "blocks": ("intervals",),
    "select_rows": ("select",),
    "criterion": ("select", "transforms", "components"),
    "test_size": ("classifier",),
}
"""Options that say how something is done, and those that ask for it."""


@click.command("bayes-error")
@click.argument("dataset", metavar="DATASET|FILE")
@table_options
@click.option(
    "--part", type=click.Choice(["all", "train", "test"]), default="all", show_default=True,
    help="Which rows of a data set that comes in two parts.",
)  # fmt: skip
@click.option(
    "--scale", type=click.Choice(SCALES), default="min-max", show_default=True,
    help="How attributes are scaled. Distances depend on it; none suits images and other attributes of one "
    "unit.",
)  # fmt: skip
@click.option("--sample", type=click.IntRange(2), metavar="N", help="Estimate from N rows, drawn by class.")
@click.option(
    "--trees", type=click.IntRange(1, 100), default=3, show_default=True, help="Orthogonal spanning trees."
)
@click.option(
    "--count", type=click.Choice(["all", "nontrivial"]), default="all", show_default=True,
    help="Edges between two classes: all, or one fewer, as one always is there.",
)  # fmt: skip
@click.option("--no-bias-correction", is_flag=True, help="Without the correction for small separations.")
@click.option("--one-vs-rest", "one_vs_rest", is_flag=True, help="Print no table of pairs.")
@click.option("--intervals", is_flag=True, help="Intervals by leaving out blocks of rows; takes long.")
@click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Of the intervals.",
)  # fmt: skip
@click.option("--blocks", type=click.IntRange(2), default=20, show_default=True, help="Of the intervals.")
@click.option(
    "--permutations", type=click.IntRange(1), metavar="N",
    help="A p-value for each pair of classes, not adjusted for their number: N shuffled labellings against "
    "no separation.",
)  # fmt: skip
@click.option("--select", type=click.IntRange(1), metavar="N", help="Select N attributes, one after another.")
@click.option(
    "--select-rows", type=click.IntRange(2), default=2000, show_default=True, metavar="N",
    help="Rows at most that attributes are selected on, drawn by class.",
)  # fmt: skip
@click.option("--transforms", is_flag=True, help="Rank scalings, principal components, selected attributes.")
@click.option("--components", metavar="NUMBERS", help="Of the principal components, as 2,5,10.")
@click.option(
    "--criterion", type=click.Choice(CRITERIA), default="mean", show_default=True,
    help="What selections and transforms make small: the mean of the pairs, or the worst of them.",
)  # fmt: skip
@click.option("--classifier", metavar="METHOD", help="Put the test errors of a method beside the estimates.")
@click.option(
    "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of METHOD; may be repeated."
)
@click.option(
    "--test-size", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.3, show_default=True,
    help="The test part of METHOD, where the data set has none of its own.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of all chance.")
@click.option("--all", "every", is_flag=True, help="Print every row of long tables.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write CSV, JSON and figures there.",
)  # fmt: skip
@json_option
@quiet_option
def bayes_error(dataset: str, **options: Any) -> None:
    """Estimate how hard the classes of a data set are to tell apart, before any classifier is trained.

    DATASET is a name of `confml data list` or a generator; FILE a table file (CSV, .parquet,
    .xlsx) with a header line, with --label.

    Bayes errors are estimated from minimal spanning trees (van den Burg and Hero 2017), of all pairs of
    classes and of each class against the rest. "share" is the estimate divided by the smaller of the two
    priors, from 0 (separated) to 1 (indistinguishable); "tie band" its range over other orders of equal
    distances, which is no confidence interval (--intervals gives those); "error %" is the estimate itself,
    "lower" and "upper" its bounds. Attributes are scaled to [0, 1] unless --scale says
    otherwise; categories count as 0/1 columns. With --classifier, estimates and scaling come from the
    training part alone.

    \b
    confml bayes-error optdigits
    confml bayes-error loans.csv --label default --nominal region,job --missing mean
    confml bayes-error mnist --scale none --classifier knn --param k=3 --out results/mnist
    confml bayes-error segment --select 10 --transforms --intervals --permutations 999
    """
    from confml.errors import ConfigError
    from confml.studies.bayes_error.study import Request, study

    _check_partners(options)
    params = parameters(options["params"])
    if params and options["classifier"] is None:
        raise ConfigError("--param is of a method", hint="name it: --classifier METHOD")
    spec, true_error = _spec(dataset, options)
    request = Request(
        part=options["part"],
        scale=options["scale"],
        sample=options["sample"],
        trees=options["trees"],
        count=options["count"],
        correct_bias=not options["no_bias_correction"],
        intervals=options["level"] if options["intervals"] else None,
        blocks=options["blocks"],
        permutations=options["permutations"],
        select=options["select"],
        select_rows=options["select_rows"],
        criterion=options["criterion"],
        transforms=options["transforms"] or options["components"] is not None,
        components=_numbers(options["components"]),
        classifier=options["classifier"],
        params=params,
        test_size=options["test_size"],
        seed=options["seed"],
    )
    from confml.data import load

    tell = (lambda text: None) if options["quiet"] else say
    found = study(load(spec), request, tell, true_error)

    from confml.studies.bayes_error import print_study, study_document, write_study

    if options["out"] is not None:
        paths = write_study(found, options["out"])
        tell(f"{len(paths)} files in {options['out']}")
    if options["as_json"]:
        click.echo(json.dumps(study_document(found), indent=1, ensure_ascii=False))
    elif not options["quiet"]:
        print_study(found, every=options["every"], pairs=not options["one_vs_rest"])
    for text in found.warnings:
        tell(f"warning: {text}")


def _check_partners(options: dict[str, Any]) -> None:
    """ConfigError for an option of something that was not asked for."""
    from confml.errors import ConfigError

    context = click.get_current_context()
    for name, partners in PARTNERS.items():
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and not any(options[partner] for partner in partners):
            words = " or ".join(f"--{partner}" for partner in partners)
            raise ConfigError(f"--{name.replace('_', '-')} does nothing here", hint=f"it is for {words}")


def _spec(dataset: str, options: dict[str, Any]) -> tuple[dict[str, Any], float | None]:
    """The spec for `confml.data.load`, and the true Bayes error of synthetic data."""
    from confml.data.generators import GENERATORS

    spec = named_or_table(dataset, options)
    if "generate" not in spec:
        return spec, None
    generator = GENERATORS[dataset]
    return {**spec, "seed": options["seed"]}, float(generator.bayes_error(**generator.defaults))


def _numbers(text: str | None) -> tuple[int, ...]:
    from confml.errors import ConfigError

    try:
        return () if text is None else tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise ConfigError(f"--components expects whole numbers with commas between, got '{text}'") from None
