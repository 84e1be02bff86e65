"""Sentences on the classes whose coverage is shown to be too low.

A promise for all rows says nothing about one class: regions that contain 95 % of all labels may contain
64 % of those of a rare class.
"""

from confml.measures.regions import by_usual_level
from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.coverage import low_class_text, per_class_remedy
from confml.report.answers.text import some


def class_sentences(comparisons: Comparisons, line: Line) -> list[str]:
    """Return a sentence for each class that the regions of a line contain too rarely, and the remedy.

    All levels of the config are tested; the sentence is at the one that is closest to 0.05.
    """
    several = len({line_of_run.dataset for line_of_run in comparisons.lines}) > 1
    levels = by_usual_level(comparisons.results.config.levels)
    low = comparisons.low_classes((line, level) for level in levels)
    sentences = some(
        [
            f"{f'{line.dataset}, class' if several else 'Class'} {label}: the regions of "
            f"{comparisons.label(line)} {low_class_text(coverage, level)}."
            for _, label, coverage, level in low
        ],
        "classes",
    )
    # Of all rows together: where their coverage is too low, no option for classes mends it.
    levels = [of_class.level for of_class in low if comparisons.low_coverage(line, of_class.level) is None]
    if not levels:
        return sentences
    level = min(levels)
    params, option = comparisons.cell(line).params, "mondrian: true"
    if comparisons.promise(line, level) is None:
        replaced = " in place of venn" if "venn" in params else ""
        params, option = {**params, "conformal": "split"}, f"conformal: split with mondrian: true{replaced}"
    remedy = per_class_remedy(params, level, option)
    return [*sentences, remedy] if remedy else sentences
