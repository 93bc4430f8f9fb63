/** Makes horizontally scrolling text reachable by keyboard. */

/** Text wider than its card scrolls, so it must be focusable. */
export const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
