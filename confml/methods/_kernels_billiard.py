"""Kernels of the billiard in version space: flying through it, and following the flight at test examples.

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
# Longest arc that one node stands for where a smooth function is integrated.
_NODE_ARC = 0.2
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


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
    (r,) += the integral of w along the way, squares (n,) += those of F^2.
    """
    n, r = V.size, w.size
    cot = np.empty(n)
    last, since, due = state[0], state[1], state[2]
    away, limit = flown[0], flown[1]
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
        # The next wall is where cot(arc) = -V / F is largest: a root of F cos + V sin in (0, pi).
        for j in range(n):
            cot[j] = -V[j] / max(F[j], _AT_WALL)
        if last >= 0:
            cot[last] = -np.inf
        wall, best = last, -1e100  # no other wall: back to the same one after half a circle
        for j in range(n):
            if cot[j] > best:
                wall, best = j, cot[j]
        arc = math.atan2(1.0, best)
        scale = 1.0 / math.sqrt(1.0 + best * best)
        c, s = best * scale, scale
        if away + arc >= limit:  # the fresh direction is drawn in mid-flight
            arc = limit - away
            c, s = math.cos(arc), math.sin(arc)
            wall = -1
        third = arc / 3.0
        for j in range(n):
            f = F[j]
            new = c * f + s * V[j]
            V[j] = c * V[j] - s * f
            squares[j] += third * (f * f + f * new + new * new)  # F is almost linear on a short arc
            F[j] = new
        for i in range(r):
            x = w[i]
            centre[i] += s * x + (1.0 - c) * v[i]
            w[i] = c * x + s * v[i]
            v[i] = c * v[i] - s * x
        push = 0.0
        if wall >= 0:
            push = 2.0 * V[wall] / squared[wall]
            across, normal = gram[wall], walls[wall]
            for j in range(n):
                V[j] -= push * across[j]
            for i in range(r):
                v[i] -= push * normal[i]
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
        third = arc / 3.0
        for j in range(n):
            f = F[j]
            new = alpha * f + beta * V[j]
            squares[j] += third * (f * f + f * new + new * new)
            F[j] = new
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


@kernel
def follow_signs(steps, hit, edges, anchor_step, at_w, at_v, chord, signed, plus):
    """plus (b, m) += the arc of each batch of steps on which <w, phi(x)> > 0.

    edges (b + 1,) first steps of the batches; at_w, at_v (anchors, m) products with the anchors; signed
    (n, m) y_j k(x_j, x). Each arc has one sign change at most, since it is no longer than pi.
    """
    m = signed.shape[1]
    f, g, new_f, new_g = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    anchor = 0
    for batch in range(edges.size - 1):
        total = plus[batch]
        for step in range(edges[batch], edges[batch + 1]):
            while anchor < anchor_step.size and anchor_step[anchor] == step:
                f[:] = at_w[anchor]
                g[:] = at_v[anchor]
                anchor += 1
            alpha, beta, arc, push = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
            gamma, delta = (0.0, 1.0) if chord else (-beta, alpha)
            row = signed[max(hit[step], 0)]
            crossings = 0
            for j in range(m):
                new = alpha * f[j] + beta * g[j]
                new_g[j] = gamma * f[j] + delta * g[j] - push * row[j]
                new_f[j] = new
                total[j] += arc if new > 0.0 else 0.0
                crossings += (f[j] > 0.0) != (new > 0.0)
            if crossings > 0:
                d, s = steps[step, 4], steps[step, 5]
                for j in range(m):
                    if (f[j] > 0.0) != (new_f[j] > 0.0):
                        total[j] += _until_crossing(f[j], g[j], d, s)
            f, new_f = new_f, f
            g, new_g = new_g, g


@kernel
def _until_crossing(f, g, d, s):
    """Arc from f = <w, phi> to where it changes sign on the way along g = <v, phi>; minus it if f <= 0."""
    if f > 0.0:
        return math.atan2(s * f, d * f - g)
    return -math.atan2(-s * f, g - d * f)


