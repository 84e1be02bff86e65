"""Meaning of p-values: smoothing, the examples that they are computed from, online passes."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.measures.context import Context
from confml.measures.prediction import Prediction
from confml.plugins.by import BY_KEYS, guarantees_labels


def smoothing_taus(prediction: Prediction) -> np.ndarray | None:
    """Return the random tau (n,) that smooths p-values: that of the method, or one drawn here.

    It is drawn from U[0, 1) with a seed derived from the counts, so equal results have equal tau. None
    without counts.
    """
    extra = prediction.extra
    if "tau" in extra:
        return extra["tau"]
    if not has_counts(prediction):
        return None
    counts = (np.asarray(extra[name], dtype=np.int64) for name in ("n_greater", "n_equal"))
    seed = hashlib.sha256(b"".join(values.tobytes() for values in counts)).hexdigest()
    return stable_generator("smoothing", seed).random(len(prediction))


def has_counts(prediction: Prediction) -> bool:
    """Return whether p-values can be smoothed: they have ``n_greater`` and ``n_equal``, or are smoothed."""
    extra = prediction.extra
    return prediction.kind == "p-value" and ("tau" in extra or {"n_greater", "n_equal"} <= set(extra))


def smoothed_p_values(
    prediction: Prediction, true_columns: np.ndarray, taus: np.ndarray | None
) -> np.ndarray:
    """Return the smoothed p-values (n,) of the true labels, each uniform if examples are exchangeable.

    ``(#{alpha_i > alpha} + tau #{alpha_i = alpha}) / N`` with N examples counted and one tau per example (see
    `smoothing_taus`), of a view with counts (`has_counts`). p-values that the method has smoothed are
    returned unchanged. The p-value of an absent class is 0, because no region contains it.
    """
    at = np.arange(len(prediction)), true_columns
    p = prediction.scores[at]
    if "tau" not in prediction.extra:
        greater, equal = (np.asarray(prediction.extra[name]) for name in ("n_greater", "n_equal"))
        # The new example itself is one of the equal ones, so the divisor is never 0.
        p = p * ((greater[at] + taus * equal[at]) / (greater[at] + equal[at]))
    return np.where(true_columns >= 0, p, 0.0)


def is_online(prediction: Prediction) -> bool:
    """Return whether the examples were learnt one by one, so that p-values form a martingale.

    If examples are not learnt between predictions, their p-values are ranks among the same examples, and
    there is no martingale.
    """
    learnt = prediction.extra.get("learnt")
    return prediction.kind == "p-value" and learnt is not None and bool(np.all(np.diff(learnt) == 1))


def counted_examples(
    prediction: Prediction, truth: np.ndarray, true_columns: np.ndarray, context: Context
) -> np.ndarray | None:
    """Return the number of examples (n,) that each true label's p-value was computed from, itself included.

    For smoothed p-values without counts it is the size of the training part plus 1, or of the class plus 1 if
    the method is ``mondrian``. 0, for which there is no band, for an absent class and for weighted p-values:
    how much their coverage varies depends on the weights and on their relation to the scores. None for an
    online pass, in which each p-value is computed from other examples. Its errors are independent.
    """
    if is_online(prediction):
        return None
    if is_weighted(prediction):
        return np.zeros(len(prediction), dtype=np.int64)
    extra = prediction.extra
    if {"n_greater", "n_equal"} <= set(extra):
        at = np.arange(len(prediction)), true_columns
        tau = extra.get("tau", 1.0)
        p = prediction.scores[at]
        counts = extra["n_greater"][at] + tau * extra["n_equal"][at]
        whole = np.divide(counts, p, out=np.ones(len(p)), where=p > 0)  # 0 / 0 where a tau was drawn as 0
        counted = np.rint(whole).astype(np.int64)
    else:
        by_class, rows = has_label_conditional_p_values(context.params), context.train_class_counts
        sizes = [rows.get(label, 0) if by_class else context.train_rows for label in truth.tolist()]
        counted = np.array(sizes, dtype=np.int64) + 1
    return np.where(true_columns >= 0, counted, 0)


def has_several_divisions(prediction: Prediction) -> bool:
    """Return whether p-values are the largest of several divisions of ``by``, which are conservative."""
    return "division" in prediction.extra


def is_weighted(prediction: Prediction) -> bool:
    """Return whether p-values count weights of examples (``shift``), are the largest of several divisions
    (``by``), or are of one of several methods (``best_of``): their coverage has no band."""
    return bool({"own_share", "division", "chosen"} & set(prediction.extra))


def has_label_conditional_p_values(params: Mapping[str, Any]) -> bool:
    """Return whether a method with these parameters has label-conditional p-values."""
    return any(
        (name.rpartition("__")[2] == "mondrian" and bool(value))
        or (name in BY_KEYS and guarantees_labels(value))
        for name, value in params.items()
    )
