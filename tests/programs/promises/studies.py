"""The studies: each yields the forms of one data set with error rate and mean region size."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from confml import Conformal
from confml.data.generators import unit_square
from confml.data.noise import apply_noise
from confml.measures.conditional import worst_slab
from confml.methods.conformal.best_of import best_counts, smallest_alone, smallest_regions
from confml.methods.conformal.scores import counts_against
from confml.report.figures.style import BLACK, BLUE, GREY, ORANGE, Panels, style

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
        own = [groups[0] for groups in model.scores_]
        alone = []
        for part, known, size in zip(model.fitted_, own, model.sizes_, strict=True):
            greater, equal = counts_against(known, model._scores(part, X[test], u)[0], size)
            alone.append((greater + equal + 1) / (len(known) + 1) > LEVEL)
        naive, best = smallest_alone(own, model.every_, LEVEL), np.argmin([one.sum() for one in alone])
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
    both = [["predicted"], ["label"]]
    forms: dict[str, dict[str, Any]] = {
        "all rows": {},
        "each class": {"mondrian": True},
        "each predicted label": {"by": "predicted"},
        "each class and each predicted label, all levels": {"by": both},
        "each class and each predicted label, one level": {"by": both, "by_levels": [LEVEL]},
        "after choosing among 4 methods": {"best_of": [*others.values()], "best_of_level": LEVEL},
        "true label, no wrong labels": {"label_noise": 0.0},
    }
    for train, test, seed in splits(y, number):
        noisy = apply_noise(X[train], y[train], {"labels": 0.1}, np.random.default_rng(seed))[1]
        wrong = {
            "10 % wrong labels, not corrected": {},
            "10 % wrong labels, true label": {"label_noise": 0.1},
        }
        for name, settings in {**forms, **wrong}.items():
            model = Conformal(base, calibration=CALIBRATION, random_state=seed, **settings)
            model.fit(X[train], noisy if name in wrong else y[train])
            found.add(name, region_of(model, X[test]), codes_of(model, y[test]))
        model = Conformal(base, "cross", random_state=seed).fit(X[train], y[train])
        found.add("all rows, cross (bound 0.2)", region_of(model, X[test]), codes_of(model, y[test]))
    yield from found.rows()


# ---- wrong labels, in Kubat's unit square and with more classes


def noisy_sets(datasets: Callable[[], Iterable]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield points in the unit square with a circle, and the digits."""
    X, y = unit_square(2000, np.random.default_rng(1))
    yield "unit-square", X, np.unique(y, return_inverse=True)[1]
    yield from (one for one in datasets() if one[0] == "digits")


