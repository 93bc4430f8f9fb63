/** The viewport of a picture in its frame: fit, zoom and pan, in CSS pixels. */

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** The size of a cell, and the offset of the picture's first corner in the frame. */
export interface Viewport extends Point {
  cellWidth: number;
  cellHeight: number;
}

/** A picture's rows and columns, and the aspect ratio of a cell. */
export interface Grid {
  rows: number;
  columns: number;
  aspect: number;
}

/** Device pixels of a cell, beyond the size at which the picture fills its frame. */
const LEVELS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/** The least ratio of a picture's sides; no side is thinner than LARGEST_FIT pixels. */
const MOST_OBLONG = 6;
const LARGEST_FIT = 96;

/** Return a grid whose full picture is not too narrow to be visible. */
export function gridOf(rows: number, columns: number, block: number): Grid {
  let aspect = block >= 1 / 3 && block <= 3 ? block : 1;
  const oblong = (rows * aspect) / columns;
  if (oblong * MOST_OBLONG < 1) aspect /= oblong * MOST_OBLONG;
  else if (oblong > MOST_OBLONG) aspect /= oblong / MOST_OBLONG;
  return { rows, columns, aspect };
}

/** Return the viewport of the full picture, fitted to the frame. */
export function fitted(grid: Grid, frame: Size, ratio: number): Viewport {
  const { rows, columns, aspect } = grid;
  const width = Math.min(frame.width / columns, frame.height / rows / aspect, LARGEST_FIT / Math.max(aspect, 1));
  return centred(grid, frame, sized(width, aspect, ratio));
}

/** Return the viewport one zoom step in or out about a point, null at the limit. */
export function zoomed(viewport: Viewport, grid: Grid, frame: Size, ratio: number, about: Point, direction: 1 | -1): Viewport | null {
  const fit = fitted(grid, frame, ratio);
  const now = viewport.cellWidth * ratio;
  const least = fit.cellWidth * ratio;
  const levels = [least, ...LEVELS.filter((level) => level > least * 1.01)];
  const next =
    direction > 0
      ? levels.find((level) => level > now * 1.01)
      : levels.findLast((level) => level < now * 0.99);
  if (next === undefined) return null;
  if (next === least) return fit;
  return at(viewport, grid, frame, about, sized(next / ratio, grid.aspect, ratio));
}

/** Return the viewport in which a cell has one screen pixel, or more if it fits. */
export function pixelForPixel(viewport: Viewport, grid: Grid, frame: Size, ratio: number, about: Point): Viewport {
  const fit = fitted(grid, frame, ratio);
  if (fit.cellWidth * ratio >= 1) return fit;
  return at(viewport, grid, frame, about, sized(1 / ratio, grid.aspect, ratio));
}

/** Move the picture, at most to its edges. */
export function panned(viewport: Viewport, grid: Grid, frame: Size, by: Point): Viewport {
  const moved = { ...viewport, x: viewport.x + by.x, y: viewport.y + by.y };
  const middle = centred(grid, frame, viewport);
  const limit = (to: number, centre: number, room: number, length: number): number =>
    length <= room ? centre : Math.min(0, Math.max(room - length, to));
  return {
    ...moved,
    x: limit(moved.x, middle.x, frame.width, grid.columns * viewport.cellWidth),
    y: limit(moved.y, middle.y, frame.height, grid.rows * viewport.cellHeight),
  };
}

/** Move the picture as little as needed to show a cell. */
export function showing(viewport: Viewport, grid: Grid, frame: Size, row: number, column: number): Viewport {
  const into = (from: number, length: number, room: number): number => {
    if (from < 0) return -from;
    return from + length > room ? room - from - length : 0;
  };
  return panned(viewport, grid, frame, {
    x: into(viewport.x + column * viewport.cellWidth, viewport.cellWidth, frame.width),
    y: into(viewport.y + row * viewport.cellHeight, viewport.cellHeight, frame.height),
  });
}

/** Integer cell sizes must fill this fraction of the frame; otherwise cells may differ by a pixel. */
const LEAST_FILLED = 0.92;

/** Cell sizes of whole device pixels, unless these would leave too much of the frame empty. */
function sized(width: number, aspect: number, ratio: number): Pick<Viewport, "cellWidth" | "cellHeight"> {
  const whole = (size: number): number => {
    const pixels = Math.floor(size * ratio + 1e-6);
    return pixels >= LEAST_FILLED * size * ratio ? pixels / ratio : size;
  };
  return { cellWidth: whole(width), cellHeight: whole(width * aspect) };
}

function centred(grid: Grid, frame: Size, size: Pick<Viewport, "cellWidth" | "cellHeight">): Viewport {
  const middle = (room: number, length: number): number => Math.max(0, Math.floor((room - length) / 2));
  return {
    ...size,
    x: middle(frame.width, grid.columns * size.cellWidth),
    y: middle(frame.height, grid.rows * size.cellHeight),
  };
}

/** Fix the point of the picture under a point of the frame. */
function at(viewport: Viewport, grid: Grid, frame: Size, about: Point, size: Pick<Viewport, "cellWidth" | "cellHeight">): Viewport {
  const x = about.x - ((about.x - viewport.x) / viewport.cellWidth) * size.cellWidth;
  const y = about.y - ((about.y - viewport.y) / viewport.cellHeight) * size.cellHeight;
  return panned({ ...size, x: Math.round(x), y: Math.round(y) }, grid, frame, { x: 0, y: 0 });
}
