"""Sets of kernels of TCM-NN that are compiled for the data that need them."""

from collections.abc import Iterable

import numpy as np

from confml.methods.tcm_nn.neighbour_counter import NeighbourCounter, fastest_engine
from confml.methods.tcm_nn.online_pass import OnlinePass, OnlineSizes


def compile_engine(engine: str) -> None:
    """Compile the kernels of an engine by counts on a few rows."""
    X, codes = few_rows()
    counter = NeighbourCounter(X, codes, engine)
    counter.counts(*counter.lists(2), X, [1, 2])


def few_rows() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).random((60, 2)), np.repeat([0, 1], 30)


def kernels_for(online: bool, shapes: Iterable[tuple[int, int]]) -> list[type]:
    """Return the sets of kernels for a protocol and for data sets with these rows and features."""
    found: list[type] = [OnlineKernels] if online else []
    if any(fastest_engine(*shape) == "tree" for shape in shapes):
        found.append(TreeKernels)
    return found


class TreeKernels:
    """Trees, for many rows with few features; those in float64 are compiled when data need them."""

    key = "tcm-nn-trees"

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels by counts on a few rows."""
        compile_engine("tree")


class OnlineKernels:
    """The pass of protocol online."""

    key = "tcm-nn-online"

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels by steps on a few rows."""
        X, codes = few_rows()
        for products in (0, X.size):
            OnlinePass(2, 2, [1, 2], sizes=OnlineSizes(block=16, products=products)).step(X, codes, True)
