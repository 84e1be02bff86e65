"""``make fuzz MINUTES=5``: run the fuzzers, each for its share of the time. Findings are kept."""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from programs.fuzz.fuzzers import CORPUS, FUZZERS, feed, mutants

from confml import _jit


def main(minutes: float, seed: int) -> int:
    warnings.simplefilter("ignore")
    faulthandler.enable()
    findings: set[str] = set()
    _jit.cache_dir()  # compiled kernels are kept
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONFML_CACHE"] = folder
        os.environ["CONFML_DATA"] = ""
        print(f"the last mutant of a process that is killed stays in {folder}/fed", flush=True)
        for name in FUZZERS:
            ends = None
            verdicts: Counter[str] = Counter()
            for origin, data in mutants(name, seed):
                # Not before the first mutant: what is mutated may have to be fitted.
                ends = ends or time.monotonic() + 60 * minutes / len(FUZZERS)
                if time.monotonic() > ends:
                    break
                (Path(folder) / "fed").write_bytes(data)
                try:
                    verdicts[feed(name, data, Path(folder))] += 1
                except Exception as error:
                    verdicts["failed"] += 1
                    frame = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{name}: {type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
                    if where not in findings:
                        path = CORPUS / name / f"crash-{len(findings)}-{seed}"
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(data)
                        findings.add(where)
                        print(f"{where}, from {origin}: {str(error)[:200]}; kept as {path}", flush=True)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
            print(f"{name}: {verdicts.total()} mutants, seed {seed}: {counts}", flush=True)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]), seed=int(time.time())))
