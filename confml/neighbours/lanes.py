"""Comparisons of one row with a block of rows or boxes side by side: the inner loops of `wide_tree`.

Sums over the features are written out in groups of four, as tuples, which LLVM's vectoriser of straight-line
code keeps in vector registers (`confml._jit` switches it on). Loops over the places of a block take five
times as long, and so do places that are no constants: numba adds the length to a negative one.
"""

import numpy as np

from confml._jit import kernel

FAN, LEAF = 8, 16  # boxes and rows of a block
WIDE_FAN, WIDE_LEAF = 16, 32  # of a block in rounded searches
RUN = PANEL = 64  # numbers side by side in runs and panels
GROUP = 4  # rows that are compared with a panel at once
_LINE = 64  # bytes
# The place of the lowest bit of a mask, by the upper bits of its product with a de Bruijn sequence.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.int64)
_PLACES[[(int(_SEQUENCE) << bit) % 2**64 >> 58 for bit in range(64)]] = np.arange(64)


@kernel
def _add_squares(s, x, rows, leaf, a, e):
    """Add the squared differences of x and feature a of four rows, from place e of the leaf on."""
    t0, t1 = x - rows[leaf, a, e], x - rows[leaf, a, e + 1]
    t2, t3 = x - rows[leaf, a, e + 2], x - rows[leaf, a, e + 3]
    return s[0] + t0 * t0, s[1] + t1 * t1, s[2] + t2 * t2, s[3] + t3 * t3


@kernel
def _gap(bottom, top, low, high, none):
    """Return the gap between two intervals; none: 0 of their type."""
    below, above = low - top, bottom - high
    gap = below if below > above else above
    return gap if gap > none else none


@kernel
def _add_gaps(s, bottom, top, lows, highs, block, a, e):
    """Add the squared gaps between an interval and feature a of four boxes, from place e of the block on."""
    none = lows.dtype.type(0.0)
    t0 = _gap(bottom, top, lows[block, a, e], highs[block, a, e], none)
    t1 = _gap(bottom, top, lows[block, a, e + 1], highs[block, a, e + 1], none)
    t2 = _gap(bottom, top, lows[block, a, e + 2], highs[block, a, e + 2], none)
    t3 = _gap(bottom, top, lows[block, a, e + 3], highs[block, a, e + 3], none)
    return s[0] + t0 * t0, s[1] + t1 * t1, s[2] + t2 * t2, s[3] + t3 * t3


@kernel
def _add_products(s, x, columns, panel, a, e):
    """Add the products of x and feature a of four columns, of float32; of float64, subtract the squares of
    their differences."""
    c0, c1, c2 = columns[panel, a, e], columns[panel, a, e + 1], columns[panel, a, e + 2]
    c3 = columns[panel, a, e + 3]
    if columns.itemsize == 8:
        t0, t1, t2, t3 = x - c0, x - c1, x - c2, x - c3
        return s[0] - t0 * t0, s[1] - t1 * t1, s[2] - t2 * t2, s[3] - t3 * t3
    return s[0] + x * c0, s[1] + x * c1, s[2] + x * c2, s[3] + x * c3


@kernel
def _put(s, out, e):
    out[e], out[e + 1], out[e + 2], out[e + 3] = s


@kernel
def _bits(b0, b1, b2, b3):
    """Return four flags as bits."""
    low = np.int64(b0) | np.int64(b1) << np.int64(1)
    return low | np.int64(b2) << np.int64(2) | np.int64(b3) << np.int64(3)


@kernel
def _up_to(s, bound, e):
    return _bits(s[0] <= bound, s[1] <= bound, s[2] <= bound, s[3] <= bound) << np.int64(e)


@kernel
def squares_to_rows(Q, r, rows, leaf, bound, out):
    """Fill out (LEAF,) with the squared distances of Q[r] to the rows of a leaf, sums over a of
    (Q[r, a] - rows[leaf, a, :])^2; return the bit mask of those <= bound."""
    zero = rows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = (zero, zero, zero, zero)
    for a in range(rows.shape[1]):
        x = Q[r, a]
        s0 = _add_squares(s0, x, rows, leaf, a, 0)
        s1 = _add_squares(s1, x, rows, leaf, a, 4)
        s2 = _add_squares(s2, x, rows, leaf, a, 8)
        s3 = _add_squares(s3, x, rows, leaf, a, 12)
    _put(s0, out, 0)
    _put(s1, out, 4)
    _put(s2, out, 8)
    _put(s3, out, 12)
    mask = _up_to(s0, bound, 0) | _up_to(s1, bound, 4)
    mask |= _up_to(s2, bound, 8) | _up_to(s3, bound, 12)
    return mask


