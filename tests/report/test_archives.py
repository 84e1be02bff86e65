"""A large run has the tables of its cells in ZIP files, whose members are the files of a small run."""

import io
import zipfile

import numpy as np
import pytest
from report.report_cases import entry, golden_run, make_config, make_run, result_of

from confml.measures.prediction import Prediction
from confml.report.archives import Archives, open_table
from confml.report.console import print_run
from confml.report.run.cells import DatasetInfo
from confml.report.write import write_report

FOLDERS = ("regions", "p-values")


def run_of(splits):
    counts = np.array([[3, 1], [2, 4]])

    def result(cell):
        p = np.array([[0.8, 0.1], [0.3, 0.6]])
        extra = {"n_greater": counts, "n_equal": np.ones((2, 2), dtype=int)}
        return result_of(cell, {"p-value": Prediction(np.arange(2), p, "p-value", extra=extra)}, [0, 1])

    names = [f"r{place}" for place in range(splits)]
    return make_run(make_config([entry("tcm-nn")]), result, {"d": DatasetInfo("d", 9, 2, 2)}, names)


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


def test_a_large_run_has_at_most_one_file_per_hundred_cells_and_a_few(large):
    folder, _ = large
    assert sum(path.is_file() for path in folder.rglob("*")) < 45  # 27 of them are the tables of any run


def test_the_bytes_of_archives_repeat(large, tmp_path):
    write_report(run_of(201), tmp_path)
    for name in FOLDERS:
        assert (tmp_path / f"{name}.zip").read_bytes() == (large[0] / f"{name}.zip").read_bytes()


def test_files_of_an_older_report_are_replaced_by_an_archive(tmp_path, monkeypatch):
    monkeypatch.setattr("confml.report.archives.MOST_FILES", 20)  # of many cells: the test below and above
    write_report(run_of(20), tmp_path)
    assert (tmp_path / "regions" / "d" / "tcm-nn" / "r7.csv").exists()
    write_report(run_of(21), tmp_path)
    assert not (tmp_path / "regions").exists() and (tmp_path / "regions.zip").exists()
    write_report(run_of(20), tmp_path)
    assert (tmp_path / "regions").exists() and not (tmp_path / "regions.zip").exists()


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


def test_small_runs_have_files(tmp_path):
    write_report(golden_run(), tmp_path)
    assert (tmp_path / "regions").is_dir() and not list(tmp_path.glob("*.zip"))
