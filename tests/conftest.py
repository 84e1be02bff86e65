"""Fixtures of all tests: where the published data sets are, and skipping, by name, what needs them."""

import gc
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMPILING = {"bayes_error", "methods", "neighbours", "steps"}  # folders of tests that compile most kernels
USING = {"commands", "documentation", "predictions", "report"}  # of tests that use many
# And of the longest single tests, which start and kill processes and clusters.
LONG = {"runner", "test_fuzz.py", "test_kill_trial.py"}


# The collector looks through the objects of 7,000 tests each time. By default that takes a tenth of the time.
gc.set_threshold(100_000, 20, 20)


def pytest_collection_finish():
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption("--exhaustive", action="store_true", help="run every trial at full strength")


def pytest_configure(config):
    """Hypothesis draws 600 examples of a test with ``--exhaustive``, and 50 without."""
    from hypothesis import settings

    settings.register_profile("exhaustive", max_examples=600, deadline=None)
    settings.register_profile("shorter", max_examples=50, deadline=None)
    settings.load_profile("exhaustive" if config.getoption("--exhaustive") else "shorter")


def pytest_collection_modifyitems(config, items):
    """Order the tests for two workers, and leave out the cases marked `exhaustive`.

    Shorter cases of the same test remain.
    """
    if not config.getoption("--exhaustive"):
        left_out = [item for item in items if item.get_closest_marker("exhaustive")]
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=left_out)
    items[:] = in_halves(items)


def in_halves(items):
    """Return the tests with those that compile kernels in the first half, and the others after them.

    pytest-xdist first gives each of two workers one half. Both would compile the same kernels at the same
    time if both began with tests that need them. Tests of `COMPILING` beyond the first half are the last.
    The tests of `LONG` begin the second half: a worker that ends first takes tests from the end of the other,
    and a module of `LONG` whose tests both workers ran would start its cluster twice.
    """
    parts = {item: re.split("/|::", item.nodeid.removeprefix("tests/"))[0] for item in items}
    groups = [[item for item in items if parts[item] in folders] for folders in (COMPILING, LONG, USING)]
    compiling, long, using = groups
    remaining = [item for item in items if parts[item] not in COMPILING | LONG | USING]
    half = (len(items) + 1) // 2
    return compiling[:half] + long + remaining + using + compiling[half:]


@pytest.fixture(scope="session")
def exhaustive(request) -> bool:
    """Whether trials run at full strength (``make test-all``), or with fewer draws of the same kind."""
    return request.config.getoption("--exhaustive")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Products and decompositions on one thread, as in every task: small ones would wait for busy cores."""
    import scipy.linalg  # noqa: F401  has a library of its own, which must be there to be limited
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waits_for_the_disk():
    """Records are not flushed to the disk, which matters when a machine stops; the tests kill processes."""
    flush = os.fsync
    os.fsync = lambda file: None
    yield
    os.fsync = flush


@pytest.fixture(scope="session", autouse=True)
def one_folder_of_kernels():
    """Tests with another ``CONFML_CACHE`` do not compile the kernels again."""
    from confml import _jit

    _jit.cache_dir()  # sets NUMBA_CACHE_DIR


@pytest.fixture(scope="session", autouse=True)
def quick_figures():
    """Figures that the process of the tests draws have few pixels; PNG takes most of the time."""
    from confml.report.figures import style

    style.FORMATS["png"]["dpi"] = 20


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """A user's own module in the current folder, which is not on the search path."""
    shutil.copy(Path(__file__).parent / "reference" / "own_module.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    monkeypatch.delitem(sys.modules, "own_module", raising=False)
    yield
    sys.modules.pop("own_module", None)


@pytest.fixture
def allowed(own_module):
    """The same, with the permission to import it."""
    from confml.plugins.imports import allow_imports

    with allow_imports(["own_module"]):
        yield


@pytest.fixture
def needs_data() -> Callable[..., None]:
    """``needs_data("usps", ...)`` skips the test, naming the data set, unless all of its files are there.

    Files that are there but wrong do not skip: the test then fails on their checksum.
    """
    from confml.data.cards import read_card
    from confml.data.files import search_path

    def need(*names: str) -> None:
        for name in names:
            for file in read_card(name).files:
                if not any((folder / file.folder / file.name).exists() for folder in search_path()):
                    pytest.skip(f"needs the data set '{name}': {file.folder}/{file.name} is not found")

    return need


@pytest.fixture
def data_folder() -> Path:
    """The first folder of CONFML_DATA that exists, laid out as ``<name>/<file>``; skips without one."""
    for folder in filter(None, os.environ.get("CONFML_DATA", "").split(os.pathsep)):
        if Path(folder).is_dir():
            return Path(folder)
    pytest.skip("needs the published data sets: CONFML_DATA names no folder that exists")
