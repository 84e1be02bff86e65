"""Kernel that computes and records a billiard trajectory in version space (Graepel et al., section 3.2).

Walls are the signed training points a_j = y_j phi(x_j) in range coordinates, so version space is
{w : |w| = 1, <w, a_j> > 0 for all j}. The ball has a position w and a direction v. The products F = <w, a_j>
and V = <v, a_j> are updated with them: a bounce costs a few passes over vectors and no matrix product.

The trajectory is recorded as *steps*, from which its values at any test example can be computed later. Each
step has one row (alpha, beta, arc, push, d, s) of ``steps`` and the number of the wall that ends it, -1 if
none does. At a point with products f = <w, phi> and g = <v, phi> a step gives f' = alpha f + beta g, and

- on a geodesic g' = -beta f + alpha g (alpha and beta are the cosine and sine of the arc), d = 0, s = 1;
- on a chord g' = g (in the paper, projection onto the sphere does not change the direction), d = <w, v>, and
  s is the length of the component of v orthogonal to w;

then g' - push k(x, x_wall) y_wall for the bounce (step 3; there the walls have length 1). ``arc`` is the
length on the sphere. An *anchor* holds w and v in full at a step where the direction is drawn anew or
rounding errors are removed.
"""

import math

import numpy as np

from confml._jit import kernel

# Smallest distance to a wall: a ball that is on or outside a wall after rounding bounces at once.
_AT_WALL = 1e-100
# The mean square of F along geodesics is estimated from every eighth step of a batch or buffer.
_EVERY = 8
# Bounces after which rounding errors of a geodesic are removed.
_RENEW = 1000


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
def _draw_direction(w, v, tangent):
    """Draw an isotropic direction v in the tangent space at w, or in the whole space."""
    for i in range(v.size):
        v[i] = np.random.standard_normal()
    if tangent:
        _make_tangent(w, v)
    else:
        _normalise(v)


@kernel
def _draw_arc(refresh):
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
def _wall_of_circle(F, V, last):
    """Return the next wall on the great circle and the cotangent of the arc to it.

    The arc is the root of F cos + V sin in (0, pi), so the next wall has the largest cot(arc) = -V / F. If
    there is no other wall, it is the last wall again, after half a circle.
    """
    wall, best = last, -1e100
    for j in range(F.size):
        cot = -V[j] / max(F[j], _AT_WALL)
        if cot > best and j != last:
            wall, best = j, cot
    return wall, best


@kernel
def _wall_of_line(F, V, last):
    """Return the next wall on the straight line w + tau v, and tau; -1 if there is none (step 2)."""
    wall, tau = -1, np.inf
    for j in range(F.size):
        if j != last and V[j] < 0.0:
            time = max(F[j], _AT_WALL) / -V[j]
            if time < tau:
                wall, tau = j, time
    return wall, tau


@kernel
def _doubled(array):
    """Return the array extended to twice its length."""
    return np.concatenate((array, np.empty_like(array)))


