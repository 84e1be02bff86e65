"""A bounded share of the fuzzers, with the same mutants each time; `make fuzz` runs them longer."""

from __future__ import annotations

from itertools import islice

import pytest
from programs.fuzz.fuzzers import CORPUS, FUZZERS, feed, mutants

SHARE = {"config": 60, "csv": 200, "manifest": 40, "store": 40, "report": 20, "model": 400}
"""Numbers of mutants of `make test-all`. `make test` has the first quarter of them."""


@pytest.mark.parametrize("name", FUZZERS)
@pytest.mark.filterwarnings("ignore")
def test_every_mutant_is_read_or_refused_in_words(name, tmp_path, monkeypatch, exhaustive):
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONFML_DATA", raising=False)
    for origin, data in islice(mutants(name, seed=1), SHARE[name] // (1 if exhaustive else 4)):
        try:
            feed(name, data, tmp_path)
        except Exception as error:
            (tmp_path / "finding").write_bytes(data)
            raise AssertionError(f"a mutant of {origin}, kept in {tmp_path / 'finding'}") from error


def test_every_corpus_has_valid_files(tmp_path, monkeypatch):
    """A corpus that is refused as a whole would test only the first check."""
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    for name in ("config", "csv", "manifest", "store"):
        valid = [path for path in (CORPUS / name).iterdir() if not path.name.startswith("crash-")]
        assert valid, f"the corpus '{name}' has no valid file"
        for path in valid:
            FUZZERS[name](path.read_bytes(), tmp_path)  # raises an error for a file that is refused
