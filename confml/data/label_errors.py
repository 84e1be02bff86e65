"""Rows of a data set ranked by the evidence of the other rows against their label."""

import warnings
from typing import NamedTuple

import numpy as np

from confml.data.dataset import DataSet
from confml.data.folds import train_test_pairs
from confml.data.memory import dense
from confml.errors import DataError

FOLDS = 5
TREES = 200
# Margin of another class above which a row is left out of the training rows of the second round.
_CONFIDENT = 0.5
_SHARPNESS, _LEAST = 5.0, 0.02  # of the weights of classifiers: factor of L, and least probability in it


class LabelEvidence(NamedTuple):
    """Evidence against the labels of n rows.

    rows: (n,) rows of the data set, those with the most evidence against their label first. p_label: (n,) in
    their order, out-of-fold probability of the label. likelier, p_likelier: (n,) the likeliest other class
    and its probability.
    """

    rows: np.ndarray
    p_label: np.ndarray
    likelier: np.ndarray
    p_likelier: np.ndarray

    @property
    def suspect(self) -> np.ndarray:
        """(n,) bool, whether another class has a larger probability than the label."""
        return self.p_likelier > self.p_label


def label_evidence(data: DataSet, seed: int = 1) -> LabelEvidence:
    """Return the rows of a data set by the out-of-fold probability of their label, the smallest first.

    The probability of a row comes from classifiers that were fitted without its fold, and without its group
    if the data set has groups: a random forest, extremely randomised trees and logistic regression. They are
    averaged with weights exp(5 L), where L is the mean log probability of the labels. A second round has
    other folds and leaves out the training rows for which another class is more probable by more than 0.5;
    the result is the mean of both rounds. Missing values are replaced by training means.

    Raises DataError for fewer than 10 rows.
    """
    n = len(data)
    if n < 2 * FOLDS:
        raise DataError(f"{n} rows are too few to find label errors: expected at least {2 * FOLDS}")
    classes, codes = np.unique(data.y, return_inverse=True)
    trusted, rounds = np.ones(n, dtype=bool), []
    for round_seed in (seed, seed + 1):
        pairs = train_test_pairs(
            codes, data.groups, FOLDS, True, round_seed, data.name, "the search for label errors"
        )
        p = _probabilities(dense(data.X), codes, len(classes), pairs, trusted, round_seed)
        rounds.append(_averaged(p, codes))
        _, true_p, _, most = _against(p.mean(axis=0), codes)
        trusted = most - true_p <= _CONFIDENT
    rows, true_p, alternative, most = _against((rounds[0] + rounds[1]) / 2, codes)
    return LabelEvidence(rows, true_p[rows], classes[alternative[rows]], most[rows])


def _against(p: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of the rows and, per row, the probability of its label, the likeliest other class
    and its probability."""
    at = np.arange(len(codes))
    without_label = p.copy()
    without_label[at, codes] = -1.0
    alternative = without_label.argmax(axis=1)
    true_probability, most = p[at, codes], p[at, alternative]
    return np.lexsort((-most, true_probability)), true_probability, alternative, most


def _probabilities(
    X: np.ndarray, codes: np.ndarray, classes: int, pairs, trusted: np.ndarray, seed: int
) -> np.ndarray:
    """Return (classifiers, n, classes) out-of-fold probabilities of classifiers fitted to the kept rows."""
    p = np.zeros((len(_models(seed)), len(X), classes))
    for train, test in pairs:
        used = train[trusted[train]]
        if len(np.unique(codes[used])) < 2:
            used = train
        for number, model in enumerate(_models(seed)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[used], codes[used])
            p[number][np.ix_(test, model.classes_)] = model.predict_proba(X[test])
    return p


def _averaged(p: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the weighted mean (n, classes) of the probabilities of classifiers; see `label_evidence`."""
    of_labels = np.log(np.maximum(p[:, np.arange(len(codes)), codes], _LEAST)).mean(axis=1)
    weights = np.exp(_SHARPNESS * (of_labels - of_labels.max()))
    return np.tensordot(weights / weights.sum(), p, axes=1)


def _models(seed: int) -> list:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    kinds = [
        RandomForestClassifier(TREES, random_state=seed),
        ExtraTreesClassifier(TREES, random_state=seed),
        LogisticRegression(C=1.0, max_iter=300),
    ]
    return [make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), kind) for kind in kinds]
