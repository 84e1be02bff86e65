"""The page of published numbers and claims: complete, up to date, and every verdict has its source."""

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from scipy.stats import norm, rankdata

from confml import published
from confml.cli import cli
from confml.errors import ConfmlError
from confml.measures.ranks import compare_ranks
from confml.measures.rejection import sureness
from confml.published import known_tables
from confml.report.answers.datasets import Ranking
from confml.report.run.stored import open_run
from confml.report.sections.ranks import PublishedRanks
from confml.studies.provenance import write_study_provenance
from confml.studies.reproduction import (
    SOURCES,
    Outcome,
    Verdict,
    claims,
    keep_runs,
    pages,
    published_numbers,
    read_claims,
    write_provenance,
)
from confml.studies.reproduction.actions import Keep
from confml.studies.reproduction.figures import draw_numbers
from confml.studies.reproduction.markdown import stored_tables
from confml.studies.reproduction.numbers import DIFFERENCES, Number, Role, Stored, is_as_printed, is_chance
from confml.studies.reproduction.ranks import draw_ranks, stored_means, write_ranks
from confml.studies.reproduction.reasons import read_reasons
from confml.studies.reproduction.runs import provenance_text, read_provenance
from confml.studies.reproduction.targets import targets

ROOT = Path(__file__).parents[2]
WORK = ("fit_seconds", "predict_seconds", "tuning_seconds")
REFERENCE = ROOT / "results" / "reference"
PAGES = {source.key: REFERENCE / f"{source.key}.md" for source in SOURCES}
CLAIMS = [(source.key, claim) for source in SOURCES for claim in read_claims(source.key)]
# Columns of the CSV files that name a row.
KEYS = {"dataset", "algorithm", "level_percent", "envelope_level", "what", "run"}


def page_rows(table):
    """Cells of the rows of one published table on the page."""
    key = next(source.key for source in SOURCES if table in source.tables)
    text = re.sub(r"<a id=[^>]*></a>", "", PAGES[key].read_text(encoding="utf-8"))
    part = text[text.index(f"`{table}`, ") :]
    lines = part[: part.index("\n\n", part.index("| --- |"))].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


@pytest.mark.parametrize("name", sorted(known_tables()))
def test_every_published_number_has_a_row_on_the_page(name):
    """Read from the CSV files themselves, without the code that makes the page."""
    path = Path(published.__file__).parent / f"{name}.csv"
    wanted = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            keys = tuple(text for key, text in row.items() if key in KEYS)
            wanted.update((*keys, text) for key, text in row.items() if key not in KEYS and text != "")
    headings, _, *rows = page_rows(name)
    paper = headings.index("paper")
    found = Counter((*row[: headings.index("column")], row[paper]) for row in rows)
    assert wanted == found


def test_every_csv_file_belongs_to_a_source():
    files = {path.stem for path in Path(published.__file__).parent.glob("*.csv")}
    assert files == {table for source in SOURCES for table in source.tables} == set(known_tables())


def test_the_pages_are_those_of_the_stored_tables():
    texts = pages(REFERENCE)
    assert set(texts) == {path.name for path in REFERENCE.glob("*.md")}
    for name, text in texts.items():
        assert (REFERENCE / name).read_text(encoding="utf-8") == text, "make reproduction"


