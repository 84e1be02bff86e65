"""Rows of the forward selection of features and of the ranked transforms of a study."""

from typing import Any

import numpy as np

from confml.studies.bayes_error.study import Study


def selection_rows(study: Study) -> list[dict[str, Any]]:
    """Return the selected features in order, with the criterion after each."""
    if study.selection is None:
        return []
    taken = zip(study.selection.attributes.tolist(), study.selection.criterion.tolist(), strict=True)
    return [
        {"step": step, "attribute": study.attributes[number], "criterion": value}
        for step, (number, value) in enumerate(taken, start=1)
    ]


def transform_rows(study: Study) -> list[dict[str, Any]]:
    """Return the transforms, best first: mean and worst of the pairs, mean and worst of one-vs-rest."""
    found = []
    for one in study.ranked or ():
        pairs = one.errors.pairwise.estimate[np.triu_indices(len(study.classes), 1)]
        rest = one.errors.one_vs_rest.estimate
        found.append(
            {
                "transform": one.name,
                "columns": one.columns,
                "mean_of_pairs": float(pairs.mean()),
                "worst_pair": float(pairs.max()),
                "mean_of_classes": float(rest.mean()),
                "worst_class": float(rest.max()),
            }
        )
    return found


def transform_of_class_rows(study: Study) -> list[dict[str, Any]]:
    """Return the one-vs-rest estimate, Bayes error and bounds of each class after each transform."""
    return [
        {
            "class": label,
            "transform": one.name,
            "columns": one.columns,
            "estimate": float(rest.estimate[place]),
            # the estimate is the middle of its bounds, whose priors are those of the ranked rows
            "bayes_error": float(rest.lower[place] + rest.upper[place]) / 2,
            "lower": float(rest.lower[place]),
            "upper": float(rest.upper[place]),
        }
        for place, label in enumerate(study.classes.tolist())
        for one in study.ranked or ()
        for rest in (one.errors.one_vs_rest,)
    ]
