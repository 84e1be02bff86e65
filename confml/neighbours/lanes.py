"""Comparisons of one row with a block of rows or boxes side by side: the inner loops of `wide_tree`.

Sums go over the features in the outer loop and over the places of a block in the inner one, a constant number
of times, so that LLVM makes vector instructions of it. The functions are inlined into searches, because numba
counts references to the arrays of each call. Places are loop variables: numba checks whether other numbers
are negative, and such loops take three times as long.

A mask of places has bit e + 1 for place e, see `first_place`: LLVM makes vectors of eight equal terms, and a
shift by 0 is another term.
"""

import numpy as np

from confml._jit import kernel

FAN, LEAF = 8, 16  # boxes and rows of a block
# The first place of a mask, by the upper bits of its product with a de Bruijn sequence.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.int64)
_PLACES[[(int(_SEQUENCE) << bit) % 2**64 >> 58 for bit in range(64)]] = np.arange(-1, 63)


@kernel(inline="always")
def squares_to_rows(Q, r, rows, leaf, bound, out):
    """Fill out (LEAF,) with the squared distances of Q[r] to the rows of a leaf, sums over a of
    (Q[r, a] - rows[leaf, a, :])^2; return the mask of those <= bound."""
    for e in range(LEAF):
        out[e] = 0.0
    for a in range(rows.shape[1]):
        x = Q[r, a]
        for e in range(LEAF):
            t = x - rows[leaf, a, e]
            out[e] += t * t
    mask = np.int64(0)
    for e in range(LEAF):
        mask |= np.int64(out[e] <= bound) << np.int64(e + 1)
    return mask


@kernel(inline="always")
def gaps_to_children(low, high, r, lows, highs, block, bound, out):
    """Fill out (FAN,) with the squared gaps between the box from low[r] to high[r] and the boxes of a block,
    sums over a of max(lows[block, a, :] - high[r, a], low[r, a] - highs[block, a, :], 0)^2; return the mask
    of those <= bound. A row is a box whose low and high are the same."""
    for e in range(FAN):
        out[e] = 0.0
    for a in range(lows.shape[1]):
        bottom, top = low[r, a], high[r, a]
        for e in range(FAN):
            gap = max(lows[block, a, e] - top, bottom - highs[block, a, e])
            gap = gap if gap > 0.0 else 0.0
            out[e] += gap * gap
    mask = np.int64(0)
    for e in range(FAN):
        mask |= np.int64(out[e] <= bound) << np.int64(e + 1)
    return mask


@kernel(inline="always")
def gaps_to_rows(low, high, r, lows, highs, block, bound, out):
    """Do the same for LEAF rows."""
    none = lows.dtype.type(0.0)
    for e in range(LEAF):
        out[e] = none
    for a in range(lows.shape[1]):
        bottom, top = low[r, a], high[r, a]
        for e in range(LEAF):
            below, above = lows[block, a, e] - top, bottom - highs[block, a, e]
            gap = below if below > above else above
            gap = gap if gap > none else none
            out[e] += gap * gap
    mask = np.int64(0)
    for e in range(LEAF):
        mask |= np.int64(out[e] <= bound) << np.int64(e + 1)
    return mask


@kernel
def first_place(mask):
    """Return the first place of a mask that is not 0."""
    return _PLACES[np.uint64(mask & -mask) * _SEQUENCE >> np.uint64(58)]
