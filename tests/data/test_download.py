"""Fetching from a local server: right bytes, wrong ones, broken transfers, several processes, no network."""

from __future__ import annotations

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from data.test_files import sha
from data.test_unpack import compress_z

from confml.data.cards import CardFile
from confml.data.download import fetch_files
from confml.data.files import find

DATA = b"".join(b"%d,%d,yes\n" % (i, i * i) for i in range(5000))


class Server:
    """Serves ``contents`` by path; the first ``failures`` answers of a path are errors."""

    def __init__(self):
        self.contents: dict[str, bytes] = {}
        self.failures: Counter = Counter()
        self.asked: Counter = Counter()
        self.encodings: set = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked[self.path] += 1
                server.encodings.add(self.headers.get("Accept-Encoding"))
                data = server.contents.get(self.path)
                if data is None or server.asked[self.path] <= server.failures[self.path]:
                    return self.send_error(404 if data is None else 503)
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self):
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder that fetched files are put into; nothing is there yet."""
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONFML_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache" / "data"


def card_file(server, path: str = "/a.data", data: bytes = DATA, **keys) -> CardFile:
    server.contents.setdefault(path, data)
    given = {"name": "a.data", "folder": "toy", "sha256": sha(data), "bytes": len(data)}
    given |= {"address": server.url + path, **{key.replace("_", "-"): value for key, value in keys.items()}}
    return CardFile(**given)


def fetch(*files, said=None, **options):
    say = (lambda text: None) if said is None else said.append
    return list(fetch_files(files, say=say, **options))


def kept(cache) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*")) if cache.exists() else []


def test_right_bytes_are_kept_and_found(server, cache):
    said = []
    file = card_file(server)
    (result,) = fetch(file, said=said)
    assert (result.state, result.problem) == ("fetched", None)
    assert result.path == cache / "toy" / "a.data" and result.path.read_bytes() == DATA
    assert find("toy", file) == result.path and kept(cache) == ["toy", "toy/a.data"]
    assert said == [f"fetching toy/a.data from {server.url}/a.data"]
    assert server.encodings == {"identity"} and result.path.stat().st_mode & 0o777 == 0o644


def test_wrong_bytes_are_not_kept_and_both_checksums_are_said(server, cache):
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "b.data").write_bytes(b"of another file")
    server.contents["/a.data"] = DATA[:-1] + b"X"
    (result,) = fetch(card_file(server), attempts=1)
    assert result.state == "failed" and result.problem.startswith(f"{server.url}/a.data: cannot be fetched: ")
    assert f"expected {sha(DATA)} but got {sha(server.contents['/a.data'])}" in result.problem
    assert f"put the file at {cache / 'toy' / 'a.data'}" in result.problem
    assert kept(cache) == ["toy", "toy/b.data"] and "\n" not in result.problem


def test_a_failed_transfer_starts_again(server, cache):
    server.failures["/a.data"] = 1
    (result,) = fetch(card_file(server))
    assert result.state == "fetched" and result.path.read_bytes() == DATA
    assert server.asked["/a.data"] == 2 and kept(cache) == ["toy", "toy/a.data"]


def test_one_failure_does_not_stop_the_others(server, cache):
    files = [
        card_file(server, "/1", b"one", name="1"),
        card_file(server, name="2", address=server.url + "/gone", sha256=sha(b"two")),
        card_file(server, "/3", b"three", name="3"),
    ]
    assert [result.state for result in fetch(*files, attempts=1)] == ["fetched", "failed", "fetched"]


# ---- no network


def test_a_file_that_no_address_serves_says_where_to_put_it(cache):
    file = CardFile(name="a.gz", folder="toy", sha256=sha(DATA), manual="take it from\n the library.")
    (result,) = fetch(file)
    assert result.state == "manual"
    assert result.problem == (
        f"no address serves it: take it from the library; put it at {cache / 'toy' / 'a.gz'}, "
        "or into a folder of CONFML_DATA"
    )
    assert kept(cache) == []


# ---- files inside others


def inside(server, kind: str, served: bytes, wanted: bytes = DATA, **keys) -> CardFile:
    return card_file(
        server,
        "/packed",
        served,
        sha256=sha(wanted),
        bytes=len(wanted),
        original_sha256=sha(served),
        unpack=kind,
        **keys,
    )


def test_what_lies_inside_is_unpacked(server, cache):
    (result,) = fetch(inside(server, "compress-z", compress_z(DATA)))
    assert (result.state, result.problem) == ("fetched", None) and result.path.read_bytes() == DATA
    assert kept(cache) == ["toy", "toy/a.data", "toy/packed"]


def test_a_wrong_archive_and_wrong_contents_are_not_kept(server, cache):
    (result,) = fetch(inside(server, "compress-z", compress_z(b"other")))
    assert f"the file it serves is wrong: expected SHA-256 {sha(DATA)}, got {sha(b'other')}" in result.problem
    server.contents.clear()
    (result,) = fetch(inside(server, "shar-member", b"no archive", member="a"))
    assert "there is no file 'a' in the shell archive" in result.problem
    assert kept(cache) == ["toy", "toy/packed"]
