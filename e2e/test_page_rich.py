"""Values are drawn as HTML, drawings and pictures, and nothing in them ever runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Request, Route
from test_page_access import violations

from conftest import site_has

IMAGE = "#output .rich-image"
FRAME = "#output .rich-frame"
WIDTH = f"document.querySelector('{IMAGE}')?.naturalWidth > 0"

DRAWN = """
class Drawn:
    def {method}(self): return {value!r}
Drawn()
"""

HOSTILE = """
<p id=seen>before</p><script>parent.document.title = 'taken'</script>
<img src=x onerror="parent.document.title = 'taken'">
<svg onload="parent.document.title = 'taken'"></svg>
<a id=link href="javascript:parent.document.title = 'taken'">press</a>
<iframe srcdoc="<script>top.document.title = 'taken'</script>"></iframe>
<meta http-equiv=refresh content="0; url=https://example.org/">
<form id=form action="https://example.org/"><button>send</button></form>
<img src="https://example.org/spy.png"><link rel=stylesheet href="https://example.org/a">
"""


def draw(driver: PageDriver, method: str, value: object) -> None:
    assert driver.run(DRAWN.format(method=method, value=value)) == "ready"


def test_html_has_the_size_of_its_content(shared: PageDriver) -> None:
    page = shared.page
    rows = "<tr><th>a</th><td>1</td></tr>" * 5
    draw(shared, "_repr_html_", f"<table>{rows}</table>")
    expect(page.frame_locator(FRAME).locator("tr")).to_have_count(5)
    height = f"document.querySelector('{FRAME}').clientHeight"
    page.wait_for_function(f"{height} > 100 && {height} < 300")
    for theme in ("dark", "light"):
        page.evaluate("name => tensorwebPage.setTheme(name)", theme)
        shared.drawn()
        assert violations(page) == []
    draw(shared, "_repr_html_", "<p>long</p>" * 1000)
    page.wait_for_function(f"{height} > 300 && {height} < 500")


def test_hostile_html_reaches_nothing(mistreated: PageDriver) -> None:
    page = mistreated.page
    asked: list[Request] = []

    def note(request: Request) -> None:
        asked.append(request)

    page.on("request", note)
    title = page.title()
    draw(mistreated, "_repr_html_", HOSTILE)
    frame = page.frame_locator(FRAME)
    expect(frame.locator("#seen")).to_have_text("before")
    frame.locator("#link").click()
    frame.locator("button").click()
    mistreated.drawn(30)
    assert page.title() == title
    assert [request.url for request in asked if "example.org" in request.url] == []
    assert page.locator(FRAME).get_attribute("sandbox") == "allow-same-origin"
    assert mistreated.run("print('usable')") == "ready"


def test_svg_is_a_picture_without_scripts(shared: PageDriver) -> None:
    page = shared.page
    title = page.title()
    draw(
        shared,
        "_repr_svg_",
        "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30' "
        "onload=\"parent.document.title='taken'\"><text y='20'>é</text></svg>",
    )
    page.wait_for_function(WIDTH)
    assert page.title() == title
    assert page.locator("#output svg").count() == 0
    expect(
        page.locator("#output").get_by_role("img", name="Picture of Drawn()")
    ).to_be_visible()
    assert violations(page) == []


def test_a_damaged_picture_is_said(shared: PageDriver) -> None:
    draw(shared, "_repr_png_", b"no picture")
    expect(shared.page.locator("#output .cut")).to_contain_text("damaged")


@pytest.mark.numpy_or_not
@pytest.mark.skipif(not site_has("matplotlib"), reason="the site has no matplotlib")
def test_figures_are_pictures(shared: PageDriver) -> None:
    page = shared.page
    source = (
        "import matplotlib.pyplot as plt\n"
        "fig, ax = plt.subplots()\n"
        "ax.plot([1, 3, 2])\n"
    )
    assert shared.run(source + "plt.show()\nprint(plt.get_fignums())") == "ready"
    page.wait_for_function(WIDTH)
    expect(page.locator("#output pre").last).to_have_text("[]\n")
    assert "Warning" not in shared.output
    assert shared.run(source + "fig") == "ready"
    expect(
        page.locator("#output").get_by_role("img", name="Picture of fig")
    ).to_have_count(1)
    page.wait_for_function(WIDTH)


@pytest.mark.numpy_or_not
@pytest.mark.skipif(not site_has("pillow"), reason="the site has no Pillow")
def test_an_image_is_a_picture(shared: PageDriver) -> None:
    source = "from PIL import Image\nImage.new('RGB', (30, 20), 'red')"
    assert shared.run(source) == "ready"
    shared.page.wait_for_function(WIDTH)
    width = f"document.querySelector('{IMAGE}').naturalWidth"
    assert shared.page.evaluate(width) == 30


SAVED = f"""
import tensorweb as tw
print("\\n<b>printed</b>")
class Drawn:
    def _repr_html_(self): return {HOSTILE!r}
tw.show(Drawn())
picture = tw.reshape(tw.arange(35.0), (5, 7))
tw.show(picture)
raise ValueError("<i>at the end</i>")
"""


def test_a_program_is_saved_with_its_result(
    mistreated: PageDriver, tmp_path: Path
) -> None:
    page = mistreated.page
    assert mistreated.run(SAVED) == "error"
    page.evaluate(
        "document.head.insertAdjacentHTML('beforeend',"
        " '<link rel=canonical href=https://example.org/play/>')"
    )
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Save with its result").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    saved = page.context.new_page()
    asked: list[str] = []

    def note(route: Route) -> None:  # hears of nothing that the policy has stopped
        asked.append(route.request.url)
        route.abort()

    saved.route("http*://**", note)
    saved.emulate_media(color_scheme="dark")
    saved.goto(file.as_uri())
    expect(saved.locator(".saved-code")).to_have_text(SAVED, use_inner_text=True)
    expect(saved.locator("pre[data-stream]").first).to_have_text("<b>printed</b>")
    expect(saved.locator(".failure-title")).to_contain_text("<i>at the end</i>")
    expect(saved.locator(".saved-dark")).to_be_visible()
    expect(saved.locator(".saved-light")).to_be_hidden()
    assert saved.evaluate("document.querySelector('.saved-dark').naturalWidth > 0")
    frame = saved.locator("iframe")
    assert frame.get_attribute("sandbox") == ""
    expect(frame.content_frame.locator("#seen")).to_have_text("before")
    assert "taken" not in saved.title()
    assert saved.locator("form, script[src]").count() == 0
    expect(saved.locator(".report-tensor h3")).to_have_text("picture")
    link = saved.get_by_role("link", name="Open it in tensorweb")
    assert str(link.get_attribute("href")).startswith("https://example.org/play/#code=")
    assert asked == []
    assert violations(saved) == []
    saved.close()