@kernel
def squares_within(Q, r, rows, leaf, bounds, out):
    """Do the same with a bound for each row of the leaf, bounds (LEAF,)."""
    squares_to_rows(Q, r, rows, leaf, 0.0, out)
    mask = _bits_within(out, bounds, 0) | _bits_within(out, bounds, 4)
    return mask | _bits_within(out, bounds, 8) | _bits_within(out, bounds, 12)


@kernel
def _bits_within(s, b, e):
    bits = _bits(s[e] <= b[e], s[e + 1] <= b[e + 1], s[e + 2] <= b[e + 2], s[e + 3] <= b[e + 3])
    return bits << np.int64(e)


@kernel
def rows_within(Q, r, rows, leaf, bound):
    """Return the bit mask of the rows of a leaf, WIDE_LEAF of them, whose squared distance from Q[r] is at
    most bound.

    This and `boxes_within` are for arrays of float32 or of float64, all of one type, and round: a sum of d
    squares has a relative error of at most (d + 1) u / (1 - (d + 1) u), with the unit roundoff u.
    """
    zero = rows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = (zero, zero, zero, zero)
    for a in range(rows.shape[1]):
        x = Q[r, a]
        s0 = _add_squares(s0, x, rows, leaf, a, 0)
        s1 = _add_squares(s1, x, rows, leaf, a, 4)
        s2 = _add_squares(s2, x, rows, leaf, a, 8)
        s3 = _add_squares(s3, x, rows, leaf, a, 12)
        s4 = _add_squares(s4, x, rows, leaf, a, 16)
        s5 = _add_squares(s5, x, rows, leaf, a, 20)
        s6 = _add_squares(s6, x, rows, leaf, a, 24)
        s7 = _add_squares(s7, x, rows, leaf, a, 28)
    mask = _up_to(s0, bound, 0) | _up_to(s1, bound, 4)
    mask |= _up_to(s2, bound, 8) | _up_to(s3, bound, 12)
    mask |= _up_to(s4, bound, 16) | _up_to(s5, bound, 20)
    mask |= _up_to(s6, bound, 24) | _up_to(s7, bound, 28)
    return mask


@kernel
def gaps_to_children(low, high, r, lows, highs, block, bound, out):
    """Fill out (FAN,) with the squared gaps between the box from low[r] to high[r] and the boxes of a block,
    sums over a of max(lows[block, a, :] - high[r, a], low[r, a] - highs[block, a, :], 0)^2; return the bit
    mask of those <= bound. A row is a box whose low and high are the same."""
    zero = lows.dtype.type(0.0)
    s0 = s1 = (zero, zero, zero, zero)
    for a in range(lows.shape[1]):
        bottom, top = low[r, a], high[r, a]
        s0 = _add_gaps(s0, bottom, top, lows, highs, block, a, 0)
        s1 = _add_gaps(s1, bottom, top, lows, highs, block, a, 4)
    _put(s0, out, 0)
    _put(s1, out, 4)
    mask = _up_to(s0, bound, 0) | _up_to(s1, bound, 4)
    return mask


@kernel
def gaps_to_rows(low, high, r, lows, highs, block, bound, out):
    """Do the same for LEAF rows."""
    zero = lows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = (zero, zero, zero, zero)
    for a in range(lows.shape[1]):
        bottom, top = low[r, a], high[r, a]
        s0 = _add_gaps(s0, bottom, top, lows, highs, block, a, 0)
        s1 = _add_gaps(s1, bottom, top, lows, highs, block, a, 4)
        s2 = _add_gaps(s2, bottom, top, lows, highs, block, a, 8)
        s3 = _add_gaps(s3, bottom, top, lows, highs, block, a, 12)
    _put(s0, out, 0)
    _put(s1, out, 4)
    _put(s2, out, 8)
    _put(s3, out, 12)
    mask = _up_to(s0, bound, 0) | _up_to(s1, bound, 4)
    mask |= _up_to(s2, bound, 8) | _up_to(s3, bound, 12)
    return mask


@kernel
def boxes_within(Q, r, lows, highs, block, bound, out):
    """Fill out (WIDE_FAN,) with the rounded squared gaps between Q[r] and the boxes of a block; return the
    bit mask of those <= bound. A block has as many boxes as a leaf has rows."""
    return gaps_to_rows(Q, Q, r, lows, highs, block, bound, out)


@kernel
def _above(v, b, limit, e):
    """Return the bits of four places with v[e] - b[e] > limit."""
    above0, above1 = v[e] - b[e] > limit, v[e + 1] - b[e + 1] > limit
    above2, above3 = v[e + 2] - b[e + 2] > limit, v[e + 3] - b[e + 3] > limit
    return _bits(above0, above1, above2, above3) << np.int64(e)


