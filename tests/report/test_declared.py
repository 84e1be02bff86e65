"""Every metric is declared with its better direction, and ranks follow the declaration."""

import numpy as np
import pytest
from report.report_cases import entry, figure, result_of, run_by_hand

from confml import KNN, Conformal
from confml.config import make_config as config_of
from confml.errors import ConfmlError
from confml.measures import Context, evaluate, known_metrics
from confml.measures.costs import costs_of
from confml.measures.prediction import ENTROPIES, Prediction
from confml.methods import registry
from confml.methods._template import NearestMean
from confml.report.answers.datasets import ranking
from confml.report.declared import declared_metrics
from confml.report.figures import FIGURES, check_figure
from confml.report.write import write_report
from confml.steps.registry import known_steps

CHAINS = {"inference": "mcmc", "chains": 2, "burn_in": 50, "samples": 50, "thin": 1, "random_state": 0}
ADAPTIVE = CHAINS | {"model": "adaptive"}
FEWER = {"n_bounces": 200, "random_state": 0}
# Parameters of methods that together report all of their quantities; others report them by default.
VARIANTS = {
    "bayes-knn": [{}, CHAINS, ADAPTIVE, ADAPTIVE | {"proposal": "paper"}],
    "bayes-transduction": [FEWER, FEWER | {"sampler": "chord"}],
    "bayes-point-machine": [FEWER, FEWER | {"sampler": "chord"}],
    "kernel-svm": [{}, {"bias": False}],
}


METHODS = {**registry.methods.known(), NearestMean.name: NearestMean}


def examples():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 3)) + 4.0 * y[:, None], y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({*METHODS} - {"external"}))
def test_a_method_declares_exactly_what_it_reports(name):
    cls = METHODS[name]
    X, y = examples()
    emitted = set()
    for params in VARIANTS.get(name, [{}]):
        method = cls(**params).fit(X, y)
        method.predict(X)  # weights for a test part are learnt from it
        emitted |= set(method.fit_metrics_)
    assert emitted == set(cls.metrics)


def test_the_conformal_wrapper_and_scikit_learn_declare_what_they_report():
    X, y = examples()
    emitted = set()
    selection = {"best_of": [KNN(k=k) for k in range(2, 11)]}
    for parameters in ({}, {"shift": "covariate"}, {"shift": "label"}, selection):
        method = Conformal(KNN(), **parameters).fit(X, y)
        method.predict(X)
        emitted |= set(method.fit_metrics_)
    assert emitted == set(Conformal.metrics)
    with_linear = Conformal(registry.build("linear-svm")).fit(X, y)
    assert set(with_linear.fit_metrics_) - set(Conformal.metrics) == {"training_error", "weight_norm"}
    forest = registry.build("sklearn.naive_bayes.GaussianNB").fit(X, y)
    assert forest.fit_metrics_ == {}


@pytest.mark.parametrize("name", known_steps())
def test_a_step_declares_exactly_what_it_reports(name):
    X, y = examples()
    settings = {"attributes": 1} if name == "select-by-bayes-error" else {}
    step = known_steps()[name](**settings)
    step.fit_training(X, y, np.random.default_rng(0))
    assert set(step.fit_metrics_) == set(step.metrics)
    declared = {metric.name for metric in declared_metrics()}
    assert {f"{name}.{quantity}" for quantity in step.metrics} <= declared


def test_every_metric_of_a_prediction_is_declared():
    classes, truth = np.array([0, 1]), np.array([0, 1, 2, 0])
    p = np.array([[0.9, 0.1], [0.2, 0.6], [0.3, 0.4], [0.5, 0.5]])
    counts = {"n_greater": np.ones((4, 2), int), "n_equal": np.ones((4, 2), int), "learnt": np.arange(4)}
    emitted = set()
    costs = costs_of({"matrix": {"0": {"1": 1}, "1": {"0": 5}}, "abstain": 1})
    context = Context(5, {0: 3, 1: 2}, costs=costs)
    bounds = {"lower": p - 0.1, "upper": p + 0.1} | {name: p[:, 0] for name in ENTROPIES}
    for kind, extra in (("p-value", counts), ("probability", bounds), ("margin", {})):
        view = Prediction(classes, p, kind, extra=extra)
        emitted |= {row.metric for row in evaluate(view, truth, (0.05,), (0.9,), context)}
    assert emitted == set(known_metrics())


def test_every_metric_of_predictions_and_reports_has_a_formula_and_a_source():
    of_reports = [declared for declared in declared_metrics() if not declared.owner]
    assert len(of_reports) > 50
    assert all(declared.metric.formula and declared.metric.source for declared in of_reports)


# ---- ranks


def ranked_run(**config):
    """Two data sets on which ``knn`` has lower p-values of wrong labels with k = 1 than with k = 2."""

    def predict(cell):
        low = (0.1, 0.4)[cell.params["k"] - 1]
        view = Prediction(np.array([0, 1, 2]), np.array([[0.9, low, low / 2]]), "p-value")
        return result_of(cell, view, [0], fit_metrics={"rhat": 1 + low, "rank": low})

    method = entry("knn", sweep={"k": [1, 2]})
    return run_by_hand([method], predict, ["a", "b"], classes=3, **config)


@pytest.mark.parametrize(
    "metric",
    ["sum_of_p", "unconfidence", "fuzziness", "observed_unconfidence", "observed_fuzziness", "rhat"],
)
def test_the_smaller_is_ranked_first_where_lower_is_better(metric):
    ranks = ranking(ranked_run(), metric)
    assert ranks.scores.iloc[0, 0] < ranks.scores.iloc[0, 1]
    assert ranks.comparison.mean_ranks.tolist() == [1.0, 2.0]


def test_a_metric_without_a_better_direction_is_left_out_with_a_note(tmp_path):
    run = ranked_run(figures=(figure("ranks", metric="rank"), figure("ranks", metric="trees")))
    with pytest.raises(ConfmlError, match="'rank' cannot be ranked: neither higher nor lower is better"):
        ranking(run, "rank")
    write_report(run, tmp_path)
    notes = (tmp_path / ".run/notes.txt").read_text(encoding="utf-8")
    assert "metric 'rank' cannot be ranked" in notes and "no metric 'trees' is declared" in notes
    assert {path.stem for path in tmp_path.glob("tables/ranks*")} == {"ranks-error"}
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize(
    ("metric", "message"),
    [("coverage", "cannot be ranked"), ("fuzzines", "no metric 'fuzzines' is declared.*mean 'fuzziness'")],
)
def test_a_config_that_ranks_by_such_a_metric_is_refused(metric, message):
    document = {"datasets": ["iris"], "methods": ["knn"], "protocol": "holdout"}
    figures = [{"ranks": {"metric": metric}}]
    with pytest.raises(ConfmlError, match=message):
        config_of(document | {"figures": figures}, figures=FIGURES, check_figure=check_figure)
    figures = [{"ranks": {"metric": "fuzziness"}}]
    config_of(document | {"figures": figures}, figures=FIGURES, check_figure=check_figure)
