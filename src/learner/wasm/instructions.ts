/*
 * WebAssembly's instructions, as far as the inner loops need them, each as its bytes (WebAssembly Core Specification 2.0,
 * section 5.4). An operand is the code that computes it, so that nested calls read as an expression does. Addresses are
 * bytes from the beginning of the memory; comparisons and addresses are unsigned.
 */

export type Code = readonly number[];

/** Types of values: integers of 32 and of 64 bits, a 64-bit number, and two of these side by side. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F64 = 0x7c;
export const V128 = 0x7b;

/** LEB128: seven bits a byte, the lowest first. */
export function unsigned(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) {
      bytes.push(rest);
      return bytes;
    }
    bytes.push((rest & 127) | 128);
  }
}

function signed(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) {
      bytes.push(rest & 127);
      return bytes;
    }
    bytes.push((rest & 127) | 128);
  }
}

const binary =
  (...opcode: number[]) =>
  (a: Code, b: Code): Code => [...a, ...b, ...opcode];

/** @param align the binary logarithm of the bytes read or written */
const load =
  (align: number, ...opcode: number[]) =>
  (address: Code, offset = 0): Code => [...address, ...opcode, align, ...unsigned(offset)];

const store =
  (align: number, ...opcode: number[]) =>
  (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...opcode,
    align,
    ...unsigned(offset),
  ];

/** Parameters and locals of a function are numbered together, parameters first. */
export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
/** Sets a local; its value too. */
export const tee = (local: number, value: Code): Code => [...value, 0x22, ...unsigned(local)];

export const whole = (value: number): Code => [0x41, ...signed(value)];
export const add = binary(0x6a);
export const subtract = binary(0x6b);
/** Adds bytes to an address. */
export const move = (local: number, bytes: Code): Code => set(local, add(get(local), bytes));
export const multiply = binary(0x6c);
export const and = binary(0x71);
export const or = binary(0x72);
export const xor = binary(0x73);
export const isBelow = binary(0x49);
export const isOther = binary(0x47);
export const shiftLeft = (value: Code, bits: number): Code => [...value, ...whole(bits), 0x74];
export const shiftRight = (value: Code, bits: number): Code => [...value, ...whole(bits), 0x76];

/** By as many bits as a value says, modulo 32. */
export const shiftLeftBy = binary(0x74);
export const shiftRightBy = binary(0x76);
/** How many zeros are before the highest bit that is set: 32 where there is none. */
export const leadingZeros = (value: Code): Code => [...value, 0x67];
/** How many zeros are behind the lowest bit that is set: 32 where there is none. */
export const trailingZeros = (value: Code): Code => [...value, 0x68];
export const countBits = (value: Code): Code => [...value, 0x69];
/** The first value where the condition is not 0, else the second. */
export const choose = (first: Code, second: Code, condition: Code): Code => [
  ...first,
  ...second,
  ...condition,
  0x1b,
];

