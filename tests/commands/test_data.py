"""``confml data``: list, info, fetch, on a folder of small cards."""

import hashlib
import json

import pytest
from command_line import command, invoke, refusal
from data import test_download

from confml.data import cards

TRAIN, TEST = b"1,2,a\n3,4,b\n5,6,a\n", b"7,8,b\n9,10,a\n"

CARD = """\
title: A toy
about: >-
  Two numbers
  and a class.
provider: nobody
licence: none
citation: "Nobody (2001). A toy."
page: https://example.org/toy
files:
  - name: toy.train
    part: train
    sha256: {train}
    bytes: 18
    address: {url}/toy.train
  - name: toy.test
    part: test
    sha256: {test}
    {source}
reader: {{kind: delimited, separator: comma}}
columns: [x, z, class]
label: class
expect:
  rows: 5
  train-rows: 3
  test-rows: 2
  attributes: 2
  classes: {{a: 3, b: 2}}
notes:
  - it is very small
"""

VARIANT = """\
base: toy
title: A toy with the classes merged
about: All of it is one thing.
merge: {c: [a, b]}
paper: {source: "Nobody, A paper", changed: [classes a and b are one]}
expect: {rows: 5, train-rows: 3, test-rows: 2, attributes: 2, classes: {c: 5}}
"""


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


server = test_download.server  # a fixture: a server of a folder


