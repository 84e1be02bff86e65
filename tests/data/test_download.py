"""Fetching from a local server: right bytes, wrong ones, broken transfers, several processes, no network."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from data.test_unpack import GNU_SHAR, compress_z, zipped

from confml.data import download
from confml.data.cards import CardFile
from confml.data.download import fetch_files
from confml.data.files import find

DATA = b"".join(b"%d,%d,yes\n" % (i, i * i) for i in range(5000))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Server:
    """Serves ``contents`` by path; ``broken`` transfers of a path come first, then whole ones."""

    def __init__(self):
        self.contents: dict[str, bytes] = {}
        self.broken: Counter = Counter()
        self.answers: dict[str, list[int]] = {}  # status codes given before the content is
        self.slow = 0.0
        self.asked: Counter = Counter()
        self.encodings: set = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.asked[self.path] += 1
                server.encodings.add(self.headers.get("Accept-Encoding"))
                waiting = server.answers.get(self.path)
                if waiting:
                    return self.send_error(waiting.pop(0))
                if self.path not in server.contents:
                    return self.send_error(404)
                data = server.contents[self.path]
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                half = len(data) // 2
                self.wfile.write(data[:half])
                self.wfile.flush()
                if server.broken[self.path] > 0:
                    server.broken[self.path] -= 1
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return None
                time.sleep(server.slow)
                self.wfile.write(data[half:])

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
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
    return CardFile(**{**given, "address": server.url + path, **keys})


def fetch(*files, said=None, **options):
    say = (lambda text: None) if said is None else said.append
    return list(fetch_files(files, say=say, **{"pause": 0.01, "timeout": 5, **options}))


def kept(cache) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*")) if cache.exists() else []


def test_right_bytes_are_kept_and_found(server, cache):
    said = []
    file = card_file(server)
    (result,) = fetch(file, said=said)
    assert (result.state, result.problem) == ("fetched", None)
    assert result.path == cache / "toy" / "a.data"
    assert result.path.read_bytes() == DATA
    assert find("toy", file) == result.path
    assert kept(cache) == ["toy", "toy/a.data"]
    assert said == [f"fetching toy/a.data from {server.url}/a.data ({round(len(DATA) / 1000)} kB)"]
    assert server.encodings == {"identity"}


def test_what_is_here_is_not_fetched_again(server, cache, tmp_path, monkeypatch):
    file = card_file(server)
    fetch(file)
    assert [result.state for result in fetch(file)] == ["here"]
    assert server.asked["/a.data"] == 1
    folder = tmp_path / "mine" / "toy"
    folder.mkdir(parents=True)
    (folder / "a.data").write_bytes(DATA)
    monkeypatch.setenv("CONFML_DATA", str(tmp_path / "mine"))
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "file-in-the-way"))
    (tmp_path / "file-in-the-way").write_text("")
    assert fetch(file)[0].path == folder / "a.data"


def test_wrong_bytes_are_not_kept_and_both_checksums_are_said(server, cache):
    server.contents["/a.data"] = DATA[:-1] + b"X"
    (result,) = fetch(card_file(server))
    assert result.state == "failed"
    assert result.problem == (
        f"{server.url}/a.data: the file it serves is wrong: expected SHA-256 {sha(DATA)}, "
        f"got {sha(server.contents['/a.data'])}; nothing was kept"
    )
    assert kept(cache) == []
    assert server.asked["/a.data"] == 1


def test_wrong_bytes_leave_the_file_that_was_there(server, cache):
    fetch(card_file(server))
    other = DATA + b"1,2,no\n"
    server.contents["/b.data"] = b"nonsense" * 10_000
    (result,) = fetch(card_file(server, "/b.data", other))
    assert result.state == "failed"
    assert (cache / "toy" / "a.data").read_bytes() == DATA


def test_a_wrong_file_in_the_cache_is_replaced(server, cache):
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "a.data").write_bytes(b"wrong")
    assert fetch(card_file(server))[0].state == "fetched"
    assert (cache / "toy" / "a.data").read_bytes() == DATA


def test_a_login_page_of_a_network_is_named(server, cache):
    server.contents["/a.data"] = b"<!DOCTYPE html><title>Welcome</title>" + b" " * len(DATA)
    (result,) = fetch(card_file(server))
    assert "a web page: does this network ask for a login?" in result.problem


def test_a_broken_transfer_starts_again(server, cache):
    server.broken["/a.data"] = 2
    said = []
    (result,) = fetch(card_file(server), said=said)
    assert result.state == "fetched" and result.path.read_bytes() == DATA
    assert server.asked["/a.data"] == 3
    assert [line.split(";")[-1] for line in said if "again" in line] == [
        " again in 0.01 s",
        " again in 0.02 s",
    ]
    assert all("broke off" in line for line in said if "again" in line)
    assert kept(cache) == ["toy", "toy/a.data"]


def test_a_transfer_that_always_breaks_is_given_up(server, cache):
    server.broken["/a.data"] = 99
    (result,) = fetch(card_file(server), attempts=3)
    assert result.state == "failed" and server.asked["/a.data"] == 3
    assert result.problem.startswith(f"{server.url}/a.data: cannot be fetched: ")
    assert result.problem.endswith("(tried 3 times)") and "broke off" in result.problem
    assert kept(cache) == []


def test_fewer_bytes_than_the_card_says_are_a_broken_transfer(server, cache):
    server.contents["/a.data"] = DATA[:1000]
    (result,) = fetch(card_file(server), attempts=2)
    assert f"the transfer broke off after 1000 of {len(DATA)} bytes (tried 2 times)" in result.problem


def test_an_overloaded_server_is_asked_again_and_a_missing_page_is_not(server, cache):
    server.answers["/a.data"] = [503, 429]
    assert fetch(card_file(server))[0].state == "fetched"
    assert server.asked["/a.data"] == 3
    gone = card_file(server, name="b.data", address=server.url + "/gone", sha256=sha(b"x"))
    (result,) = fetch(gone)
    assert result.problem == f"{server.url}/gone: cannot be fetched: the server answers 404 Not Found"
    assert server.asked["/gone"] == 1


def test_a_server_that_says_nothing_is_not_waited_for(server, cache):
    server.slow = 1.0
    (result,) = fetch(card_file(server), attempts=1, timeout=0.2)
    assert result.state == "failed"
    assert "nothing came for 0.2 s" in result.problem or "timed out" in result.problem


def test_one_failure_does_not_stop_the_others(server, cache):
    files = [
        card_file(server, "/1", b"one", name="1"),
        card_file(server, name="2", address=server.url + "/gone", sha256=sha(b"two")),
        card_file(server, "/3", b"three", name="3"),
    ]
    assert [result.state for result in fetch(*files)] == ["fetched", "failed", "fetched"]


# ---- no network


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_refused_connection_is_one_line_a_file_and_the_host_is_tried_for_the_first_only(server, cache):
    url = f"http://127.0.0.1:{closed_port()}"
    files = [card_file(server, name=name, address=f"{url}/{name}", sha256=sha(b"x")) for name in "abc"]
    said = []
    results = fetch(*files, attempts=3, said=said)
    assert [result.state for result in results] == ["failed"] * 3
    for name, result in zip("abc", results, strict=True):
        assert result.problem.startswith(f"{url}/{name}: cannot be fetched: no connection: ")
        assert "refused" in result.problem and "\n" not in result.problem
    assert [line.split()[0] for line in said] == ["fetching", "toy/a:", "toy/a:"]


def test_a_name_that_nobody_knows_is_said(server, cache, monkeypatch):
    def unknown(*args, **keys):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (result,) = fetch(card_file(server, address="http://data.example/a", sha256=sha(b"x")), attempts=1)
    assert result.problem == (
        "http://data.example/a: cannot be fetched: no connection: "
        "the name of the server cannot be looked up (no network?)"
    )


def test_a_cache_that_cannot_be_written_to_is_said(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "file"))
    monkeypatch.delenv("CONFML_DATA", raising=False)
    (result,) = fetch(card_file(server))
    assert result.state == "failed"
    assert result.problem.startswith(f"{tmp_path / 'file' / 'data'}: files cannot be fetched to here: ")
    assert result.problem.endswith("set CONFML_CACHE to a folder that can be written to")


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
        original_bytes=len(served),
        unpack=kind,
        **keys,
    )


def test_what_lies_inside_is_unpacked(server, cache):
    for kind, served, keys in [
        ("gzip", gzip.compress(DATA, mtime=0), {}),
        ("compress-z", compress_z(DATA), {}),
        ("zip-member", zipped(other=b"1", inner=DATA), {"member": "inner"}),
    ]:
        server.contents.pop("/packed", None)
        (result,) = fetch(inside(server, kind, served, name=f"{kind}.data", **keys))
        assert (result.state, result.problem) == ("fetched", None)
        assert result.path.read_bytes() == DATA
    assert kept(cache) == ["toy", "toy/compress-z.data", "toy/gzip.data", "toy/zip-member.data"]


def test_two_files_of_one_archive_are_one_transfer(server, cache):
    first, second = b"xs ys yc\n 0.1 0.2 0\nX marks one\n\n", b"sed 's/^X//' << 'MARK' > 'inside' &&\n"
    files = [
        inside(server, "shar-member", GNU_SHAR, first, name="synth.tr", member="synth.tr"),
        inside(server, "shar-member", GNU_SHAR, second, name="other", member="dir/other"),
    ]
    assert [result.path.read_bytes() for result in fetch(*files)] == [first, second]
    assert server.asked["/packed"] == 1


def test_a_wrong_archive_and_wrong_contents_are_not_kept(server, cache):
    server.contents["/packed"] = gzip.compress(DATA + b"more" * 100)
    file = inside(server, "gzip", gzip.compress(DATA))
    (result,) = fetch(file)
    assert f"the file it serves is wrong: expected SHA-256 {file.original_sha256}, got " in result.problem
    server.contents.clear()
    served = gzip.compress(b"other")
    (result,) = fetch(inside(server, "gzip", served))
    assert f"the file it holds is wrong: expected SHA-256 {sha(DATA)}, got {sha(b'other')}" in result.problem
    server.contents.clear()
    (result,) = fetch(inside(server, "zip-member", b"no zip file", member="a"))
    assert "cannot be unpacked (zip-member)" in result.problem
    assert kept(cache) == []


# ---- several processes

_FETCHER = """
import sys
from confml.data.cards import CardFile
from confml.data.download import fetch_files
file = CardFile(name="a.data", folder="toy", sha256=sys.argv[1], address=sys.argv[2])
(result,) = fetch_files([file])
print(result.state, open(result.path, "rb").read().count(b"yes"))
"""


def test_two_processes_at_once_both_end_with_the_right_file(server, cache):
    server.contents["/a.data"], server.slow = DATA, 0.5
    command = [sys.executable, "-c", _FETCHER, sha(DATA), f"{server.url}/a.data"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) for _ in range(2)
    ]
    told = [process.communicate(timeout=60)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert {count for _, count in told} == {"5000"}
    assert "fetched" in {state for state, _ in told}
    assert kept(cache) == ["toy", "toy/a.data"]


def test_a_killed_fetch_leaves_no_half_file_and_its_rest_is_cleared_up_later(server, cache):
    server.contents["/a.data"], server.slow = DATA, 30
    command = [sys.executable, "-c", _FETCHER, sha(DATA), f"{server.url}/a.data"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment)
    deadline = time.monotonic() + 30
    while not server.asked["/a.data"] and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    process.kill()
    process.wait()
    assert not (cache / "toy" / "a.data").exists()
    (rest,) = cache.glob(".fetching-*")
    server.slow = 0
    assert fetch(card_file(server))[0].state == "fetched"
    assert rest.exists()  # it could be another process's at work
    os.utime(rest, (0, 0))
    fetch(card_file(server, "/b", b"b", name="b.data"))
    assert kept(cache) == ["toy", "toy/a.data", "toy/b.data"]


def test_a_server_that_sends_without_end_is_not_listened_to(server, cache):
    file = card_file(server, data=b"x" * 1000, bytes=10)
    server.contents["/a.data"] = b"x" * 3_000_000
    (result,) = fetch(file)
    assert "the server sends more than 1048596 bytes, far more than expected" in result.problem
    assert kept(cache) == [] and server.asked["/a.data"] == 1


def test_a_transfer_that_takes_too_long_is_ended(server, cache, monkeypatch):
    clock = iter(range(0, 10**6, 1000))
    monkeypatch.setattr(download, "time", SimpleNamespace(monotonic=lambda: next(clock), time=time.time))
    (result,) = fetch(card_file(server))
    assert "the transfer is slower than 10 kB/s" in result.problem and kept(cache) == []
