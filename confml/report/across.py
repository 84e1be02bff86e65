"""Figures of several runs together: ``confml report RUN... --against KEY``, or ``--figures``."""

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
from confml.report.figures.style import save, style
from confml.report.files import natural, safe_name, write_csv
from confml.report.numbers.split_sizes import split_sizes
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.run.stored import open_run
from confml.report.tables.page import draw_figures
from confml.runner.results import CellResult

BAYES_ERROR, TRAIN_ROWS = "bayes-error", "train-rows"
DECIDES_NOTHING = (
    *("name", "about", "levels", "thresholds", "figures", "paper", "methods", "seed", "silence"),
    *("figure-formats", "coverage-by"),
)


def merged_runs(runs: Sequence[Path | str]) -> RunResults:
    """Return several runs as one: cells and methods of all runs, the rest of the config from the first.

    It is used for figures of data sets or methods that need different protocols. A cell of two runs counts
    once.
    """
    opened = [open_run(run) for run in runs]
    first = opened[0]
    methods = {repr(entry): entry for one in opened for entry in one.config.methods}
    return RunResults(
        config=first.config.model_copy(update={"methods": tuple(methods.values())}),
        cells=list({cell.key: cell for one in opened for cell in one.cells}.values()),
        results=ChainMap(*(cast(MutableMapping[str, CellResult], one.results) for one in opened)),
        failures=[failure for one in opened for failure in one.failures],
        datasets={name: info for one in opened for name, info in one.datasets.items()},
        origins={name: origins for one in opened for name, origins in one.origins.items()},
    )


def draw_merged(runs: Sequence[Path | str], folder: Path | str) -> tuple[list[Path], list[str]]:
    """Draw the figures of the first run's config with the cells of all runs, below ``figures/``.

    Returns the files, and a note for each figure that was not drawn.
    """
    merged = merged_runs(runs)
    for _ in merged.collect(*figure_functions(merged)):
        pass  # one pass for all figures
    report = Report(merged, Path(folder))
    draw_figures(report, pictures(merged))
    return report.paths, report.notes


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
    opened = [open_run(run) for run in runs]
    curves = combined_curves(opened, key, metric, methods)
    stem = figure_file_name(safe_name(f"{metric}-against-{key}"))
    with style():
        figure = draw_curves(
            curves, key=key, metric=metric, title="", log=log, log_y=log_y, band="± 1 sd over splits, seeds"
        )
        paths = save(figure, Path(folder) / "figures" / stem)
    rows = [(", ".join(label), *point[:4]) for label, points in curves.items() for point in points]
    header = ("line", key, "mean", "sd", "n")
    return [*paths, write_csv(Path(folder) / "figures" / f"{stem}.csv", header, rows)]


def combined_curves(
    runs: Sequence[RunResults], key: str, metric: str, methods: Sequence[str] = ()
) -> dict[tuple[str, ...], list[Point]]:
    """Return the points of each line in the order of ``key``, by the parts of the line's label.

    The parts are the data set if there are several, the method variant, and the settings in which the runs
    differ. Raises ConfmlError if there are no points.
    """
    configs = [run.config.as_dict() for run in runs]
    rests = [_rest(config, key) for config in configs]
    differing = {
        part
        for part in set().union(*rests)
        if len({json.dumps(rest.get(part), sort_keys=True) for rest in rests}) > 1
    }
    of_methods = any(key in cell.params for run in runs for cell in run.cells)
    many = len({cell.dataset for run in runs for cell in run.cells}) > 1
    found: dict[tuple[str, ...], dict[float, list[float]]] = {}
    metrics, labels = set(), set()
    for run, config, rest in zip(runs, configs, rests, strict=True):
        said = [text for part in sorted(differing) if (text := _words(part, rest.get(part)))]
        fit_rows = {}
        if key == TRAIN_ROWS:
            fit_rows = {name: sizes[0] for own in run.collected(split_sizes) for name, sizes in own.items()}
        for cell, values in run.metrics:
            first = next((view for view, _, _ in values if view), "")  # the view that `predict` uses
            for (view, name, level), number in values.items():
                if level is not None or view not in ("", first):
                    continue
                metrics.add(name)
                if name != metric or math.isnan(number):
                    continue
                if of_methods and key not in cell.params:
                    continue
                others = {name: other for name, other in cell.params.items() if name != key}
                label = run.short_label(cell.method, others)
                labels.add(label)
                if methods and label not in methods:
                    continue
                if key == BAYES_ERROR:
                    value = _bayes_error(run, cell.dataset)
                elif key == TRAIN_ROWS:
                    value = fit_rows[cell.key]
                else:
                    value = cell.params[key] if of_methods else _value(config, key)
                line = (*([cell.dataset] if many else []), label, *said)
                found.setdefault(line, {}).setdefault(_number(value, key), []).append(number)
    if not found:
        wanted = next((one for one in methods if one not in labels), None)
        if metric in metrics and wanted is not None:
            raise ConfmlError(f"no method variant is called '{wanted}'", near=(wanted, labels))
        raise ConfmlError(f"the runs have no metric '{metric}'", near=(metric, metrics))
    curves = {}
    lines = list(found)
    order = {line: (natural(line[0]) if many else (), *_plain_first(line, lines)) for line in lines}
    for line, points in sorted(found.items(), key=lambda one: order[one[0]]):
        curves[line] = [Point.of(x, values) for x, values in sorted(points.items())]
    if key == BAYES_ERROR and metric == "error":
        places = sorted({x for points in found.values() for x in points})
        for count in sorted({info.classes for run in runs for info in run.datasets.values()}):
            curves[_limit_text(count),] = [
                Point(e, e * (2 - e * count / (count - 1)), math.nan, 0) for e in places
            ]
        curves["Bayes error e",] = [Point(e, e, math.nan, 0) for e in places]
    return curves


