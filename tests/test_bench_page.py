"""The table of benchmarks in the documentation."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def bench():
    spec = importlib.util.spec_from_file_location("bench_main", ROOT / "tests/programs/bench/__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_has_the_processor_and_rows_with_a_peer(tmp_path):
    main = bench()
    stored, page = tmp_path / "bench.json", tmp_path / "page.md"
    rows = [
        {"benchmark": "a", "what": "sort, beside NumPy", "unit": "s", "ours": 0.002, "other": 0.001},
        {"benchmark": "b", "what": "alone", "unit": "s", "ours": 1.0, "other": None},
        {"benchmark": "d", "what": "peak memory", "unit": "MB", "ours": 123.4, "other": None},
        {"benchmark": "e", "skipped": "no data"},
        {
            "benchmark": "f",
            "what": "wide, beside X",
            "unit": "s",
            "ours": 1.0,
            "other": 2.0,
            "columns": {"A": "1 a"},
        },
        {"benchmark": "c", "what": "memory, beside a matrix", "unit": "MB", "ours": 1.0, "other": 2.0},
    ]
    machine = {"processor": "Some CPU", "python": "3.11", "cores": 2}
    stored.write_text(json.dumps({"machine": machine, "rows": rows}))
    heads = "| work | a | b | c |\n| --- | --- | --- | --- |\n"
    old = f"{heads}| kept | 1 s | 2 s | 0.50 |\n| sort; NumPy | 1 s | 1 s | 1 |\n"
    begin, end = "<!-- measured: begin -->", main.END
    values = f"<!-- measured: b d e -->{end}\n<!-- measured: f -->{end}\n<!-- measured: g -->\n{heads}{end}"
    page.write_text(f"before\n{begin}old\n{old}{end}\nbetween\n{values}\nafter\n")
    for _ in range(2):  # the second one changes nothing
        assert main.main(["--out", str(stored), "--page", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "Processor: Some CPU (2 cores), Python 3.11." in text
    assert [line for line in text.splitlines() if line.startswith("| sort")] == [
        "| sort; NumPy | 2.00 ms | 1.00 ms | 2.00 |"
    ]
    assert text.count("| kept | 1 s | 2 s | 0.50 |") == 1
    first, second = text.split("between")
    assert "alone" not in first and "memory" not in text.replace("peak memory", "")
    assert "| alone | 1.00 s |\n| peak memory | 123 MB |" in second
    assert "wide" not in first and "| work | A |\n| --- | ---: |\n| wide | 1 a |\n" in second
    assert f"<!-- measured: g -->\n{heads}{end}" in second


def test_the_page_has_a_measured_table():
    text = (ROOT / "docs/pages/results/benchmarks.md").read_text(encoding="utf-8")
    table = text.split("<!-- measured: begin -->")[1].split(bench().END)[0]
    assert "Processor: " in table and "| split conformal, " in table
