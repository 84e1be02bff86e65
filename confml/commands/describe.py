"""``confml describe``."""

from __future__ import annotations

import json

import click

from confml.commands.options import json_option


@click.command()
@click.argument("name", metavar="METHOD")
@json_option
def describe(name: str, as_json: bool) -> None:
    """Explain one method or step: what it is, its views and its parameters.

    'conformal' is what any classifier can be made.

    \b
    confml describe tcm-nn
    confml describe sklearn.ensemble.RandomForestClassifier
    """
    from confml.methods.registry import describe as describe_method
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
        default = f" [default: {_yaml(parameter['default'])}]" if "default" in parameter else " [needed]"
        about = f"{parameter['about']}; " if parameter.get("about") else ""
        click.echo(
            f"  {parameter['name']}: {about}{parameter.get('expected') or 'see scikit-learn'}{default}"
        )


def _yaml(value) -> str:
    """A value as a config writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
