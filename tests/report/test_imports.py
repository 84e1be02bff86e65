"""Modules that a run imports before its report is written."""

from processes import assert_program

VALUES = {
    "name": "a",
    "datasets": [{"generate": "five-gaussians", "n": 40, "test-n": 10}],
    "methods": ["knn"],
    "protocol": {"kind": "fixed-split"},
}


def test_the_first_figure_imports_nothing():
    assert_program(
        "import sys\n"
        "from pathlib import Path\n"
        "from tempfile import mkdtemp\n"
        "from confml.config import make_config\n"
        "from confml.report.imports import import_report\n"
        f"values = {VALUES}\n"
        "config = make_config({**values, 'figures': ['efficiency']}, figures={'efficiency'})\n"
        "import_report(config)\n"
        "before = set(sys.modules)\n"
        "from confml.report.figures.style import Panels, save, style\n"
        "with style():\n"
        "    panels = Panels(2, height=2.0)\n"
        "    for axes in panels.axes:\n"
        "        panels.handles['a'], = axes.plot([1, 2], [1, 2], label='a')\n"
        "    assert len(save(panels.finish('two'), Path(mkdtemp()) / 'x')) == 2\n"
        "new = {name for name in set(sys.modules) - before if name.startswith(('matplotlib', 'PIL'))}\n"
        "assert not new, new\n"
    )


def test_without_figures_matplotlib_is_not_imported():
    assert_program(
        "import sys\n"
        "from confml.config import make_config\n"
        "from confml.report.imports import import_report\n"
        f"values = {VALUES}\n"
        "import_report(make_config(values))\n"
        "assert 'jinja2' in sys.modules and 'matplotlib' not in sys.modules\n"
    )
