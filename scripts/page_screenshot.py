"""Takes the picture of the page in the read-me: the real server, the built-in model, an address.

    python scripts/page_screenshot.py [--out docs/images/page.png]

Needs a Chromium and what `scripts/browser_check` installs, and fonts with Chinese characters.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.conftest import chromium  # noqa: E402
from browser.real_server import real_server  # noqa: E402

_WIDTH = 1200
_PATIENCE = 120_000
_TEXT = "麻烦寄到长沙市岳麓区桃花岭路189号润丰园B座1202室，谢谢！\n收件人：江雨桐　电话 021-17613435，邮编410006"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "page.png")
    out: Path = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    with real_server() as link, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": _WIDTH, "height": 800}, locale="en-GB", color_scheme="light", reduced_motion="reduce"
        )
        page.goto(link)
        page.get_by_label("Text", exact=True).fill(_TEXT)
        for _ in range(3):  # the first answer finds everything cold
            page.get_by_role("button", name="Send").click()
            expect(page.locator("#status")).to_contain_text("Answered", timeout=_PATIENCE)
        page.locator("#send").focus()
        page.mouse.move(0, 0)
        page.screenshot(path=out, full_page=True)
        browser.close()
    print(f"{out}: {out.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
