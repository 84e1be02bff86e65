"""The studies: each yields the forms of one data set with error rate and mean region size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from confml import Conformal
from confml.methods.conformal.best_of import best_counts, smallest_alone, smallest_regions
from confml.methods.conformal.scores import counts_against

LEVEL, TEST, CALIBRATION = 0.1, 0.3, 0.5


def classifiers() -> dict[str, Any]:
    """Return the candidates by name, on standardised features."""
    found = {
        "naive Bayes": GaussianNB(),
        "k-NN": KNeighborsClassifier(9),
        "logistic regression": LogisticRegression(max_iter=300),
        "random forest": RandomForestClassifier(50, random_state=0),
    }
    return {name: make_pipeline(StandardScaler(), one) for name, one in found.items()}


def splits(y: np.ndarray, number: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield training and test rows of random splits, and a seed; fewer splits of more than 2,000 rows, and
    one of more than 7,000."""
    for seed in range(number if len(y) <= 2000 else max(2, number // 3) if len(y) <= 7000 else 1):
        order = np.random.default_rng(seed).permutation(len(y))
        yield order[round(TEST * len(y)) :], order[: round(TEST * len(y))], seed


class Means:
    """Means of numbers over splits, by form."""

    def __init__(self) -> None:
        self.held: dict[str, list[dict[str, float]]] = defaultdict(list)

    def add(self, form: str, region: np.ndarray, labels: np.ndarray, **more: float) -> None:
        """Add regions (n, c) of rows with true labels (n,), codes; -1 for a label without a column."""
        held = region[np.arange(len(labels)), labels] & (labels >= 0)
        numbers = {"error": 1 - held.mean(), "size": region.sum(axis=1).mean()}
        self.held[form].append({**numbers, **more})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row for each form."""
        for form, found in self.held.items():
            yield {
                "form": form,
                **{name: round(float(np.mean([one[name] for one in found])), 4) for name in found[0]},
            }


def codes_of(model: Conformal, y: np.ndarray) -> np.ndarray:
    """Return the columns (n,) of labels, -1 for a label that the model does not know."""
    places = np.searchsorted(model.classes_, y).clip(max=len(model.classes_) - 1)
    return np.where(model.classes_[places] == y, places, -1)


def region_of(model: Conformal, X: np.ndarray) -> np.ndarray:
    """Return the regions (n, c) at `LEVEL`."""
    return model.confident_predict(X)["p-value"].region(LEVEL)


# ---- the best of several methods


def choice(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield the best of the candidates, each alone, the best in hindsight, and the invalid naive choice."""
    found, (first, *others) = Means(), classifiers().values()
    for train, test, seed in splits(y, number):
        model = Conformal(
            first, calibration=CALIBRATION, best_of=others, best_of_level=LEVEL, random_state=seed
        )
        model.fit(X[train], y[train])
        labels = codes_of(model, y[test])
        region = region_of(model, X[test])
        shares, u = model.chosen_, np.zeros(len(test))
        own = [part.lists[0][0] for part in model.scores_]
        alone = []
        for part, known, scores in zip(model.fitted_, own, model.scores_, strict=True):
            greater, equal = counts_against(known, model._scores(part, X[test], u)[0], scores.size)
            alone.append((greater + equal + 1) / (len(known) + 1) > LEVEL)
        naive, best = (
            smallest_alone(own, [part.every for part in model.scores_], LEVEL),
            np.argmin([one.sum() for one in alone]),
        )
        found.add("best-of", region, labels, chosen=1.0)
        found.add("naive choice (no guarantee)", alone[naive], labels, chosen=1.0)
        found.add("best in hindsight (no guarantee)", alone[best], labels, chosen=1.0)
        for name, one, share in zip(classifiers(), alone, shares, strict=True):
            found.add(name, one, labels, chosen=share)
    yield from found.rows()


def alike(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield the choice among 30 simulated methods that are equally good; ``number`` times 250 new rows.

    The probabilities of each method are the softmax of 1.5 for the true label plus independent normal noise.
    Each new row has its own calibration rows with the labels y (n,).
    """
    found, level, rng = Means(), 0.2, np.random.default_rng(0)
    for _ in range(250 * number):
        labels = np.append(y, rng.integers(0, 3))
        at, scores = np.arange(len(y)), []
        for _ in range(30):
            values = np.exp(1.5 * np.eye(3)[labels] + rng.normal(size=(len(labels), 3)))
            scores.append(1 - values / values.sum(axis=1, keepdims=True))
        own, every = [np.sort(s[at, y]) for s in scores], [np.sort(s[:-1].ravel()) for s in scores]
        sizes, new = [1.0] * len(scores), [s[-1:] for s in scores]
        chosen = smallest_regions(own, every, sizes, new, level)
        naive = np.full_like(chosen, smallest_alone(own, every, level))
        for name, one in (("best-of", chosen), ("naive choice (no guarantee)", naive), ("first", 0 * chosen)):
            p = (np.add(*best_counts(own, sizes, new, one)) + 1) / len(labels)
            found.add(name, p > level, labels[-1:])
    yield from found.rows()


# ---- every guarantee beside plain regions


def costs(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield the regions of each guarantee, of one classifier on the same splits."""
    found, others = Means(), classifiers()
    base = others.pop("logistic regression")
    forms: dict[str, dict[str, Any]] = {
        "all rows": {},
        "each class": {"mondrian": True},
        "each predicted label": {"by": "predicted"},
        "each class and each predicted label, all levels": {"by": [["predicted"], ["label"]]},
        "after choosing among 4 methods": {"best_of": [*others.values()], "best_of_level": LEVEL},
    }
    for train, test, seed in splits(y, number):
        for name, settings in forms.items():
            model = Conformal(base, calibration=CALIBRATION, random_state=seed, **settings)
            model.fit(X[train], y[train])
            found.add(name, region_of(model, X[test]), codes_of(model, y[test]))
        model = Conformal(base, "cross", random_state=seed).fit(X[train], y[train])
        found.add("all rows, cross (bound 0.2)", region_of(model, X[test]), codes_of(model, y[test]))
    yield from found.rows()


class Study(NamedTuple):
    """A study. about: for readers. datasets: selects data sets. forms: yields rows.
    splits: random splits of a data set, fewer of more than 2,000 rows. largest: number of rows."""

    about: str
    forms: Callable[..., Iterator[dict[str, Any]]]
    datasets: Callable[[Callable[[], Iterable]], Iterable] = lambda known: known()
    splits: int = 8
    largest: int = 7000


STUDIES = {
    "choice": Study("chosen: share of p-values that are of the method.", choice, largest=60_000),
    "alike": Study(
        "30 simulated methods that are equally good, 20 calibration rows, level 0.2.",
        alike,
        lambda known: [("simulated", np.empty((20, 0)), np.arange(20) % 3)],
    ),
    "costs": Study("Logistic regression; half of the training rows calibrate.", costs, splits=4),
}
