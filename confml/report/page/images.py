"""Small pictures of test examples as data URIs, for data sets whose card gives the size of its images."""

import base64
import struct
import zlib
from collections.abc import Iterable

import numpy as np

from confml.errors import ConfmlError
from confml.report.run.results import RunResults


def image_size(results: RunResults, dataset: str) -> tuple[int, int] | None:
    """Return (height, width) of the images of a data set by its card; None if its rows are no images."""
    from confml.data.cards import read_card

    spec = _spec_of(results, dataset)
    name = getattr(spec, "card", None) or getattr(spec, "name", None)
    if spec is None or getattr(spec, "csv", None) or getattr(spec, "generate", None):
        return None
    try:
        return read_card(str(name)).image
    except ConfmlError:
        return None


def pictures_of(
    results: RunResults, dataset: str, rows: Iterable[int], size: tuple[int, int]
) -> dict[int, str]:
    """Return the pictures of test examples by their row numbers; none if the data cannot be loaded.

    Large values are dark. The rows are loaded again, without noise and without the steps of the run.
    """
    from confml.data.from_card import load_card

    spec = _spec_of(results, dataset)
    try:
        data = load_card(spec.spec())  # only cards give the size of images
    except (ConfmlError, OSError):
        return {}
    fixed = results.config.protocol.kind == "fixed-split"
    places = data.test_rows if fixed else np.arange(len(data.X))
    if places is None or data.X.shape[1] != size[0] * size[1]:
        return {}
    low, high = float(np.nanmin(data.X)), float(np.nanmax(data.X))
    found = {}
    for row in dict.fromkeys(rows):
        if 0 <= row < len(places):
            pixels = (high - data.X[places[row]]) / ((high - low) or 1.0)
            found[row] = png_uri(np.rint(255 * pixels.reshape(size)).astype(np.uint8))
    return found


def png_uri(pixels: np.ndarray) -> str:
    """Return a (height, width) array of grey values from 0 to 255 as the data URI of a PNG file."""
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # each line begins with its filter, none
    lines[:, 1:] = pixels

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + checksum

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (
        chunk(b"IHDR", header),
        chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
        chunk(b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _spec_of(results: RunResults, dataset: str):
    return next((one for one in getattr(results.config, "datasets", ()) if one.name == dataset), None)
