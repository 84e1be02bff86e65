"""``report.html`` without a browser: its structure, its numbers, and what hostile names do to it."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from report.report_cases import entry, figure, golden_run, random_run, result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.report.figures.regions import level_counts
from confml.report.write import write_report

HOSTILE = '<script>alert("x")</script>'
FIGURES = (figure("accuracy-rejection"), figure("coverage-by-level"), figure("ranks"))
VOID = {"meta", "link", "input", "img", "br"}


class Elements(HTMLParser):
    """Every element of a page as (tag, attributes), and whether they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def values(self, tag, key):
        return [attrs.get(key) for name, attrs in self.elements if name == tag]

    def count(self, tag):
        return len(self.values(tag, ""))


def some_run(datasets=("one", "two"), methods=3, **options):
    entries = [entry("tcm-nn", sweep={"k": list(range(1, methods))}), entry("knn", {"k": 1})]
    return random_run(entries, datasets, **options)


def page_of(run, folder):
    write_report(run, folder)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return page_of(some_run(figures=FIGURES), tmp_path_factory.mktemp("page"))


def test_it_needs_nothing_from_outside(page):
    elements = Elements(page)
    policy = elements.values("meta", "http-equiv").index("Content-Security-Policy")
    assert elements.values("meta", "content")[policy].startswith("default-src 'none'")
    assert not any(elements.values("script", "src") + elements.values("iframe", "src"))
    urls = elements.values("img", "src") + elements.values("link", "href")
    assert all(url.startswith("data:") for url in urls)
    assert all(not url.startswith(("http", "//")) for url in elements.values("a", "href"))
    assert "@import" not in page and set(re.findall(r"url\((.)", page)) == {"#"}


def test_identifiers_are_unique_and_links_lead_somewhere(page):
    elements = Elements(page)
    ids = [attrs["id"] for _, attrs in elements.elements if attrs.get("id")]
    assert len(ids) == len(set(ids))
    targets = set()
    for _, attrs in elements.elements:
        for key in ("aria-labelledby", "for", "aria-describedby"):
            targets |= set(attrs.get(key, "").split())
    targets |= {url[1:] for url in elements.values("a", "href") if url.startswith("#")}
    targets |= set(re.findall(r"url\(#([^)]*)\)", page))
    targets |= {url[1:] for url in elements.values("use", "xlink:href")}
    assert targets <= set(ids)
    assert {"answer", "set-one", "set-two", "files", "set-one-results"} <= set(ids)


def test_tables_have_captions_and_scopes(page):
    elements = Elements(page)
    assert elements.count("caption") == elements.count("table") == 3
    assert set(elements.values("th", "scope")) <= {"col", "row"}


def test_other_tables_are_links_and_incomplete_runs_have_a_banner(tmp_path):
    run = golden_run()
    del run.results[next(iter(run.results))]
    text = page_of(run, tmp_path)
    links = [url for url in Elements(text).values("a", "href") if not url.startswith("#")]
    assert {"tables/confusion.csv", "summary.csv", "summary.md", "answer.json"} <= set(links)
    assert all((tmp_path / link).exists() for link in links)
    assert "Failed: ovo-svm 2 fits." in text
    assert "Incomplete: 17 of 20 fits finished" in text and "2 of 20 fits failed" in text
    assert "ovo-svm: 2 fits on odd, data: ValueError" in text and ">ovo-svm (failed)</th>" in text


def test_figures_are_drawings_with_texts(page):
    """Each data set has its figures, the part of all data sets has the ranks; no head and no style sheet."""
    elements = Elements(page)
    kinds = ("accuracy-rejection", "coverage-by-level")
    titles = [f"{kind} of {data}" for data in ("one", "two") for kind in kinds]
    assert set(elements.values("svg", "aria-label")) == {*titles, "ranks of all data sets"}
    assert "significance level (%)" in elements.texts and "mean ranks by error" in page
    assert "<?xml" not in page and "<!DOCTYPE" not in page and elements.count("style") == 1
    files = {f"figures/coverage-by-level-{name}.svg" for name in ("one", "two")}
    assert files <= set(elements.values("a", "href"))


def table_of(page, name):
    """The texts of a table by its headings and its first column."""
    text = page.split(f'<table id="{name}">')[1].split("</table>")[0]
    headings, *rows = [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.split(r"<tr[^>]*>", text)[1:]
    ]
    return pd.DataFrame(rows, columns=headings).set_index(headings[0])


