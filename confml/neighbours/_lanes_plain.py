"""The functions of `lanes` as plain loops."""

import numpy as np

from confml._jit import kernel

LEAF = 16
FAN = 8
RUN = 64
WIDE_LEAF = 32
WIDE_FAN = 16
PANEL = 64
GROUP = 4


@kernel
def squares_to_rows(Q, r, rows, leaf, bound, out):
    _squares(Q, r, rows, leaf, out)
    mask = 0
    for e in range(LEAF):
        mask |= (out[e] <= bound) << e
    return mask


@kernel
def squares_within(Q, r, rows, leaf, bounds, out):
    _squares(Q, r, rows, leaf, out)
    mask = 0
    for e in range(LEAF):
        mask |= (out[e] <= bounds[e]) << e
    return mask


@kernel
def _squares(Q, r, rows, leaf, out):
    block = rows[leaf]
    for e in range(LEAF):
        out[e] = 0.0
    for a in range(block.shape[0]):
        x, lane = Q[r, a], block[a]
        for e in range(LEAF):
            apart = x - lane[e]
            out[e] += apart * apart


@kernel
def _gaps(low, high, r, lows, highs, block, bound, out, lanes):
    for e in range(lanes):
        out[e] = 0.0
    for a in range(lows.shape[1]):
        bottom, top = low[r, a], high[r, a]
        lows_here, highs_here = lows[block, a], highs[block, a]
        for e in range(lanes):
            below, above = lows_here[e] - top, bottom - highs_here[e]
            apart = below if below > above else above
            apart = apart if apart > 0.0 else 0.0
            out[e] += apart * apart
    mask = 0
    for e in range(lanes):
        mask |= (out[e] <= bound) << e
    return mask


@kernel
def gaps_to_children(low, high, r, lows, highs, block, bound, out):
    return _gaps(low, high, r, lows, highs, block, bound, out, FAN)


@kernel
def gaps_to_rows(low, high, r, lows, highs, block, bound, out):
    return _gaps(low, high, r, lows, highs, block, bound, out, LEAF)


@kernel
def _insert(near, other, r, square, j, lanes):
    mask = np.int64(0)
    for e in range(lanes):
        mask |= np.int64(near[r, e] == square) << np.int64(e)
    for e in range(lanes - 1, -1, -1):
        if e > 0 and near[r, e - 1] > square:
            near[r, e], other[r, e] = near[r, e - 1], other[r, e - 1]
        elif near[r, e] > square:
            near[r, e], other[r, e] = square, j
    return mask


@kernel
def insert_8(near, other, r, square, j):
    return _insert(near, other, r, square, j, 8)


@kernel
def insert_16(near, other, r, square, j):
    return _insert(near, other, r, square, j, 16)


@kernel
def rows_within(Q, r, rows, leaf, bound):
    block = rows[leaf]
    sums = np.zeros(WIDE_LEAF, rows.dtype)
    for a in range(block.shape[0]):
        x, lane = Q[r, a], block[a]
        for e in range(WIDE_LEAF):
            apart = x - lane[e]
            sums[e] += apart * apart
    mask = np.int64(0)
    for e in range(WIDE_LEAF):
        mask |= np.int64(sums[e] <= bound) << np.int64(e)
    return mask


@kernel
def boxes_within(Q, r, lows, highs, block, bound, out):
    none = lows.dtype.type(0.0)
    for e in range(WIDE_FAN):
        out[e] = none
    for a in range(lows.shape[1]):
        x, lows_here, highs_here = Q[r, a], lows[block, a], highs[block, a]
        for e in range(WIDE_FAN):
            below, above = lows_here[e] - x, x - highs_here[e]
            apart = below if below > above else above
            apart = apart if apart > none else none
            out[e] += apart * apart
    mask = np.int64(0)
    for e in range(WIDE_FAN):
        mask |= np.int64(out[e] <= bound) << np.int64(e)
    return mask


@kernel
def run_above(values, at, less, less_at, limit):
    mask = np.int64(0)
    for e in range(RUN):
        mask |= np.int64(values[at + e] - less[less_at + e] > limit) << e
    return mask


@kernel
def lowest_bit(mask):
    bit = 0
    while not mask & 1:
        mask >>= 1
        bit += 1
    return bit


@kernel
def products_above(rows, row, norms, least, columns, panel, others, most, kind, masks, halves):
    own, other, lane = rows[row // PANEL], columns[panel], row % PANEL
    exact = rows.itemsize == 8
    passed = np.int64(0)
    masks[:] = 0
    for r in range(GROUP):
        for e in range(PANEL):
            place = PANEL * panel + e
            total = 0.0
            for a in range(len(own)):
                x, y = own[a, lane + r], other[a, e]
                if exact:
                    total -= (x - y) * (x - y)
                else:
                    total += x * y
            total = total - norms[row + r] - others[place]
            halves[r, e] = total
            masks[0, r] |= np.int64(halves[r, e] > least[kind, row + r]) << e
            masks[1, r] |= np.int64(halves[r, e] > most[kind, place]) << e
        passed |= masks[0, r] | masks[1, r]
    return passed
