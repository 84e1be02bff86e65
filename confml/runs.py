"""Runs from Python: `load_run` opens a folder, `Run` has the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confml._json import from_json
from confml.errors import ConfmlError

if TYPE_CHECKING:
    import pandas as pd

    from confml.config import Config
    from confml.report.shown_table import ShownTable

_TEXT = ("dataset", "method", "params", "split", "view", "metric", "select_by", "candidate", "error", "calls")


class Run:
    """The tables of a finished or interrupted run as pandas DataFrames.

    Returned by `run` and `load_run`. Each table is read from the CSV file of its name when it
    is first used. ``level`` is NaN for metrics without a level. In a notebook a run shows its result table.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Attributes
    ----------
    folder : Path
        Folder of the run.

    Examples
    --------
    >>> results = Run("results/demo")  # of the example of `run`
    >>> results.manifest["name"]
    'demo'
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        from confml.report.run.stored import open_run

        self._results = open_run(self.folder)

    @property
    def name(self) -> str:
        """Name of the run, from its config."""
        return self._results.config.name

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The resolved config, versions, checksums of the data, seed, machine and times."""
        from confml.runner.manifest import read_manifest

        return read_manifest(self.folder)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row per data set, method variant, split, view, metric and level."""
        return self._read("metrics.csv")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and number of splits of every metric."""
        return self._read("summary.csv")

    @cached_property
    def timings(self) -> pd.DataFrame:
        """Seconds of fit, prediction and inner selection on one thread, per cell."""
        return self._read("timings.csv")

    @cached_property
    def tuning(self) -> pd.DataFrame:
        """Inner scores of every grid point, and which one was chosen."""
        return self._read("tuning.csv")

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Risk-coverage curves: errors and risk at each rejection rate, per view."""
        return self._read("rejection-curves.csv")

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The answer of the report: its state, the advice for each data set and over all, with sentences.

        As in ``answer.json``: ``answer["short"]`` is what ``confml run`` prints.
        """
        path = self.folder / "answer.json"
        if not path.is_file():
            raise self._missing(path.name)
        return from_json(path.read_bytes())

    def _missing(self, name: str) -> ConfmlError:
        return ConfmlError(f"there is no {name}", where=str(self.folder), hint=f"confml report {self.folder}")

    @cached_property
    def failures(self) -> pd.DataFrame:
        """Failed fits with the reason."""
        return self._read("failures.csv")

    def regions(
        self, dataset: str | None = None, method: str | None = None, view: str | None = None
    ) -> pd.DataFrame:
        """Return the prediction of every test example, one row per example, split and view.

        Parameters
        ----------
        dataset, method, view : str, optional
            Names to select; all by default. A method's name selects all of its variants, a label of the
            config those with the label.

        Returns
        -------
        pandas.DataFrame
            ``dataset``, ``method``, ``params``, ``split``, ``view``, ``row`` (number of the row in the
            loaded part), ``line`` and the identifiers where the data set has them (as in ``regions/``),
            ``label``, then the columns of `confml.Prediction.to_frame` with a region, a tuple of labels, for
            each significance level of the config.

        Raises
        ------
        ConfmlError
            For a name that the run does not have.
        """
        import pandas as pd

        cells = self._results.cells
        _check_name("data set", dataset, {cell.dataset for cell in cells})
        labels = {cell.key: self._results.label(cell) for cell in cells}
        configured = {entry.label or entry.name for entry in self._results.config.methods}
        _check_name("method", method, {cell.method for cell in cells} | set(labels.values()) | configured)
        frames, views = [], set()
        for result in self._results.finished():
            cell = result.cell
            label = labels[cell.key]
            if dataset not in (None, cell.dataset) or (
                method not in (None, cell.method, label) and not label.startswith(f"{method} ")
            ):
                continue
            views |= set(result.views)
            for name, prediction in result.views.items():
                if view in (None, name):
                    levels = self._results.config.levels if prediction.has_regions else ()
                    frame = prediction.to_frame(levels)
                    frame.insert(0, "label", result.truth)
                    keys = cell.dataset, cell.method, cell.variant, cell.split, name
                    columns = dict(zip(_KEYS, keys, strict=True)) | {"row": result.rows}
                    if (origins := self._results.origins.get(cell.dataset)) is not None:
                        column_names = [*columns, *map(str, frame.columns)]
                        columns |= origins.columns(result.rows, cell.split, column_names)
                    for position, (column, values) in enumerate(columns.items()):
                        frame.insert(position, column, values)
                    frames.append(frame)
        if frames:
            return pd.concat(frames, ignore_index=True)
        _check_name("view", view, views)
        return pd.DataFrame(columns=[*_KEYS, "row", "label", "prediction", "confidence"])

    def table(self) -> pd.DataFrame:
        """Return the result table that ``confml run`` prints.

        Returns
        -------
        pandas.DataFrame
            One row per data set, method and view.
        """
        frame = self._printed_table().frame
        frame["error"] = frame["error"].replace("", None).ffill()
        return frame

    def _printed_table(self) -> ShownTable:
        from confml.report.forms.summary import shown_summary

        return shown_summary(self._results, plain=True)

    def _read(self, name: str) -> pd.DataFrame:
        import pandas as pd

        from confml.report.files import place_of
        from confml.report.tables.known import known_outputs
        from confml.report.tables.table import Table

        path = self.folder / place_of(name)
        if not path.is_file():
            if not (self.folder / "metrics.csv").is_file():
                raise self._missing(name)
            tables = (output for output in known_outputs() if isinstance(output, Table))
            return next(pd.DataFrame(columns=[*table.columns]) for table in tables if table.path == name)
        header = pd.read_csv(path, nrows=0).columns
        # Only empty numbers are missing: a method may be called "null", and parameters may be empty.
        missing = {column: [""] for column in header.difference(list(_TEXT))}
        texts = dict.fromkeys(header.intersection(list(_TEXT)), str)
        return pd.read_csv(path, keep_default_na=False, na_values=missing, dtype=texts, low_memory=False)

    def __repr__(self) -> str:
        from confml.report.shown_table import to_console

        results = self._results
        head = f"Run '{self.name}' in {self.folder}: {results.done} of {len(results.cells)} fits finished"
        return f"{head}\n\n{to_console(self._printed_table()).rstrip()}" if results.done else head

    def _repr_html_(self) -> str:
        from html import escape

        from confml.report.shown_table import to_html

        results = self._results
        head = f"Run {escape(self.name)}: {results.done} of {len(results.cells)} fits finished"
        return f"<p>{head}</p>{to_html(self._printed_table(), 'results')}"


_KEYS = ("dataset", "method", "params", "split", "view")


def load_run(folder: Path | str) -> Run:
    """Return the run in a folder that ``confml run`` has written.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Returns
    -------
    Run
        The tables of the run, computed when they are asked for.

    Raises
    ------
    ConfmlError
        If the folder contains no run.

    Examples
    --------
    >>> load_run("results/demo").name  # of the example of `run`
    'demo'
    """
    return Run(folder)


def load_settings(
    config: str | Path | Mapping[str, Any], overrides: Mapping[str, Any] | Sequence[str] = ()
) -> Config:
    """Return the config of a file, a name or a mapping, with its figures and tables checked."""
    from confml.config import load_config, make_config
    from confml.published import known_tables
    from confml.report.figures import FIGURES, check_figure
    from confml.yaml.wording import flow

    if isinstance(overrides, Mapping):
        overrides = [f"{key}={flow(value)}" for key, value in overrides.items()]
    names: dict[str, Any] = {"figures": FIGURES, "tables": known_tables(), "check_figure": check_figure}
    if isinstance(config, Mapping):
        return make_config(config, overrides=overrides, **names)
    return load_config(config, overrides, **names)


def _check_name(noun: str, name: str | None, names: set[str]) -> None:
    if name is not None and name not in names:
        raise ConfmlError(f"the run has no {noun} '{name}'", near=(name, sorted(names)))
