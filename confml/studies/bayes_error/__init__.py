"""What ``confml bayes-error`` says of a data set: as rows, CSV and JSON files, on stdout, and as figures."""

from __future__ import annotations

from confml.studies.bayes_error.console import print_study
from confml.studies.bayes_error.document import study_document, write_study

__all__ = ["print_study", "study_document", "write_study"]
