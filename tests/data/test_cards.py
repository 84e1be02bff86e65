"""All cards: what they say, what loads by them, and the papers' variants against the papers' tables."""

import csv
import re
import urllib.parse

import numpy as np
import pytest
from trials import more_of

from confml.data import load
from confml.data.cards import Idx, Sklearn, column_names, known_cards, read_card

# van den Burg and Hero (2017), Table 1: instances, features, classes, smallest and largest class.
SMARTSVM_TABLE_1 = {
    "abalone-smartsvm": (4177, 8, 20, 14, 689),
    "fars-smartsvm": (100959, 338, 7, 299, 42116),
    "flare-smartsvm": (1066, 19, 6, 43, 331),
    "krkopt-smartsvm": (28056, 34, 18, 27, 4553),
    "letter": (20000, 16, 26, 734, 813),
    "nursery-smartsvm": (12960, 19, 4, 330, 4320),
    "optdigits": (5620, 64, 10, 554, 572),
    "page-blocks": (5473, 10, 5, 28, 4913),
    "pendigits": (10992, 16, 10, 1055, 1144),
    "satimage": (6435, 36, 6, 626, 1533),
    "segment": (2310, 19, 7, 330, 330),
    "shuttle-smartsvm": (58000, 9, 6, 23, 45586),
    "texture": (5500, 40, 11, 500, 500),
    "winequality-red-leak": (1599, 12, 5, 18, 681),
    "winequality-white-leak": (4898, 12, 6, 20, 2198),
    "yeast-smartsvm": (1479, 8, 9, 20, 463),
}


ADDRESS = r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/\S+$"


@pytest.mark.real_data
@pytest.mark.parametrize(  # two take seconds to read: fars-smartsvm reads the same file as fars
    "name",
    [*more_of(["fars", "mnist"]), *(name for name in known_cards() if name not in ("fars", "mnist"))],
)
def test_loads_with_the_rows_and_classes_that_its_card_expects(name, needs_data):
    """The card's own numbers, which loading compares with the files, and the paper's."""
    needs_data(name)
    data = load({"name": name})
    assert data.name == name
    assert data.X.flags.c_contiguous and not data.X.flags.writeable
    assert np.isnan(data.X).any() == (name == "wisconsin-all-rows")
    if name in SMARTSVM_TABLE_1:
        sizes = data.class_counts().values()
        numbers = (*data.X.shape, len(data.classes), min(sizes), max(sizes))
        assert numbers == SMARTSVM_TABLE_1[name]


@pytest.mark.real_data
def test_cards_agree_with_the_list_of_sources(data_folder):
    sources = data_folder / "SOURCES.csv"
    if not sources.is_file():
        pytest.skip(f"needs {sources}")
    files = {(file.folder, file.name): file for card in map(read_card, known_cards()) for file in card.files}
    with open(sources, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["dataset"], row["file"]) for row in rows} == set(files)
    for row in rows:
        file = files[row["dataset"], row["file"]]
        assert (file.sha256, str(file.bytes)) == (row["staged_sha256"], row["staged_bytes"])
        if file.rows is not None:
            assert str(file.rows) == row["rows"]
        if file.manual is not None:
            continue
        owner, commit = row["source"].removeprefix("github.com/"), row["commit"][:40]
        path = urllib.parse.unquote(file.address).removeprefix("https://raw.githubusercontent.com/")
        assert path == f"{owner}/{commit}/{row['path']}"
        assert (file.original_sha256 or file.sha256) == row["original_sha256"]


@pytest.mark.real_data
def test_the_leak_is_the_label(needs_data):
    for colour in ("red", "white"):
        needs_data(f"winequality-{colour}")
        clean = load({"name": f"winequality-{colour}"})
        leak = load({"name": f"winequality-{colour}-leak"})
        assert leak.attributes == (*clean.attributes, "quality")
        np.testing.assert_array_equal(leak.X[:, :-1], clean.X)
        np.testing.assert_array_equal(leak.X[:, -1], clean.y)
        assert "say nothing" in " ".join(leak.notes)


@pytest.mark.parametrize("name", known_cards())
def test_card_says_where_the_data_are_from(name):
    card = read_card(name)
    assert card.name == name and card.path.stem == name
    if isinstance(card.reader, Sklearn):
        assert not card.files
    for file in card.files:
        if file.address is not None:
            assert re.match(ADDRESS, file.address)
        assert len({file.folder for file in card.files}) == 1
        assert file.rows is not None or isinstance(card.reader, Idx)
    if card.columns is not None:
        names = column_names(card.columns)
        assert len(set(names)) == len(names)
    assert sum(card.expect.classes.values()) == card.expect.rows
    if card.expect.train_rows is not None:
        assert card.expect.train_rows + card.expect.test_rows == card.expect.rows
    if name.endswith("-smartsvm") or name.endswith("-leak"):
        assert "Table 1" in card.paper.source and card.paper.changed
        assert name in SMARTSVM_TABLE_1
