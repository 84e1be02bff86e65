"""``python -m confml.studies.reproduction FOLDER``: write the page of published numbers and claims.

With ``--of RUN... --command TEXT`` it writes FOLDER/provenance.json instead; with ``--keep error,ess`` it
also keeps these metrics of the runs in FOLDER, and with ``--figures`` their figures; with ``--by C`` it keeps
them as tables by the values of the swept parameter C, with the published numbers; with ``--matching`` it
writes FOLDER/matching.csv of runs of bayes-knn.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from confml.errors import ConfmlError
from confml.studies.reproduction import keep_runs, write_page, write_provenance
from confml.studies.reproduction.by_parameter import write_by_parameter
from confml.studies.reproduction.matching import write_matching


def main(arguments: list[str] | None = None) -> int:
    """Run with command-line arguments; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m confml.studies.reproduction", description=__doc__)
    parser.add_argument("folder", type=Path, help="results/reference, or the folder of a stored table")
    parser.add_argument("--of", nargs="+", type=Path, metavar="RUN", help="runs behind the stored table")
    parser.add_argument("--command", default="", help="command that computes the stored table")
    parser.add_argument("--keep", default="", metavar="METRIC,...", help="metrics of the runs to keep")
    parser.add_argument("--by", metavar="PARAMETER", help="keep them for each value of a swept parameter")
    parser.add_argument("--figures", action="store_true", help="keep the figures of the runs, too")
    parser.add_argument("--matching", action="store_true", help="write matching.csv of bayes-knn")
    given = parser.parse_args(arguments)
    if not given.of and not given.folder.is_dir():
        print(f"error: {given.folder} is not a folder; name results/reference", file=sys.stderr)
        return 2
    try:
        if given.of:
            metrics = [name for name in given.keep.split(",") if name]
            paths = []
            if given.by:
                for metric in metrics:
                    paths += write_by_parameter(given.of, given.folder, metric, given.by)
            elif metrics:
                paths += keep_runs(given.of, metrics, given.folder, given.figures)
            if given.matching:
                paths.append(write_matching(given.of, given.folder))
            paths.append(write_provenance(given.of, given.folder, given.command))
        else:
            paths = write_page(given.folder)
    except ConfmlError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
