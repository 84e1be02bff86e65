"""``confml describe``."""

from collections.abc import Mapping
from typing import Any

import click

from confml.commands.common import allow_import_option, echo_json, json_option
from confml.terminal import echo

TYPES = (
    *("method", "step", "view", "protocol", "metric", "figure"),
    *("table", "published-table", "warning", "term", "guarantee"),
)
# Keys of the facts of an entry, by type and heading.
_FACTS = {
    "method": {"views": "views"},
    "metric": {
        **{"heading": "label", "better": "better", "formula": "formula", "source": "source"},
        **{"file": "file", "of": "methods"},
    },
    "view": {
        **{"kind": "kind", "region at level": "region", "confidence": "confidence"},
        **{"accepted": "accepted", "methods": "methods"},
    },
    "figure": {"drawn": "across", "needs": "refits"},
    "table": {"needs": "needs", "files": "files", "columns": "columns", "metrics": "metrics"},
    "published-table": {
        **{"source": "source", "unit": "unit", "columns": "columns", "data sets": "datasets"},
        "notes": "notes",
    },
}


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--type", "only", type=click.Choice(TYPES), help="Type of NAME, if it has several meanings.")
@allow_import_option
@json_option
def describe(name: str | None, only: str | None, as_json: bool) -> None:
    """Describe a name, or list methods and steps.

    NAME is a method, a step, a view, a protocol, a metric or a figure. It can also be a table of the
    report, a published table, a warning, a term or a guarantee. Without NAME, methods and steps are listed;
    --type lists the names of a type. 'samples', 'conformal' and 'venn' are wrappers of any classifier. A name
    with several meanings is described once for each; with --json it is then a list.

    Classifiers with scikit-learn's interface are named by module and class, such as
    sklearn.ensemble.RandomForestClassifier, and transformers are steps, such as sklearn.decomposition.PCA.

    \b
    confml describe
    confml describe tcm-nn
    confml describe sklearn.ensemble.RandomForestClassifier
    confml describe xgboost.XGBClassifier --allow-import xgboost
    confml describe guarantee
    confml describe fuzziness
    confml describe class-coverage.csv
    confml describe ranks --type figure
    confml describe --type warning
    """
    from confml.report.described import describe_all, known_types

    if name is None:
        if only is None and not as_json:
            _list_methods_and_steps()
            return
        types = ("method", "step") if only is None else (only,)
        names = list(dict.fromkeys(name for kind in types for name in known_types()[kind].names()))
        echo_json(names) if as_json else print("\n".join(names))
        return
    entries = describe_all(name, only)
    if as_json:
        echo_json(entries[0] if len(entries) == 1 else entries)
        return
    echo("\n\n".join("\n".join(description_lines(entry)) for entry in entries))


def _list_methods_and_steps() -> None:
    """Print the names and summaries of methods and steps."""
    from confml.methods.registry import describe, known_methods, methods
    from confml.steps.registry import describe_step, known_steps

    for kind, entries in (
        ("methods", [describe(name) for name in sorted(known_methods())]),
        ("steps", [describe_step(name) for name in sorted(known_steps())]),
    ):
        echo(f"{kind}:")
        width = max(len(entry["name"]) for entry in entries)
        for entry in entries:
            source = "" if entry["source"] == "confml" else f" ({entry['source']})"
            echo(f"  {entry['name']:<{width}}  {entry['summary']}{source}")
    for name, error in methods.broken().items():
        echo(f"  {name}  cannot be used: {error}")
    echo("Classifiers of scikit-learn have names such as sklearn.ensemble.RandomForestClassifier, steps such")
    echo("as sklearn.decomposition.PCA. Other packages need --allow-import, such as --allow-import xgboost.")
    echo("'conformal: split' (or cross, oob) gives any classifier p-values (see conformal).")
    echo("'venn: inductive' or 'venn: cross' gives it probabilities with bounds (see venn).")
    echo("confml describe NAME shows the documentation of a name; try: confml describe conformal")


def description_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return the lines that describe one entry."""
    about = entry.get("text") or entry.get("about") or entry["title"]
    origin = entry["type"]
    if origin in ("method", "step"):
        origin = f"{origin}, {entry['source']}, version {entry['version']}"
    lines = [f"{entry['name']} ({origin})", "", about.rstrip(), ""]
    for heading, value in _facts(entry).items():
        if isinstance(value, Mapping):
            lines += [f"{heading}:", *(f"  {key}: {text}" for key, text in value.items())]
        elif value:
            lines.append(f"{heading}: {value}")
    if "parameters" in entry:
        noun = {"protocol": "keys", "figure": "options"}.get(entry["type"], "parameters")
        lines.append(f"{noun}:" if entry["parameters"] else f"no {noun}")
        needs_default = entry["type"] in ("method", "step")
        lines += [_parameter_line(parameter, needs_default) for parameter in entry["parameters"]]
    return lines


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of an entry by heading, without its text and parameters."""
    facts = {}
    for heading, key in _FACTS.get(entry["type"], {}).items():
        value = entry.get(key)
        if isinstance(value, list | tuple):
            value = "".join(f"\n  {note}" for note in value) if key == "notes" else ", ".join(value)
        facts[heading] = value
    match entry["type"]:
        case "metric":
            target = "none (target: 1 - level)" if entry["name"] == "coverage" else "none"
            facts["better"] = entry["better"] or target
        case "view":
            facts["methods"] = facts["methods"] or "scikit-learn classifiers"
        case "figure":
            facts["drawn"] = "once for all data sets" if entry["across"] else "once per data set"
            facts["needs"] = "the data (it fits models again)" if entry["refits"] else ""
        case "guarantee":
            texts = {name: text for name, text in entry.items() if name not in ("type", "name", "about")}
            facts = {name: ", ".join(x) if isinstance(x, list) else x for name, x in texts.items()}
    return facts


def _parameter_line(parameter: Mapping[str, Any], needs_default: bool) -> str:
    """Return name, meaning, accepted values and default of a parameter; one without a default is required."""
    from confml.plugins.parameters import value_text

    texts = [parameter.get("about"), parameter.get("expected")]
    text = "; ".join(part for part in texts if part)
    if needs_default and not parameter.get("expected"):
        text = f"{text}; see its documentation" if text else "see its documentation"
    default = " [required]" if needs_default else ""
    if "default" in parameter:
        default = f" [default: {value_text(parameter['default'])}]"
    return f"  {parameter['name']}: {text}{default}"
