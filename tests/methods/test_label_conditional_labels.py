"""Label-conditional p-values predict well when a class has few examples."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import confml
from confml import TCMNN, Conformal
from confml.cli import cli


def error(method, stray: int) -> float:
    """Return the error on new rows of two classes, after training with ``stray`` rows of a third."""
    rng = np.random.default_rng(0)
    y, t = rng.integers(0, 2, 600), rng.integers(0, 2, 1000)
    X, T = rng.normal(size=(600, 4)), rng.normal(size=(1000, 4))
    X[:, 0] += 3.4 * y
    T[:, 0] += 3.4 * t
    X = np.vstack([X, rng.normal(size=(stray, 4)) + [20, 0, 0, 0]])
    labels = method.fit(X, np.append(y, np.full(stray, 9))).confident_predict(T)["p-value"].labels
    return float(np.mean(labels != t))


@pytest.mark.parametrize("stray", [1, 3, 10])
@pytest.mark.parametrize(
    "method",
    [
        lambda: TCMNN(mondrian=True),
        lambda: Conformal(GaussianNB(), mondrian=True, random_state=1),
        lambda: Conformal(GaussianNB(), by="label", random_state=1),
    ],
    ids=["tcm-nn", "mondrian", "by label"],
)
def test_stray_rows_of_a_class_do_not_change_the_error(method, stray):
    assert error(method(), stray) == pytest.approx(error(method(), 0), abs=0.02)


def errors(X, y, train_size: int, seeds: int) -> np.ndarray:
    """Return errors of TCM-NN in percent: labels of label-conditional p-values, of marginal ones, and the
    labels with the largest label-conditional p-value."""
    wrong = []
    for seed in range(seeds):
        train, new, labels, truth = train_test_split(
            X, y, train_size=train_size, random_state=seed, stratify=y
        )
        models = [TCMNN(mondrian=mondrian).fit(train, labels) for mondrian in (True, False)]
        views = [model.confident_predict(new)["p-value"] for model in models]
        largest = views[0].classes[views[0].scores.argmax(axis=1)]
        wrong.append([np.mean(found != truth) for found in (views[0].labels, views[1].labels, largest)])
    return 100 * np.mean(wrong, axis=0)


def test_digits_have_the_error_of_marginal_p_values():
    X, y = load_digits(return_X_y=True)
    assert errors(X, y, 540, 5).round(2).tolist() == [2.2, 2.21, 3.12]


def test_unequal_classes_have_the_error_of_marginal_p_values():
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(8), [200, 160, 120, 100, 80, 60, 40, 20])
    X = 1.63 * rng.normal(size=(8, 4))[y] + rng.normal(size=(len(y), 4))
    assert errors(X, y, len(y) // 2, 4).round(2).tolist() == [21.92, 21.86, 29.23]


@pytest.mark.parametrize("stray", [1, 3])
@pytest.mark.parametrize(
    "options",
    [["--method", "tcm-nn"], ["--method", "naive-bayes", "--conformal", "split"]],
    ids=["tcm-nn", "naive-bayes"],
)
def test_predict_with_stray_rows(tmp_path, stray, options):
    rng = np.random.default_rng(3)
    y, t = rng.integers(0, 2, 600), rng.integers(0, 2, 1000)
    X, T = rng.normal(size=(600, 4)), rng.normal(size=(1000, 4))
    X[:, 0] += 3.4 * y
    T[:, 0] += 3.4 * t
    X = np.vstack([X, rng.normal(size=(stray, 4)) + [20, 0, 0, 0]])
    train = pd.DataFrame(X, columns=list("abcd")).assign(y=np.append(y, np.full(stray, 9)))
    new = pd.DataFrame(T, columns=list("abcd"))
    train.to_csv(tmp_path / "train.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / name) for name in ("train.csv", "new.csv", "out.csv")]
    command = ["predict", "--train", files[0], files[1], "--label", "y", "--mondrian", "--out", files[2]]
    result = CliRunner().invoke(cli, [*command, *options])
    assert result.exit_code == 0, result.output
    table = pd.read_csv(files[2])
    largest = np.array([0, 1, 9])[table[["p[0]", "p[1]", "p[9]"]].to_numpy().argmax(axis=1)]
    assert np.mean(table["prediction"] != t) < 0.09 and np.mean(largest != t) > 0.23
    keywords = dict(zip((option.strip("-") for option in options[::2]), options[1::2], strict=True))
    frame = confml.predict(train, new, label="y", mondrian=True, **keywords)
    assert np.array_equal(frame["prediction"], table["prediction"])
