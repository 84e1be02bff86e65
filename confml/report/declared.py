"""The declarations of all metrics that a run can report, and which of them can be ranked."""

from typing import Any, NamedTuple

from confml.errors import ConfmlError
from confml.measures import Metric, known_metrics


class Declared(NamedTuple):
    """A declared metric. file: where a run writes it. owner: the method or step that computes it, or ""."""

    name: str
    metric: Metric
    file: str
    owner: str = ""


def declared_metrics() -> list[Declared]:
    """Return every declared metric; a quantity of several methods is returned once for each of them.

    The quantities of a step are named ``<step>.<quantity>``, as in ``metrics.csv``.
    """
    from confml.methods.registry import known_methods
    from confml.methods.wrappers import WRAPPERS
    from confml.steps.registry import known_steps

    rows = _of_reports()
    for name, cls in {**known_methods(), **WRAPPERS}.items():
        rows += [Declared(key, metric.named(key), "metrics.csv", name) for key, metric in cls.metrics.items()]
    for name, step in known_steps().items():
        for key, metric in step.metrics.items():
            rows.append(Declared(f"{name}.{key}", metric.named(f"{name}.{key}"), "metrics.csv", name))
    return rows


def find_metric(name: str) -> Metric | None:
    """Return the declaration of a metric, or None if it is unknown."""
    # Methods are imported only for a name that no report declares.
    for declared in (_of_reports, declared_metrics):
        for entry in declared():
            if entry.name == name:
                return entry.metric
    return None


def shown_metric(name: str) -> Metric:
    """Return the declaration of a metric for a table or figure; an unknown one has a heading only."""
    metric = find_metric(name) or find_metric(name.rpartition(".")[2])
    return Metric("", None).named(name) if metric is None else metric


def ranking_metric(name: str) -> Metric:
    """Return the declaration of a metric to rank by.

    Raises ConfmlError if it is unknown or has no better direction.
    """
    metric = find_metric(name)
    if metric is None:
        names = [entry.name for entry in declared_metrics() if entry.metric.direction]
        raise ConfmlError(f"no metric '{name}' is declared", near=(name, names))
    if metric.direction is None:
        raise ConfmlError(
            f"metric '{name}' cannot be ranked: neither higher nor lower is better",
            hint="choose a metric with a better direction, such as error or augrc",
        )
    return metric


def describe_metric(name: str) -> dict[str, Any] | None:
    """Return the declaration of a metric, its file and its methods; None if it is unknown.

    methods: methods or steps that compute it themselves; empty for a metric of every method.
    """
    entries = [entry for entry in declared_metrics() if entry.name == name]
    if not entries:
        return None
    metric = entries[0].metric
    facts = ("about", "heading", "label", "unit", "digits", "formula", "source")
    methods = [entry.owner for entry in entries if entry.owner]
    return {
        "name": name,
        **{fact: getattr(metric, fact) for fact in facts},
        **{"better": metric.direction, "file": entries[0].file, "methods": methods},
    }


def _of_reports() -> list[Declared]:
    from confml.report.tables.known import known_outputs

    declared = [Declared(name, metric, "metrics.csv") for name, metric in known_metrics().items()]
    for output in known_outputs():
        path = next(iter(output.paths))
        declared += [Declared(name, metric.named(name), path) for name, metric in output.metrics.items()]
    return declared
