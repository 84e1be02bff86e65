"""``confml schema``."""

import click

from confml.commands.common import echo_json


@click.command()
def schema() -> None:
    """Print the JSON Schema of configs.

    Editors use it to complete and check YAML files.

    \b
    confml schema > confml.schema.json

    and on the first line of a config, for yaml-language-server (VS Code, Neovim, Emacs):

    \b
    # yaml-language-server: $schema=confml.schema.json
    """

    from confml.config import json_schema
    from confml.published import known_tables
    from confml.report.figures import FIGURES

    echo_json(json_schema(figures=FIGURES, tables=known_tables()), indent=2)
