"""Comparisons of one row with a block of rows or boxes, in vector registers: the inner loops of `wide_tree`.

squares_to_rows(Q, r, rows, leaf, bound, out): fill out (LEAF,) with the squared distances of Q[r] to the rows
of a leaf, sums over a of (Q[r, a] - rows[leaf, a, :])^2; return the bit mask of those <= bound.

gaps_to_children(low, high, r, lows, highs, block, bound, out): fill out (FAN,) with the squared gaps between
the box from low[r] to high[r] and the boxes of a block, sums over a of
max(lows[block, a, :] - high[r, a], low[r, a] - highs[block, a, :], 0)^2; return the bit mask of those
<= bound. A row is a box whose low and high are the same. gaps_to_rows: the same for LEAF rows.

lowest_bit(mask): the place of the lowest bit of a mask that is not 0.
"""

from __future__ import annotations

try:
    from confml.neighbours._lanes_llvm import (
        FAN,
        LEAF,
        gaps_to_children,
        gaps_to_rows,
        lowest_bit,
        squares_to_rows,
    )
except (ImportError, AttributeError):  # numba's internals have changed
    from confml.neighbours._lanes_plain import (
        FAN,
        LEAF,
        gaps_to_children,
        gaps_to_rows,
        lowest_bit,
        squares_to_rows,
    )

__all__ = ["FAN", "LEAF", "gaps_to_children", "gaps_to_rows", "lowest_bit", "squares_to_rows"]