def test_the_counts_have_each_result_once_and_sizes_quotations_and_times_apart():
    """Counted from numbers.csv: the 100 sizes, 192 times, 20 quotations, and 5 of Graepel's 10 rows."""
    text = (REFERENCE / "counts.md").read_text(encoding="utf-8")
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("| ")]
    heads, *rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in tables[0]]
    found = {row[0]: dict(zip(heads[2:], map(int, row[2:]), strict=True)) for row in rows[1:]}
    assert {row[0]: int(row[1]) for row in rows[1:]} == {
        **{"TCM-NN": 38, "Bayesian transduction": 5, "Bayesian k-NN": 193, "SmartSVM": 96},
        **{"Bayesian k-NN: sizes of data sets": 21, "SmartSVM: sizes of data sets": 80},
        **{"TCM-NN: quoted numbers": 20},
    }
    with (REFERENCE / "numbers.csv").open(encoding="utf-8", newline="") as file:
        numbers = list(csv.DictReader(file))
    kinds = {"": "result", ": sizes of data sets": "size", ": quoted numbers": "quoted"}
    titles = {table: source.title for source in SOURCES for table in source.tables}
    for name, counts in found.items():
        title, colon, rest = name.partition(":")
        own = [
            row["outcome"]
            for row in numbers
            if titles[row["table"]] == title and row["role"] == kinds[colon + rest]
        ]
        assert {outcome: count for outcome, count in counts.items() if count} == Counter(own)
    summary = (REFERENCE / "README.md").read_text(encoding="utf-8")
    for source in SOURCES[:4]:
        reproduced = found[source.title]["as printed"] + found[source.title]["within chance"]
        assert f"**{reproduced} of {sum(found[source.title].values())} results reproduced**" in summary
    assert tables[1][-1] == "| SmartSVM | 192 | 148 | 40 | 4 | 0 | 168 |"


def test_the_summary_has_five_lines_and_a_figure_for_each_source():
    parts = (REFERENCE / "README.md").read_text(encoding="utf-8").split("\n## ")
    for source, part in zip(SOURCES, parts[1:6], strict=True):
        assert part.startswith(f"[{source.title}]({source.key}.md)")
        assert len(re.findall("^- ", part, re.MULTILINE)) == (5 if source.tables else 2)
        (image,) = re.findall(r'src="([^"]*)"', part)
        assert (REFERENCE / image).is_file()
    assert len("\n## ".join(parts).splitlines()) <= 65


def test_a_stand_in_is_never_counted_as_reproduced():
    """Nor as different, whatever its number: another algorithm has it."""
    source = SOURCES[0]
    reasons = read_reasons()
    numbers = list(published_numbers(source, REFERENCE, reasons))
    own = [number for number in numbers if number.reason == "stand-in"]
    assert {number.keys[1] for number in own} == {"C4.5", "CASTLE", "Neural", "five layer neural network"}
    assert {number.outcome for number in own} == {Outcome.STAND_IN}


