"""``make goldens``: outputs of this checkout beside those of the baseline, a verdict per file.

The baseline is the commit of ``baseline.txt``. Its outputs are made once, in ``build/goldens/<commit>``.
A file has

- the same bytes;
- the same numbers: other texts, such as 1.0 and 1;
- the same numbers without the rows and columns of ``retired.csv``;
- gone on purpose: a line of ``retired.csv`` names the whole file;
- for ``answer.json``: another method is the fastest of equally good ones, in the keys that name it only.

Everything else is a failure, and the exit code is 1. Files that the baseline does not have are counted.
``moved.csv`` maps old paths to new ones. ``python tests/programs/goldens store COMMIT`` makes another commit
the baseline.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from programs.goldens import comparison, outputs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BASELINE = HERE / "baseline.txt"


def main() -> int:
    parser = argparse.ArgumentParser(prog="goldens", description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("check", "store"))
    parser.add_argument("commit", nargs="?", help="with store: the new baseline")
    parser.add_argument("--only", action="append", choices=sorted(outputs.CASES), help="one case")
    options = parser.parse_args()
    if options.action == "store":
        commit = _git("rev-parse", options.commit or "HEAD").decode().strip()
        BASELINE.write_text(f"{commit}\n")
    commit = BASELINE.read_text().strip()
    cases = options.only or list(outputs.CASES)
    baseline = make_baseline(commit, ROOT / "build" / "goldens" / commit, cases)
    if options.action == "store":
        return 0
    rules = comparison.Rules.read(HERE)
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            outputs.make(case, ROOT, Path(folder, case))
            before, now = outputs.files(baseline / case), outputs.files(Path(folder, case))
            verdicts += comparison.compare_files(before, now, rules, prefix=f"{case}/")
    if not options.only:
        stored = Path("results") / "reference"
        before, now = (outputs.stored_files(root / stored) for root in (baseline / "source", ROOT))
        verdicts += comparison.compare_files(before, now, rules, prefix=f"{stored}/")
    for verdict in verdicts:
        if verdict.kind != comparison.SAME_BYTES:
            print(f"{verdict.kind:28}  {verdict.file}  {verdict.details}")
    counts = Counter(verdict.kind for verdict in verdicts)
    print(", ".join(f"{kind}: {counts[kind]}" for kind in comparison.KINDS if counts[kind]))
    return 1 if counts[comparison.DIFFERENT] else 0


def make_baseline(commit: str, folder: Path, cases: list[str]) -> Path:
    """Return the folder with the outputs of a commit, and make those that are missing."""
    source = folder / "source"
    if not source.exists():
        partial = folder / "source.partial"
        shutil.rmtree(partial, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
            archive.extractall(partial, filter="data")
        partial.rename(source)
    for case in cases:
        if not (folder / case).exists():
            partial = folder / f"{case}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            outputs.make(case, source, partial)
            partial.rename(folder / case)
    return folder


def _git(*arguments: str) -> bytes:
    return subprocess.run(("git", "-C", str(ROOT), *arguments), check=True, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main())
