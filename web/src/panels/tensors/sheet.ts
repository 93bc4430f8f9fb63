/** Exports a picture: the cells with name, facts, scale and the program's title on one canvas. */

import { colourOf } from "./colours";
import { drawWhole } from "./heatmap";
import type { Picture } from "./picture";
import { short } from "../../parts/format";

export interface Sheet {
  title: string;
  facts: string;
  /** The slice of the tensor, or the meaning of a cell. */
  note: string;
  program: string;
  /** Colours of the page: text, secondary text, background. */
  ink: string;
  muted: string;
  ground: string;
}

/** All sizes are in pixels of the sheet. */
const MARGIN = 32;
const ROOM = { width: 960, height: 720 };
const LEAST_WIDTH = 480;
const TITLE = 26;
const TEXT = 16;
const LINE = 24;
const SCALE = { gap: 24, width: 20, numbers: 90 };
const FONT = "ui-sans-serif, system-ui, sans-serif";

/** Draw a sheet; it has the same size on every screen. */
export function sheetOf(picture: Picture, sheet: Sheet): HTMLCanvasElement {
  const cells = document.createElement("canvas");
  drawWhole(cells, picture, ROOM);
  const [width, height] = [parseFloat(cells.style.width), parseFloat(cells.style.height)];
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser has no canvas left.");
  const lines = [sheet.facts, sheet.note].filter(Boolean);
  const top = MARGIN + TITLE + lines.length * LINE + MARGIN / 2;
  const scale = SCALE.gap + SCALE.width + SCALE.numbers;
  canvas.width = Math.max(LEAST_WIDTH, width + scale) + 2 * MARGIN;
  canvas.height = top + height + LINE + 2 * MARGIN;
  context.fillStyle = sheet.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.textBaseline = "alphabetic";
  const write = (text: string, x: number, y: number, colour: string, font: string): void => {
    context.fillStyle = colour;
    context.font = font;
    context.fillText(text, x, y, canvas.width - x - MARGIN);
  };
  write(sheet.title, MARGIN, MARGIN + TITLE - 4, sheet.ink, `600 ${TITLE}px ui-monospace, monospace`);
  lines.forEach((text, at) => write(text, MARGIN, MARGIN + TITLE + (at + 1) * LINE, sheet.muted, `${TEXT}px ${FONT}`));
  context.imageSmoothingEnabled = cells.width > width;
  context.drawImage(cells, MARGIN, top, width, height);
  drawScale(context, picture, MARGIN + width + SCALE.gap, top, height, sheet.ink);
  const end = canvas.height - MARGIN;
  write(`${sheet.program} · made with tensorweb`, MARGIN, end, sheet.muted, `${TEXT}px ${FONT}`);
  return canvas;
}

/** Draw the scale with the values of its ends and its middle. */
function drawScale(context: CanvasRenderingContext2D, { scale }: Picture, x: number, y: number, height: number, ink: string): void {
  const { low, high } = scale;
  for (let row = 0; row < height; row++) {
    const [r, g, b] = colourOf(high + ((low - high) * row) / Math.max(height - 1, 1), scale);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect(x, y + row, SCALE.width, 1);
  }
  context.fillStyle = ink;
  context.font = `${TEXT}px ui-monospace, monospace`;
  const middle = low / 2 + high / 2;
  const marks = low === high ? [[low, 0.5]] : height < 3 * TEXT ? [[high, 0], [low, 1]] : [[high, 0], [middle, 0.5], [low, 1]];
  for (const [value = 0, part = 0] of marks) {
    context.textBaseline = part === 0 ? "top" : part === 1 ? "bottom" : "middle";
    context.fillText(short(value), x + SCALE.width + 8, y + part * height);
  }
}
