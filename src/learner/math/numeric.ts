/**
 * Exponential and logarithm from basic arithmetic, which IEEE 754 defines to the bit, while Math.exp and Math.log may
 * differ between engines. Both are within 2 ulp of the exact value.
 */

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

const POWERS_OF_TWO = new Float64Array(2100);
{
  POWERS_OF_TWO[1075] = 1;
  for (let i = 1; i <= 1023; i++) {
    POWERS_OF_TWO[1075 + i] = POWERS_OF_TWO[1075 + i - 1] * 2;
  }
  for (let i = 1; i <= 1074; i++) {
    POWERS_OF_TWO[1075 - i] = POWERS_OF_TWO[1075 - i + 1] / 2;
  }
}

/** 2^exponent, from -1074 to 1023. */
export function powerOfTwo(exponent: number): number {
  return POWERS_OF_TWO[1075 + exponent];
}

/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const ROUND = 6755399441055744;

/**
 * e^x by its Taylor series, for |x| < 1.
 */
function seriesExp(x: number): number {
  let sum = 1;
  for (let i = 20; i > 0; i--) {
    sum = 1 + (sum * x) / i;
  }
  return sum;
}

/** 2^(i/32). */
const ROOTS = Float64Array.from({ length: 32 }, (_, i) => seriesExp((i * 0.6931471805599453) / 32));

/** 2^(i/32), for i from 0 to 31. */
export function rootOfTwo(i: number): number {
  return ROOTS[i];
}

/** What `exp` computes with: below `lowest` the result is 0; `perStep` is 32 / ln 2, and a step is 1 / `perStep` in two parts. */
const EXPONENTIAL = {
  lowest: -745.1332191019411,
  perStep: 46.16624130844683,
  round: ROUND,
  step: { high: LN2_HIGH / 32, low: LN2_LOW / 32 },
} as const;

/** e^x: 2^(n/32) from a table, times e^r for a remainder r below ln 2 / 64 (P. Tang, 1989). */
export function exp(x: number): number {
  if (Number.isNaN(x)) {
    return NaN;
  }
  if (x > 709.782712893384) {
    return Infinity;
  }
  const { lowest, perStep, step } = EXPONENTIAL;
  if (x < lowest) {
    return 0;
  }
  const n = x * perStep + ROUND - ROUND;
  const r = x - n * step.high - n * step.low;
  const z = r * r;
  const rest = r + z * (1 / 2 + r * (1 / 6) + z * (1 / 24 + r * (1 / 120) + z * (1 / 720)));
  const root = ROOTS[n & 31];
  const sum = root + root * rest;
  const k = n >> 5;
  return k > 1023 ? sum * 2 * POWERS_OF_TWO[1075 + k - 1] : sum * POWERS_OF_TWO[1075 + k];
}

/** The bits of a number, as two words. */
const one = new Float64Array(1);
const words = new Int32Array(one.buffer);
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

/** The natural logarithm of x. */
export function log(x: number): number {
  if (!(x > 0)) {
    return x === 0 ? -Infinity : NaN;
  }
  if (x === Infinity) {
    return Infinity;
  }
  let shift = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984;
    shift = -54;
  }
  one[0] = x;
  const high = words[HIGH];
  let exponent = (high >>> 20) - 1023;
  words[HIGH] = (high & 0xfffff) | 0x3ff00000;
  let m = one[0];
  if (m > 1.4142135623730951) {
    m /= 2;
    exponent++;
  }
  exponent += shift;
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let sum = (1 / 21) * z;
  sum = (sum + 1 / 19) * z;
  sum = (sum + 1 / 17) * z;
  sum = (sum + 1 / 15) * z;
  sum = (sum + 1 / 13) * z;
  sum = (sum + 1 / 11) * z;
  sum = (sum + 1 / 9) * z;
  sum = (sum + 1 / 7) * z;
  sum = (sum + 1 / 5) * z;
  sum = (sum + 1 / 3) * z;
  return exponent * LN2_HIGH + (2 * s + (2 * s * sum + exponent * LN2_LOW));
}

/** x². A product rounds the same everywhere; Math.pow does not. */
export function square(x: number): number {
  return x * x;
}

/** 1 / (1 + e^-x), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) {
    return 1 / (1 + exp(-x));
  }
  const e = exp(x);
  return e / (1 + e);
}

/** Turns scores[from … from + count - 1], divided by `temperature`, into probabilities at `out[to …]`. */
export function softmax(
  scores: Float64Array,
  from: number,
  count: number,
  out: Float64Array,
  to: number,
  temperature = 1,
): void {
  let top = -Infinity;
  for (let k = 0; k < count; k++) {
    top = Math.max(top, scores[from + k]);
  }
  let sum = 0;
  for (let k = 0; k < count; k++) {
    const e = exp((scores[from + k] - top) / temperature);
    out[to + k] = e;
    sum += e;
  }
  for (let k = 0; k < count; k++) {
    out[to + k] /= sum;
  }
}
