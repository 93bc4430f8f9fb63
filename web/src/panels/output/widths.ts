/** Lets the keyboard reach texts that scroll sideways. */

/** A text that is wider than its card scrolls, and then the keyboard must reach it. */
export const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