def test_numbers_of_the_authors_program_stand_next_to_those_of_confml():
    """Those of the same data sets, with the label among the features of winered and winewhite."""
    cards = {
        "winequality-red-leak": "winered",
        "winequality-white-leak": "winewhite",
        "page-blocks": "pageblocks",
    }
    with (REFERENCE / "smartsvm" / "package" / "smartsvm-package.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "ari"]
    wanted = {
        cards.get(row["dataset"], row["dataset"]): (float(row["mean"]), float(row["sd"] or "nan"))
        for row in rows
    }
    wanted = {name: values for name, values in wanted.items() if not name.endswith("-merged")}
    source = next(source for source in SOURCES if source.key == "smartsvm")
    numbers = [
        one for one in published_numbers(source, REFERENCE, read_reasons()) if one.original is not None
    ]
    assert {(one.table, one.column) for one in numbers} == {(f"smartsvm-{ARI}", "smartsvm")}
    found = {one.keys[0]: one.original for one in numbers}
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():  # nan: the sd of one split
        assert found[name] == pytest.approx(values, rel=0, abs=0, nan_ok=True)
    assert "| authors' code |" in (REFERENCE / "smartsvm.md").read_text(encoding="utf-8")


def test_a_time_that_was_stopped_is_a_lower_bound():
    source = next(source for source in SOURCES if source.key == "smartsvm")
    found = [one for one in published_numbers(source, REFERENCE, read_reasons()) if one.keys[0] == "fars"]
    bounds = {(one.table.split("-")[1], one.column): one for one in found if one.outcome is Outcome.BOUND}
    assert {key: (one.ours, one.points) for key, one in bounds.items()} == {
        ("table2", "crammer_singer"): (180, 8),
        ("table2", "gensvm"): (180, 7),
        ("table4", "crammer_singer"): (22.5, 8),
        ("table4", "gensvm"): (25.7, 7),
    }
    assert "| > 180 |" in (REFERENCE / "smartsvm.md").read_text(encoding="utf-8")


def test_every_number_has_an_anchor_that_numbers_csv_names():
    with (REFERENCE / "numbers.csv").open(encoding="utf-8", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    anchors = [
        one for path in PAGES.values() for one in re.findall(r'<a id="([^"]*)">', path.read_text("utf-8"))
    ]
    assert len(set(names)) == len(names) == 650 and len(set(anchors)) == len(anchors)
    assert set(names) <= set(anchors)
    for path in REFERENCE.glob("*.md"):
        for page, name in re.findall(r"\]\(([a-z-]*\.md)?#([^)]*)\)", path.read_text(encoding="utf-8")):
            text = (REFERENCE / page if page else path).read_text(encoding="utf-8")
            assert f'<a id="{name}"></a>' in text or f"\n## {name.capitalize()}\n" in text


def test_no_number_of_pima_is_within_chance():
    """The paper's proportions are of 192 test examples, those of confml of 256."""
    source = next(source for source in SOURCES if source.key == "bayes-knn")
    outcomes = {
        number.outcome
        for number in published_numbers(source, REFERENCE, read_reasons())
        if number.keys[0] == "pima" and number.role is Role.RESULT
    }
    assert Outcome.DATA in outcomes and Outcome.CHANCE not in outcomes


ARI = "table3-adjusted-rand-index"
RANKED = [(source, ranked) for source in SOURCES for ranked in source.ranked]


def test_stored_ranks_are_those_of_the_stored_tables(tmp_path):
    """Ranks and their means are computed again with SciPy."""
    for source in SOURCES:
        for part in source.folders if source.ranked else ():
            if (REFERENCE / part / "tables").is_dir():
                shutil.copytree(REFERENCE / part / "tables", tmp_path / part / "tables")
        paths = list(write_ranks(source, tmp_path))
        wanted = {
            f"ranks-{one.kind}{one.metric}.{ending}"
            for one in source.ranked
            for ending in ("csv", "md", "svg")
        }
        assert {path.name for path in paths} == wanted
        for path in paths:
            kept = REFERENCE / path.relative_to(tmp_path)
            if path.suffix == ".svg":  # its bytes depend on the version of matplotlib
                assert kept.is_file(), "make reproduction"
                continue
            if path.suffix == ".csv":
                assert kept.read_bytes() == path.read_bytes(), "make reproduction"
            if path.suffix == ".csv":
                rows = list(csv.DictReader(path.open(encoding="utf-8")))
                scores = np.array([[float(row[name]) for name in row if name != "dataset"] for row in rows])
                sign = -1 if "ari" in path.stem else 1
                means = rankdata(sign * scores, axis=1).mean(axis=0)
                text = path.with_suffix(".md").read_text(encoding="utf-8")
                said = re.findall(r"^\| [^|]+ \| (\d\.\d\d) \| \d+ \|", text, re.MULTILINE)
                assert said == [f"{mean:.2f}" for mean in sorted(means)]


def test_figures_of_ranks_show_confml_beside_the_paper(tmp_path):
    labels, scores = ["A", "B", "C"], np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [9.0, 8.0, 7.0]])
    found = Ranking("ari", labels, ["x", "y", "z"], scores, compare_ranks(scores))
    printed = PublishedRanks("somebody 2017", 3, {"A": 2.5, "B": 1.0, "C": 2.5})
    path = draw_ranks(found, printed, tmp_path / "one.svg")
    text = path.read_text(encoding="utf-8")
    words = re.findall(r">([^<>]+)</text>", text)
    assert [one for one in words if one in labels] == labels, "the best above"
    assert {"1.00 (2.50)", "2.33 (1.00)", "2.67 (2.50)", "adjusted Rand index, 3 data sets"} <= set(words)
    assert "numbers of the paper, 3 data sets" in words and any("Nemenyi" in one for one in words)
    assert draw_ranks(found, printed, tmp_path / "two.svg").read_bytes() == path.read_bytes()


