import {
  FOUND_BIN,
  FOUND_GAIN,
  FOUND_HESSIAN,
  FOUND_LIST,
  FOUND_MISSING,
  FOUND_WITH_MISSING,
  KNOWN,
  ROW_BITS,
} from './layout';

/* The loops of `SortedRows`: the gains of two borders are worked out side by side. A key is a bin and a row. */

const KEY: usize = 4;

export function copyMarked(keys: usize, end: usize, marks: usize, to: usize): void {
  for (; keys < end; keys += KEY) {
    // Every key is written, and moved past where its row is marked: a branch would be mispredicted.
    store<u32>(to, load<u32>(keys));
    to += (load<u8>(marks + load<u16>(keys)) as usize) * KEY;
  }
}

export function divideLists(
  from: usize,
  to: usize,
  stride: usize,
  endOfLists: usize,
  marks: usize,
  start: usize,
  middle: usize,
  end: usize,
): void {
  for (; from < endOfLists; from += stride, to += stride) {
    const stop = from + end;
    let left = to + start;
    let right = to + middle;
    for (let at = from + start; at < stop; at += KEY) {
      const isLeft = load<u8>(marks + load<u16>(at)) as usize;
      // `left` or `right`, without an unpredictable branch.
      store<u32>(right ^ ((left ^ right) & (0 - isLeft)), load<u32>(at));
      left += isLeft * KEY;
      right += KEY - isLeft * KEY;
    }
  }
}

