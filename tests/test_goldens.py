"""Verdicts of the program that compares outputs with those of a baseline."""

import json

import pytest
from programs.goldens import comparison

Retired, Rules = comparison.Retired, comparison.Rules
BEFORE = "metric,value,extra\nerror,1.0,x\nold,2.0,y\n"


@pytest.mark.parametrize(
    ("now", "retired", "kind"),
    [
        (BEFORE, [], comparison.SAME_BYTES),
        ("metric,value,extra\nerror,1,x\nold,2.0,y\n", [], comparison.SAME_NUMBERS),
        ("metric,value,extra\nerror,1,x\n", [("*.csv", "metric", "ol*")], comparison.SAME_WITHOUT_RETIRED),
        ("metric,value\nerror,1.0\nold,2\n", [("*.csv", "extra", "")], comparison.SAME_WITHOUT_RETIRED),
        ("metric,value\nerror,1.0\nold,2\n", [("other.csv", "extra", "")], comparison.DIFFERENT),
        ("metric,value,extra\nerror,1.5,x\nold,2.0,y\n", [("*.csv", "extra", "")], comparison.DIFFERENT),
        ("metric,value,extra\nold,2.0,y\nerror,1.0,x\n", [], comparison.DIFFERENT),
        (None, [("case/*.csv", "", "")], comparison.GONE),
        (None, [("case/*.csv", "extra", "")], comparison.DIFFERENT),
    ],
)
def test_verdicts_on_tables(tmp_path, now, retired, kind):
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_text(BEFORE)
    present = {}
    if now is not None:
        after.write_text(now)
        present["table.csv"] = after
    rules = Rules(tuple(Retired(*rule) for rule in retired), ())
    (verdict,) = comparison.compare_files({"table.csv": before}, present, rules, "case/")
    assert verdict.kind == kind


def test_an_answer_may_name_another_fastest_method_and_nothing_else(tmp_path):
    before, now = tmp_path / "answer.json", tmp_path / "now.json"
    before.write_text(json.dumps({"recommended": "knn", "short": ["knn"], "error": 0.1}))
    now.write_text(json.dumps({"recommended": "tcm-nn", "short": ["tcm-nn"], "error": 0.1}))
    assert comparison.compare(before, now, [])[0] == comparison.OTHER_FASTEST
    now.write_text(json.dumps({"recommended": "tcm-nn", "short": ["tcm-nn"], "error": 0.2}))
    assert comparison.compare(before, now, [])[0] == comparison.DIFFERENT
