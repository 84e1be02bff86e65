"""Fetch the files of data sets into the cache, by pooch: checked by SHA-256, and complete or not at all."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from confml._outputs import write_atomically
from confml.data.cards import CardFile
from confml.data.files import check, download_folder, look
from confml.data.unpack import READERS
from confml.errors import DataError

TIMEOUT = 30.0  # seconds without an answer or further data
ATTEMPTS = 3


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
    files: Iterable[CardFile], *, say: Callable[[str], None] = lambda text: None, attempts: int | None = None
) -> Iterator[Fetched]:
    """Download the files that are not on this machine and yield the outcome of each, in order.

    say: called with lines of progress. attempts: number of attempts, by default `ATTEMPTS`. A file that
    cannot be downloaded has the state ``failed``; no exception is raised. A host without a connection is not
    tried again.
    """
    unreachable: set[str] = set()
    for file in files:
        target = download_folder() / file.folder / file.name
        state = look(file)
        if state.state == "found":
            yield Fetched(file, "here", state.path)
        elif file.address is None:
            how = " ".join((file.manual or "").split()).rstrip(".")
            problem = f"no address serves it: {how}; put it at {target}, or into a folder of CONFML_DATA"
            yield Fetched(file, "manual", problem=problem)
        elif urlsplit(file.address).netloc in unreachable:
            yield Fetched(file, "failed", problem=f"{file.address}: cannot be fetched: no connection")
        else:
            say(f"fetching {file.folder}/{file.name} from {file.address}")
            try:
                yield Fetched(file, "fetched", _fetch(file, target, attempts or ATTEMPTS))
            except DataError as error:
                if getattr(error.__cause__, "response", ...) is None:  # an error of a connection has none
                    unreachable.add(urlsplit(file.address).netloc)
                yield Fetched(file, "failed", problem=str(error))


def _fetch(file: CardFile, target: Path, attempts: int) -> Path:
    """Return the path of a downloaded, checked and unpacked file. Raises DataError."""
    import pooch

    address = str(file.address)
    name = file.name if file.unpack is None else address.rpartition("/")[2]
    digest = file.sha256 if file.unpack is None else file.original_sha256
    # No transport compression: the checksum is that of the stored bytes.
    transfer = pooch.HTTPDownloader(timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    cache = pooch.create(target.parent, "", registry={name: digest}, urls={name: address})
    cache.retry_if_failed = attempts - 1
    pooch.get_logger().setLevel("WARNING")
    try:
        served = Path(cache.fetch(name, downloader=transfer))
        served.chmod(0o644)
        if file.unpack is not None:
            write_atomically(target, READERS[file.unpack](served.read_bytes(), file.member), durable=False)
            target.chmod(0o644)
        state = check(target, file)
    except (OSError, ValueError) as error:
        hint = f"try again, put the file at {target}, or set CONFML_CACHE to another folder"
        message = f"cannot be fetched: {' '.join(str(error).split())}"
        raise DataError(message, where=address, hint=hint) from error
    if state.state != "found":
        target.unlink(missing_ok=True)
        message = f"the file it serves is wrong: expected SHA-256 {state.expected}, got {state.got}"
        raise DataError(message, where=address)
    return target
