"""`Selection`: the rows of a whole batch that are certain (``fcr``) or accepted (``fdr``)."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from confml.errors import ConfigError
from confml.measures.selected import accepted_threshold, certain_rows, shares_one_calibration
from confml.predictions.batch import Batch
from confml.predictions.guarantee import percent, row_count
from confml.predictions.model import Model

BATCH = "The bound is an average over batches: a row that is selected in this batch may not be in another."


class Selection:
    """The selection from one batch of new rows.

    fcr, fdr: bounds on the expected share of wrong rows among the certain and among the accepted rows; None
    for no such selection. Raises ConfigError for a model without p-values or without held-out rows.
    """

    def __init__(self, model: Model, fcr: float | None, fdr: float | None):
        if fcr is not None and model.none.kind != "p-value":
            raise ConfigError(
                f"certain rows need p-values, and {model.facts.method} has none", hint="add --conformal split"
            )
        if fdr is not None and model.held_out is None:
            raise ConfigError(
                "the model has no held-out rows, which --fdr needs", hint="fit and save it with --fdr"
            )
        self.model, self.fcr, self.fdr = model, fcr, fdr
        self.found: list[str] = []

    def apply(self, batches: Iterable[Batch]) -> list[Batch]:
        """Return all batches of the new rows, with ``certain`` and ``selected``."""
        parts = list(batches)
        ends = np.cumsum([len(part.prediction) for part in parts])[:-1]
        if self.fcr is not None:
            scores = np.concatenate([part.prediction.scores for part in parts])
            shared = shares_one_calibration(self.model.facts.params)
            certain, level = certain_rows(scores, self.fcr, shared)
            found = np.split(certain, ends)
            parts = [
                replace(part, certain=own, thresholds=(*part.thresholds, 1 - level))
                for part, own in zip(parts, found, strict=True)
            ]
            self.found += self._about_certain(certain, level, shared)
        held = self.model.held_out
        if self.fdr is not None and held is not None:
            certainty = np.concatenate([part.prediction.certainty for part in parts])
            threshold = accepted_threshold(certainty, held.confidence, held.wrong, self.fdr)
            found = np.split(certainty >= threshold, ends)
            parts = [
                replace(part, selected=own, thresholds=(*part.thresholds, threshold))
                for part, own in zip(parts, found, strict=True)
            ]
            self.found += self._about_accepted(certainty >= threshold, threshold)
        return parts

    def sentences(self) -> list[str]:
        """Return the guarantees, after `apply`."""
        return [*self.found, BATCH] if self.found else []

    def _about_certain(self, certain: np.ndarray, level: float, shared: bool) -> list[str]:
        bound, n, m = f"{100 * (self.fcr or 0):.3g} %", int(certain.sum()), len(certain)
        how = "" if shared else " The bound holds for any dependence between the p-values."
        return [
            f"{n} of {row_count(m)} ({percent(n, max(m, 1))}) are certain (column certain; level "
            f"{level!r}). The expected share of wrong ones among them is at most {bound}, if new rows "
            f"are exchangeable with the training rows.{how}"
        ]

    def _about_accepted(self, accepted: np.ndarray, threshold: float) -> list[str]:
        bound, n, m = f"{100 * (self.fdr or 0):.3g} %", int(accepted.sum()), len(accepted)
        held = row_count(len(self.model.held_out.confidence)) if self.model.held_out else ""
        at = f"; confidence >= {threshold!r}" if n else ""
        return [
            f"{n} of {row_count(m)} ({percent(n, max(m, 1))}) are selected (column selected{at}). The "
            f"expected share of wrong ones among them is at most {bound}, if new rows are exchangeable "
            f"with the {held} held out."
        ]
