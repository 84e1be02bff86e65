"""Numbers of predictions with few digits that contradict no region, label or accepted row."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from confml.measures.prediction import Prediction

DIGITS, ALL_DIGITS = 4, 17
_EXACT = 22  # powers of ten up to this one are exact in double precision


def rounded(values: np.ndarray, digits: int | np.ndarray) -> np.ndarray:
    """Return values (n, ...) with so many significant digits, for all or per row; integer parts are kept."""
    values = np.asarray(values, dtype=float)
    many = np.broadcast_to(np.reshape(digits, (-1, *[1] * (values.ndim - 1))), values.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        decimals = many - 1 - np.floor(np.log10(np.abs(values)))
    is_rounded = np.isfinite(decimals) & (many < ALL_DIGITS)
    scale = 10.0 ** np.clip(np.where(is_rounded, decimals, 0), 0, _EXACT)
    result = np.where(is_rounded, np.rint(values * scale) / scale, values)
    small = is_rounded & (decimals > _EXACT)
    if small.any():
        pairs = zip(values[small].tolist(), many[small].tolist(), strict=True)
        result[small] = [float(f"{value:.{digits - 1}e}") for value, digits in pairs]
    return result


def with_digits(
    prediction: Prediction, digits: int, levels: Iterable[float], threshold: float | None
) -> tuple[Prediction, np.ndarray]:
    """Return a prediction with rounded numbers and its rounded confidence (n,).

    A row has more digits where the rounded numbers would give another label, another region at a level,
    another side of 1 - level for its confidence, or another side of the threshold for its certainty.
    """
    confidence, certainty = prediction.confidence, prediction.certainty
    levels, thresholds = list(levels), [] if threshold is None else [threshold]
    cuts = [*(1 - level for level in levels), *(thresholds if prediction.kind != "posterior" else ())]
    many = np.full(len(prediction), digits)
    while True:
        scores, shown = rounded(prediction.scores, many), rounded(confidence, many)
        extra = {
            name: rounded(values, many) if values.dtype.kind == "f" else values
            for name, values in prediction.extra.items()
        }
        short = replace(prediction, scores=scores, extra=extra)
        wrong = scores.argmax(axis=1) != prediction.scores.argmax(axis=1)
        for level in levels:
            wrong |= (short.region(level) != prediction.region(level)).any(axis=1)
        for before, after, at in [(confidence, shown, cuts), (certainty, short.certainty, thresholds)]:
            for cut in at:
                wrong |= np.sign(after - cut) != np.sign(before - cut)
        wrong &= many < ALL_DIGITS
        if not wrong.any():
            return short, shown
        many[wrong] += 1


def p_text(p: float, *cuts: float) -> str:
    """Return a p-value with two digits, with more where these are on another side of a cut."""
    for digits in range(2, ALL_DIGITS):
        text = f"{p:.{digits}g}"
        if all((float(text) <= cut) == (p <= cut) for cut in cuts):
            return text
    return repr(p)
