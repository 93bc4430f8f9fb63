"""Record the first example for the page to show before Python is there, and pictures.

`web/first-look.json` has what the run said, its tensors, and the responses to all
requests of the panels, each tensor looked into once. `build.py first-look` makes it
from a built site; `e2e/test_page_first_look.py` compares it with a run. The pictures of
the gallery are in `web/examples/pictures/`, one for each example; `web/card.png` is the
picture that other sites show of the page.
"""

from __future__ import annotations

import json
import sys
import threading
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from tensorweb.site_server import SiteServer
from tools import machine
from tools.process import ROOT, BuildError

FILE = ROOT / "web/first-look.json"
PICTURES = ROOT / "web/examples/pictures"
CARD = ROOT / "web/card.png"
"""What sites show that preview a link to the page."""
FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--no-sandbox"]
"""The software adapter, so that the recording is the same on every machine."""

READY = "['ready', 'error'].includes(document.body.dataset.state)"

PARTS = (
    "#tensors .stage .verdict-expected table",
    "#tensors .stage-room > *",
    "#tensors .viewer .heatmap",
    "#tensors .viewer svg.plot",
    "#output .text",
)
"""Where an example's picture is looked for: in the large pane, then in the output."""

LISTEN = """() => {
  const page = globalThis.tensorwebPage;
  const heard = globalThis.heard = { notes: [], responses: [] };
  const text = (bytes) => Array.from(bytes, (one) => String.fromCharCode(one)).join("");
  const plain = (map) => ({ ...map, values: btoa(text(map.values)) });
  const written = (note) =>
    note.note === "picture" ? { ...note, heatmap: plain(note.heatmap) } : note;
  page.add({ update() {}, note: (note) => heard.notes.push(written(note)) });
  const { session } = page;
  const ask = session.request.bind(session);
  session.request = async (name, details) => {
    const found = await ask(name, details);
    if (!["run", "describe", "nonfinite", "warm"].includes(name)) {
      const response = name === "heatmap" ? plain(found) : found;
      heard.responses.push({ name, details, response });
    }
    return found;
  };
}"""
"""Keeps what the page hears from here on."""

TAKE = """() => {
  const { run, tensors } = tensorwebPage.view;
  return { source: tensorwebPage.editor.source(), ...heard, run, tensors };
}"""

SMALLER = """async (taken) => {
  const bytes = Uint8Array.from(atob(taken), (character) => character.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(240, 150);
  const context = canvas.getContext("2d");
  const { width, height } = picture;
  const scale = Math.max(canvas.width / width, canvas.height / height);
  context.drawImage(picture, 0, 0, width * scale, height * scale);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
  return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
}"""
"""Cuts a PNG in base64 to the size of the gallery's pictures, as WebP."""


def record(site: Path) -> None:
    """Write the file from a run on a built site.

    Raises:
        BuildError: there is no Chromium, or the example failed in it.
    """
    from playwright.sync_api import sync_playwright

    program = machine.chromium()
    if program is None:
        raise BuildError("recording needs Chromium; name one in TENSORWEB_CHROMIUM")
    with SiteServer(site, isolated=True) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page()
        page.add_init_script("localStorage['tensorweb:visited'] = '1'")
        # The page would choose the CPU where the adapter is software.
        page.add_init_script("localStorage['tensorweb:device'] = 'webgpu'")
        page.goto(server.url)
        page.wait_for_function(READY, timeout=120_000)
        recorded = listen_and_run(page)
        page.set_viewport_size({"width": 1200, "height": 630})
        page.emulate_media(color_scheme="dark")
        page.locator("#tensors button.tensor", has_text="waves").click()
        page.wait_for_timeout(1000)
        page.screenshot(path=CARD)
        page.set_viewport_size({"width": 1280, "height": 720})
        page.emulate_media(color_scheme="light")
        names = [path.stem for path in sorted((ROOT / "web/examples").glob("*.py"))]
        # The first example comes last: another program forgets which tensor was chosen.
        pictures = {name: picture(page, name) for name in [*names[1:], names[0]]}
        browser.close()
        server.shutdown()
    if recorded["run"]["error"]:
        raise BuildError(f"the first example failed: {recorded['run']['error']}")
    if not pictures:
        raise BuildError("no example made a picture")
    PICTURES.mkdir(exist_ok=True)
    for name, data in pictures.items():
        (PICTURES / f"{name}.webp").write_bytes(data)
    FILE.write_text(json.dumps(recorded, ensure_ascii=False), "utf-8")


def listen_and_run(page: Any) -> dict[str, Any]:
    """Run the open program, look into each of its tensors, return all that was said.

    Args:
        page: Playwright's page, with Python ready.
    """
    page.evaluate(LISTEN)
    page.click("#run")
    page.wait_for_function("tensorwebPage.view.origins.tensors?.recorded !== true")
    page.wait_for_function(f"{READY} && tensorwebPage.view.tensors.length > 0")
    drawn = "document.querySelector('#tensors').dataset.view === 'ready'"
    page.wait_for_function(drawn)
    tensors = page.locator("#tensors button.tensor")
    for index in [*range(tensors.count()), 0]:
        tensors.nth(index).click()
        page.wait_for_function(drawn)
        page.wait_for_load_state("networkidle")
    recorded: dict[str, Any] = page.evaluate(TAKE)
    return recorded


def picture(page: Any, name: str) -> bytes:
    """Run an example and return a small picture of what it shows, as WebP.

    Args:
        page: Playwright's page, with Python ready.
        name: the example, `01-tour`.
    """
    page.evaluate("name => tensorwebPage.workspace.openExample(name)", name)
    before = page.evaluate("tensorwebPage.view.origins.output.run")
    page.click("#run")
    page.wait_for_function(
        f"tensorwebPage.view.origins.tensors?.run > {before} && {READY}",
        timeout=120_000,
    )
    page.wait_for_timeout(500)
    for part in PARTS:
        shown = page.locator(part).locator("visible=true")
        if shown.count() > 0:
            break
    taken = b64encode(shown.last.screenshot()).decode()
    return b64decode(page.evaluate(SMALLER, taken))


if __name__ == "__main__":
    record(Path(sys.argv[1]))
