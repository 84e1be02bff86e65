"""A run made by hand for the tests of reports: two data sets, four methods, all that is awkward.

``python tests/report_cases.py`` writes its report to ``tests/golden/report``, which test_report.py compares
byte for byte: do that after a change that is meant, and read the difference.
"""

import csv
import itertools
import shutil
import zlib
from pathlib import Path

import numpy as np

from confml.config import load_config
from confml.config.dataset_spec import DatasetSpec
from confml.config.method_entry import MethodEntry
from confml.config.protocol import Protocol
from confml.config.schema import Config, FigureSpec, PaperSpec
from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.report.run.cells import Failure
from confml.report.run.results import RunResults
from confml.report.run.stored import open_run
from confml.report.write import write_report
from confml.runner.manifest import DatasetInfo
from confml.runner.plan import Cell
from confml.runner.results import CellResult
from confml.runner.run import Execution, run

FOREST = "sklearn.ensemble.RandomForestClassifier"


def entry(name, params=None, sweep=None, label=None):
    """A method of a config."""
    return MethodEntry.model_construct(name=name, params=params or {}, sweep=sweep or {}, label=label)


def make_config(methods, **settings):
    """A config of methods, each an entry or a name."""
    values = {
        "name": "by-hand",
        "levels": (0.05, 0.2),
        "thresholds": (0.9,),
        "methods": [entry(method) if isinstance(method, str) else method for method in methods],
        "datasets": (),
        "protocol": Protocol(kind="holdout", repeats=2),
    }
    return Config.model_construct(**(values | settings))


def dataset(name, groups=None, **values):
    return DatasetSpec.model_construct(name=name, groups=groups, **values)


def figure(name, **options):
    return FigureSpec(name=name, options=options)


def run_by_hand(
    methods, predict, datasets=("d",), splits=1, rows=100, classes=2, failing=(), **config
) -> RunResults:
    """A run of methods: ``predict(cell)`` gives a `CellResult`; cells that ``failing`` names fail.

    datasets: names of data sets with ``rows`` and ``classes``, or facts by name. splits: their number, for
    r0, r1, .., or their names.
    """
    if not isinstance(datasets, dict):
        facts = {"rows": rows, "attributes": 2, "classes": classes}
        datasets = {name: DatasetInfo(name=name, **facts) for name in datasets}
    if isinstance(splits, int):
        splits = [f"r{number}" for number in range(splits)]
    config, cells, results, failures = make_config(methods, **config), [], {}, []
    for dataset, split, method in itertools.product(datasets, splits, config.methods):
        for swept in method.variants():
            params = {**method.params, **swept}
            text = repr((dataset, split, method.name, sorted(params.items())))
            cell = Cell(f"{zlib.crc32(text.encode()):032x}", dataset, method.name, params, split)
            cells.append(cell)
            if (dataset, method.name) in failing:
                failures.append(Failure(cell, 'ValueError: "k", too large\nfor 3 rows'))
            else:
                results[cell.key] = predict(cell)
    return RunResults(config, cells, results, failures, datasets)


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder and of all folders in it, by their relative paths."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def computed(folder: Path, text: str) -> Path:
    """Run a config, write its report, and return the folder of the run."""
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    state = run(load_config(str(folder / "c.yaml")), folder / "out", Execution(1, engine="serial"))
    assert not state.failed and not state.left
    write_report(open_run(folder / "out"), folder / "out")
    return folder / "out"


def result_of(
    cell, views, truth, *, tuning=None, train_rows=99, rows=None, train_class_counts=None, **details
):
    """A result with views by their names, or with a prediction that has the name of its kind."""
    views = {views.kind: views} if isinstance(views, Prediction) else views
    rows = np.arange(len(truth)) if rows is None else rows
    views = Views(views, **{"fit_seconds": 0.5, "predict_seconds": 0.25} | details)
    return CellResult(cell, np.asarray(truth), rows, views, tuning, train_rows, train_class_counts or {})


# ---- runs of methods that are functions of the true labels