def noise(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield clean, naive and corrected regions for each rate of wrong training labels; k-NN with k = 15."""
    base = make_pipeline(StandardScaler(), KNeighborsClassifier(15))
    for rate in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        found = Means()
        for train, test, seed in splits(y, number):
            noisy = apply_noise(X[train], y[train], {"labels": rate}, np.random.default_rng(seed))[1]
            for name, labels, correction in (
                ("clean", y[train], None), ("naive", noisy, None), ("corrected", noisy, rate)
            ):  # fmt: skip
                model = Conformal(base, calibration=CALIBRATION, label_noise=correction, random_state=seed)
                model.fit(X[train], labels)
                found.add(name, region_of(model, X[test]), codes_of(model, y[test]))
        for row in found.rows():
            yield {"form": f"{row.pop('form')}, rate {rate:g}", **row}


def draw_noise(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw coverage and size against the rate, a row of panels for each data set."""
    looks = {
        "clean labels": (BLACK, "--", ""),
        "not corrected": (ORANGE, "-", "o"),
        "corrected": (BLUE, "-", "s"),
    }
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    with style():
        panels = Panels(2 * len(names), height=2.1)
        for place, name in enumerate(names):
            left, right = panels.axes[2 * place : 2 * place + 2]
            left.set(ylabel="coverage of the true label (%)", title=name)
            right.set(ylabel="mean set size (labels)", title=name)
            for form, (legend, look) in zip(("clean", "naive", "corrected"), looks.items(), strict=True):
                own = [row for row in rows if row["dataset"] == name and row["form"].startswith(form)]
                rates = [100 * float(row["form"].split()[-1]) for row in own]
                line = dict(zip(("color", "linestyle", "marker"), look, strict=True))
                left.plot(rates, [100 * (1 - row["error"]) for row in own], **line)
                (panels.handles[legend],) = right.plot(rates, [row["size"] for row in own], **line)
            level = left.axhline(100 * (1 - LEVEL), color=GREY, linewidth=0.8)
        panels.handles["1 minus the level"] = level
        panels.label_x("wrong training labels (%)")
        panels.finish("").savefig(path, metadata={"Date": None})


# ---- cross-conformal forms with a proved bound of 1 - level


def small(datasets: Callable[[], Iterable]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the data sets below 1,000 rows."""
    yield from (one for one in datasets() if len(one[2]) < 1000)


def excluded(p: np.ndarray, uniform: np.ndarray, level: float = LEVEL) -> dict[str, np.ndarray]:
    """Return by form which labels are excluded.

    p (folds, n, c): p-values, folds in random order. uniform (n, 1): uniform numbers. ``E_k = max(2 - 2
    P_k / level, 0)`` decreases in P_k and has mean ``level`` for a uniform P_k, so its mean is at most
    ``level`` for a p-value. Excluded if the mean of all E_k is at least 1: Markov's inequality (twice
    the mean, Vovk and Wang 2020). Gasparin and Ramdas (2025) use inequalities of Ramdas and Manole
    (2023): one of the means of the first E_k is at least 1 (exchangeable; folds in random order are
    exchangeable, also if their sizes differ); the mean is at least a uniform number, P(mean >= U) <=
    E[mean] (randomised); E_1 is at least a uniform number, or one of the means of the first E_k is at
    least 1 (both).
    """
    E = np.maximum(2 - 2 * p / level, 0)
    first = np.cumsum(E, axis=0) / np.arange(1, len(E) + 1)[:, None, None]
    return {
        "twice the mean": first[-1] >= 1,
        "exchangeable": first.max(axis=0) >= 1,
        "randomised": first[-1] >= uniform,
        "exchangeable and randomised": (first[0] >= uniform) | (first.max(axis=0) >= 1),
    }


def folds(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield split, cross, and forms of cross with a proved bound of 1 - `LEVEL`.

    The bound of cross itself is about 2 `LEVEL`; for the other forms see `excluded`. E-prediction (Vovk
    2020): the mean over folds of ``s (n_k + 1) / (sum of the fold's scores + s)`` is at least 1 /
    `LEVEL`, for scores ``(1 - p)^a`` and ``min((1 - p) / p, 1000)``. The n_k + 1 scores of a fold and
    of the new row are exchangeable, and these ratios sum to n_k + 1, so each has mean 1, and so has the
    mean over the folds. Markov's inequality then gives the bound.
    """
    base, found = classifiers()["logistic regression"], Means()
    forms: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        f"e-prediction, (1 - p)^{a}": (lambda s, a=a: s**a) for a in (1, 4)
    }
    forms["e-prediction, odds"] = lambda s: np.minimum(s / np.maximum(1 - s, 1e-12), 1000)
    for train, test, seed in splits(y, number):
        rng = np.random.default_rng(seed)
        for name, settings in (
            ("split (calibration 0.3)", {}), ("split (calibration 0.5)", {"calibration": 0.5}),
            ("cross (bound about 0.2)", {"kind": "cross"}),
            ("cross at half the level, 5 folds", {"kind": "cross"}),
        ):  # fmt: skip
            model = Conformal(base, random_state=seed, **settings).fit(X[train], y[train])
            labels, p = codes_of(model, y[test]), model.predict_p_values(X[test])
            found.add(name, p > (LEVEL / 2 if "half" in name else LEVEL), labels)
        u, uniform = np.zeros(len(test)), rng.random((len(test), 1))
        new = [model._scores(part, X[test], u)[0] for part in model.fitted_]
        own = [groups[0] for groups in model.scores_]
        p = [
            (np.add(*counts_against(known, s, 1.0)) + 1) / (len(known) + 1)
            for known, s in zip(own, new, strict=True)
        ]
        for name, out in excluded(rng.permutation(np.array(p)), uniform).items():
            found.add(name, ~out, labels)
        for name, score in forms.items():
            e = [
                score(s) * (len(known) + 1) / np.maximum(score(known).sum() + score(s), 1e-300)
                for known, s in zip(own, new, strict=True)
            ]
            found.add(name, np.mean(e, axis=0) < 1 / LEVEL, labels)
    yield from found.rows()


# ---- coverage in slabs of the features


