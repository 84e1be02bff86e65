"""Bias and variance of estimated Bayes errors: table, files, and figures 1 and 2 of the paper."""

import math
import sys
from pathlib import Path
from typing import IO, Any

from confml.bayes_error.trials import Trials
from confml.report.console import print_table
from confml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    FORMATS,
    GREY,
    ORANGE,
    PAGE,
    Panels,
    legend_below,
    lines_of,
    rate_band,
    save,
    style,
)
from confml.report.figures.style import power as power_text
from confml.report.files import remove_earlier
from confml.studies.bayes_error.console import print_rows
from confml.studies.bayes_error.tables import plain, write_json, write_rows


def trial_rows(trials: Trials) -> list[dict[str, Any]]:
    """Return one row per prior, separation and number of trees."""
    return [
        {
            "prior": prior,
            "separation": separation,
            "trees": trees,
            "true_bayes_error": trials.truth[p, s],
            "estimate": trials.estimate[p, s, t].mean(),
            "bias": trials.bias[p, s, t],
            "variance": trials.variance[p, s, t],
            "uncorrected": trials.uncorrected[p, s, t].mean(),
            "bhattacharyya": trials.bhattacharyya[p, s],
        }
        for p, prior in enumerate(trials.priors)
        for s, separation in enumerate(trials.separations)
        for t, trees in enumerate(trials.trees)
    ]


def trial_document(trials: Trials) -> dict[str, Any]:
    """Return the rows and the settings of the trials."""
    count = trials.estimate.shape[3]
    about = {"rows": trials.rows, "attributes": trials.attributes, "trials": count}
    return plain({**about, "points": trial_rows(trials)})


def print_trials(trials: Trials, stream: IO[str] | None = None) -> None:
    """Print means over the trials for the largest number of trees, and variances for each number."""
    stream = stream or sys.stdout
    most, count = int(trials.trees[-1]), trials.estimate.shape[3]
    rows = [row for row in trial_rows(trials) if row["trees"] == most]
    columns = {name: f"general {name}" for name in ("prior", "separation")}
    columns |= {"true": "percent true_bayes_error"}
    columns |= {
        name: f"percent {name.lower()}" for name in ("estimate", "bias", "uncorrected", "Bhattacharyya")
    }
    title = f"Bayes error of two Gaussians (%): {count} trials of {trials.rows} rows, trees: {most}"
    print_rows(title, rows, [columns], right=0, stream=stream)
    if len(trials.trees) > 1:
        print_table(
            ["prior", "separation", *_tree_names(trials)],
            [
                [f"{prior:g}", f"{separation:g}", *(f"{1e5 * value:.2f}" for value in trials.variance[p, s])]
                for p, prior in enumerate(trials.priors)
                for s, separation in enumerate(trials.separations)
            ],
            title="Variance of the estimate, times 100,000",
            right=0,
            stream=stream,
        )


def write_trials(trials: Trials, folder: Path) -> list[Path]:
    """Write ``trials.csv``, ``trials.json`` and the figures below a folder."""
    paths = [
        write_rows(folder / "trials.csv", trial_rows(trials)),
        write_json(folder / "trials.json", trial_document(trials)),
    ]
    for name, draw in {"bias": draw_bias, "variance": draw_variance}.items():
        if name == "bias" or len(trials.trees) > 1:
            with style():
                paths += save(draw(trials), folder / "figures" / name)
    remove_earlier(folder, [f"figures/variance.{ending}" for ending in FORMATS], paths)
    return paths


WIDTHS = (COLUMN, PAGE, PAGE)


def draw_bias(trials: Trials):
    """Draw figure 1: true Bayes error, Bhattacharyya bound, and estimates with and without correction."""
    count = len(trials.priors)
    panels = Panels(count, height=2.3, top=0.2, widths=WIDTHS, columns=min(count, 3), sharex=True)
    x = trials.separations
    for place, axes in enumerate(panels.axes):
        handles = []
        for values, colour, width in ((trials.uncorrected, ORANGE, 2.4), (trials.estimate, BLUE, 1.2)):
            here = 100 * values[place, :, -1]
            mean, sd = here.mean(axis=1), here.std(axis=1, ddof=1)
            handles += axes.plot(x, mean, "o-", color=colour, markersize=2 * width**0.5, linewidth=width)
            axes.fill_between(x, *rate_band(mean, sd), color=colour, alpha=0.2, linewidth=0)
        handles += axes.plot(x, 100 * trials.truth[place], "-", color=BLACK)
        handles += axes.plot(x, 100 * trials.bhattacharyya[place], "--", color=GREY)
        axes.set_ylim(bottom=0)
        letter = f"({'abcdefghijklmnopqrstuvwxyz'[place % 26]}) " if count > 1 else ""
        axes.set_title(f"{letter}smaller prior {_prior(trials, place)}", loc="left")
    panels.label_x("distance between the means (sd)")
    panels.label_y("Bayes error (%)")
    labels = [
        "estimate, uncorrected (± 1 sd)",
        "estimate, bias corrected (± 1 sd)",
        "true",
        "Bhattacharyya bound",
    ]
    legend_below(panels.figure, handles, labels)
    return panels.figure


def draw_variance(trials: Trials):
    """Draw figure 2: variance of the estimate against the separation, one line per number of trees."""
    count = len(trials.priors)
    widths = (COLUMN, *[PAGE] * (count - 1))
    panels = Panels(count, height=2.5, top=0.0, widths=widths, columns=count, sharey=True)
    top = float(trials.variance.max()) or 1.0
    power = max(math.ceil(-math.log10(top)), 0)
    for place, axes in enumerate(panels.axes):
        handles = [
            axes.plot(trials.separations, 10**power * trials.variance[place, :, t], **line)[0]
            for t, line in enumerate(lines_of(len(trials.trees)))
        ]
        axes.set_ylim(bottom=0)
        axes.set_title(f"smaller prior {_prior(trials, place)}, {trials.rows} rows", loc="left")
    panels.label_x("distance between the means (sd)")
    panels.label_y(f"variance of the estimate ({power_text(10, -power)})")
    legend_below(panels.figure, handles, _tree_names(trials))
    return panels.figure


def _prior(trials: Trials, place: int) -> str:
    prior = float(trials.priors[place])
    return f"{min(prior, 1 - prior):g}"


def _tree_names(trials: Trials) -> list[str]:
    return [f"{number} trees" if number > 1 else "1 tree" for number in trials.trees]
