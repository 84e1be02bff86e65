"""Images smoothed by a Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.steps.registry import (
    build_step,
)


def test_images_are_smoothed_by_a_gaussian():
    """One bright pixel becomes the filter's weights; a constant image and the mean beyond borders stay."""
    image = np.zeros((9, 12))
    image[4, 6] = 1.0
    smoothed = build_step("smooth-images", {"width": 12, "sigma": 0.7}).transform(image.reshape(1, -1))
    weights = np.exp(-0.5 * (np.arange(-3, 4) / 0.7) ** 2)
    weights /= weights.sum()
    np.testing.assert_allclose(smoothed.reshape(9, 12)[1:8, 3:10], np.outer(weights, weights), atol=1e-15)
    flat = np.full((2, 9), 0.3)
    np.testing.assert_allclose(build_step("smooth-images", {"width": 3}).transform(flat), flat, rtol=1e-15)
    with pytest.raises(ConfmlError, match="9 features are not whole rows of 16 pixels"):
        build_step("smooth-images", {"width": 16}).transform(flat)
