/*
 * The WebAssembly instructions that the inner loops need, each as its bytes (WebAssembly Core Specification 2.0,
 * section 5.4). An operand is the code that computes it, so nested calls read like expressions. Addresses are byte
 * offsets in the memory; comparisons are unsigned unless noted.
 */

export type Code = readonly number[];

/** Value types: 32- and 64-bit integers, 64-bit floats, and SIMD vectors (here of two floats). */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F64 = 0x7c;
export const V128 = 0x7b;

/** Bytes of a 64-bit float, and of a vector of two. */
export const NUMBER = 8;
export const PAIR = 16;

/** LEB128: seven bits per byte, lowest first. */
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

/** @param align log2 of the bytes read or written */
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

/** Parameters and locals of a function share one numbering, parameters first. */
export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
/** Sets a local and leaves its value on the stack. */
export const tee = (local: number, value: Code): Code => [...value, 0x22, ...unsigned(local)];

export const i32 = (value: number): Code => [0x41, ...signed(value)];
export const add = binary(0x6a);
export const subtract = binary(0x6b);
/** Advances an address. */
export const move = (local: number, bytes: Code): Code => set(local, add(get(local), bytes));
export const multiply = binary(0x6c);
export const and = binary(0x71);
export const or = binary(0x72);
export const xor = binary(0x73);
export const isBelow = binary(0x49);
export const notEqual = binary(0x47);
export const shiftLeft = (value: Code, bits: number): Code => [...value, ...i32(bits), 0x74];
export const shiftRight = (value: Code, bits: number): Code => [...value, ...i32(bits), 0x76];
/** Keeps the sign. */
export const shiftRightSigned = (value: Code, bits: number): Code => [...value, ...i32(bits), 0x75];

/** Shifts by a computed number of bits, modulo 32. */
export const shiftLeftBy = binary(0x74);
export const shiftRightBy = binary(0x76);
/** Zeros above the highest bit set: 32 if there is none. */
export const leadingZeros = (value: Code): Code => [...value, 0x67];
/** Zeros below the lowest bit set: 32 if there is none. */
export const trailingZeros = (value: Code): Code => [...value, 0x68];
export const countBits = (value: Code): Code => [...value, 0x69];
/** The first value if the condition is not 0, else the second. */
export const select = (first: Code, second: Code, condition: Code): Code => [
  ...first,
  ...second,
  ...condition,
  0x1b,
];

export const isEqual = binary(0x46);

