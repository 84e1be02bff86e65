"""Definitions of the headings of a page's tables."""

import functools

from confml.measures import known_metrics
from confml.report.answers.text import TERMS

HEADINGS = {
    "data set": "Name of the data set in the config.",
    "method": "Label of a method variant, with its view if the method has several.",
    "level": "Significance level of a region: the error rate that a guarantee allows.",
    "threshold": "Smallest confidence of an accepted prediction.",
    "advice": "Best method for the aim of the run; see the answer of the data set for the reason of a dash.",
    "value": "Mean of the best method in the unit of the aim.",
    "majority class (%)": "Error of the classifier that always answers the most frequent class of training.",
    "fastest of these": "Fastest among the best method and those that are not shown to differ from it.",
    "lowest error": "Method with the lowest mean error; several if they are tied.",
    "not shown to differ": TERMS["not shown to differ"],
    "certified at 1 % risk (%)": TERMS["certified"],
    "chosen on test rows (%)": TERMS["chosen"],
    "chosen at 1 % risk (%)": TERMS["chosen"],
    "chosen method": "Method of the largest share that is chosen on the test rows.",
    "difference from lowest (points)": "Error minus the lowest error of the data set, on common splits.",
    "95 % interval": "Interval of the difference, simultaneous for all pairs of methods and views.",
    "p (Holm)": "p-value of the t test of the test rows, after Holm's correction over all pairs.",
    "mean rank": "Mean of the ranks on the data sets; 1 is the best.",
    "data sets won": "Number of data sets on which the method has the best mean.",
    "difference from best": "Mean rank minus the smallest mean rank.",
    "shown to differ from the best": "Whether Wilcoxon's test, after Holm's correction, shows a difference.",
    "risk (%)": "Bound on the error rate of accepted predictions.",
    "certified splits": "Number of splits on which half of the test part certifies a threshold.",
    "coverage (%)": "Share of the predictions that are accepted; 0 on a split without a certificate.",
    "observed risk (%)": "Error rate of the accepted predictions of the other half.",
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
    "recall (%)": "Share of the examples of a class that are predicted as this class.",
    "class": "Label of a class.",
    "test examples": "Number of test examples of all splits.",
    "column": "Column whose values define groups.",
    "group": "Value, or interval of values, of the column.",
    "coverage": "Share of the regions that contain the true label.",
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
    "first (%)": "Error of the method in the first run.",
    "second (%)": "Error of the method in the second run.",
    "first - second (points)": "Difference of the errors on common splits.",
    "p": "p-value of the pair alone.",
    "row": "Number of the row in the loaded part.",
    "label": "Label in the data.",
    "confidence": "Confidence of the prediction.",
    "credibility": "Largest p-value.",
    "region": "Set of labels at the significance level.",
    "reason": "certain: one label; ambiguous: several; atypical: none.",
}
"""Definition of each heading that is no metric."""


@functools.cache
def _of_metrics() -> dict[str, str]:
    found: dict[str, str] = {}
    for one in known_metrics().values():
        about = f"{one.about[:1].upper()}{one.about[1:]}."
        if one.direction:
            about += f" {one.direction.capitalize()} is better."
        found.setdefault(one.label, about)
        found.setdefault(one.heading, about)
    return found


def definition(heading: str) -> str:
    """Return the definition of a heading; "" for names, such as those of labels and methods."""
    plain = "level" if heading.startswith("level ") else heading
    return HEADINGS.get(plain) or _of_metrics().get(plain, "")
