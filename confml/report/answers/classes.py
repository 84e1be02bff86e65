"""Sentences on the classes whose coverage is shown to be too low.

A promise for all rows says nothing about one class: regions that contain 95 % of all labels may contain
64 % of those of a rare class.
"""

from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.coverage import low_class_text, per_class_remedy
from confml.report.answers.text import some


def class_sentences(comparisons: Comparisons, line: Line, level: float) -> list[str]:
    """Return a sentence for each class that the regions of a line contain too rarely, and the remedy."""
    several = len({other.dataset for other in comparisons.lines}) > 1
    sentences = some(
        [
            f"{f'{line.dataset}, class' if several else 'Class'} {label}: the regions of "
            f"{comparisons.label(line)} {low_class_text(coverage, level)}."
            for _, label, coverage in comparisons.low_classes([line], level)
        ]
    )
    if not sentences or comparisons.low_coverage(line, level) is not None:  # of all rows together
        return sentences
    params, option = comparisons.cell(line).params, "mondrian: true"
    if comparisons.promise(line, level) is None:
        place = " in place of venn" if "venn" in params else ""
        params, option = {**params, "conformal": "split"}, f"conformal: split with mondrian: true{place}"
    remedy = per_class_remedy(params, level, option)
    return [*sentences, remedy] if remedy else sentences
