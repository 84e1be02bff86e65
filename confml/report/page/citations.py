"""The works to cite: confml, the data sets by their cards, the published tables."""

import re
from importlib import metadata

import yaml

from confml._version import PACKAGE
from confml.data.cards import read_card
from confml.errors import ConfmlError
from confml.report.run.results import RunResults
from confml.report.tables.published_tables import published_table


def citations(run: RunResults) -> list[str]:
    """Return the works to cite for a run."""
    texts = [software_citation()]
    for spec in run.config.datasets:
        if spec.csv or spec.generate:
            continue
        try:
            card = read_card(str(spec.card or spec.name))
        except ConfmlError:
            continue
        texts.append(f"{' '.join(card.citation.split())} {card.page}")
    paper = run.config.paper
    names = [] if paper is None else [paper.table] if isinstance(paper.table, str) else paper.table
    return list(dict.fromkeys([*texts, *(published_table(name).source for name in names)]))


def software_citation() -> str:
    """Return how to cite confml, from CITATION.cff, which an installed package contains too."""
    for folder in (PACKAGE, PACKAGE.parent):
        path = folder / "CITATION.cff"
        if path.is_file():
            return _cff_text(path.read_text(encoding="utf-8"))
    return f"The confml developers. confml, version {metadata.version('confml')}."


def _cff_text(text: str) -> str:
    fields = yaml.safe_load(text)
    authors = "; ".join(
        author.get("name") or ", ".join(filter(None, (author.get("family-names"), author.get("given-names"))))
        for author in fields["authors"]
    )
    parts = [f"{authors}.", f"{fields['title']}.", f"Version {fields['version']}."]
    parts += [str(fields[key]) for key in ("doi", "url", "repository-code") if fields.get(key)]
    return re.sub(r"\s+", " ", " ".join(parts))
