"""`Images`: small pictures of test examples as data URIs, for data sets whose card gives their size."""

import base64
import struct
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.report.run.results import RunResults


class Images(NamedTuple):
    """Grey values (n, height, width) of the rows of a data set in the run; large values are dark."""

    pixels: np.ndarray

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[1], self.pixels.shape[2]

    def pictures(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the pictures of rows by their numbers."""
        return {row: png_uri(self.pixels[row]) for row in dict.fromkeys(rows) if 0 <= row < len(self.pixels)}


def images_of(results: RunResults) -> dict[str, Images]:
    """Return the images of the data sets of a run by name; none of those that cannot be loaded.

    The rows are loaded again, without noise and without the steps of the run.
    """
    found = ((spec.name, _images(spec, results.config)) for spec in results.config.datasets)
    return {name: images for name, images in found if images is not None}


def _images(spec: Any, config: Any) -> Images | None:
    from confml.data.cards import read_card
    from confml.data.from_card import load_card

    if spec.csv or spec.generate:
        return None
    try:
        size = read_card(str(spec.card or spec.name)).image
        data = None if size is None else load_card(spec.spec())
    except (ConfmlError, OSError):
        return None
    if size is None or data is None:
        return None
    places = data.test_rows if config.protocol.kind == "fixed-split" else np.arange(len(data.X))
    if places is None or data.X.shape[1] != size[0] * size[1]:
        return None
    low, high = float(np.nanmin(data.X)), float(np.nanmax(data.X))
    grey = (high - data.X[places]) / ((high - low) or 1.0)
    return Images(np.rint(255 * grey).astype(np.uint8).reshape(-1, *size))


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
