"""`RowSet` counts what sets of Python count."""

import numpy as np

from confml.report.numbers.row_set import RowSet


def test_counts_and_new_rows_equal_those_of_sets():
    rng, found = np.random.default_rng(0), RowSet()
    sets: dict[str, set[int]] = {}
    assert found.add(np.empty(0, dtype=np.int64), [], np.empty(0, dtype=np.intp)).tolist() == []
    for top in (5, 3, 400, 40):
        rows = rng.permutation(top)[: top // 2 + 1]
        names = ["b", "a", "c"][: 1 + top % 3]
        codes = rng.integers(0, len(names), len(rows))
        new = [row not in sets.get(names[code], ()) for row, code in zip(rows.tolist(), codes, strict=True)]
        assert found.add(rows, names, codes).tolist() == new
        for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
            sets.setdefault(names[code], set()).add(row)
    assert {name: found.count(name) for name in sets} == {name: len(own) for name, own in sets.items()}
    assert found.count(*sets) == len(set().union(*sets.values()))
