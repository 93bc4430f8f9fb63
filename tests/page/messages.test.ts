/** What a hostile program may send for Python's messages is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { NoteLimit, readResponse, readMessage, readNote, type RequestName } from "../../web/src/page/messages";
import * as valid from "./records";

type Fields = Record<string, unknown>;

/** Whether the page takes a response; bytes and files are sent next to the JSON. */
function isTaken(name: RequestName, value: unknown): boolean {
  const { json, data, files } = packed(value);
  try {
    readResponse(name, { id: 1, response: json, ...(data && { data }), ...(files && { files }) });
    return true;
  } catch {
    return false;
  }
}

function isNoteTaken(kind: string, value: unknown): boolean {
  const { json, data } = packed(value);
  return readNote({ said: kind, fields: json, ...(data && { data }) }) !== null;
}

function packed(value: unknown): { json: string; data?: Uint8Array; files?: Blob[] } {
  let data: Uint8Array | undefined;
  const files: Blob[] = [];
  const json = JSON.stringify(value, (key, item: unknown) => {
    if (key === "values" && item instanceof Uint8Array) return (data = item) && null;
    const file = item as { name: string; data: Blob } | null;
    return file?.data instanceof Blob && files.push(file.data) ? file.name : item;
  });
  return { json, ...(data && { data }), ...(files.length > 0 && { files }) };
}

const LONG = "x".repeat(4_000_001);
/** The fields that may have longer texts. */
const LONGER = ["sample.values", "export.data"];

/** Every copy of a value with one field of another type or without one field, and where that is. */
function* spoilt(value: unknown, optional: ReadonlySet<string>, where = ""): Generator<[unknown, string]> {
  if (value instanceof Blob || value instanceof Uint8Array) return;
  if (Array.isArray(value)) {
    for (const [item, path] of spoilt(value[0], optional, `${where}[0]`)) yield [[item, ...value.slice(1)], path];
  } else if (typeof value === "object" && value !== null) {
    for (const [name, field] of Object.entries(value)) {
      const path = `${where}.${name}`;
      const { [name]: _, ...rest } = value as Fields;
      if (!optional.has(name)) yield [rest, `${path} missing`];
      yield [{ ...value, [name]: { other: 1 } }, `${path} an object`];
      if (typeof field === "number") yield [{ ...value, [name]: "1" }, `${path} a text`];
      if (typeof field === "string") yield [{ ...value, [name]: 1 }, `${path} a number`];
      if (typeof field === "string") yield [{ ...value, [name]: LONG }, `${path} too long`];
      for (const [item, below] of spoilt(field, optional, path)) yield [{ ...value, [name]: item }, below];
    }
  }
}

const OPTIONAL = new Set(["seconds", "search", "min", "max", "mean", "nan", "inf", "origins", "problem", "rich", "storage", "inside", "captured", "memory", "copied", "clash", "file"]);
test("valid responses are taken, and none with one field spoilt", () => {
  for (const [name, value] of Object.entries(valid.RESPONSES) as [RequestName, unknown][]) {
    assert(isTaken(name, value), name);
    for (const [other, where] of spoilt(value, OPTIONAL)) {
      if (where.endsWith("values missing") || where.includes(".files[0]")) continue;
      if (LONGER.some((path) => `${name}${where}` === `${path} too long`)) continue;
      assert(!isTaken(name, other), `${name}${where}`);
    }
    assert(!isTaken(name, "text") && !isTaken(name, 5), name);
  }
});

test("a run has its seconds", () => {
  const { seconds: _, ...rest } = valid.RESPONSES.run;
  assert(!isTaken("run", rest));
});

test("valid messages of programs are taken, and none with one field spoilt", () => {
  for (const [kind, value] of Object.entries(valid.NOTES)) {
    assert(isNoteTaken(kind, value), kind);
    for (const [other, where] of spoilt(value, OPTIONAL)) assert(!isNoteTaken(kind, other), `${kind}${where}`);
  }
  assert(!isNoteTaken("toString", {}));
  assert(!isNoteTaken("output", null));
});

