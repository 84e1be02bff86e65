"""Figures of van den Burg and Hero (2017) on Bayes errors: ``bayes_error_paper.py [PART ...]``.

Each part writes its table and figure into results/reference/smartsvm/bayes-error, and its settings, time and
versions into results/figure-bayes-error/PART/study.json. ``make figure-bayes-error`` computes all parts.

figure-1, figure-2: bias and variance of the estimate for two Gaussian classes. figure-3-mnist,
figure-3-optdigits, figure-4: estimates on the training part against the test errors of a classifier.
components, embeddings: estimates after principal components, kernel PCA and Laplacian eigenmaps (section 3).
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import pearsonr, spearmanr

from confml._seeds import derived_generator, stable_generator
from confml.bayes_error.estimates import bayes_error_from_crossings
from confml.bayes_error.rates import bayes_errors, pairwise_bayes_error
from confml.bayes_error.selection import sample_by_class
from confml.config.protocol import Protocol
from confml.data import load
from confml.data.dataset import DataSet
from confml.methods.registry import build
from confml.report.bayes_error.figures import draw_classes, draw_estimates, draw_pairs
from confml.report.bayes_error.study import Prepared, Request, Study, prepare
from confml.report.bayes_error.tables import class_rows, pair_rows, write_rows
from confml.report.figures import style
from confml.runner.provenance import write_study_provenance
from confml.runner.splits import Split, split_rows

RESULTS = Path(__file__).resolve().parents[2] / "results"
TARGET = RESULTS / "reference" / "smartsvm" / "bayes-error"
SEED, TREES = 1, 3
Rows = list[dict[str, Any]]


# ---- figures 1 and 2: repeated draws of two Gaussian classes, whose Bayes error is known


class Trials(NamedTuple):
    """Estimates (priors, separations, trees, trials) with and without bias correction, and Bayes errors."""

    priors: np.ndarray
    separations: np.ndarray
    trees: Sequence[int]
    estimate: np.ndarray
    uncorrected: np.ndarray
    truth: np.ndarray
    bhattacharyya: np.ndarray


def gaussian_trials(
    priors: Sequence[float], separations: Sequence[float], trees: Sequence[int], trials: int, rows: int = 1000
) -> Trials:
    """Draw two spherical Gaussians in the plane, rows altogether, and estimate their Bayes error."""
    sizes = [round(prior * rows) for prior in priors]
    each_point = [
        crossings_of_trials(m, rows - m, separation, max(trees), trials)
        for m in sizes
        for separation in separations
    ]
    shape = len(sizes), len(separations), trials, max(trees)
    means = np.cumsum(np.stack(each_point).reshape(shape), axis=3) / np.arange(1, shape[3] + 1)
    crossings = np.moveaxis(means[:, :, :, np.array(trees) - 1], 3, 2)
    m = np.array(sizes)[:, None, None, None]
    corrected, raw = (
        bayes_error_from_crossings(crossings, m, rows - m, correct_bias=correct, normalise=False)[0]
        for correct in (True, False)
    )
    p, distance = np.array(sizes) / rows, np.array(separations, dtype=float)
    truth, bound = gaussian_bayes_error(distance[None, :], p[:, None])
    return Trials(p, distance, trees, corrected, raw, truth, bound)


def crossings_of_trials(m: int, n: int, separation: float, trees: int, trials: int) -> np.ndarray:
    """Return the crossings of each orthogonal tree (trials, trees); each trial has its own seed."""
    crossings = np.empty((trials, trees))
    for trial in range(trials):
        rng = stable_generator("gaussian trials", SEED, m, n, float(separation), 2, trial)
        X = rng.normal(size=(m + n, 2))
        X[m:, 0] += separation
        y = np.repeat([0, 1], [m, n])
        crossings[trial] = pairwise_bayes_error(X, y, trees=trees).per_tree[:, 0, 1]
    return crossings


def gaussian_bayes_error(distance: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Bayes error of N(a, I) and N(b, I), |a - b| = distance, priors p and 1 - p, and the bound of
    Bhattacharyya, sqrt(p (1 - p)) exp(-distance^2 / 8) (Kailath 1967).

    The Bayes rule cuts along a - b at a shift of log(p / (1 - p)) / distance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(p / (1 - p)) / distance
        error = p * ndtr(-distance / 2 - shift) + (1 - p) * ndtr(-distance / 2 + shift)
    error = np.where(distance == 0, np.minimum(p, 1 - p), error)
    return error, np.sqrt(p * (1 - p)) * np.exp(-(distance**2) / 8)


def trial_rows(trials: Trials) -> Iterator[dict[str, Any]]:
    """Yield one row per prior, separation and number of trees."""
    for p, prior in enumerate(trials.priors):
        for s, separation in enumerate(trials.separations):
            for t, trees in enumerate(trials.trees):
                estimate = trials.estimate[p, s, t]
                yield {
                    **{"prior": prior, "separation": separation, "trees": trees},
                    **{"true_bayes_error": trials.truth[p, s], "estimate": estimate.mean()},
                    **{"bias": estimate.mean() - trials.truth[p, s], "variance": estimate.var(ddof=1)},
                    "uncorrected": trials.uncorrected[p, s, t].mean(),
                    "bhattacharyya": trials.bhattacharyya[p, s],
                }


def figure_1() -> tuple[Rows, Any]:
    """True Bayes error, Bhattacharyya bound, and estimates with and without bias correction."""
    trials = gaussian_trials((0.5, 0.33, 0.15), np.arange(11) / 2, (TREES,), 200)
    panels = style.Panels(3, height=2.3, columns=3, sharex=True)
    for place, axes in enumerate(panels.axes):
        curves = {
            "estimate, uncorrected (± 1 sd)": (trials.uncorrected, style.ORANGE, 2.4),
            "estimate, bias corrected (± 1 sd)": (trials.estimate, style.BLUE, 1.2),
        }
        for label, (values, colour, width) in curves.items():
            here, options = 100 * values[place, :, -1], {"markersize": 2 * width**0.5, "linewidth": width}
            mean, sd = here.mean(axis=1), here.std(axis=1, ddof=1)
            (panels.handles[label],) = axes.plot(trials.separations, mean, "o-", color=colour, **options)
            band = style.rate_band(mean, sd)
            axes.fill_between(trials.separations, *band, color=colour, alpha=0.2, linewidth=0)
        true = axes.plot(trials.separations, 100 * trials.truth[place], color=style.BLACK)
        bound = axes.plot(trials.separations, 100 * trials.bhattacharyya[place], "--", color=style.GREY)
        panels.handles |= {"true": true[0], "Bhattacharyya bound": bound[0]}
        axes.set_ylim(bottom=0)
        axes.set_title(f"({'abc'[place]}) smaller prior {trials.priors[place]:g}", loc="left")
    figure = panels.finish("", "distance between the means (sd)", "Bayes error (%)")
    return list(trial_rows(trials)), figure


def figure_2() -> tuple[Rows, Any]:
    """Variance of the estimate against the separation, one line per number of trees."""
    trials = gaussian_trials((0.33,), np.arange(1, 10) / 2, (1, 2, 3, 5), 500)
    variance = trials.estimate.var(axis=3, ddof=1)[0]
    power = max(math.ceil(-math.log10(variance.max())), 0)
    panels = style.Panels(1, height=2.5)
    (axes,) = panels.axes
    for place, (number, values) in enumerate(zip(trials.trees, variance.T, strict=True)):
        (line,) = axes.plot(trials.separations, 10**power * values, **style.line_of(place))
        panels.handles[f"{number} trees" if number > 1 else "1 tree"] = line
    axes.set_ylim(bottom=0)
    axes.set_title("smaller prior 0.33, 1000 rows", loc="left")
    y_label = f"variance of the estimate ({style.power(10, -power)})"
    return list(trial_rows(trials)), panels.finish("", "distance between the means (sd)", y_label)


# ---- figures 3 and 4: estimates on the training part, and the test errors of a classifier


def study_of(data: DataSet, rows: np.ndarray, scale: str) -> tuple[Study, Prepared]:
    """Return the estimates on the rows, in random order, and the rows."""
    prepared, request = prepare(data, rows, scale), Request(scale=scale, trees=TREES, seed=SEED)
    kept = sample_by_class(prepared.y, None, stable_generator("bayes-error", SEED, data.checksum))
    errors = bayes_errors(prepared.X[kept], prepared.y[kept], TREES)
    counts = np.unique(prepared.y, return_counts=True)[1]
    return Study(data.name, request, counts, prepared.X.shape[1], errors, (), (), ()), prepared


def with_classifier(name: str, scale: str, method: str, **params: Any) -> tuple[Study, np.ndarray]:
    """Return the estimates on the training part, and the confusion matrix (K, K) of the test part."""
    data = load({"name": name})
    if data.train_rows is not None and data.test_rows is not None:
        train, test = data.train_rows, data.test_rows
    else:
        train, test = split_rows(data, Protocol(kind="holdout", test_size=0.3), Split("holdout"), SEED)
    study, prepared = study_of(data, train, scale)
    X_test, y_test = prepared.scale(prepared.fill(data.X[test])), data.y[test]
    rng = stable_generator("bayes-error", "classifier", SEED, data.checksum, method)
    paths = build(method, params).evaluate_path(prepared.X, prepared.y, X_test, [{}], rng)
    labels = next(iter(next(iter(paths))[1].values())).labels
    confusion = np.zeros((len(study.classes), len(study.classes)), dtype=np.int64)
    np.add.at(confusion, (np.searchsorted(study.classes, y_test), np.searchsorted(study.classes, labels)), 1)
    return study, confusion


def figure_3(name: str) -> tuple[Rows, Any]:
    """Heat maps of the estimates of all pairs of digits, and of the errors of 3-NN between them."""
    study, confusion = with_classifier(name, "none", "knn", k=3)
    both = (confusion + confusion.T).astype(float)
    np.fill_diagonal(both, np.nan)
    figure = style.new_figure(style.PAGE, 3.0)
    first, second = (figure.add_subplot(1, 2, place) for place in (1, 2))
    draw_estimates(first, study)
    first.set_title(f"(a) {study.name}: estimates", loc="left")
    draw_pairs(second, both, "test errors between two classes", study.classes.tolist())
    total, wrong = int(confusion.sum()), int(confusion.sum() - np.trace(confusion))
    second.set_title(f"(b) knn k=3: {wrong} errors in {total} rows", loc="left")
    places = {label: place for place, label in enumerate(study.classes.tolist())}
    rows = pair_rows(study)
    for row in rows:
        row["test_errors"] = int(both[places[row["class_a"]], places[row["class_b"]]])
    return rows, figure


def figure_4() -> tuple[Rows, Any]:
    """One-vs-rest estimates of chess endgames, and false positives and negatives of GenSVM (10)."""
    study, confusion = with_classifier("krkopt-smartsvm", "min-max", "gen-svm")
    right, total = np.diag(confusion), confusion.sum()
    rate = (confusion.sum(axis=0) + confusion.sum(axis=1) - 2 * right) / total
    rows, places = class_rows(study), {label: place for place, label in enumerate(study.classes.tolist())}
    for row in rows:
        place = places[row["class"]]
        row["test_confusion_rate"] = rate[place]
        row["test_class_error"] = 1 - right[place] / confusion[place].sum()
    prior = np.minimum(study.rows, study.rows.sum() - study.rows) / study.rows.sum()
    estimate = study.errors.one_vs_rest.estimate * prior
    order = np.argsort(-estimate, kind="stable")
    figure = style.new_figure(style.PAGE, 3.0)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.6, 1))
    axes, scatter = (figure.add_subplot(grid[0, place]) for place in (0, 1))
    handles = draw_classes(axes, study)
    open_marks = {"color": style.VERMILION, "markersize": 3, "markerfacecolor": "none", "clip_on": False}
    (handles["test errors, gen-svm"],) = axes.plot(
        np.arange(len(order)), 100 * rate[order], "D", **open_marks
    )
    axes.autoscale(axis="y")
    axes.set_ylim(bottom=0)
    axes.set_title(f"(a) {study.name}", loc="left")
    style.add_legend(figure, handles)
    top = 112 * max(estimate.max(), rate.max())
    scatter.plot(100 * estimate, 100 * rate, "o", color=style.VERMILION, markersize=2.5)
    scatter.plot([0, top], [0, top], color=style.GREY, linewidth=0.7, linestyle="--", zorder=0)
    scatter.set(xlim=(-0.02 * top, top), ylim=(-0.02 * top, top), aspect="equal")
    scatter.set(xlabel="estimated Bayes error (%)", ylabel="test errors (%)")
    own, sizes = (f"{pearsonr(x, rate)[0]:.3f}, {spearmanr(x, rate)[0]:.3f}" for x in (estimate, prior))
    scatter.set_title(f"(b) r, rank r = {own}\nclass sizes alone: {sizes}", loc="left")
    return rows, figure


# ---- section 3: estimates after transformations


def scalings(X: np.ndarray) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return the usual scalings, fitted to X; constant features become 0."""

    def by(shift: np.ndarray, width: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda rows: (rows - shift) / np.where(width > 0, width, 1.0)

    return {
        "as-is": lambda rows: rows,
        "standardise": by(X.mean(axis=0), X.std(axis=0)),
        "min-max": by(X.min(axis=0), X.max(axis=0) - X.min(axis=0)),
    }


def principal_components(X: np.ndarray, numbers: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the first principal components of the rows of X."""
    centred = X - X.mean(axis=0)
    # the triangle of a QR decomposition has the same right singular vectors as its many rows
    axes = np.linalg.svd(np.linalg.qr(centred, mode="r"), full_matrices=False)[2]
    return {f"pca-{number}": centred @ axes[:number].T for number in numbers}


def embeddings_of(X: np.ndarray, numbers: Sequence[int]) -> dict[str, np.ndarray]:
    """Return kernel PCA with an RBF kernel, and Laplacian eigenmaps of the graph of 10 neighbours."""
    from sklearn.decomposition import KernelPCA
    from sklearn.manifold import SpectralEmbedding

    most, gamma = max(numbers), 1 / (X.shape[1] * float(X.var()))
    kernel = KernelPCA(most, kernel="rbf", gamma=gamma, random_state=SEED).fit_transform(X)
    graph = SpectralEmbedding(most, affinity="nearest_neighbors", n_neighbors=10, random_state=SEED)
    with warnings.catch_warnings():
        # separated classes give a graph of several components; the embedding then separates them
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        laplacian = graph.fit_transform(X)
    embedded = {"kernel-pca": kernel, "laplacian": laplacian}
    return {f"{name}-{number}": made[:, :number] for name, made in embedded.items() for number in numbers}


def ranked(name: str, scale: str, numbers: Sequence[int], most: int | None, embedded: bool):
    """Return (transformation, columns, estimates), smallest mean of the pairs first, and the classes."""
    data = load({"name": name})
    rng = stable_generator("bayes-error", SEED, data.checksum)
    prepared = prepare(data, np.arange(len(data)), scale)
    order = sample_by_class(prepared.y, None, rng)
    if most is not None and len(order) > most:
        order = order[sample_by_class(prepared.y[order], most, derived_generator(rng, "transforms"))]
    raw, y = prepared.fill(data.X[order]), prepared.y[order]
    scaled = prepared.scale(raw)
    made = {key: transform(raw) for key, transform in scalings(raw).items()}
    made |= principal_components(scaled, numbers) | (embeddings_of(scaled, numbers) if embedded else {})
    found = [(key, rows.shape[1], bayes_errors(rows, y, TREES)) for key, rows in made.items()]
    return sorted(found, key=lambda entry: float(pair_estimates(entry[2]).mean())), np.unique(y).tolist()


def pair_estimates(errors: Any) -> np.ndarray:
    """Return the estimates of the pairs of classes."""
    return errors.pairwise.estimate[np.triu_indices(len(errors.pairwise.classes), 1)]


def components() -> tuple[Rows, None]:
    """Classes of chess endgames after principal components; the Bayes error is the middle of its bounds."""
    found, classes = ranked("krkopt-smartsvm", "min-max", (5, 10, 15, 20, 25, 30, 34), None, False)
    rows = []
    for place, label in enumerate(classes):
        for name, columns, errors in found:
            rest = errors.one_vs_rest
            lower, upper = float(rest.lower[place]), float(rest.upper[place])
            values = label, name, columns, rest.estimate[place], (lower + upper) / 2, lower, upper
            names = ("class", "transform", "columns", "estimate", "bayes_error", "lower", "upper")
            rows.append(dict(zip(names, values, strict=True)))
    return rows, None


def embeddings() -> tuple[Rows, Any]:
    """Mean and worst estimate of digits after kernel PCA and Laplacian eigenmaps, on 2,000 rows."""
    found, _ = ranked("optdigits", "none", (5, 10, 20), 2000, True)
    rows = []
    for name, columns, errors in found:
        pairs, rest = pair_estimates(errors), errors.one_vs_rest.estimate
        values = name, columns, pairs.mean(), pairs.max(), rest.mean(), rest.max()
        names = ("transform", "columns", "mean_of_pairs", "worst_pair", "mean_of_classes", "worst_class")
        rows.append(dict(zip(names, values, strict=True)))
    figure = style.new_figure(style.COLUMN, 0.9 + 0.17 * len(rows))
    axes, places = figure.add_subplot(), np.arange(len(rows))[::-1]
    kinds = {"mean of the pairs": ("mean_of_pairs", "o", style.BLUE)}
    kinds["worst pair"] = "worst_pair", "D", style.VERMILION
    handles = {
        name: axes.plot([row[key] for row in rows], places, mark, color=colour)[0]
        for name, (key, mark, colour) in kinds.items()
    }
    axes.set_yticks(places, [f"{row['transform']} ({row['columns']})" for row in rows])
    axes.set(ylim=(-0.6, len(rows) - 0.4), xlim=(0, 1.04 * max(row["worst_pair"] for row in rows)))
    axes.grid(axis="y", linewidth=0.3, color="0.9")
    axes.set_xlabel("estimated Bayes error / smaller prior")
    axes.set_title("optdigits: transforms (columns)", loc="left")
    style.add_legend(figure, handles)
    return rows, figure


PARTS: dict[str, Callable[[], tuple[Rows, Any]]] = {
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3-mnist": lambda: figure_3("mnist"),
    "figure-3-optdigits": lambda: figure_3("optdigits"),
    "figure-4": figure_4,
    "components": components,
    "embeddings": embeddings,
}


def main() -> None:
    """Compute the parts of the command line, all by default."""
    parser = argparse.ArgumentParser(description="Figures of van den Burg and Hero (2017).")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; default all")
    names = parser.parse_args().parts
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"unknown part {unknown[0]}; expected one of {', '.join(PARTS)}")
    for name in names or PARTS:
        begun = time.perf_counter()
        with style.style():
            rows, figure = PARTS[name]()
            write_rows(TARGET / f"{name}.csv", rows)
            if figure is not None:
                for path in style.save(figure, RESULTS / "figure-bayes-error" / name / name):
                    if path.suffix in (".svg", ".txt"):
                        (TARGET / "figures" / path.name).write_bytes(path.read_bytes())
        folder = RESULTS / "figure-bayes-error" / name
        folder.mkdir(parents=True, exist_ok=True)
        write_study_provenance(folder, SEED, time.perf_counter() - begun)
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