def test_ranked_tables_have_the_data_sets_of_the_paper():
    for _, ranked in RANKED:
        table = known_tables()[ranked.table]
        means = stored_means(table, ranked, REFERENCE)
        assert set(means) == {row["dataset"] for row in table.rows()}
        assert all(set(row) == set(ranked.columns or table.columns) for row in means.values())


def test_the_first_folder_and_group_of_variants_of_a_data_set_are_ranked(tmp_path):
    _, ranked = RANKED[0]
    table = known_tables()[ranked.table]
    first, second = ranked.folders
    wine = ["wine,,ovo,.2,", "wine,,ovr,.7,", "wine,without the label,ovo,.3,"]  # ovr has the label
    for part, lines in (
        (first, ["yeast,,ovo,.1,", *wine, "flare,,ovo,,"]),
        (second, ["yeast,,ovo,.4,", "yeast,,ovr,.4,", "flare,,ovo,.5,", "flare,cold dual,ovo,.6,"]),
    ):
        path = tmp_path / part / "tables" / f"{table.name}.csv"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(["dataset,variant,quantity,confml,status", *lines]) + "\n")
    means = stored_means(table, ranked, tmp_path)
    assert means == {"flare": {"ovo": 0.5}, "wine": {"ovo": 0.3}, "yeast": {"ovo": 0.1}}


def test_times_of_shorter_grids_are_not_ranked(tmp_path):
    _, ranked = RANKED[1]
    table = known_tables()[ranked.table]
    path = tmp_path / ranked.folders[0] / "tables" / f"{table.name}.csv"
    path.parent.mkdir(parents=True)
    lines = [
        "yeast,warm primal,ovo,2.0,19",
        "yeast,warm primal,ovr,1.0,11",
        "yeast,exact path,gensvm,3.0,342",
    ]
    path.write_text("\n".join(["dataset,variant,quantity,confml,points", *lines]) + "\n")
    assert stored_means(table, ranked, tmp_path) == {"yeast": {"ovo": 2.0, "gensvm": 3.0}}


def test_times_of_whole_grids_come_first_and_paths_stand_beside_them(tmp_path):
    source = next(source for source in SOURCES if source.key == "smartsvm")
    name = "smartsvm-table2-total-training-seconds"
    few = ["yeast,,ovo,10,1.0,0.1,5,11", "yeast,,gensvm,9,2.0,,1,7", "yeast,warm primal,ovo,,3.0,0.1,5,11"]
    whole = ["yeast,,ovo,10,4.0,,1,19", "yeast,warm primal,ovo,,5.0,,5,19", "yeast,exact path,gensvm,,,,,"]
    for part, lines in (("smartsvm/small", few), ("smartsvm/cold", whole)):
        path = tmp_path / part / "tables" / f"{name}.csv"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(["dataset,variant,quantity,paper,confml,sd,splits,points", *lines]) + "\n")
    found = {
        one.column: (one.ours, one.folder, one.points, one.grid, one.path)
        for one in published_numbers(source, tmp_path, read_reasons())
        if one.table == name and one.keys[0] == "yeast"
    }
    assert found["ovo"] == (4.0, "smartsvm/cold", 19, 19, 5.0)
    assert found["gensvm"] == (2.0, "smartsvm/small", 7, 342, None)
    assert found["dag"] == (None, "", None, 19, None)


def test_times_of_the_page_name_their_grids():
    headings, _, *rows = page_rows("smartsvm-table4-seconds-per-configuration")
    cells = [dict(zip(headings, row, strict=True)) for row in rows]
    assert all(row["paths"] for row in cells)
    for row in cells:
        points, _, grid = row["grid"].partition(" of ")
        assert (points == "") == (row["confml"] == "")
        assert not points or int(points) <= int(grid) == (342 if row["column"] == "GenSVM" else 19)
    assert "grid" not in page_rows("smartsvm-table3-adjusted-rand-index")[0]


