"""What guarantees cost in region size: `make promises` writes results/reference/promises.

Each study is a table with one row for each data set and form: error rate and mean region size at level 0.1 of
test rows, means over random splits. choice: the best of several methods. costs: every guarantee beside plain
regions. alike: a choice among methods that are equally good.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from studies import STUDIES

ROOT = Path(__file__).resolve().parents[3]
DATASETS = (
    *("iris", "wine-sklearn", "sonar", "new-thyroid", "heart", "ionosphere", "breast-cancer", "wisconsin"),
    *("pima", "vehicle", "flare", "ripley-synth", "yeast", "winequality-red", "digits", "segment", "abalone"),
    *("winequality-white", "page-blocks", "texture", "optdigits", "satimage", "usps", "pendigits"),
    *("nursery", "letter", "krkopt", "shuttle"),
)


def datasets(names: Iterable[str] | None, largest: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, X (n, d) and class codes (n,) of `DATASETS`, or of those named.

    Those with more than ``largest`` rows are left out.
    """
    from confml.data import load

    for name in DATASETS:
        if names and name not in names:
            continue
        data = load({"name": name})
        if len(data.y) <= largest:
            yield name, np.asarray(data.X), np.unique(data.y, return_inverse=True)[1]


def write(path: Path, rows: list[dict]) -> None:
    """Write rows as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(rows: list[dict]) -> list[str]:
    """Return a Markdown table of the means over data sets, one line for each form."""
    forms = list(dict.fromkeys(row["form"] for row in rows))
    numbers = [name for name in rows[0] if name not in ("dataset", "rows", "classes", "form")]
    lines = [
        f"| form | data sets | {' | '.join(numbers)} |",
        f"| {' | '.join(['---'] * (len(numbers) + 2))} |",
    ]
    for form in forms:
        own = [row for row in rows if row["form"] == form]
        means = [
            np.mean([float(row[name]) for row in own if row[name] != ""] or [np.nan]) for name in numbers
        ]
        lines.append(f"| {form} | {len(own)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return lines


def main() -> int:
    """Run the studies and write their tables."""
    parser = argparse.ArgumentParser(prog="tests/programs/promises", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(STUDIES), help="one study")
    parser.add_argument("--splits", type=int, help="random splits of each data set (8, of costs 4)")
    parser.add_argument("--datasets", nargs="+", help="names of data sets")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "reference" / "promises")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in [options.only] if options.only else list(STUDIES):
        study, rows, begun = STUDIES[name], [], time.perf_counter()
        for dataset, X, y in study.datasets(lambda most=study.largest: datasets(options.datasets, most)):
            for row in study.forms(X, y, options.splits or study.splits):
                sizes = {"rows": len(y), "classes": int(y.max()) + 1}
                rows.append({"dataset": dataset, **sizes, **row})
            write(options.out / f"{name}.csv", rows)
            print(f"{name}: {dataset}, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        print("\n".join(summary(rows)))
    with (options.out / "promises.md").open("w", encoding="utf-8") as file:
        file.write("# What guarantees cost\n\nMeans over data sets, from the files of this folder.\n")
        for name, study in STUDIES.items():
            path = options.out / f"{name}.csv"
            if path.is_file():
                with path.open(encoding="utf-8", newline="") as known:
                    lines = summary(list(csv.DictReader(known)))
                file.write(f"\n## {name}\n\n{study.about}\n\n" + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
