"""Data sets of small CSV files."""

import pytest

from confml.data import load


@pytest.fixture
def csv(tmp_path):
    """``csv(text, **keys)`` loads a file of that text, with a second text as its test file."""

    def loaded(text, test_text=None, /, label="y", **keys):
        path = tmp_path / "mine.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if test_text is not None:
            keys["test"] = tmp_path / "new.csv"
            keys["test"].write_text(test_text, encoding="utf-8")
        return load({"name": "mine", "csv": path, "label": label, **keys})

    return loaded
