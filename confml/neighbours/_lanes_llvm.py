"""The functions of `lanes` in LLVM's intermediate representation, which numba's intrinsics accept.

LLVM unrolls loops this short before it looks for vectors; here the vectors are given. Measured for 2 to 16
features, one block takes 3 to 27 ns, and `_lanes_plain` 32 to 136 ns. Numba does not promise that the
functions imported here stay as they are: `lanes` uses the plain loops where they are missing, and
pyproject.toml limits numba's version.
"""

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import cgutils, types

intrinsic: Any = extending.intrinsic  # numba gives the first argument, typingctx
LEAF = 16
FAN = 8
RUN = 64
WIDE_LEAF = 32
WIDE_FAN = 16
PANEL = 64
GROUP = 4
_WIDTH = 16  # numbers of 32 bits in a vector


def _data(context, builder, kind, value):
    return context.make_array(kind)(context, builder, value).data


def _filled(builder, lanes, x):
    """Return a vector of equal numbers."""
    vector = ir.VectorType(x.type, lanes)
    zero = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), x, zero)
    places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), places)


def _equal(builder, lanes, row, attribute):
    """Return a vector filled with one attribute of a row."""
    return _filled(builder, lanes, builder.load(builder.gep(row, [attribute])))


def _summed_squares(builder, lanes, d, bound, out, difference, fused=False):
    """Code for the sums over d attributes of the squares of `difference`(attribute), for all lanes.

    They are stored in out, if given; the value is the mask of the lanes whose sum is at most bound, a number
    or a vector. fused: products may be added without rounding.
    """
    bounds = bound if isinstance(bound.type, ir.VectorType) else _filled(builder, lanes, bound)
    vector, flags = bounds.type, ("contract",) if fused else ()
    total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * lanes))
    with cgutils.for_range(builder, d) as loop:
        apart = difference(loop.index)
        square = builder.fmul(apart, apart, flags=flags)
        builder.store(builder.fadd(builder.load(total), square, flags=flags), total)
    found = builder.load(total)
    if out is not None:
        builder.store(found, builder.bitcast(out, vector.as_pointer()), align=_bytes(vector.element))
    near = builder.fcmp_ordered("<=", found, bounds)
    return builder.zext(builder.bitcast(near, ir.IntType(lanes)), ir.IntType(64))


def _bytes(kind):
    return 4 if isinstance(kind, ir.FloatType) else 8


def _lanes_at(builder, data, lanes, d, block, attribute):
    """Load the numbers of all lanes for one attribute out of an array (blocks, d, lanes)."""
    place = builder.mul(builder.add(builder.mul(block, d), attribute), ir.Constant(d.type, lanes))
    kind = data.type.pointee
    start = builder.bitcast(builder.gep(data, [place]), ir.VectorType(kind, lanes).as_pointer())
    return builder.load(start, align=_bytes(kind))


def _row(context, builder, kind, X, r):
    """Return the features of row r and their number."""
    array = context.make_array(kind)(context, builder, X)
    d = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.mul(r, d)]), d


@intrinsic
def squares_to_rows(typingctx, Q, r, rows, leaf, bound, out):
    """Set out (LEAF,) = sum over a of (Q[r, a] - rows[leaf, a, :])^2; return the mask of those that are <=
    bound.
    """

    def code(context, builder, signature, arguments):
        return _squares(context, builder, signature, arguments, arguments[4])

    return types.int64(Q, types.int64, rows, types.int64, types.float64, out), code


@intrinsic
def squares_within(typingctx, Q, r, rows, leaf, bounds, out):
    """Compute `squares_to_rows` with one bound for each row, bounds (LEAF,)."""

    def code(context, builder, signature, arguments):
        data = _data(context, builder, signature.args[4], arguments[4])
        vector = ir.VectorType(ir.DoubleType(), LEAF)
        bounds = builder.load(builder.bitcast(data, vector.as_pointer()), align=8)
        return _squares(context, builder, signature, arguments, bounds)

    return types.int64(Q, types.int64, rows, types.int64, bounds, out), code


