"""`import_report`: the modules that the report of a run uses, imported before it is written."""

import importlib

from confml.config import Config

MODULES = (
    "scipy.optimize",
    "jinja2",
    "confml.report.write",
    "confml.report.run.stored",
)
FIGURES = (
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
    *("matplotlib.backends.backend_pdf", "fontTools.subset"),
)


def import_report(config: Config) -> None:
    """Import the modules of the report and compile its templates; with the libraries this takes a second."""
    from confml.report.page.render import compile_templates
    from confml.report.sections.base import known_sections

    known_sections()
    for name in MODULES + (FIGURES if config.figures else ()):
        importlib.import_module(name)
    compile_templates()
