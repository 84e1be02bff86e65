"""Kernels of adaptive Bayesian k-NN: class counts in a metric M = Q Lambda Q^T, and the chain over metrics.

Distances in the metric M are Euclidean distances between the rows of Z = X Q Lambda^(1/2). Matrix products
are loops in a fixed order, so equal rows of X give equal rows of Z to the last bit. BLAS does not guarantee
this, and ties depend on equal distances.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.bayes_knn._kernels import TIE, select
from confml.methods.bayes_knn._kernels_mcmc import TARGET as BETA_TARGET
from confml.methods.bayes_knn._kernels_mcmc import propose_k_beta
from confml.neighbours.distances import squared_distances_to_columns

TARGET = 0.25  # target acceptance rate of metric moves; burn-in tunes their step
SCALE_RATIO = 4.0  # step in log lambda divided by step in angle
K_MOVES = 0.25  # fraction of the steps that move (k, beta); the others move the metric, and then beta
K_JUMPS = 0.1  # fraction of the (k, beta) moves that draw k uniformly
SLACK = 1.1  # small moves usually change the k-th distance by a smaller factor


@kernel
def transform_columns(columns, transform, out):
    """Compute out (r, n) = transform^T (r, d) columns (d, n), the examples in the new metric."""
    d, n = columns.shape
    for row in range(transform.shape[1]):
        target = out[row]
        for j in range(n):
            target[j] = 0.0
        for attribute in range(d):
            factor = transform[attribute, row]
            source = columns[attribute]
            for j in range(n):
                target[j] += factor * source[j]


@kernel
def _add_squares(value, column, out):
    """Add (value - column)^2 to out (n,)."""
    for j in range(out.size):
        difference = value - column[j]
        out[j] += difference * difference


@kernel
def _add_four_squares(a, b, c, d, column_a, column_b, column_c, column_d, out):
    """Add the squares of four features in order: the same sums with a quarter of the memory traffic."""
    for j in range(out.size):
        difference = a - column_a[j]
        total = out[j] + difference * difference
        difference = b - column_b[j]
        total += difference * difference
        difference = c - column_c[j]
        total += difference * difference
        difference = d - column_d[j]
        out[j] = total + difference * difference


@kernel
def pair_distances(z, out):
    """Fill out (n, n) with squared distances between the columns of z (d, n); infinity on the diagonal."""
    d, n = z.shape
    for i in range(n):
        behind = i + 1
        row = out[i, behind:]
        row[:] = 0.0
        a = 0
        while a + 4 <= d:
            _add_four_squares(
                z[a, i], z[a + 1, i], z[a + 2, i], z[a + 3, i],
                z[a, behind:], z[a + 1, behind:], z[a + 2, behind:], z[a + 3, behind:], row,
            )  # fmt: skip
            a += 4
        while a < d:
            _add_squares(z[a, i], z[a, behind:], row)
            a += 1
        out[i, i] = np.inf
    block = 32
    for top in range(0, n, block):  # copy the upper triangle to the lower one in cache-sized blocks
        for left in range(top, n, block):
            for i in range(top, min(top + block, n)):
                for j in range(max(left, i + 1), min(left + block, n)):
                    out[j, i] = out[i, j]


@kernel
def counts_among_nearest(distances, k, codes, by_index, warm, counts, values, scratch, chosen):
    """Fill counts (c,) with the classes among the k nearest, from distances (n,); return the k-th distance.

    warm: guess of the k-th distance. It does not change the result; a guess that is not smaller saves time.
    Rows at equal distances share the last place, or are taken in order (by_index). values, scratch, chosen:
    work space of n + 1.
    """
    n = distances.size
    size = 0
    for _ in range(4):
        if warm == np.inf or size >= k:
            break
        size = 0
        for j in range(n):  # branch-free, about twice as fast
            values[size] = distances[j]
            chosen[size] = j
            size += distances[j] <= warm
        if size < k:
            warm *= 1.25
    if size < k:
        size = n
        for j in range(n):
            values[j] = distances[j]
            chosen[j] = j
    for s in range(size):
        scratch[s] = values[s]
    kth = select(scratch, size, k - 1)
    low = kth - TIE * kth
    high = kth + TIE * kth
    if high > warm and size < n:
        # Distances equal to the k-th may be slightly larger than the guess.
        size = n
        for j in range(n):
            values[j] = distances[j]
            chosen[j] = j
    for j in range(counts.size):
        counts[j] = 0.0
    below = 0
    equal = 0
    for s in range(size):
        if values[s] < low:
            below += 1
            counts[codes[chosen[s]]] += 1.0
        elif values[s] <= high:
            equal += 1
    free = k - below
    if equal <= free or by_index:
        for s in range(size):
            if low <= values[s] <= high and free > 0:
                counts[codes[chosen[s]]] += 1.0
                free -= 1
    else:
        for s in range(size):
            if low <= values[s] <= high:
                counts[codes[chosen[s]]] += free / equal
    return kth


@kernel
def all_counts_among_nearest(distances, k, codes, by_index, warm, slack, counts, kth):
    """Apply `counts_among_nearest` to each row of distances (m, n); fill counts (m, c) and kth (m,).

    warm (m,): guesses of the k-th distances, to be multiplied by ``slack``.
    """
    m, n = distances.shape
    values, scratch, chosen = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    for i in range(m):
        kth[i] = counts_among_nearest(
            distances[i], k, codes, by_index, warm[i] * slack, counts[i], values, scratch, chosen
        )


@kernel
def counts_log_likelihood(k, beta, counts, codes):
    """Return log L(D | beta, k) from the class counts (n, c) among the k nearest of each training example."""
    n, classes = counts.shape
    total = 0.0
    for i in range(n):
        own = counts[i, codes[i]]
        if own == k:
            total -= np.log1p((classes - 1.0) * np.exp(-beta))
            continue
        top = 0.0
        for j in range(classes):
            top = max(top, counts[i, j] - own)
        sum_of_powers = 0.0
        for j in range(classes):
            sum_of_powers += np.exp(beta * (counts[i, j] - own - top) / k)
        total -= beta * top / k + np.log(sum_of_powers)
    return total


@kernel
def run_adaptive_chain(training, depth, scale, burn_in, thin, state, distances, random, output):
    """Run the improved sampler over (M, k, beta) for len(uniforms) steps from the given state.

    A step proposes either (k, beta) by the mixture of `propose_k_beta`, or a metric and then beta alone. A
    metric move rotates Q in one random plane and changes one log lambda. Prior: Q is uniform, and the lambdas
    are independent Exp(1), so their fractions of the sum are uniform on the simplex.

    training: columns (d, n), codes (n,), and whether equal distances are ordered by index. state: numbers
    (6,), k, beta, log likelihood, metric step, beta step, steps done; rotation (d, d), Q; logs (d,), log
    lambda; counts (2, n, c) and kth (2, n), of the current state and of a proposal. distances: current and
    other (n, n). random: uniforms (T, 8), normals (T, 3). output: kept (s, 3 + d), k,
    beta, log posterior density and the fractions of the trace of M by feature; kept_transforms (s, d, d),
    Q Lambda^(1/2); accepted (3, 2), accepted and proposed metric moves, small (k, beta) steps and (k, beta)
    jumps after burn-in.
    """
    columns, codes, by_index = training
    numbers, rotation, logs, counts, kth = state
    current, other = distances
    uniforms, normals = random
    kept, kept_transforms, accepted = output
    d, n = columns.shape
    k, beta, height = int(numbers[0]), numbers[1], numbers[2]
    metric_step, beta_step, done = numbers[3], numbers[4], int(numbers[5])
    z = np.empty((d, n))
    transform = np.empty((d, d))
    turned = np.empty((2, d))
    everything = np.full(n, np.inf)
    _fill_transform(rotation, logs, transform)
    transform_columns(columns, transform, z)
    if done == 0:
        pair_distances(z, current)
        all_counts_among_nearest(current, k, codes, by_index, everything, 1.0, counts[0], kth[0])
        height = counts_log_likelihood(k, beta, counts[0], codes)
    for t in range(uniforms.shape[0]):
        draw, normal = uniforms[t], normals[t]
        done += 1
        burning = done <= burn_in
        gain = done**-0.6  # tuning decreases with the step number and ends with burn-in
        new_k, new_beta, ratio, small, slot = k, abs(beta + beta_step * normal[2]), 0.0, True, 0
        if draw[7] < K_MOVES:
            new_k, new_beta, ratio, small = propose_k_beta(
                k, beta, depth, False, K_JUMPS, beta_step, draw[4:6], normal[2:3]
            )
            if new_k != k:
                slot = 1
                # Guess of the new k-th distances: squared distances usually grow more slowly than sqrt(k).
                slack = SLACK * np.sqrt(new_k / k) if new_k > k else 1.0
                all_counts_among_nearest(current, new_k, codes, by_index, kth[0], slack, counts[1], kth[1])
        else:
            first, second = 0, 0
            cosine, sine = 1.0, 0.0
            if d > 1:
                first = min(d - 1, int(draw[0] * d))
                second = (first + 1 + min(d - 2, int(draw[1] * (d - 1)))) % d
                angle = metric_step * normal[0]
                cosine, sine = np.cos(angle), np.sin(angle)
            moved = min(d - 1, int(draw[2] * d))
            before = logs[moved]
            logs[moved] = before + SCALE_RATIO * metric_step * normal[1]
            for a in range(d):
                turned[0, a], turned[1, a] = rotation[a, first], rotation[a, second]
                if d > 1:
                    rotation[a, first] = cosine * turned[0, a] + sine * turned[1, a]
                    rotation[a, second] = cosine * turned[1, a] - sine * turned[0, a]
            _fill_transform(rotation, logs, transform)
            transform_columns(columns, transform, z)
            pair_distances(z, other)
            all_counts_among_nearest(other, k, codes, by_index, kth[0], SLACK, counts[1], kth[1])
            proposed = counts_log_likelihood(k, beta, counts[1], codes)
            # Log density of log lambda under the Exp(1) prior of lambda: log lambda - lambda.
            prior = logs[moved] - np.exp(logs[moved]) - before + np.exp(before)
            taken = draw[3] < np.exp(min(0.0, proposed - height + prior))
            if taken:
                height = proposed
                current, other = other, current
                _keep_proposed(counts, kth)
            else:
                logs[moved] = before
                for a in range(d):
                    rotation[a, first], rotation[a, second] = turned[0, a], turned[1, a]
            if burning:
                metric_step *= np.exp(gain * ((1.0 if taken else 0.0) - TARGET))
                metric_step = min(max(metric_step, 1e-4), 1.0)
            else:
                accepted[0, 1] += 1
                accepted[0, 0] += taken
        proposed = counts_log_likelihood(new_k, new_beta, counts[slot], codes)
        change = proposed - height - 0.5 * (new_beta**2 - beta**2) / scale**2
        taken = draw[6] < np.exp(min(0.0, change + ratio))
        if taken:
            k, beta, height = new_k, new_beta, proposed
            if slot == 1:
                _keep_proposed(counts, kth)
        if burning:
            if small:
                beta_step *= np.exp(gain * ((1.0 if taken else 0.0) - BETA_TARGET))
                beta_step = min(max(beta_step, 1e-3), 1e3)
            continue
        row = 1 if small else 2
        accepted[row, 1] += 1
        accepted[row, 0] += taken
        if (done - burn_in) % thin == 0:
            place = (done - burn_in) // thin - 1
            if place < kept.shape[0]:
                _fill_transform(rotation, logs, transform)
                kept[place, 0], kept[place, 1] = k, beta
                density = height - 0.5 * (beta / scale) ** 2
                trace = 0.0
                for a in range(d):
                    density -= np.exp(logs[a])
                    diagonal = 0.0
                    for b in range(d):
                        kept_transforms[place, a, b] = transform[a, b]
                        diagonal += transform[a, b] ** 2
                    kept[place, 3 + a] = diagonal
                    trace += diagonal
                for a in range(d):
                    kept[place, 3 + a] /= trace
                kept[place, 2] = density
    numbers[0], numbers[1], numbers[2] = k, beta, height
    numbers[3], numbers[4], numbers[5] = metric_step, beta_step, done
    return current, other


@kernel
def _keep_proposed(counts, kth):
    """Copy the second counts (n, c) and k-th distances (n,) to the first."""
    for i in range(counts.shape[1]):
        kth[0, i] = kth[1, i]
        for j in range(counts.shape[2]):
            counts[0, i, j] = counts[1, i, j]


@kernel
def _fill_transform(rotation, logs, transform):
    """Fill transform (d, d) with Q Lambda^(1/2)."""
    d = logs.size
    for b in range(d):
        factor = np.exp(0.5 * logs[b])
        for a in range(d):
            transform[a, b] = rotation[a, b] * factor


@kernel
def metric_log_likelihood(columns, transform, k, beta, codes, by_index, z, distances, warm, counts, kth):
    """Return log L(D | beta, k, M) for M = transform transform^T; the other arrays are work space."""
    transform_columns(columns, transform, z)
    pair_distances(z, distances)
    all_counts_among_nearest(distances, k, codes, by_index, warm, SLACK, counts, kth)
    return counts_log_likelihood(k, beta, counts, codes)


@kernel
def predict_from_metrics(columns, codes, classes, queries, ks, betas, transforms, by_index, threshold):
    """Return mean, variance and envelope (m, c each) of m test examples over the s kept states of one chain.

    A fourth array (m, c) has the fraction of the states with a class probability above ``threshold``.
    columns (d, n): training examples. queries (d, m): test examples. transforms: (s, d, d).
    """
    d, n = columns.shape
    m = queries.shape[1]
    mean = np.zeros((m, classes))
    spread = np.zeros((m, classes))
    envelope = np.zeros((m, classes))
    share = np.zeros((m, classes))
    z = np.empty((d, n))
    point = np.empty((d, m))
    row = np.empty(d)
    distances = np.empty(n)
    values, scratch = np.empty(n + 1), np.empty(n + 1)
    chosen = np.empty(n + 1, dtype=np.int64)
    counts = np.empty(classes)
    warm = np.full(m, np.inf)
    for s in range(ks.size):
        k = ks[s]
        transform_columns(columns, transforms[s], z)
        transform_columns(queries, transforms[s], point)
        for i in range(m):
            for a in range(d):
                row[a] = point[a, i]
            squared_distances_to_columns(row, z, distances)
            warm[i] = counts_among_nearest(
                distances, k, codes, by_index, 1.3 * warm[i], counts, values, scratch, chosen
            )
            large = counts.max()
            total = 0.0
            tied = 0
            for j in range(classes):
                total += np.exp(betas[s] * (counts[j] - large) / k)
                tied += counts[j] >= large - 1e-9
            for j in range(classes):
                p = np.exp(betas[s] * (counts[j] - large) / k) / total
                if counts[j] >= large - 1e-9:
                    envelope[i, j] += 1.0 / tied
                share[i, j] += p > threshold
                difference = p - mean[i, j]
                mean[i, j] += difference / (s + 1)
                spread[i, j] += difference * (p - mean[i, j])
    return mean, spread / ks.size, envelope / ks.size, share / ks.size
