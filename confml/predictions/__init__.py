"""Predictions of new rows with regions: a table file or DataFrame in, one row of answers per new row out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confml.plugins.imports import with_allowed_imports
from confml.predictions.batch import Batch, Output, predict_tables
from confml.predictions.model import Choice, Model
from confml.predictions.summary import Summary

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEVELS", "Batch", "Choice", "Model", "Output", "Summary", "predict", "predict_tables"]

LEVELS = (0.01, 0.05, 0.1)
"""Significance levels without a config."""


@with_allowed_imports
def predict(
    train: pd.DataFrame | str | Path,
    new: pd.DataFrame | str | Path,
    *,
    label: str,
    method: str = "tcm-nn",
    params: Mapping[str, Any] | None = None,
    steps: Sequence[Any] | None = None,
    levels: Sequence[float] = LEVELS,
    id: Sequence[str] | str = (),
    nominal: Sequence[str] | str = (),
    ignore: Sequence[str] | str = (),
    missing: str = "error",
    conformal: str | None = None,
    per_class: bool = False,
    view: str | None = None,
    no_empty: bool = False,
    explain: int = 0,
    seed: int = 1,
    allow_import: Sequence[str] | str = (),
    say: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Fit a method to labelled rows and predict new rows, with a region for each significance level.

    train, new: DataFrames, or paths of table files (CSV, .parquet, .xlsx). Columns are matched by name; a
    column without numbers is categorical. ``new`` needs no label; labels that it has are scored.
    label: the column of the class. id, nominal, ignore, missing: as the keys of a config's data set.
    method, params: a method of ``confml methods``, and its parameters. steps: as in a config,
    ``["standardise"]`` by default; ``[]`` for none. They are learnt from the training rows.
    conformal: ``"split"`` or ``"cross"`` makes the method conformal. per_class: label-conditional p-values.
    view: name of the view, by default the first one with regions.
    no_empty: an empty region becomes the label of the largest p-value. explain: number of nearest training
    rows of the predicted and of the runner-up class to list. seed: random seed.
    allow_import: packages, besides scikit-learn, whose classes ``method`` and ``steps`` may name.
    say: called with each message: notes on the data, the guarantee, and scores.

    Returns one row per new row, in its order, with the index of ``new``: ``line`` (of the file, or the number
    of the row from 1), the identifiers, ``label`` where ``new`` has it, ``prediction``, ``confidence``,
    ``credibility`` (p-values only), ``p[<class>]`` or ``prob[<class>]``, for each level ``region@<level>``
    (a tuple of labels) and ``reason@<level>`` (``certain``, ``ambiguous``, ``atypical``); with ``explain``
    also ``runner_up``, ``lines@predicted``, ``distances@predicted``, ``lines@runner-up``,
    ``distances@runner-up`` and ``features@predicted`` (the features in which the row differs most from the
    nearest training row of the predicted class). Raises ConfigError and DataError.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from confml import predict
    >>> iris = load_iris(as_frame=True).frame
    >>> answers = predict(iris[::2], iris[1::2].drop(columns="target"), label="target")
    >>> answers["region@0.05"].iloc[0]
    (0,)
    """
    import pandas as pd

    from confml.config import restore_config
    from confml.data.csv_table import load_tables
    from confml.data.frame_table import frame_table
    from confml.data.table_chunks import chunks_of, table_chunks

    settings: dict[str, Any] = {"label": label, "missing": missing}
    settings |= {
        key: [names] if isinstance(names, str) else [str(name) for name in names]
        for key, names in {"id": id, "nominal": nominal, "ignore": ignore}.items()
        if names
    }
    dataset = {"csv": "train" if isinstance(train, pd.DataFrame) else str(train), **settings}
    config = restore_config(config_values(dataset, method, params, steps, levels, seed))
    data = None
    if isinstance(train, pd.DataFrame):
        data = load_tables(config.datasets[0].spec(), [frame_table(train, "train")])
    choice = Choice(conformal=conformal, per_class=per_class, view=view)
    model = Model(config, choice, data, say)
    if isinstance(new, pd.DataFrame):
        tables = chunks_of(frame_table(new, "new"))
    else:
        tables = table_chunks(new, expected=model.coder.columns)
    output = Output(tuple(map(float, levels)), no_empty, explain)
    summary = Summary(model, output.levels)
    frames = []
    for batch in predict_new(model, tables, output, summary, say):
        frames.append(batch.frame())
    told = [*model.data.notes, *summary.notes(), " ".join(summary.sentences()), summary.score()]
    for sentence in filter(None, told):
        say(sentence)
    found = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    if isinstance(train, pd.DataFrame):
        found = _with_own_labels(found, train[label])
    if isinstance(new, pd.DataFrame):
        found.index = new.index
    return found


def _with_own_labels(answers: pd.DataFrame, given: pd.Series) -> pd.DataFrame:
    """The answers with labels as the training DataFrame has them, such as True in place of its text."""
    from confml.data.frame_table import cell_text

    own = {cell_text(value): value for value in given.drop_duplicates().tolist()}
    if all(isinstance(value, str | int) and not isinstance(value, bool) for value in own.values()):
        return answers
    for name in answers.columns:
        if name in ("prediction", "runner_up", "label"):
            answers[name] = [own.get(str(value), value) for value in answers[name].tolist()]
        elif name.startswith("region@"):
            answers[name] = [
                tuple(own.get(str(value), value) for value in labels) if isinstance(labels, tuple) else labels
                for labels in answers[name].tolist()
            ]
    return answers


def predict_new(
    model: Model, tables: Iterator[Any], output: Output, summary: Summary, say: Callable[[str], None]
) -> Iterator[Batch]:
    """Iterate over the predictions of chunks of new rows; check columns, and count rows in ``summary``."""
    import itertools

    first = next(tables)
    for note in model.coder.check_columns(first):
        say(f"note: {note}")
    for batch in predict_tables(model, itertools.chain([first], tables), output):
        summary.add(batch)
        yield batch


def config_values(
    dataset: Mapping[str, Any],
    method: str,
    params: Mapping[str, Any] | None = None,
    steps: Sequence[Any] | None = None,
    levels: Sequence[float] = LEVELS,
    seed: int = 1,
) -> dict[str, Any]:
    """The values of a config with one data set and one method, for rows to be predicted."""
    return {
        "name": "predict",
        "datasets": [dict(dataset)],
        "steps": ["standardise"] if steps is None else list(steps),
        "methods": [{"name": method, "params": dict(params or {})}],
        "protocol": {"kind": "k-fold"},
        "levels": [float(level) for level in levels],
        "seed": seed,
    }
