"""A small writer of SVG charts, because matplotlib writes fixed colours and no data for the page's script.

Text is text, and colours are from the page's style sheet. A chart has one group per series, which the script
hides and shows, and carries its numbers as JSON for the values under the pointer and for copying.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

WIDTH, HEIGHT = 480, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 14, 46
COLOURS, DASHES = 7, 4
MARKERS = 6


class Style(NamedTuple):
    """Colour and marker of a method by its number; its views and runs differ in dashes."""

    method: int
    view: int = 0


@dataclass
class Series:
    """One line or set of points: x, y (n,), NaN where undefined; low, high (n,) are a band around it.

    style: the same for one method in all charts and figures. points: draw
    markers with error bars at every point. shown: whether it is visible at first. lit: whether its band or
    bars are visible at first; those of the others are under the pointer.
    """

    name: str
    style: Style
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    points: bool = False
    shown: bool = True
    lit: bool = False


@dataclass
class Chart:
    """A chart: identifier in the page, title, axes, series, and a sentence on its content.

    reference: (x, y) points of a thin line such as the diagonal; band: (x, low, high) of a grey area, with
    their names in the legend.
    """

    id: str
    title: str
    caption: str
    x_label: str
    y_label: str
    series: list[Series]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    reference: tuple[Sequence[float], Sequence[float]] | None = None
    reference_name: str = ""
    band: tuple[Sequence[float], Sequence[float], Sequence[float]] | None = None
    band_name: str = ""
    left_out: str = ""
    vertical: list[float] = field(default_factory=list)

    @property
    def keys(self) -> list[Markup]:
        """A small picture of each line, for the legend."""
        return [key_of(one.style, one.points) for one in self.series]

    @property
    def data(self) -> dict[str, Any]:
        """The numbers of the chart as plain data: values in per cent where the axis is."""
        return {
            "title": self.title,
            "x": self.x_label,
            "y": self.y_label,
            "box": [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM],
            "xr": self.x_range,
            "yr": self.y_range,
            "series": [
                {
                    "name": one.name,
                    "x": _numbers(one.x),
                    "y": _numbers(one.y),
                    **({"low": _numbers(one.low)} if one.low is not None else {}),
                    **({"high": _numbers(one.high)} if one.high is not None else {}),
                }
                for one in self.series
            ],
        }

    @property
    def svg(self) -> Markup:
        return draw(self)


def style_of(style: Style) -> str:
    return f"c{style.method % COLOURS} d{(style.method // COLOURS + style.view) % DASHES}"


def draw(chart: Chart) -> Markup:
    """Return the chart as SVG."""
    frame = _Frame(chart)
    out = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{chart.id}-title {chart.id}-desc" '
        f'class="chart" focusable="false">',
        f'<title id="{chart.id}-title">{escape(chart.title)}</title>',
        f'<desc id="{chart.id}-desc">{escape(chart.caption)}</desc>',
    ]
    if chart.band is not None:
        out.append(f'<path class="grey" d="{frame.area(*chart.band)}"/>')
    out += frame.axes()
    for x in chart.vertical:
        if chart.x_range[0] <= x <= chart.x_range[1]:
            out.append(f'<path class="mark" d="M{frame.x(x):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
    if chart.reference is not None:
        out.append(f'<path class="reference" d="{frame.line(*chart.reference)}"/>')
    for place, one in enumerate(chart.series):
        hidden = "" if one.shown else ' hidden=""'
        lit = " lit" * one.lit
        out.append(f'<g class="series {style_of(one.style)}{lit}" data-i="{place}"{hidden}>')
        if one.low is not None and one.high is not None and not one.points:
            out.append(f'<path class="band" d="{frame.area(one.x, one.low, one.high)}"/>')
        if one.points:
            out += frame.error_bars(one)
        out.append(f'<path class="line" d="{frame.line(one.x, one.y)}"/>')
        out += frame.markers(one)
        out.append("</g>")
    out.append('<g class="cursor" hidden=""><path/></g></svg>')
    return Markup("".join(out))


class _Frame:
    """The mapping from values to the drawing of one chart."""

    def __init__(self, chart: Chart):
        self.chart = chart
        (self.x0, self.x1), (self.y0, self.y1) = chart.x_range, chart.y_range

    def x(self, value: float) -> float:
        return LEFT + (value - self.x0) / (self.x1 - self.x0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - min(max(share, -0.02), 1.03) * (HEIGHT - TOP - BOTTOM)

    def line(self, xs, ys) -> str:
        parts, pen = [], "M"
        for x, y in zip(xs, ys, strict=True):
            if not (math.isfinite(x) and math.isfinite(y)):
                pen = "M"
                continue
            parts.append(f"{pen}{self.x(x):.1f} {self.y(y):.1f}")
            pen = "L"
        return "".join(parts)

    def area(self, xs, lows, highs) -> str:
        kept = [p for p in zip(xs, lows, highs, strict=True) if all(map(math.isfinite, p))]
        if len(kept) < 2:
            return ""
        there = [f"{self.x(x):.1f} {self.y(high):.1f}" for x, _, high in kept]
        back = [f"{self.x(x):.1f} {self.y(low):.1f}" for x, low, _ in reversed(kept)]
        return f"M{'L'.join([*there, *back])}Z"

    def axes(self) -> list[str]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        out = ['<g class="axes">']
        for tick in ticks(self.y0, self.y1, 5):
            y = self.y(tick)
            out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick_text(tick)}</text>')
        for tick in ticks(self.x0, self.x1, 6):
            x = self.x(tick)
            out.append(f'<path d="M{x:.1f} {bottom}v4"/>')
            out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick_text(tick)}</text>')
        out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}"/>')
        middle = (LEFT + right) / 2
        x_label, y_label = escape(self.chart.x_label), escape(self.chart.y_label)
        out.append(
            f'<text class="label" x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{x_label}</text>'
        )
        height = (TOP + bottom) / 2
        out.append(
            f'<text class="label" transform="translate(14 {height:.0f}) rotate(-90)" text-anchor="middle">'
            f"{y_label}</text></g>"
        )
        return out

    def error_bars(self, one: Series) -> list[str]:
        if one.low is None or one.high is None:
            return []
        return [
            f'<path class="bar" d="M{self.x(x):.1f} {self.y(low):.1f}V{self.y(high):.1f}"/>'
            for x, low, high in zip(one.x, one.low, one.high, strict=True)
            if all(map(math.isfinite, (x, low, high)))
        ]

    def markers(self, one: Series) -> list[str]:
        """Return markers at every point, or at a few points of a line, shifted from line to line."""
        kept = [n for n in range(len(one.x)) if math.isfinite(one.x[n]) and math.isfinite(one.y[n])]
        place = one.style.method
        inside = [n for n in kept if self.x0 <= one.x[n] <= self.x1 and one.y[n] <= self.y1]
        if not one.points:
            step = max(len(inside) // 4, 1)
            inside = inside[(place * step // 5) % step :: step]
        return [
            f'<path class="marker" d="{marker(place, self.x(one.x[n]), self.y(one.y[n]))}"/>' for n in inside
        ]


def marker(place: int, x: float, y: float, size: float = 3.6) -> str:
    """Return the path of one of `MARKERS` shapes around a point."""
    s = size
    paths = (
        f"M{x - s:.1f} {y:.1f}a{s} {s} 0 1 0 {2 * s} 0a{s} {s} 0 1 0 {-2 * s} 0Z",
        f"M{x - s:.1f} {y - s:.1f}h{2 * s}v{2 * s}h{-2 * s}Z",
        f"M{x:.1f} {y - 1.3 * s:.1f}l{1.2 * s:.1f} {2.1 * s:.1f}h{-2.4 * s:.1f}Z",
        f"M{x:.1f} {y - 1.4 * s:.1f}l{1.4 * s:.1f} {1.4 * s:.1f}l{-1.4 * s:.1f} {1.4 * s:.1f}"
        f"l{-1.4 * s:.1f} {-1.4 * s:.1f}Z",
        f"M{x:.1f} {y + 1.3 * s:.1f}l{1.2 * s:.1f} {-2.1 * s:.1f}h{-2.4 * s:.1f}Z",
        f"M{x - s:.1f} {y - s:.1f}l{2 * s} {2 * s}m0 {-2 * s}l{-2 * s} {2 * s}",
    )
    return paths[place % MARKERS]


def key_of(style: Style, points: bool = False) -> Markup:
    """Return the legend's picture of a series: its line and its marker."""
    line = "" if points else '<path class="line" d="M1 8H33"/>'
    return Markup(
        f'<svg viewBox="0 0 34 16" width="34" height="16" aria-hidden="true" focusable="false" '
        f'class="series {style_of(style)}">{line}'
        f'<path class="marker" d="{marker(style.method, 17, 8)}"/></svg>'
    )


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers from low to high."""
    span = (high - low) or 1.0
    step = 10.0 ** math.floor(math.log10(span / about))
    for factor in (1, 2, 2.5, 5, 10):
        if span / (step * factor) <= about + 0.5:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float) -> str:
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def top_of(values: Sequence[float], least: float = 0.0) -> float:
    """Return a round number at or above the largest finite value."""
    top = max([least, *(float(value) for value in values if math.isfinite(value))])
    if top <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(top))
    return next(unit * factor for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * factor >= top)


def _numbers(values: np.ndarray | Sequence[float]) -> list[float | None]:
    return [float(f"{value:.4g}") if math.isfinite(value) else None for value in map(float, values)]
