"""A large run has the tables of its cells in ZIP files, whose members are the files of a small run."""

import io
import zipfile

import numpy as np
import pytest
from report.report_cases import entry, make_config, make_run, result_of

from confml.measures.prediction import Prediction
from confml.report.archives import Archives, open_table
from confml.report.console import print_run
from confml.report.write import write_report
from confml.runner.manifest import DatasetInfo

FOLDERS = ("regions", "p-values")


def run_of(splits):
    counts = np.array([[3, 1], [2, 4]])

    def result(cell):
        p = np.array([[0.8, 0.1], [0.3, 0.6]])
        extra = {"n_greater": counts, "n_equal": np.ones((2, 2), dtype=int)}
        return result_of(cell, {"p-value": Prediction(np.arange(2), p, "p-value", extra=extra)}, [0, 1])

    names = [f"r{place}" for place in range(splits)]
    return make_run(
        make_config([entry("tcm-nn")]),
        result,
        {"d": DatasetInfo(name="d", rows=9, attributes=2, classes=2)},
        names,
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    return folder, write_report(run_of(201), folder)


def test_members_are_the_files_of_a_small_run(large, tmp_path):
    folder, paths = large
    write_report(run_of(200), tmp_path)
    for name in FOLDERS:
        assert not (folder / name).exists() and folder / f"{name}.zip" in paths
        with zipfile.ZipFile(folder / f"{name}.zip") as archive:
            assert archive.testzip() is None and len(archive.namelist()) == 201
            files = [path for path in (tmp_path / name).rglob("*.csv")]
            assert len(files) == 200
            for path in files:
                assert archive.read(path.relative_to(tmp_path / name).as_posix()) == path.read_bytes()


def test_the_bytes_of_archives_repeat(large, tmp_path):
    write_report(run_of(201), tmp_path)
    for name in FOLDERS:
        assert (tmp_path / f"{name}.zip").read_bytes() == (large[0] / f"{name}.zip").read_bytes()


def test_the_console_reads_archives(large):
    out = io.StringIO()
    print_run(run_of(201), large[0], out, everything=True)
    assert "Region predictions, first rows of" in out.getvalue()
    assert "regions.zip" in out.getvalue()


def test_an_error_leaves_the_old_archive(tmp_path):
    (tmp_path / "regions.zip").write_bytes(b"old")
    with pytest.raises(OSError), Archives(tmp_path) as archives:
        archives.write("regions/a.csv", "text")
        raise OSError("no space")
    assert (tmp_path / "regions.zip").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["regions.zip"]


@pytest.mark.parametrize("broken", [None, b"no archive"])
def test_an_archive_that_cannot_be_read_has_no_table(tmp_path, broken):
    if broken:
        (tmp_path / "regions.zip").write_bytes(broken)
    with open_table(tmp_path, "regions/a.csv") as file:
        assert file is None