@kernel
def trace(version_space, chord, batches, refresh, seed):
    """Follow the billiard for ``batches`` (b,) bounces, of which the first batch is the burn-in.

    A geodesic is a great circle that ends at a wall, or after a random arc with mean ``refresh`` (infinity:
    never), where an isotropic direction is drawn. A chord is a straight line to the nearest wall, after which
    the ball is projected onto the sphere. If no wall is ahead (an escape), a random direction away from the
    last wall is drawn; nothing else of the chords is random.

    version_space: walls (n, r) in range coordinates; walls_t (r, n), their transpose; gram (n, n), their
    products; squared (n,), their squared lengths; start (r,).

    Return steps (s, 6), hit (s,), anchors (a, 2, r), anchor_step (a,) and edges (b + 1,), the first step of
    each batch. Then, for each batch but the burn-in, the integral of w (b - 1, r) and the length (b - 1,);
    for each batch the integrals of F^2 with the length of the arcs that they cover (b, n + 1); and the number
    of escapes.
    """
    walls, walls_t, gram, squared, start = version_space
    n, r = walls.shape
    size = int(1.05 * batches.sum()) + 64
    steps, hit = np.empty((size, 6)), np.empty(size, np.int32)
    anchors, anchor_step = np.empty((64, 2, r)), np.empty(64, np.int64)
    edges = np.zeros(batches.size + 1, np.int64)
    centres, arcs = np.zeros((batches.size, r)), np.zeros(batches.size)
    squares = np.zeros((batches.size, n + 1))
    np.random.seed(seed)  # the generator of compiled code belongs to the thread and is not NumPy's
    w, v, F, V = start.copy(), np.empty(r), np.empty(n), np.empty(n)
    tangent = not chord
    _draw_direction(w, v, tangent)
    away, limit = 0.0, np.inf if chord else _draw_arc(refresh)  # arcs since and to a random direction
    last, since, due = np.int64(-1), 0, True  # last wall, bounces since the last anchor, whether one is due
    step, anchor, escapes = 0, 0, 0
    for batch in range(batches.size):
        centre, square = centres[batch], squares[batch]
        begun, done = step, 0
        while done < batches[batch]:
            if step == steps.shape[0]:
                steps, hit, begun = _doubled(steps), _doubled(hit), step
            if anchor == anchor_step.size:
                anchors, anchor_step, begun = _doubled(anchors), _doubled(anchor_step), step
            if not chord and not due and since >= _RENEW:
                _normalise(w)
                _make_tangent(w, v)
                due = True
            if due:
                _multiply(walls_t, w, F)
                _multiply(walls_t, v, V)
                if last >= 0:
                    F[last] = 0.0
                anchors[anchor, 0], anchors[anchor, 1], anchor_step[anchor] = w, v, step
                anchor += 1
                due, since = False, 0
            if chord:
                wall, tau = _wall_of_line(F, V, last)
                if wall < 0:
                    _draw_direction(w, v, tangent)
                    towards = 0.0
                    for i in range(r if last >= 0 else 0):
                        towards += v[i] * walls[last, i]
                    if towards < 0.0:
                        v *= -1.0
                    escapes += 1
                    due = True
                    continue
                d, q = 0.0, 0.0
                for i in range(r):
                    d += w[i] * v[i]
                    q += v[i] * v[i]
                s = math.sqrt(max(q - d * d, 0.0))
                arc = math.atan2(tau * s, 1.0 + tau * d)
                alpha = 1.0 / math.sqrt(1.0 + 2.0 * tau * d + tau * tau * q)
                beta, gamma, delta = tau * alpha, 0.0, 1.0
                # The projection onto the sphere is the arc from w in the direction e = (v - d w) / s.
                along, side = math.sin(arc), (1.0 - math.cos(arc)) / max(s, _AT_WALL)
            else:
                wall, cot = _wall_of_circle(F, V, last)
                arc = math.atan2(1.0, cot)
                beta = 1.0 / math.sqrt(1.0 + cot * cot)
                alpha = cot * beta
                if away + arc >= limit:  # the new direction is drawn before the next wall
                    wall, arc = -1, limit - away
                    alpha, beta = math.cos(arc), math.sin(arc)
                d, s, gamma, delta = 0.0, 1.0, -beta, alpha
                along, side = beta, 1.0 - alpha
            push = 0.0
            if wall >= 0:
                push = 2.0 * (delta * V[wall] + gamma * F[wall]) / squared[wall]
            if chord or (step - begun) % _EVERY == 0:
                for j in range(n):
                    new = alpha * F[j] + beta * V[j]
                    square[j] += arc * (F[j] * F[j] + F[j] * new + new * new)  # F is almost linear on an arc
                square[n] += 3.0 * arc
            across, normal = gram[max(wall, 0)], walls[max(wall, 0)]
            for j in range(n):
                f = F[j]
                F[j] = alpha * f + beta * V[j]
                V[j] = delta * V[j] + gamma * f - push * across[j]
            for i in range(r):
                x = w[i]
                centre[i] += along * x + side * (v[i] - d * x)
                w[i] = alpha * x + beta * v[i]
                v[i] = delta * v[i] + gamma * x - push * normal[i]
            if wall >= 0:
                F[wall] = 0.0
                away += arc
                since += 1
                done += 1
            else:
                _normalise(w)
                _draw_direction(w, v, tangent)
                away, limit, due = 0.0, _draw_arc(refresh), True
            arcs[batch] += arc
            row = steps[step]
            row[0], row[1], row[2], row[3], row[4], row[5] = alpha, beta, arc, push, d, s
            hit[step], last = wall, wall
            step += 1
        edges[batch + 1] = step
    return (
        steps[:step].copy(),
        hit[:step].copy(),
        anchors[:anchor].copy(),
        anchor_step[:anchor].copy(),
        edges,
        centres[1:].copy(),
        arcs[1:].copy(),
        squares,
        escapes,
    )
