"""A config with every key."""

import pytest
from config.cases import FULL, write


@pytest.fixture
def full(tmp_path):
    for name in ("small.csv", "new.csv"):
        write(tmp_path, "id\tcolour\tsite\tx\ty\n1\tred\tA\t2\t1\n", name)
    return write(tmp_path, FULL)
