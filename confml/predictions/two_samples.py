"""`TwoSamples`: whether new rows have the distribution of the training rows, tested without labels.

Each feature is tested alone, and a classifier that tells new from training rows tests all of them together
(Lopez-Paz and Oquab, Revisiting Classifier Two-Sample Tests, 2017).
"""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.errors import ConfigError, printable
from confml.measures.ranks import holm
from confml.predictions.batch import Batch
from confml.predictions.model import Model
from confml.predictions.rounding import p_text
from confml.runner.store import write_atomically

ALARM = 0.01  # p-values up to it differ
SERIES = 0.05  # probability of any false alarm in a series of batches, however long
MOST_ROWS = 20_000  # new rows that are tested, the first ones
JOINT_ROWS = 2000  # rows of each sample for the classifier
FEWEST = 20  # rows of a sample from which it is tested
SHOWN = 5
FORMAT = 1


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

    @property
    def p(self) -> float:
        """The p-value of all tests together (Bonferroni)."""
        return min(1.0, 2 * min([self.joint, *(p for _, p in self.features)]))

    def sentences(self) -> list[str]:
        """Return the result of the classifier, and the features that differ."""
        found = [
            f"A classifier tells the {self.rows} new rows from training rows with accuracy "
            f"{self.accuracy:.3f} ± {self.error:.3f} (0.5 without a difference; p-value "
            f"{p_text(self.joint, ALARM)})."
        ]
        low = sorted((p, name) for name, p in self.features if p <= ALARM)
        listed = ", ".join(f"'{printable(name, 60)}' ({p_text(p, ALARM)})" for p, name in low[:SHOWN])
        more = f", ... ({len(low)} features)" if len(low) > SHOWN else ""
        what = f"Features that differ (p-value, Holm): {listed}{more}" if low else "No feature differs alone"
        return [*found, f"{what}."]


def two_samples(
    old: np.ndarray, new: np.ndarray, names: Sequence[str], coded: np.ndarray, *purpose: Any
) -> TwoSamples | None:
    """Return the tests of new rows (n, d) against old ones (m, d); None with fewer than `FEWEST` of either.

    coded: (d,) columns with codes of categories. purpose: seeds the division of the rows. Numbers are tested
    by Kolmogorov and Smirnov, categories by a chi-squared test; rows must be independent.
    """
    if min(len(old), len(new)) < FEWEST:
        return None
    p = [_feature_p(old[:, j], new[:, j], bool(coded[j])) for j in range(old.shape[1])]
    adjusted = [float(one) for one in holm(p)] if p else []
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
    known, codes = np.unique(np.concatenate([old, new]), return_inverse=True)
    table = [np.bincount(part, minlength=len(known)) for part in (codes[: len(old)], codes[len(old) :])]
    return float(stats.chi2_contingency(table, correction=False).pvalue)


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
    """Collect new rows and test them against the training rows of a model.

    state: a file with the earlier batches of one series, to which the new rows are added as the next batch.
    Batch number k differs if its p-value is at most 0.05 * 6 / (pi k)^2: in the whole series, however long,
    there is a false alarm with probability at most 5 %.
    """

    def __init__(self, model: Model, state: Path | None = None):
        if model.facts.groups:
            raise ConfigError("new rows are not tested: training rows of one group are dependent")
        self.model, self.state = model, state
        self.batches: list[dict[str, Any]] = [] if state is None else _read_state(state, model)
        self._parts: list[np.ndarray] = []
        self.rows = 0

    def add(self, batch: Batch) -> None:
        """Collect the rows of a chunk that are predicted."""
        X = self.model.chosen(batch.rows)
        if len(X) and self.rows < MOST_ROWS:
            known = self.model.neighbours
            X = self.model.transformed(X[: MOST_ROWS - self.rows], known.steps, known.X.shape[1])
            self._parts.append(np.asarray(X, dtype=np.float64))
            self.rows += len(X)

    def sentences(self) -> list[str]:
        """Return the tests as sentences; the batch is written to the state file."""
        train = self.model.neighbours
        new = np.vstack(self._parts) if self._parts else np.empty((0, train.X.shape[1]))
        names = train.names or [f"column {j + 1} after the steps" for j in range(train.X.shape[1])]
        facts = self.model.facts
        old = np.asarray(train.X, dtype=np.float64)
        found = two_samples(old, new, names, train.coded, facts.seed, facts.checksum)
        if found is None:
            return [f"Fewer than {FEWEST} new rows are not tested against the training rows."]
        return [*found.sentences(), *([] if self.state is None else [self._series(found, new, self.state)])]

    def _series(self, found: TwoSamples, new: np.ndarray, state: Path) -> str:
        digest = hashlib.sha256(np.ascontiguousarray(new).tobytes()).hexdigest()
        if any(one["digest"] == digest for one in self.batches):
            return f"These rows are in {state} already, and are not counted again."
        number = len(self.batches) + 1
        limit = SERIES * 6 / (math.pi * number) ** 2
        self.batches.append({"digest": digest, "rows": len(new), "p": found.p, "differs": found.p <= limit})
        document = {"format": FORMAT, "of": _identity(self.model), "batches": self.batches}
        write_atomically(state, (json.dumps(document, indent=1) + "\n").encode())
        differ = [str(place) for place, one in enumerate(self.batches, start=1) if one["differs"]]
        verdict = f"the batches that differ are {', '.join(differ)}" if differ else "none of them differs"
        return (
            f"Batch {number} of the series in {state}: p-value {p_text(found.p, limit)}, "
            f"limit {p_text(limit, found.p)}; {verdict} "
            "(any false alarm in the series: at most 5 %)."
        )


def _identity(model: Model) -> str:
    facts = model.facts
    return hashlib.sha256(repr((facts.checksum, facts.seed, facts.fitted_rows)).encode()).hexdigest()[:16]


def _read_state(path: Path, model: Model) -> list[dict[str, Any]]:
    """Return the batches of a state file, none if there is no file. Raises ConfigError for another file."""
    try:
        document = json.loads(path.read_bytes())
        kinds = {"digest": str, "rows": int, "p": float, "differs": bool}
        batches = document["batches"]
        good = document["format"] == FORMAT and all(
            isinstance(one[key], kind) for one in batches for key, kind in kinds.items()
        )
        other = document["of"] != _identity(model)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        good, other = False, False
    if not good:
        raise ConfigError("this is not a state file that confml predict wrote", where=str(path))
    if other:
        message = "the batches in it were tested against other training rows"
        raise ConfigError(message, where=str(path), hint="name another file for this model")
    return batches
