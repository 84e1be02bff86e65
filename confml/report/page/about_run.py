"""Where the numbers of a page come from: data sets, config, software, machine, and how to cite them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from confml._version import PACKAGE
from confml.errors import ConfmlError
from confml.report.forms.page_table import PageTable
from confml.report.run.results import RunResults


@dataclass(frozen=True)
class Citation:
    """A work to cite, and why."""

    why: str
    text: str


def manifest_of(folder: Path) -> Mapping[str, Any]:
    """Return the manifest of a run; empty if its folder has none."""
    from confml.runner.manifest import read_manifest

    try:
        return read_manifest(folder)
    except ConfmlError:
        return {}


def data_table(results: RunResults) -> PageTable:
    """Return sizes and checksums of the data sets."""
    table = PageTable(
        "data-sets",
        "Data sets of the run.",
        ["data set", "rows", "features", "classes", "smallest class", "largest class", "provider's split",
         "checksum"],
    )  # fmt: skip
    for _, info in sorted(results.datasets.items()):
        parts = "" if info.train_rows is None else f"{info.train_rows} / {info.test_rows}"
        sizes = (info.smallest_class, info.largest_class)
        table.add(info.name, info.rows, info.attributes, info.classes, *sizes, parts, info.checksum[:16])
    return table


def audit_table(results: RunResults) -> PageTable:
    """Return the findings in the data sets."""
    table = PageTable(
        "data-audit",
        "Audit of the data sets: findings that can make results look better or worse than they are.",
        ["data set", "finding", "about", "remedy"],
    )
    for _, info in sorted(results.datasets.items()):
        for finding in info.audit or ():
            table.add(info.name, finding["code"], finding["sentence"], finding["remedy"])
    return table


def audit_sentence(results: RunResults) -> str:
    """Return a sentence on the data sets without findings, and on those of which a part was audited."""
    infos = [info for _, info in sorted(results.datasets.items())]
    known = [info for info in infos if info.audit is not None]
    if not known:
        return "This run has no audit of its data; `confml data check NAME` audits a data set or a file."
    clean = [info.name for info in known if not info.audit]
    text = f"No findings: {', '.join(clean)}." if clean else ""
    parts = [
        f"{info.name} ({info.audited_rows} of {info.rows} rows)"
        for info in known
        if info.audited_rows is not None and info.audited_rows < info.rows
    ]
    return f"{text} Audited in part: {', '.join(parts)}.".strip() if parts else text


def config_text(manifest: Mapping[str, Any]) -> str:
    """Return the resolved config as YAML."""
    import yaml

    if not manifest.get("config"):
        return ""
    return yaml.safe_dump(
        manifest["config"], sort_keys=False, default_flow_style=None, allow_unicode=True, width=100
    )


def provenance_table(manifest: Mapping[str, Any]) -> PageTable:
    """Return versions, machine and times of the run."""
    found = manifest.get("provenance", {})
    machine = found.get("machine", {})
    packages = found.get("packages", {})
    values = {
        "confml": found.get("confml"),
        "commit": found.get("git"),
        "command": " ".join(map(str, found.get("command", ()))),
        "started": manifest.get("started"),
        "finished": manifest.get("finished"),
        "seconds of the last call": manifest.get("seconds"),
        "jobs": f"{manifest.get('jobs')} ({manifest.get('engine')})",
        "shard": manifest.get("shard"),
        "random seed": manifest.get("seed"),
        "system": machine.get("system"),
        "processor": f"{machine.get('processor', '')}, {machine.get('cores', '?')} cores",
        "Python": found.get("python"),
        "packages": ", ".join(f"{name} {version}" for name, version in packages.items()),
    }
    table = PageTable("provenance-table", "Software and machine.", ["item", "value"], sortable=False)
    for name, value in values.items():
        if manifest and value not in (None, ""):
            table.add(name, value)
    return table


def citations(results: RunResults) -> list[Citation]:
    """Return the works to cite: confml, the data sets by their cards, the published tables."""
    from confml.data.cards import read_card
    from confml.report.tables.published_tables import published_table

    found = [Citation("software", software_citation())]
    for spec in results.config.datasets:
        name = spec.card or spec.name
        if spec.csv or spec.generate:
            continue
        try:
            card = read_card(str(name))
        except ConfmlError:
            continue
        found.append(Citation(f"data set {spec.name}", f"{' '.join(card.citation.split())} {card.page}"))
    paper = results.config.paper
    names: Sequence[str] = (
        () if paper is None else (paper.table,) if isinstance(paper.table, str) else paper.table
    )
    found += [Citation(f"published table {name}", published_table(name).source) for name in names]
    return list({one.text: one for one in found}.values())


def software_citation() -> str:
    """Return how to cite confml, from CITATION.cff, which an installed package contains too."""
    for folder in (PACKAGE, PACKAGE.parent):
        path = folder / "CITATION.cff"
        if path.is_file():
            return _cff_text(path.read_text(encoding="utf-8"))
    return f"The confml developers. confml, version {metadata.version('confml')}."


def _cff_text(text: str) -> str:
    import yaml

    fields = yaml.safe_load(text)
    authors = "; ".join(
        one.get("name") or ", ".join(filter(None, (one.get("family-names"), one.get("given-names"))))
        for one in fields["authors"]
    )
    parts = [f"{authors}.", f"{fields['title']}.", f"Version {fields['version']}."]
    parts += [str(fields[key]) for key in ("doi", "url", "repository-code") if fields.get(key)]
    return re.sub(r"\s+", " ", " ".join(parts))
