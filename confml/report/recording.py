"""`recorded`: a figure whose paths and texts are computed once and drawn in several formats.

matplotlib computes ticks, texts and paths again for each format, which takes a third of the time of a figure.
"""

from typing import Any

from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.transforms import Affine2D, Transform, TransformedBbox, TransformedPath

POINTS = 72  # per inch
OF_STYLE = ("draw_path", "draw_markers", "draw_path_collection", "draw_quad_mesh", "draw_text")
OTHERS = ("open_group", "close_group", "start_rasterizing", "stop_rasterizing")


def recorded(figure: Figure) -> Figure:
    """Return a figure that repeats the drawing of another in any format; the layout is computed once.

    A figure with images is returned itself, because their pixels depend on the resolution.
    """
    resolution, figure.dpi = figure.dpi, POINTS
    canvas = _Canvas(figure)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    figure.set_layout_engine(None)  # with "none" instead of None, `savefig` would draw twice
    canvas.renderer.calls.clear()
    figure.draw(canvas.renderer)
    if canvas.renderer.has_images:
        figure.dpi = resolution
        return figure
    return _Repeated(canvas.renderer.calls, figsize=figure.get_size_inches(), dpi=resolution)


class _Canvas(FigureCanvasBase):
    """The canvas of a recorded figure: one renderer for layout and drawing measures each text once."""

    def __init__(self, figure: Figure):
        super().__init__(figure)
        self.renderer = _Recorder(*(POINTS * figure.get_size_inches()))

    def get_renderer(self) -> "_Recorder":
        return self.renderer


class _Recorder(RendererBase):
    """A renderer that stores each drawing call: name, style (None for groups) and arguments."""

    def __init__(self, width: float, height: float):
        super().__init__()
        self._size = width, height
        self.calls: list[tuple[str, Any, tuple, dict]] = []
        self.has_images = False

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self._size

    def flipy(self) -> bool:
        return False

    def draw_image(self, *given: Any, **named: Any) -> None:
        self.has_images = True


def _keeping(name: str, styled: bool) -> Any:
    def keep(self: _Recorder, *given: Any, **named: Any) -> None:
        style = None
        if styled:
            style, (used, *given) = self.new_gc(), given  # type: ignore[assignment]
            style.copy_properties(used)
        self.calls.append((name, style, tuple(given), named))

    return keep


for _name in (*OF_STYLE, *OTHERS):
    setattr(_Recorder, _name, _keeping(_name, _name in OF_STYLE))


class _Repeated(Figure):
    """A figure that draws what another one has drawn."""

    def __init__(self, calls: list, **given: Any):
        super().__init__(**given)
        self._calls = calls

    def draw(self, renderer: Any) -> None:
        for name, style, given, named in self._calls:
            if style is None:
                getattr(renderer, name)(*given, **named)
                continue
            scale = self.dpi / POINTS  # another one inside parts that are drawn as pixels
            larger = Affine2D().scale(scale)
            context = renderer.new_gc()
            context.copy_properties(style)
            if scale != 1:
                if (rectangle := style.get_clip_rectangle()) is not None:
                    context.set_clip_rectangle(TransformedBbox(rectangle, larger))
                path, place = style.get_clip_path()
                if path is not None:
                    context.set_clip_path(TransformedPath(path, place + larger))
                given = tuple(one + larger if isinstance(one, Transform) else one for one in given)
            if name == "draw_text":
                x, y, *given = given
                height = renderer.get_canvas_width_height()[1]
                given = (x * scale, height - y * scale if renderer.flipy() else y * scale, *given)
            getattr(renderer, name)(context, *given, **named)
            context.restore()
