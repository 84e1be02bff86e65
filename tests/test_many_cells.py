"""Comparison of the parts of `make many-cells`, without their runs."""

import json

from programs.many_cells import CELLS_OF_REPEAT, Study, digests


class Pretended(Study):
    """Writes two files instead of a run; the killed part has another byte."""

    def undisturbed(self):
        self.write("undisturbed", "1")
        return {"peak_mb": 1}

    def killed(self):
        self.write("killed", "2")
        return {"kills": 5}

    def dask(self):
        self.write("dask", "1")
        return {}

    def write(self, part, text):
        (self.folder / part / "tables").mkdir(parents=True)
        (self.folder / part / "metrics.csv").write_text(text)
        (self.folder / part / "tables" / "a.csv").write_text("a")
        (self.folder / part / "timings.csv").write_text(part)


def test_a_part_with_other_bytes_is_found_and_parts_are_kept(tmp_path):
    study = Pretended(tmp_path, cells=20)
    assert study.cells == 2 * CELLS_OF_REPEAT and "repeats: 2" in study.config.read_text()
    for part in ("undisturbed", "killed", "dask"):
        study.measure(part)
    assert study.differing("killed") == ["metrics.csv"] and study.differing("dask") == []
    assert set(digests(tmp_path / "dask")) == {"metrics.csv", "tables/a.csv"}
    kept = json.loads((tmp_path / "many-cells.json").read_text())
    assert kept["killed"]["kills"] == 5
    again = Pretended(tmp_path, cells=20)
    assert again.measure("killed") == kept["killed"]  # not written a second time
