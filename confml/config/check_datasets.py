"""Checks of data sets: cards, generators, files, keys that go together, and names that are unique."""

import functools

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.data.csv_text import check_encoding
from confml.errors import ConfmlError, did_you_mean


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
        elif dataset.kind == "card":
            _check_card(draft, dataset, place)
        first = seen.setdefault(dataset.name.casefold(), place)  # some file systems ignore case
        if first is not place:
            message = f"data set '{dataset.name}' is listed twice, first in {draft.entry_text(first)}"
            draft.say((*place, "name"), message, "give one of them another name")


def _check_card(draft: Draft, dataset: DatasetSpec, place: tuple) -> None:
    from confml.data.cards import known_cards

    card, at = dataset.card or dataset.name, (*place, "card" if dataset.card else "name")
    if card not in (known := known_cards()):
        hint = did_you_mean(card, known, list_all=False) or "confml data list shows them"
        draft.say(at, f"unknown data set '{card}'", hint)


def _check_generator(draft: Draft, dataset: DatasetSpec, name: str, place: tuple) -> None:
    from confml.data.generators import COMMON, GENERATORS
    from confml.plugins.parameters import check_parameters

    if name not in GENERATORS:
        draft.say((*place, "generate"), f"unknown generator '{name}'", did_you_mean(name, GENERATORS))
        return
    draft.same_key_twice(place)
    rules = {**COMMON, **GENERATORS[name].parameters}
    check = functools.partial(check_parameters, f"generator '{name}'", rules)
    draft.check_each((*place, "params"), dataset.params, check)


def _check_csv(draft: Draft, dataset: DatasetSpec, file: str, place: tuple) -> None:
    """Note files that do not exist, columns that they do not have, and columns that are listed twice."""
    from confml.data.csv_table import column_mistakes, named_columns
    from confml.data.table_files import column_names_of

    if dataset.label is None:
        message = f"missing key 'label' in {place[0]}.{place[1]}"
        draft.say(place, message, "it names the column with the class, as 'label: y'")
    path = draft.check_file((*place, "csv"), file)
    if dataset.test is not None:
        draft.check_file((*place, "test"), dataset.test)
    header = dataset.header is not False
    try:
        names = column_names_of(path, dataset.separator, dataset.encoding, header, dataset.sheet)
    except (ConfmlError, OSError, ValueError):
        # The file's own error is reported with the file, here or when it is loaded.
        names = [name for _, _, name in named_columns(dataset)]
    for key, index, message, hint in column_mistakes(dataset, names):
        draft.say((*place, key, index or 0), f"{file}: {message}", hint)
    with draft.noting((*place, "encoding")):
        check_encoding(dataset.encoding or "utf-8")
