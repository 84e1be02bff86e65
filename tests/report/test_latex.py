"""LaTeX tables: columns of siunitx, marks outside of numbers, and that they compile where TeX is found."""

import re
import shutil
import subprocess

import pytest
from report.report_cases import golden_run

from confml.report.forms.grid import latex
from confml.report.forms.summary import summary_tables
from confml.report.items import Grid, Mark

PREAMBLE = r"\documentclass{article}\usepackage{booktabs,longtable,siunitx,rotating}\begin{document}"
GRID = Grid(
    "Results & more",
    ["method", "error (%)", "size", "note"],
    [
        ["a_1", Mark("3.86 ± 1.52", True), "1.000", "yes"],
        ["b", Mark("13.39 ± 0.83", False, "*"), "-12.5", "-"],
        ["c", "-", "", "no"],
    ],
)


def test_numbers_are_columns_of_siunitx_with_marks_outside():
    text = latex(GRID, "t")
    post = r"S[table-format = 2.2(3), table-space-text-post = {$^{*}$}]"
    assert rf"\begin{{tabular}}{{l{post}S[table-format = -2.3]r}}" in text
    assert r"method & {error (\%)} & {size} & note \\" in text
    assert r"a\_1 & \bfseries 3.86 \pm 1.52 & 1.000 & yes \\" in text
    assert r"b & 13.39 \pm 0.83 {$^{*}$} & -12.5 & - \\" in text
    assert r"c & {--} &  & no \\" in text


def test_texts_are_not_taken_for_numbers():
    grid = Grid("t", ["key", "p", "x"], [["a", "<0.001", "1e-05"], ["b", "0.5", "inf"]])
    assert r"\begin{tabular}{lrr}" in latex(grid, "t")


@pytest.mark.parametrize("name", ["small", "long", "sideways", "run"])
def test_the_tables_compile(name, tmp_path):
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("needs pdflatex (Debian: apt-get install texlive-latex-base texlive-science)")
    packages = ("siunitx", "booktabs", "longtable", "rotating")
    if any(not subprocess.run(["kpsewhich", f"{one}.sty"], capture_output=True).stdout for one in packages):
        pytest.skip("needs siunitx, booktabs and rotating (Debian: texlive-science)")
    long = Grid(GRID.title, GRID.headings, list(GRID.rows) * 20, notes=["100 % sure"])
    tables = {
        "small": [latex(GRID, "t")],
        "long": [latex(long, "t")],
        "sideways": [latex(GRID, "t", sideways=True)],
        "run": [latex(one.grid, one.kind.name) for one in summary_tables(golden_run())],
    }[name]
    path = tmp_path / "t.tex"
    path.write_text("\n".join([PREAMBLE, *tables, r"\end{document}"]), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, re.findall(r"^! .*(?:\n.*){3}", log, re.M)
    assert "Package siunitx Warning" not in log
