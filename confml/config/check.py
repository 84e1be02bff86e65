"""Stage 4: check the names and parameters of a config against the registries.

Every check reads the entries that have the right form, so that all errors are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confml.config.check_datasets import check_datasets
from confml.config.check_methods import check_methods, check_steps
from confml.config.check_protocol import check_protocol
from confml.config.check_report import check_figures, check_paper, check_repeats
from confml.config.draft import Draft

CheckOptions = Callable[[str, Mapping[str, Any]], object]


def check(
    draft: Draft,
    figures: Iterable[str] | None = None,
    tables: Iterable[str] | None = None,
    check_figure: CheckOptions | None = None,
) -> None:
    """Note errors in names and parameters. figures, tables: the names that exist; None for no check."""
    check_datasets(draft)
    check_steps(draft)
    check_methods(draft)
    check_protocol(draft)
    check_repeats(draft, "levels")
    check_repeats(draft, "thresholds")
    check_figures(draft, figures, check_figure)
    check_paper(draft, tables)
