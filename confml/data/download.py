"""Download the files of data sets into the cache.

A file is written under a temporary name, checked, unpacked if necessary, checked again and renamed. Partial
and wrong files are not kept, and several processes may download the same files at once.

Transfers use requests directly. Pooch would replace only the loop of `_receive`: it neither limits the size
and the time of a transfer, nor checks a size, nor stops at a missing page, and its errors do not tell an
unknown host from a broken connection.
"""

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from confml.data.cards import CardFile
from confml.data.files import check, download_folder, look, sha256_of
from confml.data.unpack import unpack
from confml.errors import DataError

ATTEMPTS = 4
PAUSE = 1.0  # seconds before the second attempt, doubled before each later one
TIMEOUT = 30.0  # seconds without a response or without further data
SLOWEST = 10_000.0  # bytes per second, below which a transfer is stopped after a minute
_LARGEST = 1 << 32  # bytes; limit of a file whose card gives no size
_STALE = 86400.0  # seconds after which temporary files of another process are removed
_AGAIN = frozenset(
    {408, 425, 429, 500, 502, 503, 504}
)  # status codes after which another attempt may succeed


@dataclass(frozen=True)
class Fetched:
    """The outcome for one file of a card: ``state`` is ``here``, ``fetched``, ``manual`` or ``failed``.

    path: path of the file. problem: the reason if there is no file.
    """

    file: CardFile
    state: str
    path: Path | None = None
    problem: str | None = None


