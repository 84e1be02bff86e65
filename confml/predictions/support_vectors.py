"""Checks of the support vectors of scikit-learn in a model file: LIBSVM reads them without checks."""

from typing import Any

import numpy as np
from sklearn.svm import SVC, NuSVC


def check_support_vectors(value: Any) -> None:
    """Raise ValueError if the arrays of a support vector machine do not have the numbers of its parts."""
    if not isinstance(value, SVC | NuSVC) or not hasattr(value, "support_vectors_"):
        return
    classes, vectors = len(value.classes_), len(value.support_)
    pairs = classes * (classes - 1) // 2
    shapes: dict[str, set[tuple[int, ...]]] = {
        "support": {(vectors,)},
        "support_vectors": {(vectors, value.n_features_in_)},
        "n_support": {(classes,)},
        "dual_coef": {(classes - 1, vectors)},
        "intercept": {(pairs,)},
        **dict.fromkeys(("probA", "probB"), {(0,), (pairs,)}),
    }
    # Some parts are stored twice: with the sign that scikit-learn shows, and with that of LIBSVM.
    for key, part in vars(value).items():
        name = key.strip("_")
        if name not in shapes:
            continue
        if part.shape not in shapes[name]:
            raise ValueError(f"the part {name} of a support vector machine has another shape")
        if hasattr(part, "check_format"):  # a sparse matrix
            part.check_format(full_check=True)
            if name == "dual_coef" and part.nnz != vectors * (classes - 1):
                raise ValueError("a support vector has no coefficient")
    if np.min(value.n_support_, initial=0) < 0 or np.sum(value.n_support_, dtype=object) != vectors:
        raise ValueError("the numbers of support vectors of the classes do not add up")
    if vectors and not (value.support_.min() >= 0 and value.support_.max() < value.shape_fit_[0]):
        raise ValueError("a support vector is not a training row")
