"""Findings on rare classes, dates and many categories, and rows that are dropped."""

from confml.data import load
from confml.data.audit import column_findings


def found(tmp_path, lines, **keys):
    path = tmp_path / "a.csv"
    path.write_text("x,c,y\n" + "".join(f"{line}\n" for line in lines))
    return load({"csv": path, "label": "y", **keys})


def test_rare_classes(tmp_path):
    data = found(tmp_path, [f"{i / 7},{i % 3},{'fraud' if i % 501 == 0 else 'good'}" for i in range(5010)])
    (finding,) = column_findings(data)
    assert finding.code == "rare-classes" and "1 of 2 classes is rare: 'fraud' (10 rows)" in finding.sentence
    many = column_findings(found(tmp_path, [f"{i / 7},{i % 3},k{i // 4}" for i in range(400)]))
    assert "100 of 100 classes are rare" in many[0].sentence and "at least 0.2" in many[0].remedy
    assert not column_findings(found(tmp_path, [f"{i / 7},{i % 3},{i % 2}" for i in range(40)]))


def test_dates_and_many_categories(tmp_path):
    rows = [f"2024-{1 + i % 12:02}-03,town{i % 60},{i % 2}" for i in range(240)]
    codes = {one.code: one for one in column_findings(found(tmp_path, rows))}
    assert set(codes) == {"dates", "many-categories"}
    assert codes["dates"].columns == ("x",) and codes["many-categories"].columns == ("c",)
    assert "'c' (60)" in codes["many-categories"].sentence


def test_duplicates_are_dropped(tmp_path):
    rows = ["1,2,a", "3,4,b", "1,2,a", "1,2,b", "5,6,a"]
    data = found(tmp_path, rows, duplicates="drop")
    assert data.lines.tolist() == [2, 3, 5, 6] and "1 row equal to an earlier row" in data.notes[0]
    assert len(found(tmp_path, rows)) == 5
