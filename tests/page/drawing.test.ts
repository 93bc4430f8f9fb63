/** What is drawn: terminal colours, lines, the viewport of a picture, unpacked values, numbers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LineMeter } from "../../web/src/page/line-meter";
import { AnsiReader, PLAIN, type Piece } from "../../web/src/panels/output/ansi";
import { fitting } from "../../web/src/panels/tensors/marks";
import { countInto, extentOf, unpack } from "../../web/src/panels/tensors/unpack";
import { fitted, gridOf, panned, pixelForPixel, showing, zoomed } from "../../web/src/panels/tensors/viewport";
import { exact, short, tuple } from "../../web/src/parts/format";

function pieces(...texts: string[]): Piece[] {
  const reader = new AnsiReader();
  return texts.flatMap((text) => [...reader.read(text)]);
}

const ESC = "\u001b";

test("colours of terminals are pieces with a look", () => {
  const red = { colour: "var(--ansi-red)", ground: null, traits: "bold" };
  assert.deepEqual(pieces(`a${ESC}[1;31mb${ESC}[0mc\n`), [
    { text: "a", look: PLAIN },
    { text: "b", look: red },
    { text: "c", look: PLAIN },
    "newline",
  ]);
  const coloured = (code: string) => (pieces(`${ESC}[${code}mx`)[0] as { look: typeof red }).look;
  assert.equal(coloured("38;5;196").colour, "rgb(255 0 0)");
  assert.equal(coloured("38;5;244").colour, "rgb(128 128 128)");
  assert.equal(coloured("48;2;300;0;7").ground, "rgb(255 0 7)");
  assert.equal(coloured("95").colour, "var(--ansi-bright-magenta)");
  assert.equal(coloured("1;4;22").traits, "underline");
  assert.equal(coloured("31;39"), PLAIN);
});

test("a sequence may be cut anywhere, and unknown ones are no text", () => {
  const text = `a${ESC}[1;32mb${ESC}[K\rc${ESC}]0;title\u0007d${ESC}[2J`;
  const joined = (found: Piece[]): string => found.map((one) => (typeof one === "string" ? `<${one}>` : one.text)).join("");
  assert.equal(joined(pieces(text)), "ab<erase><return>cd");
  for (let cut = 0; cut <= text.length; cut++) assert.equal(joined(pieces(text.slice(0, cut), text.slice(cut))), joined(pieces(text)));
});

test("text that is overwritten counts once", () => {
  const meter = new LineMeter();
  assert.deepEqual(["10 %\r20 %\r", "100 %\n", "a\nb", "\rcd", ""].map((text) => meter.take(text)), [4, 2, 3, 1, 0]);
});

test("a number has as many digits as fit into its cell", () => {
  assert.deepEqual([6, 5, 4, 3].map((room) => fitting(-0.375, room)), ["-0.375", "-0.38", "-0.4", "-0.375"]);
  assert.deepEqual([6, 5, 4, 3].map((room) => fitting(-123.4, room)), ["-123.4", "-123", "-123", "-123.4"]);
  assert.equal(fitting(-192, 3), "-192");
});

const frame = { width: 300, height: 200 };

test("a picture is fitted into its frame, zoomed and moved no further than its ends", () => {
  const grid = gridOf(100, 100, 1);
  const fit = fitted(grid, frame, 1);
  assert.deepEqual(fit, { x: 50, y: 0, cellWidth: 2, cellHeight: 2 });
  const about = { x: 100, y: 100 };
  const closer = zoomed(fit, grid, frame, 1, about, 1);
  assert(closer);
  assert.equal(closer.cellWidth, 3);
  // The point of the picture below the mouse stays there.
  assert.equal(Math.round((about.y - closer.y) / closer.cellHeight), (about.y - fit.y) / fit.cellHeight);
  assert.deepEqual(zoomed(closer, grid, frame, 1, about, -1), fit);
  assert.equal(zoomed(fit, grid, frame, 1, about, -1), null);
  assert.deepEqual(panned(closer, grid, frame, { x: 1000, y: -1000 }), { ...closer, x: 0, y: -100 });
  const far = showing(closer, grid, frame, 99, 0);
  assert.equal(far.y + 99 * far.cellHeight + far.cellHeight, frame.height);
});

test("a large picture has a pixel for each cell on request, and a narrow one is wide enough to be seen", () => {
  const large = gridOf(4000, 4000, 1);
  assert.equal(pixelForPixel(fitted(large, frame, 2), large, frame, 2, { x: 0, y: 0 }).cellWidth, 0.5);
  const narrow = gridOf(1, 600, 1);
  const { cellWidth, cellHeight } = fitted(narrow, frame, 1);
  assert(Math.abs((600 * cellWidth) / cellHeight - 6) < 0.01);
});

test("values are unpacked from bytes and from base64", () => {
  const values = new Float32Array([1.5, NaN, -Infinity, 0]);
  const bytes = new Uint8Array(values.buffer);
  assert.deepEqual([...unpack(bytes, "float32")], [...values]);
  assert.deepEqual([...unpack(btoa(String.fromCharCode(...bytes)), "float32")], [...values]);
  assert.deepEqual(extentOf(values), { low: 0, high: 1.5, nans: 1, infinities: 1 });
  assert.deepEqual(extentOf(new Float32Array([NaN])), { low: 0, high: 0, nans: 1, infinities: 0 });
  assert.deepEqual(countInto(3, new Float32Array([0, 1, 2, 3, NaN, 9]), 0, 3), [1, 1, 2]);
});

test("numbers and shapes are short", () => {
  assert.deepEqual([0, -0, 1234567, 0.1 + 0.2, 1e-9, NaN, -Infinity, null].map(short), ["0", "-0", "1234567", "0.3", "1e-9", "nan", "-inf", "–"]);
  assert.equal(exact(Math.fround(0.1), "float32"), "0.1");
  assert.equal(exact(0.1, "float64"), "0.1");
  assert.equal(exact(1, "bool"), "True");
  assert.deepEqual([tuple([]), tuple([3]), tuple([2, 3])], ["()", "(3,)", "(2, 3)"]);
});
