import assert from 'node:assert/strict';

import { Watch, WeeklyPattern, type WeeklyPatternState } from '../../doors/watch';
import { DAY, NUMBERS } from './support';

const HOUR = DAY / 24;
const WEEK = 7 * DAY;
/** A Monday of winter, and one after clocks went forward in Berlin. */
const WINTER = Date.UTC(2026, 1, 16);
const SUMMER = Date.UTC(2026, 3, 6);

/** Four weeks of losses, an hour apart: 2 in the night shift, 1 else. @param begins its first hour, in UTC */
function nights(zone: string, begins: number): WeeklyPattern {
  const pattern = new WeeklyPattern(zone);
  for (let time = WINTER; time < WINTER + 4 * WEEK + HOUR; time += HOUR) {
    const hour = (time / HOUR) % 24;
    pattern.add((hour - begins + 24) % 24 < 6 ? 2 : 1, time);
  }
  return pattern;
}

const at = (pattern: WeeklyPattern, time: number) => pattern.of(pattern.cellAt(time));
const kept = (pattern: WeeklyPattern) => JSON.parse(JSON.stringify(pattern)) as WeeklyPatternState;
/** A quarter of the hours have twice the loss: 2 and 1, by their mean of 1.25, less 1. */
const near = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`);

describe('what is usual at a time of the week', () => {
  it('follows the clocks of the zone when they change', () => {
    // From midnight to six in Berlin, where it is an hour later than in UTC, and two in summer.
    const pattern = nights('Europe/Berlin', 23);
    for (const [day, offset] of [
      [WINTER + 5 * WEEK, 1],
      [SUMMER, 2],
    ] as const) {
      const local = (hours: number) => at(pattern, day + DAY + (hours - offset) * HOUR);
      assert.deepEqual(
        [0, 5.9, 6, 23.9].map((hours) => local(hours) > 0.5),
        [true, true, false, false],
      );
      near(local(3), 0.6);
      near(local(12), -0.2);
    }
  });

  it('is that of UTC where the zone says so', () => {
    const pattern = nights('UTC', 0);
    near(at(pattern, SUMMER + 5.9 * HOUR), 0.6);
    near(at(pattern, SUMMER + 6 * HOUR), -0.2);
  });

  it('is moved to its place in the week where a state is of another zone, and back', () => {
    const utc = kept(nights('UTC', 15));
    const { zone, ...former } = utc;
    assert.equal(zone, 'UTC');
    // Earlier versions knew no zone: their weeks were told in UTC.
    const tokyo = new WeeklyPattern('Asia/Tokyo', former);
    near(at(tokyo, SUMMER + 15 * HOUR), 0.6);
    near(at(tokyo, SUMMER + 21 * HOUR), -0.2);
    // By half an hour more or less than whole cells, too.
    for (const other of ['Asia/Kolkata', 'Asia/Kabul', 'America/St_Johns', 'Europe/Berlin']) {
      const there = kept(new WeeklyPattern(other, utc));
      assert.equal(there.zone, other);
      assert.deepEqual(kept(new WeeklyPattern('UTC', there)), utc, other);
    }
  });

  it('takes no zone that nobody knows', () => {
    assert.throws(() => new Watch(NUMBERS, { timezone: 'Atlantis' }), {
      code: 'config.invalid',
      message: /"Atlantis" is not known\. Give an IANA name/,
    });
  });
});
