"""Sentences on the classes whose coverage is shown to be too low.

A promise for all rows says nothing about one class: regions that contain 95 % of all labels may contain
64 % of those of a rare class.
"""

from collections.abc import Mapping
from typing import Any

from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import rows_needed
from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.text import some


def class_sentences(comparisons: Comparisons, line: Line, level: float) -> list[str]:
    """Return a sentence for each class that the regions of a line contain too rarely, and the remedy."""
    several = len({other.dataset for other in comparisons.lines}) > 1
    sentences = some(
        [
            f"{f'{line.dataset}, class' if several else 'Class'} {label}: the regions of "
            f"{comparisons.label(line)} {low_class_text(coverage, level)}."
            for label, coverage in comparisons.low_classes(line, level)
        ]
    )
    if not sentences or comparisons.low_coverage(line, level) is not None:  # of all rows together
        return sentences
    unpromised = comparisons.promise(line, level) is None
    option = "conformal: split with mondrian: true" if unpromised else "mondrian: true"
    remedy = per_class_remedy(comparisons.cell(line).params, level, option)
    return [*sentences, remedy] if remedy else sentences


def low_class_text(coverage: float, level: float) -> str:
    """Return the coverage of a class as the predicate of a sentence on regions."""
    return f"cover {100 * coverage:.3g} %, which is shown to be too low for {100 * (1 - level):g} %"


def per_class_remedy(params: Mapping[str, Any], level: float, option: str) -> str:
    """Return a sentence on the option that promises each class its level; "" where p-values do so."""
    if has_label_conditional_p_values(params):
        return ""
    return f"{option} promises each class its level and needs {rows_needed(level)} rows of it."
