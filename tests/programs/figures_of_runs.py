"""Figures of several runs together, for the figures of papers.

``python tests/programs/figures_of_runs.py RUN... --out DIR --against KEY`` draws a metric of the runs against
a key of their configs (see `plot_across_runs`); without ``--against``, the figures of the first run with the
cells of all runs.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, cast

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
from confml.runner.results import CellResult

BAYES_ERROR, TRAIN_ROWS = "bayes-error", "train-rows"
DECIDES_NOTHING = (
    *("name", "about", "levels", "thresholds", "figures", "paper", "methods", "seed", "silence"),
    "figure-formats",
)
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
        results=ChainMap(*(cast(MutableMapping[str, CellResult], run.results) for run in opened)),
        failures=[failure for run in opened for failure in run.failures],
        datasets=ChainMap(*(dict(run.datasets) for run in reversed(opened))),
        origins=ChainMap(*(dict(run.origins) for run in reversed(opened))),
    )


def draw_merged(runs: Sequence[Path | str], folder: Path | str) -> list[Path]:
    """Draw the figures of the first run's config with the cells of all runs, below ``figures/``.

    Returns the files.
    """
    merged = merged_runs(runs)
    for _ in merged.collect(*figure_functions(merged)):
        pass  # one pass for all figures
    report = Report(merged, Path(folder))
    draw_figures(report, pictures(merged))
    return report.paths


def plot_across_runs(
    runs: Sequence[Path | str],
    key: str,
    metric: str,
    folder: Path | str,
    methods: Sequence[str] = (),
    log: bool = False,
    log_y: bool = False,
) -> list[Path]:
    """Draw ``metric`` against ``key``, and write the figure and its points as CSV.

    key: a dotted key of the runs' configs (``noise.labels``, ``datasets.0.n``); a parameter of their methods;
    ``train-rows``, the number of training examples of a fit; or ``bayes-error``, the known Bayes error of
    generated data, with the label noise of the config. With ``bayes-error`` the figure also shows the Bayes
    error e and e (2 - e c / (c - 1)), the largest limit of the error of 1-NN for c classes (Cover and Hart
    1967), which is 2 e (1 - e) for two. Each line is one data set and method variant; runs that differ only
    in ``seed`` are joined, with the mean over all their splits. methods: labels of the method variants to
    show; all by default. Writes ``figures/<metric>-against-<key>`` as SVG, PNG and CSV.
    """
    curves = combined_curves([open_run(run) for run in runs], key, metric, methods)
    named = {", ".join(label): points for label, points in curves.items()}
    stem = Path(folder) / "figures" / figure_file_name(safe_name(f"{metric}-against-{key}"))
    looks = dict(zip(named, _looks(curves), strict=True))
    with style():
        paths = save(draw_curves(named, looks, key=key, metric=metric, log=log, log_y=log_y), stem)
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

    The parts are the data set if there are several, the method variant, and the settings in which the runs
    differ. Raises ConfmlError if there are no points.
    """
    settings = [_settings(run.config.as_dict(), key) for run in runs]
    differing = [
        part
        for part in sorted(set().union(*settings))
        if len({json.dumps(setting.get(part), sort_keys=True) for setting in settings}) > 1
    ]
    of_methods = any(key in cell.params for run in runs for cell in run.cells)
    many = len({cell.dataset for run in runs for cell in run.cells}) > 1
    values: dict[Label, dict[float, list[float]]] = {}
    for run, setting in zip(runs, settings, strict=True):
        words = [text for part in differing if (text := _words(part, setting.get(part)))]
        number = None if of_methods else _numbers(run, key)
        for cell, of_cell in run.metrics:
            first = next((view for view, _, _ in of_cell if view), "")  # the view that `predict` uses
            value = of_cell.get((first, metric, None), of_cell.get(("", metric, None), math.nan))
            label = run.short_label(cell.method, {name: x for name, x in cell.params.items() if name != key})
            is_shown = not methods or label in methods
            if is_shown and not math.isnan(value) and (not of_methods or key in cell.params):
                x = _number(number(cell) if number else cell.params[key], key)
                line = (*[cell.dataset] * many, label, *words)
                values.setdefault(line, {}).setdefault(x, []).append(value)
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


