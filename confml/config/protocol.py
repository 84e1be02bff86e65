"""`Protocol`: how a config divides data sets into training and test parts."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema

from confml.config.part import Part, hyphenated
from confml.config.values import Between, Count, Folds, LabelList, Switch, Whole, one_of, wrong

PROTOCOLS = {
    "fixed-split": "the training and test part of the provider",
    "holdout": "random divisions into a training part and a test part of size test-size, repeats times",
    "k-fold": "division into `folds` parts, each used once as the test part; `repeats` times",
    "leave-one-out": "every row is once the test part, and all others are the training part",
    "online": "one example after another, each predicted from all before it and then learnt (tcm-nn)",
}


def _delay(value: Any) -> tuple[int, int]:
    """Return the smallest and the largest delay."""
    ends = value if isinstance(value, list | tuple) and len(value) == 2 else [value, value]
    if not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in ends):
        raise wrong("a whole number of rows, or two of them such as [10, 50]")
    if ends[0] > ends[1]:
        raise wrong("the smallest delay first", hint=f"[{ends[1]}, {ends[0]}]")
    return ends[0], ends[1]


_ROWS = {"type": "integer", "minimum": 0}
Delay = Annotated[
    tuple[int, int],
    PlainValidator(_delay),
    WithJsonSchema({"anyOf": [_ROWS, {"type": "array", "items": _ROWS, "minItems": 2, "maxItems": 2}]}),
]


class Protocol(Part):
    """Division of data sets into training and test parts."""

    short = "kind"

    kind: Annotated[str, one_of(*PROTOCOLS)] = Field(
        description="; ".join(f"{kind}: {about}" for kind, about in PROTOCOLS.items()), examples=["k-fold"]
    )
    repeats: Count = Field(
        1, description="Number of random divisions (holdout), rounds of folds (k-fold) or orders (online)."
    )
    test_size: Between = Field(0.2, description="Fraction of rows in the test part, for holdout.")
    folds: Folds = Field(10, description="Number of folds, for k-fold.")
    inner_folds: Folds = Field(10, description="Number of folds of a training part, for tuning.")
    stratify: Switch = Field(True, description="Keep the proportions of the classes in every part.")
    rows: Count | None = Field(
        None,
        description="Approximate number of rows that are used of a larger data set, for holdout and k-fold. "
        "Each repeat draws others, with stratify in the proportions of the classes, one of each at least.",
        examples=[1000],
    )
    absent: LabelList = Field(
        (),
        description="Classes that are removed from training parts and kept in test parts.",
        examples=[["9"]],
    )
    order: Annotated[str, one_of("given", "shuffled")] = Field(
        "given",
        description="For online: rows in the given order, training part first, or shuffled by the seed.",
    )
    start: Whole = Field(
        0, description="Number of examples that are learnt before the first prediction, for online."
    )
    delay: Delay = Field(
        (0, 0),
        description="For online: number of further rows that are predicted before the label of a row arrives,"
        " or [smallest, largest], drawn for each row by the seed. A row is learnt when its label arrives.",
        examples=[30, [10, 50]],
    )
    label_order: Annotated[str, one_of("given", "arrival")] = Field(
        "given",
        description="With delay: rows are learnt in the order in which they were predicted, so that a row"
        " without its label delays all later ones, or in the order of arrival of the labels, which is valid"
        " only if the delay has nothing to do with features or label.",
    )

    ONLY_FOR: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "repeats": ("holdout", "k-fold", "online"),
        "test_size": ("holdout",),
        "folds": ("k-fold",),
        "inner_folds": ("fixed-split", "holdout", "k-fold", "leave-one-out"),
        "rows": ("holdout", "k-fold"),
        "stratify": ("fixed-split", "holdout", "k-fold", "leave-one-out"),
        "absent": ("fixed-split", "holdout", "k-fold", "leave-one-out"),
        "order": ("online",),
        "start": ("online",),
        "delay": ("online",),
        "label_order": ("online",),
    }

    @property
    def has_delay(self) -> bool:
        """Whether labels arrive later than before the next prediction."""
        return self.delay[1] > 0

    def as_dict(self) -> dict[str, Any]:
        idle = {hyphenated(key) for key, kinds in self.ONLY_FOR.items() if self.kind not in kinds}
        values = {key: value for key, value in super().as_dict().items() if key not in idle}
        if "delay" in values:
            low, high = self.delay
            values["delay"] = low if low == high else [low, high]
        return values
