"""Configs that several tests use, and the messages of those that are wrong."""

from pathlib import Path

import pytest

from confml.errors import ConfigErrors

BROKEN = Path(__file__).parent / "configs" / "broken"
FIGURES, TABLES = ["error-against"], ["tcm-nn-table1", "tcm-nn-table3"]
GOOD = {"name": "good", "datasets": ["wine"], "methods": ["knn"], "protocol": "fixed-split"}
FULL = """\
# everything that a config can say
name: full
about: 2024-05-01, at 10:30
datasets:
  - wine
  - {name: again, card: iris}
  - {name: mine, csv: small.csv, label: y, test: ./new.csv, ignore: id, nominal: [colour],
     groups: site, missing: drop, separator: "\\t", encoding: latin-1}
  - {generate: two-gaussians, n: 250, test-n: 10, distance: 2}
steps: [row-standardise, {name: standardise}, min-max: ]
noise: {labels: 0.1, on: train}
methods:
  - {name: knn, k: 1, label: 1-NN}
  - {name: knn, sweep: {k: [3, 5..7, {log2: [3, 5]}]}}
  - name: sklearn.linear_model.LogisticRegression
    max-iter: 200
    tune: {C: {log2: [-2, 2, 2]}, fit_intercept: [true, false]}
    select-by: ari
protocol: {kind: k-fold, folds: 5, repeats: 2, inner-folds: 3, stratify: false}
levels: [1e-2, .05]
thresholds: [0.9]
figures: [error-against, {name: error-against, view: p-value}, error-against: {view: vote}]
seed: 012
paper: tcm-nn-table3
"""


def write(folder, text, name="config.yaml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def messages(call, *arguments, **options):
    with pytest.raises(ConfigErrors) as caught:
        call(*arguments, **options)
    return str(caught.value).splitlines()


def base(**changes):
    return {**GOOD, **changes}
