"""``confml describe``."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from confml.commands.options import allow_import_option, json_option
from confml.terminal import echo

TYPES = (
    *("method", "step", "view", "protocol", "metric", "figure"),
    *("section", "table", "warning", "term", "setting", "guarantee"),
)


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--type", "only", type=click.Choice(TYPES), help="Select among things with the same name.")
@allow_import_option
@json_option
def describe(name: str | None, only: str | None, as_json: bool) -> None:
    """Describe a name of a config or report.

    NAME is a method, a step, a view, a protocol, a metric or a figure. It can also be a published table, a
    warning, a term, a setting of 'conformal' or 'venn', a guarantee, or a section of the report or one of its
    files. Without NAME, --type lists the names of a type. 'samples', 'conformal' and 'venn' are wrappers of
    any classifier. A name with several meanings is described once for each; with --json it is then a list.

    \b
    confml describe tcm-nn
    confml describe sklearn.ensemble.RandomForestClassifier
    confml describe xgboost.XGBClassifier --allow-import xgboost
    confml describe guarantee
    confml describe fuzziness
    confml describe class-coverage.csv
    confml describe ranks --type figure
    confml describe --type warning
    """
    from confml.predictions.saving import saving_of
    from confml.report.described import describe_all, known_types

    if name is None:
        if only is None:
            raise click.UsageError("Missing argument 'NAME', or --type to list the names of a type.")
        names = list(dict.fromkeys(known_types()[only].names()))
        click.echo(json.dumps(names, indent=1) if as_json else "\n".join(names))
        return
    entries = [
        entry | {"saved": saving_of(entry["name"])} if entry["type"] == "method" else entry
        for entry in describe_all(name, only)
    ]
    if as_json:
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=1, default=str))
        return
    echo("\n\n".join("\n".join(description_lines(entry)) for entry in entries))


def description_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return the lines that describe one entry."""
    about = entry.get("text") or entry.get("about") or entry["title"]
    lines = [f"{entry['name']} ({_origin(entry)})", "", about.rstrip(), ""]
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


def _origin(entry: Mapping[str, Any]) -> str:
    if entry["type"] in ("method", "step"):
        return f"{entry['type']}, {entry['source']}, version {entry['version']}"
    return str(entry["type"])


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of an entry by heading, without its text and parameters."""
    match entry["type"]:
        case "method":
            found = {"views": ", ".join(entry["views"])}
            if "saved" in entry:
                found["can be saved"] = entry["saved"]
            return found
        case "metric":
            return {
                "heading": entry["label"],
                "better": entry["better"]
                or ("none (target: 1 - level)" if entry["name"] == "coverage" else "none"),
                "formula": entry["formula"],
                "source": entry["source"],
                "file": entry["file"],
                "of": ", ".join(entry["methods"]),
            }
        case "view":
            return {
                "kind": entry["kind"],
                "region at level": entry["region"],
                "confidence": entry["confidence"],
                "accepted": entry["accepted"],
                "methods": ", ".join(entry["methods"]) or "scikit-learn classifiers",
            }
        case "figure":
            return {
                "drawn": "once for all data sets" if entry["across"] else "once per data set",
                "needs": "the data (it fits models again)" if entry["refits"] else "",
            }
        case "section":
            return {
                "needs": entry["needs"],
                "files": entry["files"],
                "metrics": _joined(entry["metrics"]) if entry["metrics"] else "",
            }
        case "setting":
            return {name: entry[name] for name in ("of", "expected", "default", "guarantee")}
        case "guarantee":
            return {
                name: ", ".join(text) if isinstance(text, list) else text
                for name, text in entry.items()
                if name not in ("type", "name", "about")
            }
        case "table":
            return {
                "source": entry["source"],
                "unit": entry["unit"],
                "columns": entry["columns"],
                "data sets": ", ".join(entry["datasets"]),
                "notes": "".join(f"\n  {note}" for note in entry["notes"]),
            }
    return {}


def _joined(lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {key: ", ".join(names) for key, names in lists.items()}


def _parameter_line(parameter: Mapping[str, Any], needs_default: bool) -> str:
    """Return name, meaning, accepted values and default of a parameter; one without a default is required."""
    from confml.plugins.parameters import value_text

    texts = [parameter.get("about"), parameter.get("expected")]
    text = "; ".join(one for one in texts if one)
    if needs_default and not parameter.get("expected"):
        text = f"{text}; see its documentation" if text else "see its documentation"
    default = " [required]" if needs_default else ""
    if "default" in parameter:
        default = f" [default: {value_text(parameter['default'])}]"
    return f"  {parameter['name']}: {text}{default}"
