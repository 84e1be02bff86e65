"""``confml verify``."""

import functools
import json
import tempfile
from pathlib import Path

import click

from confml.commands.options import allow_import_option, json_option, quiet_option, say, say_unless


@click.command()
@click.argument("bundle", metavar="BUNDLE", type=click.Path(path_type=Path))
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder with data files that BUNDLE lacks."
)
@click.option("--jobs", "-j", type=click.IntRange(1), help="Number of workers.  [default: all cores]")
@allow_import_option
@json_option
@quiet_option
def verify(bundle: Path, data: Path | None, jobs: int | None, as_json: bool, quiet: bool) -> None:
    """Compute the run of a bundle again, and say which files have the same bytes.

    BUNDLE is an archive of confml bundle. Its run is computed in a temporary folder. Files with times,
    figures and the page are not compared. The exit code is 1 if a file differs or is missing.

    \b
    confml verify loans.bundle.zip
    confml verify loans.bundle.zip --data private/ --json
    """
    from confml.runs import run
    from confml.studies.bundle import verify_bundle

    tell = say_unless(quiet)
    with tempfile.TemporaryDirectory(prefix="confml-verify-") as work:
        compute = functools.partial(run, jobs=jobs, say=tell)
        found = verify_bundle(bundle, Path(work), lambda config, out: compute(config, out=out), data)
    wrong = [one for one in found if one.state != "same"]
    if as_json:
        click.echo(json.dumps({one.name: one.state for one in found}, indent=1))
    else:
        for one in found if not quiet else wrong:
            click.echo(f"{one.state:<8} {one.name}")
    say(f"{len(found) - len(wrong)} of {len(found)} files have the same bytes")
    if wrong:
        raise click.exceptions.Exit(1)
