"""Print the title that a page of a folder has when its scripts are done.

Runs inside `.venv` (Playwright) as `python -m tools.page_title CHROMIUM FOLDER`.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from tensorweb.site_server import SiteServer

SECONDS = 30


def main(browser: str, folder: str) -> int:
    """Open the folder's page and print its title once it is not `waiting`."""
    with SiteServer(Path(folder)) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox"]
        )
        page = chromium.new_page()
        page.goto(server.url)
        page.wait_for_function("document.title !== 'waiting'", timeout=SECONDS * 1000)
        print(page.title())
        chromium.close()
        server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
