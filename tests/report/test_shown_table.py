"""`ShownTable`: one table as text, Markdown, LaTeX and HTML, from pandas and tabulate."""

import re
import shutil
import subprocess

import pandas as pd
import pytest

from confml.report.shown_table import PAGE_ROWS, ShownTable, to_console, to_html, to_latex, to_markdown

FRAME = pd.DataFrame(
    [
        ["usps", "a_1", "3.86 ± 1.52", "1.000", "yes", "<0.001"],
        ["usps", "b & c", "13.39 ± 0.83 *", "-12.5", "-", ""],
        ["iris", "b & c", "-", "", "no", "1e-05"],
    ],
    columns=["data set", "method", "error (%)", "set size", "note", "p"],
)
BEST = pd.DataFrame(False, FRAME.index, FRAME.columns)
BEST.iloc[0, 2] = True
TABLE = ShownTable("Results & more", FRAME, ["100 % <sure>"], 2, BEST, {"set size": "Labels of a region."})
PREAMBLE = r"\documentclass{article}\usepackage{booktabs,longtable,siunitx}\begin{document}"


def test_a_console_aligns_digits_below_digits_and_names_a_data_set_once():
    lines = to_console(TABLE).split("\n")
    assert lines[0] == "Results & more" and lines[-3] == "100 % <sure>"
    assert [line.split("  ")[0] for line in lines[3:6]] == ["usps", "", "iris"]
    assert lines[3].index(".86") == lines[4].index(".39")


def test_a_narrow_console_has_blocks_with_the_keys_and_whole_words():
    text = to_console(TABLE, width=36)
    assert all(len(line) <= 36 for line in text.split("\n"))
    assert text.count("method") > 1 and text.count("  a_1") == text.count("\nusps\n") == text.count("method")
    for word in " ".join(FRAME.to_numpy().ravel()).split():
        assert word in text


def test_markdown_escapes_and_makes_the_best_bold():
    text = to_markdown(TABLE)
    assert text.startswith("## Results & more\n\n| data set") and text.endswith("\n\n- 100 % \\<sure\\>\n")
    assert "**3.86 ± 1.52**" in text and r"13.39 ± 0.83 \*" in text and r"a\_1" in text
    rule = next(line for line in text.split("\n") if line.startswith("|:"))
    to_the_right = [cell.endswith(":") for cell in rule.strip("|").split("|")]
    assert to_the_right == [False, False, True, True, False, True]


def test_latex_has_columns_of_siunitx_with_marks_outside_of_numbers():
    text = to_latex(TABLE, "t")
    assert r"\begin{tabular}{llSSlr}" in text
    assert r"{data set} & {method} & {error (\%)} & {set size} & {note} & {p} \\" in text
    assert r"usps & a\_1 & \bfseries 3.86 \pm 1.52 & 1.000 & yes & $<$0.001 \\" in text
    assert r" & b \& c & 13.39 \pm 0.83 {$^{*}$} & -12.5 & - &  \\" in text
    assert r"\caption[Results \& more]{Results \& more. 100 \% $<$sure$>$}" in text


def test_html_escapes_and_tells_what_a_heading_means():
    text = to_html(TABLE, "results")
    assert '<th scope="row">b &amp; c</th>' in text and '<td class="n"><b>3.86 ± 1.52</b></td>' in text
    assert 'title="Labels of a region."' in text and '<p class="note">100 % &lt;sure&gt;</p>' in text


@pytest.mark.parametrize("repeats", [1, PAGE_ROWS])
def test_latex_tables_compile(repeats, tmp_path):
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("needs pdflatex (Debian: apt-get install texlive-latex-base texlive-science)")
    packages = ("siunitx", "booktabs", "longtable")
    if any(not subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True).stdout for name in packages):
        pytest.skip("needs siunitx and booktabs (Debian: texlive-science)")
    frame, best = (pd.concat([part] * repeats, ignore_index=True) for part in (FRAME, BEST))
    table = to_latex(ShownTable(TABLE.title, frame, TABLE.notes, 2, best), "t")
    path = tmp_path / "t.tex"
    path.write_text("\n".join([PREAMBLE, table, r"\end{document}"]), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, re.findall(r"^! .*(?:\n.*){3}", log, re.M)