test("a heat map has the values that its size says", () => {
  const { heatmap } = valid.RESPONSES;
  const base64 = (length: number): string => "A".repeat(Math.ceil(length / 3) * 4);
  const taken = [{}, { values: base64(24) }, { encoding: "float64", values: new Uint8Array(48) }, { channels: 3, values: new Uint8Array(72) }];
  const refused = [
    ...[{ rows: 30_000, columns: 30_000 }, { rows: 3 }, { columns: -3 }, { rows: 1.5, columns: 4 }, { channels: 0 }],
    ...[{ values: new Uint8Array(20) }, { values: new Uint8Array(28) }, { values: base64(20) }, { values: base64(28) }],
    ...[{ channels: 5, values: new Uint8Array(120) }, { encoding: "float64" }, { encoding: "int8" }, { how: "median" }],
    { channels: 0, rows: 0, values: new Uint8Array(0) },
    { rows: 2048, columns: 1024, values: new Uint8Array(4 * 2048 * 1024) },
  ];
  for (const change of taken) assert(isTaken("heatmap", { ...heatmap, ...change }), Object.keys(change).join());
  for (const change of refused) {
    assert(!isTaken("heatmap", { ...heatmap, ...change }), Object.keys(change).join());
    assert(!isNoteTaken("picture", { ...valid.NOTES.picture, heatmap: { ...heatmap, ...change } }));
  }
});

test("numbers are finite and not negative where they count", () => {
  const [tensor] = valid.RESPONSES.describe;
  for (const change of [{ size: -1 }, { size: 0.5 }, { shape: [-1] }, { strides: [0.5] }, { shape: new Array(10_001).fill(1) }]) {
    assert(!isTaken("describe", [{ ...tensor, ...change }]), JSON.stringify(change).slice(0, 80));
  }
  assert(!isTaken("describe", new Array(10_001).fill(tensor)));
});

test("names of files lead nowhere else", () => {
  for (const name of ["../a", "a/b", ".hidden", "", "a\0b", "a\\b"]) {
    assert(!isTaken("collect", { files: [{ name, data: new Blob() }], deleted: [], left: 0 }), name);
  }
  assert(!isTaken("collect", { files: ["a.csv"], deleted: [], left: 0 }));
});

test("fingerprints have dtypes and digests of the expected form", () => {
  const [one] = valid.RESPONSES.fingerprint;
  for (const change of [{ dtype: "float32\n" }, { dtype: "<b>" }, { digest: "0" }, { name: "x".repeat(401) }, { numbers: new Array(8).fill(0) }]) {
    assert(!isTaken("fingerprint", [{ ...one, ...change }]), JSON.stringify(change));
  }
  assert(!isTaken("fingerprint", new Array(41).fill(one)));
});

test("messages of other forms are dropped", () => {
  const taken = [
    ...[{ id: 5, response: "{}" }, { id: 5, error: "no" }, { note: "step", text: "GPU" }, { fatal: "over" }],
    { note: "bytes", what: "Python", done: 1, total: 2 },
    { said: "output", fields: "{}", data: new Uint8Array(4) },
  ];
  const refused = [
    ...["x", null, 5, [], {}, { id: "x" }, { id: -1, response: "{}" }, { id: 5, response: {} }, { fatal: 5 }],
    ...[{ note: "step", text: 7 }, { note: "output", stream: "stdout", text: "forged" }, { said: "o".repeat(21), fields: "" }],
    { said: "output", fields: "{}", data: new Uint8Array(new ArrayBuffer(8), 4) },
    { id: 5, response: "{}", files: ["x"] },
  ];
  for (const message of taken) assert(readMessage(message), JSON.stringify(message));
  for (const message of refused) assert.equal(readMessage(message), null, JSON.stringify(message));
});

test("the text of a run is limited, and text that is overwritten counts once", () => {
  const limit = new NoteLimit();
  const text = `${"x".repeat(1000)}\r`;
  for (let i = 0; i < 10_000; i++) assert(limit.takes({ note: "output", stream: "stdout", text }));
  const lines = new NoteLimit();
  const line = "x".repeat(99_999) + "\n";
  for (let i = 0; i < 10; i++) assert(lines.takes({ note: "output", stream: "stdout", text: line }));
  assert(!lines.takes({ note: "output", stream: "stdout", text: "x" }));
});

test("the displays of a run are limited, and the size of their pictures", () => {
  const shown = { note: "display", ...valid.NOTES.display } as const;
  const limit = new NoteLimit();
  for (let i = 0; i < 1000; i++) assert(limit.takes(shown));
  assert(!limit.takes(shown));
  assert(!new NoteLimit().takes({ ...shown, rich: { kind: "png", data: "A".repeat(40_000_001) } }));
});
