import assert from 'node:assert/strict';

import { parseDurations, parseSeriesSettings } from '../../doors/series';
import { parseDuration, showDuration } from '../../doors/util';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('settings of a series', () => {
  it('reads durations with their units, joined and broken', () => {
    const read: Record<string, number | undefined> = {
      '10m': 10 * MINUTE,
      ' 1.5h ': 90 * MINUTE,
      '1h 30min': 90 * MINUTE,
      '1H': HOUR,
      '250ms': 250,
      '2w': 14 * DAY,
      '10': undefined,
      '': undefined,
      '-5m': undefined,
      '0m': undefined,
      '5 years': undefined,
      '10m!': undefined,
      '99999d': undefined,
    };
    for (const [text, ms] of Object.entries(read)) {
      assert.equal(parseDuration(text), ms, text);
    }
    assert.deepEqual([10 * MINUTE, 90 * MINUTE, HOUR, DAY, 1500].map(showDuration), [
      '10m',
      '90m',
      '1h',
      '1d',
      '1500ms',
    ]);
  });

  it('reads lists and ranges, ascending and once each', () => {
    assert.deepEqual(parseDurations('6h, 1h,24h, 60m', 'Ahead'), [HOUR, 6 * HOUR, 24 * HOUR]);
    assert.deepEqual(
      parseDurations('1h..24h', 'Ahead'),
      Array.from({ length: 24 }, (_, i) => (i + 1) * HOUR),
    );
    assert.equal(parseDurations('30m..24h', 'Ahead').length, 48);
    assert.deepEqual(parseDurations('6h..9h/90m', 'Ahead'), [6 * HOUR, 7.5 * HOUR, 9 * HOUR]);
    assert.deepEqual(parseDurations('10m, 1h..2h', 'Ahead'), [10 * MINUTE, HOUR, 2 * HOUR]);
  });

  it('says which field is wrong and what would be right', () => {
    const wrong: [object, RegExp][] = [
      [{ ahead: 'soon' }, /^Ahead: "soon" is not a duration.*10m/u],
      [{ ahead: '24h..1h' }, /^Ahead: the range "24h..1h" ends before/u],
      [{ ahead: '1s..1d' }, /^Ahead: .*more than 200/u],
      [{ windows: '1h, x' }, /^Windows: "x"/u],
      [{ windows: '1h..24h' }, /^Windows: 24 windows are more than 12/u],
      [{ train: 'often' }, /^Train set: "often".*500 rows/u],
      [{ every: '5' }, /^One row every: "5"/u],
      [{ late: 'auto-ish' }, /^Late:/u],
      [{ keep: '-3' }, /^Keep:/u],
      [{ column: '' }, /^Column:/u],
      [{ outcome: 'event' }, /^Value:/u],
      [{ outcome: 'event', operator: '>', value: 'hot' }, /^Value: "hot" is not a number/u],
      [{ outcome: 'event', operator: '~', value: 1 }, /^Operator:/u],
      [{ outcome: 'event', operator: 'constructor', value: 1 }, /^Operator:/u],
      [{ outcome: 'later' }, /^Outcome: "later" is none of/u],
      [{ calendar: 'moon' }, /^Calendar:/u],
      [{ timezone: 'Mars/Base' }, /^Time zone: "Mars\/Base"/u],
    ];
    for (const [options, message] of wrong) {
      assert.throws(() => parseSeriesSettings({ column: 'temperature', ...options }), {
        code: 'config.invalid',
        message,
      });
    }
  });

  it('fills in the defaults of the dialog', () => {
    const settings = parseSeriesSettings({ column: ' temperature ', timezone: 'Europe/Berlin' });
    assert.deepEqual(settings, {
      key: undefined,
      time: undefined,
      outcome: { kind: 'column', column: 'temperature' },
      aheads: [10 * MINUTE],
      windows: [10 * MINUTE, HOUR, DAY],
      train: { kind: 'auto' },
      every: undefined,
      late: undefined,
      keep: 20_000,
      calendar: 'auto',
      relative: true,
      send: 'all',
      shape: 'plain',
      knownAhead: [],
      missingWords: [],
      unreadable: 'error',
      timezone: 'Europe/Berlin',
    });
    assert.deepEqual(parseSeriesSettings({ column: 'x', ahead: '1d' }).windows, [DAY, 6 * DAY]);
    assert.deepEqual(parseSeriesSettings({ column: 'x', ahead: '1h..24h' }).windows, [HOUR, 6 * HOUR, DAY]);
  });

  it('reads schedules, events and the rest', () => {
    const of = (options: object) => parseSeriesSettings({ column: 'x', ...options });
    assert.deepEqual(of({ train: 'never' }).train, { kind: 'never' });
    assert.deepEqual(of({ train: '1d' }).train, { kind: 'interval', ms: DAY });
    assert.deepEqual(of({ train: '500 rows' }).train, { kind: 'rows', rows: 500 });
    assert.deepEqual(of({ outcome: 'event', operator: 'gte', value: '80' }).outcome, {
      kind: 'event',
      column: 'x',
      operator: '>=',
      value: 80,
    });
    assert.deepEqual(of({ outcome: 'event', operator: '==', value: 'true' }).outcome, {
      kind: 'event',
      column: 'x',
      operator: '=',
      value: true,
    });
    assert.deepEqual(parseSeriesSettings({ outcome: 'none' }).outcome, { kind: 'none' });
    assert.equal(of({ late: '0' }).late, 0);
    assert.equal(of({ keep: '5,000 rows' }).keep, 5000);
  });
});
