"""`smooth-images`: smooths each example, taken as an image, with a Gaussian filter."""

from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.plugins.parameters import Integer, Number
from confml.steps.base import Step, complete


@dataclass(eq=False, repr=False)
class SmoothImages(Step):
    """Smooth each example with a Gaussian filter.

    An example is an image of grey values, row by row, or a signal. Beyond its border the nearest pixel is
    repeated. The step is used before `row-standardise` in a variant of USPS that comes close to the errors in
    Proedrou et al. (2002). Nothing is learnt from the training set.

    Examples
    --------
    >>> SmoothImages(sigma=1.0).transform(np.array([[0.0, 1.0, 0.0]])).round(2)
    array([[0.24, 0.4 , 0.24]])
    """

    name = "smooth-images"
    learns = False
    parameters = {
        "width": Integer("number of pixels in a row of the image; 1 for a signal", low=1),
        "sigma": Number("standard deviation of the Gaussian in pixels", 0.0, low_open=True),
    }

    width: int = 1
    sigma: float = 0.7

    def transform(self, X: np.ndarray) -> np.ndarray:
        from scipy.ndimage import gaussian_filter

        X = complete(X, self.name)
        if X.shape[1] % self.width:
            raise ConfmlError(
                f"{self.name}: {X.shape[1]} features are not whole rows of {self.width} pixels",
                hint="set width to the number of pixels in a row of the image",
            )
        images = np.ascontiguousarray(X).reshape(len(X), X.shape[1] // self.width, self.width)
        return gaussian_filter(images, (0, self.sigma, self.sigma), mode="nearest").reshape(X.shape)
