"""`Prediction`: predictions of a method for n examples, with one interface for all kinds of confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from confml.plugins.parameters import DECIMALS, without_rounding_error

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("p-value", "probability", "vote", "envelope", "posterior", "exceedance", "margin")
PROBABILITY_KINDS = ("probability", "posterior")
SHARES = ("probability", "posterior", "vote", "envelope")
"""Kinds whose scores sum to 1; the scores of a posterior are its means, votes and envelopes are shares."""
ENTROPIES = ("total_entropy", "expected_entropy", "mutual_information")
"""Parts of the entropy of an example: total = expected + mutual information."""
WITHOUT_REGIONS = ("margin", "exceedance")
"""Kinds without prediction regions."""
ORDERED_APART = ("posterior", "exceedance")
"""Kinds whose `Prediction.certainty` is not the confidence."""
_SORTED_ROWS = 1 << 16  # whose scores are sorted at a time
_SHARES = 2.0**24  # shares closer than half of its inverse are equal
SCORE_NAMES = {"p-value": "p", "margin": "margin"}
"""Column names of scores in tables, by kind; ``prob`` for every other kind."""


def real_numbers(values: Any, what: str) -> np.ndarray:
    """Return values as float64 numbers; raise ValueError for complex and masked ones. what: for messages."""
    if np.ma.is_masked(values):
        raise ValueError(f"{what} must be numbers, and some are masked")
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{what} must be real numbers, got complex ones")
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)  # arrays have no truth value: compare field by field
class Prediction:
    """One view of one fitted method on n test examples of c classes.

    Arrays are made read-only. Raises ValueError for inconsistent shapes or an unknown kind.

    Parameters
    ----------
    classes : ndarray of shape (c,)
        Class labels in sorted order; columns of ``scores``.
    scores : ndarray of shape (n, c)
        P-values, probabilities, vote shares or decision values, by ``kind``.
    kind : str
        One of `KINDS`; it decides how regions, confidence and acceptance are computed.
    labels : ndarray of shape (n,), optional
        Predicted labels; by default the class with the largest score, the first one for ties.
    extra : dict of ndarray, optional
        Further arrays whose first axis is n (``sd``, standard errors, counts).
    posterior_threshold : float, default=0.5
        Threshold t0 of the kind posterior: the confidence is Phi((mean - t0) / sd).

    Attributes
    ----------
    confidence, certainty : ndarray of shape (n,)
        Confidence in each predicted label, and the number by which predictions are ordered for rejection.
    credibility : ndarray of shape (n,) or None
        Largest p-value of each example; None for other kinds.

    Examples
    --------
    >>> p = Prediction(np.array(["a", "b"]), [[0.8, 0.2], [0.3, 0.4]], "p-value")
    >>> p.labels
    array(['a', 'b'], dtype='<U1')
    >>> p.region(0.25)
    array([[ True, False],
           [ True,  True]])
    """

    classes: np.ndarray
    scores: np.ndarray
    kind: str
    labels: np.ndarray = None  # type: ignore[assignment]  # None is replaced in `__post_init__`
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    posterior_threshold: float = 0.5  # t0 of the posterior kind: confidence = Phi((mean - t0) / sd)

    def __repr__(self) -> str:
        n, c = self.scores.shape
        return f"<Prediction of {n} examples, {c} classes, kind {self.kind}>"

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=10))

    def __post_init__(self):
        classes, scores = np.asarray(self.classes), real_numbers(self.scores, "scores")
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if classes.ndim != 1 or len(classes) == 0 or scores.ndim != 2 or scores.shape[1] != len(classes):
            raise ValueError(f"scores must be (n, {classes.size}), one column per class, got {scores.shape}")
        if self.labels is None:
            labels = classes[np.argmax(scores, axis=1)] if len(scores) else classes[:0]
        else:
            labels = np.asarray(self.labels)
        if labels.shape != (len(scores),):
            raise ValueError(f"labels must be ({len(scores)},), got {labels.shape}")
        extra = {}
        for name, values in self.extra.items():
            values = np.asarray(values)
            if values.ndim == 0 or len(values) != len(scores):
                raise ValueError(f"extra[{name!r}] must have {len(scores)} rows, got {values.shape}")
            extra[name] = _read_only(values)
        if self.kind == "posterior" and extra.get("sd", np.empty(0)).shape != scores.shape:
            raise ValueError("a posterior needs extra['sd'] with the shape of scores")
        put = object.__setattr__
        put(self, "classes", _read_only(classes))
        put(self, "scores", _read_only(scores))
        put(self, "labels", _read_only(labels))
        put(self, "extra", MappingProxyType(extra))

    def __reduce__(self):
        values = (self.classes, self.scores, self.kind, self.labels, dict(self.extra))
        return type(self), (*values, self.posterior_threshold)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def predicted_columns(self) -> np.ndarray:
        """(n,) column of each predicted label."""
        return np.searchsorted(self.classes, self.labels)

    @property
    def confidence(self) -> np.ndarray:
        """(n,) confidence of each prediction; its scale depends on the kind.

        p-values: 1 - second largest p (1 with one class). Probability, vote, envelope and exceedance: the
        largest score.
        Posterior: Phi((mean - t0) / sd) of the predicted class. Margin: the largest decision value minus the
        second largest; with one column, the decision value.
        """
        scores = self.scores
        if self.kind == "posterior":
            from scipy.special import ndtr

            return ndtr(self._standardised())
        if len(self.classes) == 1:
            return np.ones(len(scores)) if self.kind == "p-value" else scores[:, 0].copy()
        if self.kind in ("p-value", "margin"):
            two = np.partition(scores, -2, axis=1)[:, -2:]
            return 1.0 - two[:, 0] if self.kind == "p-value" else two[:, 1] - two[:, 0]
        return scores.max(axis=1, initial=-np.inf)

    @property
    def certainty(self) -> np.ndarray:
        """(n,) values that order predictions by confidence: the confidence; for a posterior (mean - t0) / sd.

        In double precision Phi is 1 from 8.3 on, so different posteriors would tie. Exceedances that are
        equal (up to 2^-25) are ordered by ``extra["mean"]``, the mean of the predicted class.
        """
        if self.kind == "exceedance" and "mean" in self.extra:
            return np.round(self.confidence * _SHARES) / _SHARES + (self.extra["mean"] - 1) / (4 * _SHARES)
        return self._standardised() if self.kind == "posterior" else self.confidence

    @property
    def credibility(self) -> np.ndarray | None:
        """(n,) largest p-value of each example; None for other kinds."""
        return self.scores.max(axis=1, initial=-np.inf) if self.kind == "p-value" else None

    @property
    def has_regions(self) -> bool:
        """Whether this kind has prediction regions; margins and exceedances have none."""
        return self.kind not in WITHOUT_REGIONS

    def region(self, level: float) -> np.ndarray:
        """Return the prediction regions at a significance level.

        Parameters
        ----------
        level : float
            Significance level from 0 to 1, rounded to 12 decimals (1 - 0.9 is less than 0.1).

        Returns
        -------
        ndarray of shape (n, c), bool
            Whether the region of each example has each class. P-values: ``p > level``. Probabilities and
            shares: the smallest set by decreasing score (earlier classes first for ties) whose sum is at
            least ``1 - level``.

        Raises
        ------
        ValueError
            For margins and exceedances, which have no regions, and for a level outside 0 to 1.
        """
        if not self.has_regions:
            raise ValueError(f"{self.kind}s have no prediction regions; make the method conformal")
        if not 0 <= level <= 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        level = without_rounding_error(level)
        if self.kind == "p-value":
            return self.scores > level
        # A sum of shares that should be 1 - level falls short by rounding; 1e-12 is far below any real share.
        return self.sums_before < 1 - level - 1e-12

    @cached_property
    def sums_before(self) -> np.ndarray:
        """(n, c) sum of all larger scores of the row; -inf for the largest one.

        Of equal scores the earlier column is larger. Some rows are computed at a time, in less memory.
        """
        sums = np.empty_like(self.scores)
        for start in range(0, len(sums), _SORTED_ROWS):
            some = self.scores[start : start + _SORTED_ROWS]
            order = np.argsort(-some, axis=1, kind="stable")
            ranked = np.take_along_axis(some, order, axis=1)
            before = np.cumsum(ranked, axis=1) - ranked
            before[:, 0] = -np.inf
            np.put_along_axis(sums[start : start + _SORTED_ROWS], order, before, axis=1)
        return sums

    def label_sets(self, level: float) -> list[tuple]:
        """Return the prediction regions at a significance level as tuples of labels.

        Parameters
        ----------
        level : float
            Significance level from 0 to 1.

        Returns
        -------
        list of tuple
            The labels of each of the n regions, in the order of ``classes``.

        Raises
        ------
        ValueError
            As `region`.
        """
        labels = self.classes.tolist()
        return [tuple(labels[column] for column in np.flatnonzero(row)) for row in self.region(level)]

    def to_frame(self, levels: Sequence[float] = (), index=None) -> pd.DataFrame:
        """Return a DataFrame with one row per example.

        Parameters
        ----------
        levels : sequence of float, default=()
            Significance levels; each adds a column ``region@<level>`` with tuples of labels.
        index : array-like of shape (n,), optional
            Labels of the rows, such as the index of the test data; 0 to n - 1 by default.

        Returns
        -------
        pandas.DataFrame of n rows
            ``prediction``, ``confidence``, ``credibility`` (p-values only), one column per class, then the
            regions. A class's column is ``p[<class>]`` of p-values, ``margin[<class>]`` of margins, and
            ``prob[<class>]`` otherwise. Venn predictors have ``lower[<class>]`` and ``upper[<class>]``
            too, and posteriors ``sd[<class>]``.
        """
        import pandas as pd

        columns = {"prediction": self.labels, "confidence": self.confidence}
        if self.credibility is not None:
            columns["credibility"] = self.credibility
        frame = pd.DataFrame(columns | score_columns(self), index=index)
        for level in map(without_rounding_error, levels):
            frame[f"region@{level!r}"] = pd.Series(self.label_sets(level), index=frame.index, dtype=object)
        return frame

    def accepted(self, threshold: float) -> np.ndarray:
        """Return the predictions that the reject option accepts.

        Parameters
        ----------
        threshold : float
            Threshold of the confidence.

        Returns
        -------
        ndarray of shape (n,), bool
            Envelope: score > threshold, and a score of 1 is always accepted. Posterior: mean - c sd > t0 with
            c = Phi^-1(threshold). Every other kind: confidence >= threshold, both rounded to 12 decimals,
            since the confidence 1 - 0.7 is less than 0.3.
        """
        return accepted(self.kind, self.confidence, self.certainty, threshold)

    def _standardised(self) -> np.ndarray:
        """Return (n,) (mean - t0) / sd of the predicted class, with limits for sd = 0 (0 if mean = t0)."""
        predicted = np.arange(len(self)), self.predicted_columns
        above = self.scores[predicted] - self.posterior_threshold
        sd = self.extra["sd"][predicted]
        limit = np.where(above > 0, np.inf, np.where(above < 0, -np.inf, 0.0))
        return np.divide(above, sd, out=limit, where=sd > 0)

    def take(self, rows) -> Prediction:
        """Return the predictions of some of the examples.

        Parameters
        ----------
        rows : slice, or array-like of int or bool
            Examples to select.

        Returns
        -------
        Prediction
            Their predictions.
        """
        extra = {name: values[rows] for name, values in self.extra.items()}
        scores, labels = self.scores[rows], self.labels[rows]
        return Prediction(self.classes, scores, self.kind, labels, extra, self.posterior_threshold)

    @staticmethod
    def concatenate(parts: list[Prediction]) -> Prediction:
        """Return one prediction from those of consecutive blocks of test examples.

        Parameters
        ----------
        parts : list of Prediction
            At least one; all of one kind, with the same classes.

        Returns
        -------
        Prediction
            Predictions of all examples.
        """
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        extra = {name: np.concatenate([part.extra[name] for part in parts]) for name in first.extra}
        return Prediction(
            first.classes,
            np.concatenate([part.scores for part in parts]),
            first.kind,
            np.concatenate([part.labels for part in parts]),
            extra,
            first.posterior_threshold,
        )


def accepted(kind: str, confidence: np.ndarray, certainty: np.ndarray, threshold: float) -> np.ndarray:
    """Return `Prediction.accepted` from the confidence and certainty (n,) of predictions of a kind."""
    if kind == "envelope":
        return (confidence > threshold) | (confidence >= 1.0)
    if kind == "posterior":
        from scipy.special import ndtri

        return certainty > ndtri(threshold)
    return confidence.round(DECIMALS) >= without_rounding_error(threshold)


def score_columns(prediction: Prediction) -> dict[str, np.ndarray]:
    """Return the scores of each class, and the extra arrays that tables show, as columns (n,) by name.

    These are entropies in nats, ``sd`` of a posterior, ``lower`` and ``upper`` of others, and
    ``standard_error``, the Monte Carlo error of the score.
    """
    extra, scores = prediction.extra, prediction.scores
    bounds = ("sd",) if prediction.kind == "posterior" else ("lower", "upper")
    arrays = {SCORE_NAMES.get(prediction.kind, "prob"): scores}
    arrays |= {name: extra[name] for name in ENTROPIES if name in extra}
    of_classes = (name for name in (*bounds, "standard_error") if name in extra)
    arrays |= {name: extra[name] for name in of_classes if extra[name].shape == scores.shape}
    columns: dict[str, np.ndarray] = {}
    for name, values in arrays.items():
        if values.ndim == 1:
            columns[name] = values
        else:
            names = [f"{name}[{label}]" for label in prediction.classes.tolist()]
            columns |= zip(names, values.T, strict=True)
    return columns


def argmax_with_tie_break(
    scores: np.ndarray, tie_break: np.ndarray, tolerance: float = 0.0, smallest: bool = False
) -> np.ndarray:
    """Return the column (n,) of the largest score in each row of scores (n, c).

    Scores within ``tolerance`` of the largest one are tied. Ties go to the largest value of ``tie_break``
    (n, c), to the smallest one with ``smallest``, then to the first column.
    """
    if scores.shape[1] == 0:
        return np.zeros(len(scores), dtype=np.intp)
    every, columns = np.arange(len(scores)), scores.argmax(axis=1)
    tied = scores >= scores[every, columns][:, None] - tolerance
    tied[every, columns] = False
    rows = np.unique(np.flatnonzero(tied) // scores.shape[1])  # sums along short rows take long
    tied[rows, columns[rows]] = True
    values = np.where(tied[rows], -tie_break[rows] if smallest else tie_break[rows], np.nan)
    columns[rows] = np.argmax(values == np.nanmax(values, axis=1, keepdims=True), axis=1)
    return columns


def nonconformity_of(prediction: Prediction) -> np.ndarray:
    """Return the nonconformity scores (n, c) of the labels, from which p-values were computed."""
    return prediction.extra["alpha" if "alpha" in prediction.extra else "nonconformity"]


def columns_of_p_values(p: np.ndarray, nonconformity: np.ndarray, label_conditional: bool) -> np.ndarray:
    """Return the column (n,) of the label that p-values (n, c) predict.

    nonconformity: (n, c) scores of the labels. The predicted label has the largest p-value, of equal ones the
    smallest score. Label-conditional p-values of different labels cannot be compared: that of a label with m
    examples is at least 1 / (m + 1). The predicted label then has the smallest score, of equal ones the
    largest p-value.
    """
    if label_conditional:
        return argmax_with_tie_break(-nonconformity, p)
    return argmax_with_tie_break(p, nonconformity, smallest=True)


def _read_only(values: np.ndarray) -> np.ndarray:
    view = values.view()
    view.flags.writeable = False
    return view


def columns_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return (n,) the position of each label among the sorted ``classes``, -1 if it is not one of them."""
    columns = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[columns] == labels, columns, -1)
