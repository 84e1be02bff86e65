"""``report.html`` in Chromium: no error, no request, and everything that can be clicked works.

The tests are skipped where Playwright or Chromium is not installed (Debian: ``apt-get install chromium``).
"""

import re
import shutil

import numpy as np
import pytest
from report.page.test_page import FIGURES, HOSTILE, some_run

from confml.report.write import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install 'confml[dev]')")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("needs Chromium (Debian: apt-get install chromium)", allow_module_level=True)

PALE_TEXTS = """() => {
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const colour = (text) => text.match(/[0-9.]+/g).map(Number);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const found = colour(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] > 0.99) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const shown = (node) => node.getClientRects().length > 0;
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    if (!text || !shown(node) || node.closest("script,style,.visually-hidden,.skip,:disabled")) continue;
    const style = getComputedStyle(node), svg = node.closest("svg");
    const ratio = contrast(colour(svg ? style.fill : style.color).slice(0, 3), behind(node));
    const faded = [...(function* (one) { for (; one; one = one.parentElement) yield one; })(node)]
      .reduce((opacity, one) => opacity * getComputedStyle(one).opacity, 1);
    if (ratio < 4.5 || faded < 0.99) pale.push([text.slice(0, 40), ratio, faded]);
  }
  return pale;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    run = some_run(datasets=(HOSTILE, "two"), classes=(HOSTILE, "b", "c"), methods=6, figures=FIGURES)
    write_report(run, folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """A page that keeps its console messages, errors, dialogs and requests."""

    def __init__(self, browser, path, width=1000, **options):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture(scope="module")
def watched(browser, report):
    watched = Watched(browser, report)
    yield watched
    watched.context.close()


@pytest.fixture
def page(watched):
    return watched.page


def column(page, table, number):
    rows = page.locator(f"[id='{table}'] tbody tr:not([hidden])").all()
    return [row.locator("th,td").nth(number).inner_text() for row in rows]


def test_sorting(page):
    before = column(page, "set-two-results-table", 1)
    head = page.locator("[id='set-two-results-table'] thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    first = [float(text.split()[0]) for text in column(page, "set-two-results-table", 1)]
    assert first == sorted(first) and len(first) == len(before) > 3
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    last = [float(text.split()[0]) for text in column(page, "set-two-results-table", 1)]
    assert last == sorted(first, reverse=True)


def test_mean_ranks_stay_below_the_data_sets(page):
    for _ in range(2):
        page.locator("#summary-table thead button").nth(1).click()
        rows = column(page, "summary-table", 0)
        assert len(rows) == 3 and rows[-1] == "mean rank"


def test_filtering(page):
    field = page.locator("[id='set-two-results-table'] input[type=search]")
    field.fill("knn")
    assert column(page, "set-two-results-table", 0) == ["knn k=1"]
    field.fill("")
    assert len(column(page, "set-two-results-table", 0)) == 6


@pytest.mark.parametrize(
    ("form", "head", "mark"), [("CSV", "method,error (%),", ""), ("Markdown", "| method | error (%) |", "**")]
)
def test_copies_have_the_bold_values_that_the_caption_names(page, form, head, mark):
    page.locator("[id='set-two-results-table'] .tools button", has_text=form).click()
    copied = page.evaluate("window.confmlCopied")
    assert head in copied and "knn k=1" in copied and copied.count("\n") >= 7
    best = page.locator("[id='set-two-results-table'] b").all_inner_texts()
    assert len(best) > 1 and ("**" in copied) == bool(mark)
    assert all(mark + text in copied for text in best)


@pytest.mark.parametrize("width", [400, 1400, 1600])
def test_nothing_is_wider_than_the_window_and_first_columns_and_contents_stay(browser, report, width):
    watched = Watched(browser, report, width)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    whole = "node => node.scrollWidth <= node.clientWidth"
    assert width < 1400 or watched.page.locator("#summary-table .scroll").evaluate(whole)
    box = watched.page.locator("[id='set-two-results-table']")
    first = box.locator("tbody th").first
    before = first.bounding_box()["x"]
    box.locator(".scroll").evaluate("node => { node.scrollLeft = node.scrollWidth }")
    assert first.bounding_box()["x"] == pytest.approx(before, abs=1)
    watched.page.evaluate("window.scrollTo(0, 3000)")
    watched.page.wait_for_function("() => scrollY > 100")
    assert watched.page.locator("nav").bounding_box()["y"] == pytest.approx(0, abs=1)
    for drawing in watched.page.locator(".figure svg").all():
        frame = drawing.bounding_box()
        assert frame["x"] >= 0 and frame["x"] + frame["width"] <= width
    assert watched.complaints == [] and watched.requests == [report.as_uri()]
    watched.context.close()


def test_the_print_has_few_pages_and_whole_numbers(browser, report):
    watched = Watched(browser, report)
    watched.page.emulate_media(media="print")
    broken = """() => [...document.querySelectorAll("td.n")].filter((one) => one.getClientRects().length
      && one.textContent.includes("±") && one.getBoundingClientRect().height > 30).length"""
    assert watched.page.evaluate(broken) == 0
    assert len(re.findall(rb"/Type /Page\b", watched.page.pdf())) <= 4
    watched.context.close()


def test_names_and_levels_of_headings(watched):
    """Those of the accessibility tree, which screen readers read."""
    session = watched.context.new_cdp_session(watched.page)
    names, levels = [], []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", ())}
        role = node["role"]["value"]
        if role == "image" or "focusable" in properties and role not in ("list", "RootWebArea"):
            names.append((node["name"]["value"].strip(), role))
        if role == "heading":
            levels.append(properties["level"])
    assert len(names) > 20 and [role for name, role in names if not name] == []
    assert levels[0] == 1 and max(np.diff(levels)) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, scheme):
    page.emulate_media(color_scheme=scheme)
    pale = page.evaluate(PALE_TEXTS)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme=None)
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    assert pale == []


def test_it_reads_without_a_script(browser, report):
    watched = Watched(browser, report, java_script_enabled=False)
    assert watched.page.locator("[id='set-two-results-table'] tbody tr").count() == 6
    assert watched.page.locator(".figures svg").count() == 4
    watched.context.close()


def test_no_error_and_no_request(watched, report):
    """It runs last, after everything was clicked."""
    assert watched.complaints == []
    assert {url.partition("#")[0] for url in watched.requests} == {report.as_uri()}
