"""Data sets: cards and generators that exist, files that are there, keys that go together, no name twice."""

from __future__ import annotations

import codecs
from pathlib import Path

from confml.config.checks import Checker
from confml.config.schema import DatasetSpec
from confml.errors import ConfmlError, did_you_mean


def check_datasets(checker: Checker) -> None:
    seen: dict[str, tuple] = {}
    for place, dataset, whole in checker.entries(DatasetSpec, "datasets"):
        if not whole and _kind_as_written(checker, place) != dataset.kind:
            continue  # its source is what is wrong
        kinds = [kind for kind in ("card", "csv", "generate") if getattr(dataset, kind) is not None]
        if len(kinds) > 1:
            message = f"a data set comes from one of card, csv and generate, got {' and '.join(kinds)}"
            checker.add((*place, kinds[1]), message, at_key=True)
            continue
        if dataset.kind == "csv":
            _check_csv(checker, dataset, place, whole)
        else:
            for key in DatasetSpec.CSV_KEYS:
                if getattr(dataset, key) is not None:
                    checker.add((*place, key), "it goes with csv, which is not given", at_key=True)
            _check_generator(checker, dataset, place) if dataset.generate else _check_card(
                checker, dataset, place
            )
        if dataset.name.casefold() in seen:  # their folders would be one on some systems
            other = seen[dataset.name.casefold()]
            where = f"datasets.{other[1]}{checker.line(other, at_key=False)}"
            message = f"data set '{dataset.name}' stands twice, in {where} too"
            checker.say((*place, "name"), message, "give one of them another name")
        else:
            seen[dataset.name.casefold()] = place


def _kind_as_written(checker: Checker, place: tuple) -> str:
    node = checker.root.at(place)
    return next((kind for kind in ("csv", "generate") if node.child(kind) is not None), "card")


def _check_card(checker: Checker, dataset: DatasetSpec, place: tuple) -> None:
    from confml.data.cards import known_cards

    card = dataset.card or dataset.name
    at = (*place, "card") if dataset.card else (*place, "name")
    try:
        known = known_cards()
    except ConfmlError as error:
        checker.add(at, error.message, error.hint)
        return
    if card not in known:
        hint = did_you_mean(card, known, list_all=False) or "confml data list shows them"
        checker.say(at, f"unknown data set '{card}'", hint)


def _check_generator(checker: Checker, dataset: DatasetSpec, place: tuple) -> None:
    from confml.data.generators import COMMON, GENERATORS
    from confml.plugins.parameters import check_parameters

    name = dataset.generate
    if name not in GENERATORS:
        checker.say((*place, "generate"), f"unknown generator '{name}'", did_you_mean(name, GENERATORS))
        return
    checker.same_key_twice(place)
    rules = {**COMMON, **GENERATORS[name].parameters}
    for parameter, value in dataset.params.items():
        try:
            check_parameters(f"generator '{name}'", rules, {parameter: value})
        except ConfmlError as error:
            checker.tell(error, parameter, value, (*place, "params", parameter))


def _check_csv(checker: Checker, dataset: DatasetSpec, place: tuple, whole: bool) -> None:
    if dataset.label is None and whole:
        message = f"missing key 'label' in {place[0]}.{place[1]}"
        checker.say(place, message, "it names the column with the class, as 'label: y'")
    for key in ("csv", "test"):
        path = getattr(dataset, key)
        if path is not None:
            _check_file(checker, Path(path), (*place, key))
    _check_columns(checker, dataset, place)
    if dataset.encoding is not None:
        try:
            codecs.lookup(dataset.encoding)
        except (LookupError, ValueError):
            message = f"unknown encoding '{dataset.encoding}'"
            checker.add((*place, "encoding"), message, "utf-8, latin-1 and cp1252 are common ones")


def _check_columns(checker: Checker, dataset: DatasetSpec, place: tuple) -> None:
    """Every key that names a column: columns that the file does not have, and those named twice."""
    from confml.data.csv_spec import CsvSpec, column_mistakes
    from confml.data.text_table import column_names_of

    try:
        names = column_names_of(Path(dataset.csv), dataset.separator, dataset.encoding)
    except (ConfmlError, OSError, ValueError):
        names = None  # reported with the file, here or when it is loaded
    lists = {key: tuple(getattr(dataset, key) or ()) for key in ("ignore", "nominal", "id")}
    named = CsvSpec(
        csv=Path(dataset.csv), label=dataset.label, name=dataset.name, groups=dataset.groups, **lists
    )
    if names is None:
        names = [name for _, _, name in named.named()]
    for key, at, message, hint in column_mistakes(named, names):
        node = checker.root.at((*place, key))
        listed = at is not None and node.is_list and at < len(node.content)
        checker.say((*place, key, at) if listed else (*place, key), message, hint)


def _check_file(checker: Checker, path: Path, place: tuple) -> None:
    try:
        if path.is_file():
            return
        folder = path.parent
        if path.is_dir():
            checker.add(place, f"{path} is a folder, expected a file")
        elif not folder.is_dir():
            checker.add(
                place, f"no file {path}: there is no folder {folder}", "paths count from the config's folder"
            )
        else:
            names = [other.name for other in folder.iterdir() if other.is_file()]
            hint = did_you_mean(path.name, names, list_all=False) or "paths count from the config's folder"
            checker.add(place, f"no file {path}", hint)
    except (OSError, ValueError) as error:
        checker.add(place, f"{path} cannot be looked at: {error}")
