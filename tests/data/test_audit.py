"""The audit of a data set: each finding where it is due and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confml.data import load
from confml.data.audit import audit, row_groups


def dataset(tmp_path, rows, names="a,b,y", test=None, **keys):
    (tmp_path / "mine.csv").write_text(names + "\n" + "\n".join(rows) + "\n")
    if test is not None:
        (tmp_path / "new.csv").write_text(names + "\n" + "\n".join(test) + "\n")
        keys["test"] = str(tmp_path / "new.csv")
    return load({"csv": str(tmp_path / "mine.csv"), "label": "y", **keys})


def clean(n=40, seed=1):
    """Rows without any finding."""
    rng = np.random.default_rng(seed)
    return [f"{rng.normal():.6f},{rng.normal():.6f},{'pq'[i % 2]}" for i in range(n)]


def codes(data) -> list[str]:
    return [finding.code for finding in audit(data)]


def finding(data, code):
    (found,) = [one for one in audit(data) if one.code == code]
    return found


def test_clean_data_have_no_findings(tmp_path):
    assert codes(dataset(tmp_path, clean())) == []
    assert codes(dataset(tmp_path, clean(), test=clean(seed=2))) == []


def test_duplicate_rows(tmp_path):
    rows = clean()
    found = finding(dataset(tmp_path, [*rows, rows[3], rows[3], rows[5]]), "duplicate-rows")
    assert found.lines == (42, 43, 44)
    assert found.sentence == "3 rows of 43 repeat an earlier row, label included (lines 42, 43, 44)"


def test_contradictory_rows(tmp_path):
    rows = clean()
    other = rows[3][:-1] + ("p" if rows[3].endswith("q") else "q")
    data = dataset(tmp_path, [*rows, other])
    assert codes(data) == ["contradictory-rows"] and finding(data, "contradictory-rows").lines == (42,)


def test_rows_in_both_parts(tmp_path):
    rows, new = clean(), clean(seed=2)
    data = dataset(tmp_path, rows, test=[*new, rows[7], rows[9]])
    assert codes(data) == ["rows-in-train-and-test"]
    assert finding(data, "rows-in-train-and-test").lines == (42, 43)
    data = dataset(tmp_path, [*rows, *new], test=new)
    assert codes(data) == ["rows-in-train-and-test"]
    assert "40 rows of 40 test rows" in finding(data, "rows-in-train-and-test").sentence


def test_labels_that_look_alike(tmp_path):
    rows = [row.replace("p", ("p", "P ")[i % 4 == 0]) for i, row in enumerate(clean())]
    data = dataset(tmp_path, rows)
    assert codes(data) == ["alike-labels"]
    (note,) = [note for note in data.notes if "labels" in note]
    assert note.startswith(finding(data, "alike-labels").sentence)


def test_an_identifier(tmp_path):
    rows = [f"{(7 * i) % 41},{row}" for i, row in enumerate(clean())]
    data = dataset(tmp_path, rows, names="who,a,b,y")
    assert finding(data, "identifier").columns == ("who",)
    assert any(note.startswith(finding(data, "identifier").sentence) for note in data.notes)
    assert "identifier" not in codes(dataset(tmp_path, rows, names="who,a,b,y", id="who"))


@pytest.mark.parametrize("name, found", [("income", False), ("customer_id", True), ("paid", False)])
def test_amounts_are_no_identifiers(tmp_path, name, found):
    """Different whole numbers far apart are amounts unless the name of the column says otherwise."""
    rows = [f"{1000 * i + 7 * (i % 13)},{row}" for i, row in enumerate(clean())]
    data = dataset(tmp_path, rows, names=f"{name},a,b,y")
    assert ("identifier" in codes(data)) == found
    assert any("different value in every row" in note for note in data.notes) == found


@pytest.mark.parametrize(
    "leak",
    [
        lambda i, label: "xy"[label == "p"],  # a category for each class
        lambda i, label: "abcd"[i % 4],  # two categories for each class
        lambda i, label: f"{(label == 'p') * 2 + 0.01 * i:.3f}",  # a threshold
        lambda i, label: str(i % 4),  # codes
    ],
    ids=["category", "categories", "threshold", "codes"],
)
def test_a_feature_that_gives_the_label_away(tmp_path, leak):
    rows = [f"{leak(i, row[-1])},{row}" for i, row in enumerate(clean())]
    data = dataset(tmp_path, rows, names="leak,a,b,y")
    assert finding(data, "gives-label-away").columns == ("leak",)
    rows += [f"{leak(20, 'p')},{row[:-1]}q" for row in clean(1, seed=3)]  # one exception
    assert "gives-label-away" not in codes(dataset(tmp_path, rows, names="leak,a,b,y"))


def test_constant_and_duplicate_columns(tmp_path):
    rows = [f"1,{row.split(',')[0]},{row},u" for row in clean()]
    data = dataset(tmp_path, [row.rpartition(",")[0] for row in rows], names="one,copy,a,b,y")
    assert codes(data) == ["constant-columns", "duplicate-columns"]
    assert finding(data, "constant-columns").columns == ("one",)
    assert finding(data, "duplicate-columns").sentence == "columns have equal values: 'a' repeats 'copy'"


def test_features_of_different_ranges(tmp_path):
    rows = [f"{1000 * float(row.split(',')[0]) + i % 7:.3f},{row}" for i, row in enumerate(clean())]
    data = dataset(tmp_path, rows, names="income,a,b,y")
    assert codes(data) == ["unscaled-features"]
    assert finding(data, "unscaled-features").columns == ("income",)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, 1e-300, np.nan])] * 3), min_size=1, max_size=30))
def test_equal_rows_are_those_of_a_literal_comparison(rows):
    table = np.array(rows)

    def equal(one, other):
        return all(a == b or (np.isnan(a) and np.isnan(b)) for a, b in zip(one, other, strict=True))

    first = [next(j for j in range(len(rows)) if equal(rows[i], rows[j])) for i in range(len(rows))]
    assert row_groups(table).tolist() == first
