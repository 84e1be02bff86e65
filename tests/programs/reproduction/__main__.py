"""``make reproduction``: the pages of published numbers and claims in ``results/reference``.

The pages are made from stored tables, without computing anything. ``keep FOLDER RUN...`` stores numbers,
figures and provenance of runs there; ``targets.mk`` has the runs.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from programs.reproduction._keep import keep
from programs.reproduction._pages import write_pages

REFERENCE = Path("results") / "reference"


def main(arguments: list[str] | None = None) -> None:
    """Run with command-line arguments."""
    parser = argparse.ArgumentParser(prog="tests/programs/reproduction", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("pages", help="write the pages from the stored tables")
    keeping = actions.add_parser("keep", help="store numbers, figures and provenance of runs")
    keeping.add_argument("folder", help="below results/reference")
    keeping.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    keeping.add_argument("--command", required=True, help="what computes the runs")
    keeping.add_argument("--metrics", default="", help="metrics to keep, comma-separated")
    keeping.add_argument("--by", default="", metavar="PARAMETER", help="the metrics for each value of it")
    keeping.add_argument("--figures", action="store_true", help="keep the figures too")
    options = parser.parse_args(arguments)
    if options.action == "pages":
        write_pages(REFERENCE)
    else:
        metrics = [name for name in options.metrics.split(",") if name]
        folder = REFERENCE / options.folder
        keep(options.runs, folder, metrics, options.by, options.figures, options.command)


if __name__ == "__main__":
    main()
