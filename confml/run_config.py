"""`run` executes a config from Python.

It imports all that a run needs: threads that call `run` and `predict` at the same time would wait for each
other inside imports of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import cpu_count

from confml.config.warnings import unsilenced, warning_texts
from confml.plugins.imports import with_allowed_imports
from confml.report.tables.notes import result_warnings
from confml.report.write import write_report
from confml.runner.run import Execution
from confml.runner.run import run as compute
from confml.runs import Run, load_settings


@with_allowed_imports
def run(
    config: str | Path | Mapping[str, Any],
    *,
    out: Path | str | None = None,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    jobs: int | None = None,
    engine: str | None = None,
    retry_failed: bool = False,
    shard: tuple[int, int] | None = None,
    allow_import: Sequence[str] | str = (),
    say: Callable[[str], None] = lambda text: None,
) -> Run:
    """Execute a config as ``confml run`` does, write its reports, and return the `Run`.

    Finished cells of the folder are not computed again. Failed cells do not raise; they are in
    `Run.failures`.

    Parameters
    ----------
    config : str, Path or dict
        Path of a YAML file, name of a bundled config, or the config as a mapping.
    out : str or Path, optional
        Folder of the run; ``results/<name>`` by default.
    overrides : dict or sequence of str, default=()
        As ``--set``: a mapping from dotted keys to values, or ``KEY=VALUE`` texts.
    jobs : int, optional
        Number of worker processes; all cores by default.
    engine : str, default="joblib"
        What executes the tasks: "joblib", "serial", or the address or scheduler file of a dask cluster.
    retry_failed : bool, default=False
        Compute cells that failed before again.
    shard : tuple of int, optional
        Compute one part of the cells: ``(part, parts)``, from 1 on.
    allow_import : str or sequence of str, default=()
        Packages, besides scikit-learn, whose classes the config may name, such as ``["xgboost"]``.
    say : callable, optional
        Called with each message.

    Returns
    -------
    Run
        The tables of the run.

    Raises
    ------
    ConfigErrors
        With all errors of the config, before computing.
    DataError
        For data that are missing or wrong, before computing.

    Examples
    --------
    >>> data = {"generate": "five-gaussians", "n": 60}
    >>> protocol = {"kind": "holdout", "repeats": 2}
    >>> results = run({"name": "demo", "datasets": [data], "methods": ["knn"], "protocol": protocol})
    >>> results.metrics.query("method == 'knn' and metric == 'error'")["split"].tolist()
    ['r0', 'r1']
    """
    settings = load_settings(config, overrides).with_baseline()
    folder = Path("results") / settings.name if out is None else Path(out)
    execution = Execution(jobs or cpu_count(), engine, retry_failed, shard)
    compute(settings, folder, execution, say=say)
    finished = Run(folder)
    write_report(finished._results, folder)
    for text in warning_texts(unsilenced(result_warnings(finished._results), settings.silence)):
        say(f"warning: {text}")
    return finished
