"""Captions of figures and tables: data set, protocol, number of splits."""

import re
from typing import Any

from confml.report.run.results import RunResults


def protocol_text(protocol: Any) -> str:
    """Return a protocol of a config as a phrase, such as "5 random holdouts, test part 0.3, stratified"."""
    repeats = protocol.repeats
    if protocol.kind == "fixed-split":
        text = "training and test part of the provider"
    elif protocol.kind == "holdout":
        text = f"{repeats} random holdout{'s' * (repeats > 1)}, test part {protocol.test_size:g}"
    elif protocol.kind == "k-fold":
        text = f"{protocol.folds}-fold cross-validation" + (f", {repeats} repeats" if repeats > 1 else "")
    elif protocol.kind == "leave-one-out":
        text = "leave-one-out cross-validation"
    elif protocol.kind == "ordered":
        text = f"earlier training rows and later test rows by {protocol.by}, test part {protocol.test_size:g}"
    elif protocol.order == "given":
        text = "online, examples in the given order"
    else:
        text = f"online, {repeats} shuffled order{'s' * (repeats > 1)}"
    if protocol.kind in ("holdout", "k-fold"):
        text += ", stratified" if protocol.stratify else ", not stratified"
    if protocol.rows is not None:
        text += f", {protocol.rows} rows of larger data sets"
    if protocol.absent:
        text += f"; absent from training: {', '.join(map(str, protocol.absent))}"
    return text


def setting_text(results: RunResults, dataset: str | None = None) -> str:
    """Return data set, protocol and number of splits as sentences. dataset: None for all of them."""
    cells = [cell for cell in results.cells if cell.key in results.results]
    if dataset is None:
        names = sorted({cell.dataset for cell in cells})
        where = f"Data set{'s' * (len(names) > 1)}: {', '.join(names)}."
    else:
        cells = [cell for cell in cells if cell.dataset == dataset]
        where = f"Data set: {dataset}."
    splits = len({cell.split for cell in cells})
    how = protocol_text(results.config.protocol)
    return f"{where} Protocol: {how}; {splits} split{'s' * (splits != 1)}."


def figure_file_name(text: str) -> str:
    """Return a file name without an ending, of letters, digits, ``_`` and ``-`` only."""
    return re.sub("-{2,}", "-", re.sub("[^A-Za-z0-9_-]+", "-", text)).strip("-") or "figure"
