"""`keep`: numbers, figures and provenance of runs, in a folder below ``results/reference``."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from programs.reproduction._numbers import SOURCES, is_chance
from programs.shared import read_csv

from confml.plugins.parameters import parameters_text
from confml.published import known_tables

FILE = "provenance.json"
_WORK = ("fit_seconds", "predict_seconds", "tuning_seconds")
_HEADER = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")


def keep(
    runs: Sequence[Path], folder: Path, metrics: Sequence[str], by: str, figures: bool, command: str
) -> None:
    """Write numbers, figures and ``provenance.json`` of runs and studies into ``folder``.

    runs: folders of ``confml run``, ``confml bayes-error`` and ``confml report --out``. metrics: those that
    are kept in ``<run>.csv``, and ``training_seconds``; or, with the parameter ``by``, in
    ``<metric>-by-<by>.csv`` with one row for each value. figures: whether SVG figures, and the CSV files of
    their points, are kept as ``figures/<run>-<figure>.svg``. command: what computes the runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if by:
        for metric in metrics:
            _write_by_parameter(runs, folder / f"{metric}-by-{by}.csv", metric, by)
    else:
        stored = {metric for run in runs for metric in _keep_run(run, folder, metrics, figures)}
        if lost := [metric for metric in metrics if metric not in stored]:
            sys.exit(f"no run has {', '.join(lost)}")
    _write_provenance(runs, folder, command)


def _keep_run(run: Path, folder: Path, metrics: Sequence[str], figures: bool) -> set[str]:
    """Write numbers and figures of a run, and return the names of the metrics that it has."""
    name = run.name.removeprefix("classical-")
    for figure in sorted((run / "figures").glob("*.svg")) if figures else ():
        (folder / "figures").mkdir(exist_ok=True)
        for path in filter(Path.is_file, (figure, figure.with_suffix(".csv"))):
            (folder / "figures" / f"{name}-{path.name}").write_bytes(path.read_bytes())
    if not metrics or not (run / "summary.csv").is_file():
        return set()
    rows = [*read_csv(run / "summary.csv"), *read_csv(run / "tables/threshold-curves.csv"), *_times(run)]
    table = pd.DataFrame([row for row in rows if row["metric"] in metrics], columns=_HEADER)
    if table.empty:
        sys.exit(f"{run}: the run has none of the metrics {', '.join(metrics)}")
    table = table.assign(mean=table["mean"].map(_short), sd=table["sd"].map(_short))
    table.to_csv(folder / f"{name}.csv", index=False)
    return set(table["metric"])


def _short(text: Any) -> str:
    """Return a number with 6 significant digits as Python writes it, and no text for none."""
    return "" if text in ("", None) or text != text else repr(float(f"{float(text):.6g}"))


def _times(run: Path) -> Iterator[dict[str, Any]]:
    """Yield training times in seconds, as means over the splits, in the columns of a ``summary.csv``."""
    table = pd.DataFrame(read_csv(run / "tables/timings.csv"))
    if table.empty:
        return
    columns = table.reindex(columns=["fit_seconds", "tuning_seconds"]).replace("", 0)
    table["seconds"] = columns.astype(float).sum(axis=1)
    for key, seconds in table.groupby(["dataset", "method", "params"], sort=False)["seconds"]:
        texts = (*key, "", "training_seconds", "", seconds.mean(), seconds.std(), len(seconds))
        yield dict(zip(_HEADER, texts, strict=True))


