/** What a link carries: its program, its parameters, view settings, fingerprints. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compared } from "../../web/src/page/fingerprint";
import { focused, isFocus } from "../../web/src/page/focus";
import { decodeCode, encodeCode, LONGEST_LOOK, readAddress } from "../../web/src/page/link";
import { nameProblem, pack, plainName, unpack } from "../../web/src/page/program";
import { packFocus } from "../../web/src/page/sharing";
import { fits, isViewSettings, type ViewSettings } from "../../web/src/page/view-settings";
import { RESPONSES } from "./records";

const read = (fields: string) => readAddress({ hash: `#code=A&${fields}`, search: "" });

test("a program comes out of a link as it went in", async () => {
  // The digest of the second has both characters that base64url replaces.
  for (const source of ["print('é' * 3)\n", Array.from({ length: 3000 }, (_, i) => `x${i} = ${i * i}`).join("\n"), ""]) {
    const code = await encodeCode(source);
    assert(/^[\w-]*$/.test(code), code.slice(0, 80));
    assert.equal(await decodeCode(code), source);
  }
});

test("damaged and far too long programs are refused", async () => {
  const long = await encodeCode("x".repeat(2_000_001));
  for (const code of ["%%%", "AAAA", long, await encodeCode("#!tensorweb files\n[]"), await encodeCode("#!tensorweb files\n{")]) {
    await assert.rejects(() => decodeCode(code));
  }
  await assert.rejects(async () => decodeCode(await encodeCode("12345"), 4));
});

test("an address names a program, an example or one of the reader's own", () => {
  const { code, example, own } = readAddress({ hash: "#ex=01-tour", search: "?example=02" });
  assert.deepEqual([code, example, own], [null, "01-tour", null]);
  assert.equal(readAddress({ hash: "", search: "?example=02" }).example, "02");
  assert.equal(readAddress({ hash: "#own=3", search: "" }).own, "3");
  assert.deepEqual([read("t=x[0]&v=9.9").tensor, read("t=x[0]&v=9.9").version], ["x[0]", "9.9"]);
});

test("parameters of another form are left out and named", () => {
  const refused = {
    "t=x&tab=<b>&v=<script>alert(1)</script>": ["panel", "version"],
    [`t=${"a".repeat(401)}`]: ["tensor"],
    "t=%00": ["tensor"],
    [`t=__proto__&tab=constructor&v=${"9".repeat(5000)}`]: ["version"],
    "fp=%25%25": ["results"],
    [`look=${"A".repeat(2001)}`]: ["view"],
    [`fp=${"A".repeat(20_001)}`]: ["results"],
  };
  for (const [fields, words] of Object.entries(refused)) assert.deepEqual(read(fields).refused, words.sort(order), fields);
});

const WORDS = ["tensor", "panel", "view", "version", "results"];
const order = (a: string, b: string): number => WORDS.indexOf(a) - WORDS.indexOf(b);

const settings: ViewSettings = { axes: { rows: 0, columns: 1 }, index: [0, 0], scale: null, mode: "cells" };

test("view settings are checked, and fit a shape or do not", () => {
  assert(isViewSettings(settings));
  assert(isViewSettings({ ...settings, scale: { low: 0, high: 1, diverging: true } }));
  const axes = [-1, 1e9, [0], "0"].map((rows) => ({ axes: { rows, columns: 1 } }));
  const scales = [{ low: 1, high: 1, diverging: false }, { low: 0, high: null, diverging: false }].map((scale) => ({ scale }));
  for (const change of [...axes, ...scales, { mode: "x" }, { index: [-1] }, { index: new Array(65).fill(0) }]) {
    assert(!isViewSettings({ ...settings, ...change }), JSON.stringify(change));
  }
  assert(!isViewSettings([1]) && !isViewSettings(null));
  assert(fits(settings, [2, 3], null));
  assert(!fits(settings, [2, 3, 4], null) && !fits({ ...settings, index: [2, 0] }, [2, 3], null));
  assert(!fits({ ...settings, mode: "curve" }, [2, 3], null) && !fits({ ...settings, mode: "colours" }, [2, 3], null));
  assert(!fits({ ...settings, axes: { rows: 1, columns: 1 } }, [2, 3], null));
});

test("the first tensor that differs from the sender's is named", () => {
  const first = { name: "first", shape: [2, 3], dtype: "int32", digest: "0123456789abcdef", numbers: [] };
  const second = { name: "second", shape: [25], dtype: "float32", digest: null, numbers: [0, 1, 0.5, 0.5, 0.1, 0, 0] };
  const here = [first, second];
  const changed = (at: number, value: number): number[] => second.numbers.with(at, value);
  const messages: [typeof here, string][] = [
    [[{ ...first, digest: "f".repeat(16) }, second] as typeof here, "“first” has other values"],
    [[{ ...first, shape: [3, 2] }, second] as typeof here, "“first” has the shape (2, 3), the sender’s (3, 2)"],
    [[{ ...first, dtype: "int64" }, second] as typeof here, "“first” is of dtype int32, the sender’s of int64"],
    [[first, { ...second, numbers: changed(2, 0.25) }] as typeof here, "“second” has the mean 0.5, the sender’s 0.25, 25 % of"],
    [[first, { ...second, numbers: changed(5, 3) }] as typeof here, "“second” has 0 NaN, the sender’s 3"],
    [[...here, { ...first, name: "third" }] as typeof here, "“third” is missing here"],
    [[first] as typeof here, "“second” is here alone"],
  ];
  for (const [sent, text] of messages) {
    const found = compared(sent, here);
    assert(!found.isSame && found.text.startsWith(`Not the sender’s result: ${text}`), found.text);
  }
  // Other GPUs add in another order.
  assert.deepEqual(compared([first, { ...second, numbers: changed(3, 0.50025) }], here), {
    isSame: true,
    text: "Same result as the sender’s (2 tensors).",
  });
  assert(compared(RESPONSES.fingerprint, RESPONSES.fingerprint).isSame);
});

test("the files of a program are one text, and names that no page writes are refused", () => {
  const files = [{ name: "main.py", text: "import a" }, { name: "a.py", text: "x = 1" }, { name: "d.csv", text: "1,2" }];
  assert.deepEqual(unpack(pack(files)), files);
  assert.equal(pack([{ name: "main.py", text: "x = 1" }]), "x = 1");
  const mark = "#!tensorweb files\nx";
  assert.deepEqual(unpack(pack([{ name: "main.py", text: mark }])), [{ name: "main.py", text: mark }]);
  for (const name of ["../a.py", "main.py", "a-b.py", "x.exe", ".csv", `${"a".repeat(60)}.csv`]) {
    assert.throws(() => unpack(pack([...files, { name, text: "" }])), /no name/);
    assert(nameProblem(name, files) !== null, name);
  }
  assert.equal(nameProblem("b.py", files), null);
  assert.deepEqual(["../a", "a/b\\c", "", ".x"].map(plainName), ["__a", "a_b_c", "file", "_x"]);
});

test("a focus is cut to what a link may carry", async () => {
  const random = (at: number): string => Array.from({ length: 500 }, (_, i) => Math.floor(Math.abs(Math.sin(at * 500 + i)) * 36).toString(36)).join("");
  const why = Array.from({ length: 50 }, (_, at) => ({ name: random(at), index: [at], value: "1", line: 1, search: null }));
  const focus = focused(null, { why });
  assert(focus !== null);
  assert.deepEqual([focus.why.length, focus.why[0]?.index, focus.why[0]?.name.length], [40, [10], 400]);
  const packed = await packFocus(focus);
  assert.deepEqual(read(`at=${packed}`).refused, []);
  const seen: unknown = JSON.parse(await decodeCode(packed ?? "", LONGEST_LOOK));
  assert(isFocus(seen) && seen.why.length > 1);
  assert.deepEqual(seen.why, focus.why.slice(-seen.why.length));
  // The kernel is all of it.
  const kernel = focused(null, { kernel: { kernel: 0, name: random(1) } });
  assert(kernel !== null && (await packFocus(kernel)) !== null);
});
