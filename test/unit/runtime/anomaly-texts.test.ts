import assert from 'node:assert/strict';

import { sensorText, unusualText } from '../../doors/runtime';
import { redIn } from './fake';

describe('what is said of a sensor that is off', () => {
  const off = (value: number, expected: number, language = 'en-US') =>
    sensorText(redIn(language), {
      ...{ column: 'pressure', value, expected, low: expected - 0.05, high: expected + 0.05 },
      ...{ off: 4, kind: 'creeping' as const },
    });

  it('has three digits, and more where it would read like what was expected', () => {
    assert.match(off(7.912, 2.4), /^pressure 7\.91, expected 2\.40 \(2\.35 to 2\.45\): /);
    assert.match(off(6.5312, 6.5284), /^pressure 6\.531, expected 6\.528 \(6\.478 to 6\.578\): /);
    assert.match(off(6.5312, 6.5284, 'de'), /6,531.*6,528/);
  });

  it('has no digits without an end where both are the same', () => {
    assert.match(off(6.5, 6.5), /^pressure 6\.50, expected 6\.50 /);
  });
});

describe('how rare an unusual reading is said to be', () => {
  const HOUR = 3_600_000;
  const said = (onceIn: number, knows: number | undefined, language = 'en-US') =>
    unusualText(redIn(language), { sensors: [], onceIn, knows });

  it('is not beyond ten times what is known, nor beyond ten years', () => {
    assert.match(said(5 * HOUR, HOUR), /\. Comes about once in 5 h\.$/);
    assert.match(said(1e6 * HOUR, HOUR), /\. Rarer than once in 10 h\.$/);
    assert.match(said(1e6 * HOUR, HOUR, 'de'), /\. Seltener als einmal in 10 h\.$/);
    assert.match(said(1e6 * HOUR, 1e5 * HOUR), /\. Rarer than once in ten years\.$/);
    // An alarm of an earlier version does not say what was known.
    assert.match(said(1e6 * HOUR, undefined), /\. Rarer than once in ten years\.$/);
  });
});
