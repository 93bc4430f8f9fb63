// Schur forms of complex matrices, A = Q T Q^H, and the eigenvectors of T.
//
// A workgroup rotates planes: first to Hessenberg form, then in QR sweeps with Wilkinson's
// shift until nothing is left below the diagonal. The first lane chooses a rotation, all
// lanes apply it to rows and columns; a step is one rotation. Further steps solve for the
// eigenvectors, a row at a time. Numbers are pairs. The result is Q, T and X, where
// T X = X diag(T). (Golub and Van Loan, Matrix Computations, 7.4 to 7.6)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  size: u32,
  rotations: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> work: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first(), second() and NaN
fn first(index: u32) -> f32 {
  return input0[index];
}
fn second(index: u32) -> f32 {
  return input1[index];
}
fn nan_if(is_bad: bool, value: f32) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(value), 0x7fc00000u, is_bad));
}
// end functions

// slot team: threads of a workgroup, side by side in rows of COLUMNS
const LANES: u32 = 256u;
const COLUMNS: u32 = 16u;
// end team

// Half a unit in the last place of 1.
const EPSILON: f32 = 5.9604645e-8;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let row = 2u * n;
  let q = matrix * 3u * n * row;
  let t = q + n * row;
  let x = t + n * row;
  // phase, column, row, last row of the active block, sweeps, its first row; then the
  // rotation: plane, c, s (two words), whether there is one, the column of the element
  // that becomes 0 in the lower row
  let state = matrix * 12u;
  if (parameters.begin == 0u) {
    for (var i = lane; i < n * n; i += LANES) {
      result[t + 2u * i] = first(matrix * n * n + i);
      result[t + 2u * i + 1u] = second(matrix * n * n + i);
      result[q + 2u * i] = select(0.0, 1.0, i / n == i % n);
      result[q + 2u * i + 1u] = 0.0;
      result[x + 2u * i] = select(0.0, 1.0, i / n == i % n);
      result[x + 2u * i + 1u] = 0.0;
    }
    if (lane == 0u) {
      work[state] = select(1.0, 0.0, n > 2u);
      work[state + 1u] = 0.0;
      work[state + 2u] = f32(n) - 1.0;
      work[state + 3u] = f32(n) - 1.0;
      work[state + 4u] = 0.0;
      work[state + 5u] = 0.0;
    }
  }
  for (var step = parameters.begin; step < parameters.end; step += 1u) {
    storageBarrier();
    if (step < parameters.rotations) {
      if (lane == 0u) {
        let phase = work[state];
        var plane = 0u;
        var zero_column = n;
        var a: f32 = 1.0;
        var ai: f32 = 0.0;
        var b: f32 = 0.0;
        var bi: f32 = 0.0;
        if (phase == 0.0) {
          let k = u32(work[state + 1u]);
          let i = u32(work[state + 2u]);
          plane = i - 1u;
          zero_column = k;
          a = result[t + plane * row + 2u * k];
          ai = result[t + plane * row + 2u * k + 1u];
          b = result[t + i * row + 2u * k];
          bi = result[t + i * row + 2u * k + 1u];
          let is_next = i == k + 2u;
          work[state + 2u] = f32(select(i - 1u, n - 1u, is_next));
          work[state + 1u] = f32(select(k, k + 1u, is_next));
          if (is_next & (k + 3u >= n)) {
            work[state] = 1.0;
          }
        }
        if (phase == 1.0) {
          // A sweep begins: find the converged rows and the active block.
          var high = u32(work[state + 3u]);
          var sweeps = work[state + 4u];
          var low = high;
          var is_open = true;
          while (is_open & (low > 0u)) {
            let at = t + low * row + 2u * low;
            let above = at - row - 2u;
            let lower = at - 2u;
            let size = abs(result[lower]) + abs(result[lower + 1u]);
            let own = abs(result[at]) + abs(result[at + 1u]);
            let both = own + abs(result[above]) + abs(result[above + 1u]);
            let is_small = size <= EPSILON * max(both, 0.01);
            if (is_small) {
              result[lower] = 0.0;
              result[lower + 1u] = 0.0;
              is_open = low == high;
              high = select(high, low - 1u, is_open);
              sweeps = select(sweeps, 0.0, is_open);
            }
            low = select(low, low - 1u, is_open);
          }
          work[state + 3u] = f32(high);
          work[state + 4u] = sweeps + 1.0;
          work[state + 5u] = f32(low);
          work[state + 1u] = f32(low);
          work[state] = select(2.0, 3.0, high == 0u);
        }
        if (work[state] == 2.0) {
          let k = u32(work[state + 1u]);
          let high = u32(work[state + 3u]);
          plane = k;
          if (k == u32(work[state + 5u])) {
            // The eigenvalue of the last 2 x 2 block that is nearest to its last element.
            let d = t + high * row + 2u * high;
            let c = d - 2u;
            let f = d - row;
            let e = f - 2u;
            let half = 0.5 * (result[e] - result[d]);
            let halfi = 0.5 * (result[e + 1u] - result[d + 1u]);
            let bc = result[f] * result[c] - result[f + 1u] * result[c + 1u];
            let bci = result[f] * result[c + 1u] + result[f + 1u] * result[c];
            let u = half * half - halfi * halfi + bc;
            let v = 2.0 * half * halfi + bci;
            let length = sqrt(u * u + v * v);
            let larger = sqrt(0.5 * (length + abs(u)));
            let smaller = select(0.0, 0.5 * abs(v) / larger, larger > 0.0);
            var root = select(smaller, larger, u >= 0.0);
            var rooti = select(larger, smaller, u >= 0.0);
            rooti = select(rooti, -rooti, v < 0.0);
            let is_against = half * root + halfi * rooti < 0.0;
            root = half + select(root, -root, is_against);
            rooti = halfi + select(rooti, -rooti, is_against);
            let whole = root * root + rooti * rooti;
            let inverse = select(0.0, 1.0 / whole, whole > 0.0);
            var shift = result[d] - (bc * root + bci * rooti) * inverse;
            let shifti = result[d + 1u] - (bci * root - bc * rooti) * inverse;
            let sweeps = u32(work[state + 4u]);
            if (sweeps % 10u == 0u) {
              shift = shift + abs(result[c]) + abs(result[c + 1u]);
            }
            let corner = t + k * row + 2u * k;
            a = result[corner] - shift;
            ai = result[corner + 1u] - shifti;
            b = result[corner + row];
            bi = result[corner + row + 1u];
          }
          if (k > u32(work[state + 5u])) {
            zero_column = k - 1u;
            let at = t + k * row + 2u * zero_column;
            a = result[at];
            ai = result[at + 1u];
            b = result[at + row];
            bi = result[at + row + 1u];
          }
          work[state + 1u] = f32(k + 1u);
          if (k + 1u >= high) {
            work[state] = 1.0;
          }
        }
        // The rotation of (a, b) whose second component becomes 0.
        let scale = max(max(abs(a), abs(ai)), max(abs(b), abs(bi)));
        let unit = select(0.0, 1.0 / scale, scale > 0.0);
        let an = a * unit;
        let ain = ai * unit;
        let bn = b * unit;
        let bin = bi * unit;
        let size = sqrt(an * an + ain * ain);
        let radius = sqrt(an * an + ain * ain + bn * bn + bin * bin);
        let is_rotated = (bn != 0.0) | (bin != 0.0);
        let cosine = select(1.0, size / radius, is_rotated);
        let along = select(1.0, an / size, size > 0.0);
        let alongi = select(0.0, ain / size, size > 0.0);
        work[state + 6u] = f32(plane);
        work[state + 7u] = cosine;
        let sine = (along * bn + alongi * bin) / radius;
        let sinei = (alongi * bn - along * bin) / radius;
        work[state + 8u] = select(0.0, sine, is_rotated);
        work[state + 9u] = select(0.0, sinei, is_rotated);
        work[state + 10u] = select(0.0, 1.0, is_rotated);
        work[state + 11u] = f32(zero_column);
      }
      storageBarrier();
      let p = u32(work[state + 6u]);
      let c = work[state + 7u];
      let s = work[state + 8u];
      let si = work[state + 9u];
      let is_rotated = work[state + 10u] != 0.0;
      // What rounding would leave there grows in later sweeps, until none converges.
      let zero_column = u32(work[state + 11u]);
      if (is_rotated) {
        for (var k = lane; k < n; k += LANES) {
          let upper = t + p * row + 2u * k;
          let lower = upper + row;
          let a = result[upper];
          let ai = result[upper + 1u];
          let b = result[lower];
          let bi = result[lower + 1u];
          result[upper] = c * a + (s * b - si * bi);
          result[upper + 1u] = c * ai + (s * bi + si * b);
          let below = c * b - (s * a + si * ai);
          let belowi = c * bi - (s * ai - si * a);
          result[lower] = select(below, 0.0, k == zero_column);
          result[lower + 1u] = select(belowi, 0.0, k == zero_column);
        }
      }
      storageBarrier();
      if (is_rotated) {
        // The rows of T follow those of Q.
        for (var i = lane; i < 2u * n; i += LANES) {
          let left = q + i * row + 2u * p;
          let a = result[left];
          let ai = result[left + 1u];
          let b = result[left + 2u];
          let bi = result[left + 3u];
          result[left] = c * a + (s * b + si * bi);
          result[left + 1u] = c * ai + (s * bi - si * b);
          result[left + 2u] = c * b - (s * a - si * ai);
          result[left + 3u] = c * bi - (s * ai + si * a);
        }
      }
    }
    if (step >= parameters.rotations) {
      let is_bad = work[state] != 3.0;
      let i = parameters.rotations + n - 1u - step;
      let corner = t + i * row + 2u * i;
      for (var k = lane; k < n; k += LANES) {
        if (k < i) {
          result[t + i * row + 2u * k] = 0.0;
          result[t + i * row + 2u * k + 1u] = 0.0;
        }
        if (k > i) {
          var sum: f32 = 0.0;
          var sumi: f32 = 0.0;
          let own = t + k * row + 2u * k;
          var largest = abs(result[own]) + abs(result[own + 1u]);
          for (var j = i + 1u; j <= k; j += 1u) {
            let at = t + i * row + 2u * j;
            let its = x + j * row + 2u * k;
            largest = max(largest, abs(result[at]) + abs(result[at + 1u]));
            sum += result[at] * result[its] - result[at + 1u] * result[its + 1u];
            sumi += result[at] * result[its + 1u] + result[at + 1u] * result[its];
          }
          let other = t + k * row + 2u * k;
          var d = result[other] - result[corner];
          let di = result[other + 1u] - result[corner + 1u];
          let least = max(EPSILON * largest, 1e-18);
          d = select(d, least, abs(d) + abs(di) <= least);
          let whole = d * d + di * di;
          let part = (sum * d + sumi * di) / whole;
          let parti = (sumi * d - sum * di) / whole;
          let size = abs(part) + abs(parti);
          let unit = select(1.0, 1.0 / size, size > 1e6);
          if (unit < 1.0) {
            for (var j = i + 1u; j <= k; j += 1u) {
              let at = x + j * row + 2u * k;
              result[at] = result[at] * unit;
              result[at + 1u] = result[at + 1u] * unit;
            }
          }
          result[x + i * row + 2u * k] = part * unit;
          result[x + i * row + 2u * k + 1u] = parti * unit;
        }
      }
      storageBarrier();
      if (lane == 0u) {
        result[corner] = nan_if(is_bad, result[corner]);
      }
    }
  }
}
