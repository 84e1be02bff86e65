"""An installed wheel works outside of a checkout: cards and configs travel with it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def test_wheel_holds_cards_and_configs_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("configs", "datasets"):
        paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".yaml", ".sh", ".py")]
        files = {path.relative_to(ROOT).as_posix() for path in paths}
        assert {f"confml/{name}" for name in files} <= set(names)
    assert any(name.startswith("confml/published/") and name.endswith(".csv") for name in names)
    assert {f"confml/report/page/page.{ending}" for ending in ("css", "js", "html")} <= set(names)
    assert all(name.startswith(("confml/", "confml-")) for name in names)


def test_installed_wheel_runs_the_quick_start_anywhere(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    ask = [sys.executable, "-c", "import confml; print(confml.__file__)"]
    where = subprocess.run(ask, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert where.stdout.startswith(str(tmp_path))
    # Methods without kernels: those of the wheel would be compiled again, in half a minute.
    methods = "methods=[naive-bayes, {name: sklearn.linear_model.LogisticRegression}]"
    small = ["--set", "protocol.repeats=1", "--set", "datasets=[wine-sklearn]", "--set", methods]
    command = [sys.executable, "-m", "confml", "run", "quickstart", *small, "--jobs", "1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "naive-bayes" in done.stdout and (tmp_path / "results" / "quickstart" / "metrics.csv").exists()
    page = (tmp_path / "results" / "quickstart" / "report.html").read_text(encoding="utf-8")
    assert "wine-sklearn" in page
