"""Kernels of the billiard in version space: flying through it, and writing down how.

Walls are the signed training points a_j = y_j phi(x_j) in range coordinates, so that version space is
{w : |w| = 1, <w, a_j> > 0 for all j}. The ball has a position w and a direction v; F = <w, a_j> and
V = <v, a_j> are kept beside them, so that a bounce costs a few passes over vectors and no matrix product.

What happened is written down as *steps*, so that any test example can follow the flight later: one row of
``steps`` a flight, (alpha, beta, arc, push, d, s), and its wall. At a point with products f = <w, phi>,
g = <v, phi> a step gives f' = alpha f + beta g, and

- on a geodesic g' = -beta f + alpha g (alpha and beta are the cosine and sine of the arc), d = 0, s = 1;
- on a chord g' = g (the paper's ball keeps its direction when it is put back onto the sphere), d = <w, v>,
  s = the length of v across w;

then the bounce g' - push k(x, x_wall) y_wall. ``arc`` is the length flown on the sphere. Where the direction
is drawn afresh, or rounding errors are cleared away, the step stands under *anchors*: w and v in full.
"""

from __future__ import annotations

import math

import numpy as np

from confml._jit import kernel

# Smallest distance to a wall: a ball that rounding has put onto or behind a wall bounces off at once.
_AT_WALL = 1e-100
# Flights of which one is looked at for the mean square of F.
_EVERY = 8


@kernel
def start_chance(seed):
    """Seed the generator of compiled code (of this thread; numpy's own is another)."""
    np.random.seed(seed)


@kernel
def _normalise(w):
    """Scale w to length 1."""
    total = 0.0
    for i in range(w.size):
        total += w[i] * w[i]
    scale = 1.0 / math.sqrt(total)
    for i in range(w.size):
        w[i] *= scale


@kernel
def _make_tangent(w, v):
    """Take w's part out of v and scale v to length 1, w being of length 1."""
    along = 0.0
    for i in range(w.size):
        along += w[i] * v[i]
    for i in range(w.size):
        v[i] -= along * w[i]
    _normalise(v)


@kernel
def draw_direction(w, v, tangent):
    """An isotropic direction: of the tangent space at w, or of the whole space."""
    for i in range(v.size):
        v[i] = np.random.standard_normal()
    if tangent:
        _make_tangent(w, v)
    else:
        _normalise(v)


@kernel
def draw_arc(refresh):
    """An exponential arc of mean ``refresh``.

    Equal arcs would be a trap: in an orthant, which is about what version space is where the kernel matrix
    is near the identity, every flight is back where it began after an arc of pi.
    """
    return refresh if refresh == np.inf else -refresh * math.log(1.0 - np.random.random())


@kernel
def _multiply(A, w, out):
    """out = A w; A is given as its transpose (r, n), so that the inner loop runs along the walls."""
    out[:] = 0.0
    for k in range(w.size):
        factor, row = w[k], A[k]
        for j in range(out.size):
            out[j] += factor * row[j]


@kernel
def _write_anchor(anchors, count, step, w, v, anchor_step):
    anchor_step[count] = step
    anchors[count, 0, :] = w
    anchors[count, 1, :] = v


@kernel
def _next_wall(F, V, last, guess, flags, words):
    """The wall ahead, the cotangent of the arc to it, and a guess at that of the next flight.

    It is where cot(arc) = -V / F is largest, a root of F cos + V sin in (0, pi); with no other wall, the last
    one again after half a circle. Walls whose cotangent exceeds ``guess`` are flagged, many at a time and
    without dividing, and as a rule only those few are looked at. flags: bytes, n rounded up to a multiple of
    8; words: the same memory, 8 flags each.
    """
    n = F.size
    for j in range(n):
        flags[j] = -V[j] > guess * F[j]
    wall, best, found = -1, guess, 0
    for k in range(words.size):
        if words[k] != 0:
            for j in range(8 * k, min(8 * k + 8, n)):
                if flags[j] != 0 and j != last:
                    found += 1
                    cot = -V[j] / max(F[j], _AT_WALL)
                    if cot > best:
                        wall, best = j, cot
    if wall >= 0:
        return wall, best, 1.1 * guess if found > 2 else guess
    wall, best = last, -1e100
    for j in range(n):
        if j != last:
            cot = -V[j] / max(F[j], _AT_WALL)
            if cot > best:
                wall, best = j, cot
    return wall, best, max(0.6 * guess, 1e-3)