def run_of(methods, datasets=("d",), rows=100, splits=5, train_rows=200, failing=(), **config):
    """A run of methods; each maps a cell and its true labels, 0 and 1 in turn, to (scores, kind)."""

    def predict(cell):
        truth = np.arange(rows) % 2
        scores, kind = methods[cell.method](cell, truth)
        counts = {0: train_rows // 2, 1: train_rows // 2}
        options = {"train_rows": train_rows, "train_class_counts": counts}
        seconds = 25.0 if cell.method == "slow" else 0.25
        prediction = Prediction(np.array([0, 1]), scores, kind)
        return result_of(cell, prediction, truth, fit_seconds=seconds, **options)

    return run_by_hand(methods, predict, datasets, splits, rows + train_rows, failing=failing, **config)


def errors_first(*counts, ranked=True, kind="probability"):
    """Scores with a number of errors in each split at the first rows, the least confident if ``ranked``."""

    def predict(cell, truth):
        rows = np.arange(len(truth))
        wrong = rows < counts[int(cell.split[1:]) % len(counts)]
        label = np.where(wrong, 1 - truth, truth)
        sure = np.where(wrong & ranked, 0.6, 0.9)[:, None]
        return np.where(label[:, None] == [0, 1], sure, 1 - sure), kind

    return predict


# ---- runs of random scores

SCORES_OF = {"tcm-nn": "p-value", "ovo-svm": "margin"}


def random_run(methods, datasets=("d",), splits=2, rows=40, classes=("a", "b", "c"), **config):
    """A run of methods with random scores, which are larger for the true label."""
    classes = np.array(classes)

    def predict(cell):
        of_split = np.random.default_rng([*f"{cell.dataset} {cell.split}".encode()])
        truth = of_split.integers(0, len(classes), rows)
        scores = np.random.default_rng(int(cell.key, 16)).dirichlet(np.ones(len(classes)), rows)
        scores[np.arange(rows), truth] += 0.5
        view = Prediction(classes, scores / 1.5, SCORES_OF.get(cell.method, "vote"))
        return result_of(cell, view, classes[truth], train_rows=60)

    return run_by_hand(methods, predict, datasets, splits, 60 + rows, len(classes), **config)


# ---- the run that the golden files hold

ODD = np.array(["a,b", "c|d\\", 'say "e"'])
INTEGERS = np.array([1, 2, 7])

#  region at 0.05:       1           1 2         2           -           1 2 7
P_VALUES = np.array(
    [[0.75, 0.01, 0.02], [0.5, 0.3, 0.05], [0.02, 0.25, 0.03], [0.05, 0.04, 0.01], [0.1, 0.3, 0.2]]
)
TRUTH = np.array([0, 1, 1, 0, 2])


def golden_run(**config) -> RunResults:
    methods = [
        entry("tcm-nn", sweep={"k": [10, 1]}),
        entry("knn", {"k": 1}, label="1-NN"),
        entry(FOREST, {"n_estimators": 5, "class_weight": "a;b=c/d,e"}),
        "ovo-svm",
    ]
    datasets = {
        "satimage": DatasetInfo(
            name="satimage",
            rows=10,
            attributes=36,
            classes=3,
            train_rows=5,
            test_rows=5,
            notes=("column 'id' looks like an id",),
            checksum="ab12",
        ),
        "odd, data": DatasetInfo(name="odd, data", rows=8, attributes=2, classes=3, checksum="cd34"),
    }
    failing = {("odd, data", "ovo-svm")}
    return run_by_hand(methods, golden_result, datasets, ["r2", "r10"], failing=failing, **config)


def golden_result(cell) -> CellResult:
    odd = cell.dataset == "odd, data"
    classes = ODD if odd else INTEGERS
    p, truth = P_VALUES, classes[TRUTH]
    if cell.split == "r2":
        p, truth = p[::-1], classes[TRUTH[[0, 0, 1, 2, 2]]]
    if cell.split == "r10" and odd:
        p, truth = p[:0], truth[:0]  # an empty test part
    elif cell.split == "r10":
        truth = np.array([1, 2, 3, 1, 7])  # training never saw 3
    n = len(truth)
    rows = 10 + np.arange(n)[::-1]
    if cell.method == "tcm-nn":
        view = Prediction(classes, np.minimum(p * (1 + cell.params["k"] % 2), 1), "p-value")
        return result_of(cell, view, truth, rows=rows, train_rows=18)
    shares = p / p.sum(axis=1, keepdims=True)
    if cell.method == "knn":
        scores = [
            {"params": {"weights": None}, "mean": 0.5, "sd": 0.25, "folds": [0.25, 0.75]},
            {"params": {"weights": "distance"}, "mean": None, "sd": None, "folds": [0.1, None]},
        ]
        tuning = {"chosen": {"weights": None}, "select_by": "accuracy", "scores": scores, "seconds": 1.5}
        return result_of(cell, Prediction(classes, shares, "vote"), truth, tuning=tuning)
    if cell.method == FOREST:
        sd = np.zeros(shares.shape)  # whose confidences are 0, 1/2 or 1 whatever the normal integral is
        views = {
            "reject": Prediction(classes, shares, "probability"),
            "posterior": Prediction(classes, shares, "posterior", extra={"sd": sd}),
        }
        return result_of(cell, views, truth, fit_metrics={"trees": 5, "rhat": float("nan"), "depth": 2.5})
    return result_of(cell, Prediction(classes, p - 0.2, "margin"), truth)


GOLDEN = Path(__file__).parent / "golden" / "report"
PAPER = PaperSpec(table=("tcm-nn-table1", "tcm-nn-table3"))


if __name__ == "__main__":
    shutil.rmtree(GOLDEN, ignore_errors=True)
    write_report(golden_run(paper=PAPER), GOLDEN)
    for name in (".run/report-files", "summary.json", "report.html"):  # tested by what they hold
        (GOLDEN / name).unlink()