@kernel
def follow_residuals(
    steps, hit, edges, anchor_step, at_w, at_v, chord, signed, scale, freedom, plus
):  # fmt: skip
    """plus (b, m) += the integral over each batch's arcs of P(T < scale <w, phi(x)>), T Student's.

    scale (m,): root of the degrees of freedom over the standard deviation of what lies outside the span of
    the walls; freedom: their number. Nodes lie _NODE_ARC apart or closer, shifted from step to step by the
    golden section, so that what one arc errs another makes good. T is taken to a normal variable by
    Wallace's formula, right to 8e-3 with 1 degree of freedom, 2e-3 with 2, 1e-4 from 10 on.
    """
    m = signed.shape[1]
    f, g = np.zeros(m), np.zeros(m)
    factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * math.sqrt(freedom / 2.0)
    anchor = 0
    for batch in range(edges.size - 1):
        total = plus[batch]
        for step in range(edges[batch], edges[batch + 1]):
            while anchor < anchor_step.size and anchor_step[anchor] == step:
                f[:] = at_w[anchor]
                g[:] = at_v[anchor]
                anchor += 1
            alpha, beta, arc, push = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
            d, s = steps[step, 4], steps[step, 5]
            gamma, delta = (0.0, 1.0) if chord else (-beta, alpha)
            row = signed[max(hit[step], 0)]
            nodes = int(math.ceil(arc / _NODE_ARC))
            shift = (step * _GOLDEN) % 1.0
            for node in range(nodes):
                at = arc * (node + shift) / nodes
                c, e = math.cos(at), math.sin(at) / max(s, _AT_WALL)
                c -= e * d
                for j in range(m):
                    t = scale[j] * (c * f[j] + e * g[j])
                    z = factor * math.copysign(math.sqrt(math.log1p(t * t / freedom)), t)
                    total[j] += 0.5 * arc / nodes * math.erfc(-z)
            for j in range(m):
                old, way = f[j], g[j]
                f[j] = alpha * old + beta * way
                g[j] = gamma * old + delta * way - push * row[j]


@kernel
def follow_labels(
    steps, hit, first, stop, anchor_step, at_w, at_v, chord, signed, f, g, words, lengths
):  # fmt: skip
    """Cut the arcs of steps first .. stop at every sign change of m points: (next step, pieces).

    Each piece has one labelling: words (p, m / 64 rounded up), bit j set where point j is positive, and its
    length. It ends early, between two steps, when a step might not fit any more. f, g (m,) go on from call to
    call.
    """
    m = f.size
    when, which = np.empty(m), np.empty(m, np.int64)
    label = np.zeros(words.shape[1], np.uint64)
    anchor = np.searchsorted(anchor_step, first)
    pieces = 0
    for step in range(first, stop):
        if pieces + m + 1 > words.shape[0]:
            return step, pieces
        while anchor < anchor_step.size and anchor_step[anchor] == step:
            f[:] = at_w[anchor]
            g[:] = at_v[anchor]
            anchor += 1
        alpha, beta, arc, push = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        d, s = steps[step, 4], steps[step, 5]
        gamma, delta = (0.0, 1.0) if chord else (-beta, alpha)
        row = signed[max(hit[step], 0)]
        label[:] = 0
        crossings = 0
        for j in range(m):
            old, way = f[j], g[j]
            new = alpha * old + beta * way
            if old > 0.0:
                label[j // 64] |= np.uint64(1) << np.uint64(j % 64)
            if (old > 0.0) != (new > 0.0):
                when[crossings] = min(abs(_until_crossing(old, way, d, s)), arc)
                which[crossings] = j
                crossings += 1
            f[j] = new
            g[j] = gamma * old + delta * way - push * row[j]
        order = np.argsort(when[:crossings])
        gone = 0.0
        for place in range(crossings):
            j = which[order[place]]
            words[pieces] = label
            lengths[pieces] = when[order[place]] - gone
            pieces += 1
            gone = when[order[place]]
            label[j // 64] ^= np.uint64(1) << np.uint64(j % 64)
        words[pieces] = label
        lengths[pieces] = arc - gone
        pieces += 1
    return stop, pieces
