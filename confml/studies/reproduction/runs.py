"""Numbers, figures and provenance of runs that are kept below ``results/reference``."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confml.errors import ConfmlError
from confml.report.files import read_csv, safe_name, write_csv, write_file
from confml.report.numbers.summaries import read_summary, timing_rows
from confml.runner.manifest import read_manifest
from confml.runner.provenance import STUDY_FILE

FILE = "provenance.json"
_WORK = ("fit_seconds", "predict_seconds", "tuning_seconds")
_HEADER = ("dataset", "method", "params", "view", "metric", "level", "mean", "sd", "n")


def keep_runs(
    runs: Sequence[Path], metrics: Collection[str], folder: Path, figures: bool = True
) -> list[Path]:
    """Keep some metrics and the SVG figures of runs: ``<run>.csv`` and ``figures/<run>-<figure>.svg``.

    runs: folders that ``confml run`` or ``confml report --out`` has written; the figures of a folder without
    a ``summary.csv`` are kept with the CSV files of their points. metrics: names of metrics, and
    ``training_seconds``. figures: whether figures are kept. Raises ConfmlError if a run has none of the
    metrics, or no run has one of them.
    """
    paths = []
    found: set[str] = set()
    for run in runs:
        name = run.name.removeprefix("classical-")
        if (run / "summary.csv").is_file():
            tables = [run / table for table in ("summary.csv", "threshold-curves.csv")]
            rows = [row for one in tables for row in read_csv(one) if row["metric"] in metrics]
            rows += [row for row in _times(run) if row["metric"] in metrics]
            if not rows:
                raise ConfmlError(f"the run has none of the metrics {', '.join(metrics)}", where=str(run))
            found |= {row["metric"] for row in rows}
            cells = [[_short(name, row[name]) for name in _HEADER] for row in rows]
            paths.append(write_csv(folder / f"{name}.csv", _HEADER, cells))
        for figure in sorted((run / "figures").glob("*.svg")) if figures else ():
            stem = safe_name(f"{name}-{figure.stem}", limit=140)
            paths.append(write_file(folder / "figures" / f"{stem}.svg", figure.read_bytes()))
            points = figure.with_suffix(".csv")
            if points.is_file():
                paths.append(write_file(folder / "figures" / f"{stem}.csv", points.read_bytes()))
    if lost := [name for name in metrics if name not in found]:
        raise ConfmlError(f"no run has {', '.join(lost)}", where=", ".join(map(str, runs)))
    return paths


def _times(run: Path) -> Iterator[dict[str, str]]:
    """Return training times in seconds, as means over the splits, in the columns of a ``summary.csv``."""
    timings = run / "timings.csv"
    for row in timing_rows(timings, read_summary(run / "summary.json")) if timings.is_file() else ():
        texts = (row.dataset, row.method, row.variant, "", row.metric, "")
        yield dict(zip(_HEADER, (*texts, str(row.mean), str(row.sd), str(row.n)), strict=True))


def _short(name: str, text: str) -> str | float | None:
    """Return a cell of a summary, with the mean and the sd rounded to 6 significant digits."""
    if name in ("mean", "sd") and text:
        return float(f"{float(text):.6g}")
    return text or None


def write_provenance(runs: Sequence[Path], folder: Path, command: str) -> Path:
    """Write ``provenance.json`` of a stored table into ``folder``.

    runs: folders of the runs, or of studies of the Bayes error; other folders, such as those of combined
    figures, are left out. command: what computes the table. Raises ConfmlError if no folder is that of a run.
    """
    entries = []
    for run in runs:
        if (run / "manifest.json").exists():
            entries.append(_entry(read_manifest(run)))
        elif (run / STUDY_FILE).is_file():
            entries.append(_entry(json.loads((run / STUDY_FILE).read_text(encoding="utf-8"))))
    if not entries:
        raise ConfmlError("none of the folders is that of a run", where=str(folder / FILE))
    content: dict[str, Any] = {"command": command, "runs": entries}
    if any(entry["seconds"] is None for entry in entries):
        content["work_seconds"] = round(sum(map(work_seconds, runs)), 3)
    return write_file(folder / FILE, json.dumps(content, indent=1) + "\n")


def work_seconds(run: Path) -> float:
    """Return the seconds of the tuning, fits and predictions of a run, summed over its tasks; 0 without any.

    It is known for runs in parts, too, whose run time is not.
    """
    rows = read_csv(run / "timings.csv")
    return sum((float(row.get(name) or 0) for row in rows for name in _WORK), 0.0)


def _entry(manifest: Mapping[str, Any]) -> dict[str, Any]:
    origin = manifest["provenance"]
    return {
        "name": manifest["name"],
        "seed": manifest["seed"],
        "seconds": None if manifest.get("resumed") else manifest["seconds"],  # those of the last call
        "jobs": manifest["jobs"],
        "confml": origin["confml"],
        "git": origin["git"],
        "python": origin["python"],
        "packages": origin["packages"],
        "machine": origin["machine"],
        "blas": sorted({one.get("architecture", "") for one in origin["blas"]}),
    }


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """Return the content of ``provenance.json`` in ``folder``, None if there is none."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def provenance_text(content: Mapping[str, Any]) -> str:
    """Return the provenance of a table as one paragraph."""
    runs = content["runs"]
    first = runs[0]
    packages = ", ".join(f"{name} {first['packages'][name]}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"`{content['command']}`: {len(runs)} run{'s' * (len(runs) != 1)}, {origin_text(content)}; "
        f"seed {_said(run['seed'] for run in runs)}; confml {_said(run['confml'] for run in runs)}, "
        f"Python {first['python']}, {packages}; {_said(run['machine']['processor'] for run in runs)}."
    )


def origin_text(content: Mapping[str, Any]) -> str:
    """Return the time and the commits of the runs of a table."""
    runs = content["runs"]
    seconds = [run["seconds"] for run in runs]
    jobs = _said(run["jobs"] for run in runs)
    if None in seconds:  # a run in parts, or one that is not finished
        work = content.get("work_seconds")
        time = f"{time_text(work)} of tuning, fits and predictions" if work else "time not recorded"
    else:
        time = f"{time_text(sum(seconds))} with {jobs} job{'s' * (jobs != '1')}"
    return f"{time}, {_said(_commit(run['git']) for run in runs)}"


def _said(texts: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(text) for text in texts))


def time_text(seconds: float) -> str:
    """Return a time in seconds, in minutes from 2 minutes on, or in hours from 2 hours on."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} seconds"


def _commit(git: str | None) -> str:
    """Return the text for a recorded commit; ``+changes`` marks files that were not committed."""
    if not git:
        return "no commit recorded"
    commit, plus, _ = git.partition("+")
    return f"commit {commit[:12]}{' with changes' * bool(plus)}"
