"""Write the outputs that the documentation shows from real runs: make docs-outputs.

``python tests/documentation tutorial.md`` runs the pages with this name only. An output that agrees with
the real one, where ``...`` stands for any text, is not changed.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import blocks  # of this folder, which Python runs


def rewritten(page: str, shown: list[blocks.Shown]) -> str:
    """Return a page with the real outputs in place of those that differ."""
    for output in sorted(shown, key=lambda output: -output.block.start):
        if not output.agrees:
            block = output.block
            page = page[: block.start] + blocks.tidy(output.real) + "\n" + page[block.end :]
    return page


def main(names: list[str]) -> None:
    for path in blocks.pages():
        if path.suffix != ".md" or (names and path.name not in names):
            continue
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            page = rewritten(text, blocks.run_page(text, Path(folder)))
            for source, picture in blocks.figures_of(text):
                shutil.copyfile(Path(folder) / source, path.parent / picture)
        if page != text:
            path.write_text(page, encoding="utf-8")
            print(f"{path} has new outputs")


if __name__ == "__main__":
    main(sys.argv[1:])
