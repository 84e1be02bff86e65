"""`CellResult`: the result of a finished cell and its form in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.methods.details import FitDetails
from confml.runner.plan import Cell
from confml.runner.store import Store


@dataclass(frozen=True)
class CellResult:
    """Result of a cell: views of n test examples, true labels, and times and metrics of the fit.

    truth: (n,) true labels. rows: (n,) row numbers. train_rows: number of examples that the method was
    fitted to, after the steps. dropped_rows: rows of the training part that steps dropped,
    numbered like ``rows``. dropped_attributes: names of the features that steps dropped. tuning: None, or
    ``chosen`` (parameters), ``select_by``, ``scores`` (one entry per grid point: params, mean, sd, folds) and
    ``seconds``. Seconds are those of one thread.
    """

    cell: Cell
    truth: np.ndarray
    rows: np.ndarray
    views: Views
    tuning: Mapping[str, Any] | None = None
    train_rows: int = 0
    train_class_counts: Mapping[Any, int] = field(default_factory=dict)
    dropped_rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    dropped_attributes: tuple[str, ...] = ()

    @property
    def split_train_rows(self) -> int:
        """Number of training rows of the split: ``train_rows`` and those that steps dropped."""
        return self.train_rows + len(self.dropped_rows)

    def write(self, store: Store) -> None:
        """Write the cell into the store."""
        about, arrays = views_to_arrays(self.views)
        arrays |= {"truth": self.truth, "rows": self.rows, "dropped_rows": self.dropped_rows}
        document = {
            "cell": self.cell.as_dict(),
            "train_rows": self.train_rows,
            "train_class_counts": [[_plain(label), int(n)] for label, n in self.train_class_counts.items()],
            "tuning": self.tuning,
            "dropped_attributes": list(self.dropped_attributes),
            "views": about,
        }
        store.write("cells", self.cell.key, document, arrays)

    @classmethod
    def read(cls, store: Store, cell: Cell) -> CellResult | None:
        """Return the result of a cell; None if it is not stored or its record is damaged."""
        record = store.read("cells", cell.key)
        if record is None:
            return None
        document, arrays = record
        return cls(
            cell=cell,
            truth=arrays["truth"],
            rows=arrays["rows"],
            views=views_from_arrays(document["views"], arrays),
            tuning=document["tuning"],
            train_rows=document["train_rows"],
            train_class_counts={label: n for label, n in document["train_class_counts"]},
            dropped_rows=arrays["dropped_rows"],
            dropped_attributes=tuple(document["dropped_attributes"]),
        )


def views_to_arrays(views: Views) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return views as plain data and named arrays; `views_from_arrays` is the inverse."""
    about: dict[str, Any] = {
        "fit_seconds": views.fit_seconds,
        "predict_seconds": views.predict_seconds,
        "prepare_seconds": views.prepare_seconds,
        "fit_metrics": views.fit_metrics,
        "fit_details": views.fit_details.to_dict(),
        "views": [],
    }
    arrays: dict[str, np.ndarray] = {}
    for number, (name, view) in enumerate(views.items()):
        about["views"].append({"name": name, "kind": view.kind, "t0": view.posterior_threshold})
        arrays |= {
            f"{number}.classes": view.classes,
            f"{number}.scores": view.scores,
            f"{number}.labels": view.labels,
        }
        arrays |= {f"{number}.extra.{key}": values for key, values in view.extra.items()}
    return about, arrays


def views_from_arrays(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Views:
    views = {}
    for number, view in enumerate(about["views"]):
        prefix = f"{number}.extra."
        extra = {name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix)}
        classes, scores, labels = (arrays[f"{number}.{name}"] for name in ("classes", "scores", "labels"))
        views[view["name"]] = Prediction(classes, scores, view["kind"], labels, extra, view["t0"])
    details = FitDetails.from_dict(about["fit_details"])
    seconds = about["fit_seconds"], about["predict_seconds"]
    return Views(views, *seconds, about["fit_metrics"], details, about["prepare_seconds"])


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
