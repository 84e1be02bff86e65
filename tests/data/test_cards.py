"""All cards: what they say, what loads by them, and the papers' variants against the papers' tables."""

from __future__ import annotations

import csv
import re
import urllib.parse

import numpy as np
import pytest

from confml.data import load
from confml.data.cards import Idx, Sklearn, column_names, known_cards, read_card

# What the providers' files hold: rows (training + test where the provider divides them), attributes, and the
# rows of each class in the order of the sorted labels. Counted apart from confml, with awk and od.
COUNTS = {
    "pies": (12, 5, (6, 6)),
    "usps": ((7291, 2007), 256, (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)),
    "satimage": ((4435, 2000), 36, (1533, 703, 1358, 626, 707, 1508)),
    "shuttle": ((43500, 14500), 9, (45586, 50, 171, 8903, 3267, 10, 13)),
    "segment": (2310, 19, (330,) * 7),
    "segment-uci": ((210, 2100), 19, (330,) * 7),
    "mnist": ((60000, 10000), 784, (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)),
    "pima": (768, 8, (500, 268)),
    "sonar": (208, 60, (111, 97)),
    "ionosphere": (351, 34, (126, 225)),
    "ionosphere-33": (351, 33, (126, 225)),
    "ionosphere-first200": ((200, 151), 33, (126, 225)),
    "wisconsin": (683, 9, (444, 239)),
    "wisconsin-all-rows": (699, 9, (458, 241)),
    "wisconsin-first455": ((455, 228), 9, (444, 239)),
    "wine": (178, 13, (59, 71, 48)),
    "vehicle": (846, 18, (218, 212, 217, 199)),
    "heart": (270, 13, (150, 120)),
    "new-thyroid": (215, 5, (150, 35, 30)),
    "thyroid": (215, 5, (150, 65)),
    "ripley-synth": ((250, 1000), 2, (625, 625)),
    "abalone": (
        4177,
        8,
        (1, 1, 15, 57, 115, 259, 391, 568, 689, 634, 487, 267, 203, 126)
        + (103, 67, 58, 42, 32, 26, 14, 6, 9, 2, 1, 1, 2, 1),
    ),
    "fars": (100968, 29, (9, 42116, 15072, 299, 20007, 13890, 8674, 901)),
    "flare": (1066, 12, (147, 211, 239, 95, 43, 331)),
    "krkopt": (
        28056,
        6,
        (2796, 1433, 2854, 2166, 471, 198, 4553, 1712, 78, 683, 592, 390, 1985, 4194, 81, 3597, 246, 27),
    ),
    "letter": (
        20000,
        16,
        (789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792)
        + (783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
    ),
    "nursery": (12960, 8, (4320, 4266, 2, 4044, 328)),
    "optdigits": ((3823, 1797), 64, (554, 571, 557, 572, 568, 558, 558, 566, 554, 562)),
    "page-blocks": (5473, 10, (4913, 329, 28, 88, 115)),
    "pendigits": ((7494, 3498), 16, (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055)),
    "texture": (5500, 40, (500,) * 11),
    "winequality-red": (1599, 11, (10, 53, 681, 638, 199, 18)),
    "winequality-white": (4898, 11, (20, 163, 1457, 2198, 880, 175, 5)),
    "yeast": (1484, 8, (463, 5, 35, 44, 51, 163, 244, 429, 20, 30)),
    "iris": (150, 4, (50, 50, 50)),
    "digits": (1797, 64, (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)),
    "breast-cancer": (569, 30, (357, 212)),
    "wine-sklearn": (178, 13, (59, 71, 48)),
}

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

# Euclidean 1-NN on the providers' division, as published with the files: errors, test rows.
NEAREST_NEIGHBOUR = {
    "usps": (113, 2007),
    "satimage": (211, 2000),
    "pendigits": (79, 3498),
    "optdigits": (36, 1797),
    "ripley-synth": (150, 1000),
    "shuttle": (17, 14500),
}


@pytest.mark.real_data
@pytest.mark.parametrize(  # fars-smartsvm reads the same file as fars, which takes seconds
    "name",
    [pytest.param(name, marks=pytest.mark.exhaustive) if name == "fars" else name for name in known_cards()],
)
def test_loads_with_the_counts_that_its_files_have(name, needs_data):
    needs_data(name)
    data = load({"name": name})
    assert data.name == name
    assert data.X.flags.c_contiguous and not data.X.flags.writeable
    assert np.isnan(data.X).any() == (name == "wisconsin-all-rows")
    if name in COUNTS:
        rows, attributes, class_counts = COUNTS[name]
        if isinstance(rows, tuple):
            assert (len(data.train_rows), len(data.test_rows)) == rows
            both = np.sort(np.concatenate([data.train_rows, data.test_rows]))
            np.testing.assert_array_equal(both, np.arange(sum(rows)))
        else:
            assert data.train_rows is None and data.test_rows is None
            assert len(data) == rows
        assert len(data.table_attributes) == attributes
        assert tuple(data.class_counts().values()) == class_counts
    if name in SMARTSVM_TABLE_1:
        sizes = data.class_counts().values()
        found = (*data.X.shape, len(data.classes), min(sizes), max(sizes))
        assert found == SMARTSVM_TABLE_1[name]
    assert name in COUNTS or name in SMARTSVM_TABLE_1 or name.endswith("-merged")


@pytest.mark.real_data
@pytest.mark.parametrize("name", NEAREST_NEIGHBOUR)
def test_nearest_neighbour_errors_are_the_published_ones(name, needs_data):
    from sklearn.neighbors import KNeighborsClassifier

    needs_data(name)
    data = load({"name": name})
    train, test = data.train_rows, data.test_rows
    search = "kd_tree" if data.X.shape[1] < 20 else "brute"
    nearest = KNeighborsClassifier(1, algorithm=search).fit(data.X[train], data.y[train])
    errors = int((nearest.predict(data.X[test]) != data.y[test]).sum())
    assert (errors, len(test)) == NEAREST_NEIGHBOUR[name]


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
            assert re.match(
                r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/\S+$", file.address
            )
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
