"""Checks of data sets: cards, generators, files, keys that go together, and names that are unique."""

from pathlib import Path

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.data.csv_text import check_encoding
from confml.errors import ConfigError, ConfmlError, did_you_mean


def check_datasets(draft: Draft) -> None:
    seen: dict[str, tuple] = {}
    for place, dataset in draft.entries(DatasetSpec, "datasets"):
        kinds = [kind for kind in ("card", "csv", "openml", "generate") if getattr(dataset, kind) is not None]
        if len(kinds) > 1:
            message = f"a data set is one of card, csv, openml and generate, got {' and '.join(kinds)}"
            draft.add((*place, kinds[1]), message, at_key=True)
            continue
        if dataset.csv is not None:
            _check_csv(draft, dataset, dataset.csv, place)
        else:
            allowed = DatasetSpec.table_keys(openml=True) if dataset.openml else ()
            for key in DatasetSpec.table_keys(openml=False):
                if getattr(dataset, key) is not None and key not in allowed:
                    draft.add((*place, key), "it goes with csv, which is not given", at_key=True)
            if dataset.generate:
                _check_generator(draft, dataset, dataset.generate, place)
            elif not dataset.openml:
                _check_card(draft, dataset, place)
        if dataset.name.casefold() in seen:  # some file systems ignore case
            other = seen[dataset.name.casefold()]
            where = f"datasets.{other[1]}{draft.line(other, at_key=False)}"
            message = f"data set '{dataset.name}' is listed twice, first in {where}"
            draft.say((*place, "name"), message, "give one of them another name")
        else:
            seen[dataset.name.casefold()] = place


def _check_card(draft: Draft, dataset: DatasetSpec, place: tuple) -> None:
    from confml.data.cards import known_cards

    card = dataset.card or dataset.name
    at = (*place, "card") if dataset.card else (*place, "name")
    try:
        known = known_cards()
    except ConfmlError as error:
        draft.add(at, error.message, error.hint)
        return
    if card not in known:
        if dataset.card is None and _is_table_file(draft, card):
            message = f"'{card}' is a table file, expected the name of a card or a mapping"
            draft.say(at, message, f"write {{csv: {card}, label: COLUMN}}")
            return
        hint = did_you_mean(card, known, list_all=False) or "confml data list shows them"
        draft.say(at, f"unknown data set '{card}'", hint)


def _is_table_file(draft: Draft, name: str) -> bool:
    """Return whether a name has the ending of a table file, or is that of a file next to the config."""
    from confml.data.table_files import is_table_name

    try:
        return is_table_name(name) or draft.file(name).is_file()
    except (OSError, ValueError):
        return False


def _check_generator(draft: Draft, dataset: DatasetSpec, name: str, place: tuple) -> None:
    from confml.data.generators import COMMON, GENERATORS
    from confml.plugins.parameters import check_parameters

    if name not in GENERATORS:
        draft.say((*place, "generate"), f"unknown generator '{name}'", did_you_mean(name, GENERATORS))
        return
    draft.same_key_twice(place)
    rules = {**COMMON, **GENERATORS[name].parameters}
    for parameter, value in dataset.params.items():
        try:
            check_parameters(f"generator '{name}'", rules, {parameter: value})
        except ConfmlError as error:
            draft.add_error(error, parameter, value, (*place, "params", parameter))


def _check_csv(draft: Draft, dataset: DatasetSpec, file: str, place: tuple) -> None:
    if dataset.label is None:
        message = f"missing key 'label' in {place[0]}.{place[1]}"
        draft.say(place, message, "it names the column with the class, as 'label: y'")
    for key in ("csv", "test"):
        path = getattr(dataset, key)
        if path is not None:
            _check_file(draft, draft.file(path), (*place, key))
    _check_columns(draft, dataset, file, place)
    if dataset.encoding is not None:
        try:
            check_encoding(dataset.encoding)
        except ConfigError as error:
            draft.add((*place, "encoding"), error.message, error.hint)


def _check_columns(draft: Draft, dataset: DatasetSpec, file: str, place: tuple) -> None:
    """Note columns that the file does not have and columns that are listed twice."""
    from confml.data.csv_table import column_mistakes, named_columns
    from confml.data.table_files import column_names_of

    try:
        names = column_names_of(
            draft.file(file),
            dataset.separator,
            dataset.encoding,
            dataset.header is not False,
            dataset.sheet,
        )
    except (ConfmlError, OSError, ValueError):
        # The file's own error is reported with the file, here or when it is loaded.
        names = [name for _, _, name in named_columns(dataset)]
    for key, at, message, hint in column_mistakes(dataset, names):
        node = draft.root.at((*place, key))
        entry = (at,) if at is not None and node.is_list and at < len(node.content) else ()
        draft.say((*place, key, *entry), f"{file}: {message}", hint)


def _check_file(draft: Draft, path: Path, place: tuple) -> None:
    try:
        if path.is_file():
            return
        folder = path.parent
        if path.is_dir():
            draft.add(place, f"{path} is a folder, expected a file")
        elif path.exists():
            draft.add(place, f"{path} is not a regular file")
        elif not folder.is_dir():
            draft.add(
                place, f"no file {path}: there is no folder {folder}", "paths count from the config's folder"
            )
        else:
            names = [other.name for other in folder.iterdir() if other.is_file()]
            hint = did_you_mean(path.name, names, list_all=False) or "paths count from the config's folder"
            draft.add(place, f"no file {path}", hint)
    except (OSError, ValueError) as error:
        draft.add(place, f"{path} cannot be read: {error}")
