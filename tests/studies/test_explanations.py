"""Settings that were chosen after a number was seen: each names a printed number, and its row is stored."""

from pathlib import Path

import pytest

from confml.studies.reproduction import SOURCES, Outcome, published_numbers
from confml.studies.reproduction.claims import explanations
from confml.studies.reproduction.numbers import REPRODUCED
from confml.studies.reproduction.reasons import read_reasons

REFERENCE = Path(__file__).parents[2] / "results" / "reference"


def test_explanations_belong_to_numbers_that_differ():
    reasons = read_reasons()
    numbers = {one.name: one for source in SOURCES for one in published_numbers(source, REFERENCE, reasons)}
    found = explanations(REFERENCE)
    assert len(found) >= 15
    for one in found:
        number = numbers[one.number]
        assert number.outcome not in REPRODUCED and number.outcome is not Outcome.PROVED
        # It is nearer to the printed number than the number of the table.
        assert abs(one.stored.mean - float(number.paper)) < abs(number.difference)


@pytest.mark.parametrize(
    ("setting", "mean", "match"),
    [
        ("naive Bayes with 2 intervals of equal frequency per feature", 26.1039, "as printed"),
        ("1-NN on raw features, with 4,350 training rows, a tenth of the provider's", 0.444455, "as printed"),
        ("accuracy instead of the adjusted Rand index, C = 4", 0.967082, "within chance"),
        ("images smoothed with a width of 0.65 pixels, fitted (85 errors)", 100 * 85 / 2007, "differs"),
        ("linear discriminant, trained without the classes 2, 3, 6 and 7", 100 * 697 / 14500, "differs"),
    ],
)
def test_the_comparison_of_an_explanation(setting, mean, match):
    one = next(one for one in explanations(REFERENCE) if one.setting == setting)
    numbers = (
        number for source in SOURCES for number in published_numbers(source, REFERENCE, read_reasons())
    )
    number = next(number for number in numbers if number.name == one.number)
    assert one.stored.mean == pytest.approx(mean, abs=1e-4)
    assert one.match(number.paper, number.paper_splits) == match
