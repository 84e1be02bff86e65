"""Running reject and envelope estimates along Markov chains: Krzanowski et al. (2006), figure 1.

Bayesian k-NN is fitted again to the first split's training part, with the paper's chains (10,000 steps of
burn-in, every 7th of the rest kept) and by exact integration, so the figure needs the data.
"""

import warnings
from typing import Any

import numpy as np

from confml.plugins.parameters import Integer, Parameter
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.decision_boundary import COLOURS, draw_truth, true_boundary
from confml.report.figures.refit import data_at_hand, first_split
from confml.report.figures.style import BLACK, PAGE, legend_below, new_figure, power
from confml.report.numbers.outcomes import FirstSplit

CHAINS = 4
CHAIN_COLOUR = {"reject": COLOURS[0], "envelope": COLOURS[1]}


class Places(Parameter):
    """A list of three points in the plane."""

    def expected(self) -> str:
        return "three points, [[x, y], [x, y], [x, y]]"

    def accepts(self, value: Any) -> bool:
        try:
            return np.asarray(value, dtype=float).shape == (3, 2) and bool(np.isfinite(value).all())
        except (TypeError, ValueError):
            return False


def running_means(model, points: np.ndarray, code: int) -> dict[str, np.ndarray]:
    """Return ``reject`` and ``envelope`` of class ``code`` at points (p, 2): means of the first 1, 2, ...
    draws.

    model: fitted by chains. Both are (chains, draws, p).
    """
    traces = model.diagnostics_.traces
    ks, betas = traces["k"].astype(np.int64), traces["beta"]
    depth = len(model.k_posterior_)
    counts = model.posterior_.training.class_counts(points, depth)  # (depth, p, c)
    most = counts >= counts.max(axis=2, keepdims=True) - 1e-9
    majority = (most / most.sum(axis=2, keepdims=True))[..., code]
    powers = betas[..., None, None] * (counts - counts[..., code, None])[ks - 1] / ks[..., None, None]
    with np.errstate(over="ignore"):
        probability = 1.0 / np.exp(powers).sum(axis=3)
    number = np.arange(1, ks.shape[1] + 1)[:, None]
    return {
        "reject": probability.cumsum(axis=1) / number,
        "envelope": majority[ks - 1].cumsum(axis=1) / number,
    }


def draw(subject: Subject):
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter

    from confml.methods.bayes_knn import BayesKNN

    variant = next((one for one in subject.variants.values() if one.method == "bayes-knn"), None)
    if variant is None:
        raise NotApplicable("no finished cell is of bayes-knn")
    places = subject.option("points", None)
    if places is None:
        raise NotApplicable("it needs three points: {running-estimates: {points: [[x, y], ...]}}")
    points = np.asarray(places, dtype=float)
    with data_at_hand(subject) as (data, folder):
        if data.X.shape[1] != 2 or len(data.classes) != 2:
            raise NotApplicable("it needs two features and two classes")
        names, classes = data.attributes, data.classes
        parts, _, _ = first_split(subject, variant, data, folder)
        X, labels = parts.untransformed
        treated = np.ascontiguousarray(parts.transform(points))
        train_X, train_y = np.array(parts.X), np.array(parts.y)
    settings: dict[str, Any] = {"samples": int(subject.option("draws", 70_000)), "thin": 7, "chains": CHAINS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the figure shows the convergence itself
        chains = BayesKNN(inference="mcmc", random_state=subject.results.config.seed, **settings)
        found = running_means(chains.fit(train_X, train_y), treated, 1)
    exact = BayesKNN().fit(train_X, train_y).confident_predict(treated)
    figure = new_figure(PAGE, 4.6)
    grid = figure.subplots(2, 2)
    _draw_data(grid[0, 0], X, labels, classes, names, points, true_boundary(subject))
    grid[0, 0].set_title(f"{subject.dataset}, training part of split {variant.cells[0].split}", loc="left")
    steps = settings["thin"] * np.arange(1, settings["samples"] + 1)
    shown = np.unique(np.geomspace(1, len(steps), 400).astype(int)) - 1
    for place, axes in enumerate((grid[0, 1], grid[1, 0], grid[1, 1])):
        for view, dashes in (("reject", "-"), ("envelope", "--")):
            for chain in found[view][..., place]:
                axes.plot(steps[shown], chain[shown], dashes, color=CHAIN_COLOUR[view], linewidth=0.7)
            axes.axhline(exact[view].scores[place, 1], color=BLACK, linewidth=0.8, linestyle=":")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(10, np.log10(value))))
        axes.minorticks_off()
        axes.set_ylim(-0.03, 1.03)
        x, y = points[place]
        axes.set_title(f"point {'ABC'[place]} ({x:g}, {y:g})", loc="left")
        axes.set_xlabel("steps after burn-in")
        axes.set_ylabel(f"Pr(class {classes[1]})")
    handles = [Line2D([], [], color=COLOURS[code], marker="ox"[code], linestyle="") for code in (0, 1)]
    handles += [
        Line2D([], [], color=CHAIN_COLOUR["reject"], linestyle="-"),
        Line2D([], [], color=CHAIN_COLOUR["envelope"], linestyle="--"),
        Line2D([], [], color=BLACK, linestyle=":"),
    ]
    words = [f"class {label}" for label in classes]
    words += [f"reject, {CHAINS} chains", f"envelope, {CHAINS} chains", "exact integration"]
    if true_boundary(subject) is not None:
        handles.append(Line2D([], [], color=BLACK, linestyle="--"))
        words.append("true Bayes boundary")
    legend_below(figure, handles, words)
    return figure


def _draw_data(axes, X, labels, classes, names, points, truth) -> None:
    for code, label in enumerate(classes):
        own = labels == label
        axes.scatter(*X[own].T, s=5, color=COLOURS[code], marker="ox"[code], linewidths=0.6)
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    if truth is not None:
        draw_truth(axes, np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200), truth)
    for point, name in zip(points, "ABC", strict=True):
        axes.plot(*point, "*", color=BLACK, markersize=7, markeredgecolor="white", markeredgewidth=0.5)
        place = {"xytext": (5, -9), "textcoords": "offset points"}
        axes.annotate(name, point, **place, fontsize=8, fontweight="bold")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])


FIGURE = Figure(
    name="running-estimates",
    about="reject and envelope estimates at three points along chains of Bayesian k-NN, and exact values; "
    "fits the method again, so it needs the data",
    draw=draw,
    caption="Top left: training part and three points. Other panels: reject and envelope estimates of the "
    "probability of the second class at each point along four chains, and the exact value.",
    refits=True,
    numbers=(FirstSplit,),
    options={
        "points": Places("three points of the plane, before any step"),
        "draws": Integer("kept draws per chain; default 70000", low=4),
    },
)
