"""The charts of one data set: risk and coverage, errors and sizes of regions, calibration, ranks."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup, escape

from confml.measures.coverage_band import coverage_band
from confml.measures.distributions import wilson
from confml.report.answers.datasets import Ranking
from confml.report.page.material import Material
from confml.report.page.svg import WIDTH, Chart, Series, Style, top_of
from confml.report.page.view_numbers import ViewData
from confml.report.sections.rejection import CURVES

BAND = " Band of the highlighted line (others: point at their name): ± 1 standard deviation over"
DRAWN, SHOWN = 28, 7  # lines of a chart, and those that are visible at first
Styles = Mapping[str, Style]


def styles_of(material: Sequence[Material]) -> dict[str, Style]:
    """Return the look of each method, view and run by label, as in the figures."""
    labels = dict.fromkeys(label for one in material for label in one.results.method_places)
    places = {label: place for place, label in enumerate(labels)}
    own: dict[str, dict[str, int]] = {}
    for view in (view for one in material for view in one.views.values()):
        views = own.setdefault(view.method, {})
        views.setdefault(view.label, len(views))
    return {label: Style(places[method], n) for method, views in own.items() for label, n in views.items()}


def _shown(views: Sequence[ViewData], best: Sequence[str]) -> set[str]:
    if len(views) <= SHOWN + 1:
        return {one.label for one in views}
    rank = {label: place for place, label in enumerate(best)}
    return {one.label for one in sorted(views, key=lambda one: rank.get(one.label, len(rank)))[:SHOWN]}


def _light(series: Sequence[Series], best: Sequence[str]) -> None:
    """Let the best line, or else the first one, show its band."""
    rank = {label: place for place, label in enumerate(best)}
    for one in sorted(series, key=lambda one: rank.get(one.name, len(rank)))[:1]:
        one.lit = True


def risk_coverage(
    material: Sequence[Material],
    dataset: str,
    views: Sequence[ViewData],
    best: Sequence[str],
    styles: Styles,
    id: str,
) -> Chart | None:
    """Return the chart of selective risk against coverage."""
    curves: dict[tuple, list] = {}
    for one in material:
        for row in one.rows_of(CURVES, dataset):
            key = (one.run, dataset, row["method"], row["params"], row["view"])
            curves.setdefault(key, []).append(row)
    with_curves = [view for view in views if (view.run, *view.key) in curves]
    visible = _shown(with_curves, best)
    series = []
    for view in with_curves:
        rows = curves[view.run, *view.key]
        coverage = np.array([100 * (1 - row["rejection_rate"]) for row in rows])
        risk, sd = (np.array([100 * row[name] for row in rows], dtype=float) for name in ("risk", "risk_sd"))
        order = np.argsort(coverage)
        coverage, risk, sd = coverage[order], risk[order], sd[order]
        banded = np.isfinite(sd).any()
        series.append(
            Series(
                view.label,
                styles[view.label],
                coverage,
                risk,
                np.maximum(risk - sd, 0) if banded else None,
                risk + sd if banded else None,
                shown=view.label in visible,
            )
        )
    if not series:
        return None
    splits = max(one.number_of_splits(dataset) for one in material)
    tops = [value for one in series for value in one.y[one.x >= 10].tolist()]
    _light(series, best)
    band = f"{BAND} {splits} splits." if splits > 1 else ""
    return Chart(
        id=id,
        title=f"Risk-coverage curves, {dataset}",
        caption="Error rate of the accepted predictions (selective risk) when the most confident ones are "
        f"accepted, against their share of all predictions (coverage). Lower is better.{band}",
        x_label="coverage (%)",
        y_label="selective risk (%)",
        series=series,
        x_range=(0, 100),
        y_range=(0, top_of(tops, 1.0)),
    )


def region_charts(
    material: Sequence[Material],
    dataset: str,
    views: Sequence[ViewData],
    best: Sequence[str],
    styles: Styles,
    id: str,
) -> list[Chart]:
    """Return the charts of errors (validity) and sizes (efficiency) of regions against the level."""
    with_regions = [one for one in views if one.region_errors]
    if not with_regions:
        return []
    levels, config_levels = material[0].levels, [float(one) for one in material[0].results.config.levels]
    top = min(max([0.2, *(2 * level for level in config_levels if level <= 0.5)]), 1.0)
    keep = levels <= top + 1e-12
    x = 100 * levels[keep]
    visible = _shown(with_regions, best)
    errors, sizes = [], []
    for one in with_regions:
        error, error_sd = _over_splits([values[keep] for values in one.region_errors])
        size, size_sd = _over_splits([values[keep] for values in one.set_sizes])
        errors.append(
            _banded(one.label, styles[one.label], x, 100 * error, 100 * error_sd, one.label in visible)
        )
        sizes.append(_banded(one.label, styles[one.label], x, size, size_sd, one.label in visible))
    splits = max(one.number_of_splits(dataset) for one in material)
    for lines in (errors, sizes):
        _light(lines, best)
    bands = f"{BAND} {splits} splits." if splits > 1 else ""
    marks = [100 * level for level in config_levels]
    grouped = any(one.results.has_groups(dataset) for one in material)
    band, text = _validity_band([] if grouped else with_regions, levels[keep])
    validity = Chart(
        id=f"{id}.validity",
        title=f"Validity of regions, {dataset}",
        caption="Share of regions that do not contain the true label, against the significance level. "
        "Valid regions are on or below the diagonal, up to chance. Only p-values guarantee this."
        f"{text}{bands}",
        x_label="significance level (%)",
        y_label="regions without the true label (%)",
        series=errors,
        x_range=(0, 100 * top),
        y_range=(0, top_of([v for s in errors for v in s.y], 100 * top)),
        reference=([0, 100 * top], [0, 100 * top]),
        reference_name="error = level",
        band=None if band is None else (x, *band),
        band_name="95 % band of valid p-values",
        vertical=marks,
    )
    efficiency = Chart(
        id=f"{id}.efficiency",
        title=f"Efficiency of regions, {dataset}",
        caption="Mean number of labels in a region (set size), against the significance level. Smaller is "
        f"better for equal validity; below 1 some regions are empty.{bands}",
        x_label="significance level (%)",
        y_label="mean set size (labels)",
        series=sizes,
        x_range=(0, 100 * top),
        y_range=(0, top_of([v for s in sizes for v in s.y], 1.2)),
        reference=([0, 100 * top], [1, 1]),
        reference_name="one label",
        vertical=marks,
    )
    return [validity, efficiency]


def _validity_band(views: Sequence[ViewData], levels: np.ndarray):
    """Return (low, high) errors in per cent of valid p-values for the first view with a band."""
    # Weighted p-values have no band.
    first = next((one for one in views if one.kind == "p-value" and one.counted), None)
    if first is None:
        return None, ""
    ends = [coverage_band(first.counted, level, first.smoothed) for level in levels.tolist()]
    high, low = 100 * (1 - np.array(ends).T)
    if not np.isfinite(low).any():
        return None, ""
    return (low, high), (
        f" Grey: pointwise 95 % band of the p-values of {first.label}, as if all different test rows were "
        f"one test "
        "part (exact only for split conformal "
        "prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)."
    )


def _over_splits(values: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(values)
    sd = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(table.shape[1], np.nan)
    return table.mean(axis=0), sd


def _banded(name: str, style: Style, x, mean, sd, shown: bool) -> Series:
    if not np.isfinite(sd).any():
        return Series(name, style, x, mean, shown=shown)
    return Series(name, style, x, mean, np.maximum(mean - sd, 0), mean + sd, shown=shown)


def reliability(
    dataset: str, views: Sequence[ViewData], best: Sequence[str], styles: Styles, id: str, grouped: bool
) -> Chart | None:
    """Return the reliability diagram of the views with probabilities or vote shares.

    grouped: whether rows of a group are dependent; then there are no intervals.
    """
    kept = [one for one in views if one.bins.n.sum() > 0]
    visible = _shown(kept, best)
    series = []
    for one in kept:
        bins, full = one.bins, one.bins.n > 0
        n, right = bins.n[full], bins.correct[full]
        x, y = 100 * bins.confidence[full] / n, 100 * right / n
        ends = np.array([wilson(k, m) for k, m in zip(right, n, strict=True)]).T
        low, high = (None, None) if grouped else (100 * ends[0], 100 * ends[1])
        shown = one.label in visible
        series.append(Series(one.label, styles[one.label], x, y, low, high, points=True, shown=shown))
    if not series:
        return None
    _light(series, best)
    bars_text = "Bars of the highlighted line: 95 % Wilson intervals as if all examples were independent."
    if grouped:
        bars_text = "No intervals, because the rows of a group are dependent."
    return Chart(
        id=id,
        title=f"Calibration, {dataset}",
        caption="Accuracy against mean confidence (largest probability, vote share or posterior mean) in 10 "
        f"bins of equal width, test examples of all splits pooled. {bars_text} Calibrated confidences are on "
        "the diagonal.",
        x_label="mean confidence (%)",
        y_label="accuracy (%)",
        series=series,
        x_range=(0, 100),
        y_range=(0, 100),
        reference=([0, 100], [0, 100]),
        reference_name="accuracy = confidence",
    )


RANKED = 30  # methods in a diagram of ranks


def rank_diagram(found: Ranking, id: str, title: str) -> Markup | None:
    """Return the mean ranks with bars over methods that are not shown to differ, as SVG.

    Without bars where no pair of methods is tested. None with many methods.
    """
    ranks, labels = found.comparison.mean_ranks, found.labels
    k = len(labels)
    if k > RANKED:
        return None
    order = np.argsort(ranks, kind="stable").tolist()
    groups = found.verdict.groups()
    names = [name if len(name) <= 40 else name[:39] + "\N{HORIZONTAL ELLIPSIS}" for name in labels]
    half, side = -(-k // 2), 7.6 * max(map(len, names)) + 50
    line, top, left, right = 22, 46 + 9 * len(groups), side, side + float(WIDTH)
    width, height = right + side, top + line * half + 8

    def x(rank: float) -> float:
        return left + (rank - 1) / max(k - 1, 1) * (right - left)

    size = f"min-width:{0.7 * width:.0f}px;max-width:{width:.0f}px"
    out = [
        f'<svg viewBox="0 0 {width:.0f} {height}" style="{size}" role="img" '
        f'aria-label="{escape(title)}" class="chart ranks"><g class="axes"><path d="M{left} 30H{right}"/>'
    ]
    for rank in range(1, k + 1):
        out.append(f'<path d="M{x(rank):.1f} 26v8"/>')
        out.append(f'<text x="{x(rank):.1f}" y="18" text-anchor="middle">{rank}</text>')
    out.append("</g>")
    for number, group in enumerate(groups):
        ends = x(float(min(ranks[group]))) - 3, x(float(max(ranks[group]))) + 3
        out.append(f'<path class="group" d="M{ends[0]:.1f} {42 + 9 * number}H{ends[1]:.1f}"/>')
    for place, method in enumerate(order):  # the better half to the left, the best one on top
        better = place < half
        y, at = top + line * (place if better else k - 1 - place) + 12, x(float(ranks[method]))
        end, anchor = (left - 6, "end") if better else (right + 6, "start")
        out.append(f'<path class="lead" d="M{at:.1f} 30V{y - 4:.1f}H{end}"/>')
        out.append(f'<path class="dot" d="M{at - 3:.1f} 30a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z"/>')
        rank_text = f"{ranks[method]:.2f}"
        text = f"{names[method]}  {rank_text}" if better else f"{rank_text}  {names[method]}"
        out.append(
            f'<text x="{end - 4 if better else end + 4}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
        )
    out.append("</svg>")
    return Markup("".join(out))
