"""``confml bundle``."""

from pathlib import Path

import click

from confml.commands.options import FILE, force_option, say


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--out", type=FILE, metavar="FILE", help="The archive.  [default: NAME.bundle.zip]")
@click.option("--data", "with_data", is_flag=True, help="Include the data files that the config names.")
@force_option
def bundle(run: Path, out: Path | None, with_data: bool, force: bool) -> None:
    """Write a finished run as one archive that another machine can verify.

    The archive has the config, the cards and checksums of the data sets, the versions of all packages as
    requirements.txt, and the reports of the run in the folder RUN. It has no absolute paths. Data files of
    your own are included with --data; otherwise confml verify asks for them.

    \b
    confml bundle results/loans --data --out loans.bundle.zip
    confml verify loans.bundle.zip
    """
    import zipfile

    from confml._outputs import check_outputs
    from confml.studies.bundle import ABOUT, write_bundle

    target = out or Path(f"{run.resolve().name}.bundle.zip")

    def is_ours(path: Path) -> bool:
        if not zipfile.is_zipfile(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return ABOUT in archive.namelist()

    check_outputs([(target, is_ours)], [], force)
    names = write_bundle(run, target, with_data)
    say(f"{len(names)} files in {target}; confml verify {target} computes the run again")
