"""Fonts in PDF figures: the glyphs of the figure, without tables that PDF readers do not use."""

import io
import re
import zlib

from matplotlib import font_manager
from matplotlib.figure import Figure

from confml.report.figures.style import save, style


def embedded_fonts(pdf):
    from fontTools.ttLib import TTFont

    streams = re.findall(rb"/Length1 .*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    return [TTFont(io.BytesIO(zlib.decompress(stream))) for stream in streams]


def outline(font, name):
    glyph = font["glyf"][name]
    coordinates, ends, flags = glyph.getCoordinates(font["glyf"])
    return list(coordinates), list(ends), list(flags), font["hmtx"][name]


def test_outlines_are_kept_and_layout_tables_are_not(tmp_path, every_format):
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options
    with style():
        figure = Figure(figsize=(3, 2))
        figure.text(0.1, 0.5, "office AV 2⁻¹⁸ → ŝ")
        save(figure, tmp_path / "words")
    assert subset.Options is options
    fonts = embedded_fonts((tmp_path / "words.pdf").read_bytes())
    original = TTFont(font_manager.findfont("DejaVu Sans"))
    names = set()
    for font in fonts:
        assert not {"GSUB", "GPOS", "GDEF", "kern"} & set(font.keys())
        for name in set(font.getGlyphOrder()) - {".notdef"}:
            assert outline(font, name) == outline(original, name), name
            names.add(name)
    used = {original.getBestCmap()[ord(one)] for one in "oceAV2⁻¹⁸→ŝ"}
    assert used <= names
