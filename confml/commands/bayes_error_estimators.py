"""``confml bayes-error-estimators``."""

import time

import click

from confml.commands.options import (
    compile_bayes_error_kernels,
    drawn_study,
    names_of,
    put_out_study,
    say_unless,
    whole_numbers,
)


@click.command("bayes-error-estimators")
@click.option(
    "--problems", default="near,far,cut,mixture", show_default=True, metavar="NAMES",
    help="Distributions, comma-separated.",
)  # fmt: skip
@click.option(
    "--features", default="2,5,10,20,50", show_default=True, metavar="NUMBERS", help="Numbers of features."
)
@click.option(
    "--rows", default="100,300,1000,3000,10000", show_default=True, metavar="NUMBERS", help="Numbers of rows."
)
@click.option(
    "--trials", type=click.IntRange(1), default=20, show_default=True,
    help="Data sets drawn at each point; at most 20,000 rows in total from 4 data sets on.",
)  # fmt: skip
@drawn_study("CSV files, JSON and the figure")
def bayes_error_estimators(problems, features, rows, trials, jobs, **options) -> None:
    """Compare the Bayes error estimators where the Bayes error is known.

    Data sets of each distribution are drawn repeatedly. The output is the root mean squared error of every
    estimator of the Bayes error of all classes, and the best one at each number of features and rows. Soft
    labels are the true probabilities, and the votes of 3 annotators who draw from them.

    \b
    near: two Gaussians 2 standard deviations apart (Bayes error 15.87 %)
    far: two Gaussians 4 standard deviations apart (2.28 %)
    cut: points of the unit cube, divided by a plane across two features (0 %)
    mixture: five Gaussians in the plane (9.86 %; 2 features only)

    \b
    confml bayes-error-estimators --features 2,10 --rows 100,1000
    """
    import joblib

    from confml.errors import ConfigError
    from confml.studies.bayes_error.estimators import (
        compare_estimators,
        estimator_document,
        print_estimators,
        trials_of,
        write_estimators,
    )
    from confml.terminal import track

    given = (("--features", features), ("--rows", rows))
    numbers = {option: sorted(set(whole_numbers(option, text))) for option, text in given}
    names, tell = names_of(problems), say_unless(options["quiet"])
    most = max(trials_of(n, trials) for n in numbers["--rows"])
    tell(f"{len(names)} problems, {len(numbers['--features'])} numbers of features, "
         f"{len(numbers['--rows'])} numbers of rows, at most {most} data sets at each")  # fmt: skip
    compile_bayes_error_kernels(tell)
    begun, jobs = time.perf_counter(), jobs or joblib.cpu_count()
    found = compare_estimators(
        names,
        numbers["--features"],
        numbers["--rows"],
        trials=trials,
        seed=options["seed"],
        jobs=jobs,
        progress=None if options["quiet"] else track,
    )
    if not found:
        raise ConfigError("no problem has these numbers of features", hint="mixture has 2 features")
    put_out_study(found, (write_estimators, estimator_document, print_estimators), begun, jobs, options)
