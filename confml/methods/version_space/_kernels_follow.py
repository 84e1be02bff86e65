"""Kernels that evaluate a trajectory recorded by `_kernels_billiard` at test examples."""

import math
from typing import NamedTuple

import numpy as np

from confml._jit import kernel

# Quadrature of a smooth function along a batch: largest arc per node and smallest number of nodes. Draws are
# nearly independent after an arc of 1, so the quadrature error is negligible.
_NODE_ARC, _LEAST_NODES = 0.05, 32
_SMALLEST = 1e-100  # replaces a divisor of 0


class Recorded(NamedTuple):
    """A trajectory and m points: chord, whether steps are straight, signed (n, m): y_j k(x_j, x), steps and
    hit of the recording, edges (b + 1,), the first steps of the batches, anchor_step and at_w, at_v (anchors,
    m), the products with the anchors."""

    chord: bool
    signed: np.ndarray
    steps: np.ndarray
    hit: np.ndarray
    edges: np.ndarray
    anchor_step: np.ndarray
    at_w: np.ndarray
    at_v: np.ndarray


@kernel
def _at_anchor(recorded, anchor, step, f, g):
    """Copy the products of an anchor at this step, if there is one, to f and g (m,); return the next one."""
    while anchor < recorded.anchor_step.size and recorded.anchor_step[anchor] == step:
        f[:], g[:] = recorded.at_w[anchor], recorded.at_v[anchor]
        anchor += 1
    return anchor


@kernel
def _advance(recorded, step, f, g, new_f, new_g):
    """Compute f = <w, phi> and g = <v, phi> (m,) at the end of a step and after its bounce."""
    row = recorded.steps[step]
    alpha, beta, push = row[0], row[1], row[3]
    gamma, delta = (0.0, 1.0) if recorded.chord else (-beta, alpha)
    across = recorded.signed[max(recorded.hit[step], 0)]
    for j in range(f.size):
        old, way = f[j], g[j]
        new_f[j] = alpha * old + beta * way
        new_g[j] = gamma * old + delta * way - push * across[j]


@kernel
def _until_crossing(f, g, d, s):
    """Return the arc from w to the sign change of <w, phi>, negated if f <= 0; f = <w, phi>, g = <v, phi>."""
    if f > 0.0:
        return math.atan2(s * f, d * f - g)
    return -math.atan2(-s * f, g - d * f)


@kernel
def follow_signs(recorded, plus):
    """Add to plus (b, m) the length of each batch of steps on which <w, phi(x)> > 0.

    An arc is at most pi long, so it has at most one sign change.
    """
    m = plus.shape[1]
    f, g, new_f, new_g = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    anchor = np.int64(0)
    for batch in range(recorded.edges.size - 1):
        total = plus[batch]
        for step in range(recorded.edges[batch], recorded.edges[batch + 1]):
            anchor = _at_anchor(recorded, anchor, step, f, g)
            _advance(recorded, step, f, g, new_f, new_g)
            arc, d, s = recorded.steps[step, 2], recorded.steps[step, 4], recorded.steps[step, 5]
            for j in range(m):
                total[j] += arc if new_f[j] > 0.0 else 0.0
            for j in range(m):
                if (f[j] > 0.0) != (new_f[j] > 0.0):
                    total[j] += _until_crossing(f[j], g[j], d, s)
            f, g, new_f, new_g = new_f, new_g, f, g


@kernel
def student_cdf(t, freedom):
    """Return P(T < t) of Student's distribution with an integer number of degrees of freedom, within 1e-4.

    Up to 9 degrees of freedom the finite series is used (Abramowitz and Stegun 26.7.3 and 26.7.4), above that
    Wallace's transformation to a normal variable.
    """
    if freedom > 9:
        factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * math.sqrt(freedom / 2.0)
        return 0.5 * math.erfc(-factor * math.copysign(math.sqrt(math.log1p(t * t / freedom)), t))
    squared_cosine = freedom / (freedom + t * t)
    odd = freedom % 2
    total, term = 0.0, math.sqrt(squared_cosine) if odd else 1.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (k - 1.0) / k * squared_cosine
    total *= t / math.sqrt(freedom + t * t)
    if odd:
        total = 2.0 / math.pi * (math.atan(t / math.sqrt(freedom)) + total)
    return 0.5 + 0.5 * total


@kernel
def follow_residuals(recorded, scale, freedom, plus):
    """Add to plus (b, m) the integral of P(T < scale <w, phi(x)>) over each batch, T Student-distributed.

    freedom: degrees of freedom of T. scale (m,): sqrt(freedom) divided by the standard deviation of the part
    of phi(x) outside the span of the walls. The quadrature nodes are the midpoints of equal parts of a batch.
    """
    m = plus.shape[1]
    f, g = np.zeros(m), np.zeros(m)
    anchor = np.int64(0)
    for batch in range(recorded.edges.size - 1):
        first, stop = recorded.edges[batch], recorded.edges[batch + 1]
        length = 0.0
        for step in range(first, stop):
            length += recorded.steps[step, 2]
        nodes = max(int(math.ceil(length / _NODE_ARC)), _LEAST_NODES)
        part = length / nodes
        gone, node = 0.0, 0
        for step in range(first, stop):
            anchor = _at_anchor(recorded, anchor, step, f, g)
            arc, d, s = recorded.steps[step, 2], recorded.steps[step, 4], recorded.steps[step, 5]
            while node < nodes and (node + 0.5) * part < gone + arc:
                at = (node + 0.5) * part - gone
                c, e = math.cos(at), math.sin(at) / max(s, _SMALLEST)
                c -= e * d
                for j in range(m):
                    plus[batch, j] += part * student_cdf(scale[j] * (c * f[j] + e * g[j]), freedom)
                node += 1
            gone += arc
            _advance(recorded, step, f, g, f, g)


@kernel
def follow_labels(recorded, first):
    """Cut the arcs from step ``first`` on at every sign change of m points.

    Return labels (p, m) bool, whether each point is positive on each piece, and the lengths (p,) of the
    pieces.
    """
    m = recorded.signed.shape[1]
    f, g, new_f, new_g = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    size = 2 * recorded.hit.size + m + 1
    labels, lengths = np.empty((size, m), np.bool_), np.empty(size)
    when = np.empty(m)
    anchor, pieces = np.int64(0), 0
    for step in range(recorded.hit.size):
        anchor = _at_anchor(recorded, anchor, step, f, g)
        _advance(recorded, step, f, g, new_f, new_g)
        if step >= first:
            if pieces + m + 1 > lengths.size:
                labels = np.concatenate((labels, np.empty_like(labels)))
                lengths = np.concatenate((lengths, np.empty_like(lengths)))
            arc, d, s = recorded.steps[step, 2], recorded.steps[step, 4], recorded.steps[step, 5]
            for j in range(m):
                when[j] = np.inf
                if (f[j] > 0.0) != (new_f[j] > 0.0):
                    when[j] = min(abs(_until_crossing(f[j], g[j], d, s)), arc)
            order = np.argsort(when)
            gone = 0.0
            labels[pieces] = f > 0.0
            for j in order:
                if when[j] == np.inf:
                    break
                lengths[pieces], gone = when[j] - gone, when[j]
                labels[pieces + 1] = labels[pieces]
                labels[pieces + 1, j] = not labels[pieces, j]
                pieces += 1
            lengths[pieces] = arc - gone
            pieces += 1
        f, g, new_f, new_g = new_f, new_g, f, g
    return labels[:pieces], lengths[:pieces]
