import assert from 'node:assert/strict';

import { findReading, keyOfTopic } from '../../doors/runtime';
import { parseSeriesSettings } from '../../doors/series';
import { loadDialogs } from '../../helpers/dialogs';

const { series } = loadDialogs('en-US').dialogs;

/** Whether the runtime takes these settings. */
function taken(options: object): boolean {
  try {
    parseSeriesSettings({ column: 'x', ...options });
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'config.invalid');
    return false;
  }
}

describe('the durations in the dialog of a series', () => {
  const cases: Record<string, unknown[]> = {
    ahead: [
      ...['10m', '1h, 6h, 24h', '1h..24h', '6h..24h/1h', '1h30m', '1.5 h', '90 sec', '', ' 2d '],
      ...['soon', '10', '-1h', '1h..', '..1h', '1h..x', '0m', '1h,,2h', '10 years', '1h..24h/'],
    ],
    windows: ['10m, 1h', 'auto', '', '7d', '10', '1h, x', 'h'],
    train: [
      'auto',
      '',
      'never',
      'Never',
      '1d',
      '500 rows',
      '1 row',
      '500',
      '0 rows',
      'rows',
      'daily',
      '1d, 2d',
    ],
    every: ['', '1m', '30s', '10', 'x', '1m, 2m'],
    late: ['', 'auto', '0', '0s', '5s', '-5s', 'x'],
    keep: ['', '20000', '1', '1000000', '0', '1000001', 'x'],
  };
  for (const [field, values] of Object.entries(cases)) {
    it(`${field}: what the dialog takes is what the runtime takes`, () => {
      for (const value of values) {
        const reason = series.validate(field, value);
        assert.equal(
          reason === true,
          taken({ [field]: value }),
          `${field} ${JSON.stringify(value)}: ${String(reason)}`,
        );
      }
    });
  }
});

describe('whether a value is a reading or a table', () => {
  const readings: [unknown, unknown, object][] = [
    [{ a: 1 }, undefined, { cells: { a: 1 } }],
    ['{"a": 1}', 'x/y', { cells: { a: 1 } }],
    [Buffer.from(' {"a": 1}'), undefined, { cells: { a: 1 } }],
    [21.5, 'plant/pump1/vibration', { cells: { vibration: 21.5 }, key: 'pump1' }],
    ['21.5', '/pump1/vibration/', { cells: { vibration: '21.5' }, key: 'pump1' }],
    [Buffer.from('on'), 'mode', { cells: { mode: 'on' }, key: undefined }],
    [false, 'a/alarm', { cells: { alarm: false }, key: 'a' }],
  ];
  for (const [value, topic, expected] of readings) {
    it(`a reading: ${String(value)}, ${String(topic)}`, () =>
      assert.deepEqual(
        { key: undefined, ...findReading(value, topic, 'msg.payload') },
        { key: undefined, ...expected },
      ));
  }
  for (const value of [
    [],
    [{ a: 1 }],
    { a: [1, 2] },
    { a: new Float64Array(2) },
    'a,b\n1,2\n',
    '[{"a": 1}]',
    '{"a": [1, 2]}',
    '',
    Buffer.from('a,b\n1,2\n'),
    Buffer.from('PAR1\0\0'),
    { schema: {}, batches: [] },
    null,
    `{"a": "${'x'.repeat(2 ** 20)}"}`,
  ]) {
    it(`a table, or nothing: ${JSON.stringify(value).slice(0, 80)}`, () =>
      assert.equal(findReading(value, 'a/b', 'msg.payload'), undefined));
  }

  it('an object of very many columns is limit.exceeded before its values are read', () => {
    let reads = 0;
    const wide = new Proxy(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`c${i}`, i])), {
      get: () => reads++,
    });
    assert.throws(() => findReading(wide, 'a/b', 'msg.payload'), { code: 'limit.exceeded' });
    assert.ok(reads <= 16_385, String(reads));
  });

  it('one value without a topic is an error that says what to send', () => {
    for (const topic of [undefined, '', '///', 7]) {
      assert.throws(() => findReading(3, topic, 'msg.payload'), {
        code: 'validation.failed',
        message: /msg.payload is one value.*msg.topic/,
      });
    }
  });
});

describe('the key in a topic', () => {
  const found: [filter: string, topic: string, key: string][] = [
    ['plant/+/#', 'plant/motor1/readings', 'motor1'],
    ['plant/+/#', 'plant/motor1/event/failure', 'motor1'],
    ['plant/+/#', 'plant/motor1', 'motor1'],
    ['plant/+', 'plant/motor 1', 'motor 1'],
    ['+/readings', 'motor1/readings', 'motor1'],
    ['/plant/+/x', '/plant/motor1/x', 'motor1'],
    ['+', 'motor1', 'motor1'],
  ];
  for (const [filter, topic, key] of found) {
    it(`${filter} finds ${key} in ${topic}`, () => assert.equal(keyOfTopic(filter, topic), key));
  }

  it('a topic that does not fit is an error that names both', () => {
    const wrong: [string, unknown][] = [
      ['plant/+/#', 'plants/motor1/readings'],
      ['plant/+', 'plant/motor1/readings'],
      ['plant/+/readings', 'plant/motor1/event'],
      ['plant/+/#', 'plant'],
      ['plant/+/#', 'plant//readings'],
    ];
    for (const [filter, topic] of wrong) {
      assert.throws(() => keyOfTopic(filter, topic), {
        code: 'validation.failed',
        message: new RegExp(`${String(topic)}" does not fit "${filter.replace('+', '\\+')}"`),
      });
    }
    assert.throws(() => keyOfTopic('+', undefined), {
      code: 'validation.failed',
      message: /^msg.topic does not fit/,
    });
  });

  it('what the dialog takes for a filter is what the runtime takes', () => {
    const filters = [
      'plant/+/#',
      '+',
      '+/x',
      'a/b/+',
      'a//+',
      'plant/+/+',
      'plant',
      'a+',
      '#/+',
      'a/#/+',
      '#',
      '+#',
    ];
    for (const filter of filters) {
      const reason = series.validate('key', filter, { keyType: 'topic' });
      const topic = filter.replace('+', 'k').replace('#', 'x');
      let taken = true;
      try {
        keyOfTopic(filter, topic);
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'config.invalid', filter);
        taken = false;
      }
      assert.equal(reason === true, taken, `${filter}: ${String(reason)}`);
    }
    assert.equal(series.validate('key', '', { keyType: 'topic' }), true);
    assert.equal(series.validate('key', 'machine', { keyType: 'column' }), true);
    assert.equal(series.validate('key', 'machine', { keyType: 'msg' }), true);
  });
});
