"""Confidence from posterior draws: reject, envelope, posterior, exceedance and the parts of the entropy."""

import numpy as np
import pytest
from reference.posterior import summary_of_draws

from confml.measures import chains, evaluate
from confml.measures.chains import effective_sample_size, split_rhat
from confml.measures.posterior import ENTROPIES, Summary, effective_draws, few_draws, posterior_views
from confml.measures.prediction import Prediction
from confml.measures.rejection import curve_of

CLASSES = np.array(["a", "b", "c"])


def random_draws(s=23, n=17, c=3, seed=0):
    """Draws with ties of classes and probabilities of 0 and 1."""
    rng = np.random.default_rng(seed)
    draws = rng.dirichlet(np.ones(c), (s, n))
    draws[:, 0] = np.eye(c)[0]
    draws[::2, 1] = 1 / c
    draws[:, 2, :2], draws[:, 2, 2] = 0.5, 0.0
    return draws


@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_a_loop_over_draws(weighted):
    draws = random_draws()
    weights = np.random.default_rng(1).random(len(draws)) if weighted else None
    summary = Summary.of_draws(draws, weights, exceeding=0.4)
    shares = np.ones(len(draws)) if weights is None else weights
    expected = summary_of_draws(draws.tolist(), shares.tolist(), 0.4)
    names = ("mean", "sd", "envelope", "exceedance", "entropies")
    for name, value in zip(names, expected, strict=True):
        np.testing.assert_allclose(getattr(summary, name), value, rtol=0, atol=1e-11, err_msg=name)


def test_the_papers_example_of_reject_and_envelope():
    """p ~ N(0.6, 0.1^2) gives reject 0.600, and envelope and exceedance 0.841."""
    p = np.random.default_rng(3).normal(0.6, 0.1, 200_000)
    summary = Summary.of_draws(np.column_stack([p, 1 - p])[:, None, :])
    assert summary.mean[0, 0] == pytest.approx(0.6, abs=1e-3)
    assert summary.envelope[0, 0] == pytest.approx(0.841, abs=3e-3)
    assert summary.exceedance[0, 0] == pytest.approx(0.841, abs=3e-3)
    views = posterior_views(np.array([0, 1]), summary)
    assert views["posterior"].confidence[0] == pytest.approx(0.841, abs=3e-3)


def test_equal_shares_are_equal_in_any_order_of_the_draws():
    """A sum of 57 weights 1/60 depends in its last digit on where they are; a share of all draws is 1."""
    rng = np.random.default_rng(5)
    firsts = np.array([rng.permutation(60) < 57 for _ in range(40)] + [np.ones(60, dtype=bool)])
    draws = np.stack([firsts.T, ~firsts.T], axis=2).astype(float) * 0.8 + 0.1
    summary = Summary.of_draws(draws)
    assert len(np.unique(summary.envelope[:40, 0])) == 1
    assert summary.envelope[40, 0] == 1.0
    accepted = posterior_views(np.array([0, 1]), summary)["envelope"].accepted(1.0)
    assert accepted.tolist() == [False] * 40 + [True]


def test_exceedances_are_accepted_by_their_share_and_ordered_by_the_mean():
    shares = np.array([[0.7, 0.3], [0.7, 0.3], [0.9, 0.1], [0.7, 0.3]])
    mean = np.array([[0.55, 0.45], [0.65, 0.35], [0.6, 0.4], [0.55, 0.45]])
    extra = {"mean": mean[:, 0]}
    view = Prediction(np.array([0, 1]), shares, "exceedance", extra=extra)
    np.testing.assert_array_equal(view.confidence, [0.7, 0.7, 0.9, 0.7])
    assert view.accepted(0.7).all()  # a margin would be 0.4
    np.testing.assert_array_equal(view.accepted(0.8), [False, False, True, False])
    assert np.argsort(-view.certainty, kind="stable").tolist() == [2, 1, 0, 3]
    np.testing.assert_allclose(view.certainty, view.confidence, atol=1e-7)
    curve = curve_of(view, [0, 1, 0, 0])
    np.testing.assert_array_equal(curve.accepted, [0, 1, 2, 4])  # the last two are equal in both
    assert not view.has_regions
    with pytest.raises(ValueError, match="exceedances have no prediction regions"):
        view.region(0.1)


