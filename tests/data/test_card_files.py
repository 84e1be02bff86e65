"""The strictness of cards: every mistake in one is an error that names the file and the line."""

import pytest

from confml.data.cards import column_names, read_card, read_card_file
from confml.errors import ConfigError, DataError

CARD = """\
title: Toy
about: A toy.
provider: Nobody
licence: none
citation: none
page: https://example.org/toy
files:
  - name: toy.data
    sha256: {digest}
    bytes: 12
    address: https://example.org/toy.data
reader: {{kind: delimited, separator: comma}}
columns: [a, b, y]
label: y
expect:
  rows: 2
  attributes: 2
  classes: {{1: 1, 2: 1}}
""".format(digest="0" * 63 + "a")


@pytest.fixture
def card(tmp_path):
    """``card(text, name)`` writes a card and reads it."""

    def card(text=CARD, name="toy"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return read_card_file(path)

    return card


def test_a_whole_card(card):
    toy = card()
    assert (toy.name, toy.folder, toy.label) == ("toy", "toy", "y")
    assert toy.files[0].folder == "toy" and toy.files[0].content_sha256 is None
    assert toy.expect.classes == {"1": 1, "2": 1}


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("label: y", "lable: y", 14, "lable"),
        ("  rows: 2", "  rows: two", 16, "expect.rows"),
        ("  rows: 2\n", "", 15, "expect.rows"),
        ("label: y", "label: y\nmissing: median", 15, "missing"),
        # No name leads out of the cache.
        ("name: toy.data", "name: ../../toy.data", 8, "name"),
        ("label: y", "label: y\nfolder: a/b", 15, "folder"),
    ],
)
def test_mistakes_name_file_and_line(card, old, new, line, key):
    with pytest.raises(DataError, match=rf"toy\.yaml:{line}:\d+: .*{key}"):
        card(CARD.replace(old, new))


def test_variant_takes_everything_else_from_its_base(card):
    base = card()
    variant = card("base: toy\ntitle: Variant\nmerge: {1: [1, 2]}\n", "variant")
    assert variant.title == "Variant" and variant.merge == {"1": ("1", "2")}
    assert variant.files == base.files and variant.folder == "toy"  # its files are the base's
    assert card("base: variant\ntitle: Third\n", "third").folder == "toy"


def test_mistake_in_a_base_names_the_base(card, tmp_path):
    (tmp_path / "toy.yaml").write_text(CARD.replace("label: y", "lable: y"))
    with pytest.raises(DataError, match=r"toy\.yaml:14:1: lable"):
        card("base: toy\ntitle: Variant\n", "variant")


def test_unknown_data_set():
    with pytest.raises(ConfigError, match="did you mean 'usps'"):
        read_card("uspz")
    for name in ("../cards", "", ".x", "x\0"):
        with pytest.raises(ConfigError, match="unknown data set"):
            read_card(name)


def test_column_names():
    names = ("id", "a1", "a2", "a3", "x9-mean", "x10-mean", "x11-mean")
    assert column_names(("id", "a[1..3]", "x[9..11]-mean")) == names
