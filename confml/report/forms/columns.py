"""The columns of a page's tables: heading, definition, digits and unit, each declared once."""

import functools
from typing import NamedTuple

from confml.measures import known_metrics
from confml.report.answers.text import TERMS


class Column(NamedTuple):
    """A declared column: its definition, and how its numbers are written.

    digits: decimals, None for up to 4 significant digits. factor: 100 for a share in per cent.
    """

    about: str
    digits: int | None = None
    factor: float = 1.0


HEADINGS: dict[str, str | Column] = {
    "data set": "Name of the data set in the config.",
    "method": "Label of a method variant, with its view if the method has several.",
    "level": "Significance level of a region: the error rate that a guarantee allows.",
    "threshold": "Smallest confidence of an accepted prediction.",
    "advice": "Best method for the aim of the run; see the answer of the data set for the reason of a dash.",
    "value": "Mean of the best method in the unit of the aim.",
    "fastest of these": "Fastest among the best method and those that are not shown to differ from it.",
    "lowest error": "Method with the lowest mean error; several if they are tied.",
    "not shown to differ": TERMS["not shown to differ"],
    "certified at 1 % risk (%)": Column(TERMS["certified"], 0, 100),
    "chosen on test rows (%)": Column(TERMS["chosen"], 0, 100),
    "chosen at 1 % risk (%)": Column(TERMS["chosen"], 0, 100),
    "chosen method": "Method of the largest share that is chosen on the test rows.",
    "difference from lowest (points)": Column(
        "Error minus the lowest error of the data set, on common splits.", 2, 100
    ),
    "95 % interval": "Interval of the difference, simultaneous for all pairs of methods and views.",
    "p (Holm)": "p-value of the t test of the test rows, after Holm's correction over all pairs.",
    "mean rank": Column("Mean of the ranks on the data sets; 1 is the best.", 2),
    "data sets won": "Number of data sets on which the method has the best mean.",
    "difference from best": Column("Mean rank minus the smallest mean rank.", 2),
    "shown to differ from the best": "Whether Wilcoxon's test, after Holm's correction, shows a difference.",
    "risk (%)": "Bound on the error rate of accepted predictions.",
    "certified splits": "Number of splits on which half of the test part certifies a threshold.",
    "coverage (%)": Column(
        "Share of the predictions that are accepted; 0 on a split without a certificate.", 1, 100
    ),
    "observed risk (%)": Column("Error rate of the accepted predictions of the other half.", 2, 100),
    "fit": "Mean seconds of fit per split on one thread.",
    "inner selection": "Mean seconds of inner cross-validation per split on one thread.",
    "grid points": "Number of parameter combinations of inner selection.",
    "prediction": "Predicted label; in the table of times, mean seconds of prediction per split.",
    "total": "Sum of fit, inner selection and prediction.",
    "chosen": "Grid point that inner selection has chosen.",
    "splits": "Number of splits.",
    "inner score, mean": "Mean inner score of the grid point.",
    "selected by": "Inner score that selects the grid point.",
    "true label": "Label in the data.",
    "predicted label": "Label that the method predicts.",
    "predictions": "Number of test predictions of all splits.",
    "recall (%)": Column("Share of the examples of a class that are predicted as this class.", 1, 100),
    "class": "Label of a class.",
    "test examples": "Number of test examples of all splits.",
    "column": "Column whose values define groups.",
    "group": "Value, or interval of values, of the column.",
    "coverage": Column("Share of the regions that contain the true label.", 2, 100),
    "interval": "95 % interval of the coverage, for all groups of a column together.",
    "band": "95 % band of the coverage of valid p-values.",
    "failure": "Error of the cells; errors that differ in numbers are one line.",
    "cells": "Number of cells.",
    "data sets": "Data sets with such cells.",
    "calls": "Calls of the method that led to the error, outside confml.",
    "quantity": "Quantity of the published table.",
    "published": "Printed number.",
    "this run": "Number of this run.",
    "difference": "Number of this run minus the printed number.",
    "as printed": "Number of this run with the digits of the printed number.",
    "sd": "Standard deviation over splits.",
    "status": "Whether the run has the number.",
    "rows": "Number of rows.",
    "features": "Number of features.",
    "classes": "Number of classes.",
    "smallest class": "Rows of the smallest class.",
    "largest class": "Rows of the largest class.",
    "provider's split": "Rows of the training and test parts of the provider.",
    "checksum": "First digits of the SHA-256 of the data.",
    "finding": "Code of a finding in the data.",
    "about": "The finding.",
    "item": "Version, machine or time of the run.",
    "key": "Key of the config.",
    "remedy": "Action against it.",
    "first run": "Run of the first number.",
    "second run": "Run of the second number.",
    "first (%)": Column("Error of the method in the first run.", 2, 100),
    "second (%)": Column("Error of the method in the second run.", 2, 100),
    "first - second (points)": Column("Difference of the errors on common splits.", 2, 100),
    "p": "p-value of the pair alone.",
    "row": "Number of the row in the loaded part.",
    "label": "Label in the data.",
    "confidence": "Confidence of the prediction.",
    "credibility": "Largest p-value.",
    "region": "Set of labels at the significance level.",
    "reason": "certain: one label; ambiguous: several; atypical: none.",
}
"""Definition or column of each heading that is no metric."""


@functools.cache
def _of_metrics() -> dict[str, Column]:
    found: dict[str, Column] = {}
    for one in known_metrics().values():
        about = f"{one.about[:1].upper()}{one.about[1:]}."
        if one.direction:
            about += f" {one.direction.capitalize()} is better."
        for heading in (one.label, one.heading):
            found.setdefault(heading, Column(about, one.digits, one.factor))
    return found


def column_of(heading: str) -> Column:
    """Return the column of a heading; without a definition for names, such as those of labels and methods."""
    plain = "level" if heading.startswith("level ") else heading
    if (found := HEADINGS.get(plain)) is None:
        return _of_metrics().get(plain, Column(""))
    return Column(found) if isinstance(found, str) else found
