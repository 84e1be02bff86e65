"""The style of all figures: sizes, colour-blind safe colours, panels; the same bytes for the same figure."""

import io
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confml.report.files import write_file

COLUMN, PAGE = 3.4, 7.0  # widths in inches of a paper's column and page

# Okabe & Ito's palette, black last.
BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, BLACK = PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000"),
)
GREY = "#999999"
DASHES = ("-", "--", "-.", ":")
MARKERS = "os^Dvx"  # as on the page
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)

SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "axes.grid": False,
    "axes.titley": 1.0,  # else each drawing measures the ticks of all panels to place titles
    "svg.fonttype": "none",  # text as text: it can be searched, edited and read aloud
    "pdf.fonttype": 42,  # journals refuse Type 3 fonts
    "svg.hashsalt": "confml",
    "savefig.bbox": "standard",
    "savefig.facecolor": "white",
    "figure.facecolor": "white",
    "axes.formatter.use_mathtext": False,
    "text.usetex": False,
    "text.parse_math": False,
    "text.hinting": "no_hinting",  # hints take half of the time to measure a text
}


@contextmanager
def style() -> Iterator[None]:
    """Use matplotlib's defaults and confml's style, and restore the settings of the process afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def new_figure(width: float = COLUMN, height: float = 2.6):
    """Return an empty figure (inches) with constrained layout and without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def panel_columns(count: int) -> int:
    """Return the number of columns of ``count`` panels: two for 2 and 4 panels, at most three."""
    return 2 if count in (2, 4) else min(count, 3)


def line_of(place: int, view: int = 0) -> dict[str, Any]:
    """Return colour, dashes and marker of the method number ``place``; its views differ in dashes."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[(place // len(COLOURS) + view) % len(DASHES)],
        "marker": MARKERS[place % len(MARKERS)],
    }


def lines_of(count: int) -> list[dict[str, Any]]:
    """Return colour, dashes and marker of each of ``count`` lines; up to 28 are different."""
    return [line_of(place) for place in range(count)]


def legend_below(figure, handles: Sequence, labels: Sequence[str], **options) -> None:
    """Add a legend below the axes, in as many columns as fit; the figure grows by its height."""
    width, height = figure.get_size_inches()
    columns = _columns(labels, width)
    rows = -(-len(labels) // columns)
    width = max(width, _legend_width(labels, columns))
    figure.set_size_inches(width, height + 0.16 * rows + 0.06)
    dotted = any(getattr(handle, "get_linestyle", str)() == "-." for handle in handles)
    length = 4.0 if dotted else 2.4  # so that a line of dashes and dots shows both
    place = {"loc": "outside lower center", "ncols": columns, "handlelength": length, "columnspacing": 1.5}
    figure.legend(handles, labels, **(place | options))


def add_legend(figure, handles: Sequence, labels: Sequence[str]) -> None:
    """Add a legend below the axes, or right of them if it would be taller than half of the figure."""
    width, height = figure.get_size_inches()
    if 0.16 * -(-len(labels) // _columns(labels, width)) <= 0.4 * height:
        return legend_below(figure, handles, labels)
    columns = -(-len(labels) // 22)
    height = max(height, 0.4 + 0.16 * -(-len(labels) // columns))
    figure.set_size_inches(width + _legend_width(labels, columns), height)
    figure.legend(handles, labels, loc="outside right upper", ncols=columns, handlelength=2.4)


def _columns(labels: Sequence[str], width: float) -> int:
    """Return the number of columns of a legend that fit in a width in inches."""
    return next(n for n in range(len(labels), 0, -1) if n == 1 or _legend_width(labels, n) <= width)


def _legend_width(labels: Sequence[str], columns: int) -> float:
    """Return the approximate width in inches of a legend at 7 points."""
    rows, longer = divmod(len(labels), columns)
    starts = [column * rows + min(column, longer) for column in range(columns + 1)]
    longest = [max(map(len, labels[start:stop])) for start, stop in zip(starts, starts[1:], strict=False)]
    return sum(0.053 * length + 0.5 for length in longest)


def power(base: int, exponent: float) -> str:
    """Return 2, -18 as 2⁻¹⁸ in plain characters; formulas are not parsed, because names may contain ``$``."""
    return str(base) + str(round(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def log_ticks(axis, places: Sequence[float] = ()) -> None:
    """Set plain ticks of a logarithmic axis.

    They are at the values if these are few or powers of 2, or else at 1, 2 and 5 (at more digits on a short
    axis), or at powers of 10. Values too close to the tick before them have none.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    if places and max(places) > 64 * min(places) and all(math.log2(place).is_integer() for place in places):
        axis.set_major_locator(FixedLocator(places[:: -(-len(places) // 8)]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: power(2, math.log2(value))))
    elif 0 < len(places) <= 8:
        kept = list(places[:1])
        for place in places[1:]:
            if math.log(place / kept[-1]) >= math.log(places[-1] / places[0]) / 16:
                kept.append(place)
        axis.set_major_locator(FixedLocator(kept))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    elif axis.get_view_interval()[1] < 200 * axis.get_view_interval()[0]:
        short = axis.get_view_interval()[1] < 10 * axis.get_view_interval()[0]
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 3, 4, 6, 8) if short else (1, 2, 5), numticks=10))
        axis.set_major_formatter(FuncFormatter(lambda value, _: format(value, ",.0f" if value >= 1 else "g")))
    else:
        axis.set_major_locator(LogLocator(10, numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: power(10, math.log10(value))))
    axis.set_minor_locator(NullLocator())


FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "png": {"dpi": 200, "pil_kwargs": {"compress_type": zlib.Z_RLE}},  # two thirds of the time for 4 % more
    "pdf": {"metadata": {"CreationDate": None}},
}


