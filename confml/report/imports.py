"""`import_report`: the modules that the report of a run uses, imported before it is written."""

import importlib

from confml.config import Config

MODULES = (
    "scipy.optimize",
    "jinja2",
    "confml.report.write",
    "confml.report.run.stored",
)


def import_report(config: Config) -> None:
    """Import the modules of the report and what its figures and templates need, which takes a second."""
    from confml.report.figures.style import prepare
    from confml.report.page.page import page_template

    for name in MODULES:
        importlib.import_module(name)
    page_template()
    if config.figures:
        prepare()