def _limit_text(classes: int) -> str:
    return "2 e (1 - e)" if classes == 2 else f"e (2 - {classes}/{classes - 1} e)"


def _plain_first(line: tuple[str, ...], lines: list[tuple[str, ...]]) -> tuple:
    """Return a sort key that puts runs without steps or noise first and keeps the other runs in order."""
    alike = [one[:-1] for one in lines].index(line[:-1])
    return alike, not line[-1].startswith("no "), lines.index(line)


def _bayes_error(run: RunResults, dataset: str) -> float:
    """Return the known Bayes error of a generated data set, with label noise of its test part.

    With noise, the labels of a fraction q of the rows are drawn from the c - 1 other classes. The largest
    probability p of a class becomes (1 - q) p + q (1 - p) / (c - 1), and stays the largest up to
    q = (c - 1) / c.
    """
    from confml.data.generators import COMMON, GENERATORS

    (spec,) = [one for one in run.config.datasets if one.name == dataset]
    if spec.generate is None:
        raise ConfmlError(
            f"the Bayes error of '{dataset}' is not known", hint="it is known for generated data only"
        )
    own = {name: value for name, value in spec.params.items() if name not in COMMON}
    error = float(GENERATORS[spec.generate].bayes_error(**own))
    noise = run.config.noise
    if noise is None or noise.on == "train" or not noise.labels:
        return error
    share = 1 - 1 / run.datasets[dataset].classes  # of the other classes
    if noise.labels > share:
        raise ConfmlError(
            f"the Bayes error of '{dataset}' with {100 * noise.labels:g} % label noise is not known",
            hint=f"it is known up to {100 * share:.3g} %",
        )
    return error + noise.labels * (1 - error / share)


def _rest(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the settings that decide a run's results, without ``key``, by first-level key of the config."""
    rest = copy.deepcopy({part: value for part, value in config.items() if part not in DECIDES_NOTHING})
    for dataset in rest.get("datasets", ()):
        dataset.pop("seed", None)  # the config's
    if key == BAYES_ERROR:
        rest.pop("datasets", None)
        rest["noise"] = (rest.get("noise") or {}) | {"labels": 0}
    if key == TRAIN_ROWS:
        for dataset in rest.get("datasets", ()):
            dataset.pop("n", None)
        rest.get("protocol", {}).pop("test-size", None)
    place: Any = rest
    *way, last = key.split(".")
    for part in way:
        place = _step(place, part)
    if isinstance(place, dict):
        value = place.pop(last, None)
        if way[:1] == ["datasets"]:  # set alike in all of them, it is one key
            for dataset in rest["datasets"]:
                if dataset.get(last) == value:
                    dataset.pop(last, None)
    noise = rest.get("noise")
    if noise is not None:
        rest["noise"] = {name: value for name, value in noise.items() if value and name != "on"}
        if rest["noise"]:
            rest["noise"]["on"] = noise["on"]
    return rest


def _step(place: Any, part: str) -> Any:
    if isinstance(place, list) and part.isdigit() and int(part) < len(place):
        return place[int(part)]
    return place.get(part) if isinstance(place, dict) else None


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key; 0 for noise that the config does not set."""
    place: Any = config
    for part in key.split("."):
        place = _step(place, part)
    if place is None:
        if key.startswith("noise."):
            return 0
        raise ConfmlError(f"run '{config['name']}' has no key {key}, and no method has such a parameter")
    return place


def _number(value: Any, key: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ConfmlError(f"{key} must be a number, got {value!r}")
    return float(value)


def _words(part: str, value: Any) -> str:
    """Return a short text for a setting in which runs differ."""
    if part == "steps":
        names = []
        for step in value or ():
            names.append(step if isinstance(step, str) else step["name"])
        return " + ".join(names) or "no steps"
    if not value:
        return f"no {part}"
    if part == "noise":
        said = [
            f"{100 * value[name]:g} % {name.removesuffix('s')} noise"
            for name in ("labels", "attributes")
            if value.get(name)
        ]
        said += [f"{value['irrelevant']} irrelevant"] if value.get("irrelevant") else []
        return " + ".join(said) + (" in training" if value.get("on") == "train" else "")
    if isinstance(value, dict):
        return " ".join(f"{name} {one}" for name, one in value.items() if not isinstance(one, dict | list))
    return json.dumps(value, ensure_ascii=False)
