"""``confml methods``."""

import json

import click

from confml.commands.options import json_option


@click.command()
@json_option
def methods(as_json: bool) -> None:
    """List the methods and steps that a config can name.

    Classifiers with scikit-learn's interface are named by module and class, such as
    sklearn.ensemble.RandomForestClassifier, and transformers are steps, such as sklearn.decomposition.PCA.
    """
    from confml.methods.registry import broken_methods, describe, known_methods
    from confml.steps.registry import describe_step, known_steps

    described = {
        "methods": [describe(name) for name in known_methods()],
        "steps": [describe_step(name) for name in known_steps()],
    }
    if as_json:
        click.echo(json.dumps(described, indent=1, default=str))
        return
    for kind, entries in described.items():
        click.echo(f"{kind}:")
        width = max((len(entry["name"]) for entry in entries), default=0)
        for entry in entries:
            source = "" if entry["source"] == "confml" else f" ({entry['source']})"
            click.echo(f"  {entry['name']:<{width}}  {entry['summary']}{source}")
    for name, error in broken_methods().items():
        click.echo(f"  {name}  cannot be used: {error}")
    click.echo("Scikit-learn classifiers are named as sklearn.ensemble.RandomForestClassifier, steps as")
    click.echo("sklearn.decomposition.PCA; other packages need --allow-import, as --allow-import xgboost.")
    click.echo("'conformal: split' or 'conformal: cross' gives any classifier p-values (see conformal).")
    click.echo("'venn: inductive' or 'venn: cross' gives it probabilities with bounds (see venn).")
    click.echo("confml describe NAME shows the documentation of a name; try: confml describe conformal")