def fetch_files(
    files: Iterable[CardFile],
    *,
    say: Callable[[str], None] = lambda text: None,
    attempts: int = ATTEMPTS,
    pause: float | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[Fetched]:
    """Download the files that are not on this machine and yield the outcome of each, in order.

    say: called with lines of progress. attempts, pause: number of attempts and seconds between them. A file
    that cannot be downloaded has the state ``failed``; no exception is raised.
    """
    with ExitStack() as stack:
        transfers: Transfers | None = None
        for file in files:
            state = look(file)
            if state.state == "found":
                yield Fetched(file, "here", state.path)
            elif file.address is None:
                yield Fetched(file, "manual", problem=_by_hand(file))
            else:
                try:
                    if transfers is None:
                        folder = stack.enter_context(workspace())
                        transfers = Transfers(
                            folder, say, attempts, PAUSE if pause is None else pause, timeout
                        )
                    yield Fetched(file, "fetched", _fetch_one(file, transfers))
                except DataError as error:
                    yield Fetched(file, "failed", problem=str(error))


def _fetch_one(file: CardFile, transfers: "Transfers") -> Path:
    data = transfers.get(file).read_bytes()
    if file.unpack is not None:
        data = unpack(file.unpack, data, file.member, where=str(file.address), limit=file.bytes)
    made, target = transfers.folder / "made", download_folder() / file.folder / file.name
    try:
        made.write_bytes(data)
        state = check(made, file, remember=False)
        if state.state != "found":
            raise _wrong(file, data, state.expected, state.got, "holds" if file.unpack else "serves")
        target.parent.mkdir(parents=True, exist_ok=True)
        made.chmod(0o644)
        os.replace(made, target)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", where=str(target)) from None
    return target


def _wrong(file: CardFile, data: bytes, expected: str | None, got: str | None, does: str) -> DataError:
    page = " (a web page: does this network ask for a login?)" if data.lstrip()[:1] == b"<" else ""
    message = f"expected SHA-256 {expected}, got {got or 'no whole gzip file'}{page}"
    return DataError(f"the file it {does} is wrong: {message}; nothing was kept", where=str(file.address))


def _by_hand(file: CardFile) -> str:
    place = download_folder() / file.folder / file.name
    how = " ".join((file.manual or "").split()).rstrip(".")
    return f"no address serves it: {how}; put it at {place}, or into a folder of CONFML_DATA"


@contextmanager
def workspace() -> Iterator[Path]:
    """Create a temporary folder on the file system of the cache, so that renaming a file is atomic.

    Raises DataError if it cannot.
    """
    parent = download_folder()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for old in parent.glob(".fetching-*"):  # of killed processes
            with suppress(FileNotFoundError):  # another process may have removed it
                if time.time() - old.stat().st_mtime > _STALE:
                    shutil.rmtree(old, ignore_errors=True)
        made = tempfile.TemporaryDirectory(prefix=".fetching-", dir=parent)
    except OSError as error:
        raise DataError(
            f"files cannot be fetched to here: {error.strerror or error}",
            where=str(parent),
            hint="set CONFML_CACHE to a folder that can be written to",
        ) from None
    with made as folder:
        yield Path(folder)


class Transfers:
    """Downloads of one call: each address is requested once, and an unreachable host is not tried again."""

    def __init__(self, folder: Path, say, attempts: int, pause: float, timeout: float):
        self.folder, self.say = folder, say
        self.attempts, self.pause, self.timeout = attempts, pause, timeout
        self._done: dict[str, Path | DataError] = {}
        self._unreachable: dict[str, str] = {}

    def get(self, file: CardFile) -> Path:
        """Return the path of the downloaded and checked file. Raises DataError."""
        address = str(file.address)
        if address not in self._done:
            try:
                self._done[address] = self._transfer(file, address)
            except DataError as error:
                self._done[address] = error
        outcome = self._done[address]
        if isinstance(outcome, DataError):
            raise outcome
        return outcome

    def _transfer(self, file: CardFile, address: str) -> Path:
        from urllib.parse import urlsplit

        host = urlsplit(address).netloc
        if host in self._unreachable:
            raise DataError(f"cannot be fetched: {self._unreachable[host]}", where=address)
        expected_bytes = file.original_bytes or file.bytes
        target = self.folder / f"served-{len(self._done)}"
        self.say(f"fetching {file.folder}/{file.name} from {address}{_size(expected_bytes)}")
        cause, attempt = "", 0
        for attempt in range(1, self.attempts + 1):
            failure, final = self._attempt(address, target, expected_bytes)
            if failure is None:
                self._check_served(file, target)
                return target
            cause = failure
            if final or attempt == self.attempts:
                break
            wait = self.pause * 2 ** (attempt - 1)
            self.say(f"{file.folder}/{file.name}: {cause}; again in {wait:g} s")
            time.sleep(wait)
        tried = f" (tried {attempt} times)" if attempt > 1 else ""
        if cause.startswith(_NO_HOST):
            self._unreachable[host] = cause
        raise DataError(f"cannot be fetched: {cause}{tried}", where=address)

    def _attempt(self, address: str, target: Path, expected_bytes: int | None) -> tuple[str | None, bool]:
        """Transfer once; return the reason of a failure, and whether another attempt is useless."""
        import requests

        try:
            # A larger size is received, so that the error can give the checksum of a wrong file.
            most = _LARGEST if expected_bytes is None else 2 * expected_bytes + (1 << 20)
            problem = self._receive(address, target, most)
            if problem is not None:
                return problem, True
        except requests.HTTPError as error:
            code = error.response.status_code
            return f"the server answers {code} {error.response.reason}".rstrip(), code not in _AGAIN
        except requests.RequestException as error:
            return _reason_of(error, self.timeout), False
        except OSError as error:
            return f"cannot be written to {target.parent}: {error.strerror or error}", True
        got = target.stat().st_size
        if expected_bytes is not None and got < expected_bytes:
            return f"the transfer broke off after {got} of {expected_bytes} bytes", False
        return None, True

    def _receive(self, address: str, target: Path, most: int) -> str | None:
        """Write the response to a file; return the reason if the transfer was stopped early."""
        import requests

        # No transport compression: the checksum is that of the stored bytes.
        headers = {"Accept-Encoding": "identity"}
        ends = time.monotonic() + 60 + most / SLOWEST
        with requests.get(address, headers=headers, stream=True, timeout=self.timeout) as response:
            response.raise_for_status()
            got = 0
            with open(target, "wb") as file:
                for part in response.iter_content(1 << 16):
                    got += len(part)
                    if got > most:
                        return f"the server sends more than {most} bytes, far more than expected"
                    if time.monotonic() > ends:
                        return f"the transfer is slower than {SLOWEST / 1000:g} kB/s ({got} of {most} bytes)"
                    file.write(part)
        return None

    def _check_served(self, file: CardFile, served: Path) -> None:
        """Raise DataError if the SHA-256 of the downloaded file differs from the card."""
        expected = file.original_sha256 if file.unpack else None
        if expected is None:
            return  # the stored file itself is checked later
        got = sha256_of(served)
        if got != expected:
            raise _wrong(file, served.read_bytes(), expected, got, "serves")


_NO_HOST = "no connection: "


def _reason_of(error: Exception, timeout: float) -> str:
    """Return the cause of a failed request without the text of the libraries around it."""
    import requests
    from urllib3.exceptions import NewConnectionError

    if isinstance(error, requests.ConnectTimeout):
        return f"{_NO_HOST}no answer within {timeout:g} s"
    if isinstance(error, requests.ReadTimeout):
        return f"nothing came for {timeout:g} s"
    if isinstance(error, requests.exceptions.ProxyError):
        return f"{_NO_HOST}the proxy cannot be reached or refuses"
    if isinstance(error, requests.exceptions.SSLError):
        return f"no secure connection: {_root(error)}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the transfer broke off"
    if isinstance(error, requests.ConnectionError):
        causes = _causes(error)
        if any(isinstance(one, socket.gaierror) for one in causes):
            return f"{_NO_HOST}the name of the server cannot be looked up (no network?)"
        if any(isinstance(one, NewConnectionError) for one in causes):
            return f"{_NO_HOST}{_root(error)}"
        return f"the connection broke off ({_root(error)})"
    return _root(error)


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception and its causes, the innermost one last."""
    causes = [error]
    while True:
        last = causes[-1]
        inside = [last.__cause__, last.__context__, getattr(last, "reason", None), *last.args]
        seen = set(map(id, causes))
        deeper = next((one for one in inside if isinstance(one, BaseException) and id(one) not in seen), None)
        if deeper is None:
            return causes
        causes.append(deeper)


def _root(error: BaseException) -> str:
    """Return the message of the innermost cause of an exception."""
    last = _causes(error)[-1]
    text = getattr(last, "strerror", None) or str(last) or type(last).__name__
    return " ".join(str(text).split())


def _size(count: int | None) -> str:
    if count is None:
        return ""
    return f" ({count / 1e6:.1f} MB)" if count >= 1e6 else f" ({max(1, round(count / 1e3))} kB)"