def _numbers(run: RunResults, key: str) -> Any:
    """Return the function of a cell that returns the value of a key which is no parameter of methods."""
    if key == BAYES_ERROR:
        return lambda cell: _bayes_error(run, cell.dataset)
    if key == TRAIN_ROWS:
        rows = {result.cell.key: result.train_rows for result in run.finished()}
        return lambda cell: rows[cell.key]
    config = run.config.as_dict()
    value = _at(config, key)
    if value is None and not key.startswith("noise."):
        raise ConfmlError(f"run '{config['name']}' has no key {key}, and no method has such a parameter")
    return lambda cell: value or 0


def _number(value: Any, key: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ConfmlError(f"{key} must be a number, got {value!r}")
    return float(value)


def _at(config: Any, key: str) -> Any:
    """Return the value at a dotted key of a config, None if there is none."""
    for part in key.split("."):
        if isinstance(config, list):
            config = config[int(part)] if part.isdigit() and int(part) < len(config) else None
        else:
            config = config.get(part) if isinstance(config, dict) else None
    return config


def _settings(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the settings that decide a run's results, without ``key``, by first-level key of the config."""
    settings = copy.deepcopy({name: value for name, value in config.items() if name not in DECIDES_NOTHING})
    above, _, last = key.rpartition(".")
    removed = {BAYES_ERROR: "labels", TRAIN_ROWS: "n"}.get(key, last)
    for dataset in settings["datasets"]:
        dataset.pop("seed", None)  # the config's
        if key == TRAIN_ROWS or above.startswith("datasets"):
            dataset.pop(removed, None)
    if isinstance(parent := _at(settings, above) if above else settings, dict):
        parent.pop(removed, None)
    if key == BAYES_ERROR:
        del settings["datasets"]

    if key == TRAIN_ROWS:
        settings.get("protocol", {}).pop("test-size", None)
    if noise := settings.get("noise"):
        ignored = ("on", "labels") if key == BAYES_ERROR else ("on",)
        noise = {name: value for name, value in noise.items() if value and name not in ignored}
        settings["noise"] = {**noise, "on": settings["noise"]["on"]} if noise else None
    return settings


def _words(part: str, value: Any) -> str:
    """Return a short text for a setting in which runs differ."""
    if part == "steps":
        return (
            " + ".join(step if isinstance(step, str) else step["name"] for step in value or ()) or "no steps"
        )
    if not value:
        return f"no {part}"
    if part == "noise":
        kinds = {"labels": "label", "attributes": "attribute"}
        words = [f"{100 * value[name]:g} % {kind} noise" for name, kind in kinds.items() if value.get(name)]
        words += [f"{value['irrelevant']} irrelevant"] if value.get("irrelevant") else []
        return " + ".join(words) + (" in training" if value.get("on") == "train" else "")
    return json.dumps(value, ensure_ascii=False)


def _bayes_error(run: RunResults, dataset: str) -> float:
    """Return the known Bayes error of a generated data set, with label noise of its test part.

    With noise, the labels of a fraction q of the rows are drawn from the c - 1 other classes. The largest
    probability p of a class becomes (1 - q) p + q (1 - p) / (c - 1), and stays the largest up to
    q = (c - 1) / c.
    """
    from confml.data.generators import COMMON, GENERATORS

    (spec,) = [spec for spec in run.config.datasets if spec.name == dataset]
    if spec.generate is None:
        hint = "it is known for generated data only"
        raise ConfmlError(f"the Bayes error of '{dataset}' is not known", hint=hint)
    given = {name: value for name, value in spec.params.items() if name not in COMMON}
    error = float(GENERATORS[spec.generate].bayes_error(**given))
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
    given = parser.parse_args()
    if given.against:
        draw = (given.against, given.metric, given.out, given.line, given.log, given.log_metric)
        paths = plot_across_runs(given.runs, *draw)
    else:
        paths = draw_merged(given.runs, given.out)
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
