"""Comparisons of one row with a block of rows or boxes side by side: the inner loops of `wide_tree`.

Sums go over the features in the outer loop and over the places of a block in the inner one, a constant number
of times, so that LLVM makes vector instructions of it. The functions are inlined into searches, because numba
counts references to the arrays of each call. Places are loop variables: numba checks whether other numbers
are negative, and such loops take three times as long.

`rows_within` and `products_above` have their sums written out in groups of eight, as tuples, which LLVM's
vectoriser of straight-line code keeps in vector registers (`confml._jit` switches it on).

A mask of places has bit e + 1 for place e, see `first_place`: LLVM makes vectors of eight equal terms, and a
shift by 0 is another term.
"""

import numpy as np

from confml._jit import kernel

FAN, LEAF = 8, 16  # boxes and rows of a block
WIDE_FAN, WIDE_LEAF = 16, 32  # of a block in rounded searches
RUN = PANEL = 64  # numbers side by side in runs and panels
GROUP = 4  # rows that are compared with a panel at once
_LINE = 64  # bytes
# The first places of the groups of eight. A kernel is compiled again for each int, but not for these numbers.
_G0, _G1, _G2, _G3, _G4, _G5, _G6, _G7 = np.arange(0, PANEL, 8)
# The place of the lowest bit of a mask, by the upper bits of its product with a de Bruijn sequence.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.int64)
_PLACES[[(int(_SEQUENCE) << bit) % 2**64 >> 58 for bit in range(64)]] = np.arange(64)


@kernel
def _add_squares(s, x, rows, leaf, a, e):
    """Add the squared differences of x and feature a of eight rows, from place e of the leaf on."""
    t0, t1 = x - rows[leaf, a, e], x - rows[leaf, a, e + 1]
    t2, t3 = x - rows[leaf, a, e + 2], x - rows[leaf, a, e + 3]
    t4, t5 = x - rows[leaf, a, e + 4], x - rows[leaf, a, e + 5]
    t6, t7 = x - rows[leaf, a, e + 6], x - rows[leaf, a, e + 7]
    return _sums_with_squares(s, t0, t1, t2, t3, t4, t5, t6, t7)


@kernel
def _sums_with_squares(s, t0, t1, t2, t3, t4, t5, t6, t7):
    s0, s1, s2, s3 = s[0] + t0 * t0, s[1] + t1 * t1, s[2] + t2 * t2, s[3] + t3 * t3
    return s0, s1, s2, s3, s[4] + t4 * t4, s[5] + t5 * t5, s[6] + t6 * t6, s[7] + t7 * t7


@kernel
def _put(s, out, e):
    out[e], out[e + 1], out[e + 2], out[e + 3] = s[:4]
    out[e + 4], out[e + 5], out[e + 6], out[e + 7] = s[4:]


@kernel
def _bits(b, e):
    """Return eight flags as bits from e on."""
    low = np.int64(b[0]) << e | np.int64(b[1]) << (e + 1) | np.int64(b[2]) << (e + 2)
    high = np.int64(b[3]) << (e + 3) | np.int64(b[4]) << (e + 4) | np.int64(b[5]) << (e + 5)
    return low | high | np.int64(b[6]) << (e + 6) | np.int64(b[7]) << (e + 7)


@kernel
def _up_to(s, b, e):
    """Return the mask of the sums up to a bound."""
    flags = s[0] <= b, s[1] <= b, s[2] <= b, s[3] <= b, s[4] <= b, s[5] <= b, s[6] <= b, s[7] <= b
    return _bits(flags, e + 1)


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


@kernel
def rows_within(Q, r, rows, leaf, bound):
    """Return the mask of the rows of a leaf, WIDE_LEAF of them, whose squared distance from Q[r] is at most
    bound.

    This and `boxes_within` are for arrays of float32 or of float64, all of one type, and round: a sum of d
    squares has a relative error of at most (d + 1) u / (1 - (d + 1) u), with the unit roundoff u.
    """
    zero = rows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = (zero, zero, zero, zero, zero, zero, zero, zero)
    for a in range(rows.shape[1]):
        x = Q[r, a]
        s0 = _add_squares(s0, x, rows, leaf, a, _G0)
        s1 = _add_squares(s1, x, rows, leaf, a, _G1)
        s2 = _add_squares(s2, x, rows, leaf, a, _G2)
        s3 = _add_squares(s3, x, rows, leaf, a, _G3)
    low = _up_to(s0, bound, _G0) | _up_to(s1, bound, _G1)
    return low | _up_to(s2, bound, _G2) | _up_to(s3, bound, _G3)


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
def boxes_within(Q, r, lows, highs, block, bound, out):
    """Fill out (WIDE_FAN,) with the rounded squared gaps between Q[r] and the boxes of a block; return the
    mask of those <= bound. A block has as many boxes as a leaf has rows."""
    return gaps_to_rows(Q, Q, r, lows, highs, block, bound, out)


@kernel
def run_above(values, at, less, less_at, limit):
    """Return the bits of the places e < RUN with values[at + e] - less[less_at + e] > limit; all are of one
    type."""
    bits, v, b = np.int64(0), values[at : at + RUN], less[less_at : less_at + RUN]
    for e in range(RUN):
        bits |= np.int64(v[e] - b[e] > limit) << np.int64(e)
    return bits