def test_views_of_entropies_order_examples_by_them():
    draws = random_draws()
    views = posterior_views(CLASSES, Summary.of_draws(draws), with_entropies=True)
    assert list(views)[4:] == ["total-entropy", "expected-entropy", "mutual-information"]
    reject, truth = views["reject"], CLASSES[np.arange(17) % 3]
    metrics = {row.metric: row.value for row in evaluate(reject, truth)}
    for name in ENTROPIES:
        view = views[name.replace("_", "-")]
        np.testing.assert_array_equal(view.labels, reject.labels)
        np.testing.assert_allclose(view.confidence, 1 - reject.extra[name] / np.log(3), atol=1e-12)
        assert metrics[name] == pytest.approx(reject.extra[name].mean())
    total = reject.extra["expected_entropy"] + reject.extra["mutual_information"]
    np.testing.assert_allclose(total, reject.extra["total_entropy"], atol=1e-12)
    assert reject.extra["mutual_information"].min() >= 0
    assert "total_entropy" in reject.to_frame()


def test_effective_draws():
    assert effective_draws(np.full(40, 0.025)) == pytest.approx(40)
    assert effective_draws(np.array([1.0, 0.0, 0.0])) == 1
    assert list(few_draws(50)) == []
    assert "20 effective draws" in next(iter(few_draws(20)))


def test_initial_monotone_sequence_is_its_definition():
    """Geyer's, of an autocorrelation."""
    pairs = np.array([[3.0, 1.0, -1.0], [4.0, 0.5, 2.0], [1.0, 0.0, 2.0], [-1.0, 0.2, 2.0], [2.0, 0.1, 2.0]])
    expected = np.zeros_like(pairs)
    for column, values in enumerate(pairs.T):
        for row in range(len(values)):
            if (values[: row + 1] > 0).all():
                expected[row, column] = values[: row + 1].min()
    np.testing.assert_array_equal(chains.initial_monotone_sequence(pairs), expected)


def test_independent_draws():
    draws = np.random.default_rng(0).standard_normal((4, 5000))
    assert split_rhat(draws) == pytest.approx(1.0, abs=0.002)
    assert effective_sample_size(draws) == pytest.approx(20_000, rel=0.1)
    assert split_rhat(draws + np.arange(4)[:, None]) > 1.4
    assert split_rhat(draws + np.linspace(0, 3, 5000)) > 1.1  # all drift alike: halves differ


def test_an_autoregression():
    """The sample size of x_t = 0.9 x_{t-1} + noise is (1 - 0.9) / (1 + 0.9) of its length."""
    rng = np.random.default_rng(1)
    draws = np.zeros((4, 20_000))
    for t in range(1, draws.shape[1]):
        draws[:, t] = 0.9 * draws[:, t - 1] + rng.standard_normal(4)
    assert effective_sample_size(draws) == pytest.approx(80_000 / 19, rel=0.12)


def test_constant_chains():
    assert split_rhat(np.ones((2, 10))) == 1.0
    assert effective_sample_size(np.ones((2, 10))) == 20
    stuck = np.repeat([[1.0], [2.0]], 10, axis=1)
    assert split_rhat(stuck) == np.inf
    assert effective_sample_size(stuck) == 2  # a chain counts as one draw, as it does when it hardly moves
    moving = stuck[:, :1] + 1e-6 * np.random.default_rng(0).normal(size=(2, 2000))
    assert effective_sample_size(moving) == pytest.approx(2, rel=0.01)
    assert np.isnan(split_rhat(np.ones((2, 3))))
    diagnostics = chains.ChainDiagnostics({"k": stuck}, {"small": np.array([0.0, 0.001])})
    assert len(diagnostics.warnings()) == 3