def slabs_sets(datasets: Callable[[], Iterable]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the sets of the gallery, and larger ones with numeric features."""
    names = ("wine-sklearn", "breast-cancer", "pima", "ripley-synth", "segment", "winequality-white")
    yield from (one for one in datasets() if one[0] in names)


def local(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[dict[str, Any]]:
    """Yield plain, Mondrian, programme and randomly localised regions, with the coverage of the worst slab.

    Localised: Hore and Barber 2023, with a Gaussian kernel on standardised features, whose width gives about
    this number of effective calibration rows. Mondrian and programme: quarters of the largest probability,
    and of the first two principal components, cut on the proper training part.
    """
    base, found = classifiers()["logistic regression"], Means()
    held: dict[str, list[np.ndarray]] = defaultdict(list)
    rows = []
    for train, test, seed in splits(y, number):
        rng = np.random.default_rng(seed)
        model = Conformal(base, calibration=CALIBRATION, random_state=seed).fit(X[train], y[train])
        labels = codes_of(model, y[test])
        (known,) = model._calibration_parts(codes_of(model, y[train]), None, model._generator("fit"))
        proper = np.setdiff1d(np.arange(len(train)), known)
        part, at = model.fitted_[0], np.arange(len(known))
        scaler = StandardScaler().fit(X[train][proper])
        Z, C, T = (scaler.transform(one) for one in (X[train][proper], X[train][known], X[test]))
        axes = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:2].T
        scores, new = (model._scores(part, one, np.zeros(len(one)))[0] for one in (X[train][known], X[test]))
        inside = model._scores(part, X[train][proper], np.zeros(len(proper)))[0]
        own = scores[at, codes_of(model, y[train][known])]

        def columns(Z, scores, axes=axes):
            return np.column_stack([1 - scores.min(axis=1), Z @ axes])

        parts = [columns(*one) for one in ((Z, inside), (C, scores), (T, new))]
        cuts = [np.quantile(column, [0.25, 0.5, 0.75]) for column in parts[0].T]
        bins = [
            np.column_stack([np.searchsorted(cut, column) for cut, column in zip(cuts, one.T, strict=True)])
            for one in parts[1:]
        ]
        regions = {"plain": region_of(model, X[test])}
        same = bins[0][:, :1].T == bins[1][:, :1]
        regions["Mondrian by confidence"] = weighted(own, new, same.astype(float), np.ones(len(test)))
        from confml.methods.conformal.quantile_programme import group_threshold

        patterns, which = np.unique(bins[1], axis=0, return_inverse=True)
        known_bins = [set(column.tolist()) for column in bins[0].T]
        bound = [
            group_threshold(own, bins[0], one, LEVEL)
            if all(b in known for b, known in zip(one.tolist(), known_bins, strict=True)) else math.inf
            for one in patterns
        ]  # fmt: skip
        regions["programme"] = new <= np.array(bound)[which.reshape(-1)][:, None]
        for rows_wanted in (30, 100):
            width = width_of(Z, rows_wanted / max(len(known), rows_wanted + 1))
            centre = T + width * rng.normal(size=T.shape)
            weights = np.exp(-((C[None] - centre[:, None]) ** 2).sum(axis=2) / (2 * width**2))
            mine = np.exp(-((T - centre) ** 2).sum(axis=1) / (2 * width**2))
            regions[f"localised, {rows_wanted} rows"] = weighted(own, new, weights, mine)
        for name, region in regions.items():
            found.add(name, region, labels)
            covered = region[np.arange(len(test)), labels] & (labels >= 0)
            held[name].append(covered)
        rows.append(T)
    for row in found.rows():
        slab = worst_slab(np.vstack(rows), np.concatenate(held[row["form"]]))
        share = "" if slab is None or not slab.rows else round(slab.covered / slab.rows, 4)
        yield {**row, "worst_slab_coverage": share}


def width_of(Z: np.ndarray, share: float) -> float:
    """Return the width of a kernel whose weights on rows Z, around a row, have about this mean share."""
    some = Z[:200]
    squares = ((some[:, None] - Z[None]) ** 2).sum(axis=2)
    low, high = 1e-3, 1e3
    for _ in range(40):
        middle = math.sqrt(low * high)
        weights = np.exp(-squares / (2 * middle**2))
        effective = (weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)).mean() / len(Z)
        low, high = (low, middle) if effective > share else (middle, high)
    return middle


def weighted(own: np.ndarray, new: np.ndarray, weights: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """Return regions (n, c) of weighted p-values; weights (n, m) of calibration rows, mine (n,)."""
    above = own[None, None] >= new[:, :, None] - 1e-12
    p = ((above * weights[:, None]).sum(axis=2) + mine[:, None]) / (weights.sum(axis=1) + mine)[:, None]
    return p > LEVEL


class Study(NamedTuple):
    """A study. about: for readers. datasets: selects data sets. forms: yields rows. draw: its figure.
    splits: random splits of a data set, fewer of more than 2,000 rows. largest: number of rows."""

    about: str
    forms: Callable[..., Iterator[dict[str, Any]]]
    datasets: Callable[[Callable[[], Iterable]], Iterable] = lambda known: known()
    draw: Callable[[list[dict[str, Any]], Path], None] | None = None
    splits: int = 8
    largest: int = 7000


STUDIES = {
    "folds": Study("Logistic regression, data sets below 1,000 rows.", folds, small),
    "noise": Study("k-NN with k = 15; the error is of the true labels.", noise, noisy_sets, draw_noise),
    "choice": Study("chosen: share of p-values that are of the method.", choice, largest=60_000),
    "alike": Study(
        "30 simulated methods that are equally good, 20 calibration rows, level 0.2.",
        alike,
        lambda known: [("simulated", np.empty((20, 0)), np.arange(20) % 3)],
    ),
    "local": Study(
        "Logistic regression; coverage of the worst slab, all splits together.", local, slabs_sets
    ),
    "costs": Study("Logistic regression; half of the training rows calibrate.", costs, splits=4),
}