@pytest.fixture(scope="module")
def summary():
    run = some_run()
    labels = {(cell.method, cell.variant): run.label(cell) for cell in run.cells}
    return pd.DataFrame(run.summary).assign(label=[labels[row.method, row.variant] for row in run.summary])


@pytest.mark.parametrize("dataset", ["one", "two"])
def test_numbers_are_those_of_the_summary(page, summary, dataset):
    table, of_set = table_of(page, f"set-{dataset}-results"), summary[summary["dataset"] == dataset]
    errors = of_set[of_set["metric"] == "error"].set_index("label").loc[table.index]
    texts = [f"{100 * row.mean:.2f} ± {100 * row.sd:.2f}" for row in errors.itertuples()]
    assert table["error (%)"].tolist() == texts and errors["mean"].is_monotonic_increasing
    coverage = of_set[(of_set["metric"] == "coverage") & (of_set["level"] == 0.05)].set_index("label")["mean"]
    assert table["coverage (%) at 0.05"]["knn k=1"].split()[0] == f"{100 * coverage['knn k=1']:.2f}"


def test_the_matrix_has_errors_and_mean_ranks(page, summary):
    table, errors = table_of(page, "summary"), summary[summary["metric"] == "error"]
    errors = errors.pivot(index="dataset", columns="label", values="mean")[table.columns]
    for name, row in errors.iterrows():
        assert [text.split()[0] for text in table.loc[name]] == [f"{100 * value:.2f}" for value in row]
    ranks = errors.round(12).rank(axis=1).mean()
    assert table.loc["mean rank"].tolist() == [f"{rank:.2f}" for rank in ranks]
    assert ranks.is_monotonic_increasing


def test_names_and_labels_are_escaped(tmp_path):
    classes = (HOSTILE, "</style>", "b&amp;c")
    run = some_run(datasets=(HOSTILE, "two"), classes=classes, name=HOSTILE, figures=FIGURES)
    text = page_of(run, tmp_path)
    assert "<script>alert" not in text and "</style></td>" not in text
    elements = Elements(text)
    assert elements.count("style") == elements.count("script") == 1 and HOSTILE in "".join(elements.texts)


@pytest.mark.parametrize("kind", ["p-value", "probability", "vote", "envelope", "posterior"])
def test_level_counts_are_the_regions(kind):
    rng = np.random.default_rng(3)
    scores = rng.dirichlet(np.ones(5), 200)
    if kind == "p-value":  # p-values on the levels themselves
        scores = rng.integers(0, 21, (200, 5)) / 20
    extra = {"sd": np.full(scores.shape, 0.1)} if kind == "posterior" else {}
    prediction = Prediction(np.arange(5), scores, kind, extra=extra)
    levels = np.array([0.01, 0.05, 0.07, 0.1, 0.35])
    counts = level_counts(prediction, levels)
    for at, level in enumerate(levels.tolist()):
        assert np.array_equal(counts > at, prediction.region(level)), level


def test_an_infinite_log_loss_is_explained_below_the_table(tmp_path):
    def predict(cell):
        p = np.where(np.arange(10)[:, None] < 9, [0.9, 0.1], [1.0, 0.0])
        truth = np.array(["a"] * 9 + ["b"])
        return result_of(cell, Prediction(np.array(["a", "b"]), p, "probability"), truth)

    text = page_of(run_by_hand(["tree"], predict, rows=40), tmp_path)
    assert "log loss inf: the true label of a row has probability 0." in "".join(Elements(text).texts)


def test_large_tables_have_the_lowest_errors_and_figures_of_many_data_sets_are_folded(tmp_path):
    names = [f"set{number}" for number in range(5)]
    html = page_of(some_run(names, 40, rows=12, splits=1, figures=FIGURES[:1]), tmp_path)
    assert len(table_of(html, "set-set0-results")) == 30
    assert "30 of 40 methods and views, the lowest errors; summary.csv has all." in html
    assert Elements(html).count("details") == 5 == html.count("</svg>")


def test_the_page_is_short(page):
    """A run with two data sets and three methods; words of figures are not counted."""
    text = re.sub(r"<(style|script|svg)[ >].*?</\1>", " ", page, flags=re.DOTALL)
    assert len(re.sub(r"<[^>]+>", " ", text).split()) < 700