export const loadU8 = load(0, 0x2d);
export const loadI32 = load(2, 0x28);
/** 16 bits, unsigned. */
export const loadU16 = load(1, 0x2f);
export const loadI64 = load(3, 0x29);
export const loadF64 = load(3, 0x2b);
/** A 32-bit float, converted to 64 bits. */
export const loadF32 = (address: Code, offset = 0): Code => [...load(2, 0x2a)(address, offset), 0xbb];
export const loadF64x2 = load(3, 0xfd, 0x00);
/** Two 32-bit floats, converted to 64 bits. */
export const loadF32x2 = (address: Code, offset = 0): Code => [
  ...load(2, 0xfd, 0x5d)(address, offset),
  ...[0xfd, 0x5f],
];
export const storeI32 = store(2, 0x36);
export const storeU8 = store(0, 0x3a);
export const storeI64 = store(3, 0x37);
export const storeF64 = store(3, 0x39);
export const storeF64x2 = store(3, 0xfd, 0x0b);
/** A 64-bit float constant. */
export const f64 = (value: number): Code => {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return [0x44, ...new Uint8Array(bytes.buffer)];
};
/** Unsigned conversion to 64 bits. */
export const extendUnsigned = (value: Code): Code => [...value, 0xad];
/** Sign extension: all bits set for -1. */
export const extendSigned = (value: Code): Code => [...value, 0xac];
export const andI64 = binary(0x83);
export const orI64 = binary(0x84);
/** As a 32-bit integer: 64 if no bit is set. */
export const trailingZerosI64 = (value: Code): Code => [...value, 0x7a, 0xa7];
export const multiplyI64 = binary(0x7e);
export const shiftLeftI64 = (value: Code, bits: number): Code => [...value, 0x42, ...signed(bits), 0x86];
export const isBelowI64 = binary(0x54);
/** Conversion of an unsigned integer to a float. */
export const toF64 = (value: Code): Code => [...value, 0xb8];
export const addF64 = binary(0xa0);
export const subtractF64 = binary(0xa1);
export const multiplyF64 = binary(0xa2);
export const divideF64 = binary(0xa3);
/** NaN if either is. */
export const maxF64 = binary(0xa5);
export const isAbove = binary(0x64);
export const isAtLeast = binary(0x66);
/** A vector of two floats. */
export const makeF64x2 = (first: Code, second: Code): Code => [...splat(first), ...second, 0xfd, 0x22, 1];
/** Per lane, all bits set if the comparison holds, else none. */
export const isAboveF64x2 = binary(0xfd, 0x4a);
export const isAtLeastF64x2 = binary(0xfd, 0x4c);
export const differsF64x2 = binary(0xfd, 0x48);
export const andV128 = binary(0xfd, 0x4e);
/** The first and not the second. */
export const andNotV128 = binary(0xfd, 0x4f);
/** A float of a pair as a 32-bit integer; 0 for NaN. */
export const truncatedLane = (pair: Code, lane: 0 | 1): Code => [
  ...[...pair, 0xfd, ...unsigned(0xfc)],
  ...[0xfd, 0x1b, lane],
];
/** Bits 0 and 1: the signs of both lanes. */
export const signBitsF64x2 = (pair: Code): Code => [...pair, 0xfd, ...unsigned(0xc4)];
/** Two 32-bit integers from memory, for `upperHalvesDiffer`. */
export const loadI32x2 = load(2, 0xfd, 0x5d);
/** For two integers each: per float lane, all bits set if their upper 16 bits differ. */
export const upperHalvesDiffer = (a: Code, b: Code): Code => [
  ...[...a, ...b, 0xfd, 0x51],
  ...[...i32(16), 0xfd, ...unsigned(0xad)],
  ...[0xfd, ...unsigned(0xc9)],
  ...[0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0), 0xfd, ...unsigned(0xd7)],
];
export const addF64x2 = binary(0xfd, ...unsigned(0xf0));
export const subtractF64x2 = binary(0xfd, ...unsigned(0xf1));
export const multiplyF64x2 = binary(0xfd, ...unsigned(0xf2));
export const divideF64x2 = binary(0xfd, ...unsigned(0xf3));
/** Per lane, the second if the first is below it, else the first (also if either is NaN). */
export const pmaxF64x2 = binary(0xfd, ...unsigned(0xf7));
export const negateF64x2 = (pair: Code): Code => [...pair, 0xfd, ...unsigned(0xed)];
export const absF64x2 = (pair: Code): Code => [...pair, 0xfd, ...unsigned(0xec)];
/** The same value in both lanes, computed or loaded. */
export const splat = (value: Code): Code => [...value, 0xfd, 0x14];
export const loadSplat = load(3, 0xfd, 0x0a);
/** Lanes of a vector; their sum, for a local; and adding to the first lane of a local. */
export const lane0 = (pair: Code): Code => [...pair, 0xfd, 0x21, 0];
export const lane1 = (pair: Code): Code => [...pair, 0xfd, 0x21, 1];
export const sumLanes = (local: number): Code => addF64(lane0(get(local)), lane1(get(local)));
export const addToLane0 = (local: number, value: Code): Code =>
  set(local, [...get(local), ...addF64(lane0(get(local)), value), 0xfd, 0x22, 0]);

/** Vectors of sixteen bytes, and one such constant. */
export const loadV128 = load(4, 0xfd, 0x00);
export const storeV128 = store(4, 0xfd, 0x0b);
export const bytes16 = (values: readonly number[]): Code => [0xfd, 0x0c, ...values];
/** A 32-bit integer in each of four lanes, computed or loaded. */
export const splatI32 = (value: Code): Code => [...value, 0xfd, 0x11];
export const loadSplatI32 = load(2, 0xfd, 0x09);
/** Per byte, the element of the first vector that the second one names; 0 if that is above 15. */
export const swizzle = binary(0xfd, 0x0e);
export const orV128 = binary(0xfd, 0x50);
/** Per byte, all bits set if the comparison holds, else none; `isAboveI8x16` is signed. */
export const isEqualI8x16 = binary(0xfd, 0x23);
export const isAboveI8x16 = binary(0xfd, 0x27);
/** Stops at 255. */
export const addSaturatedU8x16 = binary(0xfd, 0x70);
export const subtractI8x16 = binary(0xfd, 0x71);
export const minU8x16 = binary(0xfd, 0x77);
export const maxU8x16 = binary(0xfd, 0x79);
/** The bytes of a local's vector at these places. */
export const shuffle = (local: number, places: readonly number[]): Code => [
  ...[...get(local), ...get(local)],
  ...[0xfd, 0x0d, ...places],
];
export const shiftRightU16x8 = (value: Code, bits: number): Code => [
  ...value,
  ...i32(bits),
  0xfd,
  ...unsigned(0x8d),
];

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

/** Runs the body once, and again while the condition holds. */
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

/** Runs the body while the condition holds. */
export const whileLoop = (condition: Code, body: Code): Code => when(condition, doWhile(body, condition));
