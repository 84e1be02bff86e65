"""The list of guarantees: its entries are simulated, and the page shows it."""

import re
from pathlib import Path

from confml.measures.guarantees import PROMISES

ROOT = Path(__file__).resolve().parents[2]


def test_every_guarantee_is_simulated():
    checks = "".join(path.read_text() for path in (ROOT / "tests/programs/validity").glob("check_*.py"))
    stated = set(re.findall(r"Entry\(\s*\"([a-z-]+)\"", checks))
    for claim in PROMISES.values():
        assert claim.simulated and stated.issuperset(claim.simulated), claim.simulated


def test_the_page_has_the_list():
    page = (ROOT / "docs/pages/explanation/promises.md").read_text(encoding="utf-8")
    for name, promise in PROMISES.items():
        simulated = ", ".join(f"`{entry}`" for entry in promise.simulated)
        assert f"| `{name}` | {' | '.join(promise[:5])} | {simulated} |\n" in page
