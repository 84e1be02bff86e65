"""The kinds of views that hold probabilities of the labels."""

from __future__ import annotations

PROBABILITY_KINDS = ("probability", "posterior")
