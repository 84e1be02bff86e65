"""Reports of a run, made from stored results: files, figures, and the tables that ``confml run`` prints.

A report is a list of sections (`confml.report.sections`), each found like a method. Only sections with
``refits`` fit models, and no section removes results.
"""

from confml.report.console import print_json, print_run
from confml.report.figures import check_figure, known_figures
from confml.report.published import known_tables
from confml.report.results import DatasetInfo, Failure, RunResults
from confml.report.sections.published_tables import combined_tables, published_table
from confml.report.stored import open_run
from confml.report.write import write_items, write_report

__all__ = [
    "DatasetInfo",
    "Failure",
    "RunResults",
    "check_figure",
    "combined_tables",
    "known_figures",
    "known_tables",
    "open_run",
    "print_json",
    "print_run",
    "published_table",
    "write_items",
    "write_report",
]
