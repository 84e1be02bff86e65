"""``confml describe``."""

from __future__ import annotations

import json
from typing import Any

import click

from confml.commands.options import json_option


@click.command()
@click.argument("name", metavar="NAME")
@json_option
def describe(name: str, as_json: bool) -> None:
    """Describe a method or step (views and parameters), or a metric (formula and better direction).

    'conformal' describes the conformal wrapper of any classifier.

    \b
    confml describe tcm-nn
    confml describe sklearn.ensemble.RandomForestClassifier
    confml describe fuzziness
    """
    from confml.methods.registry import describe as describe_method
    from confml.plugins.parameters import value_text
    from confml.report.declared import describe_metric
    from confml.steps.registry import describe_step, known_steps

    metric = describe_metric(name)
    if metric is not None:
        click.echo(json.dumps(metric, indent=1) if as_json else _metric_text(metric))
        return
    entry = describe_step(name) if name in known_steps() else describe_method(name)
    if as_json:
        click.echo(json.dumps(entry, indent=1, default=str))
        return
    kind = "step" if name in known_steps() else "method"
    click.echo(f"{entry['name']} ({kind}, {entry['source']}, version {entry['version']})\n")
    click.echo(entry["text"].rstrip() + "\n")
    if entry.get("views"):
        click.echo(f"views: {', '.join(entry['views'])}")
    click.echo("parameters:" if entry["parameters"] else "no parameters")
    for parameter in entry["parameters"]:
        given = f"default: {value_text(parameter['default'])}" if "default" in parameter else "required"
        about = f"{parameter['about']}; " if parameter.get("about") else ""
        click.echo(
            f"  {parameter['name']}: {about}{parameter.get('expected') or 'see scikit-learn'} [{given}]"
        )


def _metric_text(entry: dict[str, Any]) -> str:
    """The lines that describe a metric."""
    lines = {
        "better": entry["better"] or "neither (it cannot be ranked)",
        "formula": entry["formula"],
        "source": entry["source"],
        "file": entry["file"],
        "of": ", ".join(entry["methods"]),
    }
    shown = [f"{heading}: {text}" for heading, text in lines.items() if text]
    return "\n".join([f"{entry['name']} (metric)\n", f"{entry['about']}\n", *shown])
