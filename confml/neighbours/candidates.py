"""Kernels of the rows that a `DistanceFilter` cannot exclude.

Half the squared distance of rows i and j, in the filter's units, is between low_i + low_j - p and high_i +
high_j - p with the product p of the rounded rows; high_i - low_i is the slack of row i.
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import insert

_LARGEST = np.finfo(np.float32).max
RUN = 64
# numba compiles a kernel once more for a literal number, which this one is not.
BY_CLASS = np.int64(-1)


@kernel
def list_of(code, label):
    """Return the list of a row of class ``code``: 0 for the class ``label`` and 1 for others, or the class
    itself if ``label`` is BY_CLASS."""
    return code if label < 0 else np.int64(code != label)


@kernel
def candidates(products, low, high, slack, codes, cuts, label, lists, k):
    """Return the rows that may be among the k nearest of their list, for one query row.

    products (m,): of the query and the rows, -inf for rows that do not count; low, high (m,); slack: of the
    query. codes (m,): classes, equal from each of the ``cuts`` to the next; label: see `list_of`; lists:
    their number. A row is excluded if its lower bound is above the k-th smallest upper bound of its list; the
    slack of the query is in both bounds. Runs of rows are compared in vector registers.
    """
    smallest = np.full((lists, k), np.inf, products.dtype)
    limits = np.full(lists, _LARGEST)
    rows, n = np.empty(len(products), np.int64), 0
    for z in range(len(cuts) - 1):
        of = list_of(codes[cuts[z]], label)
        limit = limits[of]
        for begin in range(cuts[z], cuts[z + 1], RUN):
            end = min(begin + RUN, cuts[z + 1])
            run, lows = products[begin:end], low[begin:end]
            near = np.int32(0)
            for e in range(len(run)):
                near |= np.int32(lows[e] - run[e] <= limit)
            for e in range(len(run) if near else 0):
                if lows[e] - run[e] <= limit:
                    rows[n] = begin + e
                    n += 1
                    upper = high[begin + e] - run[e]
                    if upper < smallest[of, k - 1]:
                        insert(smallest[of], upper)
                        limit = min(smallest[of, k - 1] + slack, _LARGEST)
        limits[of] = limit
    left = 0
    for t in rows[:n]:
        if low[t] - products[t] <= limits[list_of(codes[t], label)]:
            rows[left] = t
            left += 1
    return rows[:left]
