"""Average precision of the ranking of label errors, and cleanlab's: ten data sets with 10 % wrong labels."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from _pairs import Row, Skipped

from confml.data import load
from confml.data.label_errors import label_evidence
from confml.data.noise import apply_noise
from confml.errors import ConfmlError

SETS = (
    *("wine-sklearn", "iris", "heart", "sonar", "ionosphere", "new-thyroid", "pima", "vehicle"),
    *("wisconsin", "breast-cancer"),
)
SHARE, SEEDS, FOLDS = 0.1, range(1, 11), 5


def _with_errors(name: str, seed: int):
    """Return a data set with wrong labels, and (n,) bool which labels these are."""
    import dataclasses

    try:
        data = load({"name": name})
    except ConfmlError as error:
        raise Skipped(str(error)) from None
    _, y = apply_noise(data.X, data.y, {"labels": SHARE}, np.random.default_rng(seed))
    return dataclasses.replace(data, y=y), y != data.y


def _cleanlab(X: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return cleanlab's label quality (n,) with out-of-fold probabilities of two classifiers."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    codes = np.unique(y, return_inverse=True)[1]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    found = []
    for kind in (RandomForestClassifier(random_state=seed), LogisticRegression(max_iter=300)):
        model = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), kind)
        p = cross_val_predict(model, X, codes, cv=folds, method="predict_proba")
        found.append(get_label_quality_scores(codes, p))
    return found


def bench_label_errors() -> list[Row]:
    """Average precision of confml's ranking and of the better one of cleanlab's, means over draws."""
    if importlib.util.find_spec("cleanlab") is None:
        raise Skipped("cleanlab is not installed (pip install 'confml[bench]')")
    from sklearn.metrics import average_precision_score

    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in SETS:
            found = []
            for seed in SEEDS:
                data, wrong = _with_errors(name, seed)
                evidence = label_evidence(data)
                score = np.empty(len(data))
                score[evidence.rows] = -evidence.p_label
                scores = [score, *(-one for one in _cleanlab(data.X, data.y, seed))]
                found.append([average_precision_score(wrong, one) for one in scores])
            ours, *others = np.mean(found, axis=0).tolist()
            best = 1 + int(np.argmax(others))
            low, high = _interval(np.array([draw[0] - draw[best] for draw in found]))
            columns = _columns(ours, *others) | {
                "difference": f"{ours - max(others):+.3f} ({low:+.3f} to {high:+.3f})"
            }
            notes = {"unit": "average precision", "all": [ours, *others], "columns": columns}
            rows.append((name, ours, max(others), ours / max(others), notes))
    ours, *others = np.mean([row[4]["all"] for row in rows], axis=0).tolist()
    difference = float(np.mean([row[1] - row[2] for row in rows]))
    notes = {"unit": "average precision", "goal": 1.0}
    notes["columns"] = _columns(ours, *others) | {"difference": f"{difference:+.3f}"}
    return [*rows, ("mean of ten", ours, ours - difference, ours / (ours - difference), notes)]


def _columns(*means: float) -> dict[str, str]:
    names = ("confml", "cleanlab, forest", "cleanlab, logistic regression")
    return {name: f"{mean:.3f}" for name, mean in zip(names, means, strict=True)}


def _interval(differences: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences (n,), by the t distribution."""
    from scipy.stats import t

    half = t.ppf(0.975, len(differences) - 1) * differences.std(ddof=1) / len(differences) ** 0.5
    return differences.mean() - half, differences.mean() + half


BENCHMARKS = [bench_label_errors]
