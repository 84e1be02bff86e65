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
    chord, signed, steps, hit, edges, anchor_step, at_w, at_v = recorded
    m = signed.shape[1]
    f, g, new_f, new_g = np.zeros(m), np.zeros(m), np.empty(m), np.empty(m)
    flags = np.zeros(-(-m // 8) * 8, np.uint8)  # points that change sign, 8 per word
    words = flags.view(np.uint64)
    anchor = 0
    for batch in range(edges.size - 1):
        total = plus[batch]
        for step in range(edges[batch], edges[batch + 1]):
            while anchor < anchor_step.size and anchor_step[anchor] == step:
                for j in range(m):
                    f[j], g[j] = at_w[anchor, j], at_v[anchor, j]
                anchor += 1
            alpha, beta, arc, push = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
            gamma, delta = (0.0, 1.0) if chord else (-beta, alpha)
            row = signed[max(hit[step], 0)]
            for j in range(m):
                new = alpha * f[j] + beta * g[j]
                new_g[j] = gamma * f[j] + delta * g[j] - push * row[j]
                new_f[j] = new
                total[j] += arc if new > 0.0 else 0.0
                flags[j] = (f[j] > 0.0) != (new > 0.0)
            d, s = steps[step, 4], steps[step, 5]
            for k in range(words.size):
                if words[k] != 0:
                    for j in range(8 * k, min(8 * k + 8, m)):
                        if flags[j] != 0:
                            total[j] += _until_crossing(f[j], g[j], d, s)
            f, new_f = new_f, f
            g, new_g = new_g, g


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
    chord, signed, steps, hit, edges, anchor_step, at_w, at_v = recorded
    m = signed.shape[1]
    f, g = np.zeros(m), np.zeros(m)
    anchor = 0
    for batch in range(edges.size - 1):
        total = plus[batch]
        length = 0.0
        for step in range(edges[batch], edges[batch + 1]):
            length += steps[step, 2]
        nodes = max(int(math.ceil(length / _NODE_ARC)), _LEAST_NODES)
        part = length / nodes
        gone, node = 0.0, 0
        for step in range(edges[batch], edges[batch + 1]):
            while anchor < anchor_step.size and anchor_step[anchor] == step:
                for j in range(m):
                    f[j], g[j] = at_w[anchor, j], at_v[anchor, j]
                anchor += 1
            alpha, beta, arc, push = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
            d, s = steps[step, 4], steps[step, 5]
            gamma, delta = (0.0, 1.0) if chord else (-beta, alpha)
            row = signed[max(hit[step], 0)]
            while node < nodes and (node + 0.5) * part < gone + arc:
                at = (node + 0.5) * part - gone
                c, e = math.cos(at), math.sin(at) / max(s, _SMALLEST)
                c -= e * d
                for j in range(m):
                    total[j] += part * student_cdf(scale[j] * (c * f[j] + e * g[j]), freedom)
                node += 1
            gone += arc
            for j in range(m):
                old, way = f[j], g[j]
                f[j] = alpha * old + beta * way
                g[j] = gamma * old + delta * way - push * row[j]


@kernel
def follow_labels(recorded, first, stop, f, g, words, lengths):
    """Cut the arcs of the steps first .. stop at every sign change of m points; return (next step, pieces).

    Each piece has one labelling and one length. words (p, ceil(m / 64)): bit j is set if point j is positive.
    The function returns before ``stop`` if the next step might not fit into the buffers. f, g (m,) are the
    state between calls.
    """
    chord, signed, steps, hit, _, anchor_step, at_w, at_v = recorded
    m = f.size
    when, which = np.empty(m), np.empty(m, np.int64)
    label = np.zeros(words.shape[1], np.uint64)
    anchor = np.searchsorted(anchor_step, first)
    pieces = 0
    for step in range(first, stop):
        if pieces + m + 1 > words.shape[0]:
            return step, pieces
        while anchor < anchor_step.size and anchor_step[anchor] == step:
            for j in range(m):
                f[j], g[j] = at_w[anchor, j], at_v[anchor, j]
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
            for word in range(label.size):
                words[pieces, word] = label[word]
            lengths[pieces] = when[order[place]] - gone
            pieces += 1
            gone = when[order[place]]
            label[j // 64] ^= np.uint64(1) << np.uint64(j % 64)
        for word in range(label.size):
            words[pieces, word] = label[word]
        lengths[pieces] = arc - gone
        pieces += 1
    return stop, pieces
