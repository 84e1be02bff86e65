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

EVERY = 10  # seconds between the lines that a fuzzer prints


def main(minutes: float, names: list[str], seed: int) -> int:
    warnings.simplefilter("ignore")
    faulthandler.enable()
    findings: dict[str, str] = {}
    _jit.cache_dir()  # compiled kernels are kept
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONFML_CACHE"] = folder
        os.environ["CONFML_DATA"] = ""
        print(f"the last mutant of a process that is killed stays in {folder}/fed", flush=True)
        for name in names:
            ends, fed, shown = None, 0, time.monotonic()
            verdicts: Counter[str] = Counter()
            for origin, data in mutants(name, seed):
                # Not before the first mutant: what is mutated may have to be fitted.
                ends = ends or time.monotonic() + 60 * minutes / len(names)
                if time.monotonic() > ends:
                    break
                if time.monotonic() > shown + EVERY:
                    shown = time.monotonic()
                    print(f"{name}: {fed} mutants, {len(findings)} findings", flush=True)
                fed += 1
                (Path(folder) / "fed").write_bytes(data)
                try:
                    verdicts[feed(FUZZERS[name], data, Path(folder))] += 1
                except Exception as error:
                    frame = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{name}: {type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
                    if where not in findings:
                        path = CORPUS / name / f"crash-{len(findings)}-{seed}"
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(data)
                        findings[where] = f"{where}, from {origin}: {str(error)[:200]}; kept as {path}"
                        print(findings[where], flush=True)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
            print(f"{name}: {fed} mutants, seed {seed}: {counts}", flush=True)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    raise SystemExit(main(minutes, sys.argv[2:] or list(FUZZERS), seed=int(time.time())))
