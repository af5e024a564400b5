/*
 * Scores of coalitions, by the trees in leaf blocks.
 */
import { findPasses, Slots, insideEnd, outsideEnd, reaching } from './blocks.as';
import {
  GROUP_BITS,
  HEADER_BYTES,
  HEADER_GROUPS,
  HEADER_LEAVES,
  HEADER_LEAVES_END,
  HEADER_MIXTURE_BYTES,
  HEADER_OUTPUT,
  LEAF_RECORD_BYTES,
  LEAF_VALUE,
  SCRATCH_INSIDE,
  SCRATCH_OUTSIDE,
} from './layout';
import { addNumber, NUMBER, WHOLE } from './shared.as';

/** Adds a number per class of 32 bits, times `weight`. */
function addTimes(to: usize, from: usize, count: usize, weight: f64): void {
  for (const end = from + count * WHOLE; from < end; from += WHOLE, to += NUMBER) {
    addNumber(to, weight * (load<f32>(from) as f64));
  }
}

export function addBlockCoalitions(
  headers: usize,
  end: usize,
  bins: usize,
  rows: u32,
  scores: usize,
  starts: usize,
  bits: usize,
  perLeaf: usize,
  weight: f64,
): void {
  for (let header = headers; header < end; header += HEADER_BYTES) {
    findPasses(header, bins);
    const leavesEnd = load<u32>(header, HEADER_LEAVES_END);
    const groups: usize = load<u32>(header, HEADER_GROUPS);
    const mixtureBytes: usize = load<u32>(header, HEADER_MIXTURE_BYTES);
    const output = scores + load<u32>(header, HEADER_OUTPUT);
    let slots: usize = leavesEnd;
    let bit: u32 = 0;
    for (
      let leaf: usize = load<u32>(header, HEADER_LEAVES);
      leaf < leavesEnd;
      leaf += LEAF_RECORD_BYTES, bit++
    ) {
      slots = Slots.divide(false, slots, leaf, bit, rows, groups, bits, GROUP_BITS);
      const values = perLeaf == 1 ? leaf + LEAF_VALUE : (load<u32>(leaf, LEAF_VALUE) as usize);
      for (let rest = reaching; rest; rest &= rest - 1) {
        const row = ctz<u32>(rest);
        let inside: u32 = 0;
        for (let at: usize = SCRATCH_INSIDE; at < insideEnd; at += 8) {
          const isFailing = (load<u32>(at) >> row) & 1;
          inside |= load<u32>(load<u32>(at, 4) + row * WHOLE) & (0 - isFailing);
        }
        let outside: u32 = 0;
        for (let at: usize = SCRATCH_OUTSIDE; at < outsideEnd; at += WHOLE) {
          outside |= load<u32>(load<u32>(at) + row * WHOLE);
        }
        const first = output + load<u32>(starts + row * WHOLE) + inside * mixtureBytes;
        for (let part = outside; ; part = (part - 1) & outside) {
          addTimes(first + part * mixtureBytes, values, perLeaf, popcnt<u32>(part) & 1 ? -weight : weight);
          if (!part) {
            break;
          }
        }
      }
    }
  }
}