export const loadByte = load(0, 0x2d);
export const loadWhole = load(2, 0x28);
/** Of 16 bits. */
export const loadHalf = load(1, 0x2f);
export const loadLong = load(3, 0x29);
export const loadNumber = load(3, 0x2b);
/** A 32-bit number, as one of 64 bits. */
export const loadFloat = (address: Code, offset = 0): Code => [...load(2, 0x2a)(address, offset), 0xbb];
export const loadPair = load(3, 0xfd, 0x00);
/** Two 32-bit numbers, as ones of 64 bits. */
export const loadTwoFloats = (address: Code, offset = 0): Code => [
  ...load(2, 0xfd, 0x5d)(address, offset),
  ...[0xfd, 0x5f],
];
export const storeWhole = store(2, 0x36);
export const storeLong = store(3, 0x37);
export const storeNumber = store(3, 0x39);
export const storePair = store(3, 0xfd, 0x0b);
/** A 64-bit number that is always the same. */
export const constant = (value: number): Code => {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return [0x44, ...new Uint8Array(bytes.buffer)];
};
/** Of 64 bits: an unsigned whole number, products, as many bits further up, and comparison. */
export const toLong = (value: Code): Code => [...value, 0xad];
/** All bits for -1. */
export const toSignedLong = (value: Code): Code => [...value, 0xac];
export const andLong = binary(0x83);
export const orLong = binary(0x84);
/** As a 32-bit integer: 64 where no bit is set. */
export const trailingZerosLong = (value: Code): Code => [...value, 0x7a, 0xa7];
export const multiplyLong = binary(0x7e);
export const shiftLeftLong = (value: Code, bits: number): Code => [...value, 0x42, ...signed(bits), 0x86];
export const isBelowLong = binary(0x54);
/** The number that an unsigned whole one is. */
export const toNumber = (value: Code): Code => [...value, 0xb8];
export const addNumbers = binary(0xa0);
export const subtractNumbers = binary(0xa1);
export const multiplyNumbers = binary(0xa2);
export const divideNumbers = binary(0xa3);
/** NaN where one of both is. */
export const largerOf = binary(0xa5);
export const isAbove = binary(0x64);
export const isAtLeast = binary(0x66);
/** A pair of two numbers. */
export const pairOf = (first: Code, second: Code): Code => [...both(first), ...second, 0xfd, 0x22, 1];
/** All bits of a number's place where it holds, else none. */
export const isPairAbove = binary(0xfd, 0x4a);
export const isPairAtLeast = binary(0xfd, 0x4c);
export const andPairs = binary(0xfd, 0x4e);
/** Bit 0 and 1 of a whole number: the signs of both numbers. */
export const signsOfPair = (pair: Code): Code => [...pair, 0xfd, ...unsigned(0xc4)];
/** Two whole numbers from memory, for `upperHalvesDiffer`. */
export const loadTwoWholes = load(2, 0xfd, 0x5d);
/** Of two whole numbers each: all bits of a pair's number where their upper 16 bits differ. */
export const upperHalvesDiffer = (a: Code, b: Code): Code => [
  ...[...a, ...b, 0xfd, 0x51],
  ...[...whole(16), 0xfd, ...unsigned(0xad)],
  ...[0xfd, ...unsigned(0xc9)],
  ...[0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0), 0xfd, ...unsigned(0xd7)],
];
export const addPairs = binary(0xfd, ...unsigned(0xf0));
export const subtractPairs = binary(0xfd, ...unsigned(0xf1));
export const multiplyPairs = binary(0xfd, ...unsigned(0xf2));
export const dividePairs = binary(0xfd, ...unsigned(0xf3));
/** Number by number the second where the first is below it, else the first, which is so where one of both is NaN too. */
export const secondWhereAbove = binary(0xfd, ...unsigned(0xf7));
export const sizesOfPair = (pair: Code): Code => [...pair, 0xfd, ...unsigned(0xec)];
/** Twice the same number, and one read from memory. */
export const both = (value: Code): Code => [...value, 0xfd, 0x14];
export const loadBoth = load(3, 0xfd, 0x0a);
/** The first number of a pair, and the second; the sum of both, of a pair in a local; and one that has something added to the first. */
export const firstOf = (pair: Code): Code => [...pair, 0xfd, 0x21, 0];
export const secondOf = (pair: Code): Code => [...pair, 0xfd, 0x21, 1];
export const sumOfPair = (local: number): Code => addNumbers(firstOf(get(local)), secondOf(get(local)));
export const addToFirst = (local: number, value: Code): Code =>
  set(local, [...get(local), ...addNumbers(firstOf(get(local)), value), 0xfd, 0x22, 0]);

/** Copies bytes from one address to another. */
export const copy = (to: Code, from: Code, length: Code): Code => [
  ...to,
  ...from,
  ...length,
  0xfc,
  ...unsigned(10),
  0,
  0,
];

const EMPTY = 0x40;

/** Does something once, and again as long as a condition holds. */
export const doWhile = (body: Code, condition: Code): Code => [
  0x03,
  EMPTY,
  ...body,
  ...condition,
  0x0d,
  0,
  0x0b,
];

export const when = (condition: Code, body: Code): Code => [...condition, 0x04, EMPTY, ...body, 0x0b];

export const whenElse = (condition: Code, body: Code, otherwise: Code): Code => [
  ...[...condition, 0x04, EMPTY, ...body],
  ...[0x05, ...otherwise, 0x0b],
];

/** Does something as long as a condition holds. */
export const whileLoop = (condition: Code, body: Code): Code => when(condition, doWhile(body, condition));