@kernel
def products_above(rows, row, columns, panel, least, most, masks, values):
    """Compare GROUP rows with a panel of PANEL columns.

    rows, columns: features (panels, d, PANEL) and the numbers (panels * PANEL,) that are subtracted. Fill
    values (GROUP, PANEL) with product - rows[1][row + r] - columns[1][PANEL panel + e], rounded, for rows of
    float32; for rows of float64, with minus the squared distance, added in the order of the features, in
    place of the product. Fill masks (2, GROUP) int64 with the bits of the pairs whose value exceeds
    least[row + r], and most[PANEL panel + e]. Return 0 if there are none. row: a multiple of GROUP.
    """
    (features, norms), (others, other_norms) = rows, columns
    first, passed = PANEL * panel, np.int64(0)
    none = features.dtype.type(0.0)
    for r in range(GROUP):
        row_values = values[r]
        _fill_products(features, row // PANEL, row % PANEL + r, others, panel, row_values)
        for e in range(PANEL):
            row_values[e] = row_values[e] - norms[row + r] - other_norms[first + e]
        limit = least[row + r]
        masks[0, r] = masks[1, r] = 0
        for e in range(PANEL):
            masks[0, r] |= np.int64(row_values[e] > limit) << np.int64(e)
        masks[1, r] = run_above(row_values, 0, most, first, none)
        passed |= masks[0, r] | masks[1, r]
    return passed


@kernel
def _fill_products(rows, own, lane, columns, panel, out):
    """Fill out (PANEL,) with the sums of `products_above` for one row."""
    zero = rows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = (zero, zero, zero, zero, zero, zero, zero, zero)
    for a in range(rows.shape[1]):
        x = rows[own, a, lane]
        s0 = _add_products(s0, x, columns, panel, a, _G0)
        s1 = _add_products(s1, x, columns, panel, a, _G1)
        s2 = _add_products(s2, x, columns, panel, a, _G2)
        s3 = _add_products(s3, x, columns, panel, a, _G3)
        s4 = _add_products(s4, x, columns, panel, a, _G4)
        s5 = _add_products(s5, x, columns, panel, a, _G5)
        s6 = _add_products(s6, x, columns, panel, a, _G6)
        s7 = _add_products(s7, x, columns, panel, a, _G7)
    _put(s0, out, _G0)
    _put(s1, out, _G1)
    _put(s2, out, _G2)
    _put(s3, out, _G3)
    _put(s4, out, _G4)
    _put(s5, out, _G5)
    _put(s6, out, _G6)
    _put(s7, out, _G7)


@kernel
def _add_products(s, x, columns, panel, a, e):
    """Add the products of x and feature a of eight columns, of float32; of float64, subtract the squares of
    their differences."""
    c0, c1, c2 = columns[panel, a, e], columns[panel, a, e + 1], columns[panel, a, e + 2]
    c3, c4, c5 = columns[panel, a, e + 3], columns[panel, a, e + 4], columns[panel, a, e + 5]
    c6, c7 = columns[panel, a, e + 6], columns[panel, a, e + 7]
    if columns.itemsize == 8:
        s0, s1, s2 = s[0] - (x - c0) * (x - c0), s[1] - (x - c1) * (x - c1), s[2] - (x - c2) * (x - c2)
        s3, s4, s5 = s[3] - (x - c3) * (x - c3), s[4] - (x - c4) * (x - c4), s[5] - (x - c5) * (x - c5)
        return s0, s1, s2, s3, s4, s5, s[6] - (x - c6) * (x - c6), s[7] - (x - c7) * (x - c7)
    s0, s1, s2, s3 = s[0] + x * c0, s[1] + x * c1, s[2] + x * c2, s[3] + x * c3
    return s0, s1, s2, s3, s[4] + x * c4, s[5] + x * c5, s[6] + x * c6, s[7] + x * c7


@kernel
def lowest_bit(bits):
    """Return the place of the lowest bit of a number that is not 0."""
    return _PLACES[np.uint64(bits & -bits) * _SEQUENCE >> np.uint64(58)]


@kernel
def first_place(mask):
    """Return the first place of a mask that is not 0."""
    return lowest_bit(mask) - 1


@kernel
def above(values, at, less, less_at, limit, n):
    """Return the bits of the places e < n, n <= RUN, with values[at + e] - less[less_at + e] > limit."""
    if n == RUN:
        return run_above(values, at, less, less_at, limit)
    bits = np.int64(0)
    for e in range(n):
        bits |= np.int64(values[at + e] - less[less_at + e] > limit) << np.int64(e)
    return bits


def aligned(shape: tuple[int, ...], value: float, dtype) -> np.ndarray:
    """Return a new array of equal numbers that begins at a line of the cache, so that no vector is in two."""
    numbers = int(np.prod(shape))
    memory = np.empty(numbers * np.dtype(dtype).itemsize + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    array = memory[start : start + len(memory) - _LINE].view(dtype).reshape(shape)
    array.fill(value)
    return array