@kernel
def fly_geodesics(
    walls, walls_t, gram, squared, bounces, refresh, renew, w, v, F, V, state, flown, steps, hit, anchors,
    anchor_step, centre, squares,
):  # fmt: skip
    """Fly great circles until ``bounces`` bounces are done or a buffer is full: (steps, anchors, bounces).

    walls (n, r) in range coordinates, walls_t (r, n) the same transposed; gram (n, n) their products;
    squared (n,) their squared lengths. refresh: mean arc between fresh directions (infinity: never); renew:
    bounces after which rounding errors are cleared away. State that goes on from call to call: w, v (r,),
    F, V (n,), state (last wall or -1, bounces since renewal, 1 where an anchor is due), flown (2,) arc since
    the last fresh direction, and the one until the next. Filled: steps, hit, anchors, anchor_step; centre
    (r,) += the integral of w along the way, squares (n + 1,) += sums of F^2 by arc, and of the
    arcs they are taken over.
    """
    n, r = V.size, w.size
    last, since, due = state[0], state[1], state[2]
    away, limit = flown[0], flown[1]
    flags = np.zeros(-(-n // 8) * 8, np.uint8)
    words, guess = flags.view(np.uint64), 1.0
    step, anchor, done = 0, 0, 0
    while done < bounces and step < steps.shape[0] and anchor < anchors.shape[0]:
        if due == 0 and since >= renew:
            _normalise(w)
            _make_tangent(w, v)
            due = 1
        if due == 1:
            _multiply(walls_t, w, F)
            _multiply(walls_t, v, V)
            if last >= 0:
                F[last] = 0.0
            _write_anchor(anchors, anchor, step, w, v, anchor_step)
            anchor += 1
            due, since = 0, 0
        wall, best, guess = _next_wall(F, V, last, guess, flags, words)
        arc = math.atan2(1.0, best)
        scale = 1.0 / math.sqrt(1.0 + best * best)
        c, s = best * scale, scale
        if away + arc >= limit:  # the fresh direction is drawn in mid-flight
            arc = limit - away
            c, s = math.cos(arc), math.sin(arc)
            wall = -1
        push = 0.0
        if wall >= 0:
            push = 2.0 * (c * V[wall] - s * F[wall]) / squared[wall]
        across, normal = gram[max(wall, 0)], walls[max(wall, 0)]
        if step % _EVERY == 0:
            for j in range(n):
                new = c * F[j] + s * V[j]
                squares[j] += arc * (F[j] * F[j] + F[j] * new + new * new)  # F is almost linear on an arc
            squares[n] += 3.0 * arc
        for j in range(n):
            f = F[j]
            F[j] = c * f + s * V[j]
            V[j] = c * V[j] - s * f - push * across[j]
        for i in range(r):
            x = w[i]
            centre[i] += s * x + (1.0 - c) * v[i]
            w[i] = c * x + s * v[i]
            v[i] = c * v[i] - s * x - push * normal[i]
        if wall >= 0:
            F[wall] = 0.0
            away += arc
            since += 1
            done += 1
        else:
            _normalise(w)
            draw_direction(w, v, True)
            away, limit, due = 0.0, draw_arc(refresh), 1
        last = wall
        steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3] = c, s, arc, push
        steps[step, 4], steps[step, 5] = 0.0, 1.0
        hit[step] = wall
        step += 1
    state[0], state[1], state[2] = last, since, due
    flown[0], flown[1] = away, limit
    return step, anchor, done


@kernel
def fly_chords(
    walls, walls_t, gram, squared, bounces, w, v, F, V, state, flown, steps, hit, anchors, anchor_step,
    centre, squares,
):  # fmt: skip
    """Fly as the paper's section 3.2 has it, otherwise as `fly_geodesics`.

    Straight on to the nearest wall, then back onto the sphere; where no wall lies ahead, a random direction
    that points away from the last one. Nothing is drawn otherwise. flown (2,) counts such escapes.
    """
    n, r = V.size, w.size
    last, due = state[0], state[2]
    step, anchor, done = 0, 0, 0
    while done < bounces and step < steps.shape[0] and anchor < anchors.shape[0]:
        if due == 1:
            _multiply(walls_t, w, F)
            _multiply(walls_t, v, V)
            if last >= 0:
                F[last] = 0.0
            _write_anchor(anchors, anchor, step, w, v, anchor_step)
            anchor += 1
            due = 0
        wall, tau = -1, np.inf
        for j in range(n):
            if j != last and V[j] < 0.0:
                time = max(F[j], _AT_WALL) / -V[j]
                if time < tau:
                    wall, tau = j, time
        if wall < 0:
            draw_direction(w, v, False)
            if last >= 0:
                towards = 0.0
                for i in range(r):
                    towards += v[i] * walls[last, i]
                if towards < 0.0:
                    for i in range(r):
                        v[i] = -v[i]
            flown[0] += 1.0
            due = 1
            continue
        d, q = 0.0, 0.0
        for i in range(r):
            d += w[i] * v[i]
            q += v[i] * v[i]
        across_w = math.sqrt(max(q - d * d, 0.0))
        arc = math.atan2(tau * across_w, 1.0 + tau * d)
        scale = 1.0 / math.sqrt(1.0 + 2.0 * tau * d + tau * tau * q)
        alpha, beta = scale, tau * scale
        for j in range(n):
            f = F[j]
            new = alpha * f + beta * V[j]
            squares[j] += arc * (f * f + f * new + new * new)
            F[j] = new
        squares[n] += 3.0 * arc
        # The way on the sphere is the arc from w towards e = (v - d w) / across_w.
        along, side = math.sin(arc), (1.0 - math.cos(arc)) / max(across_w, _AT_WALL)
        for i in range(r):
            x = w[i]
            centre[i] += along * x + side * (v[i] - d * x)
            w[i] = alpha * x + beta * v[i]
        push = 2.0 * V[wall] / squared[wall]
        row, normal = gram[wall], walls[wall]
        for j in range(n):
            V[j] -= push * row[j]
        for i in range(r):
            v[i] -= push * normal[i]
        F[wall] = 0.0
        last = wall
        done += 1
        steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3] = alpha, beta, arc, push
        steps[step, 4], steps[step, 5] = d, across_w
        hit[step] = wall
        step += 1
    state[0], state[2] = last, due
    return step, anchor, done
