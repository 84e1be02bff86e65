"""``confml data``: list, describe, fetch and audit data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from confml.commands.common import InOrder, echo_json, json_option, say
from confml.commands.data_check import check
from confml.commands.data_info import card_info, generator_info, listed, print_info, print_table

if TYPE_CHECKING:
    from confml.data.cards import Card, CardFile

DATA_MISSING = 3  # the exit code of data that are missing or wrong


@click.group(cls=InOrder)
def data() -> None:
    """List, describe, fetch and audit data sets.

    Files are searched in the folders of CONFML_DATA, as <set>/<file>, then in the cache. fetch writes them
    into the cache: CONFML_CACHE, or the cache folder of the system.

    \b
    confml data list                 all data sets, and which files are present
    confml data fetch usps           get the files of a set
    confml data check loans.csv --label default
    """


@data.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the data sets and generators.

    Values of FILES: here (present), to fetch (can be downloaded), by hand (no address serves all files, see
    info), wrong (see info), bundled (with scikit-learn or in the card).

    \b
    confml data list
    confml data list --json
    """
    from confml.data.cards import known_cards, read_card
    from confml.data.files import states
    from confml.data.generators import GENERATORS

    cards = [read_card(name) for name in known_cards()]
    rows = [listed(card, states(card)) for card in cards]
    made = [{"name": name, "about": generator.about} for name, generator in GENERATORS.items()]
    if as_json:
        echo_json({"datasets": rows, "generators": made})
        return
    heads = {"name": "NAME", "rows": "ROWS", "attributes": "FEATURES", "classes": "CLASSES"}
    print_table(
        [*heads.values(), "FILES", "TITLE"],
        [[*(row[k] for k in heads), row["files"], row["title"]] for row in rows],
    )
    print("\nsynthetic, as {generate: NAME, n: 250}:")
    print_table([], [[entry["name"], entry["about"]] for entry in made])


@data.command()
@click.argument("name")
@json_option
def info(name: str, as_json: bool) -> None:
    """Describe a data set or generator.

    \b
    confml data info usps
    confml data info five-gaussians --json
    """
    from confml.data.cards import known_cards, read_card
    from confml.data.files import states
    from confml.data.generators import GENERATORS

    if name in GENERATORS and name not in known_cards():
        report = generator_info(name, GENERATORS[name])
    else:
        card = read_card(name)
        report = card_info(card, states(card))
    if as_json:
        echo_json(report)
    else:
        print_info(report)


@data.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everything", is_flag=True, help="Fetch the files of all data sets.")
def fetch(names: tuple[str, ...], everything: bool) -> None:
    """Fetch the missing files of data sets.

    Every file is checked by its SHA-256; a wrong one is not kept. Each file that cannot be fetched is
    reported on one line, and the exit code is then 3.

    \b
    confml data fetch usps satimage
    confml data fetch --all
    """
    from confml.data.cards import known_cards
    from confml.data.download import fetch_files

    if bool(names) == everything:
        raise click.UsageError("name the data sets to fetch, or use --all")
    cards = _cards(names or known_cards())
    files = {(file.folder, file.name): file for card in cards for file in card.files}
    for card in cards:
        if not card.files and names:
            bundle = "scikit-learn" if card.reader.kind == "sklearn" else "confml"
            print(f"{card.name} comes with {bundle}: nothing to fetch")
    failed = 0
    for result in fetch_files(files.values(), say=say):
        if result.path is not None:
            print(f"{_path(result.file)}: {result.state}, {result.path}")
        else:
            failed += 1
            say(f"{_path(result.file)}: {result.problem}")
    if failed:
        say(f"{failed} of {len(files)} {'file' if len(files) == 1 else 'files'} could not be fetched")
        raise click.exceptions.Exit(DATA_MISSING)


data.add_command(check)


def _cards(names) -> list[Card]:
    from confml.data.cards import known_cards, read_card
    from confml.data.generators import GENERATORS
    from confml.errors import ConfigError

    for name in names:
        if name in GENERATORS and name not in known_cards():
            raise ConfigError(f"'{name}' is a generator of synthetic data, it has no files")
    return [read_card(name) for name in dict.fromkeys(names)]


def _path(file: CardFile) -> str:
    return f"{file.folder}/{file.name}"