def _write_by_parameter(runs: Sequence[Path], path: Path, metric: str, parameter: str) -> None:
    """Write a metric for each value of a swept parameter, with the published number.

    A paper that tunes a parameter prints one number and often not the chosen value. The table shows which
    values give that number. within_chance: whether the difference from the published number is at most two
    standard errors of a difference between two means over random splits.
    """
    rows = [row for run in runs for row in json.loads((run / "summary.json").read_text("utf-8"))["summary"]]
    frame = pd.DataFrame(
        {**row, "value": float(row["params"].pop(parameter)), "others": parameters_text(row["params"])}
        for row in rows
        if row["metric"] == metric and row["level"] is None and parameter in row["params"]
    )
    if not frame.empty:
        frame = frame[frame["view"] == frame.groupby(["dataset", "method"])["view"].transform("first")]
        frame["label"] = (frame["method"] + " " + frame["others"]).str.strip()
        frame = frame[frame.groupby(["dataset", "label"])["label"].transform("size") > 1]
    if frame.empty:
        sys.exit(f"no method has the metric {metric} at two or more values of {parameter}")
    lines = []
    for dataset, swept in frame.groupby("dataset", sort=False):
        for row in swept.sort_values(["label", "value"]).itertuples():
            paper, splits = _published(str(dataset), row.method, metric)
            chance = str(is_chance(row.mean, row.sd, row.n, paper, splits)).lower() if paper else ""
            texts = (repr(row.value), _short(row.mean), _short(row.sd), row.n, paper, chance)
            lines.append((dataset, row.label, *texts))
    header = ("dataset", "method", parameter, "mean", "sd", "splits", "paper", "within_chance")
    pd.DataFrame(lines, columns=header).to_csv(path, index=False)


def _published(dataset: str, method: str, metric: str) -> tuple[str, int]:
    """Return the first published number of a metric and its number of splits, or "" and 0."""
    for source in SOURCES:
        for table in (known_tables()[name] for name in source.tables):
            for entry in table.entries():
                ours = entry.ours
                names = (ours.dataset,) if ours and ours.dataset else table.names(entry.keys[0])
                is_of_method = ours and (ours.method, ours.metric, ours.level) == (method, metric, None)
                if entry.printed and is_of_method and dataset in names:
                    return entry.printed, source.splits_of(entry.keys[0])
    return "", 0


def _write_provenance(runs: Sequence[Path], folder: Path, command: str) -> None:
    """Write versions, machine, seed and time of runs and studies; folders of reports are left out."""
    entries = []
    for path in (run / name for run in runs for name in (".run/manifest.json", "study.json")):
        if path.is_file():
            manifest = json.loads(path.read_text(encoding="utf-8"))
            origin = manifest["provenance"]
            entry = {name: manifest[name] for name in ("name", "seed")}
            entry["seconds"] = None if manifest.get("resumed") else manifest["seconds"]  # of the last call
            entry["jobs"] = manifest["jobs"]
            entry |= {name: origin[name] for name in ("confml", "git", "python", "packages", "machine")}
            entry["blas"] = sorted({library.get("architecture", "") for library in origin["blas"]})
            entries.append(entry)
    content: dict[str, Any] = {"command": command, "runs": entries}
    if any(entry["seconds"] is None for entry in entries):
        rows = (row for run in runs for row in read_csv(run / "tables/timings.csv"))
        content["work_seconds"] = round(sum(float(row.get(name) or 0) for row in rows for name in _WORK), 3)
    (folder / FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """Return the content of ``provenance.json`` in ``folder``, None if there is none."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def provenance_text(content: Mapping[str, Any]) -> str:
    """Return the provenance of a table as one paragraph."""
    runs = content["runs"]
    packages = runs[0]["packages"]
    versions = ", ".join(f"{name} {packages[name]}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"`{content['command']}`: {len(runs)} run{'s' * (len(runs) != 1)}, {origin_text(content)}; "
        f"seed {_listed(run['seed'] for run in runs)}; confml {_listed(run['confml'] for run in runs)}, "
        f"Python {runs[0]['python']}, {versions}; {_listed(run['machine']['processor'] for run in runs)}."
    )


def origin_text(content: Mapping[str, Any]) -> str:
    """Return the time and the commits of the runs of a table; changes were not committed."""
    runs = content["runs"]
    seconds = [run["seconds"] for run in runs]
    jobs = _listed(run["jobs"] for run in runs)
    if None in seconds:  # a run in parts, or one that is not finished
        work = content.get("work_seconds")
        time = f"{_time_text(work)} of tuning, fits and predictions" if work else "time not recorded"
    else:
        time = f"{_time_text(sum(seconds))} with {jobs} job{'s' * (jobs != '1')}"
    commits = ((run["git"] or "not recorded").partition("+") for run in runs)
    names = (f"commit {name[:12]}{' with changes' * bool(plus)}" for name, plus, _ in commits)
    return f"{time}, {_listed(names)}"


def _listed(texts: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(text) for text in texts))


def _time_text(seconds: float) -> str:
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} seconds"