def prepare() -> None:
    """Import matplotlib and load its fonts: the first figure of a process takes 0.15 s more without them."""
    with style():
        figure = new_figure()
        figure.subplots().set_title("a")
        for ending in ("svg", "png"):
            figure.savefig(io.BytesIO(), format=ending, **FORMATS[ending])


def save(figure, stem: Path, formats: Sequence[str] = ("png",)) -> list[Path]:
    """Write ``stem`` as SVG and in the other formats: the same bytes for the same figure."""
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)  # else each format computes the layout again
    paths = []
    for ending in dict.fromkeys(("svg", *formats)):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=ending, **FORMATS[ending])
        content = buffer.getvalue().decode("utf-8") if ending == "svg" else buffer.getvalue()
        paths.append(write_file(stem.with_name(f"{stem.name}.{ending}"), content))
    return paths


def rate_band(mean, sd, scale: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
    """Return mean - sd and mean + sd of rates, clipped to [0, ``scale``]: a rate outside does not exist.

    mean, sd (n,): in units in which ``scale`` is the whole; 1 for fractions, 100 for per cent. NaN stays NaN.
    """
    mean, sd = np.asarray(mean, dtype=float), np.asarray(sd, dtype=float)
    return np.clip(mean - sd, 0.0, scale), np.clip(mean + sd, 0.0, scale)


class Panels:
    """A figure with ``count`` panels, by default in rows of at most three.

    widths: of the figure in inches for one, two and three columns; fewer widths allow fewer columns. height:
    of a row; top: of the title. columns: number of columns. share: ``sharex`` and ``sharey`` of matplotlib's
    ``subplots``.

    figure: matplotlib's figure. axes: of the panels, row by row. handles: of the legend by label.
    """

    def __init__(
        self,
        count: int,
        *,
        height: float,
        top: float = 0.3,
        widths: Sequence[float] = (COLUMN, PAGE * 0.75, PAGE),
        columns: int = 0,
        **share: bool | str,
    ):
        self.columns = columns or min(panel_columns(count), len(widths))
        rows = -(-count // self.columns)
        self.figure = new_figure(widths[self.columns - 1], top + height * rows)
        grid = list(self.figure.subplots(rows, self.columns, squeeze=False, **share).flat)
        self.axes = grid[:count]
        for unused in grid[count:]:
            unused.set_visible(False)
        self.handles: dict[str, object] = {}

    def label_x(self, text: str) -> None:
        """Label the horizontal axis of the lowest panel of each column."""
        for axes in self.axes[-self.columns :]:
            axes.set_xlabel(text)
            axes.tick_params(labelbottom=True)

    def label_y(self, text: str) -> None:
        """Label the vertical axis of the first panel of each row."""
        for axes in self.axes[:: self.columns]:
            axes.set_ylabel(text)

    def finish(self, title: str, y_label: str | None = None, **legend):
        """Add the title, one vertical label for all panels, and the legend; return the figure.

        legend: options of matplotlib's legend.
        """
        self.figure.suptitle(title, x=0.01, ha="left", fontsize=8)
        if y_label is not None:
            self.figure.supylabel(y_label, fontsize=8)
        legend_below(self.figure, list(self.handles.values()), list(self.handles), **legend)
        return self.figure
