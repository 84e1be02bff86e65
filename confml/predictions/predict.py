"""`predict`: fit a method to labelled rows, or take a fitted model, and predict new rows."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from confml.config.costs import read_costs
from confml.data.frame_table import frame_table
from confml.data.table_files import chunks_of, table_chunks
from confml.data.text_table import cell_text
from confml.errors import ConfigError
from confml.measures.costs import costs_of
from confml.plugins.imports import with_allowed_imports
from confml.predictions.answers import Answers
from confml.predictions.batch import Output
from confml.predictions.default_config import LEVELS, config_values
from confml.predictions.model import Model
from confml.predictions.store import is_model_file, load_model, save_model
from confml.predictions.summary import Summary


@with_allowed_imports
def predict(
    train: Any,
    new: Any,
    *,
    label: str | None = None,
    method: str = "tcm-nn",
    params: Mapping[str, Any] | None = None,
    steps: Sequence[Any] | None = None,
    levels: Sequence[float] = LEVELS,
    id: Sequence[str] | str = (),
    nominal: Sequence[str] | str = (),
    ignore: Sequence[str] | str = (),
    missing: str = "error",
    missing_values: Sequence[str] | None = None,
    conformal: str | None = None,
    mondrian: bool = False,
    view: str | None = None,
    explain: int = 0,
    costs: Mapping[str, Any] | str | Path | None = None,
    risk: float | None = None,
    confidence: float = 0.95,
    selection_part: float | None = None,
    save: str | Path | None = None,
    trust: Sequence[str] = (),
    seed: int = 1,
    allow_import: Sequence[str] | str = (),
    say: Callable[[str], None] = lambda text: None,
) -> Answers:
    """Fit a method to labelled rows and predict new rows, with a region for each significance level.

    Parameters
    ----------
    train : DataFrame, str, Path or Model
        Labelled rows: a data frame, or the path of a table file (CSV, .parquet, .xlsx). A data frame is of
        pandas, or of any library with Arrow's interface, such as polars or DuckDB. Or a model that
        `load_model` returned, or its path (``.confml``), which takes of the parameters below only ``levels``,
        ``explain``, ``costs`` and ``say``.
    new : DataFrame, str or Path
        New rows. Columns are matched by name; a column without numbers is categorical. Labels are optional;
        if present, they are scored. A CSV file has the encoding, separator and decimal mark of the training
        file.
    label : str
        Column of the class.
    method : str, default="tcm-nn"
        A method of ``confml describe``.
    params : dict, optional
        Parameters of the method.
    steps : sequence, optional
        Steps as in a config, fitted to the training rows; ``["standardise"]`` by default, ``[]`` for none.
    levels : sequence of float, default=(0.01, 0.05, 0.1)
        Significance levels of the regions.
    id : str or sequence of str, default=()
        Columns that identify a row. They are not features, and the answers show them.
    nominal : str or sequence of str, default=()
        Columns of numbers that are categories.
    ignore : str or sequence of str, default=()
        Columns that are not read.
    missing : {"error", "drop", "mean"}, default="error"
        Missing values are an error, drop their row, or get the mean of their feature.
    missing_values : sequence of str, optional
        Texts that stand for a missing value.
    conformal : {"split", "cross", "oob"}, optional
        Make the method conformal.
    mondrian : bool, default=False
        Compute label-conditional p-values.
    view : str, optional
        Name of the view; by default the first one with regions.
    explain : int, default=0
        Number of nearest training rows of the predicted and of the runner-up class to list.
    costs : dict, str or Path, optional
        Costs for decisions of least expected cost, ``{"matrix": {true: {predicted: cost}}, "abstain":
        cost}``, or the path of such a YAML file, or of a CSV file with one line per true class and one column
        per prediction. The cost of a correct prediction is 0 by default. Without ``abstain`` every row has a
        decision. The method must have probabilities.
    risk, confidence : float
        With probability ``confidence`` over the held-out rows, either no threshold is certified and no row is
        accepted, or an accepted row is wrong with probability at most ``risk``. The threshold is certified on
        30 % of the training rows, to which the method is not fitted.
    selection_part : float, optional
        Fraction of the training rows that only fit steps and select parameters. P-values count the other
        rows, so that their guarantee holds for any number of rows.
    save : str or Path, optional
        Write the fitted model to this file, for `load_model` and ``confml predict``.
    trust : sequence of str, default=()
        Types that skops may write or read, besides those that it trusts; reading executes their code.
    seed : int, default=1
        Random seed.
    allow_import : str or sequence of str, default=()
        Packages, besides scikit-learn, whose classes ``method`` and ``steps`` may name.
    say : callable, optional
        Called with each message: notes on the data, the guarantee, and scores.

    Returns
    -------
    Answers
        A DataFrame with the attributes ``guarantee``, ``warnings``, ``notes``, ``tests`` and ``score``. One
        row per new row, in its order, with the index of ``new``: ``line`` (of the file, or the number of the
        row from 1), the identifiers, ``label`` if ``new`` has it, ``prediction``,
        ``confidence``, ``credibility`` (p-values only), ``p[<class>]`` or ``prob[<class>]``, and for each
        level ``region@<level>`` (a tuple of labels) and ``reason@<level>`` (``certain``, ``ambiguous``,
        ``atypical``). With ``risk`` also ``accepted``; with ``costs`` ``prob[<class>]``,
        ``expected_cost[<decision>]``, ``decision`` (a label or ``abstain``) and its ``expected_cost``; with
        ``explain`` ``runner_up``, ``lines@predicted``, ``distances@predicted``, ``lines@runner-up``,
        ``distances@runner-up`` and ``features@predicted`` (the features in which the row differs most from
        the nearest training row of the predicted class); with ``missing="mean"`` ``filled`` (a tuple of the
        features that are filled in from the training rows).

    Raises
    ------
    ConfigError, DataError
        For wrong parameters, and for data that cannot be used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from confml import predict
    >>> iris = load_iris(as_frame=True).frame
    >>> answers = predict(iris[::2], iris[1::2].drop(columns="target"), label="target")
    >>> answers["region@0.05"].iloc[0]
    (0,)
    """
    of_data = {"label": label, "missing": missing, "id": id, "nominal": nominal, "ignore": ignore}
    of_data["missing_values"] = missing_values
    of_method = {"method": method, "params": params, "steps": steps, "seed": seed}
    of_choice = {
        **{"conformal": conformal, "mondrian": mondrian, "view": view},
        **{"risk": risk, "confidence": confidence, "selection_part": selection_part},
    }
    read = None
    if costs is not None:
        read = costs_of(costs, "costs") if isinstance(costs, Mapping) else read_costs(costs)
    if isinstance(train, Model) or (isinstance(train, str | Path) and is_model_file(train)):
        _check_no_fit({**of_data, **of_method, **of_choice})
        model = train if isinstance(train, Model) else load_model(train, trust)
    else:
        if label is None:
            raise ConfigError("label, the name of the column with the class, is needed for a fit")
        model = _fitted(train, of_data, of_method, of_choice, levels, say)
    output = Output(tuple(levels), explain, read)
    with model.errors_of_file():
        for note in model.notes:
            say(f"note: {note}")
        if save is not None:
            save_model(model, save, trust)
        if not isinstance(new, str | Path):
            tables = chunks_of(frame_table(new, "new"), model.chunk_rows)
        else:
            tables = table_chunks(
                new, rows=model.chunk_rows, expected=model.coder.columns, usual=model.coder.csv_format
            )
        summary = Summary(model, output)
        frames = [batch.frame() for batch in summary.answers(tables, say)]
        facts = summary.facts()
        sentences = [*model.facts.notes, *summary.warnings(), *summary.lines()]
    for sentence in sentences:
        say(sentence)
    answers = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    if isinstance(train, pd.DataFrame):
        answers = _in_label_type(answers, train[label])
    if isinstance(new, pd.DataFrame):
        answers.index = new.index
    return Answers.of(answers, facts)


def _check_no_fit(options: Mapping[str, Any]) -> None:
    """Raise ConfigError for a parameter of a fit that is given with a fitted model."""
    defaults = inspect.signature(predict).parameters
    for name, value in options.items():
        if value is not defaults[name].default and value != defaults[name].default:
            raise ConfigError(f"{name} cannot be combined with a fitted model")


def _fitted(
    train: Any,
    of_data: Mapping[str, Any],
    of_method: Mapping[str, Any],
    of_choice: Mapping[str, Any],
    levels: Sequence[float],
    say: Callable[[str], None],
) -> Model:
    """Return the model of the parameters of `predict`."""
    from confml.config import restore_config
    from confml.data.csv_table import load_tables
    from confml.predictions.training import Choice, fit_model

    settings: dict[str, Any] = {"label": of_data["label"], "missing": of_data["missing"]}
    if of_data["missing_values"] is not None:
        settings["missing-values"] = list(of_data["missing_values"])
    settings |= {
        key: [of_data[key]] if isinstance(of_data[key], str) else [str(name) for name in of_data[key]]
        for key in ("id", "nominal", "ignore")
        if of_data[key]
    }
    is_file = isinstance(train, str | Path)
    dataset = {"csv": str(train) if is_file else "train", **settings}
    config = restore_config(config_values(dataset, levels=levels, **of_method))
    data = None
    if not is_file:
        data = load_tables(config.datasets[0].as_dict(), [frame_table(train, "train")])
    return fit_model(config, Choice(**of_choice), data, say)


def _in_label_type(answers: pd.DataFrame, true_labels: pd.Series) -> pd.DataFrame:
    """Return the predictions with labels of the type in the training DataFrame, such as bool."""
    typed = {cell_text(value): value for value in true_labels.drop_duplicates().tolist()}
    if all(isinstance(value, str | int) and not isinstance(value, bool) for value in typed.values()):
        return answers
    for name in answers.columns:
        if name in ("prediction", "runner_up", "label", "decision"):
            answers[name] = [typed.get(str(value), value) for value in answers[name].tolist()]
        elif name.startswith("region@"):
            answers[name] = [
                tuple(typed.get(str(text), text) for text in labels) if isinstance(labels, tuple) else labels
                for labels in answers[name].tolist()
            ]
    return answers
