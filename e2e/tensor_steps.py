"""What tests of the tensor view look at: the readout, the scale, a pixel."""

from __future__ import annotations

from page_driver import PageDriver, expect


def expect_status(driver: PageDriver, text: str) -> None:
    expect(driver.page.locator(".cell-status")).to_have_text(text)


def pixel(driver: PageDriver, x: float, y: float) -> list[int]:
    """Return the colour of the heat map at a position in parts of its size."""
    found: list[int] = driver.page.evaluate(
        """([x, y]) => { const c = document.querySelector('.heatmap');
        const one = new OffscreenCanvas(1, 1).getContext('2d');
        one.drawImage(c, -Math.floor(x * c.width), -Math.floor(y * c.height));
        return [...one.getImageData(0, 0, 1, 1).data] }""",
        [x, y],
    )
    return found


def scale(driver: PageDriver) -> tuple[str, str]:
    """Return what stands at the lower and at the upper end of the scale."""
    low, high = (
        driver.page.get_by_label(f"{end} end of the scale").input_value()
        for end in ("Lower", "Upper")
    )
    return low, high
