"""Kernels that compute and record a billiard trajectory in version space.

Walls are the signed training points a_j = y_j phi(x_j) in range coordinates, so version space is
{w : |w| = 1, <w, a_j> > 0 for all j}. The ball has a position w and a direction v. The products F = <w, a_j>
and V = <v, a_j> are updated with them: a bounce costs a few passes over vectors and no matrix product.

The trajectory is recorded as *steps*, from which its values at any test example can be computed later. Each
step has one row (alpha, beta, arc, push, d, s) of ``steps`` and the number of the wall that ends it. At a
point with products f = <w, phi> and g = <v, phi> a step gives f' = alpha f + beta g, and

- on a geodesic g' = -beta f + alpha g (alpha and beta are the cosine and sine of the arc), d = 0, s = 1;
- on a chord g' = g (in the paper, projection onto the sphere does not change the direction), d = <w, v>, and
  s is the length of the component of v orthogonal to w;

then g' - push k(x, x_wall) y_wall for the bounce. ``arc`` is the length on the sphere. An *anchor* holds w
and v in full at a step where the direction is drawn anew or rounding errors are removed.
"""

import math

import numpy as np

from confml._jit import kernel

# Smallest distance to a wall: a ball that is on or outside a wall after rounding bounces at once.
_AT_WALL = 1e-100
# The mean square of F is estimated from every eighth step.
_EVERY = 8


@kernel
def seed_rng(seed):
    """Seed the random generator of compiled code, which belongs to the thread and is not NumPy's."""
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
    """Project v onto the tangent space at w, which has length 1, and scale v to length 1."""
    along = 0.0
    for i in range(w.size):
        along += w[i] * v[i]
    for i in range(w.size):
        v[i] -= along * w[i]
    _normalise(v)


@kernel
def draw_direction(w, v, tangent):
    """Draw an isotropic direction v in the tangent space at w, or in the whole space."""
    for i in range(v.size):
        v[i] = np.random.standard_normal()
    if tangent:
        _make_tangent(w, v)
    else:
        _normalise(v)


@kernel
def draw_arc(refresh):
    """Draw an arc from the exponential distribution with mean ``refresh``.

    Arcs of equal length could repeat one path: in an orthant, every trajectory returns to its start after an
    arc of pi, and version space is nearly an orthant if the kernel matrix is near the identity.
    """
    return refresh if refresh == np.inf else -refresh * math.log(1.0 - np.random.random())


@kernel
def _multiply(A, w, out):
    """Compute out = A w. A is given as its transpose (r, n), so the inner loop runs over the walls."""
    out[:] = 0.0
    for k in range(w.size):
        factor, row = w[k], A[k]
        for j in range(out.size):
            out[j] += factor * row[j]


@kernel
def _write_anchor(anchors, count, step, w, v, anchor_step):
    anchor_step[count] = step
    for k in range(w.size):
        anchors[count, 0, k], anchors[count, 1, k] = w[k], v[k]


@kernel
def _next_wall(F, V, last, guess, flags, words):
    """Return the next wall, the cotangent of the arc to it, and a guess of the cotangent of the next step.

    The next wall has the largest cot(arc) = -V / F, where the arc is the root of F cos + V sin in (0, pi). If
    there is no other wall, it is the last wall again, after half a circle. Walls whose cotangent exceeds
    ``guess`` are flagged in one vectorised pass without divisions; usually only these few are compared.
    flags: bytes, n rounded up to a multiple of 8. words: the same memory with 8 flags per word.
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
def trace_geodesics(version_space, bounces, refresh, renew, ball, record):
    """Follow great circles for ``bounces`` bounces, or until a buffer is full.

    version_space: walls (n, r) in range coordinates; walls_t (r, n), their transpose; gram (n, n), their
    products; squared (n,), their squared lengths. refresh: mean arc between random directions (infinity:
    never). renew: number of bounces after which rounding errors are removed.

    ball, the state between calls: w, v (r,); F, V (n,); state (last wall or -1, bounces since rounding errors
    were removed, 1 if an anchor must be written); travelled (2,), the arc since the last random direction and
    the arc between the last and the next one.

    record, filled: steps, hit, anchors, anchor_step. The integral of w along the trajectory is added to
    centre (r,), the integrals of F^2 and the length of the arcs that they cover to squares (n + 1,). Return
    the numbers of steps, anchors and bounces.
    """
    walls, walls_t, gram, squared = version_space
    w, v, F, V, state, travelled = ball
    steps, hit, anchors, anchor_step, centre, squares = record
    n, r = V.size, w.size
    last, since, due = state[0], state[1], state[2]
    away, limit = travelled[0], travelled[1]
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
        if away + arc >= limit:  # the new direction is drawn before the next wall
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
    travelled[0], travelled[1] = away, limit
    return step, anchor, done


@kernel
def trace_chords(version_space, bounces, ball, record):
    """Follow chords as in section 3.2 of the paper; arguments and results are those of `trace_geodesics`.

    The ball moves in a straight line to the nearest wall and is then projected onto the sphere. If there is
    no wall in its direction (an escape), a random direction away from the last wall is drawn; nothing else is
    random. travelled (2,): the number of escapes.
    """
    walls, walls_t, gram, squared = version_space
    w, v, F, V, state, travelled = ball
    steps, hit, anchors, anchor_step, centre, squares = record
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
            travelled[0] += 1.0
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
        # The projection onto the sphere is the arc from w in the direction e = (v - d w) / across_w.
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