def test_data_sets_without_all_methods_are_named(tmp_path):
    source, ranked = RANKED[0]
    columns = known_tables()[ranked.table].columns
    path = tmp_path / ranked.folders[0] / "tables" / f"{ranked.table}.csv"
    path.parent.mkdir(parents=True)
    lines = [
        f"{name},,{column},.{place + 1}"
        for name in ("flare", "yeast")
        for place, column in enumerate(columns)
    ]
    path.write_text("\n".join(["dataset,variant,quantity,confml", *lines, "letter,,ovo,.1"]) + "\n")
    text = next(path for path in write_ranks(source, tmp_path) if path.name == "ranks-ari.md").read_text()
    assert "Left out, because some results are missing: letter." in text


def test_no_ranks_of_a_single_data_set(tmp_path):
    source, ranked = RANKED[0]
    path = tmp_path / ranked.folders[0] / "tables" / f"{ranked.table}.csv"
    path.parent.mkdir(parents=True)
    path.write_text("dataset,variant,quantity,confml\nyeast,,ovo,.1\nyeast,,ovr,.2\n")
    assert not list(write_ranks(source, tmp_path))


def test_every_stored_table_can_be_rendered_from_its_csv_file():
    rendered = dict(stored_tables(REFERENCE))
    tables = [path for path in REFERENCE.glob("**/tables/*.csv") if path.stem in known_tables()]
    assert len(tables) > 20
    assert set(rendered) == {path.with_suffix(ending) for path in tables for ending in (".md", ".tex")}
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["paper"] and row["confml"]:
                    assert row["paper"] in rendered[path.with_suffix(".md")]
                    assert row["paper"] in rendered[path.with_suffix(".tex")]


def test_every_difference_has_a_reason():
    reasons = read_reasons()
    used = set()
    for source in SOURCES:
        for number in published_numbers(source, REFERENCE, reasons):
            assert number.reason in reasons.codes or (number.reason, number.outcome) == ("", Outcome.PRINTED)
            assert (number.ours is None) == (number.outcome is Outcome.MISSING)
            if number.outcome in DIFFERENCES.values() and number.reason != "chance":
                kind = reasons.codes[number.reason].kind
                within = number.outcome is Outcome.CHANCE and is_chance(
                    Stored(number.ours, number.sd, number.splits, ""), number.paper, number.paper_splits
                )
                assert within or DIFFERENCES[kind] is number.outcome
            used.add(number.reason)
    assert set(reasons.codes) - used <= {"open", "not-stored"}, "reasons that no number needs"
    assert {rule.table for rule in reasons.rules} <= set(known_tables())


def test_every_figure_of_the_page_has_a_caption_and_every_caption_a_figure():
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.values())
    captions = yaml.safe_load((Path(claims.__file__).parent / "captions.yaml").read_text(encoding="utf-8"))
    shown = re.findall(r"^!\[(.*)\]\((\S+)/figures/\S+\)\n\n\*(.+)\*$", text, re.MULTILINE)
    assert shown and all(" " in caption and stem not in caption for stem, _, caption in shown)
    assert set(captions) <= {f"{part}/figures/{stem}" for stem, part, _ in shown}


def test_a_fold_counts_as_a_split_of_the_source():
    numbers = list(published_numbers(SOURCES[0], REFERENCE, read_reasons()))
    assert {(number.keys[0] == "segment", number.paper_splits) for number in numbers} == {
        (True, 10),
        (False, 1),
    }


def test_run_times_are_not_judged():
    source = next(source for source in SOURCES if source.key == "smartsvm")
    for number in published_numbers(source, REFERENCE, read_reasons()):
        is_time = "seconds" in number.table
        times = (Outcome.SAME_GRID, Outcome.OTHER_GRID, Outcome.BOUND)
        assert (number.outcome in times) == (is_time and number.ours is not None)
        assert (number.outcome is Outcome.SAME_GRID) == (is_time and number.points == number.grid)
        assert (number.role is Role.TIME) == is_time


