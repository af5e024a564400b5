/**
 * Exponential and logarithm from additions and multiplications only: IEEE 754 fixes those to the bit, while
 * Math.exp and Math.log may change with the engine. Both are within 2 ulp of the exact value.
 */

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

const POWERS_OF_TWO = new Float64Array(2100);
{
  POWERS_OF_TWO[1075] = 1;
  for (let i = 1; i <= 1023; i++) POWERS_OF_TWO[1075 + i] = POWERS_OF_TWO[1075 + i - 1]! * 2;
  for (let i = 1; i <= 1074; i++) POWERS_OF_TWO[1075 - i] = POWERS_OF_TWO[1075 - i + 1]! / 2;
}

/** e^x. */
export function exp(x: number): number {
  if (x !== x) return NaN;
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019411) return 0;
  const k = Math.round(x * 1.4426950408889634);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  // The Taylor series, its even and its odd terms side by side, since each sum waits for the one before it.
  const z = r * r;
  const even =
    1 + z * (1 / 2 + z * (1 / 24 + z * (1 / 720 + z * (1 / 40320 + z * (1 / 3628800 + z / 479001600)))));
  const odd =
    1 + z * (1 / 6 + z * (1 / 120 + z * (1 / 5040 + z * (1 / 362880 + z * (1 / 39916800 + z / 6227020800)))));
  const sum = even + r * odd;
  return k > 1023 ? sum * 2 * POWERS_OF_TWO[1075 + k - 1]! : sum * POWERS_OF_TWO[1075 + k]!;
}

const view = new DataView(new ArrayBuffer(8));

/** The natural logarithm of x. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return Infinity;
  let shift = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984;
    shift = -54;
  }
  view.setFloat64(0, x);
  const high = view.getInt32(0);
  let exponent = (high >>> 20) - 1023;
  view.setInt32(0, (high & 0xfffff) | 0x3ff00000);
  let m = view.getFloat64(0);
  if (m > 1.4142135623730951) {
    m /= 2;
    exponent++;
  }
  exponent += shift;
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let sum = 0;
  for (let i = 21; i >= 3; i -= 2) sum = (sum + 1 / i) * z;
  return exponent * LN2_HIGH + (2 * s + (2 * s * sum + exponent * LN2_LOW));
}

/** 1 / (1 + e^-x), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + exp(-x));
  const e = exp(x);
  return e / (1 + e);
}

/** Turns scores[from … from + count - 1] divided by `temperature` into probabilities at `out[to …]`. */
export function softmax(
  scores: Float64Array,
  from: number,
  count: number,
  out: Float64Array,
  to: number,
  temperature = 1,
): void {
  let top = -Infinity;
  for (let k = 0; k < count; k++) top = Math.max(top, scores[from + k]!);
  let sum = 0;
  for (let k = 0; k < count; k++) {
    const e = exp((scores[from + k]! - top) / temperature);
    out[to + k] = e;
    sum += e;
  }
  for (let k = 0; k < count; k++) out[to + k]! /= sum;
}
