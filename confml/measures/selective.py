"""The reject option: sure correct, sure incorrect and unsure at thresholds, and areas over all thresholds."""

from __future__ import annotations

from collections.abc import Iterator

from confml.measures._case import Case, Measure, Row
from confml.measures.metrics import HIGHER, LOWER, Metric
from confml.measures.rejection import sureness

_SOURCE = "Krzanowski et al. 2006"
AREAS = ("augrc", "aurc", "e_aurc", "auroc_correct")


def _compute(case: Case) -> Iterator[Row]:
    """Yield the metrics; accepted predictions are sure, rejected ones unsure. The level is the threshold."""
    curve = case.curve
    areas = dict.fromkeys(AREAS, float("nan")) if curve is None else curve.areas()
    for name in AREAS:
        yield Row(name, None, areas[name])
    for threshold in case.thresholds:
        found = sureness(case.accepted(threshold), case.correct)
        yield Row("sure_correct", threshold, found.correct)
        yield Row("sure_incorrect", threshold, found.incorrect)
        yield Row("unsure", threshold, found.unsure)
        yield Row("expected_loss", threshold, found.expected_loss())


MEASURE = Measure(
    metrics={
        "augrc": Metric(
            "area under the generalised risk-coverage curve, 0 (best) to 1/2; compare methods by this area",
            LOWER,
            "integral of the generalised risk #{accepted and wrong} / n over the coverage",
            "Traub et al. 2024",
        ),
        "aurc": Metric(
            "area under the risk-coverage curve: mean selective risk over all coverages",
            LOWER,
            "integral of the selective risk #{accepted and wrong} / #{accepted} over the coverage",
            "Geifman and El-Yaniv 2017",
        ),
        "e_aurc": Metric(
            "excess aurc: aurc minus that of the best order of the same predictions, 0 at best",
            LOWER,
            "aurc - aurc of the order that accepts all correct predictions first",
            "Geifman, Uziel and El-Yaniv 2019",
        ),
        "auroc_correct": Metric(
            "probability that a correct prediction is more confident than a wrong one",
            HIGHER,
            "P(confidence of a correct > of a wrong prediction) + P(equal) / 2",
            "Hendrycks and Gimpel 2017",
        ),
        "sure_correct": Metric(
            "share of test examples accepted at the threshold and predicted correctly",
            HIGHER,
            "#{accepted and correct} / n",
            _SOURCE,
        ),
        "sure_incorrect": Metric(
            "share of test examples accepted at the threshold and predicted wrongly",
            LOWER,
            "#{accepted and wrong} / n",
            _SOURCE,
        ),
        "unsure": Metric(
            "share of test examples rejected at the threshold", LOWER, "#{rejected} / n", _SOURCE
        ),
        "expected_loss": Metric(
            "mean loss at the threshold: 2 for sure incorrect, -1 for sure correct, 0 for unsure",
            LOWER,
            "2 sure_incorrect - sure_correct",
            _SOURCE,
        ),
    },
    compute=_compute,
)