def _squares(context, builder, signature, arguments, bound):
    """Code for the squared distances of one row from the rows of a leaf, and the mask of those <= bound."""
    X, r, rows, leaf, _, out = arguments
    kinds = signature.args
    q, d = _row(context, builder, kinds[0], X, r)
    data = _data(context, builder, kinds[2], rows)

    def difference(attribute):
        x = _equal(builder, LEAF, q, attribute)
        return builder.fsub(x, _lanes_at(builder, data, LEAF, d, leaf, attribute))

    out = _data(context, builder, kinds[5], out)
    return _summed_squares(builder, LEAF, d, bound, out, difference)


def _gaps(lanes):
    """Return an intrinsic for boxes stored side by side, ``lanes`` boxes per block."""

    def gaps(typingctx, low, high, r, lows, highs, block, bound, out):
        """Set out (lanes,) = squared gaps between the box from low[r] to high[r] and the boxes of a block:
        the sums over a of max(lows[block, a, :] - high[r, a], low[r, a] - highs[block, a, :], 0)^2. Return
        the mask of those <= bound. Rows are boxes whose low and high are the same.
        """

        def code(context, builder, signature, arguments):
            low, high, r, lows, highs, block, bound, out = arguments
            kinds = signature.args
            q_low, d = _row(context, builder, kinds[0], low, r)
            q_high, _ = _row(context, builder, kinds[1], high, r)
            lows, highs = _data(context, builder, kinds[3], lows), _data(context, builder, kinds[4], highs)
            none = ir.Constant(ir.VectorType(ir.DoubleType(), lanes), [0.0] * lanes)

            def larger(a, b):
                return builder.select(builder.fcmp_ordered(">", a, b), a, b)

            def difference(attribute):
                lows_here = _lanes_at(builder, lows, lanes, d, block, attribute)
                highs_here = _lanes_at(builder, highs, lanes, d, block, attribute)
                below = builder.fsub(lows_here, _equal(builder, lanes, q_high, attribute))
                above = builder.fsub(_equal(builder, lanes, q_low, attribute), highs_here)
                return larger(larger(below, above), none)

            out = _data(context, builder, kinds[7], out)
            return _summed_squares(builder, lanes, d, bound, out, difference)

        return types.int64(low, high, types.int64, lows, highs, types.int64, types.float64, out), code

    return intrinsic(gaps)


gaps_to_children = _gaps(FAN)
gaps_to_rows = _gaps(LEAF)


