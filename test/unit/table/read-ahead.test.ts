import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import fc from 'fast-check';

import { readAhead } from '../../doors/table';

const MIB = 1024 * 1024;

describe('table: reading ahead', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'read-ahead-'));
  const file = path.join(folder, 'bytes');
  const bytes = randomBytes(5 * MIB + 17);
  before(() => {
    writeFileSync(file, bytes);
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function read(start: number, end: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of readAhead(file, start, end)) {
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  it('gives any part of a file, in order', async () => {
    const place = fc.oneof(
      fc.integer({ min: 0, max: bytes.length }),
      fc.constantFrom(0, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB, bytes.length),
    );
    await fc.assert(
      fc.asyncProperty(place, place, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        assert.ok((await read(start, end)).equals(bytes.subarray(start, end)));
      }),
      { numRuns: 40 },
    );
  });

  it('says why a file cannot be opened', async () => {
    await assert.rejects(readAhead(path.join(folder, 'none'), 0, 10).next(), { code: 'ENOENT' });
  });

  it('ends early where the file has become shorter', async () => {
    const short = path.join(folder, 'short');
    writeFileSync(short, bytes);
    const reading = readAhead(short, 0, bytes.length);
    truncateSync(short, MIB + 5);
    let got = 0;
    for await (const piece of reading) {
      got += piece.length;
    }
    assert.equal(got, MIB + 5);
  });

  it('lets go of the file when the reader has had enough', async function () {
    if (process.platform !== 'linux') {
      this.skip();
    }
    const held = () => readdirSync('/proc/self/fd').length;
    const before = held();
    const reading = readAhead(file, 0, bytes.length);
    await reading.next();
    assert.equal(held(), before + 1);
    await reading.return();
    assert.equal(held(), before);
  });
});
