"""`drawing_of`: a figure that the run has drawn, as SVG inside of the page."""

import re
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup, escape

from confml.report.report import Picture

MOST_BYTES = 500_000  # of one figure; larger ones are links
PIXELS = 1.5  # per point: the texts of 7 and 8 points have 10 to 12 pixels


class Drawing(NamedTuple):
    """A figure of the page. svg: the drawing, or None for a link to the file alone. width: in pixels."""

    path: str
    title: str
    caption: str
    svg: Markup | None = None
    width: int = 0


def drawing_of(picture: Picture, folder: Path, inline: bool = True) -> Drawing:
    """Return a figure of a run. folder: of the run. inline: whether the page shows the drawing itself."""
    drawing = Drawing(f"{picture.path}.svg", picture.title, picture.caption)
    text = (folder / drawing.path).read_text(encoding="utf-8") if inline else ""
    if not text or len(text) > MOST_BYTES:
        return drawing
    width = re.findall(r'width="([0-9.]+)pt"', text)[0]
    svg = inline_svg(text, Path(picture.path).name, picture.title)
    return drawing._replace(svg=svg, width=round(PIXELS * float(width)))


def inline_svg(text: str, prefix: str, title: str) -> Markup:
    """Return matplotlib's SVG as an element of a page.

    Its identifiers get a prefix, so that those of two figures differ. XML head, metadata and style sheet are
    left out; the style of lines, which holds for the whole figure, is an attribute.
    """
    text = re.sub(r"<metadata>.*?</metadata>\s*|<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}.', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}.", text)
    box = re.findall(r'viewBox="([^"]*)"', text)[0]
    body = text[text.index(">", text.index("<svg")) + 1 :]
    return Markup(
        f'<svg viewBox="{box}" role="img" aria-label="{escape(title)}" '
        f'style="stroke-linejoin:round;stroke-linecap:butt">{body}'
    )
