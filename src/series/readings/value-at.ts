import type { Timeline } from './timeline';

/**
 * The value of a timeline at a time: numbers are interpolated linearly, states hold until the next reading.
 *
 * @param count only the first `count` readings are used
 * @param reach undefined where both neighbours are further away than this; one twice as far away is ignored
 */
export function valueAt(
  line: Timeline,
  count: number,
  time: number,
  reach: number,
  isNumber: boolean,
): number | undefined {
  const after = Math.min(line.countUntil(time), count);
  const before = after - 1;
  if (before >= 0 && line.time(before) === time) {
    return line.value(before);
  }
  const isNearBefore = before >= 0 && time - line.time(before) <= reach;
  const isNearAfter = after < count && line.time(after) - time <= reach;
  if (!isNearBefore && !isNearAfter) {
    return undefined;
  }
  if (!isNumber) {
    return before >= 0 ? line.value(before) : undefined;
  }
  // Interpolation towards a very distant reading would invent values.
  if (before < 0 || (after < count && time - line.time(before) > 2 * reach)) {
    return line.value(after);
  }
  if (after >= count || line.time(after) - time > 2 * reach) {
    return line.value(before);
  }
  const [from, to] = [line.time(before), line.time(after)];
  const [first, second] = [line.value(before), line.value(after)];
  return first + ((second - first) * (time - from)) / (to - from);
}
