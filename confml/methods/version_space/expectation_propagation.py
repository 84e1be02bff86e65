"""`GaussianVersionSpace`: Gaussian approximation of the uniform distribution on version space."""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.special import log_ndtr, ndtr
from sklearn.exceptions import ConvergenceWarning

from confml.methods.version_space._kernels_ep import pass_through
from confml.methods.version_space._kernels_gram import products
from confml.methods.version_space.billiard import VolumeEstimate
from confml.methods.version_space.version_space import VersionSpace

_TOLERANCE = 1e-6
_SWEEPS = 500
_BLOCK = 128  # walls between two updates of the full covariance matrix


@dataclass(frozen=True, eq=False)
class GaussianVersionSpace:
    """Gaussian approximation of version space by expectation propagation.

    The sign of a perceptron's output does not depend on its length, so the uniform distribution on version
    space can be replaced by a standard normal distribution restricted to the cone over it (Minka, A family of
    algorithms for approximate Bayesian inference, 2001, chapter 5). mean (r,). root (r, r): root @ root.T is
    the covariance. sweeps: number of passes over the walls. log_volume: logarithm of the fraction of the
    sphere that is version space, the evidence of expectation propagation.
    """

    version_space: VersionSpace
    mean: np.ndarray
    root: np.ndarray
    sweeps: int
    log_volume: float

    stored = {
        "version_space": "VersionSpace(r)",
        "mean": "f8(r)",
        "root": "f8(r, *)",
        "sweeps": "int",
        "log_volume": "float",
    }

    @classmethod
    def of(cls, space: VersionSpace) -> "GaussianVersionSpace":
        """Iterate until no level changes by more than 1e-6 standard deviations; warn after 500 passes."""
        walls = space.walls / np.sqrt(space.squared)[:, None]
        n, r = walls.shape
        precision, shift = np.zeros(n), np.zeros(n)
        mean, covariance = np.zeros(r), np.eye(r)
        damping, before = 1.0, np.inf
        sweeps = 0
        while True:
            sweeps += 1
            change = _sweep(walls, mean, covariance, precision, shift, damping)
            # Computed from the factors, so rounding errors do not accumulate.
            factor = scipy.linalg.cholesky(np.eye(r) + (walls.T * precision) @ walls, lower=True)
            mean = scipy.linalg.cho_solve((factor, True), walls.T @ shift)
            if change < _TOLERANCE:
                break
            if sweeps == _SWEEPS:
                warnings.warn(
                    f"expectation propagation has not converged after {_SWEEPS} passes: levels still "
                    "change by "
                    f"{change:.2g} standard deviations; use sampler: geodesic",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                break
            if change > before:
                damping = max(0.7 * damping, 0.1)
            before = change
            covariance = scipy.linalg.lapack.dpotri(factor, lower=True)[0]
            covariance = np.tril(covariance) + np.tril(covariance, -1).T
        root = scipy.linalg.solve_triangular(factor, np.eye(r), lower=True, trans="T")
        return cls(space, mean, root, sweeps, _log_evidence(walls, mean, root, factor, precision, shift))

    def centre(self) -> np.ndarray:
        """Return the Bayes point (r,): the mean, scaled to length 1."""
        return self.mean / np.linalg.norm(self.mean)

    def volumes(self, kernel_block: np.ndarray, lengths: np.ndarray | None = None) -> VolumeEstimate:
        """Return the estimate of `Trajectory.volumes`; its diagnostics are NaN."""
        coordinates = self.version_space.space.coordinates(kernel_block)
        level = products(self.mean[None, :], coordinates)[0]
        spread = products(np.ascontiguousarray(self.root.T), coordinates)
        variance = np.zeros_like(level)
        for row in spread:
            variance += row * row
        if lengths is not None:
            inside = np.zeros_like(level)
            for row in coordinates:
                inside += row * row
            variance += np.maximum(lengths - inside, 0.0)
        level = np.divide(level, np.sqrt(variance), out=np.zeros_like(level), where=variance > 0)
        nan = np.full_like(level, np.nan)
        return VolumeEstimate(ndtr(level), nan, nan, nan)


def _log_evidence(walls, mean, root, factor, precision, shift) -> float:
    """Return the logarithm of the probability that a standard normal vector is inside all walls (n, r).

    Each wall's factor is scaled so that, together with the Gaussian of all other walls (the cavity), it has
    the probability of the wall's half-space. Minka (2001), section 3.2.
    """
    levels, variances = walls @ mean, np.square(walls @ root).sum(axis=1)
    cavity_precision = 1.0 / variances - precision
    cavity_shift = levels / variances - shift
    inside = log_ndtr(cavity_shift / np.sqrt(cavity_precision))
    scales = inside + 0.5 * (
        np.log1p(precision / cavity_precision)
        - (cavity_shift + shift) ** 2 / (cavity_precision + precision)
        + cavity_shift**2 / cavity_precision
    )
    return float(scales.sum() + 0.5 * (walls.T @ shift) @ mean - np.log(np.diag(factor)).sum())


def _sweep(walls, mean, covariance, precision, shift, damping) -> float:
    """Update the factors of all walls (n, r); return the largest change of a level in standard deviations.

    mean (r,), covariance (r, r), precision and shift (n,) are updated. Within a block of walls only the
    covariance of their levels is updated; the full covariance matrix is updated once per block, by matrix
    products.
    """
    largest = 0.0
    for start in range(0, len(walls), _BLOCK):
        block = slice(start, start + _BLOCK)
        across = walls[block] @ covariance
        levels, own = walls[block] @ mean, across @ walls[block].T
        old_levels, old_own = levels.copy(), own.copy()
        old_precision, old_shift = precision[block].copy(), shift[block].copy()
        change = pass_through(levels, own, precision[block], shift[block], damping)
        largest = max(largest, change)
        gained = precision[block] - old_precision
        # Woodbury: (C^-1 + A'DA)^-1 = C - (AC)' (I + D ACA')^-1 D AC
        middle = np.linalg.solve(np.eye(len(gained)) + gained[:, None] * old_own, np.diag(gained))
        moved = shift[block] - old_shift - gained * old_levels
        mean += across.T @ (moved - middle @ (old_own @ moved))
        covariance -= across.T @ (middle @ across)
    return largest
