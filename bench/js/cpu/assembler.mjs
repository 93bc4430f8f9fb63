/** Writes small WebAssembly modules by hand, for the roofs: what a core can do at most. */

export const I32 = 0x7f;
export const V128 = 0x7b;

const text = (word) => {
  const bytes = [...new TextEncoder().encode(word)];
  return [...unsigned(bytes.length), ...bytes];
};

/** Returns a number in LEB128, seven bits a byte. */
export function unsigned(number) {
  const bytes = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

/** Returns a number in signed LEB128. */
export function signed(number) {
  const bytes = [];
  for (let rest = number; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 127];
    bytes.push((rest & 127) | 128);
  }
}

export const get = (local) => [0x20, ...unsigned(local)];
export const set = (local) => [0x21, ...unsigned(local)];
export const tee = (local) => [0x22, ...unsigned(local)];
export const constant = (number) => [0x41, ...signed(number)];

const simd = (code) => [0xfd, ...unsigned(code)];

const ALIGNMENT = 2; // as a power of two: elements lie at multiples of 4 bytes

export const load = (offset) => [...simd(0), ALIGNMENT, ...unsigned(offset)];
export const splat = (offset) => [...simd(9), ALIGNMENT, ...unsigned(offset)];
export const store = (offset) => [...simd(11), ALIGNMENT, ...unsigned(offset)];
export const zero = [...simd(12), ...new Array(16).fill(0)];
export const add = simd(0xe4);
export const multiply = simd(0xe6);
export const relaxedMultiplyAdd = simd(0x105);

export const increase = (local, bytes) => [
  ...get(local),
  ...constant(bytes),
  0x6a,
  ...set(local),
];

/** Runs `body` until the local, which falls by `step`, is zero; at least once. */
export function loop(local, step, body) {
  const test = [...get(local), ...constant(step), 0x6b, ...tee(local)];
  return [0x03, 0x40, ...body, ...test, 0x0d, 0, 0x0b];
}

/**
 * Returns a module that imports `m.memory` and exports one function `run`.
 * @param parameters how many i32 it takes; @param locals pairs of count and type
 */
export function moduleOf({ parameters, locals, code }) {
  const declared = list(locals.map(([count, type]) => [...unsigned(count), type]));
  const body = [...declared, ...code, 0x0b];
  const sections = [
    [1, list([[0x60, ...list(new Array(parameters).fill([I32])), 0]])],
    [2, list([[...text("m"), ...text("memory"), 2, 0, 1]])],
    [3, list([[0]])],
    [7, list([[...text("run"), 0, 0]])],
    [10, list([[...unsigned(body.length), ...body]])],
  ];
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const bytes = sections.flatMap(([id, content]) => [
    id,
    ...unsigned(content.length),
    ...content,
  ]);
  return new Uint8Array([...magic, ...bytes]);
}

function list(items) {
  return [...unsigned(items.length), ...items.flat()];
}
