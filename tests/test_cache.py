"""Caches: kernels are compiled once, and nothing is read from a folder that another user can write into."""

import os
import pwd
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from confml import _cache, _jit

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes and owners are those of POSIX")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache root of this test alone."""
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # is restored after the test
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "cache"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_kernel_cache_is_made_for_its_user_alone(cache):
    old = os.umask(0o000)
    try:
        folder = _jit.cache_dir()
    finally:
        os.umask(old)
    assert folder.parent == cache and _jit.is_cache_kept() and mode(folder) == mode(cache) == 0o700


@pytest.mark.parametrize("which", ["root", "folder"])
@pytest.mark.parametrize("lax", [0o720, 0o702])
def test_a_cache_that_others_can_write_into_is_not_used(cache, which, lax):
    folder = _jit.cache_dir()
    del os.environ["NUMBA_CACHE_DIR"]
    (cache if which == "root" else folder).chmod(lax)
    fresh = _jit.cache_dir()
    assert cache not in fresh.parents and mode(fresh) == 0o700 and not _jit.is_cache_kept()


def test_a_cache_of_another_user_is_not_used(cache, monkeypatch):
    folder = _jit.cache_dir()
    del os.environ["NUMBA_CACHE_DIR"]
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert cache not in _jit.cache_dir().parents


def test_no_name_in_the_temporary_folder_can_be_guessed(cache):
    """Without a writable cache the folder is new each time: nobody can have put anything there."""
    cache.write_text("a file where the cache should be")
    folders = set()
    for _ in range(3):
        os.environ.pop("NUMBA_CACHE_DIR", None)
        folders.add(_jit.cache_dir())
    assert len(folders) == 3
    assert all(folder.parent == Path(os.environ["TMPDIR"]) and mode(folder) == 0o700 for folder in folders)


def test_the_fresh_folder_is_removed_with_its_process(cache, tmp_path):
    cache.write_text("")
    program = "from confml import _jit; print(_jit.cache_dir())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path / "temporary" and not folder.exists()


def test_a_user_without_home_folder_has_a_cache_among_temporary_files(cache, monkeypatch):
    for name in ("CONFML_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def unknown(user):
        raise KeyError(f"getpwuid(): uid not found: {user}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    root = Path(tempfile.gettempdir()) / f"confml-{os.getuid()}"
    assert _cache.cache_folder() == root
    assert _jit.cache_dir().parent == root and mode(root) == 0o700 and _jit.is_cache_kept()
