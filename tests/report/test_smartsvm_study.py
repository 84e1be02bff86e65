"""The SmartSVM study: its configs, and the published tables, ranks and trees of a small run."""

import numpy as np
import pandas as pd
import pytest
from report.report_cases import computed
from scipy.stats import rankdata

from confml.methods.details import ClassTreeNode
from confml.published import known_tables
from confml.report.answers.datasets import ranking
from confml.report.numbers.outcomes import node_error
from confml.report.run.stored import open_run
from confml.report.tables.ranks import published_ranks

DATASETS = ("yeast", "letter", "flare")
STUDY = """
name: study
datasets:
  - {name: yeast, csv: yeast.csv, label: y}
  - {name: letter, csv: letter.csv, label: y}
  - {name: flare, csv: flare.csv, label: y}
steps: [min-max]
methods:
  - {name: ovo-svm, solver: dual, label: cold, tune: {C: [0.5, 2]}}
  - {name: ovo-svm, solver: primal, label: warm, tune: {C: [0.5, 2]}}
  - {name: smart-svm, solver: primal, share-tree: true, tune: {C: [0.5, 2]}}
  - {name: gen-svm, tune: {ridge: [0.25, 0.125]}}
protocol: {kind: holdout, repeats: 2, inner-folds: 3}
figures: [{ranks: {metric: ari}}, {ranks: {metric: training_seconds}}, class-tree]
paper: {table: [TABLES]}
seed: 1
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    tables = [name for name in known_tables() if name.startswith("smartsvm")]
    for seed, name in enumerate(DATASETS):
        rng = np.random.default_rng(seed)
        y = np.arange(80) % 5
        X = rng.normal(size=(5, 3))[y] + 0.5 * rng.normal(size=(80, 3))
        pd.DataFrame(X.round(4), columns=list("abc")).assign(y=y).to_csv(folder / f"{name}.csv", index=False)
    out = computed(folder, STUDY.replace("TABLES", ", ".join(tables)))
    return open_run(out), out


def numbers(study, name):
    """The numbers of confml in a table by data set, variant and quantity."""
    table = pd.read_csv(study[1] / "tables" / f"smartsvm-{name}.csv").fillna({"variant": ""})
    return table.set_index(["dataset", "variant", "quantity"])["confml"]


def test_performance_and_times_are_those_of_the_run(study):
    results, _ = study
    means = {
        (row.dataset, row.method, row.view, row.params.get("solver")): row.mean
        for row in results.summary
        if row.metric == "ari"
    }
    printed = numbers(study, "table3-adjusted-rand-index")
    seconds = numbers(study, "table2-total-training-seconds")
    seconds_each = numbers(study, "table4-seconds-per-configuration")
    for name in DATASETS:
        for column, method in (
            (("", "ovo"), ("ovo-svm", "vote", "primal")),
            (("cold dual", "ovo"), ("ovo-svm", "vote", "dual")),
            (("", "smartsvm"), ("smart-svm", "margin", "primal")),
            (("", "gensvm"), ("gen-svm", "margin", None)),
        ):
            assert printed[name, *column] == pytest.approx(means[name, *method])
        cold = [
            result.views.fit_seconds + result.tuning["seconds"]
            for result in results.finished()
            if result.cell.dataset == name and result.cell.params.get("solver") == "dual"
        ]
        assert seconds[name, "", "ovo"] == pytest.approx(np.mean(cold), abs=1e-9)
        assert seconds_each[name, "", "ovo"] == pytest.approx(np.mean(cold) / 2, abs=1e-9)


def test_a_configurations_share_holds_the_whole_preprocessing(study):
    results, _ = study
    expected = {}
    for result in results.finished():
        if result.cell.method == "smart-svm":
            assert 0 < result.views.prepare_seconds < result.views.fit_seconds
            rest = result.views.fit_seconds + result.tuning["seconds"] - result.views.prepare_seconds
            expected.setdefault(result.cell.dataset, []).append(rest / 2 + result.views.prepare_seconds)
        elif result.cell.method == "gen-svm":
            assert result.views.prepare_seconds == 0
    table4 = numbers(study, "table4-seconds-per-configuration").dropna()
    shares = table4.xs(("warm primal", "smartsvm"), level=("variant", "quantity")).to_dict()
    assert shares == {name: pytest.approx(np.mean(values), abs=1e-9) for name, values in expected.items()}
    ranked = ranking(results, "seconds_per_configuration")
    column = ranked.scores["smart-svm solver=primal share_tree=true"]
    assert dict(zip(ranked.datasets, column, strict=True)) == pytest.approx(shares, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "is_bold"), [("table3-adjusted-rand-index", True), ("table2-total-training-seconds", False)]
)
def test_the_best_number_of_a_row_is_bold_unless_grids_differ(study, name, is_bold):
    lines = (study[1] / f"tables/smartsvm-{name}.md").read_text(encoding="utf-8").splitlines()
    assert all("**" in line for line in lines if "| paper" in line)
    assert any("**" in line for line in lines if "| confml" in line) == is_bold


def test_ranks_over_the_data_sets(study):
    results, folder = study
    ranks = ranking(results, "ari")
    assert ranks.labels[:2] == ["cold", "warm"] and ranks.scores.shape == (3, 4)
    text = (folder / "tables" / "ranks-ari.md").read_text(encoding="utf-8")
    assert "Friedman" in text and "Nemenyi" in text and "Wilcoxon" in text
    for metric in ("ari", "training-seconds"):
        assert (folder / "figures" / f"ranks-{metric}.svg").is_file()
    assert ranking(results, "ari", without="cold").labels == ranks.labels[1:]
    assert ranking(results, "ari", skip="lett").datasets == ["yeast", "flare"]
    times = ranking(results, "training_seconds")
    fastest = times.scores.to_numpy().argmin(axis=1)
    assert (times.comparison.ranks[range(3), fastest] == 1).all()


def test_the_papers_own_ranks_stand_beside_ours(study):
    results, folder = study
    ranks = ranking(results, "ari")
    printed = known_tables()["smartsvm-table3-adjusted-rand-index"].rows()
    columns = ["ovo", "smartsvm", "gensvm"]  # those of the primal solver, and GenSVM
    expected = rankdata([[-float(row[column]) for column in columns] for row in printed], axis=1).mean(axis=0)
    theirs = published_ranks(results, ranks)
    assert theirs.datasets == 16
    assert theirs.mean_ranks == pytest.approx(dict(zip(ranks.labels[1:], expected, strict=True)))
    text = (folder / "tables" / "ranks-training_seconds.md").read_text(encoding="utf-8")
    assert "cold 2" in text.partition("its points: ")[2].partition("\n")[0]


def test_the_error_of_a_node_by_hand():
    left = ClassTreeNode((1, 2), 0.2, ClassTreeNode((1,)), ClassTreeNode((2,)))
    tree = ClassTreeNode((1, 2, 3), 0.1, left, ClassTreeNode((3,)))
    truth, labels = [1, 1, 2, 3, 3, 2], [1, 2, 2, 3, 1, 3]
    assert node_error(tree, truth, labels) == (2 / 6, 6)
    assert node_error(left, truth, labels) == (1 / 3, 3)
