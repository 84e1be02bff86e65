"""Summary tables: the best, significance against a literal computation, and Markdown, LaTeX and JSON."""

import csv
import json
import math
import re

import numpy as np
import pytest
from report.report_cases import entry, figure, golden_run, make_config, make_run, result_of
from scipy.stats import binomtest
from scipy.stats import t as student

from confml.measures.prediction import Prediction
from confml.report import DatasetInfo, write_report
from confml.report.standings import Line, Standings, mcnemar, standings_of
from confml.report.summary_tables import summary_tables
from confml.report.table_formats import latex, markdown

NAME = "a_b & 50 % #1 {x} ~^\\|"


def noisy_run(splits=6, methods=(0.1, 0.12, 0.4, 0.4), datasets=(NAME,), rows=60):
    """A run whose methods k = 1, 2, .. err with these probabilities; the last two err on equal examples."""

    def predict(cell):
        rng = np.random.default_rng(int(cell.split[1:]))
        truth = rng.integers(0, 2, rows)
        luck = rng.random((2, rows))[min(cell.params["k"], 2) - 1]
        wrong = luck < methods[cell.params["k"] - 1]
        p = np.column_stack([(truth ^ wrong) == 0, (truth ^ wrong) == 1]) * 0.9 + 0.05
        return result_of(cell, {"p-value": Prediction(np.arange(2), p, "p-value")}, truth)

    config = make_config([entry("tcm-nn", sweep={"k": list(range(1, len(methods) + 1))})], levels=(0.1,))
    names = {name: DatasetInfo(name, 2 * rows, 2, 2) for name in datasets}
    return make_run(config, predict, names, [f"r{split}" for split in range(splits)])


def literal_p_values(run, best: int, others, train=99, test=60):
    """Return the Holm-corrected p-values of the corrected resampled t test, by method."""
    errors = {}
    for row in run.metrics:
        if row.metric == "error":
            errors.setdefault(row.cell.params["k"], []).append(row.value)
    found = {}
    for k in others:
        gaps = np.array(errors[best]) - np.array(errors[k])
        statistic = gaps.mean() / math.sqrt((1 / len(gaps) + test / train) * gaps.var(ddof=1))
        found[k] = 2 * student.sf(abs(statistic), len(gaps) - 1)
    corrected, largest = {}, 0.0
    for place, k in enumerate(sorted(found, key=found.get)):
        largest = max(largest, min(1.0, found[k] * (len(found) - place)))
        corrected[k] = largest
    return corrected


def test_significance_equals_the_literal_computation():
    run = noisy_run()
    standings = Standings(run)
    of = {line.method: standings.of(line, "error") for line in standings.lines}
    expected = literal_p_values(run, 1, (2, 3, 4))
    assert [label for label, one in of.items() if one.best] == ["tcm-nn k=1"]
    for k, p_value in expected.items():
        assert of[f"tcm-nn k={k}"].p_value == pytest.approx(p_value, rel=1e-9)
    assert of["tcm-nn k=3"].worse and not of["tcm-nn k=2"].worse
    assert of["tcm-nn k=3"] == of["tcm-nn k=4"]


def test_one_split_has_mcnemar_s_test_for_the_error():
    run = noisy_run(splits=1)
    standings = standings_of(run)
    lines = {line.method: line for line in standings.lines}
    wrong = {}
    for result in run.finished():
        wrong[result.cell.params["k"]] = result.views["p-value"].labels != result.truth
    one, other = int(np.sum(wrong[1] & ~wrong[3])), int(np.sum(wrong[3] & ~wrong[1]))
    p_value = binomtest(one, one + other, 0.5).pvalue
    found = standings.of(lines["tcm-nn k=3"], "error")
    assert found.p_value == pytest.approx(min(1.0, 3 * p_value)) or found.p_value <= min(1.0, 3 * p_value)
    assert mcnemar(wrong[1], wrong[3]) == p_value and mcnemar(wrong[3], wrong[3]) == 1.0
    assert math.isnan(standings.of(lines["tcm-nn k=3"], "mean_region_size", 0.1).p_value)


