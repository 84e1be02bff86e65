"""The style of all figures: sizes, colour-blind safe colours, legends, panels; the same bytes of a figure."""

import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
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
    "font.size": 7,
    "figure.titlesize": 8,
    "figure.labelsize": "medium",
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # else each drawing measures the ticks of all panels to place titles
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "legend.frameon": False,
    "legend.handlelength": 3.0,  # a line of dashes and dots shows both
    "legend.columnspacing": 1.5,
    "svg.fonttype": "none",  # text as text: it can be searched, edited and read aloud
    "svg.hashsalt": "confml",
    "pdf.fonttype": 42,  # journals refuse Type 3 fonts
    "text.parse_math": False,  # names may contain $
    "text.hinting": "no_hinting",  # hints take half of the time to measure a text
}
FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "png": {"dpi": 200, "pil_kwargs": {"compress_type": zlib.Z_RLE}},  # two thirds of the time for 4 % more
    "pdf": {"metadata": {"CreationDate": None}},
}


@contextmanager
def style() -> Iterator[None]:
    """Use matplotlib's defaults and confml's style, and restore the settings of the process afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def prepare() -> None:
    """Import matplotlib and load its fonts: the first figure of a process takes 0.15 s more without them."""
    with style():
        figure = new_figure()
        figure.subplots().set_title("a")
        for ending in ("svg", "png"):
            figure.savefig(io.BytesIO(), format=ending, **FORMATS[ending])


def new_figure(width: float = COLUMN, height: float = 2.6):
    """Return an empty figure (inches) with constrained layout and without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


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


def line_of(method: int, view: int = 0) -> dict[str, Any]:
    """Return colour, dashes and marker of a method by its number; its views differ in dashes."""
    return {
        "color": COLOURS[method % len(COLOURS)],
        "linestyle": DASHES[(method // len(COLOURS) + view) % len(DASHES)],
        "marker": MARKERS[method % len(MARKERS)],
    }


def add_legend(figure, handles: Mapping[str, Any]) -> None:
    """Add a legend of artists by label; the figure grows by its size.

    It stands below the axes, or right of them where it would take more than 40 % of the height.
    """
    width, height = figure.get_size_inches()
    widths = [0.053 * len(label) + 0.55 for label in handles]  # inches at 7 points, with the line
    fitting = (n for n in range(len(widths), 1, -1) if sum(map(max, np.array_split(widths, n))) <= width)
    columns = next(fitting, 1)
    rows = -(-len(handles) // columns)
    if 0.16 * rows <= 0.4 * height:
        figure.set_size_inches(max(width, *widths), height + 0.16 * rows + 0.06)
        figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns)
    else:
        columns = -(-len(handles) // 22)
        rows = -(-len(handles) // columns)
        figure.set_size_inches(width + max(widths) * columns, max(height, 0.4 + 0.16 * rows))
        figure.legend(handles.values(), handles, loc="outside right upper", ncols=columns)


class Panels:
    """A figure with ``count`` panels of a height in inches, in rows of at most three.

    columns: another number of panels in a row. width: of the figure. share: ``sharex`` and ``sharey`` of
    matplotlib's ``subplots``.

    figure: matplotlib's figure. axes: of the panels, row by row. handles: of the legend by label.
    """

    def __init__(self, count: int, height: float, columns: int = 0, width: float = 0.0, **share: Any):
        self.columns = columns or (2 if count in (2, 4) else min(count, 3))
        rows = -(-count // self.columns)
        width = width or (COLUMN, 0.75 * PAGE, PAGE)[min(self.columns, 3) - 1]
        self.figure = new_figure(width, 0.3 + height * rows)
        every = self.figure.subplots(rows, self.columns, squeeze=False, **share).ravel().tolist()
        self.axes = every[:count]
        for unused in every[count:]:
            unused.set_visible(False)
        self.handles: dict[str, Any] = {}

    def finish(self, title: str, x_label: str = "", y_label: str = ""):
        """Add the title, the labels of the axes, and the legend; return the figure."""
        for axes in self.axes[-self.columns :]:
            axes.tick_params(labelbottom=True)
            if x_label:
                axes.set_xlabel(x_label)
        self.figure.suptitle(title, x=0.01, ha="left")
        self.figure.supylabel(y_label)
        add_legend(self.figure, self.handles)
        return self.figure


def power(base: int, exponent: float) -> str:
    """Return 2, -18 as 2⁻¹⁸ in plain characters."""
    return str(base) + str(round(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def log_ticks(axis) -> None:
    """Set plain ticks of a logarithmic axis: at 1, 2 and 5, or at powers of 10 on a long axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high < 200 * low else (1,), numticks=10))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}"))
    axis.set_minor_locator(NullLocator())


def rate_band(mean, sd, scale: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
    """Return mean - sd and mean + sd of rates, clipped to [0, ``scale``]: a rate outside does not exist.

    mean, sd (n,): in units in which ``scale`` is the whole; 1 for fractions, 100 for per cent. NaN stays NaN.
    """
    mean, sd = np.asarray(mean, dtype=float), np.asarray(sd, dtype=float)
    return np.clip(mean - sd, 0.0, scale), np.clip(mean + sd, 0.0, scale)
