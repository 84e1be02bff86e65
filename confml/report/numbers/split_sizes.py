"""Numbers of rows of the splits of a run."""

from confml.report.run.results import Variant


def split_sizes(variant: Variant) -> dict[str, tuple[int, int, int]]:
    """Return by cell key the rows of the fit, after the steps, of the training part, and of the test part."""
    return {
        result.cell.key: (result.train_rows, result.split_train_rows, len(result.truth))
        for result in variant.splits
    }
