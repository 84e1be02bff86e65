"""Whatever a run can make again it makes again: the next run mends any damage to a file of its report."""

import os
import shutil

import pytest
from command_line import command, invoke
from report.report_cases import contents

CONFIG = """name: small
datasets: [{name: five-gaussians, generate: five-gaussians, n: 40}]
methods: [{name: knn, sweep: {k: [1, 3]}}, tcm-nn]
protocol: {kind: holdout, repeats: 2, test-size: 0.4}
levels: [0.1]
"""
RECORDED = {"tables/timings.csv", ".run/manifest.json"}  # times and versions of the run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "c.yaml").write_text(CONFIG)
    command("run", folder / "c.yaml", "--out", folder / "run", "-q", "--engine", "serial")
    return folder


DAMAGE = {
    "no text": lambda data: b"\xff\xfe\x80" + data,
    "names": lambda data: b"\0\n/etc/passwd\n../x\n" + data,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_made_again(finished, tmp_path, damage):
    """All files of the report at once; then the bookkeeping files alone, as the page hides their damage."""
    out = tmp_path / "run"
    shutil.copytree(finished / "run", out)
    before = contents(out)
    reported = [name for name in before if not name.startswith((".run/batches/", ".run/manifest.json"))]
    assert {".run/report-files", "metrics.csv", "report.html", "summary.csv"} <= set(reported)
    for some in (reported, [".run/report-files"], ["report.html"]):
        for name in some:
            times = os.stat(out / name)
            (out / name).write_bytes(DAMAGE[damage]((out / name).read_bytes()))
            os.utime(out / name, ns=(times.st_atime_ns, times.st_mtime_ns))
        command("run", finished / "c.yaml", "--out", out, "-q", "--engine", "serial")
        after = contents(out)
        changed = {name for name in before if after.get(name) != before[name]}
        assert changed <= RECORDED


@pytest.mark.parametrize(
    "options, printed", [([], "five-gaussians"), (["--json"], '"cells"'), (["--quiet"], "")]
)
def test_a_report_whose_files_cannot_be_written_is_printed(finished, tmp_path, options, printed):
    """A folder in the place of a file is refused for every user; permissions do not bind root."""
    out = tmp_path / "run"
    shutil.copytree(finished / "run", out)
    expected = command("report", out, *options)
    (out / "metrics.csv").unlink()
    (out / "metrics.csv" / "folder").mkdir(parents=True)
    shown = invoke("report", out, *options)
    assert shown.stdout == expected.stdout and printed in shown.stdout
    assert f"{out / 'metrics.csv'}: not all files of the report are written" in str(shown.exception)
