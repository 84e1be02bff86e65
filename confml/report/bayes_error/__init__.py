"""Bayes error study of a data set: estimates, CSV and JSON files, printed tables and figures."""

from pathlib import Path

from confml._json import to_json
from confml.report.bayes_error.console import print_study
from confml.report.bayes_error.figures import FIGURES, draw_study
from confml.report.bayes_error.study import Study
from confml.report.bayes_error.tables import TABLES, study_document, write_rows
from confml.report.files import remove_earlier, write_file

__all__ = ["print_study", "study_document", "write_study"]


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write CSV and JSON files and the figures below a folder, and return their paths.

    Stale files of an earlier study are removed.
    """
    tables = {f"{name}.csv": rows_of(study) for name, rows_of in TABLES.items()}
    paths = [write_rows(folder / name, rows) for name, rows in tables.items() if rows]
    document = to_json(study_document(study), indent=1) + "\n"
    paths += [write_file(folder / "bayes-error.json", document), *draw_study(study, folder)]
    remove_earlier(folder, [*tables, *FIGURES], paths)
    return paths
