"""Bayes error study of a data set: estimates, CSV and JSON files, printed tables and figures."""

from confml.studies.bayes_error.console import print_study
from confml.studies.bayes_error.document import study_document, write_study

__all__ = ["print_study", "study_document", "write_study"]
