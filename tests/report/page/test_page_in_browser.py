"""``report.html`` in Chromium: no error, no request, and everything that can be clicked works.

The tests are skipped where Playwright or Chromium is not installed (Debian: ``apt-get install chromium``).
"""

import json
import re
import shutil
from xml.etree import ElementTree

import pytest
from report.page.test_page import HOSTILE, some_run

from confml.report.write import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install 'confml[dev]')")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("needs Chromium (Debian: apt-get install chromium)", allow_module_level=True)

CHECKS = """() => {
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
  const texts = (nodes) => [...nodes].map((one) => one ? one.textContent : "").join(" ");
  const named = (node) => (node.getAttribute("aria-labelledby") || "").split(/\\s+/)
    .map((id) => document.getElementById(id));
  const name = (node) => (node.getAttribute("aria-label") || texts(node.labels || []) || texts(named(node))
    || node.getAttribute("alt") || node.textContent || "").trim();
  const found = {pale: [], nameless: [], lines: [], headings: []};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    if (!text || !shown(node) || node.closest("script,style,.visually-hidden,.skip,:disabled")) continue;
    const style = getComputedStyle(node), svg = node.closest("svg");
    const ratio = contrast(colour(svg ? style.fill : style.color).slice(0, 3), behind(node));
    const faded = [...(function* (one) { for (; one; one = one.parentElement) yield one; })(node)]
      .reduce((opacity, one) => opacity * getComputedStyle(one).opacity, 1);
    if (ratio < 4.5 || faded < 0.99) {
      found.pale.push([text.slice(0, 40), ratio, faded]);
    }
  }
  const operable = "button,input,select,a[href],[role=img],img,[role=region],[tabindex]";
  for (const node of document.querySelectorAll(operable)) {
    if (shown(node) && !name(node)) found.nameless.push(node.outerHTML.slice(0, 80));
  }
  for (const node of document.querySelectorAll("g.series:not([hidden]) .line")) {
    const ratio = contrast(colour(getComputedStyle(node).stroke), behind(node));
    if (ratio < 3) found.lines.push([node.parentElement.getAttribute("class"), ratio]);
  }
  let level = 0;
  for (const node of document.querySelectorAll("h1,h2,h3,h4,h5")) {
    if (+node.tagName[1] > level + 1) found.headings.push(node.textContent);
    level = +node.tagName[1];
  }
  return found;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    write_report(some_run(datasets=(HOSTILE, "two"), classes=(HOSTILE, "b", "c"), methods=6), folder)
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
    one = Watched(browser, report)
    yield one
    one.context.close()


@pytest.fixture
def page(watched):
    return watched.page


def column(page, table, place):
    rows = page.locator(f"[id='{table}'] tbody tr:not([hidden])").all()
    return [row.locator("th,td").nth(place).inner_text() for row in rows]


def test_sorting(page):
    before = column(page, "two.results", 1)
    head = page.locator("[id='two.results'] thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    first = [float(text.split()[0]) for text in column(page, "two.results", 1)]
    assert first == sorted(first) and len(first) == len(before) > 3
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(text.split()[0]) for text in column(page, "two.results", 1)] == sorted(first, reverse=True)


def test_filtering(page):
    field = page.locator("[id='two.results'] input[type=search]")
    field.fill("knn")
    assert column(page, "two.results", 0) == ["knn k=1"]
    field.fill("")
    assert len(column(page, "two.results", 0)) == 6


@pytest.mark.parametrize(
    ("form", "expected"),
    [("CSV", "method,level,"), ("Markdown", "| method | level |")],
)
def test_copies(page, form, expected):
    page.locator("[id='two.regions'] .tools button", has_text=form).click()
    copied = page.evaluate("window.confmlCopied")
    assert expected in copied and "knn k=1" in copied
    assert copied.count("\n") >= 13


@pytest.mark.parametrize(("form", "mark"), [("CSV", ""), ("Markdown", "**")])
def test_copies_have_the_bold_values_that_the_caption_names(page, form, mark):
    page.locator("[id='two.results'] .tools button", has_text=form).click()
    copied = page.evaluate("window.confmlCopied")
    best = page.locator("[id='two.results'] td.best").all_inner_texts()
    assert len(best) > 1 and ("**" in copied) == bool(mark)
    assert all(mark + text in copied for text in best)


def test_links_open_what_is_folded(page):
    for table in ("two.times", "two.view-2"):
        assert not page.locator(f"[id='{table}']").is_visible()
        page.evaluate("id => { location.hash = id }", table)
        page.wait_for_function("id => document.getElementById(id).checkVisibility()", arg=table)
    assert page.locator("[id='two.view']").input_value() == "2"


def test_level_slider(page, report):
    page.locator("[id='two.view']").select_option("0")
    box = page.locator("[id='two.explorer']")
    data = json.loads(box.locator("script").text_content())
    slider = box.locator("input.level")
    coverage = []
    for level in (0, len(data["levels"]) - 1):
        slider.fill(str(level))
        assert box.locator("output").inner_text() == str(data["levels"][level])
        coverage.append(float(re.search(r"coverage ([0-9.]+)", box.locator(".counts").inner_text())[1]))
    assert coverage[0] > coverage[1]
    slider.fill(str(data["levels"].index(0.05)))
    rows = data["views"][0]["rows"]
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    of_row = [digits.index(one) > data["levels"].index(0.05) for one in rows["regions"][: rows["classes"]]]
    region = "{" + ", ".join(name for name, inside in zip(rows["names"], of_row, strict=True) if inside) + "}"
    assert box.locator("tbody tr").first.locator("td").nth(4).inner_text() == region


def test_searching_test_examples(page):
    box = page.locator("[id='two.explorer']")
    box.locator("select.filter").select_option("wrong")
    assert all("(wrong)" in one.inner_text() for one in box.locator("tbody tr td:nth-child(3)").all())
    box.locator("select.filter").select_option("")
    total = box.locator(".place").inner_text()
    box.locator("input.search").fill("no such row")
    assert box.locator(".place").inner_text() == "no row" != total
    box.locator("input.search").fill("")
    box.locator("button.next").click()
    assert box.locator(".place").inner_text().startswith("rows 26 to 40 of 40")


def test_choosing_a_method(page):
    choice = page.locator("[id='two.view']")
    choice.select_option("1")
    visible = page.locator("[id='two.panels'] .panel:not([hidden])")
    assert visible.count() == 1 and visible.get_attribute("data-view") == "1"
    choice.select_option("0")


def test_lines_can_be_hidden(page):
    box = page.locator("[id='two.risk-coverage']")
    key, line = box.locator("button.key").first, box.locator("g.series").first
    assert line.is_visible() and key.get_attribute("aria-pressed") == "true"
    key.click()
    assert not line.is_visible() and key.get_attribute("aria-pressed") == "false"
    key.click()
    assert line.is_visible()


def test_values_under_the_pointer_and_by_keys(page):
    box = page.locator("[id='two.risk-coverage']")
    box.locator(".plot").scroll_into_view_if_needed()
    frame = box.locator("svg.chart").bounding_box()
    page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    assert box.locator(".readout dd").count() == 6
    box.locator(".plot").focus()
    page.keyboard.press("ArrowRight")
    after = box.locator(".readout").inner_text()
    page.keyboard.press("ArrowRight")
    assert box.locator(".readout").inner_text() != after
    page.keyboard.press("Escape")
    assert not box.locator(".readout").is_visible()


def test_definitions_of_headings(page):
    tip = page.locator("#about")
    head = page.locator("[id='two.results'] thead th").nth(1)
    head.hover()
    assert "wrong" in tip.inner_text() and tip.is_visible()
    page.mouse.move(2, 2)
    assert not tip.is_visible()
    head.locator("button").focus()
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert not tip.is_visible()


@pytest.mark.parametrize("width", [400, 1600])
def test_first_columns_and_contents_stay_and_a_cue_says_that_columns_continue(browser, report, width):
    one = Watched(browser, report, width)
    box = one.page.locator("[id='two.results']")
    narrow = width == 400
    assert box.locator(".cue").is_visible() == narrow
    first = box.locator("tbody th").first
    before = first.bounding_box()["x"]
    area = box.locator(".scroll")
    area.evaluate("node => { node.scrollLeft = node.scrollWidth }")
    assert first.bounding_box()["x"] == pytest.approx(before, abs=1)
    one.page.wait_for_function("() => document.querySelector(\"[id='two.results'] .cue\").hidden")
    one.page.evaluate("window.scrollTo(0, 3000)")
    one.page.wait_for_function("() => scrollY > 100")
    assert one.page.locator("nav.contents").bounding_box()["y"] == pytest.approx(0, abs=1)
    one.context.close()


def test_the_band_of_a_line_is_shown_at_its_name(page):
    box = page.locator("[id='two.risk-coverage']")
    lit = box.locator("svg.chart g.lit")
    assert lit.count() == 1
    box.locator("button.key").nth(2).focus()
    assert (
        box.locator("svg.chart g.series").nth(2).get_attribute("class").endswith("lit") and lit.count() == 1
    )


def test_the_print_has_few_pages_and_whole_numbers(browser, report):
    one = Watched(browser, report)
    one.page.emulate_media(media="print")
    broken = """() => [...document.querySelectorAll("td.n")].filter((one) => one.getClientRects().length
      && one.textContent.includes("±") && one.getBoundingClientRect().height > 30).length"""
    assert one.page.evaluate(broken) == 0
    assert len(re.findall(rb"/Type /Page\b", one.page.pdf())) <= 6
    one.context.close()


def test_dark_mode(page):
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.locator("#theme").select_option("dark")
    assert page.evaluate(background) != "rgb(255, 255, 255)"
    page.locator("#theme").select_option("")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_names(page, scheme):
    page.locator("#theme").select_option(scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    found = page.evaluate(CHECKS)
    page.locator("#theme").select_option("")
    assert found == {"pale": [], "nameless": [], "lines": [], "headings": []}


@pytest.mark.parametrize("width", [400, 1600])
def test_nothing_is_wider_than_the_window(browser, report, width):
    one = Watched(browser, report, width)
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    assert one.complaints == [] and one.requests == [report.as_uri()]
    one.context.close()


def test_it_reads_without_a_script(browser, report):
    one = Watched(browser, report, java_script_enabled=False)
    assert one.page.locator("[id='two.results'] tbody tr").count() == 6
    for summary in one.page.locator("section.dataset summary").all():
        summary.click()
    assert one.page.locator("[id='two.panels'] .panel").nth(1).is_visible()
    assert not one.page.locator("[id='two.explorer']").is_visible()
    one.context.close()


def test_no_error_and_no_request(watched, report):
    """It runs last, after everything was clicked."""
    assert watched.complaints == []
    assert {url.partition("#")[0] for url in watched.requests} == {report.as_uri()}


@pytest.mark.parametrize("name", ["risk-coverage", "calibration"])
def test_charts_are_saved_as_files(page, name, tmp_path):
    """SVG files have the visible lines, a legend and no style sheet; PDF files have correct offsets."""
    box = page.locator(f"[id='two.{name}']")
    keys = box.locator("button.key[aria-pressed]")
    keys.first.click()
    files = {}
    for kind in ("SVG", "PDF"):
        with page.expect_download() as started:
            box.locator("button", has_text=kind).click()
        assert (
            started.value.suggested_filename
            == f"{'risk-coverage-curves' * (name[0] == 'r') or name}-two.{kind.lower()}"
        )
        started.value.save_as(tmp_path / kind)
        files[kind] = (tmp_path / kind).read_bytes()
    keys.first.click()
    svg = ElementTree.fromstring(files["SVG"])
    texts = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    shown = [one.locator("span").inner_text() for one in keys.all()]
    assert shown[0] not in texts and set(shown[1:]) < set(texts)
    assert b"var(--" not in files["SVG"] and b"stroke: rgb(" in files["SVG"] and b"cursor" not in files["SVG"]
    pdf = files["PDF"]
    assert pdf.startswith(b"%PDF-1.4\n") and pdf.endswith(b"%%EOF\n")
    start = int(pdf.split()[-2])
    places = [int(line.split()[0]) for line in pdf[start:].splitlines()[3:8]]
    assert pdf[start:].startswith(b"xref") and all(
        pdf[place:].startswith(b"%d 0 obj" % number) for number, place in enumerate(places, start=1)
    )
    assert pdf.count(b" Tj ET") == len(texts) and b"NaN" not in pdf and b"undefined" not in pdf
