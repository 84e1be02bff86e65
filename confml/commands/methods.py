"""``confml methods``."""

from importlib.metadata import entry_points
from typing import Any

import click

from confml.commands.common import echo_json, json_option
from confml.terminal import echo

KINDS = ("methods", "steps")


@click.command()
@json_option
def methods(as_json: bool) -> None:
    """List the methods and steps that a config can name.

    Classifiers with scikit-learn's interface are named by module and class, such as
    sklearn.ensemble.RandomForestClassifier, and transformers are steps, such as sklearn.decomposition.PCA.
    """
    if as_json:
        echo_json({kind: list(_described(kind).values()) for kind in KINDS})
        return
    for kind in KINDS:
        summaries = {}
        for name, entry in _described(kind).items():
            source = "" if entry["source"] == "confml" else f" ({entry['source']})"
            summaries[name] = f"{entry['summary']}{source}"
        echo(f"{kind}:")
        width = max(map(len, summaries), default=0)
        for name, summary in sorted(summaries.items()):
            echo(f"  {name:<{width}}  {summary}")
    if entry_points(group="confml.methods"):
        from confml.methods.registry import broken_methods

        for name, error in broken_methods().items():
            echo(f"  {name}  cannot be used: {error}")
    echo("Scikit-learn classifiers are named as sklearn.ensemble.RandomForestClassifier, steps as")
    echo("sklearn.decomposition.PCA; other packages need --allow-import, as --allow-import xgboost.")
    echo("'conformal: split' or 'conformal: cross' gives any classifier p-values (see conformal).")
    echo("'venn: inductive' or 'venn: cross' gives it probabilities with bounds (see venn).")
    echo("confml describe NAME shows the documentation of a name; try: confml describe conformal")


def _described(kind: str) -> dict[str, dict[str, Any]]:
    """Return the documentation of all methods, or of all steps, by name."""
    from confml.methods.registry import describe, known_methods
    from confml.steps.registry import describe_step, known_steps

    if kind == "methods":
        return {name: describe(name) for name in known_methods()}
    return {name: describe_step(name) for name in known_steps()}
