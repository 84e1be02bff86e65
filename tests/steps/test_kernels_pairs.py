"""Kernels of the steps that compare pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from steps.cases import fitted

from confml.steps.reduction import ConsistentSubset, SelectExamples, TomekLinks
from confml.steps.select_attributes import SelectAttributes


@pytest.mark.parametrize("step", [TomekLinks, ConsistentSubset, SelectAttributes, SelectExamples])
def test_warming_compiles_what_a_step_needs(step):
    from numba.core.dispatcher import Dispatcher

    from confml.steps import _kernels_pairs as kernels

    step.compile_kernels()
    compiled = {
        name: set(value.signatures) for name, value in vars(kernels).items() if isinstance(value, Dispatcher)
    }
    rng = np.random.default_rng(1)
    X, y = np.column_stack([rng.integers(0, 3, 20), rng.random(20)]), np.arange(20) % 2
    for nominal in (np.array([False, False]), np.array([True, False])):
        fitted(step(), X, y, nominal)
    for name, signatures in compiled.items():
        assert set(getattr(kernels, name).signatures) == signatures
