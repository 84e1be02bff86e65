"""Bayes error study of a data set: estimates, intervals, tests, selection and transforms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confml._seeds import derived_generator, stable_generator
from confml.bayes_error.assessment import Assessment, assess
from confml.bayes_error.label_noise import EstimatorSettings, NoiseSeries, noise_series
from confml.bayes_error.neighbour_errors import NEIGHBOURS
from confml.bayes_error.rates import BayesErrors, warnings_about
from confml.bayes_error.selection import (
    RankedTransform,
    Selection,
    embedding_transforms,
    pca_transforms,
    rank_transforms,
    sample_by_class,
    scaling_transforms,
    select_attributes,
)
from confml.bayes_error.soft_labels import SoftLabelError, soft_label_error
from confml.bayes_error.uncertainty import ErrorIntervals, leave_block_out_intervals, pairwise_p_values
from confml.data.dataset import DataSet
from confml.errors import ConfigError, DataError
from confml.steps import SCALINGS

SCALES = (*SCALINGS, "none")
MANY_ROWS = 150_000
COMPONENTS = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Request:
    """Settings of a study; see the options of ``confml bayes-error``.

    classifier: name of a method whose test errors are compared with the estimates, with params and test_size;
    intervals, permutations, select: None for none; components: numbers of principal components to rank;
    embeddings: rank kernel PCA and Laplacian eigenmaps too, on select_rows rows;
    neighbours: the largest k of k-NN; noise: rates of label noise, with repeats and best_error as for
    `noise_series`; soft_labels: identifier columns of the data set with soft labels; level: confidence level.
    """

    part: str = "all"
    scale: str = "min-max"
    sample: int | None = None
    trees: int = 3
    count: str = "all"
    correct_bias: bool = True
    neighbours: int = NEIGHBOURS
    extrapolate: bool = False
    level: float = 0.95
    noise: Sequence[float] = ()
    repeats: int = 5
    best_error: float | None = None
    soft_labels: Sequence[str] = ()
    intervals: float | None = None
    blocks: int = 20
    permutations: int | None = None
    select: int | None = None
    select_rows: int = 2000
    criterion: str = "mean"
    transforms: bool = False
    components: Sequence[int] = ()
    embeddings: bool = False
    classifier: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    test_size: float = 0.3
    seed: int = 1

    @property
    def of_trees(self) -> dict[str, Any]:
        """The settings of estimates from spanning trees."""
        return {"trees": self.trees, "count": self.count, "correct_bias": self.correct_bias}


@dataclass(frozen=True)
class ClassifierErrors:
    """Test errors of a classifier that was trained on the training part.

    confusion: (K, K) confusion matrix, true classes in rows; error: error rate. confusion_rate (K,): false
    positives and false negatives of a class divided by the number of test rows, as in (10); class_error (K,):
    error rate of the rows of a class, NaN for a class without test rows.
    """

    classifier: str
    confusion: np.ndarray

    @property
    def error(self) -> float:
        return 1 - float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def errors(self) -> int:
        return int(self.confusion.sum() - np.trace(self.confusion))

    @property
    def confusion_rate(self) -> np.ndarray:
        wrong = self.confusion.sum(axis=0) + self.confusion.sum(axis=1) - 2 * np.diag(self.confusion)
        return wrong / self.confusion.sum()

    @property
    def class_error(self) -> np.ndarray:
        rows = self.confusion.sum(axis=1).astype(float)
        rows[rows == 0] = np.nan
        return 1 - np.diag(self.confusion) / rows

    @property
    def symmetric(self) -> np.ndarray:
        """Return (K, K) errors between two classes in both directions; NaN on the diagonal."""
        both = (self.confusion + self.confusion.T).astype(float)
        np.fill_diagonal(both, np.nan)
        return both


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
    assessment: Assessment
    attributes: tuple[str, ...]
    about: tuple[str, ...]
    warnings: tuple[str, ...]
    intervals: ErrorIntervals | None = None
    p_values: np.ndarray | None = None
    selection: Selection | None = None
    ranked: list[RankedTransform] | None = None
    test: ClassifierErrors | None = None
    true_error: float | None = None
    noise: NoiseSeries | None = None
    soft_labels: SoftLabelError | None = None

    @property
    def classes(self) -> np.ndarray:
        return self.assessment.errors.pairwise.classes


def study(
    data: DataSet, request: Request, say: Callable[[str], None], true_error: float | None = None
) -> Study:
    """Compute the estimates of a request. say: called with messages. Raises DataError for one class."""
    check_request(request, data)
    train, test = _parts(data, request)
    fill, about = _filled(data, train, request)
    X, y, transform = _scaled(fill(data.X[train]), data.y[train], request, about)
    rng = stable_generator("bayes-error", request.seed, data.checksum)
    warnings = list(data.notes)
    # in random order, so that a file sorted by class does not decide ties
    kept = sample_by_class(y, request.sample, rng)
    if len(kept) < len(y):
        about.append(f"stratified random sample of {len(kept)} of {len(y)} rows")
    used, labels = X[kept], y[kept]
    classes, rows = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        part = "the data" if request.part == "all" else f"the {request.part} part"
        raise DataError(f"{part} must have at least two classes; every row is of class {str(classes[0])!r}")
    shape = f"{len(labels)} rows, {used.shape[1]} columns, {len(classes)} classes"
    say(f"{data.name}: {shape}; {'; '.join(about)}")
    if len(labels) > MANY_ROWS:
        say(f"neighbours of {len(labels)} rows are slow (quadratic time); use fewer rows with --sample")
    limit_rng = derived_generator(rng, "extrapolate") if request.extrapolate else None
    k, level = request.neighbours, request.level
    found = assess(used, labels, neighbours=k, rng=limit_rng, level=level, **request.of_trees)
    warnings += _warnings(found.errors, labels)
    more: dict[str, Any] = {}
    if request.soft_labels:
        soft_labels = _soft_labels(data, request.soft_labels)[train][kept]
        more["soft_labels"] = soft_label_error(soft_labels, level=request.level)
    if request.noise:
        say(f"label noise: {len(set(request.noise))} rates, {request.repeats} draws of each")
        more["noise"] = noise_series(
            used,
            labels,
            request.noise,
            derived_generator(rng, "noise"),
            EstimatorSettings(request.neighbours, request.trees, request.extrapolate),
            repeats=request.repeats,
            best_error=request.best_error,
            true_error=true_error if request.best_error is None else None,
        )
    if request.intervals is not None:
        say(f"intervals: estimates without each of {request.blocks} blocks of rows")
        more["intervals"] = leave_block_out_intervals(
            used,
            labels,
            derived_generator(rng, "intervals"),
            found.errors,
            blocks=request.blocks,
            level=request.intervals,
        )
        short = classes[rows < request.blocks]
        if len(short):
            warnings.append(
                f"intervals: {_some(short)} {'has' if len(short) == 1 else 'have'} fewer rows than the "
                f"{request.blocks} blocks; their intervals are too narrow or missing"
            )
    if request.permutations is not None:
        pairs = len(classes) * (len(classes) - 1) // 2
        say(f"p-values: {request.permutations} permutations for each of {pairs} pairs")
        more["p_values"] = pairwise_p_values(
            used, labels, rng, permutations=request.permutations, trees=request.trees
        )
    names, groups = attribute_groups(data)
    if request.select is not None:
        more["selection"] = _select(used, labels, groups, names, request, rng, say, about)
    if request.transforms:
        raw, taken = fill(data.X[train][kept]), more.get("selection")
        ranked = np.arange(len(labels))
        if request.embeddings and len(labels) > request.select_rows:
            ranked = sample_by_class(labels, request.select_rows, derived_generator(rng, "transforms"))
            about.append(f"transforms ranked on a random sample of {len(ranked)} rows")
        more["ranked"] = _rank(raw[ranked], labels[ranked], request, taken, groups, transform, say)
    if request.classifier is not None:
        say(f"{request.classifier}: {len(train)} training rows, {len(test)} test rows")
        more["test"] = _tried(
            data, request, classes, X, y, transform(fill(data.X[test])), data.y[test], warnings
        )
    return Study(
        name=data.name,
        request=request,
        rows=rows,
        columns=used.shape[1],
        assessment=found,
        attributes=names,
        about=tuple(about),
        warnings=tuple(warnings),
        true_error=true_error,
        **more,
    )


def check_request(request: Request, data: DataSet) -> None:
    """Raise ConfigError for settings that this data set does not allow, before computing."""
    names, _ = attribute_groups(data)
    if request.part != "all" and data.train_rows is None:
        raise ConfigError(f"data set '{data.name}' has no predefined training and test parts")
    if request.part == "test" and request.classifier is not None:
        raise ConfigError("with a classifier the estimates use the training part, not the test part")
    if request.select is not None and not 1 <= request.select <= len(names):
        raise ConfigError(f"--select: expected 1 to {len(names)} features, got {request.select}")
    for rate in request.noise:
        if not 0 <= rate <= 1:
            raise ConfigError(f"--noise: expected rates from 0 to 1, got {rate:g}")
    for d in request.components:
        if not 1 <= d <= data.X.shape[1]:
            raise ConfigError(f"--components: expected 1 to {data.X.shape[1]}, the columns, got {d}")
    if request.classifier is not None:
        from confml.methods.registry import check

        check(request.classifier, request.params)


def _soft_labels(data: DataSet, columns: Sequence[str]) -> np.ndarray:
    """Return the soft labels (n, K) in identifier columns of the data set."""
    if len(columns) < 2:
        raise ConfigError("--soft-labels: expected at least two columns, one per class")
    texts = data.identifiers()
    found = np.empty((len(data), len(columns)))
    for place, name in enumerate(columns):
        for row, text in enumerate(texts[name].tolist()):
            try:
                found[row, place] = float(text)
            except ValueError:
                line = f"line {data.lines[row]}" if data.lines is not None else f"row {row}"
                raise DataError(
                    f"expected a probability or a number of annotators, got '{text}'",
                    where=f"{data.name}, {line}, column '{name}'",
                ) from None
    return found


def attribute_groups(data: DataSet) -> tuple[tuple[str, ...], list[list[int]]]:
    """Return the names of the features and the columns of X of each; dummy columns stay together."""
    if data.attributes == data.table_attributes:
        return data.attributes, [[j] for j in range(len(data.attributes))]
    found: dict[str, list[int]] = {}
    place = 0
    for name, known in zip(data.table_attributes, data.categories, strict=True):
        stop = place + (known is None)
        for column in data.attributes[stop : place + len(known or ())]:
            if not column.startswith(f"{name}="):
                break
            stop += 1
        if stop > place:  # a feature with one category has no column if the first category is dropped
            found[name] = list(range(place, stop))
        place = stop
    return tuple(found), list(found.values())


def _parts(data: DataSet, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows for the estimates, test rows)."""
    every = np.arange(len(data))
    if request.classifier is None:
        named = {"all": every, "train": data.train_rows, "test": data.test_rows}
        rows = named[request.part]
        assert rows is not None  # `check` refuses a part that the data set does not have
        return rows, every[:0]
    if data.train_rows is not None and data.test_rows is not None:
        return data.train_rows, data.test_rows
    from confml.config.protocol import Protocol
    from confml.runner.splits import Split, split_rows

    protocol = Protocol(kind="holdout", test_size=request.test_size)
    return split_rows(data, protocol, Split("holdout"), request.seed)


