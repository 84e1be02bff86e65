"""Figures of several runs together, for the figures of papers.

``python tests/programs/figures_of_runs.py RUN... --out DIR --against KEY`` draws a metric of the runs against
a key of their configs (see `plot_across_runs`); without ``--against``, the figures of the first run with the
cells of all runs.
"""

from __future__ import annotations

import argparse
import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from confml.data.generators import COMMON, GENERATORS
from confml.errors import ConfmlError
from confml.report.captions import figure_file_name
from confml.report.figures import figure_functions, pictures
from confml.report.figures.curves import Point, draw_curves
from confml.report.figures.style import DASHES, line_of, save, style
from confml.report.files import natural, safe_name, write_csv
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.run.stored import open_run
from confml.report.tables.page import draw_figures

BAYES_ERROR, TRAIN_ROWS = "bayes-error", "train-rows"
Label = tuple[str, ...]


def merged_runs(runs: Sequence[Path | str]) -> RunResults:
    """Return several runs as one: cells and methods of all runs, the rest of the config from the first.

    It is used for figures of data sets or methods that need different protocols. A cell of two runs counts
    once.
    """
    opened = [open_run(run) for run in runs]
    methods = {repr(entry): entry for run in opened for entry in run.config.methods}
    return RunResults(
        config=opened[0].config.model_copy(update={"methods": tuple(methods.values())}),
        cells=list({cell.key: cell for run in opened for cell in run.cells}.values()),
        results=ChainMap(*(run.results for run in opened)),
        failures=[failure for run in opened for failure in run.failures],
        datasets=ChainMap(*(run.datasets for run in reversed(opened))),
        origins=ChainMap(*(run.origins for run in reversed(opened))),
    )


def draw_merged(runs: Sequence[Path | str], folder: Path) -> list[Path]:
    """Draw the figures of the first run's config with the cells of all runs, below ``figures/``.

    Returns the files.
    """
    merged = merged_runs(runs)
    for _ in merged.collect(*figure_functions(merged)):
        pass  # one pass for all figures
    report = Report(merged, folder)
    draw_figures(report, pictures(merged))
    return report.paths


def plot_across_runs(
    runs: Sequence[Path], key: str, metric: str, folder: Path, methods: Sequence[str] = (), **logs: bool
) -> list[Path]:
    """Draw ``metric`` against ``key``, and write the figure and its points as CSV.

    key: a dotted key of the runs' configs (``noise.labels``, ``datasets.0.n``); a parameter of their methods;
    ``train-rows``, the number of training examples of a fit; or ``bayes-error``, the known Bayes error of
    generated data, with the label noise of the config. With ``bayes-error`` the figure also shows the Bayes
    error e and e (2 - e c / (c - 1)), the largest limit of the error of 1-NN for c classes (Cover and Hart
    1967), which is 2 e (1 - e) for two. Each line is one data set, method variant, share of noisy labels and
    list of steps; other runs are joined, with the mean over all their splits. methods: labels of the method
    variants to show; all by default. logs: ``log``, ``log_y``, axes that are logarithmic. Writes
    ``figures/<metric>-against-<key>`` as SVG, PNG and CSV.
    """
    curves = combined_curves([open_run(run) for run in runs], key, metric, methods)
    named = {", ".join(label): points for label, points in curves.items()}
    stem = folder / "figures" / figure_file_name(safe_name(f"{metric}-against-{key}"))
    looks = dict(zip(named, _looks(curves), strict=True))
    with style():
        paths = save(draw_curves(named, looks, key=key, metric=metric, **logs), stem)
    rows = [(name, *point[:4]) for name, points in named.items() for point in points]
    return [*paths, write_csv(stem.with_name(f"{stem.name}.csv"), ("line", key, "mean", "sd", "n"), rows)]


def _looks(curves: Mapping[Label, Sequence[Point]]) -> list[dict[str, Any]]:
    """Return colour, dashes and marker of each curve.

    Curves whose labels differ only in the last part share colour and marker. Theoretical ones are black.
    """
    computed = [label for label, points in curves.items() if points[0].n]
    firsts = list(dict.fromkeys(label[:-1] for label in computed))
    lasts = list(dict.fromkeys(label[-1] for label in computed))
    are_shared = len(firsts) > 1 and 1 < len(lasts) <= len(DASHES)
    looks: list[dict[str, Any]] = []
    for label in curves:
        if label not in computed:
            dashes = DASHES[(len(looks) - len(computed)) % len(DASHES)]
            looks.append({"color": "black", "linestyle": dashes, "linewidth": 0.8})
        elif are_shared:
            looks.append(line_of(firsts.index(label[:-1]), lasts.index(label[-1])))
        else:
            looks.append(line_of(computed.index(label)))
    return looks


