"""Printed numbers that cannot all be right: the known ones, and each rule on numbers that break it."""

import pytest

from confml.published import known_tables
from confml.studies.reproduction import contradictions as module
from confml.studies.reproduction.contradictions import contradictions, is_count, printed

PIMA = [
    ("bayesian-knn-table1", ("pima",)),
    ("bayesian-knn-table3", ("pima",)),
    *(("bayesian-knn-table2", ("pima", level)) for level in ("0.80", "0.95", "0.99")),
]
MISPRINT = [("bayesian-knn-table2", ("ionosphere", level)) for level in ("0.80", "0.95")]
OVERALL = [("bayesian-knn-table2", ("wisconsin", level)) for level in ("0.80", "0.95", "0.99")]


def test_the_contradictions_of_the_sources_are_known():
    found = contradictions()
    assert {one.table for one in found} <= set(known_tables())
    places = [(one.table, one.row) for one in found]
    # .0466 is neither 7 of 151 nor 1 less the others.
    assert sorted(places) == sorted(
        [("tcm-nn-table3", ("segment", "5")), *PIMA, *MISPRINT, *MISPRINT, *OVERALL]
    )
    assert "leave at least 1.04 % wrong singletons" in found[0].text


@pytest.mark.parametrize(
    ("text", "rows", "factor", "count"),
    [
        ("0.7656", 192, 1.0, True),  # 147 of 192
        ("0.7656", 256, 1.0, True),  # 196 of 256
        ("0.7552", 192, 1.0, True),  # 145 of 192
        ("0.7552", 256, 1.0, False),  # 193 of 256 are .7539
        ("0.0000", 228, 1.0, True),
        ("94.7", 151, 100.0, True),  # 143 of 151
        ("100", 2310, 100.0, True),
    ],
)
def test_counts(text, rows, factor, count):
    assert is_count(text, rows, factor) is count
    numbers = range(rows + 1)
    assert any(printed(text).has(factor * number / rows) for number in numbers) is count


USPS, SONAR = ("tcm-nn-table3", ("usps", "1")), ("bayesian-knn-table2", ("sonar", "0.80"))
TIMES = "smartsvm-table2-total-training-seconds"
CHANGES = [
    ("tcm-nn-table3", ("satellite", "1"), {"two_or_more_percent": "35.4"}, "is not 100 %"),
    (*USPS, {"one_class_percent": "94.75", "two_or_more_percent": "5.25"}, "no number has the share 94.75 %"),
    (*USPS, {"correct_of_one_class_percent": "90.1"}, "more wrong singletons than the 4.29 % errors"),
    ("bayesian-knn-table3", ("vehicle",), {"standard_percent": "67.0"}, "67.0 % here and 67.4 % in table 1"),
    (*SONAR, {"env_u": "0.0429"}, "0.8429 + 0.0429 + 0.1286 is not 1"),
    (*SONAR, {"rej_sc": "0.8286"}, "87.1 % are correct in table 1"),
    ("smartsvm-table1", ("segment",), {"instances": "2311"}, "7 such classes have 2310 to 2310 rows"),
    (TIMES, ("flare",), {"ovo": "6.0"}, "ovo: 6.0 s are not 19 times 0.344 s"),
]


@pytest.mark.parametrize(("table", "row", "values", "text"), CHANGES)
def test_a_changed_number_is_a_contradiction(monkeypatch, table, row, values, text):
    rows = module._rows

    def changed(name, keys):
        return {
            key: {**one, **(values if (name, key) == (table, row) else {})}
            for key, one in rows(name, keys).items()
        }

    before = set(contradictions())
    monkeypatch.setattr(module, "_rows", changed)
    new = [one for one in contradictions() if one not in before]
    assert any((one.table, one.row) == (table, row) and text in one.text for one in new)
