"""``confml describe``."""

from __future__ import annotations

import json

import click

from confml.commands.options import json_option


@click.command()
@click.argument("name", metavar="METHOD")
@json_option
def describe(name: str, as_json: bool) -> None:
    """Explain one method or step: its description, views and parameters.

    The name 'conformal' describes the settings that make any classifier conformal.

    \b
    confml describe tcm-nn
    confml describe sklearn.ensemble.RandomForestClassifier
    """
    from confml.methods.registry import describe as describe_method
    from confml.plugins.parameters import value_text
    from confml.steps.registry import describe_step, known_steps

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