def _filled(data: DataSet, rows: np.ndarray, request: Request):
    """Return a function that replaces missing values by means of the rows, and the preparation as text."""
    from confml.steps.registry import build_step

    about = []
    if request.classifier is not None:
        about.append("estimates from the training part")
    elif request.part != "all":
        about.append(f"the {request.part} part")
    if not np.isnan(data.X).any():
        return (lambda X: X), about
    about.append("missing values replaced by means")
    return build_step("impute-mean").fit(data.X[rows], data.y[rows]).transform, about


def _scaled(X: np.ndarray, y: np.ndarray, request: Request, about: list[str]):
    """Return scaled X, y, and the same scaling as a function; append the scaling to ``about``."""
    from confml.steps.registry import build_pipeline

    steps: list[tuple[str, dict[str, Any]]] = [] if request.scale == "none" else [(request.scale, {})]
    about.append(f"features scaled by {request.scale}" if steps else "features not scaled")
    chain = build_pipeline(steps)
    X, y, _ = chain.fit_training(X, y)
    constant = int(np.sum(X.max(axis=0) == X.min(axis=0)))
    if constant:
        about.append(f"constant columns: {constant}")
    return X, y, chain.transform


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


def _select(used, labels, groups, names, request: Request, rng, say, about: list[str]) -> Selection:
    rows = np.arange(len(labels))
    assert request.select is not None  # `study` selects only where it is asked for
    if len(labels) > request.select_rows:
        rows = sample_by_class(labels, request.select_rows, derived_generator(rng, "selection"))
        about.append(f"features selected on a random sample of {len(rows)} rows")
    say(f"selection: {request.select} of {len(names)} features on {len(rows)} rows")
    return select_attributes(
        used[rows],
        labels[rows],
        request.select,
        groups=groups,
        criterion=request.criterion,
        **request.of_trees,
        said=lambda step, taken: say(f"selection: {step + 1}. {names[taken]}"),
    )


