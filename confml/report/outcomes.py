"""Comparison of models on a table of outcomes, or of the methods of runs: ``confml compare``."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from confml._json import to_json
from confml.data.frame_table import frame_table
from confml.data.outcomes import outcomes_of
from confml.data.table_files import read_table
from confml.data.text_table import TextTable, counted
from confml.errors import ConfmlError
from confml.report.answers.comparisons import Comparisons
from confml.report.answers.outcome_answer import OutcomeAnswer
from confml.report.answers.outcomes import TaskComparison
from confml.report.answers.text import RULE, listed, p_text, percent, plain_number, points
from confml.report.files import remove_earlier, write_csv, write_file
from confml.report.report import Picture
from confml.report.run.stored import open_run, run_names
from confml.report.shown_table import ShownTable, to_console, to_html, to_latex, to_markdown
from confml.runner.manifest import manifest_path

MOST_PANELS = 12
"""Tasks in a figure; the others are in the tables alone."""
OVER_TASKS = [f"{name}.{ending}" for name in ("ranks", "signed-ranks") for ending in ("csv", "tex")]


class OutcomeComparison:
    """Models compared on the items of a table of outcomes.

    Returned by `compare`. In a notebook it shows its answer and its tables.

    Parameters
    ----------
    answer : OutcomeAnswer
        The tests of all pairs of models on each task.
    against : str, optional
        Model whose differences from all others are stated, or a beginning of its name.

    Attributes
    ----------
    sentences : list of str
        The answer: which models differ significantly, which difference would probably have been detected,
        and in how many bootstrap samples of the items the best model stays the best.
    notes : list of str
        What is compared, and what is left out.
    models : pandas.DataFrame
        One row per task and model, the best first: ``items``, ``mean`` with its 95 % interval (``low``,
        ``high``), ``difference`` from the best model with its simultaneous 95 % interval, ``p_holm`` of this
        difference, whether the model is ``worse``, ``sets`` (models with a common letter do not differ
        significantly), and ``first``, the share of bootstrap samples in which the model is the best.
    pairs : pandas.DataFrame
        One row per task and pair of models: ``difference`` of ``first`` minus ``second`` with both intervals,
        ``p_value``, ``p_holm`` (Holm's correction over all pairs of the task), and which model is ``better``.
    ranks : pandas.DataFrame
        Mean ranks of the models over the tasks; without rows for one task.
    signed_ranks : pandas.DataFrame
        Bayesian signed-rank tests over tasks, of the best ranked model with each other one; only for outcomes
        that are right or wrong.

    Examples
    --------
    >>> wide = {"a": [1, 1, 1, 0, 1, 1], "b": [1, 0, 1, 0, 1, 1]}
    >>> compare(wide, wide=True).models[["model", "mean"]].round(2)
      model  mean
    0     a  0.83
    1     b  0.67
    """

    def __init__(self, answer: OutcomeAnswer, against: str | None = None):
        self._answer = answer
        self.sentences, self.notes = list(answer.sentences), answer.notes
        self.sentences += [] if against is None else answer.against(against)
        names = ("models", "pairs", "ranks", "signed_ranks")
        frames = (pd.DataFrame(answer.tables.get(name, [])) for name in names)
        self.models, self.pairs, self.ranks, self.signed_ranks = frames

    def to_dict(self) -> dict[str, Any]:
        """Return the answer and the rows of all tables as plain values, for JSON.

        Returns
        -------
        dict
            ``sentences``, ``notes``, and the rows of each table by its name.
        """
        tables = {
            name: [{key: None if value != value else value for key, value in row.items()} for row in rows]
            for name, rows in self._answer.tables.items()
        }
        return {"sentences": self.sentences, "notes": self.notes, **tables}

    def write(self, folder: Path | str) -> list[Path]:
        """Write CSV files, JSON, Markdown, LaTeX, a figure and ``report.html``.

        Parameters
        ----------
        folder : str or Path
            Folder of the files, which is made if it does not exist.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        ConfmlError
            If a file cannot be written, and for the folder of a run, which has files of these names.
        """
        from confml.report.figures.style import save, style

        folder = Path(folder)
        if manifest_path(folder).exists():
            hint = "name another one with --out"
            raise ConfmlError("this is the folder of a run", where=str(folder), hint=hint)
        paths = [
            write_csv(
                folder / f"{name.replace('_', '-')}.csv", list(rows[0]), [list(row.values()) for row in rows]
            )
            for name, rows in self._answer.tables.items()
        ]
        shown = self.shown
        texts = {"answer.json": to_json(self.to_dict(), 1)}
        texts["answer.md"] = "\n\n".join([" ".join(self.sentences), *map(to_markdown, shown.values())])
        texts |= {f"{name}.tex": to_latex(table, name) for name, table in shown.items()}
        paths += [write_file(folder / name, text) for name, text in texts.items()]
        with style():
            paths += save(draw(self.models), folder / "outcomes")
        paths.append(write_file(folder / "report.html", self._page(folder, paths)))
        remove_earlier(folder, OVER_TASKS, paths)
        return paths

    @cached_property
    def shown(self) -> dict[str, ShownTable]:
        """The tables for readers: ``models``, with several tasks ``ranks``, and ``signed-ranks`` of means."""
        tables = {"models": self._shown_models()}
        if len(self.ranks):
            frame = self.ranks.assign(mean_rank=self.ranks["mean_rank"].map("{:.2f}".format)).astype(str)
            columns = ("model", "tasks", "mean rank", "best", "better than all others", "worse than the best")
            title = "Mean ranks of the models over the tasks, and numbers of tasks"
            tables["ranks"] = ShownTable(title, frame.set_axis(columns, axis=1))
        if len(self.signed_ranks):
            frame = self.signed_ranks.drop(columns="rope")
            shares = list(frame.columns[3:])
            frame[shares] = frame[shares].map("{:.3f}".format)
            headings = [name.replace("_", " ") for name in frame.columns]
            title = (
                f"Bayesian signed-rank test over tasks, equivalent within {self.signed_ranks['rope'][0]:g}"
            )
            tables["signed-ranks"] = ShownTable(title, frame.astype(str).set_axis(headings, axis=1), keys=2)
        return tables

    def _shown_models(self) -> ShownTable:
        units, rows = {task.name: task.binary for task in self._answer.tasks}, self._answer.tables["models"]

        def texts(key: str) -> list[str]:
            forms = [points if units[row["task"]] else plain_number for row in rows]
            return [form(row[key]) for form, row in zip(forms, rows, strict=True)]

        def intervals(low: str, high: str) -> list[str]:
            ends = [" to ".join(pair) for pair in zip(texts(low), texts(high), strict=True)]
            return ["" if math.isnan(row[low]) else text for row, text in zip(rows, ends, strict=True)]

        stars, tested = self.models["worse"].map({True: " *", False: ""}), self.models["p_holm"].notna()
        frame = pd.DataFrame(
            {
                "task": self.models["task"],
                "model": self.models["model"],
                f"mean{' (%)' * all(units.values())}": texts("mean") + stars,
                "95 % interval": intervals("low", "high"),
                "difference": pd.Series(texts("difference")).where(tested, ""),
                "simultaneous 95 % interval": intervals("simultaneous_low", "simultaneous_high"),
                "p (Holm)": self.models["p_holm"].map(p_text),
                "set": self.models["sets"],
                "first": self.models["first"].map(percent),
            }
        )
        notes = [
            f"*: worse than the best model ({RULE}{' of the task' if len(units) > 1 else ''}).",
            "difference: from the best mean; an interval of all pairs together may contain 0 where Holm's "
            "correction, which is less strict, shows a difference. set: models with a common letter do not "
            "differ significantly. first: share of bootstrap samples in which the model is best.",
            *self.notes,
        ]
        if len(units) == 1:
            frame = frame.drop(columns="task")
        title = f"Comparison of {self.models['model'].nunique()} models"
        title += f" on {rows[0]['items']:,} items" if len(units) == 1 else f" on {len(units)} tasks"
        return ShownTable(title, frame, notes, keys=1 if len(units) == 1 else 2)

    def _page(self, folder: Path, paths: Sequence[Path]) -> str:
        from confml.report.page.drawings import drawing_of
        from confml.report.page.page import page_template

        picture = Picture("outcomes", lambda: None, "Means with 95 % intervals", CAPTION)
        models, *over_tasks = self.shown.values()
        return page_template().render(
            **{"banner": "", "failures": [], "datasets": [], "about": "", "origin": [], "citations": []},
            headline=self.sentences,
            summary=replace(models, notes=[note for note in models.notes if note not in self.notes]),
            limits=self.notes,
            name="Comparison of models",
            cells=f"{models.title}.",
            figures=[drawing_of(picture, folder)],
            sections=[{"id": "ranks", "title": "Over tasks", "tables": over_tasks}] if over_tasks else [],
            files=[(path.name, path.name) for path in paths],
        )

    def __repr__(self) -> str:
        text = "".join(map(to_console, self.shown.values()))
        return "\n".join([*self.sentences, "", text.rstrip()])

    def _repr_html_(self) -> str:
        from html import escape

        html = "".join(to_html(table, name) for name, table in self.shown.items())
        return f"<p>{escape(' '.join(self.sentences))}</p>{html}"


CAPTION = (
    "Mean outcome of each model with its 95 % interval, the best first. Grey models are worse than the best "
    f"one ({RULE}). Two models may differ although their intervals overlap: the same items are compared."
)


def draw(models: pd.DataFrame) -> Any:
    """Draw the means of the models of each task with their 95 % intervals, sorted; grey ones are worse."""
    from confml.report.figures.style import BLUE, GREY, Panels

    tasks = list(models.groupby("task", sort=False))[:MOST_PANELS]
    panels = Panels(len(tasks), 0.3 + 0.15 * max(len(rows) for _, rows in tasks))
    for axes, (task, rows) in zip(panels.axes, tasks, strict=True):
        heights = np.arange(len(rows))
        for worse, colour in ((False, BLUE), (True, GREY)):
            chosen = (rows["worse"] == worse).to_numpy()
            part = rows[chosen]
            gaps = np.nan_to_num([part["mean"] - part["low"], part["high"] - part["mean"]]).clip(0)
            label = "worse than the best model" if worse else "no significant difference from the best model"
            style = {"fmt": "o", "color": colour, "capsize": 2}
            panels.handles[label] = axes.errorbar(part["mean"], heights[chosen], xerr=gaps, **style)
        axes.set_yticks(heights, rows["model"])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_title(task)
    return panels.finish("means with 95 % intervals", "mean outcome")


def compare(
    table: Any,
    *,
    item: str | None = None,
    model: str = "model",
    outcome: str = "outcome",
    wide: bool = False,
    group: str | None = None,
    task: str | None = None,
    split: str | None = None,
    lower_is_better: bool = False,
    rope: float = 0.01,
    against: str | None = None,
) -> OutcomeComparison:
    """Compare models on the same items, from a table of their outcomes.

    Pairs of models are compared by a t test of the differences of the items, with Holm's correction over all
    pairs. Intervals of differences are simultaneous. Only items that all models have are compared.

    Parameters
    ----------
    table : str, Path or data frame
        A table file, or a data frame of pandas or of any library that pyarrow reads: one row per item and
        model, or with ``wide`` one row per item and one column per model. Outcomes are numbers, or texts such
        as right and wrong, true and false, yes and no.
    item, model, outcome : str, optional
        Columns of the item, the model and the outcome; by default they have these names. Without a column
        ``item``, each row of a wide table is an item.
    wide : bool, default=False
        Whether the table has one column per model.
    group : str, optional
        Column of the group of an item. Items of one document, patient or template are not independent; if
        that is ignored, more than half of the comparisons of equal models may be significant.
    task : str, optional
        Column of the task (benchmark, data set). Each task is compared by itself, then the ranks over tasks.
    split : str, optional
        Column of repeated runs, seeds, or splits of a cross-validation. Outcomes of an item are averaged over
        them, and the variance is at least that between the splits.
    lower_is_better : bool, default=False
        Whether outcomes are losses or errors.
    rope : float, default=0.01
        Mean differences within ``rope`` of 0 are equivalent in the Bayesian signed-rank test over tasks.
    against : str, optional
        Model whose differences from all others are stated, or a beginning of its name.

    Returns
    -------
    OutcomeComparison
        The answer, and the tables of models and pairs.

    Raises
    ------
    ConfmlError
        For a table without these columns, with other texts than outcomes, with two outcomes of a model on an
        item, or without two models that have outcomes on the same two items.

    Notes
    -----
    With d_i the difference of two models on item i of n, two differences of the largest size are added, one
    of each sign, and the mean is tested by Student's t with n - 1 degrees of freedom (Bonett and Price 2012
    for right and wrong). With groups, the variance is CR3 (Bell and McCaffrey 2002), at least that of single
    items, and the degrees of freedom are the effective number of groups minus 1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> hard = rng.random(300)
    >>> wide = {name: hard < skill for name, skill in {"a": 0.8, "b": 0.79, "c": 0.6}.items()}
    >>> print(compare(wide, wide=True).sentences[0])
    No significant difference between a (81.3 %) and b; c is worse by 21.7 points (simultaneous 95 % interval
    15.7 to 27.3, p < 0.001).
    """
    if isinstance(table, (str, Path)):
        texts: TextTable = read_table(Path(table))
    else:
        texts = frame_table(pd.DataFrame(table) if isinstance(table, dict) else table, "the table")
    if item is None and (not wide or "item" in texts):
        item = "item"
    columns = {"item": item, "model": model, "outcome": outcome, "group": group, "task": task, "split": split}
    tasks, notes = outcomes_of(texts, columns, wide)
    compared = [TaskComparison.of(of_task, lower_is_better) for of_task in tasks]
    return OutcomeComparison(OutcomeAnswer(compared, notes, rope), against)


def compare_runs(
    runs: Sequence[Path | str], rope: float = 0.01, against: str | None = None
) -> OutcomeComparison:
    """Compare the errors of all methods and views of runs: data sets are tasks, and test rows are items.

    Only common splits with the same test rows are compared. Methods of several runs have the names of the
    runs in theirs. rope, against: see `compare`. Raises ConfmlError if no two methods have finished the same
    splits.
    """
    folders = [Path(run) for run in runs]
    opened = [open_run(folder) for folder in folders]
    names = run_names(folders, [run.config.name for run in opened]) if len(opened) > 1 else [""]
    comparisons = Comparisons(list(zip(names, opened, strict=True)))
    notes = ["Models are methods and views, items are test rows, and outcomes are errors."]
    tasks, failures = [], Counter[tuple[str, str]]()
    first = {line.method: comparisons.label(line) for line in comparisons.lines if comparisons.is_first(line)}
    for name, run in comparisons.runs.items():
        for failure in run.failures:
            method = comparisons.line(name, run, failure.cell, "").method
            failures[failure.cell.dataset, first.get(method, method)] += 1
    notes += [f"{label} failed on {counted(n, 'split')} of {at}." for (at, label), n in failures.items()]
    for dataset in dict.fromkeys(name for run in opened for name in run.datasets):
        if (task := TaskComparison.of_runs(comparisons, dataset)) is not None:
            tasks.append(task)
        elif done := comparisons.unfinished.get(dataset):
            notes.append(f"{dataset} is left out: so far {done} are complete.")
        else:
            notes.append(f"{dataset} is left out: fewer than two methods have results on the same rows.")
        infos = [run.datasets[dataset] for run in opened if dataset in run.datasets]
        if len({info.checksum for info in infos}) > 1:
            notes.append(f"{dataset} has different contents in the runs (its checksums differ).")
    if not tasks:
        hint = "compare a run with two methods, or runs with the same data sets and splits"
        raise ConfmlError("no two methods have finished the same splits", hint=hint)
    configs = [run.config.as_dict() for run in opened]
    keys = dict.fromkeys(key for config in configs for key in config if key not in ("name", "about"))
    if differing := [key for key in keys if len({str(config.get(key)) for config in configs}) > 1]:
        notes.append(f"The configs of the runs differ in {listed(differing, 12)}.")
    return OutcomeComparison(OutcomeAnswer(tasks, notes, rope, failures), against)
