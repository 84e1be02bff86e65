"""Descriptions of everything that a config or a result file names: ``confml describe NAME``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from confml.errors import ConfigError, did_you_mean, family
from confml.measures.guarantees import GUARANTEE, PROMISES
from confml.plugins.imports import import_permission, is_dotted_name
from confml.plugins.parameters import Parameter
from confml.report.declared import declared_metrics, describe_metric

Entry = dict[str, Any]

# view -> (kind of its predictions, meaning of its scores)
VIEWS: Mapping[str, tuple[str, str]] = {
    "p-value": ("p-value", "p-value of each class"),
    "probability": ("probability", "probability of each class"),
    "venn": (
        "probability",
        "probability of each class, with lower and upper bounds (Venn prediction): the probabilities "
        "computed under the true label are calibrated (with three classes or more they need not be a bound)",
    ),
    "reject": ("probability", "posterior mean of each class probability"),
    "envelope": ("envelope", "posterior probability that the class is the most probable one"),
    "posterior": ("posterior", "posterior mean and standard deviation of each class probability"),
    "exceedance": ("exceedance", "posterior probability that the class probability exceeds 1/2"),
    "total-entropy": (
        "margin",
        "1 - entropy / ln c of the posterior mean of the c class probabilities, of the label of reject",
    ),
    "expected-entropy": (
        "margin",
        "1 - mean entropy of the draws / ln c (aleatoric uncertainty), of the label of reject",
    ),
    "mutual-information": (
        "margin",
        "1 - mutual information of label and draw / ln c (epistemic uncertainty), of the label of reject",
    ),
    "vote": ("vote", "share of the votes for each class"),
    "margin": ("margin", "decision value of each class"),
    "bayes-point": ("margin", "decision value of each class at the Bayes point"),
}

_SMALLEST_SET = "smallest set of classes, by decreasing score, whose sum is at least 1 - level"
_NONE = "none (give the method p-values with conformal: split)"
# kind of prediction -> prediction region, confidence, acceptance at a threshold
MEANINGS: Mapping[str, tuple[str, str, str]] = {
    "p-value": ("classes with p > level", "1 - second largest p-value", "confidence >= threshold"),
    "probability": (_SMALLEST_SET, "largest score", "confidence >= threshold"),
    "vote": (_SMALLEST_SET, "largest score", "confidence >= threshold"),
    "envelope": (_SMALLEST_SET, "largest score", "score > threshold; a score of 1 is always accepted"),
    "posterior": (_SMALLEST_SET, "Phi((mean - 1/2) / sd)", "mean - c sd > 1/2 with c = Phi^-1(threshold)"),
    "exceedance": (_NONE, "largest score; equal ones are ordered by the mean", "confidence >= threshold"),
    "margin": (
        _NONE,
        "largest decision value minus the second largest; with one value per example, that value",
        "confidence >= threshold",
    ),
}


class Described(NamedTuple):
    """One type of named things. names: return all names; describe: return the entry of a name."""

    names: Callable[[], Iterable[str]]
    describe: Callable[[str], Entry]


def describe_figure(name: str) -> Entry:
    """Return name, about, across (all data sets in one figure), refits and parameters of a figure."""
    from confml.report.figures import FIGURES

    figure = FIGURES[name]
    return {
        "name": name,
        "about": figure.about,
        "across": figure.across,
        "refits": figure.refits,
        "parameters": _parameters(figure.options),
    }


def describe_output(name: str) -> Entry:
    """Return name, text, needs, files and metrics of a table or other files of a report.

    name: of the output, or of one of its files.
    """
    from confml.report.tables.known import known_outputs

    output = next(candidate for candidate in known_outputs() if name in _names_of(candidate))
    return {
        "name": output.name,
        "text": output.text,
        "needs": output.needs,
        "files": dict(output.paths),
        "columns": list(getattr(output, "columns", ())),
        "metrics": list(output.metrics),
    }


def describe_table(name: str) -> Entry:
    """Return name, title, source, unit, columns (with headings), datasets and notes of a published table."""
    from confml.published import known_tables

    table = known_tables()[name]
    return {
        "name": name,
        "title": table.title,
        "source": table.source,
        "unit": table.unit,
        "columns": dict(table.columns),
        "datasets": list(dict.fromkeys(row["dataset"] for row in table.rows())),
        "notes": list(table.notes),
    }


def describe_promise(name: str) -> Entry:
    """Return a guarantee: about, whom, condition, exactness, source and entries of ``make validity``."""
    if name == "guarantee":
        return {"name": name, "about": GUARANTEE, "guarantees": list(PROMISES)}
    claim = PROMISES[name]
    keys = {"for": claim.whom, "condition": claim.condition, "holds": claim.exact, "source": claim.source}
    return {"name": name, "about": claim.promise, **keys, "simulated": list(claim.simulated)}


def describe_protocol(name: str) -> Entry:
    """Return name, about and parameters (the keys of a config that it uses) of a protocol."""
    from confml.config.part import hyphenated
    from confml.config.protocol import PROTOCOLS, Protocol

    parameters = []
    for key, field in Protocol.model_fields.items():
        if key != Protocol.short and name in Protocol.ONLY_FOR.get(key, PROTOCOLS):
            default = list(field.default) if isinstance(field.default, tuple) else field.default
            parameters.append(
                {"name": hyphenated(key), "about": Protocol.documented(key)[0], "default": default}
            )
    return {"name": name, "about": PROTOCOLS[name], "parameters": parameters}


def describe_view(name: str) -> Entry:
    """Return name, about, kind, the meaning of its regions, confidence and acceptance, and its methods."""
    from confml.methods.registry import known_methods, views_of
    from confml.methods.wrappers import WRAPPERS

    kind, about = VIEWS[name]
    region, confidence, accepted = MEANINGS[kind]
    classes = {**known_methods(), **WRAPPERS}
    return {
        "name": name,
        "about": about,
        "kind": kind,
        "region": region,
        "confidence": confidence,
        "accepted": accepted,
        "methods": [method for method, cls in classes.items() if name in views_of(cls)],
    }


def known_types() -> dict[str, Described]:
    """Return everything that can be described, by type."""
    from confml.config.protocol import PROTOCOLS
    from confml.config.warnings import WARNINGS
    from confml.methods.registry import describe as describe_method
    from confml.methods.registry import methods
    from confml.methods.wrappers import WRAPPERS
    from confml.published import known_tables
    from confml.report.answers.text import TERMS
    from confml.report.figures import FIGURES
    from confml.steps.registry import describe_step, steps

    return {
        "method": Described(lambda: [*methods.names(), *WRAPPERS], describe_method),
        "step": Described(steps.names, describe_step),
        "view": Described(lambda: VIEWS, describe_view),
        "protocol": Described(lambda: PROTOCOLS, describe_protocol),
        "metric": Described(
            lambda: [metric.name for metric in declared_metrics()], lambda name: describe_metric(name) or {}
        ),
        "figure": Described(lambda: FIGURES, describe_figure),
        "table": Described(_output_names, describe_output),
        "published-table": Described(known_tables, describe_table),
        "warning": Described(lambda: WARNINGS, lambda name: {"name": name, "about": WARNINGS[name]}),
        "term": Described(lambda: TERMS, lambda name: {"name": name, "about": TERMS[name]}),
        "guarantee": Described(lambda: ("guarantee", *PROMISES), describe_promise),
    }


def describe_all(name: str, only: str | None = None) -> list[Entry]:
    """Return an entry for each thing with this name, as plain data with its ``type``.

    only: one of `known_types`, to select among several things with one name. The dotted name of a classifier
    is a method, that of a transformer a step. Raises ConfigError for an unknown name.
    """
    from confml.methods.sklearn.names import dotted_name

    types = {kind: described for kind, described in known_types().items() if only in (None, kind)}
    names = {kind: list(described.names()) for kind, described in types.items()}
    entries = [{"type": kind, **types[kind].describe(name)} for kind in types if name in names[kind]]
    every = dict.fromkeys(chain.from_iterable(names.values()))
    close = did_you_mean(name, every, list_all=False)
    if not entries and _is_class_name(name, similar=close is not None):
        entries = _entries_of_class(name, types)
    if not entries:
        hint = close or "confml describe lists methods and steps"
        if "method" in types and not family(name, every) and (dotted := dotted_name(name, similar=False)):
            hint = f"did you mean '{dotted}'?"
        raise ConfigError(f"unknown {only or 'name'} '{name}'", hint=hint)
    return entries


def _is_class_name(name: str, similar: bool) -> bool:
    """Return whether a name is that of a class. similar: whether it is similar to another name."""
    if is_dotted_name(name):
        return name.startswith("sklearn.") or import_permission().permits(name) or not similar
    return name.isidentifier() and not name.islower()


def _entries_of_class(name: str, types: Mapping[str, Described]) -> list[Entry]:
    """Return the entries of a class: as a method, as a step or as both. Raises ConfigError if it is none."""
    entries: list[Entry] = []
    errors: list[ConfigError] = []
    for kind in ("method", "step"):
        if kind in types:
            try:
                entries.append({"type": kind, **types[kind].describe(name)})
            except ConfigError as error:
                errors.append(error)
    if errors and not entries:
        raise errors[0]
    return entries


def _names_of(output: Any) -> list[str]:
    """Return the name of a table or of other files, and the names of the files with and without folder."""
    return [output.name, *output.paths, *(Path(path).name for path in output.paths)]


def _output_names() -> list[str]:
    from confml.report.tables.known import known_outputs

    names = (name for output in known_outputs() for name in _names_of(output))
    return list(dict.fromkeys(names))


def _parameters(params: Mapping[str, Parameter]) -> list[Entry]:
    return [{"name": name, "about": spec.about, "expected": spec.expected()} for name, spec in params.items()]
