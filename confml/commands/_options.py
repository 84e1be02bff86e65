"""Options and functions that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from confml.errors import printable


class InOrder(click.Group):
    """A command group that lists its commands in the order of the workflow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Folder(click.Path):
    """The path of a folder that may not exist yet; an empty text is an error."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value, param, ctx):
        if str(value) == "":
            self.fail("the name of a folder is empty", param, ctx)
        return super().convert(value, param, ctx)


config_argument = click.argument("config", metavar="CONFIG")
set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a value of the config, such as protocol.repeats=5; may be repeated.",
)
out_option = click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="The run's folder.  [default: results/<name of the config>]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print no progress and no tables.")


def load(config: str, overrides: tuple[str, ...]):
    """Return the config of a command line, with its figures and tables checked."""
    from confml.config import load_config
    from confml.report import check_figure, known_figures, known_tables

    return load_config(
        config, overrides, figures=known_figures(), tables=known_tables(), check_figure=check_figure
    )


def folder_of(config, out: Path | None) -> Path:
    """Return the folder of a run."""
    return out if out is not None else Path("results") / config.name


def say(text: str) -> None:
    """Print a message on stderr, with control characters as escapes."""
    click.echo(printable(text), err=True)
