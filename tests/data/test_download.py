"""Fetching from a local server: right bytes, wrong ones, broken transfers, no network."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from data import test_files
from data.test_files import sha
from data.test_unpack import compress_z

from confml.data.cards import CardFile
from confml.data.download import fetch_files
from confml.data.files import find

DATA = b"".join(b"%d,%d,yes\n" % (i, i * i) for i in range(5000))


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Accept-Encoding")))
        if self.path in self.server.failing:
            self.server.failing.remove(self.path)
            return self.send_error(503)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    """A server of the folder ``served``; paths in ``failing`` fail once."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    server.asked, server.failing, server.folder = [], [], folder
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder that fetched files are put into; nothing is there yet."""
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONFML_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache" / "data"


def served_file(server, data=DATA, served=None, path="a.data", **keys) -> CardFile:
    """A file of a card with ``data``; the server has ``served`` in its place."""
    (server.folder / path).write_bytes(data if served is None else served)
    return test_files.card_file(data, **{"name": path, "address": f"{server.url}/{path}"} | keys)


def fetch(*files, say=lambda text: None, **options):
    return list(fetch_files(files, say=say, **options))


def files_of(cache) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def test_right_bytes_are_kept_and_found(server, cache):
    messages, file = [], served_file(server)
    server.failing.append("/a.data")  # and asked for again
    (result,) = fetch(file, say=messages.append)
    assert (result.state, result.problem) == ("fetched", None)
    assert result.path == cache / "toy" / "a.data" and result.path.read_bytes() == DATA
    assert find("toy", file) == result.path and files_of(cache) == ["toy/a.data"]
    assert len(messages) == 1
    assert server.asked == [("/a.data", "identity")] * 2 and result.path.stat().st_mode & 0o777 == 0o644


def test_wrong_bytes_are_not_kept_and_do_not_stop_the_others(server, cache):
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "b.data").write_bytes(b"of another file")
    wrong = DATA[:-1] + b"X"
    gone = served_file(server, path="gone", address=f"{server.url}/nowhere")
    files = served_file(server, served=wrong), gone, served_file(server, b"three", path="c.data")
    results = fetch(*files, attempts=1)
    assert [result.state for result in results] == ["failed", "failed", "fetched"]
    problem = results[0].problem
    assert problem.startswith(f"{server.url}/a.data: ") and sha(DATA) in problem and sha(wrong) in problem
    assert f"put the file at {cache / 'toy' / 'a.data'}" in problem and "\n" not in problem
    assert files_of(cache) == ["toy/b.data", "toy/c.data"]


def test_a_file_that_no_address_serves_says_where_to_put_it(cache):
    file = CardFile(name="a.gz", folder="toy", sha256=sha(DATA), manual="take it from\n the library.")
    (result,) = fetch(file)
    assert result.state == "manual" and files_of(cache) == []
    assert "take it from the library" in result.problem and str(cache / "toy" / "a.gz") in result.problem


@pytest.mark.parametrize(
    ("kind", "packed", "problem"),
    [
        ("compress-z", compress_z(DATA), None),
        ("compress-z", compress_z(b"other"), f"expected SHA-256 {sha(DATA)}, got"),
        ("shar-member", b"no archive", "no file 'a' in the shell archive"),
    ],
)
def test_files_inside_others_are_unpacked(server, cache, kind, packed, problem):
    keys = {"original-sha256": sha(packed), "unpack": kind, "member": "a", "name": "a.data"}
    (result,) = fetch(served_file(server, served=packed, path="packed", **keys))
    assert files_of(cache) == ([] if problem else ["toy/a.data"]) + ["toy/packed"]
    assert result.problem is None if problem is None else problem in result.problem
    assert result.state == ("failed" if problem else "fetched")