@pytest.fixture
def put_card(tmp_path, monkeypatch):
    """Writes the cards toy and toy-merged, in place of those that come with confml."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    monkeypatch.setattr(cards, "resource_folder", lambda kind: folder)
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONFML_DATA", str(tmp_path / "given"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("confml.data.download.ATTEMPTS", 1)
    cards.read_card.cache_clear()

    def put(url: str, source: str | None = None):
        source = source or f"address: {url}/toy.test"
        text = CARD.format(url=url, source=source, train=sha(TRAIN), test=sha(TEST))
        (folder / "toy.yaml").write_text(text)
        (folder / "toy-merged.yaml").write_text(VARIANT)
        cards.read_card.cache_clear()

    yield put
    cards.read_card.cache_clear()


def serve(server, train: bytes = TRAIN):
    (server.folder / "toy.train").write_bytes(train)
    (server.folder / "toy.test").write_bytes(TEST)


def place_files(tmp_path, train: bytes = TRAIN, test: bytes = TEST):
    folder = tmp_path / "given" / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.train").write_bytes(train)
    (folder / "toy.test").write_bytes(test)


def listed(result) -> dict[str, str]:
    return {row["name"]: row["files"] for row in json.loads(result.stdout)["datasets"]}


def test_list(put_card, tmp_path):
    put_card("http://127.0.0.1:9")
    lines = command("data", "list").stdout.splitlines()
    assert lines[0].split() == ["NAME", "ROWS", "FEATURES", "CLASSES", "FILES", "TITLE"]
    assert lines[1].split()[:4] == ["toy", "5", "2", "2"] and lines[1].endswith("to fetch  A toy")
    assert lines[2].split()[:4] == ["toy-merged", "5", "2", "1"]
    assert any(line.startswith("five-gaussians ") for line in lines)
    assert listed(command("data", "list", "--json")) == {"toy": "to fetch", "toy-merged": "to fetch"}
    place_files(tmp_path)
    assert listed(command("data", "list", "--json")) == {"toy": "here", "toy-merged": "here"}
    place_files(tmp_path, test=b"1,2,wrong\n")
    assert listed(command("data", "list", "--json"))["toy"] == "wrong"


def test_info(put_card, tmp_path):
    put_card("http://127.0.0.1:9", source="manual: ask the author")
    text = command("data", "info", "toy").stdout
    for part in (
        "toy: A toy\n\nTwo numbers and a class.\n",
        "rows        5 (3 to train on, 2 to test)\n",
        "classes     2 (a: 3, b: 2)\n",
        "note        it is very small\n",
        "toy/toy.train: to fetch\n  part            train\n",
        "toy/toy.test: by hand\n",
        "manual          ask the author\n",
    ):
        assert part in text
    place_files(tmp_path)
    assert (
        f"toy/toy.test: here, {tmp_path / 'given' / 'toy' / 'toy.test'}\n"
        in command("data", "info", "toy").stdout
    )
    document = json.loads(command("data", "info", "toy-merged", "--json").stdout)
    assert document["base"] == "toy" and document["class_rows"] == {"c": 5}
    assert document["paper"]["changed"] == ["classes a and b are one"]
    assert [(file["file"], file["state"]) for file in document["files"]] == [
        ("toy/toy.train", "found"),
        ("toy/toy.test", "found"),
    ]


def test_fetch(put_card, server, tmp_path):
    serve(server)
    put_card(server.url)
    result = command("data", "fetch", "toy", "toy-merged")
    folder = tmp_path / "cache" / "data" / "toy"
    assert result.stdout.splitlines() == [
        f"toy/toy.train: fetched, {folder / 'toy.train'}",
        f"toy/toy.test: fetched, {folder / 'toy.test'}",
    ]
    assert result.stderr.count("fetching toy/") == 2
    again = command("data", "fetch", "--all")
    assert again.stderr == ""
    assert [line.split()[1] for line in again.stdout.splitlines()] == ["here,", "here,"]
    assert len(server.asked) == 2


def test_fetch_of_a_wrong_file_and_one_by_hand_says_so_and_ends_with_3(put_card, server, tmp_path):
    put_card(server.url, source="manual: ask the author")
    serve(server, TRAIN.replace(b"a", b"c"))
    result = invoke("data", "fetch", "toy")
    assert result.exit_code == 3 and result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[1].startswith(
        f"toy/toy.train: {server.url}/toy.train: cannot be fetched: SHA256 hash of downloaded file "
    )
    assert lines[2].startswith("toy/toy.test: no address serves it: ask the author; put it at ")
    assert lines[3] == "2 of 2 files could not be fetched"
    assert not list((tmp_path / "cache" / "data" / "toy").iterdir())


# ---- check


def test_check_of_a_file_prints_notes_and_findings(tmp_path):
    rows = [f"{i % 5},{'rg'[i % 2]},{i * 1000 % 7919},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "mine.csv").write_text("x,colour,income,y\n" + "\n".join([*rows, rows[4]]) + "\n")
    result = command("data", "check", tmp_path / "mine.csv", "--label", "y")
    assert result.stdout.splitlines() == [
        "mine: 31 rows, 3 features, 1 of them categorical, 2 classes",
        "classes: a: 16, b: 15",
        "note: a column without numbers is taken as categorical: 'colour' (2 categories)",
        "duplicate-rows: 1 row of 31 repeats an earlier row, label included (line 32); set "
        "duplicates: drop to leave them out, or groups: to keep equal rows in one part",
        "gives-label-away: column 'colour' determines the label of every training row; leave it out with "
        "ignore: if it is known only after the label",
        "unscaled-features: features have very different ranges: 'income' has 10 times the range of others "
        "or more; steps: [standardise] for distance and margin methods, unless all features have one unit",
        "3 findings",
    ]
    document = json.loads(command("data", "check", tmp_path / "mine.csv", "--label", "y", "--json").stdout)
    assert document["findings"][0]["lines"] == [32] and document["categorical"] == ["colour"]
    assert [finding["code"] for finding in document["findings"]][1:] == [
        "gives-label-away",
        "unscaled-features",
    ]


def test_check_of_a_card_and_what_it_refuses(tmp_path):
    assert "iris: 150 rows, 4 features, 3 classes" in command("data", "check", "iris").stdout
    assert "--label is for table files" in str(refusal("data", "check", "iris", "--label", "y"))
    assert "needs --label" in str(refusal("data", "check", tmp_path / "mine.csv"))
