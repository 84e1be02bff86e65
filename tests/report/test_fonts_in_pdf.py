"""Fonts in PDF figures: the glyphs of the figure, without tables that PDF readers do not use."""

import io
import re
import zlib

import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure

from confml.report.figures import style as style_module
from confml.report.figures.style import save, style


def embedded_fonts(pdf):
    from fontTools.ttLib import TTFont

    streams = re.findall(rb"/Length1 .*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    return [TTFont(io.BytesIO(zlib.decompress(stream))) for stream in streams]


def outline(font, name):
    glyph = font["glyf"][name]
    coordinates, ends, flags = glyph.getCoordinates(font["glyf"])
    return list(coordinates), list(ends), list(flags), font["hmtx"][name]


@pytest.mark.parametrize("text", ["office AV 2⁻¹⁸ → ŝ", "жук"], ids=["european", "other"])
def test_outlines_are_kept_and_layout_tables_are_not(tmp_path, every_format, text):
    from fontTools.ttLib import TTFont
    from matplotlib.backends import _backend_pdf_ps

    before = _backend_pdf_ps.get_glyphs_subset
    with style():
        figure = Figure(figsize=(3, 2))
        figure.text(0.1, 0.5, text)
        save(figure, tmp_path / "words")
    assert _backend_pdf_ps.get_glyphs_subset is before
    fonts = embedded_fonts((tmp_path / "words.pdf").read_bytes())
    original = TTFont(font_manager.findfont("DejaVu Sans"))
    names = set()
    for font in fonts:
        assert not {"GSUB", "GPOS", "GDEF", "kern"} & set(font.keys())
        for name in set(font.getGlyphOrder()) - {".notdef"}:
            assert outline(font, name) == outline(original, name), name
            names.add(name)
    used = {original.getBestCmap()[ord(one)] for one in ("жук" if text == "жук" else "oceAV2⁻¹⁸→ŝ")}
    assert used <= names


def test_english_texts_have_the_same_font_whichever_was_first(tmp_path, every_format):
    def font_of(text):
        with style():
            figure = Figure(figsize=(3, 2))
            figure.text(0.1, 0.5, text)
            save(figure, tmp_path / "words")
        (found,) = embedded_fonts((tmp_path / "words.pdf").read_bytes())
        return found

    first, second = font_of("error of 3-NN"), font_of("Coverage")
    assert first.getGlyphOrder() == second.getGlyphOrder()
    assert first.getTableData("glyf") == second.getTableData("glyf")
    assert {"C", "e", "three", "braceleft"} <= set(first.getGlyphOrder())
    assert not {"fpgm", "prep", "cvt "} & set(first.keys())


def test_the_cache_gives_the_same_font(tmp_path, every_format, monkeypatch):
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    made = []
    for _ in range(2):
        style_module._part_of.cache_clear()
        with style():
            figure = Figure(figsize=(3, 2))
            figure.text(0.1, 0.5, "Coverage 2⁻¹⁸")
            save(figure, tmp_path / "words")
        made.append((tmp_path / "words.pdf").read_bytes())
        assert list((tmp_path / "cache" / "parsed").glob("*.npy"))
        monkeypatch.setattr(style_module, "_new_part", None)
    assert made[0] == made[1]


def test_another_version_of_matplotlib_embeds_fonts_itself(monkeypatch):
    from matplotlib.backends import _backend_pdf_ps

    def older(fontfile, characters):
        raise AssertionError

    monkeypatch.setattr(_backend_pdf_ps, "get_glyphs_subset", older)
    with style_module._small_fonts():
        assert _backend_pdf_ps.get_glyphs_subset is older


def test_ticks_and_axis_labels_are_where_matplotlib_places_them(tmp_path, every_format):
    """On linear, logarithmic and shared axes: in SVG files within 0.5 pixels, with the same ticks."""

    def draw():
        figure = Figure(figsize=(5, 4), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True)
        for place, one in enumerate(axes.flat):
            one.plot([1, 20, 300], [0.001, 10**place, 20**place])
            one.set_title("panel", loc="left")
            one.set_xlabel("rows")
            one.set_ylabel("error")
        axes[1, 1].set_yscale("log")
        figure.suptitle("a title")
        return figure

    with style():
        save(draw(), tmp_path / "ours")
        plain = io.StringIO()
        figure = draw()
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine(None)
        figure.savefig(plain, format="svg", metadata={"Date": None})
    ours, other = texts((tmp_path / "ours.svg").read_text()), texts(plain.getvalue())
    assert [text for _, _, text in ours] == [text for _, _, text in other]
    assert {"rows", "error", "panel"} <= {text for _, _, text in ours}
    for (x, y, text), (x2, y2, _) in zip(ours, other, strict=True):
        assert abs(x - x2) < 0.5 and abs(y - y2) < 0.5, text


def texts(svg):
    found = re.findall(r'<text [^>]*x="([\d.-]+)" y="([\d.-]+)"[^>]*>([^<]*)</text>', svg)
    return [(float(x), float(y), text) for x, y, text in found]
