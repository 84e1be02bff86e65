"""``confml data``: list, info, fetch, on a folder of small cards."""

import json

import pytest
from command_line import command, invoke, refusal
from data import test_download
from data.test_files import sha

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


def states() -> dict[str, str]:
    rows = json.loads(command("data", "list", "--json").stdout)["datasets"]
    return {row["name"]: row["files"] for row in rows}


def test_list(put_card, tmp_path):
    put_card("http://127.0.0.1:9")
    lines = command("data", "list").stdout.splitlines()
    assert lines[1].split()[:4] == ["toy", "5", "2", "2"] and lines[1].endswith("to fetch  A toy")
    assert lines[2].split()[:4] == ["toy-merged", "5", "2", "1"]
    assert any(line.startswith("five-gaussians ") for line in lines)
    assert states() == {"toy": "to fetch", "toy-merged": "to fetch"}
    place_files(tmp_path)
    assert states() == {"toy": "here", "toy-merged": "here"}
    place_files(tmp_path, test=b"1,2,wrong\n")
    assert states()["toy"] == "wrong"


def test_info(put_card, tmp_path):
    put_card("http://127.0.0.1:9", source="manual: ask the author")
    text = command("data", "info", "toy").stdout
    for line in (
        "rows        5 (3 to train on, 2 to test)",
        "classes     2 (a: 3, b: 2)",
        "note        it is very small",
        "toy/toy.train: to fetch",
        "toy/toy.test: by hand",
    ):
        assert line in text.splitlines()
    place_files(tmp_path)
    path = tmp_path / "given" / "toy" / "toy.test"
    assert f"toy/toy.test: here, {path}\n" in command("data", "info", "toy").stdout
    document = json.loads(command("data", "info", "toy-merged", "--json").stdout)
    assert document["base"] == "toy" and document["class_rows"] == {"c": 5}
    assert document["paper"]["changed"] == ["classes a and b are one"]
    files = {file["file"]: file["state"] for file in document["files"]}
    assert files == {"toy/toy.train": "found", "toy/toy.test": "found"}


def test_fetch(put_card, server, tmp_path):
    serve(server)
    put_card(server.url)
    result = command("data", "fetch", "toy", "toy-merged")
    folder = tmp_path / "cache" / "data" / "toy"
    names = ("toy.train", "toy.test")
    assert result.stdout.splitlines() == [f"toy/{name}: fetched, {folder / name}" for name in names]
    again = command("data", "fetch", "--all")
    assert again.stderr == "" and again.stdout.count(": here, ") == 2
    assert len(server.asked) == 2


def test_fetch_of_a_wrong_file_and_of_a_file_by_hand_ends_with_3(put_card, server, tmp_path):
    put_card(server.url, source="manual: ask the author")
    serve(server, TRAIN.replace(b"a", b"c"))
    result = invoke("data", "fetch", "toy")
    assert result.exit_code == 3 and result.stdout == ""
    _, wrong, by_hand, count = result.stderr.splitlines()
    assert wrong.startswith("toy/toy.train: ") and "SHA256" in wrong
    assert by_hand.startswith("toy/toy.test: ") and "ask the author" in by_hand and count.startswith("2 of 2")
    assert not list((tmp_path / "cache" / "data" / "toy").iterdir())


# ---- check


def test_check_of_a_file_prints_notes_and_findings(tmp_path):
    rows = [f"{i % 5},{'rg'[i % 2]},{i * 1000 % 7919},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "mine.csv").write_text("x,colour,income,y\n" + "\n".join([*rows, rows[4]]) + "\n")
    result = command("data", "check", tmp_path / "mine.csv", "--label", "y")
    codes = ["duplicate-rows", "gives-label-away", "unscaled-features"]
    first, classes, note, *findings, count = result.stdout.splitlines()
    assert first == "mine: 31 rows, 3 features, 1 of them categorical, 2 classes"
    assert classes == "classes: a: 16, b: 15" and note.startswith("note: ") and "'colour'" in note
    assert [line.partition(":")[0] for line in findings] == codes and count == "3 findings"
    document = json.loads(command("data", "check", tmp_path / "mine.csv", "--label", "y", "--json").stdout)
    assert document["findings"][0]["lines"] == [32] and document["categorical"] == ["colour"]
    assert [finding["code"] for finding in document["findings"]] == codes


def test_check_of_a_card_and_what_it_refuses(tmp_path):
    assert "iris: 150 rows, 4 features, 3 classes" in command("data", "check", "iris").stdout
    assert "--label is for table files" in str(refusal("data", "check", "iris", "--label", "y"))
    assert "needs --label" in str(refusal("data", "check", tmp_path / "mine.csv"))
