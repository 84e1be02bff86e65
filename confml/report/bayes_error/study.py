"""Bayes error study of a data set: estimates, intervals and selected features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confml._seeds import derived_generator, stable_generator
from confml.bayes_error.rates import BayesErrors, bayes_errors, warnings_about
from confml.bayes_error.selection import Selection, sample_by_class, select_attributes
from confml.bayes_error.uncertainty import ErrorIntervals, leave_block_out_intervals
from confml.data.dataset import DataSet
from confml.data.memory import dense
from confml.data.text_table import counted
from confml.errors import ConfigError, DataError

MANY_ROWS = 150_000
BLOCKS = 20  # of the intervals
SELECTION_ROWS = 2000  # most rows that features are selected on


@dataclass(frozen=True)
class Request:
    """Settings of a study; see the options of ``confml bayes-error``.

    intervals: confidence level; intervals, select: None for none.
    """

    part: str = "all"
    scale: str = "min-max"
    sample: int | None = None
    trees: int = 3
    count: str = "all"
    correct_bias: bool = True
    intervals: float | None = None
    select: int | None = None
    criterion: str = "mean"
    seed: int = 1

    @property
    def of_trees(self) -> dict[str, Any]:
        """The settings of estimates from spanning trees."""
        return {"trees": self.trees, "count": self.count, "correct_bias": self.correct_bias}


@dataclass(frozen=True)
class Study:
    """Results of a study. rows (K,): rows per class in the part that is used for the estimates.

    attributes: names of the features that ``selection`` refers to; about: preparation of the data; warnings:
    caveats of the estimates; true_error: Bayes error of synthetic data.
    """

    name: str
    request: Request
    rows: np.ndarray
    columns: int
    errors: BayesErrors
    attributes: tuple[str, ...]
    about: tuple[str, ...]
    warnings: tuple[str, ...]
    intervals: ErrorIntervals | None = None
    selection: Selection | None = None
    true_error: float | None = None

    @property
    def classes(self) -> np.ndarray:
        return self.errors.pairwise.classes


def study(
    data: DataSet, request: Request, say: Callable[[str], None], true_error: float | None = None
) -> Study:
    """Compute the estimates of a request. say: called with messages. Raises DataError for one class."""
    check_request(request, data)
    rng = stable_generator("bayes-error", request.seed, data.checksum)
    named = {"all": np.arange(len(data)), "train": data.train_rows, "test": data.test_rows}
    rows = named[request.part]
    assert rows is not None  # `check_request` refuses a part that the data set does not have
    prepared = prepare(data, rows, request.scale)
    about, warnings = prepared.about, list(data.notes)
    if request.part != "all":
        about.insert(0, f"the {request.part} part")
    # in random order, so that a file sorted by class does not decide ties
    sample = sample_by_class(prepared.y, request.sample, rng)
    if len(sample) < len(rows):
        about.append(f"stratified random sample of {len(sample)} of {len(rows)} rows")
    X, y = prepared.X[sample], prepared.y[sample]
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        part = "the data" if request.part == "all" else f"the {request.part} part"
        raise DataError(f"{part} must have at least two classes; every row is of class {str(classes[0])!r}")
    shape = f"{len(y)} rows, {counted(X.shape[1], 'column')}, {len(classes)} classes"
    say(f"{data.name}: {shape}; {'; '.join(about)}")
    if len(y) > MANY_ROWS:
        say(f"spanning trees of {len(y)} rows can be slow (quadratic time); use fewer rows with --sample")
    errors = bayes_errors(X, y, **request.of_trees)
    warnings += _warnings(errors, y)
    intervals = selection = None
    if request.intervals is not None:
        say(f"intervals: estimates without each of {BLOCKS} blocks of rows")
        generator = derived_generator(rng, "intervals")
        intervals = leave_block_out_intervals(X, y, generator, errors, blocks=BLOCKS, level=request.intervals)
        short = classes[counts < BLOCKS]
        if len(short):
            warnings.append(
                f"intervals: {len(short)} of {len(classes)} classes have fewer rows than the {BLOCKS} blocks "
                f"(such as {short[0]}); their intervals are too narrow or missing"
            )
    names, groups = attribute_groups(data)
    if request.select is not None:
        chosen = np.arange(len(y))
        if len(y) > SELECTION_ROWS:
            chosen = sample_by_class(y, SELECTION_ROWS, derived_generator(rng, "selection"))
            about.append(f"features selected on a random sample of {len(chosen)} rows")
        say(f"selection: {request.select} of {len(names)} features on {len(chosen)} rows")
        selection = select_attributes(
            *(X[chosen], y[chosen], request.select),
            groups=groups,
            criterion=request.criterion,
            **request.of_trees,
            said=lambda step, number: say(f"selection: {step + 1}. {names[number]}"),
        )
    texts = names, tuple(about), tuple(warnings)
    numbers = counts, X.shape[1], errors
    return Study(data.name, request, *numbers, *texts, intervals, selection, true_error)


def check_request(request: Request, data: DataSet) -> None:
    """Raise ConfigError for settings that this data set does not allow, before computing."""
    names, _ = attribute_groups(data)
    if request.part != "all" and data.train_rows is None:
        raise ConfigError(f"data set '{data.name}' has no predefined training and test parts")
    if request.select is not None and not 1 <= request.select <= len(names):
        raise ConfigError(f"--select: expected 1 to {len(names)} features, got {request.select}")


def attribute_groups(data: DataSet) -> tuple[tuple[str, ...], list[list[int]]]:
    """Return the names of the features and the columns of X of each; dummy columns stay together."""
    features = {
        f"{name}={category}": name
        for name, categories in zip(data.table_attributes, data.categories, strict=True)
        for category in categories or ()
    }
    groups: dict[str, list[int]] = {}
    for column, name in enumerate(data.attributes):
        groups.setdefault(features.get(name, name), []).append(column)
    return tuple(groups), list(groups.values())


class Prepared(NamedTuple):
    """Scaled rows X and their labels y; fill, scale: functions of other rows; about: preparation as texts."""

    X: np.ndarray
    y: np.ndarray
    fill: Callable[[np.ndarray], np.ndarray]
    scale: Callable[[np.ndarray], np.ndarray]
    about: list[str]


def prepare(data: DataSet, rows: np.ndarray, scale: str) -> Prepared:
    """Replace missing values by means and scale the features, both by these rows."""
    from confml.steps.registry import build_pipeline, build_step

    X, y, about = dense(data.X[rows]), data.y[rows], []
    fill: Callable[[np.ndarray], np.ndarray] = np.asarray
    if np.isnan(data.table).any():
        fill = build_step("impute-mean").fit(X, y).transform
        about.append("missing values replaced by means")
    steps: list[tuple[str, dict[str, Any]]] = [] if scale == "none" else [(scale, {})]
    about.append(f"features scaled by {scale}" if steps else "features not scaled")
    chain = build_pipeline(steps)
    X, y, _ = chain.fit_training(fill(X), y)
    constant = int(np.sum(X.max(axis=0) == X.min(axis=0)))
    if constant:
        about.append(f"constant columns: {constant}")
    return Prepared(X, y, fill, chain.transform, about)


def _warnings(errors: BayesErrors, labels: np.ndarray) -> list[str]:
    """Return warnings about wide tie bands and classes of few rows."""
    of_pairs, of_classes = warnings_about(errors.pairwise), warnings_about(errors.one_vs_rest)
    few = warnings_about(errors.pairwise, labels)[len(of_pairs) :]
    rest = errors.one_vs_rest
    largest = int(np.sum(rest.estimate > 1 - 1e-9))
    if rest.correct_bias and largest >= max(2, rest.classes.size / 2):
        few.append(
            f"one-vs-rest: for {largest} of {rest.classes.size} classes the estimate is the smaller prior, "
            "its maximum, so it shows their sizes and not their difficulty"
        )
    return [*(f"pairs: {text}" for text in of_pairs), *(f"one-vs-rest: {text}" for text in of_classes), *few]
