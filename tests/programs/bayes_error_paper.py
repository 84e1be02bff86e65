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
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import confusion_matrix

from confml._seeds import derived_generator, stable_generator
from confml.bayes_error.estimates import bayes_error_from_crossings
from confml.bayes_error.rates import bayes_errors, pairwise_bayes_error
from confml.bayes_error.selection import sample_by_class
from confml.config.protocol import Protocol
from confml.data import load
from confml.data.generators import two_gaussians_bayes_error
from confml.methods.registry import build
from confml.report.bayes_error.figures import draw_classes, draw_estimates, draw_pairs
from confml.report.bayes_error.study import Request, Study, prepare
from confml.report.bayes_error.tables import class_rows, pair_rows
from confml.report.figures import style
from confml.report.files import write_csv
from confml.runner.provenance import write_study_provenance
from confml.runner.splits import Split, split_rows

RESULTS = Path(__file__).resolve().parents[2] / "results"
TARGET = RESULTS / "reference" / "smartsvm" / "bayes-error"
SEED, TREES = 1, 3
Part = tuple[pd.DataFrame, Any]
"""Table and figure, None without one."""


# ---- figures 1 and 2: repeated draws of two Gaussian classes, whose Bayes error is known


def gaussian_trials(
    priors: Sequence[float], separations: Sequence[float], trees: Sequence[int], trials: int, rows: int = 1000
) -> pd.DataFrame:
    """Draw two spherical Gaussians in the plane, rows altogether, and estimate their Bayes error.

    Return one row per prior, separation and number of trees, with the estimate with and without correction.
    """
    lines = []
    for m in (round(prior * rows) for prior in priors):
        p = m / rows
        for separation in separations:
            crossings = crossings_of_trials(m, rows - m, separation, max(trees), trials)
            means = np.cumsum(crossings, axis=1) / np.arange(1, max(trees) + 1)
            truth = two_gaussians_bayes_error(distance=separation, prior=p) if separation else min(p, 1 - p)
            bound = np.sqrt(p * (1 - p)) * np.exp(-(separation**2) / 8)  # Kailath 1967
            for number in trees:
                of_trees = means[:, number - 1], m, rows - m
                estimate, uncorrected = (
                    bayes_error_from_crossings(*of_trees, correct_bias=correct, normalise=False)[0]
                    for correct in (True, False)
                )
                line = {"prior": p, "separation": separation, "trees": number}
                line |= {"true_bayes_error": truth, "estimate": estimate.mean()}
                line |= {"bias": estimate.mean() - truth, "variance": estimate.var(ddof=1)}
                line |= {"uncorrected": uncorrected.mean(), "bhattacharyya": bound}
                lines.append(line | {"sd": estimate.std(ddof=1), "uncorrected_sd": uncorrected.std(ddof=1)})
    return pd.DataFrame(lines)


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


def figure_1() -> Part:
    """True Bayes error, Bhattacharyya bound, and estimates with and without bias correction."""
    table = gaussian_trials((0.5, 0.33, 0.15), np.arange(11) / 2, (TREES,), 200)
    panels = style.Panels(3, height=2.3, columns=3, sharex=True)
    for letter, axes, (prior, rows) in zip(
        "abc", panels.axes, table.groupby("prior", sort=False), strict=True
    ):
        x = rows["separation"]
        curves = {
            "estimate, uncorrected (± 1 sd)": ("uncorrected", "uncorrected_sd", style.ORANGE, 2.4),
            "estimate, bias corrected (± 1 sd)": ("estimate", "sd", style.BLUE, 1.2),
        }
        for label, (mean, sd, colour, width) in curves.items():
            options = {"color": colour, "markersize": 2 * width**0.5, "linewidth": width}
            (panels.handles[label],) = axes.plot(x, 100 * rows[mean], "o-", **options)
            band = style.rate_band(100 * rows[mean], 100 * rows[sd])
            axes.fill_between(x, *band, color=colour, alpha=0.2, linewidth=0)
        true = axes.plot(x, 100 * rows["true_bayes_error"], color=style.BLACK)
        bound = axes.plot(x, 100 * rows["bhattacharyya"], "--", color=style.GREY)
        panels.handles |= {"true": true[0], "Bhattacharyya bound": bound[0]}
        axes.set_ylim(bottom=0)
        axes.set_title(f"({letter}) smaller prior {prior:g}", loc="left")
    figure = panels.finish("", "distance between the means (sd)", "Bayes error (%)")
    return table.drop(columns=["sd", "uncorrected_sd"]), figure


