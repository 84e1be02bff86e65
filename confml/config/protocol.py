"""`Protocol`: how a config divides data sets into training and test parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from confml.config.lists import LabelList
from confml.config.part import Part, hyphenated
from confml.config.values import Between, Count, Folds, Switch, Whole, one_of

PROTOCOLS = {
    "fixed-split": "the provider's training and test part, as they are",
    "holdout": "repeats random divisions into a training and a test part of size test-size",
    "k-fold": "folds parts, each the test part once; repeats times",
    "online": "one example after another, each predicted from all before it and then learnt (tcm-nn)",
}


class Protocol(Part):
    """How data sets are divided into training and test parts."""

    short = "kind"

    kind: Annotated[str, one_of(*PROTOCOLS)] = Field(
        description="; ".join(f"{kind}: {about}" for kind, about in PROTOCOLS.items()), examples=["k-fold"]
    )
    repeats: Count = Field(1, description="How many random divisions (holdout) or rounds of folds (k-fold).")
    test_size: Between = Field(0.2, description="The test part's share of the rows, for holdout.")
    folds: Folds = Field(10, description="How many folds, for k-fold.")
    inner_folds: Folds = Field(10, description="How many folds inside a training part, for tuning.")
    stratify: Switch = Field(True, description="Keep the shares of the classes in every part.")
    absent: LabelList = Field(
        (), description="Classes that no training part has, and test parts have.", examples=[["9"]]
    )
    order: Annotated[str, one_of("given", "shuffled")] = Field(
        "given",
        description="Of online: rows as they stand, training part first, or at random by the seed.",
    )
    start: Whole = Field(
        0, description="How many examples are only learnt ahead of the first step, for online."
    )

    ONLY_FOR: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "repeats": ("holdout", "k-fold", "online"),
        "test_size": ("holdout",),
        "folds": ("k-fold",),
        "inner_folds": ("fixed-split", "holdout", "k-fold"),
        "stratify": ("fixed-split", "holdout", "k-fold"),
        "absent": ("fixed-split", "holdout", "k-fold"),
        "order": ("online",),
        "start": ("online",),
    }

    def as_dict(self) -> dict[str, Any]:
        idle = {hyphenated(key) for key, kinds in self.ONLY_FOR.items() if self.kind not in kinds}
        return {key: value for key, value in super().as_dict().items() if key not in idle}
