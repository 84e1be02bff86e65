"""A certified operating point: a threshold on the confidence, chosen on held-out training rows."""

import math

import numpy as np

from confml.errors import ConfigError
from confml.measures.certified import OperatingPoint, certify, threshold_grid

HELD_OUT = 0.3  # share of the training rows that the method is not fitted to
OF_GRID = 0.2  # share of these whose confidences, without labels, give the thresholds to test


def held_out_rows(rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide training rows (m,) at random: rows to fit to, and rows that give and that test thresholds.

    Raises ConfigError if there are fewer than 10 rows.
    """
    if len(rows) < 10:
        raise ConfigError(f"a certified threshold needs at least 10 training rows, there are {len(rows)}")
    order = rng.permutation(len(rows))
    held_out = round(HELD_OUT * len(rows))
    of_grid = max(1, round(OF_GRID * held_out))
    fit, grid, test = np.split(order, [len(rows) - held_out, len(rows) - held_out + of_grid])
    return rows[np.sort(fit)], rows[grid], rows[test]


def certified_point(
    certainty: np.ndarray, correct: np.ndarray, of_grid: int, risk: float, delta: float
) -> OperatingPoint:
    """Return the loosest threshold that is certified by held-out rows.

    certainty, correct: of the held-out rows; the first ``of_grid`` of them give the thresholds, without their
    labels, and the others test them. risk, delta: as in `OperatingPoint`.
    """
    grid = threshold_grid(certainty[:of_grid], len(certainty) - of_grid, risk, delta)
    return certify(certainty[of_grid:], correct[of_grid:], grid, risk, delta)


def point_sentence(point: OperatingPoint, held_out: int, kind: str) -> str:
    """Return the guarantee of an operating point in one sentence, or the reason why there is none.

    held_out: number of training rows that the thresholds were tested on. kind: of the predictions.
    """
    name = "(mean - 0.5) / sd" if kind == "posterior" else "confidence"
    risk, confidence = f"{100 * point.risk:.3g} %", f"{100 * (1 - point.delta):.3g} %"
    if point.threshold is not None:
        return (
            f"Rows with {name} >= {point.threshold!r} are accepted (column accepted). An accepted row is "
            f"wrong with probability at most {risk}, or no threshold is certified. This holds with "
            f"probability at least {confidence} over the {held_out} held-out training rows, if new rows are "
            "independent draws from their distribution. Given that a threshold is certified, this "
            "probability may be lower."
        )
    if held_out < point.minimum:
        needed = math.ceil(point.minimum / (HELD_OUT * (1 - OF_GRID))) + 1
        reason = (
            f"that takes at least {point.minimum} accepted held-out rows without an error, and only "
            f"{held_out} rows are held out ({needed} training rows are needed)"
        )
    else:
        reason = (
            f"the strictest threshold accepts {point.accepted} held-out rows with {point.errors} errors; "
            f"the probability of at most {point.errors} at an error rate of {risk} is {point.p_value:.2g}"
        )
    return (
        f"No threshold is certified for an error rate of at most {risk} with probability {confidence}: "
        f"{reason}. No row is accepted."
    )