def figure_2() -> Part:
    """Variance of the estimate against the separation, one line per number of trees."""
    table = gaussian_trials((0.33,), np.arange(1, 10) / 2, (1, 2, 3, 5), 500)
    power = max(math.ceil(-math.log10(table["variance"].max())), 0)
    panels = style.Panels(1, height=2.5)
    (axes,) = panels.axes
    for number, (trees, rows) in enumerate(table.groupby("trees")):
        (line,) = axes.plot(rows["separation"], 10**power * rows["variance"], **style.line_of(number))
        panels.handles[f"{trees} trees" if trees > 1 else "1 tree"] = line
    axes.set_ylim(bottom=0)
    axes.set_title("smaller prior 0.33, 1000 rows", loc="left")
    y_label = f"variance of the estimate ({style.power(10, -power)})"
    figure = panels.finish("", "distance between the means (sd)", y_label)
    return table.drop(columns=["sd", "uncorrected_sd"]), figure


# ---- figures 3 and 4: estimates on the training part, and the test errors of a classifier


def with_classifier(name: str, scale: str, method: str, **params: Any) -> tuple[Study, np.ndarray]:
    """Return the estimates on the training part, and the confusion matrix (K, K) of the test part."""
    data = load({"name": name})
    train, test = data.train_rows, data.test_rows
    if train is None:
        train, test = split_rows(data, Protocol(kind="holdout", test_size=0.3), Split("holdout"), SEED)
    prepared = prepare(data, train, scale)
    order = sample_by_class(prepared.y, None, stable_generator("bayes-error", SEED, data.checksum))
    errors = bayes_errors(prepared.X[order], prepared.y[order], TREES)
    classes, counts = np.unique(prepared.y, return_counts=True)
    request = Request(scale=scale, trees=TREES, seed=SEED)
    study = Study(data.name, request, counts, prepared.X.shape[1], errors, (), (), ())
    X_test = prepared.scale(prepared.fill(data.X[test]))
    labels = build(method, params).fit(prepared.X, prepared.y).predict(X_test)
    return study, confusion_matrix(data.y[test], labels, labels=classes)


def figure_3(name: str) -> Part:
    """Heat maps of the estimates of all pairs of digits, and of the errors of 3-NN between them."""
    study, confusion = with_classifier(name, "none", "knn", k=3)
    both = pd.DataFrame(confusion + confusion.T, study.classes, study.classes)
    figure = style.new_figure(style.PAGE, 3.0)
    first, second = (figure.add_subplot(1, 2, number) for number in (1, 2))
    draw_estimates(first, study)
    first.set_title(f"(a) {study.name}: estimates", loc="left")
    without_diagonal = both.astype(float).mask(np.eye(len(both), dtype=bool)).to_numpy()
    draw_pairs(second, without_diagonal, "test errors between two classes", study.classes.tolist())
    total, wrong = int(confusion.sum()), int(confusion.sum() - np.trace(confusion))
    second.set_title(f"(b) knn k=3: {wrong} errors in {total} rows", loc="left")
    table = pd.DataFrame(pair_rows(study))
    pairs = zip(table["class_a"], table["class_b"], strict=True)
    return table.assign(test_errors=[both.loc[pair] for pair in pairs]), figure


def figure_4() -> Part:
    """One-vs-rest estimates of chess endgames, and false positives and negatives of GenSVM (10)."""
    study, confusion = with_classifier("krkopt-smartsvm", "min-max", "gen-svm")
    right, total = np.diag(confusion), confusion.sum()
    rate = (confusion.sum(axis=0) + confusion.sum(axis=1) - 2 * right) / total
    errors = {"test_confusion_rate": rate, "test_class_error": 1 - right / confusion.sum(axis=1)}
    of_classes = pd.DataFrame(errors, index=study.classes)
    prior = np.minimum(study.rows, study.rows.sum() - study.rows) / study.rows.sum()
    estimate = study.errors.one_vs_rest.estimate * prior
    order = np.argsort(-estimate, kind="stable")
    figure = style.new_figure(style.PAGE, 3.0)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.6, 1))
    axes, scatter = (figure.add_subplot(grid[0, column]) for column in (0, 1))
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
    of_estimates, of_sizes = (
        f"{pearsonr(x, rate)[0]:.3f}, {spearmanr(x, rate)[0]:.3f}" for x in (estimate, prior)
    )
    scatter.set_title(f"(b) r, rank r = {of_estimates}\nclass sizes alone: {of_sizes}", loc="left")
    return pd.DataFrame(class_rows(study)).join(of_classes, on="class"), figure


# ---- section 3: estimates after transformations


