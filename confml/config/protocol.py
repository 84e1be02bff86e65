"""`Protocol`: how a config divides data sets into training and test parts."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from confml.config.part import Part, hyphenated
from confml.config.values import Between, Count, Folds, Switch, TextList, Whole, Words, one_of

PROTOCOLS = {
    "fixed-split": "the training and test part of the provider",
    "holdout": "`repeats` random divisions into a training part and a test part of `test-size` of the rows",
    "k-fold": "division into `folds` parts, each used once as the test part; `repeats` times",
    "leave-one-out": "every row is once the test part, and all others are the training part",
    "ordered": "training part before test part: the last rows in the order of the column `by`, a fraction "
    "`test-size`, are the test part",
    "online": "one example after another, each predicted from all before it and then learnt (tcm-nn)",
}


class Protocol(Part):
    """Division of data sets into training and test parts.

    kind: fixed-split (parts of the provider), holdout, k-fold, leave-one-out, ordered or online; `confml
        describe NAME` explains each. Example: k-fold
    repeats: Number of random divisions (holdout), rounds of folds (k-fold) or orders (online).
    test_size: Fraction of rows in the test part, for holdout and ordered.
    folds: Number of folds, for k-fold.
    inner_folds: Number of folds of a training part, for tuning.
    stratify: Keep the proportions of the classes in every part.
    rows: Approximate number of rows that are used of a larger data set, for holdout and k-fold. Each repeat
        draws others, with stratify in the proportions of the classes, one of each at least. Example: 1000
    absent: Classes that are removed from training parts and kept in test parts. Example: ['9']
    by: For ordered: a column of dates or numbers, under id: or a feature with numbers. Rows with the same
        value are not divided. Example: date
    order: For online: rows in the given order, training part first, or shuffled by the seed.
    start: Number of examples that are learnt before the first prediction, for online.
    """

    short = "kind"

    kind: Annotated[str, one_of(*PROTOCOLS)]
    repeats: Count = 1
    test_size: Between = 0.2
    folds: Folds = 10
    inner_folds: Folds = 10
    stratify: Switch = True
    rows: Count | None = None
    absent: TextList = ()
    by: Words | None = None
    order: Annotated[str, one_of("given", "shuffled")] = "given"
    start: Whole = 0

    ONLY_FOR: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "repeats": ("holdout", "k-fold", "online"),
        "test_size": ("holdout", "ordered"),
        "by": ("ordered",),
        "folds": ("k-fold",),
        "rows": ("holdout", "k-fold"),
        **dict.fromkeys(("inner_folds", "stratify", "absent"), tuple(PROTOCOLS)[:-1]),
        **dict.fromkeys(("order", "start"), ("online",)),
    }

    def as_dict(self) -> dict[str, Any]:
        idle = {hyphenated(key) for key, kinds in self.ONLY_FOR.items() if self.kind not in kinds}
        return {key: value for key, value in super().as_dict().items() if key not in idle}
