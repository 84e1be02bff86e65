"""Comparisons of one row with a block of rows or boxes, in vector registers: the inner loops of `wide_tree`.

squares_to_rows(Q, r, rows, leaf, bound, out): fill out (LEAF,) with the squared distances of Q[r] to the rows
of a leaf, sums over a of (Q[r, a] - rows[leaf, a, :])^2; return the bit mask of those <= bound.
squares_within: the same with an own bound for each row of the leaf, bounds (LEAF,).

gaps_to_children(low, high, r, lows, highs, block, bound, out): fill out (FAN,) with the squared gaps between
the box from low[r] to high[r] and the boxes of a block, sums over a of
max(lows[block, a, :] - high[r, a], low[r, a] - highs[block, a, :], 0)^2; return the bit mask of those
<= bound. A row is a box whose low and high are the same. gaps_to_rows: the same for LEAF rows.

insert_8(near, other, r, square, j): insert a square and the row j, int32, into the lists near[r], other[r]
(8,) by ascending squares, after equal ones, and drop the last entry; return the bit mask of the entries that
were equal. insert_16: the same for lists of 16.

rows_within(Q, r, rows, leaf, bound): the bit mask of the rows of a leaf, WIDE_LEAF of them, whose squared
distance from Q[r] is <= bound. boxes_within(Q, r, lows, highs, block, bound, out): fill out (WIDE_FAN,) with
the squared gaps between Q[r] and the boxes of a block; return the bit mask of those <= bound. Both are for
arrays of float32 or of float64, all of one type, and round: a sum of d squares has a relative error of at
most (d + 1) u / (1 - (d + 1) u), with the unit roundoff u, and may depend on the processor.

run_above(values, at, less, less_at, limit): the bit mask of the places e < RUN with
values[at + e] - less[less_at + e] > limit. above: the same for the first n of RUN places.

products_above(rows, row, norms, least, columns, panel, others, most, kind, masks, halves): compare GROUP rows
with a panel of PANEL columns, both (panels, n, PANEL). Fill halves (GROUP, PANEL) with a value of each pair,
product - norms[row + r] - others[PANEL panel + e], rounded for rows of float32; for rows of float64, with
minus the squared distance, added in the order of the features, in place of the product. Fill masks (2, GROUP)
int64 with the bits of the pairs whose value exceeds least[kind, row + r], and most[kind, PANEL panel + e].
Return 0 if there are none; halves may then not be filled.

lowest_bit(mask): the place of the lowest bit of a mask that is not 0.
"""

import numpy as np

from confml._jit import kernel

try:
    from confml.neighbours import _lanes_llvm as _lanes
except (ImportError, AttributeError):  # numba's internals have changed
    from confml.neighbours import _lanes_plain as _lanes  # type: ignore[no-redef]

FAN, LEAF, WIDE_FAN, WIDE_LEAF = _lanes.FAN, _lanes.LEAF, _lanes.WIDE_FAN, _lanes.WIDE_LEAF
GROUP, PANEL, RUN = _lanes.GROUP, _lanes.PANEL, _lanes.RUN
boxes_within, rows_within = _lanes.boxes_within, _lanes.rows_within
gaps_to_children, gaps_to_rows = _lanes.gaps_to_children, _lanes.gaps_to_rows
squares_to_rows, squares_within = _lanes.squares_to_rows, _lanes.squares_within
insert_8, insert_16 = _lanes.insert_8, _lanes.insert_16
lowest_bit, products_above, run_above = _lanes.lowest_bit, _lanes.products_above, _lanes.run_above

_LINE = 64  # bytes


@kernel
def above(values, at, less, less_at, limit, n):
    """Return the bit mask of the places e < n, n <= RUN, with values[at + e] - less[less_at + e] > limit."""
    if n == RUN:
        return run_above(values, at, less, less_at, limit)
    back = max(0, at + RUN - len(values), less_at + RUN - len(less))  # places beyond the ends are not read
    mask = np.int64(0)
    if back <= min(at, less_at):
        mask = run_above(values, at - back, less, less_at - back, limit)
        return (mask >> np.int64(back)) & ((np.int64(1) << np.int64(n)) - np.int64(1))
    for e in range(n):
        mask |= np.int64(values[at + e] - less[less_at + e] > limit) << np.int64(e)
    return mask


def aligned(shape: tuple[int, ...], value: float, dtype) -> np.ndarray:
    """Return a new array of equal numbers that begins at a line of the cache, so that no vector is in two."""
    numbers = int(np.prod(shape))
    memory = np.empty(numbers * np.dtype(dtype).itemsize + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    array = memory[start : start + len(memory) - _LINE].view(dtype).reshape(shape)
    array.fill(value)
    return array