def scalings(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return the usual scalings; constant features become 0."""

    scales = {"standardise": (X.mean(axis=0), X.std(axis=0)), "min-max": (X.min(axis=0), np.ptp(X, axis=0))}
    return {"as-is": X} | {
        name: (X - shift) / np.where(width > 0, width, 1.0) for name, (shift, width) in scales.items()
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

    largest, gamma = max(numbers), 1 / (X.shape[1] * float(X.var()))
    kernel = KernelPCA(largest, kernel="rbf", gamma=gamma, random_state=SEED).fit_transform(X)
    graph = SpectralEmbedding(largest, affinity="nearest_neighbors", n_neighbors=10, random_state=SEED)
    with warnings.catch_warnings():
        # separated classes give a graph of several components; the embedding then separates them
        warnings.filterwarnings("ignore", message="Graph is not fully connected")
        laplacian = graph.fit_transform(X)
    embedded = {"kernel-pca": kernel, "laplacian": laplacian}
    return {f"{name}-{number}": rows[:, :number] for name, rows in embedded.items() for number in numbers}


def ranked(name: str, scale: str, numbers: Sequence[int], largest: int | None) -> Iterator:
    """Yield (transformation, columns, estimates, estimates of the pairs), smallest mean of the pairs first.

    largest: number of rows of a sample, which has embeddings too.
    """
    data = load({"name": name})
    rng = stable_generator("bayes-error", SEED, data.checksum)
    prepared = prepare(data, np.arange(len(data)), scale)
    order = sample_by_class(prepared.y, None, rng)
    if largest is not None:
        order = order[sample_by_class(prepared.y[order], largest, derived_generator(rng, "transforms"))]
    raw, scaled = prepared.fill(data.X[order]), prepared.X[order]
    transformed = scalings(raw) | principal_components(scaled, numbers)
    transformed |= embeddings_of(scaled, numbers) if largest is not None else {}
    results = []
    for key, rows in transformed.items():
        errors = bayes_errors(rows, prepared.y[order], TREES)
        pairs = errors.pairwise.estimate[np.triu_indices(len(errors.pairwise.classes), 1)]
        results.append((key, rows.shape[1], errors, pairs))
    yield from sorted(results, key=lambda result: float(result[3].mean()))


def components() -> Part:
    """Classes of chess endgames after principal components; the Bayes error is the middle of its bounds."""
    tables = []
    for name, columns, errors, _ in ranked("krkopt-smartsvm", "min-max", (5, 10, 15, 20, 25, 30, 34), None):
        rest, classes = errors.one_vs_rest, errors.pairwise.classes
        table = pd.DataFrame({"class": classes, "transform": name, "columns": columns})
        table = table.assign(estimate=rest.estimate, bayes_error=(rest.lower + rest.upper) / 2)
        tables.append(table.assign(lower=rest.lower, upper=rest.upper))
    return pd.concat(tables).sort_values("class", kind="stable"), None


def embeddings() -> Part:
    """Mean and worst estimate of digits after kernel PCA and Laplacian eigenmaps, on 2,000 rows."""
    names = ("transform", "columns", "mean_of_pairs", "worst_pair", "mean_of_classes", "worst_class")
    rows = []
    for name, columns, errors, pairs in ranked("optdigits", "none", (5, 10, 20), 2000):
        rest = errors.one_vs_rest.estimate
        rows.append((name, columns, pairs.mean(), pairs.max(), rest.mean(), rest.max()))
    table = pd.DataFrame(rows, columns=names)
    figure = style.new_figure(style.COLUMN, 0.9 + 0.17 * len(table))
    axes, heights = figure.add_subplot(), np.arange(len(table))[::-1]
    (mean,) = axes.plot(table["mean_of_pairs"], heights, "o", color=style.BLUE)
    (worst,) = axes.plot(table["worst_pair"], heights, "D", color=style.VERMILION)
    axes.set_yticks(heights, table["transform"] + " (" + table["columns"].astype(str) + ")")
    axes.set(ylim=(-0.6, len(table) - 0.4), xlim=(0, 1.04 * table["worst_pair"].max()))
    axes.grid(axis="y", linewidth=0.3, color="0.9")
    axes.set_xlabel("estimated Bayes error / smaller prior")
    axes.set_title("optdigits: transforms (columns)", loc="left")
    style.add_legend(figure, {"mean of the pairs": mean, "worst pair": worst})
    return table, figure


PARTS: dict[str, Callable[[], Part]] = {
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
    for name in parser.parse_args().parts or PARTS:
        begun = time.perf_counter()
        folder = RESULTS / "figure-bayes-error" / name
        with style.style():
            table, figure = PARTS[name]()
            write_csv(TARGET / f"{name}.csv", list(table), table.to_numpy(dtype=object))
            if figure is not None:
                for path in style.save(figure, folder / name):
                    if path.suffix == ".svg":
                        (TARGET / "figures" / path.name).write_bytes(path.read_bytes())
        folder.mkdir(parents=True, exist_ok=True)
        write_study_provenance(folder, SEED, time.perf_counter() - begun)
        print(f"{name}: {len(table)} rows")


if __name__ == "__main__":
    main()
