"""``confml bayes-error-trials``."""

import time

import click

from confml.commands.options import (
    compile_bayes_error_kernels,
    drawn_study,
    number_list,
    put_out_study,
    say_unless,
    whole_numbers,
)


@click.command("bayes-error-trials")
@click.option(
    "--priors",
    default="0.5,0.33,0.15",
    show_default=True,
    metavar="NUMBERS",
    help="Prior probabilities of one of the two classes.",
)
@click.option(
    "--separations", default="0:5:0.5", show_default=True, metavar="NUMBERS",
    help="Distances between the means in standard deviations, as 0,1,2 or from:to:step.",
)  # fmt: skip
@click.option(
    "--trees", default="3", show_default=True, metavar="NUMBERS", help="Numbers of orthogonal trees."
)
@click.option(
    "--trials", type=click.IntRange(2), default=200, show_default=True, help="Data sets drawn at each point."
)
@click.option(
    "--rows", type=click.IntRange(4), default=1000, show_default=True, help="Rows of each data set."
)
@click.option(
    "--features",
    "--attributes",
    "attributes",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Number of features; the older name is --attributes.",
)
@drawn_study("CSV files, JSON and figures")
def bayes_error_trials(priors, separations, trees, jobs, **options) -> None:
    """Measure bias and variance of the estimates.

    The Bayes error estimates are applied to data with a known Bayes error. Data sets of two spherical
    Gaussians are drawn repeatedly. The output is the bias of the estimates, with and without correction, the
    Bhattacharyya bound, and the variance for each number of orthogonal trees, as in figures 1 and 2 of van
    den Burg and Hero (2017).

    \b
    confml bayes-error-trials --out results/bias
    confml bayes-error-trials --priors 0.33 --trees 1,2,3,5,10 --trials 500 --out results/variance
    """
    drawn = {name: options[name] for name in ("trials", "rows", "attributes", "seed")}
    points = number_list("--priors", priors), number_list("--separations", separations)
    counts = whole_numbers("--trees", trees)

    import joblib

    from confml.bayes_error.trials import gaussian_trials
    from confml.studies.bayes_error.trials import print_trials, trial_document, write_trials
    from confml.terminal import track

    tell = say_unless(options["quiet"])
    sets = f"{drawn['trials']} data sets of {drawn['rows']} rows"
    tell(f"{len(points[0]) * len(points[1])} points, {sets} at each")
    compile_bayes_error_kernels(tell)
    begun, jobs = time.perf_counter(), jobs or joblib.cpu_count()
    progress = None if options["quiet"] else track
    found = gaussian_trials(*points, counts, **drawn, jobs=jobs, progress=progress)
    put_out_study(found, (write_trials, trial_document, print_trials), begun, jobs, options)