def test_invalid_regions_are_never_the_best():
    """Two of four methods leave out the true label in 40 % of the cases; their regions are not smaller."""
    standings = Standings(noisy_run(methods=(0.02, 0.03, 0.4, 0.4), rows=200))
    for metric in ("one_class", "mean_region_size", "correct_of_one_class"):
        for k in (3, 4):
            found = standings.of(Line(NAME, f"tcm-nn k={k}", "p-value"), metric, 0.1)
            assert not found.best and math.isnan(found.p_value)


def test_metrics_without_a_direction_have_no_best():
    standings = Standings(noisy_run())
    assert not any(standings.of(line, "coverage", 0.1).best for line in standings.lines)


def test_files_of_every_run(tmp_path):
    run = noisy_run(datasets=(NAME, "second"))
    write_report(run, tmp_path)
    names = {
        f"{table}.{ending}" for table in ("results", "acceptance") for ending in ("csv", "md", "tex", "json")
    }
    assert {path.name for path in (tmp_path / "tables").iterdir()} == names
    with (tmp_path / "tables" / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    document = json.loads((tmp_path / "tables" / "results.json").read_text(encoding="utf-8"))
    assert len(rows) == len(document["rows"]) and len({tuple(row.values()) for row in rows}) == len(rows)
    means = {(row.dataset, row.variant, row.metric, row.level): row.mean for row in run.summary}
    for row, same in zip(rows, document["rows"], strict=True):
        level = float(row["level"]) if row["level"] else None
        variant = row["method"].removeprefix("tcm-nn ")
        assert float(row["mean"]) == means[row["dataset"], variant, row["metric"], level] == same["mean"]
        assert (row["best"] == "true") == same["best"] and (row["worse"] == "true") == same["worse"]
    assert {row["metric"] for row in rows if row["worse"] == "true"} >= {"error"}


def test_markdown_marks_the_best_and_escapes_names():
    (results, _) = summary_tables(noisy_run())
    lines = markdown(results).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    cells = {len(re.split(r"(?<!\\)\|", row)) for row in rows}
    assert len(cells) == 1, rows
    assert "a\\_b & 50 % \\#1 \\{x\\} ~^\\\\\\|" in rows[2] and "**" in rows[2] and rows[4].count("\\*") >= 1


@pytest.mark.parametrize("methods", [3, 60])
def test_latex_is_well_formed(methods):
    """Braces and environments match, special characters are escaped, and a long table is a longtable."""
    run = noisy_run(methods=(0.1, *[0.4] * (methods - 1)))
    text = latex(summary_tables(run)[0], "t")
    begins = re.findall(r"\\begin\{(\w+)\}", text)
    ends = re.findall(r"\\end\{(\w+)\}", text)
    assert sorted(begins) == sorted(ends) == (["longtable"] if methods == 60 else ["table", "tabular"])
    plain = re.sub(r"\\[\\{}%&#_$]", "", text)
    assert plain.count("{") == plain.count("}")
    body = [line for line in text.splitlines() if line.endswith("\\\\") and " & " in line]
    columns = len(re.search(r"\{(l+r+)\}", text)[1])
    assert {len(re.split(r"(?<!\\)&", line)) for line in body} == {columns}
    for line in text.splitlines()[1:]:
        assert not re.search(r"(?<!\\)[%#]", line), line
        assert not re.search(r"(?<!\\)_", line.replace("\\_", "")), line
    assert ("$^{*}$" in text) == (methods == 3)  # Holm's correction for 59 comparisons
    assert "\\textbf{" in text and "a\\_b \\& 50 \\% \\#1 \\{x\\}" in text
    if methods == 60:
        assert "\\endfirsthead" in text and "\\endhead" in text and "longtable" in text.splitlines()[0]


def test_a_run_without_results_or_levels(tmp_path):
    run = golden_run()
    assert summary_tables(type(run)(run.config, run.cells, {}, run.failures, run.datasets)) == []
    plain = golden_run(levels=(), thresholds=(), figures=(figure("ranks"),))
    (results,) = summary_tables(plain)
    assert not results.has_levels and [column.key for column in results.columns] == ["error"]
    assert "| data set | method | view | error (%) |" in markdown(results)
