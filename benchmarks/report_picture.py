"""Makes ``docs/report.png``, the picture of the report in the README, from the bundled example.

    python -m benchmarks.report_picture

It shows the systems and their intervals, the cells of a product, and an open review. Scoring uses
the embedded model; its answers are cached, so that a second run takes seconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.common import ROOT

PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1_400, 900
PANEL = 560
LARGEST = 300_000
"""Bytes of the picture, which everyone who reads the README loads."""

PRODUCT, SENTENCE, REVIEW = "ex-marble-run", 1, 4
"""The cell that is open: a review that contradicts what others support."""

LAYOUT = f"""
body {{ padding-top: .5rem; max-width: none }}
#panel {{ width: {PANEL}px; height: 560px; overflow: hidden; margin: 0; inset: auto 0 0 auto;
  box-shadow: 0 0 1.5rem rgba(0, 0, 0, .3) }}
#panel::backdrop {{ background: none }}
section[aria-labelledby=scorer], header, #products, #products ~ p, .tools,
.product:not(#{PRODUCT}) {{ display: none }}
#systems {{ margin-top: 0 }}
.systems {{ font-size: .82rem }}
.systems td, .systems th {{ padding-inline: .45rem }}
.matrix {{ width: 760px }}
"""
"""Brings together on one screen what the page has on several."""


def picture(page: Path, output: Path) -> None:
    """Photograph a report with a cell open.

    Args:
        page: the report.
        output: the PNG.
    """
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or sys.exit("no Chromium; see .ci/browser")
    with sync_playwright() as started:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=chromium, args=flags, timeout=180_000)
        size = {"width": WIDTH, "height": HEIGHT}
        # The page's policy refuses the layout otherwise.
        tab = browser.new_page(viewport=size, color_scheme="light", bypass_csp=True)  # type: ignore[arg-type]
        tab.set_default_timeout(180_000)
        tab.goto(page.as_uri())
        tab.add_style_tag(content=LAYOUT)
        row = tab.locator(f'[id="{PRODUCT}/balanced/{SENTENCE}"]')
        row.locator("button.cell").nth(REVIEW).click()
        tab.evaluate("scrollTo(0, 0)")
        tab.screenshot(path=output)
        browser.close()
    # Flat colours: 256 of them are enough, and a quarter of the bytes.
    with Image.open(output) as image:
        small = image.convert("RGB").quantize(256)
    small.save(output, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make docs/report.png.")
    parser.add_argument("--report", type=Path, help="a report of the bundled example that exists")
    parser.add_argument("--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = options.report or scored(Path(folder) / "report.html")
        picture(page.resolve(), options.output)
    size = options.output.stat().st_size
    if size > LARGEST:
        sys.exit(f"{options.output}: {size:,} bytes; at most {LARGEST:,} are wanted")
    print(f"{options.output}: {size:,} bytes")


def scored(page: Path) -> Path:
    """The report of the bundled example."""
    from prevalence.cli import main as command

    arguments = ["score", str(ROOT / "examples" / "summaries.jsonl"), "--evidence", "--quiet"]
    command([*arguments, "--report", str(page)], standalone_mode=False)
    return page


if __name__ == "__main__":
    main()