def _rank(raw, labels, request: Request, selection, groups, transform, say) -> list[RankedTransform]:
    """Rank scalings, principal components of the scaled columns, and the selected features."""
    scaled = transform(raw)
    d = min(scaled.shape)
    components = request.components or [c for c in COMPONENTS if c < d]
    given = "as-is" if request.scale == "none" else request.scale
    transforms = dict(scaling_transforms(raw))
    if given not in transforms:
        transforms[given] = transform
    for name, project in pca_transforms(scaled, components).items():
        transforms[name] = lambda rows, project=project: project(transform(rows))
    if request.embeddings:
        if few := [c for c in components if c < len(scaled)]:
            transforms |= embedding_transforms(scaled, few, seed=request.seed)
    if selection is not None:
        most = len(selection.attributes)
        for size in [*(c for c in COMPONENTS if c < most), most]:
            columns = [j for attribute in selection.attributes[:size] for j in groups[attribute]]
            transforms[f"select-{size}"] = lambda rows, columns=columns: transform(rows)[:, columns]
    say(f"transforms: {', '.join(transforms)}")
    return rank_transforms(raw, labels, transforms, criterion=request.criterion, **request.of_trees)


def _tried(data, request: Request, classes, X, y, X_test, y_test, warnings: list[str]) -> ClassifierErrors:
    from confml.methods.registry import build

    assert request.classifier is not None  # `study` tries only a classifier that is named
    known = np.isin(y_test, classes)
    if not known.all():
        warnings.append(f"{int(np.sum(~known))} test rows of absent classes are ignored")
        X_test, y_test = X_test[known], y_test[known]
    if not len(y_test):
        raise DataError(f"the test part of '{data.name}' has no row of a training class")
    rng = stable_generator("bayes-error", "classifier", request.seed, data.checksum, request.classifier)
    method = build(request.classifier, request.params)
    ((_, views),) = method.evaluate_path(X, y, X_test, [{}], rng)
    labels = next(iter(views.values())).labels
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (np.searchsorted(classes, y_test), np.searchsorted(classes, labels)), 1)
    words = ", ".join(f"{key}={value}" for key, value in request.params.items())
    return ClassifierErrors(f"{request.classifier} {words}".strip(), confusion)


def _some(labels: np.ndarray, most: int = 3) -> str:
    shown = ", ".join(str(label) for label in labels[:most].tolist())
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return f"class{'es' if len(labels) > 1 else ''} {shown}{more}"
