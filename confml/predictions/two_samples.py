"""`TwoSamples`: whether new rows have the distribution of the training rows, tested without labels.

Each feature is tested alone, and a classifier that tells new from training rows tests all of them together
(Lopez-Paz and Oquab, Revisiting Classifier Two-Sample Tests, 2017).
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.data.memory import dense
from confml.errors import ConfigError, printable
from confml.measures.ranks import holm
from confml.predictions.batch import Batch
from confml.predictions.guarantee import listed
from confml.predictions.model import Model
from confml.predictions.rounding import p_text

ALARM = 0.01  # p-value of a test, after Holm's correction over all tests, from which new rows differ
MOST_ROWS = 20_000  # new rows that are tested, the first ones
JOINT_ROWS = 2000  # rows of each sample for the classifier
FEWEST = 20  # rows of a sample from which it is tested
_EXPECTED = 5  # least expected number of rows of a category for the chi-squared distribution


class Finding(NamedTuple):
    """Sentence on one test. p: its p-value, None if nothing is tested. differs: whether the new rows differ,
    after Holm's correction over all tests. otherwise: the sentence if they do not, by default the same."""

    text: str
    p: float | None = None
    differs: bool = False
    otherwise: str = ""


class TwoSamples(NamedTuple):
    """The tests of n new rows against m training rows.

    features: (name, p-value after Holm's correction) of each feature. accuracy: of the classifier on rows
    that it was not fitted to, as many new as training rows; error: its standard error; joint: p-value of so
    high an accuracy, exact for exchangeable rows. rows: number of new rows.
    """

    features: list[tuple[str, float]]
    accuracy: float
    error: float
    joint: float
    rows: int

    def sentences(self) -> list[str]:
        """Return the result of the classifier, and the features that differ."""
        sentences = [
            f"A classifier separates the {self.rows} new rows from training rows with accuracy "
            f"{self.accuracy:.3f} ± {self.error:.3f} (0.5 without a difference; p-value "
            f"{p_text(self.joint, ALARM)})."
        ]
        low = sorted((p, name) for name, p in self.features if p <= ALARM)
        features = listed([f"'{printable(name, 60)}' ({p_text(p, ALARM)})" for p, name in low])
        text = f"Features that differ (p-value, Holm): {features}" if low else "No single feature differs"
        return [*sentences, f"{text}."]


def two_samples(
    old: np.ndarray, new: np.ndarray, names: Sequence[str], coded: np.ndarray, *purpose: Any
) -> TwoSamples | None:
    """Return the tests of new rows (n, d) against old ones (m, d); None with fewer than `FEWEST` of either.

    coded: (d,) columns with codes of categories. purpose: seeds the division of the rows. Numbers are tested
    by Kolmogorov and Smirnov, categories by a chi-squared test, or each one by its hypergeometric number with
    Bonferroni's correction where some are expected less than 5 times; rows must be independent.
    """
    if min(len(old), len(new)) < FEWEST:
        return None
    p = [_feature_p(old[:, j], new[:, j], bool(coded[j])) for j in range(old.shape[1])]
    adjusted = [float(p_value) for p_value in holm(p)] if p else []
    rng = stable_generator("two samples", len(old), len(new), *purpose)
    features = list(zip(names, adjusted, strict=True))
    return TwoSamples(features, *_joint(old, new, rng), len(new))


def _feature_p(old: np.ndarray, new: np.ndarray, is_coded: bool) -> float:
    from scipy import stats

    old, new = (values[~np.isnan(values)] for values in (old, new))
    if not len(old) or not len(new) or (old.min() == old.max() == new.min() == new.max()):
        return 1.0
    if not is_coded:
        return float(stats.ks_2samp(old, new, method="asymp").pvalue)
    categories, codes = np.unique(np.concatenate([old, new]), return_inverse=True)
    table = [np.bincount(part, minlength=len(categories)) for part in (codes[: len(old)], codes[len(old) :])]
    tested = stats.chi2_contingency(table, correction=False)
    if tested.expected_freq.min() >= _EXPECTED:
        return float(tested.pvalue)
    number = stats.hypergeom(len(codes), table[0] + table[1], len(new))
    one_sided = np.minimum(number.cdf(table[1]), number.sf(table[1] - 1)).min()
    return min(1.0, 2.0 * float(one_sided) * (len(categories) if len(categories) > 2 else 1))


def _joint(old: np.ndarray, new: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the accuracy of the classifier, its standard error and its p-value.

    The rows that test it are a random half. Given its predictions, their labels are in random order for
    exchangeable rows: the number of right ones is hypergeometric.
    """
    from scipy.stats import hypergeom
    from sklearn.ensemble import HistGradientBoostingClassifier

    k = min(len(old), len(new), JOINT_ROWS)
    half = k // 2
    parts = [sample[rng.permutation(len(sample))[:k]] for sample in (old, new)]
    fit = np.vstack([part[:half] for part in parts])
    test = np.vstack([part[half:] for part in parts])
    leaf = min(20, max(2, half // 4))
    model = HistGradientBoostingClassifier(
        max_depth=3, max_iter=50, early_stopping=False, min_samples_leaf=leaf, random_state=0
    )
    of_new = model.fit(fit, np.repeat([0, 1], half)).predict(test) == 1
    n = k - half
    hits = int(of_new[n:].sum())
    accuracy = (hits + int((~of_new[:n]).sum())) / (2 * n)
    p = float(hypergeom.sf(hits - 1, 2 * n, n, int(of_new.sum())))
    return accuracy, math.sqrt(accuracy * (1 - accuracy) / (2 * n)), p


class Drift:
    """Collect new rows and test them against the training rows of a model."""

    def __init__(self, model: Model):
        if model.facts.groups:
            raise ConfigError("new rows are not tested: training rows of one group are dependent")
        self.model = model
        self._parts: list[np.ndarray] = []
        self.rows = 0

    def add(self, batch: Batch) -> None:
        """Collect the rows of a chunk that are predicted."""
        X = self.model.chosen(batch.rows)
        if X.shape[0] and self.rows < MOST_ROWS:
            train = self.model.neighbours
            X = self.model.transformed(X[: MOST_ROWS - self.rows], train.steps, train.X.shape[1])
            self._parts.append(np.asarray(dense(X), dtype=np.float64))
            self.rows += X.shape[0]

    def findings(self) -> dict[str, Finding]:
        """Return the tests: of the classifier, and of the features."""
        if self._tests is None:
            few = f"New rows are not compared with the training rows: at least {FEWEST} are needed."
            return {"classifier": Finding(few)}
        p, n = min((p for _, p in self._tests.features), default=1.0), len(self._tests.features)
        of_classifier, of_features = self._tests.sentences()
        features = f"{n} features" if n > 1 else "1 feature"
        none = f"Smallest p-value of {features}: {p_text(p, ALARM)} (Holm)."
        return {
            "classifier": Finding(of_classifier, self._tests.joint),
            "features": Finding(of_features, p, otherwise=none),
        }

    @functools.cached_property
    def _tests(self) -> TwoSamples | None:
        train = self.model.neighbours
        new = np.vstack(self._parts) if self._parts else np.empty((0, train.X.shape[1]))
        names = train.names or [f"column {j + 1} after the steps" for j in range(train.X.shape[1])]
        facts = self.model.facts
        old = np.asarray(dense(train.X), dtype=np.float64)
        return two_samples(old, new, names, train.coded, facts.seed, facts.checksum)
