"""Options, and the kind of group, that several commands share."""

from __future__ import annotations

from pathlib import Path

import click


class InOrder(click.Group):
    """Lists its commands in the order of the workflow, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


config_argument = click.argument("config", metavar="CONFIG")
set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a value of the config, as protocol.repeats=5 or methods.tcm-nn.k=3; may be repeated.",
)
out_option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The run's folder.  [default: results/<name of the config>]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress and no tables.")


def load(config: str, overrides: tuple[str, ...]):
    """The config of a command line, with what reports know checked too."""
    from confml.config import load_config
    from confml.report import check_figure, known_figures, known_tables

    return load_config(
        config, overrides, figures=known_figures(), tables=known_tables(), check_figure=check_figure
    )


def folder_of(config, out: Path | None) -> Path:
    """The folder of a run."""
    return out if out is not None else Path("results") / config.name


def say(text: str) -> None:
    """A message on stderr."""
    click.echo(text, err=True)
