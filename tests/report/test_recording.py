"""A recorded figure is the figure that matplotlib draws, in every format and at every resolution."""

import io
import re

import numpy as np
import pytest

from confml.report.figures.style import new_figure, style
from confml.report.recording import recorded

NUMBER = rb"-?\d+\.\d+"


def example(image=False):
    """Return a figure with lines outside their panel, bars, markers, rotated texts, pixels and a legend."""
    figure = new_figure(4, 3)
    axes, other = figure.subplots(1, 2)
    axes.plot([0, 1, 2], [0, 3, 1], marker="o", label="a line")
    axes.bar([0, 1], [1, 2], color="C2", label="bars")
    axes.fill_between([0, 1, 2], [0, 1, 2], [1, 2, 3], alpha=0.3)
    axes.set_xlim(0.2, 1.7)
    axes.set_ylabel("share (%)")
    axes.text(0.5, 0.5, "rotated $x$", rotation=30, ha="right", va="top")
    points = np.random.default_rng(0).normal(size=(40, 2))
    other.scatter(*points.T, s=9, c=points[:, 0], rasterized=True)
    other.scatter([0], [0], marker="x")
    if image:
        other.imshow(np.eye(4))
    figure.legend(loc="outside lower center")
    figure.suptitle("title")
    return figure


def written(figure, kind, **options):
    file = io.BytesIO()
    figure.savefig(file, format=kind, **options)
    return file.getvalue()


def pixels(figure, dpi):
    from matplotlib.image import imread

    return imread(io.BytesIO(written(figure, "png", dpi=dpi)))[..., :3]


def test_the_recording_is_what_matplotlib_draws():
    with style():
        theirs, resolutions = example(), (72, 100, 200)
        ours = recorded(theirs)  # which lays the other out as well
        text, images = (
            written(ours, "svg", metadata={"Date": None}),
            [pixels(ours, dpi) for dpi in resolutions],
        )
        theirs.dpi = 100
        drawn = written(theirs, "svg", metadata={"Date": None})
        assert re.sub(NUMBER, b"", text) == re.sub(NUMBER, b"", drawn)
        numbers = [np.array(re.findall(NUMBER, one), dtype=float) for one in (text, drawn)]
        assert np.allclose(*numbers, atol=0.05)  # points; the two round the widths of texts differently
        for dpi, one in zip(resolutions, images, strict=True):
            two = pixels(theirs, dpi)
            assert one.shape == two.shape == (3 * dpi, 4 * dpi, 3)
            assert (np.abs(one - two) > 0.2).mean() < 0.01  # texts are placed in points
            assert (one < 0.5).any(axis=2).mean() > 0.02


def test_a_recording_draws_again_the_same_bytes():
    with style():
        for kind, options in (("svg", {"Date": None}), ("pdf", {"CreationDate": None}), ("png", {})):
            first, second = (written(recorded(example()), kind, metadata=options) for _ in range(2))
            assert first == second
            ours = recorded(example())
            assert written(ours, kind, metadata=options) == written(ours, kind, metadata=options) == first


@pytest.mark.parametrize("image", [False, True])
def test_a_figure_with_images_is_drawn_in_each_resolution(image):
    with style():
        figure = example(image)
        assert (recorded(figure) is figure) == image
        assert figure.dpi == (100 if image else 72)