def combined_curves(
    runs: Sequence[RunResults], key: str, metric: str, methods: Sequence[str] = ()
) -> dict[Label, list[Point]]:
    """Return the points of each line in the order of ``key``, by the parts of the line's label.

    The parts are the data set if there are several, the method variant, and label noise and steps if the runs
    differ in them. Raises ConfmlError if there are no points.
    """
    words = _words(runs, key)
    many = len({cell.dataset for run in runs for cell in run.cells}) > 1
    values: dict[Label, dict[float, list[float]]] = {}
    for run, of_run in zip(runs, words, strict=True):
        rows = {result.cell.key: result.train_rows for result in run.finished()}
        for cell, of_cell in run.metrics:
            first = next((view for view, _, _ in of_cell if view), "")  # the view that `predict` uses
            value = of_cell.get((first, metric, None), of_cell.get(("", metric, None), math.nan))
            label = run.short_label(cell.method, {name: x for name, x in cell.params.items() if name != key})
            if math.isnan(value) or (methods and label not in methods):
                continue
            if key == BAYES_ERROR:
                x = _bayes_error(run, cell.dataset)
            elif key == TRAIN_ROWS:
                x = rows[cell.key]
            else:
                x = cell.params[key] if key in cell.params else _at(run.config.as_dict(), key)
            line = (*[cell.dataset] * many, label, *of_run)
            values.setdefault(line, {}).setdefault(float(x), []).append(value)
    if not values:
        raise ConfmlError(f"the runs have no metric '{metric}' of such methods")
    lines = list(values)
    alike = [line[:-1] for line in lines]

    def order(line: Label) -> tuple:  # runs without steps or noise are first
        name = natural(line[0]) if many else ()
        return name, alike.index(line[:-1]), not line[-1].startswith("no "), lines.index(line)

    curves = {
        line: [Point(x, *mean_and_sd(splits)) for x, splits in sorted(values[line].items())]
        for line in sorted(lines, key=order)
    }
    if key == BAYES_ERROR and metric == "error":
        errors = sorted({x for points in values.values() for x in points})
        for c in sorted({info.classes for run in runs for info in run.datasets.values()}):
            name = "2 e (1 - e)" if c == 2 else f"e (2 - {c}/{c - 1} e)"
            curves[name,] = [Point(e, e * (2 - e * c / (c - 1)), math.nan, 0) for e in errors]
        curves["Bayes error e",] = [Point(e, e, math.nan, 0) for e in errors]
    return curves


def _words(runs: Sequence[RunResults], key: str) -> list[list[str]]:
    """Return label noise and steps of each run; without those that are equal in all runs or are the key."""
    noise, steps = [], []
    for run in runs:
        share = run.config.noise and run.config.noise.labels
        noise.append(f"{100 * share:g} % label noise" if share else "no noise")
        steps.append(" + ".join(step.name for step in run.config.steps) or "no steps")
    columns = [steps] if key in ("noise.labels", BAYES_ERROR) else [noise, steps]
    return [[texts[number] for texts in columns if len(set(texts)) > 1] for number in range(len(runs))]


def _at(config: Any, key: str) -> Any:
    """Return the value at a dotted key of a config, 0 for noise that it does not have."""
    for part in key.split("."):
        config = config[int(part)] if isinstance(config, list) else (config or {}).get(part, 0)
    return config


def _bayes_error(run: RunResults, dataset: str) -> float:
    """Return the known Bayes error of a generated data set, with label noise of its test part.

    With noise, the labels of a fraction q of the rows are drawn from the c - 1 other classes. The largest
    probability p of a class becomes (1 - q) p + q (1 - p) / (c - 1), and stays the largest up to
    q = (c - 1) / c.
    """
    (spec,) = [spec for spec in run.config.datasets if spec.name == dataset]
    params = {name: value for name, value in spec.params.items() if name not in COMMON}
    error = float(GENERATORS[spec.generate].bayes_error(**params))
    noise = run.config.noise
    q = 0.0 if noise is None or noise.on == "train" else noise.labels or 0.0
    most = 1 - 1 / run.datasets[dataset].classes
    if q > most:
        raise ConfmlError(
            f"the Bayes error of '{dataset}' with {100 * q:g} % label noise is not known",
            hint=f"it is known up to {100 * most:.3g} %",
        )
    return error + q * (1 - error / most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--against", metavar="KEY")
    parser.add_argument("--metric", default="error")
    parser.add_argument("--line", action="append", default=[], metavar="LABEL", help="method variant to draw")
    parser.add_argument("--log", action="store_true", help="a logarithmic axis for KEY")
    parser.add_argument("--log-metric", action="store_true", help="a logarithmic axis for the metric")
    options = parser.parse_args()
    if options.against:
        key, logs = options.against, {"log": options.log, "log_y": options.log_metric}
        paths = plot_across_runs(options.runs, key, options.metric, options.out, options.line, **logs)
    else:
        paths = draw_merged(options.runs, options.out)
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
