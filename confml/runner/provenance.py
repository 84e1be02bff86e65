"""Provenance of results: versions, machine, commit and times."""

import datetime
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from confml._json import to_json
from confml._outputs import write_atomically
from confml._version import PACKAGE, __version__

PACKAGES = (
    "numpy", "scipy", "pandas", "scikit-learn", "numba", "joblib",
    "liblinear-official", "pydantic", "matplotlib",
)  # fmt: skip


def provenance() -> dict:
    """Return the software and the machine as plain values, for the manifest."""
    return {
        "confml": __version__,
        "git": git_commit(PACKAGE),
        "python": platform.python_version(),
        "packages": package_versions(),
        "machine": machine(),
        "blas": blas(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }


def package_versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "missing"
    return versions


def machine() -> dict:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
    }


def blas() -> list[dict]:
    """Return the loaded BLAS libraries with their numbers of threads outside of tasks."""
    import numpy  # noqa: F401 - loads its BLAS library
    from threadpoolctl import threadpool_info

    return [
        {key: info[key] for key in ("internal_api", "version", "architecture", "num_threads") if key in info}
        for info in threadpool_info()
        if info.get("user_api") == "blas"
    ]


def git_commit(folder: Path) -> str | None:
    """Return the commit of the repository of ``folder``, with ``+changes`` if files differ, or None.

    Files in ``results`` do not count: targets of the Makefile write tables there between their runs.
    """

    def ask(*arguments: str) -> str:
        # Without optional locks: a killed git process would leave the repository locked.
        command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        # An installed package may be inside another repository, which does not track it.
        ask("ls-files", "--error-unmatch", "__init__.py")
        commit = ask("rev-parse", "HEAD")
        changed = ask("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)results")
        return commit + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def write_study_provenance(folder: Path, seed: int, seconds: float) -> Path:
    """Write ``study.json`` into the folder of a study, whose name is that of the folder; return its path.

    seconds: run time in one process.
    """
    about = {"name": folder.name, "seed": seed, "seconds": round(seconds, 3), "jobs": 1}
    path = folder / "study.json"
    write_atomically(path, (to_json({**about, "provenance": provenance()}, indent=1) + "\n").encode())
    return path