@pytest.mark.parametrize(("key", "claim"), CLAIMS)
def test_every_claim_names_what_shows_it(key, claim):
    """Files below results/reference, tests, configs, or targets of the Makefile: all that it mentions."""
    assert isinstance(claim.verdict, Verdict)
    assert claim.section and claim.sentence and claim.ours and claim.shown
    assert not re.search(r"\b[A-Z]+_[A-Z_]+\b", claim.ours), "a number is still to be filled in"
    for shown in claim.shown:
        if shown.startswith("make "):
            makefile = (ROOT / "Makefile").read_text()
            assert shown[5:] in targets() or re.search(rf"^{shown[5:]}:", makefile, re.MULTILINE)
        elif shown.startswith(("tests/", "configs/")):
            assert (ROOT / shown).is_file()
        else:
            assert (REFERENCE / shown).is_file()
    mentioned = re.findall(r"[\w./-]+\.(?:csv|md|svg|py|yaml)\b", claim.ours)
    assert set(mentioned) <= set(claim.shown)


def test_links_of_the_page_lead_to_files():
    for path in REFERENCE.glob("*.md"):
        for target in re.findall(r"\]\(([^#)][^)#]*)", path.read_text(encoding="utf-8")):
            assert (REFERENCE / target).is_file(), target
    assert "results/reference/README.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("ours", "paper", "same"),
    [(10.6, "10.6", True), (98.76, "98.8", True), (99.951, "99.9", False), (0.04, "0", True)],
)
def test_as_printed(ours, paper, same):
    assert is_as_printed(ours, paper) == same


def test_chance_is_two_standard_errors_of_the_difference():
    # sd 1 over 4 splits, and 1 division of the paper: two errors are 2 sqrt(1 + 1/4) = 2.236.
    assert is_chance(Stored(0.0, 1.0, 4, ""), "2.23", 1)
    assert not is_chance(Stored(0.0, 1.0, 4, ""), "2.24", 1)
    assert not is_chance(Stored(0.0, None, 1, ""), "0.01", 1)
    assert not is_chance(Stored(0.0, 1.0, 2, ""), "0.01", 1)


def test_monte_carlo_error_of_five_runs():
    """The standard deviation over the stored runs, for every number of the transduction table alone."""
    stored = REFERENCE / "transduction" / "trajectories" / "transduction-heart-trajectories.csv"
    with stored.open(newline="") as file:
        values = [
            float(row["mean"])
            for row in csv.DictReader(file)
            if row["metric"] == "theta_max" and "chord" not in row["params"]
        ]
    assert len(values) == 5
    for source in SOURCES:
        for number in published_numbers(source, REFERENCE, read_reasons()):
            error = number.monte_carlo_error
            assert (error is not None) == (number.table == "transduction-figure2")
            assert len(number.others) in (0, 5)
            if number.keys == ("heart", "theta_max", "long"):
                assert error == pytest.approx(np.std(values, ddof=1))


def test_every_multiple_of_the_interval_gives_the_sure_correct_of_the_envelope(tmp_path):
    config = tmp_path / "five.yaml"
    config.write_text(
        "name: five\ndatasets: [{generate: five-gaussians, n: 150}]\nmethods: [bayes-knn]\nfigures: []\n"
        "protocol: {kind: holdout, test-size: 0.5}\nlevels: []\nthresholds: [0.8, 0.95, 0.99]\n"
    )
    run = tmp_path / "five"
    ran = CliRunner().invoke(cli, ["run", str(config), "--out", str(run), "--jobs", "1", "--quiet"])
    assert ran.exit_code == 0, ran.output
    assert Keep(tmp_path / "out", (str(run),), "x", matching=True)() == 0
    rows = list(csv.DictReader((tmp_path / "out" / "matching.csv").open()))
    assert [(row["dataset"], row["envelope"], row["view"]) for row in rows] == [
        ("synthetic", level, view) for level in ("0.80", "0.95", "0.99") for view in ("reject", "posterior")
    ]
    (result,) = open_run(run).finished()
    right = result.views["posterior"].labels == result.truth
    for row in rows[1::2]:
        wanted = sureness(result.views["envelope"].accepted(float(row["envelope"])), right).correct
        low, high = float(row["low"]), float(row["high"])
        for multiple in np.linspace(max(low, -3) + 1e-3, min(high, 20) - 1e-3, 9):
            accepted = result.views["posterior"].confidence > norm.cdf(multiple)
            assert sureness(accepted, right).correct == pytest.approx(wanted)
        assert float(row["contains_paper"]) == (low < float(row["paper"]) <= high)
        assert float(row["contains_half"]) == (low < 0.5 * float(row["paper"]) <= high)
        assert float(row["correct"]) == pytest.approx(wanted, rel=1e-3)