def _insertion(lanes):
    """Return an intrinsic that inserts into lists of this length."""

    def insert(typingctx, near, other, r, square, j):
        """Insert a square and the row j into the ascending lists near[r], other[r], after equal squares, and
        drop the last entry; the mask of the entries that were equal."""

        def code(context, builder, signature, arguments):
            near, other, r, square, j = arguments
            kinds = signature.args
            places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [lanes, *range(lanes - 1)])

            def row(kind, array):
                """Return the list as a vector, and its address in memory."""
                start = _row(context, builder, kind, array, r)[0]
                start = builder.bitcast(start, ir.VectorType(start.type.pointee, lanes).as_pointer())
                return builder.load(start, align=kind.dtype.bitwidth // 8), start

            values, value_place = row(kinds[0], near)
            numbers, number_place = row(kinds[1], other)
            x, new = _filled(builder, lanes, square), _filled(builder, lanes, j)
            shifted = builder.shuffle_vector(values, x, places)
            from_left = builder.fcmp_ordered(">", shifted, x)
            larger = builder.fcmp_ordered(">", values, x)
            for vector, left, value, place, bytes_ in (
                (values, shifted, x, value_place, 8),
                (numbers, builder.shuffle_vector(numbers, new, places), new, number_place, 4),
            ):
                kept = builder.select(larger, value, vector)
                builder.store(builder.select(from_left, left, kept), place, align=bytes_)
            equal = builder.fcmp_ordered("==", values, x)
            return builder.zext(builder.bitcast(equal, ir.IntType(lanes)), ir.IntType(64))

        return types.int64(near, other, types.int64, types.float64, types.int32), code

    return intrinsic(insert)


insert_8 = _insertion(8)
insert_16 = _insertion(16)


@intrinsic
def rows_within(typingctx, Q, r, rows, leaf, bound):
    """Mask of the rows of a leaf (WIDE_LEAF of them) whose rounded squared distance from Q[r] is <= bound."""

    def code(context, builder, signature, arguments):
        X, r, rows, leaf, bound = arguments
        kinds = signature.args
        q, d = _row(context, builder, kinds[0], X, r)
        data = _data(context, builder, kinds[2], rows)

        def difference(attribute):
            x = _equal(builder, WIDE_LEAF, q, attribute)
            return builder.fsub(x, _lanes_at(builder, data, WIDE_LEAF, d, leaf, attribute))

        return _summed_squares(builder, WIDE_LEAF, d, bound, None, difference, fused=True)

    return types.int64(Q, types.int64, rows, types.int64, Q.dtype), code


@intrinsic
def boxes_within(typingctx, Q, r, lows, highs, block, bound, out):
    """Return out (WIDE_FAN,) = rounded squared gaps between Q[r] and the boxes of a block; the mask of those
    <= bound.
    """

    def code(context, builder, signature, arguments):
        X, r, lows, highs, block, bound, out = arguments
        kinds = signature.args
        q, d = _row(context, builder, kinds[0], X, r)
        lows, highs = _data(context, builder, kinds[2], lows), _data(context, builder, kinds[3], highs)
        none = ir.Constant(ir.VectorType(bound.type, WIDE_FAN), [0.0] * WIDE_FAN)

        def larger(a, b):
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        def difference(attribute):
            x = _equal(builder, WIDE_FAN, q, attribute)
            below = builder.fsub(_lanes_at(builder, lows, WIDE_FAN, d, block, attribute), x)
            above = builder.fsub(x, _lanes_at(builder, highs, WIDE_FAN, d, block, attribute))
            return larger(larger(below, above), none)

        out = _data(context, builder, kinds[6], out)
        return _summed_squares(builder, WIDE_FAN, d, bound, out, difference, fused=True)

    return types.int64(Q, types.int64, lows, highs, types.int64, Q.dtype, out), code


@intrinsic
def run_above(typingctx, values, at, less, less_at, limit):
    """Mask of the places e < RUN with values[at + e] - less[less_at + e] > limit; all of one float type."""

    def code(context, builder, signature, arguments):
        values, at, less, less_at, limit = arguments
        kinds = signature.args
        vector = ir.VectorType(limit.type, RUN)

        def loaded(kind, array, offset):
            start = builder.gep(_data(context, builder, kind, array), [offset])
            return builder.load(builder.bitcast(start, vector.as_pointer()), align=kind.dtype.bitwidth // 8)

        apart = builder.fsub(loaded(kinds[0], values, at), loaded(kinds[2], less, less_at))
        above = builder.fcmp_ordered(">", apart, _filled(builder, RUN, limit))
        return builder.bitcast(above, ir.IntType(RUN))

    return types.int64(values, types.int64, less, types.int64, values.dtype), code


@intrinsic
def lowest_bit(typingctx, mask):
    """Return the place of the lowest bit of a mask that is not 0."""

    def code(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


@intrinsic
def products_above(typingctx, rows, row, norms, least, columns, panel, others, most, kind, masks, halves):
    """Fill halves and masks with the values of GROUP rows and a panel of PANEL columns, see `lanes`; return 0
    if no pair passes. row: a multiple of GROUP."""

    def code(context, builder, signature, arguments):
        rows, row, norms, least, columns, panel, others, most, kind, masks, halves = arguments
        kinds, whole = signature.args, ir.IntType(64)
        number_type = context.get_value_type(kinds[0].dtype)
        exact = isinstance(number_type, ir.DoubleType)
        lanes = _WIDTH // 2 if exact else _WIDTH
        vector = ir.VectorType(number_type, lanes)
        vectors = range(PANEL // lanes)
        size_of = 8 if exact else 4

        def number(value):
            return ir.Constant(whole, value)

        def loaded(start, offset):
            place = builder.bitcast(builder.gep(start, [offset]), vector.as_pointer())
            return builder.load(place, align=size_of)

        def limits(position, array):
            """Return the limits of this kind."""
            made = context.make_array(kinds[position])(context, builder, array)
            return builder.gep(made.data, [builder.mul(kind, builder.extract_value(made.shape, 1))])

        array = context.make_array(kinds[0])(context, builder, rows)
        steps = builder.extract_value(array.shape, 1)
        size = builder.mul(steps, number(PANEL))
        begin = builder.mul(builder.udiv(row, number(PANEL)), size)
        own = builder.gep(array.data, [builder.add(begin, builder.urem(row, number(PANEL)))])
        other = builder.gep(_data(context, builder, kinds[4], columns), [builder.mul(panel, size)])
        norms, others = _data(context, builder, kinds[2], norms), _data(context, builder, kinds[6], others)
        first = builder.mul(panel, number(PANEL))

        def value(start, r):
            """Return a vector filled with the number of row + r."""
            return _filled(builder, lanes, builder.load(builder.gep(start, [builder.add(row, number(r))])))

        def added(total, x, y):
            if exact:
                apart = builder.fsub(x, y)
                return builder.fsub(total, builder.fmul(apart, apart))
            return builder.fadd(total, builder.fmul(x, y, flags=("contract",)), flags=("contract",))

        def finished(total, r, v):
            """Subtract the norms."""
            norm, of_columns = value(norms, r), loaded(others, builder.add(first, number(lanes * v)))
            return builder.fsub(builder.fsub(total, norm), of_columns)

        zero = ir.Constant(vector, [0.0] * lanes)
        totals = {(r, v): cgutils.alloca_once(builder, vector) for v in vectors for r in range(GROUP)}
        at_once = _vectors_at_once(context)
        for part in range(0, len(vectors), at_once):
            here = vectors[part : part + at_once]
            for r in range(GROUP):
                for v in here:
                    builder.store(zero, totals[r, v])
            with cgutils.for_range(builder, steps) as loop:
                place = builder.mul(loop.index, number(PANEL))
                parts = [loaded(other, builder.add(place, number(lanes * v))) for v in here]
                for r in range(GROUP):
                    x = builder.load(builder.gep(own, [builder.add(place, number(r))]))
                    x = _filled(builder, lanes, x)
                    for v, y in zip(here, parts, strict=True):
                        builder.store(added(builder.load(totals[r, v]), x, y), totals[r, v])
        least, most = limits(3, least), limits(7, most)
        masks, halves = _data(context, builder, kinds[9], masks), _data(context, builder, kinds[10], halves)
        every = number(0)
        for r in range(GROUP):
            found, of_row = [number(0), number(0)], value(least, r)
            for v in vectors:
                totals[r, v] = finished(builder.load(totals[r, v]), r, v)
                of_columns = loaded(most, builder.add(first, number(lanes * v)))
                for side, limit in enumerate((of_row, of_columns)):
                    above = builder.fcmp_ordered(">", totals[r, v], limit)
                    bits = builder.zext(builder.bitcast(above, ir.IntType(lanes)), whole)
                    found[side] = builder.or_(found[side], builder.shl(bits, number(lanes * v)))
            for side, mask in enumerate(found):
                builder.store(mask, builder.gep(masks, [number(GROUP * side + r)]))
                every = builder.or_(every, mask)
        with builder.if_then(builder.icmp_signed("!=", every, number(0))):
            for (r, v), total in totals.items():
                place = builder.gep(halves, [number(PANEL * r + lanes * v)])
                builder.store(total, builder.bitcast(place, vector.as_pointer()), align=size_of)
        return every

    types_ = rows, types.int64, norms, least, columns, types.int64, others, most, types.int64, masks, halves
    return types.int64(*types_), code


def _vectors_at_once(context):
    """Return how many vectors of each row are kept in registers: 16 sums with 32 registers of 512 bits."""
    return 4 if "+avx512f" in context.codegen()._tm_features.split(",") else 1
