"""Checks of data sets: cards, generators, files, keys that go together, and names that are unique."""

import functools

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.data.csv_text import check_encoding
from confml.errors import ConfmlError, did_you_mean
from confml.yaml.located import Loc


def check_datasets(draft: Draft) -> None:
    names: dict[str, Loc] = {}
    for loc, dataset in draft.entries(DatasetSpec, "datasets"):
        kinds = [kind for kind in ("card", "csv", "openml", "generate") if getattr(dataset, kind) is not None]
        if len(kinds) > 1:
            message = f"a data set is one of card, csv, openml and generate, got {' and '.join(kinds)}"
            draft.add((*loc, kinds[1]), message, at_key=True)
            continue
        if dataset.csv is not None:
            _check_csv(draft, dataset, dataset.csv, loc)
        else:
            allowed = DatasetSpec.table_keys(openml=True) if dataset.openml else ()
            for key in DatasetSpec.table_keys(openml=False):
                if getattr(dataset, key) is not None and key not in allowed:
                    draft.add((*loc, key), "it needs csv, which is missing", at_key=True)
        if dataset.generate:
            _check_generator(draft, dataset, dataset.generate, loc)
        elif dataset.kind == "card":
            _check_card(draft, dataset, loc)
        first = names.setdefault(dataset.name.casefold(), loc)  # some file systems ignore case
        if first is not loc:
            message = f"data set '{dataset.name}' is listed twice, first in {draft.entry_text(first)}"
            draft.say((*loc, "name"), message, "give one of them another name")


def _check_card(draft: Draft, dataset: DatasetSpec, loc: Loc) -> None:
    from confml.data.cards import known_cards

    card = dataset.card or dataset.name
    if card not in (cards := known_cards()):
        hint = did_you_mean(card, cards, list_all=False) or "confml data list shows them"
        draft.say((*loc, "card" if dataset.card else "name"), f"unknown data set '{card}'", hint)


def _check_generator(draft: Draft, dataset: DatasetSpec, name: str, loc: Loc) -> None:
    from confml.data.generators import COMMON, GENERATORS
    from confml.plugins.parameters import check_parameters

    if name not in GENERATORS:
        draft.say((*loc, "generate"), f"unknown generator '{name}'", did_you_mean(name, GENERATORS))
        return
    draft.same_key_twice(loc)
    rules = {**COMMON, **GENERATORS[name].parameters}
    check = functools.partial(check_parameters, f"generator '{name}'", rules)
    draft.check_each((*loc, "params"), dataset.params, check)


def _check_csv(draft: Draft, dataset: DatasetSpec, file: str, loc: Loc) -> None:
    """Note files that do not exist, columns that they do not have, and columns that are listed twice."""
    from confml.data.csv_table import column_mistakes, named_columns
    from confml.data.table_files import column_names_of

    if dataset.label is None:
        message = f"missing key 'label' in {loc[0]}.{loc[1]}"
        draft.say(loc, message, "it names the column with the class, such as 'label: y'")
    path = draft.check_file((*loc, "csv"), file)
    if dataset.test is not None:
        draft.check_file((*loc, "test"), dataset.test)
    header = dataset.header is not False
    try:
        names = column_names_of(path, dataset.separator, dataset.encoding, header, dataset.sheet)
    except (ConfmlError, OSError, ValueError):
        # The file's own error is reported with the file, here or when it is loaded.
        names = [name for _, _, name in named_columns(dataset)]
    for key, index, message, hint in column_mistakes(dataset, names):
        draft.say((*loc, key, index or 0), f"{file}: {message}", hint)
    with draft.noting((*loc, "encoding")):
        check_encoding(dataset.encoding or "utf-8")