@kernel
def run_above(values, at, less, less_at, limit):
    """Return the bit mask of the places e < RUN with values[at + e] - less[less_at + e] > limit; all are of
    one type."""
    v, b = values[at : at + RUN], less[less_at : less_at + RUN]
    mask = np.int64(0)
    mask |= _above(v, b, limit, 0) | _above(v, b, limit, 4)
    mask |= _above(v, b, limit, 8) | _above(v, b, limit, 12)
    mask |= _above(v, b, limit, 16) | _above(v, b, limit, 20)
    mask |= _above(v, b, limit, 24) | _above(v, b, limit, 28)
    mask |= _above(v, b, limit, 32) | _above(v, b, limit, 36)
    mask |= _above(v, b, limit, 40) | _above(v, b, limit, 44)
    mask |= _above(v, b, limit, 48) | _above(v, b, limit, 52)
    mask |= _above(v, b, limit, 56) | _above(v, b, limit, 60)
    return mask


@kernel
def products_above(rows, row, norms, least, columns, panel, others, most, kind, masks, values):
    """Compare GROUP rows with a panel of PANEL columns, both (panels, n, PANEL).

    Fill values (GROUP, PANEL) with product - norms[row + r] - others[PANEL panel + e], rounded, for rows of
    float32; for rows of float64, with minus the squared distance, added in the order of the features, in
    place of the product. Fill masks (2, GROUP) int64 with the bits of the pairs whose value exceeds
    least[kind, row + r], and most[kind, PANEL panel + e]. Return 0 if there are none. row: a multiple of
    GROUP.
    """
    first, passed = PANEL * panel, np.int64(0)
    none, limits = rows.dtype.type(0.0), most[kind]
    for r in range(GROUP):
        own = values[r]
        _fill_products(rows, row // PANEL, row % PANEL + r, columns, panel, own)
        for e in range(PANEL):
            own[e] = own[e] - norms[row + r] - others[first + e]
        limit = least[kind, row + r]
        masks[0, r] = masks[1, r] = 0
        for e in range(PANEL):
            masks[0, r] |= np.int64(own[e] > limit) << np.int64(e)
        masks[1, r] = run_above(own, 0, limits, first, none)
        passed |= masks[0, r] | masks[1, r]
    return passed


@kernel
def _fill_products(rows, own, lane, columns, panel, out):
    """Fill out (PANEL,) with the sums of `products_above` for one row."""
    zero = rows.dtype.type(0.0)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = (zero, zero, zero, zero)
    s8 = s9 = s10 = s11 = s12 = s13 = s14 = s15 = (zero, zero, zero, zero)
    for a in range(rows.shape[1]):
        x = rows[own, a, lane]
        s0 = _add_products(s0, x, columns, panel, a, 0)
        s1 = _add_products(s1, x, columns, panel, a, 4)
        s2 = _add_products(s2, x, columns, panel, a, 8)
        s3 = _add_products(s3, x, columns, panel, a, 12)
        s4 = _add_products(s4, x, columns, panel, a, 16)
        s5 = _add_products(s5, x, columns, panel, a, 20)
        s6 = _add_products(s6, x, columns, panel, a, 24)
        s7 = _add_products(s7, x, columns, panel, a, 28)
        s8 = _add_products(s8, x, columns, panel, a, 32)
        s9 = _add_products(s9, x, columns, panel, a, 36)
        s10 = _add_products(s10, x, columns, panel, a, 40)
        s11 = _add_products(s11, x, columns, panel, a, 44)
        s12 = _add_products(s12, x, columns, panel, a, 48)
        s13 = _add_products(s13, x, columns, panel, a, 52)
        s14 = _add_products(s14, x, columns, panel, a, 56)
        s15 = _add_products(s15, x, columns, panel, a, 60)
    _put(s0, out, 0)
    _put(s1, out, 4)
    _put(s2, out, 8)
    _put(s3, out, 12)
    _put(s4, out, 16)
    _put(s5, out, 20)
    _put(s6, out, 24)
    _put(s7, out, 28)
    _put(s8, out, 32)
    _put(s9, out, 36)
    _put(s10, out, 40)
    _put(s11, out, 44)
    _put(s12, out, 48)
    _put(s13, out, 52)
    _put(s14, out, 56)
    _put(s15, out, 60)


@kernel
def lowest_bit(mask):
    """Return the place of the lowest bit of a mask that is not 0."""
    return _PLACES[np.uint64(mask & -mask) * _SEQUENCE >> np.uint64(58)]


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
