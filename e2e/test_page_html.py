"""HTML that a program shows: what would look up or reach another host is taken out.

Browsers connect to other hosts for some elements before the page's policy stops them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Snapshot, new_context, page_of
from other_site import OtherSite, running
from page_driver import PageDriver, expect
from playwright.sync_api import Browser
from test_page_rich import FRAME, draw

LEAD_OUT = {
    "iframe": "<iframe src=U></iframe>",
    "iframe in an iframe": "<iframe srcdoc='<iframe src=U></iframe>'></iframe>",
    "frame": "<frameset><frame src=U></frameset>",
    "object": "<object data=U></object>",
    "embed": "<embed src=U>",
    "refresh": "<meta http-equiv=refresh content='0; url=U'>",
    "base": "<base href=U><img src=x>",
    "preconnect": "<link rel=preconnect href=U>",
    "name look-up": "<link rel=dns-prefetch href=U>",
    "prefetch": "<link rel=prefetch href=U><link rel=prerender href=U>",
    "preload": "<link rel=preload as=image href=U><link rel=modulepreload href=U>",
    "style sheet": "<link rel=stylesheet href=U>",
    "manifest": "<link rel=manifest href=U><link rel=icon href=U>",
    "image": "<img src=U><img srcset='U 2x'><picture><source srcset=U><img></picture>",
    "background": "<table background=U><tr><td background=U>x</table>",
    "input": "<input type=image src=U>",
    "media": "<video src=U poster=U autoplay></video><audio src=U autoplay></audio>",
    "track": "<video><source src=U><track src=U default></video>",
    "import of styles": "<style>@import 'U';</style>",
    "address in styles": "<p style='background: url(U)'>x</p>",
    "image set": "<p style='background: image-set(\"U\" 1x)'>x</p>",
    "cursor": "<style>p { cursor: url(U), auto; list-style: url(U) }</style><p>x</p>",
    "font": "<style>@font-face { font-family: x; src: url(U) }</style>"
    "<p style='font-family: x'>x</p>",
    "hidden address": "<style>p { --a: \\75rl(U); background: var(--a) }</style><p>x",
    "drawing": "<svg><image href=U /><use href='U#x' /><feImage href=U /></svg>",
    "old drawing": "<svg><image xlink:href=U /><script href=U></script></svg>",
    "paint": "<svg><rect width=9 height=9 fill='url(U#a)' filter='url(U#b)' /></svg>",
    "moving address": "<svg><image><set attributeName=href to=U /></image></svg>",
    "html in a drawing": "<svg><foreignObject><iframe src=U></iframe></foreignObject>",
    "html in a formula": "<math><annotation-xml encoding='text/html'>"
    "<iframe src=U></iframe></annotation-xml></math>",
    "shadow": "<div><template shadowrootmode=open><iframe src=U></iframe></template>",
    "no script": "<noscript><iframe src=U></iframe></noscript>",
    "rules": "<script type=speculationrules>"
    '{"prerender": [{"urls": ["U"]}], "prefetch": [{"urls": ["U"]}]}</script>',
    "text that becomes elements": "<svg></p><style><a title='</style>"
    "<iframe src=U></iframe>'></style></svg>",
    "formula that becomes elements": "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--&gt;&lt;iframe src=U&gt;&lt;/iframe&gt;'></table></mtext></math>",
    "unended": "<noembed><iframe src=U></noembed><xmp><iframe src=U></xmp>",
}
"""A row for each way to lead out; `U` is an address of the other site."""

CLICKED = """
<a class=out href=U>link</a> <a class=out href=U ping=U>pinged</a>
<a class=out href=U download>kept</a> <a class=out href=U target=_top>top</a>
<a class=out href=U target=_blank>blank</a>
<a class=out href='javascript:location="U"'>script</a>
<form action=U><button class=out>send</button><input type=submit class=out></form>
<button class=out formaction=U>to</button>
<svg width=90 height=20><a href=U><text class=out y=15>drawn</text></a></svg>
<map name=m><area class=map shape=default href=U></map>
"""

ALONE = ("frame", "html in a drawing", "shadow", "unended")
"""What swallows the rows behind it is shown by itself, at the end."""

LAYOUT = """<style>td { color: rgb(1, 2, 3) }</style>
<table border="1" class="dataframe"><thead><tr style="text-align: right">
<th scope="col">a</th></tr></thead>
<tbody><tr><td colspan="2">1</td></tr></tbody></table>
<svg width="40" height="30" viewBox="0 0 40 30"><defs><linearGradient id="g">
<stop offset="0" stop-color="red"></stop></linearGradient></defs>
<circle cx="9" cy="9" r="5" fill="url(#g)"></circle></svg>
<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>
<img alt="dot"
src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">
<details><summary>more</summary>inside</details><custom-tag>kept</custom-tag>"""


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def driver(
    request: pytest.FixtureRequest, site_url: str, snapshot: Snapshot
) -> Iterator[PageDriver]:
    browser: Browser = request.getfixturevalue(request.param)
    with page_of(new_context(browser)) as page:
        snapshot.give(page, site_url)
        yield PageDriver(page).open(site_url)


@pytest.fixture
def other() -> Iterator[OtherSite]:
    server = OtherSite()
    with running(server):
        yield server


def show(driver: PageDriver, html: str) -> None:
    """Show HTML and a mark behind it, and wait until it stands there."""
    draw(driver, "_repr_html_", f"<p id=mark>shown</p>{html}")
    expect(driver.page.frame_locator(FRAME).locator("#mark")).to_have_text("shown")
    driver.drawn(10)


def test_html_connects_to_no_other_host(driver: PageDriver, other: OtherSite) -> None:
    alone = {name: LEAD_OUT[name] for name in ALONE}
    many = "".join(
        f"<div>{html}</div>" for name, html in LEAD_OUT.items() if name not in ALONE
    )
    for html in (many, *alone.values()):
        show(driver, html.replace("U", other.url))
    assert (other.heard, other.connections) == ([], 0)
    frame = driver.page.frame_locator(FRAME)
    assert frame.locator("iframe, frame, object, embed, link").count() == 0
    # The frame's own policy.
    assert frame.locator("meta[http-equiv]").count() == 1


def test_nothing_in_html_leads_away(driver: PageDriver, other: OtherSite) -> None:
    show(driver, CLICKED.replace("U", other.url))
    outs = driver.page.frame_locator(FRAME).locator(".out")
    expect(outs).to_have_count(10)
    for number in range(10):
        outs.nth(number).click()
    driver.drawn(10)
    assert (other.heard, other.connections) == ([], 0)
    expect(driver.page.frame_locator(FRAME).locator("#mark")).to_have_text("shown")


def test_tables_drawings_and_formulas_stay(driver: PageDriver) -> None:
    show(driver, LAYOUT)
    frame = driver.page.frame_locator(FRAME)
    expect(frame.locator("td")).to_have_css("color", "rgb(1, 2, 3)")
    assert frame.locator("td").get_attribute("colspan") == "2"
    assert frame.locator("circle").get_attribute("fill") == "url(#g)"
    assert frame.locator("linearGradient stop").count() == 1
    assert frame.locator("mfrac mn").count() == 2
    assert frame.locator("img").evaluate("image => image.naturalWidth") == 1
    expect(frame.locator("summary")).to_have_text("more")
    expect(frame.locator("body")).to_contain_text("kept")
