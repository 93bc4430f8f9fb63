/** Helpers that build elements; text is always set as text, never as HTML. */

type Child = Node | string | null | undefined;

/** Make an element with attributes and children; null attributes are omitted. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child): child is Node | string => child != null));
  return node;
}

/** Return an element that must exist. */
export function find<T extends HTMLElement = HTMLElement>(
  selector: string,
  within: ParentNode = document,
): T {
  const node = within.querySelector<T>(selector);
  if (!node) throw new Error(`internal: ${selector} is not on the page`);
  return node;
}

/** Make a button with a label and an action. */
export function button(
  label: string,
  action: (event: MouseEvent) => void,
  attributes: Record<string, string | number | boolean | null> = {},
): HTMLButtonElement {
  const node = el("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", action);
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

/** Make a 16 by 16 line icon from one path. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export const ICONS = {
  run: "M4.5 2.8v10.4L13 8z",
  stop: "M4 4h8v8H4z",
  share: "M8 10V2.5M5 5l3-3 3 3M3 9v4.5h10V9",
  reset: "M3 8a5 5 0 1 0 1.6-3.7M3 2.5v3h3",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M3 13l1.2-1.2M11.8 4.2 13 3",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z",
  system: "M2 3h12v8H2zM6 14h4M8 11v3",
  book: "M8 4C6.5 2.8 4.5 2.5 2 2.7v9.6c2.5-.2 4.5.1 6 1.3 1.5-1.2 3.5-1.5 6-1.3V2.7C11.5 2.5 9.5 2.8 8 4zm0 0v9.6",
  back: "M10 3 5 8l5 5",
  next: "M6 3l5 5-5 5",
  chevron: "M4 6l4 4 4-4",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  done: "M3 8.5 6.5 12 13 4.5",
  help: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.8.5-1.1.9-1.1 1.8M8 12.3v.2",
} as const;

/** Run an action at most once per frame, with the latest request winning. */
export function perFrame(action: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      action();
    });
  };
}