class Search {
  /** @param isPlain every hessian is 1, and `gradients` holds a number per row instead of two */
  @inline
  static run(
    isPlain: bool,
    lists: usize,
    stride: usize,
    endOfLists: usize,
    start: usize,
    end: usize,
    gradients: usize,
    out: usize,
    total: f64,
    totalHessian: f64,
    lambda: f64,
    least: f64,
    minGain: f64,
    gain: f64,
  ): void {
    const bytes: usize = isPlain ? 8 : 16;
    const totals = f64x2.splat(total);
    const totalHessians = f64x2.splat(totalHessian);
    const lambdas = f64x2.splat(lambda);
    const leasts = f64x2.splat(least);
    const twos = f64x2.splat(2);
    const parent = (total * total) / (totalHessian + lambda);
    let top = max<f64>(gain, minGain) + parent;
    let tops = f64x2.splat(top);
    store<i32>(out, -1, FOUND_LIST);
    for (let list = 0; lists < endOfLists; lists += stride, list++) {
      const stop = lists + end;
      let known = lists + start;
      let missing: f64 = 0;
      let missingHessian: f64 = 0;
      for (; known < stop && load<u32>(known) < (KNOWN as u32); known += KEY) {
        const row = gradients + (load<u16>(known) as usize) * bytes;
        missing += load<f64>(row);
        missingHessian += isPlain ? 1 : load<f64>(row, 8);
      }
      let found: u32 = 0;
      let foundHessian: f64 = 0;
      let foundPass = 0;
      const passes = missingHessian > 0 ? 2 : 1;
      for (let pass = 0; pass < passes; pass++) {
        let gradient: f64 = pass ? missing : 0;
        let hessian: f64 = pass ? missingHessian : 0;
        let hessians = f64x2.replace_lane(f64x2.splat(hessian - 1), 1, hessian);
        let at = known;
        // Two keys at a time where a third one follows.
        for (; at + KEY < stop - KEY; at += 2 * KEY) {
          let row = gradients + (load<u16>(at) as usize) * bytes;
          gradient += load<f64>(row);
          let both = f64x2.splat(gradient);
          if (!isPlain) {
            hessian += load<f64>(row, 8);
            hessians = f64x2.splat(hessian);
          }
          row = gradients + (load<u16>(at, KEY) as usize) * bytes;
          gradient += load<f64>(row);
          both = f64x2.replace_lane(both, 1, gradient);
          if (isPlain) {
            hessians = f64x2.add(hessians, twos);
          } else {
            hessian += load<f64>(row, 8);
            hessians = f64x2.replace_lane(hessians, 1, hessian);
          }
          const rests = f64x2.sub(totalHessians, hessians);
          const others = f64x2.sub(totals, both);
          const below = f64x2.add(hessians, lambdas);
          const above = f64x2.add(rests, lambdas);
          // The gain times both denominators: dividing each time would take longer than all the rest.
          const scaled = f64x2.add(
            f64x2.mul(f64x2.mul(both, both), above),
            f64x2.mul(f64x2.mul(others, others), below),
          );
          const products = f64x2.mul(below, above);
          const steps = v128.xor(v128.load64_zero(at), v128.load64_zero(at + KEY));
          const isBorder = i64x2.ne(i64x2.extend_low_i32x4_u(i32x4.shr_u(steps, ROW_BITS)), i64x2.splat(0));
          const isBetter = v128.and(
            v128.and(f64x2.ge(hessians, leasts), f64x2.ge(rests, leasts)),
            v128.and(isBorder, f64x2.gt(scaled, f64x2.mul(tops, products))),
          );
          const lanes = i64x2.bitmask(isBetter);
          if (lanes) {
            if (lanes & 1) {
              top = f64x2.extract_lane(scaled, 0) / f64x2.extract_lane(products, 0);
              found = load<u32>(at) >> ROW_BITS;
              foundHessian = f64x2.extract_lane(hessians, 0);
              foundPass = pass;
            }
            if (lanes & 2 && f64x2.extract_lane(scaled, 1) > top * f64x2.extract_lane(products, 1)) {
              top = f64x2.extract_lane(scaled, 1) / f64x2.extract_lane(products, 1);
              found = load<u32>(at, KEY) >> ROW_BITS;
              foundHessian = f64x2.extract_lane(hessians, 1);
              foundPass = pass;
            }
            tops = f64x2.splat(top);
          }
        }
        if (isPlain) {
          hessian = f64x2.extract_lane(hessians, 1);
        }
        for (; at < stop; at += KEY) {
          const row = gradients + (load<u16>(at) as usize) * bytes;
          gradient += load<f64>(row);
          hessian += isPlain ? 1 : load<f64>(row, 8);
          let step = load<u32>(at);
          // Behind the last key there is a border.
          if (at + KEY < stop) {
            step ^= load<u32>(at, KEY);
          }
          const rest = totalHessian - hessian;
          if (step < (KNOWN as u32) || !(hessian >= least) || !(rest >= least)) {
            continue;
          }
          const other = total - gradient;
          const below = hessian + lambda;
          const above = rest + lambda;
          const scaled = gradient * gradient * above + other * other * below;
          const product = below * above;
          if (scaled > top * product) {
            top = scaled / product;
            tops = f64x2.splat(top);
            found = load<u32>(at) >> ROW_BITS;
            foundHessian = hessian;
            foundPass = pass;
          }
        }
      }
      if (found) {
        const better = top - parent;
        store<f64>(out, better, FOUND_GAIN);
        store<f64>(out, foundHessian, FOUND_HESSIAN);
        store<f64>(out, missingHessian, FOUND_MISSING);
        store<i32>(out, list, FOUND_LIST);
        store<u32>(out, found, FOUND_BIN);
        store<i32>(out, foundPass, FOUND_WITH_MISSING);
        top = max<f64>(better, minGain) + parent;
        tops = f64x2.splat(top);
      }
    }
  }
}

export function searchPlain(
  lists: usize,
  stride: usize,
  endOfLists: usize,
  start: usize,
  end: usize,
  gradients: usize,
  out: usize,
  total: f64,
  totalHessian: f64,
  lambda: f64,
  least: f64,
  minGain: f64,
  gain: f64,
): void {
  Search.run(
    true,
    lists,
    stride,
    endOfLists,
    start,
    end,
    gradients,
    out,
    total,
    totalHessian,
    lambda,
    least,
    minGain,
    gain,
  );
}

export function searchSorted(
  lists: usize,
  stride: usize,
  endOfLists: usize,
  start: usize,
  end: usize,
  gradients: usize,
  out: usize,
  total: f64,
  totalHessian: f64,
  lambda: f64,
  least: f64,
  minGain: f64,
  gain: f64,
): void {
  Search.run(
    false,
    lists,
    stride,
    endOfLists,
    start,
    end,
    gradients,
    out,
    total,
    totalHessian,
    lambda,
    least,
    minGain,
    gain,
  );
}
