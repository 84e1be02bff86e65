"""Mutation fuzzers: each feeds mutants of its corpus to a reader, which reads them or raises a ConfmlError.

A fuzzer is a function of the bytes of a mutant and a folder. To add one: write the function, add it to
`FUZZERS` and put a few valid files into a folder of its name below ``corpus/``. Files named ``crash-*`` in a
corpus are mutants that once raised another error.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from programs.fuzz import model_mutants, run_fuzzers
from programs.fuzz.json_mutants import mutate_text

from confml.config import load_config
from confml.data import load
from confml.errors import ConfmlError, printable

CORPUS = Path(__file__).parent / "corpus"
MOST = 20_000  # bytes of a mutant
JSON = ("manifest", "store")  # half of the mutants of these corpora are JSON again
_WORDS = (
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r", b",", b";", b"\t", b'"', b"'", b"{", b"}", b"[", b"]",
    b":", b"- ", b"*a", b"&a ", b"!!", b"<<", b"~", b"null", b"nan", b"inf", b"-1", b"0", b"1e999", b"9" * 30,
    b"../../x", b"1_0", b"\xd9\xa1", b"\xe2\x80\xa8", b"@data", b"@attribute", b"a[1..99999999]",
    b"\x1f\x8b", b"PK\x03\x04", b"\x1b]0;title\x07", b"1..9999999999", b"1000000000000", b"/dev/zero",
    b"memory: cache", b"estimator__memory: /tmp",
)  # fmt: skip


def mutants(name: str, seed: int) -> Iterator[tuple[str, bytes]]:
    """(name, bytes): every file of a corpus as it is, then mutants of them without end."""
    if name == "model":  # its corpus is made by fits
        yield from model_mutants.mutants(seed)
    whole = [(path.name, path.read_bytes()) for path in sorted((CORPUS / name).iterdir())]
    yield from whole
    rng = random.Random(f"{name} {seed}")
    while True:
        origin, data = rng.choice(whole)
        mutant = mutate_text(data, rng) if name in JSON and rng.random() < 0.5 else None
        yield origin, mutant or _mutant(data, rng, [content for _, content in whole])


def _mutant(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    """Replace up to eight pieces of the data."""
    mutant = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        start = rng.randrange(len(mutant) + 1)
        end = start + rng.choice((0, 1, 1, 2, 4, 16, 200, len(mutant)))
        donor = rng.choice(corpus)
        at = rng.randrange(len(donor) + 1)
        pieces = (b"", rng.choice(_WORDS), rng.randbytes(1), mutant[start:end] * 3, donor[at : at + 100])
        mutant[start:end] = rng.choice(pieces)
    return bytes(mutant[:MOST])


def feed_csv(data: bytes, folder: Path) -> None:
    """Feed a table file; its first bytes choose the keys of the data set."""
    path, choice = folder / "mutant.csv", sum(data[:50])
    path.write_bytes(data)
    keys = {"missing": ("error", "drop", "mean")[choice % 3]}
    if choice % 5 == 0:
        keys |= {"nominal": "colour", "id": ["who"]}
    if choice % 7 == 0:
        keys |= {"test": str(path), "decimal": ","}
    load({"csv": str(path), "label": "y", **keys})


def feed_config(data: bytes, folder: Path) -> None:
    """Feed the config of a run."""
    path = folder / "mutant.yaml"
    path.write_bytes(data)
    config = load_config(str(path))
    splits = config.protocol.repeats * (config.protocol.folds if config.protocol.kind == "k-fold" else 1)
    assert splits <= 1_000_000, "splits without a bound"
    for part in (*config.methods, *config.steps):
        caches = [value for key, value in part.params.items() if key.rpartition("__")[2] == "memory"]
        assert not any(caches), "joblib would unpickle the files of a folder"


FUZZERS: dict[str, Callable[[bytes, Path], None]] = {
    "config": feed_config,
    "csv": feed_csv,
    "manifest": run_fuzzers.feed_manifest,
    "store": run_fuzzers.feed_store,
    "report": run_fuzzers.feed_report,
    "model": model_mutants.feed_model,
}


def check_message(error: ConfmlError) -> None:
    """An error says something, in lines that are not too long, without control characters when shown."""
    text = str(error)
    assert text.strip() and len(text) < 20_000, f"a message of {len(text)} characters"
    assert all(letter.isprintable() or letter in "\n\t" for letter in printable(text)), "control characters"


def feed(name: str, data: bytes, folder: Path) -> str:
    """Feed one mutant, and return whether it was read or refused; any other error is a finding."""
    try:
        FUZZERS[name](data, folder)
        return "read"
    except ConfmlError as error:
        check_message(error)
        return "refused"
