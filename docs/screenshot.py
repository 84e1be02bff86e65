"""Write ``docs/page.png``, the top of the page of the quick start: run it when the page changes."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import confml

HERE = Path(__file__).parent
WIDTH, HEIGHT, COLOURS = 1000, 850, 64


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_of_run = confml.run("quickstart", out=Path(folder) / "quickstart").folder / "report.html"
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(page_of_run.as_uri())
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(COLOURS).save(HERE / "page.png", optimize=True)


if __name__ == "__main__":
    main()
