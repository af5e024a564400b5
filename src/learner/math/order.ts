/** Bits of a digit, and the shifts of a 32-bit word's digits. */
const BITS = 11;
const SHIFTS = [0, BITS, 2 * BITS];
const DIGITS = 1 << BITS;
const SIGN = 1 << 31;
const LOW_WORD = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/**
 * Indices that sort numbers (without NaN) in ascending order; ties stay in their original order. A radix sort on the
 * bits, last digit first: a tenth of the time of a comparison sort.
 */
export function argsort(values: Float64Array): Int32Array {
  const count = values.length;
  const words = new Int32Array(Float64Array.from(values).buffer);
  let order = indices(count);
  const [low, high] = [new Int32Array(count), new Int32Array(count)];
  for (let i = 0; i < count; i++) {
    const isZero = values[i] === 0;
    const top = isZero ? 0 : words[i * 2 + 1 - LOW_WORD];
    // The bits, as unsigned integers, sort like the numbers once negative ones are inverted.
    const turned = top >> 31;
    high[i] = top ^ (turned | SIGN);
    low[i] = isZero ? 0 : words[i * 2 + LOW_WORD] ^ turned;
  }
  let spare: Int32Array = new Int32Array(count);
  for (const word of [low, high]) {
    for (const shift of SHIFTS) {
      if (sortBy(word, shift, order, spare)) {
        [order, spare] = [spare, order];
      }
    }
  }
  return order;
}

/** Sorts by one digit into `to`. Returns false, with nothing written, if the digit is the same everywhere. */
function sortBy(words: Int32Array, shift: number, from: Int32Array, to: Int32Array): boolean {
  const places = new Int32Array(DIGITS + 1);
  for (let i = 0; i < words.length; i++) {
    places[((words[i] >>> shift) & (DIGITS - 1)) + 1]++;
  }
  if (words.length === 0 || places[((words[0] >>> shift) & (DIGITS - 1)) + 1] === words.length) {
    return false;
  }
  for (let digit = 1; digit <= DIGITS; digit++) {
    places[digit] += places[digit - 1];
  }
  for (let i = 0; i < from.length; i++) {
    const place = from[i];
    to[places[(words[place] >>> shift) & (DIGITS - 1)]++] = place;
  }
  return true;
}

/** Numbers (without NaN) in ascending order. */
export function sorted(values: Float64Array): Float64Array {
  const order = argsort(values);
  const out = new Float64Array(order.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = values[order[i]];
  }
  return out;
}

/** 0 … count - 1. */
export function indices(count: number): Int32Array {
  const out = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    out[i] = i;
  }
  return out;
}
