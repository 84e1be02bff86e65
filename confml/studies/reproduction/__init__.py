"""The page ``results/reference/README.md``: every published number and claim with the result of confml.

It is made from stored tables, without computing anything, by ``make reproduction``. `numbers` joins the
papers' numbers with stored tables, ``reasons.yaml`` states why they differ, and ``claims/`` holds the
statements of the texts with a verdict on each. `targets` computes the stored tables.
"""

from confml.studies.reproduction.claims import Claim, Verdict, read_claims
from confml.studies.reproduction.numbers import Number, Outcome, published_numbers
from confml.studies.reproduction.page import pages, write_page
from confml.studies.reproduction.runs import keep_runs, write_provenance
from confml.studies.reproduction.sources import SOURCES, Source

__all__ = [
    "SOURCES",
    "Claim",
    "Number",
    "Outcome",
    "Source",
    "Verdict",
    "keep_runs",
    "pages",
    "published_numbers",
    "read_claims",
    "write_page",
    "write_provenance",
]
