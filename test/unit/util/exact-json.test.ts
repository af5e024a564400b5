import assert from 'node:assert/strict';

import { bare, parseJson, seededRandom, stringifyBare } from '../../doors/util';

describe('JSON with whole numbers of any size', () => {
  const random = seededRandom(7);
  const digits = (): string =>
    (random() < 0.5 ? '-' : '') +
    String(BigInt(Math.floor(random() * 9e15)) * BigInt(Math.floor(random() * 2000) + 1));
  const value = (depth: number): unknown => {
    const kind = Math.floor(random() * (depth > 0 ? 8 : 6));
    switch (kind) {
      case 0:
        return random() * 1000;
      case 1:
        return Math.floor(random() * 1000);
      case 2:
        return `${digits()}, "${digits()}" \\${digits()}`;
      case 3:
        return digits();
      case 4:
        return null;
      case 5:
        return BigInt(digits());
      case 6:
        return Array.from({ length: 4 }, () => value(depth - 1));
      default:
        return Object.fromEntries(Array.from({ length: 3 }, () => [digits(), value(depth - 1)]));
    }
  };
  /** As JSON is written by hand: bigint as its digits. */
  const written = (one: unknown): string => {
    if (typeof one === 'bigint') {
      return String(one);
    }
    if (Array.isArray(one)) {
      return `[ ${one.map(written).join(' ,')}]`;
    }
    return typeof one === 'object' && one !== null
      ? `{${Object.entries(one)
          .map(([key, inner]) => `${JSON.stringify(key)}: ${written(inner)}`)
          .join(',\n')}}`
      : JSON.stringify(one);
  };
  /** What is expected: bigint beyond 2^53, else number. */
  const read = (one: unknown): unknown => {
    if (typeof one === 'bigint') {
      return Number.isSafeInteger(Number(one)) ? Number(one) : one;
    }
    if (Array.isArray(one)) {
      return one.map(read);
    }
    return typeof one === 'object' && one !== null
      ? Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, read(inner)]))
      : one;
  };

  it('loses no digit, and takes none from text, in 2,000 random values', () => {
    for (let at = 0; at < 2000; at++) {
      const one = value(3);
      assert.deepEqual(parseJson(written(one)), read(one));
    }
  });

  it('is written with such numbers bare, and read again as what the reader makes of them', () => {
    for (let at = 0; at < 500; at++) {
      const labels = Array.from({ length: 5 }, digits);
      const text = stringifyBare({ labels: labels.map(bare), note: labels });
      assert.ok(text.startsWith(`{"labels":[${labels.join(',')}],"note":["`));
      const { labels: found } = parseJson(text, (long) => long) as { labels: (string | number)[] };
      assert.deepEqual(
        found.map(String),
        labels.map((label) => String(BigInt(label))),
      );
    }
  });

  it('stand beside a string of any length, with escapes or without', () => {
    for (const part of ['x', '\n', 'x"\\']) {
      const text = part.repeat(4_000_000);
      const parsed = parseJson(`{"a":${JSON.stringify(text)},"b":12345678901234567890}`) as {
        a: string;
        b: bigint;
      };
      assert.ok(parsed.a === text);
      assert.equal(parsed.b, 12345678901234567890n);
    }
    assert.throws(() => parseJson('[12345678901234567890,"no end]'), SyntaxError);
  });
});