def test_runs_are_kept_with_their_provenance(tmp_path):
    config = tmp_path / "small.yaml"
    config.write_text(
        "name: small\ndatasets: [wine-sklearn]\nmethods: [naive-bayes]\nfigures: []\n"
        "protocol: {kind: holdout, repeats: 2, test-size: 0.5}\nseed: 7\n"
    )
    run, out = tmp_path / "small", tmp_path / "out"
    ran = CliRunner().invoke(cli, ["run", str(config), "--out", str(run), "--jobs", "1", "--quiet"])
    assert ran.exit_code == 0, ran.output
    (path,) = keep_runs([run], ["error"], out)
    rows = list(csv.DictReader(path.open()))
    assert [(row["dataset"], row["method"], row["metric"], row["n"]) for row in rows] == [
        ("wine-sklearn", "naive-bayes", "error", "2")
    ]
    with pytest.raises(ConfmlError, match="no run has theta_max"):
        keep_runs([run], ["error", "theta_max"], out)
    write_provenance([run], out, "make small")
    text = provenance_text(read_provenance(out))
    manifest = json.loads((run / "manifest.json").read_text())
    assert text.startswith("`make small`: 1 run, ") and "; seed 7; " in text
    assert manifest["provenance"]["machine"]["processor"] in text
    study = tmp_path / "study"
    study.mkdir()
    write_study_provenance(study, 5, 120.04, 2)
    write_provenance([study, tmp_path / "nothing"], out, "make studies")
    text = provenance_text(read_provenance(out))
    assert text.startswith("`make studies`: 1 run, 2.0 minutes with 2 jobs, ") and "; seed 5; " in text
    assert manifest["provenance"]["machine"]["processor"] in text
    (run / "manifest.json").write_text(json.dumps(manifest | {"resumed": True}), encoding="utf-8")
    write_provenance([run], out, "make small")
    with (run / "timings.csv").open(newline="") as file:
        spent = [float(row[name] or 0) for row in csv.DictReader(file) for name in row if name in WORK]
    content = read_provenance(out)
    assert content["work_seconds"] == pytest.approx(sum(spent), abs=0.001)
    words = f"1 run, {sum(spent):.1f} seconds of tuning, fits and predictions, "
    assert words in provenance_text(content)
    del content["work_seconds"]
    assert "1 run, time not recorded, " in provenance_text(content)
    content = read_provenance(out)
    content["runs"][0]["git"] = "0123456789abcdef+changes"
    assert ", commit 0123456789ab with changes; " in provenance_text(content)
    with pytest.raises(ConfmlError, match="none of the folders is that of a run"):
        Keep(out, (str(tmp_path / "nothing"),), "x")()


def test_a_table_with_three_computed_numbers_is_drawn(tmp_path):
    def number(ours, paper="0.50", table="smartsvm-table3-adjusted-rand-index"):
        return Number(table, ("segment",), "ovo", paper, ours, 0.1, 5, "x", 1, "", Outcome.CHANCE)

    table = "smartsvm-table3-adjusted-rand-index"
    assert draw_numbers(table, [number(0.5), number(0.6), number(None)], tmp_path) is None
    path = draw_numbers(table, [number(0.5), number(0.6), number(0.7)], tmp_path)
    text = path.read_text()
    assert path.name == f"{table}.svg" and "published (" in text and "± sd over splits" in text
    seconds = "smartsvm-table4-seconds-per-configuration"
    numbers = [number(value, paper, seconds) for value, paper in ((1.0, "2.5"), (0.0, "0.1"), (9.0, "80"))]
    text = draw_numbers(seconds, numbers, tmp_path).read_text()
    assert ">10</text>" in text and "$" not in text  # ticks are numbers, not formulas
